//! Free nodes of a site over time, for a plan that is kept between scheduling passes.

use std::ops::Range;

use super::free_sets::{Back, Eased, FreeSets, Held, NodeRequest, Openings};
use crate::cluster::{Cluster, Hold, Reservation};
use crate::facility::Facility;
use crate::geometry::NodeSet;
use crate::job::{Job, Request, Time};
use crate::machine::Placement;

/// Free nodes of one site at each time from now on, and the reservations made on them.
///
/// Releases since the last check of each reservation are recorded, because only released nodes can
/// give it an earlier start. A job past its estimate counts as ended. While it still runs, a
/// reservation of its nodes is postponed, and may come to overlap later reservations.
pub(super) struct Space {
    now: Time,
    /// Copy of the machine for queries to its allocators.
    asked: Facility,
    sets: FreeSets,
    /// Whether some nodes may be reserved for two jobs at the same time.
    is_overdrawn: bool,
    /// Nodes that no running job holds now; `None` if exactly these nodes are expected to be free
    /// now.
    in_fact: Option<InFact>,
    /// Releases of nodes, oldest first. A release is removed when, after it, every reservation has
    /// been checked for an earlier start.
    freed: Vec<Freed>,
    forgotten: u64,
    openings: Openings,
}

struct InFact {
    nodes: NodeSet,
    count: u32,
}

pub(super) struct Planned {
    pub(super) promise: Reservation,
    asked: Asked,
    nodes: NodeSet,
    /// Number of releases of nodes before the last check whether a reserved job can start earlier.
    ///
    /// The next check examines only later releases. If the number is `None`, all instants must be
    /// searched.
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

/// Release of nodes during an interval: they became free, or they lost one of several holders.
enum Freed {
    Nodes {
        placement: Placement,
        /// Start of the released interval, which ends at `before`.
        at: Time,
        before: Time,
        /// Start of the longest interval in which some released node stays free; `until` is its
        /// end.
        from: Time,
        until: Time,
    },
    /// Nodes with several holders lost one holder, so that the count of free nodes rises.
    ///
    /// A holder is a job or a reservation.
    Eased { placement: Placement, eased: Eased },
}

struct Asked {
    request: Request,
    count: u32,
    span: f64,
    stretch: f64,
}

impl Asked {
    /// Number of nodes and run time of a job; `None` if the only site cannot hold it.
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

    fn wanted(&self) -> NodeRequest<'_> {
        NodeRequest { request: &self.request, count: self.count, span: self.span }
    }
}

/// Maximum number of nodes of the machine. One set of this many nodes takes 8 KB, and each running
/// job and reservation needs several sets.
const MAX_NODES: u32 = 1 << 16;

impl Space {
    /// Future of the machine, which the caller keeps up to date; `None` for an unsuitable machine.
    ///
    /// A suitable machine is one site of at most `MAX_NODES` nodes, with fixed sizes. Its allocator
    /// misses no block and depends only on the free nodes. There is no planned outage, access rule
    /// or power cap.
    pub(super) fn new(cluster: &Cluster<'_>) -> Option<Space> {
        if !cluster.is_unbounded() {
            return None;
        }
        let (now, facility) = (cluster.now(), cluster.facility());
        let site = facility.only_plain_site()?.site();
        if site.nodes() > MAX_NODES {
            return None;
        }
        let mut sets = FreeSets::new(now, site.free());
        for holding in cluster.busy_nodes() {
            sets.release(holding.until.max(now), holding.placement, site.grid());
        }
        Some(Space {
            now,
            asked: facility.fork(),
            sets,
            is_overdrawn: false,
            in_fact: None,
            freed: Vec::new(),
            forgotten: 0,
            openings: Openings::default(),
        })
    }

