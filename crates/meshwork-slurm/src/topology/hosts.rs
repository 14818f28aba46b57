//! Nodes of a machine, by name and by number.

use std::collections::BTreeMap;

use meshwork::geometry::NodeSet;
use meshwork::topology::Node;

use super::SlurmTopology;
use meshwork::job::hostlist::{bracketed, compressed, names};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    names: Vec<String>,
    by_name: BTreeMap<String, Node>,
}

impl Hosts {
    /// Gives numbers to node names, in their order. A repeated name keeps its first number.
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

    /// Nodes that the topologies list, for a machine without a `slurm.conf`.
    ///
    /// An invalid host list counts as empty.
    pub fn of(topologies: &[SlurmTopology]) -> Hosts {
        let mut hosts = Hosts::default();
        for list in topologies.iter().flat_map(|topology| topology.kind.lists()) {
            names(&list.text).unwrap_or_default().into_iter().for_each(|name| hosts.add(name));
        }
        hosts
    }

    pub fn count(&self) -> u32 {
        self.names.len() as u32
    }

    pub fn find(&self, name: &str) -> Option<Node> {
        self.by_name.get(name).copied()
    }

    pub fn name(&self, node: Node) -> &str {
        &self.names[node as usize]
    }

    /// Names of nodes, as a host list in Slurm's form.
    pub fn listed(&self, set: &NodeSet) -> String {
        compressed(set.iter().map(|node| self.name(node)))
    }

    /// Names of the nodes of a set, as a host list in which every number is in brackets.
    ///
    /// Equal sets therefore give equal texts.
    pub fn bracketed(&self, set: &NodeSet) -> String {
        bracketed(set.iter().map(|node| self.name(node)))
    }
}
