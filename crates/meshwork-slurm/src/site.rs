//! Reads a cluster's configuration files, and gives a partition with its nodes and topology.

use std::path::Path;

use meshwork::alloc::listed::{Nodes, Rule};
use meshwork::geometry::NodeSet;

use crate::conf::{self, Conf, Partition};
use crate::finding::{Fatal, Level, LintFinding, LintFindings, Source};
use crate::topology::{self, FittedRuns, Hosts, SlurmTopology, Structure};
use meshwork::job::hostlist;

#[derive(Clone, Debug, Default)]
pub struct SlurmFiles {
    /// Path of the topology file; empty for a flat machine without one.
    pub topology: String,
    pub conf: Option<String>,
    /// Path of the `gres.conf`, which only the lint reads.
    pub gres: Option<String>,
}

impl SlurmFiles {
    /// Names of all files, joined by commas and `and`.
    pub fn names(&self) -> String {
        let topology = Some(&self.topology).filter(|own| !own.is_empty());
        let all = [topology, self.conf.as_ref(), self.gres.as_ref()];
        let names: Vec<&str> = all.into_iter().flatten().map(String::as_str).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => String::new(),
        }
    }

    /// Sentence on a finding, with its file and line. For a fatal finding, it ends with Slurm's
    /// message.
    pub fn sentence(&self, finding: &LintFinding) -> String {
        let slurm = finding.slurm.last().filter(|_| finding.level == Level::Fatal);
        let slurm = slurm.map_or_else(String::new, |text| format!(" (Slurm says: {text})"));
        format!("{}{slurm}", self.place(finding))
    }

    /// Sentence on a finding, with its file and line, but without Slurm's message.
    pub fn place(&self, finding: &LintFinding) -> String {
        let file = match finding.source {
            Source::Topology => &self.topology,
            Source::Conf => self.conf.as_ref().unwrap_or(&self.topology),
            Source::Gres => self.gres.as_ref().unwrap_or(&self.topology),
        };
        let line = finding.line.map_or_else(String::new, |line| format!(", line {line}"));
        format!("{file}{line}: {}", finding.says)
    }
}

#[derive(Clone, Debug)]
pub struct Reading {
    pub files: SlurmFiles,
    /// Whether the topologies come from a model of topograph, which Slurm does not read.
    pub is_model: bool,
    pub findings: LintFindings,
    /// Topologies that the files describe, the default one first.
    ///
    /// The list is empty if Slurm would not start.
    pub topologies: Vec<(SlurmTopology, Structure)>,
    pub hosts: Hosts,
    /// Contents of the `slurm.conf`; `None` if there is no such file, or it is invalid.
    pub conf: Option<Conf>,
}

