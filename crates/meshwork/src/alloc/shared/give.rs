//! Distribution of the tasks, cores, GPUs and memory of a job over the nodes chosen for it.

use super::choose::Chosen;
use super::cores::CoreSet;
use super::fit::Sockets;
use super::holdings::{Free, Holdings, SharedGrant};
use super::machine::{MAX_SOCKETS, SharedMachine, SlurmNodeType};
use super::request::{Gpus, Memory, Needs, SocketOrder};

/// Cores, tasks and GPUs that the job gets on one node.
struct Share {
    node: u32,
    cores: CoreSet,
    cpus: u32,
    tasks: u32,
    gpus: u64,
    /// Number of GPUs that the job gets on the node, even if Slurm only counts the GPUs of the
    /// node.
    gpu_count: u64,
    /// Maximum number of GPUs that the job gets on the node, determined when the nodes were chosen.
    gpu_limit: u64,
}

/// Number of tasks of a job, and the resources that it gets on its nodes.
///
/// `None` if the job turns out not to fit on the chosen nodes.
pub(super) fn give(
    machine: &SharedMachine,
    needs: &Needs,
    order: SocketOrder,
    holdings: &Holdings,
    chosen: &Chosen,
) -> Option<(u32, Vec<SharedGrant>)> {
    let mut shares = if needs.whole {
        whole_nodes(machine, needs, chosen)?
    } else {
        let mut shares = tasks_on_nodes(machine, needs, chosen)?;
        for share in &mut shares {
            let kind = machine.node(share.node);
            let is_by_socket = !machine.params.by_core
                || match order {
                    SocketOrder::Default => machine.params.by_socket,
                    SocketOrder::Block => true,
                    SocketOrder::Cyclic => false,
                };
            let used =
                if is_by_socket { by_socket(kind, share) } else { in_turn(kind, needs, share)? };
            if machine.params.by_core {
                share.cpus = used * kind.threads;
            }
        }
        shares
    };
    if let Some(gpus) = &needs.gpus {
        give_gpus(machine, needs, gpus, holdings, &mut shares)?;
    }
    // As shown by Slurm: a job with a range of nodes keeps the tasks of the lowest number.
    let tasks = if needs.tasks > 0 { needs.tasks } else { shares.len() as u32 };
    let mut grants = Vec::new();
    for share in shares {
        let (kind, free) = (machine.node(share.node), holdings.of(share.node));
        let memory = memory(machine, needs, kind, free, &share)?;
        let gpus = if needs.whole { kind.all_gpus() } else { share.gpus };
        let Share { node, cores, cpus, .. } = share;
        grants.push(SharedGrant { node, cores, cpus, memory, gpus });
    }
    Some((tasks, grants))
}

fn task_count(needs: &Needs, nodes: u32) -> u32 {
    if needs.tpn > 0 {
        return needs.tpn.saturating_mul(nodes);
    }
    if needs.tasks > 0 && needs.tasks_given {
        return needs.tasks;
    }
    let mut cpus = needs.min_cpus.max(nodes).max(nodes.saturating_mul(needs.node_cpus));
    if let Some(gpus) = &needs.gpus {
        let brought = gpus.for_job(u64::from(nodes)).saturating_mul(u64::from(gpus.any_cpus()));
        cpus = cpus.max(u32::try_from(brought).unwrap_or(u32::MAX));
    }
    cpus / needs.cpt
}

fn share_of(node: u32, cores: CoreSet, gpu_limit: u64) -> Share {
    Share { node, cores, cpus: 0, tasks: 0, gpus: 0, gpu_count: 0, gpu_limit }
}

