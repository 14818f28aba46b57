//! Plan of a backfill pass: reservations over time, and the ends of running jobs.

use std::collections::BTreeMap;

use meshwork::alloc::listed::find;
use meshwork::geometry::NodeSet;

use super::parts::{PartsDesk, PartsFuture};
use super::request::ResolvedRequest;
use crate::operator::history::Second;
use crate::slurm::site::SlurmSite;
use crate::slurm::topology::Structure;

/// Length in seconds of the first group of ends of running jobs. Each further group is twice as
/// long.
const FIRST_GROUP: Second = 30;
/// Largest number of ends of running jobs in a group.
const MOST_TOGETHER: usize = 200;

/// Time span with the nodes that are not reserved during the span.
#[derive(Clone, Debug)]
struct Span {
    begin: Second,
    end: Second,
    free: NodeSet,
}

/// Plan of one backfill pass over all partitions.
pub(super) struct BackfillPlan {
    now: Second,
    /// Latest time at which a job may be planned to start.
    horizon: Second,
    resolution: Second,
    spans: Vec<Span>,
    /// Nodes without a running job.
    idle: NodeSet,
    /// Running jobs, sorted by the ends of their time limits.
    running: Vec<PlannedEnd>,
    /// Earliest possible starts of further requests, by kind of request and then by time limit.
    ///
    /// Before this start, reservations leave too few nodes for requests of the kind with this time
    /// limit or a longer one. `Second::MAX` means that there are too few nodes during the whole
    /// window. An entry stays valid, because a plan only gains reservations. An entry for a longer
    /// time limit is stored only if its start is later.
    crowded: BTreeMap<usize, BTreeMap<Second, Second>>,
}

/// End of a running job by its time limit, the job's index, and the job's nodes.
pub(super) type PlannedEnd = (Second, usize, NodeSet);

/// Free nodes, or free parts of nodes, at a time of a plan.
enum Future<'a> {
    Nodes(NodeSet),
    Parts(PartsFuture<'a>),
}

/// Start of a job by the plan.
pub(super) enum Planned {
    /// The job starts now on these nodes.
    Now(NodeSet),
    /// The job starts at this later time, and these nodes are to be reserved.
    Later(Second, NodeSet),
    /// The job does not start within the window of the plan.
    Never,
}

/// Result of a search for the time at which running jobs have released enough nodes.
enum WillRun {
    /// Enough nodes are available from this time on; these nodes are chosen.
    At(Second, NodeSet),
    /// Enough nodes are available only after this time, which is the limit `by` of the search.
    Behind(Second),
    Never,
}

