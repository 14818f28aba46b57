//! EASY backfilling: only the head of the queue has a reservation.

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{
    Cluster, Guard, Hold, MemoryReader, MemoryWriter, Place, RecallError, Reservation,
    StartOptions, Ticket,
};
use crate::registry::About;

/// Registry entry of `easy`: EASY backfilling.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "easy",
        "EASY backfilling: first come, first served, but a job may start out of \
             turn if that does not delay the head of the queue",
    )
    .definition(
        "Jobs start in order of arrival. When the head of the queue cannot, it is \
             promised the earliest start that the estimates of the running jobs allow, \
             and later jobs start at once wherever that does not delay it. Where any \
             processors will do, the promise is a count of them; where shape matters \
             it is a placement, and is kept until a better one turns up.",
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

/// EASY backfilling.
///
/// Where any free nodes suit a job, shadow time and extra nodes are recomputed in each pass, as in
/// textbooks. An instant with nothing but arrivals costs **O(1)** for each arrival. Where the shape
/// of a job matters, the reserved placement is kept from pass to pass, because an allocator that
/// misses free blocks may not find it again.
#[derive(Default)]
struct Easy {
    promise: Promise,
}

/// Reservation of the first job that cannot start, kept from pass to pass.
#[derive(Default)]
pub(super) struct Promise {
    /// The job with the reservation and its guard, as of the last pass.
    guarded: Option<(Ticket, Guard)>,
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

impl Promise {
    pub(super) fn forget(&mut self) {
        self.guarded = None;
    }

    pub(super) fn write(&self, memory: &mut MemoryWriter) {
        memory.optional(self.guarded.as_ref(), |memory, (ticket, guard)| {
            memory.promise(*ticket, &guard.reservation);
        });
    }

    pub(super) fn read(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        if !memory.is_new() {
            let kept = memory.optional(MemoryReader::promise)?.flatten();
            self.guarded = kept.map(|(ticket, kept)| (ticket, memory.cluster().guard(kept)));
        }
        Ok(())
    }

    /// Makes the reservation of `head` for this pass, keeps it for the next pass, and returns its
    /// guard.
    pub(super) fn renew(&mut self, cluster: &mut Cluster<'_>, head: Ticket) -> Option<&mut Guard> {
        // Nearly always the same job had the reservation in the last pass.
        let is_renewed = match &mut self.guarded {
            Some((ticket, guard)) if *ticket == head => cluster.renew_count(head, guard),
            _ => false,
        };
        if !is_renewed {
            self.guarded = Some((head, self.make(cluster, head)?));
        }
        self.guarded.as_mut().map(|(_, guard)| guard)
    }

    fn is_to(&self, head: Ticket) -> bool {
        self.guarded.as_ref().is_some_and(|(ticket, _)| *ticket == head)
    }

    /// Starts `head` on any nodes that the allocator finds, or on its reserved nodes. Returns
    /// whether the job started.
    pub(super) fn start(&self, cluster: &mut Cluster<'_>, head: Ticket) -> bool {
        if cluster.start(head, StartOptions::default()) {
            return true;
        }
        match &self.guarded {
            Some((ticket, Guard { reservation, .. })) if *ticket == head => {
                matches!(reservation.hold, Hold::Nodes(_))
                    && cluster.start(head, StartOptions::at(Place::Promised(reservation)))
            }
            _ => false,
        }
    }

    /// The guard of the last pass, if it is still exact; else `None`.
    ///
    /// The guard is exact if no job has ended or outrun its estimate since, and if its reservation
    /// cannot depend on the allocator's search: only node counts matter, or the allocator finds
    /// every free block.
    fn unchanged_guard(&mut self, cluster: &Cluster<'_>) -> Option<&mut Guard> {
        let (head, guard) = self.guarded.as_mut()?;
        let late = cluster.runs_late();
        let same = cluster.head() == Some(*head)
            && cluster.departures().is_empty()
            && !cluster.is_edge()
            && !late;
        let is_count = matches!(guard.reservation.hold, Hold::Count(_));
        (same && (is_count || cluster.misses_no_block())).then_some(guard)
    }

    /// Guard of the kept reservation of `head`, or of a new one if that starts earlier.
    fn make(&self, cluster: &mut Cluster<'_>, head: Ticket) -> Option<Guard> {
        let kept = self.guarded.as_ref().filter(|(ticket, _)| *ticket == head);
        let Some((_, guard @ Guard { reservation: kept, .. })) =
            kept.filter(|(_, guard)| matches!(guard.reservation.hold, Hold::Nodes(_)))
        else {
            return cluster.earliest_guard(head);
        };
        if guard.is_of_parts() {
            let still = cannot_be_sooner(cluster, kept);
            return if still { Some(guard.clone()) } else { cluster.earliest_guard(head) };
        }
        if cannot_be_sooner(cluster, kept) {
            return Some(cluster.guard(kept.clone()));
        }
        let at = cluster.expected_free(head, kept);
        let fresh = cluster.earliest_guard_before(head, at);
        if fresh.as_ref().is_some_and(|fresh| fresh.reservation.at < at) {
            return fresh;
        }
        Some(cluster.guard(kept.moved_to(at)))
    }
}

/// Whether a kept reservation is still the earliest possible, with its start unchanged.
///
/// The allocator always finds a free block. So when the reservation was made, there was no
/// placement at any earlier instant, even with the nodes of all jobs that were expected to have
/// ended by then. The reserved job can start sooner only if a job has ended that was expected to
/// run beyond the reserved start.
fn cannot_be_sooner(cluster: &Cluster<'_>, kept: &Reservation) -> bool {
    let mut ended = cluster.departures().iter();
    cluster.misses_no_block()
        && !cluster.runs_late()
        && ended.all(|departure| departure.ran.expected_end < kept.at)
}
