//! Messages in a network, and the trait of loads, which are sources of messages.

use super::Cycle;
use crate::topology::Node;

/// A message to be sent, as one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The destination node, which may be the sender.
    pub to: Node,
    /// Cycle at which the message entered its node's queue. It is at most the cycle at which the
    /// message is taken from the queue.
    pub created: Cycle,
    /// Random bits that choose among routes: on a grid with rings, one bit for each dimension.
    pub coins: u64,
    /// A number chosen by the sender, to recognise the message.
    pub tag: u64,
}

/// A message that has arrived, with its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The delivered message.
    pub message: Message,
    /// Cycle at which the head of the packet left its node's queue. In that cycle the packet was
    /// first in the queue and its routing began. If processors send flit by flit, it is the cycle
    /// in which the head was sent.
    pub started: Cycle,
    /// Cycle at which the tail of the packet had arrived.
    pub at: Cycle,
    /// Number of links on the route of the packet.
    pub hops: u32,
    /// Cycles that the packet would take from the head of its queue in an otherwise empty network.
    pub alone: Cycle,
}

/// Answer of a message source ([`Load`]) when the network requests the next message of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The message to send now, which is the first in the node's queue.
    Message(Message),
    /// The node has no message now. The network asks it again at this later cycle.
    At(Cycle),
    /// The node has no message, and is asked again when it is [woken](super::Engine::wake).
    Nothing,
}

/// A source of messages, which is told of the arrival of each message.
pub trait Load {
    /// The next message of a node. All earlier messages of the node have been sent.
    fn next(&mut self, node: Node, now: Cycle) -> Turn;

    /// Records the arrival of a message. May return a node that perhaps has something to send now.
    /// This node is then asked for a message, unless one of its packets has not left the node yet.
    fn delivered(&mut self, delivery: &Delivery) -> Option<Node>;

    /// Whether the network must stop at the current cycle, before anything moves in it.
    fn pauses(&self) -> bool {
        false
    }
}

/// A deadlock: packets wait for each other in a cycle.
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
    /// Positions of some of the packets in the network, as text.
    pub dump: String,
}

impl Stuck {
    /// Describes a deadlock by some of the input lanes that hold flits.
    ///
    /// `lanes` has the number of flits in each lane of each router. A router has `1 << shift`
    /// lanes, and a port has `channels` lanes.
    pub(super) fn new(
        since: Cycle,
        packets: usize,
        lanes: impl Iterator<Item = u32>,
        shift: u32,
        channels: usize,
    ) -> Stuck {
        let full = lanes.enumerate().filter(|&(_, flits)| flits > 0).take(8);
        let dump: Vec<String> = full
            .map(|(at, flits)| {
                let (router, lane) = (at >> shift, at & ((1 << shift) - 1));
                let (port, channel) = (lane / channels, lane % channels);
                format!("router {router} holds {flits} flits from port {port}, channel {channel}")
            })
            .collect();
        Stuck { since, packets, dump: dump.join("; ") }
    }
}
