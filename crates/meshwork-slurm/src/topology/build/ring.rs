//! Builds topologies of rings of nodes.

use meshwork::alloc::listed::ring::Rings;
use meshwork::topology::Node;

use super::{Builder, NamedNodes, Structure};
use crate::finding::Fatal;
use crate::topology::{NodeGroup, SlurmTopology};
use meshwork::job::hostlist::names;

/// Longest ring that Slurm accepts, in nodes.
const LONGEST_RING: usize = 16;

impl Builder<'_> {
    pub(super) fn rings(
        &mut self,
        topology: &SlurmTopology,
        rings: &[NodeGroup],
    ) -> Result<Structure, Fatal> {
        if rings.is_empty() {
            let slurm = "fatal: No rings configured, failed to create context for topology plugin";
            return self.fatal(topology.line, "this topology lists no rings", &[slurm]);
        }
        let (mut named, mut around): (Vec<NamedNodes>, Vec<Vec<Node>>) = (Vec::new(), Vec::new());
        for ring in rings {
            let name = self.name("ring", ring.name.as_ref(), ring.line)?.clone();
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
            let set = self.set(&format!("the ring {name}"), line, &nodes);
            named.push(NamedNodes { name, line: ring.line, nodes: set });
            around.push(nodes);
        }
        self.warn_of_nodes(topology, "ring", "Rings", &self.union(&named));
        self.warn_of_unknown(topology, "ring");
        self.warn_of_shared("ring", &named);
        Ok(Structure::Ring(Rings::new(self.hosts.count(), around), named))
    }
}
