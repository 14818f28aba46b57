//! Conservative backfilling: every waiting job has a promise.

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, Outlook, Place, Reservation, StartOptions, Ticket};
use crate::job::Time;
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
        complexity: "With q waiting and r running jobs and s steps of the future: on one site on \
                     which jobs get what they ask for, O(log s + s / 64) for an arrival or an end \
                     where only the number of processors matters, and when a job ends early as much \
                     again for each job for which enough is free before its promise; where shape \
                     matters, one question to the allocator at each instant at which enough is free \
                     for long enough. Elsewhere O(q (q + r)) when a job ends early, and up to q + r \
                     questions to the allocator for each waiting job.",
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
    /// The future as the last pass left it, where it is kept up.
    outlook: Option<Outlook>,
    /// Up to when more may be free than when the promises were last looked at.
    reach: Time,
    /// No promise is due before.
    due: Time,
}

impl Scheduler for Conservative {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        let ends = cluster.departures().iter().map(|departure| departure.ran.expected_end);
        self.reach = ends.fold(self.reach, Time::max);
        // A job past its estimate, or a promise that could not be kept, leaves nothing to go on from.
        let runs_late = cluster.running().next().is_some_and(|(_, job)| job.expected_end <= now);
        let smoothly = !runs_late && self.due >= now;
        let mut outlook = match self.outlook.take() {
            Some(mut outlook) if smoothly => {
                outlook.go_on_to(now, cluster.departures());
                outlook
            }
            _ => self.anew(cluster, smoothly),
        };
        let compresses = !cluster.departures().is_empty() || runs_late;
        if compresses && smoothly && outlook.is_kept_up() && !outlook.is_overdrawn() {
            self.compress_kept_up(cluster, &mut outlook);
        } else if compresses {
            self.compress(cluster, &mut outlook);
        }
        for ticket in cluster.arrivals().to_vec() {
            if let Some(promise) = outlook.earliest(cluster.job(ticket), None) {
                outlook.hold(&promise);
                cluster.promise(ticket, promise.at);
                self.due = self.due.min(promise.at);
                self.plan.push((ticket, promise));
            }
        }
        if self.due <= now {
            self.start_due(cluster, &mut outlook);
        }
        self.outlook = outlook.is_kept_up().then_some(outlook);
    }
}

impl Conservative {
    /// The future made anew, and to be kept up from here on if it can be.
    fn anew(&mut self, cluster: &Cluster<'_>, smoothly: bool) -> Outlook {
        let now = cluster.now();
        self.reach = Time::new(f64::INFINITY);
        for (_, promise) in &mut self.plan {
            // A promise that a late job has broken is due now.
            promise.at = promise.at.max(now);
        }
        let plans = || self.plan.iter().map(|(_, promise)| promise);
        if smoothly
            && cluster.goes_by_free_nodes()
            && let Some(outlook) = cluster.outlook().kept_up(plans())
        {
            return outlook;
        }
        let mut outlook = cluster.outlook();
        plans().for_each(|promise| outlook.hold(promise));
        outlook
    }

    /// Starts those whose promise is due, in order of arrival.
    fn start_due(&mut self, cluster: &mut Cluster<'_>, outlook: &mut Outlook) {
        let now = cluster.now();
        self.due = Time::new(f64::INFINITY);
        self.plan.retain(|(ticket, promise)| {
            let place = StartOptions::at(Place::Promised(promise));
            if promise.at > now || !cluster.start(*ticket, place) {
                self.due = self.due.min(promise.at);
                return true;
            }
            // It holds from now on what it was to hold; a job of no time holds nothing.
            if promise.span <= 0.0 {
                outlook.drop_hold(promise);
                self.reach = self.reach.max(promise.until());
            }
            false
        });
    }

    /// As [`compress`](Conservative::compress) where the future is kept up, nobody runs late and no promise
    /// is broken: a promise moves only if before it more has become free than when it was last looked
    /// at.
    fn compress_kept_up(&mut self, cluster: &Cluster<'_>, outlook: &mut Outlook) {
        let mut reach = std::mem::take(&mut self.reach);
        for (ticket, promise) in &mut self.plan {
            let job = cluster.job(*ticket);
            let better = outlook.better(job, promise, reach);
            let Some(better) = better.filter(|better| better != promise) else { continue };
            outlook.drop_hold(promise);
            // What it leaves may be of use to those behind it now, and to those before it next time.
            reach = reach.max(promise.until());
            self.reach = self.reach.max(promise.until());
            *promise = better;
            outlook.hold(promise);
            self.due = self.due.min(promise.at);
        }
    }

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
            self.due = self.due.min(promise.at);
        }
        self.reach = Time::new(f64::INFINITY);
    }
}
