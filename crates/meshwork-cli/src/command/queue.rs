//! Reads the state of a sweep's jobs from Slurm, only to show it to the user.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use meshwork_lab::text::number::count;

/// File, in the folder `DIR/submit`, with the jobs that were submitted to a workload manager.
///
/// Each line has the name of the workload manager and a job number.
pub(super) const JOBS: &str = "jobs.txt";

/// Longest wait for an answer of `squeue`.
const PATIENCE: Duration = Duration::from_secs(3);

/// Sentence on the submitted jobs, such as `Slurm says: 12 running, 30 pending`.
///
/// `None` if Slurm does not answer, or if no job was submitted to it.
pub(super) fn said(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join("submit").join(JOBS)).ok()?;
    let jobs: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("slurm ")).collect();
    if jobs.is_empty() {
        return None;
    }
    let mut child = Command::new("squeue")
        .args(["--noheader", "--array", "--format=%T", "--jobs", &jobs.join(",")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let began = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let of = |state: &str| text.lines().filter(|line| line.trim() == state).count() as u64;
    let (running, pending) = (of("RUNNING"), of("PENDING"));
    (running + pending > 0)
        .then(|| format!("Slurm says: {} running, {} pending", count(running), count(pending)))
}
