//! The command line arguments of `meshwork ops`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use meshwork_lab::date::unix_seconds;
use meshwork_lab::live::ends::EndRule;
use meshwork_lab::operator::instant::RunName;
use meshwork_lab::operator::sacct::LocalClock;

use super::sweep::duration;
use crate::memory::Memory;

/// Arguments of `meshwork ops`.
#[derive(Debug, Subcommand)]
pub(crate) enum Ops {
    /// Lint a topology file: errors, silent misconfigurations, and a table of its placements
    #[command(
        after_help = "The file is a topology.yaml (block, flat, ring, torus3d, tree), or a topology.conf of the older \
        form if its name ends in .conf. The exit status is 0 if Slurm would start with it, 1 if it would not, and 2 if \
        nothing could be read.\n\nExample:\n  meshwork ops check topology.yaml --conf slurm.conf"
    )]
    Check(Check),
    /// Import a machine and its history (sacct, Kueue or SWF) as a site, with a report on the data
    #[command(
        after_help = "The history is the output of sacct -P, its columns in any order, packed by gzip or not. This asks for \
        all that is used:\n  SLURM_TIME_FORMAT=%s sacct -a -X -D -P -S 2026-01-01 -o JobIDRaw,JobID,User,Account,\
        Partition,QOS,Submit,Eligible,Start,End,State,TimelimitRaw,NNodes,ReqNodes,NodeList,SegmentSize,Reason,\
        Exclusive,AllocTRES,Priority,Flags,SubmitLine\n\nExamples:\n  meshwork ops import --sacct sacct.txt --topology \
        topology.yaml --conf slurm.conf -o site\n  meshwork ops import --kueue monday.json tuesday.json -o site"
    )]
    Import(Import),
    /// Replay the history of a site and count how many decisions of the model equal the recorded ones
    #[command(
        after_help = "Each recorded start is compared with the rule, in the recorded state of the machine: node list by node list, \
        for the main scheduler on all free nodes, and for backfill on those that are free over the job's whole limit \
        and not planned for jobs of higher priority. The exit status is 1 if the model is not good enough to rely on.\n\nExample:\n  meshwork ops fidelity site"
    )]
    Fidelity(Fidelity),
    /// Replay a site's jobs under other topology files or another slurm.conf and compare
    #[command(
        after_help = "Each file is another topology.yaml for the nodes and the slurm.conf of the site, or after --conf \
         another slurm.conf for its nodes and its topology. Differences from the site as it is are taken job by job, with 95 % intervals over batches of consecutive jobs. The exit \
         status is 1 if `ops fidelity` says that the site is not modelled well enough, and --anyway is not \
         given.\n\nExamples:\n  meshwork ops compare site fine.yaml coarse.yaml\n  meshwork ops compare site \
        fine.yaml coarse.yaml --baseline first --cleanup 4 --json\n  meshwork ops compare site --conf four-days.conf"
    )]
    Compare(Compare),
    /// Search better lists on the first half of a site's history, and test the best on the second
    #[command(
        after_help = "Of a torus, shapes of the listed sizes, their spacing, where the first stands and their order are \
        tried; of blocks, which sizes are listed. What is proposed is a change of the site's topology.yaml, with the gain \
        on jobs for which it was not chosen. The exit status is 1 if nothing better is found, or if `ops fidelity` says that \
        the site is not modelled well enough and --anyway is not given.\n\nExample:\n  meshwork \
        ops propose site --budget 10m -o proposed.yaml"
    )]
    Propose(Propose),
    /// Explain why a job waits: the reason, the nearest places, the jobs in the way, and what would let it start
    #[command(
        after_help = "The state is a site at an instant of its history (--at), what `scontrol show job -o` or `squeue --json` \
        prints, with the machine's files beside it, a run of a folder of results at an instant (--run, --at), or what `meshwork place` has \
        saved. A pool has no queue: there --shape says of what the question is.\n\nExamples:\n  meshwork ops explain site \
        1109 --at 2026-11-21T14:54:44\n  meshwork ops explain site --all --at 2026-11-21T14:54:44\n  meshwork ops explain jobs.txt 1109 --nodes nodes.txt --topology topology.yaml --conf \
        slurm.conf\n  meshwork ops explain results 17 --run 3 --at 86400\n  meshwork ops explain state.json --shape 8x8x4"
    )]
    Explain(Explain),
    /// Find the cheapest moves of jobs that free a place of a given shape
    #[command(
        after_help = "Every listed place of the shape is looked at, or every block of it where an allocator gives blocks. \
        Jobs move one after the other, the largest first, to where the rule or the allocator puts them on what is free by \
        then. The exit status is 1 if no moves make room.\n\nExamples:\n  meshwork ops defrag site --at 2026-11-21T14:54:44 \
        --shape 4x2x2 --exempt 1100\n  meshwork ops defrag results --run 3 --at 86400 --shape 8x8"
    )]
    Defrag(Defrag),
    /// Estimate when waiting jobs start: an interval from sampled futures of the site's own queue
    #[command(
        after_help = "Run times are drawn from jobs that had ended, given limit, user and the time that a job has run, and \
        jobs to come from past submissions; nothing that was recorded after the instant is used. Times in JSON are seconds \
        since 1970, and null if the job does not start by then.\n\nExamples:\n  meshwork ops when site 1109 --at \
        2026-11-21T14:54:44\n  meshwork ops when site --all --at 2026-11-21T14:54:44 --json"
    )]
    When(When),
    /// Observe a running Slurm: the policy's choice at every start, and a history as a site
    #[command(
        after_help = "It runs squeue and sinfo and changes nothing. Each start gives a line; the history is written as a site \
        (-o), which `ops fidelity` and `ops compare` read, with the free nodes at every decision in starts.jsonl. A look in \
        which several jobs started takes them in order of their starts.\n\nExample:\n  meshwork ops shadow /etc/slurm \
        --policy policy.toml --partition main -o recorded"
    )]
    Shadow(Shadow),
    /// Run a policy beside an unpatched Slurm: place the jobs of a parking partition on chosen nodes
    #[command(
        after_help = "Users submit to a partition with State=DOWN (--park). One update moves a job that the policy starts to the \
        partition --run, on exactly the chosen nodes. Slurm holds all state: the agent may be killed at any moment. Read \
        docs/live.md before use, and try --dry-run first.\n\nExamples:\n  meshwork ops agent /etc/slurm --policy policy.toml \
        --dry-run\n  meshwork ops agent /etc/slurm --policy policy.toml --state /var/lib/meshwork\n  meshwork ops agent \
        /etc/slurm --open --state /var/lib/meshwork"
    )]
    Agent(Agent),
}

