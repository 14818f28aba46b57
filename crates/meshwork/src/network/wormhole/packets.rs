//! The packets in the network, and how far each has come on its way.

use super::Cycle;
use super::fabric::{ClassRule, Fabric, Leg};
use super::message::{Delivery, Message};
use crate::topology::Node;

/// A packet's place in the store; used again when the packet has arrived.
pub(super) type PacketId = u32;

/// The packets in the network. Their number is bounded by the buffers, whatever waits in the queues of
/// the processors.
#[derive(Clone, Debug)]
pub(super) struct Packets {
    rule: ClassRule,
    list: Vec<Packet>,
    legs: Vec<Leg>,
    /// Places in `legs` for each packet.
    stride: usize,
    vacant: Vec<PacketId>,
}

#[derive(Clone, Debug)]
struct Packet {
    message: Message,
    started: Cycle,
    hops: u32,
    /// The leg it is on, of so many.
    leg: u8,
    legs: u8,
    /// Hops to go on this leg.
    to_go: u32,
}

impl Packets {
    pub(super) fn new(fabric: &Fabric, rule: ClassRule) -> Packets {
        let stride = fabric.most_legs();
        Packets { rule, list: Vec::new(), legs: Vec::new(), stride, vacant: Vec::new() }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len() - self.vacant.len()
    }

    pub(super) fn insert(
        &mut self,
        fabric: &Fabric,
        from: Node,
        message: Message,
        started: Cycle,
    ) -> PacketId {
        let route = fabric.route(from, message.to, message.coins, self.rule);
        let packet = Packet {
            message,
            started,
            hops: route.iter().map(|leg| leg.hops).sum(),
            leg: 0,
            legs: route.len() as u8,
            to_go: route.first().map_or(0, |leg| leg.hops),
        };
        let id = if let Some(id) = self.vacant.pop() {
            self.list[id as usize] = packet;
            id
        } else {
            self.list.push(packet);
            self.legs.resize(self.list.len() * self.stride, Leg { port: 0, class: 0, hops: 0 });
            self.list.len() as PacketId - 1
        };
        let from = id as usize * self.stride;
        self.legs[from..from + route.len()].copy_from_slice(&route);
        id
    }

    /// The port and class through which the packet leaves the router that it has reached; `None` where
    /// it is at its destination. Asked once in each router.
    pub(super) fn hop(&mut self, id: PacketId) -> Option<(usize, usize)> {
        let packet = &mut self.list[id as usize];
        if packet.leg == packet.legs {
            return None;
        }
        let at = id as usize * self.stride + usize::from(packet.leg);
        let leg = self.legs[at];
        packet.to_go -= 1;
        if packet.to_go == 0 {
            packet.leg += 1;
            if packet.leg < packet.legs {
                packet.to_go = self.legs[at + 1].hops;
            }
        }
        Some((usize::from(leg.port), usize::from(leg.class)))
    }

    /// The head of a packet leaves its processor's queue.
    pub(super) fn start(&mut self, id: PacketId, now: Cycle) {
        self.list[id as usize].started = now;
    }

    /// Takes a packet out that has arrived.
    pub(super) fn deliver(&mut self, id: PacketId, at: Cycle) -> Delivery {
        self.vacant.push(id);
        let Packet { message, started, hops, .. } = self.list[id as usize];
        Delivery { message, started, at, hops }
    }
}
