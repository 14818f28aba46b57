//! How processors are wired, and what can be said of every wiring: nodes, distances, routers and ways.
//!
//! Every topology numbers its nodes along a [`Grid`], in which placements are blocks. Of a mesh, a torus and a
//! hypercube that grid is the wiring too. Elsewhere it says only where a node is: its place below a leaf
//! switch, the leaf, the subtree; or its place at a router, the router, the group. Whether links follow
//! the grid is what [`Wiring::is_grid`] tells, and no strategy that needs them to is let onto a machine
//! where they do not. Distances and ways are asked of the [`Topology`].

use std::fmt;
use std::sync::Arc;

use toml::Table;

use crate::registry::{About, DefaultValue, Kind, Named, Param, Params, Problem, join};

mod dragonfly;
mod fat_tree;
mod flat;
mod grid;
mod hypercube;
mod mesh;
mod rings;
mod tofu;
mod torus;
mod twisted_torus;
pub mod wires;

pub use grid::Grid;
use rings::GridWires;
pub use wires::Wires;

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
    /// Not one word for each side says whether it is a ring.
    #[error("there are {given} words on which sides are rings, but {sides} sides: one for each")]
    Rings {
        /// How many words there are.
        given: usize,
        /// How many sides.
        sides: usize,
    },
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
    /// A taper leaves a leaf switch no whole number of links upwards.
    #[error(
        "with a taper of {taper} a leaf switch of {leaf} nodes would not have a whole number of links upwards, \
         1 or more"
    )]
    Taper {
        /// The taper.
        taper: String,
        /// Nodes of a leaf switch.
        leaf: u32,
    },
    /// It has more than [`MAX_NODES`] switches.
    #[error("a site has at most {MAX_NODES} switches, this one has more")]
    TooManySwitches,
    /// A router has too many links.
    #[error("a router has at most {} ports, this one has more", wires::MAX_PORTS)]
    TooManyPorts,
    /// Only a grid has nodes that several processors can share.
    #[error("several processors share the nodes of a grid, and this is a {machine}")]
    NoNodes {
        /// The topology.
        machine: String,
    },
    /// Its sides are not k and 2k.
    #[error(
        "a twisted torus has sides of k and of 2k, at least one of either and k from 2, in up to 8 dimensions, \
         such as 4 × 4 × 8; this one has {given}"
    )]
    Twisted {
        /// The sides.
        given: String,
    },
    /// The torus around its groups has not one to three sides.
    #[error("the groups of a tofu stand in a torus of one to three sides, this one has {given}")]
    Tofu {
        /// How many sides there are.
        given: usize,
    },
}

/// The ways in which a site can be wired, as far as strategies tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wiring {
    /// A grid without links around its edges.
    Mesh,
    /// A grid of which some dimensions are rings; a k-ary n-cube is one with equal sides and rings only.
    Torus,
    /// A grid with side 2 in every dimension.
    Hypercube,
    /// A switch: any processors will do.
    Flat,
    /// Levels of switches.
    FatTree,
    /// Groups of routers.
    Dragonfly,
    /// A torus whose short rings are closed further along the long ones.
    TwistedTorus,
    /// A grid of nodes with several processors each.
    Multiprocessor,
}

impl Wiring {
    /// Every wiring, in the order of the manual.
    pub const ALL: [Wiring; 8] = [
        Wiring::Mesh,
        Wiring::Torus,
        Wiring::Hypercube,
        Wiring::Flat,
        Wiring::FatTree,
        Wiring::Dragonfly,
        Wiring::TwistedTorus,
        Wiring::Multiprocessor,
    ];

    /// The name in studies and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Wiring::Mesh => "mesh",
            Wiring::Torus => "torus",
            Wiring::Hypercube => "hypercube",
            Wiring::Flat => "flat",
            Wiring::FatTree => "fat_tree",
            Wiring::Dragonfly => "dragonfly",
            Wiring::TwistedTorus => "twisted_torus",
            Wiring::Multiprocessor => "multiprocessor",
        }
    }

    /// Whether its links follow the grid of its numbers, one processor at each point.
    #[must_use]
    pub fn is_grid(self) -> bool {
        matches!(self, Wiring::Mesh | Wiring::Torus | Wiring::Hypercube)
    }
}

impl fmt::Display for Wiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How many nodes, with numbers in a row, are close to each other: what strategies of locality go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiers {
    /// Nodes at one leaf switch or router.
    pub leaf: u32,
    /// Nodes of one group of a dragonfly, of one subtree below the top of a tree: a multiple of `leaf`.
    pub group: u32,
}

