//! How processors are wired: one geometry for meshes, tori, k-ary n-cubes and hypercubes.
//!
//! A [`Grid`] has any number of dimensions and is wrapped or not. A hypercube of dimension n is the
//! grid `[2; n]`, a k-ary n-cube the wrapped grid `[k; n]`, and a flat machine (a switch) a grid of
//! one dimension whose wiring nobody asks about. `Grid` is a type and not a trait, so no signature
//! that takes one needs a parameter for it.

use std::fmt;

use smallvec::SmallVec;

use crate::job::Dims;

/// A processor of one site: its index, dimension 0 running fastest (row-major order).
pub type Node = u32;

/// The most processors one site may have. Sets of nodes are bit strings: this many take 2 MiB.
pub const MOST_NODES: u32 = 1 << 24;

/// The four ways in which a site can be wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wiring {
    /// A grid without links around its edges.
    Mesh,
    /// A grid whose every dimension is a ring; a k-ary n-cube is one with equal sides.
    Torus,
    /// A grid with side 2 in every dimension.
    Hypercube,
    /// A switch: any processors will do.
    Flat,
}

impl Wiring {
    /// Every wiring, in the order of the manual.
    pub const ALL: [Wiring; 4] = [Wiring::Mesh, Wiring::Torus, Wiring::Hypercube, Wiring::Flat];

    /// The name in studies and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Wiring::Mesh => "mesh",
            Wiring::Torus => "torus",
            Wiring::Hypercube => "hypercube",
            Wiring::Flat => "flat",
        }
    }
}

impl fmt::Display for Wiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A wiring and its geometry.
///
/// ```
/// use meshwork::topology::Topology;
/// assert_eq!(Topology::mesh(&[16, 8]).unwrap().grid().nodes(), 128);
/// assert_eq!(Topology::hypercube(7).unwrap().to_string(), "hypercube of dimension 7");
/// assert!(Topology::torus(&[8, 0]).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    wiring: Wiring,
    grid: Grid,
}

impl Topology {
    /// A mesh with these sides.
    ///
    /// # Errors
    /// Says which side is 0, or that there are more than [`MOST_NODES`] nodes.
    pub fn mesh(sides: &[u32]) -> Result<Topology, String> {
        Ok(Topology { wiring: Wiring::Mesh, grid: Grid::new(sides, false)? })
    }

    /// A torus with these sides.
    ///
    /// # Errors
    /// As for a mesh.
    pub fn torus(sides: &[u32]) -> Result<Topology, String> {
        Ok(Topology { wiring: Wiring::Torus, grid: Grid::new(sides, true)? })
    }

    /// A hypercube of this dimension, at least 1.
    ///
    /// # Errors
    /// If the dimension is 0, or there are more than [`MOST_NODES`] nodes.
    pub fn hypercube(dimension: u32) -> Result<Topology, String> {
        let largest = MOST_NODES.trailing_zeros();
        if dimension == 0 || dimension > largest {
            return Err(format!(
                "a hypercube has a dimension from 1 to {largest}, this one has {dimension}"
            ));
        }
        let sides = vec![2; dimension as usize];
        Ok(Topology { wiring: Wiring::Hypercube, grid: Grid::new(&sides, false)? })
    }

    /// A flat machine of so many processors.
    ///
    /// # Errors
    /// If there are none, or more than [`MOST_NODES`].
    pub fn flat(processors: u32) -> Result<Topology, String> {
        Ok(Topology { wiring: Wiring::Flat, grid: Grid::new(&[processors], false)? })
    }

    /// Which of the four wirings it is.
    #[must_use]
    pub fn wiring(&self) -> Wiring {
        self.wiring
    }

    /// Its geometry.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.wiring {
            Wiring::Mesh | Wiring::Torus => {
                let sides: Vec<String> = self.grid.sides().iter().map(u32::to_string).collect();
                write!(f, "{} {}", sides.join(" × "), self.wiring)
            }
            Wiring::Hypercube => write!(f, "hypercube of dimension {}", self.grid.dimensions()),
            Wiring::Flat => write!(f, "flat machine of {} processors", self.grid.nodes()),
        }
    }
}

