//! Policy of a study (scheduler and allocator), applied to a machine whose nodes have names.

use std::collections::{BTreeMap, BTreeSet};

use meshwork::scenario::Scenario;
use meshwork::topology::{Node, Topology};
use serde_json::{Value as Json, json};

use super::ends::ExpectedEnds;
use super::look::{Claim, FAR, numbers_of};
use meshwork_lab::plan::ReadState;
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_lab::study::Study;
use meshwork_lab::study::expand::expand;
use meshwork_lab::study::slurm::scenario::node_order;
use meshwork_slurm::live::{QueuedJob, shape};

/// Scheduler and allocator of a scenario, with the names of the machine's nodes.
#[derive(Debug)]
pub struct LivePolicy {
    scenario: Scenario,
    pub(super) topology: Topology,
    pub names: Vec<String>,
    pub(super) numbers: BTreeMap<String, u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) id: String,
    pub(super) nodes: u32,
    /// Sides of the block that the job requests, if it requests one.
    pub(super) block: Option<Vec<u32>>,
    /// Expected run time of the job in seconds, if known.
    pub(super) estimate: Option<i64>,
    pub(super) user: String,
    pub(super) queue: String,
    pub(super) without: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) nodes: Vec<u32>,
    /// Jobs that must not use the reserved nodes. If the list is empty, no job may use them.
    pub(super) jobs: Vec<String>,
    pub(super) from: f64,
    pub(super) until: f64,
}

#[derive(Clone, Debug)]
pub(super) struct LiveDecision {
    pub(super) state: Json,
    pub(super) answer: Json,
    /// Jobs to start, each with its index among the candidates and its nodes in the order of MPI
    /// ranks.
    pub(super) starts: Vec<(usize, Vec<u32>)>,
    /// Indices of candidates that could not start even on an empty machine.
    pub(super) never: Vec<usize>,
}

impl LivePolicy {
    /// Takes the policy from the only scenario of a study. `names` has the names of the nodes, in
    /// the order of node numbers.
    ///
    /// # Errors
    /// The study has several scenarios, or [`named`](LivePolicy::named) fails.
    pub fn of(study: &Study, names: Vec<String>) -> Result<LivePolicy, String> {
        let file = &study.file;
        let points = expand(study).map_err(|refused| refused.0)?;
        let [point] = &points[..] else {
            return Err(format!(
                "{file}: one policy decides, and this study has {} scenarios: choose one with --set",
                points.len()
            ));
        };
        LivePolicy::named(point.scenario.clone(), names).map_err(|says| format!("{file}: {says}"))
    }

    /// Takes the policy from a scenario. `names` has the names of the nodes, in the order of node
    /// numbers.
    ///
    /// # Errors
    /// The scenario has several sites, its number of nodes is not the number of names, or two names
    /// are equal.
    pub fn named(scenario: Scenario, names: Vec<String>) -> Result<LivePolicy, String> {
        let topologies = scenario.topologies();
        let [topology] = &topologies[..] else {
            return Err(format!(
                "its machine has {} sites, but a partition is one machine",
                topologies.len()
            ));
        };
        if topology.nodes() as usize != names.len() {
            return Err(format!(
                "its machine has {} nodes, but {} have names: the partition and the study must have the same nodes",
                topology.nodes(),
                names.len()
            ));
        }
        let numbers: BTreeMap<String, u32> = names.iter().cloned().zip(0..).collect();
        if numbers.len() != names.len() {
            return Err("two nodes have the same name".to_owned());
        }
        Ok(LivePolicy { topology: topology.clone(), scenario, names, numbers })
    }

    pub(super) fn names_of(&self, nodes: &[u32]) -> Vec<&str> {
        nodes.iter().map(|&node| self.names[node as usize].as_str()).collect()
    }

    /// Candidate for a waiting job on `nodes` nodes. If the job requests a range of node counts,
    /// `nodes` is one of them.
    pub(super) fn candidate(&self, job: &QueuedJob, nodes: u32, ends: &ExpectedEnds) -> Candidate {
        let numbers = &self.numbers;
        let without = if job.requires.is_empty() {
            numbers_of(numbers, &job.excludes)
        } else {
            let own: BTreeSet<u32> = numbers_of(numbers, &job.requires).into_iter().collect();
            (0..numbers.len() as u32).filter(|node| !own.contains(node)).collect()
        };
        let is_whole = |sides: &Vec<u32>| {
            let product = sides.iter().fold(1, |all: u64, &side| all.saturating_mul(side.into()));
            product == u64::from(nodes)
        };
        Candidate {
            id: job.id.clone(),
            nodes,
            block: shape(&job.comment).filter(is_whole),
            estimate: ends.runtime(job),
            user: job.user.clone(),
            queue: job.qos.clone(),
            without,
        }
    }

