//! Distribution of a study over several processes, without a coordinator.
//!
//! A study is divided into *N* **shards**, numbered from 0, which are independent of each other.
//! [`deal`] assigns runs to shards as a function of the study alone, so anything that starts
//! numbered processes can run a study. [`mod@shard`] writes the runs of one shard into its own
//! [segment](crate::run::store::SEGMENTS), without locks. [`mod@collect`] merges the segments into
//! the store, byte for byte as a single process would write it. [`mod@progress`] computes the
//! progress from the files alone. [`script`] writes the batch script for a workload manager.

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
pub use plan::{SubmissionPlan, keep_deal, next_submission, plan};
pub use progress::{SweepProgress, progress};
pub use shard::{Ended, ShardWork, begun, run_shard};
