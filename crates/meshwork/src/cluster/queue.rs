//! The jobs that wait, in order of arrival.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slab::Slab;

use crate::job::{Job, Request, Time};
use crate::observe::JobId;
use crate::offer::QueueView;

/// A waiting job, as schedulers name it. It is good until the job starts.
///
/// Tickets order as jobs wait: by arrival, but for jobs that were sent to the end of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    /// Where it stands in the queue, behind all with less: even for a job that has joined it at the end, odd for one that
    /// stands where it stood.
    place: u64,
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
/// Jobs stand in one line in order of arrival, and, once someone has asked which of them are alike, in a
/// line for each form as well: logs have tens of thousands of waiting jobs and a few hundred forms.
///
/// # Complexity
/// That of a [`Line`], and of its [`Kinds`] where they are kept. Memory grows with the jobs that wait now.
#[derive(Default)]
pub(crate) struct Queue {
    jobs: Slab<Waiting>,
    all: Line,
    /// Kept once someone has asked for them: most schedulers never do.
    kinds: OnceCell<Kinds>,
    /// The first place behind all that have joined it: twice the number of the next job to arrive, or more, once jobs have
    /// been sent to its end.
    end: u64,
}

struct Waiting {
    job: Job,
    fewest: u64,
}

/// The waiting jobs of each form, as the allocator is asked for it.
///
/// # Complexity
/// Besides that of a [`Line`], **O(log k)** for *k* forms to append a job, and to take the first of a form.
#[derive(Default)]
pub(crate) struct Kinds {
    /// By processors and form.
    by_form: BTreeMap<(u64, Request), Kind>,
    /// By the first job of each: a pass begins with these, and they lie side by side here.
    by_first: BTreeSet<(Ticket, Kind)>,
    kinds: Slab<OfKind>,
    /// The kind of the job in each slot.
    of: Vec<Option<Kind>>,
}

/// A form of which jobs wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind(u32);

struct OfKind {
    nodes: u64,
    form: Request,
    line: Line,
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
    /// The room of a chunk that was emptied: where few wait, chunks come and go with every job.
    spare: VecDeque<(Ticket, Glance)>,
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
    fn first_place(&self) -> u64 {
        self.waiting[0].0.place
    }

    /// Puts a job among the others.
    fn insert(&mut self, ticket: Ticket, glance: Glance) {
        let at = self.waiting.partition_point(|(other, _)| other.place < ticket.place);
        self.waiting.insert(at, (ticket, glance));
        self.least = Some(self.least.map_or(glance, |least| least.min(glance)));
    }

    fn push(&mut self, ticket: Ticket, glance: Glance) {
        self.waiting.push_back((ticket, glance));
        self.least = Some(self.least.map_or(glance, |least| least.min(glance)));
    }

    fn remove(&mut self, ticket: Ticket) {
        let at = self.waiting.binary_search_by_key(&ticket.place, |(other, _)| other.place);
        let taken = self.waiting.remove(at.expect("a ticket is good until its job starts"));
        if let Some((_, glance)) = taken {
            self.has_lost(glance);
        }
    }

