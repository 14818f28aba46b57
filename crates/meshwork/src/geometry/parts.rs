//! Parts of nodes that a job holds.

use smallvec::SmallVec;

use crate::job::{Piece, Pieces, WHOLE_SHARE};
use crate::topology::Node;
use crate::topology::types::{CORES, MEM, NodeType, NodeTypes, OTHER};

/// The parts of nodes that a job holds, in rank order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parts {
    /// One part for each node and role; several parts may be on one node.
    pub parts: Vec<NodePart>,
    /// Number of cores of all parts.
    pub cores: u32,
}

/// The part of one node that a job holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodePart {
    /// The node.
    pub node: Node,
    /// Number of pieces.
    pub pieces: u32,
    /// Amounts above 0, each with the index of its cell in the node: see
    /// [`NodeType::idle`](crate::topology::types::NodeType::idle).
    pub cells: SmallVec<[(u16, u32); 6]>,
}

/// Amounts of a part of a node, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartAmounts {
    /// Cores of each island.
    pub cores: Vec<u32>,
    /// Memory in MiB.
    pub mem: u32,
    /// Amount of the fourth kind.
    pub other: u32,
    /// Index of each GPU, with the thousandths of it.
    pub gpus: Vec<(u32, u32)>,
}

impl NodePart {
    /// Amounts that it has of a node of this type.
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
    /// Pieces that hold as much, wherever they are: those of equal parts are of one role.
    #[must_use]
    pub fn as_pieces(&self, types: &NodeTypes) -> Pieces {
        let mut roles: Vec<Piece> = Vec::new();
        for part in &self.parts {
            let own = part.amounts(types.of(part.node));
            let count = part.pieces.max(1);
            let share = own.gpus.iter().map(|&(_, share)| share).min().unwrap_or(WHOLE_SHARE);
            let shares: u32 = own.gpus.iter().map(|&(_, share)| share).sum();
            // Pieces share a GPU one by one; those of whole ones divide them.
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