    /// Advances the plan to the current instant and applies departures of jobs.
    ///
    /// Overdue reservations become due now.
    pub(super) fn go_on<'p>(
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
                let nodes = ran.placement.node_set(grid);
                let (until, count) = (ran.expected_end, ran.placement.len());
                self.free(Held { from: now, until, nodes: &nodes, count }, &ran.placement);
            }
        }
        self.look_at_facts(cluster);
    }

    /// Stores the set of nodes that are free now, if the plan may expect a different set.
    pub(super) fn look_at_facts(&mut self, cluster: &Cluster<'_>) {
        self.in_fact = (self.is_overdrawn || cluster.runs_late()).then(|| {
            let nodes = cluster.site(0).free().clone();
            InFact { count: nodes.count(), nodes }
        });
    }

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

    pub(super) fn freed(&self) -> u64 {
        self.forgotten + self.freed.len() as u64
    }

    /// Drops the records of the first `seen` releases of nodes since the plan was created.
    ///
    /// Every reservation must have been checked after these releases.
    pub(super) fn forget(&mut self, seen: u64) {
        let known = (seen.saturating_sub(self.forgotten) as usize).min(self.freed.len());
        self.freed.drain(..known);
        self.forgotten += known as u64;
    }

    /// Adds a reservation to the plan.
    ///
    /// Releases before this call need no check for an earlier start, unless some nodes may be
    /// reserved twice. In that case the count of free nodes may have been too low. The job may then
    /// start earlier on the nodes that it reserved, for which the count is not checked.
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

    pub(super) fn give_back(&mut self, planned: &Planned) {
        if let Some((held, placement)) = planned.held() {
            self.free(held, placement);
        }
    }

    /// Replaces a reservation by one that starts sooner or, if it is due, by one that starts now.
    pub(super) fn make_anew(&mut self, planned: &mut Planned) {
        let better = self.better(planned);
        match better.filter(|better| *better != planned.promise) {
            Some(better) => self.hold_instead(planned, better),
            None => planned.seen = Some(self.freed()),
        }
    }

    fn hold_instead(&mut self, planned: &mut Planned, better: Reservation) {
        let (until, start) = (planned.promise.until(), planned.promise.at);
        let ends = better.until();
        let stays = better.hold == planned.promise.hold && start < ends;
        if !stays {
            self.give_back(planned);
            planned.promise = better;
            return self.hold(planned);
        }
        // Most reservations keep their nodes and move by less than their length; the interval that
        // the old and the new reservation share is not touched.
        planned.promise = better;
        if let Some((held, placement)) = planned.held() {
            self.sets.hold(Held { until: start, ..held });
            if ends < until {
                self.free(Held { from: ends, until, ..held }, placement);
            }
        }
        // The nodes that the reservation releases were available to it before.
        planned.seen = Some(self.freed());
    }

    /// Earliest reservation that does not conflict with the plan; `None` if later than `by`.
    pub(super) fn earliest(&mut self, job: &Job, by: Option<Time>) -> Option<Reservation> {
        let asked = Asked::of(&self.asked, job)?;
        self.now_in_fact(&asked, None).or_else(|| {
            let Space { now, asked: facility, sets, openings, .. } = self;
            openings.begin(*now);
            let limit = by.map(Time::next);
            let (at, placement) =
                sets.first_place(&asked.wanted(), openings, limit, None, |free, request| {
                    facility.place_where_free(free, request, *now)
                })?;
            Some(asked.at(at, placement))
        })
    }

    pub(super) fn plan(&mut self, job: &Job, promise: Reservation) -> Option<Planned> {
        let asked = Asked::of(&self.asked, job)?;
        let nodes = NodeSet::empty(self.asked.sites()[0].site().nodes());
        let mut planned = Planned { promise, asked, nodes, seen: None };
        self.hold(&mut planned);
        Some(planned)
    }

    /// Adds a job that has just started to the plan, with its nodes held up to its expected end.
    pub(super) fn run(&mut self, reservation: &Reservation) {
        if let Hold::Nodes(placement) = &reservation.hold {
            let grid = self.asked.sites()[0].site().grid();
            let nodes = placement.node_set(grid);
            let (from, until, count) = (reservation.at, reservation.until(), placement.len());
            self.sets.hold(Held { from, until, nodes: &nodes, count });
        }
    }

    /// Reservation from now on, on nodes that no running job holds.
    ///
    /// `None` if there is none, or if the plan is right about which nodes are free now.
    fn now_in_fact(&mut self, asked: &Asked, own: Option<Held<'_>>) -> Option<Reservation> {
        let Space { now, asked: facility, sets, in_fact, .. } = self;
        let free = in_fact.as_ref().filter(|free| asked.count <= free.count)?;
        let placement = sets.place_now(&asked.wanted(), &free.nodes, own, |free, request| {
            facility.place_where_free(free, request, *now)
        })?;
        Some(asked.at(*now, placement))
    }

    /// Better reservation for a job than its planned one; `None` if there is none. The better one
    /// starts earlier. If the planned one is due, the better one starts now, perhaps on other
    /// nodes.
    fn better(&mut self, planned: &Planned) -> Option<Reservation> {
        let (own, placement) = planned.held()?;
        let mut openings = std::mem::take(&mut self.openings);
        // A reservation that is due is checked too, since it may move to other nodes.
        if planned.promise.at <= self.now {
            openings.begin(self.now);
        } else {
            self.find_openings(planned, own, placement, &mut openings);
        }
        let better = self.better_within(planned, own, &openings);
        self.openings = openings;
        better
    }

    fn better_within(
        &mut self,
        planned: &Planned,
        own: Held<'_>,
        openings: &Openings,
    ) -> Option<Reservation> {
        let Planned { promise, asked, .. } = planned;
        // While some nodes are planned twice, a placement may exist that was not found before
        // because the count of free nodes was too low.
        if self.is_overdrawn || openings.have_begun_by(self.now) {
            let found = self.now_in_fact(asked, Some(own));
            if found.is_some() {
                return found;
            }
        }
        if openings.are_none() {
            return None;
        }
        // The count of free nodes does not matter to a reservation that keeps its own nodes.
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
            // The reserved nodes are kept if they are free as early as others, unless the
            // reservation is due.
            Some((at, (_, true))) if at > *now => Some(promise.moved_to(at)),
            Some((at, (placement, _))) => Some(asked.at(at, placement)),
            None => stays.map(|at| promise.moved_to(at)),
        }
    }

    /// Finds the intervals in which a reserved job may start earlier because nodes were released.
    ///
    /// Only releases after the last check of the reservation are examined. An earlier start needs
    /// some of the released nodes. They must stay free until the job would end or, if its
    /// reservation holds some of them, until the reserved start. If nodes had several holders and
    /// lost one, all instants before the reserved start are included, if that may help the job.
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
                // Only a start whose run ends after the begin of the release uses any of the
                // released nodes.
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

/// Range of the starts for which a job of length `span` may end at `at`, up to rounding errors.
fn starts_to_end(at: Time, span: f64) -> Range<Time> {
    let (start, lost) = (at.units() - span, (at.units().abs() + span) * ROUNDING);
    let time = |units: f64, or: f64| Time::try_from(units).unwrap_or(Time::new(or));
    time(start - lost, f64::NEG_INFINITY)..time(start + lost, f64::INFINITY)
}

const ROUNDING: f64 = 4.0 * f64::EPSILON;
