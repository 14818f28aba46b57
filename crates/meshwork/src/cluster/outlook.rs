//! What is free from now on, as plans see it.

use super::Departure;
use super::free_sets::{FreeSets, Held, Wanted};
use super::profile::Profile;
use super::reservation::{Hold, Reservation};
use crate::facility::Facility;
use crate::form::Finds;
use crate::geometry::NodeSet;
use crate::job::{Job, Time};
use crate::machine::Placement;
use crate::observe::Running;
use crate::offer::Proposal;
use crate::sizing::Size;

/// The future, if running jobs end at their estimates and planned jobs start as planned.
///
/// How many processors are free is a step function of time. Where their number is all that matters
/// it is the answer; where shape matters it says when asking is not hopeless, and the allocator is
/// asked on a fork of its site as it would be then.
pub struct Outlook {
    now: Time,
    facility: Facility,
    free: Vec<Profile>,
    /// Where shape matters: expected ends of running jobs, and what they hold; earliest first.
    running: Vec<(Time, usize, Placement)>,
    /// Where shape matters: what is planned.
    planned: Vec<Reservation>,
    /// Whether only numbers matter: then an instant at which they do not change is no step.
    counts: bool,
    /// Where it is kept up and shape matters: which processors are free.
    sets: Option<FreeSets>,
}

