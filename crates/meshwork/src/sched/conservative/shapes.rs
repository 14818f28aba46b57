//! The plan where the allocator goes by which nodes are free: kept up from pass to pass.

use super::runs_late;
use crate::cluster::{Cluster, Place, Reservation, Since, Space, StartOptions, Ticket};
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
    promise: Reservation,
    since: Since,
}

impl Shapes {
    pub(super) fn new(space: Space) -> Shapes {
        Shapes { space, promises: Vec::new(), due: Time::new(f64::INFINITY) }
    }

    pub(super) fn pass(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        self.space.go_on(cluster, self.promises.iter().map(|promised| &promised.promise));
        if self.due < now {
            // A promise that a late job has broken is due now.
            let overdue = self.promises.iter_mut().map(|promised| &mut promised.promise);
            overdue
                .filter(|promise| promise.at < now)
                .for_each(|promise| self.space.put_off(promise));
            self.due = now;
        }
        if !cluster.departures().is_empty() || runs_late(cluster) {
            self.compress(cluster);
        }
        for ticket in cluster.arrivals().to_vec() {
            if let Some(promise) = self.space.earliest(cluster.job(ticket)) {
                self.space.hold(&promise);
                cluster.promise(ticket, promise.at);
                self.due = self.due.min(promise.at);
                self.promises.push(Promised { ticket, promise, since: self.space.seen() });
            }
        }
        if self.due <= now {
            self.start_due(cluster);
        }
    }

    /// In order of arrival, each promise is made anew among all the others if it can be bettered.
    fn compress(&mut self, cluster: &Cluster<'_>) {
        let before = self.space.seen();
        for index in 0..self.promises.len() {
            let (earlier, rest) = self.promises.split_at_mut(index);
            let Some((this, later)) = rest.split_first_mut() else { continue };
            let others = || earlier.iter().chain(&*later).map(|promised| &promised.promise);
            let (better, since) =
                self.space.better(this.ticket, &this.promise, this.since, others(), cluster);
            this.since = since;
            let Some(better) = better.filter(|better| *better != this.promise) else { continue };
            self.space.give_back(&this.promise, others(), cluster);
            self.space.hold(&better);
            this.since = self.space.seen();
            self.due = self.due.min(better.at);
            this.promise = better;
        }
        self.space.forget(before);
    }

    /// Starts those whose promise is due, in order of arrival.
    fn start_due(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        let mut ended = Vec::new();
        self.promises.retain(|Promised { ticket, promise, .. }| {
            let place = StartOptions::at(Place::Promised(promise));
            if promise.at > now || !cluster.start(*ticket, place) {
                return true;
            }
            // It holds from now on what it was to hold; a job of no time holds nothing.
            if promise.span <= 0.0 {
                ended.push(promise.clone());
            }
            false
        });
        let promises = || self.promises.iter().map(|promised| &promised.promise);
        for promise in ended {
            self.space.give_back(&promise, promises(), cluster);
        }
        self.due = promises().map(|promise| promise.at).min().unwrap_or(Time::new(f64::INFINITY));
    }
}
