//! Computes the progress of a sweep from its files alone.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use meshwork::catalogue::Catalogue;
use rayon::prelude::*;

use meshwork_slurm::cell::plain;

use crate::files::temporary;
use crate::run::replications::{first, most};
use crate::run::store::{Archive, Note, RunFindings, ShardAttempt, attempts};
use crate::run::stored::Stored;
use crate::run::{BEAT, Run, ScenarioRuns, Unit, more};
use crate::study::Refused;
use crate::study::expand::Point;
use crate::sweep::cost::{nominal, refined};
use crate::sweep::deal::{Deal, is_whole};
use crate::sweep::shard::stored;
use crate::text::shown;

/// Time without writes after which an attempt is considered dead. It is six times the interval
/// between two writes.
const SILENCE: Duration = Duration::from_secs(BEAT.as_secs() * 6);

/// Largest difference between the clocks of two computers that is accepted.
const SKEW: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq)]
pub struct SweepProgress {
    /// Number of runs that the study needs, as far as known. It may grow if it depends on results.
    pub total: u64,
    pub done: u64,
    pub running: u64,
    pub missing: u64,
    pub failed: u64,
    /// Numbers of attempts at shards: first those that still write, then those that stopped
    /// unfinished.
    pub attempts: (u64, u64),
    /// Speed of the attempts that are still writing, in runs per second. `None` if none of their
    /// runs has ended.
    pub rate: Option<f64>,
    /// Estimated seconds until the sweep ends, if the threads still at work share its runs evenly.
    pub seconds_left: Option<f64>,
    pub warnings: Vec<String>,
}

pub(crate) struct Known {
    pub(crate) stored: Stored,
    pub(crate) attempts: Vec<ShardAttempt>,
    /// Measured duration, in seconds, of each run that shards have finished. Runs are given by
    /// store key.
    taken: BTreeMap<u128, f64>,
    pub(crate) failures: BTreeMap<(usize, u64), String>,
    pub(crate) warnings: Vec<String>,
    archive: Archive,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Missing {
    /// Units of work that are unfinished, in order of scenario and replication. A unit is a run or
    /// a whole scenario.
    pub units: Vec<Unit>,
    pub runs: u64,
    /// Number of runs that the study needs, finished and unfinished.
    pub total: u64,
    pub failed: u64,
}

impl Known {
    pub(crate) fn read(catalogue: &Catalogue, folder: &Path) -> Result<Known, Refused> {
        let stored = stored(catalogue, folder)?;
        let mut taken = BTreeMap::new();
        let attempts = attempts(folder, |key, seconds| {
            taken.insert(key, seconds);
        })?;
        let archive = Archive::of_sweep(folder)?;
        let failures = failures(folder, &stored.points, &attempts);
        let warnings = archive.warnings().to_vec();
        Ok(Known { stored, attempts, taken, failures, warnings, archive })
    }

    pub(crate) fn missing(&self) -> Missing {
        let find = |key: u128| self.archive.findings(&format!("{key:032x}"));
        missing(&self.stored, &|key| self.archive.has(key), &find, &self.failures)
    }

    pub(crate) fn deal(&self, units: &[Unit]) -> Deal {
        let seconds = self.costs();
        let Stored { study, points, .. } = &self.stored;
        let runs = |unit: &Unit| unit.runs(&study.replications, points) as f64;
        let cost = |unit: &Unit| (*unit, seconds[unit.scenario] * runs(unit));
        Deal { units: units.iter().map(cost).collect() }
    }

    pub(crate) fn is_measured(&self) -> bool {
        !self.taken.is_empty()
    }

