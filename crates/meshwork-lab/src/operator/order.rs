//! In which order waiting jobs come: by their priorities, as far as a history tells them.

use super::folder::Machine;
use super::history::{Second, Stay};
use crate::slurm::conf;

/// How priorities grow while jobs wait.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Order {
    /// What a job gains each second, up to a time.
    per_second: f64,
    longest: f64,
}

impl Order {
    /// What a `slurm.conf` says of the weight of age. A history keeps a job's last priority alone, so what it was
    /// earlier is that without what it has gained since; other factors are taken to stay.
    #[must_use]
    pub fn of(machine: &Machine) -> Order {
        let Some(text) = machine.conf_text() else { return Order::default() };
        let lines = conf::lines(text);
        let value = |key: &str| lines.iter().rev().find_map(|line| line.get(key));
        let is_multifactor =
            value("PriorityType").is_some_and(|kind| kind.ends_with("multifactor"));
        let weight = value("PriorityWeightAge").and_then(|weight| weight.parse::<f64>().ok());
        let longest = value("PriorityMaxAge").unwrap_or("7-0");
        let longest =
            super::sacct::span(longest).ok().flatten().unwrap_or(7 * 86_400).max(1) as f64;
        match weight.filter(|_| is_multifactor) {
            Some(weight) => Order { per_second: weight / longest, longest },
            None => Order::default(),
        }
    }

    /// Whether jobs that wait never change places.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.per_second <= 0.0
    }

    /// The priority of a stay at a time, as far as it is known.
    #[must_use]
    pub fn priority(&self, stay: &Stay, now: Second) -> f64 {
        let Some(last) = stay.priority else { return 0.0 };
        let queued = stay.queued().unwrap_or(now);
        let until = stay.start.or(stay.end).unwrap_or(now);
        let age = |at: Second| ((at - queued).max(0) as f64).min(self.longest);
        last as f64 - self.per_second * (age(until) - age(now))
    }

    /// The stays of some places in their order at a time, the first first: by priority, then by when they could have
    /// started, then by the order of the history.
    pub fn sort(&self, stays: &[Stay], places: &mut [usize], now: Second) {
        places.sort_by(|&a, &b| {
            let (first, second) = (&stays[a], &stays[b]);
            let (own, other) = (self.priority(first, now), self.priority(second, now));
            // What age gives is rounded in a priority: within a point the older job comes first.
            let own = own.round();
            other
                .round()
                .total_cmp(&own)
                .then(first.queued().cmp(&second.queued()))
                .then(first.submit.cmp(&second.submit))
                .then(a.cmp(&b))
        });
    }
}
