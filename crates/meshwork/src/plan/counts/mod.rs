//! Plan as numbers of free processors, for machines where a job can use any free processors.
//!
//! The plan is a profile: for each instant, the number of free processors minus reserved ones. The
//! requested time of a job is its span. A row is a series of neighbours in the queue that request
//! equal numbers of processors for equal spans, such as the jobs of a job array.
//!
//! # Moving a row
//! When processors become free, conservative backfilling moves each job of a row in turn to its
//! earliest start. Often, this is the *place* (processors and interval) that the preceding job has
//! just left:
//!
//! ```text
//!            gap
//! before   |      |   | 1 | 2 | 3 | 4 |
//! after    | 1 |  |   | 2 | 3 | 4 |   |
//! ```
//!
//! The jobs are alike, so the effect is that the last job moves to the gap and the jobs are
//! renumbered. Gaps are visited once, in order of time, because no job moves before an earlier job
//! of its row. If a gap lasts for the span, the last start of the row moves to it. If a gap is
//! shorter, the last start that is not after its end moves to it, if there is one. The job of this
//! start then begins in the gap and continues at its old place. Several jobs with this start move
//! together if they fit.
//!
//! # Overdrawn intervals
//! After a job has outrun its estimate, the profile may be negative: more processors are reserved
//! than will be free. In such an interval, a place that one job leaves is of no use to the next
//! job. So only the job with the row's next start may move, and the part of its old place that it
//! keeps must not be overdrawn. When processors are released in an overdrawn interval, all rows
//! that hold processors in this interval are searched.
//!
//! # Which rows are searched
//! A job can start sooner only in a gap with processors that have become free since the job was
//! last examined. Gaps are found once for all rows that request equal numbers of processors, and
//! searched again where processors become free. When processors are taken, known gaps are not
//! shortened, so that every real gap lies within a known one. A row is searched if a known gap
//! begins before the row's last reserved start, and either lasts for the row's span or reaches one
//! of the row's starts.

mod classes;
mod gaps;
mod row;

use classes::{Classes, Freed};
use row::Row;

use super::Plan;
use crate::cluster::{Cluster, Place, Profile, Reservation, StartOptions, Ticket};
use crate::job::Time;

/// Reservations as numbers of nodes, for jobs that can run on any free nodes.
pub(super) struct Counts {
    profile: Profile,
    /// Rows in queue order. A row is a group of similar waiting jobs, and may be empty.
    rows: Vec<Row>,
    classes: Classes,
    /// Intervals in which nodes have become free since the reservations were last checked.
    freed: Vec<Freed>,
    overdrawn_until: Time,
    /// Intervals in which nodes were released while more nodes were reserved than the machine has.
    ///
    /// In these intervals, the profile of free nodes was negative.
    mended: Vec<(Time, Time)>,
    due: Time,
}

/// Number of empty rows up to which rows are never compacted.
///
/// A row stands for neighbouring waiting jobs with equal node counts and estimates. Rows are
/// compacted once more than this number and more than an eighth of them have no jobs left.
const MAX_EMPTY: usize = 16;

impl Counts {
    pub(super) fn new(cluster: &Cluster<'_>) -> Counts {
        let now = cluster.now();
        let mut profile = Profile::new(now, u64::from(cluster.site(0).free_nodes()));
        for holding in cluster.busy_nodes() {
            profile.add(holding.until.max(now), None, i64::from(holding.placement.len()));
        }
        Counts {
            profile,
            rows: Vec::new(),
            classes: Classes::default(),
            freed: Vec::new(),
            overdrawn_until: now,
            mended: Vec::new(),
            due: Time::new(f64::INFINITY),
        }
    }

    fn free(&mut self, from: Time, until: Time, count: i64) {
        if self.is_overdrawn_in(from, until) {
            self.mended.push((from, until));
        }
        self.profile.change(from, until, count);
        self.freed.push(Freed { from, until, most: i64::MAX, beside: 0, by: u64::MAX });
    }

