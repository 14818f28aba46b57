//! The plan of a backfill pass: reserved nodes over time, and the ends of running jobs.

use meshwork::alloc::listed::find;
use meshwork::geometry::NodeSet;

use super::request::ResolvedRequest;
use crate::operator::history::Second;
use crate::slurm::site::SlurmSite;
use crate::slurm::topology::Structure;

/// Seconds within which ends of running jobs are taken together at first; doubled at each attempt.
/// Of 10 to 240, most recorded starts agree with this one.
const FIRST_GROUP: Second = 60;

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
    running: Vec<(Second, NodeSet)>,
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
        running: impl Iterator<Item = (Second, NodeSet)>,
    ) -> BackfillPlan {
        let mut running: Vec<(Second, NodeSet)> = running.collect();
        running.sort_by_key(|(end, _)| *end);
        let mut idle = up.clone();
        running.iter().for_each(|(_, nodes)| idle.subtract(nodes));
        let horizon = now.saturating_add(window);
        let spans = vec![Span { begin: now, end: horizon.max(now + 1), free: up }];
        BackfillPlan { now, horizon, resolution, spans, idle, running }
    }

    /// Lets a job run from now on.
    pub(super) fn run(&mut self, limit: Second, nodes: NodeSet) {
        self.idle.subtract(&nodes);
        let end = self.now.saturating_add(limit);
        let place = self.running.partition_point(|own| own.0 <= end);
        self.running.insert(place, (end, nodes));
    }

    /// Reserves nodes for a job that starts at a time, on the grid of the resolution.
    pub(super) fn reserve(&mut self, start: Second, limit: Second, nodes: &NodeSet) {
        let begin = self.floor(start).max(self.now);
        let end = self.floor(start.saturating_add(limit));
        if end <= begin {
            return;
        }
        self.cut(begin);
        self.cut(end);
        for span in self.spans.iter_mut().filter(|span| span.begin >= begin && span.end <= end) {
            span.free.subtract(nodes);
        }
    }

    fn floor(&self, time: Second) -> Second {
        time.div_euclid(self.resolution) * self.resolution
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
    /// reservations end. `now` finds nodes that are free now, beside those in its argument.
    ///
    /// # Complexity
    /// A question to the rule for each attempt, of which there are **O(log t)** for each
    /// reservation, if limits are up to *t*.
    pub(super) fn plan(
        &self,
        site: &SlurmSite,
        request: &ResolvedRequest,
        now: impl Fn(&NodeSet) -> Option<NodeSet>,
    ) -> Planned {
        let wanted = request.wanted();
        let mut from = self.now;
        loop {
            let until = from.max(self.now).saturating_add(request.limit);
            let (mut available, mut later) = (request.may().clone(), None);
            for (place, span) in self.spans.iter().enumerate() {
                if span.end <= from {
                    continue;
                }
                let next = self.spans.get(place + 1);
                if later.is_none() && next.is_some_and(|next| !next.free.is_within(&span.free)) {
                    later = Some(span.end);
                }
                if span.begin > until {
                    break;
                }
                available.intersect(&span.free);
            }
            let lacks = wanted.listed.as_ref().is_some_and(|listed| {
                listed.count() <= wanted.nodes && !listed.is_within(&available)
            });
            if available.count() < wanted.nodes || lacks {
                match later {
                    Some(time) if time <= self.horizon => from = time,
                    _ => return Planned::Never,
                }
                continue;
            }
            if from <= self.now
                && let Some(nodes) = self.now_on(&available, &now)
            {
                return Planned::Now(nodes);
            }
            let Some((start, nodes)) = self.will_run(site, request, &available) else {
                return Planned::Never;
            };
            let start = start.max(from);
            if let Some(time) = later.filter(|time| start > *time) {
                from = time;
                continue;
            }
            if start > self.horizon {
                return Planned::Never;
            }
            let (begin, end) = (self.floor(start), self.floor(start.saturating_add(request.limit)));
            let overlaps = self
                .spans
                .iter()
                .any(|span| span.end > begin && span.begin < end && !nodes.is_within(&span.free));
            if !overlaps {
                return Planned::Later(start, nodes);
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

    /// When running jobs leave nodes for a job, and which. Ends that lie close together count as
    /// one, at the last of them.
    fn will_run(
        &self,
        site: &SlurmSite,
        request: &ResolvedRequest,
        available: &NodeSet,
    ) -> Option<(Second, NodeSet)> {
        let wanted = request.wanted();
        let attempt = |free: &NodeSet| {
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
        let mut free = self.idle.clone();
        free.intersect(available);
        if let Some(nodes) = attempt(&free) {
            return Some((self.now, nodes));
        }
        let mut group = FIRST_GROUP;
        let mut running = self.running.iter().peekable();
        loop {
            let (mut first, mut last) = (None, None);
            while let Some((end, nodes)) = running.next() {
                if !nodes.meets(available) {
                    continue;
                }
                let mut own = nodes.clone();
                own.intersect(available);
                free.unite(&own);
                let from = *first.get_or_insert(*end);
                last = Some(*end);
                if running.peek().is_none_or(|next| next.0 > from.saturating_add(group)) {
                    break;
                }
            }
            let last = last?;
            if let Some(nodes) = attempt(&free) {
                return Some((last.max(self.now + 1), nodes));
            }
            running.peek()?;
            group = group.saturating_mul(2);
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
