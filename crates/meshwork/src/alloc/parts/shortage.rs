//! Explanation, in words, why the pieces of a job do not fit now.

use super::ranked::fits;
use crate::job::{Inside, Pieces};
use crate::machine::Amounts;
use crate::topology::types::piece_in_words;

/// Reason why the pieces of a job do not fit now, in words without a full stop.
///
/// Either too little of a resource is free in total, or the free amounts do not lie where pieces
/// can use them. An example of the second kind is "enough in total, but 6 + 2 free GPUs are not 8
/// on one node".
///
/// **O(n)** for *n* nodes.
#[must_use]
pub fn shortage(request: &Pieces, amounts: &Amounts) -> String {
    let types = amounts.types();
    for piece in &request.roles {
        let (count, mut room, mut nodes) = (u64::from(piece.count), 0_u64, Vec::new());
        for node in (0..types.nodes()).map(|node| amounts.of(node)) {
            if !node.kind.suits(piece) {
                continue;
            }
            nodes.push([node.cores, node.mem(), node.gpus, node.other()].map(u64::from));
            room += u64::from(fits(&node, piece, request, true));
        }
        let is_alone = piece.per_node == Some(1);
        if request.exclusive && is_alone && room < count {
            return too_few_nodes(count, room);
        }
        let whole = if piece.is_sharing() { 0 } else { piece.gpu };
        let asked = [piece.cpu, piece.mem, whole, piece.other].map(u64::from);
        let together = match request.inside {
            Inside::Node | Inside::Island => piece.count,
            _ => 1,
        };
        if let Some(short) = shortage_of(count, asked, together.into(), &nodes) {
            return short;
        }
        if room < count {
            return too_few_rooms(count, &piece_in_words(piece), is_alone, room);
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

/// Reason why a job that needs `count` whole nodes does not start when `free` nodes are free.
#[must_use]
pub fn too_few_nodes(count: u64, free: u64) -> String {
    let (nodes, need) = if count == 1 { ("node", "is") } else { ("nodes", "are") };
    let free = match free {
        0 => "none is".to_owned(),
        1 => "1 is".to_owned(),
        _ => format!("{free} are"),
    };
    format!("{count} free {nodes} {need} needed, and {free} free")
}

/// Reason why `count` pieces do not fit although enough of each resource is free in total.
///
/// `piece` describes a piece in words, and `room` is the number of pieces that fit. `is_alone`
/// tells whether each piece needs a node for itself.
#[must_use]
pub fn too_few_rooms(count: u64, piece: &str, is_alone: bool, room: u64) -> String {
    let has = match room {
        0 => "none has them".to_owned(),
        1 => "only 1 has them".to_owned(),
        _ => format!("only {room} have them"),
    };
    match (count, is_alone) {
        (1, _) => format!("enough in total, but no node has {piece} free"),
        (_, true) => format!("{count} nodes with {piece} free are needed, and {has}"),
        _ => format!(
            "enough in total, but the nodes have room for only {room} of its {count} pieces with {piece}"
        ),
    }
}

/// Reason why `count` equal pieces do not fit on nodes, as far as it follows from the free amounts.
///
/// `piece` has the amounts that each piece needs, and `nodes` the free amounts of each node: cores,
/// memory, GPUs, and the resource `other`. `together` is the number of pieces that must be on one
/// node. `None` if enough of each resource is free in total, and enough GPUs are free on one node.
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
            let are = if free == 1 { "is" } else { "are" };
            return Some(format!(
                "it asks for {asked} {unit}, and {free} {are} free where it may run"
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
