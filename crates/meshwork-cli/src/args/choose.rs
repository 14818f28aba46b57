//! The command line arguments of `meshwork choose`.

use std::path::PathBuf;

use clap::Args;
use meshwork_lab::choose::request::ChoiceRequest;

use super::threads;
use crate::memory::Memory;

pub(super) const CHOOSE_HELP: &str = "The candidates are the scenarios of [sweep]. They run on the same jobs, replication by replication, until no \
    other can beat the leader by more than --within, with the given confidence: at any time, however often it is \
    looked at. Ratios are compared; --raw compares differences. Runs are stored in DIR as by `meshwork run`: after \
    Ctrl-C or the end of a budget of time the result says what is guaranteed now, and the same command continues. \
    The winner is then measured on fresh replications, and on the weeks held out, against the baseline.\n\n\
    The number of replications is the race's: `replications` and `precision` of the study are not used.\n\n\
    Examples:\n  meshwork choose study.toml --within 2% --out results\n  \
    meshwork choose study.toml --constraint 'p95_wait <= 4 h' --hold-out 8w --baseline scheduler=easy";

/// Options of a choice, shared by the commands that make a choice or submit its rounds.
#[derive(Args, Debug)]
pub(crate) struct ChoiceOptions {
    /// The indifference zone: how much worse than the best the choice may be; with --raw also in
    /// units of the metric
    #[arg(long, value_name = "SHARE", default_value = "2%")]
    pub(crate) within: String,
    /// The confidence with which the choice is within the indifference zone
    #[arg(long, value_name = "SHARE", default_value = "95%")]
    pub(crate) confidence: String,
    /// A limit on the mean of a metric, such as 'p95_wait <= 4 h'; may be given several times
    #[arg(long = "constraint", value_name = "LIMIT")]
    pub(crate) constraints: Vec<String>,
    /// Hold out this much of the end of a log, such as 8w, and measure the winner on it
    #[arg(long, value_name = "TIME")]
    pub(crate) hold_out: Option<String>,
    /// The candidate to compare with, given by a value for each key in which candidates differ
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) baseline: Vec<String>,
    /// The metric to race on [default: the first of measure.metrics]
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
    /// A second metric, for a plot of the trade-off
    #[arg(long, value_name = "METRIC")]
    pub(crate) second: Option<String>,
    /// Compare differences of the metric instead of ratios
    #[arg(long)]
    pub(crate) raw: bool,
    /// Begin with a screening above this number of candidates; the guarantee does not cover it
    #[arg(long, value_name = "N", default_value = "300", value_parser = clap::value_parser!(u16).range(2..=3000))]
    pub(crate) screen_above: u16,
}

/// Arguments of `meshwork choose`.
#[derive(Args, Debug)]
pub(crate) struct Choose {
    /// The studies, each with its candidates in `[sweep]`; several are raced one after another
    #[arg(required = true, value_name = "STUDY")]
    pub(crate) files: Vec<PathBuf>,
    /// Override a key of the study, such as workload.load=0.7; takes precedence over the file and
    /// its sweep
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    #[command(flatten)]
    pub(crate) options: ChoiceOptions,
    /// End the race after this number of runs, or after a time such as 30m
    #[arg(long, value_name = "RUNS|TIME")]
    pub(crate) budget: Option<String>,
    /// The folder for results; with several studies, each gets a subfolder
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the tables of another study in the folder; its runs are kept
    #[arg(long, requires = "out")]
    pub(crate) replace: bool,
    /// Run one of N parts of the next round only, I from 0 to N-1; /N takes I from the task of an array
    #[arg(long, value_name = "I/N", requires = "out", conflicts_with = "json")]
    pub(crate) shard: Option<String>,
    /// The number of threads [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but the result
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) memory: Memory,
}

impl ChoiceOptions {
    pub(crate) fn request(&self) -> ChoiceRequest {
        ChoiceRequest {
            within: self.within.clone(),
            confidence: self.confidence.clone(),
            budget: None,
            constraints: self.constraints.clone(),
            hold_out: self.hold_out.clone(),
            baseline: self.baseline.clone(),
            metric: self.metric.clone(),
            second: self.second.clone(),
            raw: self.raw,
            screen_above: usize::from(self.screen_above),
        }
    }
}

impl Choose {
    pub(crate) fn request(&self) -> ChoiceRequest {
        ChoiceRequest { budget: self.budget.clone(), ..self.options.request() }
    }
}
