//! In which order waiting jobs come: by their priorities, as far as a history tells them.

use std::cmp::Ordering;

use super::folder::SlurmMachine;
use super::history::{JobRecord, Second};

/// How priorities grow while jobs wait.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PriorityOrder {
    /// What a job gains each second, up to a time.
    per_second: f64,
    longest: f64,
}

impl PriorityOrder {
    /// What a `slurm.conf` says of the weight of age. A history keeps a job's last priority alone, so what it was
    /// earlier is that without what it has gained since; other factors are taken to stay.
    #[must_use]
    pub fn of(machine: &SlurmMachine) -> PriorityOrder {
        let value = |key: &str| machine.setting(key);
        let is_multifactor =
            value("PriorityType").is_some_and(|kind| kind.ends_with("multifactor"));
        let weight = value("PriorityWeightAge").and_then(|weight| weight.parse::<f64>().ok());
        let longest = value("PriorityMaxAge").unwrap_or_else(|| "7-0".to_owned());
        let longest =
            super::sacct::span(&longest).ok().flatten().unwrap_or(7 * 86_400).max(1) as f64;
        match weight.filter(|_| is_multifactor) {
            Some(weight) => PriorityOrder { per_second: weight / longest, longest },
            None => PriorityOrder::default(),
        }
    }

    /// Whether jobs that wait never change places.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.per_second <= 0.0
    }

    /// The priority of a stay at a time, as far as it is known.
    #[must_use]
    pub fn priority(&self, stay: &JobRecord, now: Second) -> f64 {
        let Some(last) = stay.priority else { return 0.0 };
        let queued = stay.queued().unwrap_or(now);
        let until = stay.start.or(stay.end).unwrap_or(now);
        let age = |at: Second| ((at - queued).max(0) as f64).min(self.longest);
        last as f64 - self.per_second * (age(until) - age(now))
    }

    /// The stays of some places in their order at a time, the first first: by priority, then by when they could have
    /// started, then by the order of the history.
    ///
    /// # Complexity
    /// **O(n)** for *n* places that are in order, else **O(n log n)**.
    pub fn sort(&self, stays: &[JobRecord], places: &mut [usize], now: Second) {
        let mut keyed = self.keyed(stays, places, now);
        if !keyed.is_sorted_by(|a, b| before(a, b).is_le()) {
            keyed.sort_by(before);
            places.iter_mut().zip(keyed).for_each(|(place, key)| *place = key.3);
        }
    }

    /// Whether the stays of some places are in their order at a time.
    #[must_use]
    pub fn is_sorted(&self, stays: &[JobRecord], places: &[usize], now: Second) -> bool {
        self.keyed(stays, places, now).is_sorted_by(|a, b| before(a, b).is_le())
    }

    fn keyed(&self, stays: &[JobRecord], places: &[usize], now: Second) -> Vec<Key> {
        let key = |&place: &usize| {
            let stay = &stays[place];
            // What age gives is rounded in a priority: within a point the older job comes first.
            (self.priority(stay, now).round(), stay.queued(), stay.submit, place)
        };
        places.iter().map(key).collect()
    }
}

/// What decides between stays: priority, since when they wait, when they were submitted, and their
/// places.
type Key = (f64, Option<Second>, Option<Second>, usize);

fn before(a: &Key, b: &Key) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| (a.1, a.2, a.3).cmp(&(b.1, b.2, b.3)))
}
