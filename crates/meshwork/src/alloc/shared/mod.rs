//! Allocation of shared nodes, exactly as in `select/cons_tres` of Slurm 26.05.
//!
//! A job takes cores, memory and GPUs of nodes that other jobs share. [`decide_shared`] is a pure
//! function of a [`SharedMachine`], the [`Holdings`] on it and a [`SharedRequest`].
//!
//! Each step is a module, in the order of Slurm. `request` derives what the job needs. `fit`
//! computes what the job could take of each node. `choose` selects nodes, with `tree` and `blocks`
//! for machines of these topologies. `give` distributes tasks, cores, GPUs and memory. A
//! [`SharedBook`] makes the same decisions faster. For later equal requests, it stores in `known`
//! what a job could take of each node.

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
