//! Routers, the links between them, and the ways of packets over these: what networks are made of.

use std::fmt;

use smallvec::SmallVec;

use super::Node;

/// A router of one site, the first being 0.
pub type Router = u32;

/// Where a link ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The router there.
    pub router: Router,
    /// The number of the port through which it comes in.
    pub port: usize,
}

/// A straight part of a packet's way: so many hops through ports of one number, in one class of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The port through which it leaves each router.
    pub port: u16,
    /// The class of virtual channels that it uses there.
    pub class: u8,
    /// How many links these are; at least 1.
    pub hops: u32,
}

/// The legs of a way, in order; none where both ends are at one router.
pub type Route = SmallVec<[Leg; 4]>;

/// Which of its ring's two classes of virtual channels a packet uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassRule {
    /// Class 1 on the whole ring if the way crosses the edge of the ring, else class 0. Class 0 never
    /// uses the wrapping link and class 1 never the link opposite to it, so neither can close a circle.
    #[default]
    Static,
    /// Class 0 up to the edge of the ring, class 1 from the wrapping link on.
    Dateline,
}

/// Through which of its upward ports a switch of a tree sends a packet: all lead to its destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Upward {
    /// One drawn anew for each packet and switch.
    #[default]
    Random,
    /// One that goes by the number of the destination, so that all packets to a node meet on the same
    /// way.
    Fixed,
}

/// Whether packets between groups of a dragonfly take the direct link or go by another group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// Always the direct link.
    #[default]
    Minimal,
    /// Always by a group that is drawn for each packet.
    Valiant,
    /// The one or the other, by how full the first links of both ways are.
    Ugal,
}

/// How packets choose among several ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// The class of lanes on a ring.
    pub rings: ClassRule,
    /// The way up a tree.
    pub upward: Upward,
    /// The way between groups.
    pub routing: Routing,
}

/// The routers of a topology and the links between them.
///
/// Node *n* sits at router *n* / [`nodes_each`](Wires::nodes_each): routers with nodes come before those
/// without. Every link has one going back. A port of a given number is of one length at all routers.
pub trait Wires: fmt::Debug + Send + Sync {
    /// How many routers there are.
    fn routers(&self) -> u32;

    /// How many nodes each router has that has any.
    fn nodes_each(&self) -> u32 {
        1
    }

    /// The most ports towards other routers that any router has.
    fn ports(&self) -> usize;

    /// How many of them a router with nodes has at most: its nodes may use the numbers from here on.
    fn ports_beside_nodes(&self) -> usize {
        self.ports()
    }

    /// Where the link through a port of a router ends; `None` where it has no such link.
    fn link(&self, router: Router, port: usize) -> Option<End>;

    /// Whether links through this port lead out of a group of routers that stand together.
    fn is_global(&self, _port: usize) -> bool {
        false
    }

    /// How many classes of lanes keep packets that choose their ways like this out of a deadlock; `None`
    /// if no number is known to.
    fn classes(&self, manner: &Manner) -> Option<usize>;

    /// The class of lanes through which a packet between two nodes of one router goes to its node, where every
    /// packet keeps the class in which it arrives; `None` where any lane will do.
    fn class_at_home(&self, _manner: &Manner) -> Option<u8> {
        None
    }

    /// The most legs that a way has.
    fn most_legs(&self) -> usize;

    /// The way of a packet between two nodes. What is drawn at random is a function of `coins`; `detour`
    /// says whether it goes by another group, where [`Routing`] leaves that open.
    fn route(&self, from: Node, to: Node, coins: u64, manner: &Manner, detour: bool) -> Route;

    /// Links on the way between two nodes, where nothing goes by another group.
    fn distance(&self, a: Node, b: Node) -> u32;
}

/// The most ports of a router towards others: their numbers are 16 bits of a [`Leg`].
pub(super) const MAX_PORTS: u64 = 1 << 15;

/// Bits that look random and follow from others: the finalizer of SplitMix64 (Steele, Lea & Flood, OOPSLA
/// 2014), which is one to one.
pub(super) fn mixed(bits: u64) -> u64 {
    let mut z = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A number below `bound` that follows from random bits.
pub(super) fn below(bits: u64, bound: u32) -> u32 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u32
}