impl Outlook {
    pub(super) fn new<'a>(
        now: Time,
        facility: &Facility,
        counts: bool,
        jobs: impl Iterator<Item = &'a Running>,
    ) -> Outlook {
        let facility = facility.fork();
        let free_now = facility.sites().iter().map(|managed| managed.site().free_nodes());
        let mut free: Vec<Profile> =
            free_now.map(|nodes| Profile::new(now, u64::from(nodes))).collect();
        let mut running = Vec::new();
        for job in jobs {
            let end = job.expected_end.max(now);
            free[job.site].add(end, None, i64::from(job.held));
            if facility.sites()[job.site].finds() != Finds::AnyNodes {
                running.push((end, job.site, job.placement.clone()));
            }
        }
        Outlook { now, facility, free, running, planned: Vec::new(), counts, sets: None }
    }

    /// From now on it is to be kept up where shape matters, with these plans: on a site whose
    /// allocator goes by nothing but which nodes are free. `None` if a plan takes what is not free.
    pub(crate) fn kept_up<'r>(
        mut self,
        plans: impl Iterator<Item = &'r Reservation>,
    ) -> Option<Outlook> {
        let site = self.facility.sites()[0].site();
        let mut sets = FreeSets::new(self.now, site.free());
        for (end, _, placement) in self.running.drain(..) {
            sets.release(end, &placement, site.grid());
        }
        for plan in plans {
            if !sets.hold(held(plan)?, site.grid()) {
                return None;
            }
        }
        self.sets = Some(sets);
        Some(self)
    }

    /// The same plan, or a better one for a job that starts when or before it does: what
    /// [`sooner`](Outlook::sooner) and [`earliest`](Outlook::earliest) would say together, if the plan
    /// itself were not held.
    ///
    /// Only if before `reach` something may have become free; nothing may be
    /// [overdrawn](Outlook::is_overdrawn).
    pub(crate) fn better(
        &mut self,
        job: &Job,
        plan: &Reservation,
        reach: Time,
    ) -> Option<Reservation> {
        let Outlook { now, facility, sets, .. } = self;
        let Some(own) = held(plan) else {
            return self.count_sooner(plan, reach).map(|at| plan.moved_to(at));
        };
        if plan.at > *now && reach <= *now {
            return None;
        }
        let grid = facility.sites()[0].site().grid().clone();
        // One that is due is looked at too: it may move to other processors.
        let limit = if plan.at <= *now { now.next() } else { plan.at };
        let request = facility.sites()[0].in_form(&job.request)?.into_owned();
        let wanted = Wanted { request: &request, count: own.placement.len(), span: plan.span };
        let (at, (placement, same)) =
            sets.as_mut()?.first_place(&wanted, Some(limit), Some(own), &grid, |free| {
                let placement = facility.place_where_free(free, &request, *now)?;
                Some((placement, own.placement.is_within(free, &grid)))
            })?;
        // On its own processors, if those are as early, unless it is due.
        let hold = if same && at > *now { plan.hold.clone() } else { Hold::Nodes(placement) };
        Some(Reservation { at, hold, ..plan.clone() })
    }

    /// Goes on to this instant, with those who have ended since: where only numbers matter the future
    /// is kept up and not made anew.
    pub(crate) fn go_on_to(&mut self, now: Time, ended: &[Departure]) {
        self.now = now;
        self.free.iter_mut().for_each(|free| free.advance(now));
        if let Some(sets) = &mut self.sets {
            sets.advance(now);
        }
        for Departure { ran } in ended {
            if ran.expected_end > now {
                self.free[ran.site].add(now, Some(ran.expected_end), i64::from(ran.held));
                self.free[ran.site].join(ran.expected_end);
                if let Some(sets) = &mut self.sets {
                    let (until, placement) = (ran.expected_end, &ran.placement);
                    let grid = self.facility.sites()[0].site().grid();
                    sets.give_back(Held { from: now, until, placement }, grid);
                }
            }
        }
    }

    /// Whether it can be kept up from one instant to the next, and need not be made anew.
    pub(crate) fn is_kept_up(&self) -> bool {
        self.counts || self.sets.is_some()
    }

    /// Whether more is promised than there will be, as a promise that could not be kept may do.
    pub(crate) fn is_overdrawn(&self) -> bool {
        self.free.iter().any(Profile::is_overdrawn)
    }

    /// When a planned count of processors could be had sooner, at the earliest; only if before `reach`
    /// there is an instant at which as many are free.
    ///
    /// # Complexity
    /// That of a search in a [`Profile`], up to the planned start.
    fn count_sooner(&self, reservation: &Reservation, reach: Time) -> Option<Time> {
        let (free, count) = (&self.free[reservation.site], reservation.hold.nodes());
        if !free.reaches(reach.min(reservation.at), count) {
            return None;
        }
        // From its planned start on it has what it needs.
        free.sooner(reservation.at, count, reservation.span)
    }

    /// Plans a reservation: its processors are not free while it lasts.
    pub fn hold(&mut self, reservation: &Reservation) {
        if let (Some(sets), Some(held)) = (&mut self.sets, held(reservation)) {
            let free = sets.hold(held, self.facility.sites()[0].site().grid());
            debug_assert!(free, "what is planned is free");
            return;
        }
        self.change(reservation, -1);
        if matches!(reservation.hold, Hold::Nodes(_)) {
            self.planned.push(reservation.clone());
        }
    }

    /// Takes a planned reservation back.
    pub fn drop_hold(&mut self, reservation: &Reservation) {
        if let (Some(sets), Some(held)) = (&mut self.sets, held(reservation)) {
            sets.give_back(held, self.facility.sites()[0].site().grid());
            return;
        }
        self.change(reservation, 1);
        if self.counts {
            self.free[reservation.site].join(reservation.at);
            self.free[reservation.site].join(reservation.until());
        }
        if let Some(at) = self.planned.iter().position(|planned| planned == reservation) {
            self.planned.swap_remove(at);
        }
    }

    fn change(&mut self, reservation: &Reservation, sign: i64) {
        let count = reservation.hold.nodes() as i64;
        let until = Some(reservation.until());
        self.free[reservation.site].add(reservation.at, until, sign * count);
    }

    /// When and where the job could start at the earliest without touching what is planned;
    /// `None` if not before or at `by`.
    ///
    /// # Complexity
    /// **O(s)** for *s* steps of the future where only numbers matter; where shape does, the
    /// allocator is asked at each step that has enough processors, on a fork that takes **O(r)** to
    /// prepare for *r* running and planned jobs.
    pub fn earliest(&mut self, job: &Job, by: Option<Time>) -> Option<Reservation> {
        if self.sets.is_some() {
            return self.earliest_kept_up(job);
        }
        (0..self.free.len())
            .filter_map(|site| self.earliest_on(site, job, by))
            .filter(|found| by.is_none_or(|by| found.at <= by))
            .reduce(|best, other| if other.at < best.at { other } else { best })
    }

    fn earliest_kept_up(&mut self, job: &Job) -> Option<Reservation> {
        let count = u32::try_from(self.facility.fewest(job)?).ok()?;
        let Outlook { now, facility, sets, .. } = self;
        let grid = facility.sites()[0].site().grid().clone();
        let stretch = 1.0 / facility.sites()[0].site().speed();
        let span = job.estimate * stretch;
        let request = facility.sites()[0].in_form(&job.request)?.into_owned();
        let wanted = Wanted { request: &request, count, span };
        let (at, placement) = sets.as_mut()?.first_place(&wanted, None, None, &grid, |free| {
            facility.place_where_free(free, &request, *now)
        })?;
        Some(Reservation { at, span, stretch, site: 0, hold: Hold::Nodes(placement) })
    }

    /// The reservation moved to the earliest instant at which the same processors are free for as
    /// long, if that is before its own; a count is left to [`earliest`](Outlook::earliest).
    ///
    /// # Complexity
    /// **O(r log r)** for *r* running and planned jobs.
    #[must_use]
    pub fn sooner(&self, reservation: &Reservation) -> Reservation {
        let Hold::Nodes(placement) = &reservation.hold else { return reservation.clone() };
        let site = reservation.site;
        let grid = self.facility.sites()[site].site().grid();
        let mut nodes = NodeSet::empty(grid.nodes());
        placement.add_to(&mut nodes, grid);
        let meets = |on: usize, other: &Placement| on == site && !other.is_clear_of(&nodes, grid);
        let running = self.running.iter().filter(|(_, on, held)| meets(*on, held));
        let planned = self.planned.iter().filter(|other| match &other.hold {
            Hold::Nodes(held) => meets(other.site, held),
            Hold::Count(_) => false,
        });
        let mut in_the_way: Vec<(Time, Time)> = running
            .map(|(end, ..)| (self.now, *end))
            .chain(planned.map(|other| (other.at, other.until())))
            .collect();
        in_the_way.sort_unstable();
        let mut at = self.now;
        for (from, until) in in_the_way {
            if from >= reservation.moved_to(at).until() {
                break;
            }
            at = at.max(until);
        }
        reservation.moved_to(at.min(reservation.at))
    }

    fn earliest_on(&mut self, site: usize, job: &Job, by: Option<Time>) -> Option<Reservation> {
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
        // First on what is free in fact: a job past its estimate counts as ended, but is not.
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

    /// How long the job runs on a site at the least, by its estimate.
    fn shortest(&self, site: usize, job: &Job) -> f64 {
        job.estimate / self.facility.sites()[site].site().speed()
    }

    /// Where the job could start at one instant, clear of all that is planned while it would run.
    fn at_instant(&self, site: usize, job: &Job, at: Time, ended: bool) -> Option<Reservation> {
        let mut span = self.shortest(site, job);
        loop {
            let mut then = self.facility.fork_site(site);
            if ended {
                for (_, on, placement) in self.running.iter().take_while(|(end, ..)| *end <= at) {
                    if *on == site {
                        then.release(placement);
                    }
                }
            }
            let until = (at + span).max(at.next());
            for planned in &self.planned {
                let Hold::Nodes(placement) = &planned.hold else { continue };
                if planned.site == site && planned.until() > at && planned.at < until {
                    then.take_what_is_free_of(placement, at).ok()?;
                }
            }
            let Proposal { placement, stretch, .. } = then.propose(job, at)?;
            // A sizing may stretch the job beyond the span that was kept clear: then once more.
            let needed = job.estimate * stretch;
            if needed <= span {
                let hold = Hold::Nodes(placement);
                return Some(Reservation { at, span: needed, stretch, site, hold });
            }
            span = needed;
        }
    }
}

/// What a plan holds, if it holds nodes.
fn held(plan: &Reservation) -> Option<Held<'_>> {
    match &plan.hold {
        Hold::Nodes(placement) => Some(Held { from: plan.at, until: plan.until(), placement }),
        Hold::Count(_) => None,
    }
}
