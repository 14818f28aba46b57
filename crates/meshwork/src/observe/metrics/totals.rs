//! Metrics that are defined only for a run as a whole.

use super::{Measure, MetricEntry};
use crate::registry::About;

pub(super) static MAKESPAN: MetricEntry = MetricEntry::new(
    About::new("makespan", "time from the first arrival to the last finish")
        .definition("The last finish less the first arrival, of the whole run, warm-up included.")
        .complexity("O(1) for each job.")
        .source("of the whole run, warm-up included"),
    "time",
    Measure::Total(|t| Some(t.last_finish? - t.first_arrival?)),
);

pub(super) static MAX_WAIT: MetricEntry = MetricEntry::new(
    About::new("max_wait", "longest wait of any job")
        .definition(
            "The longest start − arrival of any measured job: it shows starvation, \
             which a mean hides.",
        )
        .complexity("O(1) for each job.")
        .source("shows starvation, which a mean hides"),
    "time",
    Measure::Total(|t| t.max_wait),
);

pub(super) static FINISHED: MetricEntry = MetricEntry::new(
    About::new("finished", "jobs that finished and were measured")
        .definition("The number of jobs that finished and were measured.")
        .complexity("O(1) for each job.")
        .source("a count"),
    "jobs",
    Measure::Total(|t| Some(t.finished as f64)),
);

pub(super) static REFUSED: MetricEntry = MetricEntry::new(
    About::new(
        "refused",
        "jobs that would not fit even the empty machine, or that their scheduler turned away",
    )
    .definition(
        "The number of jobs that would not fit even the empty machine, or that \
             their scheduler turned away.",
    )
    .complexity("O(1) for each job.")
    .source("a count"),
    "jobs",
    Measure::Total(|t| Some(t.refused as f64)),
);

pub(super) static UNUSABLE: MetricEntry = MetricEntry::new(
    About::new("unusable", "lines of the log that were no jobs")
        .definition("The number of lines of the log that were no jobs.")
        .complexity("O(1) for each line.")
        .source("a count"),
    "jobs",
    Measure::Total(|t| Some(t.unusable as f64)),
);
