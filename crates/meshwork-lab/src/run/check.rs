//! Repeats stored runs, to check that the program still computes the stored results.
//!
//! If the version is the same, the results must be the same, bit for bit.

use std::path::Path;

use meshwork::catalogue::Catalogue;
use meshwork::observe::recorder::OwnerAttribute;
use meshwork::registry::Problem;
use meshwork::scenario::{MODEL_VERSION, Scenario};
use rayon::prelude::*;
use thiserror::Error;
use toml::Table;

use crate::files::FileError;
use crate::inputs::Files;
use crate::refused::is_refused;
use crate::run::store::{Archive, RunFindings, RunMetric, RunRecord, StoreError};
use crate::run::{caught, simulated};
use crate::threads::{NoThreads, pool};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckVerdict {
    Same,
    Different(String),
    Failed(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedRun {
    pub key: String,
    pub replication: u64,
    pub verdict: CheckVerdict,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreCheck {
    pub stored: usize,
    pub checked: Vec<CheckedRun>,
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CheckError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Threads(#[from] NoThreads),
}

is_refused!(CheckError);

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RepeatError {
    #[error("it was run by version {0} of the model, and this is version {MODEL_VERSION}")]
    OtherModel(u32),
    #[error("its scenario cannot be read ({0})")]
    Unreadable(String),
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Input(#[from] FileError),
    #[error("{0}: this file has changed since it was run")]
    Changed(String),
    #[error("its key is {stored}, but should be {own}")]
    OtherKey { stored: String, own: String },
}

impl From<Problem> for RepeatError {
    fn from(problem: Problem) -> RepeatError {
        RepeatError::Refused(problem.message)
    }
}

/// Repeats up to `sample` stored runs on `threads` threads, to check their results. The runs are
/// spread evenly over the store.
pub fn check(
    catalogue: &Catalogue,
    folder: &Path,
    sample: usize,
    threads: usize,
) -> Result<StoreCheck, CheckError> {
    let archive = Archive::open(folder, |_, _| {})?;
    let stored = archive.len();
    let chosen = archive.chosen(sampled(stored, sample));
    let pool = pool(threads)?;
    let files = Files::beside(folder);
    let checked = pool.install(|| {
        let check = |record: &RunRecord| CheckedRun {
            key: record.key.clone(),
            replication: record.replication,
            verdict: replay(catalogue, record, &files).unwrap_or_else(CheckVerdict::Failed),
        };
        chosen.par_iter().map(check).collect()
    });
    Ok(StoreCheck { stored, checked, warnings: archive.warnings().to_vec() })
}

fn sampled(stored: usize, sample: usize) -> impl Iterator<Item = usize> {
    let sample = sample.min(stored);
    (0..sample).map(move |i| (i as u128 * stored as u128 / sample as u128) as usize)
}

fn replay(
    catalogue: &Catalogue,
    record: &RunRecord,
    files: &Files,
) -> Result<CheckVerdict, String> {
    let (scenario, key) =
        scenario_of(catalogue, record, files).map_err(|error| error.to_string())?;
    if key != record.key {
        return Ok(CheckVerdict::Different(format!(
            "its key is {}, but should be {key}",
            record.key
        )));
    }
    let outcome = caught(|| simulated(&scenario, record.replication, files, &mut ()))?;
    Ok(first_difference(&record.findings, &RunFindings::of(&outcome))
        .map_or(CheckVerdict::Same, CheckVerdict::Different))
}

pub fn scenario_of(
    catalogue: &Catalogue,
    record: &RunRecord,
    files: &Files,
) -> Result<(Scenario, String), RepeatError> {
    if record.model_version != MODEL_VERSION {
        return Err(RepeatError::OtherModel(record.model_version));
    }
    let mut table = Table::try_from(&record.scenario)
        .map_err(|error| RepeatError::Unreadable(error.to_string()))?;
    let mut digest = None;
    if let Some(input) = &record.input {
        let trace =
            input.trace.as_ref().map(|trace| (&trace.path, &trace.blake3, "failures.trace"));
        let of_workload = (&input.path, &input.blake3, "workload.path");
        let reads = !input.path.is_empty();
        for (path, stored, key) in Some(of_workload).filter(|_| reads).into_iter().chain(trace) {
            if files.digest(path)? != *stored {
                return Err(RepeatError::Changed(path.clone()));
            }
            crate::study::set::set(&mut table, key, path.clone().into())?;
        }
        digest = Some(input.digest());
    }
    let scenario = Scenario::read_in(catalogue, &table)?;
    let key = crate::run::store::key(
        scenario.table(),
        digest.as_deref(),
        record.replication,
        &record.build,
    );
    Ok((scenario, key))
}

fn first_difference(stored: &RunFindings, now: &RunFindings) -> Option<String> {
    let counts = [
        ("finished", stored.finished, now.finished),
        ("refused", stored.refused, now.refused),
        ("unusable", stored.unusable, now.unusable),
    ];
    for (name, stored, now) in counts {
        if stored != now {
            return Some(format!("{name} is stored as {stored}, and is now {now}"));
        }
    }
    if stored.end.to_bits() != now.end.to_bits() {
        return Some(format!("the end is stored as {}, and is now {}", stored.end, now.end));
    }
    if !stored.speeds.iter().map(|s| s.to_bits()).eq(now.speeds.iter().map(|s| s.to_bits())) {
        let (stored, now) = (&stored.speeds, &now.speeds);
        return Some(format!("the speeds are stored as {stored:?}, and are now {now:?}"));
    }
    if (stored.batch_jobs, stored.first_batch) != (now.batch_jobs, now.first_batch) {
        return Some("the batches are stored as others than they are now".to_owned());
    }
    if stored.queue_trend.map(f64::to_bits) != now.queue_trend.map(f64::to_bits) {
        let (stored, now) = (stored.queue_trend, now.queue_trend);
        return Some(format!("the trend of the queue is stored as {stored:?}, and is now {now:?}"));
    }
    if let Some(name) = differing(&stored.metrics, &now.metrics) {
        return Some(name);
    }
    let of_owners = |by: &OwnerAttribute| stored.by_owner.get(by) != now.by_owner.get(by);
    if let Some(by) = OwnerAttribute::ALL.into_iter().find(of_owners) {
        return Some(format!("the jobs of {}s have other metrics than are stored", by.name()));
    }
    let classes = stored.by_size.iter().zip(&now.by_size);
    for (stored, now) in classes {
        if (stored.size, stored.jobs) != (now.size, now.jobs) {
            return Some(format!(
                "{} jobs of size {} are stored, and there are now {} of size {}",
                stored.jobs, stored.size, now.jobs, now.size
            ));
        }
        if let Some(difference) = differing(&stored.metrics, &now.metrics) {
            return Some(format!("of the jobs of size {}, {difference}", stored.size));
        }
    }
    (stored.by_size.len() != now.by_size.len()).then(|| {
        format!(
            "{} sizes are stored, and there are now {}",
            stored.by_size.len(),
            now.by_size.len()
        )
    })
}

fn differing(stored: &[RunMetric], now: &[RunMetric]) -> Option<String> {
    let bits = |value: Option<f64>| value.map(f64::to_bits);
    let text = |value: Option<f64>| value.map_or("not measured".to_owned(), |v| v.to_string());
    for (stored, now) in stored.iter().zip(now) {
        if stored.name != now.name || bits(stored.value) != bits(now.value) {
            return Some(format!(
                "{} is stored as {}, and {} is now {}",
                stored.name,
                text(stored.value),
                now.name,
                text(now.value)
            ));
        }
        if !stored.batches.iter().map(|b| b.to_bits()).eq(now.batches.iter().map(|b| b.to_bits())) {
            return Some(format!("{} has other batches than are stored", stored.name));
        }
    }
    (stored.len() != now.len())
        .then(|| format!("{} metrics are stored, and there are now {}", stored.len(), now.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_evenly_and_holds_no_run_twice() {
        assert_eq!(sampled(10, 3).collect::<Vec<_>>(), [0, 3, 6]);
        assert_eq!(sampled(3, 10).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(sampled(0, 10).count(), 0);
        assert_eq!(sampled(10, 0).count(), 0);
    }

    #[test]
    fn one_bit_is_a_difference() {
        let findings = |value: f64| RunFindings {
            metrics: vec![RunMetric::new("wait", Some(value), vec![])],
            finished: 1,
            end: 1.0,
            speeds: vec![value],
            ..RunFindings::default()
        };
        let (value, next) = (0.1_f64, f64::from_bits(0.1_f64.to_bits() + 1));
        assert_eq!(first_difference(&findings(value), &findings(value)), None);
        assert_eq!(
            first_difference(&findings(value), &findings(next)).unwrap(),
            format!("the speeds are stored as [0.1], and are now [{next}]")
        );
        let speeds = vec![next];
        assert_eq!(
            first_difference(&RunFindings { speeds, ..findings(value) }, &findings(next)).unwrap(),
            format!("wait is stored as 0.1, and wait is now {next}")
        );
    }
}