/// Gives the job all cores of each chosen node, and distributes its tasks over the nodes in turn.
fn whole_nodes(machine: &SharedMachine, needs: &Needs, chosen: &Chosen) -> Option<Vec<Share>> {
    let mut tasks = task_count(needs, chosen.len() as u32).max(1);
    let mut left: Vec<u32> = Vec::new();
    let mut shares = Vec::new();
    for (node, fit) in chosen {
        let kind = machine.node(*node);
        let mut share = share_of(*node, CoreSet::full(kind.all_cores()), fit.gpus);
        (share.cpus, share.tasks) = (kind.cpus(), 1);
        left.push(kind.cpus().saturating_sub(needs.cpt));
        if needs.cpt > kind.cpus() {
            left[shares.len()] = 0;
        }
        shares.push(share);
        tasks = tasks.saturating_sub(1);
    }
    while tasks > 0 {
        let before = tasks;
        for (share, left) in shares.iter_mut().zip(&mut left) {
            if *left >= needs.cpt && tasks > 0 {
                share.tasks += 1;
                tasks -= 1;
                *left -= needs.cpt;
            }
        }
        if before == tasks {
            return None;
        }
    }
    Some(shares)
}

/// Distributes the tasks of a job over its nodes in turn, and gives each task its CPUs.
fn tasks_on_nodes(machine: &SharedMachine, needs: &Needs, chosen: &Chosen) -> Option<Vec<Share>> {
    let all = task_count(needs, chosen.len() as u32).max(1);
    let cpt = needs.cpt;
    let mut placed = 0;
    let mut shares: Vec<Share> = Vec::new();
    let by_task = needs.gpus.filter(|gpus| gpus.per_task > 0);
    let mut limits: Option<Vec<u32>> = None;
    if needs.gpus.is_some() {
        let limit = |fit: &super::fit::Fit| {
            let by_gpus = by_task.map(|gpus| fit.gpus / gpus.per_task);
            by_gpus.map_or(fit.task_limit, |most| u32::try_from(most).unwrap_or(u32::MAX))
        };
        let is_limited = by_task.is_some() || chosen.iter().any(|(_, fit)| fit.task_limit > 0);
        limits = is_limited.then(|| chosen.iter().map(|(_, fit)| limit(fit)).collect());
    }
    for (node, fit) in chosen {
        let mut share = share_of(*node, fit.cores, fit.gpus);
        if placed < all && fit.cpus > 0 {
            placed += 1;
            share.tasks = 1;
            share.cpus = cpt.min(fit.cpus);
        }
        shares.push(share);
    }
    let may = |share: &Share, i: usize, limits: &Option<Vec<u32>>| {
        chosen[i].1.cpus - share.cpus >= cpt
            && limits.as_ref().is_none_or(|limits| limits[i] > share.tasks)
            && (needs.tpn == 0 || share.tasks < needs.tpn)
    };
    // Tasks first fill cores that are partly used.
    for (i, share) in shares.iter_mut().enumerate() {
        let threads = machine.node(share.node).threads;
        for _ in 0..share.cpus % threads / cpt {
            if placed < all && may(share, i, &limits) {
                placed += 1;
                share.tasks += 1;
                share.cpus += cpt;
            }
        }
    }
    while placed < all {
        let mut has_room = false;
        for (i, share) in shares.iter_mut().enumerate() {
            let threads = machine.node(share.node).threads;
            for _ in 0..(threads / cpt).max(1) {
                if placed >= all || !may(share, i, &limits) {
                    break;
                }
                placed += 1;
                share.tasks += 1;
                share.cpus += cpt;
                has_room |= chosen[i].1.cpus - share.cpus >= cpt;
            }
        }
        if !has_room && placed < all {
            // Only GPUs per task limit the tasks of a node.
            if by_task.is_some() || limits.take().is_none() {
                return None;
            }
        }
    }
    for (share, (_, fit)) in shares.iter_mut().zip(chosen) {
        if share.cpus < fit.gpu_cpus {
            share.cpus = fit.gpu_cpus.min(fit.cpus);
        }
    }
    Some(shares)
}

