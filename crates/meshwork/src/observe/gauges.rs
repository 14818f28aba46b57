//! Gauges: metrics that watch a run themselves, because their value is no sum over jobs or time.

use super::metrics::{Gauge, Measure, MetricEntry};
use super::recorder::Measured;
use super::{Event, JobId, MachineState, Observer};
use crate::job::{Cause, Time};
use crate::topology::Topology;

/// The gauges of a run, each with the index of its metric.
pub(crate) struct Gauges(Vec<(usize, Box<dyn Gauge>)>);

impl Gauges {
    /// Creates the gauges of metrics that have a gauge, for a machine with these sites.
    pub(crate) fn of(metrics: &[&'static MetricEntry], machine: &[Topology]) -> Gauges {
        let made = |(place, metric): (usize, &&'static MetricEntry)| match metric.measure {
            Measure::Watched(make) => Some((place, make(&metric.about, machine))),
            _ => None,
        };
        Gauges(metrics.iter().enumerate().filter_map(made).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the final value of each gauge into the result of its metric.
    pub(crate) fn read(&self, measured: &mut [Measured]) {
        for (place, gauge) in &self.0 {
            measured[*place].value = gauge.value();
        }
    }

    fn any(&self, asks: impl Fn(&dyn Gauge) -> bool) -> bool {
        self.0.iter().any(|(_, gauge)| asks(&**gauge))
    }
}

impl Observer for Gauges {
    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
        self.0.iter_mut().for_each(|(_, gauge)| gauge.elapsed(from, to, state));
    }

    fn asks_why_jobs_wait(&self) -> bool {
        self.any(|gauge| gauge.asks_why_jobs_wait())
    }

    fn asks_where_jobs_run(&self) -> bool {
        self.any(|gauge| gauge.asks_where_jobs_run())
    }

    fn asks_what_blocks(&self) -> bool {
        self.any(|gauge| gauge.asks_what_blocks())
    }

    fn waited(&mut self, from: Time, to: Time, id: JobId, cause: Cause) {
        self.0.iter_mut().for_each(|(_, gauge)| gauge.waited(from, to, id, cause));
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        self.0.iter_mut().for_each(|(_, gauge)| gauge.observe(now, event));
    }
}
