//! What jobs wait for, told to observers that ask.

use std::collections::BTreeMap;

use super::Cluster;
use crate::job::{Cause, Request, Time};

/// What jobs wait for as things are.
pub(super) struct Waits {
    /// What a job that could start waits for.
    held_up: Cause,
    /// What jobs of each request lack.
    lacks: BTreeMap<Request, Option<Cause>>,
    /// To which state of the machine the answers belong.
    changes: u64,
}

impl Cluster<'_> {
    /// From now on what jobs wait for is told, if an observer asks; `reserves` says whether the scheduler keeps nodes
    /// for those that come before others.
    pub(crate) fn watch_waits(&mut self, reserves: bool) {
        let held_up = if reserves { Cause::Reserved } else { Cause::Priority };
        let waits = Waits { held_up, lacks: BTreeMap::new(), changes: self.changes };
        self.waits = self.observer.asks_why_jobs_wait().then_some(waits);
    }

    /// Tells for what each job waits until then.
    ///
    /// # Complexity
    /// **O(log k)** for each waiting job with *k* requests, and a question for each of those after each change.
    pub(super) fn tell_waits(&mut self, to: Time) {
        let Cluster { waits: Some(waits), queue, facility, observer, now, changes, .. } = self
        else {
            return;
        };
        // A sizing may go by how many wait, which no change of the machine tells.
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
