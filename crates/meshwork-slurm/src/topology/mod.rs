//! Content of a `topology.yaml` or `topology.conf`, with names of nodes as written in the file.

pub mod build;
pub mod from_conf;
mod span;
mod from_topograph;
pub mod from_yaml;
pub mod hosts;

pub use build::{FittedRuns, NamedNodes, Structure, build};
pub use hosts::Hosts;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmTopology {
    /// Name by which partitions refer to the topology.
    pub name: String,
    /// Number of the topology's first line in its file, counted from 1.
    pub line: usize,
    pub is_default: bool,
    pub kind: TopologyKind,
}

/// Flat topology, which a machine has if its `slurm.conf` names no topology.
pub fn flat() -> SlurmTopology {
    SlurmTopology {
        name: "default".to_owned(),
        line: 1,
        is_default: true,
        kind: TopologyKind::Flat,
    }
}

/// Kind of a topology, with its switches, blocks, rings or tori.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopologyKind {
    Flat,
    Tree(Vec<Switch>),
    /// Blocks: the block sizes with the number of the line that lists them, and the base blocks.
    ///
    /// The sizes are `None` if the file does not list them.
    Block(Option<(Vec<u32>, usize)>, Vec<NodeGroup>),
    Ring(Vec<NodeGroup>),
    Torus3d(Vec<SlurmTorus>),
}

impl TopologyKind {
    /// Name of the kind of topology, which is its key in `topology.yaml`.
    pub fn name(&self) -> &'static str {
        match self {
            TopologyKind::Flat => "flat",
            TopologyKind::Tree(_) => "tree",
            TopologyKind::Block(..) => "block",
            TopologyKind::Ring(_) => "ring",
            TopologyKind::Torus3d(_) => "torus3d",
        }
    }

    /// All host lists of the topology, in the order of the file.
    pub fn lists<'a>(&'a self) -> Vec<&'a Text> {
        match self {
            TopologyKind::Flat => Vec::new(),
            TopologyKind::Tree(switches) => {
                switches.iter().filter_map(|own| own.nodes.as_ref()).collect()
            }
            TopologyKind::Block(_, groups) | TopologyKind::Ring(groups) => {
                groups.iter().filter_map(|own| own.nodes.as_ref()).collect()
            }
            TopologyKind::Torus3d(toruses) => {
                let regions =
                    |torus: &'a SlurmTorus| torus.regions.iter().map(|own| own.nodes.as_ref());
                let all = toruses
                    .iter()
                    .flat_map(|own| std::iter::once(own.nodes.as_ref()).chain(regions(own)));
                all.flatten().collect()
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    pub line: usize,
}

/// Nodes of a base block or of a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeGroup {
    pub name: Option<String>,
    pub line: usize,
    /// Names of the group's nodes, as a host list.
    pub nodes: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub name: Option<String>,
    pub line: usize,
    /// Host list of a leaf switch.
    pub nodes: Option<Text>,
    /// Names of the switches directly below this switch, as a host list.
    pub children: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmTorus {
    pub name: Option<String>,
    pub line: usize,
    /// Length of the torus along x, y and z, in nodes.
    pub dims: Xyz,
    /// Names of the nodes at all positions of the torus, as a host list.
    pub nodes: Option<Text>,
    /// Boxes of the torus, each with its own list of nodes.
    pub regions: Vec<Region>,
    pub placements: Vec<ListedPlacement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    pub line: usize,
    /// Corner of the region at which all coordinates are smallest.
    pub anchor: Xyz,
    /// Length of the region along x, y and z, in nodes.
    pub dims: Xyz,
    pub nodes: Option<Text>,
}

/// Boxes of one shape in a torus, each of which can be allocated to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPlacement {
    pub line: usize,
    /// Length of each box along x, y and z, in nodes.
    pub dims: Xyz,
    /// Distance between the anchors of neighbouring boxes along x, y and z.
    ///
    /// The anchor of a box is its corner with the smallest coordinates.
    pub spacing: Xyz,
    /// Anchor of the first box: its corner with the smallest coordinates.
    pub seed: Xyz,
}

/// Coordinates or lengths along x, y and z.
pub type Xyz = [u32; 3];

/// Sides of a box as text: `4x4x2`.
pub fn by(dims: Xyz) -> String {
    let [x, y, z] = dims;
    format!("{x}x{y}x{z}")
}
