//! Messages that go through a network, and the interface of the load that sends them.

use super::Cycle;
use crate::topology::Node;

/// A message to be sent: one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The destination; a node may send to itself.
    pub to: Node,
    /// Cycle at which it entered its node's queue, not later than it is handed over.
    pub created: Cycle,
    /// Random bits that choose among routes: on rings one bit for each dimension.
    pub coins: u64,
    /// An identifier chosen by its sender.
    pub tag: u64,
}

/// A message that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The message.
    pub message: Message,
    /// Cycle at which its head left its node's queue. That is when it was first in the queue and
    /// began to be routed or, if processors send flit by flit, when the head was sent.
    pub started: Cycle,
    /// Cycle at which its tail had arrived.
    pub at: Cycle,
    /// Number of links on its route.
    pub hops: u32,
    /// Cycles from being first in its node's queue to arrival if nothing had been in its way.
    pub alone: Cycle,
}

/// The answer of a node that may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The first message of its queue.
    Message(Message),
    /// Nothing until this later cycle, at which it is asked again.
    At(Cycle),
    /// Nothing until it is woken.
    Nothing,
}

/// A source of messages that is told of their arrival.
pub trait Load {
    /// The next message of a node, after all of its earlier messages have been sent.
    fn next(&mut self, node: Node, now: Cycle) -> Turn;

    /// Records the arrival of a message. The returned node may have something to send now and is
    /// asked, unless a packet of it is on its way out.
    fn delivered(&mut self, delivery: &Delivery) -> Option<Node>;

    /// Whether the network must stop at the current cycle, before anything moves in it.
    fn pauses(&self) -> bool {
        false
    }
}

/// A deadlock: flits wait for each other in a cycle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no flit has moved since cycle {since} with {packets} packets in the network, which is a deadlock: \
     {dump}"
)]
pub struct Stuck {
    /// The last cycle in which anything moved.
    pub since: Cycle,
    /// Number of packets in the network.
    pub packets: usize,
    /// Positions of some of these packets, as text.
    pub dump: String,
}
