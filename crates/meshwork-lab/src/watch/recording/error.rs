//! Why a run cannot be shown.

use thiserror::Error;

use crate::run::check::RepeatError;

/// Why a stored run cannot be shown instant by instant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// Its scenario cannot be read any more.
    #[error(transparent)]
    Scenario(#[from] RepeatError),
    /// It was not kept, cannot be run again, and its jobs were not written.
    #[error(
        "{0}; and it has no per-job output either, which `[output] jobs = \"csv\"` would have written"
    )]
    Nowhere(RepeatError),
    /// Its per-job output cannot be read.
    #[error("{path}: {why}")]
    JobOutput {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// What was kept of it cannot be read.
    #[error("{path}: this recording cannot be read ({why})")]
    Kept {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// It failed when it was run again.
    #[error("{0}")]
    Failed(String),
    /// The window begins after its end.
    #[error("the run ended at time {end}, and so has no time {from} to be shown")]
    Over {
        /// When it ended.
        end: String,
        /// Where the window begins.
        from: String,
    },
}
