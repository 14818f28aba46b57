//! The command line arguments of `meshwork ops`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use meshwork_lab::choose::request::share;
use meshwork_operator::instant::RunName;
use meshwork_operator::live::ends::EndRule;
use meshwork_slurm::date::unix_seconds;
use meshwork_slurm::sacct::LocalClock;

use super::sweep::duration;
use crate::memory::Memory;

/// Arguments of `meshwork ops`.
#[derive(Debug, Subcommand)]
pub(crate) enum Ops {
    /// Lint a Slurm topology file: print errors, silent misconfigurations, and a table of its
    /// placements
    #[command(
        after_help = "The file is a topology.yaml (block, flat, ring, torus3d, tree), or a topology.conf if its \
        name ends in .conf. Of a slurm.conf, the names of all keys are checked, and the \
        values of those that Meshwork reads, such as priorities, partitions and parameters of the \
        schedulers. The exit status is 0 if nothing that was checked keeps Slurm from starting, 1 \
        if Slurm would not start, and 2 if nothing could be read.\n\n\
        Examples:\n  \
        meshwork ops check topology.yaml --conf slurm.conf\n  \
        meshwork ops check --conf slurm.conf"
    )]
    Check(Check),
    /// Import the files and the job history of a cluster (sacct, Kueue or SWF) into a site, which
    /// is a folder for the other `ops` commands, and report on the data
    #[command(
        after_help = "For Slurm, the history is the output of `sacct -P`, with columns in any order, compressed \
        by gzip or not. This command prints all columns that are used:\n  \
        SLURM_TIME_FORMAT=%s sacct -a -X -D -P -S 2026-01-01 -o \
        JobIDRaw,JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,State,TimelimitRaw,NNodes,ReqNodes,NodeList,SegmentSize,Reason,Exclusive,AllocTRES,Priority,Flags,SubmitLine\n\n\
        These print the tables of --qos, --assoc, --events and --reservations:\n  \
        sacctmgr show qos -P\n  \
        sacctmgr show assoc -P\n  \
        SLURM_TIME_FORMAT=%s sacctmgr show event -P Start=2026-01-01\n  \
        SLURM_TIME_FORMAT=%s sacctmgr show reservation -P Start=2026-01-01\n\n\
        Examples:\n  \
        meshwork ops import --sacct sacct.txt --topology topology.yaml --conf slurm.conf -o \
        site\n  \
        meshwork ops import --kueue monday.json tuesday.json -o site"
    )]
    Import(Import),
    /// Test the model of Slurm: how many recorded decisions of a site's scheduler it predicts
    #[command(
        after_help = "For each recorded start, the model chooses nodes in the recorded state of the machine, \
        and its node list is compared with the recorded one. The main scheduler chooses from all \
        free nodes; backfill from nodes that are free during the job's whole limit and not planned \
        for jobs of higher priority. The exit status is 1 if the model is not good enough to rely \
        on.\n\n\
        Example:\n  \
        meshwork ops fidelity site"
    )]
    Fidelity(Fidelity),
    /// Replay the jobs of a site under other topology files or another slurm.conf, and compare the
    /// results
    #[command(
        after_help = "Each file is another topology.yaml for the nodes and the slurm.conf of the site, \
        or after --conf another slurm.conf for its nodes and its topology. Files that Slurm would \
        refuse are refused. \
        Differences from the site as it is are taken job by job, with 95 % intervals over \
        batches of consecutive jobs. The exit status is 1 if `ops fidelity` finds that the site is \
        not modelled well enough and --anyway is not given.\n\n\
        Examples:\n  \
        meshwork ops compare site fine.yaml coarse.yaml\n  \
        meshwork ops compare site fine.yaml coarse.yaml --baseline first --cleanup 4 --json\n  \
        meshwork ops compare site --conf four-days.conf"
    )]
    Compare(Compare),
    /// Search for lists of allowed placements that shorten the waits of a site's jobs, and test the
    /// best lists on jobs that the search has not used
    #[command(
        after_help = "On a torus, the search varies the shapes of the listed sizes, their spacing, the position \
        of the first one, and their order; on blocks it varies which sizes are listed. It uses the \
        first half of the history, and tests the best lists on the second half. The result is a \
        change of the site's topology.yaml, with the gain on the second half. The exit status is 1 \
        if nothing better is found, or if `ops fidelity` finds that the site is not modelled well \
        enough and --anyway is not given. Ctrl-C ends the search, and the best list so far is \
        tested.\n\n\
        Example:\n  \
        meshwork ops propose site --budget 10m -o proposed.yaml"
    )]
    Propose(Propose),
    /// Explain why a job waits: the reason, the places that are nearly free, the jobs in
    /// the way, and what would let the job start
    #[command(
        after_help = "The state is one of four: a site at an instant of its history (--at); the output of \
        `scontrol show job -o` or `squeue --json`, with the files of the machine (--topology, --conf, --nodes); a run \
        in a folder of results at an instant (--run, --at); or the state file of `meshwork place`. \
        The last has no queue, so --shape gives the request of which the question is.\n\n\
        Of a Slurm machine the reason, in the JSON and in the table of --all, is `nodes` or `shape` (too few nodes \
        are free, or enough in no allowed shape), `priority` (the job could start, but nodes are kept for jobs before \
        it), `turn` (it could start, and waits for the next pass of the scheduler), `never`, or what holds it back: \
        `held`, `dependency`, `begin_time`, `limit`, `reservation`, `other`. Of a run, and in `ops compare`, nodes \
        kept for others are `reserved`, and a job that waits for its turn has `priority`.\n\n\
        Examples:\n  \
        meshwork ops explain site 1109 --at 2026-11-21T14:54:44\n  \
        meshwork ops explain site --all --at 2026-11-21T14:54:44\n  \
        meshwork ops explain jobs.txt 1109 --nodes nodes.txt --topology topology.yaml --conf \
        slurm.conf\n  \
        meshwork ops explain results 17 --run 3 --at 86400\n  \
        meshwork ops explain state.json --shape 8x8x4"
    )]
    Explain(Explain),
    /// Find the cheapest moves of jobs that free a place of a given shape
    #[command(
        after_help = "The search considers every listed place of the shape, or every block of the shape if the \
        allocator gives blocks. Jobs move one after the other, the largest first. Each goes where \
        the rule or the allocator places it on the nodes that are free by then. The exit status is \
        1 if no moves free a place.\n\n\
        Examples:\n  \
        meshwork ops defrag site --at 2026-11-21T14:54:44 --shape 4x2x2 --exempt 1100\n  \
        meshwork ops defrag results --run 3 --at 86400 --shape 8x8"
    )]
    Defrag(Defrag),
    /// Estimate when waiting jobs of a site start, with an interval from simulated futures of its
    /// queue
    #[command(
        after_help = "Run times are drawn from jobs that had ended by the instant, given limit, user and the \
        time that a job has run; future submissions are drawn from past ones. Nothing that was \
        recorded after the instant is used. A future is simulated until the waiting jobs have \
        started, or the machine is idle. A time is `not in simulated time`, or null in JSON, if the \
        job has not started by then in too many of the futures, and `never` if it would not fit the \
        empty machine. Times in JSON are seconds since 1970.\n\n\
        Examples:\n  \
        meshwork ops when site 1109 --at 2026-11-21T14:54:44\n  \
        meshwork ops when site --all --at 2026-11-21T14:54:44 --json"
    )]
    When(When),
    /// Observe a running Slurm: record its history, and what another policy would have chosen at
    /// every start
    #[command(
        after_help = "The command runs squeue and sinfo and changes nothing. It prints a line for each start of \
        a job. With -o it writes the history as a site, which `ops fidelity` and `ops compare` \
        read, and the free nodes at each decision in starts.jsonl. If several jobs have started \
        between two looks, they are taken in order of their starts.\n\n\
        Example:\n  \
        meshwork ops shadow /etc/slurm --policy policy.toml --partition main -o recorded"
    )]
    Shadow(Shadow),
    /// Run a policy beside an unpatched Slurm: place the jobs of a parking partition on nodes that
    /// the policy chooses
    #[command(
        after_help = "Users submit to a partition with State=DOWN (--park), in which Slurm starts no job. To \
        start a job, the agent moves it with one update to the partition --run, on exactly the \
        nodes that the policy chose. Slurm holds all state, so the agent may be killed at any \
        moment. Read docs/live.md before use, and try --dry-run first.\n\n\
        Examples:\n  \
        meshwork ops agent /etc/slurm --policy policy.toml --dry-run\n  \
        meshwork ops agent /etc/slurm --policy policy.toml --state /var/lib/meshwork\n  \
        meshwork ops agent /etc/slurm --open --state /var/lib/meshwork"
    )]
    Agent(Agent),
}

