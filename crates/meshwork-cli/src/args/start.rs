//! The command line arguments of `meshwork replay` and `meshwork new`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::threads;
use crate::memory::Memory;

/// Arguments of `meshwork replay`.
#[derive(Args, Debug)]
pub(crate) struct Replay {
    /// A log in the Standard Workload Format, or a table of jobs in CSV or Parquet; .gz too
    pub(crate) log: PathBuf,
    /// The machine: mesh:16x8, torus:8x8x8, flat:128, tpu_v4, or a table as in a study [default: a
    /// flat one with the processors stated in the log's header]
    #[arg(short, long)]
    pub(crate) machine: Option<String>,
    /// The schedulers, all compared with the first one
    #[arg(
        long = "schedulers",
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "fcfs,easy,conservative"
    )]
    pub(crate) schedulers: Vec<String>,
    /// Override any other key of the study, such as workload.first_jobs=10000
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// The folder for the runs and the page [default: the log's name followed by -replay]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The number of threads [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object for each scheduler
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) memory: Memory,
}

/// Arguments of `meshwork new`.
#[derive(Args, Debug)]
pub(crate) struct New {
    /// The file to write, which must not exist yet; - for standard output
    #[arg(default_value = "study.toml")]
    pub(crate) file: PathBuf,
    /// The template of the study
    #[arg(long, value_enum, default_value = "sweep")]
    pub(crate) from: Start,
}

/// Template of a new study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Start {
    /// Strategies under a growing load
    Sweep,
    /// A recorded log under several schedulers
    Log,
    /// A machine with a name, such as a pod of TPUs
    Machine,
    /// The files of a Slurm site
    Slurm,
    /// A figure of a paper, with its claims
    Paper,
}
