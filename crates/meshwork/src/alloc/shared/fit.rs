//! Fit of a job on one shared node: the cores and GPUs that the job could take there.

use super::cores::CoreSet;
use super::holdings::Free;
use super::machine::{MAX_SOCKETS, SharedMachine, SlurmNodeType};
use super::request::{Gpus, Memory, Needs};

/// One number for each socket of a node, for example the number of its free cores.
pub(super) type Sockets = [u16; MAX_SOCKETS as usize];

/// Cores and GPUs of one node that a job could take.
///
/// Attempts to place the job change these values. Some changes remain for the next attempt.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// Number of CPUs of the node that the job could use.
    pub cpus: u32,
    /// Number of CPUs of all free cores of the node.
    pub free_cpus: u32,
    /// Cores of the node that the job could use.
    pub cores: CoreSet,
    /// Maximum number of cores that the job may take of each socket.
    pub core_limits: Sockets,
    /// Number of GPUs of the node that the job could use.
    pub gpus: u64,
    /// Number of GPUs that the job could use when cores were selected for the first time.
    gpus_before: Option<u64>,
    /// Maximum number of GPUs that the job may take of the node; 0 without a limit.
    gpu_cap: u64,
    any_gpus: u64,
    socket_gpus: Sockets,
    /// Rank of the node; nodes of lower rank are taken first.
    ///
    /// It is determined by the weight of the node. Among nodes of equal weight, more GPUs near the
    /// job's cores mean a lower rank.
    pub weight: u64,
    /// Number of usable CPUs, multiplied by the number of usable GPUs if the job needs GPUs.
    ///
    /// After a failed attempt, a node with a low product is left out first.
    pub product: u64,
    /// Number of CPUs that the job needs for the GPUs that it takes on the node.
    pub gpu_cpus: u32,
    /// Maximum number of tasks that the cores and GPUs of the node allow.
    pub task_limit: u32,
    /// Number of CPUs of the cores that were selected last.
    pub usable: u32,
}

/// Rank of a node that has no GPU near the job's cores; nodes of lower rank are taken first.
///
/// `kind` is the type of the node.
pub(super) fn weight_of(kind: &SlurmNodeType) -> u64 {
    u64::from(kind.weight) << 8 | 255
}

/// Numbers of free GPUs of the requested type.
///
/// GPUs near all sockets are counted in `any`, others in `near` for each socket near them. `all` is
/// the total.
struct FreeGpus {
    near: Sockets,
    any: u64,
    all: u64,
}

fn free_gpus(
    kind: &SlurmNodeType,
    gpus: &Gpus,
    free: &Free,
    enforce: bool,
    cores: &Sockets,
) -> Option<FreeGpus> {
    let least = gpus.per_node.max(gpus.per_task);
    let mut found = FreeGpus { near: [0; MAX_SOCKETS as usize], any: 0, all: 0 };
    if kind.is_counted {
        let count = u64::from((free.gpus & kind.all_gpus()).count_ones());
        (found.any, found.all) = (count, count);
        let is_kind = gpus.model.is_none();
        return (is_kind && count >= least.max(1)).then_some(found);
    }
    let mut is_found = false;
    for record in &kind.gpus {
        if gpus.model.is_some() && gpus.model != record.model {
            continue;
        }
        let count = u64::from((record.gpus & free.gpus).count_ones());
        if count == 0 {
            continue;
        }
        let Some(near) = record.near else {
            found.any += count;
            found.all += count;
            is_found = true;
            continue;
        };
        let sockets = found.near.iter_mut().zip(cores).take(kind.sockets as usize);
        for (socket, (found, &cores)) in sockets.enumerate() {
            if near >> socket & 1 == 1 && (!enforce || cores > 0) {
                *found += count as u16;
                is_found = true;
            }
        }
        if is_found {
            found.all += count;
        }
    }
    (is_found && found.all >= least).then_some(found)
}

