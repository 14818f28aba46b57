//! The plan of a backfill scheduler: the earliest start of each waiting job, in order of priority.
//!
//! A job can start at a time if the rule places it on nodes that are free over its whole time
//! limit.

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

/// The time limit in seconds assumed for a job without one.
pub(super) const NO_LIMIT: Second = 365 * 86_400;

/// Slurm's default planning window (`bf_window`), in seconds.
const HORIZON: Second = 86_400;

/// The request of a job, looked up on its machine.
#[derive(Clone, Debug)]
pub struct ResolvedRequest {
    /// The request to the allocator. Requests of a partition that share it differ at most in their
    /// time limits.
    pub asked: Arc<SlurmRequest>,
    /// The time limit in seconds.
    pub limit: Second,
    found: Arc<RequestLookup>,
}

/// Lookups shared by requests that differ at most in their time limits.
#[derive(Debug)]
pub(super) struct RequestLookup {
    pub(super) wanted: NodeRequest,
    /// The nodes on which the job could run if all of them were free.
    pub(super) may: NodeSet,
    /// Whether it can never start: not even the empty partition has nodes for it.
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

    /// Replaces the lookup by that of a request for parts of nodes.
    ///
    /// `None` is a request that can never be met.
    pub(super) fn set_parts(&mut self, parts: Option<&SharedLookup>) {
        self.is_hopeless = !parts.is_some_and(SharedLookup::is_ever);
        if let Some(parts) = parts {
            self.wanted.nodes = parts.min_nodes();
            self.may.clone_from(parts.pool());
        }
    }
}

impl ResolvedRequest {
    /// The request of a job in its partition.
    #[must_use]
    pub fn of(machine: &SlurmMachine, site: &SlurmSite, stay: &JobRecord) -> ResolvedRequest {
        let asked = asked(stay);
        let found = Arc::new(RequestLookup::of(machine, site, &asked));
        ResolvedRequest { asked: Arc::new(asked), limit: limit(stay), found }
    }

    /// The requests of all jobs; equal ones share their lookups.
    ///
    /// # Complexity
    /// **O(n k)** for *n* jobs and *k* different requests for one number of nodes.
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

    /// Whether it can never start, even on the empty machine.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        self.found.is_hopeless
    }

    /// Whether another request differs at most in its time limit.
    pub(super) fn is_alike(&self, other: &ResolvedRequest) -> bool {
        Arc::ptr_eq(&self.asked, &other.asked)
    }
}

/// The kind of each request, and the number of kinds. Requests that differ at most in their time
/// limits are of one kind.
pub(super) fn kinds(requests: &[ResolvedRequest]) -> (Vec<usize>, usize) {
    let mut known: BTreeMap<*const SlurmRequest, usize> = BTreeMap::new();
    let mut kind = Vec::with_capacity(requests.len());
    for request in requests {
        let next = known.len();
        kind.push(*known.entry(Arc::as_ptr(&request.asked)).or_insert(next));
    }
    (kind, known.len())
}

/// The time limit of a job in seconds, at least 1.
fn limit(stay: &JobRecord) -> Second {
    stay.limit.unwrap_or(NO_LIMIT).max(1)
}

/// A step of the profile: the nodes that are free from its begin to the next step.
struct Step {
    from: Second,
    /// Nodes that are neither reserved nor held by a running job within its time limit.
    free: NodeSet,
    /// The number of free nodes.
    count: u32,
    /// Whether a running or planned job ends here, so that another might start.
    is_end: bool,
}

/// The plan of one backfill pass over one partition.
pub struct BackfillPlan<'a> {
    site: &'a SlurmSite,
    now: Second,
    /// The profile from now on; the last step never ends.
    steps: Vec<Step>,
    /// Reserved nodes, with the begin of each reservation.
    kept: Vec<(Second, NodeSet)>,
    /// The time until which a plan of the same jobs would be the same if no job starts or ends.
    settled_until: Second,
    /// For each planned request, time limits with the times before which no start was found. Both
    /// ascend, because a longer limit finds no earlier start.
    before: Vec<(ResolvedRequest, Vec<(Second, Second)>)>,
}

/// A running job: its end by its time limit, its nodes, and whether it has whole base blocks.
pub type RunningNodes<'a> = (Second, &'a NodeSet, bool);

impl<'a> BackfillPlan<'a> {
    /// A plan without reservations. Jobs beyond their time limits are assumed to end a second from
    /// now.
    ///
    /// # Complexity
    /// **O(r log r)** set operations for *r* running jobs, and memory for *r* sets.
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
        // The assumed end of a job beyond its limit moves with the clock, and so does the plan.
        let settled_until = running.last().map_or(Second::MAX, |(end, _)| *end);
        steps.push(step(now, left));
        steps.reverse();
        BackfillPlan { site, now, steps, kept: Vec::new(), settled_until, before: Vec::new() }
    }

    /// The first second at which a new plan of the same jobs might differ from this one.
    #[must_use]
    pub fn settled_until(&self) -> Second {
        self.settled_until
    }

    /// The nodes that are free now.
    pub(super) fn free_now(&self) -> &NodeSet {
        &self.steps[0].free
    }

    /// The nodes reserved for other jobs at some time within the limit of a job that starts now.
    #[must_use]
    pub fn kept_over(&self, limit: Second) -> NodeSet {
        let mut all = NodeSet::empty(self.site.hosts.count());
        let until = self.now.saturating_add(limit);
        let within = self.kept.iter().filter(|(start, _)| *start < until);
        within.for_each(|(_, nodes)| all.unite(nodes));
        all
    }

    /// Reserves nodes for a job that starts now.
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

    /// The index of the step that begins at a time, inserted if missing.
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

    /// Plans a job behind all jobs planned before; returns its earliest start and its nodes.
    ///
    /// `None` if it would start beyond the planning window, or never.
    ///
    /// # Complexity
    /// At worst that of [`find`] for each end of a running or planned job. Starts are skipped from
    /// which the job would run into a step with too few free nodes.
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
        // An end beyond the window now is within it later.
        let far = self.steps.partition_point(|step| step.from <= self.now + HORIZON);
        if let Some(nearest) = self.steps[far..].iter().find(|step| step.is_end) {
            self.settled_until = self.settled_until.min(nearest.from - HORIZON);
        }
        self.remember(alike, request, self.now.saturating_add(HORIZON).saturating_add(1));
        None
    }

    /// The nodes of a job that would start with a step; otherwise the next step to try.
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

    /// The time before which a request cannot start, known from one with at most the same limit.
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

/// The nodes that a job withholds from others: its own, with `whole` all of its base blocks.
fn blocks_around(site: &SlurmSite, nodes: &NodeSet, whole: bool) -> NodeSet {
    let mut all = nodes.clone();
    if whole && let Structure::Block(blocks, ..) = &site.structure {
        for block in blocks.base_blocks().iter().filter(|block| block.meets(nodes)) {
            all.unite(block);
        }
    }
    all
}
