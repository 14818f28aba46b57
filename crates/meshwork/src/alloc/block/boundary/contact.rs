//! Contact of a free block: its held neighbours, and the held nodes around its corners.

use crate::geometry::NodeSet;
use crate::job::Dims;
use crate::machine::Placement;
use crate::topology::Grid;

/// Counter of the held neighbours of free blocks.
///
/// The number of held nodes beyond a face is the area of the face minus its free nodes. Free nodes
/// are counted 64 at a time along dimension 0. For the two faces across dimension 0, a second set
/// of the free nodes is used, in which dimensions 0 and 1 are exchanged.
///
/// In two dimensions **O(s / 64)** for each face, with sides up to *s*. In *d* dimensions **O(sᵈ⁻²
/// · s / 64)** for each of the 2 *d* faces.
#[derive(Clone, Debug)]
pub(super) struct Contact {
    /// The grid and its free nodes with dimensions 0 and 1 exchanged; `None` if there is one
    /// dimension.
    turned: Option<(Grid, NodeSet)>,
    /// Weight of a neighbour beyond the edge of the mesh: 1 if walls count as held, otherwise 0.
    wall: u32,
}

impl Contact {
    pub(super) fn new(grid: &Grid, count_walls: bool) -> Contact {
        let turned = (grid.dimensions() > 1).then(|| {
            let mut rings = grid.rings().to_vec();
            rings.swap(0, 1);
            let turned = Grid::with_rings(&exchanged(grid.sides()), &rings)
                .expect("the same sides as those of a grid");
            let free = NodeSet::full(grid.nodes());
            (turned, free)
        });
        Contact { turned, wall: u32::from(count_walls) }
    }

    pub(super) fn claimed(&mut self, placement: &Placement, grid: &Grid) {
        self.mark(placement, grid, NodeSet::remove_range);
    }

    pub(super) fn released(&mut self, placement: &Placement, grid: &Grid) {
        self.mark(placement, grid, NodeSet::insert_range);
    }

    fn mark(
        &mut self,
        placement: &Placement,
        grid: &Grid,
        change: impl Fn(&mut NodeSet, u32, u32),
    ) {
        let Some((turned, free)) = &mut self.turned else { return };
        for block in &placement.blocks {
            let corner = exchanged(&grid.coordinates(block.base));
            for_each_row(turned, &corner, &exchanged(&block.sides), |start, count| {
                change(free, start, count);
            });
        }
    }

    /// Number of links between nodes of a free block and held neighbours outside the block.
    ///
    /// Only the faces in `blocked` are examined. If the block covers all but one node of a ring,
    /// this node counts on both sides of the block.
    pub(super) fn boundary(
        &self,
        grid: &Grid,
        free: &NodeSet,
        corner: &[u32],
        sides: &[u32],
        blocked: Faces,
    ) -> u64 {
        let nodes: u32 = sides.iter().product();
        let mut contact = 0;
        for d in 0..sides.len() {
            for high in [false, true] {
                if !blocked.has(d, high) {
                    continue;
                }
                let area = nodes / sides[d];
                contact += match beside(grid, d, corner[d], sides[d], high) {
                    Beside::Nothing => 0,
                    Beside::Wall => area * self.wall,
                    Beside::Nodes(at) => area - self.free_in_face(grid, free, corner, sides, d, at),
                };
            }
        }
        u64::from(contact)
    }

    fn free_in_face(
        &self,
        grid: &Grid,
        free: &NodeSet,
        corner: &[u32],
        sides: &[u32],
        across: usize,
        at: u32,
    ) -> u32 {
        let (grid, free) = match &self.turned {
            Some((turned, free)) if across == 0 => (turned, free),
            _ => (grid, free),
        };
        let mut found = 0;
        let mut count = |start, count| found += free.count_range(start, count);
        if let ([x, y], [w, h]) = (corner, sides) {
            let (along, length) = if across == 0 { (*y, *h) } else { (*x, *w) };
            for_each_run(at * grid.sides()[0], along, length, grid.sides()[0], count);
            return found;
        }
        let (mut corner, mut sides) = (Dims::from_slice(corner), Dims::from_slice(sides));
        corner[across] = at;
        sides[across] = 1;
        if across == 0 && corner.len() > 1 {
            corner.swap(0, 1);
            sides.swap(0, 1);
        }
        for_each_row(grid, &corner, &sides, &mut count);
        found
    }
}

/// Set of faces of a block, two for each dimension: a low and a high one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faces(u64);

impl Faces {
    pub(super) fn all(dimensions: usize) -> Faces {
        let mut all = Faces::default();
        for d in 0..dimensions {
            all.add(d, false, true);
            all.add(d, true, true);
        }
        all
    }

    /// Adds a face across dimension `d` to the set; does nothing if `is` is false.
    ///
    /// The face is the high one if `high` is true, otherwise the low one.
    pub(super) fn add(&mut self, d: usize, high: bool, is: bool) {
        self.0 |= u64::from(is) << (2 * d + usize::from(high));
    }

    pub(super) fn area(self, sides: &[u32]) -> u64 {
        let nodes: u32 = sides.iter().product();
        let in_pairs = sides.iter().enumerate();
        in_pairs
            .map(|(d, side)| {
                u64::from(nodes / side) * u64::from((self.0 >> (2 * d) & 3).count_ones())
            })
            .sum()
    }

