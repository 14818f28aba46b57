//! Metrics of deadlines.

use super::{Measure, MetricEntry};
use crate::registry::About;

pub(super) static MISSED_DEADLINES: MetricEntry = MetricEntry::new(
    About::new("missed_deadlines", "share of the jobs with a deadline that ended after it")
        .definition(
            "Jobs with finish > deadline / jobs with a deadline, over the jobs that finished. A \
             job without a deadline counts nowhere, and neither does one that has not finished.",
        )
        .complexity("O(1) for each job.")
        .source("general"),
    "ratio",
    Measure::PerJob(|job, finish, _| {
        job.job.deadline().map_or(f64::NAN, |deadline| f64::from(u8::from(finish > deadline)))
    }),
);

pub(super) static TARDINESS: MetricEntry = MetricEntry::new(
    About::new(
        "tardiness",
        "time from deadline to finish, none where that is in time, mean over jobs with a deadline",
    )
    .definition(
        "Σ max(0, finish − deadline) / jobs with a deadline, over the jobs that finished: those \
         that are in time count as 0, those without a deadline do not count.",
    )
    .complexity("O(1) for each job.")
    .source("general"),
    "time",
    Measure::PerJob(|job, finish, _| {
        job.job.deadline().map_or(f64::NAN, |deadline| (finish - deadline).max(0.0))
    }),
);
