//! Plan of a backfill pass: reservations over time, and the ends of running jobs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use meshwork::alloc::listed::{NodeSpans, SpanSearch, find};
use meshwork::geometry::NodeSet;

use super::parts::{PartsDesk, PartsFuture};
use super::request::ResolvedRequest;
use meshwork_slurm::history::Second;
use meshwork_slurm::site::SlurmSite;
use meshwork_slurm::topology::Structure;

/// Length in seconds of the first interval in which ends of jobs are grouped. Each further interval
/// is twice as long.
const FIRST_GROUP: Second = 30;
const MOST_TOGETHER: usize = 200;

pub(super) struct BackfillPlan {
    now: Second,
    horizon: Second,
    resolution: Second,
    spans: NodeSpans,
    /// Nodes that are in service and on which no job runs.
    idle: NodeSet,
    /// Nodes in service.
    up: NodeSet,
    running: Vec<PlannedEnd>,
    /// Ends of running jobs, in order.
    ends: Vec<Second>,
    /// Sets of idle nodes: element *n* is the set after the first *n* ends of running jobs.
    released: Vec<NodeSet>,
    /// Time before which reservations leave too few nodes, by kind of request and by time limit.
    ///
    /// Requests of one kind differ at most in their time limits. An entry also holds for longer
    /// limits, and stays valid because a plan only gains reservations. `Second::MAX` stands for the
    /// whole window.
    crowded: BTreeMap<usize, BTreeMap<Second, Second>>,
}

/// Running job in a plan: its end by its time limit, its index and its nodes.
pub(super) type PlannedEnd = (Second, usize, NodeSet);

/// Nodes that jobs hold when a backfill pass begins.
///
/// In the plan of the pass, no other job reserves them before these jobs end.
pub(super) struct BusyNodes {
    now: Second,
    /// Times, in order, and the nodes that are still held then.
    after: Vec<(Second, NodeSet)>,
}

impl BusyNodes {
    /// Whether enough nodes for a job are held until the end of its time limit.
    pub(super) fn are_enough(&self, request: &ResolvedRequest) -> bool {
        let until = self.now.saturating_add(request.limit);
        let place = self.after.partition_point(|own| own.0 <= until) - 1;
        let wanted = request.wanted();
        wanted.listed.is_none() && self.after[place].1.count_shared(request.may()) >= wanted.nodes
    }
}

/// Bound on how far a backfill pass gets in the queue.
///
/// The pass ends once it has tested `bf_max_job_test` jobs. Whether a job counts as tested depends
/// on the reservations of all jobs before it. But if running jobs hold enough nodes until the end
/// of its time limit, it surely counts, because no other job can reserve these nodes before.
pub(super) struct Reach {
    /// Number of jobs that the pass may test.
    most: usize,
    /// For each position of the queue, whether its job surely counts as tested.
    tests: Vec<bool>,
    /// Number of such positions before `end`.
    tested: usize,
    end: usize,
}

impl Reach {
    pub(super) fn new(most: usize, tests: Vec<bool>) -> Reach {
        let (tested, end) = (tests.iter().filter(|own| **own).count(), tests.len());
        let mut reach = Reach { most, tests, tested, end };
        reach.shrink();
        reach
    }

    /// First position of the queue that the pass cannot reach.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// For each position of the queue, whether its job surely counts as tested.
    pub(super) fn tests(&self) -> &[bool] {
        &self.tests
    }

    /// Registers that the job at a position counts as tested.
    pub(super) fn note(&mut self, place: usize) {
        if !std::mem::replace(&mut self.tests[place], true) {
            self.tested += 1;
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        while self.tested >= self.most && self.end > 0 {
            let is_last = self.tests[self.end - 1];
            if is_last && self.tested == self.most {
                break;
            }
            self.tested -= usize::from(is_last);
            self.end -= 1;
        }
    }
}

enum Future<'a> {
    Nodes(NodeSet),
    Parts(PartsFuture<'a>),
}

pub(super) enum Planned {
    Now(NodeSet),
    /// The job starts at a later time, and the given nodes are to be reserved for it.
    Later(Second, NodeSet),
    Never,
}

enum WillRun {
    At(Second, NodeSet),
    Behind(Second),
    Never,
}

impl BackfillPlan {
    /// Plan without reservations. `running` has the running jobs, which end at their time limits.
    /// `up` has the nodes in service.
    pub(super) fn new(
        now: Second,
        window: Second,
        resolution: Second,
        up: NodeSet,
        running: impl Iterator<Item = PlannedEnd>,
    ) -> BackfillPlan {
        let mut running: Vec<PlannedEnd> = running.collect();
        running.sort_by_key(|own| own.0);
        let mut idle = up.clone();
        running.iter().for_each(|own| idle.subtract(&own.2));
        let horizon = now.saturating_add(window);
        let floor = |time: Second| time.div_euclid(resolution) * resolution;
        let end = floor(horizon).max(now + 1);
        let spans = NodeSpans::new(floor(now), end, up.clone());
        let crowded = BTreeMap::new();
        let (ends, released) = (Vec::new(), Vec::new());
        let mut plan = BackfillPlan {
            now,
            horizon,
            resolution,
            spans,
            idle,
            up,
            running,
            ends,
            released,
            crowded,
        };
        plan.release();
        plan
    }

