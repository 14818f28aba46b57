//! The worm engine, in which flits need not be simulated one by one, since lanes share no links.
//!
//! Worms are packets, each spread over several buffers. A flit leaves a buffer when three
//! conditions hold: it has arrived, the flit before it left at least one cycle earlier, and the
//! next buffer has space. So when the head of a packet is granted a lane, the engine computes the
//! times of all flits that fit in the lane. From these times follow the times of the packet's other
//! flits, in the buffers behind. There are only four kinds of events: a head requests a lane, a
//! lane becomes free, a packet has arrived, and a processor may send. All times that an event
//! determines lie in the future. So the order of events within a cycle does not matter. Releases
//! and requests are collected first, and then lanes are granted.

use super::Cycle;
use super::calendar::Calendar;
use super::fabric::Fabric;
use super::grants::{Grants, Request};
use super::message::{Load, Stuck};
use super::packets::{NONE, PacketId, Packets};
use super::timing::{Arbitration, Timing};
use super::turns::Turns;
use super::{Counts, WormholeConfig};
use crate::topology::Node;

// The upper two bits of an event are its kind; the lower bits are the lane, node or packet.
const REQUEST: u32 = 0;
const RELEASE: u32 = 1 << 30;
const TURN: u32 = 2 << 30;
const DELIVERY: u32 = 3 << 30;

/// Buffer with the known times of the flits that go through it.
///
/// The ring of times has one entry for each flit for which the buffer has space. An entry is the
/// arrival time of a flit and, once the flit's departure is known, the time from which another flit
/// can use its place. A `Lane` is aligned so that it never crosses a border between cache lines,
/// because fetching lanes takes most of the time.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Lane {
    front: PacketId,
    back: PacketId,
    /// Number of flits of the buffer's first packet whose departure times are not known yet.
    left: u32,
    /// Number of flits whose arrival times are known, but whose departure times are not.
    present: u32,
    /// Index in the ring buffer of arrival times at which the arrival of the next flit is stored.
    ///
    /// `head` is the index of the flit that leaves next.
    tail: u32,
    head: u32,
    /// The buffer into which the first packet of this buffer moves next. `feeder` is the buffer
    /// from which the last packet of this buffer comes.
    target: u32,
    feeder: u32,
    output: u32,
    /// Number of cycles by which the latency of the link to this buffer exceeds 1.
    length: u32,
    /// The earliest departure time of the next flit, as far as it depends on this buffer alone.
    from: Cycle,
}

/// Engine that computes the times of all flits of a packet together.
///
/// This is possible because lanes share no links. Routers' buffers have the same indices as in the
/// cycle engine. The next higher indices stand for processors as receivers (sinks), and the highest
/// indices for processors as senders (sources). A sink is a single lane, because a processor
/// accepts one flit in a cycle.
pub(super) struct WormEngine {
    fabric: Fabric,
    timing: Timing,
    channels: usize,
    flits: u32,
    buffer: u32,
    shift: u32,
    /// Position, among the lanes of a router, of the first lane that leads to a processor.
    ///
    /// Only routers with nodes have such lanes. These routers come first: in the list of all lanes,
    /// their lanes have the indices below `homes`.
    local: u32,
    homes: u32,
    /// Index of the first sink (a processor as receiver) in the list of lanes. `sources` is the
    /// index of the first source (a processor as sender) in this list.
    sinks: u32,
    sources: u32,
    pub(super) now: Cycle,
    moved: Cycle,
    pub(super) packets: Packets,
    lanes: Vec<Lane>,
    times: Vec<Cycle>,
    down: Vec<u32>,
    grants: Grants,
    calendar: Calendar,
    turns: Turns,
    /// Events of the current cycle that have not been processed yet.
    events: Vec<u32>,
    requests: Vec<u32>,
    granted: Vec<(u32, u8, u8)>,
    /// Lanes whose flits may leave now, because a lane was granted or space has become free.
    changed: Vec<u32>,
    pub(super) counts: Counts,
}

