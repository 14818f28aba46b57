//! The command line arguments of `meshwork trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use meshwork_lab::trace::FitModel;
use meshwork_report::resampled::WAYS;
use meshwork_slurm::date::unix_seconds;
use toml::Value;

use super::{not_negative, positive};
use crate::memory::Memory;

/// Arguments of `meshwork trace`.
#[derive(Debug, Subcommand)]
pub(crate) enum Trace {
    /// Print statistics of a log: counts, spans and distributions
    #[command(
        after_help = "The ending of the file's name gives its format: .csv and .parquet are tables of jobs, all \
        other files are logs.\n\n\
        Example:\n  \
        meshwork trace info log.swf.gz"
    )]
    Info {
        /// The log, or a table of jobs in CSV or Parquet; it may be compressed with gzip
        log: PathBuf,
        /// Print the statistics as one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Clean, sort, cut, shuffle, split and scale a log, or convert a published trace
    #[command(
        after_help = "Jobs are sorted by time of submission, and lines that are no jobs are left out.\n\n\
        Endings give formats: .csv and .parquet are tables of jobs, .gz is compressed, all other \
        files are logs. A date, as in --until 2003-05-01, needs a log that says when it begins, \
        and is in the time zone of its header, or else in UTC, unless the date has one.\n\n\
        --set takes the keys of the workload `swf` of a study: users, queues, from, until, \
        first_jobs, resample, shuffle, split_above, runtime_scale, arrival_scale. They are applied \
        in this order. A study of OUT without these keys has the same jobs as a study of IN with \
        them.\n\n\
        IN may also be a published trace, also as .tsv or .json, which is recognized by its \
        columns: Alibaba openb, spot GPU and GPU 2026, Philly, Helios, Acme, PM100 and M100, \
        F-DATA, IN2P3, sacct of Slurm with AllocTRES, and a snapshot of Kueue. It may be jobs.csv of a site that `ops import` or `ops shadow` wrote. If IN \
        is a list of nodes, OUT is a machine (.toml).\n\n\
        Example:\n  \
        meshwork trace convert log.swf.gz month.swf --until 2592000 --set split_above=0.5"
    )]
    Convert(Convert),
    /// Generate a log by the model of Lublin and Feitelson
    #[command(after_help = "The same arguments give the same bytes.\n\n\
        Example:\n  \
        meshwork trace generate day.swf.gz --jobs 5000 --processors 128 --load 0.7")]
    Generate(Generate),
    /// Fit a workload model to a log; print a study with this model, and how far the model is from
    /// the log
    #[command(
        after_help = "Prints a study with the fitted model, which `meshwork run` reads as it is. Comments in \
        the study, or with -o a table, give the distances of the model from the log. They are \
        measured on as many drawn jobs as the log has.\n\n\
        Models: jann has classes of sizes, each with three moments of gaps and of run times. \
        cirne_berman has requested times, of which jobs use a part, and a daily cycle. lublin has \
        the sizes of the log, stretched to its mean run time and mean gap. If half of the jobs \
        have a requested time, estimates are those of the model tsafrir, with the 20 most popular \
        requests of the log.\n\n\
        Example:\n  \
        meshwork trace fit log.swf.gz -o model.toml"
    )]
    Fit(Fit),
    /// Compare the statistics of a log with those of many resamplings of it
    #[command(
        after_help = "The ways of resampling are those of the key `workload.resample` of a study. Beside each \
        number of the log stands the range of 95 % of the resamplings; a star marks numbers of the \
        log outside this range. Each figure is one file: hours, weekdays, correlation, sizes.\n\n\
        Example:\n  \
        meshwork trace resample log.swf.gz --by users,weeks --figures plots"
    )]
    Resample(Resample),
}

