//! Distributions of run times and of job sizes, and the numeric functions that they use.
//!
//! Every draw takes its randomness from a [`Stream`](crate::rng::Stream). A distribution with a
//! known inverse takes exactly one number per draw. So two such distributions on equal streams use
//! the same random numbers. The exact mean of every distribution is known, because the rate of
//! arrivals at a requested load depends on it.

pub(crate) mod functions;
mod hyper_erlang;
pub mod runtimes;
pub mod sizes;
mod stages;
mod whole;

pub use hyper_erlang::{HyperErlang, MAX_ORDER, Moments};
pub use runtimes::{RUNTIME_DISTRIBUTIONS, RUNTIMES, Runtime, RuntimeEntry};
pub(crate) use sizes::of_columns;
pub use sizes::{SIZE_DISTRIBUTIONS, SIZES, SizeEntry, SizeRange, Sizes};
pub use stages::Stages;
