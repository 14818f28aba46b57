//! A grid with its dimensions in reverse order, so that the last dimension runs fastest.

use crate::geometry::{Block, NodeSet};
use crate::job::Dims;
use crate::topology::{Grid, Node};

#[derive(Clone, Debug)]
pub(crate) struct Reversed {
    grid: Grid,
    /// For each node of the original grid, its number in the reversed grid.
    there: Vec<Node>,
    set: NodeSet,
}

impl Reversed {
    pub(crate) fn new(grid: &Grid) -> Reversed {
        let sides = reversed(grid.sides());
        let rings: Vec<bool> = grid.rings().iter().rev().copied().collect();
        let other = Grid::with_rings(&sides, &rings).expect("it has as many nodes");
        let there = (0..grid.nodes()).map(|node| other.node(&reversed(&grid.coordinates(node))));
        Reversed { there: there.collect(), set: NodeSet::empty(grid.nodes()), grid: other }
    }

    pub(crate) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Converts a set of nodes of the original grid to the set of the same nodes of the reversed
    /// grid.
    pub(crate) fn set(&mut self, nodes: &NodeSet) -> &NodeSet {
        self.set.clear();
        nodes.iter().for_each(|node| self.set.insert(self.there[node as usize]));
        &self.set
    }

    /// Converts a block of the reversed grid to the block of the same nodes of the original grid.
    pub(crate) fn back(&self, block: &Block, here: &Grid) -> Block {
        let corner = self.grid.coordinates(block.base);
        Block { base: here.node(&reversed(&corner)), sides: reversed(&block.sides) }
    }
}

pub(crate) fn reversed(sides: &[u32]) -> Dims {
    sides.iter().rev().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_here() {
        let grid = Grid::new(&[4, 3, 2], true).unwrap();
        let mut reversed = Reversed::new(&grid);
        assert_eq!(reversed.grid().sides(), [2, 3, 4]);
        for node in 0..grid.nodes() {
            let mut one = NodeSet::empty(grid.nodes());
            one.insert(node);
            let there = reversed.set(&one).first().unwrap();
            let at = grid.coordinates(node);
            assert_eq!(reversed.grid().coordinates(there).as_slice(), [at[2], at[1], at[0]]);
            let block = Block { base: there, sides: Dims::from_slice(&[1, 2, 3]) };
            let back = Block { base: node, sides: Dims::from_slice(&[3, 2, 1]) };
            assert_eq!(reversed.back(&block, &grid), back);
        }
    }
}
