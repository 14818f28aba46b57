//! Decision on a job that may share nodes with other jobs, as Slurm makes it.

use crate::geometry::NodeSet;

use super::choose::choose;
use super::cores::CoreSet;
use super::fit::Fit;
use super::give::give;
use super::holdings::{Free, Holdings, SharedGrant};
use super::machine::SharedMachine;
use super::request::{Memory, Needs, SharedRequest, SocketOrder};

/// Decision on a job that may share nodes with other jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedDecision {
    /// The job starts on nodes that it may share.
    Start {
        /// Number of tasks of the job.
        tasks: u32,
        /// Resources that the job gets on each of its nodes, in ascending order of the nodes.
        grants: Vec<SharedGrant>,
    },
    /// The job cannot start now, but may start later.
    Wait,
    /// The job could not start even on the empty machine. The value is the reason in words.
    Never(String),
}

/// Decides on one job in the same way as `select/cons_tres` of Slurm 26.05.
///
/// # Complexity
/// **O(log n)** for each examined node on a machine of *n* nodes. For a job of one node, nodes are
/// examined until one can hold it. For a job of several nodes, each attempt examines all nodes that
/// may hold a part of it.
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
    if let Some(chosen) = choose(machine, &needs, holdings, &pool, is_open, &mut |_, _| {})
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

/// Slurm's message about a job that could not start even on the empty machine.
pub(super) const NOT_AVAILABLE: &str = "Requested node configuration is not available";

#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub needs: Needs,
    pub pool: NodeSet,
}

/// Derives from a request what the job needs, or returns the reason why it can never start.
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

pub(super) fn is_ever(
    machine: &SharedMachine,
    holdings: &Holdings,
    needs: &Needs,
    pool: &NodeSet,
) -> bool {
    choose(machine, needs, holdings.without_jobs(), pool, |_| true, &mut |_, _| {}).is_some()
}

/// Nodes that have the requested feature, CPUs and memory, without those that the job excludes.
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
    let mut pool = machine.whole.clone();
    if let Some(excluded) = &request.exclude {
        pool.subtract(excluded);
    }
    for (at, kind) in machine.types.iter().enumerate() {
        let suits = request.feature.as_ref().is_none_or(|own| kind.features.contains(own));
        if !suits || kind.cpus() < needs.node_cpus || kind.memory < memory {
            pool.subtract(holdings.of_type(at));
        }
    }
    pool
}

/// Whether a node has enough free memory. If the job needs whole nodes, the node must also be idle.
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

/// For each node, the number of its GPUs near the cores of the last examined job with GPUs.
///
/// The order in which Slurm 22.05 takes nodes depends on these numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearGpus(Vec<u8>);

impl NearGpus {
    /// Creates the record of a machine on which no GPUs have been counted yet.
    #[must_use]
    pub fn none(machine: &SharedMachine) -> NearGpus {
        NearGpus(vec![0; machine.count() as usize])
    }

    /// Sets the numbers of GPUs near the cores of a job to 0 for the nodes in `nodes`.
    pub fn forget(&mut self, nodes: &NodeSet) {
        nodes.iter().for_each(|node| self.0[node as usize] = 0);
    }

    /// Counts, for each of the given nodes, the GPUs near the cores of a job.
    ///
    /// All cores are assumed to be free, as in the first check of Slurm 22.05.
    fn note(
        &mut self,
        machine: &SharedMachine,
        needs: &Needs,
        holdings: &Holdings,
        nodes: impl Iterator<Item = u32>,
    ) {
        if !machine.params.is_older || needs.gpus.is_none() {
            return;
        }
        for node in nodes {
            let core_count = machine.node(node).all_cores();
            let free = Free { cores: CoreSet::full(core_count), core_count, ..*holdings.of(node) };
            if let Some(fit) = Fit::new(machine, needs, node, &free) {
                self.0[node as usize] = fit.near();
            }
        }
    }
}

/// Needs of a job on a machine, derived from its request once, and then used for many queries.
#[derive(Clone, Debug)]
pub struct SharedLookup {
    wanted: Wanted,
    order: SocketOrder,
    is_ever: bool,
}

impl SharedLookup {
    /// Derives from a request what the job needs, and examines whether it could ever start.
    ///
    /// # Errors
    /// The reason why the options of the job never let it start on this machine.
    pub fn new(
        machine: &SharedMachine,
        holdings: &Holdings,
        request: &SharedRequest,
    ) -> Result<SharedLookup, String> {
        let wanted = wanted(machine, holdings, request)?;
        let is_ever = is_ever(machine, holdings, &wanted.needs, &wanted.pool);
        Ok(SharedLookup { wanted, order: request.order, is_ever })
    }