    /// Adds a job that starts now and runs for `limit` seconds.
    pub(super) fn run(&mut self, limit: Second, job: usize, nodes: NodeSet) {
        self.idle.subtract(&nodes);
        let end = self.now.saturating_add(limit);
        let place = self.running.partition_point(|own| own.0 <= end);
        self.running.insert(place, (end, job, nodes));
        self.release();
    }

    fn release(&mut self) {
        self.ends = self.running.iter().map(|own| own.0).collect();
        self.released = vec![self.idle.clone()];
        for (place, own) in self.running.iter().enumerate() {
            let mut released = self.released[place].clone();
            released.unite(&own.2);
            self.released.push(released);
        }
    }

    /// Reserves nodes for `limit` seconds from `start`. Both ends are rounded down to multiples of
    /// the plan's resolution. The reserved time is at least one resolution.
    pub(super) fn reserve(&mut self, start: Second, limit: Second, nodes: &NodeSet) {
        let begin = self.floor(start);
        let end = self.floor(start.saturating_add(limit)).max(begin + self.resolution);
        self.spans.reserve(begin, end, nodes);
    }

    /// Nodes in service that running jobs hold, at the present and after each of their ends.
    pub(super) fn busy(&self) -> BusyNodes {
        let mut left = self.up.clone();
        left.subtract(&self.idle);
        let mut after = vec![(Second::MIN, left.clone())];
        for (end, _, nodes) in &self.running {
            left.subtract(nodes);
            // A reservation that follows begins at a multiple of the resolution.
            after.push((end.saturating_sub(self.resolution), left.clone()));
        }
        BusyNodes { now: self.now, after }
    }

    pub(super) fn is_idle(&self, nodes: &NodeSet) -> bool {
        nodes.is_within(&self.idle)
    }

    /// Rounds a time down to a multiple of the plan's resolution, as is done for reservations.
    pub(super) fn floor(&self, time: Second) -> Second {
        time.div_euclid(self.resolution) * self.resolution
    }

    pub(super) fn left_until(&self, until: Second) -> NodeSet {
        let mut left = self.idle.clone();
        self.spans.keep_unreserved(self.now, until, &mut left);
        left
    }

