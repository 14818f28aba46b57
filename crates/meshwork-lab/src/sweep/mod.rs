//! A study that several processes share: nobody leads, and nobody waits for anybody.
//!
//! The one primitive is the **shard**: the *I*-th of *N* parts of a study. [`deal`] says which runs are in it, as a
//! function of the study and of nothing else, so that any engine that starts a process with a number can run a study:
//! an array of jobs, a pool of workers, a loop in a shell. [`mod@shard`] runs one, and writes what ends into a
//! [segment](crate::run::store::SEGMENTS) of its own: no file has two writers, and there are no locks.
//! [`mod@collect`] puts the segments together, and the store is then byte for byte what one process would have
//! written. [`mod@progress`] says how far all are, from the files alone. [`script`] writes what an engine is given.

pub mod collect;
pub mod cost;
pub mod deal;
mod export;

pub mod name;
pub mod plan;
pub mod progress;
pub mod script;

pub mod shard;

pub use collect::{Collected, collect};
pub use deal::Deal;
pub use export::export;

pub use name::{Counter, Shard};
pub use plan::{Plan, keep_deal, next_submission, plan};
pub use progress::{Progress, progress};
pub use shard::{Ended, Work, begun, run_shard};
