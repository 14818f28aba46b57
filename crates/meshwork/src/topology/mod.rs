//! Topologies: numbering of nodes, distances, routers and routes of each wiring.
//!
//! Every topology numbers its nodes along a [`Grid`], in which placements are blocks. In a mesh, a
//! torus and a hypercube, links join neighbours in the grid. In other topologies the coordinates
//! only say where a node is. In a tree they are the index of the node below its leaf switch, the
//! leaf switch and the subtree. In a dragonfly they are the index of the node at its router, the
//! router and the group. [`Wiring::is_grid`] returns whether links join neighbours in the grid. If
//! a strategy requires this, it is rejected on other machines. A [`Topology`] gives distances and
//! routes.

use std::fmt;
use std::sync::Arc;

use toml::Table;

use crate::job::Inside;
use crate::registry::{About, Kind, Param, Params, Problem, named};

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
pub mod types;
pub mod wires;

pub use grid::Grid;
use rings::GridWires;
pub use wires::Wires;

/// A node (usually a processor) of one site, given by its index in the site's grid.
///
/// Along dimension 0 of the grid, indices are consecutive.
pub type Node = u32;

/// The maximum number of processors of a site. A set with one bit for each of them takes 2 MiB.
pub const MAX_NODES: u32 = 1 << 24;

/// Reasons why a topology cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// Error: no side of the grid was given.
    #[error("a machine needs at least one side")]
    NoSides,
    /// Error: a side of the grid, or another number of the topology, is 0.
    #[error("every side of a machine is at least 1, this one has a side of 0")]
    EmptySide,
    /// Error: the number of flags for rings differs from the number of sides.
    #[error("there are {given} words on which sides are rings, but {sides} sides: one for each")]
    Rings {
        /// Number of flags, each of which says whether a dimension is a ring.
        given: usize,
        /// Number of sides, one for each dimension of the grid.
        sides: usize,
    },
    /// Error: the topology has more than [`MAX_NODES`] nodes.
    #[error("a site has at most {MAX_NODES} processors, this one has more")]
    TooManyNodes,
    /// Error: the dimension of a hypercube is 0 or gives too many nodes.
    #[error("a hypercube has a dimension from 1 to {largest}, this one has {given}")]
    Dimension {
        /// The requested dimension of the hypercube.
        given: u32,
        /// The largest valid dimension of a hypercube.
        largest: u32,
    },
    /// Error: the nodes of a leaf switch, divided by the taper, give no whole number of upward
    /// links. The number must be 1 or more.
    #[error(
        "with a taper of {taper} a leaf switch of {leaf} nodes would not have a whole number of links upwards, \
         1 or more"
    )]
    Taper {
        /// The requested taper of the fat tree.
        taper: String,
        /// Number of nodes of a leaf switch.
        leaf: u32,
    },
    /// Error: the topology has more than [`MAX_NODES`] switches.
    #[error("a site has at most {MAX_NODES} switches, this one has more")]
    TooManySwitches,
    /// Error: a router has more links than the maximum.
    #[error("a router has at most {} ports, this one has more", wires::MAX_PORTS)]
    TooManyPorts,
    /// Error: several processors per node were requested for a topology that is not a grid.
    #[error("several processors share the nodes of a grid, and this is a {machine}")]
    NoNodes {
        /// Description of the topology in words.
        machine: String,
    },
    /// Error: the sides of a twisted torus are not k and 2k. Both lengths must occur, k must be at
    /// least 2, and there may be at most eight sides.
    #[error(
        "a twisted torus has sides of k and of 2k, at least one of either and k from 2, in up to 8 dimensions, \
         such as 4 × 4 × 8; this one has {given}"
    )]
    Twisted {
        /// Sides that were requested for the torus, joined by `×`.
        given: String,
    },
    /// Error: the caller gave links for a grid, whose links are known, or for a flat machine.
    #[error(
        "links of one's own need a wiring that is neither a grid nor flat, such as `dragonfly`, this one is `{wiring}`"
    )]
    OwnWires {
        /// The requested wiring.
        wiring: Wiring,
    },
    /// Error: the nodes of a group (or subtree) cannot be divided into whole leaves.
    #[error("a group of {group} nodes has no whole number of leaves of {leaf} nodes, 1 or more")]
    OwnTiers {
        /// Number of nodes of a leaf.
        leaf: u32,
        /// Number of nodes of a group.
        group: u32,
    },
    /// Error: the grid has more nodes than can be attached to the routers.
    #[error("the sides make {nodes} nodes, but the routers have {room}: give one for every node")]
    TooFewRouters {
        /// Number of nodes of the grid.
        nodes: u32,
        /// Number of nodes that can be attached to the routers.
        room: u64,
    },
    /// Error: the torus that joins the groups of a tofu needs one to three sides.
    #[error("the groups of a tofu stand in a torus of one to three sides, this one has {given}")]
    Tofu {
        /// Number of sides that were given.
        given: usize,
    },
}

