//! The queue of waiting jobs.

use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;

use slab::Slab;

use super::forms::Form;
use crate::job::{Job, Request, Time};
use crate::observe::JobId;
use crate::offer::QueueView;

/// Handle of a waiting job. It is valid until the job leaves the queue. Tickets are ordered like
/// the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    /// Position in the queue. It is even if the job was appended at the end, and odd if the job was
    /// requeued at its old position.
    place: u64,
    /// Identifier of the job. Jobs are numbered in order of arrival.
    pub id: JobId,
    slot: u32,
}

impl Ticket {
    /// A ticket right behind this one in queue order. It belongs to no waiting job.
    pub(super) fn behind(self, index: usize) -> Ticket {
        let id = JobId(u64::MAX - index as u64);
        Ticket { place: self.place + 1, id, slot: NO_SLOT }
    }
}

/// The needs by which searches compare waiting jobs: minimum number of nodes, and estimate. They
/// are stored apart from the jobs for cache locality.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScanKey {
    /// Lower bound on the number of nodes that the job needs to start.
    pub fewest: u64,
    pub estimate: f64,
}

const CHUNK: usize = 64;

/// List of waiting jobs, from which a job can be removed at any position.
///
/// Searches use the [`Line`] and the [`FormQueues`]. These are built on first use, since most
/// schedulers need neither. While they are not built, it takes **O(1)** to append or remove a job
/// or to read the next one.
#[derive(Default)]
pub(crate) struct Queue {
    jobs: Slab<Waiting>,
    first: Option<Ticket>,
    last: Option<Ticket>,
    line: OnceCell<Line>,
    form_queues: OnceCell<FormQueues>,
    /// Lowest possible queue position of the next appended job.
    ///
    /// The job gets this position, or twice its arrival index if that is larger.
    end: u64,
    /// The first ticket that a caller used although its job had left the queue.
    stale: Cell<Option<Ticket>>,
    /// Entry that is returned for a ticket whose job has left the queue. It can never start.
    placeholder: OnceCell<Box<Waiting>>,
}

struct Waiting {
    job: Job,
    key: ScanKey,
    /// Size and shape in which the job's request is put to the allocator. `None` if there are
    /// several sites, or if the job may get another size than requested.
    form: Option<Form>,
    ticket: Ticket,
    /// Slot of the job directly before or after another one in the queue; [`NO_SLOT`] if there is
    /// none.
    before: u32,
    after: u32,
}

const NO_SLOT: u32 = u32::MAX;

/// The waiting jobs by form: the size and shape in which a job's request is put to the allocator.
#[derive(Default)]
pub(crate) struct FormQueues {
    /// Waiting jobs of each form (size and shape of the request), by index of the form.
    lines: Vec<Line>,
    /// First waiting job of each requested size or shape, in queue order. A scheduling pass tries
    /// these jobs first.
    firsts: VecDeque<(Ticket, Form)>,
}

/// Waiting jobs in queue order, in chunks. A search skips a chunk if all of its jobs need too much.
///
/// With *q* jobs in chunks of *c*, removal takes **O(log q + c)**, and a search **O(q / c + c)**.
#[derive(Default)]
struct Line {
    chunks: VecDeque<Chunk>,
    /// Buffer of the chunk that was emptied last. It is reused, since a short queue often adds and
    /// removes chunks.
    recycled: Vec<(Ticket, ScanKey)>,
}

#[derive(Default)]
struct Chunk {
    /// Jobs in queue order. The first `gone` entries belong to removed jobs.
    jobs: Vec<(Ticket, ScanKey)>,
    gone: usize,
    /// Lower bounds on the needed nodes and on the estimated run times of the jobs of the chunk.
    least: Option<ScanKey>,
    taken_since: u32,
    /// Index of the job that the last search found. It is usually the next to be removed.
    found: Cell<usize>,
}

/// Number of removals after which the lower bounds of a chunk of the queue are recomputed.
///
/// Only removals of jobs that were at a lower bound count.
const LOOK_AGAIN: u32 = 8;

impl Chunk {
    #[inline]
    fn waiting(&self) -> &[(Ticket, ScanKey)] {
        &self.jobs[self.gone..]
    }

    fn first_place(&self) -> u64 {
        self.waiting()[0].0.place
    }