    /// Whether the job could start if the machine were empty.
    #[must_use]
    pub fn is_ever(&self) -> bool {
        self.is_ever
    }

    /// Nodes of suitable types that the job does not exclude, whether they are free or not.
    #[must_use]
    pub fn pool(&self) -> &NodeSet {
        &self.wanted.pool
    }

    /// Minimum number of nodes of the job.
    #[must_use]
    pub fn min_nodes(&self) -> u32 {
        self.wanted.needs.min_nodes
    }

    /// Whether the job requests GPUs.
    #[must_use]
    pub fn asks_for_gpus(&self) -> bool {
        self.wanted.needs.gpus.is_some()
    }

    /// Whether the job gets whole nodes, so that it shares none of them.
    #[must_use]
    pub fn takes_whole_nodes(&self) -> bool {
        self.wanted.needs.whole
    }

    /// Finds the resources that the job gets now on nodes in `open`; `None` if it has to wait.
    #[must_use]
    pub fn find(
        &self,
        machine: &SharedMachine,
        holdings: &Holdings,
        open: &NodeSet,
        near: &mut NearGpus,
    ) -> Option<Vec<SharedGrant>> {
        let Wanted { needs, pool } = &self.wanted;
        let is_open = |node: u32| {
            open.contains(node)
                && machine.up.contains(node)
                && is_available(machine, needs, holdings, node)
        };
        // Slurm 22.05 first checks whether all cores would suffice.
        near.note(machine, needs, holdings, pool.iter().filter(|&node| is_open(node)));
        let mut weigh = |node: u32, fit: &mut Fit| match needs.gpus {
            Some(_) => near.0[node as usize] = fit.near(),
            None => fit.set_near(near.0[node as usize]),
        };
        let mut keep = |_: u32, _: &mut Fit| {};
        let weigh: &mut dyn FnMut(u32, &mut Fit) =
            if machine.params.is_older { &mut weigh } else { &mut keep };
        let chosen = choose(machine, needs, holdings, pool, is_open, weigh)?;
        give(machine, needs, self.order, holdings, &chosen).map(|(_, grants)| grants)
    }

    /// Updates the counts of near GPUs as Slurm 22.05 does when it checks whether a job could ever
    /// start.
    pub fn ask_ever(
        &self,
        machine: &SharedMachine,
        holdings: &Holdings,
        open: &NodeSet,
        near: &mut NearGpus,
    ) {
        let Wanted { needs, pool } = &self.wanted;
        let nodes = pool.iter().filter(|&node| open.contains(node));
        near.note(machine, needs, holdings.without_jobs(), nodes);
    }

    /// Free cores, memory and GPUs of the given nodes for a job with `cpus` CPUs.
    ///
    /// Used for a job that is known to run on these nodes although the rules would not have placed
    /// it there.
    #[must_use]
    pub fn forced(
        &self,
        machine: &SharedMachine,
        holdings: &Holdings,
        nodes: &NodeSet,
        cpus: u32,
    ) -> Vec<SharedGrant> {
        let needs = &self.wanted.needs;
        let count = nodes.count().max(1);
        let on_each = |all: u64| all.div_ceil(u64::from(count));
        let part = |node: u32| {
            let (kind, free) = (machine.node(node), holdings.of(node));
            let cores = cpus.div_ceil(count).div_ceil(kind.threads.max(1));
            let cores = if needs.whole { kind.all_cores() } else { cores };
            let mut own = free.cores;
            own.remove_highest(0, kind.all_cores(), free.core_count.saturating_sub(cores));
            let wanted = needs.gpus.map_or(0, |gpus| match gpus.per_node {
                0 => on_each(gpus.per_job),
                per_node => per_node,
            });
            let mut gpus = 0_u64;
            for gpu in (0..64).filter(|gpu| free.gpus >> gpu & 1 == 1) {
                let is_wanted = needs.whole || u64::from(gpus.count_ones()) < wanted;
                gpus |= u64::from(is_wanted) << gpu;
            }
            let memory = match needs.memory {
                Memory::Cpu(each) => each.saturating_mul(u64::from(own.count() * kind.threads)),
                Memory::Node(0) => kind.memory,
                Memory::Node(all) => all,
                Memory::Gpu => {
                    needs.gpus.map_or(0, |own| own.memory * u64::from(gpus.count_ones()))
                }
            };
            let left = kind.memory.saturating_sub(free.memory_used);
            let memory = if machine.params.memory { memory.min(left) } else { 0 };
            SharedGrant { node, cores: own, cpus: own.count() * kind.threads, memory, gpus }
        };
        nodes.iter().map(part).collect()
    }
}
