//! Sweeps: begins a study in a folder, runs one shard as a task of an executor, merges the runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use meshwork_lab::sweep::{self, Ended, Shard, ShardWork};
use pyo3::prelude::*;

use crate::error::{failed, refused};
use crate::running::{Interrupt, apart, oversee};
use crate::strategy::catalogue;

/// Outcome of a shard: two numbers of runs, warnings, failures, and an exception.
///
/// The first number has all ended runs, including failed ones. The second has those of them that an
/// earlier attempt had made. The exception is from a Python strategy that failed, if any.
type Outcome = (u64, u64, Vec<String>, Vec<String>, Option<PyErr>);

/// Runs a shard of the sweep that was begun in a folder.
///
/// `digests` are the digests of the Python strategies that the study names, in the order in which
/// they were when the sweep was begun.
#[pyfunction]
pub(crate) fn run_shard(
    py: Python<'_>,
    folder: PathBuf,
    shard: (u64, u64),
    deal: PathBuf,
    threads: usize,
    max_memory: Option<u64>,
    digests: Vec<String>,
) -> PyResult<Outcome> {
    let (index, of) = shard;
    let catalogue = catalogue::current();
    let begun = py.detach(|| apart(|| sweep::begun(&catalogue, &folder)))?;
    let study = begun.map_err(|error| refused(&error, None))?;
    let (ended, raised) =
        oversee(py, Interrupt::BetweenRuns, &study, None, None, |overseer, note| {
            let work = ShardWork {
                folder,
                shard: Shard { index, of },
                deal: Some(deal),
                threads,
                max_memory,
                progress: note,
                watcher: Some(overseer),
                build: catalogue::build_with(digests.iter().map(String::as_str)),
                stop: &|| overseer.stop.load(Ordering::Relaxed),
            };
            sweep::run_shard(&study, &work)
        })?;
    let Ended { progress, stopped, warnings, failures } =
        ended.map_err(|error| refused(&error, None))?;
    if stopped {
        return Err(failed("the shard was interrupted: what had ended is kept"));
    }
    Ok((progress.done, progress.reused, warnings, failures, raised))
}

/// Merges the finished runs of the sweep in a folder.
///
/// Returns the numbers of wanted, missing and failed runs, and the lists of failures and of
/// warnings.
#[pyfunction]
pub(crate) fn collect(
    py: Python<'_>,
    folder: PathBuf,
    parquet: bool,
) -> PyResult<(u64, u64, u64, Vec<String>, Vec<String>)> {
    let catalogue = catalogue::current();
    let collected = py.detach(|| {
        apart(|| {
            let collected = sweep::collect(&catalogue, &folder)?;
            if parquet {
                sweep::export(&catalogue, &folder)?;
            }
            Ok::<_, meshwork_lab::Refused>(collected)
        })
    })?;
    let collected = collected.map_err(|error| refused(&error, None))?;
    let missing = collected.missing;
    Ok((missing.total, missing.runs, missing.failed, collected.failures, collected.warnings))
}

/// Begins or resumes a sweep of a study.
///
/// Returns the path of the file that assigns the unfinished runs to shards, and the number of units
/// in it. A unit is a run, or all runs of a scenario. If all runs have finished, the result is
/// `None` and 0.
pub(crate) fn begin(
    study: &meshwork_lab::Study,
    folder: &Path,
    build: &str,
    max_memory: Option<u64>,
) -> Result<(Option<PathBuf>, usize), String> {
    let plan = sweep::plan(study, folder, build, max_memory, true).map_err(|error| error.0)?;
    let parts = plan.deal.units.len();
    if parts == 0 {
        return Ok((None, 0));
    }
    let deal = sweep::keep_deal(folder, &plan.deal).map_err(|error| error.to_string())?;
    Ok((Some(deal), parts))
}
