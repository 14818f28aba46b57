//! The plan where the allocator goes by which nodes are free: kept up from pass to pass.

use crate::cluster::{Cluster, Place, Planned, Reservation, Since, Space, StartOptions, Ticket};
use crate::job::Time;

/// Promises of placements.
///
/// A promise is looked at only if something has become free, since it was last, that may be a part of what
/// it needs.
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
    since: Since,
}

impl Shapes {
    pub(super) fn new(space: Space) -> Shapes {
        Shapes { space, promises: Vec::new(), due: Time::new(f64::INFINITY) }
    }

    /// These promises, in order of arrival; `None` if some of what they hold is held twice.
    pub(super) fn of(space: Space, promises: &[(Ticket, Reservation)]) -> Option<Shapes> {
        let mut shapes = Shapes::new(space);
        for (ticket, promise) in promises {
            shapes.due = shapes.due.min(promise.at);
            let planned = shapes.space.hold(promise.clone());
            shapes.promises.push(Promised { ticket: *ticket, planned, since: Since::Ever });
        }
        (!shapes.space.is_crossed()).then_some(shapes)
    }

    /// The promises, to go on with otherwise.
    pub(super) fn take(&mut self) -> Vec<(Ticket, Reservation)> {
        let promises = std::mem::take(&mut self.promises);
        promises.into_iter().map(|promised| (promised.ticket, promised.planned.promise)).collect()
    }

    /// Whether a promise was due before now.
    pub(super) fn is_overdue(&self, now: Time) -> bool {
        self.due < now
    }

    pub(super) fn pass(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        self.space.go_on(cluster);
        if !cluster.departures().is_empty() {
            self.compress(cluster);
        }
        for ticket in cluster.to_plan() {
            if let Some(promise) = self.space.earliest(cluster.job(ticket)) {
                cluster.promise(ticket, promise.at);
                self.due = self.due.min(promise.at);
                let planned = self.space.hold(promise);
                let since = Since::Seen(self.space.freed());
                self.promises.push(Promised { ticket, planned, since });
            }
        }
        if self.due <= now {
            self.start_due(cluster);
        }
    }

    /// In order of arrival, each promise is made anew among all the others if it can be bettered.
    fn compress(&mut self, cluster: &Cluster<'_>) {
        let before = self.space.freed();
        for index in 0..self.promises.len() {
            let Promised { ticket, planned, since } = &mut self.promises[index];
            let better = self.space.better(*ticket, planned, *since, cluster);
            if let Some(better) = better.filter(|better| *better != planned.promise) {
                self.due = self.due.min(better.at);
                self.space.hold_instead(planned, better);
            }
            // What it leaves was its own to take.
            *since = Since::Seen(self.space.freed());
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