    /// Plans a job by Slurm's algorithm, after all jobs that were planned before it.
    ///
    /// The algorithm tries candidate starts in order, beginning with the present. At each of them,
    /// it takes nodes that have no reservation during the job's time limit, once running jobs have
    /// released enough of them. If there are too few, the first end of a reservation is the next
    /// candidate start. The result is `None` if reservations leave too few nodes at every candidate
    /// start: Slurm does not count such a job as tested.
    ///
    /// `gone` are nodes of running jobs that the job may preempt, and `parts` the held parts of
    /// nodes. `now` searches for nodes that are free now, outside of a set. `reserved` adds to a
    /// set the nodes that the site's reservations withhold from a start on, and returns the first
    /// end of these reservations.
    pub(super) fn plan(
        &mut self,
        site: &SlurmSite,
        request: &ResolvedRequest,
        (gone, parts): (&NodeSet, Option<&PartsDesk>),
        reserved: &dyn Fn(Second, &mut NodeSet) -> Option<Second>,
        now: impl Fn(&NodeSet) -> Option<NodeSet>,
    ) -> Option<Planned> {
        let wanted = request.wanted();
        let crowded_until = self.crowded_until(request);
        if crowded_until == Second::MAX {
            return None;
        }
        let mut allowed = site.whole.clone();
        allowed.intersect(request.may());
        // If only the count of nodes matters, counting can rule out a candidate start.
        let mut by_count = gone.is_empty() && request.needs_only_count();
        let (mut is_tried, mut may_be_tried, mut is_crowded) = (false, false, true);
        let (mut from, mut search, mut possible) = (self.now, SpanSearch::default(), None);
        let mut available = allowed.clone();
        let mut kept = NodeSet::empty(available.universe());
        loop {
            let until = from.max(self.now).saturating_add(request.limit);
            search.advance(&self.spans, from);
            let after_lack = search.after_lack(&self.spans, until, wanted.nodes, &allowed);
            if let Some(time) = after_lack.filter(|time| *time <= self.horizon) {
                from = time;
                continue;
            }
            kept.clear();
            let end = reserved(from.max(self.now), &mut kept);
            let later = search.next_addition(&self.spans, until, &site.whole);
            let later = later.into_iter().chain(end.map(|end| end.saturating_add(1))).min();
            let by = later.filter(|time| *time >= from);
            let released = by.map(|by| self.released_by(by));
            let next = later.filter(|time| *time <= self.horizon);
            if from < crowded_until {
                from = next?;
                continue;
            }
            if by_count
                && from > self.now
                && let (Some(unreserved), Some(released)) = (search.first(&self.spans), released)
            {
                available.assign_intersection(unreserved, &allowed);
                if available.count_shared(released) < wanted.nodes {
                    (may_be_tried, is_crowded) = (true, false);
                    match next {
                        Some(time) => from = time,
                        None if is_tried => return Some(Planned::Never),
                        // Without this shortcut, the search tells whether the job counts as tested.
                        None => (from, search, by_count) = (self.now, SpanSearch::default(), false),
                    }
                    continue;
                }
            }
            available.copy_from(&allowed);
            search.keep_unreserved(&self.spans, until, &mut available);
            if is_crowded && available.count() >= wanted.nodes {
                is_crowded = false;
                self.note_crowded(request, from);
            }
            available.subtract(&kept);
            let lacks = wanted.listed.as_ref().is_some_and(|listed| {
                listed.count() <= wanted.nodes && !listed.is_within(&available)
            });
            if available.count() < wanted.nodes || lacks {
                match next {
                    Some(time) => from = time,
                    None if is_tried => return Some(Planned::Never),
                    None if may_be_tried && by_count => {
                        (from, search, by_count) = (self.now, SpanSearch::default(), false);
                    }
                    None => {
                        if is_crowded {
                            // A request with a longer time limit may continue its search from here.
                            self.note_crowded(request, later.map_or(from, |_| Second::MAX));
                        }
                        return None;
                    }
                }
                continue;
            }
            is_tried = true;
            if from <= self.now
                && let Some(nodes) = self.now_on(&available, &now)
            {
                return Some(Planned::Now(nodes));
            }
            let asked = (site, request, parts);
            let found = self.will_run(asked, &available, gone, by, &mut possible);
            let (start, nodes) = match found {
                WillRun::At(start, nodes) => (start.max(from), nodes),
                WillRun::Behind(time) => {
                    from = time;
                    continue;
                }
                WillRun::Never => return Some(Planned::Never),
            };
            if let Some(time) = later.filter(|time| start > *time) {
                from = time;
                continue;
            }
            if start > self.horizon {
                return Some(Planned::Never);
            }
            let (begin, end) = (self.floor(start), self.floor(start.saturating_add(request.limit)));
            if self.spans.are_unreserved(&nodes, begin, end) {
                return Some(Planned::Later(start, nodes));
            }
            from = if start > from { start } else { later.unwrap_or(start + 1) };
        }
    }

    fn released_by(&self, time: Second) -> &NodeSet {
        &self.released[self.ends.partition_point(|end| *end <= time)]
    }

    fn crowded_until(&self, request: &ResolvedRequest) -> Second {
        let known = self.crowded.get(&request.kind);
        let shorter = known.and_then(|own| own.range(..=request.limit).next_back());
        shorter.map_or(Second::MIN, |(_, until)| *until)
    }

    fn note_crowded(&mut self, request: &ResolvedRequest, until: Second) {
        if until > self.now.max(self.crowded_until(request)) {
            let known = self.crowded.entry(request.kind).or_default();
            known.retain(|limit, own| *limit < request.limit || *own > until);
            known.insert(request.limit, until);
        }
    }

    fn now_on(
        &self,
        available: &NodeSet,
        now: &impl Fn(&NodeSet) -> Option<NodeSet>,
    ) -> Option<NodeSet> {
        let mut kept = NodeSet::empty(available.universe());
        kept.assign_complement(available);
        now(&kept)
    }

