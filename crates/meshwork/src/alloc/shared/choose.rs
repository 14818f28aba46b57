//! Choice of the nodes of a job that may share nodes with other jobs, in repeated attempts.

use std::cmp::Reverse;

use crate::geometry::NodeSet;

use super::cores::CoreSet;
use super::fit::Fit;
use super::holdings::{Holdings, Least};
use super::known::Known;
use super::machine::{Domains, SharedMachine};
use super::request::{Memory, Needs};
use super::{blocks, tree};

/// Consequence of a failed attempt: the nodes to leave out of the next attempt, or no next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    Stop,
    /// All nodes that this attempt has taken are left out of the next attempt.
    All,
    /// Leave out one of the nodes taken by this attempt: the one with the lowest product of CPUs
    /// and GPUs.
    OneOfThese,
    /// Of all available nodes, leave out the one with the lowest product of usable CPUs and GPUs.
    Next,
}

/// Amounts of nodes, CPUs and tasks that a job still lacks, while nodes are taken one by one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing {
    pub cpus: i64,
    pub cpus_at_most: i64,
    /// Number of nodes that the job still lacks to reach the target of this attempt.
    pub nodes: i64,
    /// Number of nodes that the attempt still has to take to reach the minimum of the job.
    pub nodes_at_least: i64,
    /// Number of tasks that may still be placed on further nodes.
    pub tasks: u64,
}

/// State of the repeated attempts to choose nodes for a job.
pub(super) struct Attempt<'a> {
    pub machine: &'a SharedMachine,
    pub needs: &'a Needs,
    fits: Vec<Fit>,
    /// For each node, the index of its entry in `fits`; empty if only a single node is examined.
    pub slots: Vec<u32>,
    /// Stored results of an equal earlier request, with the present holdings of the nodes.
    /// If this is set, a node is examined only when an attempt may take it.
    pub unexamined: Option<(&'a Known, &'a Holdings)>,
    /// Nodes that have been examined for this job.
    pub examined: Vec<u32>,
    /// Before an attempt, the nodes that it may take; after an attempt, the nodes that it took.
    pub map: NodeSet,
    /// Number of nodes that may still be taken in the current attempt.
    pub nodes_left: i64,
    pub min_nodes: u32,
    /// Number of GPUs on the nodes that the current attempt has taken.
    pub taken: u64,
    pub first_pass: bool,
}

pub(super) type Chosen = Vec<(u32, Fit)>;

