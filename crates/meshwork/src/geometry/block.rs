//! Blocks of nodes, and placements: the blocks that one job holds, in order of the job's ranks.

use std::fmt::Write as _;

use smallvec::{SmallVec, smallvec};

use crate::geometry::cube::Subcube;
use crate::geometry::{NodeSet, Parts};
use crate::job::{Dims, sides_text};
use crate::topology::{Grid, Node};

/// A block of nodes: its base (the lowest corner) and its side along each dimension of the grid.
///
/// On a wrapped grid a block may reach around an edge. A subcube of a hypercube has side 2 along
/// the dimensions along which it extends, and side 1 along the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Block {
    /// The lowest corner of the block, from which it extends upwards along each dimension.
    pub base: Node,
    /// Length of the block along each dimension of the grid.
    pub sides: Dims,
}

impl Block {
    /// Number of nodes of the block: the product of the sides.
    #[must_use]
    #[inline]
    pub fn len(&self) -> u32 {
        match (self.sides.as_aligned(), &self.sides[..]) {
            (Some(dimension), _) => 1 << dimension,
            (None, [width]) => *width, // a row of nodes, such as a flat machine
            (None, sides) => sides.iter().product(),
        }
    }

    /// Whether the block has no nodes, because one of its sides is 0. No allocated block is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether two blocks on `grid` share a node. **O(d)** in *d* dimensions.
    #[must_use]
    pub fn meets(&self, other: &Block, grid: &Grid) -> bool {
        (0..self.sides.len()).all(|d| {
            let (mine, theirs) = (grid.coordinate(self.base, d), grid.coordinate(other.base, d));
            // Distance from the corner of this block up to the corner of the other block, if
            // necessary around the edge.
            let side = grid.sides()[d];
            let ahead = if theirs >= mine { theirs - mine } else { theirs + side - mine };
            ahead < self.sides[d] || side - ahead < other.sides[d]
        })
    }

    /// Visits the block as runs of consecutive nodes `(start, count)`, in order of ranks.
    ///
    /// Coordinates along dimension 0 change fastest. Rows that cover a full side of the grid are
    /// joined to one run. A row that reaches around an edge gives two runs.
    pub fn for_each_run(&self, grid: &Grid, mut visit: impl FnMut(Node, u32)) {
        self.all_runs(grid, |start, count| {
            visit(start, count);
            true
        });
    }

    /// Whether `holds(start, count)` is true for all runs of consecutive nodes of the block. Runs
    /// are tried in order of ranks.
    pub(crate) fn all_runs(&self, grid: &Grid, mut holds: impl FnMut(Node, u32) -> bool) -> bool {
        let (sides, strides) = (grid.sides(), grid.strides());
        if let ([side], [width]) = (sides, &self.sides[..]) {
            // On a row of nodes, such as a flat machine, a block is one run, or two runs if it
            // reaches around the edge.
            let before_the_edge = (*width).min(side - self.base);
            return holds(self.base, before_the_edge)
                && (before_the_edge == *width || holds(0, width - before_the_edge));
        }
        let is_covered =
            |&d: &usize| self.sides[d] == sides[d] && grid.coordinate(self.base, d) == 0;
        let row = (0..sides.len()).take_while(is_covered).count();
        if row == sides.len() {
            return holds(0, grid.nodes());
        }
        let x = grid.coordinate(self.base, row);
        let (stride, width) = (strides[row], self.sides[row]);
        let before_the_edge = width.min(sides[row] - x);
        if before_the_edge == width && self.sides[row + 1..].iter().all(|&side| side == 1) {
            // The block is one run, such as an aligned subcube: no further coordinate is needed.
            return holds(self.base, width * stride);
        }
        let mut holds_of_row = |start: Node| {
            holds(start + x * stride, before_the_edge * stride)
                && (before_the_edge == width || holds(start, (width - before_the_edge) * stride))
        };
        // The walk goes over dimensions above the dimension of the rows. Only dimensions along
        // which the block is wider than 1 add rows.
        let mut start: Node = 0;
        let mut above: SmallVec<[Ring; 4]> = SmallVec::new();
        for d in row + 1..sides.len() {
            let corner = grid.coordinate(self.base, d);
            start += corner * strides[d];
            if self.sides[d] > 1 {
                above.push(Ring {
                    stride: strides[d],
                    round: sides[d] * strides[d],
                    first: corner * strides[d],
                    here: corner * strides[d],
                    width: self.sides[d],
                    left: self.sides[d],
                });
            }
        }
        while holds_of_row(start) {
            if !above.iter_mut().any(|ring| ring.step(&mut start)) {
                return true;
            }
        }
        false
    }
}

