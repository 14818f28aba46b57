//! What a backfill scheduler plans: for every waiting job, in the order of priority, the first time at which the rule
//! finds it a place that is free over its whole limit.

use std::collections::BTreeMap;
use std::sync::Arc;

use meshwork::alloc::listed::{NodeRequest, find};
use meshwork::alloc::shared::SharedLookup;
use meshwork::geometry::NodeSet;

use super::folder::{SlurmMachine, asked};
use super::history::{JobRecord, Second};
use crate::slurm::desk::SlurmRequest;
use crate::slurm::site::SlurmSite;
use crate::slurm::topology::Structure;

/// The seconds after which a job without a limit is taken to end.
pub(super) const NO_LIMIT: Second = 365 * 86_400;

/// How far Slurm looks ahead, where it is told nothing else.
const HORIZON: Second = 86_400;

/// What a job asks for, looked up on its machine.
#[derive(Clone, Debug)]
pub struct ResolvedRequest {
    /// As a desk is asked. Requests that share it, in one partition, are alike but for their
    /// limits.
    pub asked: Arc<SlurmRequest>,
    /// How long it may run.
    pub limit: Second,
    found: Arc<RequestLookup>,
}

/// Lookups on a machine that requests share if they differ in nothing but their limits.
#[derive(Debug)]
pub(super) struct RequestLookup {
    pub(super) wanted: NodeRequest,
    /// The nodes on which it might run, were all of them free.
    pub(super) may: NodeSet,
    /// Whether no start is ever planned for it: not even the empty partition has nodes for it.
    pub(super) is_hopeless: bool,
}

impl RequestLookup {
    pub(super) fn of(
        machine: &SlurmMachine,
        site: &SlurmSite,
        asked: &SlurmRequest,
    ) -> RequestLookup {
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
        let patient = NodeRequest { switches: None, ..wanted.clone() };
        let is_hopeless = is_unknown
            || wanted.nodes == 0
            || wanted.nodes > site.whole.count()
            || find(site.rule(), &site.nodes, &patient, &whole).is_none();
        RequestLookup { wanted, may, is_hopeless }
    }

    /// Replaces what was found by what a request for parts of nodes amounts to; `None` if it can
    /// never start.
    pub(super) fn set_parts(&mut self, parts: Option<&SharedLookup>) {
        self.is_hopeless = !parts.is_some_and(SharedLookup::is_ever);
        if let Some(parts) = parts {
            self.wanted.nodes = parts.min_nodes();
            self.may.clone_from(parts.pool());
        }
    }
}

impl ResolvedRequest {
    /// What a stay asks for in its partition.
    #[must_use]
    pub fn of(machine: &SlurmMachine, site: &SlurmSite, stay: &JobRecord) -> ResolvedRequest {
        let asked = asked(stay);
        let found = Arc::new(RequestLookup::of(machine, site, &asked));
        ResolvedRequest { asked: Arc::new(asked), limit: limit(stay), found }
    }

    /// The requests of all stays; those that are alike share what is looked up.
    ///
    /// # Complexity
    /// **O(n k)** for *n* stays and *k* different requests for one number of nodes.
    #[must_use]
    pub fn all(machine: &SlurmMachine, stays: &[JobRecord]) -> Vec<ResolvedRequest> {
        let mut known: BTreeMap<(&str, u32), Vec<ResolvedRequest>> = BTreeMap::new();
        let mut requests = Vec::with_capacity(stays.len());
        for stay in stays {
            let known = known.entry((&stay.partition, stay.nodes)).or_default();
            let own = asked(stay);
            let request = match known.iter().find(|request| *request.asked == own) {
                Some(alike) => ResolvedRequest { limit: limit(stay), ..alike.clone() },
                None => {
                    let request = ResolvedRequest::of(machine, machine.site(&stay.partition), stay);
                    known.push(request.clone());
                    request
                }
            };
            requests.push(request);
        }
        requests
    }

    /// Whether not even the empty machine has nodes for it.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        self.found.is_hopeless
    }

    /// Whether another request is this one but for its limit.
    pub(super) fn is_alike(&self, other: &ResolvedRequest) -> bool {
        Arc::ptr_eq(&self.asked, &other.asked)
    }
}

