//! The jobs that wait, in order of arrival.

use std::collections::{BTreeMap, VecDeque};

use slab::Slab;

use crate::job::{Job, Request, Time};
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
/// Jobs stand in one line in order of arrival, and, where it is known which of them are asked for
/// alike, in a line for each form as well: logs have tens of thousands of waiting jobs and a few
/// hundred forms.
///
/// # Complexity
/// That of a [`Line`], and **O(log k)** for *k* forms to append or to take a job. Memory grows with the
/// jobs that wait now.
#[derive(Default)]
pub(crate) struct Queue {
    jobs: Slab<Waiting>,
    all: Line,
    /// By the processors of the form and the form, as the allocator is asked for it.
    kinds: BTreeMap<Kind, Line>,
}

/// Waiting jobs of one form: how many processors, and which form.
pub(crate) type Kind = (u64, Request);

struct Waiting {
    job: Job,
    fewest: u64,
    form: Option<Request>,
}

/// Jobs in order of arrival, from which any one can be taken.
///
/// They stand in chunks, each with the least of what its jobs need, so that a search passes over whole
/// chunks in which none can start.
///
/// # Complexity
/// With *q* waiting jobs in chunks of *c*: **O(log q + c)** to take one, **O(1)** to append one or to
/// see the first, **O(q / c + c)** to find the next that may start where few may.
#[derive(Default)]
struct Line {
    chunks: VecDeque<Chunk>,
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

impl Line {
    fn push(&mut self, ticket: Ticket, glance: Glance) {
        match self.chunks.back_mut().filter(|chunk| chunk.waiting.len() < CHUNK) {
            Some(last) => last.push(ticket, glance),
            None => {
                let mut chunk = Chunk::default();
                chunk.push(ticket, glance);
                self.chunks.push_back(chunk);
            }
        }
    }

    fn first(&self) -> Option<Ticket> {
        self.chunks.front().map(|chunk| chunk.waiting[0].0)
    }

    /// The next job after this one, which need not stand here, of which `may_start` holds.
    fn next_that(&self, ticket: Ticket, may_start: impl Fn(Glance) -> bool) -> Option<Ticket> {
        let after = self.chunks.partition_point(|chunk| chunk.first_id() <= ticket.id);
        let here = after.checked_sub(1).and_then(|chunk| {
            let here = &self.chunks[chunk];
            let next = here.waiting.partition_point(|(other, _)| other.id <= ticket.id);
            here.next_that(next, &may_start)
        });
        here.or_else(|| {
            let further = self.chunks.range(after..);
            let worth_a_look = further.filter(|chunk| chunk.least.is_some_and(&may_start));
            worth_a_look.filter_map(|chunk| chunk.next_that(0, &may_start)).next()
        })
    }

    fn remove(&mut self, ticket: Ticket) {
        let after = self.chunks.partition_point(|chunk| chunk.first_id() <= ticket.id);
        let chunk = after.checked_sub(1).expect("a ticket is good until its job starts");
        self.chunks[chunk].remove(ticket);
        if self.chunks[chunk].waiting.is_empty() {
            self.chunks.remove(chunk);
        }
    }

    fn iter(&self) -> impl Iterator<Item = Ticket> {
        self.chunks.iter().flat_map(|chunk| &chunk.waiting).map(|(ticket, _)| *ticket)
    }
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Appends a job, which arrived after all others, and is asked for in this form, if one is known.
    pub(crate) fn push(
        &mut self,
        id: JobId,
        job: Job,
        fewest: u64,
        form: Option<Request>,
    ) -> Ticket {
        let glance = Glance { fewest, estimate: job.estimate };
        let waiting = Waiting { job, fewest, form: form.clone() };
        let ticket = Ticket { id, slot: self.jobs.insert(waiting) as u32 };
        self.all.push(ticket, glance);
        if let Some(form) = form {
            self.kinds.entry((form.nodes(), form)).or_default().push(ticket, glance);
        }
        ticket
    }

    pub(crate) fn first(&self) -> Option<Ticket> {
        self.all.first()
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
        self.all.next_that(ticket, may_start)
    }

    /// The forms of up to so many processors in which waiting jobs are asked for.
    pub(crate) fn kinds(&self, most: u64) -> impl Iterator<Item = &Kind> {
        self.kinds.keys().take_while(move |(nodes, _)| *nodes <= most)
    }

    /// As [`next_that`](Queue::next_that) among the jobs of one form.
    pub(crate) fn next_of_kind(
        &self,
        kind: &Kind,
        ticket: Ticket,
        may_start: impl Fn(Glance) -> bool,
    ) -> Option<Ticket> {
        self.kinds.get(kind)?.next_that(ticket, may_start)
    }

    pub(crate) fn job(&self, ticket: Ticket) -> &Job {
        &self.jobs[ticket.slot as usize].job
    }

    /// What a pass asks of a job.
    pub(crate) fn glance(&self, ticket: Ticket) -> Glance {
        let waiting = &self.jobs[ticket.slot as usize];
        Glance { fewest: waiting.fewest, estimate: waiting.job.estimate }
    }

    /// The queue as it looks to one of its jobs.
    pub(crate) fn around(&self, ticket: Ticket, now: Time) -> Around<'_> {
        Around { queue: self, ticket, now }
    }

    pub(crate) fn remove(&mut self, ticket: Ticket) -> Job {
        self.all.remove(ticket);
        let Waiting { job, form, .. } = self.jobs.remove(ticket.slot as usize);
        if let Some(form) = form {
            let kind = (form.nodes(), form);
            let line =
                self.kinds.get_mut(&kind).expect("a waiting job stands in the line of its form");
            line.remove(ticket);
            if line.chunks.is_empty() {
                self.kinds.remove(&kind);
            }
        }
        job
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
        let others = self.queue.all.iter().filter(|ticket| *ticket != self.ticket);
        Box::new(others.map(|ticket| self.queue.job(ticket)))
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
                    let form = (size > 2).then_some(Request::Nodes(size as u32));
                    let ticket = queue.push(JobId(number as u64), job(estimate), size, form);
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
                prop_assert_eq!(queue.glance(ticket).fewest, size);
                let expected = vector[i + 1..].iter().find(|&&(_, fewest, estimate)| {
                    may_start(Glance { fewest, estimate })
                });
                prop_assert_eq!(queue.next_that(ticket, may_start), expected.map(|e| e.0));
                for kind in 3..9 {
                    let expected = vector[i + 1..].iter().find(|&&(_, fewest, estimate)| {
                        fewest == kind && may_start(Glance { fewest, estimate })
                    });
                    let form = (kind, Request::Nodes(kind as u32));
                    let next = queue.next_of_kind(&form, ticket, may_start);
                    prop_assert_eq!(next, expected.map(|e| e.0));
                }
            }
            let kinds: Vec<u64> = queue.kinds(6).map(|(nodes, _)| *nodes).collect();
            let waiting = |kind: &u64| vector.iter().any(|(_, size, _)| size == kind);
            prop_assert_eq!(kinds, (3..=6).filter(waiting).collect::<Vec<u64>>());
        }
    }
}