/// Takes cores of a node for the job's CPUs, one socket after another; returns their number.
///
/// The socket with the fewest sufficient free cores is used. If none suffices, the socket with the
/// most free cores comes first. Of a socket, the lowest cores are taken.
fn by_socket(kind: &SlurmNodeType, share: &mut Share) -> u32 {
    let mut cpus = share.cpus;
    let needed = cpus.div_ceil(kind.threads);
    let mut free = kind.by_socket(&share.cores);
    let mut taken = CoreSet::default();
    while cpus > 0 {
        let better = |best: u32, other: u32| {
            let (best, other) = (free[best as usize], free[other as usize]);
            match (best >= needed, other >= needed) {
                (true, true) => other < best,
                (false, false) => other > best,
                (_, other) => other,
            }
        };
        let best = (0..kind.sockets)
            .reduce(|best, other| if better(best, other) { other } else { best })
            .filter(|&best| free[best as usize] > 0);
        let Some(socket) = best else { break };
        for core in socket * kind.cores..(socket + 1) * kind.cores {
            if cpus > 0 && share.cores.contains(core) && !taken.contains(core) {
                free[socket as usize] -= 1;
                taken.insert(core);
                cpus = cpus.saturating_sub(kind.threads);
            }
        }
    }
    share.cores = taken;
    taken.count()
}

/// Takes the cores for the tasks on a node; returns their number, or `None` if there are too few.
///
/// If a task has several CPUs, each socket first gets as many whole tasks as it can hold. All
/// further cores are taken from the sockets in turn.
fn in_turn(kind: &SlurmNodeType, needs: &Needs, share: &mut Share) -> Option<u32> {
    let (threads, cpt) = (kind.threads, needs.cpt);
    let mut cpus = share.cpus;
    let mut taken = CoreSet::default();
    let mut next: [u32; MAX_SOCKETS as usize] = [0; MAX_SOCKETS as usize];
    (0..kind.sockets).for_each(|socket| next[socket as usize] = socket * kind.cores);
    let end = |socket: u32| (socket + 1) * kind.cores;
    if cpt > 1 {
        for socket in 0..kind.sockets {
            let mut room = share.cores.count_range(socket * kind.cores, kind.cores) * threads;
            room -= room % cpt;
            let next = &mut next[socket as usize];
            while *next < end(socket) && room > 0 && cpus > 0 {
                if share.cores.contains(*next) {
                    taken.insert(*next);
                    room = room.saturating_sub(threads);
                    cpus = cpus.saturating_sub(threads);
                }
                *next += 1;
            }
        }
    }
    while cpus > 0 {
        let before = cpus;
        for socket in 0..kind.sockets {
            let next = &mut next[socket as usize];
            while *next < end(socket) && !share.cores.contains(*next) {
                *next += 1;
            }
            if *next < end(socket) && cpus > 0 {
                taken.insert(*next);
                *next += 1;
                cpus = cpus.saturating_sub(threads);
            }
        }
        if before == cpus {
            return None;
        }
    }
    share.cores = taken;
    Some(taken.count())
}

struct GpuPick<'a> {
    kind: &'a SlurmNodeType,
    free: u64,
    model: Option<u16>,
    picked: u64,
    /// GPUs in the order of selection, and for each GPU the total rating of its links to selected
    /// GPUs.
    ///
    /// GPUs with the lowest total come first, as in Slurm, so a job gets the worst connected GPUs.
    /// `None` if the ratings of links do not matter.
    order: Option<(Vec<usize>, Vec<i32>)>,
}

