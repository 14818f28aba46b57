//! Earliest starts of waiting jobs, and guards: reservations that other jobs must not delay.

use super::Cluster;
use super::ends::held_at;
use super::forms::Form;
use super::queue::Ticket;
use super::reservation::{BesideParts, Guard, Hold, Reservation};
use crate::facility::SiteAhead;
use crate::form::Finds;
use crate::job::Time;
use crate::machine::Placement;
use crate::offer::Proposal;
use crate::sizing::Size;

/// Number of expected ends of jobs that the first step of the search for an earliest start skips.
///
/// Each further step skips twice as many.
const FIRST_STEP: usize = 16;

impl Cluster<'_> {
    /// When and where a waiting job would start if no other job started.
    ///
    /// Running jobs are assumed to end at their estimates. Jobs past their estimates are assumed to
    /// end now.
    ///
    /// # Complexity
    /// **O(r)** for *r* running jobs if only node counts matter. If shape matters, the allocator is
    /// queried at distinct expected ends of running jobs, each time on a copy of the machine that
    /// takes **O(r)**. On one site whose allocator finds every free block, it is queried at
    /// **O(log r)** of these ends, otherwise at all of them.
    #[must_use]
    pub fn earliest(&mut self, ticket: Ticket) -> Option<Reservation> {
        self.earliest_guard(ticket).map(|guard| guard.reservation)
    }

    /// Guard of the reservation that [`earliest`](Cluster::earliest) returns. A guard protects a
    /// reservation from delay by other jobs.
    #[inline]
    #[must_use]
    pub fn earliest_guard(&mut self, ticket: Ticket) -> Option<Guard> {
        self.earliest_guard_before(ticket, Time::new(f64::INFINITY))
    }

    /// Guard of the earliest reservation, like [`earliest_guard`](Cluster::earliest_guard).
    ///
    /// The search may stop at the instant `limit`. The result may then be `None` although the job
    /// could start at `limit` or later.
    #[inline]
    pub(crate) fn earliest_guard_before(&mut self, ticket: Ticket, limit: Time) -> Option<Guard> {
        if let Some(again) = self.earliest_again(ticket) {
            return Some(self.guard(again));
        }
        if !self.is_unbounded() {
            let reservation = self.outlook().earliest(self.queue.job(ticket), None)?;
            return Some(self.guard(reservation));
        }
        if self.facility.shares_nodes()
            && let Some(form) = self.queue.form(ticket)
        {
            return self.earliest_parts(ticket, form, limit);
        }
        if let [only] = self.facility.sites() {
            if only.finds() == Finds::AnyNodes
                && let Some(form) = self.queue.form(ticket)
            {
                return self.earliest_count(ticket, form);
            }
            return self.earliest_on(0, ticket, limit);
        }
        let sooner = |best: Guard, other: Guard| {
            if other.reservation.at < best.reservation.at { other } else { best }
        };
        let sites = 0..self.facility.sites().len();
        let found =
            sites.filter_map(|site| self.earliest_on(site, ticket, limit)).reduce(sooner)?;
        let beside = self.beside(&found.reservation);
        Some(Guard { beside, ..found })
    }

    /// Variant of [`earliest_guard`](Cluster::earliest_guard) for a site where only node counts
    /// matter.
    ///
    /// `form` is the only form (size and shape) in which the job is put to the allocator.
    #[inline]
    fn earliest_count(&self, ticket: Ticket, form: Form) -> Option<Guard> {
        let (free, at) = self.free_by(0, form.nodes);
        let extra_nodes = free.checked_sub(form.nodes)?;
        let request = self.forms.request(form).clone();
        let size = Size { request, stretch: 1.0 / self.facility.sites()[0].site().speed() };
        Some(Guard::of_count(self.queue.job(ticket), 0, size, extra_nodes, at))
    }

    /// Updates a guard to the present result of [`earliest_guard`](Cluster::earliest_guard).
    ///
    /// This works only if node counts alone matter. Otherwise, leaves the guard unchanged and
    /// returns `false`.
    #[inline]
    pub(crate) fn renew_count(&self, ticket: Ticket, guard: &mut Guard) -> bool {
        let [only] = self.facility.sites() else { return false };
        if let Some(form) = self.queue.form(ticket)
            && matches!(guard.reservation.hold, Hold::Count(_))
            && only.finds() == Finds::AnyNodes
            && self.is_unbounded()
            && self.suspended(ticket).is_none()
            && let (free, at) = self.free_by(0, form.nodes)
            && let Some(extra_nodes) = free.checked_sub(form.nodes)
        {
            guard.reservation.at = at;
            (guard.extra_nodes, guard.headroom) = (extra_nodes, u64::MAX);
            return true;
        }
        false
    }

    fn earliest_on(&mut self, site: usize, ticket: Ticket, limit: Time) -> Option<Guard> {
        let job = self.queue.job(ticket);
        if let Some(form) = self.queue.form(ticket)
            && self.facility.sites()[0].misses_no_block()
        {
            return self.earliest_by_halves(ticket, form.nodes, limit).map(Guard::of_nodes);
        }
        let sizes = self.facility.sizes(site, job, self.now);
        let fewest = sizes.iter().map(|size| size.request.nodes()).min()?;
        if self.facility.sites()[site].finds() == Finds::AnyNodes {
            let (free, at) = self.free_by(site, fewest);
            let size = sizes.into_iter().find(|size| size.request.nodes() <= free)?;
            let extra_nodes = free - size.request.nodes();
            return Some(Guard::of_count(job, site, size, extra_nodes, at));
        }
        if self.misses_no_block() {
            return self.earliest_by_halves(ticket, fewest, limit).map(Guard::of_nodes);
        }
        let mut ahead = self.facility.fork_site(site);
        let mut at = self.now;
        let mut ends = self.ends().iter().peekable();
        loop {
            let enough = u64::from(ahead.site().free_nodes()) >= fewest;
            let found = if enough { ahead.propose(job, at) } else { None };
            if let Some(proposal) = found {
                let Proposal { placement, stretch, .. } = proposal;
                let (span, hold) = (job.estimate * stretch, Hold::Nodes(placement));
                let reservation = Reservation { at, span, stretch, site, hold };
                return Some(Guard::of_nodes(reservation));
            }
            at = ends.peek()?.at.max(self.now);
            while let Some(end) = ends.next_if(|end| end.at <= at) {
                if end.site as usize == site {
                    ahead.release(self.held_at(end));
                }
            }
        }
    }

    /// Variant of [`earliest_guard`](Cluster::earliest_guard) for one site on which jobs share
    /// nodes.
    ///
    /// Running jobs are removed from a copy of the machine, in order of their expected ends, until
    /// the waiting job fits.
    fn earliest_parts(&mut self, ticket: Ticket, form: Form, limit: Time) -> Option<Guard> {
        self.ends();
        self.guards.set(self.guards.get() + 1);
        let number = self.guards.get();
        let Cluster { now, facility, ends, running, out, forms, queue, .. } = self;
        let (now, job, ends) = (*now, queue.job(ticket), ends.get()?);
        let form = forms.request(form);
        let stretch = 1.0 / facility.sites()[0].site().speed();
        let mut ends = ends.iter().peekable();
        facility.in_trial(0, |site| {
            let mut at = now;
            let placement = loop {
                if let Some(placement) = site.choose_in_trial(form, now, false) {
                    break placement;
                }
                at = ends.peek().filter(|end| end.at < limit)?.at.max(now);
                while let Some(end) = ends.next_if(|end| end.at <= at) {
                    site.site_mut().release(held_at(running, out, end));
                }
            };
            let limits = site.site().left_beside(&placement);
            let (span, hold) = (job.estimate * stretch, Hold::Nodes(placement));
            let reservation = Reservation { at, span, stretch, site: 0, hold };
            let beside = Some(Box::new(BesideParts { site: 0, number, limits }));
            Some(Guard { beside, ..Guard::of_nodes(reservation) })
        })
    }

    /// Number of free nodes of a site when it first has at least `wanted` of them, and this
    /// instant.
    ///
    /// If the site never has as many, the result is for the last expected end on the site.
    fn free_by(&self, site: usize, wanted: u64) -> (u64, Time) {
        let mut free = u64::from(self.facility.sites()[site].site().free_nodes());
        let mut at = self.now;
        for end in self.ends().iter() {
            if free >= wanted && end.at > at {
                break;
            }
            if end.site as usize == site {
                free += u64::from(end.held);
                at = end.at.max(self.now);
            }
        }
        (free, at)
    }

    /// Finds the reservation of [`earliest`](Cluster::earliest) by bisection. Searches only before
    /// `limit`.
    ///
    /// This needs a single site whose allocator misses no block. A job that fits there still fits
    /// after further jobs have ended. Bisection begins with steps of growing length, because late
    /// instants are costly: all jobs that end before such an instant must be released.
    fn earliest_by_halves(&self, ticket: Ticket, fewest: u64, limit: Time) -> Option<Reservation> {
        let job = self.queue.job(ticket);
        let ends = self.ends().iter().map(|end| (end.at.max(self.now), self.held_at(end)));
        let ends: Vec<(Time, &Placement)> = ends.take_while(|(at, _)| *at < limit).collect();
        let release = |then: &mut SiteAhead, ends: &[(Time, &Placement)]| {
            ends.iter().for_each(|(_, held)| then.release(held));
        };
        let mut then = self.facility.fork_site(0);
        let (mut given_back, mut at) = (0, self.now);
        while u64::from(then.site().free_nodes()) < fewest {
            at = ends.get(given_back)?.0;
            let end = given_back + ends[given_back..].partition_point(|(end, _)| *end <= at);
            release(&mut then, &ends[given_back..end]);
            given_back = end;
        }
        let mut found = then.propose(job, at).map(|proposal| (at, proposal));
        if found.is_none() {
            // Further instants at which jobs end, with the number of jobs that have ended by then.
            let further =
                ends[given_back..].chunk_by(|a, b| a.0 == b.0).scan(given_back, |ended, group| {
                    *ended += group.len();
                    Some((group[0].0, *ended))
                });
            let further: Vec<(Time, usize)> = further.collect();
            let (mut low, mut high, mut step) = (0, further.len(), FIRST_STEP);
            while low < high {
                let middle = usize::midpoint(low, high).min(low + step);
                step *= 2;
                let (at, ended) = further[middle];
                let mut there = then.fork();
                release(&mut there, &ends[given_back..ended]);
                if let Some(proposal) = there.propose(job, at) {
                    found = Some((at, proposal));
                    high = middle;
                } else {
                    (then, given_back) = (there, ended);
                    low = middle + 1;
                }
            }
        }
        let (at, Proposal { placement, stretch, .. }) = found?;
        let (span, hold) = (job.estimate * stretch, Hold::Nodes(placement));
        Some(Reservation { at, span, stretch, site: 0, hold })
    }

    /// Earliest instant when the nodes of a reservation are expected to be free for its job.
    ///
    /// If particular nodes are reserved, this is the last expected end of the jobs and outages on
    /// these nodes, or now. A planned outage, an access rule or the power cap may make it later. If
    /// only a number of nodes is reserved, it is the reserved start.
    #[must_use]
    pub fn expected_free(&self, ticket: Ticket, reservation: &Reservation) -> Time {
        let Hold::Nodes(placement) = &reservation.hold else { return reservation.at };
        let free = if placement.parts.is_some() {
            self.parts_free(reservation.site, placement)
        } else {
            let grid = self.site(reservation.site).grid();
            let nodes = placement.node_set(grid);
            let blocking = self.ends().iter().rev().find(|end| {
                end.site as usize == reservation.site
                    && !self.held_at(end).is_clear_of(&nodes, grid)
            });
            blocking.map_or(self.now, |end| end.at.max(self.now))
        };
        if self.is_unbounded() {
            return free;
        }
        // Jobs only release nodes from here on, so a closure that has passed does not matter again.
        self.clear_from(ticket, reservation, self.held_from(reservation, free))
    }

    /// The instant when everything that a placement holds on shared nodes is expected to be free.
    ///
    /// A placement on shared nodes holds some of the processors, memory or GPUs of each node.
    pub(super) fn parts_free(&self, site: usize, placement: &Placement) -> Time {
        let mut then = self.facility.fork_site(site);
        let mut at = self.now;
        for end in self.ends().iter().filter(|end| end.site as usize == site) {
            if then.site().has_free(placement) {
                break;
            }
            then.release(self.held_at(end));
            at = end.at.max(self.now);
        }
        at
    }

    /// Amounts of each reserved node that other jobs may hold; `None` if whole nodes are reserved.
    fn beside(&self, reservation: &Reservation) -> Option<Box<BesideParts>> {
        let Hold::Nodes(placement) = &reservation.hold else { return None };
        placement.parts.as_ref()?;
        let mut then = self.facility.fork_site(reservation.site);
        for end in self.ends().iter() {
            if end.site as usize == reservation.site && end.at.max(self.now) <= reservation.at {
                then.release(self.held_at(end));
            }
        }
        self.guards.set(self.guards.get() + 1);
        let limits = then.site().left_beside(placement);
        let (site, number) = (reservation.site, self.guards.get());
        Some(Box::new(BesideParts { site, number, limits }))
    }

    /// Creates the guard of a reservation. A guard has the limits within which other jobs do not
    /// delay the reservation.
    #[must_use]
    pub fn guard(&self, reservation: Reservation) -> Guard {
        let extra_nodes = match reservation.hold {
            Hold::Nodes(_) => 0,
            Hold::Count(ref wanted) => {
                let free_now = u64::from(self.site(reservation.site).free_nodes());
                let by_then: u64 = self
                    .ends()
                    .iter()
                    .take_while(|end| end.at.max(self.now) <= reservation.at)
                    .filter(|end| end.site as usize == reservation.site)
                    .map(|end| u64::from(end.held))
                    .sum();
                (free_now + by_then).saturating_sub(wanted.nodes())
            }
        };
        let headroom = self.headroom_beside(&reservation);
        let beside = self.beside(&reservation);
        Guard { reservation, extra_nodes, headroom, beside }
    }
}
