//! Timeline of the outages of one run, as events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::durations::Duration;
use super::units::Units;
use crate::geometry::places::OfSite;
use crate::job::Time;
use crate::rng::Stream;
use crate::topology::Node;

/// Kind of an outage event. Within an instant, ends of outages come before beginnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// The nodes are in service again if they have no other outage.
    End,
    /// The repair has not ended by its expected end, and gets a later expected end.
    Overdue,
    Begin,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) what: What,
    pub(crate) site: usize,
    pub(crate) nodes: Vec<Node>,
    /// Index of the GPU that fails, on the only node in `nodes`; `None` if whole nodes fail.
    pub(crate) gpu: Option<u32>,
    /// Expected end of the outage; infinite if it does not end. An event that ends an outage does
    /// not use it.
    pub(crate) expected: Time,
    /// Whether jobs on the nodes may finish before the outage begins.
    pub(crate) drains: bool,
}

/// Outage whose time is set before the run: a maintenance window, a drain, or an outage of a trace.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fixed {
    pub(super) nodes: OfSite,
    /// Index of the GPU that fails, on the only node in `nodes`; `None` if whole nodes fail.
    pub(super) gpu: Option<u32>,
    pub(super) from: Time,
    pub(super) until: Time,
    pub(super) drains: bool,
    pub(super) is_planned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    at: Time,
    what: What,
    source: Source,
    end: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Fixed(u32),
    Unit(u32),
}

pub(super) struct Chance {
    pub(super) units: Units,
    pub(super) mtbf: Duration,
    pub(super) repair: Duration,
    pub(super) stream: Stream,
}

/// Timeline of the outages of one run.
///
/// Each failure unit is in service, then under repair, for random times that do not depend on jobs,
/// so that all strategies meet the same outages. The expected end of a repair is one mean repair
/// time after its beginning. A repair that lasts longer gets a new expected end, one mean time
/// later. **O(log n)** per event.
#[derive(Default)]
pub(crate) struct Timeline {
    chance: Option<Chance>,
    fixed: Vec<Fixed>,
    heap: BinaryHeap<Reverse<Item>>,
}

impl Timeline {
    pub(super) fn new(chance: Option<Chance>, fixed: Vec<Fixed>) -> Timeline {
        Timeline { chance, fixed, heap: BinaryHeap::new() }
    }

    /// Begins the timeline at `now`, the first arrival, with all failure units in service.
    pub(crate) fn begin(&mut self, now: Time) {
        for (index, fixed) in self.fixed.iter().enumerate() {
            // Outages that ended before the first arrival are ignored.
            if fixed.until > now {
                let source = Source::Fixed(index as u32);
                let at = fixed.from.max(now);
                self.heap.push(Reverse(Item { at, what: What::Begin, source, end: fixed.until }));
            }
        }
        let Some(chance) = &self.chance else { return };
        if chance.mtbf != Duration::Never {
            for unit in 0..chance.units.count() {
                self.fail(now, unit);
            }
        }
    }

    fn fail(&mut self, now: Time, unit: u32) {
        let Some(Chance { mtbf, stream, .. }) = &mut self.chance else { return };
        let at = now + mtbf.draw(stream);
        self.heap.push(Reverse(Item {
            at,
            what: What::Begin,
            source: Source::Unit(unit),
            end: at,
        }));
    }

    pub(crate) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(item)| item.at)
    }

    pub(crate) fn step(&mut self, now: Time) -> Option<Step> {
        let Reverse(item) = self.heap.peek().filter(|Reverse(item)| item.at <= now)?;
        let Item { at, what, source, end } = *item;
        self.heap.pop();
        match source {
            Source::Fixed(index) => {
                let Fixed { nodes: (site, nodes), gpu, until, drains, .. } =
                    &self.fixed[index as usize];
                if what == What::Begin && until.units().is_finite() {
                    self.heap.push(Reverse(Item { at: *until, what: What::End, source, end }));
                }
                Some(Step {
                    what,
                    site: *site,
                    nodes: nodes.clone(),
                    gpu: *gpu,
                    expected: *until,
                    drains: *drains,
                })
            }
            Source::Unit(unit) => {
                let chance = self.chance.as_mut()?;
                let (site, nodes, gpu) = chance.units.nodes(unit);
                let mean = chance.repair.mean();
                let mut expected = at;
                match what {
                    What::End => self.fail(at, unit),
                    What::Begin | What::Overdue => {
                        let end = match what {
                            What::Begin => at + chance.repair.draw(&mut chance.stream),
                            _ => end,
                        };
                        expected = (at + mean).max(at.next());
                        let next = if expected < end {
                            (expected, What::Overdue)
                        } else {
                            (end, What::End)
                        };
                        self.heap.push(Reverse(Item { at: next.0, what: next.1, source, end }));
                    }
                }
                Some(Step { what, site, nodes, gpu, expected, drains: false })
            }
        }
    }

    /// The outages that schedulers know in advance.
    pub(crate) fn planned(&self) -> impl Iterator<Item = Planned<'_>> {
        self.fixed.iter().filter(|fixed| fixed.is_planned).map(|fixed| Planned {
            site: fixed.nodes.0,
            nodes: &fixed.nodes.1,
            from: fixed.from,
            until: fixed.until,
            drains: fixed.drains,
        })
    }
}

pub(crate) struct Planned<'a> {
    pub(crate) site: usize,
    pub(crate) nodes: &'a [Node],
    pub(crate) from: Time,
    pub(crate) until: Time,
    pub(crate) drains: bool,
}
