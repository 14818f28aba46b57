//! Grants of output lanes to the heads of packets that wait in a router.

use super::bits::{BitSet, Bits, first_from};
use super::fabric::Fabric;
use super::timing::Arbitration;
use crate::topology::wires::Router;

const NONE: u8 = u8::MAX;

/// Request for an output lane, made by the head of the packet in an input lane.
///
/// Any lane of class `class` of the output port `port` can be granted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) lane: u32,
    pub(super) port: usize,
    pub(super) class: usize,
}

/// Free output lanes of all routers, and the packet heads that wait for a lane. Lanes are requested
/// by group. A group has all lanes of one port and one class, and any free lane of a group serves a
/// request for the group. A local port has a single group, unless packets keep their class up to
/// the node: then it has a group for each class. Only routers in which something has changed make
/// decisions.
#[derive(Clone, Debug)]
pub(super) struct Grants {
    arbitration: Arbitration,
    classes: usize,
    local: usize,
    /// Number of groups of a local port. A group is a set of lanes. Any lane of the group can serve
    /// a request for the group.
    exits: usize,
    shift: u32,
    /// The output lanes of each group of lanes, as a mask. The masks are the same in all routers. A
    /// group has the output lanes of one class of one port.
    groups: Vec<u64>,
    /// For each router, a mask of the output lanes that no packet holds.
    free: Vec<u64>,
    /// For each router, a mask of the groups of lanes for which heads of packets wait.
    wanted: Vec<u64>,
    /// Routers in which lanes were requested or released since lanes were last granted.
    stirred: BitSet,
    fifo: Vec<Queue>,
    /// For each waiting lane, the lane behind it in the queue for its group of output lanes.
    after: Vec<u8>,
    /// For round robin: a mask of the waiting lanes, for each group of output lanes of each router.
    waiting: Vec<u64>,
    /// For round robin: for each output lane, the input lane at which its next search begins.
    /// `from_output` has, for each input lane, the output lane at which the next search begins.
    from_lane: Vec<u8>,
    from_output: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u8,
    last: u8,
}

