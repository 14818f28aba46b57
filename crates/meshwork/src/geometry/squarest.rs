//! Blocks that are as square as possible for a number of processors.

use std::cmp::Reverse;

use crate::job::Dims;
use crate::topology::Grid;

/// Sides of the default block for a number of nodes: a nearly square block that fits the grid.
///
/// Two blocks are compared, each with the least sum of sides: one of exactly `nodes` nodes, and one
/// of at least `nodes` nodes. The exact block is preferred. If it is over a quarter longer than the
/// other, from corner to opposite corner, the other block is taken. In two dimensions, this happens
/// if the exact block is more than about four times as long as wide.
pub(crate) fn block_for(nodes: u32, grid: &Grid) -> Option<Dims> {
    let padded = block_of(nodes, grid, false)?;
    let exact = block_of(nodes, grid, true);
    Some(exact.filter(|exact| !is_absurdly_long(exact, &padded)).unwrap_or(padded))
}

/// Whether `block` is over a quarter longer than `other`, in steps from corner to opposite corner.
fn is_absurdly_long(block: &[u32], other: &[u32]) -> bool {
    let steps = |sides: &[u32]| sides.iter().map(|&side| u64::from(side) - 1).sum::<u64>();
    4 * steps(block) > 5 * steps(other)
}

/// Sides of the block with the least sum of sides that has at least `nodes` nodes. If `exact` is
/// set, it has exactly `nodes` nodes. Ties go to the block with fewer nodes, then to long sides
/// along the long sides of the grid, then to long sides along the first dimensions.
pub(crate) fn block_of(nodes: u32, grid: &Grid, exact: bool) -> Option<Dims> {
    let is_cube = grid.sides().iter().all(|&side| side == 2);
    if is_cube && exact && !nodes.is_power_of_two() {
        return None;
    }
    if is_cube {
        let dimension = nodes.next_power_of_two().trailing_zeros() as usize;
        let side = |d| if d < dimension { 2 } else { 1 };
        return (dimension <= grid.dimensions())
            .then(|| (0..grid.dimensions()).map(side).collect());
    }
    let mut search = Search { nodes, grid, exact, best: None };
    search.extend(&mut Dims::new(), 1);
    search.best.map(|(_, sides)| sides)
}

/// Sides of blocks with exactly `nodes` nodes together, chosen greedily.
///
/// Each step chooses a block for the nodes that remain. It takes the default block of [`block_for`]
/// if that has exactly this number of nodes. Otherwise it takes the largest block within the
/// default block that has at most this number. If the grid has fewer than `nodes` nodes, there are
/// no blocks.
pub(crate) fn blocks_of(nodes: u32, grid: &Grid) -> Vec<Dims> {
    let (mut blocks, mut rest) = (Vec::new(), nodes);
    while rest > 0
        && let Some(around) = block_for(rest, grid)
    {
        let mut part = Part { most: &around, nodes: rest, best: (0, Dims::new()) };
        part.extend(&mut Dims::new(), 1);
        rest -= part.best.0;
        blocks.push(part.best.1);
    }
    blocks
}

/// Search for the largest block with sides up to `most` and at most `nodes` nodes.
struct Part<'a> {
    most: &'a [u32],
    nodes: u32,
    best: (u32, Dims),
}

impl Part<'_> {
    fn extend(&mut self, sides: &mut Dims, product: u32) {
        let d = sides.len();
        if d == self.most.len() {
            if product > self.best.0 {
                self.best = (product, sides.clone());
            }
            return;
        }
        let beyond: u32 = self.most[d + 1..].iter().product();
        for side in (1..=self.most[d].min(self.nodes / product)).rev() {
            if product * side * beyond <= self.best.0 {
                return;
            }
            sides.push(side);
            self.extend(sides, product * side);
            sides.pop();
        }
    }
}

struct Search<'a> {
    nodes: u32,
    grid: &'a Grid,
    exact: bool,
    best: Option<(Score, Dims)>,
}

/// Sort key of a block: sum of sides, number of nodes, fit to the grid's long sides, sides. The fit
/// is the sum, over all dimensions, of the block's side times the grid's side. A greater fit is
/// better, and so are longer first sides.
type Score = (u32, u64, Reverse<u64>, Reverse<Dims>);

impl Search<'_> {
    fn extend(&mut self, sides: &mut Dims, product: u64) {
        let d = sides.len();
        let most = self.grid.sides()[d];
        if d + 1 == self.grid.dimensions() {
            let last = u64::from(self.nodes).div_ceil(product);
            let whole = product * last == u64::from(self.nodes);
            if last <= u64::from(most) && (whole || !self.exact) {
                sides.push(last as u32);
                self.consider(sides);
                sides.pop();
            }
            return;
        }
        for side in 1..=most.min(self.nodes) {
            let sum = sides.iter().sum::<u32>() + side;
            if self.best.as_ref().is_some_and(|((least, ..), _)| sum > *least) {
                break;
            }
            let product = product * u64::from(side);
            if self.exact && !u64::from(self.nodes).is_multiple_of(product) {
                continue;
            }
            sides.push(side);
            self.extend(sides, product);
            sides.pop();
        }
    }

    fn consider(&mut self, sides: &Dims) {
        let along =
            sides.iter().zip(self.grid.sides()).map(|(&a, &b)| u64::from(a) * u64::from(b)).sum();
        let score = (
            sides.iter().sum(),
            sides.iter().map(|&side| u64::from(side)).product(),
            Reverse(along),
            Reverse(sides.clone()),
        );
        if self.best.as_ref().is_none_or(|(least, _)| score < *least) {
            self.best = Some((score, sides.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(sides: &[u32]) -> Grid {
        Grid::new(sides, false).unwrap()
    }

    #[test]
    fn a_block_is_as_square_as_its_count_allows() {
        // A block of 13 × 10 × 8 has a smaller sum of sides, but four such blocks do not fit the
        // grid.
        let torus = Grid::new(&[16, 16, 16], true).unwrap();
        assert_eq!(block_for(1024, &torus).unwrap().as_slice(), [16, 8, 8]);
        let mesh = grid(&[16, 8]);
        assert_eq!(block_for(14, &mesh).unwrap().as_slice(), [7, 2]);
        assert_eq!(block_for(7, &mesh).unwrap().as_slice(), [4, 2], "7 × 1 is absurdly long");
    }

    #[test]
    fn what_no_block_fills_is_given_in_parts() {
        let mesh = grid(&[16, 8]);
        assert_eq!(blocks_of(12, &mesh)[0].as_slice(), [4, 3]);
        let parts = blocks_of(7, &mesh);
        assert_eq!(
            parts.iter().map(|part| part.to_vec()).collect::<Vec<_>>(),
            [vec![3, 2], vec![1, 1]]
        );
    }
}