    fn insert(&mut self, ticket: Ticket, key: ScanKey) {
        let at = self.before(ticket.place);
        self.jobs.insert(self.gone + at, (ticket, key));
        self.least = Some(self.least.map_or(key, |least| least.min(key)));
    }

    #[inline(always)]
    fn push(&mut self, ticket: Ticket, key: ScanKey) {
        // Moves the waiting jobs over removed ones rather than enlarging the buffer.
        if self.jobs.len() == self.jobs.capacity() && 2 * self.gone > self.jobs.len() {
            self.jobs.drain(..self.gone);
            self.gone = 0;
        }
        self.jobs.push((ticket, key));
        self.least = Some(self.least.map_or(key, |least| least.min(key)));
    }

    fn remove(&mut self, ticket: Ticket) {
        let (removed, key) = self.jobs.remove(self.gone + self.before(ticket.place));
        assert!(removed == ticket, "a ticket is good until its job starts");
        self.has_lost(key);
    }

    /// Number of jobs of the chunk whose queue position is lower than `place`.
    ///
    /// The index that the last search found is tried first.
    #[inline]
    fn before(&self, place: u64) -> usize {
        let (waiting, found) = (self.waiting(), self.found.get());
        let is_before = |(other, _): &(Ticket, ScanKey)| other.place < place;
        let is_behind_others = found == 0 || waiting.get(found - 1).is_some_and(is_before);
        if is_behind_others && !waiting.get(found).is_some_and(is_before) {
            return found;
        }
        waiting.iter().map(|(other, _)| usize::from(other.place < place)).sum()
    }

    /// Updates a chunk of the queue after a job with the needs `key` was removed from it.
    ///
    /// After several removals that may have raised the lower bounds of needs, recomputes these
    /// bounds.
    fn has_lost(&mut self, key: ScanKey) {
        let was_more = |least: ScanKey| key.fewest > least.fewest && key.estimate > least.estimate;
        if self.least.is_some_and(was_more) {
            return;
        }
        self.taken_since += 1;
        if self.taken_since == LOOK_AGAIN {
            self.taken_since = 0;
            let keys = self.jobs[self.gone..].iter().map(|&(_, key)| key);
            self.least = keys.reduce(ScanKey::min);
        }
    }

    fn next_that(&self, from: usize, may_start: impl Fn(ScanKey) -> bool) -> Option<Ticket> {
        let waiting = self.waiting();
        let behind = waiting[from..].iter().position(|(_, key)| may_start(*key))?;
        self.found.set(from + behind);
        Some(waiting[from + behind].0)
    }
}

impl ScanKey {
    fn min(self, other: ScanKey) -> ScanKey {
        ScanKey {
            fewest: self.fewest.min(other.fewest),
            estimate: self.estimate.min(other.estimate),
        }
    }
}

impl Line {
    #[inline(always)]
    fn push(&mut self, ticket: Ticket, key: ScanKey) {
        match self.chunks.back_mut().filter(|chunk| chunk.waiting().len() < CHUNK) {
            Some(last) => last.push(ticket, key),
            None => {
                let jobs = std::mem::take(&mut self.recycled);
                let mut chunk = Chunk { jobs, ..Chunk::default() };
                chunk.push(ticket, key);
                self.chunks.push_back(chunk);
            }
        }
    }

    fn insert(&mut self, ticket: Ticket, key: ScanKey) {
        let after = self.chunks.partition_point(|chunk| chunk.first_place() <= ticket.place);
        match self.chunks.get_mut(after.saturating_sub(1)) {
            Some(chunk) => chunk.insert(ticket, key),
            None => self.push(ticket, key),
        }
    }

    fn first(&self) -> Option<Ticket> {
        self.chunks.front().map(|chunk| chunk.waiting()[0].0)
    }

    fn last(&self) -> Option<Ticket> {
        self.chunks.back()?.jobs.last().map(|(ticket, _)| *ticket)
    }

    /// Frees most of the memory of this list of waiting jobs if it is empty.
    ///
    /// There may be thousands of such lists, one for each form of request.
    fn shrink(&mut self) {
        if self.chunks.is_empty() && self.recycled.capacity() > 4 {
            *self = Line::default();
        }
    }

