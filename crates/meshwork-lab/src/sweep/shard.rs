//! Runs one shard of a study. A shard may take several attempts.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use meshwork::catalogue::Catalogue;

use crate::lab::{Prepared, another, failure, prepare};
use crate::run::kept::Kept;
use crate::run::memory::at_once;
use crate::run::store::{Note, RUNS, Store};
use crate::run::{RunProgress, Runner, Watcher, simulated};
use crate::study::asked::{EXPERIMENT, StudyRequest};
use crate::study::sample::sample;
use crate::study::{Refused, Study};
use crate::sweep::deal::Deal;
use crate::sweep::name::{Shard, attempt};

pub struct ShardWork<'a> {
    pub folder: PathBuf,
    pub shard: Shard,
    /// File that assigns runs to shards. If it is `None`, runs are assigned by estimated costs.
    pub deal: Option<PathBuf>,
    pub threads: usize,
    /// Limit in bytes on the estimated memory of concurrent runs; `None` for no limit.
    pub max_memory: Option<u64>,
    pub progress: &'a (dyn Fn(RunProgress) + Sync),
    /// Observer of the runs, without influence on their results.
    pub watcher: Option<&'a dyn Watcher>,
    pub build: String,
    /// Function that is called before every run. If it returns `true`, the attempt stops.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

pub struct Ended {
    /// Progress of this attempt. Runs that an earlier attempt has finished are counted as reused.
    pub progress: RunProgress,
    pub stopped: bool,
    pub warnings: Vec<String>,
    /// Error messages of failed runs and of failed writes of results, one sentence each.
    pub failures: Vec<String>,
}

/// Runs a shard of a study. New runs are appended to the segment file of this attempt.
pub fn run_shard(study: &Study, work: &ShardWork<'_>) -> Result<Ended, Refused> {
    let prepared = prepare(study, work.threads, work.max_memory, true)?;
    begin(study, &work.folder, &prepared, &work.build)?;
    let Prepared { points, inputs, files, .. } = prepared;
    let deal = match &work.deal {
        Some(path) => Deal::read(path, &study.replications, &points)?,
        None => Deal::of(&study.replications, &points),
    };
    let units = deal.hand(work.shard);
    drop(deal);
    let environment = |name: &str| std::env::var(name).ok();
    let label = work.shard.label(work.deal.as_deref().and_then(number).as_deref());
    let looks_into_runs = work.deal.is_none();
    let mut store = Store::for_shard(&work.folder, &label, &attempt(environment), looks_into_runs)?;
    let warnings = store.warnings().to_vec();
    let runs = units.iter().map(|unit| unit.runs(&study.replications, &points)).sum();
    store.note(|_| Note::Segment {
        shard: work.shard.index,
        of: work.shard.of,
        host: crate::files::host(),
        threads: at_once(work.threads, u64::MAX) as usize,
        runs,
    })?;
    let jobs = (!study.jobs.is_empty()).then(|| (work.folder.clone(), study.jobs.clone()));
    let runner = Runner {
        catalogue: &study.catalogue,
        points: &points,
        inputs: &inputs,
        replications: &study.replications,
        simulate: &|scenario, number, observer| simulated(scenario, number, &files, observer),
        build: &work.build,
        store: Some(Mutex::new(store)),
        jobs,
        kept: Kept::of(&work.folder, study.record, sample(study)),
        progress: work.progress,
        watcher: work.watcher,
        stop: work.stop,
    };
    let worked = runner.work(work.threads, &units)?;
    let mut failures: Vec<String> = worked
        .failures
        .iter()
        .map(|failed| failure(study, &points[failed.0].swept, failed.1, &failed.2))
        .collect();
    let mut store = runner.store.map(Mutex::into_inner).and_then(Result::ok);
    let finished = store.as_mut().map_or(Ok(()), |store| store.finish(worked.stopped));
    if let Some(store_error) = &worked.store_error {
        failures.push(format!("{store_error}: what had ended before is kept, and the rest is run again by the same command"));
    } else if let Err(error) = finished {
        failures.push(error.to_string());
    }
    Ok(Ended { progress: worked.progress, stopped: worked.stopped, warnings, failures })
}

