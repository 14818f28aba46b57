//! What an allocator in Python is asked.

use std::sync::{Mutex, MutexGuard, PoisonError};

use meshwork::job::Request;
use meshwork::rng::Stream;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::site::Site;
use crate::place::request_for;

/// A question for a place.
#[pyclass(frozen, module = "meshwork._meshwork")]
pub(crate) struct Ask {
    pub(super) request: Request,
    pub(super) site: Py<Site>,
    #[pyo3(get)]
    pub(super) now: f64,
    pub(super) rng: Py<Rng>,
}

#[pymethods]
impl Ask {
    #[getter]
    fn request<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        request_for(py, &self.request)
    }

    #[getter]
    fn nodes(&self) -> u64 {
        self.request.nodes()
    }

    #[getter]
    fn site(&self, py: Python<'_>) -> Py<Site> {
        self.site.clone_ref(py)
    }

    #[getter]
    fn rng(&self, py: Python<'_>) -> Py<Rng> {
        self.rng.clone_ref(py)
    }

    fn __repr__(&self) -> String {
        format!("Ask({} at {})", self.request, self.now)
    }
}

/// The stream of random numbers of a strategy: a function of the seed, the replication and the strategy's place, so that
/// whoever draws from it alone gives the same answers again.
#[pyclass(frozen, module = "meshwork._meshwork")]
pub(crate) struct Rng(Mutex<Stream>);

impl Rng {
    pub(super) fn new(stream: &Stream) -> Rng {
        Rng(Mutex::new(stream.clone()))
    }

    pub(super) fn stream(&self) -> MutexGuard<'_, Stream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Rng {
    fn random(&self) -> f64 {
        self.stream().unit()
    }

    fn below(&self, bound: u64) -> PyResult<u64> {
        if bound == 0 {
            return Err(PyValueError::new_err("nothing is below 0"));
        }
        Ok(self.stream().below(bound))
    }
}