    /// Next job in the queue behind `ticket` that satisfies `may_start`. The job of `ticket` itself
    /// need not be in the queue.
    fn next_that(&self, ticket: Ticket, may_start: impl Fn(ScanKey) -> bool) -> Option<Ticket> {
        let first = self.chunks.front()?;
        // Most searches start behind the head of the queue.
        let (here, next) = if first.first_place() == ticket.place {
            (0, 1)
        } else {
            match self.chunks.partition_point(|chunk| chunk.first_place() <= ticket.place) {
                0 => (0, 0),
                after => (after - 1, self.chunks[after - 1].before(ticket.place + 1)),
            }
        };
        let mut from = next;
        for chunk in self.chunks.range(here..) {
            if chunk.least.is_some_and(&may_start)
                && let Some(found) = chunk.next_that(from, &may_start)
            {
                return Some(found);
            }
            from = 0;
        }
        None
    }

    fn remove(&mut self, ticket: Ticket) {
        // Most often the first job of the line is removed.
        if let Some(first) = self.chunks.front_mut()
            && let Some(&(_, key)) =
                first.waiting().first().filter(|(other, _)| other.slot == ticket.slot)
        {
            first.gone += 1;
            if first.gone < first.jobs.len() {
                first.has_lost(key);
            } else if let Some(emptied) = self.chunks.pop_front() {
                self.recycle(emptied);
            }
            return;
        }
        // Otherwise often the last job, which could start as soon as it arrived.
        if let Some(last) = self.chunks.back_mut()
            && let Some((_, key)) = last.jobs.pop_if(|(other, _)| other.slot == ticket.slot)
        {
            if last.gone < last.jobs.len() {
                last.has_lost(key);
            } else if let Some(emptied) = self.chunks.pop_back() {
                self.recycle(emptied);
            }
            return;
        }
        let after = self.chunks.partition_point(|chunk| chunk.first_place() <= ticket.place);
        let chunk = after.checked_sub(1).expect("a ticket is good until its job starts");
        self.chunks[chunk].remove(ticket);
        if self.chunks[chunk].waiting().is_empty()
            && let Some(emptied) = self.chunks.remove(chunk)
        {
            self.recycle(emptied);
        }
    }