impl Fit {
    /// Computes what a job could take of a node; `None` if it could take nothing.
    pub(super) fn new(
        machine: &SharedMachine,
        needs: &Needs,
        node: u32,
        free: &Free,
    ) -> Option<Fit> {
        let kind = machine.node(node);
        let threads = kind.threads;
        let mut cores = free.cores;
        if free.core_count == 0 {
            return None;
        }
        let on_sockets = |cores: &CoreSet| kind.by_socket(cores).map(|count| count as u16);
        let mut gpus_found = None;
        if let Some(gpus) = &needs.gpus {
            gpus_found = Some(free_gpus(kind, gpus, free, needs.enforce, &on_sockets(&cores))?);
        }
        let all = free.core_count * threads;
        if all < needs.node_cpus {
            return None;
        }
        let mut cpus = all;
        let mut tasks = all;
        let has_gpu_cpus = needs.gpus.is_some_and(|gpus| gpus.any_cpus() > 0);
        if needs.tpn > 0 && !needs.whole && !has_gpu_cpus {
            tasks = tasks.min(needs.tpn);
        }
        if needs.gpus.is_none() && !machine.params.is_older {
            if needs.cpt < 2 {
                cpus = tasks;
            } else {
                tasks = tasks.min(cpus / needs.cpt);
                cpus = tasks * needs.cpt;
            }
        }
        if tasks == 0 || tasks < needs.tpn || cpus < needs.node_cpus {
            return None;
        }
        // Without GPUs, the lowest cores are kept; with GPUs, all cores.
        if needs.gpus.is_none() {
            let kept = cpus.div_ceil(threads);
            if kept < free.core_count {
                cores = lowest(&cores, kept);
            }
        }
        let least_tasks = match needs.tpn {
            0 if needs.max_nodes == 1 && needs.tasks > 0 => needs.tasks,
            0 => 1,
            tpn => tpn,
        };
        if u64::from(cpus) < u64::from(least_tasks) * u64::from(needs.cpt) {
            return None;
        }
        let mut fit = Fit {
            cpus,
            free_cpus: all,
            cores,
            core_limits: on_sockets(&cores),
            gpus: 0,
            gpus_before: None,
            gpu_cap: 0,
            any_gpus: 0,
            socket_gpus: [0; MAX_SOCKETS as usize],
            weight: weight_of(kind),
            product: 0,
            gpu_cpus: 0,
            task_limit: 0,
            usable: 0,
        };
        let memory = machine.params.memory.then(|| kind.memory.saturating_sub(free.memory_used));
        if let (Some(gpus), Some(found)) = (&needs.gpus, &gpus_found) {
            fit.limit_gpus(kind, needs, gpus, found, memory)?;
        }
        if let Some(memory) = memory {
            fit.limit_by_memory(machine, needs, threads, memory);
        }
        if fit.cpus == 0 {
            return None;
        }
        fit.product = u64::from(fit.cpus);
        if needs.gpus.is_some() {
            fit.product *= fit.gpus;
        }
        Some(fit)
    }

    /// Number of GPUs near the job's cores, which the lowest byte of the node's weight encodes.
    pub(super) fn near(&self) -> u8 {
        0xff - (self.weight & 0xff) as u8
    }

    pub(super) fn set_near(&mut self, near: u8) {
        self.weight = self.weight & !0xff | u64::from(0xff - near);
    }

