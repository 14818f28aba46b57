//! Four long runs of the agent on a real Slurm, started on demand. They have 820 jobs in all, and
//! the agent is killed at random or chosen instants.
//!
//! `cargo test -p meshwork-cli --test it ops_agent::runs -- --ignored --nocapture --test-threads 1`

use crate::common::put;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Killable, POLICY, Parked, agent};

/// Script in place of `scontrol`.
///
/// If a file `die` exists, it kills the calling agent just before or after the next update.
const DEADLY: &str = r#"#!/bin/bash
while IFS= read -r line; do
    case $line in
        "update JobId="*)
            at=$(cat die 2> /dev/null)
            rm -f die
            [ "$at" = before ] && kill -9 $PPID && exit
            scontrol --oneliner $line
            [ "$at" = after ] && kill -9 $PPID && exit ;;
        *) scontrol --oneliner $line ;;
    esac
done
"#;

/// Pseudorandom numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Random number of nodes up to `most`. Small numbers are more frequent.
    fn nodes(&mut self, most: u64) -> usize {
        let most = self.below(most) + 1;
        (self.below(most) + 1) as usize
    }

    fn submit(&mut self, parked: &Parked, jobs: usize, most: u64) {
        for _ in 0..jobs {
            let nodes = self.nodes(most);
            parked.submit(nodes, &format!("0.{}", 2 + self.below(8)), &[]);
        }
    }
}

#[allow(clippy::print_stdout, reason = "figures of a page")]
fn say(name: &str, parked: &Parked, began: Instant) {
    let ended = parked.check();
    let log = parked.log();
    let count = |event: &str| log.matches(&format!("\"event\":\"{event}\"")).count();
    println!(
        "{name}: {ended} ends, 0 on other nodes, 0 overlaps; {} starts of an agent, {} decisions, {} placed, \
         {} taken back, {} refused, {:.0} s",
        count("begin"),
        count("decision"),
        count("place"),
        count("take_back"),
        count("refused"),
        began.elapsed().as_secs_f64()
    );
}

/// Starts a Slurm for the agent, with a policy whose allocator can place any number of nodes.
fn begin(nodes: usize, sides: &str, more: &str) -> Parked {
    let parked = Parked::begin(nodes, more).unwrap();
    let policy = POLICY.replace("8x8", sides).replace("first_fit", "gabl");
    fs::write(parked.slurm.home().join("policy.toml"), policy).unwrap();
    parked
}

