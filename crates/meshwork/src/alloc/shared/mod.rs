//! Allocation of shared nodes, exactly like `select/cons_tres` of Slurm 26.05.
//!
//! A job takes cores, memory and GPUs of nodes that other jobs share. [`decide_shared`] is a pure
//! function of a [`SharedMachine`], the [`Holdings`] on it and a [`SharedRequest`]. Its steps are
//! modules, in the order of Slurm: `request` derives the needs of the job from its options, `fit`
//! finds out what the job could take of each node, `choose` selects nodes, and `give` distributes
//! tasks, cores, GPUs and memory. `choose` uses `tree` and `blocks`, which read the lists of
//! switches and blocks of [`listed`](super::listed). A [`SharedBook`] makes the same decisions
//! faster: it stores what a job could take of each node (`known`) for later equal requests.

mod blocks;
mod book;
mod candidates;
mod choose;
mod cores;
mod decide;
mod fit;
mod give;
mod holdings;
mod known;
mod machine;
mod request;
mod tree;

pub use book::SharedBook;
pub use cores::CoreSet;
pub use decide::{NearGpus, SharedDecision, SharedLookup, decide_shared};
pub use holdings::{Holdings, SharedGrant};
pub use machine::{
    Domains, GpuRecord, MAX_CORES, MAX_GPUS, MAX_SOCKETS, SelectParams, SharedMachine,
    SlurmNodeType,
};
pub use request::{GpuCount, SharedRequest, SocketOrder};