/// Where a running Slurm is, and how often it is looked at.
#[derive(Args, Debug)]
pub(crate) struct Live {
    /// A folder with slurm.conf and optionally topology.yaml or topology.conf: a site, or
    /// /etc/slurm
    pub(crate) site: PathBuf,
    /// The study whose policy decides
    #[arg(long, value_name = "STUDY")]
    pub(crate) policy: Option<PathBuf>,
    /// Override a key of the study, such as scheduler=easy
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// The nodes in the order of their numbers in the study's machine, as a host list [default: the order of slurm.conf,
    /// or of the topology if the study's machine is made of Slurm's files]
    #[arg(long, value_name = "LIST")]
    pub(crate) names: Option<String>,
    /// The ends that the policy expects: time limits, the mean run time of a user's last two jobs, or the 90 % quantile of
    /// their last hundred; never more than the limit
    #[arg(long, value_name = "RULE", default_value = "limit", value_parser = end_rule(), requires_ifs = [("user_mean", "history"), ("user_p90", "history")])]
    pub(crate) ends: EndRule,
    /// The site whose history says how long jobs of a user ran, as `ops import` or `ops shadow` writes it; it is read
    /// again when it has changed
    #[arg(long, value_name = "SITE")]
    pub(crate) history: Option<PathBuf>,
    /// The time between looks, as 1s or 500ms
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = poll)]
    pub(crate) poll: Duration,
    /// End after this number of looks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) looks: Option<u64>,
    /// Serve metrics for Prometheus at this address; a port alone means the loopback interface
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
    pub(crate) metrics: Option<SocketAddr>,
    /// The folder of Slurm's commands [default: looked up in PATH]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) commands: Option<PathBuf>,
}

/// Reads an address, or a port of the loopback interface.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    let of_port = port.parse::<u16>().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    text.parse().or(of_port).map_err(|_| {
        "an address and a port are needed, as 127.0.0.1:9464, or a port alone, as 9464".to_owned()
    })
}

