//! Results of a study: means with intervals, judgements of claims, and their text form.

pub mod claims;
pub mod columns;
mod differences;
mod means;
pub mod notes;
pub mod summary;
pub mod unlike;

pub use differences::{ROUNDING, Ratio, partner, ratio};
