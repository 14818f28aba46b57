//! Service of waiting jobs by a rank, such as their deadline, instead of their order of arrival.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::cluster::{Cluster, MemoryReader, MemoryWriter, RecallError, StartOptions, Ticket};
use crate::plan::Promise;
use crate::registry::{Param, Params, Words};

static BACKFILL: Words<bool, 2> = Words::new([("none", false), ("easy", true)]);

pub(super) const BACKFILL_PARAM: Param = Param::new("backfill", BACKFILL.kind())
    .is("\"easy\"")
    .help("whether jobs may start before the first that cannot, if that does not delay it");

pub(super) fn backfills(params: &Params) -> bool {
    params.meaning(BACKFILL_PARAM.name, &BACKFILL)
}

/// Rank of a waiting job. The job with the highest value is served first; ties go by queue order.
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

/// Starts waiting jobs by rank until one cannot start. With backfilling, that job gets a
/// reservation, and jobs of lower rank may start beside it.
#[derive(Default)]
pub(super) struct Ranked {
    backfills: bool,
    promise: Promise,
}

impl Ranked {
    pub(super) fn new(backfills: bool) -> Ranked {
        Ranked { backfills, promise: Promise::default() }
    }

    /// Starts jobs in order of rank, up to the first job that cannot start. Returns this job and
    /// all other waiting jobs, unordered. For each started job, calls `started` with the job and
    /// its number of requested processors.
    pub(super) fn serve(
        &mut self,
        cluster: &mut Cluster<'_>,
        waiting: Vec<Rank>,
        mut started: impl FnMut(Ticket, u64),
    ) -> Option<(Ticket, Vec<Rank>)> {
        if cluster.is_disturbed() {
            self.promise.forget();
        }
        let mut waiting = BinaryHeap::from(waiting);
        while let Some(Rank { ticket, .. }) = waiting.pop() {
            if !self.promise.start(cluster, ticket) {
                return Some((ticket, waiting.into_vec()));
            }
            // The kept reservation of another job did not account for this start.
            self.promise.forget();
            started(ticket, cluster.last_asked());
        }
        None
    }

    /// Backfills the jobs `behind` in rank order, without delaying the reservation of the job
    /// `head`.
    pub(super) fn backfill(
        &mut self,
        cluster: &mut Cluster<'_>,
        head: Ticket,
        mut behind: Vec<Rank>,
        mut started: impl FnMut(Ticket, u64),
    ) {
        if !self.backfills {
            return;
        }
        let Some(guard) = self.promise.renew(cluster, head) else { return };
        behind.retain(|other| cluster.may_start(other.ticket, guard));
        behind.sort_unstable_by(|a, b| b.cmp(a));
        for Rank { ticket, .. } in behind {
            if cluster.start(ticket, StartOptions::beside(guard)) {
                started(ticket, cluster.last_asked());
            }
        }
    }

    pub(super) fn forget(&mut self) {
        self.promise.forget();
    }

    pub(super) fn write(&self, memory: &mut MemoryWriter) {
        self.promise.write(memory);
    }

    pub(super) fn read(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        self.promise.read(memory)
    }

    pub(super) fn reserves(&self) -> bool {
        self.backfills
    }
}
