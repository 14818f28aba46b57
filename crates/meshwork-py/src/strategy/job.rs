//! Jobs as strategies in Python see them: the run time is hidden, as it is unknown before the end.

use meshwork::job::{Job as Model, Request, Time};
use meshwork::observe::recorder::OwnerAttribute;
use meshwork::workload::table::{CellKind, Column};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::place::request_for;

/// A job as submitted; its run time is not visible.
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
    /// The job number in the workload.
    #[getter]
    fn number(&self) -> u64 {
        self.0.number
    }

    /// The arrival time.
    #[getter]
    fn submit(&self) -> f64 {
        self.0.arrival.units()
    }

    /// The run time estimated by the user.
    #[getter]
    fn estimate(&self) -> f64 {
        self.0.estimate
    }

    /// The requested number of processors or sides of a block.
    #[getter]
    fn request<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        request_for(py, &self.0.request)
    }

    /// The number of requested processors.
    #[getter]
    fn nodes(&self) -> u64 {
        self.0.request.nodes()
    }

    /// The user, or `None` if the workload names none, or no component uses the owners of jobs.
    ///
    /// A scheduler in Python counts as a component that uses owners.
    #[getter]
    fn user(&self) -> Option<&str> {
        self.owner(OwnerAttribute::User)
    }

    /// The user's group; `None` if the workload names none, or no component uses owners.
    #[getter]
    fn group(&self) -> Option<&str> {
        self.owner(OwnerAttribute::Group)
    }

    /// The application; `None` if the workload names none, or no component uses owners.
    #[getter]
    fn application(&self) -> Option<&str> {
        self.owner(OwnerAttribute::Application)
    }

    /// The submission queue; `None` if the workload names none, or no component uses owners.
    #[getter]
    fn queue(&self) -> Option<&str> {
        self.owner(OwnerAttribute::Queue)
    }

    /// The partition that the job requests, or `None` if it requests none.
    ///
    /// For a job without constraints, it is also `None` if no component uses owners.
    #[getter]
    fn partition(&self) -> Option<&str> {
        match &self.0.request {
            Request::Constrained(constraints) => constraints.partition.as_deref(),
            _ => self.owner(OwnerAttribute::Partition),
        }
    }

    /// The priority, from 0 to 1; 0 if the workload has none.
    #[getter]
    fn priority(&self) -> f64 {
        self.0.terms.as_ref().map_or(0.0, |terms| terms.priority)
    }

    /// The time by which the job should end, if it has a deadline.
    #[getter]
    fn deadline(&self) -> Option<f64> {
        self.0.deadline().map(Time::units)
    }

    /// The number of the job whose end triggered the submission, if there is such a job.
    #[getter]
    fn after(&self) -> Option<u64> {
        self.0.after().map(|after| after.number)
    }

    /// The think time from the end of the job `after` to the submission, or `None`.
    #[getter]
    fn think(&self) -> Option<f64> {
        self.0.after().map(|after| after.think)
    }

    /// The constraints on the job's nodes, except for the partition.
    ///
    /// Keys are the columns of a table of jobs: `segment`, `switches`, `exclude`, …
    #[getter]
    fn constraints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let cells = match &self.0.request {
            Request::Constrained(constraints) => constraints.cells(),
            Request::Pieces(pieces) => match &pieces.roles[..] {
                [only] => only.cells(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        for (name, cell) in cells {
            match Column::named(name).map(|column| column.holds) {
                // The job has the partition as a separate attribute.
                _ if name == "partition" => {}
                Some(CellKind::Count) => dict.set_item(name, cell.parse::<u32>()?)?,
                Some(CellKind::Flag) => dict.set_item(name, cell == "true")?,
                _ => dict.set_item(name, cell)?,
            }
        }
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        format!("Job({}, {} for {})", self.0.number, self.0.request, self.0.estimate)
    }
}