    fn recycle(&mut self, emptied: Chunk) {
        self.recycled = emptied.jobs;
        self.recycled.clear();
    }
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, id: JobId, job: Job, fewest: u64, form: Option<Form>) -> Ticket {
        let place = (2 * id.0).max(self.end);
        self.end = place + 2;
        let key = ScanKey { fewest, estimate: job.estimate };
        let ticket = self.link(Ticket { place, id, slot: NO_SLOT }, None, job, key, form);
        if let Some(line) = self.line.get_mut() {
            line.push(ticket, key);
        }
        if let (Some(form_queues), Some(form)) = (self.form_queues.get_mut(), form) {
            form_queues.push(ticket, key, form, Line::push);
        }
        ticket
    }

    /// Requeues a job, at the end or at its old position. The old position lies before all jobs
    /// that were requeued at the end.
    pub(crate) fn put_back(
        &mut self,
        id: JobId,
        job: Job,
        fewest: u64,
        to_the_end: bool,
        form: Option<Form>,
    ) -> Ticket {
        if to_the_end {
            return self.push(id, job, fewest, form);
        }
        let key = ScanKey { fewest, estimate: job.estimate };
        let ticket = Ticket { place: 2 * id.0 + 1, id, slot: NO_SLOT };
        let next = self.next_that(ticket, |_| true);
        let ticket = self.link(ticket, next, job, key, form);
        if let Some(line) = self.line.get_mut() {
            line.insert(ticket, key);
        }
        if let (Some(form_queues), Some(form)) = (self.form_queues.get_mut(), form) {
            form_queues.push(ticket, key, form, Line::insert);
        }
        ticket
    }

    /// Stores a job right before the job `next`. If `next` is `None`, stores it at the end.
    #[inline(always)]
    fn link(
        &mut self,
        ticket: Ticket,
        next: Option<Ticket>,
        job: Job,
        key: ScanKey,
        form: Option<Form>,
    ) -> Ticket {
        let slot = self.jobs.vacant_key() as u32;
        let ticket = Ticket { slot, ..ticket };
        let (before, after) = match next {
            None => (self.last.map_or(NO_SLOT, |last| last.slot), NO_SLOT),
            Some(next) => (self.jobs[next.slot as usize].before, next.slot),
        };
        self.jobs.insert(Waiting { job, key, form, ticket, before, after });
        match self.jobs.get_mut(before as usize) {
            Some(waiting) => waiting.after = slot,
            None => self.first = Some(ticket),
        }
        match self.jobs.get_mut(after as usize) {
            Some(waiting) => waiting.before = slot,
            None => self.last = Some(ticket),
        }
        ticket
    }

    fn line(&self) -> &Line {
        self.line.get_or_init(|| {
            let mut line = Line::default();
            self.iter().for_each(|ticket| line.push(ticket, self.scan_key(ticket)));
            line
        })
    }

    fn iter(&self) -> impl Iterator<Item = Ticket> {
        std::iter::successors(self.first, |&ticket| self.after(ticket))
    }

    pub(crate) fn form_queues(&self) -> &FormQueues {
        self.form_queues.get_or_init(|| {
            let mut form_queues = FormQueues::default();
            for ticket in self.iter() {
                if let Some(form) = self.form(ticket) {
                    form_queues.push(ticket, self.scan_key(ticket), form, Line::push);
                }
            }
            form_queues
        })
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<Ticket> {
        self.first
    }

    /// The next waiting job behind `ticket`. The job of `ticket` itself need not wait any more.
    pub(crate) fn after(&self, ticket: Ticket) -> Option<Ticket> {
        match self.jobs.get(ticket.slot as usize).filter(|waiting| waiting.ticket == ticket) {
            Some(waiting) => self.jobs.get(waiting.after as usize).map(|after| after.ticket),
            None => self.next_that(ticket, |_| true),
        }
    }

    /// The next job behind `ticket` that satisfies `may_start`. If `may_start` holds for some
    /// needs, it must hold for all lower needs.
    pub(crate) fn next_that(
        &self,
        ticket: Ticket,
        may_start: impl Fn(ScanKey) -> bool,
    ) -> Option<Ticket> {
        self.line().next_that(ticket, may_start)
    }

    pub(crate) fn has(&self, ticket: Ticket) -> bool {
        let waiting = self.jobs.get(ticket.slot as usize);
        waiting.is_some_and(|waiting| waiting.ticket.place == ticket.place)
    }

    /// The queue entry of a ticket. If its job has left the queue, this is a placeholder.
    #[inline]
    fn waiting(&self, ticket: Ticket) -> &Waiting {
        match self.jobs.get(ticket.slot as usize) {
            Some(waiting) if waiting.ticket.place == ticket.place => waiting,
            _ => self.stale(ticket),
        }
    }

    #[cold]
    fn stale(&self, ticket: Ticket) -> &Waiting {
        self.stale.set(self.stale.get().or(Some(ticket)));
        self.placeholder.get_or_init(|| {
            let job = Job::new(0, Time::ZERO, Request::Nodes(1), 0.0);
            let key = ScanKey { fewest: u64::MAX, estimate: 0.0 };
            Box::new(Waiting { job, key, form: None, ticket, before: NO_SLOT, after: NO_SLOT })
        })
    }

    #[inline]
    pub(crate) fn stale_ticket(&self) -> Option<Ticket> {
        self.stale.get()
    }

    pub(crate) fn job(&self, ticket: Ticket) -> &Job {
        &self.waiting(ticket).job
    }

    #[inline]
    pub(crate) fn form(&self, ticket: Ticket) -> Option<Form> {
        self.waiting(ticket).form
    }

    #[inline]
    pub(crate) fn scan_key(&self, ticket: Ticket) -> ScanKey {
        self.waiting(ticket).key
    }

    pub(crate) fn around(&self, ticket: Ticket, now: Time) -> Around<'_> {
        Around { queue: self, ticket, now }
    }

    /// Removes a job from the queue; `None` if it has already left the queue.
    #[inline]
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Job> {
        let waiting = self.jobs.get(ticket.slot as usize);
        if waiting.is_none_or(|waiting| waiting.ticket.place != ticket.place) {
            self.stale(ticket);
            return None;
        }
        let Waiting { job, form, before, after, .. } = self.jobs.remove(ticket.slot as usize);
        match self.jobs.get_mut(before as usize) {
            Some(waiting) => waiting.after = after,
            None => self.first = self.jobs.get(after as usize).map(|waiting| waiting.ticket),
        }
        match self.jobs.get_mut(after as usize) {
            Some(waiting) => waiting.before = before,
            None => self.last = self.jobs.get(before as usize).map(|waiting| waiting.ticket),
        }
        if let Some(line) = self.line.get_mut() {
            line.remove(ticket);
        }
        if let (Some(form_queues), Some(form)) = (self.form_queues.get_mut(), form) {
            form_queues.remove(ticket, form);
        }
        Some(job)
    }
}

