//! The plan where only the number of processors matters: kept up from pass to pass.

use std::collections::VecDeque;

use crate::cluster::{Cluster, Hold, Place, Profile, Reservation, StartOptions, Ticket};
use crate::job::Time;

/// Promises of counts.
///
/// Jobs that ask for as many processors for as long, one right after the other, make one row. When
/// something becomes free each of a row may move up to where the one before it was: what comes out of it
/// is that one of them moves, and so only that is done. See [`move_up`](Counts::move_up).
pub(super) struct Counts {
    profile: Profile,
    /// In order of arrival.
    rows: Vec<Row>,
    /// Up to when more may be free than when the promises were last looked at.
    reach: Time,
    /// No promise is due before.
    due: Time,
}

/// Jobs of one kind, in order of arrival and of their promised starts.
struct Row {
    kind: Kind,
    jobs: VecDeque<Ticket>,
    starts: VecDeque<Time>,
}

/// What jobs ask for, and for how long.
#[derive(Clone)]
struct Kind {
    /// What one of them would be promised, at some instant.
    promise: Reservation,
    count: u64,
}

impl Kind {
    fn of(cluster: &Cluster<'_>, ticket: Ticket) -> Option<Kind> {
        let promise = cluster.count_now(ticket)?;
        let Hold::Count(request) = &promise.hold else { return None };
        Some(Kind { count: request.nodes(), promise })
    }

    fn is_like(&self, other: &Kind) -> bool {
        let (mine, theirs) = (&self.promise, &other.promise);
        mine.hold == theirs.hold && mine.span.to_bits() == theirs.span.to_bits()
    }

    /// Until when a job of it holds its processors if it starts then.
    fn until(&self, at: Time) -> Time {
        (at + self.promise.span).max(at.next())
    }
}

impl Counts {
    pub(super) fn new(cluster: &Cluster<'_>) -> Counts {
        let now = cluster.now();
        let mut profile = Profile::new(now, u64::from(cluster.site(0).free_nodes()));
        for (_, job) in cluster.running() {
            profile.add(job.expected_end.max(now), None, i64::from(job.held));
        }
        let never = Time::new(f64::INFINITY);
        Counts { profile, rows: Vec::new(), reach: Time::ZERO, due: never }
    }

    pub(super) fn pass(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        self.profile.advance(now);
        for departure in cluster.ended_since_plan() {
            let ran = &departure.ran;
            if ran.expected_end > now {
                self.change(now, ran.expected_end, i64::from(ran.held));
            }
        }
        if self.due < now {
            self.put_off(now);
        }
        if !cluster.departures().is_empty() || cluster.runs_late() {
            if self.profile.is_overdrawn() {
                self.compress_overdrawn(now);
            } else {
                self.compress(now);
            }
        }
        for ticket in cluster.to_plan() {
            let Some(kind) = Kind::of(cluster, ticket) else { continue };
            let Some(at) = self.profile.earliest(now, kind.count, kind.promise.span) else {
                continue;
            };
            self.change(at, kind.until(at), -(kind.count as i64));
            cluster.promise(ticket, at);
            self.append(kind, ticket, at);
        }
        if self.due <= now {
            self.start_due(cluster);
        }
    }

    /// So many more are free for a while, or fewer.
    fn change(&mut self, from: Time, until: Time, count: i64) {
        self.profile.change(from, until, count);
        if count > 0 {
            self.reach = self.reach.max(until);
        }
    }

    /// Appends a promise, to the last row if that is of its kind and it comes no sooner than the others.
    fn append(&mut self, kind: Kind, ticket: Ticket, at: Time) {
        self.due = self.due.min(at);
        let last = self
            .rows
            .last_mut()
            .filter(|row| row.kind.is_like(&kind) && row.starts.back() <= Some(&at));
        if let Some(row) = last {
            row.jobs.push_back(ticket);
            row.starts.push_back(at);
        } else {
            self.rows.push(Row { kind, jobs: [ticket].into(), starts: [at].into() });
        }
    }

    /// A promise that a late job has broken is due now.
    fn put_off(&mut self, now: Time) {
        let Counts { profile, rows, .. } = self;
        for Row { kind, starts, .. } in rows {
            for at in starts.iter_mut().take_while(|at| **at < now) {
                let (from, until) = (kind.until(*at).max(now), kind.until(now));
                if from < until {
                    profile.add(from, Some(until), -(kind.count as i64));
                }
                *at = now;
            }
        }
        self.due = now;
    }

