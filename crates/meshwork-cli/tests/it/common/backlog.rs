//! An overloaded site for tests. It has jobs of many sizes, a tree of switches and a long queue.

use std::fs;
use std::path::Path;

use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_operator::controller::ControllerReplay;
use meshwork_operator::controller::rules::SiteRules;
use meshwork_slurm::history::JobRecord;

use super::Numbers;

/// Machine with leaf switches of 32 nodes, four of which share a switch of the next level.
pub(crate) fn machine(folder: &Path, leaves: u32, more: &str) -> SlurmMachine {
    let nodes = 32 * leaves;
    let mut text = "- topology: t\n  tree:\n    switches:\n".to_owned();
    for leaf in 0..leaves {
        let (first, last) = (32 * leaf, 32 * leaf + 31);
        text.push_str(&format!(
            "      - {{switch: l{leaf:02}, nodes: 'n[{first:04}-{last:04}]'}}\n"
        ));
    }
    let groups = leaves.div_ceil(4);
    for group in 0..groups {
        let (first, last) = (4 * group, (4 * group + 3).min(leaves - 1));
        text.push_str(&format!(
            "      - {{switch: m{group:02}, children: 'l[{first:02}-{last:02}]'}}\n"
        ));
    }
    text.push_str(&format!("      - {{switch: top, children: 'm[00-{:02}]'}}\n", groups - 1));
    let conf = format!(
        "{more}NodeName=n[0000-{:04}] CPUs=2\nPartitionName=p Nodes=ALL Default=YES Topology=t OverSubscribe=EXCLUSIVE\n",
        nodes - 1
    );
    slurm_machine(folder, &text, &conf)
}

/// Random jobs, of which the first `at_once` are submitted within an hour.
///
/// Later jobs are submitted about as fast as the machine completes jobs, so that the queue stays
/// long.
pub(crate) fn jobs(count: usize, at_once: usize, nodes: u32, seed: u64) -> Vec<JobRecord> {
    const SIZES: [u64; 12] = [1, 1, 1, 2, 2, 4, 4, 8, 16, 24, 32, 64];
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mean = SIZES.iter().sum::<u64>() as f64 / SIZES.len() as f64;
    // Run times are one minute plus two draws of up to an hour each, 61 minutes on average.
    let gap = mean * 3_660.0 / (0.97 * f64::from(nodes));
    let (first, mut at) = (1_767_225_600, 0.0);
    (0..count)
        .map(|job| {
            let step = if job < at_once { 3_600.0 / at_once as f64 } else { gap };
            at += 2.0 * step * numbers.below(1_000) as f64 / 1_000.0;
            let runs = 60 + (numbers.below(3_600) + numbers.below(3_600)) as i64;
            let limit = (runs * (100 + numbers.below(300) as i64) / 6_000 + 1) * 60;
            let nodes = SIZES[numbers.below(SIZES.len() as u64) as usize] as u32;
            let completed = completed(job + 1, first + at as i64, runs, limit, nodes);
            JobRecord { line: job + 2, ..completed }
        })
        .collect()
}

/// Job that started when it was submitted, and ran for `runs` seconds on whole nodes.
pub(crate) fn completed(id: usize, submit: i64, runs: i64, limit: i64, nodes: u32) -> JobRecord {
    JobRecord {
        id: id.to_string(),
        attempt: 1,
        partition: "p".to_owned(),
        state: "COMPLETED".to_owned(),
        submit: Some(submit),
        eligible: Some(submit),
        start: Some(submit),
        end: Some(submit + runs),
        limit: Some(limit),
        nodes,
        exclusive: true,
        ..JobRecord::default()
    }
}

/// Replaces the starts and nodes of jobs by the results of a replay on the model of the machine.
pub(crate) fn replay(machine: &SlurmMachine, stays: &mut [JobRecord], cleanup: f64) {
    let (rules, copy, report) = (&SiteRules::of(machine), None, &|_: usize| {});
    let outcomes =
        ControllerReplay { machine, rules, stays: &*stays, cleanup, copy, report }.run().unwrap();
    for (stay, outcome) in stays.iter_mut().zip(outcomes) {
        let (start, nodes) = outcome.start.zip(outcome.nodes).expect("all jobs start at some time");
        stay.end = Some(start + stay.end.unwrap() - stay.start.unwrap());
        (stay.start, stay.by) = (Some(start), outcome.by);
        stay.nodelist = machine.reading.hosts.listed(&nodes);
    }
}

pub(crate) fn slurm_machine(folder: &Path, topology: &str, conf: &str) -> SlurmMachine {
    let (own, own_conf) = (folder.join("topology.yaml"), folder.join("slurm.conf"));
    fs::write(&own, topology).unwrap();
    fs::write(&own_conf, conf).unwrap();
    SlurmMachine::read(&own, Some(&own_conf)).unwrap()
}
