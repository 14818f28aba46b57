//! What is free from now on, as plans see it.

use super::profile::Profile;
use super::reservation::{Hold, Reservation};
use crate::alloc::Finds;
use crate::facility::{Facility, Proposal};
use crate::job::{Job, Time};
use crate::machine::Placement;
use crate::nodeset::NodeSet;
use crate::observe::Running;

/// The future, if running jobs end at their estimates and planned jobs start as planned.
///
/// Where only the number of processors matters it is a step function of time. Where shape matters
/// it is a fork of the machine for each instant that is tried, and the allocator is asked.
pub struct Outlook {
    now: Time,
    facility: Facility,
    sites: Vec<Profile>,
    /// Expected ends of running jobs, with what they hold; earliest first.
    running: Vec<(Time, usize, Placement)>,
    planned: Vec<Reservation>,
}

impl Outlook {
    pub(super) fn new<'a>(
        now: Time,
        facility: &Facility,
        running: impl Iterator<Item = &'a Running>,
    ) -> Outlook {
        let facility = facility.fork();
        let mut sites: Vec<Profile> = facility
            .sites()
            .iter()
            .map(|managed| Profile::new(now, u64::from(managed.site().free_nodes())))
            .collect();
        let mut ends = Vec::new();
        for job in running {
            let end = job.expected_end.max(now);
            match facility.sites()[job.site].finds() {
                Finds::AnyNodes => sites[job.site].add(end, None, i64::from(job.held)),
                Finds::EveryBlock | Finds::SomeBlocks => {
                    ends.push((end, job.site, job.placement.clone()));
                }
            }
        }
        Outlook { now, facility, sites, running: ends, planned: Vec::new() }
    }

    /// Plans a reservation: its processors are not free while it lasts.
    pub fn hold(&mut self, reservation: &Reservation) {
        match reservation.hold {
            Hold::Count(count) => self.sites[reservation.site].add(
                reservation.at,
                Some(reservation.until()),
                -(count as i64),
            ),
            Hold::Nodes(_) => self.planned.push(reservation.clone()),
        }
    }

    /// Takes a planned reservation back.
    pub fn drop_hold(&mut self, reservation: &Reservation) {
        match reservation.hold {
            Hold::Count(count) => self.sites[reservation.site].add(
                reservation.at,
                Some(reservation.until()),
                count as i64,
            ),
            Hold::Nodes(_) => {
                if let Some(at) = self.planned.iter().position(|planned| planned == reservation) {
                    self.planned.swap_remove(at);
                }
            }
        }
    }

    /// When and where the job could start at the earliest without touching what is planned.
    ///
    /// # Complexity
    /// **O(s)** for *s* steps of the future where only numbers matter; where shape does, the
    /// allocator is asked at each instant at which something ends, on a fork that takes **O(r)**
    /// to prepare for *r* running and planned jobs.
    pub fn earliest(&mut self, job: &Job) -> Option<Reservation> {
        (0..self.sites.len())
            .filter_map(|site| self.earliest_on(site, job))
            .reduce(|best, other| if other.at < best.at { other } else { best })
    }

    /// The reservation moved to the earliest instant at which the same processors are free for as
    /// long, if that is before its own; a count is left to [`earliest`](Outlook::earliest).
    #[must_use]
    pub fn sooner(&self, reservation: &Reservation) -> Reservation {
        let Hold::Nodes(placement) = &reservation.hold else { return reservation.clone() };
        let (site, span) = (reservation.site, reservation.span);
        let grid = self.facility.sites()[site].site().grid();
        let mut nodes = NodeSet::empty(grid.nodes());
        placement.add_to(&mut nodes, grid);
        let meets = |other: &Placement| !other.is_clear_of(&nodes, grid);
        let at = self.instants(site).into_iter().find(|&at| {
            let until = at + span;
            let run_on = |(end, on, other): &(Time, usize, Placement)| {
                *on == site && *end > at && meets(other)
            };
            let planned = |other: &Reservation| match &other.hold {
                Hold::Nodes(placement) => {
                    other.site == site && overlaps(other, at, until) && meets(placement)
                }
                Hold::Count(_) => false,
            };
            !self.running.iter().any(run_on) && !self.planned.iter().any(planned)
        });
        let at = at.map_or(reservation.at, |at| at.min(reservation.at));
        reservation.moved_to(at)
    }

    /// The instants from now on at which something on a site is expected to end.
    fn instants(&self, site: usize) -> Vec<Time> {
        let ends = self.running.iter().filter(|(_, on, _)| *on == site).map(|&(end, ..)| end);
        let planned = self.planned.iter().filter(|p| p.site == site).map(Reservation::until);
        let mut instants: Vec<Time> = ends.chain(planned).chain([self.now]).collect();
        instants.retain(|&at| at >= self.now);
        instants.sort_unstable();
        instants.dedup();
        instants
    }

    fn earliest_on(&mut self, site: usize, job: &Job) -> Option<Reservation> {
        let (wanted, stretch) = self.facility.counts(site, job)?;
        if self.facility.sites()[site].finds() == Finds::AnyNodes {
            let span = job.estimate * stretch;
            let at = self.sites[site].earliest(wanted, span)?;
            return Some(Reservation { at, span, stretch, site, hold: Hold::Count(wanted) });
        }
        // First on what is free in fact: a job past its estimate counts as ended, but is not.
        if let Some(found) = self.at_instant(site, job, self.now, false) {
            return Some(found);
        }
        self.instants(site).into_iter().find_map(|at| self.at_instant(site, job, at, true))
    }

    /// Where the job could start at one instant, clear of all that is planned while it would run.
    fn at_instant(
        &self,
        site: usize,
        job: &Job,
        at: Time,
        ended: bool,
    ) -> Option<Reservation> {
        let mut then = self.facility.fork();
        if ended {
            for (_, on, placement) in self.running.iter().take_while(|(end, ..)| *end <= at) {
                if *on == site {
                    then.release(site, placement);
                }
            }
        }
        // The site's own speed is all that stretches a job before it has a place; sizings that
        // would stretch it more are checked against their own proposal below.
        let mut until = at + job.estimate / then.sites()[site].site().speed();
        loop {
            let mut clear = then.fork();
            for planned in &self.planned {
                if planned.site == site && overlaps(planned, at, until) {
                    let Hold::Nodes(placement) = &planned.hold else { continue };
                    let managed = clear.sites()[site].site();
                    let part = placement.part_in(managed.free(), managed.grid());
                    if !part.is_empty() {
                        clear.claim(site, &part, at).ok()?;
                    }
                }
            }
            let proposal = clear.propose_at(site, job, at)?;
            let end = at + job.estimate * proposal.stretch;
            if end <= until {
                let Proposal { placement, stretch, .. } = proposal;
                let (span, hold) = (job.estimate * stretch, Hold::Nodes(placement));
                return Some(Reservation { at, span, stretch, site, hold });
            }
            until = end;
        }
    }
}

/// Whether a planned job would hold its processors at some time from `at` up to `until`.
fn overlaps(planned: &Reservation, at: Time, until: Time) -> bool {
    planned.until() > at && planned.at < until.max(at.next())
}
