//! Jobs that are held back until their predecessors have ended.

use std::collections::BTreeMap;

use crate::job::{After, Job, Time};

/// Jobs that are not yet submitted, because their predecessors have not ended.
///
/// # Complexity
/// **O(log f)** to add a job, and for each job that ends, with *f* jobs not yet submitted.
#[derive(Default)]
pub(super) struct Followers {
    /// Jobs not yet submitted, by the number of the job on which they depend.
    of: BTreeMap<u64, Led>,
    /// Released jobs that have not arrived, by arrival; ties go by their order in the workload.
    due: BTreeMap<(Time, u64), Job>,
    count: u64,
}

/// Jobs that are not submitted before all jobs with one given number have ended. Several jobs of a
/// workload may have this number.
#[derive(Default)]
struct Led {
    /// How many jobs with the predecessor's number have not ended. The jobs to be submitted wait
    /// for all of them.
    left: u32,
    /// Position in the workload, job and think time of each job to be submitted.
    ///
    /// The think time passes between the end of the last predecessor and the arrival of the job.
    jobs: Vec<(u64, Job, f64)>,
}

impl Followers {
    /// Holds a job until `ends` jobs with its predecessor's number have ended.
    pub(super) fn keep(&mut self, job: Job, after: After, ends: u32) {
        let led = self.of.entry(after.number).or_default();
        led.left = ends;
        led.jobs.push((self.count, job, after.think));
        self.count += 1;
    }

    /// Records that a job with the given number has ended or will never run. Jobs that depend on it
    /// are released if all of their predecessors have ended.
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

    /// Arrival of the next released job; `None` if there is none.
    pub(super) fn next_arrival(&self) -> Option<Time> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// Removes and returns the next released job if it arrives at `now`.
    pub(super) fn take(&mut self, now: Time) -> Option<Job> {
        let first = self.due.first_entry().filter(|first| first.key().0 == now)?;
        Some(first.remove())
    }
}
