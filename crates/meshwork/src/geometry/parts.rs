//! Parts of nodes that a job holds.

use smallvec::SmallVec;

use crate::topology::Node;

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
