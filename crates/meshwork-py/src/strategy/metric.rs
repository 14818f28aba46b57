//! Adapters for metrics written in Python: a mean over jobs, or the final result of an observer.

use meshwork::job::Time;
use meshwork::observe::Running;
use meshwork::observe::metrics::{Gauge, JobValue, Rules};
use meshwork::registry::About;
use meshwork::topology::Topology as Wired;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::observer::{InPython, Run, sites};
use super::{Instance, made};

fn metric(about: &'static About, machine: &[Wired]) -> Instance {
    made("metric", about.name, machine, |py| Ok(PyDict::new(py)))
}

/// Function that computes a metric's value for a finished job. The metric is a mean over jobs.
pub(crate) fn value(about: &'static About, machine: &[Wired]) -> JobValue {
    let (instance, sites) = (metric(about, machine), sites(machine));
    Box::new(move |running: &Running, now: Time, _: &Rules| {
        let value = Python::attach(|py| -> PyResult<Option<f64>> {
            let told = (Run::of(running, &sites), now.units());
            instance.object.bind(py).call_method1(intern!(py, "value"), told)?.extract()
        });
        let value = value.unwrap_or_else(|error| {
            let id = running.id.0;
            instance.give_up(&format!("when it was asked for the value of job {id}"), error)
        });
        value.unwrap_or(f64::NAN)
    })
}

/// Metric of a class in Python that observes the whole run, and gives one result at the end.
pub(crate) fn gauge(about: &'static About, machine: &[Wired]) -> Box<dyn Gauge> {
    Box::new(InPython::new(metric(about, machine), machine))
}

impl Gauge for InPython {
    fn value(&self) -> Option<f64> {
        let instance = self.instance();
        let value = Python::attach(|py| -> PyResult<Option<f64>> {
            instance.object.bind(py).call_method0(intern!(py, "result"))?.extract()
        });
        value.unwrap_or_else(|error| instance.give_up("when it was asked for its result", error))
    }
}
