//! The command line arguments of `meshwork choose`.

use std::path::PathBuf;

use clap::Args;
use meshwork_lab::choose::request::ChoiceRequest;

use super::threads;
use crate::memory::Memory;

pub(super) const CHOOSE_HELP: &str = "The candidates are the scenarios of [sweep]. All of them run the same jobs, replication by \
    replication, so keys that change the jobs, such as workload.load, cannot be swept. The race \
    ends when, with the given confidence, no other candidate can be better than the leader by more \
    than --within; results may be looked at in between without harm to this guarantee. Candidates are compared by ratios of the metric, or with --raw by \
    differences.\n\n\
    Runs are stored in DIR as by `meshwork run`. After Ctrl-C, or at the end of --budget, the \
    result says what is guaranteed so far, and the same command continues.\n\n\
    The winner is then compared with the baseline on fresh replications and on the time of \
    --hold-out.\n\n\
    The race chooses the number of replications: `replications` and `precision` of the study are \
    not used.\n\n\
    Examples:\n  \
    meshwork choose study.toml --within 2% --out results\n  \
    meshwork choose study.toml --constraint 'p95_wait <= 4 h' --hold-out 8w --baseline \
    scheduler=easy";

/// Options that `meshwork choose` and `meshwork submit --choose` share.
#[derive(Args, Debug)]
pub(crate) struct ChoiceOptions {
    /// How much worse than the best candidate the chosen one may be: a share such as 2%, or with
    /// --raw also a number in units of the metric
    #[arg(long, value_name = "SHARE", default_value = "2%")]
    pub(crate) within: String,
    /// The probability with which the chosen candidate is no worse than --within allows, such as
    /// 95% or 0.95
    #[arg(long, value_name = "SHARE", default_value = "95%")]
    pub(crate) confidence: String,
    /// A condition that the mean of a metric must meet, such as 'p95_wait <= 4 h'; may be given
    /// several times
    #[arg(long = "constraint", value_name = "LIMIT")]
    pub(crate) constraints: Vec<String>,
    /// Leave the last part of the log out of the race, and measure the winner on it; the length of
    /// this part, such as 8w for eight weeks
    #[arg(long, value_name = "TIME")]
    pub(crate) hold_out: Option<String>,
    /// The candidate with which the winner is compared, such as scheduler=easy; if candidates
    /// differ in several keys, give the option once for each key
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) baseline: Vec<String>,
    /// The metric by which candidates are compared [default: the first of measure.metrics]
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
    /// A second metric that is plotted against the first, to show the trade-off between the two
    #[arg(long, value_name = "METRIC")]
    pub(crate) second: Option<String>,
    /// Compare candidates by differences of the metric instead of ratios
    #[arg(long)]
    pub(crate) raw: bool,
    /// If there are more candidates than this, first drop most of them after a few runs
    /// (screening); the guarantee of --confidence holds only among those that are left
    #[arg(long, value_name = "N", default_value = "300", value_parser = clap::value_parser!(u16).range(2..=3000))]
    pub(crate) screen_above: u16,
}

/// Arguments of `meshwork choose`.
#[derive(Args, Debug)]
pub(crate) struct Choose {
    /// The studies whose scenarios are the candidates; if several studies are given, each has a
    /// race of its own, one after another
    #[arg(required = true, value_name = "STUDY")]
    pub(crate) files: Vec<PathBuf>,
    /// Override a key of the study, such as workload.load=0.7, whatever the file and its sweep say;
    /// may be given several times
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    #[command(flatten)]
    pub(crate) options: ChoiceOptions,
    /// End the race after this number of runs, or after a time such as 30m; the same command
    /// continues it
    #[arg(long, value_name = "RUNS|TIME")]
    pub(crate) budget: Option<String>,
    /// The folder for results; with several studies, each gets a subfolder
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// If the folder for results belongs to another study, replace the tables of that study, but
    /// keep its stored runs
    #[arg(long, requires = "out")]
    pub(crate) replace: bool,
    /// Run only one part of the next round: with I/N, part I of N parts, counted from 0; with /N,
    /// the part whose number is that of the array task
    #[arg(long, value_name = "I/N", requires = "out", conflicts_with = "json")]
    pub(crate) shard: Option<String>,
    /// The number of threads that simulate [default: one for each processor of this computer]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Print the result as one JSON object
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
