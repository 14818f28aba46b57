//! Command-line arguments for studies shared by several processes.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use meshwork_lab::sweep::name::MAX_SHARDS;

use super::choose::ChoiceOptions;

pub(super) const SUBMIT_HELP: &str = "The script, the list of runs and the job numbers are stored in DIR/submit, the output of \
    tasks in DIR/log. You can read the script, change it, and submit it by hand if your site needs \
    something else. Runs are distributed over shards by their expected cost, which is measured on \
    finished runs if there are any.\n\n\
    If the cost is known, --shards auto makes shards of about half an hour each; otherwise one \
    shard for each run, up to --max-parallel.\n\n\
    With --choose the shards are those of the next round of the race that `meshwork choose` would \
    run with the same options. When they have ended, the job that collects their results submits \
    the next round; once the race is decided, it measures the winner and prints the result. If the \
    batch system allows no job to wait for others, give the same command with --missing after each \
    round.\n\n\
    Exit status: 0 if the shards were submitted, or nothing is missing; 1 if the batch system \
    refused; 2 if the request was wrong.\n\n\
    Examples:\n  \
    meshwork submit study.toml --out results --engine slurm --dry-run\n  \
    meshwork submit study.toml --out results --engine slurm --partition short --time 30:00\n  \
    meshwork submit study.toml --out results --engine slurm --missing\n  \
    meshwork submit study.toml --out results --engine slurm --choose --within 2%";

/// Arguments of `meshwork submit`.
#[derive(Args, Debug)]
pub(crate) struct Submit {
    /// The file of the study
    pub(crate) file: PathBuf,
    /// Override a key of the study, such as workload.load=0.7, whatever the file and its sweep say;
    /// may be given several times
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// The folder for results, which must have this path on all computers
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The batch system that starts the shards: slurm, pbs, lsf or hq (HyperQueue)
    #[arg(long)]
    pub(crate) engine: Engine,
    /// The number of shards into which the study is divided; auto chooses it by the expected
    /// duration of the runs
    #[arg(long, value_name = "N", default_value = "auto", value_parser = shards)]
    pub(crate) shards: Shards,
    /// The maximum number of shards that run at once; HyperQueue decides it by itself
    #[arg(long, value_name = "N", default_value = "200", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_parallel: u64,
    /// The time limit of a task, such as 1:00:00 or 90m; no run begins in its last twentieth
    #[arg(long, value_name = "TIME", default_value = "1:00:00", value_parser = duration)]
    pub(crate) time: Duration,
    /// The memory limit of a task, such as 500M or 4G
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = crate::memory::bytes)]
    pub(crate) mem: u64,
    /// The partition, or queue, of the batch system to which tasks are submitted
    #[arg(long, value_name = "P", value_parser = word)]
    pub(crate) partition: Option<String>,
    /// The account, or project, of the batch system to which tasks are charged
    #[arg(long, value_name = "A", value_parser = word)]
    pub(crate) account: Option<String>,
    /// Submit only runs that are missing; with --choose, the next round of the race
    #[arg(long)]
    pub(crate) missing: bool,
    /// Submit the race that `meshwork choose` would run, round by round; the options of `meshwork
    /// choose` are accepted here too
    #[arg(long)]
    pub(crate) choose: bool,
    #[command(flatten)]
    pub(crate) options: ChoiceOptions,
    /// Print the script that would be submitted, and submit nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// The number of shards into which a study is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shards {
    /// Meshwork chooses the number of shards by the expected cost of the runs.
    Auto,
    Given(u64),
}

fn shards(text: &str) -> Result<Shards, String> {
    if text == "auto" {
        return Ok(Shards::Auto);
    }
    let number = text.parse().ok().filter(|number| (1..=MAX_SHARDS).contains(number));
    number
        .map(Shards::Given)
        .ok_or_else(|| format!("must be `auto`, or a whole number from 1 to {MAX_SHARDS}"))
}

/// Parses a name that can be written into a script without quoting.
fn word(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.,@+:/".contains(c);
    let is_word = !text.is_empty() && text.chars().all(fits) && !text.starts_with('-');
    is_word
        .then(|| text.to_owned())
        .ok_or_else(|| "must be a name of letters, digits and the signs _ - . , @ + : /".to_owned())
}

/// Batch systems that start the processes of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Engine {
    /// Slurm, as an array of jobs.
    Slurm,
    /// OpenPBS and PBS Professional, as an array of jobs.
    Pbs,
    /// LSF, as an array of jobs.
    Lsf,
    /// HyperQueue, as a job with many tasks.
    Hq,
}

/// Arguments of `meshwork collect`.
#[derive(Args, Debug)]
pub(crate) struct Collect {
    /// The folder for results, which is the --out of all shards
    pub(crate) dir: PathBuf,
    /// The format of the merged runs: jsonl, or parquet to write the table DIR/runs.parquet too
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) format: RunsFormat,
}

/// File formats of merged runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RunsFormat {
    /// Only the file with one line of JSON for each run.
    Jsonl,
    /// The file with one line of JSON for each run, and a Parquet table with one row for each run.
    Parquet,
}

/// Arguments of `meshwork status`.
#[derive(Args, Debug)]
pub(crate) struct Status {
    /// The folder for results, which is the --out of all shards
    pub(crate) dir: PathBuf,
    /// Print the progress again from time to time, until all runs have finished
    #[arg(long)]
    pub(crate) watch: bool,
    /// Print the progress as one JSON object each time
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a time: `55m`, `1h30m`, `90s`, `1:30:00`, `30:00`, or a number of seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "must be a time such as 55m, 1h30m, 90s or 1:30:00".to_owned();
    let mut seconds: u64 = 0;
    if text.contains(':') {
        let parts: Vec<&str> = text.split(':').collect();
        for part in &parts {
            let number: u64 = part.parse().map_err(|_| wrong())?;
            seconds =
                seconds.checked_mul(60).and_then(|s| s.checked_add(number)).ok_or_else(wrong)?;
        }
        if parts.len() > 3 {
            return Err(wrong());
        }
    } else {
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let number: u64 = rest[..end].parse().map_err(|_| wrong())?;
            let (unit, after) =
                rest[end..].split_at(rest[end..].chars().next().map_or(0, char::len_utf8));
            let factor = match unit {
                "d" => 86400,
                "h" => 3600,
                "m" => 60,
                "s" | "" => 1,
                _ => return Err(wrong()),
            };
            seconds = number
                .checked_mul(factor)
                .and_then(|s| s.checked_add(seconds))
                .ok_or_else(wrong)?;
            rest = after;
        }
    }
    (1..=u64::from(u32::MAX))
        .contains(&seconds)
        .then(|| Duration::from_secs(seconds))
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_read_as_people_and_engines_write_them() {
        for (text, seconds) in [
            ("55m", 3300),
            ("1h30m", 5400),
            ("90s", 90),
            ("90", 90),
            ("1:30:00", 5400),
            ("30:00", 1800),
            ("2d", 172_800),
        ] {
            assert_eq!(super::duration(text).map(|time| time.as_secs()), Ok(seconds), "{text}");
        }
        for wrong in ["", "0", "m", "1x", "-1", "1:2:3:4", "1:", "99999999999999999999h", "5é"] {
            assert!(super::duration(wrong).is_err(), "{wrong}");
        }
    }
}
