//! Requests to allocators written in Python, and random numbers for strategies in Python.

use std::sync::{Mutex, MutexGuard, PoisonError};

use meshwork::job::Request;
use meshwork::rng::Stream;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::site::Site;
use crate::place::request_for;

/// A request to an allocator, passed to its method `choose`.
///
/// Examples
/// --------
/// >>> import meshwork as mw
/// >>> @mw.register
/// ... class Lowest:
/// ...     "The free nodes with the lowest numbers."
/// ...     asks, finds, stateless = "nodes", "any_nodes", True
/// ...     def choose(self, ask: mw.Ask):
/// ...         return ask.site.free_numbers[: ask.nodes]
/// >>> mw.Pool(mw.mesh(4, 4), "lowest").allocate(6)
/// Placement("0,0:4x1;0,1:2x1")
#[pyclass(frozen, module = "meshwork")]
pub(crate) struct Ask {
    pub(super) request: Request,
    /// The site on which the request is to be placed.
    #[pyo3(get)]
    pub(super) site: Py<Site>,
    /// The current time.
    #[pyo3(get)]
    pub(super) now: f64,
    /// The allocator's own random number stream.
    #[pyo3(get)]
    pub(super) rng: Py<Rng>,
}

#[pymethods]
impl Ask {
    /// The request, in the form that the allocator declares with `asks`.
    ///
    /// A subcube is given as its number of nodes.
    #[getter]
    fn request<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        request_for(py, &self.request)
    }

    /// The number of requested nodes.
    #[getter]
    fn nodes(&self) -> u64 {
        self.request.nodes()
    }

    fn __repr__(&self) -> String {
        format!("Ask({} at {})", self.request, self.now)
    }
}

/// The random number stream of a strategy or a workload.
///
/// The stream is a function of the seed and the replication.
///
/// Examples
/// --------
/// >>> import meshwork as mw
/// >>> @mw.register
/// ... class Anywhere:
/// ...     "Free nodes from one on that is drawn."
/// ...     asks, finds, stateless = "nodes", "any_nodes", True
/// ...     def choose(self, ask: mw.Ask):
/// ...         free = ask.site.free_numbers
/// ...         first = ask.rng.below(len(free) - ask.nodes + 1)
/// ...         return free[first : first + ask.nodes]
/// >>> len(mw.Pool(mw.mesh(4, 4), "anywhere", seed=1).allocate(3))
/// 3
#[pyclass(frozen, module = "meshwork")]
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
    /// Draw a number, uniform on (0, 1).
    fn random(&self) -> f64 {
        self.stream().unit()
    }

    /// Draw an integer, uniform from 0 to `bound` - 1.
    fn below(&self, bound: u64) -> PyResult<u64> {
        if bound == 0 {
            return Err(PyValueError::new_err("nothing is below 0"));
        }
        Ok(self.stream().below(bound))
    }
}