/// A grid of nodes: its sides, and whether every dimension closes to a ring.
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
    wrapped: bool,
    /// Whether every side is 2, as in a hypercube: a coordinate is then a bit of the index.
    binary: bool,
}

impl Grid {
    /// A grid with these sides.
    ///
    /// # Errors
    /// Says that there is no side, which side is 0, or that there are more than [`MOST_NODES`] nodes.
    pub fn new(sides: &[u32], wrapped: bool) -> Result<Grid, String> {
        if sides.is_empty() {
            return Err("a machine needs at least one side".to_owned());
        }
        let mut strides = Dims::new();
        let mut nodes: u64 = 1;
        for &side in sides {
            if side == 0 {
                return Err(
                    "every side of a machine is at least 1, this one has a side of 0".into()
                );
            }
            strides.push(nodes as u32);
            nodes *= u64::from(side);
            if nodes > u64::from(MOST_NODES) {
                return Err(format!(
                    "a site has at most {MOST_NODES} processors, this one has more"
                ));
            }
        }
        let binary = sides.iter().all(|&side| side == 2);
        Ok(Grid { sides: Dims::from_slice(sides), strides, nodes: nodes as u32, wrapped, binary })
    }

    /// The side of every dimension.
    #[must_use]
    pub fn sides(&self) -> &[u32] {
        &self.sides
    }

    /// How far apart in index two neighbours along each dimension are.
    #[must_use]
    pub fn strides(&self) -> &[u32] {
        &self.strides
    }

    /// How many dimensions there are.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.sides.len()
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Whether every dimension closes to a ring.
    #[must_use]
    pub fn is_wrapped(&self) -> bool {
        self.wrapped
    }

    /// The node at these coordinates.
    ///
    /// # Panics
    /// If a coordinate is missing or not below its side.
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
        // Divisions are what this costs, and the last coordinate needs none by its side.
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

    /// Whether a block with this corner and these sides lies on the grid, around its edges where it
    /// is wrapped; every side is at least 1.
    #[must_use]
    pub fn holds(&self, corner: Node, sides: &[u32]) -> bool {
        if corner >= self.nodes || sides.len() != self.dimensions() {
            return false;
        }
        if self.binary && !self.wrapped {
            let fits = |(d, &side): (usize, &u32)| side == 1 || side == 2 && corner >> d & 1 == 0;
            return sides.iter().enumerate().all(fits);
        }
        let mut rows = corner;
        (0..sides.len()).all(|d| {
            let most = self.sides[d];
            let reach = if self.wrapped { 0 } else { rows % most };
            rows /= most;
            sides[d] >= 1 && sides[d] <= most - reach
        })
    }

    /// The nodes one link away, by dimension, the lower one first; each once, so a ring of two has
    /// one link and not two.
    #[must_use]
    pub fn neighbors(&self, node: Node) -> SmallVec<[Node; 6]> {
        let mut found = SmallVec::new();
        for d in 0..self.dimensions() {
            let (at, side, stride) = (self.coordinate(node, d), self.sides[d], self.strides[d]);
            if side == 1 {
                continue;
            }
            let around = (side - 1) * stride;
            let below =
                if at > 0 { Some(node - stride) } else { self.wrapped.then(|| node + around) };
            let above = if at + 1 < side {
                Some(node + stride)
            } else {
                self.wrapped.then(|| node - around)
            };
            found.extend(below);
            found.extend(above.filter(|_| above != below));
        }
        found
    }

    /// Hops on a shortest path between two nodes.
    #[must_use]
    pub fn distance(&self, a: Node, b: Node) -> u32 {
        (0..self.dimensions())
            .map(|d| {
                let apart = self.coordinate(a, d).abs_diff(self.coordinate(b, d));
                if self.wrapped { apart.min(self.sides[d] - apart) } else { apart }
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    fn grids() -> impl Strategy<Value = Grid> {
        (prop::collection::vec(1_u32..5, 1..5), any::<bool>())
            .prop_map(|(sides, wrapped)| Grid::new(&sides, wrapped).unwrap())
    }

    /// The definition of distance: breadth-first search over the neighbours.
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
            assert_eq!(made.unwrap_err(), sentence);
        }
    }
}
