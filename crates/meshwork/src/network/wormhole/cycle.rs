//! The cycle engine, in which virtual channels share their link flit by flit.
//!
//! Each cycle visits the routers in which a flit can move. If there are none, the clock skips to
//! the next event. Lanes (virtual channels with their buffers) are entries of flat arrays. The
//! lanes of a router whose flits can move are the intersection of three bit masks: lanes whose
//! packet has been granted an output lane, lanes that hold a flit, and lanes whose next buffer has
//! space.

use super::Cycle;
use super::bits::{BitSet, Bits};
use super::calendar::Calendar;
use super::fabric::Fabric;
use super::grants::{Grants, Request};
use super::message::{Load, Message, Stuck};
use super::packets::{NONE, PacketId, Packets};
use super::switch::Switch;
use super::timing::{Arbitration, Timing};
use super::turns::Turns;
use super::wheel::Wheel;
use super::{Counts, WormholeConfig};
use crate::topology::Node;
use crate::topology::wires::Router;

/// Maximum number of lanes of a router. For each lane, the router's masks have one bit.
const LANES: usize = 64;

/// Bit that marks the receiver of a credit as a processor. Without the bit, the receiver is an
/// output lane. A credit announces free space in a buffer.
const TO_SOURCE: u32 = 1 << 31;

/// An input buffer. Flits are not stored, only their number and the packets that they belong to.
#[derive(Clone, Copy, Debug)]
struct Lane {
    /// The first packet in the lane; `back` is the last packet.
    front: PacketId,
    back: PacketId,
    /// Flits of the lane's first packet that have not left the lane yet.
    left: u32,
    /// Number of flits in the buffer.
    present: u32,
    /// Output lane that the router has granted to the first packet of the input lane.
    out: u8,
}

/// Three sets of input lanes of one router, with a bit for each lane.
///
/// A lane that is in all three sets can send a flit: it has been granted an output lane, holds a
/// flit, and has space for it in the next buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Masks {
    granted: u64,
    present: u64,
    /// Input lanes whose granted output lane has credits, so that the buffer behind it has space.
    funded: u64,
}

/// A processor that sends flits into the buffers of its router.
#[derive(Clone, Copy, Debug)]
struct Source {
    packet: PacketId,
    left: u32,
    /// The virtual channel in which the processor sends, or last sent, a packet.
    channel: u8,
}

/// Engine that simulates every flit in every cycle. With `V` virtual channels, lane `v` of port `p`
/// of router `r` has index `r << shift | p · V + v`. The index stands both for the input buffer of
/// `r` and for the output lane through which flits leave `r`.
pub(super) struct CycleEngine {
    fabric: Fabric,
    timing: Timing,
    channels: usize,
    flits: u32,
    buffer: u32,
    /// UGAL threshold, in flits. A packet takes the detour if the queue of the direct path is
    /// longer than twice the queue of the detour plus this threshold.
    threshold: u64,
    shift: u32,
    /// Cycles that a flit takes across the link of each lane of a router. `credit_returns` has the
    /// cycles that a credit takes in the opposite direction. Both arrays are stored inline, not
    /// behind a pointer, because they are read for every flit at every router.
    transfers: [Cycle; LANES],
    credit_returns: [Cycle; LANES],
    pub(super) now: Cycle,
    moved: Cycle,
    pub(super) packets: Packets,
    lanes: Vec<Lane>,
    masks: Vec<Masks>,
    /// Credits of each output lane: free space in the buffer behind it, as far as the router knows.
    credits: Vec<u32>,
    /// For each output lane, the input lane to which it was granted.
    owners: Vec<u8>,
    /// For each output lane, the buffer into which it leads.
    down: Vec<u32>,
    /// For each buffer, the processor or output lane that receives a credit when a flit leaves the
    /// buffer.
    up: Vec<u32>,
    grants: Grants,
    switch: Switch,
    /// Routers that a cycle has to visit, because a flit may be able to move in them.
    active: BitSet,
    sources: Vec<Source>,
    /// Credits of each processor: free space in the buffers of the local port into which it sends.
    source_credits: Vec<u32>,
    sending: BitSet,
    turns: Turns,
    /// Nodes whose processors may send their next packet in this cycle. `asking_next` has those of
    /// the next cycle.
    asking: Vec<Node>,
    asking_next: Vec<Node>,
    later: Calendar,
    arrivals: Wheel<(u32, PacketId)>,
    returns: Wheel<u32>,
    requests: Wheel<u32>,
    deliveries: Wheel<PacketId>,
    released: Vec<u32>,
    scratch: Scratch,
    pub(super) counts: Counts,
}

