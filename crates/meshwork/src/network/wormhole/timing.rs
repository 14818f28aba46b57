//! Timing of a router, in two presets: delays in cycles, and how lanes are granted.

use std::collections::BTreeMap;

use super::fabric::Way;
use super::{Cycle, WormholeConfig};

/// How a free lane (virtual channel) is assigned to one of the packet heads that request it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arbitration {
    /// A free lane goes to the earliest request. If requests are equally early, the lane goes to
    /// the lowest port.
    ///
    /// In a cycle, lanes are granted before flits are sent, so that a head leaves in the cycle of
    /// its grant.
    Fifo,
    /// A free lane is assigned by round robin, with one iteration of grants and accepts.
    ///
    /// In a cycle, lanes are granted after flits are sent, so that a head leaves in the cycle after
    /// its grant at the earliest.
    RoundRobin,
}

/// The simulator whose router is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The router of ProcSimity, with the semantics of NETSIM, on which ProcSimity is built. Every
    /// router takes `router_delay` cycles to route a head, after the packet in front of it has
    /// left.
    Procsimity,
    /// The pipelined router of BookSim 2 with look-ahead routing.
    Booksim,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// Cycles from when a packet's head reaches the front of its buffer until it requests a lane.
    pub(super) route: Cycle,
    /// Cycles from sending a flit to its arrival in the next buffer; at least 1.
    pub(super) transfer: Cycle,
    /// Cycles from sending a flit until its place in the next buffer can be used again; at least 1.
    pub(super) credit: Cycle,
    /// Cycles from when a processor sends a flit to its arrival in the router's buffer. `None` if a
    /// packet is ready in the router as soon as it reaches the front of the processor's queue.
    pub(super) inject: Option<Cycle>,
    /// Extra cycles of flits and credits over a local link, compared with a link of latency 1.
    /// `global` has the extra cycles over a global link.
    pub(super) local: Cycle,
    pub(super) global: Cycle,
    /// Whether a processor, like a router, accepts a flit only if it has given a credit for the
    /// flit.
    pub(super) sink_has_credits: bool,
    pub(super) arbitration: Arbitration,
}

impl Timing {
    /// Delays in the simulator that `preset` names. `links` has the latencies of local and global
    /// links, in cycles.
    pub(super) fn new(preset: Preset, router_delay: Cycle, links: [u32; 2]) -> Timing {
        let [local, global] = links.map(|cycles| Cycle::from(cycles.max(1) - 1));
        match preset {
            Preset::Procsimity => Timing {
                route: router_delay,
                transfer: 1,
                credit: 1,
                inject: None,
                local,
                global,
                sink_has_credits: false,
                arbitration: Arbitration::Fifo,
            },
            Preset::Booksim => Timing {
                route: 0,
                transfer: 3,
                credit: 2,
                inject: Some(2),
                local,
                global,
                sink_has_credits: true,
                arbitration: Arbitration::RoundRobin,
            },
        }
    }

    /// Cycles that the head of a packet spends at the front of a buffer, if the network is
    /// otherwise empty.
    fn head(&self) -> Cycle {
        self.route + Cycle::from(self.arbitration == Arbitration::RoundRobin)
    }

    /// Extra cycles on one link of a route, compared with a link of latency 1. `link` is the link's
    /// index on the route.
    fn length(&self, way: Way, link: usize) -> Cycle {
        if link < 8 && way.global >> link & 1 == 1 { self.global } else { self.local }
    }

    /// Cycles that a packet takes over the links of a route in an empty network.
    ///
    /// The cycles are counted from when the packet reaches the front of its processor's queue to
    /// the arrival of its tail. Buffers have space for `buffer` flits. If links differ in length
    /// and buffers are short, times are computed flit by flit.
    pub(super) fn zero_load(&self, way: Way, flits: u32, buffer: u32) -> Cycle {
        let (body, buffer) = (Cycle::from(flits - 1), Cycle::from(buffer));
        let (links, global) = (Cycle::from(way.links), Cycle::from(way.global.count_ones()));
        let lengths = (links - global) * self.local + global * self.global;
        let local = if links > global { self.local } else { 0 };
        let longest = if global > 0 { local.max(self.global) } else { local };
        let is_uniform = global == 0 || global == links || self.local == self.global;
        if !is_uniform && buffer < self.transfer + self.credit + 2 * longest && body >= buffer {
            return self.flit_times(way, flits, buffer as u32).1;
        }
        let round = self.transfer + self.credit + 2 * longest;
        let in_rounds = body / buffer * round + body % buffer;
        let has_buffers = links > 0 || self.sink_has_credits;
        let tail = if has_buffers { body.max(in_rounds) } else { body };
        self.inject.unwrap_or(0) + (links + 1) * (self.head() + self.transfer) + lengths + tail
    }

