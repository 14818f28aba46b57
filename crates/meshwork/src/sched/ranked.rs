//! Service of waiting jobs by rank rather than by arrival.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::easy::Promise;
use crate::cluster::{Cluster, StartOptions, Ticket};
use crate::registry::{DefaultValue, Param, Params, Words};

/// Whether jobs may start before the first that cannot.
static BACKFILL: Words<bool, 2> = Words::new([("none", false), ("easy", true)]);

/// The `backfill` parameter.
pub(super) const BACKFILL_PARAM: Param = Param {
    name: "backfill",
    kind: BACKFILL.kind(),
    default: DefaultValue::Is("\"easy\""),
    help: "whether jobs may start before the first that cannot, if that does not delay it",
};

/// Value of the `backfill` parameter.
pub(super) fn backfills(params: &Params) -> bool {
    params.meaning(BACKFILL_PARAM.name, &BACKFILL)
}

/// Rank of a waiting job: by `by`, highest first, ties in queue order.
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

/// Starts waiting jobs by rank until one cannot start. That job then stops all others or, with
/// backfilling, is protected like the head of the queue in [`easy`](super::easy).
///
/// # Complexity
/// **O(q)** with *q* waiting jobs, a request to the allocator for each job that starts, and one for
/// each small or short enough job behind the first that cannot.
#[derive(Default)]
pub(super) struct Ranked {
    backfills: bool,
    promise: Promise,
}

impl Ranked {
    pub(super) fn new(backfills: bool) -> Ranked {
        Ranked { backfills, promise: Promise::default() }
    }

    /// Starts jobs in rank order up to the first that cannot. Returns that job and those behind it,
    /// unordered. Calls `started` for each started job.
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
            // Another job's reservation did not account for this start.
            self.promise.forget();
            started(ticket);
        }
        None
    }

    /// Backfills jobs behind `head` that do not delay it.
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

    /// Drops the reservation, because jobs that it did not account for have started.
    pub(super) fn forget(&mut self) {
        self.promise.forget();
    }

    pub(super) fn reserves(&self) -> bool {
        self.backfills
    }
}
