//! Distributions of run times and of job sizes, and the functions behind them.
//!
//! Every draw takes its randomness from a [`Stream`](crate::rng::Stream) and, wherever the inverse
//! of a distribution is known, exactly one number of it: two distributions on the same stream then
//! see the same luck. Every distribution knows its exact mean, from which a load becomes a rate of
//! arrivals.

pub(crate) mod functions;
mod hyper_erlang;
pub mod runtimes;
pub mod sizes;
mod stages;
mod whole;

pub use hyper_erlang::{HyperErlang, MAX_ORDER, Moments};
pub use runtimes::{RUNTIMES, Runtime};
pub use sizes::{SIZES, Sizes};
pub use stages::Stages;