impl FormQueues {
    /// Adds a job to the list of waiting jobs that have the form `form`.
    ///
    /// The function `join` inserts the job into this list.
    fn push(
        &mut self,
        ticket: Ticket,
        key: ScanKey,
        form: Form,
        join: impl Fn(&mut Line, Ticket, ScanKey),
    ) {
        let FormQueues { lines, firsts } = self;
        if lines.len() <= form.index() {
            lines.resize_with(form.index() + 1, Line::default);
        }
        let line = &mut lines[form.index()];
        let first = line.first();
        if first.is_none_or(|first| ticket < first) {
            if let Some(first) = first {
                take_first(firsts, first);
            }
            put_first(firsts, ticket, form);
        }
        join(line, ticket, key);
    }

    fn remove(&mut self, ticket: Ticket, form: Form) {
        let line = &mut self.lines[form.index()];
        let was_first = line.first() == Some(ticket);
        line.remove(ticket);
        if was_first {
            take_first(&mut self.firsts, ticket);
            if let Some(next) = line.first() {
                put_first(&mut self.firsts, next, form);
            }
        }
        line.shrink();
    }

    /// First waiting job for each size and shape of request of at most `most` nodes, in queue
    /// order.
    pub(crate) fn firsts(&self, most: u64) -> impl Iterator<Item = (Ticket, Form)> {
        self.firsts.iter().filter(move |(_, form)| form.nodes <= most).copied()
    }

    #[inline]
    pub(crate) fn next_that(
        &self,
        form: Form,
        ticket: Ticket,
        may_start: impl Fn(ScanKey) -> bool,
    ) -> Option<Ticket> {
        self.lines[form.index()].next_that(ticket, may_start)
    }

    #[inline]
    pub(crate) fn has_more(&self, form: Form, ticket: Ticket) -> bool {
        self.lines[form.index()].last().is_some_and(|last| last.place > ticket.place)
    }
}

/// Inserts the first waiting job of a form (the size and shape of a request) into `firsts`.
/// Its place in the list is nearly always the end.
fn put_first(firsts: &mut VecDeque<(Ticket, Form)>, ticket: Ticket, form: Form) {
    if firsts.back().is_none_or(|(last, _)| last.place < ticket.place) {
        firsts.push_back((ticket, form));
    } else {
        let at = firsts.partition_point(|(other, _)| other.place < ticket.place);
        firsts.insert(at, (ticket, form));
    }
}

fn take_first(firsts: &mut VecDeque<(Ticket, Form)>, ticket: Ticket) {
    if firsts.front().is_some_and(|(first, _)| first.place == ticket.place) {
        firsts.pop_front();
    } else {
        let at = firsts.partition_point(|(other, _)| other.place < ticket.place);
        firsts.remove(at);
    }
}

/// The queue as a sizing or a selector sees it while it handles one of the waiting jobs.
pub(crate) struct Around<'a> {
    queue: &'a Queue,
    ticket: Ticket,
    now: Time,
}

