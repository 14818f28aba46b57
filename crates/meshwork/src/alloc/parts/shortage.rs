//! Explanation, in words, why pieces of a job do not fit now.

use super::ranked::fits;
use crate::job::{Inside, Pieces};
use crate::machine::Amounts;
use crate::topology::types::piece_in_words;

/// The reason why pieces of a job do not fit now, in words without a full stop.
///
/// Either too little of a resource is free in total, or enough is free but pieces cannot use it, as
/// in "enough in total, but 6 + 2 free GPUs are not 8 on one node". **O(n)** for *n* nodes.
#[must_use]
pub fn shortage(request: &Pieces, amounts: &Amounts) -> String {
    let types = amounts.types();
    for piece in &request.roles {
        let (mut room, mut nodes) = (0_u64, Vec::new());
        for node in (0..types.nodes()).map(|node| amounts.of(node)) {
            if !node.kind.suits(piece) {
                continue;
            }
            nodes.push([node.cores, node.mem(), node.gpus, node.other()].map(u64::from));
            room += u64::from(fits(&node, piece, request, true));
        }
        let whole = if piece.is_sharing() { 0 } else { piece.gpu };
        let asked = [piece.cpu, piece.mem, whole, piece.other].map(u64::from);
        let together = match request.inside {
            Inside::Node | Inside::Island => piece.count,
            _ => 1,
        };
        if let Some(short) = shortage_of(u64::from(piece.count), asked, together.into(), &nodes) {
            return short;
        }
        if room < u64::from(piece.count) {
            return format!(
                "enough in total, but {room} of its {} pieces with {} have a node with all of it",
                piece.count,
                piece_in_words(piece)
            );
        }
    }
    match request.inside.word() {
        Some(word) => format!("enough in total, but not in one {word}"),
        None if request.roles.len() == 1 => {
            "enough in total, but the allocator does not give nodes with enough together".to_owned()
        }
        None => "enough in total, but its roles do not fit together".to_owned(),
    }
}

/// The reason why `count` equal pieces do not fit on nodes, as far as free amounts tell.
///
/// `piece` and each of `nodes` have amounts of cores, memory, GPUs and the resource `other`:
/// requested by a piece, or free on a node. `together` is the number of pieces that must be on one
/// node. The result is `None` if enough is free in total, and enough GPUs are free on one node.
#[must_use]
pub fn shortage_of(
    count: u64,
    piece: [u64; 4],
    together: u64,
    nodes: &[[u64; 4]],
) -> Option<String> {
    const SHOWN: usize = 4;
    for (kind, unit) in ["cores", "MiB", "GPUs", "of `other`"].into_iter().enumerate() {
        let asked = piece[kind] * count;
        let free: u64 = nodes.iter().map(|own| own[kind]).sum();
        if asked > free {
            return Some(format!(
                "it asks for {asked} {unit}, and {free} are free where it may run"
            ));
        }
    }
    let mut gpus: Vec<u64> = nodes.iter().map(|own| own[2]).filter(|free| *free > 0).collect();
    gpus.sort_unstable_by_key(|&free| std::cmp::Reverse(free));
    let wanted = piece[2] * together;
    (wanted > gpus.first().copied().unwrap_or(0)).then(|| {
        let shown: Vec<String> = gpus.iter().take(SHOWN).map(u64::to_string).collect();
        let more = if gpus.len() > SHOWN { " + …" } else { "" };
        let shown = shown.join(" + ");
        format!("enough in total, but {shown}{more} free GPUs are not {wanted} on one node")
    })
}