/// How a site is wired.
///
/// ```
/// use meshwork::topology::Topology;
/// assert_eq!(Topology::mesh(&[16, 8]).unwrap().nodes(), 128);
/// assert_eq!(Topology::hypercube(7).unwrap().to_string(), "hypercube of dimension 7");
/// assert!(Topology::torus(&[8, 0]).is_err());
/// let tree = Topology::fat_tree(&[4, 4], 1.0).unwrap();
/// assert!(!tree.wiring().is_grid());
/// assert_eq!(tree.distance(0, 15), 2); // up to the top and down again
/// ```
#[derive(Clone, Debug)]
pub struct Topology {
    wiring: Wiring,
    grid: Grid,
    /// In words, all parameters among them.
    text: String,
    tiers: Option<Tiers>,
    wires: Option<Arc<dyn Wires>>,
    /// The site of a study that it was read from, if it was.
    table: Option<Arc<Table>>,
}

/// The words of a topology say all that it was made of.
impl PartialEq for Topology {
    fn eq(&self, other: &Topology) -> bool {
        (self.wiring, &self.grid, &self.text) == (other.wiring, &other.grid, &other.text)
    }
}

impl Eq for Topology {}

impl Topology {
    /// A mesh with these sides.
    ///
    /// # Errors
    /// If there is no side, a side is 0, or there are more than [`MAX_NODES`] nodes.
    pub fn mesh(sides: &[u32]) -> Result<Topology, TopologyError> {
        Topology::with_rings(sides, &vec![false; sides.len()])
    }

    /// A torus with these sides.
    ///
    /// # Errors
    /// As for a mesh.
    pub fn torus(sides: &[u32]) -> Result<Topology, TopologyError> {
        Topology::gridded(Wiring::Torus, sides, &vec![true; sides.len()], None)
    }

    /// A grid with these sides, of which those close to a ring of which it is said: a mesh if none does.
    ///
    /// ```
    /// use meshwork::topology::Topology;
    /// let pod = Topology::with_rings(&[8, 8, 4], &[true, true, false]).unwrap();
    /// assert_eq!(pod.to_string(), "8 × 8 × 4 torus without rings along dimension 2");
    /// ```
    ///
    /// # Errors
    /// As for a mesh, and if there is not one word for each side.
    pub fn with_rings(sides: &[u32], rings: &[bool]) -> Result<Topology, TopologyError> {
        let wiring = if rings.contains(&true) { Wiring::Torus } else { Wiring::Mesh };
        Topology::gridded(wiring, sides, rings, None)
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
        let (sides, rings) = (vec![2; dimension as usize], vec![false; dimension as usize]);
        let text = format!("hypercube of dimension {dimension}");
        Topology::gridded(Wiring::Hypercube, &sides, &rings, Some(text))
    }

    /// A flat machine of so many processors.
    ///
    /// # Errors
    /// If there are none, or more than [`MAX_NODES`].
    pub fn flat(processors: u32) -> Result<Topology, TopologyError> {
        let grid = Grid::new(&[processors], false)?;
        let text = format!("flat machine of {processors} processors");
        Ok(Topology { wiring: Wiring::Flat, grid, text, tiers: None, wires: None, table: None })
    }

    /// A grid with links, described in these words or else by its sides.
    fn gridded(
        wiring: Wiring,
        sides: &[u32],
        rings: &[bool],
        text: Option<String>,
    ) -> Result<Topology, TopologyError> {
        let grid = Grid::with_rings(sides, rings)?;
        let text = text.unwrap_or_else(|| {
            let across = sides.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ");
            let open: Vec<String> =
                (0..sides.len()).filter(|&d| !rings[d]).map(|d| d.to_string()).collect();
            match (wiring, open.as_slice()) {
                (Wiring::Mesh, _) | (_, []) => format!("{across} {wiring}"),
                _ => format!("{across} {wiring} without rings along dimension {}", open.join(", ")),
            }
        });
        let wires: Arc<dyn Wires> = Arc::new(GridWires::new(&grid, 1));
        Ok(Topology { wiring, grid, text, tiers: None, wires: Some(wires), table: None })
    }

    /// The same grid with so many processors at each of its nodes: processors become what it has, and those of
    /// one node have numbers in a row. With one it is what it was.
    ///
    /// ```
    /// use meshwork::topology::Topology;
    /// let machine = Topology::mesh(&[4, 4]).unwrap().with_processors(8).unwrap();
    /// assert_eq!((machine.nodes(), machine.distance(0, 7), machine.distance(0, 8)), (128, 0, 1));
    /// ```
    ///
    /// # Errors
    /// If there are none, or too many in all, or the topology is not a grid of nodes.
    pub fn with_processors(self, each: u32) -> Result<Topology, TopologyError> {
        if each == 1 {
            return Ok(self);
        }
        if !self.wiring.is_grid() {
            return Err(TopologyError::NoNodes { machine: self.text });
        }
        let (mut sides, mut rings) = (vec![each], vec![false]);
        sides.extend_from_slice(self.grid.sides());
        rings.extend_from_slice(self.grid.rings());
        Ok(Topology {
            wiring: Wiring::Multiprocessor,
            grid: Grid::with_rings(&sides, &rings)?,
            text: format!("{} of nodes with {each} processors", self.text),
            tiers: Some(Tiers { leaf: each, group: each }),
            wires: Some(Arc::new(GridWires::new(&self.grid, each))),
            table: None,
        })
    }

