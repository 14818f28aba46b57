//! Conservative backfilling: every waiting job has a reserved start.
//!
//! When a job has ended or runs beyond its estimate, a pass compresses the plan. In queue order,
//! each reservation then moves to its earliest start while all others stay. This is needed even
//! when no job ends early: reservations that the last pass moved may have left nodes that jobs
//! before them can use. The [plan] has three implementations with identical schedules. After an
//! outage, a new plan is made.

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, MemoryReader, MemoryWriter, RecallError};
use crate::plan::{self, Plan};
use crate::registry::About;

/// Registry entry of `conservative`: conservative backfilling.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "conservative",
        "conservative backfilling: a job may start out of turn only if that delays \
             no job that arrived before it",
    )
    .definition(
        "Each job is promised, when it arrives, the earliest start that delays no promise made \
         before. When a job ends early, the promises are taken back in order of arrival and made \
         anew, so that none ever gets later. A job past its estimate is expected to end now.",
    )
    .complexity(
        "With q waiting and r running jobs and s steps of the future: on one site on which jobs \
         get what they ask for, O(log s + s / 64) for an arrival or an end where only the number \
         of processors matters, and when a job ends early as much again for each job for which \
         enough is free before its promise; where shape matters, one question to the allocator at \
         each instant at which enough is free for long enough. Elsewhere O(q (q + r)) when a job \
         ends early, and up to q + r questions to the allocator for each waiting job.",
    )
    .source(
        "Mu'alem & Feitelson, Utilization, predictability, workloads, and user runtime estimates \
         in scheduling the IBM SP2 with backfilling, TPDS 12(6), 2001",
    ),
    |_, _| Ok(Box::new(Conservative::default())),
)
.shares(true)
.plans(true);

/// Conservative backfilling, by a plan that is kept from one scheduling pass to the next.
#[derive(Default)]
struct Conservative(Option<Box<dyn Plan>>);

impl Scheduler for Conservative {
    fn memory(&self, memory: &mut MemoryWriter) -> bool {
        let promises = self.0.as_ref().map(|plan| plan.promises()).unwrap_or_default();
        memory.promises(promises.iter().map(|(ticket, promise)| (*ticket, promise)));
        true
    }

    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        if !memory.is_new() {
            let mut plan = plan::forks(memory.cluster());
            for (ticket, promise) in memory.promises()? {
                plan.hold(memory.cluster(), ticket, promise);
            }
            self.0 = Some(plan);
        }
        Ok(())
    }

    fn reserves(&self) -> bool {
        true
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let plan = plan::kept(&mut self.0, cluster);
        plan.compress(cluster);
        for ticket in cluster.to_plan() {
            if let Some(promise) = plan.earliest(cluster, ticket, None) {
                cluster.promise(ticket, promise.at);
                plan.hold(cluster, ticket, promise);
            }
        }
        plan.start_due(cluster);
    }
}
