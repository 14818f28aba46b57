//! Reports of the reasons why jobs wait, for observers that ask for them.

use std::collections::BTreeMap;

use super::Cluster;
use crate::job::{Cause, Request, Time};

pub(super) struct Waits {
    /// Reason that is reported for a waiting job that could start.
    held_up: Cause,
    /// For each request, why jobs with this request wait; `None` if such a job could start.
    lacks: BTreeMap<Request, Option<Cause>>,
    /// Value of the cluster's counter `changes` when the reasons were found.
    changes: u64,
}

impl Cluster<'_> {
    /// Enables reports of the reasons why jobs wait, if the observer asks for them. `reserves` says
    /// whether the scheduler reserves nodes for some jobs.
    pub(crate) fn watch_waits(&mut self, reserves: bool) {
        let held_up = if reserves { Cause::Reserved } else { Cause::Priority };
        let waits = Waits { held_up, lacks: BTreeMap::new(), changes: self.changes };
        self.waits = self.observer.asks_why_jobs_wait().then_some(waits);
    }

    /// Reports for each waiting job why it waits from now until `to`.
    pub(super) fn report_waits(&mut self, to: Time) {
        let Cluster { waits: Some(waits), queue, facility, observer, now, changes, .. } = self
        else {
            return;
        };
        // A sizing may depend on the queue length, which can change while the machine stays the
        // same.
        if waits.changes != *changes || !facility.sizes_are_fixed() {
            waits.lacks.clear();
            waits.changes = *changes;
        }
        for ticket in std::iter::successors(queue.first(), |&ticket| queue.after(ticket)) {
            let job = queue.job(ticket);
            let lacks = match waits.lacks.get(&job.request) {
                Some(&known) => known,
                None => {
                    let lacks = facility.lacks(job, *now);
                    waits.lacks.insert(job.request.clone(), lacks);
                    lacks
                }
            };
            observer.waited(*now, to, ticket.id, lacks.unwrap_or(waits.held_up));
        }
    }
}
