//! Routers, the links between them, and the routes of packets: the input of network models.

use std::fmt;

use smallvec::SmallVec;

use super::Node;

/// A router of one site, by its number from 0.
pub type Router = u32;

/// Where a link leads: the router at its far end, and the port by which it enters that router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The router at the far end.
    pub router: Router,
    /// The port through which the link enters this router.
    pub port: usize,
}

/// Leg of a route: successive links through ports of equal number, in one class of virtual
/// channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The port through which the packet leaves each router.
    pub port: u16,
    /// The class of virtual channels that the packet uses on the links of the leg.
    pub class: u8,
    /// Number of links of this leg; at least 1.
    pub hops: u32,
}

/// Route of a packet as a sequence of legs; empty if both nodes are at one router.
pub type Route = SmallVec<[Leg; 4]>;

/// Rule by which a packet chooses between the two classes of virtual channels of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassRule {
    /// A packet is in one class on the whole ring: 1 if its route crosses the edge, otherwise 0.
    ///
    /// Packets in class 0 never use the link across the edge of the ring, and packets in class 1
    /// never use the link opposite to it. So packets of neither class can block each other in a
    /// cycle.
    #[default]
    Static,
    /// A packet is in class 0 until it crosses the edge of the ring, and in class 1 from there on.
    ///
    /// The link across the edge is used in class 1.
    Dateline,
}

/// How a packet chooses among the upward ports of a switch in a tree.
///
/// All of these ports lead to the packet's destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Upward {
    /// The port is drawn for each packet at each switch.
    #[default]
    Random,
    /// The port follows from the destination, so that the routes of all packets to a node merge.
    Fixed,
}

/// Whether packets between groups of a dragonfly take the direct link or pass through another
/// group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// Packets always take the direct link.
    #[default]
    Minimal,
    /// Packets go through another group, which is drawn for each packet.
    ///
    /// If the group of the source or of the destination is drawn, the packet takes the direct link.
    Valiant,
    /// Each packet takes the direct link, or a detour if the queue for the direct link is much
    /// longer.
    ///
    /// The queues of the first links of both routes are compared.
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
/// numbers than routers without. For every link there is a link in the opposite direction. All
/// links that leave their routers through ports of the same number are equally long.
pub trait Wires: fmt::Debug + Send + Sync {
    /// Number of routers, with and without nodes.
    fn routers(&self) -> u32;

    /// Number of nodes at each router that has nodes.
    fn nodes_each(&self) -> u32 {
        1
    }

    /// The largest number of ports to other routers that a router has.
    fn ports(&self) -> usize;

    /// The largest number of ports to other routers that a router with nodes has.
    ///
    /// Port numbers from this number on may be used for the nodes.
    fn ports_beside_nodes(&self) -> usize {
        self.ports()
    }

    /// The far end of the link through a port of a router; `None` if there is no such link.
    fn link(&self, router: Router, port: usize) -> Option<End>;

    /// Whether links through this port lead out of the group to which the router belongs.
    fn is_global(&self, _port: usize) -> bool {
        false
    }

    /// Number of classes of virtual channels with which packets cannot deadlock; `None` if unknown.
    ///
    /// The number depends on the routing policy, which `manner` gives.
    fn classes(&self, manner: &Manner) -> Option<usize>;

    /// The class of virtual channels for a packet between two nodes of one router.
    ///
    /// `None` if the packet may use every class. A class is given if a packet keeps its class on
    /// the way from the last router to its node.
    fn class_at_home(&self, _manner: &Manner) -> Option<u8> {
        None
    }

    /// The largest number of legs of a route.
    fn most_legs(&self) -> usize;

    /// The route of a packet between two nodes.
    ///
    /// Random choices are a function of the random bits `coins`. On a dragonfly, `detour` says
    /// whether the packet goes through another group. It is always set with [`Routing::Valiant`].
    fn route(&self, from: Node, to: Node, coins: u64, manner: &Manner, detour: bool) -> Route;

    /// Number of links on the route between two nodes, without detours through other groups of a
    /// dragonfly.
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

/// A number below `bound`, computed from random bits.
pub(super) fn below(bits: u64, bound: u32) -> u32 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u32
}