impl<'a> Attempt<'a> {
    pub(super) fn new(machine: &'a SharedMachine, needs: &'a Needs, map: NodeSet) -> Attempt<'a> {
        Attempt {
            machine,
            needs,
            fits: Vec::new(),
            slots: Vec::new(),
            unexamined: None,
            examined: Vec::new(),
            map,
            nodes_left: i64::from(needs.max_nodes.min(500_000)),
            min_nodes: needs.min_nodes,
            taken: 0,
            first_pass: true,
        }
    }

    pub(super) fn fit(&self, node: u32) -> &Fit {
        &self.fits[self.slot(node)]
    }

    pub(super) fn fit_mut(&mut self, node: u32) -> &mut Fit {
        let slot = self.slot(node);
        &mut self.fits[slot]
    }

    /// Computes what the job could take of a node, unless this is already known.
    pub(super) fn examine(&mut self, node: u32) {
        let Some((known, holdings)) = self.unexamined else { return };
        if self.slots[node as usize] != u32::MAX {
            return;
        }
        if let Some(fit) = known.fit(self.machine, holdings, self.needs, node) {
            self.slots[node as usize] = self.fits.len() as u32;
            self.fits.push(fit);
            self.examined.push(node);
        }
    }

    fn slot(&self, node: u32) -> usize {
        self.slots.get(node as usize).map_or(0, |&slot| slot as usize)
    }

    /// Whether the job requests a total number of GPUs.
    pub(super) fn counts_gpus(&self) -> bool {
        self.needs.gpus.is_some_and(|gpus| gpus.per_job > 0)
    }

    /// Whether the nodes taken so far have the total number of GPUs that the job requests.
    pub(super) fn has_gpus(&self) -> bool {
        self.needs.gpus.is_none_or(|gpus| gpus.per_job <= self.taken)
    }

    pub(super) fn gpus_suffice(&self, more: u64) -> bool {
        self.needs.gpus.is_none_or(|gpus| gpus.per_job <= self.taken + more)
    }

    pub(super) fn limit_first(&mut self) {
        let needs = self.needs;
        if needs.tasks > 0 && needs.tpn == 0 && self.nodes_left > i64::from(needs.tasks) {
            self.nodes_left = i64::from(needs.tasks.max(self.min_nodes));
        }
    }

    /// Amounts that the job lacks at the start of an attempt.
    ///
    /// If `always_least` is set, or if the job requests a total number of GPUs, the attempt aims at
    /// the minimum number of nodes. Otherwise, it aims at the target number.
    pub(super) fn missing(&mut self, always_least: bool) -> Missing {
        let needs = self.needs;
        self.taken = 0;
        let (least, want) = (i64::from(self.min_nodes), i64::from(needs.want));
        let is_least = always_least || self.counts_gpus();
        let nodes = if is_least { least.min(want) } else { least.max(want) };
        let cpus_at_most = self.most_cpus(nodes);
        Missing {
            cpus: i64::from(needs.min_cpus),
            cpus_at_most,
            nodes,
            nodes_at_least: least,
            tasks: self.most_tasks(cpus_at_most, self.nodes_left),
        }
    }

    fn most_cpus(&self, nodes: i64) -> i64 {
        let needs = self.needs;
        let mut most = i64::from(needs.min_cpus);
        if needs.gpu_node_cpus > 0 {
            most = most.max(i64::from(needs.gpu_node_cpus) * nodes);
        }
        most.max(i64::from(needs.gpu_job_cpus))
    }

    fn most_tasks(&self, cpus: i64, nodes: i64) -> u64 {
        let needs = self.needs;
        let most = match (needs.cpt, needs.tpn) {
            (1, _) => cpus as u32,
            (cpt, 0) => cpus as u32 / cpt,
            (_, tpn) => tpn.wrapping_mul(nodes as u32),
        };
        u64::from(most)
    }

    /// Whether `available` further nodes suffice for an attempt that still lacks `nodes` nodes.
    ///
    /// An attempt may end with fewer nodes than its target, but not with fewer than the job's
    /// minimum.
    pub(super) fn enough_nodes(&self, available: i64, nodes: i64) -> bool {
        let (least, want) = (i64::from(self.min_nodes), i64::from(self.needs.want));
        available >= if want > least { nodes + least - want } else { nodes }
    }

    pub(super) fn is_done(&self, missing: &Missing) -> bool {
        missing.nodes <= 0 && missing.cpus <= 0 && self.has_gpus()
    }

    /// Whether node selection may end because the job has its minimum number of nodes, CPUs and
    /// GPUs.
    pub(super) fn suffices(&self, missing: &Missing) -> bool {
        missing.nodes_at_least <= 0 && missing.cpus <= 0 && self.has_gpus()
    }

    pub(super) fn select_cores(&mut self, node: u32, nodes_left: i64) -> u32 {
        let kind = self.machine.node(node);
        let (needs, taken, first_pass) = (self.needs, self.taken, self.first_pass);
        let is_older = self.machine.params.is_older;
        self.fit_mut(node).select_cores(kind, needs, taken, nodes_left, first_pass, is_older)
    }

    /// Takes a node with `cpus` usable CPUs; returns the CPUs used, or 0 if the job cannot use the
    /// node.
    pub(super) fn take(&mut self, node: u32, cpus: u32, missing: &mut Missing) -> u32 {
        let used = self.cpus_to_use(node, cpus, missing);
        if used > 0 {
            missing.cpus -= i64::from(used);
            missing.cpus_at_most -= i64::from(used);
            missing.nodes -= 1;
            missing.nodes_at_least -= 1;
            self.nodes_left -= 1;
            self.map.insert(node);
        }
        used
    }

    fn cpus_to_use(&mut self, node: u32, cpus: u32, missing: &mut Missing) -> u32 {
        let needs = self.needs;
        let threads = self.machine.node(node).threads;
        let nodes_left = missing.nodes_at_least;
        let mut cpus = cpus;
        if !needs.whole {
            let elsewhere = (nodes_left - 1).max(0) * i64::from(threads);
            let most = missing.cpus_at_most - elsewhere;
            let fit = self.fit_mut(node);
            if i64::from(cpus) > most {
                cpus = most.max(i64::from(needs.node_cpus)) as u32;
                let brought = if fit.gpu_cpus > 0 { fit.gpu_cpus } else { needs.gpu_node_cpus };
                cpus = cpus.max(brought);
                fit.cpus = cpus;
            }
        }
        if cpus > 0 && self.counts_gpus() {
            return self.take_gpus(node, cpus, nodes_left, &mut missing.tasks);
        }
        cpus
    }

    /// Assigns GPUs of a node to the job, and subtracts the tasks on the node from the job's tasks.
    ///
    /// Returns the number of CPUs used, or 0 if the job cannot use the node.
    fn take_gpus(&mut self, node: u32, cpus: u32, nodes_left: i64, tasks: &mut u64) -> u32 {
        let needs = self.needs;
        let Some(gpus) = needs.gpus else { return cpus };
        let (taken, is_older) = (self.taken, self.machine.params.is_older);
        let fit = self.fit_mut(node);
        if is_older {
            let most = cpus.checked_div(gpus.cpus).map_or(u64::MAX, u64::from);
            let own = fit.gpus.min(most);
            self.taken += own;
            let brought = own.saturating_mul(u64::from(gpus.cpus)) as u32;
            return if brought > 0 { brought } else { cpus };
        }
        // The numbers wrap around like those of Slurm.
        let mut saved = (nodes_left - 1).max(0) as u32;
        let mut most = tasks.wrapping_sub(u64::from(saved));
        let held = most.min(u64::from(cpus / needs.cpt));
        if held < most {
            saved = saved.wrapping_add((most - held) as u32);
            most = held;
        }
        most = most.max(1);
        let mut used_tasks = most.min(65_534);
        if used_tasks < u64::from(fit.task_limit) {
            if gpus.per_task > 0 && gpus.per_node == 0 {
                fit.gpus = fit.gpus.min(used_tasks * gpus.per_task);
            }
            fit.task_limit = used_tasks as u32;
        }
        used_tasks = used_tasks.min(u64::from(fit.task_limit));
        let least_cpus = (needs.cpt * used_tasks as u32).max(needs.node_cpus);
        let mut cpus = cpus;
        if used_tasks == 0 || cpus < least_cpus {
            fit.cpus = 0;
            *tasks = most.wrapping_add(u64::from(saved));
            return 0;
        }
        let mut limit = fit.gpus;
        let mut brought = 0;
        if let Some(most) = cpus.checked_div(gpus.cpus) {
            limit = limit.min(u64::from(most));
            brought = (limit * u64::from(gpus.cpus)) as u32;
        }
        let least = if gpus.per_task > 0 { limit } else { gpus.per_node.max(1) };
        if gpus.per_job > taken {
            limit = limit.min(gpus.per_job - taken);
        }
        limit = limit.max(least);
        fit.gpus = limit;
        if brought > 0 && brought < cpus && brought > least_cpus {
            cpus = brought;
        }
        fit.cpus = cpus;
        self.taken += limit;
        *tasks = (most - used_tasks).wrapping_add(u64::from(saved));
        cpus
    }

    /// Drops the highest cores of each taken node's sockets, so that every socket meets its core
    /// limit.
    pub(super) fn clip(&mut self) {
        if self.needs.gpus.is_none() {
            return;
        }
        let map = self.map.clone();
        for node in map.iter() {
            let kind = self.machine.node(node);
            let fit = self.fit_mut(node);
            for socket in 0..kind.sockets {
                let start = socket * kind.cores;
                let has = fit.cores.count_range(start, kind.cores);
                let may = u32::from(fit.core_limits[socket as usize]);
                fit.cores.remove_highest(start, kind.cores, has.saturating_sub(may));
            }
        }
    }

    /// Removes chosen nodes on which no core is left for the job.
    pub(super) fn leave_out_empty(&mut self) {
        if self.needs.gpus.is_none() {
            return;
        }
        let map = self.map.clone();
        for node in map.iter() {
            let threads = self.machine.node(node).threads;
            let fit = self.fit_mut(node);
            fit.cpus = fit.cpus.min(fit.cores.count() * threads);
            if fit.cpus == 0 {
                self.map.remove(node);
            }
        }
    }

    pub(super) fn chosen(&self) -> Chosen {
        self.map.iter().map(|node| (node, self.fit(node).clone())).collect()
    }
}

