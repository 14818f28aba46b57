//! Plans a submission of a sweep to a workload manager.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::{FileError, write_whole};
use crate::lab::prepare;
use crate::study::asked::EXPERIMENT;
use crate::study::{Refused, Study};
use crate::sweep::deal::Deal;
use crate::sweep::progress::{Known, progress};
use crate::sweep::script::SUBMISSIONS;
use crate::sweep::shard::begin;

pub struct SubmissionPlan {
    pub deal: Deal,
    /// Whether the costs of runs are measured durations in seconds.
    ///
    /// Otherwise only their ratios are meaningful.
    pub is_measured: bool,
    /// Number of attempts (processes, each with one shard) that still write to the results folder.
    pub at_work: u64,
}

/// Plans a submission of the unfinished runs of a study. If `writes` is true, the results folder is
/// prepared.
pub fn plan(
    study: &Study,
    folder: &Path,
    build: &str,
    max_memory: Option<u64>,
    writes: bool,
) -> Result<SubmissionPlan, Refused> {
    let prepared = prepare(study, 1, max_memory, true)?;
    let is_begun = folder.join(EXPERIMENT).is_file();
    if writes || is_begun {
        begin(study, folder, &prepared, build)?;
    }
    if !is_begun {
        let deal = Deal::of(&study.replications, &prepared.points);
        return Ok(SubmissionPlan { deal, is_measured: false, at_work: 0 });
    }
    drop(prepared);
    let known = Known::read(&study.catalogue, folder)?;
    let deal = known.deal(&known.missing().units);
    let is_measured = known.is_measured();
    drop(known);
    let (now, _) = progress(&study.catalogue, folder)?;
    Ok(SubmissionPlan { deal, is_measured, at_work: now.attempts.0 })
}

fn deal_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(SUBMISSIONS).join(format!("{number}.deal.csv"))
}

/// Number of the next submission of runs.
///
/// It is the smallest number, from 1, for which neither a batch script nor a division into shards
/// is stored.
pub fn next_submission(folder: &Path) -> u64 {
    let script = |number: u64| folder.join(SUBMISSIONS).join(format!("{number}.sh"));
    let is_taken = |number: &u64| script(*number).exists() || deal_of(folder, *number).exists();
    (1..).find(|number| !is_taken(number)).unwrap_or(1)
}

/// Stores the assignment of runs to shards for a submission that has no batch script.
///
/// Returns the path of the file.
pub fn keep_deal(folder: &Path, deal: &Deal) -> Result<PathBuf, FileError> {
    let submissions = folder.join(SUBMISSIONS);
    fs::create_dir_all(&submissions).map_err(|error| FileError::making(&submissions, &error))?;
    loop {
        let path = deal_of(folder, next_submission(folder));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            // The number is reserved by creating the file; the content is then written atomically.
            Ok(_) => {
                write_whole(&path, deal.text().as_bytes())?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(FileError::writing(&path, &error)),
        }
    }
}

/// Intended duration of a shard's task. It is long enough to be worth starting, and short enough to
/// be scheduled soon.
const TASK: Duration = Duration::from_secs(1800);

impl SubmissionPlan {
    /// Number of shards of a submission, at least 1.
    ///
    /// If durations were measured, a shard takes half an hour, or half of the time limit `time` if
    /// that is less. Otherwise each unit of work has a shard of its own, up to `limit` shards.
    pub fn shards(&self, time: Duration, limit: u64) -> u64 {
        let parts = (self.deal.units.len() as u64).max(1);
        if !self.is_measured {
            return parts.min(limit);
        }
        let task = TASK.min(time / 2).as_secs_f64();
        ((self.deal.cost() / task).ceil() as u64).clamp(1, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Unit;

    #[test]
    fn every_deal_has_a_number_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        let unit = Unit { scenario: 0, replication: Some(0) };
        let deal = Deal { units: vec![(unit, 1.5)] };
        fs::create_dir(home.path().join(SUBMISSIONS)).unwrap();
        fs::write(home.path().join(SUBMISSIONS).join("1.sh"), "").unwrap();
        let kept = [(); 2].map(|()| keep_deal(home.path(), &deal).unwrap());
        assert_eq!(kept, [2, 3].map(|number| deal_of(home.path(), number)));
        assert_eq!(fs::read_to_string(&kept[1]).unwrap(), deal.text());
        assert_eq!(next_submission(home.path()), 4);
    }

    #[test]
    fn shards_take_half_an_hour_by_hand() {
        let unit = |scenario| (Unit { scenario, replication: Some(0) }, 600.0);
        let deal = Deal { units: (0..60).map(unit).collect() };
        let mut plan = SubmissionPlan { deal, is_measured: true, at_work: 0 };
        // 36,000 s: 20 tasks of half an hour, 60 of ten minutes.
        assert_eq!(plan.shards(Duration::from_secs(3600), 8), 20);
        assert_eq!(plan.shards(Duration::from_secs(600), 8), 60, "no more than there are runs");
        plan.is_measured = false;
        assert_eq!(plan.shards(Duration::from_secs(3600), 8), 8);
        plan.deal.units.truncate(3);
        assert_eq!(plan.shards(Duration::from_secs(3600), 8), 3);
    }
}
