//! Waiting jobs that are served by rank and not by arrival.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::easy::Promise;
use crate::cluster::{Cluster, StartOptions, Ticket};
use crate::registry::{DefaultValue, Param, Params, Words};

/// Whether jobs may start before the first that cannot.
static BACKFILL: Words<bool, 2> = Words::new([("none", false), ("easy", true)]);

/// The parameter that says so.
pub(super) const BACKFILL_PARAM: Param = Param {
    name: "backfill",
    kind: BACKFILL.kind(),
    default: DefaultValue::Is("\"easy\""),
    help: "whether jobs may start before the first that cannot, if that does not delay it",
};

/// What that parameter means.
pub(super) fn backfills(params: &Params) -> bool {
    params.meaning(BACKFILL_PARAM.name, &BACKFILL)
}

/// How high a waiting job stands: by a number and, among equals, by how far in front it waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rank {
    pub(super) by: f64,
    pub(super) ticket: Ticket,
}

impl Ord for Rank {
    fn cmp(&self, other: &Rank) -> Ordering {
        self.by.total_cmp(&other.by).then(other.ticket.cmp(&self.ticket))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Rank) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rank {
    fn eq(&self, other: &Rank) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Rank {}

/// Starts waiting jobs by rank: the first that cannot start stops all others or, with backfilling, is protected as the
/// head of the queue is in [`easy`](super::easy).
///
/// # Complexity
/// **O(q)** with *q* waiting jobs, a question to the allocator for each job that starts, and one for each that is small
/// or short enough behind the first that cannot.
#[derive(Default)]
pub(super) struct Ranked {
    backfills: bool,
    promise: Promise,
}

impl Ranked {
    pub(super) fn new(backfills: bool) -> Ranked {
        Ranked { backfills, promise: Promise::default() }
    }

    /// Starts jobs in the order of their ranks up to the first that cannot, and says which that is and which are
    /// behind it, in no order; all that started are told.
    pub(super) fn serve(
        &mut self,
        cluster: &mut Cluster<'_>,
        waiting: Vec<Rank>,
        mut started: impl FnMut(Ticket),
    ) -> Option<(Ticket, Vec<Rank>)> {
        if cluster.is_disturbed() {
            self.promise.forget();
        }
        let mut waiting = BinaryHeap::from(waiting);
        while let Some(Rank { ticket, .. }) = waiting.pop() {
            if !self.promise.start(cluster, ticket) {
                return Some((ticket, waiting.into_vec()));
            }
            // What was promised to another one did not reckon with this.
            self.promise.forget();
            started(ticket);
        }
        None
    }

    /// Starts jobs behind the first that could not, if they do not delay it.
    pub(super) fn backfill(
        &mut self,
        cluster: &mut Cluster<'_>,
        head: Ticket,
        mut behind: Vec<Rank>,
        mut started: impl FnMut(Ticket),
    ) {
        if !self.backfills {
            return;
        }
        let Some(guard) = self.promise.renew(cluster, head) else { return };
        behind.retain(|other| cluster.may_start(other.ticket, guard));
        behind.sort_unstable_by(|a, b| b.cmp(a));
        for Rank { ticket, .. } in behind {
            if cluster.start(ticket, StartOptions::beside(guard)) {
                started(ticket);
            }
        }
    }

    /// Forgets what was promised: jobs have started that it did not reckon with.
    pub(super) fn forget(&mut self) {
        self.promise.forget();
    }

    pub(super) fn reserves(&self) -> bool {
        self.backfills
    }
}
