//! Builds topologies that are trees of switches.

use std::collections::BTreeMap;

use meshwork::alloc::listed::tree::{Below, Tree};
use meshwork::geometry::NodeSet;
use meshwork::topology::Node;

use super::{Builder, NamedNodes, Structure};
use crate::finding::Fatal;
use crate::topology::{SlurmTopology, Switch};
use meshwork::job::hostlist::names;

/// Maximum number of passes over all switches in which Slurm determines their levels.
const MOST_PASSES: usize = 21;

impl Builder<'_> {
    pub(super) fn tree(
        &mut self,
        topology: &SlurmTopology,
        switches: &[Switch],
    ) -> Result<Structure, Fatal> {
        if switches.is_empty() {
            let slurm =
                "fatal: No switches configured, failed to create context for topology plugin";
            return self.fatal(topology.line, "this topology lists no switches", &[slurm]);
        }
        let mut named: Vec<NamedNodes> = Vec::new();
        let mut children: Vec<Option<Vec<String>>> = Vec::new();
        for switch in switches {
            let name = self.name("switch", switch.name.as_ref(), switch.line)?.clone();
            let mut nodes = NodeSet::empty(self.hosts.count());
            if let Some(list) = &switch.nodes {
                let hosts = names(&list.text).or_else(|says| {
                    let slurm = format!(
                        "fatal: Invalid node name ({}) in switch config ({name})",
                        list.text
                    );
                    self.fatal(list.line, says, &[&slurm])
                })?;
                let hosts: Vec<Node> = self.nodes(&hosts).into_iter().flatten().collect();
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
            named.push(NamedNodes { name, line: switch.line, nodes });
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

    /// Indices of the switches directly below each switch; an error if a switch is below itself.
    fn below(
        &mut self,
        named: &[NamedNodes],
        children: &[Option<Vec<String>>],
    ) -> Result<Vec<Option<Vec<usize>>>, Fatal> {
        let mut below = Vec::new();
        let by_name: BTreeMap<&str, usize> =
            named.iter().map(|switch| switch.name.as_str()).zip(0..).collect();
        for (place, (switch, list)) in named.iter().zip(children).enumerate() {
            let Some(list) = list else {
                below.push(None);
                continue;
            };
            let mut places = Vec::new();
            for child in list {
                let found = by_name.get(child.as_str()).copied();
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

    fn warn_of_tree(
        &mut self,
        topology: &SlurmTopology,
        named: &[NamedNodes],
        below: &[Option<Vec<usize>>],
    ) {
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

/// Number of switches above each switch. Switches must not form cycles.
fn depths(below: &[Option<Vec<usize>>]) -> Vec<usize> {
    let mut parent = vec![None; below.len()];
    for (place, children) in below.iter().enumerate() {
        children.iter().flatten().for_each(|&child| parent[child] = Some(place));
    }
    let mut depths: Vec<Option<usize>> =
        parent.iter().map(|up| up.is_none().then_some(0)).collect();
    for start in 0..below.len() {
        let unknown = |&i: &usize| depths[i].is_none();
        let up = |&i: &usize| parent[i];
        let path: Vec<usize> = std::iter::successors(Some(start), up).take_while(unknown).collect();
        for i in path.into_iter().rev() {
            depths[i] = parent[i].and_then(|up| depths[up]).map(|depth| depth + 1);
        }
    }
    depths.into_iter().flatten().collect()
}
