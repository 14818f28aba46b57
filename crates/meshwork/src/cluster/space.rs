//! Which processors are free, and when: where promises are placements, kept up from pass to pass.

use super::Cluster;
use super::free_sets::{FreeSets, Held, Wanted};
use super::queue::Ticket;
use super::reservation::{Hold, Reservation};
use crate::facility::Facility;
use crate::geometry::NodeSet;
use crate::job::{Job, Request, Time};
use crate::machine::Placement;

/// The future of a site whose allocator goes by nothing but which nodes are free: those of the running
/// jobs up to their expected ends, and of promises while they last, are not.
///
/// It knows what has become free since a promise was last looked at. A promise can be bettered only by
/// some of that: whatever else is free was so then. So most are passed over without a question to anyone.
pub(crate) struct Space {
    now: Time,
    /// A copy, to ask for places.
    asked: Facility,
    sets: FreeSets,
    /// Whether some nodes are planned twice.
    crossed: bool,
    /// What has become free, the oldest first.
    freed: Vec<Freed>,
    /// How many of those have been forgotten.
    forgotten: u64,
    /// Room to work in.
    nodes: NodeSet,
}

/// A promise that is planned, with the nodes that it holds.
pub(crate) struct Planned {
    pub(crate) promise: Reservation,
    nodes: NodeSet,
}

impl Planned {
    fn held(&self) -> Option<(Held<'_>, &Placement)> {
        let Planned { promise, nodes } = self;
        match &promise.hold {
            Hold::Nodes(placement) => {
                let (from, until, count) = (promise.at, promise.until(), placement.len());
                Some((Held { from, until, nodes, count }, placement))
            }
            Hold::Count(_) => None,
        }
    }
}

/// These nodes have become free.
struct Freed {
    placement: Placement,
    /// From when on.
    at: Time,
    /// From when up to when any of them is free without a break.
    from: Time,
    until: Time,
}

/// What a job asks for.
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) count: u32,
    pub(super) span: f64,
    stretch: f64,
}

impl Asked {
    /// Of the only site of a facility, on which every job gets what it asks for.
    pub(super) fn of(facility: &Facility, job: &Job) -> Option<Asked> {
        let site = &facility.sites()[0];
        let request = site.in_form(&job.request)?.into_owned();
        let stretch = 1.0 / site.site().speed();
        let count = u32::try_from(request.nodes()).ok()?;
        Some(Asked { request, count, span: job.estimate * stretch, stretch })
    }

    pub(super) fn at(&self, at: Time, placement: Placement) -> Reservation {
        let Asked { span, stretch, .. } = *self;
        Reservation { at, span, stretch, site: 0, hold: Hold::Nodes(placement) }
    }

    fn wanted(&self) -> Wanted<'_> {
        Wanted { request: &self.request, count: self.count, span: self.span }
    }
}

/// What a promise may be bettered by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Since {
    /// By what has become free after so much had.
    Seen(u64),
    /// By anything.
    Ever,
}

impl Cluster<'_> {
    /// The future, to be kept up from here on: on one site on which every job gets what it asked for, and
    /// whose allocator misses no block and goes by nothing but which nodes are free; if it is small enough
    /// for many sets of its nodes to be kept.
    pub(crate) fn space(&self) -> Option<Space> {
        if !self.is_unbounded() {
            return None;
        }
        let site = self.facility.only_plain_site()?.site();
        if site.nodes() > MAX_NODES {
            return None;
        }
        let mut sets = FreeSets::new(self.now, site.free());
        for (_, job) in self.running() {
            sets.release(job.expected_end.max(self.now), &job.placement, site.grid());
        }
        let asked = self.facility.fork();
        let nodes = NodeSet::empty(site.nodes());
        let (now, freed) = (self.now, Vec::new());
        Some(Space { now, asked, sets, crossed: false, freed, forgotten: 0, nodes })
    }
}

/// The most nodes of a site for which sets are kept up: of so many nodes a set takes 8 KB, and there
/// are some for each job that runs or is promised a start.
pub(super) const MAX_NODES: u32 = 1 << 16;

impl Space {
    /// Goes on to the present instant, with those who have ended since.
    pub(crate) fn go_on(&mut self, cluster: &Cluster<'_>) {
        let now = cluster.now();
        self.now = now;
        self.sets.advance(now);
        for departure in cluster.ended_since_plan() {
            let ran = &departure.ran;
            if ran.expected_end > now {
                let Space { asked, sets, freed, nodes, .. } = self;
                nodes.clear();
                ran.placement.add_to(nodes, asked.sites()[0].site().grid());
                let count = ran.placement.len();
                let (from, until) =
                    sets.give_back(Held { from: now, until: ran.expected_end, nodes, count });
                freed.push(Freed { placement: ran.placement.clone(), at: now, from, until });
            }
        }
    }

