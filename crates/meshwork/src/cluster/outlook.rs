//! Forecast of the free nodes from now on. Schedulers plan future starts with it.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use super::closures::{Closure, Closures};
use super::ends::BusyNodes;
use super::power::{draw_of, draw_of_hold};
use super::profile::Profile;
use super::reservation::{Hold, Reservation};
use crate::energy::Draws;
use crate::facility::{Facility, SiteAhead};
use crate::form::Finds;
use crate::job::{Job, Time};
use crate::machine::Placement;
use crate::offer::Proposal;
use crate::sizing::Size;
use crate::topology::Node;

/// Forecast of the machine. Running jobs end at their estimates, planned jobs start as planned.
///
/// If shape matters, the allocator searches for placements on copies of the site. It does so at the
/// steps of the profile: the instants at which the number of free nodes changes.
pub(crate) struct Outlook {
    now: Time,
    facility: Facility,
    free: Vec<Profile>,
    /// Running jobs and outages, sorted by expected end: end, site and placement.
    ///
    /// Jobs and outages on sites where only node counts matter are left out.
    running: Vec<(Time, usize, Placement)>,
    /// Planned reservations of particular nodes. A reservation of a number of nodes is not listed.
    planned: Vec<Reservation>,
    /// Planned outages and access rules. If there are any, node counts do not suffice to plan on
    /// any site.
    closures: Closures,
    /// Amount that may be held under the power cap in addition to the present one, as a function of
    /// time.
    ///
    /// `None` without a power cap. `draws` has the weights with which held processors and GPUs
    /// count.
    headroom: Option<Profile>,
    draws: Draws,
}

