//! Columnar storage of the runs of one scenario, of which there may be a million.
//!
//! A table of means needs one number per metric, so a result is split into columns, and rebuilt on
//! request.

use std::collections::BTreeMap;

use meshwork::observe::recorder::OwnerAttribute;

use crate::run::Run;
use crate::run::columns::{Class, Classes, Metrics};
use crate::run::store::{OwnerFindings, RunFindings, RunMetric, SizeFindings};

/// Number of successful runs whose results by batch are kept. They are the first runs of a
/// scenario.
const WITH_BATCHES: usize = 16;

/// Runs of one scenario, in order of replications. A run takes 64 bytes, and 8 bytes for each
/// metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScenarioRuns {
    ended: Ended,
    failed: Vec<(u64, String, String)>,
    /// Common result of all successful runs, stored once. `None` if their results differ.
    same: Option<Box<RunFindings>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Ended {
    replications: Vec<u64>,
    keys: Vec<u128>,
    metrics: Metrics,
    finished: Vec<u64>,
    refused: Vec<u64>,
    unusable: Vec<u64>,
    ends: Vec<f64>,
    /// Kendall's τ of the queue length in each run that has one, with the index of the run.
    trends: Vec<(u32, f64)>,
    sizes: Classes<u64>,
    owners: BTreeMap<OwnerAttribute, Classes<Option<String>>>,
    /// Randomly drawn speeds of all sites, with the index of the run that drew them.
    speeds: Vec<(u32, Box<[f64]>)>,
    batches: Vec<Batches>,
    /// For each successful run, whether its results by batch were dropped to save memory.
    stripped: Vec<bool>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Batches {
    /// Number of jobs in each batch. It is 0 if the run has no batches.
    pub(crate) jobs: u64,
    pub(crate) first: u64,
    of: Vec<Vec<f64>>,
    names: Vec<String>,
}

impl Batches {
    fn of(findings: &RunFindings) -> Batches {
        let with = || findings.metrics.iter().filter(|finding| !finding.batches.is_empty());
        Batches {
            jobs: findings.batch_jobs,
            first: findings.first_batch,
            of: with().map(|finding| finding.batches.clone()).collect(),
            names: with().map(|finding| finding.name.clone()).collect(),
        }
    }

    pub(crate) fn metric(&self, name: &str) -> &[f64] {
        self.names.iter().position(|own| own == name).map_or(&[], |place| &self.of[place])
    }
}

impl ScenarioRuns {
    pub fn push(&mut self, run: Run) {
        match run.result {
            Err(message) => self.failed.push((run.replication, run.key, message)),
            Ok(findings) => {
                let row = self.ended.push(run.replication, &run.key, &findings);
                if row == 0 {
                    self.same = Some(Box::new(findings));
                } else if self.same.as_deref().is_some_and(|first| *first != findings) {
                    self.same = None;
                }
            }
        }
    }

    pub fn len(&self) -> usize {
        self.ended() + self.failed.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn ended(&self) -> usize {
        self.ended.replications.len()
    }

    pub fn failures(&self) -> impl ExactSizeIterator<Item = (u64, &str)> {
        self.failed.iter().map(|(replication, _, message)| (*replication, message.as_str()))
    }

    pub fn all_same(&self) -> bool {
        self.failed.is_empty() && self.ended() > 1 && self.same.is_some()
    }

    pub(super) fn keep_first(&mut self) {
        let first = self.get(0);
        *self = first.into_iter().collect();
    }

    pub fn keys(&self) -> impl Iterator<Item = (u64, String)> {
        let keys = self.ended.keys.iter().map(|key| format!("{key:032x}"));
        self.ended.replications.iter().copied().zip(keys)
    }

    /// Store key of the run with the number `replication`. `None` if this run was not successful.
    pub fn key(&self, replication: u64) -> Option<String> {
        let row = self.ended.replications.binary_search(&replication).ok()?;
        Some(format!("{:032x}", self.ended.keys[row]))
    }

    /// For each successful run, number of jobs that were refused or turned away. A job is refused
    /// if it is too large for the empty machine.
    pub fn refused(&self) -> &[u64] {
        &self.ended.refused
    }

    /// For each successful run, number of lines in the log that are not jobs.
    pub fn unusable(&self) -> &[u64] {
        &self.ended.unusable
    }

    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.ended.metrics.row(0).map(|(name, _)| name)
    }

    pub fn measured(&self, metric: &str) -> impl Iterator<Item = (u64, f64)> {
        let column = self.ended.metrics.column(metric).iter().copied();
        self.ended.replications.iter().copied().zip(column).filter(|(_, value)| value.is_finite())
    }

    pub fn measured_of_size(&self, size: u64, metric: &str) -> Vec<(u64, f64)> {
        let classes = self.sizes();
        let Some(class) = classes.iter().find(|class| *class.kind == size) else {
            return Vec::new();
        };
        class.measured(metric).map(|(run, value)| (self.ended.replications[run], value)).collect()
    }

    /// Value of a metric in every successful run. A missing value is not finite.
    pub(crate) fn column(&self, metric: &str) -> &[f64] {
        self.ended.metrics.column(metric)
    }

    /// Replication number of every successful run, in ascending order.
    pub(crate) fn replications(&self) -> &[u64] {
        &self.ended.replications
    }

    /// Results by batch of a successful run. `None` if they were not kept.
    pub(crate) fn batches(&self, row: usize) -> Option<&Batches> {
        self.ended.batches.get(row)
    }

    /// Kendall's τ of the queue length for each run. Runs without a τ are left out.
    pub fn trends(&self) -> Vec<f64> {
        self.ended.trends.iter().map(|(_, trend)| *trend).collect()
    }

    pub fn speeds(&self) -> impl Iterator<Item = (u64, &[f64])> {
        let replications = &self.ended.replications;
        self.ended.speeds.iter().map(|(row, speeds)| (replications[*row as usize], &speeds[..]))
    }

    pub fn sizes(&self) -> Vec<Class<'_, u64>> {
        self.ended.sizes.gathered()
    }

    /// Results for each requested kind of owner, such as user or group. A name is `None` if it
    /// stands for jobs of unknown owners.
    pub fn owners(&self) -> impl Iterator<Item = (OwnerAttribute, Vec<Class<'_, Option<String>>>)> {
        self.ended.owners.iter().map(|(by, classes)| (*by, classes.gathered()))
    }

    /// Successful runs that still have all their results, with batches. Only these are stored
    /// completely.
    pub fn whole(&self) -> impl Iterator<Item = Run> {
        let is_whole = |row: &usize| !self.ended.stripped[*row];
        (0..self.ended()).filter(is_whole).map(|row| self.ended.run(row))
    }

    /// Returns the run with the given index, in order of replications. Only the first few
    /// successful runs still have results by batch.
    pub fn get(&self, index: usize) -> Option<Run> {
        if self.failed.is_empty() {
            return (index < self.ended()).then(|| self.ended.run(index));
        }
        self.iter().nth(index)
    }

    /// All runs of the scenario, in order of replications. Only the first few successful runs still
    /// have results by batch.
    pub fn iter(&self) -> impl Iterator<Item = Run> {
        let (mut row, mut failed) = (0, 0);
        std::iter::from_fn(move || {
            let ended = self.ended.replications.get(row);
            match self.failed.get(failed) {
                Some((replication, key, message))
                    if ended.is_none_or(|ended| replication <= ended) =>
                {
                    failed += 1;
                    let result = Err(message.clone());
                    Some(Run { key: key.clone(), replication: *replication, result })
                }
                _ => {
                    ended?;
                    row += 1;
                    Some(self.ended.run(row - 1))
                }
            }
        })
    }
}

