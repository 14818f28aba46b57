//! Rows: waiting jobs next to each other in the queue that have equal node counts and spans.
//!
//! The jobs of a row are interchangeable, so the first to arrive gets the earliest start. A row has
//! a list of jobs, and a list of starts with a number of jobs for each. A start can thus be moved
//! without looking up a job.

use std::collections::VecDeque;

use crate::cluster::{Reservation, Ticket};
use crate::job::Time;

pub(super) struct Row {
    /// Number of the row, a group of interchangeable waiting jobs. Rows are numbered in queue
    /// order.
    pub(super) number: u64,
    pub(super) class: usize,
    pub(super) count: u64,
    /// Estimated run time, which is equal for all waiting jobs of this row.
    pub(super) span: f64,
    /// Earliest reserved start of a row of interchangeable jobs; infinity if the row is empty.
    pub(super) first: Time,
    /// Latest reserved start of the interchangeable jobs of a row; minus infinity without jobs.
    pub(super) last: Time,
    /// Jobs and their reserved starts. They are boxed, because most passes read only the other
    /// fields.
    promised: Box<Promised>,
}

struct Promised {
    /// Reservation that all interchangeable jobs of the row share, except for its start.
    promise: Reservation,
    jobs: VecDeque<Ticket>,
    /// Distinct reserved starts, each with its number of jobs, in order of time.
    starts: VecDeque<(Time, usize)>,
}

impl Row {
    pub(super) fn new(
        number: u64,
        class: usize,
        count: u64,
        promise: Reservation,
        job: Ticket,
    ) -> Row {
        let (at, span) = (promise.at, promise.span);
        let promised = Promised { promise, jobs: [job].into(), starts: [(at, 1)].into() };
        Row { number, class, count, span, first: at, last: at, promised: Box::new(promised) }
    }

    pub(super) fn until(&self, at: Time) -> Time {
        (at + self.span).max(at.next())
    }

    pub(super) fn wanted_by(&self, jobs: usize) -> i64 {
        self.count as i64 * jobs as i64
    }

    pub(super) fn fit_in(&self, free: i64) -> usize {
        usize::try_from(free / self.count.max(1) as i64).unwrap_or(0)
    }

    pub(super) fn len(&self) -> usize {
        self.promised.jobs.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.promised.jobs.is_empty()
    }

