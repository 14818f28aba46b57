//! The plan of conservative backfilling if the allocator goes by free nodes alone.
//!
//! The plan is the set of free nodes in each step of the future (`cluster/space`,
//! `cluster/free_sets`). A place for a span is a place in the nodes that are free throughout it.
//!
//! # Which promises are examined, and where
//! Whatever was already free when a promise was last examined cannot improve it. A job that can
//! start sooner needs one of the nodes that have become free since, before its promised end: for
//! its whole span, or up to its own promised nodes. Its start is therefore in an *opening*, and
//! only steps that begin in an opening are searched:
//!
//! ```text
//! a node     |  free   | was held, now free |  free   | held
//!            a         b                    c         d
//!
//! an opening from max(a, b - span) up to min(c, d - span), or up to c if a promise of the job's
//! own on some of these nodes follows
//! ```
//!
//! A start in the opening lies before the end of the part in which the node was held, less than a
//! span before that part begins, and not before the node is free without a break.
//!
//! If there is no place throughout a span, bisection finds the last step from which there is none
//! up to its end. Every request that contains the failed one, over a time that contains that part,
//! has no place either. When a node that is free in all of that part becomes free in some of it,
//! the failure is only suspected, and the failed request is tried again before any larger one.
//!
//! # Jobs past their estimate
//! A job past its estimate counts as ended, so its nodes are promised again. A promise that it has
//! broken is delayed from pass to pass, which frees nothing. It may come to hold nodes that are
//! promised to later jobs too: they are then held twice and subtracted twice, as in the definition.
//! In that state three more things can improve a promise:
//!
//! - A promise that is due is examined in each pass.
//! - While nodes are held twice, fewer seem free than are. When that ends, jobs are examined that
//!   wanted more than seemed free or shared some of their nodes. The earliest time of a promise's
//!   own nodes is sought beside the earliest place, since their number is not checked there.
//! - Each job is tried at the present instant on the nodes that are free in fact.

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