/// Chooses the nodes of a job among the nodes of `pool` for which `is_open` holds.
///
/// If the job may take several nodes, `weigh` is called first for each such node. It can change the
/// rank of the node.
pub(super) fn choose(
    machine: &SharedMachine,
    needs: &Needs,
    holdings: &Holdings,
    pool: &NodeSet,
    is_open: impl Fn(u32) -> bool,
    weigh: &mut dyn FnMut(u32, &mut Fit),
) -> Option<Chosen> {
    let least = least_free(machine, needs);
    let open = || holdings.with_free(least).filter(|&node| pool.contains(node) && is_open(node));
    if needs.max_nodes == 1 && !machine.params.is_older {
        return [true, false]
            .into_iter()
            .find_map(|first_pass| one_node(machine, needs, holdings, open(), first_pass));
    }
    let mut attempt = Attempt::new(machine, needs, NodeSet::empty(machine.count()));
    attempt.slots = vec![u32::MAX; machine.count() as usize];
    for node in open() {
        if let Some(mut fit) = Fit::new(machine, needs, node, holdings.of(node)) {
            weigh(node, &mut fit);
            attempt.slots[node as usize] = attempt.fits.len() as u32;
            attempt.fits.push(fit);
            attempt.map.insert(node);
        }
    }
    if attempt.map.count() < needs.min_nodes {
        return None;
    }
    attempt.min_nodes = least_nodes(needs);
    several_nodes(attempt)
}

