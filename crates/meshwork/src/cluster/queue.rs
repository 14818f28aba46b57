//! The jobs that wait, in order of arrival.

use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;

use slab::Slab;

use super::forms::Form;
use crate::job::{Job, Request, Time};
use crate::observe::{JobId, Running};
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
/// Each job knows its neighbours, in order of arrival. Once someone has searched for one that may start, jobs stand in a
/// line that can be searched, and, once someone has asked which of them are alike, in a line for each form as well: logs
/// have tens of thousands of waiting jobs and a few hundred forms. Most schedulers only take the first, or one of which they
/// know, and for them no line is kept.
///
/// # Complexity
/// **O(1)** to append a job, to take one, and to see the first or the next. Besides, that of a [`Line`], and of its
/// [`Kinds`], where they are kept. Memory grows with the jobs that wait now.
#[derive(Default)]
pub(crate) struct Queue {
    jobs: Slab<Waiting>,
    first: Option<Ticket>,
    last: Option<Ticket>,
    /// Kept once someone has searched it.
    line: OnceCell<Line>,
    /// Kept once someone has asked for them.
    kinds: OnceCell<Kinds>,
    /// The first place behind all that have joined it: twice the number of the next job to arrive, or more, once jobs have
    /// been sent to its end.
    end: u64,
    /// The first ticket that was used after its job had left the queue.
    stale: Cell<Option<Ticket>>,
    /// What such a ticket is answered with until the pass ends, and the run with it: a job that can never start.
    nobody: OnceCell<Box<Waiting>>,
}

struct Waiting {
    /// Where the job stands, and will when it runs: it is large, and is not moved.
    room: Box<Running>,
    glance: Glance,
    /// Where requests have one form.
    form: Option<Form>,
    ticket: Ticket,
    /// The slots of its neighbours, or [`NOBODY`].
    before: u32,
    after: u32,
}

/// No job waits in this slot.
const NOBODY: u32 = u32::MAX;

/// The waiting jobs of each form, as the allocator is asked for it.
///
/// # Complexity
/// Besides that of a [`Line`], **O(log k)** comparisons for *k* forms of which jobs wait to append one that is the first of its form, or
/// to take the first, and up to *k* / 2 moves in one piece of memory.
#[derive(Default)]
pub(crate) struct Kinds {
    /// Those who wait, by the number of their form.
    lines: Vec<Line>,
    /// The first job of each, in order: a pass begins with these.
    firsts: VecDeque<(Ticket, Form)>,
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
    spare: Vec<(Ticket, Glance)>,
}

#[derive(Default)]
struct Chunk {
    /// The jobs in order, behind those that have gone from the front, which is where most go.
    jobs: Vec<(Ticket, Glance)>,
    gone: usize,
    /// At most what any of them needs: exact when last looked at, and too low since, if at all.
    least: Option<Glance>,
    taken_since: u32,
    /// Where a search found one last: it is taken next, as a rule, and one goes on from there.
    found: Cell<usize>,
}

/// After how many jobs taken from a chunk its least need is looked at anew.
const LOOK_AGAIN: u32 = 8;

impl Chunk {
    #[inline]
    fn waiting(&self) -> &[(Ticket, Glance)] {
        &self.jobs[self.gone..]
    }

    fn first_place(&self) -> u64 {
        self.waiting()[0].0.place
    }

    /// Puts a job among the others.
    fn insert(&mut self, ticket: Ticket, glance: Glance) {
        let at = self.before(ticket.place);
        self.jobs.insert(self.gone + at, (ticket, glance));
        self.least = Some(self.least.map_or(glance, |least| least.min(glance)));
    }

    #[inline(always)]
    fn push(&mut self, ticket: Ticket, glance: Glance) {
        // Rather than to grow, it moves what waits to where others have gone from.
        if self.jobs.len() == self.jobs.capacity() && 2 * self.gone > self.jobs.len() {
            self.jobs.drain(..self.gone);
            self.gone = 0;
        }
        self.jobs.push((ticket, glance));
        self.least = Some(self.least.map_or(glance, |least| least.min(glance)));
    }

    fn remove(&mut self, ticket: Ticket) {
        let (removed, glance) = self.jobs.remove(self.gone + self.before(ticket.place));
        assert!(removed == ticket, "a ticket is good until its job starts");
        self.has_lost(glance);
    }

