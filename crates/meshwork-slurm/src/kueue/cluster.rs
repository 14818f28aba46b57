//! Nodes of a Kubernetes cluster as a machine: a tree that is derived from the nodes' labels.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value as Json;

use super::{HOST, text};
use crate::hostlist;

/// Name of the generated topology and partition.
pub const NAME: &str = "kueue";

#[derive(Clone, Debug, Default)]
struct Node {
    labels: BTreeMap<String, String>,
    allocatable: BTreeMap<String, f64>,
    is_open: bool,
}

/// Nodes of all snapshots in their latest state, and their topology levels.
#[derive(Clone, Debug, Default)]
pub(super) struct Cluster {
    nodes: BTreeMap<String, Node>,
    /// Labels of the topology levels above the node, from the top.
    levels: Vec<String>,
    resource: String,
}

impl Cluster {
    pub(super) fn of<'a>(
        nodes: impl Iterator<Item = &'a Json>,
        workloads: impl Iterator<Item = &'a Json> + Clone,
    ) -> Cluster {
        let mut cluster = Cluster::default();
        for object in nodes {
            let Some(name) = text(object, &["metadata", "labels", HOST])
                .or_else(|| text(object, &["metadata", "name"]))
            else {
                continue;
            };
            cluster.nodes.insert(name.to_owned(), Node::of(object));
        }
        cluster.levels = cluster.levels_among(&named_levels(workloads.clone()));
        cluster.resource = cluster.most_asked(workloads);
        cluster
    }

    /// Labels among `named` that nodes have, ordered by increasing number of distinct values.
    ///
    /// For example, the label of blocks comes before the label of racks.
    fn levels_among(&self, named: &BTreeSet<String>) -> Vec<String> {
        let values = |label: &String| {
            let values = self.nodes.values().filter_map(|node| node.labels.get(label));
            values.collect::<BTreeSet<_>>().len()
        };
        let mut levels: Vec<(usize, String)> =
            named.iter().map(|label| (values(label), label.clone())).collect();
        levels.retain(|(values, label)| *values > 0 && label != HOST);
        levels.sort();
        levels.into_iter().map(|(_, label)| label).collect()
    }

    /// Name of the extended resource, such as `nvidia.com/gpu`, that most sets of pods request.
    /// It is `cpu` if none of them requests an extended resource of some node.
    fn most_asked<'a>(&self, workloads: impl Iterator<Item = &'a Json>) -> String {
        let mut asked: BTreeMap<String, usize> = BTreeMap::new();
        for object in workloads {
            for (name, _) in pod_sets(object).flat_map(|set| per_pod(set).into_iter()) {
                let is_there = self.nodes.values().any(|node| node.allocatable.contains_key(&name));
                if name.contains('/') && is_there {
                    *asked.entry(name).or_default() += 1;
                }
            }
        }
        let most =
            asked.into_iter().max_by_key(|(name, count)| (*count, std::cmp::Reverse(name.clone())));
        most.map_or_else(|| "cpu".to_owned(), |(name, _)| name)
    }

    /// Number of processors of a node: its amount of the counted resource, at least 1.
    pub(super) fn processors(&self, node: &str) -> u32 {
        let found = self.nodes.get(node).and_then(|node| node.allocatable.get(&self.resource));
        found.map_or(1, |&count| (count.floor() as u32).max(1))
    }

    /// Amount that each pod of a set requests of the resource whose units count as processors.
    pub(super) fn asked(&self, set: &Json) -> f64 {
        per_pod(set).get(&self.resource).copied().unwrap_or(0.0)
    }

    /// Resources of each pod of a set, as in the column `roles` of tables of jobs.
    pub(super) fn pod(&self, set: &Json) -> String {
        let asked = per_pod(set);
        let of = |name: &str| asked.get(name).copied().unwrap_or(0.0);
        let gpus = if self.resource.contains('/') { of(&self.resource) } else { 0.0 };
        let mut role = format!("cpu={}", of("cpu").ceil().max(1.0));
        for (name, amount) in [("mem", of("memory") / f64::from(1 << 20)), ("gpu", gpus)] {
            if amount > 0.0 {
                role.push_str(&format!(",{name}={}", amount.ceil()));
            }
        }
        role
    }

    /// Largest number of processors of a node, by the resource that counts as processors.
    pub(super) fn largest(&self) -> u32 {
        self.nodes.keys().map(|name| self.processors(name)).max().unwrap_or(1)
    }

    /// Whether a label is the lowest level above the nodes.
    pub(super) fn is_leaf(&self, label: &str) -> bool {
        self.levels.last().is_some_and(|leaf| leaf == label)
    }

    pub(super) fn sentences(&self) -> Vec<String> {
        let mut said = Vec::new();
        let lacking = self.nodes.values().filter(|node| !node.has(&self.levels)).count();
        if lacking > 0 {
            said.push(format!(
                "{lacking} of {} nodes lack one of the labels {}: they stand under a switch of their own",
                self.nodes.len(),
                self.levels.join(", ")
            ));
        }
        let closed = self.nodes.values().filter(|node| !node.is_open).count();
        if closed > 0 {
            said.push(format!(
                "{closed} of {} nodes take no pods in the last snapshot that shows them: they are drained in the slurm.conf \
                 that was made, and were not while jobs ran on them",
                self.nodes.len()
            ));
        }
        said
    }

    /// Names and texts of a `topology.yaml` and a `slurm.conf`; `None` if the cluster has no nodes.
    pub(super) fn files(&self) -> Option<Vec<(PathBuf, String)>> {
        if self.nodes.is_empty() {
            return None;
        }
        let mut topology = format!("- topology: {NAME}\n  cluster_default: true\n");
        if self.levels.is_empty() {
            topology += "  flat: true\n";
        } else {
            topology += "  tree:\n    switches:\n";
            self.switches(&mut topology);
        }
        let mut kinds: BTreeMap<(u32, bool), Vec<&str>> = BTreeMap::new();
        for (name, node) in &self.nodes {
            let kind = (self.processors(name), node.is_open);
            kinds.entry(kind).or_default().push(name);
        }
        let mut conf =
            format!("# Made of the nodes of a Kubernetes: CPUs are {}.\n", self.resource);
        for ((processors, is_open), names) in kinds {
            let state = if is_open { "" } else { " State=DRAIN" };
            let names = hostlist::compressed(names);
            let _ = writeln!(conf, "NodeName={names} CPUs={processors}{state}");
        }
        let _ = writeln!(conf, "PartitionName={NAME} Nodes=ALL Default=YES Topology={NAME}");
        Some(vec![(PathBuf::from("topology.yaml"), topology), (PathBuf::from("slurm.conf"), conf)])
    }

    /// Writes the switches of the tree, named by the values of all labels from the top down.
    fn switches(&self, out: &mut String) {
        let mut below: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, node) in &self.nodes {
            let mut child = name.clone();
            for level in (0..self.levels.len()).rev() {
                let own = node.switch(&self.levels[..=level]);
                below.entry(own.clone()).or_default().insert(child);
                child = own;
            }
            below.entry("top".to_owned()).or_default().insert(child);
        }
        let is_leaf = |children: &BTreeSet<String>| {
            children.iter().next().is_some_and(|child| self.nodes.contains_key(child))
        };
        let mut rows: Vec<(&String, &BTreeSet<String>)> = below.iter().collect();
        rows.sort_by_key(|(name, children)| (!is_leaf(children), name.as_str() == "top"));
        for (name, children) in rows {
            let list = hostlist::compressed(children.iter().map(String::as_str));
            let key = if is_leaf(children) { "nodes" } else { "children" };
            let _ = writeln!(out, "      - {{switch: \"{name}\", {key}: \"{list}\"}}");
        }
    }
}