    /// A job has been taken out: the least is looked at anew when some have been that may have been it.
    fn has_lost(&mut self, glance: Glance) {
        let was_more =
            |least: Glance| glance.fewest > least.fewest && glance.estimate > least.estimate;
        if self.least.is_some_and(was_more) {
            return;
        }
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
                let room = std::mem::take(&mut self.spare);
                let mut chunk = Chunk { waiting: room, ..Chunk::default() };
                chunk.push(ticket, glance);
                self.chunks.push_back(chunk);
            }
        }
    }

    /// Puts a job where it belongs, among those that arrived before and after it.
    fn insert(&mut self, ticket: Ticket, glance: Glance) {
        let after = self.chunks.partition_point(|chunk| chunk.first_place() <= ticket.place);
        match self.chunks.get_mut(after.saturating_sub(1)) {
            Some(chunk) => chunk.insert(ticket, glance),
            None => self.push(ticket, glance),
        }
    }

    fn first(&self) -> Option<Ticket> {
        self.chunks.front().map(|chunk| chunk.waiting[0].0)
    }

    /// The next job after this one, which need not stand here, of which `may_start` holds.
    fn next_that(&self, ticket: Ticket, may_start: impl Fn(Glance) -> bool) -> Option<Ticket> {
        let after = self.chunks.partition_point(|chunk| chunk.first_place() <= ticket.place);
        let here = after.checked_sub(1).and_then(|chunk| {
            let here = &self.chunks[chunk];
            let next = here.waiting.partition_point(|(other, _)| other.place <= ticket.place);
            here.next_that(next, &may_start)
        });
        here.or_else(|| {
            let further = self.chunks.range(after..);
            let worth_a_look = further.filter(|chunk| chunk.least.is_some_and(&may_start));
            worth_a_look.filter_map(|chunk| chunk.next_that(0, &may_start)).next()
        })
    }

    fn remove(&mut self, ticket: Ticket) {
        // Most often it is the first that starts.
        if let Some(first) = self.chunks.front_mut()
            && let Some(&(_, glance)) =
                first.waiting.front().filter(|(other, _)| other.slot == ticket.slot)
        {
            first.waiting.pop_front();
            if !first.waiting.is_empty() {
                first.has_lost(glance);
            } else if let Some(emptied) = self.chunks.pop_front() {
                self.spare = emptied.waiting;
            }
            return;
        }
        let after = self.chunks.partition_point(|chunk| chunk.first_place() <= ticket.place);
        let chunk = after.checked_sub(1).expect("a ticket is good until its job starts");
        self.chunks[chunk].remove(ticket);
        if self.chunks[chunk].waiting.is_empty()
            && let Some(emptied) = self.chunks.remove(chunk)
        {
            self.spare = emptied.waiting;
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

    /// Appends a job, behind all others; where kinds are kept, it is asked for in the form that
    /// `form` gives.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        id: JobId,
        job: Job,
        fewest: u64,
        form: impl Fn(&Job) -> Option<Request>,
    ) -> Ticket {
        let glance = Glance { fewest, estimate: job.estimate };
        let form = self.kinds.get().and_then(|_| form(&job));
        let slot = self.jobs.insert(Waiting { job, fewest }) as u32;
        let place = (2 * id.0).max(self.end);
        self.end = place + 2;
        let ticket = Ticket { place, id, slot };
        self.all.push(ticket, glance);
        if let Some(kinds) = self.kinds.get_mut() {
            kinds.push(ticket, glance, form, Line::push);
        }
        ticket
    }

    /// A job that has waited before joins the queue again: at the end, or else where it stood when it arrived, before any
    /// job that has been sent to the end since.
    pub(crate) fn put_back(
        &mut self,
        id: JobId,
        job: Job,
        fewest: u64,
        to_the_end: bool,
        form: impl Fn(&Job) -> Option<Request>,
    ) -> Ticket {
        if to_the_end {
            return self.push(id, job, fewest, form);
        }
        let glance = Glance { fewest, estimate: job.estimate };
        let form = self.kinds.get().and_then(|_| form(&job));
        let slot = self.jobs.insert(Waiting { job, fewest }) as u32;
        let ticket = Ticket { place: 2 * id.0 + 1, id, slot };
        self.all.insert(ticket, glance);
        if let Some(kinds) = self.kinds.get_mut() {
            kinds.push(ticket, glance, form, Line::insert);
        }
        ticket
    }

    /// The waiting jobs of each form, which is that which `form` gives; they are kept from now on.
    pub(crate) fn kinds(&self, form: impl Fn(&Job) -> Option<Request>) -> &Kinds {
        self.kinds.get_or_init(|| {
            let mut kinds = Kinds::default();
            for ticket in self.all.iter() {
                kinds.push(ticket, self.glance(ticket), form(self.job(ticket)), Line::push);
            }
            kinds
        })
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
        if let Some(kinds) = self.kinds.get_mut() {
            kinds.remove(ticket);
        }
        self.jobs.remove(ticket.slot as usize).job
    }
}

impl Kinds {
    /// A job joins the line of its form, at its end or in its place.
    fn push(
        &mut self,
        ticket: Ticket,
        glance: Glance,
        form: Option<Request>,
        join: impl Fn(&mut Line, Ticket, Glance),
    ) {
        let Kinds { by_form, by_first, kinds, of } = self;
        let slot = ticket.slot as usize;
        if of.len() <= slot {
            of.resize(slot + 1, None);
        }
        of[slot] = form.map(|form| {
            let nodes = form.nodes();
            let kind = *by_form.entry((nodes, form)).or_insert_with_key(|(nodes, form)| {
                let of_kind = OfKind { nodes: *nodes, form: form.clone(), line: Line::default() };
                Kind(kinds.insert(of_kind) as u32)
            });
            let line = &mut kinds[kind.0 as usize].line;
            let first = line.first();
            if first.is_none_or(|first| ticket < first) {
                first.map(|first| by_first.remove(&(first, kind)));
                by_first.insert((ticket, kind));
            }
            join(line, ticket, glance);
            kind
        });
    }

    fn remove(&mut self, ticket: Ticket) {
        let Some(kind) = self.of[ticket.slot as usize].take() else { return };
        let line = &mut self.kinds[kind.0 as usize].line;
        let was_first = line.first() == Some(ticket);
        line.remove(ticket);
        if was_first {
            self.by_first.remove(&(ticket, kind));
            self.by_first.extend(line.first().map(|next| (next, kind)));
        }
        if line.chunks.is_empty() {
            let OfKind { nodes, form, .. } = self.kinds.remove(kind.0 as usize);
            self.by_form.remove(&(nodes, form));
        }
    }

    /// The forms of up to so many processors in which waiting jobs are asked for.
    pub(crate) fn up_to(&self, most: u64) -> impl Iterator<Item = (Kind, &Request)> {
        let few_enough = self.by_form.iter().take_while(move |((nodes, _), _)| *nodes <= most);
        few_enough.map(|((_, form), kind)| (*kind, form))
    }

