//! Metrics that show what outages and checkpoints cost.

use super::{Integrand, Measure, MetricEntry};
use crate::registry::About;
const HOUR: f64 = 3600.0;

pub(super) static GOODPUT: MetricEntry = MetricEntry::new(
    About::new(
        "goodput",
        "share of all processors that jobs held and made use of: neither lost to \
             interruptions nor spent on checkpoints",
    )
    .definition(
        "(∫ held processors dt − processor-time of which interruptions left nothing − \
         processor-time spent on checkpoints) over ∫ all processors dt, of the measured part of \
         the run; what was in vain is taken off as it shows, when a job is interrupted or ends. \
         Where nothing fails and no checkpoints are written it is `utilization`.",
    )
    .complexity("O(1) for each span between two events.")
    .source("useful work over capacity, as in studies of large systems: Daly, FGCS 22(3), 2006"),
    "share",
    Measure::Net(Integrand::Held, Integrand::Nodes, |job| {
        let wear = job.wear();
        (wear.lost + wear.overhead) * f64::from(job.held)
    }),
);

pub(super) static AVAILABILITY: MetricEntry = MetricEntry::new(
    About::new("availability", "share of all processors that were in service, mean over time")
        .definition(
            "∫ processors that are neither failed nor under maintenance nor drained dt \
             over ∫ all processors dt. Of nodes that fail and are repaired by chance \
             it is mtbf / (mtbf + repair) in the long run.",
        )
        .complexity("O(1) for each span between two events.")
        .source("the availability of renewal theory"),
    "share",
    Measure::OverTime(Integrand::Of(|state| (state.nodes - state.down) as f64), Integrand::Nodes),
);

pub(super) static INTERRUPTIONS: MetricEntry = MetricEntry::new(
    About::new("interruptions", "how often a job was interrupted, mean over jobs")
        .definition(
            "Σ interruptions / jobs, over the jobs that finished in the measured part of the run.",
        )
        .complexity("O(1) for each job.")
        .source("a count"),
    "interruptions",
    Measure::PerJob(|job, _, _| f64::from(job.wear().interruptions)),
);

pub(super) static LOST_NODE_HOURS: MetricEntry = MetricEntry::new(
    About::new(
        "lost_node_hours",
        "processor-hours of work that interruptions undid, where the clock counts seconds",
    )
    .definition(
        "Σ (processors held × time since the last checkpoint, or since the start) / 3600, over the \
         interruptions in the measured part of the run. Nodes that stand idle because they are out \
         of service count for `availability` and not here.",
    )
    .complexity("O(1) for each interruption.")
    .source("rework, in node-hours"),
    "node-hours",
    Measure::Total(|totals| Some(totals.lost / HOUR)),
);
