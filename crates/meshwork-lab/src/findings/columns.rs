//! Selects the metrics that tables show as columns.

use std::fmt;

use meshwork::catalogue::Catalogue;
use meshwork::observe::metrics::MetricEntry;
use meshwork::scenario::Scenario;

use crate::findings::summary::{Means, Summary};
use crate::statistics::Interval;

/// Metrics that are shown in a column only if the study names them.
///
/// For metrics among them that are counts, a note reports values other than 0.
const ON_REQUEST: [&str; 5] = ["refused", "unusable", "queueing_delay", "carried_load", "size"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    pub names: Vec<String>,
    pub left_out: Vec<String>,
}

impl Shown {
    /// Selects the metrics that tables show: those that the study names. If it names none, all
    /// metrics that tell something are shown.
    pub fn of(summary: &Summary, scenario: Option<&Scenario>) -> Shown {
        let rows = &summary.rows;
        let metrics = rows.iter().map(|row| &row.metrics).find(|metrics| !metrics.is_empty());
        let all: Vec<&str> = metrics.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let is_named = |scenario: &Scenario| scenario.table()["measure"].get("metrics").is_some();
        if scenario.is_some_and(is_named) {
            let names = all.into_iter().map(str::to_owned).collect();
            return Shown { names, left_out: Vec::new() };
        }
        let column = |name: &str| -> Vec<Interval> {
            rows.iter().map(|row| value(&row.metrics, name)).collect()
        };
        let is_zero = |interval: &Interval| interval.mean.is_none_or(|mean| mean.abs() <= 0.0);
        let mut shown = Shown::default();
        for name in all {
            let own = column(name);
            if ON_REQUEST.contains(&name) || own.iter().all(|interval| interval.mean.is_none()) {
                continue;
            }
            let is_share = summary.meanings.unit(name) == "share";
            if is_share && own.iter().all(is_zero) {
                shown.left_out.push(format!("{name} (0)"));
            } else if let Some(twin) =
                shown.names.iter().find(|other| is_share && column(other) == own)
            {
                shown.left_out.push(format!("{name} (the same as {twin})"));
            } else {
                shown.names.push(name.to_owned());
            }
        }
        shown
    }
}

pub const HIGHEST: [&str; 10] = [
    "utilization",
    "utilization_asked",
    "utilization_at_events",
    "throughput",
    "carried_load",
    "finished",
    "goodput",
    "availability",
    "jain_slowdown",
    "jain_wait",
];

#[derive(Clone, Default)]
pub struct Meanings(Vec<&'static MetricEntry>);

impl Meanings {
    pub fn of(catalogue: &Catalogue) -> Meanings {
        Meanings(catalogue.list())
    }

    pub fn entry(&self, name: &str) -> Option<&'static MetricEntry> {
        self.0.iter().copied().find(|metric| metric.about.name == name)
    }

    pub fn unit(&self, name: &str) -> &'static str {
        self.entry(name).map_or("", |metric| metric.unit)
    }

    pub fn summary(&self, name: &str) -> &'static str {
        self.entry(name).map_or("", |metric| metric.about.summary)
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|metric| metric.about.name)
    }
}

/// Compares the names of the metrics, because a name identifies a description.
impl PartialEq for Meanings {
    fn eq(&self, other: &Meanings) -> bool {
        self.names().eq(other.names())
    }
}

impl fmt::Debug for Meanings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// Mean and interval of the metric `name`. Both are `None` if `metrics` does not contain it.
pub fn value(metrics: &Means, name: &str) -> Interval {
    let found = metrics.iter().find(|(own, _)| own == name).map(|(_, interval)| *interval);
    found.unwrap_or(Interval { mean: None, half_width: None, replications: 0, method: None })
}
