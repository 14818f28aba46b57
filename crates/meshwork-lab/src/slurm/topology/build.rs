//! A topology with its nodes looked up, as the rules of the model take it; what Slurm refuses is refused here, in its order.

use std::collections::BTreeMap;

use meshwork::alloc::listed::Rule;
use meshwork::alloc::listed::anchors::{self, Anchors, Shape};
use meshwork::alloc::listed::blocks::Blocks;
use meshwork::alloc::listed::criteria::Criterion;

use meshwork::alloc::listed::ring::Rings;
use meshwork::alloc::listed::runs::Runs;
use meshwork::alloc::listed::tree::{Below, Tree};
use meshwork::geometry::NodeSet;
use meshwork::topology::{MAX_NODES, Node};

use super::{Group, Kind, Placement, Region, Switch, Text, Topology, Torus, by};
use crate::slurm::finding::{Fatal, Findings};
use crate::slurm::hostlist::{compressed, names};

/// The longest ring that Slurm takes.
const LONGEST_RING: usize = 16;

/// The highest level of blocks, as an exponent.
const HIGHEST_LEVEL: u32 = 15;

/// How often Slurm goes through its switches to find their levels.
const MOST_PASSES: usize = 21;

/// The nodes that there are, by name.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    names: Vec<String>,
    by_name: BTreeMap<String, Node>,
}

impl Hosts {
    /// These nodes, numbered in their order; one that is named twice counts once.
    pub fn new(names: impl IntoIterator<Item = String>) -> Hosts {
        let mut hosts = Hosts::default();
        names.into_iter().for_each(|name| hosts.add(name));
        hosts
    }

    fn add(&mut self, name: String) {
        if !self.by_name.contains_key(&name) {
            self.by_name.insert(name.clone(), self.names.len() as Node);
            self.names.push(name);
        }
    }

    /// All nodes that topologies name, for want of a `slurm.conf`; lists that cannot be read name none.
    #[must_use]
    pub fn of(topologies: &[Topology]) -> Hosts {
        let mut hosts = Hosts::default();
        let mut add = |list: &Option<Text>| {
            let names = list.as_ref().map(|list| names(&list.text).unwrap_or_default());
            names.into_iter().flatten().for_each(|name| hosts.add(name));
        };
        for topology in topologies {
            match &topology.kind {
                Kind::Flat => {}
                Kind::Tree(switches) => switches.iter().for_each(|switch| add(&switch.nodes)),
                Kind::Block(_, groups) | Kind::Ring(groups) => {
                    groups.iter().for_each(|group| add(&group.nodes));
                }
                Kind::Torus3d(toruses) => {
                    for torus in toruses {
                        add(&torus.nodes);
                        torus.regions.iter().for_each(|region| add(&region.nodes));
                    }
                }
            }
        }
        hosts
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.names.len() as u32
    }

    /// The number of a node.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Node> {
        self.by_name.get(name).copied()
    }

    /// The name of a node.
    #[must_use]
    pub fn name(&self, node: Node) -> &str {
        &self.names[node as usize]
    }

    /// The names of a set, as Slurm writes them.
    #[must_use]
    pub fn listed(&self, set: &NodeSet) -> String {
        compressed(set.iter().map(|node| self.name(node)))
    }
}

/// Something with a name and nodes.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Where it is listed.
    pub line: usize,
    /// Its nodes.
    pub nodes: NodeSet,
}

/// A topology as the rules take it, with what has a name in it.
#[derive(Clone, Debug)]
pub enum Structure {
    /// Nothing is listed.
    Flat,
    /// Switches, the leaves with their nodes.
    Tree(Tree, Vec<Named>),
    /// The base blocks, their size and the exponents of the levels.
    Block(Blocks, Vec<Named>, u32, Vec<u32>),
    /// Rings.
    Ring(Rings, Vec<Named>),
    /// Toruses.
    Torus3d(Anchors, Vec<Named>),
}