    /// In order of arrival, each promise is moved to the earliest start among all the others. Nothing is
    /// overdrawn.
    fn compress(&mut self, now: Time) {
        let mut reach = std::mem::take(&mut self.reach);
        let mut most = self.profile.most_before(reach);
        for index in 0..self.rows.len() {
            // Only if something may have become free for it, before its last.
            let Row { kind, starts, .. } = &self.rows[index];
            let worth_a_look =
                kind.count as i64 <= most && starts.back().is_some_and(|last| *last > now);
            if worth_a_look && self.move_up(index, now, &mut reach) {
                most = self.profile.most_before(reach);
            }
        }
    }

    /// Moves the jobs of a row to the earliest starts among all others, one after the other. Whether any
    /// has moved.
    ///
    /// That makes of their starts those of a list schedule, which takes the earliest start with room again
    /// and again. An instant is one of them if there is room up to where one of the row starts later,
    /// which can be taken away from there; which of them is taken changes nothing, for they are alike. The
    /// last that will do leaves the others where they are.
    fn move_up(&mut self, index: usize, now: Time, reach: &mut Time) -> bool {
        let (mut moved, mut begin) = (false, now);
        loop {
            let Row { kind, starts, .. } = &self.rows[index];
            let Some(&last) = starts.back() else { return moved };
            let limit = last.min(*reach);
            if begin >= limit {
                return moved;
            }
            // What is needed for as long as it runs, or up to where the next of them has its own.
            let needed = |at: Time| {
                let next = starts.get(starts.partition_point(|start| *start <= at));
                next.map_or(kind.until(at), |&next| kind.until(at).min(next))
            };
            let Some(at) = self.profile.first_room(begin, Some(limit), kind.count, needed) else {
                return moved;
            };
            let until = kind.until(at);
            let taken = match starts.len() {
                1 => 0,
                all => match self.profile.first_without(at, kind.count) {
                    Some(end) if end < until => starts.partition_point(|start| *start <= end) - 1,
                    _ => all - 1,
                },
            };
            let (from, count) = (starts[taken], kind.count as i64);
            let from_until = kind.until(from);
            self.change(from, from_until, count);
            self.change(at, until, -count);
            *reach = (*reach).max(from_until);
            let starts = &mut self.rows[index].starts;
            starts.remove(taken);
            starts.insert(starts.partition_point(|start| *start <= at), at);
            self.due = self.due.min(at);
            (moved, begin) = (true, at);
        }
    }

    /// As [`compress`](Counts::compress) where more is promised than there will be: promise after promise,
    /// and each may come to lie before those of its row.
    fn compress_overdrawn(&mut self, now: Time) {
        for Row { kind, jobs, starts } in std::mem::take(&mut self.rows) {
            for (ticket, at) in jobs.into_iter().zip(starts) {
                let (count, until) = (kind.count as i64, kind.until(at));
                self.change(at, until, count);
                let sooner = self.profile.earliest(now, kind.count, kind.promise.span);
                let at = sooner.filter(|sooner| *sooner < at).unwrap_or(at);
                self.change(at, kind.until(at), -count);
                self.append(kind.clone(), ticket, at);
            }
        }
        self.reach = Time::new(f64::INFINITY);
    }

    /// Starts those whose promise is due, in order of arrival.
    fn start_due(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        let mut of_no_time = Vec::new();
        for Row { kind, jobs, starts } in &mut self.rows {
            let due = starts.partition_point(|start| *start <= now);
            let mut late = Vec::new();
            for (ticket, at) in jobs.drain(..due).zip(starts.drain(..due)) {
                let promise = kind.promise.moved_to(at);
                if !cluster.start(ticket, StartOptions::at(Place::Promised(&promise))) {
                    late.push((ticket, at));
                } else if kind.promise.span <= 0.0 {
                    // It holds from now on what it was to hold; a job of no time holds nothing.
                    of_no_time.push((kind.count, at, kind.until(at)));
                }
            }
            for (ticket, at) in late.into_iter().rev() {
                jobs.push_front(ticket);
                starts.push_front(at);
            }
        }
        for (count, at, until) in of_no_time {
            self.change(at, until, count as i64);
        }
        self.rows.retain(|row| !row.jobs.is_empty());
        let first = self.rows.iter().filter_map(|row| row.starts.front().copied());
        self.due = first.min().unwrap_or(Time::new(f64::INFINITY));
    }
}
