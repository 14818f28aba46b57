//! Step of the free sets: an interval in which the set of free nodes does not change.

use std::borrow::Cow;

use super::Held;
use crate::geometry::NodeSet;
use crate::job::{Request, Time};
use crate::offer::implies;

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) from: Time,
    /// Number of free nodes, minus one for each holder of a node beyond the first; may be negative.
    ///
    /// A holder is a job or a reservation.
    pub(super) count: i64,
    pub(super) free: NodeSet,
    /// Sets of the nodes with at least two holders, at least three holders, and so on.
    pub(super) again: Vec<NodeSet>,
    pub(super) blockers: Vec<Blocker>,
}

/// Failed request. Neither it nor a larger one has a placement from the step's beginning up to
/// `until`.
#[derive(Clone, Debug)]
pub(super) struct Blocker {
    pub(super) request: Request,
    pub(super) until: Time,
    /// Whether nodes became free since the request failed, so that it must be tried again.
    pub(super) suspected: bool,
}

const MAX_BLOCKERS: usize = 64;

impl Step {
    pub(super) fn new(from: Time, free: NodeSet) -> Step {
        let count = i64::from(free.count());
        Step { from, count, free, again: Vec::new(), blockers: Vec::new() }
    }

    pub(super) fn is_overdrawn(&self) -> bool {
        !self.again.is_empty()
    }

    /// Adds a holder (a job or a reservation) to nodes, which need not be free.
    pub(super) fn hold(&mut self, held: Held<'_>) {
        self.count -= i64::from(held.count);
        if held.nodes.is_within(&self.free) {
            return self.free.subtract(held.nodes);
        }
        let mut more = held.nodes.clone();
        more.subtract(&self.free);
        self.free.subtract(held.nodes);
        for held_so_often in &mut self.again {
            let mut still_more = more.clone();
            still_more.intersect(held_so_often);
            held_so_often.unite(&more);
            more = still_more;
        }
        if !more.is_empty() {
            self.again.push(more);
        }
    }

    /// Removes a holder from nodes. Nodes without any other holder become free.
    pub(super) fn give_back(&mut self, held: Held<'_>) {
        self.count += i64::from(held.count);
        if self.again.is_empty() {
            return self.free.unite(held.nodes);
        }
        let mut rest = held.nodes.clone();
        for held_so_often in self.again.iter_mut().rev() {
            let mut left = rest.clone();
            left.subtract(held_so_often);
            held_so_often.subtract(&rest);
            rest = left;
        }
        self.again.retain(|nodes| !nodes.is_empty());
        self.free.unite(&rest);
    }

    /// Nodes of the reservation `own` that no other job or reservation holds during this time step.
    pub(super) fn held_alone<'a>(&self, own: &'a NodeSet) -> Cow<'a, NodeSet> {
        let Some(twice) = self.again.first() else { return Cow::Borrowed(own) };
        let mut alone = own.clone();
        alone.subtract(twice);
        Cow::Owned(alone)
    }

    /// Whether the step leaves the nodes to one job.
    ///
    /// They are free or, if `are_held` is set, held by this job alone.
    pub(super) fn is_left_to(&self, nodes: &NodeSet, are_held: bool) -> bool {
        if are_held {
            self.again.first().is_none_or(|twice| !nodes.meets(twice))
        } else {
            nodes.is_within(&self.free)
        }
    }

    /// Moves the beginning of a step of the plan to a later instant.
    ///
    /// Requests that failed in the step still fail.
    pub(super) fn begin(&mut self, from: Time) {
        self.from = from;
        for blocker in &mut self.blockers {
            blocker.until = blocker.until.max(from.next());
        }
    }

    pub(super) fn block(&mut self, request: &Request, until: Time) {
        self.blockers
            .retain(|other| other.until < until || !implies(request, &other.request, true));
        if self.blockers.len() == MAX_BLOCKERS {
            self.blockers.remove(0);
        }
        self.blockers.push(Blocker { request: request.clone(), until, suspected: false });
    }
}