impl WormEngine {
    pub(super) fn new(fabric: Fabric, setting: &WormholeConfig) -> WormEngine {
        let timing = setting.timing();
        let channels = setting.virtual_channels as usize;
        let (nodes, routers) = (fabric.nodes() as usize, fabric.routers() as usize);
        let shift = (fabric.ports() * channels).next_power_of_two().trailing_zeros();
        let (fabric_local, fabric_homes) = (fabric.local(), fabric.homes());
        let sinks = routers << shift;
        let sources = sinks + nodes;
        let all = sources + if timing.inject.is_some() { nodes } else { 0 };
        let mut down = vec![NONE; sinks];
        let empty = Lane {
            front: NONE,
            back: NONE,
            left: 0,
            present: 0,
            tail: 0,
            head: 0,
            target: NONE,
            feeder: NONE,
            output: NONE,
            length: 0,
            from: 0,
        };
        let mut lanes = vec![empty; all];
        for (from, to) in fabric.lanes(shift, channels) {
            down[from] = to as u32;
            lanes[to].length = fabric.length((from & ((1 << shift) - 1)) / channels) as u32;
        }
        for node in 0..nodes {
            let (router, port) = fabric.home(node as Node);
            down[(router as usize) << shift | (port * channels)] = (sinks + node) as u32;
        }
        WormEngine {
            packets: Packets::new(&fabric, setting),
            lanes,
            times: vec![0; sources * setting.buffer as usize],
            down,
            grants: Grants::new(&fabric, channels, 1, shift, timing.arbitration),
            calendar: Calendar::new(),
            turns: Turns::new(nodes),
            events: Vec::new(),
            requests: Vec::new(),
            granted: Vec::new(),
            changed: Vec::new(),
            counts: Counts::default(),
            flits: setting.packet_length,
            buffer: setting.buffer,
            sinks: sinks as u32,
            sources: sources as u32,
            now: 0,
            moved: 0,
            fabric,
            timing,
            local: (fabric_local * channels) as u32,
            homes: fabric_homes << shift,
            channels,
            shift,
        }
    }

    pub(super) fn wake(&mut self, node: Node) {
        if self.turns.wake(node, self.now) {
            self.events.push(TURN | node);
        }
    }

    pub(super) fn run(&mut self, until: Cycle, load: &mut impl Load) -> Result<(), Stuck> {
        loop {
            self.calendar.take(self.now, &mut self.events);
            self.deliver(load);
            if load.pauses() || self.now >= until {
                return Ok(());
            }
            self.cycle(load);
            let next =
                if self.grants.is_settled() { self.calendar.next() } else { Some(self.now + 1) };
            self.now = match next {
                Some(next) => next.min(until),
                None if self.packets.len() == 0 => until,
                None => return Err(self.stuck()),
            };
        }
    }

    fn deliver(&mut self, load: &mut impl Load) {
        let mut events = std::mem::take(&mut self.events);
        events.retain(|&event| {
            let is_other = event & DELIVERY != DELIVERY;
            if !is_other {
                let delivery = self.packets.deliver(event & !DELIVERY, self.now);
                if let Some(node) = load.delivered(&delivery) {
                    self.wake(node);
                }
            }
            is_other
        });
        events.append(&mut self.events);
        self.events = events;
    }

