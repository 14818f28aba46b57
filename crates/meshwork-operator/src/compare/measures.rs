//! Measures of a replayed history, such as the mean wait and the utilization.

use std::collections::BTreeMap;
use std::ops::Range;

use meshwork::geometry::NodeSet;
use meshwork::job::Cause;
use meshwork::topology::Node;

use super::TopologyReplay;
use crate::paired::{self, BATCHES};
use meshwork_lab::statistics::{Interval, half_width_of_batches, mean};
use meshwork_slurm::history::{JobRecord, Second};

/// Threshold of the bounded slowdown, in seconds. A shorter run time counts as this threshold.
const SLOWDOWN_THRESHOLD: f64 = 10.0;

const HOUR: f64 = 3_600.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayMeasure {
    Wait,
    BoundedSlowdown,
    WaitFor(Cause),
    Never,
    /// Node-hours of jobs that never start: number of nodes times recorded run time.
    RejectedNodeHours,
    PaddingNodeHours,
    /// Fraction of the machine's node-time in use. Nodes beyond a job's request do not count.
    Utilization,
    /// Mean over jobs of how far apart a job's nodes lie on the site's own topology.
    Span,
}

impl ReplayMeasure {
    pub const ALL: [ReplayMeasure; 11] = [
        ReplayMeasure::Wait,
        ReplayMeasure::WaitFor(Cause::Nodes),
        ReplayMeasure::WaitFor(Cause::Shape),
        ReplayMeasure::WaitFor(Cause::Priority),
        ReplayMeasure::WaitFor(Cause::Reserved),
        ReplayMeasure::BoundedSlowdown,
        ReplayMeasure::Span,
        ReplayMeasure::Utilization,
        ReplayMeasure::PaddingNodeHours,
        ReplayMeasure::RejectedNodeHours,
        ReplayMeasure::Never,
    ];

