//! What a backfill scheduler plans: for every waiting job, in the order of priority, the first time at which the rule
//! finds it a place that is free over its whole limit.

use meshwork::alloc::listed::{Wanted, find};
use meshwork::geometry::NodeSet;

use super::folder::{Machine, asked};
use super::history::{Second, Stay};
use crate::slurm::desk::Asked;
use crate::slurm::site::Site;
use crate::slurm::topology::Structure;

/// The seconds after which a job without a limit is taken to end.
const NO_LIMIT: Second = 365 * 86_400;

/// How far Slurm looks ahead, where it is told nothing else.
const HORIZON: Second = 86_400;

/// What a job asks for, looked up on its machine.
#[derive(Clone, Debug)]
pub struct Request {
    /// As a desk is asked.
    pub asked: Asked,
    /// How long it may run.
    pub limit: Second,
    wanted: Wanted,
    /// The nodes on which it might run, were all of them free.
    may: NodeSet,
    /// Whether no start is ever planned for it: not even the empty machine has nodes for it.
    is_hopeless: bool,
}

impl Request {
    /// What a stay asks for in its partition.
    #[must_use]
    pub fn of(machine: &Machine, site: &Site, stay: &Stay) -> Request {
        let asked = asked(stay);
        let limit = stay.limit.unwrap_or(NO_LIMIT);
        let list =
            |list: &Option<String>| list.as_ref().map(|list| machine.nodes(list)).transpose();
        let (required, excluded) = (list(&asked.require), list(&asked.exclude));
        let is_unknown = required.is_err() || excluded.is_err();
        let mut wanted = asked.wanted.clone();
        wanted.listed = required.unwrap_or(None);
        let (mut may, mut whole) = (site.up.clone(), site.whole.clone());
        if let Ok(Some(excluded)) = &excluded {
            may.subtract(excluded);
            if !matches!(site.structure, Structure::Torus3d(..)) {
                whole.subtract(excluded);
            }
        }
        let patient = Wanted { switches: None, ..wanted.clone() };
        let is_hopeless = is_unknown
            || wanted.nodes == 0
            || wanted.nodes > site.whole.count()
            || find(site.structure.rule(), &site.nodes, &patient, &whole).is_none();
        Request { asked, limit, wanted, may, is_hopeless }
    }

    /// The same for another stay, which asks for the same and may have another limit.
    #[must_use]
    pub fn for_another(&self, stay: &Stay) -> Request {
        Request { limit: stay.limit.unwrap_or(NO_LIMIT), ..self.clone() }
    }

    /// Whether not even the empty machine has nodes for it.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        self.is_hopeless
    }

    /// Whether another job asks for the same, so that it cannot start where this one could not.
    fn asks_alike(&self, other: &Request) -> bool {
        self.limit == other.limit
            && self.wanted == other.wanted
            && self.asked.whole_blocks == other.asked.whole_blocks
            && self.may == other.may
    }
}

/// What is planned at one instant.
pub struct Plan<'a> {
    site: &'a Site,
    now: Second,
    /// The nodes that are free of running jobs from each time on, ascending, the first from now on.
    free: Vec<(Second, NodeSet)>,
    /// What is kept, from when, until when.
    kept: Vec<(Second, Second, NodeSet)>,
    /// Until when the same jobs would be planned in the same way, if nothing happens and nobody starts.
    settled_until: Second,
    /// Of requests that were planned, before when they found nothing.
    before: Vec<(Request, Second)>,
}

/// A job that runs: until when it may, on which nodes, and whether its blocks are its own.
pub type Running<'a> = (Second, &'a NodeSet, bool);

