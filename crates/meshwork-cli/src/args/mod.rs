//! The command line arguments.

pub(crate) mod choose;
mod groups;
pub(crate) mod ops;
mod start;
mod sweep;
pub(crate) mod trace;
mod traffic;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use meshwork_operator::instant::RunName;

use crate::memory::Memory;

use choose::{CHOOSE_HELP, Choose};
pub(crate) use groups::{command, hint};
use ops::Ops;
pub(crate) use start::{New, Replay, Start};
pub(crate) use sweep::{Collect, Engine, RunsFormat, Shards, Status, Submit};
use sweep::{SUBMIT_HELP, duration};
use trace::Trace;
pub(crate) use traffic::Traffic;

/// Simulates processor allocation and job scheduling on meshes, tori, hypercubes, fat trees,
/// dragonflies, TPU pods, flat machines and several sites; `ops` is for clusters under Slurm or
/// Kueue.
#[derive(Debug, Parser)]
#[command(
    name = "meshwork",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "Example:\n  meshwork run examples/first.toml --set scheduler=easy"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run studies and print a table of their results, with confidence intervals
    #[command(
        after_help = "Every finished run is stored in DIR/runs.jsonl, so the same command continues where it \
        stopped.\n\n\
        The address of the page of --serve is printed on standard error. On a terminal the page \
        stays until Enter or Ctrl-C, elsewhere until all runs have ended. --serve=once always ends \
        it when all runs have ended; --serve=stay keeps it until the command is ended.\n\n\
        --shard I/N divides the study into N parts and runs part I, which is 0 to N-1. Give the \
        same command with every I, on any computers that see DIR; `meshwork collect` then merges \
        the results. /N takes I from HQ_TASK_ID, SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX or \
        LSB_JOBINDEX (which counts from 1).\n\n\
        After --time-budget, or on SIGTERM, no further run starts, and the exit status is 75; \
        after Ctrl-C it is 130. With --out the same command continues the study; without it \
        nothing is kept, and a signal ends the command at once.\n\n\
        Examples:\n  \
        meshwork run study.toml --set workload.load=0.7 --out results\n  \
        meshwork run study.toml --out results --shard 0/4 --time-budget 55m"
    )]
    Run(Run),
    /// Choose the best scenario of a study with few runs, and with a guarantee of how good it is
    #[command(after_help = CHOOSE_HELP)]
    Choose(Choose),
    /// Replay a log of jobs under several schedulers, without writing a study first
    #[command(
        after_help = "Prints a table of results and writes a page with plots. Without --machine, the machine is \
        flat and has the number of processors in the log's header. The folder also has the study \
        that was made, experiment.toml, which you can edit and run.\n\n\
        Examples:\n  \
        meshwork replay lublin.swf.gz\n  \
        meshwork replay log.swf --machine torus:8x8x8 --schedulers easy,conservative"
    )]
    Replay(Replay),
    /// Write a new study, with comments that explain it, from a template
    #[command(after_help = "Example:\n  meshwork new study.toml --from log")]
    New(New),
    /// Print the JSON Schema of study files, with which editors complete and check them
    #[command(
        after_help = "Editors that know TOML complete and check the keys of a study that has the line `#:schema \
        study.schema.json` at its top, as `meshwork new` writes it.\n\n\
        Example:\n  \
        meshwork schema > study.schema.json"
    )]
    Schema,
    /// Run a study on a cluster: write a script for an array of jobs, and submit it
    #[command(after_help = SUBMIT_HELP)]
    Submit(Submit),
    /// Merge the results of all shards (parts) of a study into one folder
    #[command(
        after_help = "DIR/runs.jsonl becomes byte for byte what one process would have written. The command may \
        be run at any time, also while shards are running. Once all runs have finished, the tables \
        are written too.\n\n\
        Exit status: 0 if all runs have finished; 1 if all have finished and some failed; 3 if \
        some are missing, which are then listed.\n\n\
        Example:\n  \
        meshwork collect results"
    )]
    Collect(Collect),
    /// Print how many runs of a study its shards (parts) have finished
    #[command(
        after_help = "The command reads only the files in DIR, so it can be run on any computer that sees \
        DIR.\n\n\
        Exit status: 0 if all runs have finished; 1 if all have finished and some failed; 3 \
        otherwise.\n\n\
        Examples:\n  \
        meshwork status results\n  \
        meshwork status results --watch"
    )]
    Status(Status),
    /// Run the built-in studies of a paper and print which of its claims hold
    #[command(
        after_help = "Papers: rsr, wbsm, lazy, intelligent, noncontiguous, rfold; without a paper, all of them \
        are run. Every finished run is stored, so the same command continues where it stopped.\n\n\
        fgd is the experiment of Weng et al. (ATC 2023) on fragmented GPUs. It reads one trace of \
        nodes and one of tasks, and prints the means of each placement rule at each arrived \
        load.\n\n\
        Examples:\n  \
        meshwork reproduce rsr 1a --quick\n  \
        meshwork reproduce fgd --nodes openb_node_list_gpu_node.csv --tasks \
        openb_pod_list_default.csv\n  \
        meshwork reproduce intelligent --set workload.path=SDSC-SP2-1998-4.2-cln.swf.gz"
    )]
    Reproduce(Reproduce),
    /// Write an HTML page with the plots, tables and claims of a folder of results
    #[command(
        after_help = "The headline of the page is printed too. The page is one HTML file that needs no other \
        file and no network. While shards are \
        running, the page shows the runs that they have finished. --serve shows the page in a \
        browser as runs are added, and ends like --serve of `meshwork run`.\n\n\
        Examples:\n  \
        meshwork run study.toml --out results\n  \
        meshwork report results\n  \
        meshwork report reproduction --out page.html"
    )]
    Report(Report),
    /// Print the scenarios of a study, with every default filled in, without running them
    #[command(after_help = "Example:\n  meshwork show study.toml --set scheduler=easy")]
    Show(Show),
    /// List the names that a study may use (strategies, workloads, metrics), with their parameters
    #[command(
        after_help = "Kinds: topology, machine, workload, size, runtime, estimate, dependency, resample, scheduler, \
        selector, sizing, allocator, order, within, network, pattern, traffic, metric.\n\nExamples:\n  meshwork list allocator\n  \
        meshwork list first_fit\n  meshwork list --grep backfill"
    )]
    List(List),
    /// Inspect, convert, generate and fit logs in the Standard Workload Format
    #[command(subcommand, arg_required_else_help = true)]
    Trace(Trace),
    /// Draw the machine of one run of a study in the terminal, event by event
    #[command(after_help = WATCH_HELP)]
    Watch(Watch),
    /// Make one scheduling decision for a given state: print which jobs start, on which nodes, and
    /// which nodes are reserved for waiting jobs
    #[command(
        after_help = "The state is a JSON object. `now` is the time. `running` lists running \
        jobs, each with id, nodes (or blocks), since and until. `waiting` lists waiting jobs in \
        the order of the queue, each with id and the columns of a table of jobs, of which a size \
        and an estimate are needed. Three keys may be left out: `names` is a host list of all \
        nodes, which are then written by their names; `withheld` lists nodes that jobs cannot get, \
        each entry with nodes and from, and optionally until and jobs; `memory` is what the plan \
        before this one gave under this key. The study gives the machine and the policy \
        (allocator and scheduler).\n\n\
        Example:\n  \
        meshwork plan state.json --study study.toml"
    )]
    Plan(Plan),
    /// Allocate nodes for another program, which sends one line of JSON for each request
    #[command(after_help = PLACE_HELP)]
    Place(Place),
    /// Measure the latency, blocking and saturation of a network under random packets, without jobs
    #[command(
        after_help = "Every node creates packets at random times. The load is the mean number of flits that a \
        node creates per cycle.\n\n\
        Example:\n  \
        meshwork traffic --machine torus:8x8x8 --loads 0.05,0.1,0.2 --timing booksim --buffer 8"
    )]
    Traffic(Traffic),
    /// Answer questions about a cluster under Slurm or Kueue: its configuration, its history, why a
    /// job waits
    #[command(subcommand, arg_required_else_help = true)]
    Ops(Ops),
    /// Repeat a sample of stored runs and check that the results equal the stored ones
    #[command(after_help = "Example:\n  meshwork check results --sample 100")]
    Check(Check),
    /// Print a script by which a shell completes the words of a `meshwork` command line
    #[command(
        after_help = "Example:\n  meshwork completions bash > ~/.local/share/bash-completion/completions/meshwork"
    )]
    Completions {
        /// The shell for which the script is printed
        shell: Shell,
    },
    /// Write the reference pages of the manual, one for each entry of each list
    #[command(hide = true)]
    Manual {
        /// The folder of the manual, with SUMMARY.md and reference/
        dir: PathBuf,
    },
    /// Print the manual page of `meshwork`, or write the pages of all commands into a folder
    #[command(after_help = "Example:\n  meshwork man ~/.local/share/man/man1")]
    Man {
        /// The folder for the manual pages of all commands [default: print the page of `meshwork`]
        dir: Option<PathBuf>,
    },
}

