//! Machine with nodes that jobs may share, as described by the configuration of Slurm.

use crate::alloc::listed::blocks::Blocks;
use crate::alloc::listed::tree::Tree;
use crate::geometry::NodeSet;

use super::cores::CoreSet;

/// Maximum number of cores of a node, and therefore of a [`CoreSet`](super::CoreSet).
pub const MAX_CORES: u32 = 512;

/// Maximum number of GPUs of a node.
pub const MAX_GPUS: u32 = 64;

/// Maximum number of sockets of a node.
pub const MAX_SOCKETS: u32 = 32;

/// Type of nodes: sockets with cores, memory, and GPUs that are near some of the sockets.
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
    /// Weight of a node. Lighter nodes are taken first, whatever other criteria say.
    pub weight: u32,
    /// Features of a node. A job may require one feature.
    pub features: Vec<String>,
    /// Records about GPUs in `gres.conf`, the file of generic resources, in the order of the file.
    pub gpus: Vec<GpuRecord>,
    /// Whether GPUs are only counted, because no record of `gres.conf` has a type or cores.
    pub is_counted: bool,
    /// Rating of the link between each pair of GPUs, indexed by both GPUs; empty if unknown.
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

    /// Number of cores of the set `cores` that lie on each socket of a node.
    pub(super) fn by_socket(&self, cores: &CoreSet) -> [u32; MAX_SOCKETS as usize] {
        let mut counts = [0; MAX_SOCKETS as usize];
        for socket in 0..self.sockets {
            counts[socket as usize] = cores.count_range(socket * self.cores, self.cores);
        }
        counts
    }

    /// All GPUs of a node, one bit for each.
    #[must_use]
    pub fn all_gpus(&self) -> u64 {
        self.gpus.iter().fold(0, |all, record| all | record.gpus)
    }
}

/// GPUs of one type that are near the same sockets, as given by one record of `gres.conf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuRecord {
    /// Type of the GPUs, as an index in [`SharedMachine::models`]; `None` if they have no type.
    pub model: Option<u16>,
    /// The GPUs, one bit for each, by their indices in the node.
    pub gpus: u64,
    /// Sockets near the GPUs of this record, one bit for each; `None` if all sockets are near them.
    pub near: Option<u32>,
}

/// Topology of the machine, which determines the rule that places jobs of several nodes.
#[derive(Clone, Debug)]
pub enum Domains {
    /// No topology: nodes are only ordered by their numbers.
    Flat,
    /// Switches that form a tree.
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
    /// Whether every job gets whole nodes, so that no node is shared (`OverSubscribe=EXCLUSIVE`).
    pub exclusive: bool,
    /// Whether nodes are chosen as in Slurm 22.05 instead of Slurm 26.05.
    ///
    /// Slurm 22.05 treats a job of one node like a job of several nodes, and considers all free
    /// CPUs.
    pub is_older: bool,
    /// Default memory for each CPU, in MB; 0 stands for all memory of each node.
    pub mem_per_cpu: u64,
    /// Default memory on each node, in MB. If it is not 0, `mem_per_cpu` is ignored.
    pub mem_per_node: u64,
    /// Default number of CPUs for each GPU; 0 without a default.
    pub cpus_per_gpu: u32,
    /// Default memory for each GPU, in MB; 0 without a default.
    pub mem_per_gpu: u64,
}

/// Partition of a machine whose nodes may be shared by jobs.
#[derive(Clone, Debug)]
pub struct SharedMachine {
    /// Types of nodes that the machine has.
    pub types: Vec<SlurmNodeType>,
    /// Type of each node, as an index in `types`.
    pub type_of: Vec<u16>,
    /// Names of all types of GPUs.
    pub models: Vec<String>,
    /// Nodes of the partition that are up.
    pub up: NodeSet,
    /// All nodes of the partition.
    pub whole: NodeSet,
    /// Topology of the nodes: switches, blocks, or none.
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
