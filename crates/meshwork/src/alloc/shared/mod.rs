//! Allocation of shared nodes, exactly like `select/cons_tres` of Slurm 26.05.
//!
//! A job takes cores, memory and GPUs of nodes that other jobs share. [`decide_shared`] is a pure
//! function of a [`SharedMachine`], the [`Holdings`] on it and a [`SharedRequest`]. Its steps are
//! modules, in the order of Slurm: `request` derives the needs of the job, `fit` finds out what it
//! could take of each node, `choose` selects nodes with `tree` and `blocks`, and `give` distributes
//! tasks, cores, GPUs and memory. A [`SharedBook`] makes the same decisions faster: it stores what
//! a job could take of each node (`known`) for later equal requests.

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
