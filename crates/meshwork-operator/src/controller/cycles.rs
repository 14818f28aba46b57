//! Times at which the main scheduler and the backfill scheduler run.

use super::rules::SchedulerParameters;

/// Times of the last cycles of Slurm's schedulers, and flags for events after these cycles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cycles {
    last_main: Option<f64>,
    last_full: Option<f64>,
    last_backfill: Option<f64>,
    news: bool,
    /// Whether the main scheduler's next cycle ignores the minimum delay after its last cycle.
    urgent: bool,
    changed: bool,
}

impl Cycles {
    /// Registers the start of the controller. From then on, cycles over the whole queue recur at a
    /// fixed interval.
    pub(crate) fn started(&mut self, at: f64, now: f64, parameters: &SchedulerParameters) {
        let Some(every) = parameters.sched_interval.map(|every| every as f64) else { return };
        self.last_full = Some(at + ((now - at) / every).floor() * every);
    }

    pub(crate) fn news(&mut self) {
        (self.news, self.changed) = (true, true);
    }

    pub(crate) fn killed(&mut self) {
        self.urgent = true;
    }

    /// Notes whether jobs may have started or priorities may have changed, so that backfill must
    /// run.
    pub(crate) fn change(&mut self, changed: bool) {
        self.changed |= changed;
    }

    /// Earliest time of the main scheduler's next cycle; `None` if no event requires a cycle.
    pub(crate) fn main_at(&self, parameters: &SchedulerParameters) -> Option<f64> {
        let last = self.last_main.filter(|_| !self.urgent);
        let last = last.map_or(f64::NEG_INFINITY, |last| last + parameters.main_delay);
        self.news.then_some(last)
    }

    /// Time of the main scheduler's next cycle over the whole queue, if such cycles are configured.
    pub(crate) fn full_at(&self, parameters: &SchedulerParameters) -> Option<f64> {
        Some(self.last_full? + parameters.sched_interval? as f64)
    }

    /// Earliest time of the next backfill cycle; `None` if nothing has changed since the last
    /// cycle.
    pub(crate) fn backfill_at(&self, parameters: &SchedulerParameters) -> Option<f64> {
        let every = parameters.bf_interval.filter(|_| self.changed)?;
        Some(self.last_backfill.map_or(f64::NEG_INFINITY, |last| last + every as f64))
    }

    pub(crate) fn last(&self) -> Option<f64> {
        self.last_main.into_iter().chain(self.last_backfill).reduce(f64::max)
    }

    /// Registers a cycle of the main scheduler. An early cycle for a killed job does not postpone
    /// the next regular cycle.
    pub(crate) fn ran_main(&mut self, at: f64, is_full: bool, parameters: &SchedulerParameters) {
        let was_urgent = std::mem::take(&mut self.urgent);
        if was_urgent
            && !is_full
            && self.last_main.is_some_and(|last| at < last + parameters.main_delay)
        {
            return;
        }
        (self.last_main, self.news) = (Some(at), false);
        if is_full || self.last_full.is_none() {
            self.last_full = Some(at);
        }
    }

    pub(crate) fn ran_backfill(&mut self, at: f64) {
        (self.last_backfill, self.changed) = (Some(at), false);
    }
}