impl FromIterator<Run> for ScenarioRuns {
    fn from_iter<I: IntoIterator<Item = Run>>(iter: I) -> ScenarioRuns {
        let mut runs = ScenarioRuns::default();
        iter.into_iter().for_each(|run| runs.push(run));
        runs
    }
}

impl Ended {
    fn push(&mut self, replication: u64, key: &str, findings: &RunFindings) -> usize {
        let row = self.replications.len();
        let short = u32::try_from(row).expect("there are at most a million replications");
        self.replications.push(replication);
        // A key is 128 bits in hexadecimal: 16 bytes instead of a text.
        self.keys.push(u128::from_str_radix(key, 16).unwrap_or_default());
        self.metrics.push(findings.metrics.iter().map(|f| (f.name.as_str(), f.value)));
        self.finished.push(findings.finished);
        self.refused.push(findings.refused);
        self.unusable.push(findings.unusable);
        self.ends.push(findings.end);
        self.trends.extend(findings.queue_trend.map(|trend| (short, trend)));
        for class in &findings.by_size {
            let metrics = class.metrics.iter().map(|f| (f.name.as_str(), f.value));
            self.sizes.push(row, &class.size, class.jobs, metrics);
        }
        for (by, classes) in &findings.by_owner {
            let owners = self.owners.entry(*by).or_default();
            for class in classes {
                let metrics = class.metrics.iter().map(|(name, value)| (name.as_str(), *value));
                owners.push(row, &class.name, class.jobs, metrics);
            }
        }
        if !findings.speeds.is_empty() {
            self.speeds.push((short, findings.speeds.clone().into()));
        }
        let is_stripped = row >= WITH_BATCHES && findings.batch_jobs > 0;
        self.stripped.push(is_stripped);
        if row < WITH_BATCHES {
            self.batches.push(Batches::of(findings));
        }
        row
    }