/// Reads a topology file and a `slurm.conf`, one of which may be missing.
///
/// The function `text` reads a file. Problems become findings; there are topologies only if no
/// finding is fatal.
pub fn read(
    topology: Option<&Path>,
    conf: Option<&Path>,
    text: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<Reading, String> {
    let name = |path: &Path| path.display().to_string();
    let topology_text = topology.map(text).transpose()?.unwrap_or_default();
    let conf_text = conf.map(text).transpose()?;
    let folder = conf.and_then(Path::parent).unwrap_or(Path::new("")).to_owned();
    let mut include = |path: &str| text(&folder.join(path));
    let topology = topology.map(name).unwrap_or_default();
    let files = SlurmFiles { topology, conf: conf.map(name), gres: None };
    Ok(read_texts(files, &topology_text, conf_text.as_deref(), &mut include))
}

/// Variant of [`read`] for files whose texts are already in memory.
pub fn read_texts(
    files: SlurmFiles,
    topology: &str,
    conf: Option<&str>,
    include: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Reading {
    let mut findings = LintFindings::default();
    let conf = conf.map(|conf| Conf::read(conf, include, &mut findings));
    let mut reading = Reading {
        files,
        is_model: false,
        findings,
        topologies: Vec::new(),
        hosts: Hosts::default(),
        conf: None,
    };
    reading.conf = match conf {
        Some(Err(Fatal)) => return reading,
        Some(Ok(conf)) => Some(conf),
        None => None,
    };
    // If the topology is invalid, the findings say so.
    let _ = reading.build(topology);
    reading
}

impl Reading {
    fn build(&mut self, text: &str) -> Result<(), Fatal> {
        let is_conf = Path::new(&self.files.topology)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("conf"));
        let lists_nothing =
            text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#'));
        let plugin = self.conf.as_ref().and_then(|conf| conf.setting("TopologyPlugin"));
        let is_flat = self.conf.is_some()
            && plugin.is_none_or(|plugin| {
                ["flat", "default", "none"].iter().any(|kind| plugin.ends_with(kind))
            });
        let mut topologies = if lists_nothing && is_flat {
            // With a flat topology plugin, Slurm does not read an empty topology file.
            vec![topology::flat()]
        } else if lists_nothing && self.files.topology.is_empty() {
            let plugin = plugin.unwrap_or_default().to_owned();
            let settings = self.conf.iter().flat_map(|conf| &conf.settings);
            let line = settings.rev().find(|line| line.get("TopologyPlugin").is_some());
            let says = format!("TopologyPlugin is {plugin}, so give its topology file too");
            return Err(self.findings.fatal_conf(line.map(|line| line.number), says, &[]));
        } else if is_conf {
            vec![topology::from_conf::read(text, &mut self.findings)?]
        } else {
            self.is_model = topology::from_yaml::is_model(text);
            topology::from_yaml::read(text, &mut self.findings)?
        };
        self.warn_of_names(&topologies);
        // Slurm puts the default topology first, and keeps the order of the others.
        if let Some(place) = topologies.iter().position(|topology| topology.is_default) {
            topologies[..=place].rotate_right(1);
        }
        self.hosts = match &self.conf {
            Some(conf) => conf.hosts.clone(),
            None => Hosts::of(&topologies),
        };
        let mut built = Vec::new();
        for topology in topologies {
            let structure = topology::build(&topology, &self.hosts, &mut self.findings)?;
            built.push((topology, structure));
        }
        self.check_partitions(&built)?;
        self.topologies = built;
        Ok(())
    }

    fn warn_of_names(&mut self, topologies: &[SlurmTopology]) {
        for (place, topology) in topologies.iter().enumerate() {
            let mut earlier = topologies[..place].iter();
            if let Some(other) =
                earlier.find(|other| other.name == topology.name && !topology.name.is_empty())
            {
                let says = format!(
                    "a topology is named {} here and in line {}: partitions get the first",
                    topology.name, other.line
                );
                self.findings.warn(topology.line, says);
            }
        }
        let defaults = topologies.iter().filter(|topology| topology.is_default).count();
        if topologies.len() > 1 && defaults != 1 {
            let says =
                format!("{defaults} topologies say `cluster_default: true`, and the first counts");
            self.findings.warn(topologies[0].line, says);
        }
    }

    fn check_partitions(&mut self, built: &[(SlurmTopology, Structure)]) -> Result<(), Fatal> {
        for partition in self.conf.iter().flat_map(|conf| &conf.partitions) {
            if let Some(unknown) = &partition.unknown {
                let says = format!(
                    "the partition {} has the node {unknown}, which no NodeName has",
                    partition.name
                );
                return Err(self.findings.fatal_conf(Some(partition.line), says, &[]));
            }
            let Some(name) = &partition.topology else { continue };
            if !built.iter().any(|(topology, _)| topology.name == *name) {
                let says = match self.files.topology.as_str() {
                    "" => format!(
                        "the partition {} asks for the topology {name}, so give its topology file too",
                        partition.name
                    ),
                    file => format!(
                        "the partition {} asks for the topology {name}, which is not in {file}",
                        partition.name
                    ),
                };
                return Err(self.findings.fatal_conf(Some(partition.line), says, &[]));
            }
        }
        Ok(())
    }

    pub fn refusal(&self) -> Option<String> {
        self.findings.first_fatal().map(|finding| self.files.sentence(finding))
    }

    /// Names of all nodes in the topologies, in alphabetical order.
    ///
    /// Each name has the number of the first line that lists it.
    pub fn listed_hosts(&self) -> Vec<(String, usize)> {
        let mut hosts: Vec<(String, usize)> = Vec::new();
        for list in self.topologies.iter().flat_map(|(topology, _)| topology.kind.lists()) {
            let names = hostlist::names(&list.text).unwrap_or_default();
            hosts.extend(names.into_iter().map(|name| (name, list.line)));
        }
        hosts.sort();
        hosts.dedup_by(|next, first| next.0 == first.0);
        hosts
    }

    /// Site of the partition with this name, or of the default partition if no name is given.
    ///
    /// If no partition is the default and there is only one, this one is used. Without a
    /// `slurm.conf`, the site has all nodes and the default topology.
    ///
    /// # Errors
    /// Slurm would not start, or there is no such partition.
    pub fn site(&self, partition: Option<&str>) -> Result<SlurmSite, String> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        let conf_name = self.files.conf.as_deref().unwrap_or("slurm.conf");
        let Some(conf) = &self.conf else {
            if let Some(name) = partition {
                return Err(format!(
                    "the partition {name} is that of a slurm.conf, but none is given"
                ));
            }
            return self.site_of(self.all(), self.all(), &[], None, false);
        };
        let names: Vec<&str> = conf.partitions.iter().map(|own| own.name.as_str()).collect();
        let all = names.join(", ");
        let found = conf.partition(partition).ok_or_else(|| match (partition, &names[..]) {
            (Some(name), _) => {
                format!("{conf_name}: there is no partition {name} (there are: {all})")
            }
            (None, []) => format!("{conf_name}: there is no partition: write PartitionName="),
            (None, _) => {
                format!("{conf_name}: no partition is the default: say which of {all} is meant")
            }
        })?;
        let topology = found.topology.as_deref();
        self.site_in(conf, found.nodes.clone(), topology, found.is_exclusive)
    }

    /// Nodes of all partitions that use the default topology. Without a `slurm.conf`, all nodes.
    pub fn cluster(&self) -> Result<SlurmSite, String> {
        let Some(conf) = &self.conf else { return self.site(None) };
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        let first = self.topologies.first().map(|(topology, _)| topology.name.as_str());
        let has_it = |own: &&Partition| own.topology.as_deref().or(first) == first;
        let mut whole = NodeSet::empty(self.hosts.count());
        conf.partitions.iter().filter(has_it).for_each(|own| whole.unite(&own.nodes));
        let is_exclusive = conf.partitions.iter().filter(has_it).all(|own| own.is_exclusive);
        self.site_in(conf, whole, first, is_exclusive)
    }

    /// Site with the nodes `whole`. It has the topology with the name `topology` or, without a
    /// name, the first one in the file.
    fn site_in(
        &self,
        conf: &Conf,
        whole: NodeSet,
        topology: Option<&str>,
        is_exclusive: bool,
    ) -> Result<SlurmSite, String> {
        let mut up = whole.clone();
        for (number, node) in conf.nodes.iter().enumerate().filter(|(_, node)| !node.is_up) {
            if self.hosts.find(&node.name) == Some(number as u32) {
                up.remove(number as u32);
            }
        }
        self.site_of(whole, up, &conf.nodes, topology, is_exclusive)
    }

    /// Site of all nodes of the machine, with the named topology. Partitions are ignored.
    pub fn site_with(&self, topology: &str) -> Result<SlurmSite, String> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        self.site_of(self.all(), self.all(), &[], Some(topology), false)
    }

    /// Weight and number of processors of each host. Both are 1 if `nodes` does not have the host.
    pub(crate) fn nodes_of(&self, nodes: &[conf::ConfNode]) -> Nodes {
        let mut weights = vec![1; self.hosts.count() as usize];
        let mut processors = weights.clone();
        for node in nodes {
            if let Some(number) = self.hosts.find(&node.name) {
                (weights[number as usize], processors[number as usize]) =
                    (node.weight, node.processors);
            }
        }
        Nodes::new(weights, processors)
    }

    fn all(&self) -> NodeSet {
        NodeSet::full(self.hosts.count())
    }

    fn site_of(
        &self,
        whole: NodeSet,
        up: NodeSet,
        nodes: &[conf::ConfNode],
        topology: Option<&str>,
        is_exclusive: bool,
    ) -> Result<SlurmSite, String> {
        let mut topologies = self.topologies.iter();
        let found = match topology {
            Some(name) => topologies.find(|(own, _)| own.name == name),
            None => topologies.next(),
        };
        let (topology, structure) = found.ok_or_else(|| {
            let names = self.topologies.iter().map(|(topology, _)| topology.name.as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            let file = &self.files.topology;
            match topology {
                Some(name) => format!("{file}: there is no topology {name} (there are: {names})"),
                None => format!("{file}: this file lists no topology"),
            }
        })?;
        Ok(SlurmSite {
            hosts: self.hosts.clone(),
            nodes: self.nodes_of(nodes),
            whole,
            up,
            topology: topology.name.clone(),
            structure: structure.clone(),
            is_exclusive,
            fits_single: false,
        })
    }
}

#[derive(Clone, Debug)]
pub struct SlurmSite {
    pub hosts: Hosts,
    /// Weights and processors of all nodes.
    pub nodes: Nodes,
    pub whole: NodeSet,
    pub up: NodeSet,
    pub topology: String,
    pub structure: Structure,
    pub is_exclusive: bool,
    /// Whether a flat topology places jobs of one node like larger ones, as older versions of Slurm
    /// do.
    pub fits_single: bool,
}

impl SlurmSite {
    pub fn rule(&self) -> &dyn Rule {
        match self.structure {
            Structure::Flat if self.fits_single => &FittedRuns,
            _ => self.structure.rule(),
        }
    }
}
