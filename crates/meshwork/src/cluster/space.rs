//! Which processors are free, and when: where promises are placements, kept up from pass to pass.

use std::ops::Range;

use super::Cluster;
use super::free_sets::{Back, Eased, FreeSets, Held, Openings, Wanted};
use super::reservation::{Hold, Reservation};
use crate::facility::Facility;
use crate::geometry::NodeSet;
use crate::job::{Job, Request, Time};
use crate::machine::Placement;

/// The future of a site whose allocator goes by nothing but which nodes are free: those of the running
/// jobs up to their expected ends, and of promises while they last, are not.
///
/// It knows what has become free since a promise was last looked at. A promise can be bettered only by
/// some of that: whatever else is free was so then. So many are passed over without a question to anyone, and others are asked
/// about at few instants.
///
/// A job past its estimate counts as ended, so its nodes may be promised. As long as it goes on to run such a promise is
/// put off from instant to instant, and may come to hold nodes that others are promised later.
pub(crate) struct Space {
    now: Time,
    /// A copy, to ask for places.
    asked: Facility,
    sets: FreeSets,
    /// Whether some nodes are planned twice.
    is_overdrawn: bool,
    /// What is free in fact, if that may be less than what should be.
    in_fact: Option<InFact>,
    /// What has become free, the oldest first.
    freed: Vec<Freed>,
    /// How many of those have been forgotten.
    forgotten: u64,
    /// Room to work in.
    openings: Openings,
}

/// The nodes that are free now.
struct InFact {
    nodes: NodeSet,
    count: u32,
}

/// A promise that is planned.
pub(crate) struct Planned {
    pub(crate) promise: Reservation,
    /// What it was made for.
    asked: Asked,
    /// What it holds.
    nodes: NodeSet,
    /// What had become free after so much had may better it; or anything.
    seen: Option<u64>,
}

impl Planned {
    fn held(&self) -> Option<(Held<'_>, &Placement)> {
        let Planned { promise, nodes, .. } = self;
        match &promise.hold {
            Hold::Nodes(placement) => {
                let (from, until, count) = (promise.at, promise.until(), placement.len());
                Some((Held { from, until, nodes, count }, placement))
            }
            Hold::Count(_) => None,
        }
    }
}

/// Something has become free.
enum Freed {
    /// These nodes.
    Nodes {
        placement: Placement,
        /// From when up to when they were held.
        at: Time,
        before: Time,
        /// From when up to when any of them is free without a break, that time among it.
        from: Time,
        until: Time,
    },
    /// These, some of which others hold as well: more is free by their number, and who holds some of them may be the
    /// only one now.
    Eased { placement: Placement, eased: Eased },
}

/// What a job asks for.
struct Asked {
    request: Request,
    count: u32,
    span: f64,
    stretch: f64,
}

impl Asked {
    /// Of the only site of a facility, on which every job gets what it asks for.
    fn of(facility: &Facility, job: &Job) -> Option<Asked> {
        let site = &facility.sites()[0];
        let request = site.in_form(&job.request)?.into_owned();
        let stretch = 1.0 / site.site().speed();
        let count = u32::try_from(request.nodes()).ok()?;
        Some(Asked { request, count, span: job.estimate * stretch, stretch })
    }

    fn at(&self, at: Time, placement: Placement) -> Reservation {
        let Asked { span, stretch, .. } = *self;
        Reservation { at, span, stretch, site: 0, hold: Hold::Nodes(placement) }
    }

    fn wanted(&self) -> Wanted<'_> {
        Wanted { request: &self.request, count: self.count, span: self.span }
    }
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
        Some(Space {
            now: self.now,
            asked: self.facility.fork(),
            sets,
            is_overdrawn: false,
            in_fact: None,
            freed: Vec::new(),
            forgotten: 0,
            openings: Openings::default(),
        })
    }
}

/// The most nodes of a site for which sets are kept up: of so many nodes a set takes 8 KB, and there
/// are some for each job that runs or is promised a start.
const MAX_NODES: u32 = 1 << 16;

