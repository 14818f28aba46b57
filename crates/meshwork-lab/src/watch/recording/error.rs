//! Errors of replaying a run event by event.

use thiserror::Error;

use crate::run::check::RepeatError;

/// Reason why the events of a stored run cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The scenario of the run can no longer be read.
    #[error(transparent)]
    Scenario(#[from] RepeatError),
    /// The run has no recording and no per-job output, and cannot be repeated.
    #[error(
        "{0}; and it has no per-job output either, which `[output] jobs = \"csv\"` would have written"
    )]
    Nowhere(RepeatError),
    /// The per-job output of the run cannot be read.
    #[error("{path}: {why}")]
    JobOutput {
        /// Path of the file with the per-job output.
        path: String,
        why: String,
    },
    /// The recording of the run cannot be read.
    #[error("{path}: this recording cannot be read ({why})")]
    Kept {
        /// Path of the recording.
        path: String,
        why: String,
    },
    /// The run failed when it was repeated.
    #[error("{0}")]
    Failed(String),
    /// The requested window begins after the end of the run.
    #[error("the run ended at time {end}, and so has no time {from} to be shown")]
    Over {
        /// Time at which the run ended.
        end: String,
        /// Time at which the requested window begins.
        from: String,
    },
}