impl Outlook {
    pub(super) fn new<'a>(
        now: Time,
        facility: &Facility,
        busy: impl Iterator<Item = BusyNodes<'a>>,
        closures: Closures,
        headroom: Option<(u64, Draws)>,
    ) -> Outlook {
        let facility = facility.fork();
        let free_now = facility.sites().iter().map(|managed| managed.site().free_nodes());
        let mut free: Vec<Profile> =
            free_now.map(|nodes| Profile::new(now, u64::from(nodes))).collect();
        let draws = headroom.map_or(Draws::COUNT, |(_, draws)| draws);
        let mut headroom = headroom.map(|(more, _)| Profile::new(now, more));
        let only_running = closures.is_empty() && headroom.is_none();
        let mut running = Vec::new();
        for BusyNodes { site, placement, until, job, .. } in busy {
            let (end, held) = (until.max(now), i64::from(placement.len()));
            free[site].add(end, None, held);
            let counts = only_running && facility.sites()[site].finds() == Finds::AnyNodes;
            if !counts {
                running.push((end, site, placement.clone()));
            }
            if let Some(headroom) = headroom.as_mut().filter(|_| job.is_some()) {
                let draw = draw_of(draws, facility.sites()[site].site(), placement);
                headroom.add(end, None, draw as i64);
            }
        }
        Outlook { now, facility, free, running, planned: Vec::new(), closures, headroom, draws }
    }

    pub(crate) fn hold(&mut self, reservation: &Reservation) {
        self.change(reservation, -1);
        if let Hold::Nodes(_) = reservation.hold {
            self.planned.push(reservation.clone());
        }
    }

    pub(crate) fn drop_hold(&mut self, reservation: &Reservation) {
        self.change(reservation, 1);
        if let Some(at) = self.planned.iter().position(|planned| planned == reservation) {
            self.planned.swap_remove(at);
        }
    }

    fn change(&mut self, reservation: &Reservation, sign: i64) {
        let count = reservation.hold.nodes() as i64;
        let until = Some(reservation.until());
        self.free[reservation.site].add(reservation.at, until, sign * count);
        if let Some(headroom) = &mut self.headroom {
            let site = self.facility.sites()[reservation.site].site();
            let draw = draw_of_hold(self.draws, site, reservation);
            headroom.add(reservation.at, until, sign * draw as i64);
        }
    }

    /// Earliest reservation for a job without conflict with the plan; `None` if later than `by`.
    ///
    /// If node counts do not suffice to decide, a copy of the site's allocator is queried for each
    /// step in which enough nodes are free.
    pub(crate) fn earliest(&self, job: &Job, by: Option<Time>) -> Option<Reservation> {
        (0..self.free.len())
            .filter_map(|site| self.earliest_on(site, job, by))
            .filter(|found| by.is_none_or(|by| found.at <= by))
            .reduce(|best, other| if other.at < best.at { other } else { best })
    }

    /// Moves a reservation of particular nodes to the first instant from which these nodes stay
    /// free.
    pub(crate) fn sooner(&self, job: &Job, reservation: &Reservation) -> Reservation {
        let Hold::Nodes(placement) = &reservation.hold else { return reservation.clone() };
        if placement.parts.is_some() {
            return self.sooner_parts(job, reservation, placement);
        }
        let site = reservation.site;
        let grid = self.facility.sites()[site].site().grid();
        let nodes = LazyCell::new(|| placement.node_set(grid));
        // Placements of one block each are compared faster by corners than node by node.
        let meets = |on: usize, other: &Placement| {
            on == site
                && match (placement.blocks.len(), other.blocks.len()) {
                    (1, 1) => placement.meets(other, grid),
                    _ => !other.is_clear_of(&nodes, grid),
                }
        };
        let running = self.running.iter().filter(|(_, on, held)| meets(*on, held));
        let planned = self.planned.iter().filter(|other| match &other.hold {
            Hold::Nodes(held) => meets(other.site, held),
            Hold::Count(_) => false,
        });
        let closed = self
            .closures
            .to(job)
            .filter(|closure| closure.site == site && closure.nodes.meets(&nodes));
        let mut in_the_way: Vec<(Time, Time)> = running
            .map(|(end, ..)| (self.now, *end))
            .chain(planned.map(|other| (other.at, other.until())))
            .chain(closed.map(|closure| (closure.from, closure.until)))
            .collect();
        in_the_way.sort_unstable();
        let mut at = self.now;
        loop {
            for &(from, until) in &in_the_way {
                if from >= reservation.moved_to(at).until() {
                    break;
                }
                at = at.max(until);
            }
            // If the power cap is exceeded at `at`, the reservation may fit later, when other
            // holders of its nodes may conflict again.
            let held = self.first_held(&reservation.moved_to(at));
            if held.is_none_or(|held| held <= at) || at >= reservation.at {
                return reservation.moved_to(at.min(reservation.at));
            }
            at = held.unwrap_or(reservation.at);
        }
    }

    /// Variant of [`sooner`](Outlook::sooner) for shared nodes. It tries all expected ends.
    fn sooner_parts(
        &self,
        job: &Job,
        reservation: &Reservation,
        placement: &Placement,
    ) -> Reservation {
        let grid = self.facility.sites()[reservation.site].site().grid();
        let nodes = placement.node_set(grid);
        let closed: Vec<&Closure> = self
            .closures
            .to(job)
            .filter(|closure| closure.site == reservation.site && closure.nodes.meets(&nodes))
            .collect();
        let running = self.running.iter().map(|(end, ..)| *end);
        let planned = self.planned.iter().map(Reservation::until);
        let mut instants: Vec<Time> = running
            .chain(planned)
            .chain(closed.iter().map(|closure| closure.until))
            .filter(|at| (self.now..reservation.at).contains(at))
            .chain([self.now])
            .collect();
        instants.sort_unstable();
        instants.dedup();
        let fits = |at: &Time| {
            let moved = reservation.moved_to(*at);
            let is_closed = closed.iter().any(|closure| closure.hinders(*at, moved.until()));
            if is_closed || self.first_held(&moved).is_some_and(|held| held > *at) {
                return false;
            }
            let mut then = self.facility.fork_site(reservation.site);
            self.least_free(&mut then, reservation.site, *at, moved.until(), true);
            then.site().has_free(placement)
        };
        let at = instants.iter().find(|at| **at < reservation.at && fits(at));
        reservation.moved_to(at.copied().unwrap_or(reservation.at))
    }

    /// Lowers the free amounts in `then`, a copy of a site, to their minimum from `at` to `until`.
    ///
    /// If `ended` is set, running jobs that are expected to end by `at` count as ended.
    fn least_free(&self, then: &mut SiteAhead, site: usize, at: Time, until: Time, ended: bool) {
        if ended {
            self.release_ended(then, site, at);
        }
        // Changes to cells that planned jobs take or release, in order; releases at an instant come
        // first.
        let mut changes: Vec<(Time, bool, &Placement)> = Vec::new();
        for planned in self.planned.iter().filter(|planned| planned.site == site) {
            let Hold::Nodes(placement) = &planned.hold else { continue };
            if planned.until() > at && planned.at < until {
                changes.push((planned.at.max(at), true, placement));
                if planned.until() < until {
                    changes.push((planned.until(), false, placement));
                }
            }
        }
        if changes.is_empty() {
            return;
        }
        let ends =
            self.running.iter().filter(|(end, on, _)| *on == site && *end > at && *end < until);
        changes.extend(ends.map(|(end, _, placement)| (*end, false, placement)));
        changes.sort_by_key(|&(at, takes, _)| (at, takes));
        let mut least: BTreeMap<(Node, u16), (i64, i64)> = BTreeMap::new();
        for (_, takes, placement) in changes {
            let parts = placement.parts.as_deref().map_or(&[][..], |parts| &parts.parts);
            for (part, &(cell, amount)) in
                parts.iter().flat_map(|part| part.cells.iter().map(move |cell| (part, cell)))
            {
                let (sum, least) = least.entry((part.node, cell)).or_default();
                *sum += if takes { -i64::from(amount) } else { i64::from(amount) };
                *least = (*sum).min(*least);
            }
        }
        then.lower(least.into_iter().map(|((node, cell), (_, least))| (node, cell, -least as u32)));
    }

    fn release_ended(&self, then: &mut SiteAhead, site: usize, at: Time) {
        let ended = self.running.iter().take_while(|(end, ..)| *end <= at);
        ended.filter(|(_, on, _)| *on == site).for_each(|(.., placement)| then.release(placement));
    }

    /// First instant, not before the reserved start, at which the power cap permits a reservation.
    /// `None` without a power cap.
    fn first_held(&self, reservation: &Reservation) -> Option<Time> {
        let headroom = self.headroom.as_ref()?;
        let until = |at: Time| reservation.moved_to(at).until();
        let site = self.facility.sites()[reservation.site].site();
        let draw = draw_of_hold(self.draws, site, reservation);
        headroom.first_gap(reservation.at, None, draw, until)
    }

    fn earliest_on(&self, site: usize, job: &Job, by: Option<Time>) -> Option<Reservation> {
        if !self.closures.is_empty() || self.headroom.is_some() {
            return self.earliest_by_instants(site, job, by);
        }
        if self.facility.sites()[site].finds() == Finds::AnyNodes {
            let sizes = self.facility.sizes(site, job, self.now);
            let in_size = |Size { request, stretch }| {
                let (span, hold) = (job.estimate * stretch, Hold::Count(request));
                let at = self.free[site].earliest(self.now, hold.nodes(), span)?;
                Some(Reservation { at, span, stretch, site, hold })
            };
            let found = sizes.into_iter().filter_map(in_size);
            return found.reduce(|best, other| if other.at < best.at { other } else { best });
        }
        // Nodes that are free now are tried first, since a job past its estimate counts as ended
        // although it still runs.
        if let Some(found) = self.at_instant(site, job, self.now, false) {
            return Some(found);
        }
        let wanted = self.facility.fewest(job)?;
        let span = self.shortest(site, job);
        let mut from = self.now;
        loop {
            let at = self.free[site].earliest(from, wanted, span)?;
            if by.is_some_and(|by| at > by) {
                return None;
            }
            if let Some(found) = self.at_instant(site, job, at, true) {
                return Some(found);
            }
            from = self.free[site].next_step(at)?;
        }
    }

    /// Variant of [`earliest`](Outlook::earliest) for one site. It tries the present instant and
    /// every later end of a job, outage or closure.
    fn earliest_by_instants(
        &self,
        site: usize,
        job: &Job,
        by: Option<Time>,
    ) -> Option<Reservation> {
        if let Some(found) = self.at_instant(site, job, self.now, false) {
            return Some(found);
        }
        let counts = |on: usize| on == site || self.headroom.is_some();
        let running = self.running.iter().filter(|(_, on, _)| counts(*on)).map(|(end, ..)| *end);
        let planned = self.planned.iter().filter(|other| counts(other.site));
        let closed = self.closures.to(job).filter(|closure| closure.site == site);
        let mut instants: Vec<Time> = running
            .chain(planned.map(Reservation::until))
            .chain(closed.map(|closure| closure.until))
            .filter(|at| *at >= self.now && at.units().is_finite())
            .collect();
        instants.sort_unstable();
        instants.dedup();
        let mut in_time = instants.into_iter().take_while(|at| by.is_none_or(|by| *at <= by));
        in_time.find_map(|at| self.at_instant(site, job, at, true))
    }

    fn shortest(&self, site: usize, job: &Job) -> f64 {
        job.estimate * (1.0 / self.facility.sites()[site].site().speed())
    }

    /// Reservation that starts at `at` and does not conflict with the plan; `None` if there is
    /// none.
    ///
    /// If `ended` is set, running jobs that are expected to end by `at` count as ended.
    fn at_instant(&self, site: usize, job: &Job, at: Time, ended: bool) -> Option<Reservation> {
        let mut span = self.shortest(site, job);
        if self.facility.shares_nodes() {
            let until = (at + span).max(at.next());
            let mut then = self.facility.fork_site(site);
            self.least_free(&mut then, site, at, until, ended);
            let closed = self.closures.to(job).filter(|closure| closure.site == site);
            for closure in closed.filter(|closure| closure.hinders(at, until)) {
                then.take_what_is_free_of(&closure.placement, at).ok()?;
            }
            let Proposal { placement, stretch, .. } = then.propose(job, at)?;
            let found = Reservation { at, span, stretch, site, hold: Hold::Nodes(placement) };
            let is_held = self.headroom.is_none() || self.first_held(&found) == Some(at);
            return is_held.then_some(found);
        }
        loop {
            let mut then = self.facility.fork_site(site);
            if ended {
                self.release_ended(&mut then, site, at);
            }
            let until = (at + span).max(at.next());
            for planned in &self.planned {
                let Hold::Nodes(placement) = &planned.hold else { continue };
                if planned.site == site && planned.until() > at && planned.at < until {
                    then.take_what_is_free_of(placement, at).ok()?;
                }
            }
            for closure in self.closures.to(job).filter(|closure| closure.site == site) {
                if closure.hinders(at, until) {
                    then.take_what_is_free_of(&closure.placement, at).ok()?;
                }
            }
            let Proposal { placement, stretch, .. } = then.propose(job, at)?;
            // A sizing may stretch the job beyond the interval checked so far; retry with the
            // longer span.
            let needed = job.estimate * stretch;
            if needed <= span {
                let hold = Hold::Nodes(placement);
                let found = Reservation { at, span: needed, stretch, site, hold };
                let is_held = self.headroom.is_none() || self.first_held(&found) == Some(at);
                return is_held.then_some(found);
            }
            span = needed;
        }
    }
}
