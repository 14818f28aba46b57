//! Adapter for schedulers written in Python.

use meshwork::alloc::RecallError;
use meshwork::cluster::{Cluster as Model, MemoryReader, MemoryWriter};
use meshwork::job::Time;
use meshwork::registry::{Params, Problem};
use meshwork::sched::Scheduler;
use meshwork::topology::Topology as Wired;
use pyo3::intern;
use pyo3::prelude::*;

use super::cluster::Cluster;
use super::lent::lend_cluster;
use super::{Instance, instance};

pub(crate) fn build(params: &Params, topologies: &[Wired]) -> Result<Box<dyn Scheduler>, Problem> {
    let instance = instance("scheduler", params, topologies);
    let cluster = Python::attach(|py| Py::new(py, Cluster::new(topologies)));
    let cluster = cluster.unwrap_or_else(|error| instance.give_up("when it was made", error));
    Ok(Box::new(InPython { instance, cluster }))
}

struct InPython {
    instance: Instance,
    cluster: Py<Cluster>,
}

impl Scheduler for InPython {
    fn schedule(&mut self, cluster: &mut Model<'_>) {
        let (now, waiting) = (cluster.now(), cluster.waiting_jobs());
        let lent = self.cluster.get();
        lent.note(cluster.arrivals().iter().copied());
        let scheduled = Python::attach(|py| {
            lend_cluster(py, &lent.lent, cluster, || {
                let object = self.instance.object.bind(py);
                object
                    .call_method1(intern!(py, "schedule"), (self.cluster.clone_ref(py),))
                    .map(drop)
            })
        });
        if let Err(error) = scheduled {
            self.instance.give_up(&format!("at {now}, when {waiting} jobs waited"), error);
        }
    }

    fn wake_at(&self, now: Time) -> Option<Time> {
        if !self.instance.has_wake_at {
            return None;
        }
        let named = Python::attach(|py| -> PyResult<Option<f64>> {
            let object = self.instance.object.bind(py);
            object.call_method1(intern!(py, "wake_at"), (now.units(),))?.extract()
        });
        let doing = || format!("at {now}, when it was asked when to wake it");
        let at = named.unwrap_or_else(|error| self.instance.give_up(&doing(), error))?;
        if at.is_nan() {
            self.instance.break_off(&format!("wants to be woken at NaN, at {now}"));
        }
        Some(Time::new(at))
    }

    fn memory(&self, memory: &mut MemoryWriter) -> bool {
        if !self.instance.has_memory {
            return false;
        }
        let written = Python::attach(|py| -> PyResult<String> {
            self.instance.object.call_method0(py, intern!(py, "memory"))?.extract(py)
        });
        let written = written.unwrap_or_else(|error| {
            self.instance.give_up("when it was asked what it remembers", error)
        });
        memory.text(&written);
        true
    }

    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        if !self.instance.has_memory || memory.is_new() {
            return Ok(());
        }
        self.cluster.get().note(memory.cluster().waiting());
        let written = memory.text()?;
        Python::attach(|py| {
            let recalled = self.instance.object.call_method1(py, intern!(py, "recall"), (written,));
            recalled.map(drop).map_err(|error| RecallError::Other(error.value(py).to_string()))
        })
    }
}