#[derive(Default)]
struct Scratch {
    arrivals: Vec<(u32, PacketId)>,
    numbers: Vec<u32>,
    granted: Vec<(u32, u8, u8)>,
    moves: Vec<u8>,
}

impl CycleEngine {
    pub(super) fn new(fabric: Fabric, setting: &WormholeConfig) -> CycleEngine {
        let timing = setting.timing();
        let channels = setting.virtual_channels as usize;
        let lanes_per_router = fabric.ports() * channels;
        let shift = lanes_per_router.next_power_of_two().trailing_zeros();
        let (nodes, routers) = (fabric.nodes() as usize, fabric.routers() as usize);
        let all = routers << shift;
        let (mut down, mut up) = (vec![NONE; all], vec![NONE; all]);
        for (from, to) in fabric.lanes(shift, channels) {
            down[from] = to as u32;
            up[to] = from as u32;
        }
        for node in 0..if timing.inject.is_some() { fabric.nodes() } else { 0 } {
            let (router, port) = fabric.home(node);
            for channel in 0..channels {
                let lane = (router as usize) << shift | (port * channels + channel);
                up[lane] = TO_SOURCE | lane as u32;
            }
        }
        let longest = fabric.longest();
        let length_of = |lane: usize| {
            if lane < lanes_per_router { fabric.length(lane / channels) } else { 0 }
        };
        let empty = Lane { front: NONE, back: NONE, left: 0, present: 0, out: 0 };
        let idle_source = Source { packet: NONE, left: 0, channel: channels as u8 - 1 };
        CycleEngine {
            packets: Packets::new(&fabric, setting),
            lanes: vec![empty; all],
            masks: vec![Masks::default(); routers],
            credits: vec![setting.buffer; all],
            owners: vec![u8::MAX; all],
            down,
            up,
            grants: Grants::new(&fabric, channels, channels, shift, timing.arbitration),
            switch: Switch::new(fabric.ports(), channels, routers),
            active: BitSet::new(routers),
            sources: vec![idle_source; nodes],
            source_credits: vec![setting.buffer; if timing.inject.is_some() { all } else { 0 }],
            sending: BitSet::new(nodes),
            turns: Turns::new(nodes),
            asking: Vec::new(),
            asking_next: Vec::new(),
            later: Calendar::new(),
            arrivals: Wheel::new((timing.transfer + longest).max(timing.inject.unwrap_or(0))),
            returns: Wheel::new(timing.transfer.max(longest) + timing.credit),
            requests: Wheel::new(timing.route + 1),
            deliveries: Wheel::new(timing.transfer),
            released: Vec::new(),
            scratch: Scratch::default(),
            counts: Counts::default(),
            flits: setting.packet_length,
            buffer: setting.buffer,
            threshold: setting.threshold(),
            transfers: std::array::from_fn(|lane| timing.transfer + length_of(lane)),
            credit_returns: std::array::from_fn(|lane| timing.credit + length_of(lane)),
            now: 0,
            moved: 0,
            fabric,
            timing,
            channels,
            shift,
        }
    }

    pub(super) fn wake(&mut self, node: Node) {
        if self.turns.wake(node, self.now) {
            self.asking.push(node);
        }
    }

    pub(super) fn run(&mut self, until: Cycle, load: &mut impl Load) -> Result<(), Stuck> {
        loop {
            self.deliver(load);
            if load.pauses() || self.now >= until {
                return Ok(());
            }
            self.cycle(load);
            std::mem::swap(&mut self.asking, &mut self.asking_next);
            self.now = match self.next_cycle() {
                Some(next) => next.min(until),
                None if self.packets.len() == 0 => until,
                None => return Err(self.stuck()),
            };
        }
    }