    /// How much has become free up to now.
    pub(crate) fn freed(&self) -> u64 {
        self.forgotten + self.freed.len() as u64
    }

    /// Forgets what everyone has seen.
    pub(crate) fn forget(&mut self, seen: u64) {
        let known = (seen.saturating_sub(self.forgotten) as usize).min(self.freed.len());
        self.freed.drain(..known);
        self.forgotten += known as u64;
    }

    /// Plans a promise, whether its nodes are free or not.
    pub(crate) fn hold(&mut self, promise: Reservation) -> Planned {
        let mut nodes = NodeSet::empty(self.nodes.universe());
        if let Hold::Nodes(placement) = &promise.hold {
            placement.add_to(&mut nodes, self.asked.sites()[0].site().grid());
        }
        let planned = Planned { promise, nodes };
        if let Some((held, _)) = planned.held() {
            self.crossed |= !self.sets.hold(held);
        }
        planned
    }

    /// Whether a promise was planned where something was not free: then it is of no use.
    pub(crate) fn is_crossed(&self) -> bool {
        self.crossed
    }

    /// Takes a promise back.
    pub(crate) fn give_back(&mut self, planned: &Planned) {
        if let Some((held, placement)) = planned.held() {
            let (from, until) = self.sets.give_back(held);
            self.freed.push(Freed { placement: placement.clone(), at: held.from, from, until });
        }
    }

    /// Plans a promise made anew, which is sooner, in place of the one that it betters.
    pub(crate) fn hold_instead(&mut self, planned: &mut Planned, better: Reservation) {
        let (until, start) = (planned.promise.until(), planned.promise.at);
        let ends = better.until();
        if better.hold != planned.promise.hold || ends <= start {
            self.give_back(planned);
            *planned = self.hold(better);
            return;
        }
        // Most stay on their nodes and move by less than they last: what they go on holding is not touched.
        planned.promise = better;
        let Some((held, placement)) = planned.held() else { return };
        self.crossed |= !self.sets.hold(Held { until: start, ..held });
        if ends < until {
            let (from, free) = self.sets.give_back(Held { from: ends, until, ..held });
            self.freed.push(Freed { placement: placement.clone(), at: ends, from, until: free });
        }
    }

    /// Where the job could start at the earliest without touching what is planned.
    pub(crate) fn earliest(&mut self, job: &Job) -> Option<Reservation> {
        let asked = Asked::of(&self.asked, job)?;
        let Space { now, asked: facility, sets, .. } = self;
        let (at, placement) =
            sets.first_place(&asked.wanted(), *now, None, None, |free, request| {
                facility.place_where_free(free, request, *now)
            })?;
        Some(asked.at(at, placement))
    }

    /// The promise made anew if it can be had sooner, or now if it is due: on the same processors, or on
    /// others if those are free sooner.
    pub(crate) fn better(
        &mut self,
        ticket: Ticket,
        planned: &Planned,
        since: Since,
        cluster: &Cluster<'_>,
    ) -> Option<Reservation> {
        let (own, promise) = (planned.held()?.0, &planned.promise);
        let is_due = promise.at <= self.now;
        let begin = if is_due { self.now } else { self.worth_a_look(planned, since)? };
        let asked = Asked::of(&self.asked, cluster.job(ticket))?;
        let Space { now, asked: facility, sets, .. } = self;
        // One that is due is looked at too: it may move to other processors.
        let limit = if is_due { now.next() } else { promise.at };
        let wanted = asked.wanted();
        let (at, (placement, same)) =
            sets.first_place(&wanted, begin, Some(limit), Some(own), |free, request| {
                let placement = facility.place_where_free(free, request, *now)?;
                Some((placement, own.nodes.is_within(free)))
            })?;
        // On its own processors, if those are as early, unless it is due.
        Some(if same && at > *now { promise.moved_to(at) } else { asked.at(at, placement) })
    }

    /// From when on a promise may be bettered by what has become free.
    ///
    /// Whoever starts earlier than was possible needs some of that, before it would end by the promise, and
    /// without a break: within the time in which any of it is free, or else up to the promised start, on
    /// promised nodes.
    fn worth_a_look(&self, planned: &Planned, since: Since) -> Option<Time> {
        let Since::Seen(seen) = since else { return Some(self.now) };
        let ((own, placement), span) = (planned.held()?, planned.promise.span);
        let grid = self.asked.sites()[0].site().grid();
        let known = seen.saturating_sub(self.forgotten) as usize;
        let begins = self.freed[known.min(self.freed.len())..].iter().filter_map(|freed| {
            let from = freed.from.max(self.now);
            let may_help = from < own.from
                && freed.at < own.until
                && ((from + span).max(from.next()) <= freed.until
                    || freed.until >= own.from && freed.placement.meets(placement, grid));
            may_help.then_some(from)
        });
        begins.min()
    }
}
