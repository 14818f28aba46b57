//! One step of the future.

use std::borrow::Cow;

use super::Held;
use crate::geometry::NodeSet;
use crate::job::{Request, Time};
use crate::offer::implies;

/// From this instant on these are free.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) from: Time,
    /// How many are free, if one that is held twice is missing twice: maybe less than none.
    pub(super) count: i64,
    pub(super) free: NodeSet,
    /// The nodes that are held twice, those that are held three times, and so on.
    pub(super) again: Vec<NodeSet>,
    /// For what there is no place from here on up to some instant.
    pub(super) blockers: Vec<Blocker>,
}

/// For this there is no place up to then, and so none for what contains it in a time that contains that.
#[derive(Clone, Debug)]
pub(super) struct Blocker {
    pub(super) request: Request,
    pub(super) until: Time,
    /// Whether something has become free since: most likely there is still none.
    pub(super) suspected: bool,
}

/// As many are kept for each step.
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

    /// Takes what somebody holds, whether it is free or not.
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

    /// Gives back what somebody held.
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

    /// Of nodes that somebody holds at this step, those that nobody else does.
    pub(super) fn held_alone<'a>(&self, own: &'a NodeSet) -> Cow<'a, NodeSet> {
        let Some(twice) = self.again.first() else { return Cow::Borrowed(own) };
        let mut alone = own.clone();
        alone.subtract(twice);
        Cow::Owned(alone)
    }

    /// Whether they are free but for what is held by their owner, alone, who does hold them at this step or does not.
    pub(super) fn is_left_to(&self, nodes: &NodeSet, are_held: bool) -> bool {
        if are_held {
            self.again.first().is_none_or(|twice| !nodes.meets(twice))
        } else {
            nodes.is_within(&self.free)
        }
    }

    /// It begins later than it did: what has no place in a part of it has none in any.
    pub(super) fn begin(&mut self, from: Time) {
        self.from = from;
        for blocker in &mut self.blockers {
            blocker.until = blocker.until.max(from.next());
        }
    }

    /// There is no place for this from here on up to then.
    pub(super) fn block(&mut self, request: &Request, until: Time) {
        self.blockers
            .retain(|other| other.until < until || !implies(request, &other.request, true));
        if self.blockers.len() == MAX_BLOCKERS {
            self.blockers.remove(0);
        }
        self.blockers.push(Blocker { request: request.clone(), until, suspected: false });
    }
}
