//! The outages of one run, as a timeline of events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::durations::Duration;
use super::units::Units;
use crate::geometry::places::OfSite;
use crate::job::Time;
use crate::rng::Stream;
use crate::topology::Node;

/// Kind of a step. Within an instant, ends come before begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// The nodes are in service again, as far as this outage is concerned.
    End,
    /// A repair takes longer than expected.
    Overdue,
    /// The nodes go out of service.
    Begin,
}

/// One event of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) what: What,
    pub(crate) site: usize,
    pub(crate) nodes: Vec<Node>,
    /// The GPU of the only node, if that alone is concerned.
    pub(crate) gpu: Option<u32>,
    /// Expected end of the outage; infinite if there is none. Unused at the end.
    pub(crate) expected: Time,
    /// Whether a job on the nodes runs to its end.
    pub(crate) drains: bool,
}

/// An outage known beforehand: a window, a drain, or an outage of a trace.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fixed {
    pub(super) nodes: OfSite,
    pub(super) from: Time,
    pub(super) until: Time,
    pub(super) drains: bool,
    /// Whether schedulers see it in advance.
    pub(super) is_planned: bool,
}

/// A pending event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    at: Time,
    what: What,
    source: Source,
    /// The actual end of the outage.
    end: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Fixed(u32),
    Unit(u32),
}

/// The random failures.
pub(super) struct Chance {
    pub(super) units: Units,
    pub(super) mtbf: Duration,
    pub(super) repair: Duration,
    pub(super) stream: Stream,
}

/// The outages of one run. Each unit is up for a drawn time, and then under repair for another one;
/// neither depends on the jobs, so that all strategies meet the same outages. Its first up time
/// begins at the first arrival. A repair is expected to take its mean; each time it has not ended
/// by then, it is expected to take the mean once more.
///
/// # Complexity
/// **O(log n)** for each step, with *n* units and known outages; memory **O(n)**.
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

    /// Starts the clock of all units.
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

    /// Draws the next failure of a unit that is up now.
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

    /// The time of the next event.
    pub(crate) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(item)| item.at)
    }

    /// Takes the next event that is due now.
    pub(crate) fn step(&mut self, now: Time) -> Option<Step> {
        let Reverse(item) = self.heap.peek().filter(|Reverse(item)| item.at <= now)?;
        let Item { at, what, source, end } = *item;
        self.heap.pop();
        match source {
            Source::Fixed(index) => {
                let Fixed { nodes: (site, nodes), until, drains, .. } = &self.fixed[index as usize];
                if what == What::Begin && until.units().is_finite() {
                    self.heap.push(Reverse(Item { at: *until, what: What::End, source, end }));
                }
                Some(Step {
                    what,
                    site: *site,
                    nodes: nodes.clone(),
                    gpu: None,
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

    /// The outages that schedulers see in advance.
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

/// An outage that is known from the beginning.
pub(crate) struct Planned<'a> {
    pub(crate) site: usize,
    pub(crate) nodes: &'a [Node],
    pub(crate) from: Time,
    pub(crate) until: Time,
    pub(crate) drains: bool,
}
