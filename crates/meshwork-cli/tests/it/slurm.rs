//! Test of a whole sweep on a real Slurm of three nodes on this computer.
//!
//! CI installs Slurm if it can; otherwise the test is skipped with a message.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::slurm::{NodeRequest, Slurm, quiet};
use crate::common::{put, skip};

/// 60 runs. Their number of jobs depends on the speed of the computer: see [`jobs`].
const STUDY: &str = "
name = 'on-slurm'
replications = 10
[machine]
topology = 'mesh'
dims = [32, 32]
[workload]
name = 'synthetic'
sizes = 'uniform'
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 16000
metrics = ['wait', 'utilization']
[sweep]
allocator = ['first_fit', 'frame_sliding']
'workload.load' = [0.3, 0.4, 0.5]
[compare]
allocator = 'first_fit'
";
const MACHINE: NodeRequest<'static> = NodeRequest {
    nodes: 3,
    conf: "PartitionName=main Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP\n",
    topology: None,
    accounts: false,
};
/// Time limit of the whole test in seconds.
const ALL: u64 = 170;

/// Number of jobs with which a run takes about `seconds`.
///
/// Runs are so long that a signal reaches a Slurm task within a run.
fn jobs(slurm: &Slurm, seconds: f64) -> u32 {
    const FEW: u32 = 16_000;
    let study = STUDY.replace("replications = 10", "replications = 1");
    fs::write(slurm.home().join("trial.toml"), study).unwrap();
    let begin = Instant::now();
    slurm.meshwork(&["run", "trial.toml", "--threads", "1", "--quiet"]).succeeded();
    let runs = 6.0;
    let took = begin.elapsed().as_secs_f64() / runs;
    (f64::from(FEW) * (seconds / took).clamp(0.25, 16.0)) as u32
}

trait Sweeping {
    fn done(&self) -> u64;
    fn notes(&self) -> String;
    fn writers(&self) -> Vec<Writer>;
    fn is_idle(&self) -> bool;
}

/// Process that writes a segment, and its Slurm task.
struct Writer {
    process: u32,
    job: String,
    index: String,
    node: String,
}

impl Sweeping for Slurm {
    fn done(&self) -> u64 {
        let said = self.meshwork(&["status", "S", "--json"]);
        let object: serde_json::Value = serde_json::from_str(said.out.trim()).unwrap_or_default();
        object["done"].as_u64().unwrap_or(0)
    }

    fn notes(&self) -> String {
        let found = fs::read_dir(self.home().join("S/runs")).into_iter().flatten().flatten();
        let last = |path: PathBuf| {
            let text = fs::read_to_string(path).ok()?;
            text.lines().last().map(str::to_owned)
        };
        found.filter_map(|entry| last(entry.path())).collect::<Vec<_>>().join("\n")
    }

    fn writers(&self) -> Vec<Writer> {
        let found = fs::read_dir(self.home().join("S/runs")).into_iter().flatten().flatten();
        let writer = |name: String| {
            let name = name.strip_suffix(".jsonl.part")?.to_owned();
            let process: u32 = name.rsplit('-').next()?.parse().ok()?;
            let command = fs::read(format!("/proc/{process}/cmdline")).ok()?;
            if !String::from_utf8_lossy(&command).contains("meshwork") {
                return None;
            }
            let told = fs::read(format!("/proc/{process}/environ")).ok()?;
            let told = String::from_utf8_lossy(&told).into_owned();
            let value = |key: &str| {
                told.split('\0').find_map(|pair| pair.strip_prefix(key)).map(str::to_owned)
            };
            let (job, index) = (value("SLURM_ARRAY_JOB_ID=")?, value("SLURM_ARRAY_TASK_ID=")?);
            Some(Writer { process, job, index, node: value("SLURMD_NODENAME=")? })
        };
        found.filter_map(|entry| writer(entry.file_name().to_string_lossy().into_owned())).collect()
    }

    /// Whether no task is pending or running. Tasks that wait after a requeue are released.
    fn is_idle(&self) -> bool {
        let said = self.ask("squeue", &["--noheader", "--array", "--format", "%i %T"]);
        for line in said.out.lines() {
            if let Some((task, state)) = line.trim().split_once(' ')
                && state == "PENDING"
            {
                self.ask("scontrol", &["update", &format!("jobid={task}"), "starttime=now"]);
            }
        }
        said.out.trim().is_empty()
    }
}

