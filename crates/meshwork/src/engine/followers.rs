//! Jobs that are submitted after others have ended, until they are.

use std::collections::BTreeMap;

use crate::job::{After, Job, Time};

/// Jobs that have not been submitted, because others have not ended.
///
/// # Complexity
/// **O(log f)** for each of *f* jobs that follow another, and for each job that ends.
#[derive(Default)]
pub(super) struct Followers {
    /// By the number of the jobs that they follow.
    of: BTreeMap<u64, Led>,
    /// Those that are to arrive, by then and in the order of the workload.
    due: BTreeMap<(Time, u64), Job>,
    count: u64,
}

/// The jobs that follow those of one number.
#[derive(Default)]
struct Led {
    /// How many of that number have not ended.
    left: u32,
    /// Each with its place in the workload, and how much later it is submitted.
    jobs: Vec<(u64, Job, f64)>,
}

impl Followers {
    /// Keeps a job until so many with that number have ended.
    pub(super) fn keep(&mut self, job: Job, after: After, ends: u32) {
        let led = self.of.entry(after.number).or_default();
        led.left = ends;
        led.jobs.push((self.count, job, after.think));
        self.count += 1;
    }

    /// A job with this number has ended, or will never run.
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

    /// When the next of them arrives, as far as that is known.
    pub(super) fn next_arrival(&self) -> Option<Time> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// The next of those that arrive now.
    pub(super) fn take(&mut self, now: Time) -> Option<Job> {
        let first = self.due.first_entry().filter(|first| first.key().0 == now)?;
        Some(first.remove())
    }
}
