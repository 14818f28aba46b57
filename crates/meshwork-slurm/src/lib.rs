//! Reads the files and the records of clusters under Slurm or Kueue, and allocates nodes as Slurm
//! does.
//!
//! [`topology`] reads a `topology.yaml` or a `topology.conf` as Slurm does, and refuses it with
//! Slurm's messages. [`conf`] reads a `slurm.conf`. [`site`] combines both for one partition.
//! [`desk`] allocates the nodes of a partition by the rules of the crate `meshwork`. [`check`]
//! lints the files. [`live`] writes the commands for a running Slurm, and reads their outputs.
//!
//! [`sacct`] reads Slurm's accounting records, and [`kueue`] reads Kueue's workloads. Both produce
//! a [`history`] of jobs. [`date`] and [`cell`] read and write the times and texts of its table.
//!
//! This crate does not simulate, and it opens no files: callers pass texts, or a function that
//! reads files. Like the crate `meshwork`, it uses no threads, no clock and no environment
//! variables.
#![allow(missing_docs, reason = "only the studies, the command and the Python package use it")]

pub mod cell;
pub mod check;
pub mod conf;
pub mod date;
pub mod desk;
pub mod finding;
pub mod history;
pub mod kueue;
pub mod lines;
pub mod live;
mod problem;
pub mod sacct;
pub mod shared;
pub mod site;
pub mod topology;
pub mod values;
pub mod yaml;

pub use meshwork::job::hostlist;
pub use problem::FileProblem;
