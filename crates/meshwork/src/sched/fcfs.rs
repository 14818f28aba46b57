//! First come, first served.

use super::{Scheduler, SchedulerEntry};
use crate::cluster::Cluster;
use crate::registry::About;
use crate::topology::Wiring;

/// The entry of `fcfs`.
pub static ENTRY: SchedulerEntry = SchedulerEntry {
    about: About {
        name: "fcfs",
        aliases: &[],
        summary: "first come, first served: a head of the queue that cannot start blocks the rest",
        source: "the discipline of Chang & Mohapatra and of Zhu & Lin",
        params: &[],
    },
    serves: &Wiring::ALL,
    plans: false,
    serves_all: true,
    malleable: false,
    build: |_, _| Ok(Box::new(Fcfs)),
};

struct Fcfs;

impl Scheduler for Fcfs {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        while let Some(head) = cluster.head()
            && cluster.start(head)
        {}
    }
}
