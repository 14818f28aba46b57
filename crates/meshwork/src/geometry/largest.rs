//! Search for the largest free block whose sides do not exceed given maxima.

use super::FreeBases;
use crate::geometry::NodeSet;
use crate::job::Dims;
use crate::topology::{Grid, Node};

/// Search for the largest free block with bounded sides and a bounded number of nodes.
///
/// Sides are chosen for one dimension after the other, from the last to the first. A longer side
/// leaves fewer bases. A branch is cut if no base is left or no larger block is possible. **O(n /
/// 64)** for each tried choice of sides, on *n* nodes.
#[derive(Clone)]
pub(crate) struct LargestBlock {
    bases: FreeBases,
    /// `layers[d][s - 1]`: bases of free blocks with side *s* along dimension *d*. Along higher
    /// dimensions, these blocks have the sides chosen so far, and along lower ones side 1.
    layers: Vec<Vec<NodeSet>>,
    most: Dims,
    nodes: u32,
    sides: Dims,
    best: Option<(Size, Node, Dims)>,
}

type Size = u32;

impl LargestBlock {
    pub(crate) fn new(grid: &Grid) -> LargestBlock {
        LargestBlock {
            bases: FreeBases::new(grid),
            layers: vec![Vec::new(); grid.dimensions()],
            most: Dims::new(),
            nodes: 0,
            sides: Dims::from_elem(1, grid.dimensions()),
            best: None,
        }
    }

    /// Base and sides of the largest free block with sides up to `most` and at most `nodes` nodes.
    /// Ties go to the lowest base, then to the longest sides along the first dimensions.
    pub(crate) fn find(
        &mut self,
        grid: &Grid,
        free: &NodeSet,
        most: &[u32],
        nodes: u32,
    ) -> Option<(Node, Dims)> {
        (self.most, self.nodes, self.best) = (Dims::from_slice(most), nodes, None);
        self.extend(grid, grid.dimensions() - 1, free, 1);
        self.best.take().map(|(_, base, sides)| (base, sides))
    }

    /// Tries all sides of a free block along dimension `d` and lower dimensions.
    ///
    /// `bases` has the lowest corners of the free blocks with the sides chosen so far, and `fixed`
    /// the product of these sides.
    fn extend(&mut self, grid: &Grid, d: usize, bases: &NodeSet, fixed: u32) {
        let longest = self.most[d].min(self.nodes / fixed);
        let mut layers = std::mem::take(&mut self.layers[d]);
        let mut side = 0;
        while side < longest {
            if layers.len() == side as usize {
                layers.push(NodeSet::empty(grid.nodes()));
            }
            let (shorter, layer) = layers.split_at_mut(side as usize);
            let layer = &mut layer[0];
            if let Some(shorter) = shorter.last() {
                self.bases.assign_ahead(grid, bases, d, side, layer);
                layer.intersect(shorter);
            } else {
                layer.copy_from(bases);
            }
            if layer.is_empty() {
                break;
            }
            side += 1;
        }
        let below: u32 = self.most[..d].iter().product();
        for side in (1..=side).rev() {
            if self.best.as_ref().is_some_and(|(size, ..)| fixed * side * below < *size) {
                break;
            }
            self.sides[d] = side;
            let layer = &layers[side as usize - 1];
            if d > 0 {
                self.extend(grid, d - 1, layer, fixed * side);
            } else if let Some(base) = layer.first() {
                self.consider(fixed * side, base);
                break;
            }
        }
        self.layers[d] = layers;
    }

    fn consider(&mut self, size: Size, base: Node) {
        let is_better = self.best.as_ref().is_none_or(|(most, lowest, sides)| {
            (size, *lowest, &self.sides) > (*most, base, sides)
        });
        if is_better {
            self.best = Some((size, base, self.sides.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::geometry::{Block, Placement};

    proptest! {
        #[test]
        fn no_free_block_inside_the_bounds_is_larger(
            sides in prop::collection::vec(1_u32..6, 1..4),
            wrapped in any::<bool>(),
            most in prop::collection::vec(1_u32..6, 3),
            nodes in 1_u32..40,
            words in prop::collection::vec(any::<u64>(), 2),
            denser in prop::collection::vec(any::<u64>(), 2),
        ) {
            let grid = Grid::new(&sides, wrapped).unwrap();
            let mut free = NodeSet::empty(grid.nodes());
            for node in 0..grid.nodes() {
                let bit = |w: &[u64]| w[node as usize / 64] >> (node % 64) & 1 == 1;
                if bit(&words) || bit(&denser) {
                    free.insert(node);
                }
            }
            let most: Dims = most.iter().zip(&sides).map(|(most, side)| *most.min(side)).collect();
            let mut best: Option<(u32, Node, Dims)> = None;
            for base in 0..grid.nodes() {
                for mut shape in 0..most.iter().product::<u32>() {
                    let side = |&most: &u32| {
                        let side = shape % most + 1;
                        shape /= most;
                        side
                    };
                    let block = Block { base, sides: most.iter().map(side).collect() };
                    if block.len() > nodes || !grid.holds(base, &block.sides) {
                        continue;
                    }
                    let placed = Placement::from(block.clone());
                    let is_better = best.as_ref().is_none_or(|(size, at, sides)| {
                        block.len() > *size
                            || block.len() == *size && *at == base && block.sides > *sides
                    });
                    if is_better && placed.is_within(&free, &grid) {
                        best = Some((block.len(), base, block.sides));
                    }
                }
            }
            let mut search = LargestBlock::new(&grid);
            // An earlier search must not influence the next one.
            search.find(&grid, &NodeSet::full(grid.nodes()), grid.sides(), grid.nodes());
            let found = search.find(&grid, &free, &most, nodes);
            prop_assert_eq!(found, best.map(|(_, base, sides)| (base, sides)));
        }
    }
}
