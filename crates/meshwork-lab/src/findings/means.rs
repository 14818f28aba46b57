//! Means of metrics over replications, and their intervals.

use crate::findings::summary::{Means, OwnerRow, SizeRow};
use crate::run::{Class, ScenarioRuns};
use crate::statistics::{Interval, Method, half_width_of_windows, interval, mean};
use crate::study::{Replications, Study};

#[derive(Clone, Copy)]
pub(super) enum Rule {
    Replications,
    /// The values come from windows of a log. The number is the time between the starts of two
    /// consecutive windows, divided by the length of a window.
    Windows(f64),
}

impl Rule {
    pub(super) fn of(study: &Study) -> Rule {
        match study.replications {
            Replications::Windows { length, stride } => Rule::Windows(stride / length),
            _ => Rule::Replications,
        }
    }

    /// Mean of `values`, one value for each run, with a confidence interval.
    ///
    /// The interval of a single run is computed from `batches`, unless the runs are windows of a
    /// log.
    pub(super) fn interval(self, values: &[f64], batches: &[f64]) -> Interval {
        let Rule::Windows(stride) = self else { return interval(values, batches) };
        let half_width = half_width_of_windows(values, stride);
        let method = half_width.is_some().then_some(Method::Windows);
        Interval { mean: mean(values), half_width, replications: values.len() as u64, method }
    }
}

pub(super) fn means(runs: &ScenarioRuns, rule: Rule) -> Means {
    let of = |name: &str| {
        let values: Vec<f64> = runs.measured(name).map(|(_, value)| value).collect();
        // Batches are used only for a single run.
        let own = if runs.ended() == 1 { runs.batches(0) } else { None };
        rule.interval(&values, own.map_or(&[], |batches| batches.metric(name)))
    };
    runs.metrics().map(|name| (name.to_owned(), of(name))).collect()
}

/// Results by job size, smallest size first. The mean for a size is taken over the replications
/// that have jobs of this size.
pub(super) fn by_size(runs: &ScenarioRuns, rule: Rule) -> Vec<SizeRow> {
    let mut classes = runs.sizes();
    classes.sort_by_key(|class| *class.kind);
    let row = |class: &Class<'_, u64>| SizeRow {
        size: *class.kind,
        jobs: class.jobs,
        metrics: of_class(class, rule),
    };
    classes.iter().map(row).collect()
}

/// Makes one row of results for each owner of jobs, such as a user or a group. Rows are sorted by
/// the owner's number or name. Jobs of unknown owners come last.
pub(super) fn by_owner(mut classes: Vec<Class<'_, Option<String>>>, rule: Rule) -> Vec<OwnerRow> {
    let number = |name: &str| name.parse::<u64>().unwrap_or(u64::MAX);
    classes.sort_by_key(|class| {
        let name = class.kind.as_deref();
        (name.is_none(), name.map_or(u64::MAX, number), name)
    });
    let row = |class: &Class<'_, Option<String>>| OwnerRow {
        name: class.kind.as_deref().unwrap_or("unknown").to_owned(),
        jobs: class.jobs,
        metrics: of_class(class, rule),
    };
    classes.iter().map(row).collect()
}

fn of_class<K>(class: &Class<'_, K>, rule: Rule) -> Means {
    let of = |name: &str| (name.to_owned(), rule.interval(&class.values(name), &[]));
    class.names().map(of).collect()
}
