//! EASY backfilling: only the head of the queue has a promise.

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, Guard, Hold, Place, Reservation, StartOptions, Ticket};
use crate::registry::About;
use crate::topology::Wiring;

/// The entry of `easy`.
pub static ENTRY: SchedulerEntry = SchedulerEntry {
    about: About {
        name: "easy",
        aliases: &[],
        summary: "EASY backfilling: first come, first served, but a job may start out of turn if \
                  that does not delay the head of the queue",
        definition: "Jobs start in order of arrival. When the head of the queue cannot, it is \
                     promised the earliest start that the estimates of the running jobs allow, \
                     and later jobs start at once wherever that does not delay it. Where any \
                     processors will do, the promise is a count of them; where shape matters it \
                     is a placement, and is kept until a better one turns up.",
        complexity: "For q waiting and r running jobs O(q + r), and q questions to the \
                     allocator, in each pass; where shape matters up to r questions more.",
        source: "Lifka, The ANL/IBM SP scheduling system, JSSPP 1995; Mu'alem & Feitelson, TPDS \
                 12(6), 2001",
        params: &[],
    },
    serves: &Wiring::ALL,
    plans: true,
    serves_all: true,
    malleable: false,
    by_owner: false,
    build: |_, _| Ok(Box::new(Easy::default())),
};

/// Where any processors will do, the shadow time and the extra nodes are found anew in each pass: the rule of the
/// textbooks. Where shape matters the promised placement is kept from pass to pass, since an allocator that can miss a
/// free block may otherwise miss the one that was promised. Where only numbers matter, an instant at which jobs only
/// arrived costs **O(1)** for each of them.
#[derive(Default)]
struct Easy {
    promise: Promise,
}

/// What the first job that cannot start was promised, from pass to pass.
#[derive(Default)]
pub(super) struct Promise {
    /// That job and what protects it, as the last pass left them.
    guarded: Option<(Ticket, Guard)>,
}

impl Scheduler for Easy {
    fn reserves(&self) -> bool {
        true
    }

    fn looks_at_nodes(&self) -> bool {
        false
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        if cluster.is_disturbed() {
            self.promise.forget(); // what was promised is promised anew
        }
        if let Some(guard) = self.promise.unchanged_guard(cluster) {
            // Whoever could not start beside the head at the last instant cannot now.
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

    /// Makes the promise of this pass, keeps it for the next one, and lends what protects it.
    pub(super) fn renew(&mut self, cluster: &mut Cluster<'_>, head: Ticket) -> Option<&mut Guard> {
        // Nearly always it is the job that had one in the last pass.
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

    /// Starts a job wherever there is room, or where it was promised some.
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

    /// The guard of the last pass, if it still says all: since then no job has ended or outrun its
    /// estimate, and only the number of processors matters, or the allocator misses no block.
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

    /// What protects the better of the promise kept from the last pass and the one that would be made now.
    fn make(&self, cluster: &mut Cluster<'_>, head: Ticket) -> Option<Guard> {
        let kept = self.guarded.as_ref().filter(|(ticket, _)| *ticket == head);
        let Some((_, Guard { reservation: kept, .. })) =
            kept.filter(|(_, guard)| matches!(guard.reservation.hold, Hold::Nodes(_)))
        else {
            return cluster.earliest_guard(head);
        };
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

/// Whether a promise made before is still the earliest there is, and due when it was.
///
/// An allocator that misses no block found no room at any instant before it, with all free that was to be
/// free by then; and only the end of a job that was to run beyond it has made more free.
fn cannot_be_sooner(cluster: &Cluster<'_>, kept: &Reservation) -> bool {
    let mut ended = cluster.departures().iter();
    cluster.misses_no_block()
        && !cluster.runs_late()
        && ended.all(|departure| departure.ran.expected_end < kept.at)
}
