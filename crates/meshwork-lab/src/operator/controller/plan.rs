//! The plan of a backfill pass: planned reservations over time, and ends of running jobs.

use std::collections::BTreeMap;

use meshwork::alloc::listed::find;
use meshwork::geometry::NodeSet;

use super::parts::{PartsDesk, PartsFuture};
use super::request::ResolvedRequest;
use crate::operator::history::Second;
use crate::slurm::site::SlurmSite;
use crate::slurm::topology::Structure;

/// The length in seconds of the first group of ends of running jobs; doubled for each further
/// group.
const FIRST_GROUP: Second = 30;
/// The maximum number of ends of running jobs in a group.
const MOST_TOGETHER: usize = 200;

/// A time span with the nodes that are not reserved in it.
#[derive(Clone, Debug)]
struct Span {
    begin: Second,
    end: Second,
    free: NodeSet,
}

/// The plan of one pass over all partitions.
pub(super) struct BackfillPlan {
    now: Second,
    /// The latest planned start.
    horizon: Second,
    resolution: Second,
    spans: Vec<Span>,
    /// Nodes without a running job.
    idle: NodeSet,
    /// Running jobs, sorted by the ends of their time limits.
    running: Vec<PlannedEnd>,
    /// Lower bounds on planned starts, by kind of request and then by time limit.
    ///
    /// Before the bound, reservations leave too few nodes for requests of this kind with this limit
    /// or a longer one; `Second::MAX` says that they do so during the whole window. A plan only adds
    /// reservations, so a bound stays valid. A bound for a longer limit is stored only if it is
    /// later.
    crowded: BTreeMap<usize, BTreeMap<Second, Second>>,
}

/// The end of a running job by its time limit, the job and its nodes.
pub(super) type PlannedEnd = (Second, usize, NodeSet);

/// The free nodes, or parts of nodes, at a time of a plan.
enum Future<'a> {
    Nodes(NodeSet),
    Parts(PartsFuture<'a>),
}

/// The start of a job by the plan.
pub(super) enum Planned {
    /// Now, on these nodes.
    Now(NodeSet),
    /// Later, on nodes to be reserved.
    Later(Second, NodeSet),
    /// Not within the window.
    Never,
}

/// The result of a search for nodes that running jobs release in time.
enum WillRun {
    /// Available from this time on, and the nodes.
    At(Second, NodeSet),
    /// After the limit `by` of the search, which is given.
    Behind(Second),
    Never,
}

impl BackfillPlan {
    /// A plan with running jobs, given with the ends of their time limits, and without
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

    /// Adds a job that starts now.
    pub(super) fn run(&mut self, limit: Second, job: usize, nodes: NodeSet) {
        self.idle.subtract(&nodes);
        let end = self.now.saturating_add(limit);
        let place = self.running.partition_point(|own| own.0 <= end);
        self.running.insert(place, (end, job, nodes));
    }

    /// Reserves nodes for a job from its start to the end of its limit, rounded to the resolution.
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

    /// The idle nodes that are not reserved before a time.
    pub(super) fn left_until(&self, until: Second) -> NodeSet {
        let mut left = self.idle.clone();
        for span in self.spans.iter().take_while(|span| span.begin <= until) {
            if span.end > self.now {
                left.intersect(&span.free);
            }
        }
        left
    }

    /// Lets a span end at a time within the plan.
    fn cut(&mut self, time: Second) {
        let place = self.spans.partition_point(|span| span.end <= time);
        if self.spans.get(place).is_some_and(|span| span.begin < time) {
            let behind = Span { begin: time, ..self.spans[place].clone() };
            self.spans[place].end = time;
            self.spans.insert(place + 1, behind);
        }
    }

    /// Plans a job behind all jobs planned before, by Slurm's algorithm.
    ///
    /// From each candidate start the job gets nodes that no reservation of the plan covers during
    /// its time limit, once running jobs have released them. If that fails, or would take longer
    /// than until the end of a reservation, that end is the next candidate start.
    ///
    /// `gone` are nodes of running jobs that it may preempt, `parts` the shares of nodes that
    /// running jobs hold. `now` finds nodes that are free now, without those in its argument.
    /// `reserved` adds the nodes that the site's reservations withhold from the job at a start, and
    /// returns the first end of these reservations.
    ///
    /// # Complexity
    /// One query to the rule for each attempt, and **O(log t)** attempts for each reservation, for
    /// limits of up to *t* seconds. Starts at which earlier requests of its kind found too few
    /// nodes are skipped.
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
                // Once nodes are lacking, only the next attempt matters. To count them takes as long
                // as several spans.
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

    /// Known lower bound on the start of a request: reservations leave it too few nodes before.
    fn crowded_until(&self, request: &ResolvedRequest) -> Second {
        let known = self.crowded.get(&request.kind);
        let shorter = known.and_then(|own| own.range(..=request.limit).next_back());
        shorter.map_or(Second::MIN, |(_, until)| *until)
    }

    /// Records that before a start reservations leave a request too few nodes.
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

    /// Finds the time, up to `by`, at which running jobs have released nodes for a job, and the
    /// nodes.
    ///
    /// Ends that are close together count as one, at the last of them. `possible` are nodes known
    /// to be enough.
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
        // The end of the first group is a multiple of its length, so that it is the same in the
        // next pass; later groups are longer.
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

/// The nodes that a job withholds from others: its own, with `whole` all of its base blocks.
pub(super) fn blocks_around(site: &SlurmSite, nodes: &NodeSet, whole: bool) -> NodeSet {
    let mut all = nodes.clone();
    if whole && let Structure::Block(blocks, ..) = &site.structure {
        for block in blocks.base_blocks().iter().filter(|block| block.meets(nodes)) {
            all.unite(block);
        }
    }
    all
}
