//! Results of a study: means with intervals, judgements of claims, and their text form.

pub mod claims;
pub mod clock;
pub mod columns;
mod differences;
mod means;
pub mod notes;
pub mod number;
pub mod sequence;
pub mod statistics;
pub mod summary;
pub mod trend;
pub mod unlike;
pub mod words;

pub use differences::{ROUNDING, Ratio, partner, ratio};
