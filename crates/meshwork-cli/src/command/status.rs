//! `meshwork status`: prints the progress of a sweep.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use meshwork::catalogue::Catalogue;
use meshwork_lab::run::Unit;
use meshwork_lab::sweep::progress::Missing;
use meshwork_lab::sweep::{SweepProgress, progress};
use meshwork_lab::text::number::{count, plural, significant};
use serde_json::{Value as Json, json};

use super::collect::replications;
use super::meter::words;
use super::queue;
use crate::args::Status;
use crate::output::{Ended, Output, Stop, Verdict, warn};

/// Shortest interval between two lines of `--watch`.
///
/// If reading the folder takes long, the interval is `LOOK_SHARE` times as long as the reading.
const LOOK_EVERY: Duration = Duration::from_secs(5);
const LOOK_SHARE: u32 = 10;

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Status) -> Ended {
    loop {
        let began = Instant::now();
        let (now, missing) = progress(catalogue, &arguments.dir)?;
        if arguments.json {
            out.json(&object(&now, &missing))?;
        } else {
            lines(out, &arguments.dir, &now)?;
        }
        out.flush()?;
        warn(&now.warnings);
        if !arguments.watch || missing.runs == 0 {
            return Ok(match (missing.runs, now.failed) {
                (0, 0) => Verdict::Done,
                (0, _) => Verdict::RunFailed,
                _ => Verdict::Incomplete,
            });
        }
        thread::sleep(LOOK_EVERY.max(began.elapsed() * LOOK_SHARE));
    }
}

fn lines(out: &mut Output, folder: &Path, now: &SweepProgress) -> Result<(), Stop> {
    let mut text = format!(
        "{}: {} of {} done, {} running, {} missing, {} failed",
        folder.display(),
        count(now.done),
        plural(now.total, "run"),
        count(now.running),
        count(now.missing),
        count(now.failed)
    );
    if let Some(rate) = now.rate {
        text += &format!(" · {} runs/s", significant(rate, 2));
    }
    if let Some(seconds) = now.seconds_left.filter(|_| now.running + now.missing > 0) {
        text += &format!(" · about {} left", words(Duration::from_secs_f64(seconds.min(1e12))));
    }
    out.line(&text)?;
    let (live, silent) = now.attempts;
    if live + silent > 0 {
        let silent = match silent {
            0 => String::new(),
            some => format!(", {} ended without a word, killed or cut off", count(some)),
        };
        out.line(&format!("{} at work{silent}", plural(live, "process")))?;
    }
    if let Some(said) = queue::said(folder) {
        out.line(&said)?;
    }
    Ok(())
}

fn object(now: &SweepProgress, missing: &Missing) -> Json {
    let units: Vec<Json> = missing
        .units
        .chunk_by(|a, b| a.scenario == b.scenario)
        .map(|units: &[Unit]| {
            json!({ "scenario": units[0].scenario + 1, "replications": replications(units) })
        })
        .collect();
    let (live, silent) = now.attempts;
    json!({
        "total": now.total, "done": now.done, "running": now.running, "missing": now.missing, "failed": now.failed,
        "processes": live, "silent": silent, "rate": now.rate, "seconds_left": now.seconds_left,
        "not_ended": units,
    })
}
