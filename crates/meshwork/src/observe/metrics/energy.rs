//! Metrics of energy and power.

use super::{Integrand, Measure, MetricEntry, Totals};
use crate::registry::About;

/// Joules in a kilowatt-hour.
const KWH: f64 = 3.6e6;

pub(super) static ENERGY: MetricEntry = MetricEntry::new(
    About::new("energy", "what the machine took, in kilowatt-hours where the clock counts seconds")
        .definition(
            "∫ power dt over the measured part of the run, and what waking took in it, in joules \
             over 3.6 million. The power is `busy` for each processor that a job holds, `idle` for \
             each that none does, `sleep` for each that sleeps, and nothing for one that is out of \
             service. It grows with the length of a run: `mean_power` does not.",
        )
        .complexity("O(1) for each span between two events.")
        .source("the integral of power"),
    "kWh",
    Measure::Energy(|totals| Some(totals.energy / KWH)),
);

pub(super) static MEAN_POWER: MetricEntry = MetricEntry::new(
    About::new("mean_power", "what the machine took, mean over time")
        .definition(
            "(∫ power dt + what waking took) over the measured time: see `energy`. Without sleep \
             it is idle · N + (busy − idle) · N · `utilization`, of N processors.",
        )
        .complexity("O(1) for each span between two events.")
        .source("time average of the power"),
    "W",
    Measure::Power,
);

pub(super) static ENERGY_DELAY: MetricEntry = MetricEntry::new(
    About::new(
        "energy_delay",
        "energy for each job times mean turnaround, in kilowatt-hours times seconds where the \
         clock counts those: what saves energy by letting jobs wait gains nothing in it",
    )
    .aliases(&["edp"])
    .definition(
        "(energy / jobs) × (Σ turnarounds / jobs), over the jobs that finished in the measured \
         part of the run, with `energy` of that part, whether jobs ran or not. So it does not grow \
         with the length of a run. It is a product of two means, and has no batches.",
    )
    .complexity("O(1) for each job and each span between two events.")
    .source(
        "the energy-delay product of Gonzalez & Horowitz, IEEE Journal of \
             Solid-State Circuits 31(9), 1996, with a job as the operation",
    ),
    "kWh × s",
    Measure::Energy(energy_delay),
);

pub(super) static ASLEEP: MetricEntry = MetricEntry::new(
    About::new("asleep", "share of all processors that slept, mean over time")
        .definition(
            "∫ processors asleep dt over ∫ all processors dt, of the measured part of the run.",
        )
        .complexity("O(1) for each span between two events.")
        .source("time average of sleeping processors"),
    "share",
    Measure::OverTime(Integrand::Of(|state| state.asleep as f64), Integrand::Nodes),
);

pub(super) static WAKE_UPS: MetricEntry = MetricEntry::new(
    About::new("wake_ups", "processors that were woken")
        .definition(
            "How often a processor that slept was taken by a job, in the measured part of the run.",
        )
        .complexity("O(1) for each processor that is woken.")
        .source("a count"),
    "wake-ups",
    Measure::Energy(|totals| Some(totals.woken as f64)),
);

fn energy_delay(totals: &Totals) -> Option<f64> {
    let jobs = totals.finished as f64;
    let mean = |sum: f64| (jobs > 0.0).then(|| sum / jobs);
    Some(mean(totals.energy / KWH)? * mean(totals.turnarounds)?)
}