    /// Cycles from when a packet reaches the front of its queue until its last flit has left the
    /// queue. The network has no other packets.
    pub(super) fn leaves(&self, way: Way, flits: u32, buffer: u32) -> Cycle {
        self.flit_times(way, flits, buffer).0
    }

    /// Two cycles: when a packet has left its processor's queue, and when its tail arrives. The
    /// network is otherwise empty. Cycles are counted from when the packet reaches the front of the
    /// queue. Time: **O(D L)** for *D* links and packets of *L* flits.
    fn flit_times(&self, way: Way, flits: u32, buffer: u32) -> (Cycle, Cycle) {
        // Stages are the routers, and before them the processor if it sends flit by flit. For each
        // stage, `times` has the time at which each flit leaves it.
        let has_source = self.inject.is_some();
        let stages = way.links as usize + 1 + usize::from(has_source);
        let (flits, buffer) = (flits as usize, buffer as usize);
        let link_behind = |stage: usize| self.length(way, stage - usize::from(has_source));
        let mut times = vec![vec![0; flits]; stages];
        for flit in 0..flits {
            for stage in 0..stages {
                let is_first = stage == 0;
                let is_last = stage + 1 == stages;
                let is_source = is_first && has_source;
                let arrived = match stage.checked_sub(1) {
                    None => 0,
                    Some(0) if has_source => times[0][flit] + self.inject.unwrap_or(0),
                    Some(before) => times[before][flit] + self.transfer + link_behind(before),
                };
                let mut leaves = arrived;
                if flit == 0 {
                    leaves += if is_source { 0 } else { self.head() };
                } else {
                    leaves = leaves.max(times[stage][flit - 1] + 1);
                }
                if let Some(ahead) = flit.checked_sub(buffer) {
                    if !is_last {
                        let back = if is_source { 0 } else { link_behind(stage) };
                        leaves = leaves.max(times[stage + 1][ahead] + self.credit + back);
                    } else if self.sink_has_credits {
                        leaves = leaves.max(times[stage][ahead] + self.transfer + self.credit);
                    }
                }
                times[stage][flit] = leaves;
            }
        }
        (times[0][flits - 1] + 1, times[stages - 1][flits - 1] + self.transfer)
    }
}

/// Cached times of packets in an otherwise empty network, by the links of their routes.
#[derive(Clone, Debug)]
pub(super) struct Alone {
    timing: Timing,
    flits: u32,
    buffer: u32,
    arrives: BTreeMap<Way, Cycle>,
    leaves: BTreeMap<Way, Cycle>,
    /// For each number of links, the cycles until a packet has left its processor's queue. The
    /// entries hold for routes without global links.
    leaves_alike: Vec<Option<Cycle>>,
}

impl Alone {
    pub(super) fn new(setting: &WormholeConfig) -> Alone {
        Alone {
            timing: setting.timing(),
            flits: setting.packet_length,
            buffer: setting.buffer,
            arrives: BTreeMap::new(),
            leaves: BTreeMap::new(),
            leaves_alike: Vec::new(),
        }
    }

    /// Returns [`Timing::zero_load`] of a route, from a cache if the route has global links.
    #[inline]
    pub(super) fn arrives(&mut self, way: Way) -> Cycle {
        let (timing, flits, buffer) = (self.timing, self.flits, self.buffer);
        if way.global == 0 {
            return timing.zero_load(way, flits, buffer);
        }
        *self.arrives.entry(way).or_insert_with(|| timing.zero_load(way, flits, buffer))
    }

    /// Returns [`Timing::leaves`] of a route, from a cache.
    #[inline]
    pub(super) fn leaves(&mut self, way: Way) -> Cycle {
        let alike = self.leaves_alike.get(way.links as usize).filter(|_| way.global == 0);
        match alike {
            Some(&Some(known)) => known,
            _ => self.leaves_at_first(way),
        }
    }

    #[cold]
    fn leaves_at_first(&mut self, way: Way) -> Cycle {
        let (timing, flits, buffer) = (self.timing, self.flits, self.buffer);
        if way.global == 0 {
            let links = way.links as usize;
            let leaves = timing.leaves(way, flits, buffer);
            self.leaves_alike.resize(self.leaves_alike.len().max(links + 1), None);
            self.leaves_alike[links] = Some(leaves);
            return leaves;
        }
        *self.leaves.entry(way).or_insert_with(|| timing.leaves(way, flits, buffer))
    }
}
