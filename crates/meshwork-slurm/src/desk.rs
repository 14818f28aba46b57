//! Allocates the nodes of a partition to jobs, and chooses the nodes as Slurm would.

use std::collections::BTreeMap;

use meshwork::alloc::listed::{Decision, NodeRequest, SlurmMessage, Wait, decide, find};
use meshwork::geometry::NodeSet;

use crate::site::SlurmSite;
use crate::topology::Structure;
use meshwork::job::hostlist::names;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmRequest {
    /// Number of nodes, and constraints on them.
    ///
    /// Required and excluded nodes are in `require` and `exclude` instead.
    pub wanted: NodeRequest,
    /// Required nodes as a host list.
    pub require: Option<String>,
    /// Excluded nodes as a host list.
    pub exclude: Option<String>,
    /// Whether the job's base blocks must be free of other jobs while it runs.
    pub whole_blocks: bool,
    /// Number of processors that the job takes on each node; `None` if it takes whole nodes.
    pub share: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlurmAnswer {
    Nodes(NodeSet),
    /// The job cannot start now, but may start later. The second value is Slurm's message.
    Wait(Wait, SlurmMessage),
    /// The job can never start. The value is the reason in Slurm's words.
    Never(String),
}

#[derive(Clone, Debug)]
struct Held {
    nodes: NodeSet,
    share: Option<u32>,
    whole_blocks: bool,
}

#[derive(Clone, Debug)]
pub struct SlurmAllocator<K: Ord> {
    site: SlurmSite,
    held: BTreeMap<K, Held>,
    used: Vec<u32>,
    unused: NodeSet,
}

/// Slurm's message for a host name that does not exist.
const INVALID_NAME: &str = "Invalid node name specified";

impl<K: Ord + Clone> SlurmAllocator<K> {
    pub fn new(site: SlurmSite) -> SlurmAllocator<K> {
        let count = site.hosts.count();
        let (used, unused) = (vec![0; count as usize], NodeSet::full(count));
        SlurmAllocator { site, held: BTreeMap::new(), used, unused }
    }

    pub fn site(&self) -> &SlurmSite {
        &self.site
    }

    pub fn holds(&self, name: &K) -> bool {
        self.held.contains_key(name)
    }

    pub fn held(&self) -> impl Iterator<Item = (&K, &NodeSet)> {
        self.held.iter().map(|(name, held)| (name, &held.nodes))
    }

    /// Number of nodes that are in service and of which no processor is held.
    pub fn idle(&self) -> u32 {
        self.site.up.count_shared(&self.unused)
    }

    /// Fragmentation of a torus: total size of all listed boxes in which some node is not free.
    ///
    /// It is `None` for other topologies. Slurm can choose among start times of a job by this
    /// number.
    pub fn fragmentation(&self) -> Option<u64> {
        let Structure::Torus3d(anchors, _) = &self.site.structure else { return None };
        let mut idle = self.site.up.clone();
        idle.intersect(&self.unused);
        Some(anchors.fragmentation(&idle))
    }

    /// Decision on a request in the current state. It allocates nothing.
    pub fn ask(&self, asked: &SlurmRequest) -> SlurmAnswer {
        self.ask_without(asked, None)
    }

    /// Decision on a request whose job must not use the nodes in `kept` now, but may wait for them.
    /// If `kept` is `None`, no nodes are excluded.
    pub fn ask_without(&self, asked: &SlurmRequest, kept: Option<&NodeSet>) -> SlurmAnswer {
        let mut wanted = asked.wanted.clone();
        let (required, excluded) =
            match (self.set(asked.require.as_ref()), self.set(asked.exclude.as_ref())) {
                (Ok(required), Ok(excluded)) => (required, excluded),
                (Err(never), _) | (_, Err(never)) => return SlurmAnswer::Never(never),
            };
        wanted.listed = required;
        if wanted.nodes > self.site.whole.count() {
            return SlurmAnswer::Never(SlurmMessage::PartitionConfiguration.to_string());
        }
        let (mut available, whole) = self.available(asked, excluded.as_ref());
        kept.into_iter().for_each(|kept| available.subtract(kept));
        let rule = self.site.rule();
        match decide(rule, &self.site.nodes, &wanted, &available, &whole) {
            Decision::Start(nodes) => SlurmAnswer::Nodes(nodes),
            Decision::Wait(wait, message) => SlurmAnswer::Wait(wait, message),
            Decision::Never(message) => SlurmAnswer::Never(message.to_string()),
        }
    }

    /// Nodes on which the job would start now if it must not take the nodes in `kept`.
    ///
    /// `None` if it cannot start. The nodes are those that
    /// [`ask_without`](SlurmAllocator::ask_without) chooses.
    pub fn find_without(&self, asked: &SlurmRequest, kept: &NodeSet) -> Option<NodeSet> {
        let mut wanted = asked.wanted.clone();
        wanted.listed = self.set(asked.require.as_ref()).ok()?;
        let excluded = self.set(asked.exclude.as_ref()).ok()?;
        let (mut available, _) = self.available(asked, excluded.as_ref());
        available.subtract(kept);
        find(self.site.rule(), &self.site.nodes, &wanted, &available)
    }

    /// Decides on a request by [`ask`](SlurmAllocator::ask), and allocates the chosen nodes, if
    /// any.
    pub fn allocate(&mut self, name: &K, asked: &SlurmRequest) -> SlurmAnswer {
        let told = self.ask(asked);
        if let SlurmAnswer::Nodes(nodes) = &told {
            self.hold(name, asked, nodes.clone());
        }
        told
    }

    pub fn hold(&mut self, name: &K, asked: &SlurmRequest, nodes: NodeSet) {
        self.release(name);
        let share = self.share(asked);
        for node in nodes.iter() {
            self.used[node as usize] += self.taken_of(node, share);
            self.unused.remove(node);
        }
        self.held.insert(name.clone(), Held { nodes, share, whole_blocks: asked.whole_blocks });
    }

    pub fn release(&mut self, name: &K) -> Option<u32> {
        let held = self.held.remove(name)?;
        for node in held.nodes.iter() {
            self.used[node as usize] -= self.taken_of(node, held.share);
            if self.used[node as usize] == 0 {
                self.unused.insert(node);
            }
        }
        Some(held.nodes.count())
    }

    /// Number of processors that a job takes on each node; `None` if it takes whole nodes.
    ///
    /// A job takes whole nodes if its partition or its request demands it.
    fn share(&self, asked: &SlurmRequest) -> Option<u32> {
        asked.share.filter(|_| !self.site.is_exclusive && !asked.whole_blocks)
    }

    fn taken_of(&self, node: u32, share: Option<u32>) -> u32 {
        share.unwrap_or_else(|| self.site.nodes.processors(node).max(1))
    }

    fn set(&self, list: Option<&String>) -> Result<Option<NodeSet>, String> {
        let Some(list) = list else { return Ok(None) };
        let mut set = NodeSet::empty(self.site.hosts.count());
        for name in names(list).map_err(|_| INVALID_NAME.to_owned())? {
            set.insert(self.site.hosts.find(&name).ok_or_else(|| INVALID_NAME.to_owned())?);
        }
        Ok(Some(set))
    }

    /// Nodes that a job may take in the current state, and nodes that it could take if none were
    /// held.
    fn available(&self, asked: &SlurmRequest, excluded: Option<&NodeSet>) -> (NodeSet, NodeSet) {
        let (mut available, mut whole) = (self.site.up.clone(), self.site.whole.clone());
        match self.share(asked) {
            None => available.intersect(&self.unused),
            Some(share) => {
                for node in self.site.whole.iter() {
                    let all = self.site.nodes.processors(node).max(1);
                    if self.used[node as usize] + share > all {
                        available.remove(node);
                    }
                    if share > all {
                        whole.remove(node);
                    }
                }
            }
        }
        if let Some(excluded) = excluded {
            available.subtract(excluded);
            // Slurm lets a job that excludes nodes of a torus wait, even if it can never start.
            if !matches!(self.site.structure, Structure::Torus3d(..)) {
                whole.subtract(excluded);
            }
        }
        if let Structure::Block(blocks, ..) = &self.site.structure {
            let keeps_out = |held: &&Held| asked.whole_blocks || held.whole_blocks;
            let keeping: Vec<&Held> = self.held.values().filter(keeps_out).collect();
            for block in blocks.base_blocks() {
                if keeping.iter().any(|held| held.nodes.meets(block)) {
                    available.subtract(block);
                }
            }
        }
        (available, whole)
    }
}