/// Reads the name of a rule for expected ends.
fn end_rule() -> impl TypedValueParser<Value = EndRule> {
    PossibleValuesParser::new(EndRule::ALL.map(|(name, _)| name)).map(|text| {
        EndRule::ALL
            .into_iter()
            .find(|(name, _)| *name == text)
            .map_or_else(EndRule::default, |(_, rule)| rule)
    })
}

/// Reads a time between looks: `500ms`, or as other durations.
fn poll(text: &str) -> Result<Duration, String> {
    match text.strip_suffix("ms").and_then(|number| number.parse::<u64>().ok()) {
        Some(number) if number >= 50 => Ok(Duration::from_millis(number)),
        Some(_) => Err("looks are at least 50ms apart".to_owned()),
        None => duration(text),
    }
}

/// Arguments of `meshwork ops shadow`.
#[derive(Args, Debug)]
pub(crate) struct Shadow {
    #[command(flatten)]
    pub(crate) live: Live,
    /// The observed partition [default: the default one of slurm.conf]
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// Write the history into this folder, as a site, with starts.jsonl and shadow.html
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object for each start
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork ops agent`.
#[derive(Args, Debug)]
pub(crate) struct Agent {
    #[command(flatten)]
    pub(crate) live: Live,
    /// Report the planned actions, but change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The parking partition, to which users submit
    #[arg(long, value_name = "NAME", default_value = "in")]
    pub(crate) park: String,
    /// The partition in which jobs start
    #[arg(long, value_name = "NAME", default_value = "run")]
    pub(crate) run: String,
    /// The partition for jobs that are left to Slurm [default: they stay parked]
    #[arg(long, value_name = "NAME")]
    pub(crate) pass: Option<String>,
    /// The number of waiting jobs to consider, in order of priority
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: u32,
    /// The folder for log, heartbeat and lock [default: agent in the site's folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) state: Option<PathBuf>,
    /// Look immediately when a datagram arrives at this port of the loopback interface
    #[arg(long, value_name = "PORT")]
    pub(crate) wake: Option<u16>,
    /// List waiting jobs by their IDs in the metrics
    #[arg(long, requires = "metrics")]
    pub(crate) metrics_jobs: bool,
    /// Kill switch: open the parking partition, so that Slurm starts its jobs, and keep agents from deciding
    #[arg(long, conflicts_with_all = ["policy", "close", "watchdog", "replay", "dry_run"])]
    pub(crate) open: bool,
    /// Undo --open: close the parking partition, and let agents decide again
    #[arg(long, conflicts_with_all = ["policy", "watchdog", "replay", "dry_run"])]
    pub(crate) close: bool,
    /// Open the parking partition if the heartbeat is older than this; the exit status is 1 if it was
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with_all = ["policy", "replay", "dry_run"])]
    pub(crate) watchdog: Option<Duration>,
    /// Repeat the decisions of a log; the exit status is 1 if one differs
    #[arg(long, value_name = "LOG", requires = "policy", conflicts_with = "dry_run")]
    pub(crate) replay: Option<PathBuf>,
}

/// An instant as written on the command line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum At {
    /// A time on the clock of a run, or the seconds since 1970 for a site.
    Number(f64),
    Date(String),
}

fn at(text: &str) -> Result<At, String> {
    if unix_seconds(text).is_some() {
        return Ok(At::Date(text.to_owned()));
    }
    let wrong = |says| format!("{says}, or a date, as 2026-01-31T23:59:59");
    super::not_negative(text).map(At::Number).map_err(wrong)
}

/// A machine at one instant.
#[derive(Args, Debug)]
pub(crate) struct State {
    /// A site, a folder of results, the output of `scontrol show job -o`, or of `meshwork place`: a
    /// saved state or, with --slurm, the answer to `show`
    pub(crate) state: PathBuf,
    /// The instant: for a site, a date such as 2026-01-31T23:59:59 or seconds since 1970; for a
    /// run, in its units of time [default for a job in a site's history: when it began to wait]
    #[arg(long, value_name = "TIME", value_parser = at)]
    pub(crate) at: Option<At>,
    /// The time zone of dates without one, and of displayed dates, such as Europe/Berlin or +01:00
    /// [default: UTC for a site's history; the zone of scontrol for its output]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true, value_parser = LocalClock::read)]
    pub(crate) time_zone: Option<LocalClock>,
    /// The run in a folder of results: a scenario such as 3, or scenario and replication such as
    /// 3/2
    #[arg(long, value_name = "SCENARIO[/REPLICATION]", requires = "at")]
    pub(crate) run: Option<RunName>,
    /// The topology.yaml or topology.conf, if the state is not a site
    #[arg(long, value_name = "FILE")]
    pub(crate) topology: Option<PathBuf>,
    /// The slurm.conf that belongs to it
    #[arg(long, value_name = "FILE", requires = "topology")]
    pub(crate) conf: Option<PathBuf>,
    /// The output of `scontrol show nodes -o`, which shows the nodes that are down
    #[arg(long, value_name = "FILE", requires = "topology")]
    pub(crate) nodes: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) memory: Memory,
}

/// Arguments of `meshwork ops explain`.
#[derive(Args, Debug)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) state: State,
    /// The job, such as 1109 or 1088_3
    #[arg(required_unless_present_any = ["shape", "all"])]
    pub(crate) job: Option<String>,
    /// All waiting jobs of a Slurm machine, as a table with Slurm's reasons
    #[arg(long, conflicts_with_all = ["job", "shape"])]
    pub(crate) all: bool,
    /// Instead of a job, a request: sides such as 8x8x4, a number of nodes, or a subcube such as
    /// 2^5; for a run or a state of `place`
    #[arg(long, value_name = "SHAPE", conflicts_with = "job")]
    pub(crate) shape: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork ops when`.
#[derive(Args, Debug)]
pub(crate) struct When {
    /// The site, as `ops import` wrote it
    pub(crate) site: PathBuf,
    /// The job, such as 1109 or 1088_3
    #[arg(required_unless_present = "all")]
    pub(crate) job: Option<String>,
    /// All waiting jobs, as a table
    #[arg(long, conflicts_with = "job", requires = "at")]
    pub(crate) all: bool,
    /// The instant: a date such as 2026-01-31T23:59:59, or seconds since 1970 [default: when the
    /// job began to wait]
    #[arg(long, value_name = "TIME", value_parser = at)]
    pub(crate) at: Option<At>,
    /// The probability that a job starts within its interval
    #[arg(long, value_name = "P", default_value = "0.9", value_parser = confidence)]
    pub(crate) confidence: f64,
    /// The number of sampled futures
    #[arg(long, value_name = "N", default_value = "200", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) futures: u32,
    /// The seed of the random numbers
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) seed: u64,
    /// The clean-up time: seconds from a job's end until its nodes can be allocated again
    #[arg(long, value_name = "SECONDS", default_value = "1")]
    pub(crate) cleanup: u32,
    /// The time zone of dates without one, and of displayed dates [default: UTC]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true, value_parser = LocalClock::read)]
    pub(crate) time_zone: Option<LocalClock>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a probability strictly between 0 and 1.
fn confidence(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| *value > 0.0 && *value < 1.0);
    value.ok_or_else(|| "a probability between 0 and 1 is needed, as 0.9".to_owned())
}