/// Arguments of `meshwork trace resample`.
#[derive(Args, Debug)]
pub(crate) struct Resample {
    /// The log, or a table of jobs in CSV or Parquet; it may be compressed with gzip
    pub(crate) log: PathBuf,
    /// The ways of resampling to compare with the log, separated by commas
    #[arg(long, value_name = "WAYS", value_delimiter = ',', default_values = WAYS)]
    pub(crate) by: Vec<String>,
    /// The number of logs that are generated in each way of resampling
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub(crate) count: u64,
    /// Write figures to this folder, as SVG, that compare the log with its resamplings: arrivals by
    /// hour and weekday, sizes of jobs, and how the load of one day depends on that of earlier days
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
    /// Print the statistics as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork trace convert`.
#[derive(Args, Debug)]
pub(crate) struct Convert {
    /// The log, or a table of jobs in CSV or Parquet; it may be compressed with gzip
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The file for the converted log; its ending gives the format
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Replace the written file if it exists
    #[arg(long)]
    pub(crate) replace: bool,
    /// Keep only this number of jobs, counted after --from and --until are applied
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) first_jobs: Option<u64>,
    /// Keep only jobs submitted at or after this time of the log, in seconds, or this date
    #[arg(long, value_name = "T", value_parser = instant)]
    pub(crate) from: Option<Value>,
    /// Keep only jobs submitted before this time of the log, in seconds, or this date
    #[arg(long, value_name = "T", value_parser = instant)]
    pub(crate) until: Option<Value>,
    /// The factor by which run times and requested times are multiplied
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) runtime_scale: Option<f64>,
    /// The factor by which submission times are multiplied; a factor below 1 increases the load
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) arrival_scale: Option<f64>,
    /// A key of the workload `swf` by which the log is changed, such as split_above=0.5 or
    /// users=[3,5]; may be given several times
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// The seed of a shuffle or a resampling
    #[arg(long, value_name = "S", default_value = "1")]
    pub(crate) seed: u64,
    /// The replication of a study whose shuffled or resampled log is written; 0 is the first
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) replication: u64,
}

/// Arguments of `meshwork trace generate`.
#[derive(Args, Debug)]
pub(crate) struct Generate {
    /// The file for the generated log: .csv and .parquet are tables of jobs, .gz is compressed, all
    /// other endings are logs
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Replace the written file if it exists
    #[arg(long)]
    pub(crate) replace: bool,
    /// The number of jobs to generate
    #[arg(long, value_name = "N", default_value = "10000", allow_negative_numbers = true, value_parser = whole)]
    pub(crate) jobs: u64,
    /// The number of processors of the machine to which the model is scaled
    #[arg(long, value_name = "P", default_value = "128")]
    pub(crate) processors: u32,
    /// The seed of the random numbers
    #[arg(long, value_name = "S", default_value = "1")]
    pub(crate) seed: u64,
    /// The jobs to which the parameters of the model were fitted: all jobs (typeless), batch jobs,
    /// interactive jobs, or both of these, generated separately and merged
    #[arg(long, default_value = "typeless", value_parser = ["typeless", "batch", "interactive", "both"])]
    pub(crate) classes: String,
    /// The load of the generated jobs, as a share of what the machine can do; submission times are
    /// stretched or compressed to meet it
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) load: Option<f64>,
    #[command(flatten)]
    pub(crate) memory: Memory,
}

/// Arguments of `meshwork trace fit`.
#[derive(Args, Debug)]
pub(crate) struct Fit {
    /// The log, or a table of jobs in CSV or Parquet; it may be compressed with gzip
    pub(crate) log: PathBuf,
    /// The workload model to fit to the log
    #[arg(long, default_value = "jann", value_parser = FitModel::ALL.map(|model| model.0))]
    pub(crate) model: String,
    /// Write the study with the fitted model to this file, and print the distances of the model
    /// from the log
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the written file if it exists
    #[arg(long, requires = "output")]
    pub(crate) replace: bool,
}

fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "must be a whole number from 1".to_owned())
}

/// Parses a number of seconds, or a date.
fn instant(text: &str) -> Result<Value, String> {
    if unix_seconds(text).is_some() {
        return Ok(Value::String(text.to_owned()));
    }
    not_negative(text).map(Value::Float).map_err(|_| {
        "must be a number from 0 to 1e15, or a date such as 2003-05-01T12:30:00".to_owned()
    })
}
