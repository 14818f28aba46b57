//! EASY backfilling: only the head of the queue has a reservation.

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, MemoryReader, MemoryWriter, RecallError, StartOptions};
use crate::plan::Promise;
use crate::registry::About;

/// Registry entry of `easy`: EASY backfilling.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "easy",
        "EASY backfilling: first come, first served, but a job may start out of \
             turn if that does not delay the head of the queue",
    )
    .definition(
        "Jobs start in order of arrival. When the head of the queue cannot, it is promised the \
         earliest start that the estimates of the running jobs allow, and later jobs start at once \
         wherever that does not delay it. Where any processors will do, the promise is a count of \
         them; where shape matters it is a placement, and is kept until a better one turns up.",
    )
    .complexity(
        "For q waiting and r running jobs O(q + r), and q questions to the \
             allocator, in each pass; where shape matters up to r questions more.",
    )
    .source(
        "Lifka, The ANL/IBM SP scheduling system, JSSPP 1995; Mu'alem & Feitelson, \
             TPDS 12(6), 2001",
    ),
    |_, _| Ok(Box::new(Easy::default())),
)
.shares(true)
.plans(true);

/// EASY backfilling. If a job can use any free nodes, the reservation is computed anew in each
/// pass, except at instants with only arrivals. If the shape of free blocks matters, the
/// reservation is kept from pass to pass.
#[derive(Default)]
struct Easy {
    promise: Promise,
}

impl Scheduler for Easy {
    fn memory(&self, memory: &mut MemoryWriter) -> bool {
        self.promise.write(memory);
        true
    }

    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        self.promise.read(memory)
    }

    fn reserves(&self) -> bool {
        true
    }

    fn looks_at_nodes(&self) -> bool {
        false
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        if cluster.is_disturbed() {
            self.promise.forget(); // reservations are made again
        }
        if let Some(guard) = self.promise.unchanged_guard(cluster) {
            // Jobs that could not start beside the head at the last instant still cannot.
            for arrival in 0..cluster.arrivals().len() {
                let ticket = cluster.arrivals()[arrival];
                cluster.start(ticket, StartOptions::beside(guard));
            }
            return;
        }
        while let Some(head) = cluster.head()
            && self.promise.start(cluster, head)
        {}
        let Some(head) = cluster.head() else { return };
        let was_told = self.promise.is_to(head);
        let Some(guard) = self.promise.renew(cluster, head) else { return };
        if !was_told {
            cluster.promise(head, guard.reservation.at);
        }
        let mut candidates = cluster.candidates(head, guard);
        while let Some(candidate) = candidates.next(cluster, guard) {
            cluster.start(candidate, StartOptions::beside(guard));
        }
    }
}