    /// Expected cost of one run of each scenario. It is in seconds if any duration was measured.
    fn costs(&self) -> Vec<f64> {
        let points = &self.stored.points;
        let nominal: Vec<f64> = points.iter().map(|point| nominal(&point.scenario)).collect();
        let taken = &self.taken;
        if taken.is_empty() {
            return nominal;
        }
        let of_point = |(index, point)| {
            let keys = self.stored.keys(index);
            let keys = (0..most(&self.stored.study, point))
                .map_while(|number| keys.of_replication(number));
            let seconds: Vec<f64> = keys.filter_map(|key| taken.get(&key).copied()).collect();
            (seconds.len() as u64, seconds.iter().sum())
        };
        let sums: Vec<(u64, f64)> = points.par_iter().enumerate().map(of_point).collect();
        refined(&nominal, &sums)
    }
}

/// Failed runs that `failures.csv` lists. If a line is unreadable, its run counts as not run.
fn listed_failures(folder: &Path, points: &[Point]) -> BTreeMap<(usize, u64), String> {
    let mut failures = BTreeMap::new();
    let Ok(mut reader) = csv::Reader::from_path(folder.join("failures.csv")) else {
        return failures;
    };
    let label = |point: &Point| -> Vec<String> {
        point.swept.iter().map(|(_, value)| shown(value)).collect()
    };
    let mut indices: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (index, point) in points.iter().enumerate() {
        indices.entry(label(point)).or_insert(index);
    }
    for row in reader.records().flatten() {
        let cells: Vec<String> = row.iter().map(|cell| plain(cell).to_owned()).collect();
        let [swept @ .., replication, message] = &cells[..] else { continue };
        if let (Some(&index), Ok(replication)) = (indices.get(swept), replication.parse()) {
            failures.insert((index, replication), message.clone());
        }
    }
    failures
}

/// Error messages of failed runs, by scenario and replication.
///
/// The messages are read from `failures.csv` and from the segments of shards.
pub fn failures(
    folder: &Path,
    points: &[Point],
    attempts: &[ShardAttempt],
) -> BTreeMap<(usize, u64), String> {
    let mut failures = listed_failures(folder, points);
    for note in attempts.iter().flat_map(|attempt| &attempt.notes) {
        if let Note::Failed { scenario, replication, message, .. } = note {
            failures.insert((*scenario, *replication), message.clone());
        }
    }
    failures
}

/// Runs that are neither stored nor known to have failed. The functions `has` and `find` look up
/// the store by key.
pub(crate) fn missing(
    stored: &Stored,
    has: &(dyn Fn(u128) -> bool + Sync),
    find: &(dyn Fn(u128) -> Option<RunFindings> + Sync),
    failures: &BTreeMap<(usize, u64), String>,
) -> Missing {
    let replications = &stored.study.replications;
    let of_point = |(index, point)| {
        let keys = stored.keys(index);
        let mut found = Missing::default();
        let mut wanted = first(replications, point);
        if !is_whole(replications, point) {
            for number in 0..wanted {
                let Some(key) = keys.of_replication(number) else { break };
                found.total += 1;
                if has(key) {
                    continue;
                }
                if failures.contains_key(&(index, number)) {
                    found.failed += 1;
                } else {
                    found.units.push(Unit { scenario: index, replication: Some(number) });
                    found.runs += 1;
                }
            }
            return found;
        }
        let mut runs = ScenarioRuns::default();
        let mut number = 0;
        while number < wanted {
            let Some(key) = keys.of_replication(number) else { break };
            let failure = || failures.get(&(index, number)).cloned().map(Err);
            let result = if has(key) { find(key).map(Ok) } else { None }.or_else(failure);
            match result {
                Some(result) => {
                    found.failed += u64::from(result.is_err());
                    runs.push(Run { key: format!("{key:032x}"), replication: number, result });
                }
                None => found.runs += 1,
            }
            number += 1;
            if number == wanted && found.runs == 0 {
                wanted = more(replications, &runs);
            }
        }
        found.total = wanted;
        if found.runs > 0 {
            found.units.push(Unit { scenario: index, replication: None });
        }
        found
    };
    let all: Vec<Missing> = stored.points.par_iter().enumerate().map(of_point).collect();
    let mut sum = Missing::default();
    for one in all {
        sum.units.extend(one.units);
        sum.runs += one.runs;
        sum.total += one.total;
        sum.failed += one.failed;
    }
    sum
}

/// Computes the progress of the sweep in a folder, and lists its unfinished runs. All stored runs
/// are read completely.
pub fn progress(catalogue: &Catalogue, folder: &Path) -> Result<(SweepProgress, Missing), Refused> {
    let known = Known::read(catalogue, folder)?;
    let missing = known.missing();
    let mut warnings = known.warnings.clone();
    let now = now_of(folder);
    let (mut live, mut silent, mut workers) = (0, 0, 0);
    let mut rate = 0.0;
    for attempt in known.attempts.iter().filter(|attempt| !attempt.is_whole) {
        let touched = attempt.touched.unwrap_or(now);
        if let Ok(ahead) = touched.duration_since(now)
            && ahead > SKEW
        {
            warnings.push(format!(
                "{}: this file was written {} s in the future, so the clocks of two computers differ: who still runs is \
                 uncertain, and all else is not; let somebody set the clocks, or look again and see what grows",
                attempt.path.display(),
                ahead.as_secs()
            ));
        }
        if now.duration_since(touched).is_ok_and(|age| age > SILENCE) {
            silent += 1;
            continue;
        }
        live += 1;
        let threads = attempt.notes.iter().find_map(|note| match note {
            Note::Segment { threads, .. } => Some(*threads as u64),
            _ => None,
        });
        workers += threads.unwrap_or(1);
        if attempt.last > 0.0 {
            rate += attempt.ended as f64 / attempt.last;
        }
    }
    let running = workers.min(missing.runs);
    let seconds = known.is_measured().then(|| known.deal(&missing.units).cost());
    Ok((
        SweepProgress {
            total: missing.total,
            done: missing.total - missing.runs - missing.failed,
            running,
            missing: missing.runs - running,
            failed: missing.failed,
            attempts: (live, silent),
            rate: (live > 0 && rate > 0.0).then_some(rate),
            seconds_left: seconds.filter(|_| workers > 0).map(|s| s / workers as f64),
            warnings,
        },
        missing,
    ))
}

/// Current time by the clock of the file system that holds `folder`. It may differ from the clock
/// of this computer.
fn now_of(folder: &Path) -> SystemTime {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let path = temporary(&folder.join("clock"));
    let stamped = File::create(&path).and_then(|file| file.metadata()?.modified());
    let _ = std::fs::remove_file(&path);
    stamped.unwrap_or_else(|_| SystemTime::now())
}
