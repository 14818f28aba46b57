//! Lists of free cells, for allocation by the multi-dimensional buddy system.

use std::collections::BTreeSet;

use crate::job::Dims;
use crate::topology::{Grid, Node};

/// The free nodes of a grid, as lists of the largest free cells.
///
/// A cell of level *l* is a cube of side 2ˡ whose corner has multiples of 2ˡ as coordinates. In *d*
/// dimensions it splits into 2ᵈ cells of the next lower level, which are called buddies. Buddies
/// are merged when all of them are free. With *c* cells in a list, **O(l · 2ᵈ · log c)** to take or
/// release a cell.
#[derive(Clone)]
pub(crate) struct FreeCells {
    grid: Grid,
    /// For each level, the corners of the free cells that are not part of a larger free cell.
    free: Vec<BTreeSet<Node>>,
}

impl FreeCells {
    pub(crate) fn new(grid: &Grid) -> FreeCells {
        let levels = grid.sides().iter().map(|side| side.next_power_of_two().trailing_zeros());
        let levels = levels.max().unwrap_or(0) as usize + 1;
        let mut cells = FreeCells { grid: grid.clone(), free: vec![BTreeSet::new(); levels] };
        cells.give_block(0, grid.sides());
        cells
    }

    /// Corner of the first free cell of level `level`. If there is none, the next higher levels are
    /// searched, the lowest first.
    pub(crate) fn smallest_from(&self, level: usize) -> Option<Node> {
        self.free.get(level..)?.iter().find_map(|cells| cells.first().copied())
    }

    /// Marks the nodes of a free block as held; the block must not reach around an edge.
    pub(crate) fn take_block(&mut self, base: Node, sides: &[u32]) {
        self.for_each_cell(base, sides, FreeCells::take);
    }

    pub(crate) fn give_block(&mut self, base: Node, sides: &[u32]) {
        self.for_each_cell(base, sides, FreeCells::give);
    }

    /// Takes the cell of level `wanted` at `corner`. If it is part of a larger free cell, that cell
    /// is split.
    pub(crate) fn take(&mut self, wanted: usize, corner: Node) {
        let holding = |level: usize| self.cell_around(level, corner);
        let mut level = (wanted..self.free.len())
            .find(|&level| self.free[level].contains(&holding(level)))
            .expect("what is claimed was free");
        let whole = holding(level);
        self.free[level].remove(&whole);
        while level > wanted {
            let parent = self.cell_around(level, corner);
            level -= 1;
            let kept = self.cell_around(level, corner);
            for buddy in self.parts(level, parent) {
                if buddy != kept {
                    self.free[level].insert(buddy);
                }
            }
        }
    }

    /// Releases a cell, and merges it with its buddies as long as all of them are free.
    pub(crate) fn give(&mut self, mut level: usize, mut corner: Node) {
        self.free[level].insert(corner);
        while level + 1 < self.free.len() {
            let parent = self.cell_around(level + 1, corner);
            if !self.grid.holds(parent, &Dims::from_elem(2 << level, self.grid.dimensions())) {
                return;
            }
            let buddies = self.parts(level, parent);
            if !buddies.iter().all(|buddy| self.free[level].contains(buddy)) {
                return;
            }
            for buddy in &buddies {
                self.free[level].remove(buddy);
            }
            level += 1;
            corner = parent;
            self.free[level].insert(corner);
        }
    }

    /// Corner of the cell of level `level` that contains `node`. The cell may extend beyond the
    /// grid.
    fn cell_around(&self, level: usize, node: Node) -> Node {
        let within = (1_u32 << level) - 1;
        let offset = |d| (self.grid.coordinate(node, d) & within) * self.grid.strides()[d];
        node - (0..self.grid.dimensions()).map(offset).sum::<Node>()
    }

    /// Corners of the cells of level `level` that make up the cell of the next level at `parent`.
    fn parts(&self, level: usize, parent: Node) -> Vec<Node> {
        let mut corners = vec![parent];
        for stride in self.grid.strides() {
            let upper: Vec<Node> =
                corners.iter().map(|corner| corner + (stride << level)).collect();
            corners.extend(upper);
        }
        corners
    }

