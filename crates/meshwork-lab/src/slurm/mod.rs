//! A machine as its Slurm has it: topologies, nodes and partitions, read from the files of its operators.
//!
//! [`topology`] reads a `topology.yaml` or a `topology.conf` as Slurm does and refuses what it refuses, with its words;
//! [`conf`] takes from a `slurm.conf` what is needed of it; [`site`] puts one partition of both together, and
//! [`desk`] hands out its nodes by the rules of the model; [`check`] says all that is to be said of the files, and [`scenario`] makes
//! a study's machine of them.

pub mod check;
pub mod conf;
pub mod desk;
pub mod finding;
pub mod scenario;
pub mod site;
pub mod topology;
pub mod yaml;

pub use meshwork::job::hostlist;