/// Wiring of a site: how its nodes are connected. Each strategy lists the wirings that it supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wiring {
    /// Mesh: a grid without links around its edges.
    Mesh,
    /// Torus: a grid in which some dimensions are rings. If all sides are equal and all dimensions
    /// are rings, it is a k-ary n-cube.
    Torus,
    /// Hypercube: a grid with side 2 in every dimension.
    Hypercube,
    /// Flat machine: all processors are behind one switch and equivalent to each other.
    Flat,
    /// Fat tree: levels of switches, with links to the level above.
    FatTree,
    /// Dragonfly: groups of routers, with a link between every two groups.
    Dragonfly,
    /// Twisted torus: a torus whose links across the edge of a short side are offset along long
    /// sides.
    TwistedTorus,
    /// Grid of nodes with several processors in each node.
    Multiprocessor,
}

impl Wiring {
    /// All wirings, in the order of the manual.
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

    /// The name of the wiring in studies and on the command line.
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

    /// Whether the nodes form a grid with links between neighbours and one processor at each point.
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

/// Sizes of the two kinds of sets into which a topology divides its nodes: leaves and groups.
///
/// The nodes of one leaf or group have consecutive numbers and are close together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiers {
    /// Number of nodes at one leaf switch or router.
    pub leaf: u32,
    /// Number of nodes of a dragonfly group, or of a subtree below the top. It is a multiple of
    /// `leaf`.
    pub group: u32,
}

/// The topology of a site: its nodes, routers and links.
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
    /// Description of the topology in words. It contains all parameters except those in `types` and
    /// `parts`.
    text: String,
    tiers: Option<Tiers>,
    wires: Option<Arc<dyn Wires>>,
    /// Table of the study from which the topology was read; `None` if it was not read from a study.
    table: Option<Arc<Table>>,
    /// Types of the nodes; `None` if jobs do not share nodes.
    types: Option<Arc<types::NodeTypes>>,
    /// Leaves and blocks that the allocator's parameters list, for a topology that defines neither.
    parts: Option<Arc<ListedParts>>,
}

/// Leaf and block of each node, listed in a study for a topology that defines neither.
///
/// A block here is a set of nodes as in Slurm's block topology, not a box of the grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedParts {
    /// Index of the leaf of each node; `None` for a node in no leaf.
    ///
    /// The list is empty if no leaves are listed.
    pub leaf: Vec<Option<u32>>,
    /// Index of the block of each node; `None` for a node in no block.
    ///
    /// The list is empty if no blocks are listed.
    pub block: Vec<Option<u32>>,
}

/// Compares topologies by description, types of nodes, and listed leaves and blocks.
///
/// The description contains all other parameters.
impl PartialEq for Topology {
    fn eq(&self, other: &Topology) -> bool {
        (self.wiring, &self.grid, &self.text, &self.types, &self.parts)
            == (other.wiring, &other.grid, &other.text, &other.types, &other.parts)
    }
}

impl Eq for Topology {}