/// The kind of each request, and how many kinds there are: requests that are alike are of one kind.
pub(super) fn kinds(requests: &[ResolvedRequest]) -> (Vec<usize>, usize) {
    let mut known: BTreeMap<*const SlurmRequest, usize> = BTreeMap::new();
    let mut kind = Vec::with_capacity(requests.len());
    for request in requests {
        let next = known.len();
        kind.push(*known.entry(Arc::as_ptr(&request.asked)).or_insert(next));
    }
    (kind, known.len())
}

/// How long a stay may run; a limit of nothing counts as a second.
fn limit(stay: &JobRecord) -> Second {
    stay.limit.unwrap_or(NO_LIMIT).max(1)
}

/// The nodes that are free from one time to the next.
struct Step {
    from: Second,
    /// Nodes that neither running jobs have, as far as limits say, nor are kept for others.
    free: NodeSet,
    /// How many those are.
    count: u32,
    /// Whether something ends here, so that a job might start.
    is_end: bool,
}

/// What is planned at one instant.
pub struct BackfillPlan<'a> {
    site: &'a SlurmSite,
    now: Second,
    /// Free nodes from now on, step by step; the last step lasts for ever.
    steps: Vec<Step>,
    /// Kept nodes, from when on.
    kept: Vec<(Second, NodeSet)>,
    /// Until when the same jobs would be planned in the same way, if nothing happens and nobody starts.
    settled_until: Second,
    /// Requests that were planned, with the times before which they found nothing for which limits,
    /// both ascending: a longer limit finds nothing before either.
    before: Vec<(ResolvedRequest, Vec<(Second, Second)>)>,
}

/// A job that runs: until when it may, on which nodes, and whether its blocks are its own.
pub type RunningNodes<'a> = (Second, &'a NodeSet, bool);