pub(super) fn least_nodes(needs: &Needs) -> u32 {
    match needs.tpn {
        tpn if tpn > 0 && needs.tasks > 0 => needs.min_nodes.max(needs.tasks.div_ceil(tpn)),
        _ => needs.min_nodes,
    }
}

pub(super) fn least_free(machine: &SharedMachine, needs: &Needs) -> Least {
    let threads = machine.types.iter().map(|kind| kind.threads).max().unwrap_or(1);
    let cores = needs.node_cpus.div_ceil(threads.max(1)).max(1);
    let gpus = needs.gpus.map_or(0, |gpus| gpus.per_node.max(gpus.per_task).max(1));
    let memory = match needs.memory {
        Memory::Node(all) if machine.params.memory => all,
        _ => 0,
    };
    [u64::from(cores), gpus, memory]
}

/// The first of the candidates, in their given order, that can hold the whole job.
fn one_node(
    machine: &SharedMachine,
    needs: &Needs,
    holdings: &Holdings,
    candidates: impl Iterator<Item = u32>,
    first_pass: bool,
) -> Option<Chosen> {
    let mut attempt = Attempt::new(machine, needs, NodeSet::empty(machine.count()));
    attempt.min_nodes = 1;
    attempt.first_pass = first_pass;
    for node in candidates {
        let Some(fit) = Fit::new(machine, needs, node, holdings.of(node)) else { continue };
        attempt.fits.clear();
        attempt.fits.push(fit);
        let cpus_at_most = attempt.most_cpus(1);
        let mut missing = Missing {
            cpus: i64::from(needs.min_cpus),
            cpus_at_most,
            nodes: 1,
            nodes_at_least: 1,
            tasks: attempt.most_tasks(cpus_at_most, 1),
        };
        let cpus = attempt.select_cores(node, 1);
        let used = attempt.take(node, cpus, &mut missing);
        if used > 0 && used >= needs.min_cpus && attempt.has_gpus() {
            attempt.clip();
            return Some(attempt.chosen());
        }
        // Like in Slurm, the GPUs of this node stay counted.
        attempt.map.remove(node);
    }
    None
}

