//! Reads nodes, partitions and settings from a `slurm.conf`.

use std::collections::BTreeMap;

use meshwork::geometry::NodeSet;
use meshwork::job::hostlist;

use crate::finding::{Fatal, LintFindings};
use crate::topology::Hosts;

pub use crate::lines::{ConfLine, lines};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfNode {
    pub name: String,
    pub processors: u32,
    /// Weight of the node. Slurm allocates nodes of lower weight first.
    pub weight: u32,
    pub is_up: bool,
    /// Index, in [`Conf::node_lines`], of the line that defines the node.
    pub given: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    pub name: String,
    pub line: usize,
    pub nodes: NodeSet,
    pub unknown: Option<String>,
    pub topology: Option<String>,
    /// Minimum number of nodes of a job.
    pub least: u32,
    /// Maximum number of nodes of a job; `u32::MAX` without a limit.
    pub most: u32,
    /// Whether this is the partition of jobs that name no partition.
    pub is_default: bool,
    pub is_exclusive: bool,
    /// Keys and values of the partition's line, and defaults from earlier `DEFAULT` lines.
    pub given: ConfLine,
}

/// Contents of a `slurm.conf` that Meshwork uses: nodes, partitions and settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conf {
    pub nodes: Vec<ConfNode>,
    pub hosts: Hosts,
    pub partitions: Vec<Partition>,
    pub node_lines: Vec<ConfLine>,
    /// Lines with settings, which define neither nodes nor partitions.
    pub settings: Vec<ConfLine>,
}

const MOST_NODES: usize = 1 << 24;

impl Conf {
    /// Value of a setting; `None` if it is not set.
    ///
    /// If the key occurs several times, the last value counts. The case of the key does not matter.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.settings.iter().rev().find_map(|line| line.get(key))
    }

    /// Reads a `slurm.conf`; `include` returns the text of an included file.
    pub fn read(
        text: &str,
        include: &mut dyn FnMut(&str) -> Result<String, String>,
        findings: &mut LintFindings,
    ) -> Result<Conf, Fatal> {
        let mut all = Vec::new();
        gather(text, include, findings, 0, &mut all)?;
        let (conf, sets, lists) = (Conf::default(), BTreeMap::new(), BTreeMap::new());
        let mut reader = Reader { conf, sets, lists, findings };
        let mut defaults = Vec::new();
        for line in &all {
            let Some((first, name)) = line.pairs.first() else { continue };
            match first.to_lowercase().as_str() {
                "nodename" if name.eq_ignore_ascii_case("default") => {
                    defaults.extend(line.pairs[1..].iter().cloned());
                }
                "nodename" => reader.nodes(&with_defaults(line, &defaults), name)?,
                "nodeset" => {
                    let nodes = line.get("Nodes").unwrap_or_default().to_owned();
                    reader.sets.insert(name.clone(), nodes);
                }
                "partitionname" => {}
                _ => reader.conf.settings.push(line.clone()),
            }
        }
        // A partition may refer to nodes that are defined further below.
        reader.conf.hosts = Hosts::new(reader.conf.nodes.iter().map(|node| node.name.clone()));
        defaults.clear();
        for line in &all {
            match line.pairs.first() {
                Some((first, name)) if first.eq_ignore_ascii_case("partitionname") => {
                    if name.eq_ignore_ascii_case("default") {
                        defaults.extend(line.pairs[1..].iter().cloned());
                    } else {
                        reader.partition(&with_defaults(line, &defaults), name)?;
                    }
                }
                _ => {}
            }
        }
        Ok(reader.conf)
    }
}

const DEEPEST: usize = 8;

fn gather(
    text: &str,
    include: &mut dyn FnMut(&str) -> Result<String, String>,
    findings: &mut LintFindings,
    depth: usize,
    all: &mut Vec<ConfLine>,
) -> Result<(), Fatal> {
    for line in lines(text) {
        match line.pairs.first() {
            Some((key, path)) if key.eq_ignore_ascii_case("include") => {
                if depth == DEEPEST {
                    let says = format!("files include one another more than {DEEPEST} deep");
                    return Err(findings.fatal_conf(Some(line.number), says, &[]));
                }
                let text = include(path).map_err(|says| {
                    findings.fatal_conf(Some(line.number), format!("Include {path}: {says}"), &[])
                })?;
                gather(&text, include, findings, depth + 1, all)?;
            }
            _ => all.push(line),
        }
    }
    Ok(())
}

/// Adds default values to a line. Values on the line itself take precedence.
fn with_defaults(line: &ConfLine, defaults: &[(String, String)]) -> ConfLine {
    let own = line.pairs.iter().cloned();
    ConfLine { number: line.number, pairs: defaults.iter().cloned().chain(own).collect() }
}

