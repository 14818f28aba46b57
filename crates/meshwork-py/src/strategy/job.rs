//! A job as a strategy in Python sees it: without its run time, which nobody knows before it has ended.

use meshwork::job::Job as Model;
use pyo3::prelude::*;

use crate::place::request_for;

/// A job that waits.
#[pyclass(frozen, module = "meshwork._meshwork")]
pub(crate) struct Job(Model);

impl Job {
    pub(super) fn of(job: &Model) -> Job {
        Job(job.clone())
    }
}

#[pymethods]
impl Job {
    #[getter]
    fn number(&self) -> u64 {
        self.0.number
    }

    #[getter]
    fn submit(&self) -> f64 {
        self.0.arrival.units()
    }

    #[getter]
    fn estimate(&self) -> f64 {
        self.0.estimate
    }

    #[getter]
    fn request<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        request_for(py, &self.0.request)
    }

    #[getter]
    fn nodes(&self) -> u64 {
        self.0.request.nodes()
    }

    #[getter]
    fn user(&self) -> Option<&str> {
        self.0.owner.as_ref()?.user.as_deref()
    }

    #[getter]
    fn group(&self) -> Option<&str> {
        self.0.owner.as_ref()?.group.as_deref()
    }

    fn __repr__(&self) -> String {
        format!("Job({}, {} for {})", self.0.number, self.0.request, self.0.estimate)
    }
}
