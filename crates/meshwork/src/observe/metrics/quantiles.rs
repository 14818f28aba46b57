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

/// Defines the registry entries of a median and other quantiles, all of one quantity.
macro_rules! quantiles {
    (
        $quantity:ident, $value:literal, $formula:literal, $note:literal;
        $median:ident $median_name:literal;
        $($name:ident $word:literal $jobs:literal $share:literal;)+
    ) => {
        pub(super) static $median: MetricEntry = entry(
            $median_name,
            concat!($value, ", median over jobs"),
            concat!(
                "The median of ", $formula, " over the measured jobs: of an even number of jobs \
                 the mean of the two in the middle.", $note
            ),
            Quantity::$quantity,
            0.5,
        );
        $(pub(super) static $name: MetricEntry = entry(
            $word,
            concat!($value, " that ", $jobs, " jobs do not exceed"),
            concat!(
                "The quantile at ", $share, " of ", $formula, " over the measured jobs: of n \
                 values in order, counted from 0, the one at ", $share, " · (n − 1), and on the \
                 straight line between two of them.", $note
            ),
            Quantity::$quantity,
            $share,
        );)+
    };
}

quantiles! {
    Wait, "time from arrival to start", "start − arrival", "";
    MEDIAN_WAIT "median_wait";
    P90_WAIT "p90_wait" "nine in ten" 0.9;
    P95_WAIT "p95_wait" "95 in 100" 0.95;
    P99_WAIT "p99_wait" "99 in 100" 0.99;
}

quantiles! {
    Turnaround, "time from arrival to finish", "finish − arrival", "";
    MEDIAN_TURNAROUND "median_turnaround";
    P90_TURNAROUND "p90_turnaround" "nine in ten" 0.9;
    P99_TURNAROUND "p99_turnaround" "99 in 100" 0.99;
}

quantiles! {
    Slowdown, "turnaround over service", "(finish − arrival) / (finish − start)",
    " A job that took no time has none.";
    MEDIAN_SLOWDOWN "median_slowdown";
    P90_SLOWDOWN "p90_slowdown" "nine in ten" 0.9;
    P95_SLOWDOWN "p95_slowdown" "95 in 100" 0.95;
    P99_SLOWDOWN "p99_slowdown" "99 in 100" 0.99;
}

quantiles! {
    BoundedSlowdown, "bounded slowdown", "the bounded slowdown", "";
    MEDIAN_BOUNDED_SLOWDOWN "median_bounded_slowdown";
    P90_BOUNDED_SLOWDOWN "p90_bounded_slowdown" "nine in ten" 0.9;
    P95_BOUNDED_SLOWDOWN "p95_bounded_slowdown" "95 in 100" 0.95;
    P99_BOUNDED_SLOWDOWN "p99_bounded_slowdown" "99 in 100" 0.99;
}