/// Options about a running Slurm and how often its state is read.
#[derive(Args, Debug)]
pub(crate) struct Live {
    /// A folder with slurm.conf and optionally topology.yaml or topology.conf, such as /etc/slurm
    /// or the folder of a site
    pub(crate) site: PathBuf,
    /// The study that gives the machine and the policy (allocator and scheduler)
    #[arg(long, value_name = "STUDY")]
    pub(crate) policy: Option<PathBuf>,
    /// Override a key of the study of --policy, such as scheduler=easy; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// The names of the nodes in the order of their numbers in the machine of the study, as a host
    /// list [default: the order of slurm.conf; if the study takes its machine from Slurm's files,
    /// the order of these files]
    #[arg(long, value_name = "LIST")]
    pub(crate) names: Option<String>,
    /// When the policy expects jobs to end: at their time limits (limit), or earlier, after the
    /// mean run time of their user's last two jobs (user_mean) or the 90 % quantile of the user's
    /// last hundred run times (user_p90)
    #[arg(long, value_name = "RULE", default_value = "limit", value_parser = end_rule(), requires_ifs = [("user_mean", "history"), ("user_p90", "history")])]
    pub(crate) ends: EndRule,
    /// The folder of a site, as `ops import` or `ops shadow` writes it, from whose history the past
    /// run times of users are taken; it is read again when it has changed
    #[arg(long, value_name = "SITE")]
    pub(crate) history: Option<PathBuf>,
    /// The time between two readings of the state of Slurm, such as 1s or 500ms
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = poll)]
    pub(crate) poll: Duration,
    /// End after the state of Slurm has been read this number of times
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

