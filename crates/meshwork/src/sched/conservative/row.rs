//! Waiting jobs that are alike, one right after the other.

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
    starts: VecDeque<Time>,
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
        let promised = Promised { promise, jobs: [job].into(), starts: [at].into() };
        Row { number, class, count, span, first: at, last: at, promised: Box::new(promised) }
    }

    /// Until when one of them holds its processors if it starts then.
    pub(super) fn until(&self, at: Time) -> Time {
        (at + self.span).max(at.next())
    }

    pub(super) fn len(&self) -> usize {
        self.promised.starts.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.promised.starts.is_empty()
    }

    /// The jobs, each with its promised start.
    pub(super) fn jobs(&self) -> Vec<(Ticket, Time)> {
        let Promised { jobs, starts, .. } = &*self.promised;
        jobs.iter().copied().zip(starts.iter().copied()).collect()
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
        self.promised.starts.push_back(at);
        self.note_ends();
    }

    /// Takes over the jobs of the next row, if they may be of this one.
    pub(super) fn is_joined_by(&mut self, next: &mut Row) -> bool {
        let joins = self.class == next.class
            && self.last <= next.first
            && self.is_continued_by(&next.promised.promise.moved_to(next.first));
        if joins {
            self.promised.jobs.append(&mut next.promised.jobs);
            self.promised.starts.append(&mut next.promised.starts);
            self.note_ends();
        }
        joins
    }

    /// Rows of these jobs, each in order of the starts.
    pub(super) fn divided(&self, jobs: Vec<(Ticket, Time)>) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for (job, at) in jobs {
            match rows.last_mut().filter(|row| row.last <= at) {
                Some(row) => row.push(job, at),
                None => {
                    let promise = self.promised.promise.moved_to(at);
                    rows.push(Row::new(self.number, self.class, self.count, promise, job));
                }
            }
        }
        rows
    }

    /// The first start after an instant.
    pub(super) fn start_after(&self, instant: Time) -> Option<Time> {
        if instant < self.first {
            return (!self.is_empty()).then_some(self.first);
        }
        let starts = &self.promised.starts;
        starts.get(starts.partition_point(|start| *start <= instant)).copied()
    }

    /// The last start up to an instant, which is not before the first.
    pub(super) fn start_up_to(&self, instant: Time) -> Time {
        let starts = &self.promised.starts;
        starts[starts.partition_point(|start| *start <= instant) - 1]
    }

    /// One start for another.
    pub(super) fn replace(&mut self, start: Time, by: Time) {
        let starts = &mut self.promised.starts;
        if starts.len() == 1 {
            starts[0] = by;
        } else {
            starts.remove(starts.partition_point(|other| *other <= start) - 1);
            starts.insert(starts.partition_point(|other| *other <= by), by);
        }
        self.note_ends();
    }

    /// The starts before an instant.
    pub(super) fn starts_before(&self, instant: Time) -> impl Iterator<Item = Time> {
        self.promised.starts.iter().copied().take_while(move |start| *start < instant)
    }

    /// What should have started before now is to start now.
    pub(super) fn put_off(&mut self, now: Time) {
        self.promised.starts.iter_mut().take_while(|start| **start < now).for_each(|s| *s = now);
        self.note_ends();
    }

    /// Takes out those that start of those that are to start by now.
    pub(super) fn start_due(
        &mut self,
        now: Time,
        mut start: impl FnMut(Ticket, &Reservation) -> bool,
    ) {
        let Promised { promise, jobs, starts } = &mut *self.promised;
        let due = starts.partition_point(|start| *start <= now);
        let mut late = Vec::new();
        for (job, at) in jobs.drain(..due).zip(starts.drain(..due)) {
            promise.at = at;
            if !start(job, promise) {
                late.push((job, at));
            }
        }
        for (job, at) in late.into_iter().rev() {
            jobs.push_front(job);
            starts.push_front(at);
        }
        self.note_ends();
    }

    fn note_ends(&mut self) {
        let starts = &self.promised.starts;
        self.first = starts.front().copied().unwrap_or(Time::new(f64::INFINITY));
        self.last = starts.back().copied().unwrap_or(Time::new(f64::NEG_INFINITY));
    }
}
