//! What users have had of a machine, as far as it is remembered.

use std::collections::BTreeMap;

use crate::job::{Job, Time};

/// What each user has had, in processors times units of the clock, of which half is forgotten after every half-life.
///
/// A running job counts as it runs, by the processors it asked for. All jobs without a user are those of one.
///
/// # Complexity
/// **O(log u)** for each call with *u* users, and **O(u)** where all of them are asked for.
pub(super) struct Usage {
    /// Never, if it is infinite.
    half_life: f64,
    numbers: BTreeMap<String, User>,
    of: Vec<Used>,
}

/// A user, by the order in which they were met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct User(u32);

impl User {
    /// As an index into what is kept for each.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Used {
    /// What was remembered at an instant.
    then: f64,
    at: Time,
    /// Processors that the user's running jobs have asked for.
    rate: f64,
}

impl Usage {
    pub(super) fn new(half_life: f64) -> Usage {
        Usage { half_life, numbers: BTreeMap::new(), of: Vec::new() }
    }

    /// Whose a job is; `met` is told of a user who is met for the first time.
    pub(super) fn user(&mut self, job: &Job, met: impl FnOnce(&str)) -> User {
        let name = job.owner.as_ref().and_then(|owner| owner.user.as_deref()).unwrap_or_default();
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        let user = User(self.of.len() as u32);
        self.of.push(Used { then: 0.0, at: Time::ZERO, rate: 0.0 });
        self.numbers.insert(name.to_owned(), user);
        met(name);
        user
    }

    /// A job of a user begins to use so many processors.
    pub(super) fn begins(&mut self, user: User, processors: u64, now: Time) {
        self.changes(user, processors as f64, now);
    }

    /// A job of a user has ended, which used so many.
    pub(super) fn ends(&mut self, user: User, processors: u64, now: Time) {
        self.changes(user, -(processors as f64), now);
    }

    fn changes(&mut self, user: User, by: f64, now: Time) {
        let then = self.by(user, now);
        let used = &mut self.of[user.index()];
        *used = Used { then, at: now, rate: used.rate + by };
    }

    /// What is remembered of a user's use.
    pub(super) fn by(&self, user: User, now: Time) -> f64 {
        let Used { then, at, rate } = self.of[user.index()];
        let span = now - at;
        if self.half_life.is_infinite() {
            return then + rate * span;
        }
        let kept = libm::exp2(-span / self.half_life);
        then * kept + rate * (self.half_life / std::f64::consts::LN_2) * (1.0 - kept)
    }

    /// The same of each user, in the order in which they were met.
    pub(super) fn all(&self, now: Time) -> impl Iterator<Item = f64> {
        (0..self.of.len() as u32).map(move |user| self.by(User(user), now))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::job::{Owner, Request};

    fn job_of(user: &str) -> Job {
        let owner = Owner { user: Some(user.to_owned()), ..Owner::default() };
        let owner = Some(Arc::new(owner));
        Job { owner, ..Job::new(1, Time::ZERO, Request::Nodes(4), 1.0) }
    }

    #[test]
    fn users_are_met_once() {
        let mut usage = Usage::new(f64::INFINITY);
        let mut met = Vec::new();
        let mut user = |job: &Job| usage.user(job, |name| met.push(name.to_owned()));
        let (ann, ben) = (user(&job_of("ann")), user(&job_of("ben")));
        assert_eq!((user(&job_of("ann")), user(&job_of("ben"))), (ann, ben));
        assert_ne!(ann, ben);
        assert_eq!(met, ["ann", "ben"]);
    }

    /// Against a sum over short pieces, each of which is forgotten from its own instant on.
    #[test]
    fn half_of_what_was_used_is_forgotten_after_a_half_life() {
        let mut usage = Usage::new(10.0);
        let ann = usage.user(&job_of("ann"), |_| ());
        usage.begins(ann, 4, Time::new(5.0));
        usage.begins(ann, 2, Time::new(9.0));
        usage.ends(ann, 4, Time::new(17.0));
        let rate = |t: f64| match t {
            t if t < 5.0 => 0.0,
            t if t < 9.0 => 4.0,
            t if t < 17.0 => 6.0,
            _ => 2.0,
        };
        let (pieces, end) = (400_000, 40.0);
        let step = end / f64::from(pieces);
        let sum: f64 = (0..pieces)
            .map(|piece| {
                let t = (f64::from(piece) + 0.5) * step;
                rate(t) * step * libm::exp2(-(end - t) / 10.0)
            })
            .sum();
        let known = usage.by(ann, Time::new(end));
        assert!((known - sum).abs() < 1e-6 * sum, "{known} {sum}");
        // Nothing runs any more: two half-lives leave a quarter.
        usage.ends(ann, 2, Time::new(end));
        let later = usage.by(ann, Time::new(end + 20.0));
        assert!((later - known / 4.0).abs() < 1e-9);
        let mut kept = Usage::new(f64::INFINITY);
        let ann = kept.user(&job_of("ann"), |_| ());
        kept.begins(ann, 3, Time::new(1.0));
        kept.ends(ann, 3, Time::new(4.0));
        assert_eq!(kept.by(ann, Time::new(1e9)).to_bits(), 9.0_f64.to_bits());
    }
}
