//! A job as a strategy in Python sees it: without its run time, which nobody knows before it has ended.

use meshwork::job::{Job as Model, Request, Time};
use meshwork::observe::recorder::OwnerAttribute;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::place::request_for;

/// A job, as its workload gives it; its run time nobody knows.
///
/// Examples
/// --------
/// >>> import meshwork as mw
/// >>> @mw.register
/// ... class Urgent:
/// ...     "The most urgent first."
/// ...     def schedule(self, cluster: mw.Cluster):
/// ...         waiting = cluster.waiting.tolist()
/// ...         for job in sorted(waiting, key=lambda job: -cluster.job(job).priority):
/// ...             cluster.start(job)
/// >>> jobs = {"submit": [0, 1, 1], "runtime": [5, 5, 5], "nodes": [4, 4, 4], "priority": [0, 0.1, 0.9]}
/// >>> mw.Study(machine=mw.flat(4), workload=jobs, scheduler="urgent").run().jobs()["start"].tolist()
/// [0.0, 10.0, 5.0]
#[pyclass(frozen, module = "meshwork")]
pub(crate) struct Job(Model);

impl Job {
    pub(crate) fn of(job: &Model) -> Job {
        Job(job.clone())
    }

    fn owner(&self, by: OwnerAttribute) -> Option<&str> {
        by.of(self.0.owner.as_deref()?)
    }
}

#[pymethods]
impl Job {
    /// The workload's own number for it.
    #[getter]
    fn number(&self) -> u64 {
        self.0.number
    }

    /// When it arrived.
    #[getter]
    fn submit(&self) -> f64 {
        self.0.arrival.units()
    }

    /// How long its user says it runs.
    #[getter]
    fn estimate(&self) -> f64 {
        self.0.estimate
    }

    /// What it asks for.
    #[getter]
    fn request<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        request_for(py, &self.0.request)
    }

    /// How many processors that is.
    #[getter]
    fn nodes(&self) -> u64 {
        self.0.request.nodes()
    }

    /// Whose it is, where the workload knows and something goes by it: a
    /// scheduler in Python, say.
    #[getter]
    fn user(&self) -> Option<&str> {
        self.owner(OwnerAttribute::User)
    }

    /// The group of its user, likewise.
    #[getter]
    fn group(&self) -> Option<&str> {
        self.owner(OwnerAttribute::Group)
    }

    /// The program that it runs, likewise.
    #[getter]
    fn application(&self) -> Option<&str> {
        self.owner(OwnerAttribute::Application)
    }

    /// The queue that it was submitted to, likewise.
    #[getter]
    fn queue(&self) -> Option<&str> {
        self.owner(OwnerAttribute::Queue)
    }

    /// The partition that it was submitted to, likewise.
    #[getter]
    fn partition(&self) -> Option<&str> {
        match &self.0.request {
            Request::Constrained(wants) => wants.partition.as_deref(),
            _ => self.owner(OwnerAttribute::Partition),
        }
    }

    /// How urgent it is, from 0 to 1; 0 where the workload does not say.
    #[getter]
    fn priority(&self) -> f64 {
        self.0.terms.as_ref().map_or(0.0, |terms| terms.priority)
    }

    /// By when it is to have ended, if that was agreed on.
    #[getter]
    fn deadline(&self) -> Option<f64> {
        self.0.deadline().map(Time::units)
    }

    /// The number of the job after whose end it was submitted, where the workload says.
    #[getter]
    fn after(&self) -> Option<u64> {
        self.0.after().map(|after| after.number)
    }

    /// How long after that end, likewise.
    #[getter]
    fn think(&self) -> Option<f64> {
        self.0.after().map(|after| after.think)
    }

    /// What else it wants of its nodes, by the columns of a table of jobs: `segment`, `switches`,
    /// `exclude`, …
    #[getter]
    fn constraints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let Request::Constrained(wants) = &self.0.request else { return Ok(dict) };
        for (name, number) in [
            ("nodes_max", wants.nodes_max),
            ("segment", wants.segment),
            ("switches", wants.switches),
        ] {
            number.map_or(Ok(()), |number| dict.set_item(name, number))?;
        }
        for (name, is_wanted) in [
            ("spread_segments", wants.spread_segments),
            ("consolidate_segments", wants.consolidate_segments),
            ("contiguous", wants.contiguous),
        ] {
            if is_wanted {
                dict.set_item(name, true)?;
            }
        }
        if wants.whole_blocks {
            dict.set_item("exclusive", "topo")?;
        }
        for (name, list) in [("require", &wants.require), ("exclude", &wants.exclude)] {
            list.as_ref().map_or(Ok(()), |list| dict.set_item(name, list))?;
        }
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        format!("Job({}, {} for {})", self.0.number, self.0.request, self.0.estimate)
    }
}