/// Arguments of `meshwork ops defrag`.
#[derive(Args, Debug)]
pub(crate) struct Defrag {
    #[command(flatten)]
    pub(crate) state: State,
    /// The shape of the place, such as 8x8x4, or its number of nodes; for a run or a state of
    /// `place`, also a subcube such as 2^5
    #[arg(long)]
    pub(crate) shape: String,
    /// Jobs that may not be moved
    #[arg(long, value_name = "JOB", value_delimiter = ',')]
    pub(crate) exempt: Vec<String>,
    /// The cost of a move
    #[arg(long, default_value = "moves", value_parser = ["moves", "nodes", "node_seconds"])]
    pub(crate) cost: String,
    /// The partition [default: the default one of slurm.conf]
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// The site of a run, from 1 [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) site: Option<u64>,
    /// The maximum number of plans
    #[arg(long, value_name = "N", default_value = "3")]
    pub(crate) plans: usize,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// How the jobs of a site happen again.
#[derive(Args, Debug)]
pub(crate) struct Terms {
    /// The clean-up time: seconds from a job's end until its nodes can be allocated again [default:
    /// the best fit to the history]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) cleanup: Option<u32>,
    /// The treatment of jobs of unlisted sizes: request the next larger size, or refuse them
    #[arg(long, default_value = "round_up", value_parser = ["round_up", "refuse"])]
    pub(crate) unlisted: String,
    /// Continue even if `ops fidelity` finds that the site is not modelled well enough; the result
    /// then begins with that verdict
    #[arg(long)]
    pub(crate) anyway: bool,
}

/// Arguments of `meshwork ops compare`.
#[derive(Args, Debug)]
pub(crate) struct Compare {
    /// The site, as `ops import` wrote it
    pub(crate) site: PathBuf,
    /// Other topology files for its machine
    #[arg(required_unless_present = "confs", value_name = "TOPOLOGY")]
    pub(crate) topologies: Vec<PathBuf>,
    /// Another slurm.conf for its machine, with other weights, limits or parameters of the
    /// schedulers; may be repeated
    #[arg(long = "conf", value_name = "FILE")]
    pub(crate) confs: Vec<PathBuf>,
    /// The baseline of the comparison: the site as it is, or the first of the given files
    #[arg(long, default_value = "site", value_parser = ["site", "first"])]
    pub(crate) baseline: String,
    #[command(flatten)]
    pub(crate) terms: Terms,
    /// Write an HTML page with the table, plots of the differences, and the utilization of each
    /// node
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork ops propose`.
#[derive(Args, Debug)]
pub(crate) struct Propose {
    /// The site, as `ops import` wrote it
    pub(crate) site: PathBuf,
    /// The time for the search, such as 10m, 1h30m or 90s
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub(crate) budget: Duration,
    /// Try at most this number of lists, whatever the time; the result is then the same on every
    /// computer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) lists: Option<u32>,
    /// The seed of the random numbers
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) seed: u64,
    /// The number of threads [default: one for each processor]
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) terms: Terms,
    /// Write the proposed topology.yaml to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork ops fidelity`.
#[derive(Args, Debug)]
pub(crate) struct Fidelity {
    /// The site, as `ops import` wrote it
    pub(crate) site: PathBuf,
    /// Write every recorded start with the predicted one to this file, as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) starts: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork ops import`.
#[derive(Args, Debug)]
pub(crate) struct Import {
    /// Accounting records: the output of sacct -P or sacct --json
    #[arg(long, value_name = "FILE", required_unless_present_any = ["swf", "kueue"])]
    pub(crate) sacct: Option<PathBuf>,
    /// Kueue's workloads and nodes: outputs of kubectl get workloads,nodes -A -o json, in
    /// chronological order
    #[arg(
        long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["sacct", "swf", "conf", "time_zone"]
    )]
    pub(crate) kueue: Vec<PathBuf>,
    /// A log in the Standard Workload Format, which has waits but no node lists
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sacct", "time_zone"])]
    pub(crate) swf: Option<PathBuf>,
    /// The topology.yaml or topology.conf of the machine [default: a flat machine with the nodes of --conf; with --kueue a
    /// tree of the labels of its nodes]
    #[arg(long, value_name = "FILE", required_unless_present_any = ["kueue", "conf"])]
    pub(crate) topology: Option<PathBuf>,
    /// The slurm.conf of the machine
    #[arg(long, value_name = "FILE")]
    pub(crate) conf: Option<PathBuf>,
    /// QOS: the output of sacctmgr show qos -P
    #[arg(long, value_name = "FILE", conflicts_with = "kueue")]
    pub(crate) qos: Option<PathBuf>,
    /// Associations: the output of sacctmgr show assoc -P
    #[arg(long, value_name = "FILE", conflicts_with = "kueue")]
    pub(crate) assoc: Option<PathBuf>,
    /// Nodes that were down or drained: the output of sacctmgr show event -P
    #[arg(long, value_name = "FILE", conflicts_with = "kueue")]
    pub(crate) events: Option<PathBuf>,
    /// Reservations: the output of scontrol show res -o
    #[arg(long, value_name = "FILE", conflicts_with = "kueue")]
    pub(crate) reservations: Option<PathBuf>,
    /// The folder for the site
    #[arg(short, long, value_name = "SITE")]
    pub(crate) out: PathBuf,
    /// The time zone of dates without one, such as Europe/Berlin or +01:00 [default: UTC, with a
    /// warning]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    pub(crate) time_zone: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork ops check`.
#[derive(Args, Debug)]
pub(crate) struct Check {
    /// The topology file
    pub(crate) file: PathBuf,
    /// The slurm.conf of the machine; without it, every node named in the topology is assumed to
    /// exist
    #[arg(long, value_name = "FILE")]
    pub(crate) conf: Option<PathBuf>,
    /// The gres.conf of the machine: its GPUs, and surprising effects of their configuration
    #[arg(long, value_name = "FILE", requires = "conf")]
    pub(crate) gres: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
