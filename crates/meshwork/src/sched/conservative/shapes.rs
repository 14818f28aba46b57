//! The conservative plan over sets of free nodes, updated from pass to pass.

use crate::cluster::{Cluster, Place, Planned, Space, StartOptions, Ticket};
use crate::job::Time;

/// Reservations of placements. One is checked only if nodes released since its last check may be
/// part of what it needs, or if it is due but blocked by a job that outruns its estimate.
pub(super) struct Shapes {
    space: Space,
    /// In queue order.
    promises: Vec<Promised>,
    /// Lower bound on the earliest reserved start.
    due: Time,
}

struct Promised {
    ticket: Ticket,
    planned: Planned,
}

impl Shapes {
    pub(super) fn new(space: Space) -> Shapes {
        Shapes { space, promises: Vec::new(), due: Time::new(f64::INFINITY) }
    }

    pub(super) fn pass(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        let overdue = if self.due < now { &mut self.promises[..] } else { &mut [] };
        let overdue = overdue.iter_mut().map(|promised| &mut promised.planned);
        self.space.go_on(cluster, overdue.filter(|planned| planned.promise.at < now));
        if !cluster.departures().is_empty() || cluster.runs_late() {
            self.compress();
        }
        for ticket in cluster.to_plan() {
            if let Some(planned) = self.space.plan(cluster.job(ticket)) {
                let at = planned.promise.at;
                cluster.promise(ticket, at);
                self.due = self.due.min(at);
                self.promises.push(Promised { ticket, planned });
            }
        }
        if self.due <= now {
            self.start_due(cluster);
        }
    }

    /// Makes each improvable reservation again among all the others, in queue order.
    fn compress(&mut self) {
        let before = self.space.freed();
        for Promised { planned, .. } in &mut self.promises {
            self.space.make_anew(planned);
            self.due = self.due.min(planned.promise.at);
        }
        self.space.forget(before);
    }

    /// Starts the jobs whose reservations are due, in queue order.
    fn start_due(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        let space = &mut self.space;
        self.promises.retain(|Promised { ticket, planned, .. }| {
            let promise = &planned.promise;
            let place = StartOptions::at(Place::Promised(promise));
            if promise.at > now || !cluster.start(*ticket, place) {
                return true;
            }
            // A started job keeps holding its reservation, but a job of no time holds nothing.
            if promise.span <= 0.0 {
                space.give_back(planned);
            }
            false
        });
        let starts = self.promises.iter().map(|promised| promised.planned.promise.at);
        self.due = starts.min().unwrap_or(Time::new(f64::INFINITY));
    }
}
