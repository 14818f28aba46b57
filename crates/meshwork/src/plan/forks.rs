//! Plan that forecasts the state of the machine on copies, for any machine and allocator.

use super::Plan;
use crate::cluster::{Cluster, Outlook, Place, Reservation, StartOptions, Ticket};
use crate::job::Time;

pub(super) struct Forks {
    outlook: Outlook,
    /// Reservations in the order in which they were added.
    promises: Vec<(Ticket, Reservation)>,
}

impl Forks {
    pub(super) fn new(cluster: &Cluster<'_>) -> Forks {
        Forks { outlook: cluster.outlook(), promises: Vec::new() }
    }
}

impl Plan for Forks {
    fn advance(&mut self, cluster: &Cluster<'_>) {
        self.outlook = cluster.outlook();
        for (_, promise) in &mut self.promises {
            // A reservation that a job past its estimate has broken is due now.
            promise.at = promise.at.max(cluster.now());
            self.outlook.hold(promise);
        }
    }

    fn earliest(
        &mut self,
        cluster: &Cluster<'_>,
        ticket: Ticket,
        by: Option<Time>,
    ) -> Option<Reservation> {
        self.outlook.earliest(cluster.job(ticket), by)
    }

    fn hold(&mut self, cluster: &Cluster<'_>, ticket: Ticket, reservation: Reservation) {
        self.outlook.hold(&reservation);
        if cluster.is_waiting(ticket) {
            self.promises.push((ticket, reservation));
        }
    }

    fn release(&mut self, ticket: Ticket) -> bool {
        let found = self.promises.iter().position(|(owner, _)| *owner == ticket);
        let released = found.map(|at| self.promises.remove(at));
        released.is_some_and(|(_, promise)| {
            self.outlook.drop_hold(&promise);
            true
        })
    }

    fn promises(&self) -> Vec<(Ticket, Reservation)> {
        self.promises.clone()
    }

    fn compress(&mut self, cluster: &Cluster<'_>) {
        if cluster.departures().is_empty() && !cluster.runs_late() {
            return;
        }
        let outlook = &mut self.outlook;
        for (ticket, promise) in &mut self.promises {
            outlook.drop_hold(promise);
            let job = cluster.job(*ticket);
            let kept = outlook.sooner(job, promise);
            let fresh = outlook.earliest(job, Some(kept.at));
            // A due reservation may also move to nodes that are free now, if a job past its
            // estimate still holds the reserved nodes.
            *promise = match fresh {
                Some(fresh) if fresh.at < kept.at || fresh.at == cluster.now() => fresh,
                _ => kept,
            };
            outlook.hold(promise);
        }
    }

    fn start_due(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        self.promises.retain(|(ticket, promise)| {
            let place = StartOptions::at(Place::Promised(promise));
            promise.at > now || !cluster.start(*ticket, place)
        });
    }
}
