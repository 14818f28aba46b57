//! Vectors of amounts, types of nodes, pieces of jobs, and the state of a node.

use std::fmt;
use std::ops::{AddAssign, Index, IndexMut, SubAssign};

/// The amount of one whole GPU; a fraction of one GPU is any smaller positive number.
pub const WHOLE_GPU: u64 = 1000;

/// One of the four kinds of amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResourceKind {
    /// Processors, in the unit of the machine: cores, threads or thousandths of them.
    Cpu,
    /// Memory, in the unit of the machine, usually MiB.
    Mem,
    /// GPUs, in thousandths of one ([`WHOLE_GPU`]).
    Gpu,
    /// Anything else that is counted: licences, local disk, network ports.
    Other,
}

impl ResourceKind {
    /// All kinds, in the order of a vector.
    pub const ALL: [ResourceKind; 4] =
        [ResourceKind::Cpu, ResourceKind::Mem, ResourceKind::Gpu, ResourceKind::Other];

    /// Name in studies and columns.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ResourceKind::Cpu => "cpu",
            ResourceKind::Mem => "mem",
            ResourceKind::Gpu => "gpu",
            ResourceKind::Other => "other",
        }
    }
}

impl fmt::Display for ResourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One amount of each kind.
///
/// ```
/// use meshwork::nodes::{Amounts, ResourceKind, WHOLE_GPU};
/// let node = Amounts::new(64, 512_000, 8 * WHOLE_GPU);
/// let piece = Amounts::new(8, 64_000, WHOLE_GPU);
/// assert_eq!((node.times(&piece), node[ResourceKind::Cpu]), (8, 64));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Amounts(pub [u64; 4]);

impl Amounts {
    /// A vector of processors, memory and thousandths of GPUs.
    #[must_use]
    pub const fn new(cpu: u64, mem: u64, gpu: u64) -> Amounts {
        Amounts([cpu, mem, gpu, 0])
    }

    /// Whether no amount of `part` exceeds the one here.
    #[must_use]
    pub fn holds(&self, part: &Amounts) -> bool {
        self.0.iter().zip(&part.0).all(|(own, part)| own >= part)
    }

    /// How often `part` fits side by side; `u64::MAX` for an empty one.
    #[must_use]
    pub fn times(&self, part: &Amounts) -> u64 {
        let kinds = self.0.iter().zip(&part.0).filter(|(_, part)| **part > 0);
        kinds.map(|(own, part)| own / part).min().unwrap_or(u64::MAX)
    }

    /// Whether all amounts are zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }
}

impl Index<ResourceKind> for Amounts {
    type Output = u64;

    fn index(&self, kind: ResourceKind) -> &u64 {
        &self.0[kind as usize]
    }
}

impl IndexMut<ResourceKind> for Amounts {
    fn index_mut(&mut self, kind: ResourceKind) -> &mut u64 {
        &mut self.0[kind as usize]
    }
}

impl AddAssign for Amounts {
    fn add_assign(&mut self, other: Amounts) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own += other);
    }
}

impl SubAssign for Amounts {
    /// # Panics
    /// In debug builds, if an amount would become negative.
    fn sub_assign(&mut self, other: Amounts) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own -= other);
    }
}

/// Equal nodes: their amounts, and how they are divided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeType {
    /// Name in studies, constraints and tables.
    pub name: String,
    /// Amounts of a node.
    pub capacity: Amounts,
    /// Number of equal islands (sockets, NUMA or NVLink domains); 1 if the inside is not known.
    ///
    /// It divides the processors and whole GPUs, and island *i* has the *i*-th share of both.
    pub islands: u32,
    /// Model of its GPUs, if it has a name.
    pub gpu_model: Option<String>,
    /// Words that a job may require of its nodes.
    pub features: Vec<String>,
    /// Order of preference: nodes of lower weight are taken first by rules that look at it.
    pub weight: u32,
}

impl NodeType {
    /// Number of whole GPUs.
    #[must_use]
    pub fn gpus(&self) -> u32 {
        (self.capacity[ResourceKind::Gpu] / WHOLE_GPU) as u32
    }

    /// The island of a GPU.
    #[must_use]
    pub fn island_of_gpu(&self, gpu: u32) -> u32 {
        (u64::from(gpu) * u64::from(self.islands) / u64::from(self.gpus().max(1))) as u32
    }