    pub(super) fn has(self, d: usize, high: bool) -> bool {
        self.0 >> (2 * d + usize::from(high)) & 1 == 1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// No nodes beside the block, because it covers the whole ring.
    Nothing,
    Wall,
    /// There are nodes beside the block. The value is their coordinate along the examined
    /// dimension.
    Nodes(u32),
}

/// Neighbours of a block in one direction of dimension `d`: upwards if `high` is set, else
/// downwards.
///
/// The block covers `length` coordinates of this dimension, from `at` on.
pub(super) fn beside(grid: &Grid, d: usize, at: u32, length: u32, high: bool) -> Beside {
    let (side, end) = (grid.sides()[d], at + length);
    match (grid.is_ring(d), high) {
        (true, _) if length == side => Beside::Nothing,
        (true, false) => Beside::Nodes(if at == 0 { side - 1 } else { at - 1 }),
        (true, true) => Beside::Nodes(if end >= side { end - side } else { end }),
        (false, false) => at.checked_sub(1).map_or(Beside::Wall, Beside::Nodes),
        (false, true) if end == side => Beside::Wall,
        (false, true) => Beside::Nodes(end),
    }
}

/// Number of held nodes around the corners of a block.
///
/// Around each corner are 2ᵈ − 1 nodes outside the block, some of them diagonally across. Positions
/// outside the mesh count as held nodes. Since rings wrap around, one node may count at several
/// corners.
///
/// **O(4ᵈ · d)** in *d* dimensions.
pub(super) fn corner_value(grid: &Grid, free: &NodeSet, corner: &[u32], sides: &[u32]) -> u32 {
    let d = sides.len();
    let mut held = 0;
    for high in 0_u32..1 << d {
        for beyond in 1_u32..1 << d {
            held += u32::from(
                !(0..d)
                    .try_fold(0, |node, k| {
                        let bit = |mask: u32| mask >> k & 1 == 1;
                        let last = if bit(high) { sides[k] - 1 } else { 0 };
                        let at = step(grid, k, corner[k] + last, bit(high), bit(beyond))?;
                        Some(node + at * grid.strides()[k])
                    })
                    .is_some_and(|node| free.contains(node)),
            );
        }
    }
    held
}

/// Coordinate of a position or of its neighbour on one side; `None` if the neighbour is a wall.
fn step(grid: &Grid, d: usize, at: u32, high: bool, beyond: bool) -> Option<u32> {
    let side = grid.sides()[d];
    let at = if grid.is_ring(d) { at % side } else { at };
    match (beyond, high) {
        (false, _) => Some(at),
        (true, false) if at > 0 => Some(at - 1),
        (true, true) if at + 1 < side => Some(at + 1),
        (true, false) => grid.is_ring(d).then(|| side - 1),
        (true, true) => grid.is_ring(d).then_some(0),
    }
}

fn exchanged(numbers: &[u32]) -> Dims {
    let mut numbers = Dims::from_slice(numbers);
    if numbers.len() > 1 {
        numbers.swap(0, 1);
    }
    numbers
}

/// Visits the rows of a block as runs of consecutive nodes, in any order.
///
/// The coordinates of the corner are given. Therefore, unlike
/// [`Block::for_each_run`](crate::machine::Block::for_each_run), this function needs no divisions.
fn for_each_row(grid: &Grid, corner: &[u32], sides: &[u32], mut visit: impl FnMut(u32, u32)) {
    if let (&[x, y], &[w, h], &[width, height]) = (corner, sides, grid.sides()) {
        for at in y..y + h {
            let at = if at >= height { at - height } else { at };
            for_each_run(at * width, x, w, width, &mut visit);
        }
        return;
    }
    let mut offset = Dims::from_elem(0, sides.len());
    loop {
        let mut row = 0;
        for d in 1..sides.len() {
            let at = corner[d] + offset[d];
            let around = if at >= grid.sides()[d] { grid.sides()[d] } else { 0 };
            row += (at - around) * grid.strides()[d];
        }
        for_each_run(row, corner[0], sides[0], grid.sides()[0], &mut visit);
        let Some(d) = (1..sides.len()).find(|&d| offset[d] + 1 < sides[d]) else { return };
        offset[d] += 1;
        offset[1..d].fill(0);
    }
}

/// Visits `count` nodes of a row, as two runs if they wrap around the end of the row, else as one.
fn for_each_run(row: u32, from: u32, count: u32, width: u32, mut visit: impl FnMut(u32, u32)) {
    let before_the_edge = count.min(width - from);
    visit(row + from, before_the_edge);
    if before_the_edge < count {
        visit(row, count - before_the_edge);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Block, Site};
    use crate::topology::Topology;

    /// The machine state is the example in docs/weighted-boundary-search.md.
    #[test]
    fn two_pockets_of_which_one_has_the_greater_boundary() {
        let mut site = Site::new(Topology::mesh(&[18, 9]).unwrap(), 1.0);
        let grid = site.grid().clone();
        let mut contact = Contact::new(&grid, true);
        let held = [([0, 0], [4, 8]), ([9, 0], [3, 8]), ([7, 0], [2, 7]), ([16, 0], [2, 9])];
        for (corner, sides) in held {
            let block = Block { base: grid.node(&corner), sides: Dims::from_slice(&sides) };
            site.claim(&block.clone().into()).unwrap();
            contact.claimed(&block.into(), &grid);
        }
        let all = Faces::all(2);
        let value = |corner: &[u32]| contact.boundary(&grid, site.free(), corner, &[3, 5], all);
        assert_eq!((value(&[4, 0]), value(&[12, 0])), (13, 8));
        assert_eq!(corner_value(&grid, site.free(), &[4, 0], &[3, 5]), 10);
    }
}
