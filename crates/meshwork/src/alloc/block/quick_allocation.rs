//! Quick allocation: first fit that skips, in each row, the segments covered by held blocks.

use super::held::{FirstBase, Held, Span};
use crate::alloc::AllocatorEntry;
use crate::form::{Asks, Finds};
use crate::geometry::orientation::Rotation;
use crate::registry::About;
use crate::topology::{Grid, Node, Wiring};

/// Registry entry of the allocator `quick_allocation`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "quick_allocation",
        "first fit by the segments of each row that held blocks cover, in two dimensions",
    )
    .aliases(&["qa"])
    .definition(
        "The answer is that of first fit: for the block as it was asked for and, if that does not \
         fit, for its other orientation. For each row, the segments of bases that held blocks rule \
         out are merged from left to right, and the first gap is the answer.",
    )
    .complexity(
        "O(r · h) for h held blocks and r rows looked at, and O(h log h) to order \
             the blocks by their left edges.",
    )
    .source(
        "Yoo, Youn & Shirazi, An efficient task allocation scheme for 2D mesh \
             architectures, TPDS 8(9), 1997",
    )
    .params(&[Rotation::TURNING]),
    |params, _| {
        Ok(FirstBase::boxed(Rotation::read(params), |grid, held, sides| {
            first_gap(grid, held, sides, |_| ())
        }))
    },
)
.serves(&[Wiring::Mesh])
.dimensions(Some(&[2]))
.asks(Asks::Block)
.finds(Finds::EveryBlock)
.contiguous(true);

/// First free base (lowest corner) for a block, in row-major order.
///
/// In each row, the segments of bases that held blocks cover are skipped. If a row has no gap, the
/// search continues in the row behind the obstructing block that ends first. `looked_at` is called
/// with each row that is examined.
fn first_gap(
    grid: &Grid,
    held: &[Held],
    sides: &[u32],
    mut looked_at: impl FnMut(u32),
) -> Option<Node> {
    let (width, height) = (grid.sides()[0], grid.sides()[1]);
    let mut by_left_edge: Vec<&Span> = held.iter().map(|held| &held.span).collect();
    by_left_edge.sort_by_key(|span| span.low[0]);
    let mut y = 0;
    while sides[0] <= width && y + sides[1] <= height {
        looked_at(y);
        let (mut x, mut next_row) = (0, height);
        for span in &by_left_edge {
            if span.low[1] >= y + sides[1] || y >= span.high[1] {
                continue;
            }
            // The covered segment starts `sides[0] - 1` positions to the left of the held block.
            if span.low[0] >= x + sides[0] {
                break;
            }
            x = x.max(span.high[0]);
            next_row = next_row.min(span.high[1]);
        }
        if x + sides[0] <= width {
            return Some(grid.node(&[x, y]));
        }
        y = next_row;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::held::HeldBlocks;
    use super::*;
    use crate::job::{Dims, Time};
    use crate::machine::Block;

    #[test]
    fn a_row_without_room_is_left_for_the_first_end_of_what_covers_it() {
        let grid = Grid::new(&[6, 5], false).unwrap();
        let mut held = HeldBlocks::default();
        for corner in [[3, 1], [0, 0]] {
            let block = Block { base: grid.node(&corner), sides: Dims::from_slice(&[2, 2]) };
            held.claimed(&block.into(), &grid, Time::ZERO);
        }
        let mut rows = Vec::new();
        let found = first_gap(&grid, &held.list, &[2, 2], |y| rows.push(y));
        assert_eq!(found, Some(grid.node(&[0, 2])));
        assert_eq!(rows, [0, 2]);
    }
}
