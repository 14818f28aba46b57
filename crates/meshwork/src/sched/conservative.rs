//! Conservative backfilling: every waiting job has a promise.

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, Outlook, Reservation, Ticket};
use crate::registry::About;
use crate::topology::Wiring;

/// The entry of `conservative`.
pub static ENTRY: SchedulerEntry = SchedulerEntry {
    about: About {
        name: "conservative",
        aliases: &[],
        summary: "conservative backfilling: a job may start out of turn only if that delays no job \
                  that arrived before it",
        definition: "Each job is promised, when it arrives, the earliest start that delays no \
                     promise made before. When a job ends early, the promises are taken back in \
                     order of arrival and made anew, so that none ever gets later. A job past \
                     its estimate is expected to end now.",
        complexity: "With q waiting and r running jobs O(q (q + r)) when a job ends early; where \
                     shape matters up to q + r questions to the allocator for each waiting job.",
        source: "Mu'alem & Feitelson, Utilization, predictability, workloads, and user runtime \
                 estimates in scheduling the IBM SP2 with backfilling, TPDS 12(6), 2001",
        params: &[],
    },
    serves: &Wiring::ALL,
    plans: true,
    serves_all: true,
    malleable: false,
    build: |_, _| Ok(Box::new(Conservative::default())),
};

/// Conservative backfilling over any allocator.
///
/// Each job is promised the earliest start that delays no earlier promise when it arrives. When a
/// job ends the plan is compressed: in order of arrival each promise is taken
/// back and made anew among all the others, so that none ever gets later. A job past its estimate
/// is expected to end now; promises that wait for it are late until it does.
#[derive(Default)]
struct Conservative {
    /// In order of arrival.
    plan: Vec<(Ticket, Reservation)>,
}

impl Scheduler for Conservative {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let mut outlook = cluster.outlook();
        let now = cluster.now();
        for (_, promise) in &mut self.plan {
            // A promise that a late job has broken is due now.
            if promise.at < now {
                promise.at = now;
            }
            outlook.hold(promise);
        }
        // Also after a job that ended when it was expected to: another one, later in the order of
        // arrival, may have been moved ahead since, and a promise that waited for it has to follow.
        let runs_late = cluster.running().next().is_some_and(|(_, job)| job.expected_end <= now);
        if !cluster.departures().is_empty() || runs_late {
            self.compress(cluster, &mut outlook);
        }
        for ticket in cluster.arrivals().to_vec() {
            if let Some(promise) = outlook.earliest(cluster.job(ticket), None) {
                outlook.hold(&promise);
                cluster.promise(ticket, promise.at);
                self.plan.push((ticket, promise));
            }
        }
        self.plan
            .retain(|(ticket, promise)| promise.at > now || !cluster.start_at(*ticket, promise));
    }
}

impl Conservative {
    /// Takes each promise back and makes it anew among all the others: on the processors it had,
    /// or on others if those are free sooner. One that is due may also move to processors that
    /// are free in fact, away from those of a job that is late.
    fn compress(&mut self, cluster: &Cluster<'_>, outlook: &mut Outlook) {
        let now = cluster.now();
        for (ticket, promise) in &mut self.plan {
            outlook.drop_hold(promise);
            let kept = outlook.sooner(promise);
            let fresh = outlook.earliest(cluster.job(*ticket), Some(kept.at));
            *promise = match fresh {
                Some(fresh) if fresh.at < kept.at || fresh.at == now => fresh,
                _ => kept,
            };
            outlook.hold(promise);
        }
    }
}
