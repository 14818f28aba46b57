//! Builds allocation rules from topologies, with Slurm's checks in Slurm's order.

mod block;
mod ring;
mod torus3d;
mod tree;

use std::collections::BTreeMap;

use meshwork::alloc::listed::anchors::Anchors;
use meshwork::alloc::listed::blocks::Blocks;
use meshwork::alloc::listed::ring::Rings;
use meshwork::alloc::listed::runs::Runs;
use meshwork::alloc::listed::tree::Tree;
use meshwork::alloc::listed::{NodeRequest, Nodes, Rule, RuleResult};
use meshwork::geometry::NodeSet;
use meshwork::topology::Node;

use super::{Hosts, SlurmTopology, TopologyKind};
use crate::finding::{Fatal, LintFindings};
use meshwork::job::hostlist::compressed;

#[derive(Clone, Debug)]
pub struct NamedNodes {
    pub name: String,
    pub line: usize,
    pub nodes: NodeSet,
}

/// Topology in the form of allocation rules, with the names of its switches, blocks, rings or tori.
#[derive(Clone, Debug)]
pub enum Structure {
    Flat,
    /// Tree of switches, in which only leaf switches have nodes.
    Tree(Tree, Vec<NamedNodes>),
    /// Base blocks of nodes, which are joined to larger blocks.
    ///
    /// The fields are the blocks, the base blocks with their names, the number of nodes of a base
    /// block, and the levels of the blocks that jobs can be given. A block of level *n* consists of
    /// 2ⁿ base blocks.
    Block(Blocks, Vec<NamedNodes>, u32, Vec<u32>),
    Ring(Rings, Vec<NamedNodes>),
    Torus3d(Anchors, Vec<NamedNodes>),
}

impl Structure {
    pub fn rule(&self) -> &dyn Rule {
        match self {
            Structure::Flat => &Runs,
            Structure::Tree(tree, _) => tree,
            Structure::Block(blocks, ..) => blocks,
            Structure::Ring(rings, _) => rings,
            Structure::Torus3d(anchors, _) => anchors,
        }
    }

    pub fn named(&self) -> &[NamedNodes] {
        match self {
            Structure::Flat => &[],
            Structure::Tree(_, named)
            | Structure::Block(_, named, ..)
            | Structure::Ring(_, named)
            | Structure::Torus3d(_, named) => named,
        }
    }
}

/// Rule of flat machines in Slurm 22.05: jobs of one node are placed like larger ones.
#[derive(Clone, Copy, Debug)]
pub struct FittedRuns;

impl Rule for FittedRuns {
    fn attempt(
        &self,
        nodes: &Nodes,
        request: &NodeRequest,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> RuleResult {
        Runs.attempt(nodes, request, required, available)
    }

    fn places_single_nodes(&self) -> bool {
        true
    }
}

/// Converts a topology to allocation rules. They number nodes as `hosts` does.
pub fn build(
    topology: &SlurmTopology,
    hosts: &Hosts,
    findings: &mut LintFindings,
) -> Result<Structure, Fatal> {
    let (unknown, named) = (Vec::new(), BTreeMap::new());
    let mut builder = Builder { hosts, findings, unknown, named };
    match &topology.kind {
        TopologyKind::Flat => Ok(Structure::Flat),
        TopologyKind::Tree(switches) => builder.tree(topology, switches),
        TopologyKind::Block(sizes, blocks) => builder.blocks(topology, sizes.as_ref(), blocks),
        TopologyKind::Ring(rings) => builder.rings(topology, rings),
        TopologyKind::Torus3d(toruses) => builder.toruses(topology, toruses),
    }
}

struct Builder<'a> {
    hosts: &'a Hosts,
    findings: &'a mut LintFindings,
    unknown: Vec<String>,
    named: BTreeMap<String, usize>,
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

    fn union(&self, named: &[NamedNodes]) -> NodeSet {
        let mut union = NodeSet::empty(self.hosts.count());
        named.iter().for_each(|group| union.unite(&group.nodes));
        union
    }

    /// Number of the node with each name; `None` for a name that does not exist.
    fn nodes(&mut self, names: &[String]) -> Vec<Option<Node>> {
        let unknown = names.iter().filter(|name| self.hosts.find(name).is_none());
        self.unknown.extend(unknown.cloned());
        names.iter().map(|name| self.hosts.find(name)).collect()
    }

    fn set(&mut self, what: &str, line: usize, nodes: &[Node]) -> NodeSet {
        let mut set = NodeSet::empty(self.hosts.count());
        for &node in nodes {
            if set.contains(node) {
                let name = self.hosts.name(node);
                self.findings.warn(line, format!("{what} has the node {name} twice"));
            }
            set.insert(node);
        }
        set
    }

    /// Warns of nodes that are in no switch, block or ring, and of names that do not exist.
    fn warn_of_nodes(
        &mut self,
        topology: &SlurmTopology,
        what: &str,
        none: &str,
        covered: &NodeSet,
    ) {
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

    fn warn_of_unknown(&mut self, topology: &SlurmTopology, what: &str) {
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

    /// Returns the name of a switch, block or other part. Fails if it is missing or used twice.
    fn name<'n>(
        &mut self,
        what: &str,
        name: Option<&'n String>,
        line: usize,
    ) -> Result<&'n String, Fatal> {
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            let says = format!("this {what} has no name");
            let slurm = format!("fatal: Can't create a {what} without a name");
            return self.fatal(line, says, &[&slurm]);
        };
        if let Some(other) = self.named.insert(name.clone(), line) {
            let says = format!("a {what} is named {name} here and in line {other}");
            let capital = format!("{}{}", what[..1].to_uppercase(), &what[1..]);
            let slurm = format!("fatal: {capital} ({name}) has already been defined");
            return self.fatal(line, says, &[&slurm]);
        }
        Ok(name)
    }

    fn warn_of_shared(&mut self, what: &str, named: &[NamedNodes]) {
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
}
