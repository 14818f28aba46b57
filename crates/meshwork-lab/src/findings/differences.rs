//! Differences between two scenarios: paired, replication by replication, or batch by batch of the same jobs.

use std::collections::BTreeMap;

use crate::findings::means::Rule;
use crate::findings::statistics::{Interval, Method, half_width_of_batches, mean};
use crate::run::{Batches, Results, Runs};
use crate::study::{Baseline, Study, same};

/// The scenario that has the baseline's value where this one has another, and is else the same.
/// Scenarios stand in the order of the cross product, so its index is a matter of strides.
pub(super) fn partner(study: &Study, index: usize, baseline: &Baseline) -> Option<usize> {
    let at = study.sweep.iter().position(|axis| axis.key == baseline.key)?;
    let stride: usize = study.sweep[at + 1..].iter().map(|axis| axis.values.len()).product();
    let values = &study.sweep[at].values;
    let ours = index / stride % values.len();
    if same(&values[ours], &baseline.value) {
        return None;
    }
    let theirs = values.iter().position(|value| same(value, &baseline.value))?;
    Some(index - ours * stride + theirs * stride)
}

/// Each metric of one scenario minus that of another, by their indices, run by run; and the difference as a share of
/// the mean of the other.
///
/// # Complexity
/// **O(n)** for each metric of *n* runs.
#[must_use]
pub(crate) fn paired(
    study: &Study,
    results: &Results,
    ours: usize,
    theirs: usize,
) -> Vec<(String, Interval, Option<f64>)> {
    let side = |scenario: usize| {
        results
            .runs
            .get(scenario)
            .map(|runs| Side { runs, constant: results.is_constant(scenario) })
    };
    match (side(ours), side(theirs)) {
        (Some(ours), Some(theirs)) => differences(ours, theirs, Rule::of(study)),
        _ => Vec::new(),
    }
}

/// Runs of a scenario, and whether the one that there is stands for all replications.
#[derive(Clone, Copy)]
struct Side<'a> {
    runs: &'a Runs,
    constant: bool,
}

/// Which runs of two scenarios belong together, by their places among those that ended.
fn pairs(ours: Side<'_>, theirs: Side<'_>) -> Vec<(usize, usize)> {
    // A run that stands for all replications is that of each.
    if ours.constant && ours.runs.ended() == 1 {
        return (0..theirs.runs.ended()).map(|b| (0, b)).collect();
    }
    if theirs.constant && theirs.runs.ended() == 1 {
        return (0..ours.runs.ended()).map(|a| (a, 0)).collect();
    }
    let (ours, theirs) = (ours.runs.replications(), theirs.runs.replications());
    let mut b = 0;
    let mut pairs = Vec::new();
    for (a, replication) in ours.iter().enumerate() {
        while theirs.get(b).is_some_and(|other| other < replication) {
            b += 1;
        }
        if theirs.get(b) == Some(replication) {
            pairs.push((a, b));
        }
    }
    pairs
}

fn differences(
    ours: Side<'_>,
    theirs: Side<'_>,
    rule: Rule,
) -> Vec<(String, Interval, Option<f64>)> {
    let pairs = pairs(ours, theirs);
    // Of one log, batches of the same jobs tell more than what the strategies of one side draw.
    let by_batches = ours.constant || theirs.constant || pairs.len() == 1;
    let of = |name: &str| {
        let (a, b) = (ours.runs.column(name), theirs.runs.column(name));
        let measured: Vec<(f64, f64)> = pairs
            .iter()
            .filter_map(|&(ours, theirs)| Some((*a.get(ours)?, *b.get(theirs)?)))
            .filter(|(a, b)| a.is_finite() && b.is_finite())
            .collect();
        let values: Vec<f64> = measured.iter().map(|(a, b)| a - b).collect();
        let base: Vec<f64> = measured.iter().map(|(_, b)| *b).collect();
        let difference = match pairs.first().filter(|_| by_batches) {
            Some(&(a, b)) if matches!(rule, Rule::Replications) => {
                let of_batches = paired_batches((ours.runs, a), (theirs.runs, b), name);
                let half_width = half_width_of_batches(&of_batches);
                let method = half_width.is_some().then_some(Method::BatchMeans);
                let replications = values.len() as u64;
                Interval { mean: mean(&values), half_width, replications, method }
            }
            _ => rule.interval(&values, &[]),
        };
        let relative = match (difference.mean, mean(&base)) {
            (Some(difference), Some(base)) if base.abs() > 0.0 => Some(difference / base),
            _ => None,
        };
        (difference, relative)
    };
    let metrics = ours.runs.metrics().map(|name| {
        let (difference, relative) = of(name);
        (name.to_owned(), difference, relative)
    });
    metrics.collect()
}

/// The differences of a metric between two runs on the same jobs, batch by batch of those jobs.
///
/// One run may have met so many jobs more that its batches were merged once more: those of the other are then merged
/// alike. Batches that only one of them has are left out.
fn paired_batches(ours: (&Runs, usize), theirs: (&Runs, usize), name: &str) -> Vec<f64> {
    let own = |(runs, row): (&Runs, usize)| runs.batches(row).cloned().unwrap_or_default();
    let (ours, theirs) = (own(ours), own(theirs));
    let jobs = ours.jobs.max(theirs.jobs);
    let batches = |batches: &Batches| -> BTreeMap<u64, f64> {
        if batches.jobs == 0 {
            return BTreeMap::new();
        }
        let each = jobs / batches.jobs;
        let mut merged: BTreeMap<u64, (f64, u64)> = BTreeMap::new();
        for (index, value) in (batches.first..).zip(batches.metric(name)) {
            let (sum, count) = merged.entry(index / each).or_default();
            *sum += value;
            *count += 1;
        }
        let whole = merged.into_iter().filter(|(_, (_, count))| *count == each);
        whole.map(|(index, (sum, count))| (index, sum / count as f64)).collect()
    };
    let (ours, theirs) = (batches(&ours), batches(&theirs));
    ours.iter().filter_map(|(index, a)| Some(a - theirs.get(index)?)).collect()
}
