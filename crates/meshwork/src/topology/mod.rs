//! How processors are wired: one geometry for meshes, tori, k-ary n-cubes and hypercubes.
//!
//! A [`Grid`] has any number of dimensions and is wrapped or not. A hypercube of dimension n is the
//! grid `[2; n]`, a k-ary n-cube the wrapped grid `[k; n]`, and a flat machine (a switch) a grid of
//! one dimension whose wiring nobody asks about. `Grid` is a type and not a trait, so no signature
//! that takes one needs a parameter for it.

use std::fmt;

use crate::registry::{About, DefaultValue, Kind, Named, Param, Params, Problem};

mod flat;
mod grid;
mod hypercube;
mod mesh;
mod torus;

pub use grid::Grid;

/// A processor of one site: its index, dimension 0 running fastest (row-major order).
pub type Node = u32;

/// The most processors one site may have. Sets of nodes are bit strings: this many take 2 MiB.
pub const MAX_NODES: u32 = 1 << 24;

/// Why there is no such machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// It has no dimension.
    #[error("a machine needs at least one side")]
    NoSides,
    /// It has no node.
    #[error("every side of a machine is at least 1, this one has a side of 0")]
    EmptySide,
    /// It has more than [`MAX_NODES`] nodes.
    #[error("a site has at most {MAX_NODES} processors, this one has more")]
    TooManyNodes,
    /// There is no hypercube of this dimension, or only one of too many nodes.
    #[error("a hypercube has a dimension from 1 to {largest}, this one has {given}")]
    Dimension {
        /// The dimension.
        given: u32,
        /// The largest that there may be.
        largest: u32,
    },
}

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
    /// If there is no side, a side is 0, or there are more than [`MAX_NODES`] nodes.
    pub fn mesh(sides: &[u32]) -> Result<Topology, TopologyError> {
        Ok(Topology { wiring: Wiring::Mesh, grid: Grid::new(sides, false)? })
    }

    /// A torus with these sides.
    ///
    /// # Errors
    /// As for a mesh.
    pub fn torus(sides: &[u32]) -> Result<Topology, TopologyError> {
        Ok(Topology { wiring: Wiring::Torus, grid: Grid::new(sides, true)? })
    }

    /// A hypercube of this dimension, at least 1.
    ///
    /// # Errors
    /// If the dimension is 0, or there are more than [`MAX_NODES`] nodes.
    pub fn hypercube(dimension: u32) -> Result<Topology, TopologyError> {
        let largest = MAX_NODES.trailing_zeros();
        if dimension == 0 || dimension > largest {
            return Err(TopologyError::Dimension { given: dimension, largest });
        }
        let sides = vec![2; dimension as usize];
        Ok(Topology { wiring: Wiring::Hypercube, grid: Grid::new(&sides, false)? })
    }

    /// A flat machine of so many processors.
    ///
    /// # Errors
    /// If there are none, or more than [`MAX_NODES`].
    pub fn flat(processors: u32) -> Result<Topology, TopologyError> {
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

/// A way of wiring a site, in the list.
pub struct TopologyEntry {
    /// What it says of itself.
    pub about: About,
    /// The topology.
    pub build: fn(&Params) -> Result<Topology, Problem>,
}

impl Named for TopologyEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// Every topology.
pub static TOPOLOGIES: &[&TopologyEntry] =
    &[&mesh::ENTRY, &torus::ENTRY, &hypercube::ENTRY, &flat::ENTRY];

/// The sides, of those that have some.
const SIDES: Param = Param {
    name: "dims",
    kind: Kind::Integers(1, MAX_NODES as u64),
    default: DefaultValue::Required,
    help: "the sides, dimension 0 first",
};