/// State of a walk along one dimension of a block.
///
/// A position on the way is an offset in node numbers: the coordinate along this dimension times
/// `stride`.
struct Ring {
    stride: u32,
    /// Offset just past the far edge of the grid. A walk that would reach it continues at offset 0.
    round: u32,
    first: u32,
    here: u32,
    width: u32,
    /// Number of rows until the walk returns to the first row, including the current row.
    left: u32,
}

impl Ring {
    /// Moves `start` on by one row. After the last row, goes back to the first and returns `false`.
    #[inline]
    fn step(&mut self, start: &mut Node) -> bool {
        let is_last = self.left == 1;
        let next = if is_last {
            self.left = self.width;
            self.first
        } else {
            self.left -= 1;
            let next = self.here + self.stride;
            if next == self.round { 0 } else { next }
        };
        *start = *start - self.here + next;
        self.here = next;
        !is_last
    }
}

/// The nodes that one job holds: blocks of nodes, in order of the job's ranks.
///
/// Ranks number the processors of a job from 0. Rank 0 runs on the first node of the first block.
/// Inside a block, ranks run along dimension 0 first. A contiguous placement has one block.
///
/// ```
/// use meshwork::machine::{Block, Placement};
/// use meshwork::topology::Grid;
/// let grid = Grid::new(&[4, 3], false).unwrap();
/// let placed = Placement::from(Block { base: 5, sides: [2, 2].as_slice().into() });
/// assert_eq!(placed.nodes(&grid), [5, 6, 9, 10]);
/// assert_eq!(placed.text(&grid), "1,1:2x2");
/// ```
#[derive(Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Placement {
    /// Disjoint blocks in order of ranks: the first block holds the lowest ranks.
    pub blocks: SmallVec<[Block; 1]>,
    /// Parts of shared nodes that the job holds; `None` if the job holds whole nodes.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub parts: Option<Box<Parts>>,
}

// A single block, which is the common case, has a fast path.
impl Clone for Placement {
    fn clone(&self) -> Placement {
        match (&self.blocks[..], &self.parts) {
            ([block], None) => block.clone().into(),
            _ => Placement { blocks: self.blocks.clone(), parts: self.parts.clone() },
        }
    }
}

impl From<Block> for Placement {
    fn from(block: Block) -> Placement {
        Placement { blocks: smallvec![block], parts: None }
    }
}

impl Placement {
    /// Number of held processors: nodes if the job holds whole nodes, cores if it shares nodes.
    #[must_use]
    #[inline]
    pub fn len(&self) -> u32 {
        match &self.parts {
            None => self.node_count(),
            Some(parts) => parts.cores,
        }
    }

    /// Number of nodes of all blocks of the placement together.
    #[must_use]
    #[inline]
    pub fn node_count(&self) -> u32 {
        match &self.blocks[..] {
            [block] => block.len(), // the common case
            blocks => blocks.iter().map(Block::len).sum(),
        }
    }

