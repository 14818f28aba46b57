//! Error type of this crate: a refused request.

use crate::run::NoThreads;
use crate::run::check::CheckError;
use crate::run::file::FileError;
use crate::run::memory::TooMuch;
use crate::run::store::StoreError;

/// Refusal of a request in a sentence, with the allowed values and the place of the mistake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// Implements the conversion to [`Refused`] for error types whose text is already a sentence.
macro_rules! is_refused {
    ($($error:ty),*) => {
        $(impl From<$error> for Refused {
            fn from(error: $error) -> Refused {
                Refused(error.to_string())
            }
        })*
    };
}

is_refused!(CheckError, FileError, NoThreads, StoreError, TooMuch);
