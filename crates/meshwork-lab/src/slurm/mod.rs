//! A machine managed by Slurm: topologies, nodes and partitions, read from its files.
//!
//! [`topology`] reads a `topology.yaml` or a `topology.conf` as Slurm does, and refuses what Slurm
//! refuses, with its messages; [`conf`] reads the needed part of a `slurm.conf`; [`site`] combines
//! both for one partition; [`desk`] allocates its nodes by the rules of the model; [`check`] lints
//! the files, and [`scenario`] makes a study's machine of them.

pub mod check;
pub mod conf;
pub mod desk;
pub mod finding;
pub mod scenario;
pub mod shared;
pub mod site;
pub mod topology;
pub mod yaml;

pub use meshwork::job::hostlist;