impl Topology {
    /// A mesh with the given sides.
    ///
    /// # Errors
    /// If there is no side, a side is 0, or there are more than [`MAX_NODES`] nodes.
    pub fn mesh(sides: &[u32]) -> Result<Topology, TopologyError> {
        Topology::with_rings(sides, &vec![false; sides.len()])
    }

    /// A torus with the given sides.
    ///
    /// # Errors
    /// If [`mesh`](Topology::mesh) would fail.
    pub fn torus(sides: &[u32]) -> Result<Topology, TopologyError> {
        Topology::gridded(Wiring::Torus, sides, &vec![true; sides.len()], None)
    }

    /// A grid with the given sides. Dimension *d* is a ring if `rings[d]` is `true`. If no
    /// dimension is a ring, the grid is a mesh.
    ///
    /// ```
    /// use meshwork::topology::Topology;
    /// let pod = Topology::with_rings(&[8, 8, 4], &[true, true, false]).unwrap();
    /// assert_eq!(pod.to_string(), "8 × 8 × 4 torus without rings along dimension 2");
    /// ```
    ///
    /// # Errors
    /// If [`mesh`](Topology::mesh) would fail, or if `sides` and `rings` differ in length.
    pub fn with_rings(sides: &[u32], rings: &[bool]) -> Result<Topology, TopologyError> {
        let wiring = if rings.contains(&true) { Wiring::Torus } else { Wiring::Mesh };
        Topology::gridded(wiring, sides, rings, None)
    }

    /// A hypercube of the given dimension, which is at least 1.
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

    /// A flat machine with the given number of processors.
    ///
    /// # Errors
    /// If the number is 0 or above [`MAX_NODES`].
    pub fn flat(processors: u32) -> Result<Topology, TopologyError> {
        let grid = Grid::new(&[processors], false)?;
        let plural = if processors == 1 { "" } else { "s" };
        let text = format!("flat machine of {processors} processor{plural}");
        Ok(Topology::bare(Wiring::Flat, grid, text, None, None))
    }

    /// A topology that was not read from a study and whose nodes are not shared.
    fn bare(
        wiring: Wiring,
        grid: Grid,
        text: String,
        tiers: Option<Tiers>,
        wires: Option<Arc<dyn Wires>>,
    ) -> Topology {
        Topology { wiring, grid, text, tiers, wires, table: None, types: None, parts: None }
    }