    fn is_overdrawn_in(&self, from: Time, until: Time) -> bool {
        from < self.overdrawn_until && self.profile.range(from, until).0 < 0
    }

    /// Postpones to `now` each reserved start that a job past its estimate has delayed.
    fn put_off(&mut self, now: Time) {
        for row in self.rows.iter_mut().filter(|row| row.first < now) {
            for (at, jobs) in row.starts_before(now) {
                let (from, until) = (row.until(at).max(now), row.until(now));
                if from < until {
                    self.profile.add(from, Some(until), -row.wanted_by(jobs));
                }
            }
            row.put_off(now);
        }
        (self.due, self.overdrawn_until) = (now, Time::new(f64::INFINITY));
    }

    /// Moves each reservation, in queue order, to its earliest start while all others stay.
    fn move_all_up(&mut self, now: Time) {
        self.overdrawn_until = self.profile.overdrawn_until();
        self.freed.retain(|freed| freed.until > now);
        for freed in &mut self.freed {
            freed.from = freed.from.max(now);
            if freed.most == i64::MAX {
                *freed = Freed::new(freed.from, freed.until, freed.by, &self.profile);
            }
        }
        // Nodes that a row releases in this pass count for later rows in the same pass, and for all
        // other rows in the next pass.
        let (before, mended_before) = (self.freed.len(), self.mended.len());
        if before == 0 {
            return;
        }
        self.classes.begin_pass();
        // Both the rows and the remaining releases are in queue order.
        let mut seen = 0;
        let mut index = 0;
        while let Some(row) = self.rows.get(index) {
            index += 1;
            seen += self.freed[seen..before].iter().take_while(|f| f.by < row.number).count();
            let begin = self.classes.may_start(row, now, &self.freed, seen, &self.profile);
            // The row's reservations may themselves have overdrawn the profile. So the row is
            // searched if it holds nodes during a mended interval.
            let is_mended =
                |&(from, until): &(Time, Time)| row.first < until && from < row.until(row.last);
            let is_mended = self.mended.iter().any(is_mended);
            if is_mended || begin.is_some() {
                self.move_up(index - 1, begin.filter(|_| !is_mended).unwrap_or(now));
            }
        }
        self.freed.drain(..before);
        self.mended.drain(..mended_before);
    }

    /// Moves the waiting jobs of a row, which are alike, to earlier starts from `begin` on.
    ///
    /// The jobs are moved in queue order. Each moved job leaves its interval to the next one.
    /// Because the jobs are alike, the effect is as if only one job moved. Where the profile is
    /// negative, only the job with the next reserved start may move. Its new interval may overlap
    /// its old one only where the profile is not negative.
    fn move_up(&mut self, index: usize, mut begin: Time) {
        loop {
            let row = &self.rows[index];
            if begin >= row.last {
                return;
            }
            // The gap must last for the run time, or until the next job's own start.
            let needed =
                |at: Time| row.start_after(at).map_or(row.until(at), |s| s.min(row.until(at)));
            let Some(at) = self.profile.first_gap(begin, Some(row.last), row.count, needed) else {
                return;
            };
            let last_taken = match row.len() {
                1 => row.last,
                _ => match self.profile.first_without(at, row.count) {
                    Some(end) if end < row.until(at) => row.start_up_to(end),
                    _ => row.last,
                },
            };
            let mut taken = last_taken;
            if self.is_overdrawn_in(at, row.until(last_taken)) {
                taken = row.start_after(at).unwrap_or(row.last);
                if let Some((_, end)) = self.profile.overdrawn_in(taken, row.until(at)) {
                    // A job that starts before the end of the negative interval cannot move either.
                    begin = row.start_before(end);
                    continue;
                }
            }
            // Further jobs with the same start move along if they fit.
            let jobs = match row.starting_at(taken) {
                1 => 1,
                several => {
                    let free = self.profile.range(at, taken.min(row.until(at))).0;
                    several.min(row.fit_in(free))
                }
            };
            self.shift(index, taken, at, jobs);
            self.rows[index].replace(taken, at, jobs);
            begin = at;
        }
    }

