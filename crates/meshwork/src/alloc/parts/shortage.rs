//! Explanation, in words, why pieces of a job do not fit now.

use super::ranked::fits;
use crate::job::{Inside, Pieces};
use crate::machine::Amounts;
use crate::topology::types::piece_in_words;

/// The reason why pieces of a job do not fit now, in words without a full stop.
///
/// Either too little of a resource is free in total, or enough is free but not where pieces need
/// it: "enough in total, but 6 + 2 free GPUs are not 8 on one node". **O(n)** for *n* nodes.
#[must_use]
pub fn shortage(request: &Pieces, amounts: &Amounts) -> String {
    const SHOWN: usize = 4;
    let types = amounts.types();
    for piece in &request.roles {
        let mut free = [0_u64; 4];
        let (mut room, mut gpus) = (0_u64, Vec::new());
        for node in (0..types.nodes()).map(|node| amounts.of(node)) {
            if !node.kind.suits(piece) {
                continue;
            }
            for (sum, own) in free.iter_mut().zip([node.cores, node.mem(), node.gpus, node.other()])
            {
                *sum += u64::from(own);
            }
            room += u64::from(fits(&node, piece, request, true));
            gpus.push(node.gpus);
        }
        let whole = if piece.is_sharing() { 0 } else { piece.gpu };
        let asked = [piece.cpu, piece.mem, whole, piece.other];
        for (kind, (asked, free)) in asked.into_iter().zip(free).enumerate() {
            let asked = u64::from(asked) * u64::from(piece.count);
            if asked > free {
                let unit = ["cores", "MiB", "GPUs", "of `other`"][kind];
                return format!("it asks for {asked} {unit}, and {free} are free where it may run");
            }
        }
        let together = match request.inside {
            Inside::Node | Inside::Island => piece.count,
            _ => 1,
        };
        gpus.sort_unstable_by_key(|&free| std::cmp::Reverse(free));
        let most = gpus.first().copied().unwrap_or(0);
        if whole * together > most {
            let shown: Vec<String> =
                gpus.iter().take(SHOWN).filter(|&&free| free > 0).map(u32::to_string).collect();
            let more = gpus.get(SHOWN).is_some_and(|&free| free > 0);
            return format!(
                "enough in total, but {}{} free GPUs are not {} on one node",
                shown.join(" + "),
                if more { " + …" } else { "" },
                whole * together
            );
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
