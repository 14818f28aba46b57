//! What takes how many cycles, and who goes first: the two presets.

use super::Cycle;

/// How a free lane is given to one of the heads that want it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arbitration {
    /// To the one that has asked for longest; among equals, to the lowest port. It is granted before
    /// flits are sent in a cycle, so the head leaves in the cycle of its grant.
    Fifo,
    /// Round robin with one iteration of grants and accepts. It is granted after flits have been sent
    /// in a cycle, so the head leaves in the next one at the earliest.
    RoundRobin,
}

/// Which simulator's router it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// That of ProcSimity, by the semantics of NETSIM, which it is built on: routing a head takes
    /// `router_delay` cycles in every router and is not overlapped with the packet ahead.
    Procsimity,
    /// The pipelined router of BookSim 2 with look-ahead routing.
    Booksim,
}

/// The delays of a router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// From a head being first in its buffer to its request for a lane.
    pub(super) route: Cycle,
    /// From a flit being sent to its arrival in the next buffer; at least 1.
    pub(super) transfer: Cycle,
    /// From a flit being sent to its slot being usable by the router behind; at least 1.
    pub(super) credit: Cycle,
    /// From a processor sending a flit to its arrival in the router's buffer: `None` where a packet
    /// stands ready in the router as soon as it is first in its processor's queue.
    pub(super) inject: Option<Cycle>,
    /// Whether the processor takes flits in only as fast as credits return.
    pub(super) sink_has_credits: bool,
    pub(super) arbitration: Arbitration,
}

impl Timing {
    pub(super) fn new(preset: Preset, router_delay: Cycle) -> Timing {
        match preset {
            Preset::Procsimity => Timing {
                route: router_delay,
                transfer: 1,
                credit: 1,
                inject: None,
                sink_has_credits: false,
                arbitration: Arbitration::Fifo,
            },
            Preset::Booksim => Timing {
                route: 0,
                transfer: 3,
                credit: 2,
                inject: Some(2),
                sink_has_credits: true,
                arbitration: Arbitration::RoundRobin,
            },
        }
    }

    /// From a head being first in its buffer to its leaving, in an empty network.
    fn head(&self) -> Cycle {
        self.route + Cycle::from(self.arbitration == Arbitration::RoundRobin)
    }

    /// How long a packet takes over so many links in an empty network, from entering its processor's
    /// queue to its tail's arrival, with `buffer` flits to a buffer.
    ///
    /// Its head goes through one router more than links; its other flits follow one in a cycle, unless
    /// buffers are shorter than a credit's way back.
    pub(super) fn zero_load(&self, links: u32, flits: u32, buffer: u32) -> Cycle {
        let (body, buffer) = (Cycle::from(flits - 1), Cycle::from(buffer));
        let round = self.transfer + self.credit;
        let in_rounds = body / buffer * round + body % buffer;
        let has_buffers = links > 0 || self.sink_has_credits;
        let tail = if has_buffers { body.max(in_rounds) } else { body };
        self.inject.unwrap_or(0) + (Cycle::from(links) + 1) * (self.head() + self.transfer) + tail
    }

    /// From a packet being first in its processor's queue to the next one being first, if nothing is in
    /// its way but its own flits.
    pub(super) fn leaves(&self, links: u32, flits: u32, buffer: u32) -> Cycle {
        // Stages are the routers, and before them a processor that sends flit by flit: when each flit
        // leaves each stage.
        let has_source = self.inject.is_some();
        let stages = links as usize + 1 + usize::from(has_source);
        let (flits, buffer) = (flits as usize, buffer as usize);
        let mut times = vec![vec![0; flits]; stages];
        for flit in 0..flits {
            for stage in 0..stages {
                let is_first = stage == 0;
                let is_last = stage + 1 == stages;
                let is_source = is_first && has_source;
                let arrived = match stage.checked_sub(1) {
                    None => 0,
                    Some(0) if has_source => times[0][flit] + self.inject.unwrap_or(0),
                    Some(before) => times[before][flit] + self.transfer,
                };
                let mut leaves = arrived;
                if flit == 0 {
                    leaves += if is_source { 0 } else { self.head() };
                } else {
                    leaves = leaves.max(times[stage][flit - 1] + 1);
                }
                if let Some(ahead) = flit.checked_sub(buffer) {
                    if !is_last {
                        leaves = leaves.max(times[stage + 1][ahead] + self.credit);
                    } else if self.sink_has_credits {
                        leaves = leaves.max(times[stage][ahead] + self.transfer + self.credit);
                    }
                }
                times[stage][flit] = leaves;
            }
        }
        times[0][flits - 1] + 1
    }
}
