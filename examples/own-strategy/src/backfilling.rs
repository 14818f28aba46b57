//! EASY and conservative backfilling, written with only the public interface for schedulers.

use meshwork::plan::{self, Plan, Promise};
use meshwork::strategy::*;

/// Catalogue entry of `own_easy`: EASY backfilling.
pub static EASY: SchedulerEntry = SchedulerEntry::new(
    About::new("own_easy", "EASY backfilling, written outside of Meshwork")
        .definition("The definition of `easy`.")
        .complexity("That of `easy`.")
        .source("an example"),
    |_, _| Ok(Box::new(Easy::default())),
)
.shares(true)
.plans(true);

/// Catalogue entry of `own_conservative`: conservative backfilling.
pub static CONSERVATIVE: SchedulerEntry = SchedulerEntry::new(
    About::new("own_conservative", "conservative backfilling, written outside of Meshwork")
        .definition("The definition of `conservative`.")
        .complexity("That of `conservative`.")
        .source("an example"),
    |_, _| Ok(Box::new(Conservative(None))),
)
.shares(true)
.plans(true);

#[derive(Default)]
struct Easy(Promise);

impl Scheduler for Easy {
    fn reserves(&self) -> bool {
        true
    }

    fn looks_at_nodes(&self) -> bool {
        false
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let Easy(promise) = self;
        if cluster.is_disturbed() {
            promise.forget();
        }
        // If only jobs have arrived, those that could not start beside the head still cannot.
        if let Some(guard) = promise.unchanged_guard(cluster) {
            for ticket in cluster.arrivals().to_vec() {
                cluster.start(ticket, StartOptions::beside(guard));
            }
            return;
        }
        while cluster.head().is_some_and(|head| promise.start(cluster, head)) {}
        let Some(head) = cluster.head() else { return };
        let is_new = !promise.is_to(head);
        let Some(guard) = promise.renew(cluster, head) else { return };
        if is_new {
            cluster.promise(head, guard.reservation.at);
        }
        let mut candidates = cluster.candidates(head, guard);
        while let Some(ticket) = candidates.next(cluster, guard) {
            cluster.start(ticket, StartOptions::beside(guard));
        }
    }
}

struct Conservative(Option<Box<dyn Plan>>);

impl Scheduler for Conservative {
    fn reserves(&self) -> bool {
        true
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let plan = plan::kept(&mut self.0, cluster);
        plan.compress(cluster);
        for ticket in cluster.to_plan() {
            if let Some(reservation) = plan.earliest(cluster, ticket, None) {
                cluster.promise(ticket, reservation.at);
                plan.hold(cluster, ticket, reservation);
            }
        }
        plan.start_due(cluster);
    }
}