/// Tries to place a job on several nodes, in repeated attempts that may use fewer and fewer nodes.
fn several_nodes(mut attempt: Attempt<'_>) -> Option<Chosen> {
    let needs = attempt.needs;
    let most_nodes = attempt.nodes_left;
    attempt.limit_first();
    let mut left = attempt.map.clone();
    // Attempts take cores away only from jobs with GPUs.
    let backed_up = left.iter().filter(|_| needs.gpus.is_some());
    let cores: Vec<(u32, CoreSet)> =
        backed_up.map(|node| (node, attempt.fit(node).cores)).collect();
    attempt.first_pass = true;
    let mut is_placed = evaluate(&mut attempt).is_ok();
    attempt.first_pass = false;
    let is_older = attempt.machine.params.is_older;
    if is_older && !is_placed {
        is_placed = leave_out_small(&mut attempt, left.clone(), &cores, most_nodes);
    }
    let mut order: Option<Vec<u32>> = None;
    let mut at = 0;
    let mut skips = false;
    let mut count = left.count();
    while !is_placed && !is_older {
        attempt.nodes_left = most_nodes;
        attempt.map.copy_from(&left);
        for (node, cores) in &cores {
            attempt.fit_mut(*node).cores = *cores;
        }
        let Err(leave) = evaluate(&mut attempt) else {
            is_placed = true;
            break;
        };
        if leave == Leave::Stop || count <= attempt.min_nodes {
            break;
        }
        if leave == Leave::All {
            left.subtract(&attempt.map);
            count = left.count();
            skips |= order.is_some();
            if order.as_ref().is_some_and(|order| at >= order.len()) {
                break;
            }
            continue;
        }
        let order = order.get_or_insert_with(|| {
            let mut order: Vec<u32> = left.iter().collect();
            order.sort_by_key(|&node| attempt.fit(node).product);
            order
        });
        if order.is_empty() {
            break;
        }
        if leave == Leave::OneOfThese && !attempt.map.is_empty() {
            let found = order[at..].iter().position(|&node| attempt.map.contains(node));
            let Some(found) = found else { break };
            left.remove(order[at + found]);
            count -= 1;
            if found == 0 {
                at += 1;
            } else {
                skips = true;
            }
        } else {
            while skips && at < order.len() && !left.contains(order[at]) {
                at += 1;
            }
            if at == order.len() {
                break;
            }
            left.remove(order[at]);
            count -= 1;
            at += 1;
        }
        if at >= order.len() {
            break;
        }
    }
    is_placed.then(|| {
        attempt.leave_out_empty();
        attempt.chosen()
    })
}

/// Repeats attempts as in Slurm 22.05: each leaves out further nodes that have few CPUs and GPUs.
fn leave_out_small(
    attempt: &mut Attempt<'_>,
    mut left: NodeSet,
    cores: &[(u32, CoreSet)],
    most_nodes: i64,
) -> bool {
    let counts = attempt.needs.gpus.is_some();
    let parts = |attempt: &Attempt<'_>, node| {
        let fit = attempt.fit(node);
        u64::from(fit.cpus) + if counts { fit.gpus } else { 0 }
    };
    let try_on = |attempt: &mut Attempt<'_>, left: &NodeSet| {
        attempt.nodes_left = most_nodes;
        attempt.limit_first();
        attempt.map.copy_from(left);
        for (node, cores) in cores {
            attempt.fit_mut(*node).cores = *cores;
        }
        evaluate(attempt).is_ok()
    };
    if left.count() <= attempt.min_nodes {
        return try_on(attempt, &left);
    }
    let most = left.iter().map(|node| parts(attempt, node)).max().unwrap_or(0);
    for least in 1..most {
        let mut is_changed = least == 1;
        for node in left.clone().iter() {
            if parts(attempt, node) <= least {
                left.remove(node);
                is_changed = true;
                if left.count() <= attempt.min_nodes {
                    break;
                }
            }
        }
        if is_changed && try_on(attempt, &left) {
            return true;
        }
        if is_changed && left.count() <= attempt.min_nodes {
            return false;
        }
    }
    false
}

