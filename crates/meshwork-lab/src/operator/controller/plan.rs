//! The plan of a backfill pass: reserved nodes over time, and the ends of running jobs.

use meshwork::alloc::listed::find;
use meshwork::geometry::NodeSet;

use super::parts::{PartsDesk, PartsFuture};
use super::request::ResolvedRequest;
use crate::operator::history::Second;
use crate::slurm::site::SlurmSite;
use crate::slurm::topology::Structure;

/// Seconds within which ends of running jobs are taken together at first; doubled at each attempt.
const FIRST_GROUP: Second = 30;
/// The number of ends of running jobs that are taken together at most.
const MOST_TOGETHER: usize = 200;

/// A span of time with the nodes that are not reserved in it.
#[derive(Clone, Debug)]
struct Span {
    begin: Second,
    end: Second,
    free: NodeSet,
}

/// The plan of one pass over all partitions.
pub(super) struct BackfillPlan {
    now: Second,
    /// The latest start that is planned.
    horizon: Second,
    resolution: Second,
    spans: Vec<Span>,
    /// Nodes without a running job.
    idle: NodeSet,
    /// Running jobs by the ends of their limits.
    running: Vec<PlannedEnd>,
}

/// The end of a running job by its limit, the job and its nodes.
pub(super) type PlannedEnd = (Second, usize, NodeSet);

/// What is free at a time of a plan.
enum Future<'a> {
    Nodes(NodeSet),
    Parts(PartsFuture<'a>),
}

/// When a job starts by a plan.
pub(super) enum Planned {
    /// Now, unless the desk has no nodes beside those that are kept.
    Now(NodeSet),
    /// At a time, on nodes to be reserved.
    Later(Second, NodeSet),
    /// Not within the window.
    Never,
}

/// When running jobs leave nodes for a job.
enum WillRun {
    /// At a time, on some nodes.
    At(Second, NodeSet),
    /// Later than the time that was given.
    Behind(Second),
    Never,
}

