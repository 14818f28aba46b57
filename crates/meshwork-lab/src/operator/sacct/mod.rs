//! What Slurm remembers of its jobs: the output of `sacct -P`, its columns in any order.

mod columns;
mod fold;
mod rows;
mod submitted;
mod when;

pub use columns::{LOSSES, Loss};
pub(super) use when::span;
pub use when::{Clock, Form};

use super::Trouble;
use super::history::History;

/// What was read, and what is to be said of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// What happened.
    pub history: History,
    /// What is to be said of the file, one sentence each.
    pub warnings: Vec<Trouble>,
    /// What was counted on the way.
    pub tally: Tally,
}

/// What was counted while a history was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Lines with a record.
    pub rows: usize,
    /// Records that cannot be read: they are left out.
    pub skipped: usize,
    /// Records with a bar in a text, which can be read in one way all the same.
    pub repaired: usize,
    /// Records of steps, which are parts of their jobs.
    pub steps: usize,
    /// Records of jobs that were queued again, before their last.
    pub requeued: usize,
    /// Tasks of arrays.
    pub array_tasks: usize,
    /// Arrays.
    pub arrays: usize,
    /// Stays whose times run backwards: they are left out of what is replayed.
    pub backwards: usize,
    /// How times are written.
    pub form: Option<Form>,
    /// Whether dates say no time zone, and nobody else has.
    pub zone_is_assumed: bool,
    /// The columns that are not there, and what cannot be answered without them.
    pub losses: Vec<Loss>,
}

/// Reads the output of `sacct -P`, with times since 1970 (`SLURM_TIME_FORMAT=%s`) or as dates, with steps or
/// without, with all stays of a job (`-D`) or its last.
///
/// ```
/// use meshwork_lab::operator::sacct::{Clock, read};
/// let text = "JobID|Submit|Start|End|NNodes|NodeList\n7|100|110|150|2|n[0-1]\n7.batch|110|110|150|1|n0\n";
/// let read = read("sacct.txt", text, Clock::default()).unwrap();
/// assert_eq!((read.history.stays.len(), read.tally.steps), (1, 1));
/// assert_eq!(read.history.stays[0].wait(), Some(10));
/// ```
///
/// # Errors
/// One sentence with the line: no header, no column from which anything could be answered, a field
/// that is no time or no number, or no job at all. A record that does not have the fields of the
/// header is left out, with a warning.
///
/// # Complexity
/// **O(n log n)** for *n* lines.
pub fn read(file: &str, text: &str, clock: Clock) -> Result<Read, Trouble> {
    let table = rows::Table::new(file, text)?;
    fold::fold(&table, clock)
}
