//! The nodes of a machine, by name and by number.

use std::collections::BTreeMap;

use meshwork::geometry::NodeSet;
use meshwork::topology::Node;

use super::{Kind, Text, Topology};
use crate::slurm::hostlist::{bracketed, compressed, names};

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

    /// The same with every number in brackets, in which form equal sets are equal texts.
    #[must_use]
    pub fn bracketed(&self, set: &NodeSet) -> String {
        bracketed(set.iter().map(|node| self.name(node)))
    }
}
