//! Errors of replaying a run event by event.

use thiserror::Error;

use crate::run::check::RepeatError;

/// Reason why a stored run cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The scenario can no longer be read.
    #[error(transparent)]
    Scenario(#[from] RepeatError),
    /// The run has no recording and no per-job output, and cannot be repeated.
    #[error(
        "{0}; and it has no per-job output either, which `[output] jobs = \"csv\"` would have written"
    )]
    Nowhere(RepeatError),
    /// The per-job output cannot be read.
    #[error("{path}: {why}")]
    JobOutput { path: String, why: String },
    /// The recording cannot be read.
    #[error("{path}: this recording cannot be read ({why})")]
    Kept { path: String, why: String },
    /// The run failed when it was repeated.
    #[error("{0}")]
    Failed(String),
    /// The window begins after the end of the run.
    #[error("the run ended at time {end}, and so has no time {from} to be shown")]
    Over {
        /// End of the run.
        end: String,
        /// Begin of the window.
        from: String,
    },
}
