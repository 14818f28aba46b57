//! EASY backfilling: only the head of the queue has a promise.

use super::{Scheduler, SchedulerEntry};
use crate::engine::{Cluster, Hold, Reservation, Ticket};
use crate::registry::About;

/// The entry of `easy`.
pub static ENTRY: SchedulerEntry = SchedulerEntry {
    about: About {
        name: "easy",
        aliases: &[],
        summary: "first come, first served, but a job may start out of turn if that does not delay \
                  the head of the queue",
        source: "Lifka, The ANL/IBM SP scheduling system, JSSPP 1995; Mu'alem & Feitelson, TPDS \
                 12(6), 2001",
        params: &[],
    },
    plans: true,
    build: |_| Ok(Box::new(Easy::default())),
};

/// EASY backfilling over any allocator.
///
/// Where any processors will do, the head is promised a count of them at its shadow time, found
/// anew in each pass: the rule of the textbooks. Where shape matters the promise is a placement and
/// is kept from pass to pass, unless a better one turns up: an allocator that can miss a free block
/// may otherwise miss the one that was promised.
///
/// # Complexity
/// For *q* waiting and *r* running jobs, **O(q + r)** and *q* questions to the allocator in each
/// pass; where shape matters up to *r* more.
#[derive(Default)]
struct Easy {
    promised: Option<(Ticket, Reservation)>,
}

impl Scheduler for Easy {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        while let Some(head) = cluster.head()
            && self.start(cluster, head)
        {}
        let Some(head) = cluster.head() else { return };
        let Some(next) = cluster.after(head) else { return };
        let Some(promise) = self.promise(cluster, head) else { return };
        if self.promised.as_ref().is_none_or(|(ticket, _)| *ticket != head) {
            cluster.promise(head, promise.at);
        }
        let mut guard = cluster.guard(promise);
        let mut candidate = Some(next);
        while let Some(ticket) = candidate {
            // A job that starts leaves the queue, so the next one is looked up before.
            candidate = cluster.after(ticket);
            cluster.start_beside(ticket, &mut guard);
        }
        self.promised = Some((head, guard.reservation));
    }
}

impl Easy {
    fn start(&self, cluster: &mut Cluster<'_>, head: Ticket) -> bool {
        if cluster.start(head) {
            return true;
        }
        match &self.promised {
            Some((ticket, kept)) if *ticket == head => cluster.start_at(head, kept),
            _ => false,
        }
    }

    /// The better of the promise kept from the last pass and the one that would be made now.
    fn promise(&self, cluster: &mut Cluster<'_>, head: Ticket) -> Option<Reservation> {
        let fresh = cluster.earliest(head);
        let kept = self.promised.as_ref().filter(|(ticket, kept)| {
            *ticket == head && matches!(kept.hold, Hold::Nodes(_))
        });
        let Some((_, kept)) = kept else { return fresh };
        let at = cluster.expected_free(kept);
        if fresh.as_ref().is_some_and(|fresh| fresh.at < at) {
            return fresh;
        }
        let span = kept.until - kept.at;
        Some(Reservation { at, until: at + span, ..kept.clone() })
    }
}