/// Reads the name of a rule for the expected ends of jobs.
fn end_rule() -> impl TypedValueParser<Value = EndRule> {
    PossibleValuesParser::new(EndRule::ALL.map(|(name, _)| name)).map(|text| {
        EndRule::ALL
            .into_iter()
            .find(|(name, _)| *name == text)
            .map_or_else(EndRule::default, |(_, rule)| rule)
    })
}

/// Reads the time between two readings of Slurm's state, such as `500ms` or `2s`.
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
    /// The partition that is observed [default: the default partition of slurm.conf]
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// Write the recorded history into this folder as a site, with the starts in starts.jsonl and a
    /// page in shadow.html
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object for each start of a job
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork ops agent`.
#[derive(Args, Debug)]
pub(crate) struct Agent {
    #[command(flatten)]
    pub(crate) live: Live,
    /// Print the actions that the agent would take, but change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The parking partition, to which users submit
    #[arg(long, value_name = "NAME", default_value = "in")]
    pub(crate) park: String,
    /// The partition to which the agent moves a job so that it starts
    #[arg(long, value_name = "NAME", default_value = "run")]
    pub(crate) run: String,
    /// A partition to which the agent moves jobs that the policy cannot handle, so that Slurm
    /// starts them [default: they stay parked]
    #[arg(long, value_name = "NAME")]
    pub(crate) pass: Option<String>,
    /// The maximum number of waiting jobs that one decision considers; these are the jobs of
    /// highest priority
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: u32,
    /// The folder for log, heartbeat and lock of the agent [default: `agent` in the folder of the
    /// site]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) state: Option<PathBuf>,
    /// When a datagram arrives at this port of the loopback interface, read the state of Slurm
    /// without further delay
    #[arg(long, value_name = "PORT")]
    pub(crate) wake: Option<u16>,
    /// Also serve, with the metrics of --metrics, the wait of each waiting job, with its ID
    #[arg(long, requires = "metrics")]
    pub(crate) metrics_jobs: bool,
    /// Open the parking partition, so that Slurm starts its jobs, and keep agents from placing jobs
    /// (kill switch)
    #[arg(long, conflicts_with_all = ["policy", "close", "watchdog", "replay", "dry_run"])]
    pub(crate) open: bool,
    /// Undo --open: close the parking partition, and let agents place jobs again
    #[arg(long, conflicts_with_all = ["policy", "watchdog", "replay", "dry_run"])]
    pub(crate) close: bool,
    /// Open the parking partition if the heartbeat of the agent is older than this time; the exit
    /// status is then 1
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with_all = ["policy", "replay", "dry_run"])]
    pub(crate) watchdog: Option<Duration>,
    /// Repeat the decisions of an agent's log instead of running an agent; the exit status is 1 if
    /// a decision differs
    #[arg(long, value_name = "LOG", requires = "policy", conflicts_with = "dry_run")]
    pub(crate) replay: Option<PathBuf>,
}

/// An instant as written on the command line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum At {
    /// For a simulated run, a time on the run's clock. For a site, seconds since 1970.
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

/// Options that select the state of a machine at one instant.
#[derive(Args, Debug)]
pub(crate) struct State {
    /// The machine and its jobs: the folder of a site, a folder of results, the output of `scontrol
    /// show job -o`, the state file of `meshwork place`, or, for `defrag` alone, the answer of
    /// `meshwork place --slurm` to the request `show`, in which no job waits
    pub(crate) state: PathBuf,
    /// The instant at which the machine is examined: for a site, a date such as 2026-01-31T23:59:59
    /// or seconds since 1970; for a run, a time in its own unit; it may be left out if a job in a
    /// site's history is named, and is then the time at which this job began to wait
    #[arg(long, value_name = "TIME", value_parser = at)]
    pub(crate) at: Option<At>,
    /// The time zone of displayed dates, and of dates that are given without a zone, such as
    /// Europe/Berlin or +01:00 [default: UTC for a site's history; the zone of scontrol for its
    /// output]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true, value_parser = LocalClock::read)]
    pub(crate) time_zone: Option<LocalClock>,
    /// The run that is examined, in a folder of results: a scenario such as 3, or scenario and
    /// replication such as 3/2
    #[arg(long, value_name = "SCENARIO[/REPLICATION]", requires = "at")]
    pub(crate) run: Option<RunName>,
    /// The topology.yaml or topology.conf of the machine, for a state that is not the folder of a
    /// site
    #[arg(long, value_name = "FILE")]
    pub(crate) topology: Option<PathBuf>,
    /// The slurm.conf of the machine, for a state that is not the folder of a site; without
    /// --topology, the machine is flat
    #[arg(long, value_name = "FILE")]
    pub(crate) conf: Option<PathBuf>,
    /// The output of `scontrol show nodes -o`, which shows the nodes that are down
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) memory: Memory,
}

