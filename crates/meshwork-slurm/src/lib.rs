//! Reads the files that describe a cluster to Slurm, and allocates nodes as Slurm does.
//!
//! [`topology`] reads a `topology.yaml` or a `topology.conf` as Slurm does, and refuses it with
//! Slurm's messages. [`conf`] reads a `slurm.conf`. [`site`] combines both for one partition.
//! [`desk`] allocates the nodes of a partition by the rules of the crate `meshwork`. [`check`]
//! lints the files. [`live`] writes the commands for a running Slurm, and reads their outputs.
//!
//! This crate does not simulate, and it opens no files: callers pass texts, or a function that
//! reads files. Like the crate `meshwork`, it uses no threads, no clock and no environment
//! variables.
#![allow(missing_docs, reason = "only the studies, the command and the Python package use it")]

pub mod check;
pub mod conf;
pub mod desk;
pub mod finding;
pub mod lines;
pub mod live;
pub mod shared;
pub mod site;
pub mod topology;
pub mod yaml;

pub use meshwork::job::hostlist;