    fn cycle(&mut self, load: &mut impl Load) {
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            let number = event & !DELIVERY;
            match event & DELIVERY {
                REQUEST => self.requests.push(number),
                RELEASE => self.grants.release(number),
                _ => self.start_packet(number, load),
            }
        }
        self.events = events;
        self.requests.sort_unstable(); // equal times: the lowest port first
        for at in 0..self.requests.len() {
            let lane = self.requests[at];
            let (port, class) = self.packets.hop(self.lanes[lane as usize].front);
            self.grants.request(&Request { lane, port, class });
        }
        self.requests.clear();
        let mut granted = std::mem::take(&mut self.granted);
        self.grants.decide(&mut granted);
        let first = self.now + Cycle::from(self.timing.arbitration == Arbitration::RoundRobin);
        for (router, lane, output) in granted.drain(..) {
            let at = router << self.shift | u32::from(lane);
            let output = router << self.shift | u32::from(output);
            self.lanes[at as usize].output = output;
            self.connect(at, self.down[output as usize], first);
        }
        self.granted = granted;
    }

    /// Connects the buffer `at` to the lane `target`, which was granted to the buffer's first
    /// packet. The head leaves in cycle `first` at the earliest.
    fn connect(&mut self, at: u32, target: u32, first: Cycle) {
        let lane = &mut self.lanes[at as usize];
        lane.target = target;
        lane.from = lane.from.max(first);
        self.lanes[target as usize].feeder = at;
        let mut changed = at;
        loop {
            // If the changed lane has gained space, the lane that feeds it may send next. Otherwise
            // any other changed lane is examined.
            changed = match self.advance(changed).or_else(|| self.changed.pop()) {
                Some(lane) => lane,
                None => return,
            };
        }
    }

    /// Starts the next packet of a processor, if its turn is in this cycle and it has a message.
    fn start_packet(&mut self, node: Node, load: &mut impl Load) {
        let event = TURN | node;
        let Some(message) = self.turns.message(node, self.now, load, &mut self.calendar, event)
        else {
            return;
        };
        let packet = self.packets.insert(&self.fabric, node, message, false, self.now);
        let (router, port) = self.fabric.home(node);
        let injection = router << self.shift | (port * self.channels) as u32;
        let has_source = self.timing.inject.is_some();
        let at = if has_source { self.sources + node } else { injection };
        let lane = &mut self.lanes[at as usize];
        (lane.front, lane.back) = (packet, packet);
        (lane.left, lane.present) = (self.flits, self.flits);
        if has_source {
            self.connect(at, injection, self.now);
        } else if self.timing.route == 0 {
            self.requests.push(at);
        } else {
            self.calendar.push(self.now + self.timing.route, REQUEST | at);
        }
    }

    fn port_of(&self, at: u32) -> usize {
        (at & ((1 << self.shift) - 1)) as usize / self.channels
    }

    /// Whether packets begin in the lane with index `at`. Such a lane has all flits of a packet at
    /// once.
    fn is_source(&self, at: u32) -> bool {
        if self.timing.inject.is_some() {
            at >= self.sources
        } else {
            // Without separate sources, packets enter the network at the lanes of local ports.
            at < self.homes && at & ((1 << self.shift) - 1) >= self.local
        }
    }

    /// Computes when flits leave a buffer, for as many flits as the next buffer has space for.
    ///
    /// Returns the preceding buffer, which can now send flits to the buffer; `None` if no flit
    /// leaves or there is no preceding buffer.
    fn advance(&mut self, at: u32) -> Option<u32> {
        let Lane { target, left, present, .. } = self.lanes[at as usize];
        if target == NONE {
            return None;
        }
        let is_source = self.is_source(at);
        let is_sink = (self.sinks..self.sources).contains(&target);
        let has_credits = !is_sink || self.timing.sink_has_credits;
        // A flit leaves a sink as soon as it arrives.
        let space =
            if is_sink { u32::MAX } else { self.buffer - self.lanes[target as usize].present };
        let count = left.min(present).min(space);
        if count == 0 {
            return None;
        }
        let delay = match self.timing.inject {
            Some(delay) if is_source => delay,
            _ => self.timing.transfer + Cycle::from(self.lanes[target as usize].length),
        };
        let credit = self.timing.credit;
        let returns = credit + Cycle::from(self.lanes[at as usize].length);
        let (own, next) = ((at * self.buffer) as usize, (target * self.buffer) as usize);
        let Lane { mut head, mut from, .. } = self.lanes[at as usize];
        let mut tail = self.lanes[target as usize].tail;
        let is_head = left == self.flits;
        let mut first = 0;
        let after = |place: u32| if place + 1 == self.buffer { 0 } else { place + 1 };
        for i in 0..count {
            let mut leaves = from;
            if !is_source {
                leaves = leaves.max(self.times[own + head as usize]);
            }
            if has_credits {
                leaves = leaves.max(self.times[next + tail as usize]);
            }
            if !is_source {
                self.times[own + head as usize] = leaves + returns;
                head = after(head);
            }
            if has_credits {
                let arrives = leaves + delay;
                self.times[next + tail as usize] = if is_sink { arrives + credit } else { arrives };
                tail = after(tail);
            }
            if i == 0 {
                first = leaves + delay;
            }
            from = leaves + 1;
        }
        self.moved = self.moved.max(from - 1);
        let hops = u64::from(count);
        let is_processor = at >= self.sources;
        self.counts.flit_hops += if is_processor { 0 } else { hops };
        self.counts.injected += if is_source { hops } else { 0 };
        self.counts.ejected += if is_sink { hops } else { 0 };
        let lane = &mut self.lanes[at as usize];
        (lane.head, lane.from) = (head, from);
        (lane.left, lane.present) = (left - count, present - count);
        let (packet, feeder, output) = (lane.front, lane.feeder, lane.output);
        let next = &mut self.lanes[target as usize];
        next.tail = tail;
        if !is_sink {
            next.present += count;
            if next.target != NONE {
                self.changed.push(target);
            }
            if is_head {
                self.enter(target, packet, first);
            }
        }
        if is_processor && is_head {
            self.packets.start(packet, first - delay);
        }
        if left == count {
            self.pass_tail(at, packet, output, from);
            if is_sink {
                self.calendar.push(from - 1 + delay, DELIVERY | packet);
            }
        }
        (feeder != NONE).then_some(feeder)
    }

    /// Records that the head flit of a packet arrives in an input lane.
    fn enter(&mut self, at: u32, packet: PacketId, arrives: Cycle) {
        let lane = &mut self.lanes[at as usize];
        if lane.front == NONE {
            (lane.front, lane.left) = (packet, self.flits);
            let first = arrives.max(lane.from);
            self.calendar.push(first + self.timing.route, REQUEST | at);
        } else {
            self.packets.behind[lane.back as usize] = packet;
        }
        lane.back = packet;
    }

    /// Records that the tail of a lane's first packet leaves the lane, in the cycle before `free`.
    fn pass_tail(&mut self, at: u32, packet: PacketId, output: u32, free: Cycle) {
        let target = std::mem::replace(&mut self.lanes[at as usize].target, NONE);
        self.lanes[target as usize].feeder = NONE;
        let is_source = self.is_source(at);
        let next = std::mem::replace(&mut self.packets.behind[packet as usize], NONE);
        let lane = &mut self.lanes[at as usize];
        lane.front = next;
        if next != NONE {
            lane.left = self.flits;
            let arrives = self.times[(at * self.buffer + lane.head) as usize];
            self.calendar.push(arrives.max(free) + self.timing.route, REQUEST | at);
        }
        if at < self.sinks {
            self.calendar.push(free, RELEASE | output);
        }
        if is_source {
            let node = if at >= self.sources {
                at - self.sources
            } else {
                self.fabric.node_at(at >> self.shift, self.port_of(at))
            };
            self.turns.leaves(node, free);
            self.calendar.push(free, TURN | node);
        }
    }

    fn stuck(&self) -> Stuck {
        let flits = self.lanes[..self.sinks as usize].iter().map(|lane| lane.present);
        Stuck::new(self.moved, self.packets.len(), flits, self.shift, self.channels)
    }
}
