//! Earliest deadline first.

use std::collections::BTreeSet;

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, StartOptions, Ticket};
use crate::job::Time;
use crate::registry::About;
use crate::topology::Wiring;

/// The entry of `edf`.
pub static ENTRY: SchedulerEntry = SchedulerEntry {
    about: About {
        name: "edf",
        aliases: &["earliest_deadline_first"],
        summary: "the job with the earliest deadline first, those without one last, ties by arrival; if it cannot start, \
                  nothing does",
        definition: "Of the waiting jobs the one with the earliest deadline is next, and among equals the one that arrived first; \
                     jobs without a deadline come after all that have one. When it cannot start, nothing does. Running jobs are \
                     not interrupted. Deadlines come from the column `deadline` of a table, or from `workload.deadlines`.",
        complexity: "O(log q) for each arrival and each start, with q waiting jobs.",
        source: "Liu & Layland, Scheduling algorithms for multiprogramming in a hard-real-time environment, Journal of the ACM \
                 20(1), 1973, without preemption",
        params: &[],
    },
    serves: &Wiring::ALL,
    plans: false,
    serves_all: true,
    malleable: false,
    by_owner: false,
    build: |_, _| Ok(Box::new(Edf::default())),
};

/// Earliest deadline first.
#[derive(Default)]
struct Edf {
    /// Those with a deadline, by it, and then the others.
    waiting: BTreeSet<(bool, Time, Ticket)>,
}

impl Scheduler for Edf {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        for &ticket in cluster.arrivals() {
            let deadline = cluster.job(ticket).deadline();
            self.waiting.insert((deadline.is_none(), deadline.unwrap_or_default(), ticket));
        }
        while let Some(&(_, _, first)) = self.waiting.first()
            && cluster.start(first, StartOptions::default())
        {
            self.waiting.pop_first();
        }
    }
}
