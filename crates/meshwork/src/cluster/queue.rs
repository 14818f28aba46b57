//! The jobs that wait, in order of arrival.

use std::collections::VecDeque;

use slab::Slab;

use crate::job::{Job, Time};
use crate::observe::JobId;
use crate::offer::QueueView;

/// A waiting job, as schedulers name it. It is good until the job starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    /// Its place in the order of arrival.
    pub id: JobId,
    slot: u32,
}

/// Scan key of a waiting job, stored apart from the job for locality: a pass over a long queue reads little
/// memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Glance {
    /// A bound on the processors that the job needs to start.
    pub fewest: u64,
    /// How long its user says it runs.
    pub estimate: f64,
}

/// How many jobs stand together: few enough to take one out of them quickly.
const CHUNK: usize = 64;

/// A list of waiting jobs from which any one can be taken.
///
/// Jobs stand in chunks in order of arrival, each with the least of what its jobs need, so that a
/// search passes over whole chunks in which none can start. A queue may be tens of thousands long at
/// every event.
///
/// # Complexity
/// With *q* waiting jobs in chunks of *c*: **O(log q + c)** to take one, **O(1)** to append one or to
/// see the first, **O(q / c + c)** to find the next that may start where few may. Memory grows with the
/// jobs that wait now.
#[derive(Default)]
pub(crate) struct Queue {
    jobs: Slab<Waiting>,
    chunks: VecDeque<Chunk>,
}

struct Waiting {
    job: Job,
    fewest: u64,
}

#[derive(Default)]
struct Chunk {
    waiting: VecDeque<(Ticket, Glance)>,
    /// At most what any of them needs: exact when last looked at, and too low since, if at all.
    least: Option<Glance>,
    taken_since: u32,
}

/// After how many jobs taken from a chunk its least need is looked at anew.
const LOOK_AGAIN: u32 = 8;

impl Chunk {
    fn first_id(&self) -> JobId {
        self.waiting[0].0.id
    }

    fn push(&mut self, ticket: Ticket, glance: Glance) {
        self.waiting.push_back((ticket, glance));
        self.least = Some(self.least.map_or(glance, |least| least.min(glance)));
    }

    fn remove(&mut self, ticket: Ticket) {
        let at = self.waiting.binary_search_by_key(&ticket.id, |(other, _)| other.id);
        self.waiting.remove(at.expect("a ticket is good until its job starts"));
        self.taken_since += 1;
        if self.taken_since == LOOK_AGAIN {
            self.taken_since = 0;
            self.least = self.waiting.iter().map(|&(_, glance)| glance).reduce(Glance::min);
        }
    }

    fn next_that(&self, from: usize, may_start: impl Fn(Glance) -> bool) -> Option<Ticket> {
        let found = self.waiting.range(from..).find(|&&(_, glance)| may_start(glance));
        found.map(|&(ticket, _)| ticket)
    }
}

impl Glance {
    fn min(self, other: Glance) -> Glance {
        Glance {
            fewest: self.fewest.min(other.fewest),
            estimate: self.estimate.min(other.estimate),
        }
    }
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Appends a job, which arrived after all others.
    pub(crate) fn push(&mut self, id: JobId, job: Job, fewest: u64) -> Ticket {
        let glance = Glance { fewest, estimate: job.estimate };
        let ticket = Ticket { id, slot: self.jobs.insert(Waiting { job, fewest }) as u32 };
        match self.chunks.back_mut().filter(|chunk| chunk.waiting.len() < CHUNK) {
            Some(last) => last.push(ticket, glance),
            None => {
                let mut chunk = Chunk::default();
                chunk.push(ticket, glance);
                self.chunks.push_back(chunk);
            }
        }
        ticket
    }

    pub(crate) fn first(&self) -> Option<Ticket> {
        self.chunks.front().map(|chunk| chunk.waiting[0].0)
    }

    /// The job that arrived next after this one, of those that wait.
    pub(crate) fn after(&self, ticket: Ticket) -> Option<Ticket> {
        self.next_that(ticket, |_| true)
    }

