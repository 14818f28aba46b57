//! Routers, the links between them, and the routes of packets: the input of network models.

use std::fmt;

use smallvec::SmallVec;

use super::Node;

/// A router of one site, by its number from 0.
pub type Router = u32;

/// The far end of a link: a router, and the port by which the link enters this router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The router at the far end of the link.
    pub router: Router,
    /// The port through which the link enters the router at its far end.
    pub port: usize,
}

/// Part of a route: successive links in one class of virtual channels. A packet leaves each router
/// of the leg through a port of the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The number of the port through which the packet leaves each router of the leg.
    pub port: u16,
    /// The class of virtual channels that the packet uses on the links of the leg.
    pub class: u8,
    /// Number of links of this part of the route; at least 1.
    pub hops: u32,
}

/// Route of a packet, as a sequence of legs. It is empty if both nodes are at one router.
pub type Route = SmallVec<[Leg; 4]>;

/// Rule by which a packet chooses between the two classes of virtual channels of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassRule {
    /// A packet is in one class on the whole ring: 1 if its route crosses the edge, otherwise 0.
    ///
    /// Packets in class 0 never use the link across the edge of the ring. Packets in class 1 never
    /// use the link opposite to it. So packets of the same class cannot block each other in a
    /// cycle.
    #[default]
    Static,
    /// A packet is in class 0 until it crosses the edge of the ring, and in class 1 from there on.
    ///
    /// On the link across the edge it is already in class 1.
    Dateline,
}

/// How a packet chooses among the upward ports of a switch in a tree.
///
/// Through every upward port, the packet can reach its destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Upward {
    /// The port is drawn at random for each packet at each switch.
    #[default]
    Random,
    /// The port depends only on the destination. So the routes of all packets to one node merge.
    Fixed,
}

/// Route of packets between groups of a dragonfly: the direct link, or a detour through another
/// group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// Packets always take the direct link.
    #[default]
    Minimal,
    /// Packets go through another group, which is drawn at random for each packet.
    ///
    /// If the drawn group is that of the source or the destination, the packet takes the direct
    /// link.
    Valiant,
    /// Each packet takes a detour if the queue on its direct route is much longer than the
    /// detour's.
    ///
    /// The queues at the first link of each route are compared.
    Ugal,
}

/// Routing policy: how packets choose among several routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// How packets choose the class of virtual channels on a ring.
    pub rings: ClassRule,
    /// How packets choose the upward port in a tree.
    pub upward: Upward,
    /// How packets choose the route between groups of a dragonfly.
    pub routing: Routing,
}

/// The routers of a topology and the links between them.
///
/// Node *n* is at router *n* / [`nodes_each`](Wires::nodes_each). So routers with nodes have lower
/// numbers than routers without nodes. For every link there is a link in the opposite direction. If
/// two links leave their routers through ports of the same number, they are equally long.
pub trait Wires: fmt::Debug + Send + Sync {
    /// Number of routers, including routers without nodes.
    fn routers(&self) -> u32;

    /// Number of nodes at each router that has nodes.
    fn nodes_each(&self) -> u32 {
        1
    }

    /// The largest number of links to other routers that any router has.
    fn ports(&self) -> usize;

    /// The largest number of links to other routers that any router with nodes has.
    ///
    /// Port numbers from this number on may be used for the nodes.
    fn ports_beside_nodes(&self) -> usize {
        self.ports()
    }

    /// The far end of the link through a port of a router; `None` if there is no such link.
    fn link(&self, router: Router, port: usize) -> Option<End>;

    /// Whether links through the given port lead out of their router's group.
    fn is_global(&self, _port: usize) -> bool {
        false
    }

    /// Number of classes of virtual channels with which packets cannot deadlock; `None` if unknown.
    ///
    /// The number depends on the routing policy `manner`.
    fn classes(&self, manner: &Manner) -> Option<usize>;

    /// The class of virtual channels for a packet between two nodes of one router.
    ///
    /// `None` if the packet may use every class.
    fn class_at_home(&self, _manner: &Manner) -> Option<u8> {
        None
    }

    /// The largest number of legs that a route can have.
    fn most_legs(&self) -> usize;

    /// The route of a packet between two nodes.
    ///
    /// Random choices are a function of the random bits `coins`. On a dragonfly, `detour` says
    /// whether the packet goes through another group. With [`Routing::Valiant`] it is always set.
    fn route(&self, from: Node, to: Node, coins: u64, manner: &Manner, detour: bool) -> Route;

    /// Number of links on the route between two nodes. On a dragonfly, detours through other groups
    /// are not considered.
    fn distance(&self, a: Node, b: Node) -> u32;
}

/// The largest number of ports of a router. A [`Leg`] has 16 bits for a port number.
pub(super) const MAX_PORTS: u64 = 1 << 15;

/// A pseudorandom bijection of 64-bit numbers: the finalizer of SplitMix64.
///
/// Source: Steele, Lea & Flood, OOPSLA 2014.
pub(super) fn mixed(bits: u64) -> u64 {
    let mut z = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A number below `bound`, computed from the random bits `bits`.
pub(super) fn below(bits: u64, bound: u32) -> u32 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u32
}
