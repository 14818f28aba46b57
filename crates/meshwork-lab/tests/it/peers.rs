//! Compares the start times of all jobs with other simulators on the same logs.
//!
//! The logs and the reference tables are not part of the project; without them these tests are
//! skipped with a message.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use meshwork::job::Time;
use meshwork::observe::{Event, Observer};
use meshwork::scenario::{Outcome, Scenario};
use meshwork::workload::{Inputs, Rows, WorkloadError};

use crate::shared;

fn lines(path: &Path) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::new(GzDecoder::new(File::open(path).unwrap())))
}

struct Files;

impl Inputs for Files {
    fn text(&self, path: &str) -> Result<Box<dyn BufRead + Send>, WorkloadError> {
        Ok(lines(Path::new(path)))
    }

    fn rows(&self, _: &str) -> Result<Rows, WorkloadError> {
        unreachable!("no table is read here")
    }
}

#[derive(Default)]
struct Starts(BTreeMap<u64, f64>);

impl Observer for Starts {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        if let Event::Started(run) = event {
            self.0.insert(run.job.number, now.units());
        }
    }
}

fn replay(
    log: &Path,
    processors: u32,
    scheduler: &str,
    kill: bool,
) -> (Outcome, BTreeMap<u64, f64>) {
    let scenario = Scenario::read(
        &format!(
            "machine = {{ topology = 'flat', processors = {processors} }}
             scheduler = {{ name = '{scheduler}', kill_at_estimate = {kill} }}
             workload = {{ name = 'swf', path = '{}' }}",
            log.display()
        )
        .parse()
        .unwrap(),
    )
    .unwrap();
    let mut starts = Starts::default();
    let outcome = scenario.run(0, &Files, &mut starts).unwrap();
    (outcome, starts.0)
}

fn expected(table: &Path) -> BTreeMap<u64, f64> {
    lines(table)
        .lines()
        .skip(1)
        .map(|line| {
            let line = line.unwrap();
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0].parse().unwrap(), cells[2].parse().unwrap())
        })
        .collect()
}

fn metric(outcome: &Outcome, name: &str) -> f64 {
    outcome.metrics.iter().find(|m| m.name == name).unwrap().value.unwrap()
}

/// Compares a replay with another simulator, job by job.
///
/// `means` has wait, turnaround, bounded slowdown, utilization and makespan.
fn agrees(log: &str, processors: u32, scheduler: &str, means: [f64; 5]) {
    let Some(trace) = shared(&format!("traces/{log}.swf.gz")) else { return };
    let Some(table) = shared(&format!("peers/ref-{scheduler}-{log}.csv.gz")) else { return };
    let (outcome, starts) = replay(&trace, processors, scheduler, false);
    let expected = expected(&table);
    assert_eq!(starts.len(), expected.len());
    let differ: Vec<_> =
        expected.iter().filter(|(job, start)| starts[job].to_bits() != start.to_bits()).collect();
    assert!(differ.is_empty(), "{} jobs differ, first {:?}", differ.len(), differ.first());
    let names = ["wait", "turnaround", "bounded_slowdown", "utilization", "makespan"];
    for (name, mean) in names.into_iter().zip(means) {
        let found = metric(&outcome, name);
        assert!((found - mean).abs() <= 1e-6 * mean, "{name}: {found}, the table has {mean}");
    }
}

#[test]
fn sdsc_fcfs() {
    let means = [1522453.681, 1529720.184, 13704.5378, 0.759825, 68412579.0];
    agrees("SDSC-SP2-1998-4.2-recon-cln", 128, "fcfs", means);
}

#[test]
fn sdsc_easy() {
    let means = [20440.422, 27706.926, 87.8638, 0.824773, 63025323.0];
    agrees("SDSC-SP2-1998-4.2-recon-cln", 128, "easy", means);
}

#[test]
fn ctc_fcfs() {
    let means = [767858.090, 779135.215, 4275.1702, 0.797545, 30919043.0];
    agrees("CTC-SP2-1996-3.1-cln", 338, "fcfs", means);
}

#[test]
fn ctc_easy() {
    let means = [15497.478, 26774.602, 55.5359, 0.841421, 29306751.0];
    agrees("CTC-SP2-1996-3.1-cln", 338, "easy", means);
}

#[test]
fn ctc_with_jobs_ended_at_their_estimates() {
    let Some(trace) = shared("traces/CTC-SP2-1996-3.1-cln.swf.gz") else { return };
    for (scheduler, wait) in [("fcfs", 655535.593), ("easy", 13943.129)] {
        let (outcome, _) = replay(&trace, 338, scheduler, true);
        let found = metric(&outcome, "wait");
        assert!((found - wait).abs() < 1e-3, "{scheduler}: {found}, the table has {wait}");
    }
}
