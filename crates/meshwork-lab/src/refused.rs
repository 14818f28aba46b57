//! Error type of this crate: a refused request.

/// Reason for refusing a request: a sentence with the allowed values and the place of the mistake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// Implements the conversion to [`Refused`] for an error type whose text is already a sentence.
macro_rules! is_refused {
    ($error:ty) => {
        impl From<$error> for crate::refused::Refused {
            fn from(error: $error) -> Self {
                Self(error.to_string())
            }
        }
    };
}

pub(crate) use is_refused;
