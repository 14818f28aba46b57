//! The command line arguments of `meshwork replay` and `meshwork new`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::threads;
use crate::memory::Memory;

/// Arguments of `meshwork replay`.
#[derive(Args, Debug)]
pub(crate) struct Replay {
    /// The log in the Standard Workload Format, or a table of jobs in CSV or Parquet; it may be
    /// compressed with gzip
    pub(crate) log: PathBuf,
    /// The machine on which the jobs are replayed: mesh:16x8, torus:8x8x8, flat:128, tpu_v4, or a
    /// table as in a study [default: a flat machine with the number of processors in the log's
    /// header]
    #[arg(short, long)]
    pub(crate) machine: Option<String>,
    /// The schedulers under which the log is replayed; the first one is the baseline of the
    /// comparison
    #[arg(
        long = "schedulers",
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "fcfs,easy,conservative"
    )]
    pub(crate) schedulers: Vec<String>,
    /// Override any other key of the study that this command makes, such as
    /// workload.first_jobs=10000; may be given several times
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// The folder for results and the page [default: the log's name followed by -replay]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The number of threads that simulate [default: one for each processor of this computer]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object for each scheduler instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) memory: Memory,
}

/// Arguments of `meshwork new`.
#[derive(Args, Debug)]
pub(crate) struct New {
    /// The file for the new study, which must not exist yet; - for standard output
    #[arg(default_value = "study.toml")]
    pub(crate) file: PathBuf,
    /// The template of the study
    #[arg(long, value_enum, default_value = "sweep")]
    pub(crate) from: Start,
}

/// Templates of new studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Start {
    /// A sweep over strategies under a growing load
    Sweep,
    /// A replay of a recorded log under several schedulers
    Log,
    /// A machine that has a name, such as a TPU pod
    Machine,
    /// A machine described by the files of a Slurm site
    Slurm,
    /// A figure of a paper, with its claims
    Paper,
}