/// Arguments of `meshwork run`.
#[derive(Args, Debug)]
pub(crate) struct Run {
    /// The files of the studies to run
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Override a key of the study, such as workload.load=0.7, whatever the file and its sweep say;
    /// may be given several times
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// The folder for results; with several studies, each gets a subfolder
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// If the folder for results belongs to another study, replace the tables of that study, but
    /// keep its stored runs
    #[arg(long, requires = "out", conflicts_with = "shard")]
    pub(crate) replace: bool,
    /// The number of threads that simulate [default: one for each processor of this computer]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object for each scenario instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Show plots and the machine in a browser while the study runs, on a page that only this
    /// computer can open
    #[arg(
        long, value_name = "UNTIL", num_args = 0..=1, require_equals = true,
        default_missing_value = "auto", hide_possible_values = true
    )]
    pub(crate) serve: Option<ServeUntil>,
    /// Run only part I of the N parts of the study, where I is 0 to N-1; with /N, I is the number
    /// of the array task
    #[arg(long, value_name = "I/N", requires = "out", conflicts_with_all = ["serve", "json"])]
    pub(crate) shard: Option<String>,
    /// A file, written by `meshwork submit`, that says which runs belong to which shard
    #[arg(long, value_name = "FILE", requires = "shard")]
    pub(crate) deal: Option<PathBuf>,
    /// Start no further run once this time has passed, such as 55m, 1h30m or 1:30:00; the exit
    /// status is then 75; needs --out
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "out")]
    pub(crate) time_budget: Option<Duration>,
    #[command(flatten)]
    pub(crate) memory: Memory,
}

