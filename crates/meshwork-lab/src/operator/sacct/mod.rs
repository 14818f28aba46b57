//! Reads Slurm's accounting records from the output of `sacct -P` or `sacct --json`.
//!
//! The columns may have any order.

mod columns;
mod fold;
pub(super) mod json;
mod rows;
mod submitted;
mod when;

pub use columns::{LOSSES, Loss};
pub(crate) use when::span;
pub use when::{LocalClock, TimeFormat};

use super::FileProblem;
use super::history::History;

/// History of jobs that was imported, with warnings and counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    pub history: History,
    /// Warnings about the file, one sentence each.
    pub warnings: Vec<FileProblem>,
    pub tally: Tally,
}

/// Counts that are made while a history is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of lines with a record.
    pub rows: usize,
    /// Number of records that were skipped because they could not be parsed.
    pub skipped: usize,
    /// Number of records that could be parsed although one of their texts contains a bar, the
    /// separator.
    pub repaired: usize,
    /// Number of records of steps, which are merged into their jobs.
    pub steps: usize,
    /// Number of records of requeued jobs, apart from the last attempt of each job.
    pub requeued: usize,
    pub array_tasks: usize,
    pub arrays: usize,
    /// Number of records with times in the wrong order, which are not replayed.
    pub backwards: usize,
    /// Format of the times in the file.
    pub form: Option<TimeFormat>,
    /// Whether the time zone is assumed, because dates have none and the user gave none.
    pub zone_is_assumed: bool,
    /// Missing columns with their consequences.
    pub losses: Vec<Loss>,
}

/// Reads the output of `sacct -P` or `sacct --json`.
///
/// Times are seconds since 1970 (`SLURM_TIME_FORMAT=%s`) or dates. The output may contain steps,
/// and either all attempts of a job (`-D`) or only the last one.
///
/// ```
/// use meshwork_lab::operator::sacct::{LocalClock, read};
/// let text = "JobID|Submit|Start|End|NNodes|NodeList\n7|100|110|150|2|n[0-1]\n7.batch|110|110|150|1|n0\n";
/// let read = read("sacct.txt", text, LocalClock::default()).unwrap();
/// assert_eq!((read.history.stays.len(), read.tally.steps), (1, 1));
/// assert_eq!(read.history.stays[0].wait(), Some(10));
/// ```
///
/// # Errors
/// One sentence with the line: there is no header, no useful column or no job, or a field is not a
/// time or not a number. A record whose number of fields differs from the header is skipped with a
/// warning.
///
/// # Complexity
/// **O(n log n)** for *n* lines.
pub fn read(file: &str, text: &str, clock: LocalClock) -> Result<Imported, FileProblem> {
    if text.trim_start().starts_with('{') {
        let text = json::table(file, text)?;
        return fold::fold(&rows::Table::new(file, &text)?, clock);
    }
    fold::fold(&rows::Table::new(file, text)?, clock)
}