#[test]
fn nothing_that_slurm_does_changes_a_byte() {
    let slurm = match Slurm::begin(&MACHINE) {
        Ok(slurm) => slurm,
        Err(why) => return skip("slurm", &format!("a sweep on a real Slurm: {why}")),
    };
    let home = slurm.home();
    let study = STUDY.replace("jobs = 16000", &format!("jobs = {}", jobs(&slurm, 0.7)));
    put(home, "study.toml", study);
    let arguments = [
        "submit",
        "study.toml",
        "--out",
        "S",
        "--engine",
        "slurm",
        "--shards",
        "8",
        "--mem",
        "200M",
        // Slurm's shortest time limit, with which Slurm ends a task in the middle of its runs.
        "--time",
        "1m",
    ];
    let submitted = slurm.meshwork(&arguments).succeeded();
    assert!(submitted.out.contains("8 shards of 60 parts as jobs "), "split: {}", submitted.out);

    // Two tasks are killed while they run.
    slurm.wait(ALL, "runs end", || slurm.done() >= 3);
    for _ in 0..2 {
        slurm.wait(ALL, "a task writes", || !slurm.writers().is_empty());
        if let Some(writer) = slurm.writers().first() {
            quiet("kill", &["-9", &writer.process.to_string()]);
        }
        sleep(Duration::from_millis(300));
    }
    // The sweep is collected before all runs have ended.
    slurm.meshwork(&["collect", "S"]).ended(3);

    // A node goes down while its tasks run: they restart, while the first copies may still write.
    slurm.wait(ALL, "a task writes", || !slurm.writers().is_empty() || slurm.is_idle());
    if let Some(writer) = slurm.writers().first() {
        let name = format!("nodename={}", writer.node);
        slurm.ask("scontrol", &["update", &name, "state=down", "reason=test"]);
        sleep(Duration::from_secs(1));
        slurm.ask("scontrol", &["update", &name, "state=resume"]);
    }
    // Requeue tasks until one was stopped in the middle of its runs. Slurm restarts them at once.
    // Another process runs the shard of the first requeued task at the same time.
    let mut copies = Vec::new();
    loop {
        slurm.wait(ALL, "a task writes", || !slurm.writers().is_empty() || slurm.is_idle());
        let Some(writer) = slurm.writers().pop() else { break };
        if copies.is_empty() {
            let copy = ["run", "S/experiment.toml", "--out", "S", "--deal", "S/submit/1.deal.csv"];
            let shard = format!("{}/8", writer.index);
            let shard = ["--shard", &shard, "--threads", "1", "--time-budget", "5s", "--quiet"];
            let copy = slurm
                .command(env!("CARGO_BIN_EXE_meshwork"))
                .args([&copy[..], &shard[..]].concat())
                .spawn();
            copies.push(copy.unwrap());
        }
        slurm.ask("scontrol", &["requeue", &format!("{}_{}", writer.job, writer.index)]);
        sleep(Duration::from_secs(1));
        if slurm.notes().contains("\"stopped\":true") {
            break;
        }
    }
    for mut copy in copies {
        let ended = copy.wait().unwrap().code();
        assert!(matches!(ended, Some(0 | 75)), "{ended:?}");
    }
    slurm.wait(ALL, "the first submission ends", || slurm.is_idle());
    let notes = slurm.notes();
    assert!(
        notes.contains("\"stopped\":true"),
        "a task was told to end in the middle of its runs: {notes}"
    );
    let parts = fs::read_dir(home.join("S/runs")).unwrap().flatten();
    let is_part = |entry: &fs::DirEntry| entry.path().to_string_lossy().ends_with(".part");
    assert!(
        parts.filter(is_part).count() >= 2,
        "what was killed keeps the name of what is not whole"
    );
    slurm.meshwork(&["collect", "S"]).ended(3);

    // Submit incomplete runs again until none is missing.
    for _ in 0..4 {
        let again = slurm.meshwork(&[&arguments[..], &["--missing"]].concat()).ended(0);
        if again.out.contains("nothing is missing") {
            break;
        }
        slurm.wait(ALL, "what was missing ends", || slurm.is_idle());
    }
    slurm.meshwork(&["run", "study.toml", "--out", "local", "--quiet"]).succeeded();
    slurm.meshwork(&["collect", "S"]).succeeded();
    for name in ["runs.jsonl", "summary.csv", "comparison.csv", "experiment.toml"] {
        let (ours, theirs) =
            (fs::read(home.join("S").join(name)), fs::read(home.join("local").join(name)));
        assert!(ours.unwrap() == theirs.unwrap(), "{name} has other bytes");
    }
    assert!(!home.join("S/runs").exists(), "all segments were taken in");
}
