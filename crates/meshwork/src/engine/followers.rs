//! Jobs that are held back until their predecessors have ended.

use std::collections::BTreeMap;

use crate::job::{After, Job, Time};

/// Jobs that are not yet submitted, because their predecessors have not ended.
#[derive(Default)]
pub(super) struct Followers {
    /// Jobs by the number of the job on which they depend.
    of: BTreeMap<u64, Led>,
    /// Jobs whose predecessors have ended, but that have not arrived yet, in order of arrival. Ties
    /// go by their order in the workload.
    due: BTreeMap<(Time, u64), Job>,
    count: u64,
}

/// Jobs that wait until all jobs with a certain number have ended. In a workload, several jobs may
/// have the same number.
#[derive(Default)]
struct Led {
    /// Number of predecessors that have not ended.
    left: u32,
    /// For each job: its position in the workload, the job itself, and its think time. The think
    /// time passes between the last end of a predecessor and the arrival.
    jobs: Vec<(u64, Job, f64)>,
}

impl Followers {
    /// Holds `job` back until its predecessors have ended: `ends` jobs with the number in `after`.
    pub(super) fn keep(&mut self, job: Job, after: After, ends: u32) {
        let led = self.of.entry(after.number).or_default();
        led.left = ends;
        led.jobs.push((self.count, job, after.think));
        self.count += 1;
    }

    /// Records that a job has ended or will never run. If it was the last one with its number, the
    /// jobs that wait for this number are released.
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

    pub(super) fn next_arrival(&self) -> Option<Time> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    pub(super) fn take(&mut self, now: Time) -> Option<Job> {
        let first = self.due.first_entry().filter(|first| first.key().0 == now)?;
        Some(first.remove())
    }
}
