//! Queues of waiting jobs, one for each size class.

use std::collections::VecDeque;

use crate::cluster::{Cluster, Ticket};

/// One queue for each [size class](crate::job::Request::size_class), each in queue order.
///
/// # Complexity
/// **O(1)** for each call. A search over the queues takes **O(classes)**, with at most 25 classes.
#[derive(Default)]
pub(super) struct Queues {
    queues: Vec<VecDeque<Ticket>>,
}

impl Queues {
    /// Inserts all waiting jobs of the cluster into queues for at least `classes` size classes.
    pub(super) fn fill(&mut self, classes: usize, cluster: &Cluster<'_>) {
        self.queues.resize_with(classes.max(self.queues.len()), VecDeque::new);
        cluster.waiting().for_each(|ticket| {
            self.push(ticket, cluster);
        });
    }

    /// Inserts a job and returns its size class. A requeued job is inserted at its original
    /// position, any other at the end.
    pub(super) fn push(&mut self, ticket: Ticket, cluster: &Cluster<'_>) -> usize {
        let class = cluster.job(ticket).request.size_class() as usize;
        if class >= self.queues.len() {
            self.queues.resize_with(class + 1, VecDeque::new);
        }
        let queue = &mut self.queues[class];
        match queue.back() {
            Some(last) if ticket < *last => {
                queue.insert(queue.partition_point(|other| *other < ticket), ticket);
            }
            _ => queue.push_back(ticket),
        }
        class
    }

    /// Number of waiting jobs of a size class.
    pub(super) fn len(&self, class: usize) -> usize {
        self.queues.get(class).map_or(0, VecDeque::len)
    }

    /// First waiting job of a size class.
    pub(super) fn head(&self, class: usize) -> Option<Ticket> {
        self.queues.get(class)?.front().copied()
    }

    /// Removes the first waiting job of a size class.
    pub(super) fn pop(&mut self, class: usize) {
        self.queues[class].pop_front();
    }

    /// Range of the size classes for which queues exist.
    pub(super) fn classes(&self) -> std::ops::Range<usize> {
        0..self.queues.len()
    }
}
