//! The scheduler `shortest_first`, which starts the job with the shortest estimate first.

use std::collections::BTreeSet;

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, StartOptions, Ticket};
use crate::job::Time;
use crate::registry::About;

pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new("shortest_first", "the job with the shortest estimate first, ties by arrival")
        .definition(
            "Of the waiting jobs the one with the shortest estimate is next, and among \
             equals the one that arrived first; while it cannot start, nothing does.",
        )
        .complexity("O(log q) for each arrival and each start, with q waiting jobs.")
        .source("an example"),
    |_, _| Ok(Box::new(ShortestFirst::default())),
);

#[derive(Default)]
struct ShortestFirst {
    waiting: BTreeSet<(Time, Ticket)>,
}

impl Scheduler for ShortestFirst {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        for &ticket in cluster.arrivals() {
            self.waiting.insert((Time::new(cluster.job(ticket).estimate), ticket));
        }
        while let Some(&(_, shortest)) = self.waiting.first()
            && cluster.start(shortest, StartOptions::default())
        {
            self.waiting.pop_first();
        }
    }

    fn looks_at_nodes(&self) -> bool {
        false
    }
}
