//! Jobs that already run or are suspended in the state for which a policy makes a single decision.

use super::ends::End;
use super::interruptions::Suspended;
use super::queue::Ticket;
use super::service::Service;
use super::starts::{Place, StartOptions};
use super::{Cluster, RecallError};
use crate::job::Time;
use crate::machine::Placement;

impl Cluster<'_> {
    pub(crate) fn begin_at(&mut self, now: Time) {
        self.now = now;
    }

    /// Makes a waiting job a running job on the given nodes. Returns `false` if they are not free.
    pub(crate) fn adopt(
        &mut self,
        ticket: Ticket,
        (site, placement): (usize, &Placement),
        (stretch, rate, expected_end): (Option<f64>, f64, Time),
    ) -> bool {
        if site >= self.facility.sites().len() {
            return false;
        }
        let stretch = stretch.or_else(|| self.stretch_of(ticket, site, placement));
        let slot = self.running.vacant_key();
        let place = Place::These(site, placement);
        if !self.start(ticket, StartOptions { rate, ..StartOptions::at(place) }) {
            return false;
        }
        let running = &mut self.running[slot];
        let before = End::of(slot, running);
        running.expected_end = expected_end;
        running.stretch = stretch.unwrap_or(running.stretch);
        if let Some(ends) = self.ends.get_mut() {
            ends.remove(&before);
            ends.insert(End::of(slot, running));
        }
        self.facility.site_mut(site).expect(placement, expected_end);
        true
    }

    /// Factor by which the size of a placement changes the run time of a waiting job. `None` if the
    /// sizing does not now allow a job of this size.
    fn stretch_of(&self, ticket: Ticket, site: usize, placement: &Placement) -> Option<f64> {
        let held = u64::from(placement.len());
        let sizes = self.facility.sizes(site, self.job(ticket), self.now);
        let size = sizes.into_iter().find(|size| size.request.nodes() == held);
        size.map(|size| size.stretch)
    }

    pub(crate) fn adopt_suspended(
        &mut self,
        ticket: Ticket,
        (site, placement): (usize, &Placement),
        stretch: Option<f64>,
    ) {
        let Some(on) = self.facility.sites().get(site) else { return };
        let usual = 1.0 / on.site().speed();
        let stretch = stretch.or_else(|| self.stretch_of(ticket, site, placement));
        let stretch = stretch.unwrap_or(usual);
        let suspended = Suspended { site, placement: placement.clone(), stretch };
        let kill_at_estimate = self.kill_at_estimate;
        let none = || Box::new(Service::without_outages(kill_at_estimate));
        let service = self.service.get_or_insert_with(none);
        service.interruptions.adopts(ticket.id, self.queue.job(ticket), suspended);
    }

    /// Suspended jobs in queue order. Each comes with its site, its placement, and the factor that
    /// its run time has on this site.
    pub(crate) fn suspended_jobs(&self) -> impl Iterator<Item = (Ticket, usize, &Placement, f64)> {
        self.waiting().filter_map(|ticket| {
            let Suspended { site, placement, stretch } = self.suspended(ticket)?;
            Some((ticket, *site, placement, *stretch))
        })
    }

    /// Restores the numbers that [`memory`](Cluster::memory) returned. `is_same` says whether jobs
    /// hold the same nodes as at that time.
    pub(crate) fn recall(&mut self, memory: &[u64], is_same: bool) -> Result<(), RecallError> {
        self.facility.recall(memory, is_same)
    }

    pub(crate) fn memory(&self) -> Vec<u64> {
        self.facility.memory()
    }
}