    /// The first job of each kind of up to so many processors, in order of arrival.
    pub(crate) fn firsts(&self, most: u64) -> impl Iterator<Item = (Ticket, Kind)> {
        let few_enough =
            move |(_, kind): &&(Ticket, Kind)| self.kinds[kind.0 as usize].nodes <= most;
        self.by_first.iter().filter(few_enough).copied()
    }

    /// The form that jobs of a kind are asked for in, and its processors; `None` once none of them waits.
    pub(crate) fn form(&self, kind: Kind) -> Option<(u64, &Request)> {
        self.kinds.get(kind.0 as usize).map(|of_kind| (of_kind.nodes, &of_kind.form))
    }

    /// As [`Queue::next_that`] among the jobs of one kind.
    pub(crate) fn next_that(
        &self,
        kind: Kind,
        ticket: Ticket,
        may_start: impl Fn(Glance) -> bool,
    ) -> Option<Ticket> {
        self.kinds.get(kind.0 as usize)?.line.next_that(ticket, may_start)
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

    fn job(size: u32, estimate: f64) -> Job {
        let request = Request::Nodes(size);
        Job { estimate, ..Job::new(1, Time::ZERO, request, 1.0) }
    }

    fn form(job: &Job) -> Option<Request> {
        (job.request.nodes() > 2).then(|| job.request.clone())
    }

    /// One was sent to the end, and the next to arrive stands again where it stood.
    #[test]
    fn no_two_jobs_have_one_place() {
        let mut queue = Queue::default();
        let push = |queue: &mut Queue, id| queue.push(JobId(id), job(1, 1.0), 1, form);
        let first = push(&mut queue, 0);
        let second = push(&mut queue, 1);
        queue.remove(first);
        let first = queue.put_back(JobId(0), job(1, 1.0), 1, true, form);
        let third = push(&mut queue, 2);
        queue.remove(third);
        let third = queue.put_back(JobId(2), job(1, 1.0), 1, false, form);
        let walked = std::iter::successors(queue.first(), |&ticket| queue.after(ticket));
        assert!(walked.eq([second, first, third]));
        for ticket in [third, second, first] {
            queue.remove(ticket);
        }
        assert_eq!(queue.len(), 0);
    }

    proptest! {
        /// Against the obvious twin, with enough jobs for several chunks.
        #[test]
        fn the_queue_agrees_with_a_vector(
            ops in prop::collection::vec((0_u8..6, any::<prop::sample::Index>(), 0_u64..9), 1..900),
            to_the_end in any::<bool>(),
            bounds in (0_u64..9, 0_u64..9),
            begin in 0_usize..900,
        ) {
            let mut queue = Queue::default();
            let mut vector: Vec<(Ticket, u64, f64)> = Vec::new();
            let mut left: Vec<JobId> = Vec::new();
            for (number, (op, at, size)) in ops.into_iter().enumerate() {
                if op > 3 && !left.is_empty() {
                    let id = left.swap_remove(at.index(left.len()));
                    let estimate = (number * 3 % 10) as f64;
                    let job = job(size as u32, estimate);
                    let ticket = queue.put_back(id, job, size, to_the_end, form);
                    let before = vector.iter().take_while(|(other, ..)| other.id < id).count();
                    let place = if to_the_end { vector.len() } else { before };
                    vector.insert(place, (ticket, size, estimate));
                } else if op > 0 || vector.is_empty() {
                    let estimate = (number * 7 % 10) as f64;
                    if number == begin {
                        queue.kinds(form);
                    }
                    let job = job(size as u32, estimate);
                    let ticket = queue.push(JobId(number as u64), job, size, form);
                    vector.push((ticket, size, estimate));
                } else {
                    let (ticket, ..) = vector.remove(at.index(vector.len()));
                    queue.remove(ticket);
                    left.push(ticket.id);
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
                let kinds = queue.kinds(form);
                for (kind, form) in kinds.up_to(9) {
                    let nodes = form.nodes();
                    prop_assert_eq!(kinds.form(kind), Some((nodes, form)));
                    let expected = vector[i + 1..].iter().find(|&&(_, fewest, estimate)| {
                        fewest == nodes && may_start(Glance { fewest, estimate })
                    });
                    let next = kinds.next_that(kind, ticket, may_start);
                    prop_assert_eq!(next, expected.map(|e| e.0));
                }
            }
            let firsts: Vec<Ticket> = queue.kinds(form).firsts(6).map(|(first, _)| first).collect();
            let mut seen = BTreeSet::new();
            let is_first = |(_, size, _): &&(Ticket, u64, f64)| (3..=6).contains(size) && seen.insert(*size);
            let expected: Vec<Ticket> = vector.iter().filter(is_first).map(|(ticket, ..)| *ticket).collect();
            prop_assert_eq!(firsts, expected);
            let kinds: Vec<u64> = queue.kinds(form).up_to(6).map(|(_, form)| form.nodes()).collect();
            let waiting = |kind: &u64| vector.iter().any(|(_, size, _)| size == kind);
            prop_assert_eq!(kinds, (3..=6).filter(waiting).collect::<Vec<u64>>());
        }
    }
}
