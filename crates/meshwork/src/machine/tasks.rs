//! Conversion of nodes and pieces of jobs for the rules that choose nodes of GPU clusters.

use super::NodeAmounts;
use crate::gpus::{GpuNode, GpuTask};
use crate::job::Piece;
use crate::topology::types::NodeTypes;

/// Converts a piece of a job to a task of a GPU cluster.
///
/// The names of suitable types of nodes become types of GPUs.
#[must_use]
pub fn task_of(piece: &Piece, types: &NodeTypes) -> GpuTask {
    let models = match piece.types {
        None => String::new(),
        Some(_) => {
            let suiting = types.types().iter().filter(|kind| kind.suits(piece));
            suiting.map(|kind| kind.name.as_str()).collect::<Vec<_>>().join("|")
        }
    };
    GpuTask {
        name: String::new(),
        cpu: piece.cpu.saturating_mul(1000),
        memory: piece.mem,
        gpus: piece.gpu,
        share: if piece.gpu > 0 { piece.share } else { 0 },
        models,
    }
}

/// Copies the free amounts of a node into `known`, its description as a node of a GPU cluster.
pub fn put_into(node: &NodeAmounts<'_>, known: &mut GpuNode) {
    if known.model != node.kind.name {
        known.model.clone_from(&node.kind.name);
    }
    (known.cpu, known.memory) = (node.cores.saturating_mul(1000), node.mem());
    known.gpus.clear();
    known.gpus.extend_from_slice(node.gpu_shares());
    known.hold(node.tallies());
}