    /// The topology that the site of a study describes; its table then says what it was made of.
    pub(crate) fn read(entry: &TopologyEntry, site: &Params) -> Result<Topology, Problem> {
        let is_own = |key: &str| {
            key == "topology" || entry.about.params.iter().any(|param| param.name == key)
        };
        let own = site.table().iter().filter(|(key, _)| is_own(key));
        let table = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        Ok(Topology { table: Some(Arc::new(table)), ..(entry.build)(site)? })
    }

    /// The table of a study that describes it, where it was read from one.
    ///
    /// ```
    /// use meshwork::scenario::Scenario;
    /// let scenario = Scenario::read(&toml::toml! {
    ///     machine = { topology = "torus", dims = [8, 8], speed = 2.0 }
    ///     workload = { name = "lublin", jobs = 10 }
    /// })
    /// .unwrap();
    /// let topology = &scenario.topologies()[0];
    /// assert_eq!(topology.table().unwrap()["dims"].to_string(), "[8, 8]");
    /// ```
    #[must_use]
    pub fn table(&self) -> Option<&Table> {
        self.table.as_deref()
    }

    /// How it is wired.
    #[must_use]
    pub fn wiring(&self) -> Wiring {
        self.wiring
    }

    /// The grid along which its nodes have their numbers, and in which placements are blocks. Its links
    /// follow it where [`Wiring::is_grid`] says so.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// How many processors it has.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.grid.nodes()
    }

    /// How many nodes share a leaf and a group; `None` where none do.
    #[must_use]
    pub fn tiers(&self) -> Option<Tiers> {
        self.tiers
    }

    /// Its routers and links; `None` for a flat machine, which has none.
    #[must_use]
    pub fn wires(&self) -> Option<&Arc<dyn Wires>> {
        self.wires.as_ref()
    }

    /// Links between routers on the way between two nodes; 0 on a flat machine. Between groups of a
    /// dragonfly it is the direct way, which is hardly ever longer than a way by other groups.
    #[must_use]
    pub fn distance(&self, a: Node, b: Node) -> u32 {
        self.wires.as_ref().map_or(0, |wires| wires.distance(a, b))
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
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
pub static TOPOLOGIES: &[&TopologyEntry] = &[
    &mesh::ENTRY,
    &torus::ENTRY,
    &hypercube::ENTRY,
    &flat::ENTRY,
    &fat_tree::ENTRY,
    &dragonfly::ENTRY,
    &twisted_torus::ENTRY,
    &tofu::ENTRY,
];

/// The sides, of those that have some.
const SIDES: Param = Param {
    name: "dims",
    kind: Kind::Integers(1, MAX_NODES as u64),
    default: DefaultValue::Required,
    help: "the sides, dimension 0 first",
};

/// Processors of a node, of those whose nodes may have several.
const PROCESSORS: Param = Param {
    name: "processors_per_node",
    kind: Kind::Integer(1, MAX_NODES as u64),
    default: DefaultValue::Absent("1"),
    help: "processors of each node; with more than 1 the machine hands out processors by count",
};

/// The grid that `dims` and `wrap` say, with rings where `wrap` is left out if `wrapped`.
fn grid_of(p: &Params, wrapped: bool) -> Result<Topology, Problem> {
    let sides = p.integers("dims");
    let rings = match p.get_flags("wrap") {
        None => vec![wrapped; sides.len()],
        Some(one) if one.len() == 1 => vec![one[0]; sides.len()],
        Some(each) if each.len() == sides.len() => each,
        Some(each) => {
            return Err(p.problem(
                "wrap",
                format!(
                    "`{}` has {} words, but must have one, or {} for the dimensions",
                    join(p.path(), "wrap"),
                    each.len(),
                    sides.len()
                ),
            ));
        }
    };
    let made = if rings.contains(&true) || wrapped && !p.has("wrap") {
        Topology::gridded(Wiring::Torus, &sides, &rings, None)
    } else {
        Topology::mesh(&sides)
    };
    several(p, made.map_err(|error| p.problem("dims", error.to_string()))?)
}

/// The topology with as many processors at each node as its parameters say.
fn several(p: &Params, topology: Topology) -> Result<Topology, Problem> {
    let each = p.get_integer(PROCESSORS.name).unwrap_or(1) as u32;
    topology.with_processors(each).map_err(|error| p.problem(PROCESSORS.name, error.to_string()))
}