    /// Amounts of one island; memory and the fourth kind belong to the whole node.
    #[must_use]
    pub fn island(&self) -> Amounts {
        let mut share = self.capacity;
        for kind in [ResourceKind::Cpu, ResourceKind::Gpu] {
            share[kind] /= u64::from(self.islands.max(1));
        }
        share
    }
}

/// Where all parts of a piece must lie, or all pieces of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Inside {
    /// Each piece inside one island.
    Island,
    /// Each piece inside one node, which always holds.
    #[default]
    Node,
    /// All pieces under one leaf switch.
    Leaf,
    /// All pieces in one block or group.
    Block,
}

/// The part of one node that a job takes at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Its amounts. GPUs are either less than [`WHOLE_GPU`], a part of a single GPU, or a multiple
    /// of it: whole GPUs.
    pub amounts: Amounts,
    /// Models of GPU that will do; empty for any.
    pub gpu_models: Vec<String>,
    /// Types or features of nodes that will do; empty for any.
    pub types: Vec<String>,
    /// Where all its amounts must lie.
    pub inside: Inside,
}

impl Piece {
    /// Number of whole GPUs; 0 for a part of one.
    #[must_use]
    pub fn whole_gpus(&self) -> u32 {
        (self.amounts[ResourceKind::Gpu] / WHOLE_GPU) as u32
    }

    /// Whether it takes a part of a single GPU.
    #[must_use]
    pub fn shares_gpu(&self) -> bool {
        (1..WHOLE_GPU).contains(&self.amounts[ResourceKind::Gpu])
    }

    /// Whether nodes of a type may hold it, whatever is free of them.
    #[must_use]
    pub fn allows(&self, node: &NodeType) -> bool {
        let named = |word: &String| *word == node.name || node.features.contains(word);
        let models = &self.gpu_models;
        (self.types.is_empty() || self.types.iter().any(named))
            && (self.amounts[ResourceKind::Gpu] == 0
                || models.is_empty()
                || node.gpu_model.as_ref().is_some_and(|own| models.contains(own)))
    }
}

/// The free part of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeState {
    /// Index of its type.
    pub type_index: u32,
    /// Free amounts; those of GPUs are the sum of [`NodeState::gpus`].
    pub free: Amounts,
    /// Free thousandths of each GPU.
    pub gpus: Vec<u16>,
}

impl NodeState {
    /// An idle node of a type.
    #[must_use]
    pub fn idle(type_index: u32, node: &NodeType) -> NodeState {
        let gpus = vec![WHOLE_GPU as u16; node.gpus() as usize];
        NodeState { type_index, free: node.capacity, gpus }
    }

    /// Number of wholly free GPUs.
    #[must_use]
    pub fn free_gpus(&self) -> u32 {
        self.gpus.iter().filter(|free| u64::from(**free) == WHOLE_GPU).count() as u32
    }

    /// Whether its free amounts and GPUs hold a piece, whatever its type; islands are not tested.
    #[must_use]
    pub fn holds(&self, piece: &Piece) -> bool {
        let gpu = piece.amounts[ResourceKind::Gpu];
        self.free.holds(&piece.amounts)
            && (gpu == 0
                || if piece.shares_gpu() {
                    self.gpus.iter().any(|free| u64::from(*free) >= gpu)
                } else {
                    self.free_gpus() >= piece.whole_gpus()
                })
    }

    /// Takes a grant out of what is free.
    pub fn take(&mut self, grant: &Grant) {
        self.free -= grant.amounts;
        for &(gpu, part) in &grant.gpus {
            self.gpus[gpu as usize] -= part;
        }
    }

    /// Gives a grant back.
    pub fn give_back(&mut self, grant: &Grant) {
        self.free += grant.amounts;
        for &(gpu, part) in &grant.gpus {
            self.gpus[gpu as usize] += part;
        }
    }
}

/// The part of one node that a job was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Number of the node.
    pub node: u32,
    /// Its amounts; GPUs are the sum of `gpus`.
    pub amounts: Amounts,
    /// The GPUs by index, each with the thousandths given of it.
    pub gpus: Vec<(u16, u16)>,
}