    /// Earliest time, up to a limit, at which running jobs have released enough nodes for a job.
    ///
    /// Ends that are close to each other count as one end, at the time of the last of them.
    fn will_run(
        &self,
        (site, request, parts): (&SlurmSite, &ResolvedRequest, Option<&PartsDesk>),
        available: &NodeSet,
        gone: &NodeSet,
        by: Option<Second>,
        possible: &mut Option<NodeSet>,
    ) -> WillRun {
        let wanted = request.wanted();
        let attempt = |free: &NodeSet| {
            if free.count() < wanted.nodes {
                return None;
            }
            let mut free = Cow::Borrowed(free);
            if request.asked.whole_blocks
                && let Structure::Block(blocks, ..) = &site.structure
            {
                for block in blocks.base_blocks() {
                    if !block.is_within(&free) {
                        free.to_mut().subtract(block);
                    }
                }
            }
            let are_enough = free.count() >= wanted.nodes;
            are_enough.then(|| find(site.rule(), &site.nodes, wanted, &free)).flatten()
        };
        let mut behind = |by: Second| {
            // Any nodes will do, and enough of them are unreserved.
            if request.needs_only_count() {
                return WillRun::Behind(by);
            }
            if !possible.as_ref().is_some_and(|own| own.is_within(available)) {
                *possible = attempt(available);
            }
            if possible.is_some() { WillRun::Behind(by) } else { WillRun::Never }
        };
        if let Some(by) = by.filter(|_| parts.is_none() && gone.is_empty())
            && available.count_shared(self.released_by(by)) < wanted.nodes
        {
            return behind(by);
        }
        let mut free = match (parts, &request.parts) {
            (Some(desk), Some(parts)) => {
                Future::Parts(PartsFuture::new(desk, request.partition, parts, available))
            }
            _ => Future::Nodes(self.idle.clone()),
        };
        let attempt_on = |free: &mut Future<'_>| match free {
            Future::Nodes(free) => {
                free.intersect(available);
                attempt(free)
            }
            Future::Parts(future) => future.find(),
        };
        if let Some(nodes) = attempt_on(&mut free) {
            return WillRun::At(self.now, nodes);
        }
        if gone.meets(available) {
            match &mut free {
                Future::Nodes(free) => free.unite(gone),
                Future::Parts(future) => {
                    let jobs = self.running.iter().filter(|own| own.2.is_within(gone));
                    jobs.for_each(|own| future.end(own.1));
                }
            }
            if let Some(nodes) = attempt_on(&mut free) {
                return WillRun::At(self.now, nodes);
            }
        }
        // The first group ends at a multiple of its length, so that passes have equal groups.
        let (mut group, mut bound) = (FIRST_GROUP, None);
        let is_kept = gone.is_empty();
        let is_left = |own: &&PlannedEnd| is_kept || !own.2.is_within(gone);
        let mut running = self.running.iter().filter(is_left).peekable();
        loop {
            let (mut last, mut together) = (None, 0);
            while let Some((end, job, nodes)) = running.next() {
                if !nodes.meets(available) {
                    continue;
                }
                let bound = *bound.get_or_insert(end - end.rem_euclid(group) + group);
                match &mut free {
                    Future::Nodes(free) => free.unite(nodes),
                    Future::Parts(future) => future.end(*job),
                }
                last = Some(*end);
                let reach = bound.saturating_add(group);
                if together > MOST_TOGETHER || running.peek().is_none_or(|next| next.0 > reach) {
                    break;
                }
                together += 1;
            }
            let Some((last, first_bound)) = last.zip(bound) else { return WillRun::Never };
            // A search for parts of nodes changes the node weights, so none may be skipped.
            let may_skip = matches!(free, Future::Nodes(_));
            if let Some(by) = by.filter(|by| may_skip && last.max(self.now + 1) > *by) {
                return behind(by);
            }
            group = group.saturating_mul(2);
            if let Some((next, ..)) = running.peek() {
                while *next > first_bound.saturating_add(group) {
                    group = group.saturating_mul(2);
                }
            }
            if together <= MOST_TOGETHER
                && let Some(nodes) = attempt_on(&mut free)
            {
                return WillRun::At(last.max(self.now + 1), nodes);
            }
            if running.peek().is_none() {
                return WillRun::Never;
            }
        }
    }
}

/// Nodes that a job withholds from other jobs: its own or, if `whole`, all nodes of their base
/// blocks.
pub(super) fn blocks_around(site: &SlurmSite, nodes: &NodeSet, whole: bool) -> NodeSet {
    let mut all = nodes.clone();
    if whole && let Structure::Block(blocks, ..) = &site.structure {
        for block in blocks.base_blocks().iter().filter(|block| block.meets(nodes)) {
            all.unite(block);
        }
    }
    all
}
