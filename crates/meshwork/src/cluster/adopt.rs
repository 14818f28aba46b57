//! Jobs that run or are suspended already when the policy makes a single decision.

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

    /// Starts a waiting job on the given nodes; returns `false` if they are not free.
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
        self.facility.expect(site, placement, expected_end);
        true
    }

    /// Factor on a job's run time on a placement; `None` if the sizing does not allow its size now.
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

    /// Suspended jobs in queue order, each with site, nodes and the factor on its run time there.
    pub(crate) fn suspended_jobs(&self) -> impl Iterator<Item = (Ticket, usize, &Placement, f64)> {
        self.waiting().filter_map(|ticket| {
            let Suspended { site, placement, stretch } = self.suspended(ticket)?;
            Some((ticket, *site, placement, *stretch))
        })
    }

    /// Restores [`memory`](Cluster::memory). `is_same` says whether the same nodes are held as
    /// then.
    pub(crate) fn recall(&mut self, memory: &[u64], is_same: bool) -> Result<(), RecallError> {
        self.facility.recall(memory, is_same)
    }

    pub(crate) fn memory(&self) -> Vec<u64> {
        self.facility.memory()
    }
}