/// Makes one attempt by the placement rule that the settings of the machine select.
fn evaluate(attempt: &mut Attempt<'_>) -> Result<(), Leave> {
    if attempt.map.count() < attempt.min_nodes {
        return Err(Leave::Stop);
    }
    let (machine, needs) = (attempt.machine, attempt.needs);
    let placed = match &machine.domains {
        Domains::Block(list) if list.covers_any(&attempt.map) => blocks::place(attempt, list),
        _ if machine.params.least_loaded => least_loaded(attempt),
        _ if machine.params.serial_at_end && needs.min_cpus == 1 && needs.want == 1 => {
            from_the_end(attempt)
        }
        Domains::Tree(list) => tree::place(attempt, list),
        _ => runs(attempt),
    };
    if placed.is_ok() {
        attempt.clip();
    }
    placed
}

/// Run of consecutive nodes of equal weight, with the CPUs and GPUs that the job could take from
/// them.
struct NodeRun {
    nodes: Vec<u32>,
    weight: u64,
    cpus: i64,
    gpus: u64,
    is_used: bool,
}

/// Takes nodes for a job from runs of consecutive nodes of equal weight, by best fit.
///
/// The runs are used one after another, lighter runs first. Among runs of equal weight, the best is
/// the one with the fewest CPUs that suffices for the rest of the job. If none suffices, the best
/// is the one with the most CPUs. Runs are compared in the order of their nodes. A run with more
/// CPUs replaces the best so far, even if its nodes or GPUs do not suffice.
fn runs(attempt: &mut Attempt<'_>) -> Result<(), Leave> {
    let mut missing = attempt.missing(false);
    let map = attempt.map.clone();
    attempt.map.clear();
    let counts = attempt.counts_gpus();
    let mut runs: Vec<NodeRun> = Vec::new();
    let mut usable = vec![0; attempt.machine.count() as usize];
    let mut last = None;
    for node in map.iter() {
        let cpus = attempt.select_cores(node, missing.nodes_at_least);
        usable[node as usize] = cpus;
        if cpus == 0 {
            continue;
        }
        let fit = attempt.fit(node);
        let (weight, gpus) = (fit.weight, if counts { fit.gpus } else { 0 });
        match runs.last_mut().filter(|run| last == node.checked_sub(1) && run.weight == weight) {
            Some(run) => {
                run.nodes.push(node);
                run.cpus += i64::from(cpus);
                run.gpus += gpus;
            }
            None => runs.push(NodeRun {
                nodes: vec![node],
                weight,
                cpus: i64::from(cpus),
                gpus,
                is_used: false,
            }),
        }
        last = Some(node);
    }
    while attempt.nodes_left > 0 {
        let mut best: Option<(usize, bool)> = None;
        for (i, run) in runs.iter().enumerate().filter(|(_, run)| !run.is_used) {
            let is_enough = run.cpus >= missing.cpus
                && attempt.enough_nodes(run.nodes.len() as i64, missing.nodes)
                && (!counts || attempt.gpus_suffice(run.gpus));
            let is_better = best.is_none_or(|(best, best_is_enough)| {
                let other = &runs[best];
                run.weight < other.weight
                    || run.weight == other.weight
                        && (is_enough && (!best_is_enough || run.cpus < other.cpus)
                            || !is_enough && run.cpus > other.cpus)
            });
            if is_better {
                best = Some((i, is_enough));
            }
        }
        let Some((best, _)) = best else { break };
        if missing.nodes <= 1 {
            let mut single: Option<u32> = None;
            for &node in &runs[best].nodes {
                let cpus = usable[node as usize];
                if i64::from(cpus) < missing.cpus
                    || counts && !attempt.gpus_suffice(attempt.fit(node).gpus)
                {
                    continue;
                }
                if single.is_none_or(|single| cpus < usable[single as usize]) {
                    single = Some(node);
                    if i64::from(cpus) == missing.cpus {
                        break;
                    }
                }
            }
            if let Some(single) = single {
                runs[best].nodes.retain(|&node| node == single);
            }
        }
        for &node in &runs[best].nodes {
            if attempt.nodes_left == 0 || attempt.is_done(&missing) {
                break;
            }
            let cpus = usable[node as usize];
            if attempt.nodes_left == 1 && i64::from(cpus) < missing.cpus {
                continue;
            }
            attempt.take(node, cpus, &mut missing);
        }
        if attempt.is_done(&missing) {
            return Ok(());
        }
        runs[best].is_used = true;
    }
    let is_enough =
        missing.cpus <= 0 && attempt.has_gpus() && attempt.enough_nodes(0, missing.nodes);
    if is_enough { Ok(()) } else { Err(Leave::Next) }
}

