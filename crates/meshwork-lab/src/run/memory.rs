//! How much memory a study would take, before any of it is taken.
//!
//! What a user writes in one line may ask for more than the machine has, and a process that runs out of
//! memory is ended without a word. So it is estimated first, and refused with the estimate above a limit.

use std::collections::BTreeMap;

use meshwork::registry::Problem;
use thiserror::Error;
use toml::Value;

use crate::findings::number::significant;
use crate::findings::summary::label;
use crate::lab::missing_input;
use crate::run::inputs::Files;
use crate::study::expand::{Point, Windows, count, refused};
use crate::study::{Refused, Study};

/// What a scenario takes, with every default filled in: measured on 20,000 of them.
const BYTES_PER_SCENARIO: u64 = 14 << 10;

/// Whether the scenarios of a study can be held at once.
///
/// # Errors
/// One sentence with the estimate, if it is above the limit.
pub fn check_count(study: &Study, limit: Option<u64>) -> Result<(), Refused> {
    let scenarios = count(study)?;
    let what = format!("the {scenarios} scenarios of `[sweep]` take");
    refuse_above(limit, scenarios.saturating_mul(BYTES_PER_SCENARIO), &what)
        .map_err(|sentence| Refused(format!("{}: {sentence}", study.file)))
}

/// What a run takes whose result is one of many, but for its metrics: measured on a million.
const BYTES_PER_RUN: u64 = 100;

/// What each metric of a run takes, with the room that a column has to grow.
const BYTES_PER_METRIC: u64 = 16;

/// As many metrics as a study has that names none.
const USUAL_METRICS: u64 = 20;

/// Whether the results of all runs can be held at once, as far as their number is known: with `precision`, as many as
/// it allows.
///
/// # Errors
/// One sentence with the estimate, if they are above the limit.
pub fn check_results(study: &Study, points: &[Point], limit: Option<u64>) -> Result<(), Refused> {
    let of_point = |point: &Point| {
        let replications = point.windows.as_ref().map_or(study.most_replications(), Windows::count);
        let named = point.scenario.table()["measure"].get("metrics").and_then(Value::as_array);
        let metrics = named.map_or(0, Vec::len) as u64;
        let metrics = if metrics == 0 { USUAL_METRICS } else { metrics };
        (replications, replications.saturating_mul(BYTES_PER_RUN + BYTES_PER_METRIC * metrics))
    };
    let sum = |(runs, bytes): (u64, u64), (more, taken): (u64, u64)| {
        (runs.saturating_add(more), bytes.saturating_add(taken))
    };
    let (runs, bytes) = points.iter().map(of_point).fold((0, 0), sum);
    let what = format!("the results of {runs} runs take");
    refuse_above(limit, bytes, &what)
        .map_err(|sentence| Refused(format!("{}: {sentence}", study.file)))
}

/// Whether the jobs fit into memory that workloads hold at once: tables of jobs, and what is shuffled.
///
/// # Errors
/// If they do not, or a file cannot be read.
///
/// # Complexity
/// Each such file is read once, and nothing of it is kept.
pub fn check_inputs(
    study: &Study,
    points: &[Point],
    files: &Files,
    threads: usize,
    limit: Option<u64>,
) -> Result<(), Refused> {
    let mut known: BTreeMap<&str, u64> = BTreeMap::new();
    let runs = (points.len() as u64).saturating_mul(study.most_replications());
    for (index, point) in points.iter().enumerate() {
        let Some(path) = point.scenario.input_path() else { continue };
        if limit.is_none() || point.scenario.memory_of_rows(1) == 0 {
            continue;
        }
        let rows = match known.get(path) {
            Some(rows) => *rows,
            None => {
                let rows = files
                    .rows_of(path)
                    .map_err(|error| missing_input(study, index, error.to_string()))?;
                known.insert(path, rows);
                rows
            }
        };
        let bytes = point.scenario.memory_of_rows(rows);
        let what = format!("the {rows} rows of {path}, which are held at once, take");
        refuse_at_once(limit, bytes, at_once(threads, runs), &what)
            .map_err(|error| refused(study, index, &Problem::new("workload", error.to_string())))?;
    }
    Ok(())
}

/// Whether the largest runs of a study fit into memory, as many at once as there are threads.
///
/// # Errors
/// One sentence with the estimate, if it is above the limit.
pub fn check_runs(
    study: &Study,
    points: &[Point],
    threads: usize,
    limit: Option<u64>,
) -> Result<(), Refused> {
    let largest = points.iter().map(|point| (point.scenario.memory(), point));
    let Some((bytes, point)) = largest.max_by_key(|(bytes, _)| *bytes) else { return Ok(()) };
    let runs = (points.len() as u64).saturating_mul(study.most_replications());
    let swept = label(&point.swept);
    let what = if swept.is_empty() {
        "a run takes".to_owned()
    } else {
        format!("a run with {swept} takes")
    };
    refuse_at_once(limit, bytes, at_once(threads, runs), &what)
        .map_err(|sentence| Refused(format!("{}: {sentence}", study.file)))
}

/// What a request takes is above the limit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{what} about {} of memory, which is more than the {} of `--max-memory`{}",
    size(*bytes), size(*limit), if *at_once { ": `--threads` says how many go on at once" } else { "" }
)]
pub struct TooMuch {
    /// What takes it, with its verb: `a run takes`.
    pub what: String,
    /// How many bytes it takes.
    pub bytes: u64,
    /// How many it may take.
    pub limit: u64,
    /// Whether it is above the limit only because several go on at once.
    pub at_once: bool,
}

/// How many of so many runs go on at once on so many threads; 0 is as many as there are processors.
#[must_use]
pub fn at_once(threads: usize, runs: u64) -> u64 {
    let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = if threads == 0 { processors() } else { threads };
    runs.min(threads as u64).max(1)
}

/// Whether one run of so many bytes is within the limit, and as many as go on at once; `what` begins the sentence.
///
/// # Errors
/// If it is not.
pub fn refuse_at_once(
    limit: Option<u64>,
    bytes: u64,
    at_once: u64,
    what: &str,
) -> Result<(), TooMuch> {
    refuse_above(limit, bytes, what)?;
    let what = format!("{what} about {}, and {at_once} of them at once", size(bytes));
    refuse_above(limit, bytes.saturating_mul(at_once), &what)
        .map_err(|error| TooMuch { at_once: true, ..error })
}

/// Whether so many bytes are within the limit; `what` begins the sentence.
///
/// # Errors
/// If they are not.
pub fn refuse_above(limit: Option<u64>, bytes: u64, what: &str) -> Result<(), TooMuch> {
    match limit {
        Some(limit) if bytes > limit => {
            Err(TooMuch { what: what.to_owned(), bytes, limit, at_once: false })
        }
        _ => Ok(()),
    }
}

/// A number of bytes in words.
///
/// ```
/// use meshwork_lab::run::memory::size;
/// assert_eq!(size(6_012_954_214), "5.6 GiB");
/// assert_eq!(size(3 << 20), "3 MiB");
/// assert_eq!(size(100), "100 bytes");
/// ```
#[must_use]
pub fn size(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let fitting = units.into_iter().find(|(_, bits)| bytes >> bits > 0);
    match fitting {
        Some((unit, bits)) => {
            let number = bytes as f64 / (1_u64 << bits) as f64;
            format!("{} {unit}", significant(number, if number < 100.0 { 2 } else { 4 }))
        }
        None => format!("{bytes} bytes"),
    }
}