impl<'a> Plan<'a> {
    /// A plan in which nothing is kept yet. Jobs that are over their limits may end at any second.
    ///
    /// # Complexity
    /// **O(r log r)** sets for *r* running jobs, and as many are held.
    #[must_use]
    pub fn new<'r>(
        site: &'a Site,
        now: Second,
        running: impl Iterator<Item = Running<'r>>,
    ) -> Plan<'a> {
        let mut running: Vec<(Second, NodeSet)> = running
            .map(|(end, nodes, whole)| (end.max(now + 1), blocks_around(site, nodes, whole)))
            .collect();
        running.sort_by_key(|(end, _)| std::cmp::Reverse(*end));
        let mut free = Vec::new();
        let mut left = site.up.clone();
        for group in running.chunk_by(|a, b| a.0 == b.0) {
            free.push((group[0].0, left.clone()));
            group.iter().for_each(|(_, nodes)| left.subtract(nodes));
        }
        // Whoever is over the limit may end at any second, so what is planned moves with the clock.
        let settled_until = running.last().map_or(Second::MAX, |(end, _)| *end);
        free.push((now, left));
        free.reverse();
        Plan { site, now, free, kept: Vec::new(), settled_until, before: Vec::new() }
    }

    /// The first second at which a plan of the same jobs, behind the same running ones, might be another.
    #[must_use]
    pub fn settled_until(&self) -> Second {
        self.settled_until
    }

    /// The nodes that are free from one time to another, as far as limits say.
    fn available(&self, from: Second, until: Second) -> NodeSet {
        let place = self.free.partition_point(|(time, _)| *time <= from);
        let mut available = self.free[place.saturating_sub(1)].1.clone();
        for (start, end, nodes) in &self.kept {
            if *start < until && from < *end {
                available.subtract(nodes);
            }
        }
        available
    }

    /// The nodes that are kept for others over the whole limit of a job that would start now.
    #[must_use]
    pub fn kept_over(&mut self, limit: Second) -> NodeSet {
        let mut all = NodeSet::empty(self.site.hosts.count());
        for (start, _, nodes) in &self.kept {
            if *start < self.now.saturating_add(limit) {
                all.unite(nodes);
            } else {
                self.settled_until = self.settled_until.min(start.saturating_sub(limit) + 1);
            }
        }
        all
    }

    /// Keeps nodes for a job that starts now.
    pub fn keep(&mut self, now: Second, request: &Request, nodes: &NodeSet) {
        let kept = blocks_around(self.site, nodes, request.asked.whole_blocks);
        self.kept.push((now, now.saturating_add(request.limit), kept));
    }

    /// Plans a job, behind all that were planned before: when it may start at the earliest, and where. `None` if that
    /// is further away than Slurm looks, or never.
    ///
    /// # Complexity
    /// That of [`find`] for each end of a job that runs or is planned, at worst.
    pub fn book(&mut self, request: &Request) -> Option<(Second, NodeSet)> {
        if request.is_hopeless {
            return None;
        }
        let ends =
            self.free.iter().map(|(time, _)| *time).chain(self.kept.iter().map(|(_, end, _)| *end));
        let (mut times, later): (Vec<Second>, Vec<Second>) =
            ends.partition(|&time| time <= self.now + HORIZON);
        times.sort_unstable();
        times.dedup();
        // What found nothing before some time, with less kept, finds nothing before it now.
        let alike = self.before.iter().position(|(own, _)| own.asks_alike(request));
        let known = alike.map_or(self.now, |place| self.before[place].1);
        for start in times.into_iter().filter(|&time| time >= known) {
            let end = start.saturating_add(request.limit);
            let mut available = self.available(start, end);
            available.intersect(&request.may);
            if request.asked.whole_blocks
                && let Structure::Block(blocks, ..) = &self.site.structure
            {
                let busy = blocks.base_blocks().iter().filter(|block| !block.is_within(&available));
                let busy: Vec<NodeSet> = busy.cloned().collect();
                busy.iter().for_each(|block| available.subtract(block));
            }
            if available.count() < request.wanted.nodes {
                continue;
            }
            let rule = self.site.structure.rule();
            if let Some(nodes) = find(rule, &self.site.nodes, &request.wanted, &available) {
                let kept = blocks_around(self.site, &nodes, request.asked.whole_blocks);
                self.kept.push((start, end, kept));
                self.remember(alike, request, start);
                if start == self.now {
                    self.settled_until = self.now;
                }
                return Some((start, nodes));
            }
        }
        // An end that is too far away now is looked at when it has come nearer.
        if let Some(nearest) = later.into_iter().min() {
            self.settled_until = self.settled_until.min(nearest - HORIZON);
        }
        self.remember(alike, request, self.now.saturating_add(HORIZON).saturating_add(1));
        None
    }

    fn remember(&mut self, alike: Option<usize>, request: &Request, time: Second) {
        match alike {
            Some(place) => self.before[place].1 = time,
            None => self.before.push((request.clone(), time)),
        }
    }
}

/// The nodes that nobody else may have while a job has some.
fn blocks_around(site: &Site, nodes: &NodeSet, whole: bool) -> NodeSet {
    let mut all = nodes.clone();
    if whole && let Structure::Block(blocks, ..) = &site.structure {
        for block in blocks.base_blocks().iter().filter(|block| block.meets(nodes)) {
            all.unite(block);
        }
    }
    all
}