/// How long `meshwork run --serve` serves its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ServeUntil {
    /// Serve the page until Enter is pressed, or until all runs have ended if there is no terminal.
    Auto,
    /// Serve the page until all runs have ended.
    Once,
    /// Serve the page until the command is terminated.
    Stay,
}

impl ServeUntil {
    pub(crate) fn stays(self) -> bool {
        match self {
            ServeUntil::Auto => io::stdin().is_terminal() && io::stderr().is_terminal(),
            ServeUntil::Once => false,
            ServeUntil::Stay => true,
        }
    }
}

/// Arguments of `meshwork reproduce`.
#[derive(Args, Debug)]
pub(crate) struct Reproduce {
    /// The paper to reproduce; all papers if omitted
    pub(crate) paper: Option<String>,
    /// The figure or table of the paper to reproduce, such as 1a; all of them if omitted
    pub(crate) figure: Option<String>,
    /// Make fewer and shorter runs, so that a figure takes seconds and all figures a few minutes;
    /// intervals are then wider
    #[arg(long)]
    pub(crate) quick: bool,
    /// List the studies of the paper and run nothing
    #[arg(long, conflicts_with = "out")]
    pub(crate) list: bool,
    /// Override a key in every study that is run; a new workload.path is used only in studies that
    /// read a log
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// The folder for results; each study gets a subfolder
    #[arg(short, long, value_name = "DIR", default_value = "reproduction")]
    pub(crate) out: PathBuf,
    /// The number of threads that simulate [default: one for each processor of this computer]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Also print the tables of every study, not only its claims
    #[arg(long, conflicts_with = "json")]
    pub(crate) tables: bool,
    /// Print one JSON object for each claim; the experiment fgd prints one for each placement rule
    /// and load
    #[arg(long)]
    pub(crate) json: bool,
    /// The nodes of the cluster for the experiment fgd, as a CSV file
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Option<String>,
    /// The tasks of the workload for the experiment fgd, as a CSV file
    #[arg(long, value_name = "FILE")]
    pub(crate) tasks: Option<String>,
    /// The number of seeds over which the experiment fgd takes means [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: Option<u64>,
    #[command(flatten)]
    pub(crate) memory: Memory,
}

