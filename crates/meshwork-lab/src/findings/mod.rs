//! What the runs of a study say: means with intervals, judgements, and the words and numbers they are told in.

pub mod claims;
pub mod clock;
pub mod columns;
mod differences;
mod means;
pub mod notes;
pub mod number;
pub mod statistics;
pub mod summary;
pub mod trend;
pub mod unlike;
pub mod words;

pub(crate) use differences::{Ratio, partner, ratio};