/// Number of the submission whose file assigns runs to shards, taken from the file's name.
fn number(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    Some(name.split('.').next().unwrap_or_default().to_owned())
}

/// Prepares a results folder for a sweep, or checks that it was prepared for this sweep.
pub(crate) fn begin(
    study: &Study,
    folder: &Path,
    prepared: &Prepared,
    build: &str,
) -> Result<(), Refused> {
    let shown = folder.display();
    if folder.exists() && !folder.is_dir() {
        return Err(Refused(format!("{shown}: this is a file, but must be a folder for results")));
    }
    let asked = prepared.request(study, build);
    let text = folder.join(EXPERIMENT);
    let before = std::fs::read(&text).ok();
    let Some(before) = before else {
        std::fs::create_dir_all(folder)
            .map_err(|error| crate::files::FileError::making(folder, &error))?;
        asked.write(folder)?;
        return Ok(crate::files::write_whole(&text, study.source.as_bytes())?);
    };
    if let Some(says) = another(study, folder)? {
        return Err(Refused(format!("{says}: give another `--out`")));
    }
    if before != study.source.as_bytes() {
        return Err(Refused(format!(
            "{shown}: this folder holds another study, or an earlier form of this one, and shards must all run the \
             same: give another `--out`"
        )));
    }
    let Some(other) = StudyRequest::read(folder)? else { return asked.write(folder) };
    if other.build != build {
        if !has_runs(folder) {
            return asked.write(folder);
        }
        return Err(Refused(format!(
            "{shown}: another build of the program began this sweep ({}, and this is {}), whose results must not be \
             mixed with those of this one: run it with that one, or give another `--out`",
            short(&other.build),
            short(build)
        )));
    }
    if other.settings != asked.settings {
        let words = |asked: &StudyRequest| match &asked.settings[..] {
            [] => "no --set".to_owned(),
            settings => format!("--set {}", settings.join(" --set ")),
        };
        return Err(Refused(format!(
            "{shown}: this sweep was begun with {}, and is now asked for with {}: give the same, or another `--out`",
            words(&other),
            words(&asked)
        )));
    }
    for input in &asked.inputs {
        if other.digest(&input.path).is_some_and(|digest| digest != input.blake3) {
            return Err(Refused(format!(
                "{}: this file has changed since the sweep in {shown} was begun: restore it, or give another `--out`",
                input.path
            )));
        }
    }
    Ok(())
}

fn short(build: &str) -> &str {
    let shown = build.get(..8).unwrap_or(build);
    if shown.is_empty() { "one of before" } else { shown }
}

fn has_runs(folder: &Path) -> bool {
    let is_full = std::fs::metadata(folder.join(RUNS)).is_ok_and(|data| data.len() > 0);
    is_full || folder.join(crate::run::store::SEGMENTS).is_dir()
}

/// Reads the study of a sweep from the results folder, with its settings, name and inputs.
pub fn begun(catalogue: &Catalogue, folder: &Path) -> Result<Study, Refused> {
    must_be_begun(folder)?;
    let asked = StudyRequest::read(folder)?.unwrap_or_else(StudyRequest::guess);
    let mut study = Study::read_in(catalogue, &folder.join(EXPERIMENT), &asked.settings)?;
    study.file = asked.file;
    Ok(study)
}

pub(crate) fn stored(
    catalogue: &Catalogue,
    folder: &Path,
) -> Result<crate::run::stored::Stored, Refused> {
    must_be_begun(folder)?;
    crate::run::stored::Stored::read(catalogue, folder, StudyRequest::guess)
}

fn must_be_begun(folder: &Path) -> Result<(), Refused> {
    if !folder.join(EXPERIMENT).is_file() {
        let shown = folder.display();
        let what = if !folder.exists() {
            "there is no such folder"
        } else if folder.is_dir() {
            "there is no study in this folder"
        } else {
            "this is no folder"
        };
        return Err(Refused(format!(
            "{shown}: {what}: give one that `meshwork run --out`, with or without `--shard`, or `meshwork submit` wrote"
        )));
    }
    Ok(())
}
