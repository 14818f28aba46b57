//! Errors of replaying a run event by event.

use thiserror::Error;

use crate::run::check::RepeatError;
use crate::run::kept::UnreadRecording;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordingError {
    #[error(transparent)]
    Scenario(#[from] RepeatError),
    #[error(
        "{0}; and it has no per-job output either, which `[output] jobs = \"csv\"` would have written"
    )]
    Nowhere(RepeatError),
    #[error("{path}: {why}")]
    JobOutput { path: String, why: String },
    #[error(transparent)]
    Kept(#[from] UnreadRecording),
    #[error("{0}")]
    Failed(String),
    #[error("the run ended at time {end}, and so has no time {from} to be shown")]
    Over { end: String, from: String },
}