/// Nodes of a set, grouped by weight, with the lightest group first.
pub(super) fn classes(attempt: &Attempt<'_>, map: &NodeSet) -> Vec<(u64, Vec<u32>)> {
    let mut classes = std::collections::BTreeMap::<u64, Vec<u32>>::new();
    for node in map.iter() {
        classes.entry(attempt.fit(node).weight).or_default().push(node);
    }
    classes.into_iter().collect()
}

fn limit_nodes_by_tasks(attempt: &mut Attempt<'_>) {
    if attempt.needs.tasks > 0 {
        attempt.nodes_left = attempt.nodes_left.min(i64::from(attempt.needs.tasks));
    }
}

/// Takes nodes in order of weight, and nodes of equal weight by decreasing fraction of free CPUs.
///
/// If several nodes were compared, the taken node is charged with the usable CPUs of the node that
/// was examined last, as in Slurm 26.05.
fn least_loaded(attempt: &mut Attempt<'_>) -> Result<(), Leave> {
    limit_nodes_by_tasks(attempt);
    let mut missing = attempt.missing(false);
    let map = attempt.map.clone();
    attempt.map.clear();
    'search: for (_, class) in classes(attempt, &map) {
        if attempt.nodes_left == 0 {
            break;
        }
        let mut class = class;
        let mut last_free = None;
        loop {
            let mut best: Option<u32> = None;
            let mut cpus = 0;
            for &node in &class {
                if attempt.map.contains(node) || attempt.fit(node).cpus == 0 {
                    continue;
                }
                let own = attempt.select_cores(node, missing.nodes_at_least);
                if !attempt.machine.params.is_older {
                    cpus = own;
                }
                if own == 0 {
                    continue;
                }
                let free = |node: u32| u64::from(attempt.fit(node).free_cpus);
                let all = |node: u32| u64::from(attempt.machine.node(node).cpus());
                if best.is_none_or(|best| free(best) * all(node) < free(node) * all(best)) {
                    (best, cpus) = (Some(node), own);
                    if last_free == Some(free(node)) {
                        break;
                    }
                }
            }
            let Some(best) = best else { break };
            if attempt.take(best, cpus, &mut missing) == 0 {
                class.retain(|&node| node != best);
                continue;
            }
            last_free = Some(u64::from(attempt.fit(best).free_cpus));
            if attempt.is_done(&missing) {
                return Ok(());
            }
            if attempt.nodes_left == 0 {
                break 'search;
            }
        }
    }
    if attempt.suffices(&missing) { Ok(()) } else { Err(Leave::Next) }
}

/// Takes nodes in order of weight, and within a weight from the highest number down.
fn from_the_end(attempt: &mut Attempt<'_>) -> Result<(), Leave> {
    limit_nodes_by_tasks(attempt);
    let mut missing = attempt.missing(false);
    let map = attempt.map.clone();
    attempt.map.clear();
    for (_, mut class) in classes(attempt, &map) {
        class.sort_by_key(|&node| Reverse(node));
        for node in class {
            if attempt.nodes_left <= 0 {
                break;
            }
            if attempt.fit(node).cpus == 0 {
                continue;
            }
            let cpus = attempt.select_cores(node, missing.nodes_at_least);
            attempt.take(node, cpus, &mut missing);
            if attempt.is_done(&missing) {
                return Ok(());
            }
        }
    }
    if attempt.suffices(&missing) { Ok(()) } else { Err(Leave::Next) }
}