    fn shift(&mut self, index: usize, start: Time, sooner: Time, jobs: usize) {
        let row = &self.rows[index];
        let (count, by) = (row.wanted_by(jobs), row.number);
        let (until, ends) = (row.until(start), row.until(sooner));
        let from = start.max(ends);
        if self.is_overdrawn_in(from, until) {
            self.mended.push((from, until));
        }
        self.profile.change(sooner, start.min(ends), -count);
        if from < until {
            self.profile.change(from, until, count);
            self.freed.push(Freed::new(from, until, by, &self.profile));
        }
        self.due = self.due.min(sooner);
    }
}

impl Plan for Counts {
    fn advance(&mut self, cluster: &Cluster<'_>) {
        let now = cluster.now();
        self.profile.advance(now);
        for departure in cluster.ended_since_plan() {
            let ran = &departure.ran;
            if ran.expected_end > now {
                self.free(now, ran.expected_end, i64::from(ran.held));
            }
        }
        if self.due < now {
            self.put_off(now);
        }
    }

    fn earliest(
        &mut self,
        cluster: &Cluster<'_>,
        ticket: Ticket,
        by: Option<Time>,
    ) -> Option<Reservation> {
        let mut asked = cluster.count_now(ticket)?;
        asked.at = self.profile.earliest(asked.at, asked.hold.nodes(), asked.span)?;
        Some(asked).filter(|found| by.is_none_or(|by| found.at <= by))
    }

    fn hold(&mut self, cluster: &Cluster<'_>, ticket: Ticket, reservation: Reservation) {
        let (at, count) = (reservation.at, reservation.hold.nodes());
        self.profile.change(at, reservation.until(), -(count as i64));
        if !cluster.is_waiting(ticket) {
            return;
        }
        self.due = self.due.min(at);
        let class = self.classes.of(count);
        let last = self.rows.last_mut().filter(|row| row.is_continued_by(&reservation));
        match last {
            Some(row) => row.push(ticket, at),
            None => {
                let number = self.rows.last().map_or(0, |row| row.number + 1);
                self.rows.push(Row::new(number, class, count, reservation, ticket));
            }
        }
    }

    fn release(&mut self, ticket: Ticket) -> bool {
        let mut rows = self.rows.iter_mut();
        let found = rows.find_map(|row| {
            let at = row.remove(ticket)?;
            Some((at, row.until(at), row.count as i64))
        });
        if let Some((at, until, count)) = found {
            self.free(at, until, count);
        }
        found.is_some()
    }

    fn promises(&self) -> Vec<(Ticket, Reservation)> {
        self.rows.iter().flat_map(Row::promises).collect()
    }

    fn compress(&mut self, cluster: &Cluster<'_>) {
        if !cluster.departures().is_empty() || cluster.runs_late() {
            self.move_all_up(cluster.now());
        }
    }

    fn start_due(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        if self.due > now {
            return;
        }
        let mut of_no_time = Vec::new();
        let mut empty = 0;
        for row in &mut self.rows {
            if row.first <= now {
                let count = row.count as i64;
                row.start_due(now, |ticket, promise| {
                    let started = cluster.start(ticket, StartOptions::at(Place::Promised(promise)));
                    if started && promise.span <= 0.0 {
                        // A started job keeps holding its reservation, but a job of no time holds
                        // nothing.
                        of_no_time.push((promise.at, promise.until(), count));
                    }
                    started
                });
            }
            empty += usize::from(row.is_empty());
        }
        for (at, until, count) in of_no_time {
            self.free(at, until, count);
        }
        if empty > MAX_EMPTY.max(self.rows.len() / 8) {
            self.rows.retain(|row| !row.is_empty());
            self.rows.dedup_by(|later, row| row.is_joined_by(later));
        }
        let first = self.rows.iter().map(|row| row.first);
        self.due = first.min().unwrap_or(Time::new(f64::INFINITY));
    }
}