    /// The next cycle in which something can happen, unless a new message arrives earlier.
    fn next_cycle(&self) -> Option<Cycle> {
        let next = self.now + 1;
        let is_busy = !(self.asking.is_empty()
            && self.released.is_empty()
            && self.active.is_empty()
            && self.sending.is_empty()
            && self.grants.is_settled());
        if is_busy {
            return Some(next);
        }
        let events = [
            self.arrivals.next(next),
            self.returns.next(next),
            self.requests.next(next),
            self.deliveries.next(next),
            self.later.next(),
        ];
        events.into_iter().flatten().min()
    }

    fn deliver(&mut self, load: &mut impl Load) {
        let mut arrived = std::mem::take(&mut self.scratch.numbers);
        self.deliveries.take(self.now, &mut arrived);
        for packet in arrived.drain(..) {
            let delivery = self.packets.deliver(packet, self.now);
            if let Some(node) = load.delivered(&delivery) {
                self.wake(node);
            }
        }
        self.scratch.numbers = arrived;
    }

    fn cycle(&mut self, load: &mut impl Load) {
        self.arrive();
        self.take_credits();
        self.start_packets(load);
        if self.timing.inject.is_some() {
            self.send_from_processors();
        }
        for lane in self.released.drain(..) {
            self.grants.release(lane);
        }
        self.request();
        if self.timing.arbitration == Arbitration::Fifo {
            self.grant();
            self.move_flits();
        } else {
            self.move_flits();
            self.grant();
        }
    }

    fn arrive(&mut self) {
        let mut arrivals = std::mem::take(&mut self.scratch.arrivals);
        self.arrivals.take(self.now, &mut arrivals);
        for (at, head) in arrivals.drain(..) {
            let lane = &mut self.lanes[at as usize];
            lane.present += 1;
            if lane.present == 1 {
                self.set_present(at);
            }
            if head != NONE {
                self.enter(at, head);
            }
        }
        self.scratch.arrivals = arrivals;
    }

    fn set_present(&mut self, at: u32) {
        let router = (at >> self.shift) as usize;
        self.masks[router].present |= 1 << (at & ((1 << self.shift) - 1));
        self.active.insert(router);
    }

    /// Records that the head of a packet has arrived in the lane with index `at`.
    fn enter(&mut self, at: u32, packet: PacketId) {
        let lane = &mut self.lanes[at as usize];
        if lane.front == NONE {
            lane.front = packet;
            lane.left = self.flits;
            self.requests.push(self.now + self.timing.route, at);
        } else {
            self.packets.behind[lane.back as usize] = packet;
        }
        self.lanes[at as usize].back = packet;
    }

    fn take_credits(&mut self) {
        let mut returns = std::mem::take(&mut self.scratch.numbers);
        self.returns.take(self.now, &mut returns);
        for to in returns.drain(..) {
            if to & TO_SOURCE != 0 {
                let lane = (to & !TO_SOURCE) as usize;
                self.source_credits[lane] += 1;
                let node = self.node_of(lane);
                self.sending.insert(node as usize);
                continue;
            }
            let to = to as usize;
            self.credits[to] += 1;
            if self.credits[to] == 1 && self.owners[to] != u8::MAX {
                let router = to >> self.shift;
                self.masks[router].funded |= 1 << self.owners[to];
                self.active.insert(router);
            }
        }
        self.scratch.numbers = returns;
    }

    fn start_packets(&mut self, load: &mut impl Load) {
        let mut asking = std::mem::take(&mut self.asking);
        self.later.take(self.now, &mut asking);
        for node in asking.drain(..) {
            let Some(message) = self.turns.message(node, self.now, load, &mut self.later, node)
            else {
                continue;
            };
            let detour = self.fabric.adapts() && self.takes_detour(node, &message);
            let packet = self.packets.insert(&self.fabric, node, message, detour, self.now);
            if self.timing.inject.is_some() {
                self.sources[node as usize].packet = packet;
                self.sources[node as usize].left = self.flits;
                self.sending.insert(node as usize);
            } else {
                // All flits of the packet are in the router at once, in front of its first lane.
                let at = self.first_lane(node) as u32;
                self.counts.injected += u64::from(self.flits);
                self.lanes[at as usize].present = self.flits;
                self.set_present(at);
                self.enter(at, packet);
            }
        }
        self.asking = asking;
    }

