//! Queues of waiting jobs, one for each size class.

use std::collections::VecDeque;

use crate::cluster::{Cluster, Ticket};

/// One queue for each [size class](crate::job::Request::size_class), of which there are at most 25.
#[derive(Default)]
pub(super) struct Queues {
    queues: Vec<VecDeque<Ticket>>,
}

impl Queues {
    /// Inserts all waiting jobs into the queues of their size classes.
    /// There are then queues for at least `classes` size classes.
    pub(super) fn fill(&mut self, classes: usize, cluster: &Cluster<'_>) {
        self.queues.resize_with(classes.max(self.queues.len()), VecDeque::new);
        cluster.waiting().for_each(|ticket| {
            self.push(ticket, cluster);
        });
    }

    /// Inserts a job into the queue of its size class, and returns the class. A requeued job gets
    /// its original position.
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

    pub(super) fn len(&self, class: usize) -> usize {
        self.queues.get(class).map_or(0, VecDeque::len)
    }

    pub(super) fn head(&self, class: usize) -> Option<Ticket> {
        self.queues.get(class)?.front().copied()
    }

    pub(super) fn pop(&mut self, class: usize) {
        self.queues[class].pop_front();
    }

    pub(super) fn classes(&self) -> std::ops::Range<usize> {
        0..self.queues.len()
    }
}
