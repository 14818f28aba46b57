//! An allocator alone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use meshwork::job::Time;
use meshwork::machine::Placement as Nodes;
use meshwork::pool::{PlacedBlock, Pool as Model, Snapshot};
use meshwork::topology::Topology as Wired;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::catalogue;
use crate::error::{OrWrong, failed, wrong};
use crate::place::{Placement, Topology, placement, request};
use crate::running::guarded;
use crate::strategy::site::Site;
use crate::values::{from_table, to_table, tuple};

/// The processors of one machine and the allocator that hands them out.
#[pyclass(frozen, subclass, module = "meshwork._meshwork")]
pub(crate) struct Pool {
    pool: Mutex<Model>,
    topology: Arc<Wired>,
    site: Py<Site>,
}

impl Pool {
    fn lock(&self) -> PyResult<MutexGuard<'_, Model>> {
        // Another thread of Python can only be inside while an allocator in Python is asked.
        self.pool.try_lock().or_else(|error| match error {
            std::sync::TryLockError::Poisoned(poisoned) => Ok(PoisonError::into_inner(poisoned)),
            std::sync::TryLockError::WouldBlock => Err(failed(
                "the pool is in use: an allocator cannot ask the pool that asks it, and two threads cannot ask one pool \
                 at the same time",
            )),
        })
    }

    /// What the pool says, or what its strategy raised. If that was while it was told of a change, the pool and its
    /// books no longer agree, and it cannot go on.
    fn ask<T>(&self, py: Python<'_>, ask: impl FnOnce(&mut Model) -> T) -> PyResult<T> {
        let mut pool = self.lock()?;
        let answer = guarded(|| ask(&mut pool));
        if answer.is_err() {
            self.site.get().set_to(pool.site(), pool.held(), py);
            let held: u32 = pool.held().map(Nodes::len).sum();
            if held + pool.site().free_nodes() != pool.site().nodes() {
                let snapshot = pool.snapshot();
                // From what is in its books it can be made anew; what was being done is not.
                let again = guarded(|| Model::read_in(&catalogue::current(), pool.table()));
                if let Ok(Ok(mut again)) = again
                    && guarded(|| again.restore(&snapshot)).is_ok_and(|done| done.is_ok())
                {
                    *pool = again;
                    self.site.get().set_to(pool.site(), pool.held(), py);
                }
            }
        }
        answer
    }

    fn placed(&self, nodes: Nodes) -> Placement {
        Placement { nodes, topology: Arc::clone(&self.topology) }
    }
}

#[pymethods]
impl Pool {
    #[new]
    fn new(py: Python<'_>, document: &Bound<'_, PyAny>) -> PyResult<Pool> {
        let table = to_table(document, "a pool")?;
        let catalogue = catalogue::current();
        let pool = guarded(|| Model::read_in(&catalogue, &table))?.or_wrong()?;
        let topology = Arc::new(pool.site().topology().clone());
        let site = Py::new(py, Site::new(Arc::clone(&topology)))?;
        Ok(Pool { pool: Mutex::new(pool), topology, site })
    }

    fn allocate(&self, py: Python<'_>, wanted: &Bound<'_, PyAny>) -> PyResult<Option<Placement>> {
        let wanted = request(wanted)?;
        let (placed, now) = self.ask(py, |pool| (pool.allocate(&wanted), pool.now()))?;
        Ok(placed.map(|nodes| {
            self.site.get().claimed(&nodes, now);
            self.placed(nodes)
        }))
    }

    fn can(&self, py: Python<'_>, wanted: &Bound<'_, PyAny>) -> PyResult<Option<Placement>> {
        let wanted = request(wanted)?;
        Ok(self.ask(py, |pool| pool.can(&wanted))?.map(|nodes| self.placed(nodes)))
    }

    fn could_hold(&self, py: Python<'_>, wanted: &Bound<'_, PyAny>) -> PyResult<bool> {
        let wanted = request(wanted)?;
        self.ask(py, |pool| pool.could_hold(&wanted))
    }

    fn adopt(&self, py: Python<'_>, held: &Bound<'_, PyAny>) -> PyResult<Placement> {
        let nodes = placement(held, &self.topology)?;
        let (adopted, now) = self.ask(py, |pool| (pool.adopt(&nodes), pool.now()))?;
        adopted.or_wrong()?;
        self.site.get().claimed(&nodes, now);
        Ok(self.placed(nodes))
    }

    fn release(&self, py: Python<'_>, held: &Bound<'_, PyAny>) -> PyResult<()> {
        let nodes = placement(held, &self.topology)?;
        self.ask(py, |pool| pool.release(&nodes))?.or_wrong()?;
        self.site.get().released(&nodes);
        Ok(())
    }

    #[pyo3(signature = (ratio = None))]
    fn room<'py>(&self, py: Python<'py>, ratio: Option<Vec<u32>>) -> PyResult<Bound<'py, PyDict>> {
        let room = self.lock()?.room(ratio.as_deref()).or_wrong()?;
        let dict = PyDict::new(py);
        dict.set_item("free", room.free)?;
        dict.set_item("nodes", room.nodes)?;
        let largest = room.largest.map(|PlacedBlock { base, dims }| -> PyResult<_> {
            PyTuple::new(py, [tuple(py, &base)?, tuple(py, &dims)?])
        });
        dict.set_item("largest", largest.transpose()?)?;
        Ok(dict)
    }

    #[getter]
    fn held(&self) -> PyResult<Vec<Placement>> {
        Ok(self.lock()?.held().map(|nodes| self.placed(nodes.clone())).collect())
    }

    #[getter]
    fn topology(&self) -> Topology {
        Topology(Arc::clone(&self.topology))
    }

    #[getter]
    fn site(&self, py: Python<'_>) -> Py<Site> {
        self.site.clone_ref(py)
    }

    #[getter]
    fn free_nodes(&self) -> PyResult<u32> {
        Ok(self.lock()?.site().free_nodes())
    }

    #[getter]
    fn now(&self) -> PyResult<f64> {
        Ok(self.lock()?.now().units())
    }

    fn advance(&self, to: f64) -> PyResult<()> {
        if !(0.0..=1e15).contains(&to) {
            return Err(wrong(format!("the time is {to}, but must be a number from 0 to 1e15")));
        }
        self.lock()?.advance(Time::new(to)).or_wrong()
    }

    #[getter]
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        from_table(py, self.lock()?.table())
    }

    /// All that there is to know of it, as JSON.
    fn snapshot_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.lock()?.snapshot()).map_err(failed)
    }

    fn restore_json(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        let snapshot: Snapshot = serde_json::from_str(text)
            .map_err(|error| wrong(format!("this is no snapshot of a pool ({error})")))?;
        self.ask(py, |pool| pool.restore(&snapshot))?.or_wrong()?;
        let pool = self.lock()?;
        self.site.get().set_to(pool.site(), pool.held(), py);
        Ok(())
    }

    fn drawing(&self) -> PyResult<String> {
        Ok(self.lock()?.site().drawing())
    }
}