    /// Divides a block into the largest possible cells, and calls `visit` for each cell.
    fn for_each_cell(
        &mut self,
        base: Node,
        sides: &[u32],
        visit: impl Fn(&mut FreeCells, usize, Node),
    ) {
        let low = self.grid.coordinates(base);
        let high: Dims = low.iter().zip(sides).map(|(low, side)| low + side).collect();
        let mut rest = vec![(self.free.len() - 1, Dims::from_elem(0, low.len()))];
        while let Some((level, at)) = rest.pop() {
            let side = 1 << level;
            if (0..low.len()).all(|d| low[d] <= at[d] && at[d] + side <= high[d]) {
                let corner = self.grid.node(&at);
                visit(self, level, corner);
                continue;
            }
            // The cell is halved along each dimension, and only parts that the block reaches are
            // kept. A cell of one node is never halved: if the block reaches the cell, the cell is
            // inside the block.
            let half = side / 2;
            let mut parts = vec![at];
            for d in 0..low.len() {
                let upper: Vec<Dims> = parts
                    .iter()
                    .filter(|at| at[d] + half < high[d])
                    .map(|at| {
                        let mut upper = at.clone();
                        upper[d] += half;
                        upper
                    })
                    .collect();
                parts.retain(|at| low[d] < at[d] + half);
                parts.extend(upper);
            }
            rest.extend(parts.into_iter().map(|at| (level - 1, at)));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Divides a rectangle into squares as in the literature. The largest square lies at the
    /// corner. The strip to its right and the strip above it are then divided in turn.
    fn squares_of(grid: &Grid, [x, y, w, h]: [u32; 4], free: &mut [BTreeSet<Node>]) {
        if w == 0 || h == 0 {
            return;
        }
        let level = w.min(h).ilog2();
        let side = 1 << level;
        free[level as usize].insert(grid.node(&[x, y]));
        squares_of(grid, [x + side, y, w - side, h], free);
        squares_of(grid, [x, y + side, side, h - side], free);
    }

    proptest! {
        #[test]
        fn a_mesh_begins_as_the_squares_that_are_cut_off_it(w in 1_u32..40, h in 1_u32..40) {
            let grid = Grid::new(&[w, h], false).unwrap();
            let cells = FreeCells::new(&grid);
            let mut free = vec![BTreeSet::new(); cells.free.len()];
            squares_of(&grid, [0, 0, w, h], &mut free);
            prop_assert_eq!(cells.free, free);
        }

        #[test]
        fn the_lists_hold_the_largest_free_cells(
            sides in prop::collection::vec(1_u32..7, 1..4),
            changes in prop::collection::vec((any::<u32>(), prop::collection::vec(1_u32..5, 3)), 1..30),
        ) {
            let grid = Grid::new(&sides, false).unwrap();
            let mut cells = FreeCells::new(&grid);
            let mut free: BTreeSet<Node> = (0..grid.nodes()).collect();
            let mut held: Vec<(Node, Dims)> = Vec::new();
            for (pick, wanted) in changes {
                let base = pick % grid.nodes();
                let wanted = Dims::from_slice(&wanted[..sides.len()]);
                let nodes = |base, sides: &Dims| {
                    let block = crate::machine::Block { base, sides: sides.clone() };
                    crate::machine::Placement::from(block).nodes(&grid)
                };
                if grid.holds(base, &wanted) && nodes(base, &wanted).iter().all(|n| free.contains(n)) {
                    cells.take_block(base, &wanted);
                    nodes(base, &wanted).iter().for_each(|node| { free.remove(node); });
                    held.push((base, wanted));
                } else if !held.is_empty() {
                    let (base, sides) = held.swap_remove(pick as usize % held.len());
                    cells.give_block(base, &sides);
                    free.extend(nodes(base, &sides));
                }
                let mut covered = BTreeSet::new();
                for level in (0..cells.free.len()).rev() {
                    let cube = Dims::from_elem(1 << level, sides.len());
                    let is_cell = |&corner: &Node| {
                        (0..sides.len()).all(|d| grid.coordinate(corner, d).is_multiple_of(1 << level))
                            && grid.holds(corner, &cube)
                            && nodes(corner, &cube).iter().all(|node| free.contains(node))
                            && !covered.contains(&corner)
                    };
                    let expected: BTreeSet<Node> = (0..grid.nodes()).filter(is_cell).collect();
                    expected.iter().for_each(|&corner| covered.extend(nodes(corner, &cube)));
                    prop_assert_eq!(&cells.free[level], &expected);
                }
            }
        }
    }
}
