//! The content of a `topology.yaml` or `topology.conf`, with names of nodes as written in the file.

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
    /// Name by which partitions refer to this topology.
    pub name: String,
    /// The line at which the topology begins, from 1.
    pub line: usize,
    /// Whether the topology is the default of the cluster.
    pub is_default: bool,
    pub kind: TopologyKind,
}

/// The topology of a machine whose `slurm.conf` names no topology.
#[must_use]
pub fn flat() -> SlurmTopology {
    SlurmTopology {
        name: "default".to_owned(),
        line: 1,
        is_default: true,
        kind: TopologyKind::Flat,
    }
}

/// The kind of a topology, with the switches, blocks, rings or tori that it lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopologyKind {
    /// A flat topology, which lists no nodes.
    Flat,
    Tree(Vec<Switch>),
    /// Blocks of nodes. If the file lists sizes of blocks, they come first, with the line of the
    /// list. The base blocks follow.
    Block(Option<(Vec<u32>, usize)>, Vec<NodeGroup>),
    Ring(Vec<NodeGroup>),
    /// Three-dimensional tori.
    Torus3d(Vec<SlurmTorus>),
}

impl TopologyKind {
    /// The key of this kind of topology in `topology.yaml`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            TopologyKind::Flat => "flat",
            TopologyKind::Tree(_) => "tree",
            TopologyKind::Block(..) => "block",
            TopologyKind::Ring(_) => "ring",
            TopologyKind::Torus3d(_) => "torus3d",
        }
    }

    /// All host lists with nodes of the topology, in the order of the file.
    #[must_use]
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

/// A base block or a ring of a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeGroup {
    pub name: Option<String>,
    /// The line at which the block or ring begins.
    pub line: usize,
    /// The nodes of the block or ring, as a host list.
    pub nodes: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub name: Option<String>,
    /// The line at which the switch begins.
    pub line: usize,
    /// The nodes of the switch as a host list, if it is a leaf switch.
    pub nodes: Option<Text>,
    /// The switches directly below this switch, as a host list.
    pub children: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmTorus {
    pub name: Option<String>,
    /// The line at which the torus begins.
    pub line: usize,
    /// The sides of the torus along x, y and z.
    pub dims: Xyz,
    /// The nodes of all cells of the torus, as a host list.
    pub nodes: Option<Text>,
    /// Regions of the torus: boxes, each with a list of its own nodes.
    pub regions: Vec<Region>,
    pub placements: Vec<ListedPlacement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The line at which the region begins.
    pub line: usize,
    /// The corner of the region with the smallest coordinates.
    pub anchor: Xyz,
    /// The sides of the region along x, y and z.
    pub dims: Xyz,
    pub nodes: Option<Text>,
}

/// Boxes of one shape in a torus, each of which can be allocated to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPlacement {
    /// The line at which the placement begins.
    pub line: usize,
    /// The sides of each box along x, y and z.
    pub dims: Xyz,
    /// The distances between the anchors (corners) of the boxes, along x, y and z.
    pub spacing: Xyz,
    /// The anchor (corner) of the first box.
    pub seed: Xyz,
}

/// Numbers along x, y and z, such as coordinates or sides in a torus.
pub type Xyz = [u32; 3];

/// Formats the three side lengths of a box: `4x4x2`.
#[must_use]
pub fn by(dims: Xyz) -> String {
    let [x, y, z] = dims;
    format!("{x}x{y}x{z}")
}
