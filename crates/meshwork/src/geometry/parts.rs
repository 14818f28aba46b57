//! Parts of nodes that a job holds: amounts of cores, memory and GPUs on each node.

use smallvec::SmallVec;

use crate::job::{Piece, Pieces, WHOLE_SHARE};
use crate::topology::Node;
use crate::topology::types::{CORES, MEM, NodeType, NodeTypes, OTHER};

/// The amounts of resources that a job holds on its nodes, in order of the job's ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parts {
    /// Held amounts, one entry for each node and role. A role is a kind of pieces of the job.
    pub parts: Vec<NodePart>,
    /// Number of cores that the job holds on all its nodes together.
    pub cores: u32,
}

/// Amounts of one node's resources that a job holds for pieces of one role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodePart {
    /// The node whose resources are held.
    pub node: Node,
    /// Number of the job's pieces on the node that together hold the amounts in `cells`.
    pub pieces: u32,
    /// Held amounts above 0, each with the index of its resource. The indices are those of
    /// [`NodeType::idle`](crate::topology::types::NodeType::idle).
    pub cells: SmallVec<[(u16, u32); 6]>,
}

/// Amounts of one node's resources that a job holds, by kind of resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartAmounts {
    /// Number of cores held on each island (such as a socket) of the node.
    pub cores: Vec<u32>,
    /// Memory held, in MiB.
    pub mem: u32,
    /// Amount held of the resource `other`, whose meaning a study defines.
    pub other: u32,
    /// Index of each GPU that is held at least in part, with the held thousandths of this GPU.
    pub gpus: Vec<(u32, u32)>,
}

impl NodePart {
    /// Creates the part of a node that `pieces` pieces of a job hold together. The node has the
    /// type `kind`.
    #[must_use]
    pub fn new(node: Node, pieces: u32, amounts: &PartAmounts, kind: &NodeType) -> NodePart {
        let cores = amounts.cores.iter().enumerate().map(|(at, cores)| (CORES + at, *cores));
        let gpus =
            amounts.gpus.iter().map(|&(gpu, share)| (kind.gpus_from() + gpu as usize, share));
        let whole = amounts.gpus.iter().all(|&(_, share)| share == WHOLE_SHARE);
        let each = if whole { amounts.gpus.len() as u32 / pieces.max(1) } else { 0 };
        let tally = (!amounts.gpus.is_empty())
            .then(|| (kind.tallies_from() + each.min(kind.gpu) as usize, pieces));
        let all = [(MEM, amounts.mem), (OTHER, amounts.other)].into_iter();
        let all = all.chain(cores).chain(gpus).chain(tally).filter(|(_, amount)| *amount > 0);
        NodePart { node, pieces, cells: all.map(|(cell, amount)| (cell as u16, amount)).collect() }
    }

    /// The held amounts by kind of resource, on a node of type `kind`.
    #[must_use]
    pub fn amounts(&self, kind: &NodeType) -> PartAmounts {
        let mut amounts =
            PartAmounts { cores: vec![0; kind.islands as usize], ..PartAmounts::default() };
        for &(cell, amount) in &self.cells {
            match cell as usize {
                MEM => amounts.mem = amount,
                OTHER => amounts.other = amount,
                cell if cell < kind.gpus_from() => amounts.cores[cell - CORES] = amount,
                cell if cell < kind.tallies_from() => {
                    amounts.gpus.push(((cell - kind.gpus_from()) as u32, amount));
                }
                _ => {}
            }
        }
        amounts
    }
}

impl Parts {
    /// Request for the pieces of the job, on any nodes. Pieces of equal size form one role.
    #[must_use]
    pub fn as_pieces(&self, types: &NodeTypes) -> Pieces {
        let mut roles: Vec<Piece> = Vec::new();
        for part in &self.parts {
            let own = part.amounts(types.of(part.node));
            let count = part.pieces.max(1);
            let share = own.gpus.iter().map(|&(_, share)| share).min().unwrap_or(WHOLE_SHARE);
            let shares: u32 = own.gpus.iter().map(|&(_, share)| share).sum();
            // A piece with less than a whole GPU gets a share of one GPU. Otherwise the pieces
            // divide the whole GPUs equally.
            let (gpu, share) = match shares / count {
                0 => (0, WHOLE_SHARE),
                each if each < WHOLE_SHARE => (1, each.min(share)),
                each => (each / WHOLE_SHARE, WHOLE_SHARE),
            };
            let cpu = (own.cores.iter().sum::<u32>() / count).max(1);
            let (mem, other) = (own.mem / count, own.other / count);
            let piece = Piece { count: 0, cpu, mem, gpu, share, other, ..Piece::default() };
            let alike = |role: &&mut Piece| Piece { count: 0, ..(**role).clone() } == piece;
            match roles.iter_mut().find(alike) {
                Some(role) => role.count += count,
                None => roles.push(Piece { count, ..piece }),
            }
        }
        Pieces { roles, ..Pieces::default() }
    }
}