    /// How many of its jobs stand before this place: known, or counted, since a count of so few waits for nothing, where each step of a
    /// search waits for the one before it.
    #[inline]
    fn before(&self, place: u64) -> usize {
        let (waiting, found) = (self.waiting(), self.found.get());
        let is_before = |(other, _): &(Ticket, Glance)| other.place < place;
        let is_behind_others = found == 0 || waiting.get(found - 1).is_some_and(is_before);
        if is_behind_others && !waiting.get(found).is_some_and(is_before) {
            return found;
        }
        waiting.iter().map(|(other, _)| usize::from(other.place < place)).sum()
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
            let glances = self.jobs[self.gone..].iter().map(|&(_, glance)| glance);
            self.least = glances.reduce(Glance::min);
        }
    }

    fn next_that(&self, from: usize, may_start: impl Fn(Glance) -> bool) -> Option<Ticket> {
        let waiting = self.waiting();
        let behind = waiting[from..].iter().position(|(_, glance)| may_start(*glance))?;
        self.found.set(from + behind);
        Some(waiting[from + behind].0)
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
    #[inline(always)]
    fn push(&mut self, ticket: Ticket, glance: Glance) {
        match self.chunks.back_mut().filter(|chunk| chunk.waiting().len() < CHUNK) {
            Some(last) => last.push(ticket, glance),
            None => {
                let jobs = std::mem::take(&mut self.spare);
                let mut chunk = Chunk { jobs, ..Chunk::default() };
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
        self.chunks.front().map(|chunk| chunk.waiting()[0].0)
    }

    fn last(&self) -> Option<Ticket> {
        self.chunks.back()?.jobs.last().map(|(ticket, _)| *ticket)
    }

    /// Where nobody waits, only the room of a few is kept: there may be thousands of such lines.
    fn save_room(&mut self) {
        if self.chunks.is_empty() && self.spare.capacity() > 4 {
            *self = Line::default();
        }
    }

    /// The next job after this one, which need not stand here, of which `may_start` holds.
    fn next_that(&self, ticket: Ticket, may_start: impl Fn(Glance) -> bool) -> Option<Ticket> {
        let first = self.chunks.front()?;
        // Most often it is the head of the queue behind which one looks.
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
        // Most often it is the first that starts.
        if let Some(first) = self.chunks.front_mut()
            && let Some(&(_, glance)) =
                first.waiting().first().filter(|(other, _)| other.slot == ticket.slot)
        {
            first.gone += 1;
            if first.gone < first.jobs.len() {
                first.has_lost(glance);
            } else if let Some(emptied) = self.chunks.pop_front() {
                self.keep_room(emptied);
            }
            return;
        }
        // Or the last, for which there was room as it came.
        if let Some(last) = self.chunks.back_mut()
            && let Some((_, glance)) = last.jobs.pop_if(|(other, _)| other.slot == ticket.slot)
        {
            if last.gone < last.jobs.len() {
                last.has_lost(glance);
            } else if let Some(emptied) = self.chunks.pop_back() {
                self.keep_room(emptied);
            }
            return;
        }
        let after = self.chunks.partition_point(|chunk| chunk.first_place() <= ticket.place);
        let chunk = after.checked_sub(1).expect("a ticket is good until its job starts");
        self.chunks[chunk].remove(ticket);
        if self.chunks[chunk].waiting().is_empty()
            && let Some(emptied) = self.chunks.remove(chunk)
        {
            self.keep_room(emptied);
        }
    }

    fn keep_room(&mut self, emptied: Chunk) {
        self.spare = emptied.jobs;
        self.spare.clear();
    }
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Appends a job, behind all others.
    #[inline(always)]
    pub(crate) fn push(&mut self, room: Box<Running>, fewest: u64, form: Option<Form>) -> Ticket {
        let id = room.id;
        let place = (2 * id.0).max(self.end);
        self.end = place + 2;
        let glance = Glance { fewest, estimate: room.job.estimate };
        let ticket = self.stand(Ticket { place, id, slot: NOBODY }, None, room, glance, form);
        if let Some(line) = self.line.get_mut() {
            line.push(ticket, glance);
        }
        if let (Some(kinds), Some(form)) = (self.kinds.get_mut(), form) {
            kinds.push(ticket, glance, form, Line::push);
        }
        ticket
    }

    /// A job that has waited before joins the queue again: at the end, or else where it stood when it arrived, before any
    /// job that has been sent to the end since.
    pub(crate) fn put_back(
        &mut self,
        room: Box<Running>,
        fewest: u64,
        to_the_end: bool,
        form: Option<Form>,
    ) -> Ticket {
        if to_the_end {
            return self.push(room, fewest, form);
        }
        let id = room.id;
        let glance = Glance { fewest, estimate: room.job.estimate };
        let ticket = Ticket { place: 2 * id.0 + 1, id, slot: NOBODY };
        let next = self.next_that(ticket, |_| true);
        let ticket = self.stand(ticket, next, room, glance, form);
        if let Some(line) = self.line.get_mut() {
            line.insert(ticket, glance);
        }
        if let (Some(kinds), Some(form)) = (self.kinds.get_mut(), form) {
            kinds.push(ticket, glance, form, Line::insert);
        }
        ticket
    }

    /// A job takes a slot, between the next one and the one before that, or behind all.
    #[inline(always)]
    fn stand(
        &mut self,
        ticket: Ticket,
        next: Option<Ticket>,
        room: Box<Running>,
        glance: Glance,
        form: Option<Form>,
    ) -> Ticket {
        let slot = self.jobs.vacant_key() as u32;
        let ticket = Ticket { slot, ..ticket };
        let (before, after) = match next {
            None => (self.last.map_or(NOBODY, |last| last.slot), NOBODY),
            Some(next) => (self.jobs[next.slot as usize].before, next.slot),
        };
        self.jobs.insert(Waiting { room, glance, form, ticket, before, after });
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

    /// All that wait, as one line; it is kept from now on.
    fn line(&self) -> &Line {
        self.line.get_or_init(|| {
            let mut line = Line::default();
            self.iter().for_each(|ticket| line.push(ticket, self.glance(ticket)));
            line
        })
    }

    /// All that wait, in order.
    fn iter(&self) -> impl Iterator<Item = Ticket> {
        std::iter::successors(self.first, |&ticket| self.after(ticket))
    }

    /// The waiting jobs of each form, where requests have one; they are kept from now on.
    pub(crate) fn kinds(&self) -> &Kinds {
        self.kinds.get_or_init(|| {
            let mut kinds = Kinds::default();
            for ticket in self.iter() {
                if let Some(form) = self.form(ticket) {
                    kinds.push(ticket, self.glance(ticket), form, Line::push);
                }
            }
            kinds
        })
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<Ticket> {
        self.first
    }

    /// The job that arrived next after this one, which need not wait any more, of those that wait.
    pub(crate) fn after(&self, ticket: Ticket) -> Option<Ticket> {
        match self.jobs.get(ticket.slot as usize).filter(|waiting| waiting.ticket == ticket) {
            Some(waiting) => self.jobs.get(waiting.after as usize).map(|after| after.ticket),
            None => self.next_that(ticket, |_| true),
        }
    }

    /// The next job after this one of which `may_start` holds. It must not hold of a job if it does
    /// not hold of one that needs less in every way.
    pub(crate) fn next_that(
        &self,
        ticket: Ticket,
        may_start: impl Fn(Glance) -> bool,
    ) -> Option<Ticket> {
        self.line().next_that(ticket, may_start)
    }

    /// The job of a ticket, if the ticket is still good.
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
        self.nobody.get_or_init(|| {
            let job = Job::new(0, Time::ZERO, Request::Nodes(1), 0.0);
            let room = Box::new(Running::waiting(ticket.id, job));
            let glance = Glance { fewest: u64::MAX, estimate: 0.0 };
            Box::new(Waiting { room, glance, form: None, ticket, before: NOBODY, after: NOBODY })
        })
    }

    /// The first ticket that was used after its job had left the queue, if any was.
    #[inline]
    pub(crate) fn stale_ticket(&self) -> Option<Ticket> {
        self.stale.get()
    }

    pub(crate) fn job(&self, ticket: Ticket) -> &Job {
        &self.waiting(ticket).room.job
    }

    /// The form in which it is asked for, where requests have one.
    #[inline]
    pub(crate) fn form(&self, ticket: Ticket) -> Option<Form> {
        self.waiting(ticket).form
    }

    /// What a pass asks of a job.
    #[inline]
    pub(crate) fn glance(&self, ticket: Ticket) -> Glance {
        self.waiting(ticket).glance
    }

    /// The queue as it looks to one of its jobs.
    pub(crate) fn around(&self, ticket: Ticket, now: Time) -> Around<'_> {
        Around { queue: self, ticket, now }
    }

    /// Takes a job out; `None` if it has left the queue already.
    #[inline]
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Box<Running>> {
        let waiting = self.jobs.get(ticket.slot as usize);
        if waiting.is_none_or(|waiting| waiting.ticket.place != ticket.place) {
            self.stale(ticket);
            return None;
        }
        let Waiting { room, form, before, after, .. } = self.jobs.remove(ticket.slot as usize);
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
        if let (Some(kinds), Some(form)) = (self.kinds.get_mut(), form) {
            kinds.remove(ticket, form);
        }
        Some(room)
    }
}

impl Kinds {
    /// A job joins the line of its form, at its end or in its place.
    fn push(
        &mut self,
        ticket: Ticket,
        glance: Glance,
        form: Form,
        join: impl Fn(&mut Line, Ticket, Glance),
    ) {
        let Kinds { lines, firsts } = self;
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
        join(line, ticket, glance);
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
        line.save_room();
    }

    /// The first job of each form of up to so many processors, in order of arrival.
    pub(crate) fn firsts(&self, most: u64) -> impl Iterator<Item = (Ticket, Form)> {
        self.firsts.iter().filter(move |(_, form)| form.nodes <= most).copied()
    }

    /// As [`Queue::next_that`] among the jobs of one form.
    #[inline]
    pub(crate) fn next_that(
        &self,
        form: Form,
        ticket: Ticket,
        may_start: impl Fn(Glance) -> bool,
    ) -> Option<Ticket> {
        self.lines[form.index()].next_that(ticket, may_start)
    }

    /// Whether any job of a form stands behind this one.
    #[inline]
    pub(crate) fn has_more(&self, form: Form, ticket: Ticket) -> bool {
        self.lines[form.index()].last().is_some_and(|last| last.place > ticket.place)
    }
}

/// Nearly always it comes behind all others.
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

/// The queue as it looks to one of its jobs.
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

    fn room(id: JobId, size: u32, estimate: f64) -> Box<Running> {
        let request = Request::Nodes(size);
        let job = Job { estimate, ..Job::new(1, Time::ZERO, request, 1.0) };
        Box::new(Running::waiting(id, job))
    }

    fn form(size: u64) -> Option<Form> {
        (size > 2).then(|| Form::numbered(9 - size as u32, size))
    }

    /// One was sent to the end, and the next to arrive stands again where it stood.
    #[test]
    fn no_two_jobs_have_one_place() {
        let mut queue = Queue::default();
        let push = |queue: &mut Queue, id| queue.push(room(JobId(id), 1, 1.0), 1, None);
        let first = push(&mut queue, 0);
        let second = push(&mut queue, 1);
        queue.remove(first);
        let first = queue.put_back(room(JobId(0), 1, 1.0), 1, true, None);
        let third = push(&mut queue, 2);
        queue.remove(third);
        let third = queue.put_back(room(JobId(2), 1, 1.0), 1, false, None);
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
            searched in 0_usize..900,
        ) {
            let mut queue = Queue::default();
            let mut vector: Vec<(Ticket, u64, f64)> = Vec::new();
            let mut left: Vec<JobId> = Vec::new();
            for (number, (op, at, size)) in ops.into_iter().enumerate() {
                if op > 3 && !left.is_empty() {
                    let id = left.swap_remove(at.index(left.len()));
                    let estimate = (number * 3 % 10) as f64;
                    let room = room(id, size as u32, estimate);
                    let ticket = queue.put_back(room, size, to_the_end, form(size));
                    let before = vector.iter().take_while(|(other, ..)| other.id < id).count();
                    let place = if to_the_end { vector.len() } else { before };
                    vector.insert(place, (ticket, size, estimate));
                } else if op > 0 || vector.is_empty() {
                    let estimate = (number * 7 % 10) as f64;
                    if number == begin {
                        queue.kinds();
                    }
                    let room = room(JobId(number as u64), size as u32, estimate);
                    let ticket = queue.push(room, size, form(size));
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
            let may_start = |glance: Glance| {
                glance.fewest <= fewest && glance.estimate <= estimate as f64
            };
            for (i, &(ticket, size, _)) in vector.iter().enumerate() {
                prop_assert_eq!(queue.glance(ticket).fewest, size);
                let expected = vector[i + 1..].iter().find(|&&(_, fewest, estimate)| {
                    may_start(Glance { fewest, estimate })
                });
                prop_assert_eq!(queue.next_that(ticket, may_start), expected.map(|e| e.0));
                prop_assert_eq!(queue.form(ticket), form(size));
                let kinds = queue.kinds();
                for (_, form) in kinds.firsts(9) {
                    let mut behind =
                        vector[i + 1..].iter().filter(|(_, fewest, _)| *fewest == form.nodes);
                    prop_assert_eq!(kinds.has_more(form, ticket), behind.clone().next().is_some());
                    let expected =
                        behind.find(|&&(_, fewest, estimate)| may_start(Glance { fewest, estimate }));
                    let next = kinds.next_that(form, ticket, may_start);
                    prop_assert_eq!(next, expected.map(|e| e.0));
                }
            }
            let firsts: Vec<Ticket> = queue.kinds().firsts(6).map(|(first, _)| first).collect();
            let mut seen = BTreeSet::new();
            let is_first = |(_, size, _): &&(Ticket, u64, f64)| (3..=6).contains(size) && seen.insert(*size);
            let expected: Vec<Ticket> = vector.iter().filter(is_first).map(|(ticket, ..)| *ticket).collect();
            prop_assert_eq!(firsts, expected);
        }
    }
}
