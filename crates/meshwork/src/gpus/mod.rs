//! Nodes whose GPUs are shared by tasks, and the rules that choose a node and its GPUs.
//!
//! A task takes processors, memory, and either a fraction of one GPU or several whole ones, all on
//! one node. [`GPU_RULES`] lists the rules of Weng et al. (USENIX ATC 2023), one file each in
//! `rules`; [`arrivals`] and [`curve`] are the experiment of that paper, in which tasks arrive and
//! never leave.

pub mod arrivals;
pub mod curve;
mod fragmentation;
mod rules;

pub use fragmentation::TypicalTasks;
pub use rules::{GPU_RULES, GpuRule, GpuRuleEntry, NodeScore, ScoreRule, score_rules};

/// One GPU, in the thousandths in which tasks ask for a fraction of it.
pub const WHOLE_GPU: u32 = 1000;

/// A node with its free processors, memory and GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuNode {
    /// Name, by which nodes are ordered.
    pub name: String,
    /// Free processors, in thousandths.
    pub cpu: u32,
    /// Free memory in MiB.
    pub memory: u32,
    /// Free thousandths of each GPU.
    pub gpus: Vec<u32>,
    /// Type of its GPUs.
    pub model: String,
    /// Number of running tasks by kind: at 0 those that share a GPU, at k those that hold k GPUs.
    held: Vec<u32>,
}

/// A task, which runs on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuTask {
    /// Name, by which tasks are ordered.
    pub name: String,
    /// Processors, in thousandths.
    pub cpu: u32,
    /// Memory in MiB.
    pub memory: u32,
    /// Number of GPUs; 0 for a task on processors alone.
    pub gpus: u32,
    /// Thousandths of each GPU: fewer than [`WHOLE_GPU`] only for one that is shared.
    pub share: u32,
    /// Allowed types of GPU, separated by `|`; all if it is empty.
    pub models: String,
}

/// A node and the GPUs of it that a task gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuPlacement {
    /// Number of the node.
    pub node: usize,
    /// Numbers of its GPUs, ascending.
    pub gpus: Vec<usize>,
}

impl GpuNode {
    /// An idle node with this many GPUs of one type.
    #[must_use]
    pub fn new(name: &str, cpu: u32, memory: u32, gpus: u32, model: &str) -> GpuNode {
        GpuNode {
            name: name.to_owned(),
            cpu,
            memory,
            gpus: vec![WHOLE_GPU; gpus as usize],
            model: model.to_owned(),
            held: vec![0; gpus as usize + 1],
        }
    }

    /// Free thousandths of all GPUs together.
    #[must_use]
    pub fn free(&self) -> u32 {
        self.gpus.iter().sum()
    }

    /// Whether a task can run here now.
    #[must_use]
    pub fn fits(&self, task: &GpuTask) -> bool {
        let fitting = self.gpus.iter().filter(|&&free| free >= task.share);
        self.cpu >= task.cpu
            && self.memory >= task.memory
            && (task.gpus == 0 || task.allows(&self.model) && fitting.count() >= task.gpus as usize)
    }

    /// The wholly free GPUs with the lowest numbers, in the number that the task asks for.
    fn whole_gpus(&self, task: &GpuTask) -> Vec<usize> {
        let free = (0..self.gpus.len()).filter(|&gpu| self.gpus[gpu] == WHOLE_GPU);
        free.take(task.gpus as usize).collect()
    }

    /// The GPU with the least left that fits, the lowest number among equals.
    fn tightest_gpu(&self, task: &GpuTask) -> Option<usize> {
        let fitting = (0..self.gpus.len()).filter(|&gpu| self.gpus[gpu] >= task.share);
        fitting.min_by_key(|&gpu| self.gpus[gpu])
    }

    /// Replaces the numbers of running tasks by kind, as counted elsewhere.
    pub(crate) fn hold(&mut self, by_kind: impl Iterator<Item = u32>) {
        self.held.clear();
        self.held.extend(by_kind);
    }

    fn take(&mut self, task: &GpuTask, gpus: &[usize]) {
        self.cpu -= task.cpu;
        self.memory -= task.memory;
        for &gpu in gpus {
            self.gpus[gpu] -= task.share;
        }
        if let Some(kind) = task.kind() {
            self.held[kind] += 1;
        }
    }

    fn give_back(&mut self, task: &GpuTask, gpus: &[usize]) {
        self.cpu += task.cpu;
        self.memory += task.memory;
        for &gpu in gpus {
            self.gpus[gpu] += task.share;
        }
        if let Some(kind) = task.kind() {
            self.held[kind] -= 1;
        }
    }
}

impl GpuTask {
    /// Whether it takes a part of one GPU.
    #[must_use]
    pub fn is_sharing(&self) -> bool {
        self.gpus == 1 && self.share < WHOLE_GPU
    }

    /// Thousandths of all its GPUs together.
    #[must_use]
    pub fn demand(&self) -> u64 {
        u64::from(self.gpus) * u64::from(self.share)
    }

    /// Whether it may run on GPUs of a type.
    #[must_use]
    pub fn allows(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.split('|').any(|one| one == model)
    }

    /// 0 if it shares a GPU, else the number of its GPUs; `None` on processors alone.
    fn kind(&self) -> Option<usize> {
        match self.gpus {
            0 => None,
            _ if self.is_sharing() => Some(0),
            gpus => Some(gpus as usize),
        }
    }
}

/// Nodes with their running tasks, in the order that breaks ties between equal scores.
pub struct GpuCluster {
    nodes: Vec<GpuNode>,
    /// Number of changes of each node, for rules that keep scores.
    changes: Vec<u32>,
}

impl GpuCluster {
    /// A cluster of idle nodes; of nodes with equal scores the first is taken.
    #[must_use]
    pub fn new(nodes: Vec<GpuNode>) -> GpuCluster {
        let changes = vec![0; nodes.len()];
        GpuCluster { nodes, changes }
    }

    /// The nodes with their free amounts.
    #[must_use]
    pub fn nodes(&self) -> &[GpuNode] {
        &self.nodes
    }

    /// Places a task by a rule; `None` if it fits on no node.
    ///
    /// # Complexity
    /// O(n) for n nodes, and a score for each that has changed since the rule saw such a task.
    pub fn place(&mut self, task: &GpuTask, rule: &mut dyn GpuRule) -> Option<GpuPlacement> {
        let placement = rule.choose(self, task)?;
        self.nodes[placement.node].take(task, &placement.gpus);
        self.changes[placement.node] += 1;
        Some(placement)
    }

    /// Ends a placed task.
    pub fn release(&mut self, task: &GpuTask, placement: &GpuPlacement) {
        self.nodes[placement.node].give_back(task, &placement.gpus);
        self.changes[placement.node] += 1;
    }
}

#[cfg(test)]
mod tests;