    /// Sends one flit from every processor that is sending a packet, if its router's buffer has
    /// space.
    fn send_from_processors(&mut self) {
        for word in 0..self.sending.words() {
            for bit in Bits(self.sending.word(word)) {
                let node = word << 6 | bit;
                self.send_from(node);
            }
        }
    }

    fn send_from(&mut self, node: usize) {
        let Source { packet, left, channel } = self.sources[node];
        let lanes = self.first_lane(node as Node);
        let has_credit = |channel: &usize| self.source_credits[lanes + channel] > 0;
        let channel = usize::from(channel);
        let channel = if packet == NONE {
            None
        } else if left == self.flits {
            // A new packet takes the next channel with space, counted from the one used last.
            (1..=self.channels).map(|i| (channel + i) % self.channels).find(has_credit)
        } else {
            Some(channel).filter(has_credit)
        };
        let Some(channel) = channel else {
            self.sending.remove(node);
            return;
        };
        let mut head = NONE;
        if left == self.flits {
            head = packet;
            self.packets.start(packet, self.now);
        }
        self.source_credits[lanes + channel] -= 1;
        self.counts.injected += 1;
        self.moved = self.now;
        let delay = self.timing.inject.unwrap_or(0);
        self.arrivals.push(self.now + delay, ((lanes + channel) as u32, head));
        let is_last = left == 1;
        let packet = if is_last { NONE } else { packet };
        self.sources[node] = Source { packet, left: left - 1, channel: channel as u8 };
        if is_last {
            self.sending.remove(node);
            self.ask_next(node as Node);
        }
    }

    fn request(&mut self) {
        let mut requests = std::mem::take(&mut self.scratch.numbers);
        self.requests.take(self.now, &mut requests);
        requests.sort_unstable(); // equal times: the lowest port first
        for at in requests.drain(..) {
            let (port, class) = self.packets.hop(self.lanes[at as usize].front);
            self.grants.request(&Request { lane: at, port, class });
        }
        self.scratch.numbers = requests;
    }

    fn grant(&mut self) {
        let mut granted = std::mem::take(&mut self.scratch.granted);
        self.grants.decide(&mut granted);
        for (router, lane, out) in granted.drain(..) {
            let router = router as usize;
            let output = router << self.shift | usize::from(out);
            self.lanes[router << self.shift | usize::from(lane)].out = out;
            self.owners[output] = lane;
            self.masks[router].granted |= 1 << lane;
            if self.credits[output] > 0 {
                self.masks[router].funded |= 1 << lane;
            }
            self.active.insert(router);
        }
        self.scratch.granted = granted;
    }

    fn move_flits(&mut self) {
        let mut moves = std::mem::take(&mut self.scratch.moves);
        for word in 0..self.active.words() {
            for bit in Bits(self.active.word(word)) {
                let router = word << 6 | bit;
                let masks = &self.masks[router];
                let ready = masks.granted & masks.present & masks.funded;
                if ready == 0 {
                    self.active.remove(router);
                } else if self.channels == 1 {
                    // With one virtual channel, no two lanes share a port, so there are no
                    // conflicts.
                    Bits(ready).for_each(|lane| self.send(router, lane));
                } else {
                    let outs = &self.lanes[router << self.shift..];
                    self.switch.choose(router, ready, |lane| outs[lane].out, &mut moves);
                    for lane in moves.drain(..) {
                        self.send(router, usize::from(lane));
                    }
                }
            }
        }
        self.scratch.moves = moves;
    }

