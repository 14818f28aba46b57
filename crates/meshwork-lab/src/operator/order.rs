//! The order of waiting jobs by priority, as far as a history determines it.

use std::cmp::Ordering;

use super::folder::SlurmMachine;
use super::history::{JobRecord, Second};

/// The growth of priorities with age.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PriorityOrder {
    /// The priority gained per second, up to an age of `longest` seconds.
    per_second: f64,
    longest: f64,
}

impl PriorityOrder {
    /// Reads the weight of age from a machine's `slurm.conf`.
    ///
    /// A history has only the last priority of a job. Earlier ones are computed by subtracting what
    /// age has added since; other factors are assumed to be constant.
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

    /// Whether the order of waiting jobs never changes.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.per_second <= 0.0
    }

    /// The priority of a job at a time; 0 if none was recorded.
    #[must_use]
    pub fn priority(&self, stay: &JobRecord, now: Second) -> f64 {
        let Some(last) = stay.priority else { return 0.0 };
        let queued = stay.queued().unwrap_or(now);
        let until = stay.start.or(stay.end).unwrap_or(now);
        let age = |at: Second| ((at - queued).max(0) as f64).min(self.longest);
        last as f64 - self.per_second * (age(until) - age(now))
    }

    /// Sorts indices of jobs into queue order at a time.
    ///
    /// Jobs are ordered by descending priority, then by the time from which they could start, by
    /// submission and by index.
    ///
    /// # Complexity
    /// **O(n)** for *n* indices that are sorted already, else **O(n log n)**.
    pub fn sort(&self, stays: &[JobRecord], places: &mut [usize], now: Second) {
        let mut keyed = self.keyed(stays, places, now);
        if !keyed.is_sorted_by(|a, b| before(a, b).is_le()) {
            keyed.sort_by(before);
            places.iter_mut().zip(keyed).for_each(|(place, key)| *place = key.3);
        }
    }

    /// Whether indices of jobs are in queue order at a time.
    #[must_use]
    pub fn is_sorted(&self, stays: &[JobRecord], places: &[usize], now: Second) -> bool {
        self.keyed(stays, places, now).is_sorted_by(|a, b| before(a, b).is_le())
    }

    fn keyed(&self, stays: &[JobRecord], places: &[usize], now: Second) -> Vec<Key> {
        let key = |&place: &usize| {
            let stay = &stays[place];
            // Slurm rounds priorities to whole numbers: among equals the older job comes first.
            (self.priority(stay, now).round(), stay.queued(), stay.submit, place)
        };
        places.iter().map(key).collect()
    }
}

/// The sort key of a job: priority, time from which it could start, submission, index.
type Key = (f64, Option<Second>, Option<Second>, usize);

fn before(a: &Key, b: &Key) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| (a.1, a.2, a.3).cmp(&(b.1, b.2, b.3)))
}