impl<'a> BackfillPlan<'a> {
    /// A plan in which nothing is kept yet. Jobs that are over their limits may end at any second.
    ///
    /// # Complexity
    /// **O(r log r)** sets for *r* running jobs, and as many are held.
    #[must_use]
    pub fn new<'r>(
        site: &'a SlurmSite,
        now: Second,
        running: impl Iterator<Item = RunningNodes<'r>>,
    ) -> BackfillPlan<'a> {
        let mut running: Vec<(Second, NodeSet)> = running
            .map(|(end, nodes, whole)| (end.max(now + 1), blocks_around(site, nodes, whole)))
            .collect();
        running.sort_by_key(|(end, _)| std::cmp::Reverse(*end));
        let mut steps = Vec::new();
        let mut left = site.up.clone();
        let step = |from, free: NodeSet| Step { from, count: free.count(), free, is_end: true };
        for group in running.chunk_by(|a, b| a.0 == b.0) {
            steps.push(step(group[0].0, left.clone()));
            group.iter().for_each(|(_, nodes)| left.subtract(nodes));
        }
        // Whoever is over the limit may end at any second, so what is planned moves with the clock.
        let settled_until = running.last().map_or(Second::MAX, |(end, _)| *end);
        steps.push(step(now, left));
        steps.reverse();
        BackfillPlan { site, now, steps, kept: Vec::new(), settled_until, before: Vec::new() }
    }

    /// The first second at which a plan of the same jobs, behind the same running ones, might be another.
    #[must_use]
    pub fn settled_until(&self) -> Second {
        self.settled_until
    }

    /// The nodes that are free now.
    pub(super) fn free_now(&self) -> &NodeSet {
        &self.steps[0].free
    }

    /// The nodes that are kept for others over the whole limit of a job that would start now.
    #[must_use]
    pub fn kept_over(&self, limit: Second) -> NodeSet {
        let mut all = NodeSet::empty(self.site.hosts.count());
        let until = self.now.saturating_add(limit);
        let within = self.kept.iter().filter(|(start, _)| *start < until);
        within.for_each(|(_, nodes)| all.unite(nodes));
        all
    }

    /// Keeps nodes for a job that starts now.
    pub fn keep(&mut self, now: Second, request: &ResolvedRequest, nodes: &NodeSet) {
        self.take(now, request, nodes);
    }

    fn take(&mut self, start: Second, request: &ResolvedRequest, nodes: &NodeSet) {
        let nodes = blocks_around(self.site, nodes, request.asked.whole_blocks);
        let first = self.cut(start, false);
        let end = self.cut(start.saturating_add(request.limit), true);
        for step in &mut self.steps[first..end] {
            step.free.subtract(&nodes);
            step.count = step.free.count();
        }
        self.kept.push((start, nodes));
    }

    /// The place of the step that begins at a time, which is made if there is none.
    fn cut(&mut self, time: Second, is_end: bool) -> usize {
        let place = self.steps.partition_point(|step| step.from < time);
        if self.steps.get(place).is_none_or(|step| step.from > time) {
            let Step { free, count, .. } = &self.steps[place - 1];
            let step = Step { from: time, free: free.clone(), count: *count, is_end };
            self.steps.insert(place, step);
        }
        self.steps[place].is_end |= is_end;
        place
    }

    /// Plans a job, behind all that were planned before: when it may start at the earliest, and where. `None` if that
    /// is further away than Slurm looks, or never.
    ///
    /// # Complexity
    /// That of [`find`] for each end of a job that runs or is planned, at worst; where too few
    /// nodes are free at some time, no start is looked at from which a job would run then.
    pub fn book(&mut self, request: &ResolvedRequest) -> Option<(Second, NodeSet)> {
        if request.is_hopeless() {
            return None;
        }
        let alike = self.before.iter().position(|(own, _)| own.is_alike(request));
        let known = alike.map_or(self.now, |place| self.nothing_before(place, request.limit));
        let mut at = self.steps.partition_point(|step| step.from < known);
        while let Some(step) = self.steps.get(at).filter(|step| step.from <= self.now + HORIZON) {
            let start = step.from;
            if !step.is_end {
                at += 1;
                continue;
            }
            match self.place_at(at, request) {
                Ok(nodes) => {
                    self.take(start, request, &nodes);
                    self.remember(alike, request, start);
                    if start == self.now {
                        self.settled_until = self.now;
                    }
                    return Some((start, nodes));
                }
                Err(next) => at = next,
            }
        }
        // An end that is too far away now is looked at when it has come nearer.
        let far = self.steps.partition_point(|step| step.from <= self.now + HORIZON);
        if let Some(nearest) = self.steps[far..].iter().find(|step| step.is_end) {
            self.settled_until = self.settled_until.min(nearest.from - HORIZON);
        }
        self.remember(alike, request, self.now.saturating_add(HORIZON).saturating_add(1));
        None
    }

    /// The nodes of a job that would start with a step; else the first step with which it might.
    fn place_at(&self, at: usize, request: &ResolvedRequest) -> Result<NodeSet, usize> {
        let RequestLookup { wanted, may, .. } = &*request.found;
        let end = self.steps[at].from.saturating_add(request.limit);
        let during = &self.steps[at..self.steps.partition_point(|step| step.from < end)];
        if let Some(full) = during.iter().rposition(|step| step.count < wanted.nodes) {
            return Err(at + full + 1);
        }
        let mut available = may.clone();
        during.iter().for_each(|step| available.intersect(&step.free));
        if request.asked.whole_blocks
            && let Structure::Block(blocks, ..) = &self.site.structure
        {
            let busy = blocks.base_blocks().iter().filter(|block| !block.is_within(&available));
            let busy: Vec<NodeSet> = busy.cloned().collect();
            busy.iter().for_each(|block| available.subtract(block));
        }
        if available.count() < wanted.nodes {
            return Err(at + 1);
        }
        let rule = self.site.rule();
        find(rule, &self.site.nodes, wanted, &available).ok_or(at + 1)
    }

    /// Before when a request finds nothing, as one that is alike has shown with no longer a limit.
    fn nothing_before(&self, place: usize, limit: Second) -> Second {
        let times = &self.before[place].1;
        let known = times.partition_point(|(own, _)| *own <= limit);
        known.checked_sub(1).map_or(self.now, |last| times[last].1)
    }

    fn remember(&mut self, alike: Option<usize>, request: &ResolvedRequest, time: Second) {
        let place = alike.unwrap_or_else(|| {
            self.before.push((request.clone(), Vec::new()));
            self.before.len() - 1
        });
        let times = &mut self.before[place].1;
        let first = times.partition_point(|(limit, _)| *limit < request.limit);
        let beyond = times[first..].iter().take_while(|(_, own)| *own <= time).count();
        times.splice(first..first + beyond, [(request.limit, time)]);
    }
}

/// The nodes that nobody else may have while a job has some.
fn blocks_around(site: &SlurmSite, nodes: &NodeSet, whole: bool) -> NodeSet {
    let mut all = nodes.clone();
    if whole && let Structure::Block(blocks, ..) = &site.structure {
        for block in blocks.base_blocks().iter().filter(|block| block.meets(nodes)) {
            all.unite(block);
        }
    }
    all
}
