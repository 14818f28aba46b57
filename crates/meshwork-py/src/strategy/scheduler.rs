//! Adapter for schedulers written in Python.

use meshwork::cluster::Cluster as Model;
use meshwork::job::Time;
use meshwork::registry::{Params, Problem};
use meshwork::sched::Scheduler;
use meshwork::topology::Topology as Wired;
use pyo3::intern;
use pyo3::prelude::*;

use super::cluster::Cluster;
use super::lent::lend_cluster;
use super::{Instance, instance};

/// Builds the scheduler registered under this name.
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
        lent.note(cluster);
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
}
