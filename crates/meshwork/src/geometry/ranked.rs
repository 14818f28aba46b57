//! Placements made from lists or sets of nodes.

use crate::geometry::{Block, NodeSet, Placement};
use crate::job::Dims;
use crate::topology::{Grid, Node};

/// Placement on the nodes `nodes`, which are in the order of ranks. Consecutive nodes of a grid row
/// form one block.
pub(crate) fn in_order(grid: &Grid, nodes: impl IntoIterator<Item = Node>) -> Placement {
    let width = grid.sides()[0];
    let mut placement = Placement::default();
    let mut next = None;
    for node in nodes {
        match placement.blocks.last_mut() {
            Some(block) if next == Some(node) => block.sides[0] += 1,
            _ => {
                let sides = Dims::from_elem(1, grid.dimensions());
                placement.blocks.push(Block { base: node, sides });
            }
        }
        // A block does not continue into the next row of the grid.
        next = Some(node + 1).filter(|next| next % width != 0);
    }
    placement
}

/// The placement on the nodes of a set, in order of node numbers. Takes **O(n / 64 + b)** for *n*
/// nodes and *b* blocks of the result.
pub(crate) fn of_set(grid: &Grid, set: &NodeSet) -> Placement {
    let width = grid.sides()[0];
    let mut placement = Placement::default();
    let mut start = set.first();
    while let Some(first) = start {
        let end = first + set.run_length(first);
        let mut base = first;
        while base < end {
            // A block does not continue into the next row of the grid.
            let row_end = (base / width + 1) * width;
            let mut sides = Dims::from_elem(1, grid.dimensions());
            sides[0] = row_end.min(end) - base;
            placement.blocks.push(Block { base, sides });
            base = row_end.min(end);
        }
        start = if end < set.universe() { set.first_from(end) } else { None };
    }
    placement
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_nodes_keep_their_order_and_rows_end_blocks(
            sides in prop::collection::vec(1_u32..6, 1..4),
            wrapped in any::<bool>(),
            picks in prop::collection::vec((any::<u32>(), 1_u32..5), 0..8),
        ) {
            let grid = Grid::new(&sides, wrapped).unwrap();
            let all = grid.nodes();
            let run = |(start, count)| (0..count).map(move |i| (start % 100 + i) % all);
            let nodes: Vec<Node> = picks.into_iter().flat_map(run).collect();
            let mut set = NodeSet::empty(all);
            nodes.iter().for_each(|&node| set.insert(node));
            prop_assert_eq!(of_set(&grid, &set), in_order(&grid, set.iter()));
            let placement = in_order(&grid, nodes.iter().copied());
            prop_assert_eq!(placement.nodes(&grid), nodes.as_slice());
            for block in &placement.blocks {
                prop_assert!(grid.coordinate(block.base, 0) + block.sides[0] <= sides[0]);
            }
            let breaks = nodes.windows(2).filter(|p| p[1] != p[0] + 1 || p[1] % sides[0] == 0);
            prop_assert_eq!(placement.blocks.len(), nodes.len().min(1) + breaks.count());
        }
    }
}
