//! Choice of the cores and GPUs that pieces of a job get on a node.

use smallvec::SmallVec;

use super::orders::NodeOrder;
use super::within::{IslandFree, IslandRule};
use crate::geometry::NodePart;
use crate::job::{Inside, Piece, Pieces, WHOLE_SHARE};
use crate::machine::NodeAmounts;
use crate::topology::types::{CORES, MEM, NodeType, OTHER};

/// Resources that pieces of one role get on a node where they fit, and the amounts left on the
/// node.
pub(super) fn carve(
    request: &Pieces,
    role: usize,
    pieces: u32,
    node: &NodeAmounts<'_>,
    order: &mut dyn NodeOrder,
    within: &dyn IslandRule,
) -> (NodePart, Vec<u32>) {
    let piece = &request.roles[role];
    let kind = node.kind;
    let mut cells = node.cells.to_vec();
    if request.exclusive {
        cells[..kind.tallies_from()].fill(0);
    } else {
        cells[MEM] -= piece.mem * pieces;
        cells[OTHER] -= piece.other * pieces;
        let mut only = None;
        for _ in 0..pieces {
            only = take_piece(request, piece, pieces, kind, &mut cells, order, within, only);
        }
    }
    if kind.gpu > 0 && piece.gpu > 0 {
        let tally = if piece.is_sharing() { 0 } else { piece.gpu.min(kind.gpu) };
        cells[kind.tallies_from() + tally as usize] -= pieces;
    }
    let changed = node.cells.iter().zip(&cells).enumerate();
    let taken = changed
        .filter(|(_, (before, after))| before != after)
        .map(|(cell, (before, after))| (cell as u16, before - after));
    (NodePart { node: node.node, pieces, cells: taken.collect() }, cells)
}

/// Takes the cores and GPUs of one piece of a job from the islands (such as sockets) of a node.
///
/// If all pieces must be on one island, the first piece determines this island. The function
/// returns its index, and the caller passes the index as `only` for all further pieces.
#[expect(clippy::too_many_arguments, reason = "the state of one loop")]
fn take_piece(
    request: &Pieces,
    piece: &Piece,
    pieces: u32,
    kind: &NodeType,
    cells: &mut [u32],
    order: &mut dyn NodeOrder,
    within: &dyn IslandRule,
    only: Option<usize>,
) -> Option<usize> {
    let islands = kind.islands as usize;
    let mut choice: SmallVec<[usize; 8]> = (0..islands).collect();
    let mut only = only;
    if islands > 1 {
        let free = |at: usize, cells: &[u32]| {
            let gpus = gpus_of(kind, at).filter(|&gpu| cells[gpu] >= piece.share.min(WHOLE_SHARE));
            IslandFree { number: at, cores: cells[CORES + at], gpus: gpus.count() as u32 }
        };
        let all: SmallVec<[IslandFree; 8]> = (0..islands).map(|at| free(at, cells)).collect();
        choice = within.islands(&all, piece).into_iter().collect();
        if request.inside == Inside::Island && only.is_none() {
            let holds = |at: &usize| {
                let has = all[*at];
                let gpus = if piece.is_sharing() {
                    gpus_of(kind, *at).map(|gpu| cells[gpu] / piece.share).sum::<u32>() >= pieces
                } else {
                    has.gpus >= piece.gpu * pieces
                };
                has.cores >= piece.cpu * pieces && gpus
            };
            only = choice.iter().copied().find(holds);
        }
    }
    if let Some(at) = only {
        choice = SmallVec::from_slice(&[at]);
    }
    let mut used: SmallVec<[usize; 8]> = SmallVec::new();
    if piece.is_sharing() {
        let view = NodeAmounts::new(0, kind, cells);
        let first = kind.gpus_from();
        let is_allowed = |gpu: usize| {
            cells[gpu] >= piece.share && only.is_none_or(|at| gpus_of(kind, at).contains(&gpu))
        };
        let chosen = order.gpu(&view, piece).map(|gpu| first + gpu).filter(|&gpu| is_allowed(gpu));
        let tightest = || {
            let all = choice.iter().flat_map(|&at| gpus_of(kind, at));
            all.filter(|&gpu| is_allowed(gpu)).min_by_key(|&gpu| cells[gpu])
        };
        if let Some(gpu) = chosen.or_else(tightest) {
            cells[gpu] -= piece.share;
            used.push(kind.island_of((gpu - first) as u32) as usize);
        }
    } else if piece.gpu > 0 {
        let mut left = piece.gpu;
        for &at in &choice {
            for gpu in gpus_of(kind, at) {
                if left > 0 && cells[gpu] == WHOLE_SHARE {
                    cells[gpu] = 0;
                    left -= 1;
                    if used.last() != Some(&at) {
                        used.push(at);
                    }
                }
            }
        }
    }
    // Cores come first from the islands of the piece's GPUs.
    let mut left = piece.cpu;
    for &at in used.iter().chain(&choice) {
        let taken = cells[CORES + at].min(left);
        cells[CORES + at] -= taken;
        left -= taken;
    }
    debug_assert_eq!(left, 0, "a piece that fits has its cores");
    if request.inside == Inside::Island { only.or(Some(0)) } else { None }
}

fn gpus_of(kind: &NodeType, island: usize) -> std::ops::Range<usize> {
    let each = (kind.gpu / kind.islands) as usize;
    let first = kind.gpus_from() + island * each;
    first..first + each
}

pub(super) fn cores(kind: &NodeType, part: &NodePart) -> u32 {
    let cores = CORES..kind.gpus_from();
    let own = part.cells.iter().filter(|(cell, _)| cores.contains(&(*cell as usize)));
    own.map(|(_, amount)| amount).sum()
}