/// Arguments of `meshwork ops explain`.
#[derive(Args, Debug)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) state: State,
    /// The ID of the job, such as 1109 or 1088_3
    #[arg(required_unless_present_any = ["shape", "all"])]
    pub(crate) job: Option<String>,
    /// Explain all waiting jobs of a Slurm machine in one table, with the reasons that Slurm shows
    #[arg(long, conflicts_with_all = ["job", "shape"])]
    pub(crate) all: bool,
    /// Explain why a request would wait, instead of why a job waits: sides such as 8x8x4, a number
    /// of nodes, a subcube such as 2^5, or where jobs share nodes "gpu=8 cpu=8"; works only on
    /// results of a run or a state file of `meshwork place`
    #[arg(long, value_name = "SHAPE", conflicts_with = "job")]
    pub(crate) shape: Option<String>,
    /// Print the result as one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork ops when`.
#[derive(Args, Debug)]
pub(crate) struct When {
    /// The folder of the site, as `ops import` wrote it
    pub(crate) site: PathBuf,
    /// The ID of the job, such as 1109 or 1088_3
    #[arg(required_unless_present = "all")]
    pub(crate) job: Option<String>,
    /// Estimate the starts of all waiting jobs, as a table
    #[arg(long, conflicts_with = "job", requires = "at")]
    pub(crate) all: bool,
    /// The instant at which the job waits: a date such as 2026-01-31T23:59:59, or seconds since
    /// 1970 [default: when the job began to wait]
    #[arg(long, value_name = "TIME", value_parser = at)]
    pub(crate) at: Option<At>,
    /// The probability with which a job starts within the predicted interval
    #[arg(long, value_name = "P", default_value = "0.9", value_parser = confidence)]
    pub(crate) confidence: f64,
    /// The number of possible futures of the queue that are simulated
    #[arg(long, value_name = "N", default_value = "200", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) futures: u32,
    /// The seed of the random numbers
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) seed: u64,
    /// The clean-up time: seconds from a job's end until its nodes can be allocated again
    #[arg(long, value_name = "SECONDS", default_value = "1", allow_negative_numbers = true, value_parser = seconds)]
    pub(crate) cleanup: u32,
    /// The time zone of displayed dates, and of dates that are given without a zone [default: UTC]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true, value_parser = LocalClock::read)]
    pub(crate) time_zone: Option<LocalClock>,
    /// Print the result as one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a whole number of seconds, without a unit.
