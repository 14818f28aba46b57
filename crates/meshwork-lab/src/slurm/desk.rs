//! A desk that hands out the nodes of a partition as its Slurm would.

use std::collections::BTreeMap;

use meshwork::alloc::listed::{Decision, Message, Wait, Wanted, decide, find};
use meshwork::geometry::NodeSet;

use super::hostlist::names;
use super::site::Site;
use super::topology::Structure;

/// What a job asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Counts and conditions; the listed nodes are those of `require`.
    pub wanted: Wanted,
    /// Nodes that it must have, as a list of hosts.
    pub require: Option<String>,
    /// Nodes that it must not have, as a list of hosts.
    pub exclude: Option<String>,
    /// Whether its blocks must have no other job, and have none while it runs.
    pub whole_blocks: bool,
    /// The processors that it takes of each node; `None` if it takes nodes whole.
    pub share: Option<u32>,
}

/// What a job is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// It has, or could have, these nodes.
    Nodes(NodeSet),
    /// It may start later.
    Wait(Wait, Message),
    /// It is refused for ever, for this reason.
    Never(String),
}

/// A job that holds nodes.
#[derive(Clone, Debug)]
struct Held {
    nodes: NodeSet,
    /// As of [`Asked`].
    share: Option<u32>,
    whole_blocks: bool,
}

/// Who holds which nodes of a partition.
#[derive(Clone, Debug)]
pub struct Desk<K: Ord> {
    site: Site,
    held: BTreeMap<K, Held>,
    /// The processors of each node that are held.
    used: Vec<u32>,
    /// The nodes of which nobody holds any.
    unused: NodeSet,
}

/// What is said of a host that there is not.
const INVALID_NAME: &str = "Invalid node name specified";

impl<K: Ord + Clone> Desk<K> {
    /// A desk at which nobody holds anything.
    #[must_use]
    pub fn new(site: Site) -> Desk<K> {
        let count = site.hosts.count();
        let (used, unused) = (vec![0; count as usize], NodeSet::full(count));
        Desk { site, held: BTreeMap::new(), used, unused }
    }

    /// The partition.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Whether somebody of this name holds nodes.
    #[must_use]
    pub fn holds(&self, name: &K) -> bool {
        self.held.contains_key(name)
    }

    /// Who holds which nodes.
    pub fn held(&self) -> impl Iterator<Item = (&K, &NodeSet)> {
        self.held.iter().map(|(name, held)| (name, &held.nodes))
    }

    /// How many nodes nobody has any of.
    #[must_use]
    pub fn idle(&self) -> u32 {
        self.site.up.count_shared(&self.unused)
    }

    /// How much of the lists of a torus is broken: for each box that is not wholly free its size, summed. It is the
    /// number by which Slurm chooses between later starts, where it is told to.
    #[must_use]
    pub fn fragmentation(&self) -> Option<u64> {
        let Structure::Torus3d(anchors, _) = &self.site.structure else { return None };
        let mut idle = self.site.up.clone();
        idle.intersect(&self.unused);
        Some(anchors.fragmentation(&idle))
    }

    /// What a job would be told now; nothing changes.
    ///
    /// # Complexity
    /// That of [`decide`].
    #[must_use]
    pub fn ask(&self, asked: &Asked) -> Told {
        self.ask_without(asked, None)
    }

    /// As [`Desk::ask`], if these nodes are not to be given out now, though an empty machine would have them.
    #[must_use]
    pub fn ask_without(&self, asked: &Asked, kept: Option<&NodeSet>) -> Told {
        let mut wanted = asked.wanted.clone();
        let (required, excluded) =
            match (self.set(asked.require.as_ref()), self.set(asked.exclude.as_ref())) {
                (Ok(required), Ok(excluded)) => (required, excluded),
                (Err(never), _) | (_, Err(never)) => return Told::Never(never),
            };
        wanted.listed = required;
        if wanted.nodes > self.site.whole.count() {
            return Told::Never(Message::PartitionConfiguration.to_string());
        }
        let (mut available, whole) = self.available(asked, excluded.as_ref());
        kept.into_iter().for_each(|kept| available.subtract(kept));
        let rule = self.site.structure.rule();
        match decide(rule, &self.site.nodes, &wanted, &available, &whole) {
            Decision::Start(nodes) => Told::Nodes(nodes),
            Decision::Wait(wait, message) => Told::Wait(wait, message),
            Decision::Never(message) => Told::Never(message.to_string()),
        }
    }

    /// The nodes that [`Desk::ask_without`] would tell, if there are any: whether the job could ever start is not asked.
    ///
    /// # Complexity
    /// That of [`find`].
    #[must_use]
    pub fn find_without(&self, asked: &Asked, kept: &NodeSet) -> Option<NodeSet> {
        let mut wanted = asked.wanted.clone();
        wanted.listed = self.set(asked.require.as_ref()).ok()?;
        let excluded = self.set(asked.exclude.as_ref()).ok()?;
        let (mut available, _) = self.available(asked, excluded.as_ref());
        available.subtract(kept);
        find(self.site.structure.rule(), &self.site.nodes, &wanted, &available)
    }

    /// Gives a job the nodes that it would be told, if there are any.
    pub fn allocate(&mut self, name: &K, asked: &Asked) -> Told {
        let told = self.ask(asked);
        if let Told::Nodes(nodes) = &told {
            self.hold(name, asked, nodes.clone());
        }
        told
    }

    /// Gives a job nodes that somebody else has chosen; what it held before is given back.
    pub fn hold(&mut self, name: &K, asked: &Asked, nodes: NodeSet) {
        self.release(name);
        let share = self.share(asked);
        for node in nodes.iter() {
            self.used[node as usize] += self.taken_of(node, share);
            self.unused.remove(node);
        }
        self.held.insert(name.clone(), Held { nodes, share, whole_blocks: asked.whole_blocks });
    }

    /// Takes back what somebody holds, and says how many nodes that were.
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

    /// A partition may give its nodes whole to all of its jobs.
    fn share(&self, asked: &Asked) -> Option<u32> {
        asked.share.filter(|_| !self.site.is_exclusive && !asked.whole_blocks)
    }

    /// How many processors of a node a job takes.
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

    /// The nodes that a job may have now, and those that it might have on an empty machine.
    fn available(&self, asked: &Asked, excluded: Option<&NodeSet>) -> (NodeSet, NodeSet) {
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
            // Slurm lets a job wait for a torus of whose nodes it excludes one.
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
