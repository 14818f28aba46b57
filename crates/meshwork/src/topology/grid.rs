//! The grid along which every topology numbers its nodes.

use smallvec::SmallVec;

use super::{MAX_NODES, Node, TopologyError};
use crate::job::Dims;

/// Grid of nodes: its sides, and which of its dimensions are rings (closed around the edge).
///
/// ```
/// use meshwork::topology::Grid;
/// let grid = Grid::new(&[4, 3], false).unwrap();
/// assert_eq!(grid.node(&[1, 2]), 9); // x + 4 y
/// assert_eq!(grid.distance(grid.node(&[0, 0]), grid.node(&[3, 2])), 5);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    sides: Dims,
    strides: Dims,
    nodes: u32,
    /// Whether each dimension is a ring. `wrapped` is set if any dimension is a ring, and
    /// `all_rings` if all of them are.
    rings: SmallVec<[bool; 8]>,
    wrapped: bool,
    all_rings: bool,
    /// Whether every side is 2, as in a hypercube. Each coordinate is then one bit of the node's
    /// number.
    binary: bool,
}

impl Grid {
    /// Creates a grid with the given sides. If `wrapped` is set, every dimension is a ring,
    /// otherwise none.
    ///
    /// # Errors
    /// If there is no side, a side is 0, or there are more than [`MAX_NODES`] nodes.
    pub fn new(sides: &[u32], wrapped: bool) -> Result<Grid, TopologyError> {
        Grid::with_rings(sides, &SmallVec::<[bool; 8]>::from_elem(wrapped, sides.len()))
    }

    /// Creates a grid with the given sides. Dimension *d* is a ring if `rings[d]` is `true`.
    ///
    /// ```
    /// use meshwork::topology::Grid;
    /// let cylinder = Grid::with_rings(&[6, 4], &[true, false]).unwrap();
    /// assert_eq!(cylinder.distance(cylinder.node(&[0, 0]), cylinder.node(&[5, 3])), 1 + 3);
    /// ```
    ///
    /// # Errors
    /// If [`new`](Grid::new) would fail, or if `sides` and `rings` differ in length.
    pub fn with_rings(sides: &[u32], rings: &[bool]) -> Result<Grid, TopologyError> {
        if sides.is_empty() {
            return Err(TopologyError::NoSides);
        }
        if rings.len() != sides.len() {
            return Err(TopologyError::Rings { given: rings.len(), sides: sides.len() });
        }
        let mut strides = Dims::new();
        let mut nodes: u64 = 1;
        for &side in sides {
            if side == 0 {
                return Err(TopologyError::EmptySide);
            }
            strides.push(nodes as u32);
            nodes *= u64::from(side);
            if nodes > u64::from(MAX_NODES) {
                return Err(TopologyError::TooManyNodes);
            }
        }
        let binary = sides.iter().all(|&side| side == 2);
        Ok(Grid {
            sides: Dims::from_slice(sides),
            strides,
            nodes: nodes as u32,
            rings: SmallVec::from_slice(rings),
            wrapped: rings.contains(&true),
            all_rings: !rings.contains(&false),
            binary,
        })
    }

    /// Lengths of the dimensions of the grid.
    #[must_use]
    pub fn sides(&self) -> &[u32] {
        &self.sides
    }

    /// For each dimension, the difference between the numbers of two neighbouring nodes along it.
    #[must_use]
    pub fn strides(&self) -> &[u32] {
        &self.strides
    }

