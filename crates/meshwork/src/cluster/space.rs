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
    /// What jobs still hold that should have ended: it counts as free, but is not.
    late: Option<NodeSet>,
    /// What has become free, the oldest first.
    freed: Vec<Freed>,
    /// How many of those have been forgotten.
    forgotten: u64,
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
struct Asked {
    request: Request,
    count: u32,
    span: f64,
    stretch: f64,
}

impl Asked {
    fn at(&self, at: Time, placement: Placement) -> Reservation {
        let Asked { span, stretch, .. } = *self;
        Reservation { at, span, stretch, site: 0, hold: Hold::Nodes(placement) }
    }

    fn wanted(&self) -> Wanted<'_> {
        Wanted { request: &self.request, count: self.count, span: self.span }
    }
}

/// How a promise may be made anew.
enum Better {
    Elsewhere(Time, Placement),
    /// On the same processors.
    There(Time),
    No,
    /// There is a place, but too much is promised then.
    NoRoom,
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
        let site = self.facility.only_plain_site()?.site();
        if site.nodes() > MAX_NODES {
            return None;
        }
        let mut sets = FreeSets::new(self.now, site.free());
        for (_, job) in self.running() {
            sets.release(job.expected_end.max(self.now), &job.placement, site.grid());
        }
        let asked = self.facility.fork();
        Some(Space { now: self.now, asked, sets, late: None, freed: Vec::new(), forgotten: 0 })
    }
}

/// The most nodes of a site for which sets are kept up: of so many nodes a set takes 8 KB, and there
/// are some for each job that runs or is promised a start.
const MAX_NODES: u32 = 1 << 16;