impl<'a> GpuPick<'a> {
    fn new(kind: &'a SlurmNodeType, gpus: &Gpus, free: u64, by_links: bool) -> GpuPick<'a> {
        let count = kind.links.len();
        let order = (by_links && count > 0).then(|| ((0..count).collect(), vec![0; count]));
        GpuPick { kind, free, model: gpus.model, picked: 0, order }
    }

    fn count(&self) -> u64 {
        u64::from(self.picked.count_ones())
    }

    /// Mask of the GPUs near a socket, whether free or not. If `socket` is `None`, the mask has the
    /// GPUs that are near all sockets.
    fn at(&self, socket: Option<u32>) -> u64 {
        let records = self.kind.gpus.iter();
        let records = records.filter(|record| self.model.is_none() || record.model == self.model);
        let here = records.filter(|record| match (record.near, socket) {
            (None, None) => true,
            (Some(near), Some(socket)) => near >> socket & 1 == 1,
            _ => false,
        });
        here.fold(0, |all, record| all | record.gpus)
    }

    /// Selects up to `count` free GPUs near a socket; returns how many were selected.
    ///
    /// If `socket` is `None`, GPUs that are near all sockets are selected.
    fn pick(&mut self, count: u64, socket: Option<u32>) -> u64 {
        let mut here = self.at(socket) & self.free & !self.picked;
        let before = self.count();
        if let Some((order, sums)) = &mut self.order {
            let mut left = count;
            let mut i = 0;
            while i < order.len() && left > 0 {
                let gpu = order[i];
                if here >> gpu & 1 == 1 {
                    here &= !(1 << gpu);
                    self.picked |= 1 << gpu;
                    left -= 1;
                    // Like in Slurm, the search continues with the second GPU of the new order.
                    i = 0;
                    for (other, sum) in sums.iter_mut().enumerate() {
                        if other != gpu && self.free >> other & 1 == 1 {
                            *sum += self.kind.links[gpu][other];
                        }
                    }
                    order.sort_by_key(|&gpu| sums[gpu]);
                }
                i += 1;
            }
        } else {
            self.picked |= lowest_bits(here, count);
        }
        self.count() - before
    }
}

fn give_gpus(
    machine: &SharedMachine,
    needs: &Needs,
    gpus: &Gpus,
    holdings: &Holdings,
    shares: &mut [Share],
) -> Option<()> {
    let on_sockets: Option<Vec<(Sockets, u32)>> = (gpus.per_task > 0)
        .then(|| shares.iter().map(|share| tasks_on_sockets(machine, needs, share)).collect());
    if let Some(tasks) = &on_sockets {
        let placed: u32 = tasks.iter().map(|(_, tasks)| tasks).sum();
        if placed < needs.tasks {
            return None;
        }
    }
    let mut given = 0;
    let nodes = shares.len();
    for (i, share) in shares.iter_mut().enumerate() {
        let kind = machine.node(share.node);
        let free = holdings.of(share.node).gpus;
        let left = nodes - i;
        if kind.is_counted {
            let available = u64::from(free.count_ones());
            share.gpu_count = if gpus.per_node > 0 {
                gpus.per_node
            } else if let Some(tasks) = &on_sockets {
                gpus.per_task * u64::from(tasks[i].1)
            } else {
                available.min(gpus.per_job.wrapping_sub(given).wrapping_sub(left as u64 - 1))
            };
            given += share.gpu_count;
            share.gpus = lowest_bits(free, share.gpu_count);
            continue;
        }
        let cores = kind.by_socket(&share.cores);
        if let Some(tasks) = &on_sockets {
            share.gpus = by_task(kind, needs, gpus, free, &tasks[i])?;
        } else if gpus.per_node > 0 {
            share.gpus = on_node(kind, needs, gpus, free, &cores)?;
        } else {
            let limit = share.gpu_limit;
            share.gpus = of_job(kind, needs, gpus, free, &cores, given, left, limit);
        }
        share.gpu_count = u64::from(share.gpus.count_ones());
        given += share.gpu_count;
    }
    if gpus.per_job == 0 || on_sockets.is_some() {
        return Some(());
    }
    for share in shares.iter_mut() {
        let kind = machine.node(share.node);
        if given >= gpus.per_job || kind.is_counted {
            break;
        }
        let free = holdings.of(share.node).gpus;
        let mut pick = GpuPick::new(kind, gpus, free, true);
        pick.picked = share.gpus;
        if let Some((order, sums)) = &mut pick.order {
            for gpu in (0..order.len()).filter(|gpu| share.gpus >> gpu & 1 == 1) {
                for (other, sum) in sums.iter_mut().enumerate() {
                    if other != gpu && free >> other & 1 == 1 {
                        *sum += kind.links[gpu][other];
                    }
                }
            }
            order.sort_by_key(|&gpu| sums[gpu]);
        }
        for socket in (0..kind.sockets).map(Some).chain([None]) {
            if given < gpus.per_job {
                given += pick.pick(gpus.per_job - given, socket);
            }
        }
        share.gpus = pick.picked;
        share.gpu_count = pick.count();
    }
    let is_counted = shares.first().is_none_or(|share| machine.node(share.node).is_counted);
    (given >= gpus.per_job || is_counted).then_some(())
}

fn lowest_bits(bits: u64, count: u64) -> u64 {
    let (mut left, mut kept) = (bits, 0);
    for _ in 0..count.min(64) {
        let lowest = left & left.wrapping_neg();
        kept |= lowest;
        left &= !lowest;
    }
    kept
}

/// Number of tasks that the job's cores allow on each socket of a node, and on the whole node.
fn tasks_on_sockets(machine: &SharedMachine, needs: &Needs, share: &Share) -> (Sockets, u32) {
    let kind = machine.node(share.node);
    let mut on = [0; MAX_SOCKETS as usize];
    let limit = if needs.tpn > 0 { needs.tpn } else { share.tasks };
    let cpt = (share.cpus / share.tasks.max(1)).max(1);
    let mut all = 0;
    for socket in 0..kind.sockets {
        let mut skipped = 0;
        for core in socket * kind.cores..(socket + 1) * kind.cores {
            if !share.cores.contains(core) {
                continue;
            }
            if skipped > 0 {
                skipped -= 1;
                continue;
            }
            let mut tasks = kind.threads / cpt;
            if tasks < 1 {
                tasks = 1;
                skipped = (cpt / kind.threads).saturating_sub(1);
            }
            on[socket as usize] += tasks as u16;
            all += tasks;
        }
    }
    (on, all.min(limit))
}

/// Selects GPUs of a node for the tasks on it; `None` if there are too few.
///
/// GPUs near the socket of each task come first, then GPUs near all sockets. Other GPUs follow,
/// unless GPUs must be near the job's cores.
fn by_task(
    kind: &SlurmNodeType,
    needs: &Needs,
    gpus: &Gpus,
    free: u64,
    tasks: &(Sockets, u32),
) -> Option<u64> {
    let mut pick = GpuPick::new(kind, gpus, free, true);
    let mut needed = u64::from(tasks.1) * gpus.per_task;
    for socket in 0..kind.sockets {
        let here = u64::from(tasks.0[socket as usize]) * gpus.per_task;
        needed -= pick.pick(needed.min(here), Some(socket));
    }
    needed -= pick.pick(needed, None);
    if !needs.enforce {
        for socket in 0..kind.sockets {
            needed -= pick.pick(needed, Some(socket));
        }
    }
    (needed == 0).then_some(pick.picked)
}

/// Selects the requested number of GPUs of a node; `None` if there are too few.
///
/// Each socket first provides GPUs in proportion to the job's cores on it. Then come GPUs near all
/// sockets, and further GPUs near the job's cores. Other GPUs follow, unless GPUs must be near
/// these cores.
fn on_node(
    kind: &SlurmNodeType,
    needs: &Needs,
    gpus: &Gpus,
    free: u64,
    cores: &[u32],
) -> Option<u64> {
    let mut pick = GpuPick::new(kind, gpus, free, true);
    let mut needed = gpus.per_node;
    let all: u32 = cores.iter().sum();
    let each = needed as f64 / f64::from(all);
    let has_cores = |socket: &u32| cores[*socket as usize] > 0;
    for socket in (0..kind.sockets).filter(has_cores) {
        let here = (f64::from(cores[socket as usize]) * each) as u64;
        needed -= pick.pick(needed.min(here), Some(socket));
    }
    needed -= pick.pick(needed, None);
    for socket in (0..kind.sockets).filter(has_cores) {
        needed -= pick.pick(needed, Some(socket));
    }
    if !needs.enforce {
        for socket in (0..kind.sockets).filter(|socket| !has_cores(socket)) {
            needed -= pick.pick(needed, Some(socket));
        }
    }
    (needed == 0).then_some(pick.picked)
}

/// Selects GPUs near the job's cores on one node, for a job that requests a total number of GPUs.
///
/// `given` is the number of GPUs that it gets on other nodes. `nodes_left` is the number of nodes
/// on which no GPUs have been selected yet, including this node.
#[allow(clippy::too_many_arguments)]
fn of_job(
    kind: &SlurmNodeType,
    needs: &Needs,
    gpus: &Gpus,
    free: u64,
    cores: &[u32],
    given: u64,
    nodes_left: usize,
    limit: u64,
) -> u64 {
    let all: u32 = cores.iter().sum();
    // Like in Slurm, a negative number wraps around and is huge.
    let mut most = gpus.per_job.wrapping_sub(given).wrapping_sub(nodes_left as u64 - 1);
    most = most.min(limit);
    if let Some(brought) = (all * kind.threads).checked_div(gpus.cpus) {
        most = most.min(u64::from(brought));
    }
    let trims = most > 1 && !kind.links.is_empty();
    let wanted = if trims { 65_534 } else { most.max(1) };
    let each = wanted as f32 / all as f32;
    let mut pick = GpuPick::new(kind, gpus, free, false);
    let has_cores = |socket: &u32| cores[*socket as usize] > 0;
    for socket in (0..kind.sockets).filter(has_cores) {
        if pick.count() >= wanted {
            break;
        }
        let here = (cores[socket as usize] as f32 * each) as u64;
        pick.pick(here.min(wanted - pick.count()), Some(socket));
    }
    if pick.count() < wanted {
        pick.pick(wanted - pick.count(), None);
    }
    for socket in (0..kind.sockets).filter(has_cores) {
        if pick.count() < wanted {
            pick.pick(wanted - pick.count(), Some(socket));
        }
    }
    if pick.count() == 0 && !needs.enforce {
        for socket in (0..kind.sockets).filter(|socket| !has_cores(socket)) {
            if pick.count() == 0 {
                pick.pick(1, Some(socket));
            }
        }
    }
    if trims {
        drop_least_linked(kind, &mut pick.picked, most);
    }
    pick.picked
}

/// Keeps `most` of the picked GPUs: one GPU of the best link, and the GPUs with the best links to
/// it.
fn drop_least_linked(kind: &SlurmNodeType, picked: &mut u64, most: u64) {
    let is_picked = |picked: u64, gpu: usize| picked >> gpu & 1 == 1;
    let count = kind.links.len();
    if u64::from(picked.count_ones()) <= most {
        return;
    }
    let mut best: Option<(i32, usize)> = None;
    for gpu in (0..count).filter(|&gpu| is_picked(*picked, gpu)) {
        for other in (gpu + 1..count).filter(|&other| is_picked(*picked, other)) {
            let link = kind.links[gpu][other];
            if link > best.map_or(-1, |(link, _)| link) {
                best = Some((link, gpu));
            }
        }
    }
    let Some((_, best)) = best else { return };
    while u64::from(picked.count_ones()) > most {
        let others = (0..count).filter(|&gpu| gpu != best && is_picked(*picked, gpu));
        let Some(worst) = others.min_by_key(|&gpu| kind.links[best][gpu]) else { return };
        *picked &= !(1 << worst);
    }
}

/// Memory that the job gets on a node, in MB; `None` if the node has less free memory.
///
/// Memory that is requested for each GPU is not checked here.
fn memory(
    machine: &SharedMachine,
    needs: &Needs,
    kind: &SlurmNodeType,
    free: &Free,
    share: &Share,
) -> Option<u64> {
    if !machine.params.memory {
        return Some(0);
    }
    let left = kind.memory.saturating_sub(free.memory_used);
    let wanted = match needs.memory {
        Memory::Gpu => {
            let gpus = needs.gpus.map_or(0, |gpus| gpus.memory);
            let count =
                if needs.whole { u64::from(kind.all_gpus().count_ones()) } else { share.gpu_count };
            return Some(gpus * count);
        }
        Memory::Cpu(each) if each > 0 => u64::from(share.cpus) * each,
        Memory::Node(all) if all > 0 => all,
        _ => {
            if free.memory_used > 0 {
                return None;
            }
            kind.memory
        }
    };
    (wanted <= left).then_some(wanted)
}
