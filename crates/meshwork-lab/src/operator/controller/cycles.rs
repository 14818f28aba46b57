//! When the cycles of both schedulers run.

use super::rules::SchedulerParameters;

/// The last cycles, and what has happened since.
#[derive(Clone, Debug, Default)]
pub(in crate::operator) struct Cycles {
    last_main: Option<f64>,
    last_full: Option<f64>,
    last_backfill: Option<f64>,
    /// Whether a job was submitted or ended since the main scheduler ran.
    news: bool,
    /// Whether the main scheduler runs without delay.
    urgent: bool,
    /// Whether anything has changed since backfill ran.
    changed: bool,
}

impl Cycles {
    /// Notes that a job was submitted or has ended.
    pub(in crate::operator) fn news(&mut self) {
        (self.news, self.changed) = (true, true);
    }

    /// Notes that the processes of a killed job are gone.
    pub(in crate::operator) fn killed(&mut self) {
        self.urgent = true;
    }

    /// Notes that jobs have started or priorities have moved, if they did.
    pub(in crate::operator) fn change(&mut self, changed: bool) {
        self.changed |= changed;
    }

    /// When the main scheduler runs next after an event.
    pub(in crate::operator) fn main_at(&self, parameters: &SchedulerParameters) -> Option<f64> {
        let last = self.last_main.filter(|_| !self.urgent);
        let last = last.map_or(f64::NEG_INFINITY, |last| last + parameters.main_delay);
        self.news.then_some(last)
    }

    /// When the main scheduler considers the whole queue next.
    pub(in crate::operator) fn full_at(&self, parameters: &SchedulerParameters) -> Option<f64> {
        Some(self.last_full? + parameters.sched_interval? as f64)
    }

    /// When backfill runs next.
    pub(in crate::operator) fn backfill_at(&self, parameters: &SchedulerParameters) -> Option<f64> {
        let every = parameters.bf_interval.filter(|_| self.changed)?;
        Some(self.last_backfill.map_or(f64::NEG_INFINITY, |last| last + every as f64))
    }

    /// Notes a cycle of the main scheduler; the first counts as one over the whole queue.
    pub(in crate::operator) fn ran_main(&mut self, at: f64, is_full: bool) {
        (self.last_main, self.news, self.urgent) = (Some(at), false, false);
        if is_full || self.last_full.is_none() {
            self.last_full = Some(at);
        }
    }

    /// Notes a cycle of backfill.
    pub(in crate::operator) fn ran_backfill(&mut self, at: f64) {
        (self.last_backfill, self.changed) = (Some(at), false);
    }
}
