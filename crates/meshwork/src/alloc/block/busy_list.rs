//! Busy list: tries bases only at the low edge and directly behind held blocks along dimension 0.
//!
//! The first free base (lowest corner) is taken.

use super::held::{FirstBase, Held, Span};
use crate::alloc::AllocatorEntry;
use crate::form::{Asks, Finds};
use crate::geometry::orientation::Rotation;
use crate::job::Dims;
use crate::registry::About;
use crate::topology::{Grid, Node, Wiring};

/// Registry entry of the allocator `busy_list`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "busy_list",
        "the first base on the planes to the right of held blocks, which is not turned",
    )
    .aliases(&["bl"])
    .definition(
        "A free block can be slid down along dimension 0 until it meets an edge or a held block. \
         So its base is looked for on few planes: at the edge, and right behind each held block. \
         Planes come by their coordinate, the edge first, then in the order in which their blocks \
         were claimed; on a plane the lowest base is taken. Blocks are not turned.",
    )
    .complexity("O(h²) for h held blocks, times the pieces into which a plane is cut.")
    .source(
        "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, PGNET 2006; after Chiu & Chen, TPDS 1999",
    ),
    |_, _| Ok(FirstBase::boxed(Rotation::Never, first_on_planes)),
)
.serves(&[Wiring::Mesh])
.asks(Asks::Block)
.finds(Finds::EveryBlock)
.contiguous(true);

pub(super) fn first_on_planes(grid: &Grid, held: &[Held], sides: &[u32]) -> Option<Node> {
    let fits = sides.iter().zip(grid.sides()).all(|(side, most)| side <= most);
    if !fits {
        return None;
    }
    // `whole`: bases of blocks on the mesh; `prohibited`: bases that a held block rules out.
    let bases: Dims = sides.iter().zip(grid.sides()).map(|(side, most)| most - side + 1).collect();
    let whole = Span { low: Dims::from_elem(0, sides.len()), high: bases.clone() };
    let prohibited = |Held { span: Span { low, high }, .. }: &Held| Span {
        low: low.iter().zip(sides).map(|(at, side)| at.saturating_sub(side - 1)).collect(),
        high: high.iter().zip(&bases).map(|(end, bases)| *end.min(bases)).collect(),
    };
    let prohibited: Vec<Span> = held.iter().map(prohibited).collect();
    let mut planes: Vec<(u32, u64, Span)> = vec![(0, 0, at_coordinate(&whole, 0))];
    for (held, prohibited) in held.iter().zip(&prohibited) {
        let behind = held.span.high[0];
        if behind < bases[0] {
            planes.push((behind, held.number, at_coordinate(prohibited, behind)));
        }
    }
    planes.sort_by_key(|&(at, number, _)| (at, number));
    let mut next = Vec::new();
    planes.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).find_map(|plane| {
        let mut left: Vec<Span> = plane.iter().map(|(.., piece)| piece.clone()).collect();
        let at = plane[0].0;
        let crosses = |span: &&Span| span.low[0] <= at && at < span.high[0];
        for prohibited in prohibited.iter().filter(crosses) {
            left.drain(..).for_each(|piece| piece.less(prohibited, &mut next));
            std::mem::swap(&mut left, &mut next);
        }
        left.iter().filter(|piece| !is_empty(piece)).map(|piece| grid.node(&piece.low)).min()
    })
}

fn at_coordinate(span: &Span, at: u32) -> Span {
    let mut plane = span.clone();
    plane.low[0] = at;
    plane.high[0] = at + 1;
    plane
}

fn is_empty(span: &Span) -> bool {
    span.low.iter().zip(&span.high).any(|(low, high)| low >= high)
}
