//! Cores, memory and GPUs that jobs hold on the nodes, with an index of the free amounts.

use std::sync::Arc;

use crate::geometry::NodeSet;

use super::cores::CoreSet;
use super::fit::weight_of;
use super::machine::SharedMachine;

/// Cores, memory and GPUs that one job holds on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedGrant {
    /// Index of the node.
    pub node: u32,
    /// Cores that the job holds.
    pub cores: CoreSet,
    /// Number of CPUs that are charged to the job.
    pub cpus: u32,
    /// Memory that the job holds, in MB.
    pub memory: u64,
    /// GPUs of this node that the job holds, one bit for each.
    pub gpus: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Free {
    pub cores: CoreSet,
    pub core_count: u32,
    pub gpus: u64,
    /// Memory of the node that jobs hold, in MB.
    pub memory_used: u64,
}

/// Free amounts that a node must have: number of cores, number of GPUs, and memory in MB.
pub(super) type Least = [u64; 3];

/// Free cores, GPUs and memory of each node of a machine.
#[derive(Clone, Debug)]
pub struct Holdings {
    free: Vec<Free>,
    index: Index,
    types: Arc<Vec<NodeSet>>,
    /// Free amounts of the empty machine; `None` in the object that itself stands for the empty
    /// machine.
    idle: Option<Arc<Holdings>>,
}

impl Holdings {
    /// Creates the record of a machine on which no job runs.
    #[must_use]
    pub fn idle(machine: &SharedMachine) -> Holdings {
        let count = machine.count();
        let free = |node: u32| {
            let kind = machine.node(node);
            Free {
                cores: CoreSet::full(kind.all_cores()),
                core_count: kind.all_cores(),
                gpus: kind.all_gpus(),
                memory_used: 0,
            }
        };
        let free: Vec<Free> = (0..count).map(free).collect();
        let mut types = vec![NodeSet::empty(count); machine.types.len()];
        (0..count).for_each(|node| types[machine.type_of[node as usize] as usize].insert(node));
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_by_key(|&node| weight_of(machine.node(node)));
        let amounts = |&node: &u32| {
            let free: &Free = &free[node as usize];
            let gpus = u64::from(free.gpus.count_ones());
            [u64::from(free.core_count), gpus, machine.node(node).memory]
        };
        let leaves = order.iter().map(amounts).collect();
        let index = Index::new(order, leaves);
        let idle = Holdings { free, index, types: Arc::new(types), idle: None };
        Holdings { idle: Some(Arc::new(idle.clone())), ..idle }
    }

    pub(super) fn without_jobs(&self) -> &Holdings {
        self.idle.as_deref().unwrap_or(self)
    }

    pub(super) fn of(&self, node: u32) -> &Free {
        &self.free[node as usize]
    }

    pub(super) fn of_type(&self, kind: usize) -> &NodeSet {
        &self.types[kind]
    }

    /// Nodes that have at least the given free amounts, ordered by weight and then by number.
    pub(super) fn with_free(&self, least: Least) -> impl Iterator<Item = u32> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            let place = self.index.next(from, &least)?;
            from = place + 1;
            Some(self.index.order[place])
        })
    }

    pub(super) fn is_untouched(&self, machine: &SharedMachine, node: u32) -> bool {
        self.of(node).memory_used == 0 && self.is_idle(machine, node)
    }

    pub(super) fn has_free(&self, node: u32, least: &Least) -> bool {
        let own = &self.index.levels[0][self.index.place[node as usize] as usize];
        own.iter().zip(least).all(|(own, least)| own >= least)
    }

    /// Records that a job holds the cores, memory and GPUs of a grant.
    pub fn take(&mut self, grant: &SharedGrant) {
        let free = &mut self.free[grant.node as usize];
        free.cores.subtract(&grant.cores);
        free.core_count -= grant.cores.count();
        free.gpus &= !grant.gpus;
        free.memory_used += grant.memory;
        self.note(grant.node, |memory| memory.saturating_sub(grant.memory));
    }

    /// Records that a job no longer holds the cores, memory and GPUs of a grant.
    pub fn give_back(&mut self, grant: &SharedGrant) {
        let free = &mut self.free[grant.node as usize];
        free.cores.unite(&grant.cores);
        free.core_count += grant.cores.count();
        free.gpus |= grant.gpus;
        free.memory_used -= grant.memory;
        self.note(grant.node, |memory| memory + grant.memory);
    }

    fn note(&mut self, node: u32, memory: impl Fn(u64) -> u64) {
        let free = &self.free[node as usize];
        let (cores, gpus) = (u64::from(free.core_count), u64::from(free.gpus.count_ones()));
        let place = self.index.place[node as usize] as usize;
        let memory = memory(self.index.levels[0][place][2]);
        self.index.set(place, [cores, gpus, memory]);
    }

    /// Free amounts of a node: number of CPUs of free cores, memory in MB, and number of GPUs.
    #[must_use]
    pub fn free(&self, machine: &SharedMachine, node: u32) -> [u64; 3] {
        let (free, kind) = (self.of(node), machine.node(node));
        let cpus = u64::from(free.core_count) * u64::from(kind.threads);
        [cpus, kind.memory.saturating_sub(free.memory_used), free.gpus.count_ones().into()]
    }

    /// Whether no job holds any core or GPU of a node.
    #[must_use]
    pub fn is_idle(&self, machine: &SharedMachine, node: u32) -> bool {
        let (free, kind) = (self.of(node), machine.node(node));
        free.core_count == kind.all_cores() && free.gpus == kind.all_gpus()
    }
}

