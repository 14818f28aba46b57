//! Metrics that are defined for a run as a whole.

use super::{Measure, MetricEntry};
use crate::registry::About;

pub(super) static MAKESPAN: MetricEntry = MetricEntry {
    about: About {
        name: "makespan",
        aliases: &[],
        summary: "time from the first arrival to the last finish",
        definition: "The last finish less the first arrival, of the whole run, warm-up included.",
        complexity: "O(1) for each job.",
        source: "of the whole run, warm-up included",
        params: &[],
    },
    unit: "time",
    measure: Measure::Total(|t| Some(t.last_finish? - t.first_arrival?)),
};

pub(super) static MAX_WAIT: MetricEntry = MetricEntry {
    about: About {
        name: "max_wait",
        aliases: &[],
        summary: "longest wait of any job",
        definition: "The longest start − arrival of any measured job: it shows starvation, which \
                     a mean hides.",
        complexity: "O(1) for each job.",
        source: "shows starvation, which a mean hides",
        params: &[],
    },
    unit: "time",
    measure: Measure::Total(|t| t.max_wait),
};

pub(super) static FINISHED: MetricEntry = MetricEntry {
    about: About {
        name: "finished",
        aliases: &[],
        summary: "jobs that finished and were measured",
        definition: "The number of jobs that finished and were measured.",
        complexity: "O(1) for each job.",
        source: "a count",
        params: &[],
    },
    unit: "jobs",
    measure: Measure::Total(|t| Some(t.finished as f64)),
};

pub(super) static REFUSED: MetricEntry = MetricEntry {
    about: About {
        name: "refused",
        aliases: &[],
        summary: "jobs that would not fit even the empty machine, or that their scheduler turned away",
        definition: "The number of jobs that would not fit even the empty machine, or that their \
                     scheduler turned away.",
        complexity: "O(1) for each job.",
        source: "a count",
        params: &[],
    },
    unit: "jobs",
    measure: Measure::Total(|t| Some(t.refused as f64)),
};

pub(super) static UNUSABLE: MetricEntry = MetricEntry {
    about: About {
        name: "unusable",
        aliases: &[],
        summary: "lines of the log that were no jobs",
        definition: "The number of lines of the log that were no jobs.",
        complexity: "O(1) for each line.",
        source: "a count",
        params: &[],
    },
    unit: "jobs",
    measure: Measure::Total(|t| Some(t.unusable as f64)),
};
