//! What goes through a network, and what whoever loads it is told.

use super::Cycle;
use crate::topology::Node;

/// A message that is to be sent: one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Where it goes; a node may send to itself.
    pub to: Node,
    /// When it entered its node's queue: not later than it is handed over.
    pub created: Cycle,
    /// Decides where it goes of several ways: on rings one bit for each dimension.
    pub coins: u64,
    /// Whatever its sender knows it by.
    pub tag: u64,
}

/// A message that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The message.
    pub message: Message,
    /// When its head left its node's queue: when it was first in it and began to be routed, or where
    /// processors send flit by flit, when the head was sent.
    pub started: Cycle,
    /// When its tail had arrived.
    pub at: Cycle,
    /// Links on its way.
    pub hops: u32,
    /// Cycles that it would have taken if nothing had been in its way, from being first in its node's queue.
    pub alone: Cycle,
}

/// What a node's turn to send brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The first message of its queue.
    Message(Message),
    /// Nothing until this cycle, a later one: it is asked again then.
    At(Cycle),
    /// Nothing until it is woken.
    Nothing,
}

/// Who sends messages, and learns of their arrival.
pub trait Load {
    /// What this node sends, now that nothing else is before it.
    fn next(&mut self, node: Node, now: Cycle) -> Turn;

    /// A message has arrived. The node that is given back may have something to send now and is asked,
    /// if nothing of it is on its way out.
    fn delivered(&mut self, delivery: &Delivery) -> Option<Node>;

    /// Whether the network is to stand still at the present cycle, before anything moves in it.
    fn pauses(&self) -> bool {
        false
    }
}

/// Flits wait for each other in a circle and none will ever move again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no flit has moved since cycle {since} with {packets} packets in the network, which is a deadlock: \
     {dump}"
)]
pub struct Stuck {
    /// The last cycle in which anything moved.
    pub since: Cycle,
    /// How many packets are in the network.
    pub packets: usize,
    /// Where some of them stand.
    pub dump: String,
}
