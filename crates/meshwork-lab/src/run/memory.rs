//! Estimates of the memory that a study needs, made before it is allocated.
//!
//! A process that runs out of memory is killed without a message. So a study whose estimate exceeds
//! a limit is refused.

use std::collections::BTreeMap;

use meshwork::registry::Problem;
use thiserror::Error;

use crate::inputs::Files;
use crate::refused::is_refused;
use crate::study::expand::{Point, Windows, count, measured, missing_input, refused};
use crate::study::{Refused, Study};
use crate::text::label;
use crate::text::number::significant;

/// Memory in bytes that a scenario with all default values needs. Measured on 20,000 scenarios.
const BYTES_PER_SCENARIO: u64 = 14 << 10;

pub fn check_count(study: &Study, limit: Option<u64>) -> Result<(), Refused> {
    let scenarios = count(study)?;
    let what = format!("the {scenarios} scenarios of `[sweep]` take");
    refuse_above(limit, scenarios.saturating_mul(BYTES_PER_SCENARIO), &what)
        .map_err(|sentence| Refused(format!("{}: {sentence}", study.file)))
}

/// Memory in bytes that the result of a run takes without its metrics. Measured on a million runs.
const BYTES_PER_RUN: u64 = 100;

/// Memory in bytes of one metric of one run. It includes the spare capacity of a growing column.
const BYTES_PER_METRIC: u64 = 16;

const USUAL_METRICS: u64 = 20;

pub fn check_results(study: &Study, points: &[Point], limit: Option<u64>) -> Result<(), Refused> {
    let of_point = |point: &Point| {
        let replications = point.windows.as_ref().map_or(study.most_replications(), Windows::count);
        let metrics = measured(&point.scenario).map_or(0, |names| names.len()) as u64;
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

/// Checks that the jobs of tables and shuffled logs fit in memory. Each file is read once.
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

/// Checks that all concurrent runs fit in memory, if each is as large as the study's largest run.
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

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{what} about {} of memory, which is more than the {} of `--max-memory`{}",
    size(*bytes), size(*limit), if *at_once { ": `--threads` says how many go on at once" } else { "" }
)]
pub struct TooMuch {
    /// Subject and verb that begin the error message, such as `a run takes`.
    pub what: String,
    pub bytes: u64,
    pub limit: u64,
    /// Whether a single run would fit in memory. If so, only the number of concurrent runs is too
    /// high.
    pub at_once: bool,
}

is_refused!(TooMuch);

/// Number of runs that are in progress at the same time. If `threads` is 0, there is one thread per
/// processor.
pub fn at_once(threads: usize, runs: u64) -> u64 {
    let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = if threads == 0 { processors() } else { threads };
    runs.min(threads as u64).max(1)
}

/// Checks that memory suffices for one run of `bytes` bytes, and for `at_once` of them together.
/// The error message begins with `what`.
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

/// Checks that a number of bytes does not exceed the limit. The error message begins with `what`.
pub fn refuse_above(limit: Option<u64>, bytes: u64, what: &str) -> Result<(), TooMuch> {
    match limit {
        Some(limit) if bytes > limit => {
            Err(TooMuch { what: what.to_owned(), bytes, limit, at_once: false })
        }
        _ => Ok(()),
    }
}

/// Formats a number of bytes with a unit.
///
/// ```
/// use meshwork_lab::run::memory::size;
/// assert_eq!(size(6_012_954_214), "5.6 GiB");
/// assert_eq!(size(3 << 20), "3 MiB");
/// assert_eq!(size(100), "100 bytes");
/// ```
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