impl Node {
    fn of(object: &Json) -> Node {
        let entries = |path: &[&str]| {
            let found = path.iter().try_fold(object, |inner, key| inner.get(key));
            found.and_then(Json::as_object).into_iter().flatten()
        };
        let labels = entries(&["metadata", "labels"])
            .filter_map(|(label, value)| Some((label.clone(), value.as_str()?.to_owned())))
            .collect();
        let allocatable = entries(&["status", "allocatable"])
            .filter_map(|(name, value)| Some((name.clone(), quantity(value)?)))
            .collect();
        let closed = object.get("spec").and_then(|spec| spec.get("unschedulable"));
        Node { labels, allocatable, is_open: closed.and_then(Json::as_bool) != Some(true) }
    }

    fn has(&self, levels: &[String]) -> bool {
        levels.iter().all(|level| self.labels.contains_key(level))
    }

    fn switch(&self, levels: &[String]) -> String {
        let values =
            levels.iter().map(|level| self.labels.get(level).map_or("none", String::as_str));
        values.collect::<Vec<_>>().join(".")
    }
}

pub(super) fn pod_sets(workload: &Json) -> impl Iterator<Item = &Json> {
    let sets = workload.get("spec").and_then(|spec| spec.get("podSets"));
    sets.and_then(Json::as_array).into_iter().flatten()
}

fn named_levels<'a>(workloads: impl Iterator<Item = &'a Json>) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for object in workloads {
        for set in pod_sets(object) {
            for key in ["required", "preferred", "podSetSliceRequiredTopology"] {
                named.extend(text(set, &["topologyRequest", key]).map(str::to_owned));
            }
        }
        let given = object.pointer("/status/admission/podSetAssignments").and_then(Json::as_array);
        for assignment in given.into_iter().flatten() {
            let levels = assignment.pointer("/topologyAssignment/levels").and_then(Json::as_array);
            named.extend(levels.into_iter().flatten().filter_map(Json::as_str).map(str::to_owned));
        }
    }
    named
}

/// Resources that one pod requests, summed over its containers.
fn per_pod(set: &Json) -> BTreeMap<String, f64> {
    let mut asked = BTreeMap::new();
    let containers = set.pointer("/template/spec/containers").and_then(Json::as_array);
    for container in containers.into_iter().flatten() {
        let resources = container.get("resources");
        let own = |key: &str| resources.and_then(|own| own.get(key)).and_then(Json::as_object);
        // Kubernetes requests the limit if there is no request.
        let (requests, limits) = (own("requests"), own("limits"));
        let limits = limits.into_iter().flatten();
        let rest = limits.filter(|(name, _)| requests.is_none_or(|own| !own.contains_key(*name)));
        for (name, value) in requests.into_iter().flatten().chain(rest) {
            if let Some(amount) = quantity(value) {
                *asked.entry(name.clone()).or_default() += amount;
            }
        }
    }
    asked
}

/// Parses a number with an optional decimal or binary suffix.
fn quantity(value: &Json) -> Option<f64> {
    if let Some(number) = value.as_f64() {
        return Some(number);
    }
    let text = value.as_str()?;
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (number, suffix) = text.split_at(digits.unwrap_or(text.len()));
    let factor = match suffix {
        "" => 1.0,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        "Ti" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn quantities_have_suffixes() {
        for (value, amount) in [
            (json!("8"), Some(8.0)),
            (json!(4), Some(4.0)),
            (json!("500m"), Some(0.5)),
            (json!("2Ki"), Some(2048.0)),
            (json!("many"), None),
        ] {
            assert_eq!(quantity(&value), amount, "{value}");
        }
    }
}
