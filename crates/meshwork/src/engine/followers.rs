//! Jobs held back until their predecessors have ended.

use std::collections::BTreeMap;

use crate::job::{After, Job, Time};

/// Jobs not yet submitted because their predecessors have not ended.
///
/// # Complexity
/// **O(log f)** for each of *f* followers, and for each job that ends.
#[derive(Default)]
pub(super) struct Followers {
    /// Held jobs by the number of their predecessor.
    of: BTreeMap<u64, Led>,
    /// Released jobs that have not arrived, by arrival and then in the order of the workload.
    due: BTreeMap<(Time, u64), Job>,
    count: u64,
}

/// Followers of the jobs with one number.
#[derive(Default)]
struct Led {
    /// Predecessors of that number that have not ended.
    left: u32,
    /// Each follower with its position in the workload and its think time.
    jobs: Vec<(u64, Job, f64)>,
}

impl Followers {
    /// Holds a job until `ends` jobs with the predecessor's number have ended.
    pub(super) fn keep(&mut self, job: Job, after: After, ends: u32) {
        let led = self.of.entry(after.number).or_default();
        led.left = ends;
        led.jobs.push((self.count, job, after.think));
        self.count += 1;
    }

    /// Records that a job with this number has ended or will never run, and releases its followers.
    pub(super) fn ended(&mut self, number: u64, now: Time) {
        let Some(led) = self.of.get_mut(&number) else { return };
        led.left = led.left.saturating_sub(1);
        if led.left > 0 {
            return;
        }
        for (place, mut job, think) in self.of.remove(&number).unwrap_or_default().jobs {
            job.move_to(job.arrival.max(now + think));
            self.due.insert((job.arrival, place), job);
        }
    }

    /// Arrival of the next released follower.
    pub(super) fn next_arrival(&self) -> Option<Time> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the next follower that arrives at `now`.
    pub(super) fn take(&mut self, now: Time) -> Option<Job> {
        let first = self.due.first_entry().filter(|first| first.key().0 == now)?;
        Some(first.remove())
    }
}