fn seconds(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "must be a whole number of seconds, as 4".to_owned())
}

/// Reads a probability strictly between 0 and 1.
fn confidence(text: &str) -> Result<f64, String> {
    let value = share(text).filter(|value| *value > 0.0 && *value < 1.0);
    value.ok_or_else(|| "a probability between 0 and 1 is needed, as 0.9 or 90%".to_owned())
}

/// Arguments of `meshwork ops defrag`.
#[derive(Args, Debug)]
pub(crate) struct Defrag {
    #[command(flatten)]
    pub(crate) state: State,
    /// The shape of the place to free, such as 8x8x4, or its number of nodes; on results of a run
    /// or a state file of `meshwork place`, also a subcube such as 2^5, or where jobs share nodes
    /// "gpu=8 cpu=8"
    #[arg(long)]
    pub(crate) shape: String,
    /// The IDs of jobs that may not be moved, separated by commas
    #[arg(long, value_name = "JOB", value_delimiter = ',')]
    pub(crate) exempt: Vec<String>,
    /// The cost of moving a job: 1 (moves), the number of its nodes (nodes), or the number of its
    /// nodes times the seconds for which it has run (node_seconds)
    #[arg(long, default_value = "moves", value_parser = ["moves", "nodes", "node_seconds"])]
    pub(crate) cost: String,
    /// The partition in which a place is freed [default: the default partition of slurm.conf]
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// The number of the site in which a place is freed, for a run on several sites [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) site: Option<u64>,
    /// The maximum number of plans of moves to print, cheapest first
    #[arg(long, value_name = "N", default_value = "3")]
    pub(crate) plans: usize,
    /// Print the result as one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of a replay of the jobs of a site.
#[derive(Args, Debug)]
pub(crate) struct Terms {
    /// The clean-up time: seconds from a job's end until its nodes can be allocated again [default:
    /// the best fit to the history]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
    pub(crate) cleanup: Option<u32>,
    /// The treatment of jobs whose size a topology does not list: request the next larger listed
    /// size (round_up), or refuse the job (refuse)
    #[arg(long, default_value = "round_up", value_parser = ["round_up", "refuse"])]
    pub(crate) unlisted: String,
    /// Continue even if the site is not modelled well enough by the measure of `ops fidelity`; the
    /// result then begins with a warning
    #[arg(long)]
    pub(crate) anyway: bool,
}

/// Arguments of `meshwork ops compare`.
#[derive(Args, Debug)]
pub(crate) struct Compare {
    /// The folder of the site, as `ops import` wrote it
    pub(crate) site: PathBuf,
    /// The topology files to compare with that of the site; none is needed with --conf
    #[arg(required_unless_present = "confs", value_name = "TOPOLOGY")]
    pub(crate) topologies: Vec<PathBuf>,
    /// Another slurm.conf for the machine of the site, with other weights, limits or parameters of
    /// the schedulers; may be repeated
    #[arg(long = "conf", value_name = "FILE")]
    pub(crate) confs: Vec<PathBuf>,
    /// The baseline of the comparison: the site as it is (site), or the first of the given files
    /// (first)
    #[arg(long, default_value = "site", value_parser = ["site", "first"])]
    pub(crate) baseline: String,
    /// The number of copies of the history that are replayed; in each copy, times have other
    /// fractions of seconds, since accounting records only whole seconds [default: 20, fewer for
    /// more than 1,000 jobs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) copies: Option<u64>,
    #[command(flatten)]
    pub(crate) terms: Terms,
    /// Write an HTML page with the table, plots of the differences and, of a torus, the
    /// utilization of each node
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print the result as one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork ops propose`.
#[derive(Args, Debug)]
pub(crate) struct Propose {
    /// The folder of the site, as `ops import` wrote it
    pub(crate) site: PathBuf,
    /// The time that the search may take, such as 10m, 1h30m or 90s
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub(crate) budget: Duration,
    /// Try at most this number of placement lists, however long it takes, so that the result is the
    /// same on every computer
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
    /// Write the topology.yaml with the proposed lists to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the written file if it exists
    #[arg(long, requires = "out")]
    pub(crate) replace: bool,
    /// Print the result as one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork ops fidelity`.
#[derive(Args, Debug)]
pub(crate) struct Fidelity {
    /// The folder of the site, as `ops import` wrote it
    pub(crate) site: PathBuf,
    /// Write to this file, as CSV, each recorded start of a job with the start that the model
    /// predicts
    #[arg(long, value_name = "FILE")]
    pub(crate) starts: Option<PathBuf>,
    /// Print the result as one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork ops import`.
#[derive(Args, Debug)]
pub(crate) struct Import {
    /// The accounting records of Slurm: the output of `sacct -P` or `sacct --json`
    #[arg(long, value_name = "FILE", required_unless_present_any = ["swf", "kueue"])]
    pub(crate) sacct: Option<PathBuf>,
    /// The workloads and nodes of Kueue: the outputs of `kubectl get workloads,nodes -A -o json` at
    /// several times, in chronological order
    #[arg(
        long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["sacct", "swf", "conf", "time_zone"]
    )]
    pub(crate) kueue: Vec<PathBuf>,
    /// A history given as a log in the Standard Workload Format, which has waits but no node lists
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sacct", "time_zone"])]
    pub(crate) swf: Option<PathBuf>,
    /// The topology.yaml or topology.conf of the machine [default: a flat machine with the nodes of
    /// --conf; with --kueue, a tree that is made from the labels of nodes]
    #[arg(long, value_name = "FILE")]
    pub(crate) topology: Option<PathBuf>,
    /// The slurm.conf of the machine
    #[arg(long, value_name = "FILE")]
    pub(crate) conf: Option<PathBuf>,
    /// The qualities of service (QOS): the output of `sacctmgr show qos -P`, with Name, Priority,
    /// Preempt, GrpTRES, GrpJobs, MaxTRES, MaxWall, MaxTRESPU, MaxJobsPU, MaxTRESPA and MaxJobsPA
    #[arg(long, value_name = "FILE", conflicts_with = "kueue")]
    pub(crate) qos: Option<PathBuf>,
    /// The associations of users and accounts: the output of `sacctmgr show assoc -P`, with
    /// Account, User, Share, GrpJobs, GrpTRES, MaxJobs, MaxTRES and MaxWall
    #[arg(long, value_name = "FILE", conflicts_with = "kueue")]
    pub(crate) assoc: Option<PathBuf>,
    /// The times at which nodes were down or drained: the output of `sacctmgr show event -P
    /// Start=DATE` since the date of --sacct, with NodeName, TimeStart and TimeEnd
    #[arg(long, value_name = "FILE", conflicts_with = "kueue")]
    pub(crate) events: Option<PathBuf>,
    /// The reservations of nodes: the output of `sacctmgr show reservation -P Start=DATE`, with
    /// Name, TRES, TimeStart and TimeEnd, or of `scontrol show res -o`, which forgets those that
    /// have ended
    #[arg(long, value_name = "FILE", conflicts_with = "kueue")]
    pub(crate) reservations: Option<PathBuf>,
    /// The folder into which the site is written
    #[arg(short, long, value_name = "SITE")]
    pub(crate) out: PathBuf,
    /// The time zone of dates that are given without a zone, such as Europe/Berlin or +01:00
    /// [default: UTC, with a warning]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    pub(crate) time_zone: Option<String>,
    /// Print the result as one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork ops check`.
#[derive(Args, Debug)]
pub(crate) struct Check {
    /// The topology file to lint: topology.yaml or topology.conf; a flat machine needs none
    #[arg(required_unless_present = "conf")]
    pub(crate) file: Option<PathBuf>,
    /// The slurm.conf of the machine; without it, every node named in the topology is assumed to
    /// exist
    #[arg(long, value_name = "FILE")]
    pub(crate) conf: Option<PathBuf>,
    /// The gres.conf of the machine, to lint the configuration of its GPUs too
    #[arg(long, value_name = "FILE", requires = "conf")]
    pub(crate) gres: Option<PathBuf>,
    /// Print the result as one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
