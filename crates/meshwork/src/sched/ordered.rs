//! Schedulers that serve jobs in order of a fixed key; a job that cannot start blocks the rest.

use std::collections::BTreeSet;

use super::Scheduler;
use crate::cluster::{Cluster, StartOptions, Ticket};
use crate::job::Job;

/// Serves jobs by a key fixed at arrival, lowest first; if the first cannot start, none does.
pub(super) struct Ordered<K> {
    key: fn(&Job) -> K,
    waiting: BTreeSet<(K, Ticket)>,
}

impl<K: Ord> Ordered<K> {
    pub(super) fn by(key: fn(&Job) -> K) -> Ordered<K> {
        Ordered { key, waiting: BTreeSet::new() }
    }
}

impl<K: Copy + Ord + Send> Scheduler for Ordered<K> {
    fn looks_at_nodes(&self) -> bool {
        false
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        for &ticket in cluster.arrivals() {
            self.waiting.insert(((self.key)(cluster.job(ticket)), ticket));
        }
        while let Some(&(_, first)) = self.waiting.first()
            && cluster.start(first, StartOptions::default())
        {
            self.waiting.pop_first();
        }
    }
}