impl QueueView for Around<'_> {
    fn others(&self) -> Box<dyn Iterator<Item = &Job> + '_> {
        let others = self.queue.iter().filter(|ticket| *ticket != self.ticket);
        Box::new(others.map(|ticket| self.queue.job(ticket)))
    }

    fn was_empty(&self) -> bool {
        self.queue.first().is_none_or(|first| self.queue.job(first).arrival == self.now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::collections::BTreeSet;

    use super::*;

    fn job(size: u32, estimate: f64) -> Job {
        Job { estimate, ..Job::new(1, Time::ZERO, Request::Nodes(size), 1.0) }
    }

    fn form(size: u64) -> Option<Form> {
        (size > 2).then(|| Form::numbered(9 - size as u32, size))
    }

    #[test]
    fn no_two_jobs_have_one_place() {
        let mut queue = Queue::default();
        let push = |queue: &mut Queue, id| queue.push(JobId(id), job(1, 1.0), 1, None);
        let first = push(&mut queue, 0);
        let second = push(&mut queue, 1);
        queue.remove(first);
        let first = queue.put_back(JobId(0), job(1, 1.0), 1, true, None);
        let third = push(&mut queue, 2);
        queue.remove(third);
        let third = queue.put_back(JobId(2), job(1, 1.0), 1, false, None);
        let walked = std::iter::successors(queue.first(), |&ticket| queue.after(ticket));
        assert!(walked.eq([second, first, third]));
        for ticket in [third, second, first] {
            queue.remove(ticket);
        }
        assert_eq!(queue.len(), 0);
    }

    proptest! {
        #[test]
        fn the_queue_agrees_with_a_vector(
            ops in prop::collection::vec((0_u8..6, any::<prop::sample::Index>(), 0_u64..9), 1..900),
            to_the_end in any::<bool>(),
            bounds in (0_u64..9, 0_u64..9),
            begin in 0_usize..900,
            searched in 0_usize..900,
        ) {
            let mut queue = Queue::default();
            let mut vector: Vec<(Ticket, u64, f64)> = Vec::new();
            let mut left: Vec<JobId> = Vec::new();
            for (number, (op, at, size)) in ops.into_iter().enumerate() {
                if op > 3 && !left.is_empty() {
                    let id = left.swap_remove(at.index(left.len()));
                    let estimate = (number * 3 % 10) as f64;
                    let job = job(size as u32, estimate);
                    let ticket = queue.put_back(id, job, size, to_the_end, form(size));
                    let before = vector.iter().take_while(|(other, ..)| other.id < id).count();
                    let place = if to_the_end { vector.len() } else { before };
                    vector.insert(place, (ticket, size, estimate));
                } else if op > 0 || vector.is_empty() {
                    let estimate = (number * 7 % 10) as f64;
                    if number == begin {
                        queue.form_queues();
                    }
                    let (id, job) = (JobId(number as u64), job(size as u32, estimate));
                    let ticket = queue.push(id, job, size, form(size));
                    vector.push((ticket, size, estimate));
                } else {
                    let (ticket, ..) = vector.remove(at.index(vector.len()));
                    queue.remove(ticket);
                    left.push(ticket.id);
                    if number > searched {
                        let next = vector.iter().map(|(other, ..)| *other).find(|other| *other > ticket);
                        prop_assert_eq!(queue.after(ticket), next, "also behind who is gone");
                    }
                }
            }
            let walked: Vec<Ticket> =
                std::iter::successors(queue.first(), |&ticket| queue.after(ticket)).collect();
            prop_assert!(walked.iter().eq(vector.iter().map(|(ticket, ..)| ticket)));
            prop_assert_eq!(queue.len(), vector.len());
            let (fewest, estimate) = bounds;
            let may_start = |key: ScanKey| {
                key.fewest <= fewest && key.estimate <= estimate as f64
            };
            for (i, &(ticket, size, _)) in vector.iter().enumerate() {
                prop_assert_eq!(queue.scan_key(ticket).fewest, size);
                let expected = vector[i + 1..].iter().find(|&&(_, fewest, estimate)| {
                    may_start(ScanKey { fewest, estimate })
                });
                prop_assert_eq!(queue.next_that(ticket, may_start), expected.map(|e| e.0));
                prop_assert_eq!(queue.form(ticket), form(size));
                let form_queues = queue.form_queues();
                for (_, form) in form_queues.firsts(9) {
                    let mut behind =
                        vector[i + 1..].iter().filter(|(_, fewest, _)| *fewest == form.nodes);
                    prop_assert_eq!(form_queues.has_more(form, ticket), behind.clone().next().is_some());
                    let expected =
                        behind.find(|&&(_, fewest, estimate)| may_start(ScanKey { fewest, estimate }));
                    let next = form_queues.next_that(form, ticket, may_start);
                    prop_assert_eq!(next, expected.map(|e| e.0));
                }
            }
            let firsts: Vec<Ticket> = queue.form_queues().firsts(6).map(|(first, _)| first).collect();
            let mut seen = BTreeSet::new();
            let is_first = |(_, size, _): &&(Ticket, u64, f64)| (3..=6).contains(size) && seen.insert(*size);
            let expected: Vec<Ticket> = vector.iter().filter(is_first).map(|(ticket, ..)| *ticket).collect();
            prop_assert_eq!(firsts, expected);
        }
    }
}