impl BackfillPlan {
    /// Creates a plan with running jobs, given by the ends of their time limits, and no
    /// reservations.
    ///
    /// `up` are the nodes on which jobs may start.
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
        let crowded = BTreeMap::new();
        BackfillPlan { now, horizon, resolution, spans, idle, running, crowded }
    }

    /// Adds a job that starts now, with the end of its time limit.
    pub(super) fn run(&mut self, limit: Second, job: usize, nodes: NodeSet) {
        self.idle.subtract(&nodes);
        let end = self.now.saturating_add(limit);
        let place = self.running.partition_point(|own| own.0 <= end);
        self.running.insert(place, (end, job, nodes));
    }

    /// Reserves nodes from a job's start to the end of its time limit, rounded to the resolution.
    pub(super) fn reserve(&mut self, start: Second, limit: Second, nodes: &NodeSet) {
        let begin = self.floor(start);
        let end = self.floor(start.saturating_add(limit)).max(begin + self.resolution);
        self.cut(begin);
        self.cut(end);
        let first = self.spans.partition_point(|span| span.begin < begin);
        for span in self.spans[first..].iter_mut().take_while(|span| span.end <= end) {
            span.free.subtract(nodes);
        }
    }

    fn floor(&self, time: Second) -> Second {
        time.div_euclid(self.resolution) * self.resolution
    }

    /// Idle nodes that are not reserved before the time `until`.
    pub(super) fn left_until(&self, until: Second) -> NodeSet {
        let mut left = self.idle.clone();
        for span in self.spans.iter().take_while(|span| span.begin <= until) {
            if span.end > self.now {
                left.intersect(&span.free);
            }
        }
        left
    }

    /// Splits the span that contains a time, so that a span ends at this time.
    fn cut(&mut self, time: Second) {
        let place = self.spans.partition_point(|span| span.end <= time);
        if self.spans.get(place).is_some_and(|span| span.begin < time) {
            let behind = Span { begin: time, ..self.spans[place].clone() };
            self.spans[place].end = time;
            self.spans.insert(place + 1, behind);
        }
    }

    /// Plans a job behind all jobs that were planned before, by Slurm's algorithm.
    ///
    /// Candidate starts are tried in order. From a candidate start on, the job gets nodes that no
    /// reservation of the plan covers during its time limit, once running jobs have released them.
    /// If there are no such nodes, or only after some reservation has ended, the end of this
    /// reservation is the next candidate start.
    ///
    /// `gone` are nodes of running jobs that the planned job may preempt. `parts` are the parts of
    /// nodes that running jobs hold. `now` finds nodes that are free now, outside of its argument.
    /// `reserved` adds the nodes that the site's reservations withhold from the job at a start, and
    /// returns the first end of these reservations.
    ///
    /// # Complexity
    /// One query to the placement rule for each attempt, and **O(log t)** attempts for each
    /// reservation, for time limits of up to *t* seconds. Starts at which earlier requests of the
    /// same kind found too few nodes are skipped.
    pub(super) fn plan(
        &mut self,
        site: &SlurmSite,
        request: &ResolvedRequest,
        (gone, parts): (&NodeSet, Option<&PartsDesk>),
        reserved: &dyn Fn(Second, &mut NodeSet) -> Option<Second>,
        now: impl Fn(&NodeSet) -> Option<NodeSet>,
    ) -> Option<Planned> {
        let wanted = request.wanted();
        let (mut from, mut is_tried) = (self.now.max(self.crowded_until(request)), false);
        if from == Second::MAX {
            return None;
        }
        let (mut possible, mut is_crowded) = (None, true);
        let (mut available, mut next_free) = (site.whole.clone(), site.whole.clone());
        let mut kept = NodeSet::empty(available.universe());
        loop {
            let until = from.max(self.now).saturating_add(request.limit);
            available.copy_from(&site.whole);
            let mut later = None;
            let first = self.spans.partition_point(|span| span.end <= from);
            for (place, span) in self.spans.iter().enumerate().skip(first) {
                if let Some(next) = self.spans.get(place + 1).filter(|_| later.is_none()) {
                    next_free.copy_from(&next.free);
                    next_free.intersect(&site.whole);
                    let adds = !next_free.is_within(&span.free) || !next_free.is_within(&available);
                    later = adds.then_some(span.end);
                }
                // Once there are too few nodes, only the next candidate start matters. Counting the
                // nodes is as slow as several spans, so it is done at every eighth span.
                let are_lacking =
                    later.is_some() && place % 8 == 0 && available.count() < wanted.nodes;
                if span.begin > until || are_lacking {
                    break;
                }
                available.intersect(&span.free);
            }
            available.intersect(request.may());
            if is_crowded && available.count() >= wanted.nodes {
                is_crowded = false;
                self.note_crowded(request, from);
            }
            kept.clear();
            let end = reserved(from.max(self.now), &mut kept);
            available.subtract(&kept);
            later = later.into_iter().chain(end.map(|end| end.saturating_add(1))).min();
            let lacks = wanted.listed.as_ref().is_some_and(|listed| {
                listed.count() <= wanted.nodes && !listed.is_within(&available)
            });
            if available.count() < wanted.nodes || lacks {
                match later {
                    Some(time) if time <= self.horizon => from = time,
                    _ => {
                        if is_crowded {
                            self.note_crowded(request, Second::MAX);
                        }
                        return is_tried.then_some(Planned::Never);
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
            let first = self.spans.partition_point(|span| span.end <= begin);
            let overlaps = self.spans[first..]
                .iter()
                .take_while(|span| span.begin < end)
                .any(|span| !nodes.is_within(&span.free));
            if !overlaps {
                return Some(Planned::Later(start, nodes));
            }
            from = if start > from { start } else { later.unwrap_or(start + 1) };
        }
    }

    /// Time before which reservations are known to leave too few nodes for a request.
    fn crowded_until(&self, request: &ResolvedRequest) -> Second {
        let known = self.crowded.get(&request.kind);
        let shorter = known.and_then(|own| own.range(..=request.limit).next_back());
        shorter.map_or(Second::MIN, |(_, until)| *until)
    }

    /// Records the time before which reservations leave too few nodes for a request.
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

    /// Finds the time, up to `by`, at which running jobs have released enough nodes for a job.
    ///
    /// Ends that are close together count as one, at the last of them. `possible` are nodes that
    /// are known to be enough.
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
        // The first group ends at a multiple of its length, so that the next pass has the same
        // groups. Later groups are longer.
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
            // A search for parts of nodes changes the weights of nodes, so that no search may be
            // skipped.
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

/// Nodes that a job withholds from others: its own nodes, or all of its base blocks if `whole`.
pub(super) fn blocks_around(site: &SlurmSite, nodes: &NodeSet, whole: bool) -> NodeSet {
    let mut all = nodes.clone();
    if whole && let Structure::Block(blocks, ..) = &site.structure {
        for block in blocks.base_blocks().iter().filter(|block| block.meets(nodes)) {
            all.unite(block);
        }
    }
    all
}
