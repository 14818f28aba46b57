//! Sweeps: the shard of the laboratory, one call of which is a task of any executor.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use meshwork_lab::sweep::{self, Ended, Shard, ShardWork};
use pyo3::prelude::*;

use crate::catalogue;
use crate::error::{failed, refused};
use crate::running::{Interrupt, apart, oversee};

/// What came of a shard: the runs that have ended, those of earlier attempts among them; warnings; failures; and what a
/// strategy in Python raised.
type Outcome = (u64, u64, Vec<String>, Vec<String>, Option<PyErr>);

/// Runs a shard of the sweep in a folder. `digests` are those of the strategies in Python that the study names, in the order
/// in which the sweep was begun with them.
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

/// Puts together what has ended in a folder: how many runs are wanted, missing and failed, what failed, and what is worth a
/// word.
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

/// Begins a sweep of a study, or goes on with one: gives the file of the deal of what has not ended, how many parts it has,
/// and nothing where all has ended.
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