    /// The next job after this one of which `may_start` holds. It must not hold of a job if it does
    /// not hold of one that needs less in every way.
    pub(crate) fn next_that(
        &self,
        ticket: Ticket,
        may_start: impl Fn(Glance) -> bool,
    ) -> Option<Ticket> {
        let chunk = self.chunk_of(ticket);
        let here = &self.chunks[chunk];
        let next = here.waiting.partition_point(|(other, _)| other.id <= ticket.id);
        here.next_that(next, &may_start).or_else(|| {
            let further = self.chunks.range(chunk + 1..);
            let worth_a_look = further.filter(|chunk| chunk.least.is_some_and(&may_start));
            worth_a_look.filter_map(|chunk| chunk.next_that(0, &may_start)).next()
        })
    }

    pub(crate) fn job(&self, ticket: Ticket) -> &Job {
        &self.jobs[ticket.slot as usize].job
    }

    /// What a pass asks of a job.
    pub(crate) fn glance(&self, ticket: Ticket) -> Glance {
        let waiting = &self.jobs[ticket.slot as usize];
        Glance { fewest: waiting.fewest, estimate: waiting.job.estimate }
    }

    pub(crate) fn fewest(&self, ticket: Ticket) -> u64 {
        self.jobs[ticket.slot as usize].fewest
    }

    /// The queue as it looks to one of its jobs.
    pub(crate) fn around(&self, ticket: Ticket, now: Time) -> Around<'_> {
        Around { queue: self, ticket, now }
    }

    pub(crate) fn remove(&mut self, ticket: Ticket) -> Job {
        let chunk = self.chunk_of(ticket);
        self.chunks[chunk].remove(ticket);
        if self.chunks[chunk].waiting.is_empty() {
            self.chunks.remove(chunk);
        }
        self.jobs.remove(ticket.slot as usize).job
    }

    /// The index of the chunk in which a job stands.
    fn chunk_of(&self, ticket: Ticket) -> usize {
        let after = self.chunks.partition_point(|chunk| chunk.first_id() <= ticket.id);
        after.checked_sub(1).expect("a ticket is good until its job starts")
    }
}

/// The queue as it looks to one of its jobs.
pub(crate) struct Around<'a> {
    queue: &'a Queue,
    ticket: Ticket,
    now: Time,
}

impl QueueView for Around<'_> {
    fn others(&self) -> Box<dyn Iterator<Item = &Job> + '_> {
        let all = self.queue.chunks.iter().flat_map(|chunk| &chunk.waiting);
        let others = all.filter(|(ticket, _)| *ticket != self.ticket);
        Box::new(others.map(|&(ticket, _)| self.queue.job(ticket)))
    }

    fn was_empty(&self) -> bool {
        self.queue.first().is_none_or(|first| self.queue.job(first).arrival == self.now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::job::Request;

    fn job(estimate: f64) -> Job {
        let request = Request::Nodes(1);
        Job { number: 1, arrival: Time::ZERO, request, runtime: 1.0, estimate, owner: None }
    }

    proptest! {
        /// Against the obvious twin, with enough jobs for several chunks.
        #[test]
        fn the_queue_agrees_with_a_vector(
            ops in prop::collection::vec((0_u8..4, any::<prop::sample::Index>(), 0_u64..9), 1..900),
            bounds in (0_u64..9, 0_u64..9),
        ) {
            let mut queue = Queue::default();
            let mut vector: Vec<(Ticket, u64, f64)> = Vec::new();
            for (number, (op, at, size)) in ops.into_iter().enumerate() {
                if op > 0 || vector.is_empty() {
                    let estimate = (number * 7 % 10) as f64;
                    let ticket = queue.push(JobId(number as u64), job(estimate), size);
                    vector.push((ticket, size, estimate));
                } else {
                    let (ticket, ..) = vector.remove(at.index(vector.len()));
                    queue.remove(ticket);
                }
            }
            let walked: Vec<Ticket> =
                std::iter::successors(queue.first(), |&ticket| queue.after(ticket)).collect();
            prop_assert!(walked.iter().eq(vector.iter().map(|(ticket, ..)| ticket)));
            prop_assert_eq!(queue.len(), vector.len());
            let (fewest, estimate) = bounds;
            let may_start = |glance: Glance| {
                glance.fewest <= fewest && glance.estimate <= estimate as f64
            };
            for (i, &(ticket, size, _)) in vector.iter().enumerate() {
                prop_assert_eq!(queue.fewest(ticket), size);
                let expected = vector[i + 1..].iter().find(|&&(_, fewest, estimate)| {
                    may_start(Glance { fewest, estimate })
                });
                prop_assert_eq!(queue.next_that(ticket, may_start), expected.map(|e| e.0));
            }
        }
    }
}