/// Arguments of `meshwork report`.
#[derive(Args, Debug)]
pub(crate) struct Report {
    /// A folder of results, as `meshwork run --out` or `meshwork reproduce` wrote it
    pub(crate) dir: PathBuf,
    /// The HTML file to write [default: DIR/report.html]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Show the page in a browser of this computer, and update it as runs are added to the folder
    /// of results
    #[arg(
        long, value_name = "UNTIL", num_args = 0..=1, require_equals = true,
        default_missing_value = "auto", hide_possible_values = true, conflicts_with_all = ["out", "figures", "runs"]
    )]
    pub(crate) serve: Option<ServeUntil>,
    /// Also write every figure of the page into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
    /// A run whose machine the page shows instant by instant, such as 3 for the first run of the
    /// third scenario or 3/2 for its second; may be given several times [default: runs of up to
    /// four of the compared scenarios]
    #[arg(long = "run", value_name = "SCENARIO[/REPLICATION]", value_parser = run_of)]
    pub(crate) runs: Vec<(u64, u64)>,
    /// The time of a run from which on the page shows its machine, in the unit of the workload's
    /// clock
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = not_negative)]
    pub(crate) from: f64,
    /// The maximum number of jobs of a run that the page shows with the machine; 0 shows no machine
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    pub(crate) jobs: usize,
}

/// Parses a scenario and an optional replication, each counted from 1.
fn run_of(text: &str) -> Result<(u64, u64), String> {
    text.parse().map(|RunName { scenario, replication }| (scenario, replication))
}

/// Arguments of `meshwork show`.
#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The file of the study
    pub(crate) file: PathBuf,
    /// Override a key of the study, such as workload.load=0.7, whatever the file and its sweep say;
    /// may be given several times
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Print one JSON object for each scenario instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `meshwork plan`.
#[derive(Args, Debug)]
pub(crate) struct Plan {
    /// The file with the state of machine and queue, as JSON; - for standard input
    pub(crate) state: PathBuf,
    /// The study that gives the machine and the policy (allocator and scheduler)
    #[arg(long, value_name = "FILE")]
    pub(crate) study: PathBuf,
    /// Override a key of the study, such as scheduler=easy
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
}

/// Arguments of `meshwork list`.
#[derive(Args, Debug)]
pub(crate) struct List {
    /// The kind of names to list, such as allocator, or a single name to show, such as first_fit or
    /// the node type dgx [default: list all kinds with all names]
    pub(crate) kind: Option<String>,
    /// A name of the given kind, whose entry is printed with all its parameters
    pub(crate) name: Option<String>,
    /// List only entries with this text in their name, alias, summary, definition or source,
    /// ignoring case
    #[arg(long, value_name = "TEXT", conflicts_with = "name")]
    pub(crate) grep: Option<String>,
    /// Print one JSON object for each entry
    #[arg(long)]
    pub(crate) json: bool,
}

const WATCH_HELP: &str = "Keys on a terminal: space pauses and resumes; . or the right arrow goes on by one event, and \
    , or the left arrow back by one; t goes to a time and e to an event, Home to the beginning; j \
    and k scroll the queue by one line, PageDown and PageUp by ten; Tab chooses the next \
    running job, whose nodes then stand out, and shift with Tab the previous one; + and - change \
    the speed; q quits.\n\n\
    If the output is no terminal, or with any of --frames, --every, --until and --max-frames, \
    frames of plain text are written one below the other.\n\n\
    Each running job has a letter and a colour; a dot is a free processor. A node that jobs share \
    has the letter of the job that holds most of it, and a bar for how much is held. Layers of a \
    mesh stand side by side; a hypercube is drawn as a Karnaugh map.\n\n\
    Examples:\n  \
    meshwork watch study.toml --set scheduler=easy\n  \
    meshwork watch study.toml --until 100 --every 10";

