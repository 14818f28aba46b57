//! Machine of shared nodes, as Slurm's configuration describes it.

use crate::alloc::listed::blocks::Blocks;
use crate::alloc::listed::tree::Tree;
use crate::geometry::NodeSet;

use super::cores::CoreSet;

/// Maximum number of cores of a node and of a [`CoreSet`](super::CoreSet).
pub const MAX_CORES: u32 = 512;

/// Maximum number of GPUs of a node.
pub const MAX_GPUS: u32 = 64;

/// Maximum number of sockets of a node.
pub const MAX_SOCKETS: u32 = 32;

/// Type of nodes: sockets with cores, memory, and GPUs near some of the sockets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmNodeType {
    /// Number of sockets, at least 1 and at most [`MAX_SOCKETS`].
    pub sockets: u32,
    /// Number of cores of each socket.
    pub cores: u32,
    /// Number of hardware threads of each core; each thread is a CPU.
    pub threads: u32,
    /// Memory of a node in MB.
    pub memory: u64,
    /// Weight of a node: lighter nodes are taken first, before any other criterion.
    pub weight: u32,
    /// Features of a node, of which a job may require one.
    pub features: Vec<String>,
    /// Records of `gres.conf`, which lists generic resources, about GPUs, in file order.
    pub gpus: Vec<GpuRecord>,
    /// Whether GPUs are only counted, because no record of `gres.conf` has a type or cores.
    pub is_counted: bool,
    /// Rating of the link between each pair of GPUs, by their indices; empty if unknown.
    pub links: Vec<Vec<i32>>,
}

impl SlurmNodeType {
    /// Number of cores of a node.
    #[must_use]
    pub fn all_cores(&self) -> u32 {
        self.sockets * self.cores
    }

    /// Number of CPUs of a node.
    #[must_use]
    pub fn cpus(&self) -> u32 {
        self.all_cores() * self.threads
    }

    /// Number of cores of a set on each socket of a node.
    pub(super) fn by_socket(&self, cores: &CoreSet) -> [u32; MAX_SOCKETS as usize] {
        let mut counts = [0; MAX_SOCKETS as usize];
        for socket in 0..self.sockets {
            counts[socket as usize] = cores.count_range(socket * self.cores, self.cores);
        }
        counts
    }

    /// All GPUs of a node, as bits.
    #[must_use]
    pub fn all_gpus(&self) -> u64 {
        self.gpus.iter().fold(0, |all, record| all | record.gpus)
    }
}

/// GPUs of one type that are near the same sockets, as one record of `gres.conf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuRecord {
    /// Index of the GPUs' type in [`SharedMachine::models`]; `None` if they have no type.
    pub model: Option<u16>,
    /// The GPUs, as bits by their indices in the node.
    pub gpus: u64,
    /// Sockets near these GPUs, as a bit for each; `None` if the GPUs are near all sockets.
    pub near: Option<u32>,
}

/// Topology of the machine, on which the rule for jobs of several nodes depends.
#[derive(Clone, Debug)]
pub enum Domains {
    /// No topology: nodes in the order of their numbers.
    Flat,
    /// Switches, which form a tree.
    Tree(Tree),
    /// Base blocks (such as racks), combined into larger blocks of 2, 4, 8, …
    Block(Blocks),
}

/// Parameters of `slurm.conf` that change which nodes and resources jobs get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectParams {
    /// Whether whole cores are allocated (`CR_Core`); otherwise single CPUs (`CR_CPU`).
    pub by_core: bool,
    /// Whether memory is allocated (`CR_…_Memory`).
    pub memory: bool,
    /// Whether the least loaded nodes are taken first (`CR_LLN`, or `LLN=YES` of the partition).
    pub least_loaded: bool,
    /// Whether cores are taken socket by socket by default (`CR_CORE_DEFAULT_DIST_BLOCK`).
    pub by_socket: bool,
    /// Whether jobs of one task go to the nodes with the highest numbers (`pack_serial_at_end`).
    pub serial_at_end: bool,
    /// Whether every job gets whole nodes, which it does not share (`OverSubscribe=EXCLUSIVE`).
    pub exclusive: bool,
    /// Whether nodes are chosen as by Slurm 22.05 instead of 26.05.
    ///
    /// Slurm 22.05 treats a job of one node like a job of several, and considers all free CPUs.
    pub is_older: bool,
    /// Default memory for each CPU, in MB; 0 stands for all memory of a node.
    pub mem_per_cpu: u64,
    /// Default memory for each node, in MB; overrides `mem_per_cpu` unless 0.
    pub mem_per_node: u64,
    /// Default number of CPUs for each GPU; 0 without a default.
    pub cpus_per_gpu: u32,
    /// Default memory for each GPU, in MB; 0 without a default.
    pub mem_per_gpu: u64,
}

/// Partition of a machine, with nodes that are shared by jobs.
#[derive(Clone, Debug)]
pub struct SharedMachine {
    /// Types of the nodes.
    pub types: Vec<SlurmNodeType>,
    /// Index in `types` of the type of each node.
    pub type_of: Vec<u16>,
    /// Names of the types of GPUs.
    pub models: Vec<String>,
    /// Nodes of the partition that are up.
    pub up: NodeSet,
    /// All nodes of the partition.
    pub whole: NodeSet,
    /// Topology of the nodes: switches, blocks or none.
    pub domains: Domains,
    /// Parameters of `slurm.conf` that change which nodes and resources jobs get.
    pub params: SelectParams,
}

impl SharedMachine {
    /// Type of a node.
    #[must_use]
    pub fn node(&self, node: u32) -> &SlurmNodeType {
        &self.types[self.type_of[node as usize] as usize]
    }

    /// Number of nodes of the machine.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.type_of.len() as u32
    }
}
