//! Rows: waiting jobs next to each other in the queue that have equal node counts and spans.
//!
//! A span is a job's estimated run time. Jobs of a row are interchangeable: the first to arrive
//! gets the earliest reserved start. A row therefore has one list of jobs, and one list of starts
//! with the number of jobs at each. A start can be moved without looking up a job.

use std::collections::VecDeque;

use crate::cluster::{Reservation, Ticket};
use crate::job::Time;

/// Waiting jobs next to each other in the queue, with equal node counts and estimated run times.
///
/// The jobs are in order of both arrival and reserved start.
pub(super) struct Row {
    /// Sequence number of the row, ascending in queue order.
    pub(super) number: u64,
    /// Index of the row's class. Rows whose jobs need equally many nodes form a class.
    pub(super) class: usize,
    /// Number of nodes for each job of the row.
    pub(super) count: u64,
    /// Estimated run time of each job of the row.
    pub(super) span: f64,
    /// First reserved start of a job of the row; infinity if the row is empty.
    pub(super) first: Time,
    /// Last reserved start of a job of the row; minus infinity if the row is empty.
    pub(super) last: Time,
    /// Jobs of the row and their reserved starts. They are boxed to keep rows small, because most
    /// passes read only the other fields.
    promised: Box<Promised>,
}

struct Promised {
    /// Reservation shared by the jobs of a row; only its start differs from job to job.
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

    /// End of the reservation of the row's job that starts at `at`.
    pub(super) fn until(&self, at: Time) -> Time {
        (at + self.span).max(at.next())
    }

    /// Number of nodes that `jobs` jobs of the row need together.
    pub(super) fn wanted_by(&self, jobs: usize) -> i64 {
        self.count as i64 * jobs as i64
    }

    /// Number of jobs of the row that fit into `free` nodes.
    pub(super) fn fit_in(&self, free: i64) -> usize {
        usize::try_from(free / self.count.max(1) as i64).unwrap_or(0)
    }

    pub(super) fn len(&self) -> usize {
        self.promised.jobs.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.promised.jobs.is_empty()
    }

    /// The row's jobs with their reservations, in order.
    pub(super) fn promises(&self) -> impl Iterator<Item = (Ticket, Reservation)> + '_ {
        let Promised { promise, jobs, starts } = &*self.promised;
        let starts = starts.iter().flat_map(|&(at, jobs)| std::iter::repeat_n(at, jobs));
        jobs.iter().zip(starts).map(|(job, at)| (*job, promise.moved_to(at)))
    }

    /// Whether a job with the reservation `promise` can be appended to the row.
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

    /// Appends the jobs of `next`, the following row, if the two rows can be joined. Returns
    /// whether they were.
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

    /// The row's first reserved start after an instant.
    pub(super) fn start_after(&self, instant: Time) -> Option<Time> {
        self.starts_after(instant).next()
    }

    /// The row's distinct reserved starts after an instant.
    pub(super) fn starts_after(&self, instant: Time) -> impl Iterator<Item = Time> {
        let starts = &self.promised.starts;
        let first = match instant < self.first {
            true => 0,
            false => starts.partition_point(|(start, _)| *start <= instant),
        };
        starts.range(first..).map(|(start, _)| *start)
    }

    /// The row's last reserved start before an instant. The row must have a start before it.
    pub(super) fn start_before(&self, instant: Time) -> Time {
        let starts = &self.promised.starts;
        starts[starts.partition_point(|(start, _)| *start < instant) - 1].0
    }

    /// The row's last reserved start at or before an instant. The row must have such a start.
    pub(super) fn start_up_to(&self, instant: Time) -> Time {
        let starts = &self.promised.starts;
        starts[starts.partition_point(|(start, _)| *start <= instant) - 1].0
    }

    /// Number of the row's jobs whose reserved start is `start`.
    pub(super) fn starting_at(&self, start: Time) -> usize {
        self.promised.place_of(start).map_or(0, |place| self.promised.starts[place].1)
    }

    /// Moves `jobs` jobs of the row from the reserved start `start` to the earlier `sooner`.
    pub(super) fn replace(&mut self, start: Time, sooner: Time, jobs: usize) {
        self.promised.replace(start, sooner, jobs);
        self.note_ends();
    }

    /// The row's reserved starts before an instant, each with its number of jobs.
    pub(super) fn starts_before(&self, instant: Time) -> impl Iterator<Item = (Time, usize)> {
        self.promised.starts.iter().copied().take_while(move |(start, _)| *start < instant)
    }

    /// Postpones to `now` every reserved start of the row that has passed.
    pub(super) fn put_off(&mut self, now: Time) {
        let late: usize = self.starts_before(now).map(|(_, jobs)| jobs).sum();
        let starts = &mut self.promised.starts;
        starts.drain(..starts.partition_point(|(start, _)| *start < now));
        if late > 0 {
            self.promised.add(now, late);
        }
        self.note_ends();
    }

    /// Calls `start` for each job whose reserved start has come. A job that starts leaves the row.
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

    /// Removes a job from the row and returns its reserved start; `None` if it is not in the row.
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

    /// Appends `jobs` jobs with the start `at` to the row. No other start may be later than `at`.
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