/// Arguments of `meshwork watch`.
#[derive(Args, Debug)]
pub(crate) struct Watch {
    /// The file of the study, or a folder of results that `meshwork run --out` wrote
    pub(crate) file: PathBuf,
    /// Override a key of the study, such as workload.load=0.7, whatever the file and its sweep say;
    /// may be given several times
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// The run to draw: a scenario such as 3, or scenario and replication such as 3/2, each counted
    /// from 1
    #[arg(long, value_name = "SCENARIO[/REPLICATION]", default_value = "1")]
    run: RunName,
    /// The scenario of the run; superseded by `--run`
    #[arg(long, hide = true, conflicts_with = "run", value_parser = clap::value_parser!(u64).range(1..))]
    scenario: Option<u64>,
    /// The replication of the run; superseded by `--run`
    #[arg(long, hide = true, conflicts_with = "run", value_parser = clap::value_parser!(u64).range(1..))]
    replication: Option<u64>,
    /// Write frames of plain text one below the other, even on a terminal
    #[arg(long)]
    pub(crate) frames: bool,
    /// The number of events between two frames [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) every: Option<u64>,
    /// Begin paused at this time of the run
    #[arg(long, value_name = "T", value_parser = not_negative, conflicts_with = "from_event")]
    pub(crate) from: Option<f64>,
    /// Begin paused after this number of events of the run
    #[arg(long, value_name = "N")]
    pub(crate) from_event: Option<u64>,
    /// Write frames up to and including this time of the run
    #[arg(long, value_name = "T", value_parser = not_negative)]
    pub(crate) until: Option<f64>,
    /// The maximum number of frames to write
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_frames: Option<u64>,
    /// The width of a frame in columns
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub(crate) width: u16,
    #[command(flatten)]
    pub(crate) memory: Memory,
}

impl Watch {
    pub(crate) fn run(&self) -> RunName {
        RunName {
            scenario: self.scenario.unwrap_or(self.run.scenario),
            replication: self.replication.unwrap_or(self.run.replication),
        }
    }

    /// Whether an option is given that implies frames of plain text.
    pub(crate) fn wants_frames(&self) -> bool {
        self.frames || self.every.is_some() || self.until.is_some() || self.max_frames.is_some()
    }
}

const PLACE_HELP: &str = "Each line of standard input is one operation, and is answered at once by one line on standard \
    output:\n\n  \
    {\"op\":\"allocate\",\"id\":\"a\",\"block\":[3,5]}  or \"nodes\":7, or \"subcube\":2\n  \
    {\"op\":\"release\",\"id\":\"a\"}\n  \
    {\"op\":\"can\",\"nodes\":7}                     where it would be placed now; changes \
    nothing\n  \
    {\"op\":\"free\",\"ratio\":[2,1]}                the number of free nodes (of free cores where \
    jobs share nodes), and the largest free block\n  \
    {\"op\":\"adopt\",\"id\":\"b\",\"blocks\":[{\"base\":[0,0],\"dims\":[3,5]}]}\n  \
    {\"op\":\"hold_exactly\",\"held\":[{\"id\":7,\"nodes\":[0,1]}]}  all that is held from now on\n  \
    {\"op\":\"snapshot\"}                          the whole state\n  \
    {\"op\":\"restore\",\"snapshot\":{…}}            continue from a saved state\n  \
    {\"op\":\"show\"}                              what is held, and a drawing\n\n\
    All operations except restore may have \"at\":TIME, for allocators that use the time. A wrong \
    line is answered by {\"error\":…,\"line\":…} and changes nothing; the exit status is then \
    1.\n\n\
    If jobs share nodes, as with --machine '{topology=\"flat\",processors=4,nodes=[{type=\"dgx\"}]}', \
    a job may ask for parts of nodes:\n\n  \
    {\"op\":\"allocate\",\"id\":\"a\",\"pieces\":2,\"gpu\":1,\"cpu\":8,\"mem\":60000}  mem in MiB; \
    and optionally \"other\",\n  \
    \"per_node\", \"inside\":\"node\", \"type\", \"exclusive\":\"node\", \"roles\"\n\n\
    With --slurm nodes have names, and there are three operations: allocate, release and show. The \
    answer to a job is its nodes, or why it waits, or why it never starts; with \"dry\":true it is \
    the answer alone, and changes nothing, as \"can\" does elsewhere:\n\n  \
    {\"op\":\"allocate\",\"id\":\"a\",\"nodes\":16}  and optionally \"nodes_max\", \"segment\", \
    \"spread_segments\":true,\n  \
    \"consolidate_segments\":true, \"switches\", \"contiguous\":true, \"require\":\"n[0-3]\", \
    \"exclude\":\"n9\",\n  \
    \"exclusive\":\"topo\", \"share\":1 (processors of each node; without it nodes are whole), \
    \"dry\":true\n  \
    {\"op\":\"allocate\",\"id\":\"a\",\"options\":\"-n2 --gpus-per-task=1 -c8\"}  parts of nodes, \
    with options of salloc\n\n\
    Example:\n  \
    echo '{\"op\":\"allocate\",\"id\":\"a\",\"block\":[3,5]}' | meshwork place --machine mesh:8x8";

