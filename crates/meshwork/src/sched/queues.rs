//! Waiting jobs in one queue for each size class, for schedulers that serve classes.

use std::collections::VecDeque;

use crate::cluster::{Cluster, Ticket};

/// One queue for each [size class](crate::job::Request::size_class), each in order of arrival.
///
/// # Complexity
/// **O(1)** for each call but those that look for a queue, which are **O(classes)**: at most 25.
#[derive(Default)]
pub(super) struct Queues {
    queues: Vec<VecDeque<Ticket>>,
}

impl Queues {
    /// Appends a job that has just joined the queue, or puts it back where it stood, and returns its class.
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

    /// How many jobs of a class wait.
    pub(super) fn len(&self, class: usize) -> usize {
        self.queues.get(class).map_or(0, VecDeque::len)
    }

    /// The job of a class that has waited longest.
    pub(super) fn head(&self, class: usize) -> Option<Ticket> {
        self.queues.get(class)?.front().copied()
    }

    /// Takes the head of a class out.
    pub(super) fn pop(&mut self, class: usize) {
        self.queues[class].pop_front();
    }

    /// The classes for which there are queues.
    pub(super) fn classes(&self) -> std::ops::Range<usize> {
        0..self.queues.len()
    }
}