    /// Whether the placement has no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The placement on the given nodes.
    ///
    /// If the nodes form a block, the placement has this one block. Otherwise it has a block for
    /// each run of consecutive nodes within a row, in order of node numbers. A block that crosses
    /// the edge of a ring becomes several runs.
    ///
    /// # Panics
    /// If a node is not on the grid.
    #[must_use]
    pub fn of_nodes(grid: &Grid, nodes: impl IntoIterator<Item = Node>) -> Placement {
        let mut set = NodeSet::empty(grid.nodes());
        nodes.into_iter().for_each(|node| set.insert(node));
        let Some(base) = set.first() else { return Placement::default() };
        let corner = grid.coordinates(base);
        let mut sides = Dims::from_elem(1, grid.dimensions());
        for node in set.iter() {
            for (side, (at, from)) in
                sides.iter_mut().zip(grid.coordinates(node).iter().zip(&corner))
            {
                *side = (*side).max((at + 1).saturating_sub(*from));
            }
        }
        let block = Block { base, sides };
        let whole = Placement { blocks: vec![block].into(), parts: None };
        let is_block = grid.holds(base, &whole.blocks[0].sides)
            && whole.len() == set.count()
            && whole.is_within(&set, grid);
        if is_block { whole } else { super::ranked::of_set(grid, &set) }
    }

    /// All nodes of the placement, in order of ranks.
    #[must_use]
    pub fn nodes(&self, grid: &Grid) -> Vec<Node> {
        let mut nodes = Vec::with_capacity(self.len() as usize);
        self.for_each_run(grid, |start, count| nodes.extend(start..start + count));
        nodes
    }

    /// Visits the placement as runs `(start, count)` of consecutive nodes, in order of ranks.
    pub fn for_each_run(&self, grid: &Grid, mut visit: impl FnMut(Node, u32)) {
        for block in &self.blocks {
            block.for_each_run(grid, &mut visit);
        }
    }

    /// Whether all nodes of the placement are in the set.
    #[must_use]
    pub fn is_within(&self, set: &NodeSet, grid: &Grid) -> bool {
        let is_within = |start, count| set.contains_range(start, count);
        self.blocks.iter().all(|block| match Subcube::on(block, grid) {
            Some(cube) => cube.is_within(set),
            None => block.all_runs(grid, is_within),
        })
    }

    /// Whether no node of the placement is in the set.
    #[must_use]
    pub fn is_clear_of(&self, set: &NodeSet, grid: &Grid) -> bool {
        let is_clear = |start, count| set.is_clear_of_range(start, count);
        self.blocks.iter().all(|block| match Subcube::on(block, grid) {
            Some(cube) => cube.is_clear_of(set),
            None => block.all_runs(grid, is_clear),
        })
    }

    /// Whether this placement and `other` share a node.
    ///
    /// **O(b c d)** for placements of *b* and *c* blocks in *d* dimensions.
    #[must_use]
    pub fn meets(&self, other: &Placement, grid: &Grid) -> bool {
        self.blocks.iter().any(|mine| other.blocks.iter().any(|theirs| mine.meets(theirs, grid)))
    }

    pub(crate) fn node_set(&self, grid: &Grid) -> NodeSet {
        let mut nodes = NodeSet::empty(grid.nodes());
        self.add_to(&mut nodes, grid);
        nodes
    }

    /// Adds the nodes of the placement to the set.
    pub fn add_to(&self, set: &mut NodeSet, grid: &Grid) {
        self.for_each_run(grid, |start, count| set.insert_range(start, count));
    }

    /// Fraction of the nodes of a placement's bounding box that the placement does not hold. The
    /// fraction is 0 for a block, and near 1 for scattered nodes. On a ring the bounding box may
    /// reach around the edge.
    ///
    /// ```
    /// use meshwork::machine::{Block, Placement};
    /// use meshwork::topology::Grid;
    /// let node = |base| Block { base, sides: [1, 1].as_slice().into() };
    /// let corners =
    ///     Placement { blocks: [node(0), node(15)].into_iter().collect(), ..Placement::default() };
    /// assert_eq!(corners.dispersal(&Grid::new(&[4, 4], false).unwrap()), 14.0 / 16.0);
    /// assert_eq!(corners.dispersal(&Grid::new(&[4, 4], true).unwrap()), 2.0 / 4.0);
    /// ```
    ///
    /// # Complexity
    /// **O(1)** for one block. For *b* blocks, **O(b)** in each dimension, and **O(b log b)** on a
    /// ring.
    #[must_use]
    pub fn dispersal(&self, grid: &Grid) -> f64 {
        if self.blocks.len() < 2 {
            return 0.0;
        }
        if grid.dimensions() == 1 && !grid.is_wrapped() {
            let (mut first, mut end) = (u32::MAX, 0);
            for block in &self.blocks {
                first = first.min(block.base);
                end = end.max(block.base + block.sides[0]);
            }
            return 1.0 - f64::from(self.node_count()) / f64::from(end - first);
        }
        let mut around = 1.0;
        for d in 0..grid.dimensions() {
            let held = self.blocks.iter().map(|block| {
                let corner = grid.coordinate(block.base, d);
                (corner, corner + block.sides[d])
            });
            let ring = grid.is_ring(d).then(|| grid.sides()[d]);
            around *= f64::from(enclosing(held, ring));
        }
        1.0 - f64::from(self.node_count()) / around
    }