    fn run(&self, row: usize) -> Run {
        let short = u32::try_from(row).unwrap_or(u32::MAX);
        let none = Batches::default();
        let batches = self.batches.get(row).unwrap_or(&none);
        let finding = |(name, value): (&str, Option<f64>), batches: &[f64]| {
            RunMetric::new(name, value, batches.to_vec())
        };
        let owners = |classes: &Classes<Option<String>>| -> Vec<OwnerFindings> {
            let owners = classes.of_run(row).map(|(name, jobs, metrics)| OwnerFindings {
                name: name.clone(),
                jobs,
                metrics: metrics.map(|(name, value)| (name.to_owned(), value)).collect(),
            });
            owners.collect()
        };
        let trend = self.trends.binary_search_by_key(&short, |(row, _)| *row);
        let speeds = self.speeds.binary_search_by_key(&short, |(row, _)| *row);
        let findings = RunFindings {
            metrics: self.metrics.row(row).map(|own| finding(own, batches.metric(own.0))).collect(),
            by_size: self
                .sizes
                .of_run(row)
                .map(|(size, jobs, metrics)| SizeFindings {
                    size: *size,
                    jobs,
                    metrics: metrics.map(|own| finding(own, &[])).collect(),
                })
                .collect(),
            by_owner: self
                .owners
                .iter()
                .map(|(by, classes)| (*by, owners(classes)))
                .filter(|(_, owners)| !owners.is_empty())
                .collect(),
            finished: self.finished[row],
            refused: self.refused[row],
            unusable: self.unusable[row],
            end: self.ends[row],
            speeds: speeds.map_or_else(|_| Vec::new(), |place| self.speeds[place].1.to_vec()),
            batch_jobs: batches.jobs,
            first_batch: batches.first,
            queue_trend: trend.ok().map(|place| self.trends[place].1),
        };
        Run {
            key: format!("{:032x}", self.keys[row]),
            replication: self.replications[row],
            result: Ok(findings),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn findings() -> impl Strategy<Value = RunFindings> {
        let value = || prop::option::of(-1e9..1e9);
        let metrics = (value(), value(), prop::collection::vec(0.0..9.0, 0..3), any::<bool>())
            .prop_map(move |(a, b, batches, both)| {
                let mut metrics = vec![RunMetric::new("wait", a, batches)];
                metrics.extend(both.then(|| RunMetric::new("speed", b, Vec::new())));
                metrics
            });
        let sizes = prop::collection::btree_map(1_u64..5, (1_u64..9, value()), 0..3).prop_map(
            move |sizes| {
                let class = |(size, (jobs, value))| SizeFindings {
                    size,
                    jobs,
                    metrics: vec![RunMetric::new("wait", value, Vec::new())],
                };
                sizes.into_iter().map(class).collect::<Vec<_>>()
            },
        );
        let owners =
            prop::collection::btree_map(prop::option::of("[a-c]"), (1_u64..9, value()), 0..3)
                .prop_map(|owners| {
                    let class = |(name, (jobs, value))| OwnerFindings {
                        name,
                        jobs,
                        metrics: vec![("wait".to_owned(), value)],
                    };
                    owners.into_iter().map(class).collect::<Vec<_>>()
                });
        let rest = (
            0_u64..9,
            0_u64..2,
            0_u64..2,
            0.0..99.0,
            prop::collection::vec(0.5..2.0, 0..2),
            value(),
        );
        (metrics, sizes, owners, rest).prop_map(|(metrics, by_size, by_user, rest)| RunFindings {
            by_owner: [
                (OwnerAttribute::Group, by_user.iter().rev().take(1).cloned().collect()),
                (OwnerAttribute::Queue, by_user.iter().take(1).cloned().collect()),
                (OwnerAttribute::Partition, by_user.iter().skip(1).cloned().collect()),
                (OwnerAttribute::User, by_user),
            ]
            .into_iter()
            .filter(|(_, owners): &(OwnerAttribute, Vec<OwnerFindings>)| !owners.is_empty())
            .collect(),
            batch_jobs: if metrics[0].batches.is_empty() { 0 } else { 4 },
            first_batch: metrics[0].batches.len() as u64,
            metrics,
            by_size,
            finished: rest.0,
            refused: rest.1,
            unusable: rest.2,
            end: rest.3,
            speeds: rest.4,
            queue_trend: rest.5,
        })
    }

    proptest! {
        #[test]
        fn runs_come_out_as_they_went_in(given in prop::collection::vec(prop::result::maybe_err(findings(), "[a-z]{3}"), 0..8)) {
            let list: Vec<Run> = given
                .into_iter()
                .enumerate()
                .map(|(i, result)| Run { key: format!("{i:032x}"), replication: i as u64, result })
                .collect();
            let runs: ScenarioRuns = list.iter().cloned().collect();
            prop_assert_eq!(&runs.iter().collect::<Vec<_>>(), &list);
            prop_assert_eq!(runs.len(), list.len());
            for (index, run) in list.iter().enumerate() {
                prop_assert_eq!(runs.get(index), Some(run.clone()));
            }
            prop_assert_eq!(runs.get(list.len()), None);
            let ended: Vec<(u64, &RunFindings)> =
                list.iter().filter_map(|run| Some((run.replication, run.result.as_ref().ok()?))).collect();
            let waits: Vec<(u64, f64)> =
                ended.iter().filter_map(|(r, f)| Some((*r, f.metric("wait")?.value?))).collect();
            prop_assert_eq!(runs.measured("wait").collect::<Vec<_>>(), waits);
            let is_same = list.len() > 1
                && list.iter().all(|run| run.result.is_ok() && run.result == list[0].result);
            prop_assert_eq!(runs.all_same(), is_same);
            for size in 1..5 {
                let of_size: Vec<(u64, f64)> = ended
                    .iter()
                    .filter_map(|(replication, findings)| {
                        let class = findings.by_size.iter().find(|class| class.size == size)?;
                        Some((*replication, class.metrics[0].value?))
                    })
                    .collect();
                prop_assert_eq!(runs.measured_of_size(size, "wait"), of_size);
            }
        }
    }

    #[test]
    fn batches_are_kept_of_the_first_runs_alone() {
        let run = |replication| Run {
            key: format!("{replication:032x}"),
            replication,
            result: Ok(RunFindings {
                metrics: vec![RunMetric::new("wait", Some(1.0), vec![1.0, 2.0])],
                finished: 40,
                end: 1.0,
                batch_jobs: 2,
                first_batch: 1,
                ..RunFindings::default()
            }),
        };
        let runs: ScenarioRuns = (0..20).map(run).collect();
        let batches = |index| runs.get(index).unwrap().result.unwrap().metrics[0].batches.len();
        assert_eq!((batches(0), batches(WITH_BATCHES - 1), batches(WITH_BATCHES)), (2, 2, 0));
        assert_eq!(runs.whole().count(), WITH_BATCHES, "the others are not what was measured");
        assert!(runs.all_same(), "what is compared are the runs as they came");
        let mut first = runs.clone();
        first.keep_first();
        assert_eq!(first, std::iter::once(run(0)).collect());
    }
}
