//! The reservation of one job, as EASY backfilling keeps it.

use crate::cluster::{
    Cluster, Guard, Hold, MemoryReader, MemoryWriter, Place, RecallError, Reservation,
    StartOptions, Ticket,
};

/// Reservation of the first job that cannot start, kept from one scheduling pass to the next.
///
/// If only numbers of nodes matter, [`renew`](Promise::renew) computes the reservation anew in each
/// pass. If the shape of free blocks matters, the reserved placement is kept, because an allocator
/// that misses free blocks may not find it again.
#[derive(Default)]
pub struct Promise {
    /// Job with the reservation, and the guard of the reservation, both as of the last pass.
    ///
    /// A guard is a reservation with the limits that it sets to other jobs. `None` if no
    /// reservation is kept.
    guarded: Option<(Ticket, Guard)>,
}

impl Promise {
    /// Drops the reservation, for example because jobs have started that it did not account for.
    pub fn forget(&mut self) {
        self.guarded = None;
    }

    pub(crate) fn write(&self, memory: &mut MemoryWriter) {
        memory.optional(self.guarded.as_ref(), |memory, (ticket, guard)| {
            memory.promise(*ticket, &guard.reservation);
        });
    }

    pub(crate) fn read(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        if !memory.is_new() {
            let kept = memory.optional(MemoryReader::promise)?.flatten();
            self.guarded = kept.map(|(ticket, kept)| (ticket, memory.cluster().guard(kept)));
        }
        Ok(())
    }

    /// Makes or renews the reservation of `head`, and returns the limits that protect it from other
    /// jobs. `None` if no reservation can be made.
    pub fn renew(&mut self, cluster: &mut Cluster<'_>, head: Ticket) -> Option<&mut Guard> {
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

    /// Whether this reservation is for the job `head`.
    #[must_use]
    pub fn is_to(&self, head: Ticket) -> bool {
        self.guarded.as_ref().is_some_and(|(ticket, _)| *ticket == head)
    }

    /// Starts `head` on nodes that the allocator finds, or on its reserved nodes.
    pub fn start(&self, cluster: &mut Cluster<'_>, head: Ticket) -> bool {
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

    /// Guard (limits for other jobs) of the last pass if it is still exact, otherwise `None`.
    ///
    /// The guard is exact if both of these conditions hold:
    ///
    /// - Since the last pass, the reserved job has stayed first in the queue, no job has ended, no
    ///   job or outage has reached its expected end, and no reservation of the access rules has
    ///   begun or ended.
    /// - Only node counts matter, or the allocator finds every free block. So the reservation
    ///   cannot depend on the allocator's search.
    pub fn unchanged_guard(&mut self, cluster: &Cluster<'_>) -> Option<&mut Guard> {
        let (head, guard) = self.guarded.as_mut()?;
        let late = cluster.runs_late();
        let same = cluster.head() == Some(*head)
            && cluster.departures().is_empty()
            && !cluster.is_edge()
            && !late;
        let is_count = matches!(guard.reservation.hold, Hold::Count(_));
        (same && (is_count || cluster.misses_no_block())).then_some(guard)
    }

    /// Limits for other jobs that protect the reservation of the blocked job `head`.
    ///
    /// The reservation is the one already kept, or a new one that starts sooner.
    fn make(&self, cluster: &mut Cluster<'_>, head: Ticket) -> Option<Guard> {
        let kept = self.guarded.as_ref().filter(|(ticket, _)| *ticket == head);
        let Some((_, guard @ Guard { reservation: kept, .. })) =
            kept.filter(|(_, guard)| matches!(guard.reservation.hold, Hold::Nodes(_)))
        else {
            return cluster.earliest_guard(head);
        };
        if guard.is_of_parts() {
            let still = cluster.no_site_misses_blocks() && none_ended_early(cluster, kept);
            return if still { Some(guard.clone()) } else { cluster.earliest_guard(head) };
        }
        if cluster.misses_no_block() && none_ended_early(cluster, kept) {
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

/// Whether no job outruns its estimate, and all ended jobs were expected before the reserved start.
///
/// The kept reservation is then still the earliest possible one, if the allocators find every free
/// block.
fn none_ended_early(cluster: &Cluster<'_>, kept: &Reservation) -> bool {
    let mut ended = cluster.departures().iter();
    !cluster.runs_late() && ended.all(|departure| departure.ran.expected_end < kept.at)
}