    /// The nodes of the placement that are also in `set`. Each block of the result lies in one row.
    #[must_use]
    pub fn part_in(&self, set: &NodeSet, grid: &Grid) -> Placement {
        let mut part = Placement::default();
        self.for_each_run(grid, |start, count| {
            let end = start + count;
            let mut from = start;
            while let Some(node) = set.first_from(from).filter(|&node| node < end) {
                let to_the_edge = grid.sides()[0] - grid.coordinate(node, 0);
                let run = set.run_length(node).min(end - node).min(to_the_edge);
                let mut sides = Dims::from_elem(1, grid.dimensions());
                sides[0] = run;
                part.blocks.push(Block { base: node, sides });
                from = node + run;
            }
        });
        part
    }

    /// Formats the placement as in output: blocks such as `6,0:2x3` (base, then sides), joined by
    /// `;`.
    #[must_use]
    pub fn text(&self, grid: &Grid) -> String {
        let mut text = String::new();
        for (i, block) in self.blocks.iter().enumerate() {
            if i > 0 {
                text.push(';');
            }
            let base: Vec<String> =
                grid.coordinates(block.base).iter().map(u32::to_string).collect();
            write!(text, "{}:{}", base.join(","), sides_text(&block.sides))
                .expect("writing to a string cannot fail");
        }
        text
    }
}