impl Structure {
    /// The rule that chooses nodes.
    #[must_use]
    pub fn rule(&self) -> &dyn Rule {
        match self {
            Structure::Flat => &Runs,
            Structure::Tree(tree, _) => tree,
            Structure::Block(blocks, ..) => blocks,
            Structure::Ring(rings, _) => rings,
            Structure::Torus3d(anchors, _) => anchors,
        }
    }

    /// What has a name in it.
    #[must_use]
    pub fn named(&self) -> &[Named] {
        match self {
            Structure::Flat => &[],
            Structure::Tree(_, named)
            | Structure::Block(_, named, ..)
            | Structure::Ring(_, named)
            | Structure::Torus3d(_, named) => named,
        }
    }
}

/// The structure of a topology on these nodes.
///
/// # Errors
/// If Slurm would not start with it; what is wrong is among the findings then.
pub fn build(
    topology: &Topology,
    hosts: &Hosts,
    findings: &mut Findings,
) -> Result<Structure, Fatal> {
    let mut builder = Builder { hosts, findings, unknown: Vec::new() };
    match &topology.kind {
        Kind::Flat => Ok(Structure::Flat),
        Kind::Tree(switches) => builder.tree(topology, switches),
        Kind::Block(sizes, blocks) => builder.blocks(topology, sizes.as_ref(), blocks),
        Kind::Ring(rings) => builder.rings(topology, rings),
        Kind::Torus3d(toruses) => builder.toruses(topology, toruses),
    }
}

struct Builder<'a> {
    hosts: &'a Hosts,
    findings: &'a mut Findings,
    /// The names that no node has.
    unknown: Vec<String>,
}

