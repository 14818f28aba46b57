//! The plan where the allocator goes by which nodes are free: kept up from pass to pass.

use crate::cluster::{Cluster, Place, Planned, Space, StartOptions, Ticket};
use crate::job::Time;

/// Promises of placements.
///
/// A promise is looked at only if something has become free, since it was last, that may be a part of what
/// it needs; or if it is due and cannot be kept, because a job outruns its estimate.
pub(super) struct Shapes {
    space: Space,
    /// In order of arrival.
    promises: Vec<Promised>,
    /// No promise is due before.
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

    /// In order of arrival, each promise is made anew among all the others if it can be bettered.
    fn compress(&mut self) {
        let before = self.space.freed();
        for Promised { planned, .. } in &mut self.promises {
            self.space.make_anew(planned);
            self.due = self.due.min(planned.promise.at);
        }
        self.space.forget(before);
    }

    /// Starts those whose promise is due, in order of arrival.
    fn start_due(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        let space = &mut self.space;
        self.promises.retain(|Promised { ticket, planned, .. }| {
            let promise = &planned.promise;
            let place = StartOptions::at(Place::Promised(promise));
            if promise.at > now || !cluster.start(*ticket, place) {
                return true;
            }
            // It holds from now on what it was to hold; a job of no time holds nothing.
            if promise.span <= 0.0 {
                space.give_back(planned);
            }
            false
        });
        let starts = self.promises.iter().map(|promised| promised.planned.promise.at);
        self.due = starts.min().unwrap_or(Time::new(f64::INFINITY));
    }
}
