//! Measurements, on a real Slurm, of the agent that places jobs.

use crate::common::{put, read};
use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use super::{POLICY, agent};
use crate::common::slurm::{NodeRequest, Slurm};

/// Prints the measurements that docs/performance.md quotes. Run it with `cargo test --release -p
/// meshwork-cli --test it ops_agent::figures -- --ignored --nocapture`.
#[test]
#[ignore = "it measures"]
#[allow(clippy::print_stdout, reason = "figures of a page")]
fn figures_of_the_agent() {
    let conf = "MaxArraySize=10001\nMaxJobCount=30000\n\
        PartitionName=plain Nodes=n[1-16] State=UP OverSubscribe=EXCLUSIVE\n\
        PartitionName=in Nodes=n[1-16] Default=YES MaxTime=INFINITE State=DOWN OverSubscribe=EXCLUSIVE\n\
        PartitionName=run Nodes=n[1-16] MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE\n";
    let accounts = false;
    let slurm = Slurm::begin(&NodeRequest { nodes: 16, conf, topology: None, accounts }).unwrap();
    let home = slurm.home().to_owned();
    put(&home, "policy.toml", POLICY.replace("8x8", "4x4"));
    // Median and 90th percentile of the seconds from submission to running. The jobs are submitted
    // one after the other.
    let latency = |partition: &str| {
        let mut all: Vec<f64> = Vec::new();
        for _ in 0..40 {
            let began = std::time::Instant::now();
            let fixed = ["--parsable", "-N2", "-t5", "-o", "/dev/null", "--wrap", "sleep 1"];
            let id = slurm.ask("sbatch", &[&fixed[..], &["-p", partition]].concat()).out;
            while slurm.ask("squeue", &["-h", "-o", "%t", "-j", id.trim()]).out.trim() == "PD" {
                sleep(Duration::from_millis(20));
            }
            all.push(began.elapsed().as_secs_f64());
            sleep(Duration::from_millis(1_300));
        }
        all.sort_by(f64::total_cmp);
        (all[20], all[36])
    };
    let plain = latency("plain");
    println!("plain: median {:.2} s, p90 {:.2} s", plain.0, plain.1);
    let agent = agent(&slurm, &[]);
    sleep(Duration::from_secs(2));
    let placed = latency("in");
    println!("agent, poll 0.3 s: median {:.2} s, p90 {:.2} s", placed.0, placed.1);
    println!("added: median {:.2} s", placed.0 - plain.0);
    drop(agent);
    // Prepare a query of Slurm with 10,000 pending jobs, all but a few of them too large to start.
    let fixed = ["-N16", "-t5", "-o", "/dev/null", "--wrap", "sleep 600", "--array", "1-10000"];
    slurm.ask("sbatch", &[&fixed[..], &["-p", "in"]].concat()).ended(0);
    // Slurm keeps an array as one record until its tasks differ.
    let array = slurm.ask("squeue", &["-h", "-p", "in", "-o", "%F"]).out;
    let array = array.lines().next().unwrap().trim();
    let lines: String =
        (1..=10_000).map(|task| format!("update jobid={array}_{task} comment=own\n")).collect();
    let mut apart =
        slurm.command("scontrol").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    apart.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    assert!(apart.wait().unwrap().success());
    // CPU seconds of this program's ended child processes, and of the controller.
    let used = || {
        let controller = read(&home, "slurmctld.pid");
        let of = |process: &str, fields: std::ops::Range<usize>| {
            let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
            let after = text.rsplit(')').next().unwrap();
            let words: Vec<&str> = after.split_whitespace().collect();
            let ticks = words[fields].iter().map(|own| own.parse::<f64>().unwrap()).sum::<f64>();
            ticks / 100.0
        };
        [of("self", 13..15), of(controller.trim(), 11..13)]
    };
    let looks = ["ops", "agent", ".", "--policy", "policy.toml", "--poll", "50ms", "--dry-run"];
    let time = |count: &str| {
        let (began, before) = (std::time::Instant::now(), used());
        slurm.meshwork(&[&looks[..], &["--looks", count]].concat()).ended(0);
        let after = used();
        [began.elapsed().as_secs_f64(), after[0] - before[0], after[1] - before[1]]
    };
    let (few, many) = (time("1"), time("21"));
    let [clock, own, controller] = [0, 1, 2].map(|place| (many[place] - few[place]) / 20.0);
    println!(
        "a look with 10,000 pending jobs: {:.3} s by the clock; {own:.3} CPU s of the agent and its commands, \
         {controller:.3} of slurmctld",
        clock - 0.001
    );
}
