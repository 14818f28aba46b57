//! FCFS scheduling: first come, first served.

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, StartOptions};
use crate::registry::About;

/// Registry entry of `fcfs`: first come, first served.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "fcfs",
        "first come, first served: a head of the queue that cannot start blocks the rest",
    )
    .definition(
        "Jobs start in the order in which they arrived. When the head of the queue \
             cannot start, nothing else does until it has.",
    )
    .complexity(
        "One question to the allocator for each start, and one for the head that has to wait.",
    )
    .source("the discipline of Chang & Mohapatra and of Zhu & Lin"),
    |_, _| Ok(Box::new(Fcfs)),
)
.shares(true);

struct Fcfs;

impl Scheduler for Fcfs {
    fn looks_at_nodes(&self) -> bool {
        false
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        while let Some(head) = cluster.head()
            && cluster.start(head, StartOptions::default())
        {}
    }
}