/// Length of the shortest interval that contains all `intervals`. If `ring` is given, they lie on a
/// ring of this length, and the interval may reach around the edge.
fn enclosing(intervals: impl Iterator<Item = (u32, u32)> + Clone, ring: Option<u32>) -> u32 {
    let first = intervals.clone().map(|(from, _)| from).min().unwrap_or(0);
    let end = intervals.clone().map(|(_, end)| end).max().unwrap_or(0);
    let Some(around) = ring else { return end - first };
    let mut in_order: SmallVec<[(u32, u32); 8]> = intervals.collect();
    in_order.sort_unstable();
    // Coordinate before which the intervals so far end. At first this is the end of the last
    // interval, moved back by one turn around the ring.
    let mut covered = i64::from(end) - i64::from(around);
    let mut widest = 0;
    for (from, end) in in_order {
        widest = widest.max(i64::from(from) - covered);
        covered = covered.max(i64::from(end));
    }
    around - widest as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(grid: &Grid, corner: &[u32], sides: &[u32]) -> Block {
        Block { base: grid.node(corner), sides: Dims::from_slice(sides) }
    }

    #[test]
    fn a_block_reaches_around_the_edges_of_a_torus() {
        let grid = Grid::new(&[4, 3], true).unwrap();
        let placed = Placement::from(block(&grid, &[3, 2], &[2, 2]));
        assert_eq!(placed.nodes(&grid), [11, 8, 3, 0]);
    }

    fn nodes_by_definition(grid: &Grid, block: &Block) -> Vec<Node> {
        let corner = grid.coordinates(block.base);
        let mut nodes = Vec::new();
        for mut offset in 0..block.len() {
            let mut at = Dims::new();
            for (d, &side) in block.sides.iter().enumerate() {
                at.push((corner[d] + offset % side) % grid.sides()[d]);
                offset /= side;
            }
            nodes.push(grid.node(&at));
        }
        nodes
    }

    /// A block of the given sides at `base`. If the grid is not `wrapped`, the block is moved
    /// towards lower coordinates so that it does not cross an edge.
    fn on_grid(grid: &Grid, wrapped: bool, base: u32, sides: Dims) -> Block {
        let mut corner = grid.coordinates(base % grid.nodes());
        for (d, side) in sides.iter().enumerate().filter(|_| !wrapped) {
            corner[d] = corner[d].min(grid.sides()[d] - side);
        }
        Block { base: grid.node(&corner), sides }
    }

    proptest! {
        #[test]
        fn runs_are_the_nodes_in_rank_order(
            sides in prop::collection::vec(1_u32..5, 1..6),
            wrapped in any::<bool>(),
            base in any::<u32>(),
            wanted in prop::collection::vec(1_u32..5, 5),
            whole in prop::collection::vec(any::<bool>(), 5),
        ) {
            let grid = Grid::new(&sides, wrapped).unwrap();
            // Some sides are as long as the grid's, because a block from edge to edge is a special
            // case.
            let side = |d: usize| if whole[d] { sides[d] } else { wanted[d].min(sides[d]) };
            let block = on_grid(&grid, wrapped, base, (0..sides.len()).map(side).collect());
            let expected = nodes_by_definition(&grid, &block);
            prop_assert_eq!(Placement::from(block).nodes(&grid), expected);
        }

        #[test]
        fn blocks_meet_where_they_have_a_node_in_common(
            sides in prop::collection::vec(1_u32..6, 1..4),
            wrapped in any::<bool>(),
            blocks in prop::collection::vec((any::<u32>(), prop::collection::vec(1_u32..6, 3)), 2),
        ) {
            let grid = Grid::new(&sides, wrapped).unwrap();
            let blocks: Vec<Block> = blocks
                .into_iter()
                .map(|(base, wanted)| {
                    let sides = sides.iter().zip(wanted).map(|(side, wanted)| wanted.min(*side));
                    on_grid(&grid, wrapped, base, sides.collect())
                })
                .collect();
            let theirs = nodes_by_definition(&grid, &blocks[1]);
            let expected =
                nodes_by_definition(&grid, &blocks[0]).iter().any(|node| theirs.contains(node));
            prop_assert_eq!(blocks[0].meets(&blocks[1], &grid), expected);
        }
    }

    proptest! {
        #[test]
        fn dispersal_is_what_the_smallest_enclosing_block_has_left(
            sides in prop::collection::vec(1_u32..6, 1..4),
            wrapped in any::<bool>(),
            picks in prop::collection::btree_set(0_u32..125, 1..6),
        ) {
            let grid = Grid::new(&sides, wrapped).unwrap();
            let nodes: std::collections::BTreeSet<Node> =
                picks.into_iter().map(|pick| pick % grid.nodes()).collect();
            let single = |&base: &Node| Block { base, sides: Dims::from_elem(1, sides.len()) };
            let placement =
                Placement { blocks: nodes.iter().map(single).collect(), parts: None };
            let mut smallest = u32::MAX;
            for base in 0..grid.nodes() {
                for mut shape in 0..grid.nodes() {
                    let mut block = Block { base, sides: Dims::new() };
                    for &side in &sides {
                        block.sides.push(shape % side + 1);
                        shape /= side;
                    }
                    if grid.holds(base, &block.sides) {
                        let held = nodes_by_definition(&grid, &block);
                        if nodes.iter().all(|node| held.contains(node)) {
                            smallest = smallest.min(block.len());
                        }
                    }
                }
            }
            let left = f64::from(smallest - nodes.len() as u32) / f64::from(smallest);
            prop_assert!((placement.dispersal(&grid) - left).abs() < 1e-12);
        }
    }

    #[test]
    fn the_part_of_a_placement_in_a_set() {
        let grid = Grid::new(&[4, 3], false).unwrap();
        let mut set = NodeSet::full(12);
        set.remove(5);
        let part = Placement::from(block(&grid, &[0, 0], &[3, 2])).part_in(&set, &grid);
        assert_eq!(part.nodes(&grid), [0, 1, 2, 4, 6]);
    }
}