    /// Sets the number of GPUs that the job could use, and the rank of the node.
    ///
    /// `None` if the job cannot use the node.
    fn limit_gpus(
        &mut self,
        kind: &SlurmNodeType,
        needs: &Needs,
        gpus: &Gpus,
        found: &FreeGpus,
        memory: Option<u64>,
    ) -> Option<()> {
        (self.gpus, self.any_gpus, self.socket_gpus) = (found.all, found.any, found.near);
        let mut least = match (needs.whole, gpus.per_node) {
            (true, _) => self.gpus,
            (false, 0) => 1,
            (false, per_node) => per_node,
        };
        least = least.max(gpus.per_task.saturating_mul(u64::from(needs.tpn)));
        let each = u64::from(gpus.any_cpus());
        if let Some(most) = u64::from(self.cpus).checked_div(each)
            && (most == 0 || gpus.per_node > most || gpus.per_task > most)
        {
            return None;
        }
        let by_memory = memory.and_then(|memory| memory.checked_div(gpus.memory));
        if let Some(most) = by_memory {
            if most == 0 {
                return None;
            }
            self.gpu_cap = most;
        }
        let mut near = self.gpus;
        if !kind.is_counted {
            for socket in 0..kind.sockets as usize {
                if self.core_limits[socket] == 0 {
                    near = near.wrapping_sub(u64::from(self.socket_gpus[socket]));
                    if needs.enforce {
                        self.gpus = self.gpus.wrapping_sub(u64::from(self.socket_gpus[socket]));
                        self.socket_gpus[socket] = 0;
                    }
                }
            }
        }
        if !needs.whole && !self.cap_gpus(gpus.per_node) {
            self.cap_gpus(gpus.per_job);
        }
        if let Some(most) = u64::from(self.cores.count() * kind.threads).checked_div(each) {
            if most == 0 {
                return None;
            }
            self.cap_gpus(most);
        }
        if let Some(most) = by_memory {
            self.gpus = self.gpus.min(most);
        }
        if self.gpus < least || self.gpu_cap > 0 && self.gpu_cap < least {
            return None;
        }
        if self.gpu_cap > 0 {
            near = near.min(self.gpu_cap);
        }
        self.weight = self.weight & !0xff | (0xff - near.min(0xff));
        Some(())
    }

    /// Lowers the maximum number of GPUs to `most`; returns whether the maximum has changed.
    ///
    /// If `most` is 0, nothing changes.
    fn cap_gpus(&mut self, most: u64) -> bool {
        let is_lower = most > 0 && (self.gpu_cap == 0 || self.gpu_cap > most);
        if is_lower {
            self.gpu_cap = most;
        }
        is_lower
    }

    fn limit_by_memory(
        &mut self,
        machine: &SharedMachine,
        needs: &Needs,
        threads: u32,
        memory: u64,
    ) {
        match needs.memory {
            Memory::Gpu => {}
            Memory::Node(all) => {
                if all > memory {
                    self.cpus = 0;
                }
            }
            Memory::Cpu(each) => {
                if each > 0 && needs.whole {
                    if each.saturating_mul(u64::from(self.cpus)) > memory {
                        self.cpus = 0;
                    }
                } else if let Some(most) = memory.checked_div(each) {
                    let step = if machine.params.by_core { threads } else { 1 };
                    let over = u64::from(self.cpus).saturating_sub(most);
                    let steps = over.div_ceil(u64::from(step)) as u32;
                    self.cpus = self.cpus.saturating_sub(steps * step);
                }
                if needs.cpt > 1 {
                    self.cpus -= self.cpus % needs.cpt;
                }
                if self.cpus < needs.tpn {
                    self.cpus = 0;
                }
            }
        }
    }