struct Reader<'a> {
    conf: Conf,
    sets: BTreeMap<String, String>,
    /// Cache of parsed host lists by their text, because many partitions have equal lists.
    ///
    /// An entry has the nodes of a list, and the first name in the list that does not exist. The
    /// name is `None` if all names exist.
    lists: BTreeMap<String, (NodeSet, Option<String>)>,
    findings: &'a mut LintFindings,
}

impl Reader<'_> {
    fn number(&mut self, line: &ConfLine, key: &str) -> Result<Option<u32>, Fatal> {
        let Some(text) = line.get(key) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| {
            let says =
                format!("{key} is {text}, but must be a whole number from 0 to {}", u32::MAX);
            self.findings.fatal_conf(Some(line.number), says, &[])
        })
    }

    fn nodes(&mut self, line: &ConfLine, list: &str) -> Result<(), Fatal> {
        let names = hostlist::names(list).map_err(|says| {
            self.findings.fatal_conf(Some(line.number), format!("NodeName: {says}"), &[])
        })?;
        let processors = match (self.number(line, "CPUs")?, self.number(line, "Procs")?) {
            (Some(given), _) | (None, Some(given)) => given,
            (None, None) => {
                let mut product: u32 = 1;
                let sockets = match line.get("Sockets") {
                    Some(_) => &["Sockets"][..],
                    None => &["SocketsPerBoard", "Boards"],
                };
                for key in sockets.iter().chain(&["CoresPerSocket", "ThreadsPerCore"]) {
                    product = product.saturating_mul(self.number(line, key)?.unwrap_or(1));
                }
                product
            }
        };
        let weight = self.number(line, "Weight")?.unwrap_or(1);
        let state = line.get("State").unwrap_or("UNKNOWN").to_uppercase();
        if matches!(state.as_str(), "FUTURE" | "EXTERNAL") {
            return Ok(());
        }
        let is_up = !["DOWN", "DRAIN", "FAIL"].iter().any(|word| state.starts_with(word));
        if self.conf.nodes.len() + names.len() > MOST_NODES {
            let says =
                format!("there are more than {MOST_NODES} nodes, the most that a machine has here");
            return Err(self.findings.fatal_conf(Some(line.number), says, &[]));
        }
        let given = self.conf.node_lines.len();
        self.conf.node_lines.push(line.clone());
        let nodes =
            names.into_iter().map(|name| ConfNode { name, processors, weight, is_up, given });
        self.conf.nodes.extend(nodes);
        Ok(())
    }

    fn partition(&mut self, line: &ConfLine, name: &str) -> Result<(), Fatal> {
        let list = line.get("Nodes").unwrap_or_default();
        let found = match self.lists.get(list) {
            Some(found) => found.clone(),
            None => self.listed(list).map_err(|says| self.refuse(line, name, &says))?,
        };
        let (nodes, unknown) = found;
        if nodes.is_empty() && unknown.is_none() {
            self.findings
                .warn_conf(Some(line.number), format!("the partition {name} has no nodes"));
        }
        let is = |key: &str, word: &str| {
            line.get(key).is_some_and(|value| {
                let value = value.split(':').next().unwrap_or(value);
                value.eq_ignore_ascii_case(word)
            })
        };
        let least = self.number(line, "MinNodes")?.unwrap_or(1);
        let unlimited =
            line.get("MaxNodes").is_some_and(|most| most.eq_ignore_ascii_case("unlimited"));
        let most = if unlimited { None } else { self.number(line, "MaxNodes")? };
        self.conf.partitions.push(Partition {
            least,
            most: most.unwrap_or(u32::MAX),
            name: name.to_owned(),
            line: line.number,
            nodes,
            unknown,
            topology: line.get("Topology").map(str::to_owned),
            is_default: is("Default", "yes"),
            is_exclusive: is("OverSubscribe", "exclusive") || is("Shared", "exclusive"),
            given: line.clone(),
        });
        Ok(())
    }

    /// Nodes of a host list, and the first name in it that does not exist.
    fn listed(&mut self, list: &str) -> Result<(NodeSet, Option<String>), String> {
        let (mut nodes, mut unknown) = (NodeSet::empty(self.conf.hosts.count()), None);
        for item in hostlist::parts(list)? {
            if item.eq_ignore_ascii_case("all") {
                nodes.insert_range(0, self.conf.hosts.count());
                continue;
            }
            for name in hostlist::names(self.sets.get(item).map_or(item, String::as_str))? {
                match self.conf.hosts.find(&name) {
                    Some(node) => nodes.insert(node),
                    None => unknown = unknown.or(Some(name)),
                }
            }
        }
        self.lists.insert(list.to_owned(), (nodes.clone(), unknown.clone()));
        Ok((nodes, unknown))
    }

    fn refuse(&mut self, line: &ConfLine, name: &str, says: &str) -> Fatal {
        let says = format!("the partition {name}: {says}");
        self.findings.fatal_conf(Some(line.number), says, &[])
    }
}
