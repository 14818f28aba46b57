//! The packets in the network, and the progress of each.

use super::Cycle;
use super::WormholeConfig;
use super::fabric::Fabric;
use super::message::{Delivery, Message};
use super::timing::Alone;
use crate::topology::Node;
use crate::topology::wires::Leg;

/// Index of a packet among [`Packets`], which is reused when the packet has arrived.
pub(super) type PacketId = u32;

/// Index that stands for no packet or no lane.
pub(super) const NONE: u32 = u32::MAX;

/// The packets in the network. Their number is bounded by the buffers, even if the queues of the
/// processors are long.
#[derive(Clone, Debug)]
pub(super) struct Packets {
    alone: Alone,
    list: Vec<Packet>,
    legs: Vec<Leg>,
    /// Number of legs that are reserved for the route of each packet; enough for the longest route.
    stride: usize,
    vacant: Vec<PacketId>,
    /// For each packet, the packet behind it in the lane that holds its tail.
    pub(super) behind: Vec<PacketId>,
}

#[derive(Clone, Debug)]
struct Packet {
    message: Message,
    started: Cycle,
    hops: u32,
    /// Cycles that the packet takes if nothing is in its way.
    alone: Cycle,
    /// Local port of the last router that leads to the destination node.
    exit: u16,
    /// The class of lanes in which the packet leaves the last router.
    class: u8,
    /// Index of the current leg of the packet's route. A leg is a sequence of links in one
    /// direction.
    leg: u8,
    legs: u8,
    /// Number of links that the packet has yet to cross on the present leg of its route.
    to_go: u32,
}

impl Packets {
    pub(super) fn new(fabric: &Fabric, setting: &WormholeConfig) -> Packets {
        Packets {
            alone: Alone::new(setting),
            list: Vec::new(),
            legs: Vec::new(),
            stride: fabric.most_legs(),
            vacant: Vec::new(),
            behind: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len() - self.vacant.len()
    }

    pub(super) fn insert(
        &mut self,
        fabric: &Fabric,
        from: Node,
        message: Message,
        detour: bool,
        started: Cycle,
    ) -> PacketId {
        let route = fabric.route(from, message.to, message.coins, detour);
        let way = fabric.way(&route);
        let packet = Packet {
            message,
            started,
            hops: way.links,
            alone: self.alone.arrives(way),
            exit: fabric.home(message.to).1 as u16,
            class: fabric.last_class(&route),
            leg: 0,
            legs: route.len() as u8,
            to_go: route.first().map_or(0, |leg| leg.hops),
        };
        let id = if let Some(id) = self.vacant.pop() {
            self.list[id as usize] = packet;
            self.behind[id as usize] = NONE;
            id
        } else {
            self.list.push(packet);
            self.behind.push(NONE);
            self.legs.resize(self.list.len() * self.stride, Leg { port: 0, class: 0, hops: 0 });
            self.list.len() as PacketId - 1
        };
        let from = id as usize * self.stride;
        self.legs[from..from + route.len()].copy_from_slice(&route);
        id
    }

    /// The port and class through which a packet leaves its current router. Call this function once
    /// for each router on the route, in order, because it advances the packet.
    pub(super) fn hop(&mut self, id: PacketId) -> (usize, usize) {
        let packet = &mut self.list[id as usize];
        if packet.leg == packet.legs {
            return (usize::from(packet.exit), usize::from(packet.class));
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
        (usize::from(leg.port), usize::from(leg.class))
    }

    /// Records that the head of a packet leaves its processor's queue.
    pub(super) fn start(&mut self, id: PacketId, now: Cycle) {
        self.list[id as usize].started = now;
    }

    pub(super) fn deliver(&mut self, id: PacketId, at: Cycle) -> Delivery {
        self.vacant.push(id);
        let Packet { message, started, hops, alone, .. } = self.list[id as usize];
        Delivery { message, started, at, hops, alone }
    }
}
