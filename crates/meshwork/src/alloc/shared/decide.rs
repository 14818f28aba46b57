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
    let Wanted { needs, pool } = match wanted(machine, holdings, request) {
        Ok(wanted) => wanted,
        Err(reason) => return SharedDecision::Never(reason),
    };
    let is_open =
        |node: u32| machine.up.contains(node) && is_available(machine, &needs, holdings, node);
    if let Some(chosen) = choose(machine, &needs, holdings, &pool, is_open)
        && let Some((tasks, grants)) = give(machine, &needs, request.order, holdings, &chosen)
    {
        return SharedDecision::Start { tasks, grants };
    }
    if is_ever(machine, holdings, &needs, &pool) {
        SharedDecision::Wait
    } else {
        SharedDecision::Never(NOT_AVAILABLE.to_owned())
    }
}

/// Slurm's words for a job that could not start even on the empty machine.
pub(super) const NOT_AVAILABLE: &str = "Requested node configuration is not available";

/// A request's needs on a machine, and the nodes that the job could ever have.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub needs: Needs,
    pub pool: NodeSet,
}

/// Derives the needs of a request on a machine.
///
/// # Errors
/// The reason, if it can never start.
pub(super) fn wanted(
    machine: &SharedMachine,
    holdings: &Holdings,
    request: &SharedRequest,
) -> Result<Wanted, String> {
    let needs = request.needs(&machine.params)?;
    if needs.min_nodes > machine.whole.count() || needs.max_nodes < needs.min_nodes {
        return Err("Requested partition configuration not available now".to_owned());
    }
    let pool = pool(machine, holdings, request, &needs);
    if pool.is_empty() {
        return Err(NOT_AVAILABLE.to_owned());
    }
    Ok(Wanted { needs, pool })
}

/// Whether a job could start on the empty machine.
pub(super) fn is_ever(
    machine: &SharedMachine,
    holdings: &Holdings,
    needs: &Needs,
    pool: &NodeSet,
) -> bool {
    choose(machine, needs, holdings.without_jobs(), pool, |_| true).is_some()
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
pub(super) fn is_available(
    machine: &SharedMachine,
    needs: &Needs,
    holdings: &Holdings,
    node: u32,
) -> bool {
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
