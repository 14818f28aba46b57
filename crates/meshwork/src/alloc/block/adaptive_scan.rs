//! Adaptive scan: a first fit whose scan jumps over held blocks.

use super::held::{FirstBase, Held};
use crate::alloc::AllocatorEntry;
use crate::form::{Asks, Finds};
use crate::geometry::orientation::Rotation;
use crate::registry::About;
use crate::topology::{Grid, Node, Wiring};

/// Registry entry of the allocator `adaptive_scan`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "adaptive_scan",
        "first fit by a scan that jumps over held blocks, in two dimensions",
    )
    .aliases(&["as"])
    .definition(
        "The answer is that of first fit: for the block as it was asked for and, if that does not \
         fit, for its other orientation. It is found by a scan that goes through the mesh row by \
         row and jumps to the right edge of the first held block that is in the way.",
    )
    .complexity(
        "O(p · h) for h held blocks and p positions tried, which grow with h and \
             not with the size of the mesh.",
    )
    .source(
        "Ding & Bhuyan, An adaptive submesh allocation strategy for \
             two-dimensional mesh connected systems, ICPP 1993",
    )
    .params(&[Rotation::TURNING]),
    |params, _| {
        Ok(FirstBase::boxed(Rotation::read(params), |grid, held, sides| {
            scan(grid, held, sides, |_, _| ())
        }))
    },
)
.serves(&[Wiring::Mesh])
.dimensions(Some(&[2]))
.asks(Asks::Block)
.finds(Finds::EveryBlock)
.contiguous(true);

/// First free base (lowest corner) for a block, found by a scan of the bases row by row.
///
/// If held blocks cover a position, the scan jumps to the position behind them. If a row has no
/// free position, the scan jumps to the row behind the obstructing block that ends first. `tried`
/// is called with each position that is examined.
fn scan(
    grid: &Grid,
    held: &[Held],
    sides: &[u32],
    mut tried: impl FnMut(u32, u32),
) -> Option<Node> {
    let (width, height) = (grid.sides()[0], grid.sides()[1]);
    let mut y = 0;
    while y + sides[1] <= height {
        let in_row = || {
            held.iter().map(|held| &held.span).filter(|s| s.low[1] < y + sides[1] && y < s.high[1])
        };
        let mut x = 0;
        while x + sides[0] <= width {
            tried(x, y);
            let covering = in_row().filter(|s| s.low[0] < x + sides[0] && x < s.high[0]);
            let Some(end) = covering.map(|s| s.high[0]).max() else {
                return Some(grid.node(&[x, y]));
            };
            x = end;
        }
        y = in_row().map(|s| s.high[1]).min().unwrap_or(y + 1);
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
    fn three_positions_where_first_fit_tests_eleven() {
        let grid = Grid::new(&[6, 5], false).unwrap();
        let mut held = HeldBlocks::default();
        for corner in [[0, 0], [3, 1]] {
            let block = Block { base: grid.node(&corner), sides: Dims::from_slice(&[2, 2]) };
            held.claimed(&block.into(), &grid, Time::ZERO);
        }
        let mut tried = Vec::new();
        let found = scan(&grid, &held.list, &[2, 2], |x, y| tried.push([x, y]));
        assert_eq!(found, Some(grid.node(&[0, 2])));
        assert_eq!(tried, [[0, 0], [2, 0], [0, 2]]);
    }
}