    pub fn key(self) -> &'static str {
        self.names().0
    }

    pub fn title(self) -> &'static str {
        self.names().1
    }

    /// Key in JSON output, and title in tables.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            ReplayMeasure::Wait => ("wait", "wait, s"),
            ReplayMeasure::BoundedSlowdown => ("bounded_slowdown", "bounded slowdown"),
            ReplayMeasure::WaitFor(Cause::Nodes) => ("wait_for_nodes", "  for nodes, s"),
            ReplayMeasure::WaitFor(Cause::Shape) => ("wait_for_shape", "  for shape, s"),
            ReplayMeasure::WaitFor(Cause::Priority) => ("wait_for_priority", "  for priority, s"),
            ReplayMeasure::WaitFor(Cause::Reserved) => ("wait_for_reserved", "  reserved, s"),
            ReplayMeasure::Never => ("never", "never start, jobs"),
            ReplayMeasure::RejectedNodeHours => ("rejected_node_hours", "rejected, node-hours"),
            ReplayMeasure::PaddingNodeHours => ("padding_node_hours", "padding, node-hours"),
            ReplayMeasure::Utilization => ("utilization", "utilization"),
            ReplayMeasure::Span => ("span", "span"),
        }
    }

    pub fn definition(self) -> &'static str {
        match self {
            ReplayMeasure::Wait => {
                "seconds from when a job might have started to its start, mean over jobs"
            }
            ReplayMeasure::BoundedSlowdown => {
                "wait and run time over run time, run times below 10 s taken as 10 s and no job below 1, mean over jobs"
            }
            ReplayMeasure::WaitFor(Cause::Nodes) => {
                "of the wait, the seconds in which too few nodes were free"
            }
            ReplayMeasure::WaitFor(Cause::Shape) => {
                "of the wait, the seconds in which enough nodes were free, but not as they would have had to lie"
            }
            ReplayMeasure::WaitFor(Cause::Priority) => {
                "of the wait, the seconds in which a job could have started, but others came before it in its partition and backfill had not looked"
            }
            ReplayMeasure::WaitFor(Cause::Reserved) => {
                "of the wait, the seconds in which a job could have started, but backfill kept nodes for others"
            }
            ReplayMeasure::Never => {
                "jobs that the topology refuses, or for which there never is a place"
            }
            ReplayMeasure::RejectedNodeHours => "nodes times run time of the jobs that never start",
            ReplayMeasure::PaddingNodeHours => {
                "nodes beyond those asked for, from rounding up to a listed size, times run time"
            }
            ReplayMeasure::Span => {
                "how far apart the nodes of a job lie on the site's own topology: leaf switches, base blocks, positions of a ring, or hops across a box of a torus, mean over jobs"
            }
            ReplayMeasure::Utilization => {
                "nodes that running jobs asked for, those that jobs share counted once, over nodes on which jobs may run, from the first submission to the last"
            }
        }
    }

    pub(super) fn scope(self) -> Scope {
        match self {
            ReplayMeasure::Wait
            | ReplayMeasure::BoundedSlowdown
            | ReplayMeasure::WaitFor(_)
            | ReplayMeasure::Span => Scope::MeanOfCommon,
            ReplayMeasure::Never
            | ReplayMeasure::RejectedNodeHours
            | ReplayMeasure::PaddingNodeHours => Scope::SumOfAll,
            ReplayMeasure::Utilization => Scope::MeanOfTime,
        }
    }

    fn of(self, history: &[JobRecord], course: &TopologyReplay, place: usize) -> f64 {
        let stay = &history[place];
        let runs = stay.end.zip(stay.start).map_or(0, |(end, start)| (end - start).max(0)) as f64;
        let start = course.outcomes[place].start;
        let wait = start.zip(stay.queued()).map_or(0, |(start, queued)| start - queued) as f64;
        let asked = f64::from(stay.nodes);
        match self {
            ReplayMeasure::Wait => wait,
            ReplayMeasure::BoundedSlowdown => {
                ((wait + runs) / runs.max(SLOWDOWN_THRESHOLD)).max(1.0)
            }
            ReplayMeasure::WaitFor(cause) => course.waited[place].seconds(cause) as f64,
            ReplayMeasure::Span => course.spans[place],
            ReplayMeasure::Never => f64::from(u8::from(start.is_none())),
            ReplayMeasure::RejectedNodeHours if start.is_none() => asked * runs / HOUR,
            ReplayMeasure::PaddingNodeHours if start.is_some() => {
                (f64::from(course.submitted[place].nodes) - asked).max(0.0) * runs / HOUR
            }
            ReplayMeasure::RejectedNodeHours
            | ReplayMeasure::PaddingNodeHours
            | ReplayMeasure::Utilization => 0.0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    MeanOfCommon,
    SumOfAll,
    MeanOfTime,
}

/// Counter of node-time in use on shared nodes. Time in which several jobs use a node counts once.
#[derive(Default)]
pub(super) struct Shared {
    /// Time up to which the use of each node has been counted.
    counted: BTreeMap<Node, Second>,
}

impl Shared {
    /// Counts the node-time of a job up to `until`, without times that earlier calls counted.
    ///
    /// The jobs of the calls must be in the order of their starts. For each node with uncounted
    /// time, `add` gets the node and the beginning of this time.
    pub(super) fn added(
        &mut self,
        nodes: &NodeSet,
        start: Second,
        until: Second,
        mut add: impl FnMut(Node, Second),
    ) {
        for node in nodes.iter() {
            let counted = self.counted.entry(node).or_insert(start);
            if *counted < until {
                add(node, start.max(*counted));
                *counted = until;
            }
        }
    }
}

/// Jobs and time span on which all replays are measured.
pub(super) struct Ground<'a> {
    pub(super) history: &'a [JobRecord],
    pub(super) all: Vec<usize>,
    pub(super) common: Vec<usize>,
    pub(super) span: Range<Second>,
}