    pub(super) fn promises(&self) -> impl Iterator<Item = (Ticket, Reservation)> + '_ {
        let Promised { promise, jobs, starts } = &*self.promised;
        let starts = starts.iter().flat_map(|&(at, jobs)| std::iter::repeat_n(at, jobs));
        jobs.iter().zip(starts).map(|(job, at)| (*job, promise.moved_to(at)))
    }

    pub(super) fn is_continued_by(&self, promise: &Reservation) -> bool {
        let mine = &self.promised.promise;
        self.last <= promise.at
            && mine.span.to_bits() == promise.span.to_bits()
            && mine.hold == promise.hold
    }

    pub(super) fn push(&mut self, job: Ticket, at: Time) {
        self.promised.jobs.push_back(job);
        self.promised.start_last(at, 1);
        self.note_ends();
    }

    /// Joins two neighbouring rows of interchangeable jobs if possible; returns whether they were
    /// joined.
    pub(super) fn is_joined_by(&mut self, next: &mut Row) -> bool {
        let joins = self.class == next.class
            && self.last <= next.first
            && self.is_continued_by(&next.promised.promise.moved_to(next.first));
        if joins {
            self.promised.jobs.append(&mut next.promised.jobs);
            for (at, jobs) in next.promised.starts.drain(..) {
                self.promised.start_last(at, jobs);
            }
            self.note_ends();
        }
        joins
    }

    pub(super) fn start_after(&self, instant: Time) -> Option<Time> {
        self.starts_after(instant).next()
    }

    pub(super) fn starts_after(&self, instant: Time) -> impl Iterator<Item = Time> {
        let starts = &self.promised.starts;
        let first = match instant < self.first {
            true => 0,
            false => starts.partition_point(|(start, _)| *start <= instant),
        };
        starts.range(first..).map(|(start, _)| *start)
    }

    /// Last reserved start before an instant, among the reservations of a row of equal jobs.
    ///
    /// There must be such a start.
    pub(super) fn start_before(&self, instant: Time) -> Time {
        let starts = &self.promised.starts;
        starts[starts.partition_point(|(start, _)| *start < instant) - 1].0
    }

    /// Last reserved start at or before an instant. There must be at least one.
    pub(super) fn start_up_to(&self, instant: Time) -> Time {
        let starts = &self.promised.starts;
        starts[starts.partition_point(|(start, _)| *start <= instant) - 1].0
    }

    pub(super) fn starting_at(&self, start: Time) -> usize {
        self.promised.place_of(start).map_or(0, |place| self.promised.starts[place].1)
    }

    pub(super) fn replace(&mut self, start: Time, sooner: Time, jobs: usize) {
        self.promised.replace(start, sooner, jobs);
        self.note_ends();
    }

    pub(super) fn starts_before(&self, instant: Time) -> impl Iterator<Item = (Time, usize)> {
        self.promised.starts.iter().copied().take_while(move |(start, _)| *start < instant)
    }

    pub(super) fn put_off(&mut self, now: Time) {
        let late: usize = self.starts_before(now).map(|(_, jobs)| jobs).sum();
        let starts = &mut self.promised.starts;
        starts.drain(..starts.partition_point(|(start, _)| *start < now));
        if late > 0 {
            self.promised.add(now, late);
        }
        self.note_ends();
    }

    /// Tries to start each job whose reserved start has come, and removes the started jobs.
    pub(super) fn start_due(
        &mut self,
        now: Time,
        mut start: impl FnMut(Ticket, &Reservation) -> bool,
    ) {
        let Promised { promise, jobs, starts } = &mut *self.promised;
        let due = starts.partition_point(|(start, _)| *start <= now);
        let mut late = Vec::new();
        let due = starts.drain(..due).flat_map(|(at, jobs)| std::iter::repeat_n(at, jobs));
        for (at, job) in due.zip(std::iter::from_fn(|| jobs.pop_front())) {
            promise.at = at;
            if !start(job, promise) {
                late.push((job, at));
            }
        }
        for (job, at) in late.into_iter().rev() {
            self.promised.jobs.push_front(job);
            self.promised.add(at, 1);
        }
        self.note_ends();
    }

    pub(super) fn remove(&mut self, job: Ticket) -> Option<Time> {
        let Promised { jobs, starts, .. } = &mut *self.promised;
        let index = jobs.iter().position(|other| *other == job)?;
        jobs.remove(index);
        let mut up_to = 0;
        let place = starts.iter().position(|(_, jobs)| {
            up_to += jobs;
            index < up_to
        })?;
        let at = starts[place].0;
        starts[place].1 -= 1;
        if starts[place].1 == 0 {
            starts.remove(place);
        }
        self.note_ends();
        Some(at)
    }

    fn note_ends(&mut self) {
        let starts = &self.promised.starts;
        self.first = starts.front().map_or(Time::new(f64::INFINITY), |(start, _)| *start);
        self.last = starts.back().map_or(Time::new(f64::NEG_INFINITY), |(start, _)| *start);
    }
}

impl Promised {
    fn place_of(&self, start: Time) -> Result<usize, usize> {
        self.starts.binary_search_by_key(&start, |(start, _)| *start)
    }

    /// Appends `jobs` jobs that start at `at`, which must not be before any stored start.
    fn start_last(&mut self, at: Time, jobs: usize) {
        match self.starts.back_mut().filter(|(last, _)| *last == at) {
            Some((_, here)) => *here += jobs,
            None => self.starts.push_back((at, jobs)),
        }
    }

    fn add(&mut self, start: Time, jobs: usize) {
        match self.place_of(start) {
            Ok(place) => self.starts[place].1 += jobs,
            Err(place) => self.starts.insert(place, (start, jobs)),
        }
    }

    fn replace(&mut self, start: Time, sooner: Time, jobs: usize) {
        let Ok(place) = self.place_of(start) else { return };
        let is_next = place.checked_sub(1).is_none_or(|before| self.starts[before].0 < sooner);
        match &mut self.starts[place] {
            // Usually all jobs with this start move, and not as far as the preceding start.
            (at, here) if *here == jobs && is_next => *at = sooner,
            (_, here) => {
                *here -= jobs;
                if *here == 0 {
                    self.starts.remove(place);
                }
                self.add(sooner, jobs);
            }
        }
    }
}
