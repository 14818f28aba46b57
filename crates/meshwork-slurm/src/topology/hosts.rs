//! The nodes of a machine, by name and by number.

use std::collections::BTreeMap;

use meshwork::geometry::NodeSet;
use meshwork::topology::Node;

use super::SlurmTopology;
use meshwork::job::hostlist::{bracketed, compressed, names};

/// The nodes that exist on a machine, numbered from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    names: Vec<String>,
    by_name: BTreeMap<String, Node>,
}

impl Hosts {
    /// Creates hosts with these names, and numbers them in the order of the names. Repeated names
    /// count once.
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

    /// All nodes that these topologies list. They are used if there is no `slurm.conf`. Host lists
    /// that cannot be read are skipped.
    #[must_use]
    pub fn of(topologies: &[SlurmTopology]) -> Hosts {
        let mut hosts = Hosts::default();
        for list in topologies.iter().flat_map(|topology| topology.kind.lists()) {
            names(&list.text).unwrap_or_default().into_iter().for_each(|name| hosts.add(name));
        }
        hosts
    }

    /// The number of hosts.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.names.len() as u32
    }

    #[must_use]
    pub fn find(&self, name: &str) -> Option<Node> {
        self.by_name.get(name).copied()
    }

    #[must_use]
    pub fn name(&self, node: Node) -> &str {
        &self.names[node as usize]
    }

    /// The names of a set of nodes, as a host list in Slurm's form.
    #[must_use]
    pub fn listed(&self, set: &NodeSet) -> String {
        compressed(set.iter().map(|node| self.name(node)))
    }

    /// The names of a set of nodes as a host list in which every number is in brackets. Equal sets
    /// have equal texts.
    #[must_use]
    pub fn bracketed(&self, set: &NodeSet) -> String {
        bracketed(set.iter().map(|node| self.name(node)))
    }
}