    /// Sends a flit from lane `number` of a router through the output lane granted to it.
    fn send(&mut self, router: usize, number: usize) {
        let at = router << self.shift | number;
        let lane = &mut self.lanes[at];
        let (out, packet) = (usize::from(lane.out), lane.front);
        let is_head = lane.left == self.flits;
        lane.left -= 1;
        lane.present -= 1;
        let (is_tail, is_empty) = (lane.left == 0, lane.present == 0);
        let output = router << self.shift | out;
        // An output lane without a buffer behind it leads to a node.
        let target = self.down[output];
        let is_local = target == NONE;
        self.moved = self.now;
        self.counts.flit_hops += 1;
        let masks = &mut self.masks[router];
        if is_empty {
            masks.present &= !(1 << number);
        }
        if !is_local || self.timing.sink_has_credits {
            let credits = &mut self.credits[output];
            *credits -= 1;
            if *credits == 0 {
                masks.funded &= !(1 << number);
            }
        }
        if !is_local {
            let head = if is_head { packet } else { NONE };
            self.arrivals.push(self.now + self.transfers[out % LANES], (target, head));
        } else {
            self.counts.ejected += 1;
            if self.timing.sink_has_credits {
                let back = self.now + self.timing.transfer + self.timing.credit;
                self.returns.push(back, output as u32);
            }
            if is_tail {
                self.deliveries.push(self.now + self.timing.transfer, packet);
            }
        }
        let up = self.up[at];
        if up != NONE {
            let is_link = up & TO_SOURCE == 0;
            let back =
                if is_link { self.credit_returns[number % LANES] } else { self.timing.credit };
            self.returns.push(self.now + back, up);
        }
        if is_tail {
            let masks = &mut self.masks[router];
            masks.granted &= !(1 << number);
            masks.funded &= !(1 << number);
            // Credits that come back from now on do not fund this input lane.
            self.owners[output] = u8::MAX;
            self.released.push(output as u32);
            self.advance(at as u32, packet);
        }
    }

    /// Moves the second packet of a lane to the front, after the first packet has left the lane.
    fn advance(&mut self, at: u32, gone: PacketId) {
        let next = std::mem::replace(&mut self.packets.behind[gone as usize], NONE);
        let lane = &mut self.lanes[at as usize];
        lane.front = next;
        if next != NONE {
            lane.left = self.flits;
            self.requests.push(self.now + 1 + self.timing.route, at);
        } else if self.up[at as usize] == NONE {
            self.ask_next(self.node_of(at as usize));
        }
    }

    /// Arranges that a processor, whose last packet has left, is asked for a packet in the next
    /// cycle.
    fn ask_next(&mut self, node: Node) {
        self.turns.leaves(node, self.now + 1);
        self.asking_next.push(node);
    }

    /// Index of the first lane through which a node sends. The node's other lanes have the next
    /// indices.
    fn first_lane(&self, node: Node) -> usize {
        let (router, port) = self.fabric.home(node);
        (router as usize) << self.shift | (port * self.channels)
    }

    fn node_of(&self, lane: usize) -> Node {
        let number = lane & ((1 << self.shift) - 1);
        self.fabric.node_at((lane >> self.shift) as Router, number / self.channels)
    }

    /// Whether a packet takes a detour, judged by the output queues of its first router. The packet
    /// takes the detour if the queue of the direct path has more flits than a limit. The limit is
    /// twice the number of flits in the queue of the detour, plus the threshold.
    fn takes_detour(&self, node: Node, message: &Message) -> bool {
        let first = |detour| {
            let route = self.fabric.route(node, message.to, message.coins, detour);
            route.first().map(|leg| usize::from(leg.port))
        };
        let (Some(direct), Some(other)) = (first(false), first(true)) else { return false };
        let router = (self.fabric.home(node).0 as usize) << self.shift;
        let held = |port: usize| -> u64 {
            let lanes = port * self.channels..(port + 1) * self.channels;
            lanes.map(|lane| u64::from(self.buffer - self.credits[router | lane])).sum()
        };
        held(direct) > 2 * held(other) + self.threshold
    }

    fn stuck(&self) -> Stuck {
        let flits = self.lanes.iter().map(|lane| lane.present);
        Stuck::new(self.moved, self.packets.len(), flits, self.shift, self.channels)
    }

    /// Checks that flits and credits are conserved: none is lost or added.
    #[cfg(test)]
    pub(super) fn audit(&self, buffer: u32) {
        let in_lanes: u64 = self.lanes.iter().map(|lane| u64::from(lane.present)).sum();
        let flying = self.arrivals.all().count() as u64;
        assert_eq!(
            in_lanes + flying,
            self.counts.injected - self.counts.ejected,
            "flits are conserved"
        );
        for (from, &to) in self.down.iter().enumerate().filter(|&(_, &to)| to != NONE) {
            let flying = self.arrivals.all().filter(|&&(lane, _)| lane == to).count() as u32;
            let returning =
                self.returns.all().filter(|&&lane| lane as usize == from).count() as u32;
            let held = self.lanes[to as usize].present;
            assert_eq!(self.credits[from] + flying + held + returning, buffer, "of lane {from}");
        }
    }
}
