//! Metrics that are quantiles over jobs.

use super::{Measure, MetricEntry, Quantity};
use crate::registry::About;
const COST: &str = "O(1) for each job, and O(j) at the end for j measured jobs. Eight bytes are kept for each \
                    job, up to 1,048,576 of them; beyond that values are counted in classes, and a \
                    quantile is within 0.05 %.";

const fn entry(
    name: &'static str,
    summary: &'static str,
    definition: &'static str,
    quantity: Quantity,
    share: f64,
) -> MetricEntry {
    let unit = match quantity {
        Quantity::Wait | Quantity::Turnaround | Quantity::Service => "time",
        Quantity::Slowdown | Quantity::BoundedSlowdown => "ratio",
        Quantity::Size => "processors",
    };
    MetricEntry::new(
        About::new(name, summary).definition(definition).complexity(COST).source(
            "Hyndman & Fan, Sample quantiles in statistical packages, The American \
             Statistician 50(4), 1996, definition 7",
        ),
        unit,
        Measure::Quantile(quantity, share),
    )
}

pub(super) static MEDIAN_WAIT: MetricEntry = entry(
    "median_wait",
    "time from arrival to start, median over jobs",
    "The median of start − arrival over the measured jobs: of an even number of jobs \
     the mean of the two in the middle.",
    Quantity::Wait,
    0.5,
);

pub(super) static P90_WAIT: MetricEntry = entry(
    "p90_wait",
    "time from arrival to start that nine in ten jobs do not exceed",
    "The quantile at 0.9 of start − arrival over the measured jobs: of n values in order, counted \
     from 0, the one at 0.9 · (n − 1), and on the straight line between two of them.",
    Quantity::Wait,
    0.9,
);

pub(super) static P95_WAIT: MetricEntry = entry(
    "p95_wait",
    "time from arrival to start that 95 in 100 jobs do not exceed",
    "The quantile at 0.95 of start − arrival over the measured jobs: of n values in order, counted \
     from 0, the one at 0.95 · (n − 1), and on the straight line between two of them.",
    Quantity::Wait,
    0.95,
);

pub(super) static P99_WAIT: MetricEntry = entry(
    "p99_wait",
    "time from arrival to start that 99 in 100 jobs do not exceed",
    "The quantile at 0.99 of start − arrival over the measured jobs: of n values in order, counted \
     from 0, the one at 0.99 · (n − 1), and on the straight line between two of them.",
    Quantity::Wait,
    0.99,
);

pub(super) static MEDIAN_TURNAROUND: MetricEntry = entry(
    "median_turnaround",
    "time from arrival to finish, median over jobs",
    "The median of finish − arrival over the measured jobs: of an even number of jobs \
     the mean of the two in the middle.",
    Quantity::Turnaround,
    0.5,
);

pub(super) static P90_TURNAROUND: MetricEntry = entry(
    "p90_turnaround",
    "time from arrival to finish that nine in ten jobs do not exceed",
    "The quantile at 0.9 of finish − arrival over the measured jobs: of n values in order, counted \
     from 0, the one at 0.9 · (n − 1), and on the straight line between two of them.",
    Quantity::Turnaround,
    0.9,
);

pub(super) static P99_TURNAROUND: MetricEntry = entry(
    "p99_turnaround",
    "time from arrival to finish that 99 in 100 jobs do not exceed",
    "The quantile at 0.99 of finish − arrival over the measured jobs: of n values in order, \
     counted from 0, the one at 0.99 · (n − 1), and on the straight line between two of them.",
    Quantity::Turnaround,
    0.99,
);

pub(super) static MEDIAN_SLOWDOWN: MetricEntry = entry(
    "median_slowdown",
    "turnaround over service, median over jobs",
    "The median of (finish − arrival) / (finish − start) over the measured jobs: of an even number \
     of jobs the mean of the two in the middle. A job that took no time has none.",
    Quantity::Slowdown,
    0.5,
);

pub(super) static P90_SLOWDOWN: MetricEntry = entry(
    "p90_slowdown",
    "turnaround over service that nine in ten jobs do not exceed",
    "The quantile at 0.9 of (finish − arrival) / (finish − start) over the measured \
     jobs: of n values in order, counted from 0, the one at 0.9 · (n − 1), and on the \
     straight line between two of them. A job that took no time has none.",
    Quantity::Slowdown,
    0.9,
);

pub(super) static P95_SLOWDOWN: MetricEntry = entry(
    "p95_slowdown",
    "turnaround over service that 95 in 100 jobs do not exceed",
    "The quantile at 0.95 of (finish − arrival) / (finish − start) over the measured \
     jobs: of n values in order, counted from 0, the one at 0.95 · (n − 1), and on \
     the straight line between two of them. A job that took no time has none.",
    Quantity::Slowdown,
    0.95,
);

pub(super) static P99_SLOWDOWN: MetricEntry = entry(
    "p99_slowdown",
    "turnaround over service that 99 in 100 jobs do not exceed",
    "The quantile at 0.99 of (finish − arrival) / (finish − start) over the measured \
     jobs: of n values in order, counted from 0, the one at 0.99 · (n − 1), and on \
     the straight line between two of them. A job that took no time has none.",
    Quantity::Slowdown,
    0.99,
);

pub(super) static MEDIAN_BOUNDED_SLOWDOWN: MetricEntry = entry(
    "median_bounded_slowdown",
    "bounded slowdown, median over jobs",
    "The median of the bounded slowdown over the measured jobs: of an even number of \
     jobs the mean of the two in the middle.",
    Quantity::BoundedSlowdown,
    0.5,
);

pub(super) static P90_BOUNDED_SLOWDOWN: MetricEntry = entry(
    "p90_bounded_slowdown",
    "bounded slowdown that nine in ten jobs do not exceed",
    "The quantile at 0.9 of the bounded slowdown over the measured jobs: of n values in order, \
     counted from 0, the one at 0.9 · (n − 1), and on the straight line between two of them.",
    Quantity::BoundedSlowdown,
    0.9,
);

pub(super) static P95_BOUNDED_SLOWDOWN: MetricEntry = entry(
    "p95_bounded_slowdown",
    "bounded slowdown that 95 in 100 jobs do not exceed",
    "The quantile at 0.95 of the bounded slowdown over the measured jobs: of n values in order, \
     counted from 0, the one at 0.95 · (n − 1), and on the straight line between two of them.",
    Quantity::BoundedSlowdown,
    0.95,
);

pub(super) static P99_BOUNDED_SLOWDOWN: MetricEntry = entry(
    "p99_bounded_slowdown",
    "bounded slowdown that 99 in 100 jobs do not exceed",
    "The quantile at 0.99 of the bounded slowdown over the measured jobs: of n values in order, \
     counted from 0, the one at 0.99 · (n − 1), and on the straight line between two of them.",
    Quantity::BoundedSlowdown,
    0.99,
);