impl Space {
    /// Goes on to the present instant, with those who have ended since; a promise that is overdue is due now.
    pub(crate) fn go_on<'p>(
        &mut self,
        cluster: &Cluster<'_>,
        overdue: impl Iterator<Item = &'p mut Planned>,
    ) {
        let now = cluster.now();
        self.now = now;
        self.sets.advance(now);
        for planned in overdue {
            self.put_off(planned);
        }
        self.is_overdrawn = self.is_overdrawn && self.sets.is_overdrawn();
        for departure in cluster.ended_since_plan() {
            let ran = &departure.ran;
            if ran.expected_end > now {
                let grid = self.asked.sites()[0].site().grid();
                let mut nodes = NodeSet::empty(grid.nodes());
                ran.placement.add_to(&mut nodes, grid);
                let (until, count) = (ran.expected_end, ran.placement.len());
                self.free(Held { from: now, until, nodes: &nodes, count }, &ran.placement);
            }
        }
        self.in_fact = (self.is_overdrawn || cluster.runs_late()).then(|| {
            let nodes = cluster.facility.sites()[0].site().free().clone();
            InFact { count: nodes.count(), nodes }
        });
    }

    /// It goes on to hold its nodes for as long from now on, whether others hold them then or not.
    fn put_off(&mut self, planned: &mut Planned) {
        let held_until = planned.promise.until().max(self.now);
        planned.promise.at = self.now;
        if let Some((held, _)) = planned.held() {
            self.sets.hold(Held { from: held_until, ..held });
            self.is_overdrawn = true;
        }
    }

    fn free(&mut self, held: Held<'_>, placement: &Placement) {
        let Back { from, until, eased } = self.sets.give_back(held);
        let placement = || placement.clone();
        let (at, before) = (held.from, held.until);
        self.freed.push(Freed::Nodes { placement: placement(), at, before, from, until });
        self.freed.extend(eased.map(|eased| Freed::Eased { placement: placement(), eased }));
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

    /// Plans a promise.
    ///
    /// Nothing that is free already betters it, but where nodes are planned twice: there it may have been put where enough
    /// seemed to be free, and can be had sooner on its own nodes, whose number does not matter.
    fn hold(&mut self, planned: &mut Planned) {
        if let Hold::Nodes(placement) = &planned.promise.hold {
            planned.nodes.clear();
            placement.add_to(&mut planned.nodes, self.asked.sites()[0].site().grid());
        }
        if let Some((held, _)) = planned.held() {
            self.sets.hold(held);
        }
        planned.seen = (!self.is_overdrawn).then(|| self.freed());
    }

    /// Takes a promise back.
    pub(crate) fn give_back(&mut self, planned: &Planned) {
        if let Some((held, placement)) = planned.held() {
            self.free(held, placement);
        }
    }

    /// Makes a promise anew if it can be had sooner, or now if it is due.
    pub(crate) fn make_anew(&mut self, planned: &mut Planned) {
        let better = self.better(planned);
        match better.filter(|better| *better != planned.promise) {
            Some(better) => self.hold_instead(planned, better),
            None => planned.seen = Some(self.freed()),
        }
    }

    /// Plans a promise made anew, which is sooner, in place of the one that it betters.
    fn hold_instead(&mut self, planned: &mut Planned, better: Reservation) {
        let (until, start) = (planned.promise.until(), planned.promise.at);
        let ends = better.until();
        let stays = better.hold == planned.promise.hold && start < ends;
        if !stays {
            self.give_back(planned);
            planned.promise = better;
            return self.hold(planned);
        }
        // Most stay on their nodes and move by less than they last: what they go on holding is not touched.
        planned.promise = better;
        if let Some((held, placement)) = planned.held() {
            self.sets.hold(Held { until: start, ..held });
            if ends < until {
                self.free(Held { from: ends, until, ..held }, placement);
            }
        }
        // What it leaves was its own to take.
        planned.seen = Some(self.freed());
    }

    /// Promises the job the earliest start that touches nothing of what is planned.
    pub(crate) fn plan(&mut self, job: &Job) -> Option<Planned> {
        let asked = Asked::of(&self.asked, job)?;
        let promise = self.now_in_fact(&asked, None).or_else(|| {
            let Space { now, asked: facility, sets, openings, .. } = self;
            openings.begin(*now);
            let (at, placement) =
                sets.first_place(&asked.wanted(), openings, None, None, |free, request| {
                    facility.place_where_free(free, request, *now)
                })?;
            Some(asked.at(at, placement))
        })?;
        let nodes = NodeSet::empty(self.asked.sites()[0].site().nodes());
        let mut planned = Planned { promise, asked, nodes, seen: None };
        self.hold(&mut planned);
        Some(planned)
    }

    /// Now, on nodes that are free in fact, where these are not what they should be.
    fn now_in_fact(&mut self, asked: &Asked, own: Option<Held<'_>>) -> Option<Reservation> {
        let Space { now, asked: facility, sets, in_fact, .. } = self;
        let free = in_fact.as_ref().filter(|free| asked.count <= free.count)?;
        let placement = sets.place_now(&asked.wanted(), &free.nodes, own, |free, request| {
            facility.place_where_free(free, request, *now)
        })?;
        Some(asked.at(*now, placement))
    }

    /// The promise made anew if it can be had sooner, or now if it is due: on the same processors, or on
    /// others if those are free sooner.
    fn better(&mut self, planned: &Planned) -> Option<Reservation> {
        let (own, placement) = planned.held()?;
        let mut openings = std::mem::take(&mut self.openings);
        // One that is due is looked at too: it may move to other processors.
        if planned.promise.at <= self.now {
            openings.begin(self.now);
        } else {
            self.find_openings(planned, own, placement, &mut openings);
        }
        let better = self.better_within(planned, own, &openings);
        self.openings = openings;
        better
    }

    /// The same, if it can be had sooner only within these.
    fn better_within(
        &mut self,
        planned: &Planned,
        own: Held<'_>,
        openings: &Openings,
    ) -> Option<Reservation> {
        let Planned { promise, asked, .. } = planned;
        // While nodes are planned twice there may be a place for which they were too few before now.
        if self.is_overdrawn || openings.have_begun_by(self.now) {
            let found = self.now_in_fact(asked, Some(own));
            if found.is_some() {
                return found;
            }
        }
        if openings.are_none() {
            return None;
        }
        // Their number does not matter to who stays on its own nodes.
        let stays = if self.is_overdrawn { self.sets.sooner(own, asked.span) } else { None };
        let before = stays.unwrap_or(promise.at);
        let Space { now, asked: facility, sets, .. } = self;
        let limit = if before <= *now { now.next() } else { before };
        let wanted = asked.wanted();
        let found = sets.first_place(&wanted, openings, Some(limit), Some(own), |free, request| {
            let placement = facility.place_where_free(free, request, *now)?;
            Some((placement, own.nodes.is_within(free)))
        });
        match found {
            // On its own processors, if those are as early, unless it is due.
            Some((at, (_, true))) if at > *now => Some(promise.moved_to(at)),
            Some((at, (placement, _))) => Some(asked.at(at, placement)),
            None => stays.map(|at| promise.moved_to(at)),
        }
    }

    /// Between which instants a promise may have come to be had sooner by what has become free since it was looked at last.
    ///
    /// Whoever starts earlier than was possible needs some of that while it was held, and without a break from its start on:
    /// to its end, or else up to the promised start, on promised nodes.
    ///
    /// Where nodes are planned twice it may also be that fewer than are free seemed to be, or that others held what it was
    /// promised.
    fn find_openings(
        &self,
        planned: &Planned,
        own: Held<'_>,
        placement: &Placement,
        openings: &mut Openings,
    ) {
        let Some(seen) = planned.seen else { return openings.begin(self.now) };
        let grid = self.asked.sites()[0].site().grid();
        let (wanted, span) = (i64::from(planned.asked.count), planned.promise.span);
        let known = seen.saturating_sub(self.forgotten) as usize;
        let freed = &self.freed[known.min(self.freed.len())..];
        openings.assign(freed.iter().filter_map(|freed| match freed {
            Freed::Nodes { placement: freed, at, before, from, until } => {
                if *from >= own.from || *at >= own.until {
                    return None;
                }
                // Only one that ends after it begins to be free has some of it.
                let from = (*from).max(self.now).max(starts_to_end(*at, span).start);
                let before = (*before).min(own.from);
                let alone = before.min(starts_to_end(*until, span).end);
                let is_longer = alone < before
                    && from < before
                    && *until >= own.from
                    && freed.meets(placement, grid);
                Some(from..if is_longer { before } else { alone })
            }
            Freed::Eased { placement: freed, eased: Eased { at, least, most } } => {
                let is_new = |wanted: i64| *least < wanted && wanted <= *most;
                let beside_its_own = wanted - i64::from(own.count);
                let may_help = *at < own.until
                    && (is_new(wanted) || is_new(beside_its_own) || freed.meets(placement, grid));
                may_help.then_some(self.now..own.from)
            }
        }));
    }
}

/// When whoever lasts so long starts to end at an instant: then, give or take what is lost where sums are rounded.
fn starts_to_end(at: Time, span: f64) -> Range<Time> {
    let (start, lost) = (at.units() - span, (at.units().abs() + span) * ROUNDING);
    let time = |units: f64, or: f64| Time::try_from(units).unwrap_or(Time::new(or));
    time(start - lost, f64::NEG_INFINITY)..time(start + lost, f64::INFINITY)
}

/// More than two sums lose of what is added up.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