    /// Number of dimensions of the grid.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.sides.len()
    }

    /// Number of nodes: the product of the sides.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Whether any dimension is a ring.
    #[must_use]
    #[inline]
    pub fn is_wrapped(&self) -> bool {
        self.wrapped
    }

    /// Whether the dimension with the index `dimension` is a ring.
    #[must_use]
    #[inline]
    pub fn is_ring(&self, dimension: usize) -> bool {
        // This is called in inner loops of searches, mostly on grids whose dimensions are all
        // alike.
        self.all_rings || self.wrapped && self.rings[dimension]
    }

    /// Whether every dimension is a ring.
    #[must_use]
    #[inline]
    pub fn is_all_rings(&self) -> bool {
        self.all_rings
    }

    /// Whether every side of the grid is 2, as in a hypercube.
    #[inline]
    pub(crate) fn is_binary(&self) -> bool {
        self.binary
    }

    /// Whether each dimension is a ring, in order of the dimensions.
    #[must_use]
    pub fn rings(&self) -> &[bool] {
        &self.rings
    }

    /// The node at the given coordinates, one for each dimension.
    ///
    /// # Panics
    /// If a coordinate is missing or not below the side of its dimension.
    #[must_use]
    pub fn node(&self, coordinates: &[u32]) -> Node {
        assert_eq!(coordinates.len(), self.dimensions(), "one coordinate for each dimension");
        let below = coordinates.iter().zip(&self.sides).all(|(at, side)| at < side);
        assert!(below, "a coordinate is below its side");
        coordinates.iter().zip(&self.strides).map(|(at, stride)| at * stride).sum()
    }

    /// The coordinate of a node along one dimension.
    #[must_use]
    #[inline]
    pub fn coordinate(&self, node: Node, dimension: usize) -> u32 {
        if self.binary {
            return node >> dimension & 1;
        }
        let rows = if dimension == 0 { node } else { node / self.strides[dimension] };
        // Divisions take most of the time, and the last coordinate needs no remainder.
        if dimension + 1 == self.sides.len() { rows } else { rows % self.sides[dimension] }
    }

    /// All coordinates of a node.
    #[must_use]
    pub fn coordinates(&self, node: Node) -> Dims {
        let mut coordinates = Dims::from_elem(0, self.dimensions());
        let mut rest = node;
        for d in (1..self.dimensions()).rev() {
            coordinates[d] = rest / self.strides[d];
            rest -= coordinates[d] * self.strides[d];
        }
        coordinates[0] = rest;
        coordinates
    }

    /// Whether a block with the given base (lowest corner) and sides lies on the grid.
    ///
    /// The block may reach around the edge of a ring. Every side must be at least 1.
    #[must_use]
    pub fn holds(&self, corner: Node, sides: &[u32]) -> bool {
        if corner >= self.nodes || sides.len() != self.dimensions() {
            return false;
        }
        if let ([side], [most]) = (sides, &self.sides[..]) {
            let reach = if self.wrapped { 0 } else { corner };
            return *side >= 1 && *side <= most - reach;
        }
        if self.binary && !self.wrapped {
            let fits = |(d, &side): (usize, &u32)| side == 1 || side == 2 && corner >> d & 1 == 0;
            return sides.iter().enumerate().all(fits);
        }
        let mut rows = corner;
        (0..sides.len()).all(|d| {
            let most = self.sides[d];
            let reach = if self.is_ring(d) { 0 } else { rows % most };
            rows /= most;
            sides[d] >= 1 && sides[d] <= most - reach
        })
    }

    /// Neighbours of a node (one link away), by dimension. In each dimension, the lower neighbour
    /// comes first.
    ///
    /// In a ring, the node with the last coordinate is the lower neighbour of the node with
    /// coordinate 0. A ring of two nodes has one link, not two. Each of its nodes has one neighbour
    /// in this dimension.
    #[must_use]
    pub fn neighbors(&self, node: Node) -> SmallVec<[Node; 6]> {
        let mut found = SmallVec::new();
        for d in 0..self.dimensions() {
            let (at, side, stride) = (self.coordinate(node, d), self.sides[d], self.strides[d]);
            if side == 1 {
                continue;
            }
            let (around, is_ring) = ((side - 1) * stride, self.is_ring(d));
            let below = if at > 0 { Some(node - stride) } else { is_ring.then(|| node + around) };
            let above =
                if at + 1 < side { Some(node + stride) } else { is_ring.then(|| node - around) };
            found.extend(below);
            found.extend(above.filter(|_| above != below));
        }
        found
    }

    /// Number of hops on a shortest path between two nodes.
    #[must_use]
    pub fn distance(&self, a: Node, b: Node) -> u32 {
        (0..self.dimensions())
            .map(|d| {
                let apart = self.coordinate(a, d).abs_diff(self.coordinate(b, d));
                if self.is_ring(d) { apart.min(self.sides[d] - apart) } else { apart }
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::topology::Topology;

    fn grids() -> impl Strategy<Value = Grid> {
        prop::collection::vec((1_u32..5, any::<bool>()), 1..5).prop_map(|dimensions| {
            let (sides, rings): (Vec<u32>, Vec<bool>) = dimensions.into_iter().unzip();
            Grid::with_rings(&sides, &rings).unwrap()
        })
    }

    /// Distances from a node to all nodes, found by breadth-first search over the neighbours.
    fn distances_by_search(grid: &Grid, from: Node) -> Vec<u32> {
        let mut distance = vec![u32::MAX; grid.nodes() as usize];
        let mut queue = VecDeque::from([from]);
        distance[from as usize] = 0;
        while let Some(node) = queue.pop_front() {
            for next in grid.neighbors(node) {
                if distance[next as usize] == u32::MAX {
                    distance[next as usize] = distance[node as usize] + 1;
                    queue.push_back(next);
                }
            }
        }
        distance
    }

    proptest! {
        #[test]
        fn distance_is_the_length_of_a_shortest_path(grid in grids(), pick in any::<prop::sample::Index>()) {
            let from = pick.index(grid.nodes() as usize) as Node;
            let searched = distances_by_search(&grid, from);
            for to in 0..grid.nodes() {
                prop_assert_eq!(grid.distance(from, to), searched[to as usize]);
            }
        }

        #[test]
        fn coordinates_and_nodes_are_inverse(grid in grids()) {
            for node in 0..grid.nodes() {
                prop_assert_eq!(grid.node(&grid.coordinates(node)), node);
            }
        }

        #[test]
        fn neighbours_are_mutual_and_distinct(grid in grids()) {
            for node in 0..grid.nodes() {
                let neighbors = grid.neighbors(node);
                for &next in &neighbors {
                    prop_assert!(grid.neighbors(next).contains(&node));
                    prop_assert_eq!(neighbors.iter().filter(|&&n| n == next).count(), 1);
                    prop_assert_ne!(next, node);
                }
            }
        }
    }

    #[test]
    fn a_hypercube_links_nodes_that_differ_in_one_bit() {
        let cube = Topology::hypercube(4).unwrap();
        for node in 0..16_u32 {
            let expected: Vec<Node> = (0..4).map(|bit| node ^ (1 << bit)).collect();
            assert_eq!(cube.grid().neighbors(node).as_slice(), expected);
        }
    }

    #[test]
    fn a_machine_that_cannot_be_is_refused_in_a_sentence() {
        for (made, sentence) in [
            (Topology::mesh(&[]), "a machine needs at least one side"),
            (
                Topology::mesh(&[0]),
                "every side of a machine is at least 1, this one has a side of 0",
            ),
            (
                Topology::mesh(&[1_000_000, 1_000_000]),
                "a site has at most 16777216 processors, this one has more",
            ),
            (Topology::hypercube(40), "a hypercube has a dimension from 1 to 24, this one has 40"),
        ] {
            assert_eq!(made.unwrap_err().to_string(), sentence);
        }
    }
}
