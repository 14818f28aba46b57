//! Causes of waiting, for observers that ask for them.

use std::collections::BTreeMap;

use super::Cluster;
use crate::job::{Cause, Request, Time};

/// Causes of waiting in the current state of the machine.
pub(super) struct Waits {
    /// Cause reported for a waiting job that could start.
    held_up: Cause,
    /// Cause of waiting for each request; `None` if a job with this request could start.
    lacks: BTreeMap<Request, Option<Cause>>,
    /// The cluster's count of changes for which the cached causes hold.
    changes: u64,
}

impl Cluster<'_> {
    /// Enables reports of causes if an observer asks for them. `reserves` says whether the
    /// scheduler reserves nodes for jobs ahead of others.
    pub(crate) fn watch_waits(&mut self, reserves: bool) {
        let held_up = if reserves { Cause::Reserved } else { Cause::Priority };
        let waits = Waits { held_up, lacks: BTreeMap::new(), changes: self.changes };
        self.waits = self.observer.asks_why_jobs_wait().then_some(waits);
    }

    /// Reports to the observer for what each waiting job waits from now until `to`.
    ///
    /// # Complexity
    /// **O(log k)** for each waiting job, with *k* different requests, and a query for each request
    /// after each change of the machine.
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
