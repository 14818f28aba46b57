//! The decision on a job of shared nodes.

use crate::geometry::NodeSet;

use super::choose::choose;
use super::give::give;
use super::holdings::{Holdings, SharedGrant};
use super::machine::SharedMachine;
use super::request::{Memory, Needs, SharedRequest};

/// The decision on a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedDecision {
    /// The job starts.
    Start {
        /// Number of its tasks.
        tasks: u32,
        /// Its part of each node, in the order of the nodes.
        grants: Vec<SharedGrant>,
    },
    /// The job may start later.
    Wait,
    /// The job could not start even on the empty machine, for this reason.
    Never(String),
}

/// Decides on one job, as `select/cons_tres` of Slurm 26.05 does.
///
/// # Complexity
/// **O(log n)** for each node that is examined, of *n*. A job of one node examines those that may
/// hold it until one does; others examine all that may hold a part, and again in each retry.
#[must_use]
pub fn decide_shared(
    machine: &SharedMachine,
    holdings: &Holdings,
    request: &SharedRequest,
) -> SharedDecision {
    let never = |reason: &str| SharedDecision::Never(reason.to_owned());
    let needs = match request.needs(&machine.params) {
        Ok(needs) => needs,
        Err(reason) => return SharedDecision::Never(reason),
    };
    if needs.min_nodes > machine.whole.count() || needs.max_nodes < needs.min_nodes {
        return never("Requested partition configuration not available now");
    }
    let pool = pool(machine, holdings, request, &needs);
    if pool.is_empty() {
        return never("Requested node configuration is not available");
    }
    let is_open =
        |node: u32| machine.up.contains(node) && is_available(machine, &needs, holdings, node);
    if let Some(chosen) = choose(machine, &needs, holdings, &pool, is_open)
        && let Some((tasks, grants)) = give(machine, &needs, request.order, holdings, &chosen)
    {
        return SharedDecision::Start { tasks, grants };
    }
    match choose(machine, &needs, holdings.without_jobs(), &pool, |_| true) {
        Some(_) => SharedDecision::Wait,
        None => never("Requested node configuration is not available"),
    }
}

/// The nodes that a job could ever have.
fn pool(
    machine: &SharedMachine,
    holdings: &Holdings,
    request: &SharedRequest,
    needs: &Needs,
) -> NodeSet {
    let memory = match needs.memory {
        Memory::Cpu(memory) | Memory::Node(memory) => memory,
        Memory::Gpu => 0,
    };
    let is_possible: Vec<bool> = machine
        .types
        .iter()
        .map(|kind| {
            let mut features = kind.features.iter();
            request.feature.as_ref().is_none_or(|feature| features.any(|own| own == feature))
                && kind.cpus() >= needs.node_cpus
                && kind.memory >= memory
        })
        .collect();
    let mut pool = machine.whole.clone();
    if let Some(excluded) = &request.exclude {
        pool.subtract(excluded);
    }
    for (kind, is_possible) in is_possible.iter().enumerate() {
        if !is_possible {
            pool.subtract(holdings.of_type(kind));
        }
    }
    pool
}

/// Whether a node may be examined now.
fn is_available(machine: &SharedMachine, needs: &Needs, holdings: &Holdings, node: u32) -> bool {
    if needs.whole && !holdings.is_idle(machine, node) {
        return false;
    }
    if !machine.params.memory {
        return true;
    }
    let used = holdings.of(node).memory_used;
    let free = machine.node(node).memory.saturating_sub(used);
    match needs.memory {
        Memory::Gpu => free >= needs.gpus.map_or(0, |gpus| gpus.memory),
        Memory::Cpu(each) if each > 0 => {
            let cpus = needs.tpn.max(needs.node_cpus).max(needs.cpt);
            free >= each.saturating_mul(u64::from(cpus))
        }
        Memory::Node(all) if all > 0 => free >= all,
        _ => used == 0,
    }
}
