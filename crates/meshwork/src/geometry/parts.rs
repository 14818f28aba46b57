//! Parts of nodes that a job holds.

use smallvec::SmallVec;

use crate::job::{Piece, Pieces, WHOLE_SHARE};
use crate::topology::Node;
use crate::topology::types::{CORES, MEM, NodeType, NodeTypes, OTHER};

/// The parts of nodes that a job holds, in order of ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parts {
    /// A part for each node and role of the job. Several parts may be on one node.
    pub parts: Vec<NodePart>,
    /// Number of cores of all parts together.
    pub cores: u32,
}

/// The part of one node that a job holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodePart {
    /// The node of which a part is held.
    pub node: Node,
    /// Number of pieces of the job in this part.
    pub pieces: u32,
    /// Amounts above 0 of the node's resources, each with the index of the resource: see
    /// [`NodeType::idle`](crate::topology::types::NodeType::idle).
    pub cells: SmallVec<[(u16, u32); 6]>,
}

/// Amounts of resources that a part of a node has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartAmounts {
    /// Number of cores of each island of the node.
    pub cores: Vec<u32>,
    /// Memory in MiB.
    pub mem: u32,
    /// Amount of the resource `other`, which a study defines.
    pub other: u32,
    /// Index of each GPU held, with the thousandths of it that are held.
    pub gpus: Vec<(u32, u32)>,
}

impl NodePart {
    /// Amounts of resources that this part has of a node of type `kind`.
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
    /// A request for pieces of the sizes of these parts, on any nodes. Pieces of equal size are of
    /// one role.
    #[must_use]
    pub fn as_pieces(&self, types: &NodeTypes) -> Pieces {
        let mut roles: Vec<Piece> = Vec::new();
        for part in &self.parts {
            let own = part.amounts(types.of(part.node));
            let count = part.pieces.max(1);
            let share = own.gpus.iter().map(|&(_, share)| share).min().unwrap_or(WHOLE_SHARE);
            let shares: u32 = own.gpus.iter().map(|&(_, share)| share).sum();
            // Pieces that share a GPU have a share each; pieces with whole GPUs divide them.
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
