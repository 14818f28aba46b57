//! Rows: consecutive waiting jobs with equal requests and spans.
//!
//! Jobs stand in order of arrival and promised starts in order of time, and the *n*-th job has the
//! *n*-th start. So a row stores starts, each with a number of jobs, apart from its jobs: moving a
//! start changes which job has it, and no job has to be looked up.

use std::collections::VecDeque;

use crate::cluster::{Reservation, Ticket};
use crate::job::Time;

/// Jobs that ask for as much for as long, in order of arrival and of their promised starts.
pub(super) struct Row {
    /// Rows are numbered in order of arrival; parts of one have the same number.
    pub(super) number: u64,
    /// Which of the classes it belongs to: that of all rows that want as many processors.
    pub(super) class: usize,
    /// How many processors each of them wants.
    pub(super) count: u64,
    /// For how long.
    pub(super) span: f64,
    /// The first and the last of the promised starts; of none, never and at the beginning of all times.
    pub(super) first: Time,
    pub(super) last: Time,
    /// Apart, since most passes look at the above alone.
    promised: Box<Promised>,
}

struct Promised {
    /// What one of them is promised, at some instant.
    promise: Reservation,
    jobs: VecDeque<Ticket>,
    /// The promised starts, each with how many of them start then; none of them twice.
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

    /// Until when one of them holds its processors if it starts then.
    pub(super) fn until(&self, at: Time) -> Time {
        (at + self.span).max(at.next())
    }

    /// How many processors so many of them want.
    pub(super) fn wanted_by(&self, jobs: usize) -> i64 {
        self.count as i64 * jobs as i64
    }

    /// How many of them have room where so many processors are free.
    pub(super) fn fit_in(&self, free: i64) -> usize {
        usize::try_from(free / self.count.max(1) as i64).unwrap_or(0)
    }

    pub(super) fn len(&self) -> usize {
        self.promised.jobs.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.promised.jobs.is_empty()
    }

    /// Whether a promise may be made to the next of this row.
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

    /// Takes over the jobs of the next row, if they may be of this one.
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

    /// The first start after an instant.
    pub(super) fn start_after(&self, instant: Time) -> Option<Time> {
        self.starts_after(instant).next()
    }

    /// The starts after an instant, none of them twice.
    pub(super) fn starts_after(&self, instant: Time) -> impl Iterator<Item = Time> {
        let starts = &self.promised.starts;
        let first = match instant < self.first {
            true => 0,
            false => starts.partition_point(|(start, _)| *start <= instant),
        };
        starts.range(first..).map(|(start, _)| *start)
    }

    /// The last start before an instant, which is not the first or before it.
    pub(super) fn start_before(&self, instant: Time) -> Time {
        let starts = &self.promised.starts;
        starts[starts.partition_point(|(start, _)| *start < instant) - 1].0
    }

    /// The last start up to an instant, which is not before the first.
    pub(super) fn start_up_to(&self, instant: Time) -> Time {
        let starts = &self.promised.starts;
        starts[starts.partition_point(|(start, _)| *start <= instant) - 1].0
    }

    /// How many of them start then.
    pub(super) fn starting_at(&self, start: Time) -> usize {
        self.promised.place_of(start).map_or(0, |place| self.promised.starts[place].1)
    }

    /// So many of those with one start get another, which is sooner.
    pub(super) fn replace(&mut self, start: Time, sooner: Time, jobs: usize) {
        self.promised.replace(start, sooner, jobs);
        self.note_ends();
    }

    /// The starts before an instant, each with how many of them start then.
    pub(super) fn starts_before(&self, instant: Time) -> impl Iterator<Item = (Time, usize)> {
        self.promised.starts.iter().copied().take_while(move |(start, _)| *start < instant)
    }

    /// What should have started before now is to start now.
    pub(super) fn put_off(&mut self, now: Time) {
        let late: usize = self.starts_before(now).map(|(_, jobs)| jobs).sum();
        let starts = &mut self.promised.starts;
        starts.drain(..starts.partition_point(|(start, _)| *start < now));
        if late > 0 {
            self.promised.add(now, late);
        }
        self.note_ends();
    }

    /// Takes out those that start of those that are to start by now.
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

    /// So many start then, and none later.
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
            // As a rule all of them move, and not before others.
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