impl Space {
    /// Goes on to the present instant, with those who have ended since. Named are those who were promised
    /// a start.
    pub(crate) fn go_on<'p>(
        &mut self,
        cluster: &'p Cluster<'_>,
        promised: impl Iterator<Item = &'p Reservation> + Clone,
    ) {
        let now = cluster.now();
        self.now = now;
        self.sets.advance(now);
        let grid = cluster.site(0).grid();
        for departure in cluster.departures() {
            let ran = &departure.ran;
            if ran.expected_end > now {
                let placement = &ran.placement;
                let held = Held { from: now, until: ran.expected_end, placement };
                let others = promised.clone().filter_map(held_by).chain(running(cluster));
                let (from, until) = self.sets.give_back(held, others, grid);
                self.freed.push(Freed { placement: placement.clone(), at: now, from, until });
            }
        }
        let mut late: Option<NodeSet> = None;
        for (_, job) in cluster.running().take_while(|(_, job)| job.expected_end <= now) {
            let late = late.get_or_insert_with(|| NodeSet::empty(grid.nodes()));
            job.placement.add_to(late, grid);
        }
        self.late = late;
    }

    /// How much has become free up to now.
    pub(crate) fn seen(&self) -> Since {
        Since::Seen(self.forgotten + self.freed.len() as u64)
    }

    /// Forgets what everyone has seen.
    pub(crate) fn forget(&mut self, seen: Since) {
        let Since::Seen(seen) = seen else { return };
        let known = (seen.saturating_sub(self.forgotten) as usize).min(self.freed.len());
        self.freed.drain(..known);
        self.forgotten += known as u64;
    }

    /// Plans a promise, whether its nodes are free or not.
    pub(crate) fn hold(&mut self, promise: &Reservation) {
        if let Some(held) = held_by(promise) {
            self.sets.hold(held, self.asked.sites()[0].site().grid());
        }
    }

    /// Puts a promise that was due before now off until now.
    pub(crate) fn put_off(&mut self, promise: &mut Reservation) {
        let from = promise.until().max(self.now);
        promise.at = self.now;
        let until = promise.until();
        if let Some(held) = held_by(promise).filter(|_| from < until) {
            self.sets.hold(Held { from, ..held }, self.asked.sites()[0].site().grid());
        }
    }

    /// Takes a promise back. Named are the others who were given one, and the machine for those who run,
    /// who may hold the same nodes.
    pub(crate) fn give_back<'p>(
        &mut self,
        promise: &Reservation,
        others: impl Iterator<Item = &'p Reservation>,
        cluster: &'p Cluster<'_>,
    ) {
        let Some(held) = held_by(promise) else { return };
        let others = others.filter_map(held_by).chain(running(cluster));
        let (from, until) = self.sets.give_back(held, others, cluster.site(0).grid());
        self.freed.push(Freed { placement: held.placement.clone(), at: held.from, from, until });
    }

    /// Where the job could start at the earliest without touching what is planned.
    pub(crate) fn earliest(&mut self, job: &Job) -> Option<Reservation> {
        let asked = self.asked_by(job)?;
        if let Some(placement) = self.place_in_fact(&asked, None) {
            return Some(asked.at(self.now, placement));
        }
        let Space { now, asked: facility, sets, .. } = self;
        let grid = facility.sites()[0].site().grid().clone();
        let mut begin = *now;
        loop {
            let (at, placement) =
                sets.first_place(&asked.wanted(), begin, None, None, &grid, |free, request| {
                    facility.place_where_free(free, request, *now)
                })?;
            if sets.has_room(at, asked.span, asked.count) {
                return Some(asked.at(at, placement));
            }
            begin = sets.next_step(at)?;
        }
    }

    fn asked_by(&self, job: &Job) -> Option<Asked> {
        let site = &self.asked.sites()[0];
        let request = site.in_form(&job.request)?.into_owned();
        let stretch = 1.0 / site.site().speed();
        let count = u32::try_from(request.nodes()).ok()?;
        Some(Asked { request, count, span: job.estimate * stretch, stretch })
    }

    /// A place now on what is free in fact, if not all is that counts as free.
    fn place_in_fact(&mut self, asked: &Asked, own: Option<Held<'_>>) -> Option<Placement> {
        let late = self.late.as_ref()?;
        let grid = self.asked.sites()[0].site().grid();
        let mut free = self.sets.free_during(self.now, asked.span, own, grid);
        free.subtract(late);
        if free.count() < asked.count {
            return None;
        }
        self.asked.place_where_free(&free, &asked.request, self.now)
    }

    /// The first place before a promise, or now for one that is due; if nodes may be held twice, the
    /// promise has been taken back.
    fn sooner(&mut self, asked: &Asked, mut begin: Time, own: Held<'_>, crossed: bool) -> Better {
        let counted = (!crossed).then_some(own);
        if begin <= self.now
            && let Some(placement) = self.place_in_fact(asked, counted)
        {
            return Better::Elsewhere(self.now, placement);
        }
        let Space { now, asked: facility, sets, .. } = self;
        let grid = facility.sites()[0].site().grid().clone();
        let limit = if own.from <= *now { now.next() } else { own.from };
        let mut last = Better::No;
        loop {
            let found = sets.first_place(
                &asked.wanted(),
                begin,
                Some(limit),
                counted,
                &grid,
                |free, request| {
                    let placement = facility.place_where_free(free, request, *now)?;
                    Some((placement, own.placement.is_within(free, &grid)))
                },
            );
            let Some((at, (placement, same))) = found else { return last };
            let has_room = !crossed || sets.has_room(at, asked.span, asked.count);
            // On its own processors, if those are as early, unless it is due.
            if same && (at > *now || !has_room) {
                return Better::There(at);
            }
            if has_room {
                return Better::Elsewhere(at, placement);
            }
            last = Better::NoRoom;
            let Some(next) = sets.next_step(at) else { return last };
            begin = next;
        }
    }

    /// The promise made anew if it can be had sooner: on the same processors, or on others if those are
    /// free sooner, or now. It is the promise itself if not. And by what it may be bettered from then on.
    pub(crate) fn better<'p>(
        &mut self,
        ticket: Ticket,
        promise: &Reservation,
        since: Since,
        others: impl Iterator<Item = &'p Reservation>,
        cluster: &'p Cluster<'_>,
    ) -> (Option<Reservation>, Since) {
        let Some(own) = held_by(promise) else { return (None, self.seen()) };
        let is_due = promise.at <= self.now;
        let begin =
            if is_due { Some(self.now) } else { self.worth_a_look(own, promise.span, since) };
        let Some(begin) = begin else { return (None, self.seen()) };
        let Some(asked) = self.asked_by(cluster.job(ticket)) else { return (None, self.seen()) };
        let crossed = self.sets.is_crossed();
        if crossed {
            let others = others.filter_map(held_by).chain(running(cluster));
            self.sets.give_back(own, others, cluster.site(0).grid());
        }
        let found = self.sooner(&asked, begin, own, crossed);
        if crossed {
            self.sets.hold(own, cluster.site(0).grid());
        }
        let seen = self.seen();
        match found {
            Better::Elsewhere(at, placement) => (Some(asked.at(at, placement)), seen),
            Better::There(at) => (Some(promise.moved_to(at)), seen),
            Better::No => (None, seen),
            Better::NoRoom => (None, Since::Ever),
        }
    }

    /// From when on a promise may be bettered by what has become free.
    ///
    /// Whoever starts earlier than was possible needs some of that, before it would end by the promise, and
    /// without a break: within the time in which any of it is free, or else up to the promised start, on
    /// promised nodes.
    fn worth_a_look(&self, own: Held<'_>, span: f64, since: Since) -> Option<Time> {
        let Since::Seen(seen) = since else { return Some(self.now) };
        let grid = self.asked.sites()[0].site().grid();
        let known = seen.saturating_sub(self.forgotten) as usize;
        let begins = self.freed[known.min(self.freed.len())..].iter().filter_map(|freed| {
            let from = freed.from.max(self.now);
            let may_help = from < own.from
                && freed.at < own.until
                && ((from + span).max(from.next()) <= freed.until
                    || freed.until >= own.from && freed.placement.meets(own.placement, grid));
            may_help.then_some(from)
        });
        begins.min()
    }
}

/// What a promise holds.
fn held_by(promise: &Reservation) -> Option<Held<'_>> {
    match &promise.hold {
        Hold::Nodes(placement) => {
            Some(Held { from: promise.at, until: promise.until(), placement })
        }
        Hold::Count(_) => None,
    }
}

/// What running jobs hold, by their estimates.
fn running<'c>(cluster: &'c Cluster<'_>) -> impl Iterator<Item = Held<'c>> {
    cluster.running().map(|(_, job)| Held {
        from: job.start,
        until: job.expected_end,
        placement: &job.placement,
    })
}
