//! Shared nodes as Slurm's configuration describes them.

use crate::alloc::listed::blocks::Blocks;
use crate::alloc::listed::tree::Tree;
use crate::geometry::NodeSet;

/// Maximum number of cores of a node; more do not fit a [`CoreSet`](super::CoreSet).
pub const MAX_CORES: u32 = 512;

/// Maximum number of GPUs of a node.
pub const MAX_GPUS: u32 = 64;

/// Maximum number of sockets of a node.
pub const MAX_SOCKETS: u32 = 32;

/// Equal nodes: sockets with cores, memory, and GPUs near some of the sockets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmNodeType {
    /// Number of sockets, at least 1 and at most [`MAX_SOCKETS`].
    pub sockets: u32,
    /// Cores of each socket.
    pub cores: u32,
    /// Hardware threads of each core; each is a CPU.
    pub threads: u32,
    /// Memory in MB.
    pub memory: u64,
    /// Sort key before all others: lighter nodes are taken first.
    pub weight: u32,
    /// Words that a job may require.
    pub features: Vec<String>,
    /// Records of `gres.conf` about GPUs, in its order.
    pub gpus: Vec<GpuRecord>,
    /// Whether GPUs are only counted, because no record has a type or cores.
    pub is_counted: bool,
    /// Quality of the link between each pair of GPUs; empty if unknown.
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

    /// All GPUs of a node, as bits.
    #[must_use]
    pub fn all_gpus(&self) -> u64 {
        self.gpus.iter().fold(0, |all, record| all | record.gpus)
    }
}

/// GPUs of one type near the same sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuRecord {
    /// Index of the type in [`SharedMachine::models`].
    pub model: Option<u16>,
    /// GPUs by index, as bits.
    pub gpus: u64,
    /// Sockets near them, as bits; `None` if they are near to all.
    pub near: Option<u32>,
}

/// Wiring of the machine, which determines the rule for jobs of several nodes.
#[derive(Clone, Debug)]
pub enum Domains {
    /// Nodes in the order of their numbers.
    Flat,
    /// A tree of switches.
    Tree(Tree),
    /// Base blocks, joined in powers of two.
    Block(Blocks),
}

/// Parameters of `slurm.conf` that change decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectParams {
    /// Whether whole cores are allocated (`CR_Core`); otherwise single CPUs (`CR_CPU`).
    pub by_core: bool,
    /// Whether memory is allocated (`_Memory`).
    pub memory: bool,
    /// Whether the least loaded nodes are taken first (`CR_LLN`, or `LLN=YES` of the partition).
    pub least_loaded: bool,
    /// Whether cores are taken socket by socket by default (`CR_CORE_DEFAULT_DIST_BLOCK`).
    pub by_socket: bool,
    /// Whether serial jobs go to the highest nodes (`pack_serial_at_end`).
    pub serial_at_end: bool,
    /// Whether every job gets whole nodes (`OverSubscribe=EXCLUSIVE`).
    pub exclusive: bool,
    /// Whether nodes are chosen as by Slurm 22.05, not 26.05: jobs of one node like all others, by
    /// all free CPUs of a node.
    pub is_older: bool,
    /// Memory for each CPU if a job does not say, in MB; 0 for all memory of a node.
    pub mem_per_cpu: u64,
    /// Memory for each node if a job does not request any, in MB; overrides `mem_per_cpu`.
    pub mem_per_node: u64,
    /// CPUs for each GPU if a job does not request a number; 0 for no rule.
    pub cpus_per_gpu: u32,
    /// Memory for each GPU if a job does not request any, in MB; 0 for no rule.
    pub mem_per_gpu: u64,
}

/// A partition of shared nodes.
#[derive(Clone, Debug)]
pub struct SharedMachine {
    /// Types of nodes.
    pub types: Vec<SlurmNodeType>,
    /// Index of the type of each node.
    pub type_of: Vec<u16>,
    /// Names of the types of GPUs.
    pub models: Vec<String>,
    /// Nodes of the partition that are up.
    pub up: NodeSet,
    /// Nodes of the partition.
    pub whole: NodeSet,
    /// Wiring.
    pub domains: Domains,
    /// Parameters.
    pub params: SelectParams,
}

impl SharedMachine {
    /// Type of a node.
    #[must_use]
    pub fn node(&self, node: u32) -> &SlurmNodeType {
        &self.types[self.type_of[node as usize] as usize]
    }

    /// Number of nodes.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.type_of.len() as u32
    }
}