    /// Selects the cores that a job would take of this node; returns the number of their CPUs.
    ///
    /// `taken` is the number of GPUs that the job has on other nodes, and `nodes_left` is the
    /// number of nodes that it still needs. In the first pass, only cores near the GPUs are
    /// selected.
    pub(super) fn select_cores(
        &mut self,
        kind: &SlurmNodeType,
        needs: &Needs,
        taken: u64,
        nodes_left: i64,
        first_pass: bool,
        is_older: bool,
    ) -> u32 {
        let (lo, hi) = match needs.tpn {
            0 if needs.max_nodes == 1 && needs.tasks > 0 => (needs.tasks, Some(needs.tasks)),
            0 if needs.max_nodes == 1 => (1, None),
            0 if needs.tasks == 1
                || needs.tasks == needs.min_nodes && needs.tasks == needs.max_nodes =>
            {
                (1, Some(1))
            }
            0 => (1, None),
            tpn => (tpn, Some(tpn)),
        };
        let holds = self.cpus / needs.cpt;
        let mut hi = if holds < lo { 0 } else { hi.map_or(holds, |hi| hi.min(holds)) };
        if needs.tasks > 0 && !is_older {
            hi = hi.min(needs.tasks);
        }
        let mut cpus = self.cpus;
        let mut core_minimum = 0;
        if let Some(gpus) = &needs.gpus
            && hi > 0
        {
            let picked = Picking {
                fit: self,
                kind,
                needs,
                gpus,
                lo,
                hi,
                cpus,
                has_gpu_cpus: false,
                core_minimum: None,
                limits: [0; MAX_SOCKETS as usize],
                first_pass,
                is_older,
            };
            (hi, cpus, core_minimum) = picked.run(taken, nodes_left.max(1));
        }
        self.gpu_cpus = kind.threads * core_minimum;
        self.task_limit = hi;
        self.usable = if hi == 0 { 0 } else { cpus };
        self.usable
    }
}

fn lowest(cores: &CoreSet, count: u32) -> CoreSet {
    let mut kept = CoreSet::default();
    cores.iter().take(count as usize).for_each(|core| kept.insert(core));
    kept
}

/// Selection of the cores of a job on one node, near the job's GPUs if possible.
struct Picking<'a> {
    fit: &'a mut Fit,
    kind: &'a SlurmNodeType,
    needs: &'a Needs,
    gpus: &'a Gpus,
    lo: u32,
    hi: u32,
    cpus: u32,
    has_gpu_cpus: bool,
    core_minimum: Option<u32>,
    limits: Sockets,
    first_pass: bool,
    /// Whether cores are selected as in Slurm 22.05, in which fewer options limit what a job may
    /// take.
    is_older: bool,
}