/// Creates commands `squeue`, `sinfo` and `scontrol` for the agent. `scontrol` can kill the agent.
fn deadly(parked: &Parked) {
    let folder = parked.slurm.home().join("commands");
    fs::create_dir(&folder).unwrap();
    for name in ["squeue", "sinfo"] {
        symlink(format!("/usr/bin/{name}"), folder.join(name)).unwrap();
    }
    put(&folder, "scontrol", DEADLY);
    fs::set_permissions(folder.join("scontrol"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Starts an agent that is killed at its next update. `at` says whether it is killed `before` or
/// `after` the update.
fn doomed(parked: &Parked, at: &str) -> Killable {
    fs::write(parked.slurm.home().join("die"), at).unwrap();
    agent(&parked.slurm, &["--commands", "commands"])
}

#[test]
#[ignore = "it takes a quarter of an hour"]
fn run_1_places_300_jobs_on_512_nodes() {
    let parked = begin(512, "8x8x8", "");
    let began = Instant::now();
    Dice(1).submit(&parked, 300, 64);
    let agent = agent(&parked.slurm, &[]);
    parked.until_all_end(3_600, &[]);
    drop(agent);
    say("run 1", &parked, began);
}

#[test]
#[ignore = "it takes minutes"]
fn run_2_survives_30_kills_at_random() {
    let parked = begin(64, "8x8", "");
    let began = Instant::now();
    let mut dice = Dice(2);
    dice.submit(&parked, 300, 32);
    for _ in 0..30 {
        let agent = agent(&parked.slurm, &[]);
        sleep(Duration::from_millis(200 + dice.below(2_800)));
        drop(agent);
    }
    let agent = agent(&parked.slurm, &[]);
    parked.until_all_end(3_600, &[]);
    drop(agent);
    say("run 2", &parked, began);
}

/// The agent is killed just before or just after it updates a job.
#[test]
#[ignore = "it takes minutes"]
fn run_3_survives_25_kills_at_the_worst_instants() {
    let parked = begin(64, "8x8", "");
    deadly(&parked);
    let began = Instant::now();
    Dice(3).submit(&parked, 100, 32);
    for kill in 0..25 {
        let mut agent = doomed(&parked, if kill % 5 < 2 { "before" } else { "after" });
        assert!(agent.0.wait().unwrap().code().is_none(), "it ends by a signal");
    }
    let agent = agent(&parked.slurm, &[]);
    parked.until_all_end(3_600, &[]);
    drop(agent);
    say("run 3", &parked, began);
}

/// Disturbance of Slurm or the agent at a random instant.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Happening {
    Cancel,
    Requeue,
    Drain,
    Down,
    Foreign,
    Doom,
    Crash,
}

/// Jobs are cancelled and requeued, nodes fail or are drained, and another partition takes nodes.
///
/// The agent and the controller are killed.
#[test]
#[ignore = "it takes minutes"]
fn run_4_survives_whatever_happens_at_once() {
    let foreign =
        "PartitionName=other Nodes=n[1-64] MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE\n";
    let parked = begin(64, "8x8", foreign);
    deadly(&parked);
    let slurm = &parked.slurm;
    let began = Instant::now();
    let mut dice = Dice(4);
    dice.submit(&parked, 120, 32);
    let counts = [
        (Happening::Cancel, 14),
        (Happening::Requeue, 14),
        (Happening::Drain, 12),
        (Happening::Down, 13),
        (Happening::Foreign, 29),
        (Happening::Doom, 10),
        (Happening::Crash, 3),
    ];
    let mut order: Vec<Happening> =
        counts.iter().flat_map(|&(what, count)| std::iter::repeat_n(what, count)).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, dice.below(place as u64 + 1) as usize);
    }
    let mut own = agent(slurm, &[]);
    let mut away: Vec<(usize, String)> = Vec::new();
    let mut controllers = Vec::new();
    for (turn, &what) in order.iter().enumerate() {
        let node = format!("nodename=n{}", 1 + dice.below(64));
        let pick = |states: &str, dice: &mut Dice| {
            let said =
                slurm.ask("squeue", &["-h", "-r", "-t", states, "-p", "in,run", "-o", "%i"]).out;
            let ids: Vec<&str> = said.lines().collect();
            let place = dice.below(ids.len().max(1) as u64) as usize;
            ids.get(place).map(|&id| id.to_owned())
        };
        match what {
            Happening::Cancel => {
                pick("PD,R", &mut dice).map(|id| slurm.ask("scancel", &[&id]));
            }
            Happening::Requeue => {
                pick("R", &mut dice).map(|id| slurm.ask("scontrol", &["requeue", &id]));
            }
            Happening::Drain | Happening::Down => {
                let state = if what == Happening::Drain { "state=drain" } else { "state=down" };
                slurm.ask("scontrol", &["update", &node, state, "reason=test"]);
                away.push((turn, node));
            }
            Happening::Foreign => {
                let nodes = dice.nodes(8).to_string();
                let fixed = [
                    "-p",
                    "other",
                    "-N",
                    &nodes,
                    "-t",
                    "5",
                    "-o",
                    "/dev/null",
                    "--wrap",
                    "sleep 1",
                ];
                slurm.ask("sbatch", &fixed);
            }
            Happening::Doom => {
                drop(own);
                let mut doomed = doomed(&parked, if turn % 2 == 0 { "before" } else { "after" });
                for _ in 0..50 {
                    if doomed.0.try_wait().unwrap().is_some() {
                        break;
                    }
                    sleep(Duration::from_millis(100));
                }
                drop(doomed);
                let _ = fs::remove_file(slurm.home().join("die"));
                own = agent(slurm, &[]);
            }
            Happening::Crash => {
                controllers.push(parked.restart());
                sleep(Duration::from_secs(3));
            }
        }
        sleep(Duration::from_millis(500));
        away.retain(|(since, node)| {
            let is_back = turn > since + 6
                && slurm.ask("scontrol", &["update", node, "state=resume"]).status == Some(0);
            !is_back
        });
    }
    for (_, node) in &away {
        slurm.ask("scontrol", &["update", node, "state=resume"]);
    }
    parked.until_all_end(3_600, &[]);
    drop(own);
    say("run 4", &parked, began);
    drop(controllers);
}