/// Number of entries on a level of the index that share one entry on the next level.
const FAN: usize = 16;

/// Index of nodes by free amounts, which divides nodes into groups.
///
/// A search skips every group in which the maximum free amounts do not suffice.
#[derive(Clone, Debug)]
struct Index {
    /// All nodes, ordered by weight and then by number.
    order: Vec<u32>,
    place: Vec<u32>,
    /// Free amounts of the nodes as a tree of maxima.
    ///
    /// The first level has the free amounts of each node, in the order of `order`. Each entry of a
    /// further level has the maxima of [`FAN`] entries of the level before it.
    levels: Vec<Vec<Least>>,
}

impl Index {
    fn new(order: Vec<u32>, leaves: Vec<Least>) -> Index {
        let mut place = vec![0; order.len()];
        (0..).zip(&order).for_each(|(at, &node)| place[node as usize] = at);
        let mut levels = vec![leaves];
        while let Some(below) = levels.last().filter(|level| level.len() > FAN) {
            let next = below.chunks(FAN).map(greatest).collect();
            levels.push(next);
        }
        Index { order, place, levels }
    }

    /// Sets the free amounts of the node at a position in the order of nodes, in **O(log n)**.
    fn set(&mut self, place: usize, amounts: Least) {
        self.levels[0][place] = amounts;
        let mut at = place;
        for level in 1..self.levels.len() {
            at /= FAN;
            let below = &self.levels[level - 1];
            let group = greatest(&below[at * FAN..below.len().min((at + 1) * FAN)]);
            self.levels[level][at] = group;
        }
    }

    /// The first position, not before `from`, of a node with at least the free amounts `least`.
    ///
    /// **O(log n)** for each group of nodes whose maxima suffice, even if no single node of it has
    /// enough.
    fn next(&self, from: usize, least: &Least) -> Option<usize> {
        let top = self.levels.len() - 1;
        (0..self.levels[top].len()).find_map(|at| self.search(top, at, from, least))
    }

    fn search(&self, level: usize, at: usize, from: usize, least: &Least) -> Option<usize> {
        let width = FAN.pow(level as u32);
        let amounts = &self.levels[level][at];
        let holds = amounts.iter().zip(least).all(|(own, least)| own >= least);
        if (at + 1) * width <= from || !holds {
            return None;
        }
        if level == 0 {
            return Some(at);
        }
        let end = self.levels[level - 1].len().min((at + 1) * FAN);
        (at * FAN..end).find_map(|at| self.search(level - 1, at, from, least))
    }
}

fn greatest(group: &[Least]) -> Least {
    group.iter().fold([0; 3], |all, own| [0, 1, 2].map(|kind| all[kind].max(own[kind])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn the_index_is_a_scan() {
        let mut rng = Stream::new(1, 0, "index");
        for count in [1, 5, 16, 17, 300, 5000] {
            let mut draw = |most: u64| rng.below(most);
            let mut leaves: Vec<Least> =
                (0..count).map(|_| [draw(9), draw(4), draw(100)]).collect();
            let mut order: Vec<u32> = (0..count as u32).collect();
            order.reverse();
            let mut index = Index::new(order, leaves.clone());
            for _ in 0..300 {
                let place = draw(count as u64) as usize;
                leaves[place] = [draw(9), draw(4), draw(100)];
                index.set(place, leaves[place]);
                let least = [draw(10), draw(5), draw(110)];
                let from = draw(count as u64 + 1) as usize;
                let holds = |own: &Least| own.iter().zip(&least).all(|(own, least)| own >= least);
                let scan = (from..count).find(|&place| holds(&leaves[place]));
                assert_eq!(index.next(from, &least), scan, "{count} nodes from {from}");
            }
        }
    }
}