impl Picking<'_> {
    fn run(mut self, taken: u64, nodes_left: i64) -> (u32, u32, u32) {
        let kind = self.kind;
        self.limits = kind.by_socket(&self.fit.cores).map(|count| count as u16);
        if self.pick(taken, nodes_left).is_none() {
            self.hi = 0;
        }
        if self.hi > 0 {
            self.fit.core_limits = self.limits;
        }
        let core_minimum = self.core_minimum.filter(|_| self.hi > 0).unwrap_or(0);
        if !self.has_gpu_cpus {
            let needed = (self.hi * self.needs.cpt).max(core_minimum * kind.threads);
            self.cpus = self.cpus.min(needed);
        }
        (self.hi, self.cpus, core_minimum)
    }

    /// Maximum number of GPUs of the job on the node; 0 if there is no limit.
    ///
    /// `None` if the tasks cannot get the GPUs that they need.
    fn gpu_limit(&self, taken: u64, nodes_left: i64) -> Option<u64> {
        let gpus = self.gpus;
        let mut left = 0;
        if self.is_older {
            let cap = self.fit.gpu_cap;
            let left = gpus.per_job.saturating_sub(taken);
            return Some(if left > 0 { left.min(cap) } else { cap });
        }
        if gpus.per_job > 0 {
            left = if taken < gpus.per_job {
                // Like in Slurm, the number wraps around if there are more nodes than GPUs.
                (gpus.per_job - taken).wrapping_sub(nodes_left as u64 - 1)
            } else if gpus.per_node > 0 {
                gpus.per_node
            } else {
                gpus.per_task.max(1)
            };
        }
        if gpus.per_task > 0 {
            if gpus.per_task * u64::from(self.lo) > left {
                return None;
            }
            left = left.min(gpus.per_task * u64::from(self.hi));
        }
        let cap = self.fit.gpu_cap;
        Some(if left > 0 { left.min(cap) } else { cap })
    }

    /// Number of CPUs for each GPU of the job; 0 if none is set.
    ///
    /// If neither the request nor the partition sets the number, the first of two passes over the
    /// cores derives it from the numbers of tasks and GPUs. Tasks are then put near their GPUs.
    fn cpus_per_gpu(&mut self) -> u32 {
        let (gpus, cpt) = (self.gpus, self.needs.cpt);
        if gpus.any_cpus() > 0 {
            self.has_gpu_cpus = true;
            return gpus.any_cpus();
        }
        let (tasks, all) = (u64::from(self.needs.tasks), gpus.per_job);
        if !self.first_pass || self.is_older || tasks == 0 || all == 0 {
            return 0;
        }
        if tasks >= all && tasks.is_multiple_of(all) {
            return (tasks / all) as u32 * cpt;
        }
        if all.is_multiple_of(tasks) {
            let each = all / tasks;
            if u64::from(cpt).is_multiple_of(each) {
                return (u64::from(cpt) / each) as u32;
            }
        }
        0
    }

    fn pick(&mut self, taken: u64, nodes_left: i64) -> Option<()> {
        let (kind, needs, gpus) = (self.kind, self.needs, self.gpus);
        let (threads, sockets) = (kind.threads, kind.sockets as usize);
        match self.fit.gpus_before {
            Some(before) => self.fit.gpus = before,
            None => self.fit.gpus_before = Some(self.fit.gpus),
        }
        let mut limit = self.gpu_limit(taken, nodes_left)?;
        if limit > 0 && gpus.per_node > limit {
            return None;
        }
        let each = self.cpus_per_gpu();
        let strict = needs.enforce || self.first_pass;
        let least_cores = (self.lo.max(1) * needs.cpt).div_ceil(threads);
        let mut left: u32 = self.limits.iter().map(|&cores| u32::from(cores)).sum();
        let mut cores = 0;
        let mut found = self.fit.any_gpus;
        let mut is_required = 0_u32;
        let mut is_enough = false;
        let mut order = [0_u8; MAX_SOCKETS as usize];
        (0..sockets).for_each(|socket| order[socket] = socket as u8);
        let limits = self.limits;
        order[..sockets].sort_by_key(|&socket| std::cmp::Reverse(limits[socket as usize]));
        for &socket in &order[..sockets] {
            let socket = socket as usize;
            let mut here = u64::from(self.fit.socket_gpus[socket]);
            if strict && each > 0 {
                here = here.min(u64::from(u32::from(self.limits[socket]) * threads / each));
            }
            if self.fit.any_gpus + here == 0 {
                if needs.enforce && !kind.is_counted {
                    let gone = u64::from(self.fit.socket_gpus[socket]);
                    self.fit.gpus = self.fit.gpus.wrapping_sub(gone);
                    self.fit.socket_gpus[socket] = 0;
                }
                if self.first_pass && left > least_cores {
                    let gone = (left - least_cores).min(u32::from(self.limits[socket]));
                    let start = socket as u32 * kind.cores;
                    self.fit.cores.remove_highest(start, kind.cores, gone);
                    self.limits[socket] -= gone as u16;
                    left -= gone;
                    if gone > 0 {
                        self.cpus = self.cpus.min(left * threads);
                    }
                }
            }
            cores += u32::from(self.limits[socket]);
            if strict && self.limits[socket] == 0 {
                continue;
            }
            found += here;
            if !is_enough && here > 0 || self.fit.any_gpus > 0 {
                is_required |= 1 << socket;
            }
            if limit > 0 && found >= limit || gpus.per_node > 0 && found >= gpus.per_node {
                is_enough = true;
            }
        }
        if let Some(most) = self.cpus.checked_div(each).map(u64::from) {
            limit = if limit > 0 { limit.min(most) } else { most };
            found = found.min(limit);
        }
        if limit > 0 && !self.is_older {
            found = found.min(limit);
        }
        if gpus.per_node > 0 && !self.is_older {
            found = found.min(gpus.per_node);
        }
        if found == 0 || gpus.per_node > found || gpus.per_task > found {
            self.hi = 0;
        }
        if each > 0 && found > 0 && !self.is_older {
            let brought = u64::from(each) * found;
            if brought < u64::from(self.lo * needs.cpt) || brought < u64::from(needs.node_cpus) {
                self.hi = self.lo;
            } else {
                self.hi = self.hi.min((brought / u64::from(needs.cpt)) as u32);
            }
        }
        if let Some(tasks) = found.checked_div(gpus.per_task) {
            self.hi = self.hi.min(tasks as u32);
            if gpus.per_node == 0 && !self.is_older {
                found = found.min(u64::from(self.hi) * gpus.per_task);
            }
        }
        self.hi = self.hi / self.lo * self.lo;
        if self.hi == 0 {
            return None;
        }
        let required = is_required.count_ones();
        if required != kind.sockets && strict {
            for socket in 0..sockets {
                if is_required >> socket & 1 == 0 && self.limits[socket] > 0 {
                    cores -= u32::from(self.limits[socket]);
                    self.limits[socket] = 0;
                    self.fit.cores.remove_range(socket as u32 * kind.cores, kind.cores);
                    self.cpus = self.cpus.min(cores * threads);
                }
            }
        }
        let mut needed = self.hi * needs.cpt;
        while self.hi >= self.lo {
            needed = needed.div_ceil(threads);
            if needed <= cores {
                break;
            }
            self.hi -= 1;
            needed = self.hi * needs.cpt;
            if gpus.per_node == 0 && gpus.per_task > 0 {
                found = found.min(u64::from(self.hi) * gpus.per_task);
            }
        }
        if each > 0 {
            let count = match (gpus.per_node, gpus.per_task) {
                (0, 0) => found.max(1),
                (0, per_task) => per_task * u64::from(self.hi),
                (per_node, _) => per_node,
            };
            let brought = (count * u64::from(each)) as u32;
            if !self.is_older {
                self.hi = self.hi.min(brought);
            }
            needed = needed.max(brought.div_ceil(threads));
        }
        if needs.enforce {
            needed = needed.max(required);
        }
        if needed > cores || needs.enforce && needed * threads > self.cpus {
            return None;
        }
        if cores > needed && !strict && required != kind.sockets {
            for socket in 0..sockets {
                if is_required >> socket & 1 == 1 {
                    continue;
                }
                let gone = (cores - needed).min(u32::from(self.limits[socket]));
                self.shrink(socket, gone, &mut cores);
            }
        }
        while required > 0 && cores > needed {
            let full = (0..sockets)
                .filter(|&socket| is_required >> socket & 1 == 1 && self.limits[socket] > 0)
                .reduce(
                    |best, socket| {
                        if self.limits[best] < self.limits[socket] { socket } else { best }
                    },
                );
            let Some(full) = full else { break };
            self.shrink(full, 1, &mut cores);
        }
        if let Some(most) = self.cpus.checked_div(each) {
            self.fit.gpus = self.fit.gpus.min(u64::from(most));
            if gpus.per_node > self.fit.gpus || gpus.per_task > self.fit.gpus {
                self.hi = 0;
            }
        }
        if !self.is_older {
            self.fit.gpus = self.fit.gpus.min(found);
        }
        if needs.enforce || self.has_gpu_cpus {
            self.core_minimum = Some(needed);
        }
        Some(())
    }

    /// Subtracts `by` from the maximum number of cores of a socket, and from the total `cores`.
    ///
    /// In Slurm 26.05, cores are removed only when the maximum of the socket reaches 0; then all
    /// cores of the socket are. In Slurm 22.05, `by` cores are removed at once, the highest first.
    fn shrink(&mut self, socket: usize, by: u32, cores: &mut u32) {
        self.limits[socket] -= by as u16;
        *cores -= by;
        if *cores * self.kind.threads < self.cpus {
            self.cpus = *cores * self.kind.threads;
        }
        if self.is_older {
            self.fit.cores.remove_highest(socket as u32 * self.kind.cores, self.kind.cores, by);
        } else if self.limits[socket] == 0 {
            self.fit.cores.remove_range(socket as u32 * self.kind.cores, self.kind.cores);
        }
    }
}
