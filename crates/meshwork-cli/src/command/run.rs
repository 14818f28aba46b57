//! `meshwork run`: runs the studies of the command line.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use meshwork::catalogue::Catalogue;
use meshwork_lab::run::memory::check_count;
use meshwork_lab::run::{RunProgress, Watcher, build};
use meshwork_lab::study::expand::expand;
use meshwork_lab::text::number::{count, plural};
use meshwork_lab::{Finished, Options, Refused, Study};

use super::meter::Meter;
use super::run_live::{self, Watched};
use super::run_shard;
use super::stop::Stopper;
use crate::args::Run;
use crate::memory::Memory;
use crate::output::{Ended, Output, Stop, Verdict, say, warn};
use crate::results;

/// Maximum number of failures that are printed, each with a different reason.
const MAX_FAILURES: usize = 10;

/// Runs several studies, all of which are read before the first one runs.
pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Run) -> Ended {
    let budget = arguments.time_budget;
    let is_needed = budget.is_some() || arguments.shard.is_some();
    let stopper = match out.is_kept {
        true => is_needed.then(|| Stopper::new(budget)),
        false => Some(Stopper::of_user(budget)),
    };
    if let (Some(shard), Some(stopper)) = (&arguments.shard, &stopper) {
        return run_shard::run(out, catalogue, arguments, shard, stopper);
    }
    // Without `--out`, a signal ends the process at once, so that no run looks for one.
    let stopper = match &arguments.out {
        Some(_) => stopper,
        None => {
            if let Some(stopper) = stopper {
                stopper.end_process(Some("stopped: nothing is kept without `--out`"));
            }
            None
        }
    };
    let mut studies = Vec::new();
    for file in &arguments.files {
        let study = Study::read_in(catalogue, file, &arguments.settings)?;
        check_count(&study, arguments.memory.limit())?;
        studies.push(study);
    }
    let folders = folders(arguments, &studies)?;
    if studies.len() > 1 {
        for study in &studies {
            expand(study)?;
        }
    }
    let watched = match arguments.serve {
        Some(_) => Some(Arc::new(Watched::new(&studies)?)),
        None => None,
    };
    // The server stops when this value is dropped at the end of the function.
    let _server = watched.clone().map(|watched| run_live::serve(watched)).transpose()?;
    let mut verdict = Verdict::Done;
    for (i, (study, folder)) in studies.iter().zip(folders).enumerate() {
        if let Some(watched) = &watched {
            watched.begin(i);
        }
        let watching = watched.as_deref();
        let finished = one(
            study,
            (folder.clone(), arguments.replace),
            (arguments.threads, arguments.memory),
            arguments.quiet,
            watching,
            stopper.as_ref(),
        )?;
        if finished.results.stopped {
            tell(&finished, arguments.quiet);
            return Ok(stopper.map_or(Verdict::Stopped, |stopper| stopper.verdict()));
        }
        if arguments.json {
            for mut object in finished.summary.json() {
                if let Some(fields) = object.as_object_mut() {
                    fields.shift_insert(0, "study".to_owned(), study.name.clone().into());
                }
                out.json(&object)?;
            }
        } else if !arguments.quiet {
            if i > 0 {
                out.line("")?;
            }
            results::print(out, study, &finished)?;
            if let Some(folder) = folder {
                results::print_files(out, study, &finished, &folder)?;
            }
        }
        // Print results before errors, in case both go to one terminal.
        out.flush()?;
        tell(&finished, arguments.quiet);
        if !finished.failures.is_empty() {
            verdict = Verdict::RunFailed;
        }
    }
    if let (Some(watched), Some(until)) = (&watched, arguments.serve) {
        if let Some(stopper) = &stopper {
            stopper.end_process(None);
        }
        run_live::leave(watched, until);
    }
    Ok(verdict)
}

/// Folder for the results of each study. For a single study, it is the folder of `--out` itself.
fn folders(arguments: &Run, studies: &[Study]) -> Result<Vec<Option<PathBuf>>, Stop> {
    let Some(out) = &arguments.out else { return Ok(vec![None; studies.len()]) };
    if let [_] = studies {
        return Ok(vec![Some(out.clone())]);
    }
    let mut folders: Vec<PathBuf> = Vec::new();
    for file in &arguments.files {
        let folder = out.join(file.file_stem().unwrap_or_default());
        if folders.contains(&folder) {
            return Err(Stop::Wrong(format!(
                "{}: another of the studies has this name, and both would be kept in {}: run them one by \
                 one, each with an `--out` of its own",
                file.display(),
                folder.display()
            )));
        }
        folders.push(folder);
    }
    Ok(folders.into_iter().map(Some).collect())
}

/// Runs one study.
///
/// If `quiet` is true, nothing is shown. Otherwise the progress is shown and, if the study stops
/// early, the number of stored runs.
pub(super) fn one(
    study: &Study,
    (out, replace): (Option<PathBuf>, bool),
    (threads, memory): (Option<usize>, Memory),
    quiet: bool,
    watched: Option<&Watched>,
    stopper: Option<&Stopper>,
) -> Result<Finished, Refused> {
    let meter = if quiet { Meter::silent() } else { Meter::new("run") };
    let last = Mutex::new(RunProgress::default());
    let show = |progress: RunProgress| {
        *last.lock().unwrap_or_else(PoisonError::into_inner) = progress;
        if let Some(watched) = watched {
            watched.progress(progress);
        }
        meter.show(progress);
    };
    let threads = threads.unwrap_or(0);
    let watcher = watched.map(|watched| -> &dyn Watcher { watched });
    let max_memory = memory.limit();
    let build = build::of(&study.catalogue);
    let stop = || stopper.is_some_and(Stopper::is_time);
    let options =
        Options { out, threads, max_memory, progress: &show, watcher, build, stop: &stop, replace };
    let finished = meshwork_lab::run(study, &options);
    meter.end();
    let finished = finished?;
    if let Some(folder) = options.out.filter(|_| finished.results.stopped && !quiet) {
        let RunProgress { done, failed, total, .. } =
            *last.lock().unwrap_or_else(PoisonError::into_inner);
        crate::output::tell(&match total {
            0 => "stopped before the first run; the same command continues".to_owned(),
            _ => format!(
                "stopped: {} of {} are kept in {}; the same command continues",
                count(done - failed),
                plural(total, "run"),
                folder.display()
            ),
        });
    }
    Ok(finished)
}

/// Prints failures, and warnings unless `quiet` is true.
pub(super) fn tell(finished: &Finished, quiet: bool) {
    if !quiet {
        warn(&finished.warnings);
    }
    complain(&finished.failures);
}

/// Prints failed runs, grouped by the reason of the failure.
///
/// Of each group, only the first run is printed, with the number of the others. After
/// `MAX_FAILURES` groups, only the number of the remaining runs is printed.
pub(super) fn complain(failures: &[String]) {
    let reason = |failure: &str| failure.split_once(" failed: ").map(|(_, why)| why.to_owned());
    let mut groups: Vec<(&String, u64)> = Vec::new();
    for failure in failures {
        let why = reason(failure);
        match groups.iter_mut().find(|(first, _)| why.is_some() && reason(first) == why) {
            Some((_, count)) => *count += 1,
            None => groups.push((failure, 1)),
        }
    }
    for (failure, count) in groups.iter().take(MAX_FAILURES) {
        say("error", failure);
        if *count > 1 {
            let others = plural(count - 1, "other run");
            say("error", &format!("{others} failed for the same reason"));
        }
    }
    let more = groups.len().saturating_sub(MAX_FAILURES);
    if more > 0 {
        say("error", &format!("{more} more failures like these"));
    }
}