impl Builder<'_> {
    fn fatal<T>(
        &mut self,
        line: usize,
        says: impl Into<String>,
        slurm: &[&str],
    ) -> Result<T, Fatal> {
        Err(self.findings.fatal(line, says, slurm))
    }

    /// The nodes of a list, in its order; a name that no node has is `None`.
    fn nodes(&mut self, names: &[String]) -> Vec<Option<Node>> {
        let unknown = names.iter().filter(|name| self.hosts.find(name).is_none());
        self.unknown.extend(unknown.cloned());
        names.iter().map(|name| self.hosts.find(name)).collect()
    }

    fn set(&mut self, what: &str, line: usize, names: &[String]) -> NodeSet {
        let mut set = NodeSet::empty(self.hosts.count());
        for node in self.nodes(names).into_iter().flatten() {
            if set.contains(node) {
                let name = self.hosts.name(node);
                self.findings.warn(line, format!("{what} has the node {name} twice"));
            }
            set.insert(node);
        }
        set
    }

    /// Warns of nodes that nothing names, and of names that no node has.
    fn warn_of_nodes(&mut self, topology: &Topology, what: &str, none: &str, covered: &NodeSet) {
        let mut missing = NodeSet::full(self.hosts.count());
        missing.subtract(covered);
        if !missing.is_empty() {
            let listed = self.hosts.listed(&missing);
            let says = format!("no {what} has the nodes {listed}");
            let slurm =
                format!("warning: {none} lack access to {} nodes: {listed}", missing.count());
            self.findings.warn_logged(topology.line, says, &[&slurm]);
        }
    }

    fn warn_of_unknown(&mut self, topology: &Topology, what: &str) {
        if !self.unknown.is_empty() {
            let listed = compressed(self.unknown.iter().map(String::as_str));
            let says = format!("slurm.conf has no nodes {listed}, which this topology names");
            let missed = |name: &String| {
                format!("error: _find_node_record: lookup failure for node \"{name}\"")
            };
            let mut slurm: Vec<String> = self.unknown.iter().map(missed).collect();
            slurm.push(format!("warning: Invalid hostnames in {what} configuration: {listed}"));
            let slurm: Vec<&str> = slurm.iter().map(String::as_str).collect();
            self.findings.warn_logged(topology.line, says, &slurm);
        }
    }

    /// Refuses what has no name, and a name that has been given before.
    fn name<'n>(
        &mut self,
        what: &str,
        name: Option<&'n String>,
        line: usize,
        earlier: &[Named],
    ) -> Result<&'n String, Fatal> {
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            let says = format!("this {what} has no name");
            let slurm = format!("fatal: Can't create a {what} without a name");
            return self.fatal(line, says, &[&slurm]);
        };
        if let Some(other) = earlier.iter().find(|other| other.name == *name) {
            let says = format!("a {what} is named {name} here and in line {}", other.line);
            let capital = format!("{}{}", what[..1].to_uppercase(), &what[1..]);
            let slurm = format!("fatal: {capital} ({name}) has already been defined");
            return self.fatal(line, says, &[&slurm]);
        }
        Ok(name)
    }

    /// Warns of nodes that two have.
    fn warn_of_shared(&mut self, what: &str, named: &[Named]) {
        for (place, group) in named.iter().enumerate() {
            for other in named[..place].iter().filter(|other| other.nodes.meets(&group.nodes)) {
                let mut shared = other.nodes.clone();
                shared.intersect(&group.nodes);
                let listed = self.hosts.listed(&shared);
                let says =
                    format!("the {what}s {} and {} both have {listed}", other.name, group.name);
                self.findings.warn(group.line, says);
            }
        }
    }

    fn blocks(
        &mut self,
        topology: &Topology,
        sizes: Option<&(Vec<u32>, usize)>,
        blocks: &[Group],
    ) -> Result<Structure, Fatal> {
        let (mut base, mut levels) = (0, vec![0, 1, 2, 3]);
        if let Some((sizes, line)) = sizes {
            base = sizes[0];
            levels.clear();
            for &size in sizes {
                let level = size.checked_div(base).filter(|times| times.is_power_of_two());
                let level = level
                    .map(u32::ilog2)
                    .filter(|&level| size.is_multiple_of(base) && level <= HIGHEST_LEVEL);
                let Some(level) = level else {
                    let says = format!(
                        "the block size {size} is not the base size {base} times a power of two up to 2^{HIGHEST_LEVEL}"
                    );
                    let slurm =
                        format!("fatal: Invalid BlockSizes value in topology {}", topology.name);
                    return self.fatal(*line, says, &[&slurm]);
                };
                if levels.contains(&level) {
                    self.findings.warn(*line, format!("the block size {size} is listed twice"));
                } else if levels.last().is_some_and(|&last| last > level) {
                    self.findings
                        .warn(*line, format!("the block size {size} is listed after a larger one"));
                }
                levels.push(level);
            }
        }
        if blocks.is_empty() {
            let slurm = "fatal: No blocks configured, failed to create context for topology plugin";
            return self.fatal(topology.line, "this topology lists no blocks", &[slurm]);
        }
        let mut named: Vec<Named> = Vec::new();
        for block in blocks {
            let name = self.name("block", block.name.as_ref(), block.line, &named)?.clone();
            let nodes = match &block.nodes {
                None => {
                    self.findings.warn(block.line, format!("the block {name} has no nodes"));
                    NodeSet::empty(self.hosts.count())
                }
                Some(list) => {
                    let names = names(&list.text).or_else(|says| {
                        let error = format!("error: hostlist_create on {} error:", list.text);
                        let slurm = format!(
                            "fatal: Invalid node name ({}) in block config ({name})",
                            list.text
                        );
                        self.fatal(list.line, says, &[&error, &slurm])
                    })?;
                    self.set(&format!("the block {name}"), list.line, &names)
                }
            };
            if base == 0 {
                base = nodes.count();
            }
            named.push(Named { name, line: block.line, nodes });
        }
        if base == 0 {
            return self.fatal(topology.line, "no block has a node", &[]);
        }
        self.warn_of_blocks(topology, sizes, base, &levels, &named);
        let sets = named.iter().map(|block| block.nodes.clone()).collect();
        let blocks = Blocks::new(self.hosts.count(), base, &levels, sets);
        levels.push(0);
        levels.sort_unstable();
        levels.dedup();
        Ok(Structure::Block(blocks, named, base, levels))
    }

    fn warn_of_blocks(
        &mut self,
        topology: &Topology,
        sizes: Option<&(Vec<u32>, usize)>,
        base: u32,
        levels: &[u32],
        named: &[Named],
    ) {
        let mut covered = NodeSet::empty(self.hosts.count());
        named.iter().for_each(|block| covered.unite(&block.nodes));
        self.warn_of_nodes(topology, "block", "Blocks", &covered);
        self.warn_of_unknown(topology, "block");
        self.warn_of_shared("block", named);
        let sized = |is: fn(&u32, &u32) -> bool| {
            let are = named
                .iter()
                .filter(|block| !block.nodes.is_empty() && is(&block.nodes.count(), &base));
            let names: Vec<&Named> = are.collect();
            let list = compressed(names.iter().map(|block| block.name.as_str()));
            names.first().map(|first| (first.line, list))
        };
        if let Some((line, list)) = sized(u32::lt) {
            let says = format!(
                "{list}: fewer nodes than the base size {base}, so jobs of whole blocks do not fit"
            );
            self.findings.warn(line, says);
        }
        if let Some((line, list)) = sized(u32::gt) {
            let says = format!(
                "{list}: more nodes than the base size {base}, so a job of all of them counts as one of two blocks"
            );
            self.findings.warn(line, says);
        }
        let Some((_, line)) = sizes else { return };
        let highest = levels.iter().copied().max().unwrap_or(0);
        let parts = (named.len() as u64).next_power_of_two();
        if 1_u64 << highest > parts {
            let size = u64::from(base) << highest;
            let says = format!(
                "the block size {size} is larger than the {} blocks that there are",
                named.len()
            );
            self.findings.warn(*line, says);
        }
        for level in levels.iter().copied().filter(|&level| level > 0) {
            let joined = 1_usize << level;
            if joined < named.len() && !named.len().is_multiple_of(joined) {
                let says = format!(
                    "{} blocks are no multiple of the {joined} that a block of {} joins: the last {} are joined alone",
                    named.len(),
                    u64::from(base) << level,
                    named.len() % joined
                );
                self.findings.warn(*line, says);
            }
        }
    }

    fn rings(&mut self, topology: &Topology, rings: &[Group]) -> Result<Structure, Fatal> {
        if rings.is_empty() {
            let slurm = "fatal: No rings configured, failed to create context for topology plugin";
            return self.fatal(topology.line, "this topology lists no rings", &[slurm]);
        }
        let (mut named, mut around): (Vec<Named>, Vec<Vec<Node>>) = (Vec::new(), Vec::new());
        for ring in rings {
            let name = self.name("ring", ring.name.as_ref(), ring.line, &named)?.clone();
            let names = match &ring.nodes {
                None => {
                    self.findings.warn(ring.line, format!("the ring {name} has no nodes"));
                    Vec::new()
                }
                Some(list) => names(&list.text).or_else(|says| {
                    let slurm = format!("error: hostlist_create error on {name}");
                    self.fatal(list.line, says, &[&slurm])
                })?,
            };
            let nodes: Vec<Node> = self.nodes(&names).into_iter().flatten().collect();
            if nodes.len() > LONGEST_RING
                || names.len() > LONGEST_RING && nodes.len() == LONGEST_RING
            {
                let says = format!(
                    "the ring {name} has {} nodes, but a ring has at most {LONGEST_RING}",
                    names.len()
                );
                let slurm = format!("fatal: Ring ({name}) is bigger than {LONGEST_RING}");
                return self.fatal(ring.line, says, &[&slurm]);
            }
            let line = ring.nodes.as_ref().map_or(ring.line, |list| list.line);
            if nodes.len() == 1 {
                self.findings.warn(line, format!("the ring {name} has one node"));
            }
            let mut set = NodeSet::empty(self.hosts.count());
            for &node in &nodes {
                if set.contains(node) {
                    let host = self.hosts.name(node);
                    self.findings.warn(line, format!("the ring {name} has the node {host} twice"));
                }
                set.insert(node);
            }
            named.push(Named { name, line: ring.line, nodes: set });
            around.push(nodes);
        }
        let mut covered = NodeSet::empty(self.hosts.count());
        named.iter().for_each(|ring| covered.unite(&ring.nodes));
        self.warn_of_nodes(topology, "ring", "Rings", &covered);
        self.warn_of_unknown(topology, "ring");
        self.warn_of_shared("ring", &named);
        Ok(Structure::Ring(Rings::new(self.hosts.count(), around), named))
    }

    fn toruses(&mut self, topology: &Topology, toruses: &[Torus]) -> Result<Structure, Fatal> {
        if toruses.is_empty() {
            let slurm = "fatal: No torus3d configurations found";
            return self.fatal(topology.line, "this topology lists no toruses", &[slurm]);
        }
        let (mut named, mut built): (Vec<Named>, Vec<anchors::Torus>) = (Vec::new(), Vec::new());
        for torus in toruses {
            let name = torus.name.clone().filter(|name| !name.is_empty());
            let shown = name.as_deref().unwrap_or("(null)");
            let refused = format!("fatal: Torus3d ({shown}) has invalid configuration");
            let Some(name) = name.clone() else {
                let first = "error: Torus3d configuration missing name";
                return self.fatal(torus.line, "this torus has no name", &[first, &refused]);
            };
            let cells = self.cells(torus, &name, &refused)?;
            let mut nodes = NodeSet::empty(self.hosts.count());
            for node in cells.iter().copied().flatten() {
                if nodes.contains(node) {
                    let host = self.hosts.name(node);
                    let says = format!(
                        "the torus {name} has the node {host} twice: boxes with both of its cells are never given"
                    );
                    self.findings.warn(torus.line, says);
                }
                nodes.insert(node);
            }
            if let Some(other) = named.iter().find(|other| other.name == name) {
                let says = format!("a torus is named {name} here and in line {}", other.line);
                let slurm = format!("fatal: Torus3d ({name}) has already been defined");
                return self.fatal(torus.line, says, &[&slurm]);
            }
            if let Some(other) = named.iter().find(|other| other.nodes.meets(&nodes)) {
                let mut shared = other.nodes.clone();
                shared.intersect(&nodes);
                let listed = self.hosts.listed(&shared);
                let says = format!("the toruses {} and {name} both have {listed}", other.name);
                let slurm = format!("fatal: Torus3d ({name}) and ({}) share nodes", other.name);
                return self.fatal(torus.line, says, &[&slurm]);
            }
            let shapes = self.shapes(torus, &refused)?;
            let Ok(whole) = anchors::Torus::new(torus.dims, cells, &shapes) else {
                return self.too_large(torus);
            };
            named.push(Named { name, line: torus.line, nodes });
            built.push(whole);
        }
        self.warn_of_unknown(topology, "torus3d");
        let anchors = Anchors::new(self.hosts.count(), built, &Criterion::SLURM);
        Ok(Structure::Torus3d(anchors, named))
    }

    fn too_large<T>(&mut self, torus: &Torus) -> Result<T, Fatal> {
        let says = format!(
            "a torus of {} has more than {MAX_NODES} cells, the most that a machine has here",
            by(torus.dims)
        );
        self.fatal(torus.line, says, &[])
    }

    /// The nodes of the cells of a torus, x fastest.
    fn cells(
        &mut self,
        torus: &Torus,
        name: &str,
        refused: &str,
    ) -> Result<Vec<Option<Node>>, Fatal> {
        let dims = torus.dims;
        if torus.nodes.is_some() && !torus.regions.is_empty() {
            let says = format!("the torus {name} has nodes and regions, but may have one of them");
            let first = "error: Torus3d configuration cannot specify both nodes and regions";
            return self.fatal(torus.line, says, &[first, refused]);
        }
        if dims.contains(&0) {
            let says =
                format!("the torus {name} has the sides {}, but each is at least 1", by(dims));
            let first = "error: Torus3d configuration requires non-zero x,y,z";
            return self.fatal(torus.line, says, &[first, refused]);
        }
        let count: u64 = dims.iter().copied().map(u64::from).product();
        if let Some(list) = &torus.nodes {
            let names = names(&list.text).or_else(|says| {
                let first = "error: hostlist_create error on torus3d nodes";
                self.fatal(list.line, says, &[first, refused])
            })?;
            if names.len() as u64 != count {
                let says = format!(
                    "the torus {name} of {} has {count} cells, but {} nodes are listed",
                    by(dims),
                    names.len()
                );
                let first = format!(
                    "error: Torus3d dimensions {}={count} do not match node count {}",
                    by(dims),
                    names.len()
                );
                return self.fatal(list.line, says, &[&first, refused]);
            }
            return Ok(self.nodes(&names));
        }
        if count > u64::from(MAX_NODES) {
            return self.too_large(torus);
        }
        let mut cells = vec![None; count as usize];
        // A cell that a region gives a name that no node has is a hole, which another region may fill.
        for region in &torus.regions {
            self.region(torus, region, &mut cells, refused)?;
        }
        if torus.regions.is_empty() {
            self.findings.warn(
                torus.line,
                format!("the torus {name} has no nodes: nothing is placed on it"),
            );
        }
        Ok(cells)
    }

    fn region(
        &mut self,
        torus: &Torus,
        region: &Region,
        cells: &mut [Option<Node>],
        refused: &str,
    ) -> Result<(), Fatal> {
        let (sides, dims, anchor) = (torus.dims, region.dims, region.anchor);
        let Some(list) = region.nodes.as_ref().filter(|list| !list.text.is_empty()) else {
            let first = "error: Torus3d region missing nodes";
            return self.fatal(region.line, "this region has no nodes", &[first, refused]);
        };
        if (0..3).any(|axis| anchor[axis] + dims[axis] > sides[axis]) {
            let says = format!(
                "a region of {} at {anchor:?} does not lie within a torus of {}",
                by(dims),
                by(sides)
            );
            let first = "error: Torus3d region dims exceed torus dimensions";
            return self.fatal(region.line, says, &[first, refused]);
        }
        let names = names(&list.text).or_else(|says| {
            let first = "error: hostlist_create error on torus3d region nodes";
            self.fatal(list.line, says, &[first, refused])
        })?;
        let count: u64 = dims.iter().copied().map(u64::from).product();
        if names.len() as u64 != count {
            let says = format!(
                "a region of {} has {count} cells, but {} nodes are listed",
                by(dims),
                names.len()
            );
            let first = "error: Torus3d region node count does not match dims";
            return self.fatal(region.line, says, &[first, refused]);
        }
        for (place, node) in (0_u32..).zip(self.nodes(&names)) {
            let within = [place % dims[0], place / dims[0] % dims[1], place / dims[0] / dims[1]];
            let at = |axis: usize| anchor[axis] + within[axis];
            let cell = at(0) + sides[0] * (at(1) + sides[1] * at(2));
            if node.is_none() {
                continue;
            }
            if cells[cell as usize].is_some() {
                let says =
                    format!("a region of {} at {anchor:?} lies over an earlier one", by(dims));
                let first = "error: Torus3d region overlaps existing nodes";
                return self.fatal(region.line, says, &[first, refused]);
            }
            cells[cell as usize] = node;
        }
        Ok(())
    }

    fn shapes(&mut self, torus: &Torus, refused: &str) -> Result<Vec<Shape>, Fatal> {
        let mut shapes = Vec::new();
        for placement in &torus.placements {
            shapes.push(self.shape(torus, placement, refused)?);
        }
        if shapes.is_empty() {
            let says =
                "this torus has no placements: its nodes are given one by one, whatever lies where";
            self.findings.warn(torus.line, says);
        }
        Ok(shapes)
    }

    fn shape(
        &mut self,
        torus: &Torus,
        placement: &Placement,
        refused: &str,
    ) -> Result<Shape, Fatal> {
        let Placement { line, dims, mut spacing, seed } = *placement;
        if dims.contains(&0) {
            let says = format!("a placement of {} has an empty side: each is at least 1", by(dims));
            let first = "error: Torus3d placement dims must be non-zero";
            return self.fatal(line, says, &[first, refused]);
        }
        let exceeds = |three: [u32; 3]| (0..3).any(|axis| three[axis] > torus.dims[axis]);
        if exceeds(dims) {
            let says = format!(
                "a placement of {} is larger than the torus of {}",
                by(dims),
                by(torus.dims)
            );
            let first = "error: Torus3d placement dims exceed torus dimensions";
            return self.fatal(line, says, &[first, refused]);
        }
        if exceeds(spacing) {
            let says = format!(
                "an anchor spacing of {} is larger than the torus of {}",
                by(spacing),
                by(torus.dims)
            );
            let first = "error: Torus3d placement anchor_spacing must be within torus dimensions";
            return self.fatal(line, says, &[first, refused]);
        }
        if (0..3).any(|axis| seed[axis] >= torus.dims[axis]) {
            let says = format!(
                "an anchor seed of {} lies outside the torus of {}",
                by(seed),
                by(torus.dims)
            );
            return self.fatal(line, says, &[refused]);
        }
        for (step, side) in spacing.iter_mut().zip(dims) {
            if *step == 0 {
                *step = side;
            }
        }
        Ok(Shape { sides: dims, spacing, seed })
    }

    fn tree(&mut self, topology: &Topology, switches: &[Switch]) -> Result<Structure, Fatal> {
        if switches.is_empty() {
            let slurm =
                "fatal: No switches configured, failed to create context for topology plugin";
            return self.fatal(topology.line, "this topology lists no switches", &[slurm]);
        }
        let mut named: Vec<Named> = Vec::new();
        let mut children: Vec<Option<Vec<String>>> = Vec::new();
        for switch in switches {
            let name = self.name("switch", switch.name.as_ref(), switch.line, &named)?.clone();
            let mut nodes = NodeSet::empty(self.hosts.count());
            if let Some(list) = &switch.nodes {
                let hosts = names(&list.text).or_else(|says| {
                    let slurm = format!(
                        "fatal: Invalid node name ({}) in switch config ({name})",
                        list.text
                    );
                    self.fatal(list.line, says, &[&slurm])
                })?;
                nodes = self.set(&format!("the switch {name}"), list.line, &hosts);
            }
            children.push(match (&switch.nodes, &switch.children) {
                (Some(_), Some(list)) => {
                    let says =
                        format!("the switch {name} has nodes, so its children are overlooked");
                    let slurm = format!("warning: Ignoring children switches for {name}");
                    self.findings.warn_logged(list.line, says, &[&slurm]);
                    None
                }
                (None, Some(list)) => Some(names(&list.text).or_else(|says| {
                    let slurm = format!("fatal: Invalid switches: {}", list.text);
                    self.fatal(list.line, says, &[&slurm])
                })?),
                (None, None) => {
                    let says = format!(
                        "the switch {name} has neither nodes nor children: it is an empty leaf"
                    );
                    self.findings.warn(switch.line, says);
                    None
                }
                (Some(_), None) => None,
            });
            named.push(Named { name, line: switch.line, nodes });
        }
        let below = self.below(&named, &children)?;
        self.warn_of_tree(topology, &named, &below);
        let list: Vec<Below> = named
            .iter()
            .zip(&below)
            .map(|(switch, below)| match below {
                None => Below::Nodes(switch.nodes.clone()),
                Some(children) => Below::Switches(children.clone()),
            })
            .collect();
        Ok(Structure::Tree(Tree::new(self.hosts.count(), &list), named))
    }

    /// The children of each switch by their places, if no switch is below itself.
    fn below(
        &mut self,
        named: &[Named],
        children: &[Option<Vec<String>>],
    ) -> Result<Vec<Option<Vec<usize>>>, Fatal> {
        let mut below = Vec::new();
        for (place, (switch, list)) in named.iter().zip(children).enumerate() {
            let Some(list) = list else {
                below.push(None);
                continue;
            };
            let mut places = Vec::new();
            for child in list {
                let found = named.iter().position(|other| other.name == *child);
                let Some(found) = found.filter(|&found| found != place) else {
                    let says = format!(
                        "the switch {} has the child {child}, which is no other switch",
                        switch.name
                    );
                    let slurm = format!(
                        "fatal: Switch configuration {} has invalid child ({child})",
                        switch.name
                    );
                    return self.fatal(switch.line, says, &[&slurm]);
                };
                places.push(found);
            }
            below.push(Some(places));
        }
        let mut is_known: Vec<bool> = below.iter().map(Option::is_none).collect();
        for _ in 0..MOST_PASSES {
            for (place, list) in below.iter().enumerate() {
                let list: &[usize] = list.as_deref().unwrap_or_default();
                is_known[place] |= list.iter().all(|&child| is_known[child]);
            }
        }
        if let Some(place) = is_known.iter().position(|known| !known) {
            let says = format!(
                "the switch {} is below itself, or more than {} levels lie below it",
                named[place].name,
                MOST_PASSES - 1
            );
            let slurm = "fatal: Switch configuration is not a tree";
            return self.fatal(named[place].line, says, &[slurm]);
        }
        Ok(below)
    }

    fn warn_of_tree(&mut self, topology: &Topology, named: &[Named], below: &[Option<Vec<usize>>]) {
        let mut covered = NodeSet::empty(self.hosts.count());
        let mut shared = covered.clone();
        for leaf in named {
            let mut twice = leaf.nodes.clone();
            twice.intersect(&covered);
            shared.unite(&twice);
            covered.unite(&leaf.nodes);
        }
        self.warn_of_nodes(topology, "switch", "switches", &covered);
        self.warn_of_unknown(topology, "switch");
        if !shared.is_empty() {
            let listed = self.hosts.listed(&shared);
            let slurm = format!("warning: Multiple leaf switches contain nodes: {listed}");
            self.findings.warn_logged(
                topology.line,
                format!("several leaf switches have {listed}"),
                &[&slurm],
            );
        }
        let mut parents = vec![0; named.len()];
        below.iter().flatten().flatten().for_each(|&child| parents[child] += 1);
        for (switch, _) in named.iter().zip(&parents).filter(|(_, parents)| **parents > 1) {
            let says = format!(
                "the switch {} is below several switches, and only the last counts",
                switch.name
            );
            self.findings.warn(switch.line, says);
        }
        let depths = depths(below);
        let leaf_depths: Vec<usize> =
            (0..named.len()).filter(|&i| below[i].is_none()).map(|i| depths[i]).collect();
        if leaf_depths.iter().any(|&depth| depth != leaf_depths[0]) {
            self.findings.warn(topology.line, "leaf switches lie at different depths");
        }
        let roots = parents.iter().filter(|parents| **parents == 0).count();
        if roots > 1 || covered.count() < self.hosts.count() {
            let slurm = "warning: TOPOLOGY: no switch can reach all nodes through its descendants. If this is not \
                         intentional, fix the topology.conf file.";
            let says = format!(
                "no switch reaches all nodes: there are {roots} trees, and no job lies in two"
            );
            let says = if roots > 1 { says } else { "no switch reaches all nodes".to_owned() };
            self.findings.warn_logged(topology.line, says, &[slurm]);
        }
    }
}

/// How many switches lie above each, if no switch is below itself.
fn depths(below: &[Option<Vec<usize>>]) -> Vec<usize> {
    let mut parent = vec![None; below.len()];
    for (place, children) in below.iter().enumerate() {
        children.iter().flatten().for_each(|&child| parent[child] = Some(place));
    }
    let above = |i: usize| std::iter::successors(parent[i], |&i| parent[i]).count();
    (0..below.len()).map(above).collect()
}