    /// Creates a grid with its links. Its description is `text`, or its sides if `text` is `None`.
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
        let wires = Arc::new(GridWires::new(&grid, 1));
        Ok(Topology::bare(wiring, grid, text, None, Some(wires)))
    }

    /// A topology with links defined by the caller. `text` describes it with all its parameters.
    ///
    /// Nodes are numbered along a grid with the given `sides`. Strategies treat the topology like
    /// others of the given `wiring`, which must not be a grid. The decisions of strategies depend
    /// only on the grid, the sizes of leaves and groups (`tiers`), and the distances.
    ///
    /// # Errors
    /// If the wiring is a grid, whose links are known, or a flat machine, which has no links. If
    /// the number of nodes of a group is not a multiple of the number of nodes of a leaf. If the
    /// grid has more nodes than can be attached to the routers. If [`mesh`](Topology::mesh) would
    /// fail for `sides`.
    pub fn with_wires(
        wiring: Wiring,
        sides: &[u32],
        text: impl Into<String>,
        tiers: Tiers,
        wires: Arc<dyn Wires>,
    ) -> Result<Topology, TopologyError> {
        if wiring.is_grid() || wiring == Wiring::Flat {
            return Err(TopologyError::OwnWires { wiring });
        }
        if tiers.leaf == 0 || tiers.group == 0 || !tiers.group.is_multiple_of(tiers.leaf) {
            return Err(TopologyError::OwnTiers { leaf: tiers.leaf, group: tiers.group });
        }
        let grid = Grid::new(sides, false)?;
        let nodes = u64::from(wires.routers()) * u64::from(wires.nodes_each());
        if nodes < u64::from(grid.nodes()) {
            return Err(TopologyError::TooFewRouters { nodes: grid.nodes(), room: nodes });
        }
        Ok(Topology::bare(wiring, grid, text.into(), Some(tiers), Some(wires)))
    }

    /// The topology of a grid with `each` processors at each of its points.
    ///
    /// The processors become the nodes of the topology. Processors at one point have consecutive
    /// numbers. If `each` is 1, the topology is unchanged.
    ///
    /// ```
    /// use meshwork::topology::Topology;
    /// let machine = Topology::mesh(&[4, 4]).unwrap().with_processors(8).unwrap();
    /// assert_eq!((machine.nodes(), machine.distance(0, 7), machine.distance(0, 8)), (128, 0, 1));
    /// ```
    ///
    /// # Errors
    /// If `each` is 0, there are too many processors in all, or the topology is not a grid of
    /// nodes.
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
        let grid = Grid::with_rings(&sides, &rings)?;
        let text = format!("{} of nodes with {each} processors", self.text);
        let tiers = Tiers { leaf: each, group: each };
        let wires = Arc::new(GridWires::new(&self.grid, each));
        Ok(Topology::bare(Wiring::Multiprocessor, grid, text, Some(tiers), Some(wires)))
    }

    /// The topology with the given types of nodes, so that jobs share nodes. `types` has a type for
    /// each node.
    ///
    /// # Panics
    /// If `types` is for another number of nodes than the topology has.
    #[must_use]
    pub fn with_types(self, types: Arc<types::NodeTypes>) -> Topology {
        assert_eq!(types.nodes(), self.nodes(), "a type for each node");
        Topology { types: Some(types), ..self }
    }

    /// The topology without types of nodes, so that jobs do not share nodes.
    #[must_use]
    pub fn without_types(self) -> Topology {
        Topology { types: None, ..self }
    }

    /// The topology with added leaves and blocks, given as lists of nodes.
    ///
    /// A job may ask that its pieces (parts of nodes) lie inside one leaf or one block.
    #[must_use]
    pub fn with_parts(self, parts: ListedParts) -> Topology {
        Topology { parts: Some(Arc::new(parts)), ..self }
    }

    /// Index of the leaf, block or other part of the machine to which a node belongs.
    ///
    /// `inside` is the kind of part. `None` if the node belongs to no part of this kind. An island
    /// is a part of a node, such as a socket, so for [`Inside::Island`] the result is the node
    /// itself.
    #[must_use]
    pub fn part_of(&self, inside: Inside, node: Node) -> Option<u32> {
        let listed = |parts: &Vec<Option<u32>>| *parts.get(node as usize)?;
        match (inside, self.tiers, &self.parts) {
            (Inside::Anywhere, ..) => Some(0),
            (Inside::Node | Inside::Island, ..) => Some(node),
            (Inside::Leaf, Some(tiers), _) => Some(node / tiers.leaf),
            (Inside::Block, Some(tiers), _) => Some(node / tiers.group),
            (Inside::Leaf, None, Some(parts)) => listed(&parts.leaf),
            (Inside::Block, None, Some(parts)) => listed(&parts.block),
            (Inside::Leaf | Inside::Block, None, None) => None,
        }
    }

    /// The types of the nodes; `None` if jobs do not share nodes.
    #[must_use]
    pub fn types(&self) -> Option<&Arc<types::NodeTypes>> {
        self.types.as_ref()
    }

    /// Reads the topology from a site of a study. Keeps a copy of the keys that describe it.
    pub(crate) fn read(entry: &TopologyEntry, site: &Params) -> Result<Topology, Problem> {
        let is_own = |key: &str| {
            key == "topology" || entry.about.params.iter().any(|param| param.name == key)
        };
        let own = site.table().iter().filter(|(key, _)| is_own(key));
        let table = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        Ok(Topology { table: Some(Arc::new(table)), ..(entry.build)(site)? })
    }

    /// Adds a key to the table from which the topology was read, if it was read from a study.
    pub(crate) fn described_also(mut self, key: &str, value: toml::Value) -> Topology {
        if let Some(table) = &mut self.table {
            Arc::make_mut(table).insert(key.to_owned(), value);
        }
        self
    }

    /// The table of the study from which the topology was read; `None` if it was not read from a
    /// study.
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

    /// The kind of wiring of the topology.
    #[must_use]
    pub fn wiring(&self) -> Wiring {
        self.wiring
    }

    /// The grid along which the nodes are numbered, and in which placements are blocks.
    ///
    /// Links join neighbours in the grid if [`Wiring::is_grid`] returns `true`.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Number of nodes. If jobs do not share nodes, each node is one processor.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.grid.nodes()
    }

    /// Number of processors: the cores if jobs share nodes, otherwise the nodes.
    #[must_use]
    pub fn processors(&self) -> u32 {
        match &self.types {
            None => self.grid.nodes(),
            Some(types) => u32::try_from(types.cores()).unwrap_or(u32::MAX),
        }
    }

    /// Sizes of the leaves and groups of nodes; `None` if the topology has neither.
    #[must_use]
    pub fn tiers(&self) -> Option<Tiers> {
        self.tiers
    }

    /// The routers and links of the topology; `None` for a flat machine, which has no links.
    #[must_use]
    pub fn wires(&self) -> Option<&Arc<dyn Wires>> {
        self.wires.as_ref()
    }

    /// Number of links between routers on the route between two nodes; 0 on a flat machine.
    ///
    /// Between groups of a dragonfly, this is the number of links of the direct route. In rare
    /// cases, a route through a third group is shorter.
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

