//! What a topology file says, before nodes are looked up: of `topology.yaml` and of `topology.conf`.

pub mod build;
pub mod from_conf;
pub mod from_yaml;
pub mod hosts;

pub use build::{Named, Structure, build};
pub use hosts::Hosts;

/// One topology of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// The name by which partitions ask for it.
    pub name: String,
    /// Where it begins.
    pub line: usize,
    /// Whether it is the cluster's default.
    pub is_default: bool,
    /// Its kind, with all that it lists.
    pub kind: Kind,
}

/// The kinds of topology, with what each lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing is listed.
    Flat,
    /// Switches.
    Tree(Vec<Switch>),
    /// The sizes of blocks, if they are given, with their line, and the base blocks.
    Block(Option<(Vec<u32>, usize)>, Vec<Group>),
    /// Rings.
    Ring(Vec<Group>),
    /// Toruses of three dimensions.
    Torus3d(Vec<Torus>),
}

impl Kind {
    /// Its key in `topology.yaml`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Flat => "flat",
            Kind::Tree(_) => "tree",
            Kind::Block(..) => "block",
            Kind::Ring(_) => "ring",
            Kind::Torus3d(_) => "torus3d",
        }
    }

    /// Its lists of nodes, in the order of the file.
    #[must_use]
    pub fn lists<'a>(&'a self) -> Vec<&'a Text> {
        match self {
            Kind::Flat => Vec::new(),
            Kind::Tree(switches) => switches.iter().filter_map(|own| own.nodes.as_ref()).collect(),
            Kind::Block(_, groups) | Kind::Ring(groups) => {
                groups.iter().filter_map(|own| own.nodes.as_ref()).collect()
            }
            Kind::Torus3d(toruses) => {
                let regions = |torus: &'a Torus| torus.regions.iter().map(|own| own.nodes.as_ref());
                let all = toruses
                    .iter()
                    .flat_map(|own| std::iter::once(own.nodes.as_ref()).chain(regions(own)));
                all.flatten().collect()
            }
        }
    }
}

/// A text and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Its line.
    pub line: usize,
}

/// A block or a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it begins.
    pub line: usize,
    /// Its nodes, as a list of hosts.
    pub nodes: Option<Text>,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it begins.
    pub line: usize,
    /// Its nodes, if it is a leaf.
    pub nodes: Option<Text>,
    /// The switches below it, as a list of hosts.
    pub children: Option<Text>,
}

/// A torus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torus {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it begins.
    pub line: usize,
    /// Its sides.
    pub dims: Xyz,
    /// The nodes of all its cells.
    pub nodes: Option<Text>,
    /// Boxes of it with their nodes.
    pub regions: Vec<Region>,
    /// Its placements.
    pub placements: Vec<Placement>,
}

/// A box of a torus, with its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Where it begins.
    pub line: usize,
    /// Its corner.
    pub anchor: Xyz,
    /// Its sides.
    pub dims: Xyz,
    /// Its nodes.
    pub nodes: Option<Text>,
}

/// A placement of a torus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Where it begins.
    pub line: usize,
    /// The sides of its boxes.
    pub dims: Xyz,
    /// How far they stand apart.
    pub spacing: Xyz,
    /// Where the first one stands.
    pub seed: Xyz,
}

/// Three numbers along x, y and z.
pub type Xyz = [u32; 3];

/// Three numbers as a box is written: `4x4x2`.
#[must_use]
pub fn by(dims: Xyz) -> String {
    let [x, y, z] = dims;
    format!("{x}x{y}x{z}")
}