/// Arguments of `meshwork place`.
#[derive(Args, Debug)]
pub(crate) struct Place {
    /// The machine whose nodes are allocated: mesh:8x8, torus:8x8x8, hypercube:10, flat:128,
    /// tpu_v4, or a table as in a study
    #[arg(short, long, required_unless_present_any = ["slurm", "conf"])]
    pub(crate) machine: Option<String>,
    /// The topology.yaml or topology.conf of a Slurm machine; nodes are given by their names, and
    /// are allocated as Slurm would
    #[arg(long, value_name = "FILE", conflicts_with_all = ["machine", "allocator", "state", "seed", "shape"])]
    pub(crate) slurm: Option<PathBuf>,
    /// The slurm.conf that belongs to the file of --slurm, with the nodes, weights and partitions
    /// of the machine; without --slurm, the machine is flat
    #[arg(long, value_name = "FILE", conflicts_with_all = ["machine", "allocator", "state", "seed", "shape"])]
    pub(crate) conf: Option<PathBuf>,
    /// The gres.conf that belongs to the file of --conf, with the GPUs of the machine, for
    /// requests that have the key `options`
    #[arg(long, value_name = "FILE", requires = "conf")]
    pub(crate) gres: Option<PathBuf>,
    /// The partition whose nodes are allocated [default: the default partition of slurm.conf]
    #[arg(long, value_name = "NAME", conflicts_with = "machine")]
    pub(crate) partition: Option<String>,
    /// The allocator: a name, or a table such as {name="first_fit",rotation="best"} [default:
    /// first_fit, and naive on flat machines]
    #[arg(short, long)]
    pub(crate) allocator: Option<String>,
    /// If jobs share nodes, the order in which nodes are filled: a name, or a table [default:
    /// first]
    #[arg(long, conflicts_with_all = ["slurm", "conf"])]
    pub(crate) order: Option<String>,
    /// If jobs share nodes, the rule that chooses cores and GPUs within a node [default: lowest]
    #[arg(long, conflicts_with_all = ["slurm", "conf"])]
    pub(crate) within: Option<String>,
    /// A file that stores which nodes are held; it is read at the beginning, if it exists, and
    /// written before each answer
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// The seed of the random numbers, for allocators that use them
    #[arg(long, value_name = "S", default_value = "1", value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) seed: i64,
    /// The rule by which a count of processors becomes a block
    #[arg(long, default_value = "squarest", value_parser = ["squarest", "exact"])]
    pub(crate) shape: String,
    #[command(flatten)]
    pub(crate) memory: Memory,
}

/// Arguments of `meshwork check`.
#[derive(Args, Debug)]
pub(crate) struct Check {
    /// A folder of results, as `meshwork run --out` wrote it
    pub(crate) dir: PathBuf,
    /// The maximum number of stored runs to repeat
    #[arg(long, value_name = "N", default_value = "20", value_parser = at_least_one)]
    pub(crate) sample: usize,
    /// The number of threads that simulate [default: one for each processor of this computer]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object for each run
    #[arg(long)]
    pub(crate) json: bool,
}

/// Upper bound of `--threads`: more threads are of no use, and some systems cannot start them.
const MAX_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads)).ok_or_else(|| {
        format!(
            "must be a whole number from 1 to {MAX_THREADS}; leave it out for one thread for each \
             processor"
        )
    })
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|&number: &usize| number > 0);
    number.ok_or_else(|| "must be a whole number from 1".to_owned())
}

fn number(text: &str, holds: impl Fn(f64) -> bool, must: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|&number: &f64| holds(number));
    number.ok_or_else(|| format!("must be {must}"))
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(text, |n| (0.0..=1e15).contains(&n), "a number from 0 to 1e15")
}

fn positive(text: &str) -> Result<f64, String> {
    number(text, |n| n > 0.0 && n <= 1e15, "a number above 0 and at most 1e15")
}

fn load(text: &str) -> Result<f64, String> {
    number(text, |n| n > 0.0 && n <= 1.0, "a number above 0 and at most 1")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}
