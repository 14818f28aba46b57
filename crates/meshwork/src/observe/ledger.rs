//! Consistency checks on the bookkeeping of every run.

use super::areas::number;
use super::{Event, MachineState, Observer};
use crate::job::Time;

/// Checks two identities that hold in every run, for all strategies.
///
/// The first identity is Little's law. It says that two numbers are equal: the number of jobs in
/// the system, integrated over time, and the sum of the times that jobs spent in the system.
///
/// The second identity is about held processors. Their number, integrated over time, equals a sum
/// over jobs: the number of processors of each job times the time for which it held them. If a run
/// violates an identity, it has a bug, which is reported.
///
/// # Complexity
/// **O(1)** for each event.
#[derive(Debug, Default)]
pub struct Ledger {
    jobs_area: f64,
    held_area: f64,
    /// Sum of the instants at which jobs left the system, minus the sum of all arrival instants.
    sojourns: f64,
    /// Sum over jobs of the number of processors times the time for which they were held.
    held_times: f64,
    inside: f64,
    holding: f64,
    size: f64,
    largest_time: f64,
}

/// Violation of one of the identities that hold in every run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the area under the {what} is {area}, their times add up to {sum}")]
#[non_exhaustive]
pub struct Imbalance {
    /// Quantity for which the identity fails, in words: jobs in the system, or held processors.
    pub what: &'static str,
    /// Integral over time of the number of jobs in the system, or of the number of held processors.
    pub area: f64,
    /// Sum over all jobs, which should equal the integral `area`.
    ///
    /// For jobs in the system, each job adds the time that it spent in the system. For held
    /// processors, it adds its number of processors times the time for which it held them.
    pub sum: f64,
}

impl Ledger {
    /// Checks Little's law, and the identity of held processor-time, at the end of a run.
    ///
    /// # Errors
    /// If an identity is violated: this identity, with both of its values.
    pub fn balance(&self, end: Time) -> Result<(), Imbalance> {
        let sojourns = self.sojourns + self.inside * end.units();
        let held_times = self.held_times + self.holding * end.units();
        // Each term of the sums is a product of an instant and a count, and is rounded once.
        let slack = 1e-9 * (1.0 + self.size * self.largest_time);
        for (what, area, sum) in [
            ("jobs in the system", self.jobs_area, sojourns),
            ("processors held", self.held_area, held_times),
        ] {
            if (area - sum).abs() > slack.max(1e-9 * area.abs()) {
                return Err(Imbalance { what, area, sum });
            }
        }
        Ok(())
    }
}

impl Observer for Ledger {
    #[inline(always)]
    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
        self.jobs_area += (to - from) * number(state.waiting + state.running);
        self.held_area += (to - from) * number(state.held);
    }

    #[inline(always)]
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        let at = now.units();
        if at > self.largest_time {
            self.largest_time = at;
        }
        match event {
            Event::Arrived(..) => {
                self.sojourns -= at;
                self.inside += 1.0;
                self.size += 1.0;
            }
            Event::Started(job) => {
                self.held_times -= at * f64::from(job.held);
                self.holding += f64::from(job.held);
                self.size += f64::from(job.held);
            }
            Event::Moved { running, from } => {
                let more = f64::from(running.held) - f64::from(from.len());
                self.held_times -= at * more;
                self.holding += more;
                self.size += more.abs();
            }
            Event::Finished(job) => {
                self.sojourns += at;
                self.inside -= 1.0;
                self.held_times += at * f64::from(job.held);
                self.holding -= f64::from(job.held);
            }
            Event::TurnedAway(..) => {
                self.sojourns += at;
                self.inside -= 1.0;
            }
            // An interrupted job stays in the system, and holds nothing while it waits again.
            Event::Interrupted(job) => {
                self.held_times += at * f64::from(job.held);
                self.holding -= f64::from(job.held);
            }
            Event::Refused(..)
            | Event::Promised(..)
            | Event::Unusable(_)
            | Event::Down { .. }
            | Event::Up { .. }
            | Event::GpuDown { .. }
            | Event::GpuUp { .. }
            | Event::Asleep { .. }
            | Event::Awake { .. } => {}
        }
    }
}