impl Grants {
    /// Creates the state in which all lanes are free and no head waits. Of the lanes of a local
    /// port, `to_processor` lead to its processor. The port's other lanes are never free.
    pub(super) fn new(
        fabric: &Fabric,
        channels: usize,
        to_processor: usize,
        shift: u32,
        arbitration: Arbitration,
    ) -> Grants {
        let classes = fabric.classes();
        let (routers, local) = (fabric.routers() as usize, fabric.local());
        let each = channels / classes;
        let some = |lanes: usize| if lanes == 64 { u64::MAX } else { (1 << lanes) - 1 };
        let mut groups: Vec<u64> = (0..local * classes)
            .map(|group| {
                let (port, class) = (group / classes, group % classes);
                some(each) << (port * channels + class * each)
            })
            .collect();
        // If a single lane leads to a processor, it serves packets of all classes.
        let exits = if fabric.keeps_classes() && to_processor == channels { classes } else { 1 };
        let each = channels / exits;
        groups.extend((local * exits..fabric.ports() * exits).map(|group| {
            let (port, class) = (group / exits, group % exits);
            some(each) << (port * channels + class * each)
        }));
        let all = routers << shift;
        let lanes = |router: usize| {
            let of_port = |port: usize| {
                let is_local = fabric.is_local(router as Router, port);
                some(if is_local { to_processor } else { channels }) << (port * channels)
            };
            (0..fabric.ports()).map(of_port).sum()
        };
        let is_fifo = arbitration == Arbitration::Fifo;
        let of = |is_used: bool, count: usize| if is_used { count } else { 0 };
        Grants {
            free: (0..routers).map(lanes).collect(),
            wanted: vec![0; routers],
            stirred: BitSet::new(routers),
            fifo: vec![Queue { first: NONE, last: NONE }; of(is_fifo, routers * groups.len())],
            after: vec![NONE; of(is_fifo, all)],
            waiting: vec![0; of(!is_fifo, routers * groups.len())],
            from_lane: vec![0; of(!is_fifo, all)],
            from_output: vec![0; of(!is_fifo, all)],
            arbitration,
            classes,
            local,
            exits,
            shift,
            groups,
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.stirred.is_empty()
    }

    pub(super) fn release(&mut self, output: u32) {
        let router = (output >> self.shift) as usize;
        self.free[router] |= 1 << (output & ((1 << self.shift) - 1));
        if self.wanted[router] != 0 {
            self.stirred.insert(router);
        }
    }

    /// Queues the head of a packet for any lane of a group, behind earlier requests.
    pub(super) fn request(&mut self, request: &Request) {
        let router = (request.lane >> self.shift) as usize;
        let lane = (request.lane & ((1 << self.shift) - 1)) as u8;
        let group = match request.port.checked_sub(self.local) {
            None => request.port * self.classes + request.class,
            Some(at) => {
                let class = if self.exits == 1 { 0 } else { request.class };
                self.local * self.classes + at * self.exits + class
            }
        };
        let index = router * self.groups.len() + group;
        self.wanted[router] |= 1 << group;
        self.stirred.insert(router);
        if self.arbitration == Arbitration::RoundRobin {
            self.waiting[index] |= 1 << lane;
            return;
        }
        self.after[request.lane as usize] = NONE;
        let queue = &mut self.fifo[index];
        if queue.first == NONE {
            queue.first = lane;
        } else {
            self.after[router << self.shift | usize::from(queue.last)] = lane;
        }
        queue.last = lane;
    }

    /// Grants all requests that can be granted. Appends the router, the input lane and the output
    /// lane of each grant to a list.
    pub(super) fn decide(&mut self, granted: &mut Vec<(u32, u8, u8)>) {
        for word in 0..self.stirred.words() {
            for bit in Bits(self.stirred.take_word(word)) {
                let router = word << 6 | bit;
                match self.arbitration {
                    Arbitration::Fifo => self.first_come(router, granted),
                    Arbitration::RoundRobin => self.round_robin(router, granted),
                }
            }
        }
    }

    fn first_come(&mut self, router: usize, granted: &mut Vec<(u32, u8, u8)>) {
        for group in Bits(self.wanted[router]) {
            let queue = &mut self.fifo[router * self.groups.len() + group];
            loop {
                let free = self.free[router] & self.groups[group];
                if free == 0 || queue.first == NONE {
                    break;
                }
                let output = free.trailing_zeros() as u8;
                self.free[router] &= !(1 << output);
                granted.push((router as u32, queue.first, output));
                queue.first = self.after[router << self.shift | usize::from(queue.first)];
            }
            if queue.first == NONE {
                self.wanted[router] &= !(1 << group);
            }
        }
    }

    /// Grants lanes in a router by one iteration of round robin. Each free output lane offers
    /// itself to the head of one packet. Each head accepts one offer.
    fn round_robin(&mut self, router: usize, granted: &mut Vec<(u32, u8, u8)>) {
        let base = router << self.shift;
        let mut offers = [0_u64; 64];
        let mut offered = 0_u64;
        let mut group_of = [0_u8; 64];
        for group in Bits(self.wanted[router]) {
            let waiting = self.waiting[router * self.groups.len() + group];
            for output in Bits(self.free[router] & self.groups[group]) {
                let lane = first_from(waiting, self.from_lane[base | output]);
                offers[lane] |= 1 << output;
                offered |= 1 << lane;
                group_of[lane] = group as u8;
            }
        }
        let lanes = 1_u8 << self.shift.min(6);
        for lane in Bits(offered) {
            let output = first_from(offers[lane], self.from_output[base | lane]);
            self.free[router] &= !(1 << output);
            self.from_lane[base | output] = (lane as u8 + 1) % lanes;
            self.from_output[base | lane] = (output as u8 + 1) % lanes;
            let group = usize::from(group_of[lane]);
            let waiting = &mut self.waiting[router * self.groups.len() + group];
            *waiting &= !(1 << lane);
            if *waiting == 0 {
                self.wanted[router] &= !(1 << group);
            }
            granted.push((router as u32, lane as u8, output as u8));
        }
        let unserved = Bits(self.wanted[router]).any(|g| self.free[router] & self.groups[g] != 0);
        if unserved {
            self.stirred.insert(router);
        }
    }
}
