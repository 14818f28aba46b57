//! Reads Slurm's accounting records from `sacct -P` or `sacct --json`, with columns in any order.

mod columns;
mod fold;
pub mod json;
mod rows;
mod submitted;
mod when;

pub use columns::{LOSSES, Loss};
pub use when::span;
pub use when::{LocalClock, NotATime, TimeFormat};

use crate::FileProblem;
use crate::history::History;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    pub history: History,
    pub warnings: Vec<FileProblem>,
    pub tally: Tally,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub rows: usize,
    pub skipped: usize,
    /// Number of parsed records in which a text contains the separator, a bar.
    pub repaired: usize,
    /// Number of records of job steps, which are merged into their jobs.
    pub steps: usize,
    /// Number of records of requeued jobs, not counting the last attempt of each job.
    pub requeued: usize,
    pub array_tasks: usize,
    pub arrays: usize,
    /// Records with times in the wrong order, which are not replayed.
    pub backwards: usize,
    pub form: Option<TimeFormat>,
    /// Whether dates have no time zone and the user gave none.
    pub zone_is_assumed: bool,
    pub losses: Vec<Loss>,
}

/// Reads the output of `sacct -P` or `sacct --json`.
///
/// Times are seconds since 1970 (`SLURM_TIME_FORMAT=%s`) or dates. The output may contain steps,
/// and either all attempts of a job (`-D`) or only the last one.
///
/// ```
/// use meshwork_slurm::sacct::{LocalClock, read};
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