impl BackfillPlan {
    /// A plan behind running jobs, given with the ends of their limits. `up` are the nodes on which
    /// jobs may start.
    ///
    /// # Complexity
    /// **O(r log r)** for *r* running jobs.
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
        let spans = vec![Span { begin: floor(now), end, free: up }];
        BackfillPlan { now, horizon, resolution, spans, idle, running }
    }

    /// Lets a job run from now on.
    pub(super) fn run(&mut self, limit: Second, job: usize, nodes: NodeSet) {
        self.idle.subtract(&nodes);
        let end = self.now.saturating_add(limit);
        let place = self.running.partition_point(|own| own.0 <= end);
        self.running.insert(place, (end, job, nodes));
    }

    /// Reserves nodes for a job that starts at a time, on the grid of the resolution.
    pub(super) fn reserve(&mut self, start: Second, limit: Second, nodes: &NodeSet) {
        let begin = self.floor(start);
        let end = self.floor(start.saturating_add(limit)).max(begin + self.resolution);
        self.cut(begin);
        self.cut(end);
        for span in self.spans.iter_mut().filter(|span| span.begin >= begin && span.end <= end) {
            span.free.subtract(nodes);
        }
    }

    fn floor(&self, time: Second) -> Second {
        time.div_euclid(self.resolution) * self.resolution
    }

    /// The number of idle nodes that are not reserved before a time.
    pub(super) fn left_until(&self, until: Second) -> u32 {
        let mut left = self.idle.clone();
        for span in self.spans.iter().take_while(|span| span.begin <= until) {
            if span.end > self.now {
                left.intersect(&span.free);
            }
        }
        left.count()
    }

    /// Lets a span end at a time within the plan.
    fn cut(&mut self, time: Second) {
        let place = self.spans.iter().position(|span| span.begin < time && time < span.end);
        if let Some(place) = place {
            let behind = Span { begin: time, ..self.spans[place].clone() };
            self.spans[place].end = time;
            self.spans.insert(place + 1, behind);
        }
    }

    /// Plans a job behind all that were planned before, as Slurm does: it looks when running jobs
    /// leave enough nodes that nobody has reserved, and tries again later if that is not before
    /// reservations end. `gone` are nodes of running jobs that it may preempt,
    /// `parts` what running jobs hold of nodes that they share. `now` finds nodes that are free now,
    /// beside those in its argument;
    /// `reserved` adds the nodes that reservations keep from it at a start, and says when the first
    /// of these ends.
    ///
    /// # Complexity
    /// A question to the rule for each attempt, of which there are **O(log t)** for each
    /// reservation, if limits are up to *t*.
    pub(super) fn plan(
        &self,
        site: &SlurmSite,
        request: &ResolvedRequest,
        (gone, parts): (&NodeSet, Option<&PartsDesk>),
        reserved: &dyn Fn(Second, &mut NodeSet) -> Option<Second>,
        now: impl Fn(&NodeSet) -> Option<NodeSet>,
    ) -> Option<Planned> {
        let wanted = request.wanted();
        let (mut from, mut is_tried) = (self.now, false);
        let mut possible = None;
        loop {
            let until = from.max(self.now).saturating_add(request.limit);
            let (mut available, mut later) = (site.whole.clone(), None);
            for (place, span) in self.spans.iter().enumerate() {
                if span.end <= from {
                    continue;
                }
                if let Some(next) = self.spans.get(place + 1).filter(|_| later.is_none()) {
                    let mut next = next.free.clone();
                    next.intersect(&site.whole);
                    let adds = !next.is_within(&span.free) || !next.is_within(&available);
                    later = adds.then_some(span.end);
                }
                if span.begin > until {
                    break;
                }
                available.intersect(&span.free);
            }
            let mut kept = NodeSet::empty(available.universe());
            let end = reserved(from.max(self.now), &mut kept);
            available.subtract(&kept);
            later = later.into_iter().chain(end.map(|end| end.saturating_add(1))).min();
            available.intersect(request.may());
            let lacks = wanted.listed.as_ref().is_some_and(|listed| {
                listed.count() <= wanted.nodes && !listed.is_within(&available)
            });
            if available.count() < wanted.nodes || lacks {
                match later {
                    Some(time) if time <= self.horizon => from = time,
                    _ => return is_tried.then_some(Planned::Never),
                }
                continue;
            }
            is_tried = true;
            if from <= self.now
                && let Some(nodes) = self.now_on(&available, &now)
            {
                return Some(Planned::Now(nodes));
            }
            let by = later.filter(|time| *time >= from);
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
            let overlaps = self
                .spans
                .iter()
                .any(|span| span.end > begin && span.begin < end && !nodes.is_within(&span.free));
            if !overlaps {
                return Some(Planned::Later(start, nodes));
            }
            from = if start > from { start } else { later.unwrap_or(start + 1) };
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

    /// When running jobs leave nodes for a job, and which, up to a time `by`. Ends that lie close
    /// together count as one, at the last of them. `possible` are nodes known to be enough.
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
            let mut free = free.clone();
            if request.asked.whole_blocks
                && let Structure::Block(blocks, ..) = &site.structure
            {
                for block in blocks.base_blocks() {
                    if !block.is_within(&free) {
                        free.subtract(block);
                    }
                }
            }
            (free.count() >= wanted.nodes)
                .then(|| find(site.rule(), &site.nodes, wanted, &free))
                .flatten()
        };
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
        // The end of the first group is a multiple of its length, so that it does not move from one
        // pass to the next; later groups reach further beyond it.
        let (mut group, mut bound) = (FIRST_GROUP, None);
        let is_left = |own: &&PlannedEnd| gone.is_empty() || !own.2.is_within(gone);
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
            // Questions about parts of nodes leave traces, so none of them is saved.
            let may_skip = matches!(free, Future::Nodes(_));
            if let Some(by) = by.filter(|by| may_skip && last.max(self.now + 1) > *by) {
                if !possible.as_ref().is_some_and(|own| own.is_within(available)) {
                    *possible = attempt(available);
                }
                return if possible.is_some() { WillRun::Behind(by) } else { WillRun::Never };
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

/// The nodes that no other job may have while a job has some.
pub(super) fn blocks_around(site: &SlurmSite, nodes: &NodeSet, whole: bool) -> NodeSet {
    let mut all = nodes.clone();
    if whole && let Structure::Block(blocks, ..) = &site.structure {
        for block in blocks.base_blocks().iter().filter(|block| block.meets(nodes)) {
            all.unite(block);
        }
    }
    all
}