impl Ground<'_> {
    /// Values of a measure in one replay. The utilization has one value for each window of time.
    /// Other measures have one for each job, in order of submission.
    pub(super) fn values(&self, measure: ReplayMeasure, course: &TopologyReplay) -> Vec<f64> {
        let of = |&place: &usize| measure.of(self.history, course, place);
        match measure.scope() {
            Scope::MeanOfCommon => self.common.iter().map(of).collect(),
            Scope::SumOfAll => self.all.iter().map(of).collect(),
            Scope::MeanOfTime => self.used(course),
        }
    }

    /// Values of a measure, each averaged over the replayed copies of the history.
    pub(super) fn mean_values(
        &self,
        measure: ReplayMeasure,
        copies: &[TopologyReplay],
    ) -> Vec<f64> {
        let values: Vec<Vec<f64>> = copies.iter().map(|own| self.values(measure, own)).collect();
        paired::mean_of_copies(&values)
    }

    fn used(&self, course: &TopologyReplay) -> Vec<f64> {
        let (first, length) = (self.span.start as f64, (self.span.end - self.span.start) as f64);
        let window = length / BATCHES as f64;
        let mut used = [0.0; BATCHES];
        let mut add = |from: Second, until: Second, nodes: f64| {
            let (from, until) = (from as f64 - first, until as f64 - first);
            for (number, used) in used.iter_mut().enumerate() {
                let (begins, ends) = (number as f64 * window, (number + 1) as f64 * window);
                *used += (until.min(ends) - from.max(begins)).max(0.0) * nodes;
            }
        };
        let mut shared = Shared::default();
        for place in course.by_start() {
            let (stay, outcome) = (&self.history[place], &course.outcomes[place]);
            let Some(start) = outcome.start else { continue };
            let until =
                start + stay.end.zip(stay.start).map_or(0, |(end, start)| end - start).max(0);
            match &outcome.nodes {
                Some(nodes) if course.shares[place] => {
                    shared.added(nodes, start, until, |_, from| add(from, until, 1.0));
                }
                _ => add(start, until, f64::from(stay.nodes)),
            }
        }
        let all = window * f64::from(course.nodes);
        used.iter().map(|used| if all > 0.0 { used / all } else { 0.0 }).collect()
    }

    /// Value of a measure, averaged over replayed copies of the history.
    ///
    /// `None` if the measure is a mean and there are no values.
    pub(super) fn value(&self, measure: ReplayMeasure, copies: &[TopologyReplay]) -> Option<f64> {
        let values = self.mean_values(measure, copies);
        match measure.scope() {
            Scope::SumOfAll => Some(values.iter().sum()),
            Scope::MeanOfCommon | Scope::MeanOfTime => mean(&values),
        }
    }

    /// Difference of a measure between replays of the same copies: value in `own` minus value in
    /// `other`.
    pub(super) fn difference(
        &self,
        measure: ReplayMeasure,
        own: &[TopologyReplay],
        other: &[TopologyReplay],
    ) -> Interval {
        let in_copy = |(own, other): (&TopologyReplay, &TopologyReplay)| -> Vec<f64> {
            let (own, other) = (self.values(measure, own), self.values(measure, other));
            own.iter().zip(&other).map(|(own, other)| own - other).collect()
        };
        let copies: Vec<Vec<f64>> = own.iter().zip(other).map(in_copy).collect();
        match measure.scope() {
            Scope::MeanOfCommon => paired::interval_of_copies(&copies),
            Scope::SumOfAll => {
                let each = paired::interval_of_copies(&copies);
                let all = |each: f64| each * self.all.len() as f64;
                Interval { mean: each.mean.map(all), half_width: each.half_width.map(all), ..each }
            }
            Scope::MeanOfTime => {
                let windows = paired::mean_of_copies(&copies);
                paired::combined(&copies, mean(&windows), half_width_of_batches(&windows))
            }
        }
    }
}
