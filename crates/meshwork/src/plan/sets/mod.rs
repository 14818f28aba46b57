//! Plan as sets of free nodes, for allocators that depend only on which nodes are free.
//!
//! The plan is the set of free nodes in each step of the future (`space`, `free_sets`). A job's
//! requested time is its span. A placement uses nodes that are free throughout the span.
//!
//! # Which reservations are examined, and where
//! A job can start sooner only on a node that has become free since its reservation was last
//! examined. This node must be free for the job's whole span or, if it belongs to the present
//! reservation, up to the reserved start. The new start is therefore in an *opening* (an interval
//! of possible starts), and only steps that begin in an opening are searched:
//!
//! ```text
//! a node     |  free   | was held, now free |  free   | held
//!            a         b                    c         d
//!
//! an opening from max(a, b - span) up to min(c, d - span), or up to c if the job's own reservation
//! of some of these nodes follows
//! ```
//!
//! A start in the opening lies before *c*, less than a span before *b*, and not before *a*. So the
//! job uses the node at some time between *b* and *c*.
//!
//! A request fails in a span if no placement is free throughout the span. Bisection then finds the
//! last step for which no placement is free from this step to the end of the span. This interval is
//! stored with the request. The request, and all larger ones, fail in every span that contains the
//! interval. When a release leaves nodes free throughout the interval, the failure is only
//! suspected, and the request is tried again before any larger one.
//!
//! # Jobs past their estimate
//! A job past its estimate counts as ended, so its nodes can be reserved again. While it runs, a
//! reservation of its nodes is delayed from pass to pass, and may come to hold nodes that are
//! reserved for later jobs. Nodes that are held twice are subtracted twice from the number of free
//! nodes, as in the reference plan. In this state, reservations are examined in three more cases:
//!
//! - A reservation that is due is examined in each pass.
//! - When nodes are no longer held twice, the count of free nodes rises. Jobs that asked for more
//!   than the count, or whose reserved nodes were held twice, are examined. On the reserved nodes,
//!   their earliest start is sought without regard to the count.
//! - Each job is tried at the present instant on the nodes that no running job holds.

mod free_sets;
mod space;

use space::{Planned, Space};

use super::Plan;
use crate::cluster::{Cluster, Place, Reservation, StartOptions, Ticket};
use crate::job::Time;

/// Plan that stores reservations as placements. It serves allocators that depend only on which
/// nodes are free.
pub(super) struct Sets {
    space: Space,
    /// Reservations in the order in which they were added.
    promises: Vec<Promised>,
    due: Time,
}

struct Promised {
    ticket: Ticket,
    planned: Planned,
}

impl Sets {
    /// Plan of a machine; `None` if the machine is not suitable (see [`Space::new`]).
    pub(super) fn new(cluster: &Cluster<'_>) -> Option<Sets> {
        let mut space = Space::new(cluster)?;
        space.look_at_facts(cluster);
        Some(Sets { space, promises: Vec::new(), due: Time::new(f64::INFINITY) })
    }
}

impl Plan for Sets {
    fn advance(&mut self, cluster: &Cluster<'_>) {
        let now = cluster.now();
        let overdue = if self.due < now { &mut self.promises[..] } else { &mut [] };
        let overdue = overdue.iter_mut().map(|promised| &mut promised.planned);
        self.space.go_on(cluster, overdue.filter(|planned| planned.promise.at < now));
    }

    fn earliest(
        &mut self,
        cluster: &Cluster<'_>,
        ticket: Ticket,
        by: Option<Time>,
    ) -> Option<Reservation> {
        self.space.earliest(cluster.job(ticket), by)
    }

    fn hold(&mut self, cluster: &Cluster<'_>, ticket: Ticket, reservation: Reservation) {
        let at = reservation.at;
        if !cluster.is_waiting(ticket) {
            self.space.run(&reservation);
        } else if let Some(planned) = self.space.plan(cluster.job(ticket), reservation) {
            self.due = self.due.min(at);
            self.promises.push(Promised { ticket, planned });
        }
    }

    fn release(&mut self, ticket: Ticket) -> bool {
        let found = self.promises.iter().position(|promised| promised.ticket == ticket);
        let released = found.map(|at| self.promises.remove(at));
        released.is_some_and(|promised| {
            self.space.give_back(&promised.planned);
            true
        })
    }

    fn promises(&self) -> Vec<(Ticket, Reservation)> {
        let promises = self.promises.iter();
        promises.map(|own| (own.ticket, own.planned.promise.clone())).collect()
    }

    fn compress(&mut self, cluster: &Cluster<'_>) {
        if cluster.departures().is_empty() && !cluster.runs_late() {
            return;
        }
        let before = self.space.freed();
        for Promised { planned, .. } in &mut self.promises {
            self.space.make_anew(planned);
            self.due = self.due.min(planned.promise.at);
        }
        self.space.forget(before);
    }

    fn start_due(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        if self.due > now {
            return;
        }
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
