//! A step of the free sets.

use std::borrow::Cow;

use super::Held;
use crate::geometry::NodeSet;
use crate::job::{Request, Time};
use crate::offer::implies;

/// Nodes that are free from an instant on.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) from: Time,
    /// Number of free nodes, less one for each additional holder of a node; may be negative.
    pub(super) count: i64,
    pub(super) free: NodeSet,
    /// Nodes held at least twice, nodes held at least three times, and so on.
    pub(super) again: Vec<NodeSet>,
    /// Requests without a placement from this step until some instant.
    pub(super) blockers: Vec<Blocker>,
}

/// A request without a placement until an instant. Larger requests over intervals that contain this
/// one have none either.
#[derive(Clone, Debug)]
pub(super) struct Blocker {
    pub(super) request: Request,
    pub(super) until: Time,
    /// Whether nodes became free since; the blocker most likely still holds.
    pub(super) suspected: bool,
}

/// Maximum number of blockers for each step.
const MAX_BLOCKERS: usize = 64;

impl Step {
    pub(super) fn new(from: Time, free: NodeSet) -> Step {
        let count = i64::from(free.count());
        Step { from, count, free, again: Vec::new(), blockers: Vec::new() }
    }

    /// Whether some nodes are held twice.
    pub(super) fn is_overdrawn(&self) -> bool {
        !self.again.is_empty()
    }

    /// Takes held nodes out, whether they are free or not.
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

    /// Releases held nodes.
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

    /// The nodes of a holder at this step that no other holds.
    pub(super) fn held_alone<'a>(&self, own: &'a NodeSet) -> Cow<'a, NodeSet> {
        let Some(twice) = self.again.first() else { return Cow::Borrowed(own) };
        let mut alone = own.clone();
        alone.subtract(twice);
        Cow::Owned(alone)
    }

    /// Whether the nodes are free, or if `are_held`, held by their owner alone.
    pub(super) fn is_left_to(&self, nodes: &NodeSet, are_held: bool) -> bool {
        if are_held {
            self.again.first().is_none_or(|twice| !nodes.meets(twice))
        } else {
            nodes.is_within(&self.free)
        }
    }

    /// Moves the start to a later instant. A blocker that ends within the step holds for every part
    /// of it.
    pub(super) fn begin(&mut self, from: Time) {
        self.from = from;
        for blocker in &mut self.blockers {
            blocker.until = blocker.until.max(from.next());
        }
    }

    /// Adds a blocker for a request from here until an instant.
    pub(super) fn block(&mut self, request: &Request, until: Time) {
        self.blockers
            .retain(|other| other.until < until || !implies(request, &other.request, true));
        if self.blockers.len() == MAX_BLOCKERS {
            self.blockers.remove(0);
        }
        self.blockers.push(Blocker { request: request.clone(), until, suspected: false });
    }
}
