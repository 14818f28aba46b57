//! Decayed use of a machine by each user.

use std::collections::BTreeMap;

use super::shares::Shares;
use crate::cluster::{Departure, MemoryReader, MemoryWriter, RecallError, Running};
use crate::job::{Job, Request, Time};
use crate::topology::Topology;

/// Use of the machine by each user, in processor time, halved every half-life. All jobs without a
/// user count as jobs of one user.
pub(super) struct Usage {
    /// Time in which past use decays to one half; infinite if use never decays.
    half_life: f64,
    shares: Shares,
    numbers: BTreeMap<String, User>,
    of: Vec<Used>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct User(u32);

impl User {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Used {
    /// Use of the machine by the user, decayed up to the instant `at`.
    then: f64,
    at: Time,
    /// Number of processors that the user's running jobs requested: the rate at which use grows.
    rate: f64,
    share: f64,
}

impl Usage {
    pub(super) fn new(half_life: f64, shares: Shares) -> Usage {
        Usage { half_life, shares, numbers: BTreeMap::new(), of: Vec::new() }
    }

    pub(super) fn write(&self, memory: &mut MemoryWriter) {
        let mut users: Vec<(&str, User)> =
            self.numbers.iter().map(|(name, user)| (name.as_str(), *user)).collect();
        users.sort_unstable_by_key(|(_, user)| *user);
        memory.number(users.len() as u64);
        for (name, user) in users {
            let Used { then, at, .. } = self.of[user.index()];
            memory.text(name);
            memory.real(then);
            memory.time(at);
        }
    }

    /// Reads past use from a scheduler's memory; without one, only running jobs count.
    pub(super) fn read(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        let users = if memory.is_new() { 0 } else { memory.count()? };
        for _ in 0..users {
            let user = self.meet(&memory.text()?);
            let (then, at) = (memory.real()?, memory.time()?);
            self.of[user.index()] = Used { then, at, ..self.of[user.index()] };
        }
        let mut running: Vec<&Running> = memory.cluster().running().map(|(_, ran)| ran).collect();
        running.sort_unstable_by_key(|ran| (ran.start, ran.id));
        for ran in running {
            let user = self.user(&ran.job);
            if memory.is_new() {
                self.begins(user, ran.asked, ran.start);
            } else {
                self.of[user.index()].rate += ran.asked as f64;
            }
        }
        Ok(())
    }

    pub(super) fn user(&mut self, job: &Job) -> User {
        self.meet(job.owner.as_ref().and_then(|owner| owner.user.as_deref()).unwrap_or_default())
    }

    pub(super) fn meet(&mut self, name: &str) -> User {
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        let user = User(self.of.len() as u32);
        let share = self.shares.of(name);
        self.of.push(Used { then: 0.0, at: Time::ZERO, rate: 0.0, share });
        self.numbers.insert(name.to_owned(), user);
        user
    }

    pub(super) fn begins(&mut self, user: User, processors: u64, now: Time) {
        self.changes(user, processors as f64, now);
    }

    pub(super) fn ends(&mut self, Departure { ran }: &Departure, now: Time) {
        let user = self.user(&ran.job);
        self.changes(user, -(ran.asked as f64), now);
    }

    fn changes(&mut self, user: User, by: f64, now: Time) {
        let then = self.by(user, now);
        let used = &mut self.of[user.index()];
        *used = Used { then, at: now, rate: used.rate + by, ..*used };
    }

    pub(super) fn by(&self, user: User, now: Time) -> f64 {
        let Used { then, at, rate, .. } = self.of[user.index()];
        let span = now - at;
        if self.half_life.is_infinite() {
            return then + rate * span;
        }
        let kept = libm::exp2(-span / self.half_life);
        then * kept + rate * (self.half_life / std::f64::consts::LN_2) * (1.0 - kept)
    }

    /// Decayed use and share of every user, in order of first appearance.
    pub(super) fn all(&self, now: Time) -> impl Iterator<Item = (f64, f64)> {
        let users = (0..).zip(&self.of);
        users.map(move |(user, used)| (self.by(User(user), now), used.share))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MachineSize {
    processors: f64,
    /// Mean number of cores per node if jobs share nodes; otherwise 1.
    per_node: f64,
}

impl MachineSize {
    pub(super) fn of(sites: &[Topology]) -> MachineSize {
        let sum = |of: fn(&Topology) -> u32| sites.iter().map(|site| f64::from(of(site))).sum();
        let processors: f64 = sum(Topology::processors);
        let shares = sites.iter().any(|site| site.types().is_some());
        let nodes: f64 = if shares { sum(Topology::nodes) } else { processors };
        MachineSize { processors, per_node: processors / nodes }
    }

    /// Share of the machine's processors that a job requests.
    pub(super) fn share(&self, request: &Request) -> f64 {
        let count = request.nodes() as f64;
        match request {
            Request::Pieces(_) => count / self.processors,
            _ => count * self.per_node / self.processors,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::job::Owner;

    fn job_of(user: &str) -> Job {
        let owner = Owner { user: Some(user.to_owned()), ..Owner::default() };
        let owner = Some(Arc::new(owner));
        Job { owner, ..Job::new(1, Time::ZERO, Request::Nodes(4), 1.0) }
    }

    fn usage(half_life: f64) -> Usage {
        Usage::new(half_life, Shares::default())
    }

    #[test]
    fn users_are_met_once() {
        let mut usage = usage(f64::INFINITY);
        let (ann, ben) = (usage.user(&job_of("ann")), usage.user(&job_of("ben")));
        assert_eq!((usage.user(&job_of("ann")), usage.user(&job_of("ben"))), (ann, ben));
        assert_ne!(ann, ben);
        assert_eq!(usage.all(Time::ZERO).count(), 2);
    }

    #[test]
    fn half_of_what_was_used_is_forgotten_after_a_half_life() {
        let mut usage = usage(10.0);
        let ann = usage.user(&job_of("ann"));
        usage.begins(ann, 4, Time::new(5.0));
        usage.begins(ann, 2, Time::new(9.0));
        usage.changes(ann, -4.0, Time::new(17.0));
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
        // Nothing runs any more, so two half-lives leave a quarter.
        usage.changes(ann, -2.0, Time::new(end));
        let later = usage.by(ann, Time::new(end + 20.0));
        assert!((later - known / 4.0).abs() < 1e-9);
        let mut kept = self::usage(f64::INFINITY);
        let ann = kept.user(&job_of("ann"));
        kept.begins(ann, 3, Time::new(1.0));
        kept.changes(ann, -3.0, Time::new(4.0));
        assert_eq!(kept.by(ann, Time::new(1e9)).to_bits(), 9.0_f64.to_bits());
    }
}
