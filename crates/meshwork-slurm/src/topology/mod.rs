//! The content of a `topology.yaml` or `topology.conf`, before nodes are looked up.

pub mod build;
pub mod from_conf;
mod from_topograph;
pub mod from_yaml;
pub mod hosts;

pub use build::{FittedRuns, NamedNodes, Structure, build};
pub use hosts::Hosts;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmTopology {
    /// Name by which partitions refer to the topology.
    pub name: String,
    /// The line where it begins, from 1.
    pub line: usize,
    /// Whether it is the cluster's default.
    pub is_default: bool,
    pub kind: TopologyKind,
}

/// The topology of a machine whose `slurm.conf` names none.
#[must_use]
pub fn flat() -> SlurmTopology {
    SlurmTopology {
        name: "default".to_owned(),
        line: 1,
        is_default: true,
        kind: TopologyKind::Flat,
    }
}

/// The kinds of topology, with their lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopologyKind {
    /// A topology without lists.
    Flat,
    Tree(Vec<Switch>),
    /// The block sizes with their line, if given, and the base blocks.
    Block(Option<(Vec<u32>, usize)>, Vec<NodeGroup>),
    Ring(Vec<NodeGroup>),
    /// Three-dimensional tori.
    Torus3d(Vec<SlurmTorus>),
}

impl TopologyKind {
    /// Its key in `topology.yaml`.
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

    /// Its lists of nodes, in the order of the file.
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

/// A block or a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeGroup {
    pub name: Option<String>,
    /// The line where it begins.
    pub line: usize,
    /// Its nodes, as a host list.
    pub nodes: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub name: Option<String>,
    /// The line where it begins.
    pub line: usize,
    /// Its nodes, if it is a leaf.
    pub nodes: Option<Text>,
    /// The switches below it, as a host list.
    pub children: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmTorus {
    pub name: Option<String>,
    /// The line where it begins.
    pub line: usize,
    /// The sides.
    pub dims: Xyz,
    /// The nodes of all cells.
    pub nodes: Option<Text>,
    /// Boxes with their nodes.
    pub regions: Vec<Region>,
    pub placements: Vec<ListedPlacement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The line where it begins.
    pub line: usize,
    /// The corner with the smallest coordinates.
    pub anchor: Xyz,
    /// The sides.
    pub dims: Xyz,
    pub nodes: Option<Text>,
}

/// The listed boxes of one shape in a torus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPlacement {
    /// The line where it begins.
    pub line: usize,
    /// The sides of the boxes.
    pub dims: Xyz,
    /// The distances between their anchors.
    pub spacing: Xyz,
    /// The position of the first one.
    pub seed: Xyz,
}

/// Three numbers along x, y and z.
pub type Xyz = [u32; 3];

/// Formats three numbers as a box: `4x4x2`.
#[must_use]
pub fn by(dims: Xyz) -> String {
    let [x, y, z] = dims;
    format!("{x}x{y}x{z}")
}
