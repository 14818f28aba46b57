//! Gauges: metrics that are not sums over jobs or over time. Each gauge observes the run itself.

use super::metrics::{Gauge, Measure, MetricEntry};
use super::recorder::Measured;
use super::{Event, JobId, MachineState, Observer};
use crate::job::{Cause, Time};
use crate::topology::Topology;

pub(crate) struct Gauges {
    /// Gauges of the measured metrics, each with the index of its metric.
    all: Vec<(usize, Box<dyn Gauge>)>,
    /// Whether any job has arrived. Gauges do not observe the time before the first arrival.
    has_begun: bool,
}

impl Gauges {
    /// Creates the gauges of all metrics that are measured by a gauge, for a machine with the given
    /// sites.
    pub(crate) fn of(metrics: &[&'static MetricEntry], machine: &[Topology]) -> Gauges {
        let made = |(place, metric): (usize, &&'static MetricEntry)| match metric.measure {
            Measure::Watched(make) => Some((place, make(&metric.about, machine))),
            _ => None,
        };
        let all = metrics.iter().enumerate().filter_map(made).collect();
        Gauges { all, has_begun: false }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Writes the final value of each gauge into the result of the metric to which it belongs.
    pub(crate) fn read(&self, measured: &mut [Measured]) {
        for (place, gauge) in &self.all {
            measured[*place].value = gauge.value();
        }
    }

    fn any(&self, asks: impl Fn(&dyn Gauge) -> bool) -> bool {
        self.all.iter().any(|(_, gauge)| asks(&**gauge))
    }
}

impl Observer for Gauges {
    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
        if self.has_begun {
            self.all.iter_mut().for_each(|(_, gauge)| gauge.elapsed(from, to, state));
        }
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
        self.all.iter_mut().for_each(|(_, gauge)| gauge.waited(from, to, id, cause));
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        self.has_begun |= matches!(event, Event::Arrived(..));
        self.all.iter_mut().for_each(|(_, gauge)| gauge.observe(now, event));
    }
}
