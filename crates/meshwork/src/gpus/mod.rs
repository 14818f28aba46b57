//! GPU clusters: nodes whose GPUs tasks share, and rules that choose a node and its GPUs.
//!
//! A task takes processors, memory, and either a fraction of one GPU or several whole GPUs, all on
//! one node. [`GPU_RULES`] lists the rules of Weng et al. (USENIX ATC 2023); [`arrivals`] and
//! [`curve`] are the experiment of Weng et al., in which tasks arrive and never leave.

pub mod arrivals;
pub mod curve;
mod fragmentation;
mod rules;

pub use fragmentation::TypicalTasks;
pub use rules::{GPU_RULES, GpuRule, GpuRuleEntry, NodeScore, ScoreRule, score_rules};

/// One whole GPU in thousandths of a GPU. Tasks ask for fractions of a GPU in this unit.
pub const WHOLE_GPU: u32 = 1000;

/// Node of a GPU cluster, with its free processors, memory and GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuNode {
    /// Name of the node, by which nodes are sorted.
    pub name: String,
    /// Free processors, in thousandths.
    pub cpu: u32,
    /// Free memory in MiB.
    pub memory: u32,
    /// Free thousandths of each GPU of the node.
    pub gpus: Vec<u32>,
    /// Type of the node's GPUs.
    pub model: String,
    /// Numbers of running tasks: at index 0 those that share a GPU, at index k those with k GPUs.
    held: Vec<u32>,
}

/// Task of a GPU cluster, which runs on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuTask {
    /// Name of the task, by which tasks are sorted.
    pub name: String,
    /// Requested processors, in thousandths.
    pub cpu: u32,
    /// Requested memory in MiB.
    pub memory: u32,
    /// Number of requested GPUs; 0 for a task that needs none.
    pub gpus: u32,
    /// Requested thousandths of each GPU: below [`WHOLE_GPU`] only if the task shares a single GPU.
    pub share: u32,
    /// Types of GPU that the task may use, separated by `|`; every type if empty.
    pub models: String,
}

/// Placement of a task: a node, and the GPUs of this node that the task gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuPlacement {
    /// Index of the node in the cluster.
    pub node: usize,
    /// Indices of the GPUs on the node, ascending.
    pub gpus: Vec<usize>,
}

impl GpuNode {
    /// Creates an idle node; `cpu` is in thousandths of a processor, `memory` in MiB.
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

    /// Free amounts of all GPUs of the node together, in thousandths of a GPU.
    #[must_use]
    pub fn free(&self) -> u32 {
        self.gpus.iter().sum()
    }

    /// Whether enough is free on the node now for a task to run on it.
    #[must_use]
    pub fn fits(&self, task: &GpuTask) -> bool {
        let fitting = self.gpus.iter().filter(|&&free| free >= task.share);
        self.cpu >= task.cpu
            && self.memory >= task.memory
            && (task.gpus == 0 || task.allows(&self.model) && fitting.count() >= task.gpus as usize)
    }

    /// The wholly free GPUs with the lowest indices, as many as the task requests.
    fn whole_gpus(&self, task: &GpuTask) -> Vec<usize> {
        let free = (0..self.gpus.len()).filter(|&gpu| self.gpus[gpu] == WHOLE_GPU);
        free.take(task.gpus as usize).collect()
    }

    /// Index of the GPU with the least free amount that is enough for the share of a task. Ties go
    /// to the first GPU.
    fn tightest_gpu(&self, task: &GpuTask) -> Option<usize> {
        let fitting = (0..self.gpus.len()).filter(|&gpu| self.gpus[gpu] >= task.share);
        fitting.min_by_key(|&gpu| self.gpus[gpu])
    }

    /// Sets the numbers of running tasks, by their use of GPUs.
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
    /// Whether the task takes only a fraction of one GPU.
    #[must_use]
    pub fn is_sharing(&self) -> bool {
        self.gpus == 1 && self.share < WHOLE_GPU
    }

    /// Amount of GPUs that the task asks for in total, in thousandths of a GPU.
    #[must_use]
    pub fn demand(&self) -> u64 {
        u64::from(self.gpus) * u64::from(self.share)
    }

    /// Whether the task may run on GPUs of type `model`.
    #[must_use]
    pub fn allows(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.split('|').any(|one| one == model)
    }

    /// Index of the task's kind: 0 for a share of one GPU, otherwise its number of GPUs.
    ///
    /// The result is `None` if the task needs no GPU.
    fn kind(&self) -> Option<usize> {
        match self.gpus {
            0 => None,
            _ if self.is_sharing() => Some(0),
            gpus => Some(gpus as usize),
        }
    }
}

/// GPU cluster: its nodes, in the order that breaks ties between scores.
pub struct GpuCluster {
    nodes: Vec<GpuNode>,
    /// Number of changes of each node, by which rules validate cached scores.
    changes: Vec<u32>,
}

impl GpuCluster {
    /// Creates a cluster of idle nodes, whose order breaks ties between scores.
    #[must_use]
    pub fn new(nodes: Vec<GpuNode>) -> GpuCluster {
        let changes = vec![0; nodes.len()];
        GpuCluster { nodes, changes }
    }

    /// The nodes of the cluster, with the free amounts of each.
    #[must_use]
    pub fn nodes(&self) -> &[GpuNode] {
        &self.nodes
    }

    /// Places a task by a rule; `None` if the task fits on no node.
    ///
    /// # Complexity
    /// O(n) for n nodes. One score is computed for each node that has changed since the rule last
    /// placed a task with equal requests.
    pub fn place(&mut self, task: &GpuTask, rule: &mut dyn GpuRule) -> Option<GpuPlacement> {
        let placement = rule.choose(self, task)?;
        self.nodes[placement.node].take(task, &placement.gpus);
        self.changes[placement.node] += 1;
        Some(placement)
    }

    /// Ends a placed task and frees what it holds.
    pub fn release(&mut self, task: &GpuTask, placement: &GpuPlacement) {
        self.nodes[placement.node].give_back(task, &placement.gpus);
        self.changes[placement.node] += 1;
    }
}

#[cfg(test)]
mod tests;
