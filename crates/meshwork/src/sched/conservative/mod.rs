//! Conservative backfilling: every waiting job has a reserved start.
//!
//! When a job has ended or runs beyond its estimate, a pass compresses the plan. In order of
//! arrival, each reservation is removed and made again among all the others, so that none gets
//! later. This is needed even when no job ends early, because jobs may have moved to earlier starts
//! and later jobs can follow. Three plans give identical schedules, and tests compare their
//! transcripts:
//!
//! - `Anew` is the definition. It rebuilds the future in each pass, on any machine.
//! - `Counts` updates a profile of free processors, if only their number matters.
//! - `Shapes` updates a set of free nodes per time step, for allocators whose answers depend only
//!   on which nodes are free, on sites of at most 65,536 nodes.
//!
//! `Counts` and `Shapes` need a single site on which every job gets as many nodes as it asks for,
//! without access rules, power cap or planned outages. They examine only reservations that can have
//! improved. After an outage every plan is dropped and made anew.

mod classes;
mod counts;
mod gaps;
mod row;
mod shapes;

use counts::Counts;
use shapes::Shapes;

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{
    Cluster, MemoryReader, MemoryWriter, Outlook, Place, RecallError, Reservation, StartOptions,
    Ticket,
};
use crate::registry::About;

/// Registry entry of `conservative`: conservative backfilling.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "conservative",
        "conservative backfilling: a job may start out of turn only if that delays \
             no job that arrived before it",
    )
    .definition(
        "Each job is promised, when it arrives, the earliest start that delays no \
             promise made before. When a job ends early, the promises are taken back \
             in order of arrival and made anew, so that none ever gets later. A job \
             past its estimate is expected to end now.",
    )
    .complexity(
        "With q waiting and r running jobs and s steps of the future: on one site \
             on which jobs get what they ask for, O(log s + s / 64) for an arrival or \
             an end where only the number of processors matters, and when a job ends \
             early as much again for each job for which enough is free before its \
             promise; where shape matters, one question to the allocator at each \
             instant at which enough is free for long enough. Elsewhere O(q (q + r)) \
             when a job ends early, and up to q + r questions to the allocator for \
             each waiting job.",
    )
    .source(
        "Mu'alem & Feitelson, Utilization, predictability, workloads, and user \
             runtime estimates in scheduling the IBM SP2 with backfilling, TPDS 12(6), \
             2001",
    ),
    |_, _| Ok(Box::new(Conservative::default())),
)
.shares(true)
.plans(true);

/// Conservative backfilling over any allocator.
///
/// Each arriving job gets the earliest start that delays no earlier reservation. When a job ends,
/// the plan is compressed. In queue order, each reservation is removed and made again among all the
/// others, so that none gets later. A job past its estimate is expected to end now, and
/// reservations that wait for it stay late until it ends. On some machines the plan is kept between
/// passes, and only reservations that may have improved are checked. The schedule is then
/// identical.
#[derive(Default)]
struct Conservative(Option<Plan>);

/// Plan of conservative backfilling: the reservations left by the last pass.
enum Plan {
    /// Plan for machines where only numbers of nodes matter.
    Counts(Counts),
    /// Plan for allocators that depend only on which nodes are free.
    Shapes(Box<Shapes>),
    /// Plan for all other machines and allocators.
    Anew(Anew),
}

impl Scheduler for Conservative {
    fn memory(&self, memory: &mut MemoryWriter) -> bool {
        match &self.0 {
            None => memory.promises(std::iter::empty()),
            Some(Plan::Counts(counts)) => {
                let promises: Vec<(Ticket, Reservation)> = counts.promises().collect();
                memory.promises(promises.iter().map(|(ticket, promise)| (*ticket, promise)));
            }
            Some(Plan::Shapes(shapes)) => memory.promises(shapes.promises()),
            Some(Plan::Anew(anew)) => {
                memory.promises(anew.promises.iter().map(|(ticket, promise)| (*ticket, promise)));
            }
        }
        true
    }

    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        if !memory.is_new() {
            self.0 = Some(Plan::Anew(Anew { promises: memory.promises()? }));
        }
        Ok(())
    }

    fn reserves(&self) -> bool {
        true
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        if cluster.is_disturbed() {
            self.0 = None; // reservations are made again, in queue order
        }
        let plan = self.0.get_or_insert_with(|| {
            if cluster.counts_alone() {
                return Plan::Counts(Counts::new(cluster));
            }
            let shapes = cluster.space().map(|space| Plan::Shapes(Box::new(Shapes::new(space))));
            shapes.unwrap_or_else(|| Plan::Anew(Anew::default()))
        });
        match plan {
            Plan::Counts(counts) => counts.pass(cluster),
            Plan::Shapes(shapes) => shapes.pass(cluster),
            Plan::Anew(anew) => anew.pass(cluster),
        }
    }
}

/// Reference plan, which rebuilds the expected future in each pass; works for any machine.
#[derive(Default)]
struct Anew {
    /// Waiting jobs with their reservations, in queue order.
    promises: Vec<(Ticket, Reservation)>,
}

impl Anew {
    fn pass(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        let mut outlook = cluster.outlook();
        for (_, promise) in &mut self.promises {
            // A reservation that a job past its estimate has broken is due now.
            promise.at = promise.at.max(now);
            outlook.hold(promise);
        }
        if !cluster.departures().is_empty() || cluster.runs_late() {
            self.compress(cluster, &mut outlook);
        }
        for ticket in cluster.to_plan() {
            if let Some(promise) = outlook.earliest(cluster.job(ticket), None) {
                outlook.hold(&promise);
                cluster.promise(ticket, promise.at);
                self.promises.push((ticket, promise));
            }
        }
        self.promises.retain(|(ticket, promise)| {
            let place = StartOptions::at(Place::Promised(promise));
            promise.at > now || !cluster.start(*ticket, place)
        });
    }

    /// Makes each reservation again among all the others, in queue order.
    ///
    /// A reservation keeps its nodes unless other nodes are free sooner. A reservation that is due
    /// may also move to nodes that are free now, if a job past its estimate still holds the
    /// reserved nodes.
    fn compress(&mut self, cluster: &Cluster<'_>, outlook: &mut Outlook) {
        let now = cluster.now();
        for (ticket, promise) in &mut self.promises {
            outlook.drop_hold(promise);
            let job = cluster.job(*ticket);
            let kept = outlook.sooner(job, promise);
            let fresh = outlook.earliest(job, Some(kept.at));
            *promise = match fresh {
                Some(fresh) if fresh.at < kept.at || fresh.at == now => fresh,
                _ => kept,
            };
            outlook.hold(promise);
        }
    }
}