    pub(super) fn decide(
        &self,
        now: f64,
        claims: &[Claim],
        waiting: &[Candidate],
        kept: &[Kept],
    ) -> Result<LiveDecision, String> {
        let running = |claim: &Claim| json!({ "id": claim.id, "nodes": claim.nodes, "since": claim.since, "until": claim.until });
        let job = |own: &Candidate| {
            let mut job = json!({ "id": own.id, "estimate": own.estimate.map_or(FAR, |seconds| seconds.max(1) as f64) });
            match &own.block {
                Some(sides) => job["block"] = json!(sides),
                None => job["nodes"] = json!(own.nodes),
            }
            for (key, text) in [("user", &own.user), ("queue", &own.queue)] {
                if !text.is_empty() {
                    job[key] = json!(text);
                }
            }
            job
        };
        let without = |own: &&Candidate| !own.without.is_empty();
        let excluded = waiting
            .iter()
            .filter(without)
            .map(|own| json!({ "nodes": own.without, "from": 0.0, "jobs": [own.id] }));
        let reserved = kept.iter().map(|own| {
            let mut object = json!({ "nodes": own.nodes, "from": own.from });
            if own.until < 1e12 {
                object["until"] = json!(own.until);
            }
            if !own.jobs.is_empty() {
                object["jobs"] = json!(own.jobs);
            }
            object
        });
        let withheld: Vec<Json> = excluded.chain(reserved).collect();
        let state = json!({
            "now": now,
            "running": claims.iter().map(running).collect::<Vec<Json>>(),
            "waiting": waiting.iter().map(job).collect::<Vec<Json>>(),
            "withheld": withheld,
        });
        let read = ReadState::of(&self.scenario, state.clone())?;
        let decided = read.decided(&self.scenario)?;
        let grid = self.topology.grid();
        let starts = decided.starts.iter().map(|own| (own.waiting, own.placement.nodes(grid)));
        Ok(LiveDecision {
            answer: read.json(&decided, std::slice::from_ref(&self.topology)),
            starts: starts.collect(),
            never: decided.never,
            state,
        })
    }

    /// Repeats a decision for a recorded state. The result has the form of the output of `meshwork
    /// plan`.
    pub fn again(&self, state: Json) -> Result<Json, String> {
        let read = ReadState::of(&self.scenario, state)?;
        let decided = read.decided(&self.scenario)?;
        Ok(read.json(&decided, std::slice::from_ref(&self.topology)))
    }

    pub(super) fn distance(&self, nodes: &[u32]) -> Option<f64> {
        let mut sum = 0.0;
        for (place, &a) in nodes.iter().enumerate() {
            let distance = |&b: &u32| f64::from(self.topology.distance(a, b));
            sum += nodes[..place].iter().map(distance).sum::<f64>();
        }
        let pairs = nodes.len() * nodes.len().saturating_sub(1) / 2;
        (pairs > 0).then(|| sum / pairs as f64)
    }
}

/// Names of the nodes of a study's machine, in the order of the study's node numbers.
///
/// If the study reads its machine from Slurm files, the order is the one of these files. Otherwise
/// it is the order of the partition in `slurm.conf`.
pub fn node_names(
    machine: &SlurmMachine,
    partition: &str,
    study: &Study,
) -> Result<Vec<String>, String> {
    if !machine.has_partition(partition) {
        return Err(format!("the slurm.conf has no partition {partition}"));
    }
    let site = machine.site(partition);
    let table = study.scenario.get("machine").and_then(|machine| machine.as_table());
    let order: Vec<Node> = match table {
        Some(table) if table.contains_key("slurm") => node_order(&machine.reading, site),
        _ => site.whole.iter().collect(),
    };
    Ok(order.into_iter().map(|node| site.hosts.name(node).to_owned()).collect())
}
