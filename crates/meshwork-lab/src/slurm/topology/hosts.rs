//! The nodes of a machine, by name and by number.

use std::collections::BTreeMap;

use meshwork::geometry::NodeSet;
use meshwork::topology::Node;

use super::Topology;
use crate::slurm::hostlist::{bracketed, compressed, names};

/// The nodes that there are, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
        for list in topologies.iter().flat_map(|topology| topology.kind.lists()) {
            names(&list.text).unwrap_or_default().into_iter().for_each(|name| hosts.add(name));
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

    /// The same with every number in brackets, in which form equal sets are equal texts.
    #[must_use]
    pub fn bracketed(&self, set: &NodeSet) -> String {
        bracketed(set.iter().map(|node| self.name(node)))
    }
}