/// Registry entry of a topology.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct TopologyEntry {
    /// Name, definition and parameters of the topology.
    pub about: About,
    /// Builds the topology of a site from its parameters.
    pub build: fn(&Params) -> Result<Topology, Problem>,
}

impl TopologyEntry {
    /// Creates a registry entry of a topology.
    #[must_use]
    pub const fn new(
        about: About,
        build: fn(&Params) -> Result<Topology, Problem>,
    ) -> TopologyEntry {
        TopologyEntry { about, build }
    }

    /// Replaces name, definition and parameters of this entry.
    #[must_use]
    pub const fn described(mut self, about: About) -> TopologyEntry {
        self.about = about;
        self
    }
}

named!(TopologyEntry);

/// All topologies, in the order in which lists show them.
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

const SIDES: Param =
    Param::new("dims", Kind::Integers(1, MAX_NODES as u64)).help("the sides, dimension 0 first");

const PROCESSORS: Param = Param::new("processors_per_node", Kind::Integer(1, MAX_NODES as u64))
    .absent("1")
    .help("processors of each node; with more than 1 the machine hands out processors by count");

/// Reads the grid that the parameters `dims` and `wrap` describe. If `wrap` is absent, `wrapped`
/// says whether the dimensions are rings.
fn grid_of(p: &Params, wrapped: bool) -> Result<Topology, Problem> {
    let sides = p.integers("dims");
    let rings = match p.get_flags("wrap") {
        None => vec![wrapped; sides.len()],
        Some(one) if one.len() == 1 => vec![one[0]; sides.len()],
        Some(each) if each.len() == sides.len() => each,
        Some(each) => {
            let says = format!(
                "has {} words, but must have one, or {} for the dimensions",
                each.len(),
                sides.len()
            );
            return Err(p.refusal("wrap", says));
        }
    };
    let made = if rings.contains(&true) || wrapped && !p.has("wrap") {
        Topology::gridded(Wiring::Torus, &sides, &rings, None)
    } else {
        Topology::mesh(&sides)
    };
    several(p, made.map_err(|error| p.problem("dims", error.to_string()))?)
}

/// Replaces each node of the topology by several processors, if the parameters say so.
fn several(p: &Params, topology: Topology) -> Result<Topology, Problem> {
    let each = p.get_integer(PROCESSORS.name).unwrap_or(1) as u32;
    topology.with_processors(each).map_err(|error| p.problem(PROCESSORS.name, error.to_string()))
}
