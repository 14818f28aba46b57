//! A pool: the nodes of a machine that an allocator assigns, without a simulation.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use meshwork::job::{Request, Time};
use meshwork::machine::Placement as Nodes;
use meshwork::pool::{PlacedBlock, Pool as Model, Snapshot};
use meshwork::topology::Topology as Wired;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::error::{OrWrong, failed, wrong};
use crate::guard::guarded;
use crate::place::{Placement, Topology, placement, request};
use crate::strategy::catalogue;
use crate::strategy::site::Site;
use crate::values::{from_table, to_table};

/// The processors of one machine, and the allocator that assigns them.
#[pyclass(frozen, subclass, module = "meshwork._meshwork")]
pub(crate) struct Pool {
    pool: Mutex<Model>,
    user: Mutex<Option<ThreadId>>,
    topology: Arc<Wired>,
    /// The machine as seen by a strategy.
    #[pyo3(get)]
    site: Py<Site>,
}

/// Interval between attempts to lock a pool that another thread has locked.
///
/// It is short, since a pool is locked only for microseconds, unless its allocator is in Python.
const LOOK_AGAIN: Duration = Duration::from_micros(100);

struct Locked<'p> {
    pool: &'p Pool,
    model: MutexGuard<'p, Model>,
}

impl Deref for Locked<'_> {
    type Target = Model;
    fn deref(&self) -> &Model {
        &self.model
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Model {
        &mut self.model
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        *self.pool.user() = None;
    }
}

impl Pool {
    /// Locks the pool, and waits without the GIL, which the other thread may need.
    ///
    /// # Errors
    ///
    /// If this thread has already locked the pool, because the pool's own allocator calls the pool.
    /// Also if a signal handler raises an exception during the wait.
    fn lock(&self, py: Python<'_>) -> PyResult<Locked<'_>> {
        loop {
            let model = match self.pool.try_lock() {
                Ok(model) => model,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    if *self.user() == Some(thread::current().id()) {
                        return Err(failed(
                            "the pool is in use: an allocator cannot ask the pool that asks it",
                        ));
                    }
                    py.check_signals()?;
                    py.detach(|| thread::sleep(LOOK_AGAIN));
                    continue;
                }
            };
            *self.user() = Some(thread::current().id());
            return Ok(Locked { pool: self, model });
        }
    }

    /// Thread that has locked the pool.
    fn user(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.user.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a function with the locked pool; an exception of its allocator is returned.
    ///
    /// If the allocator raised while it was notified of a change, the pool's free nodes and its
    /// records of held placements disagree. The pool is then rebuilt from these records, if
    /// possible.
    fn ask<T>(&self, py: Python<'_>, ask: impl FnOnce(&mut Model) -> T) -> PyResult<T> {
        let mut pool = self.lock(py)?;
        let answer = guarded(|| ask(&mut pool));
        if answer.is_err() {
            self.site.get().set_to(pool.site(), pool.held());
            let held: u32 = pool.held().map(Nodes::len).sum();
            if held + pool.site().free_nodes() != pool.site().nodes() {
                let snapshot = pool.snapshot();
                // The pool is rebuilt from its records, without the interrupted operation.
                let again = guarded(|| Model::read_in(&catalogue::current(), pool.table()));
                if let Ok(Ok(mut again)) = again
                    && guarded(|| again.restore(&snapshot)).is_ok_and(|done| done.is_ok())
                {
                    *pool = again;
                    self.site.get().set_to(pool.site(), pool.held());
                }
            }
        }
        answer
    }

    /// Reads a request from Python. A mapping describes pieces of shared nodes by column names.
    fn wanted(&self, py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<Request> {
        if given.cast::<PyDict>().is_err() {
            return request(given);
        }
        let columns = to_table(given, "the request")?;
        self.lock(py)?.pieces(&columns).or_wrong()
    }

    /// Updates the arrays of the Python object `site` after a change of the pool, if jobs share
    /// nodes.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        let pool = self.lock(py)?;
        if pool.site().amounts().is_some() {
            self.site.get().set_to(pool.site(), pool.held());
        }
        Ok(())
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
        Ok(Pool { pool: Mutex::new(pool), user: Mutex::default(), topology, site })
    }

    /// Allocate processors for a request; return `None` if the allocator finds no placement now.
    ///
    /// A request is a number of processors, the sides of a block, or a text such as `"3x5"` for a
    /// block and `"2^3"` for a subcube. On a machine whose nodes jobs share, a request may be a
    /// mapping with the columns of pieces, such as `{"pieces": 4, "gpu": 1}`.
    fn allocate(&self, py: Python<'_>, wanted: &Bound<'_, PyAny>) -> PyResult<Option<Placement>> {
        let wanted = self.wanted(py, wanted)?;
        let (placed, now) = self.ask(py, |pool| (pool.allocate(&wanted), pool.now()))?;
        let Some(nodes) = placed else { return Ok(None) };
        self.site.get().claimed(&nodes, now);
        self.sync(py)?;
        Ok(Some(self.placed(nodes)))
    }

    /// Return the placement that `allocate` would make now, without changing anything.
    fn can(&self, py: Python<'_>, wanted: &Bound<'_, PyAny>) -> PyResult<Option<Placement>> {
        let wanted = self.wanted(py, wanted)?;
        Ok(self.ask(py, |pool| pool.can(&wanted))?.map(|nodes| self.placed(nodes)))
    }

    /// Return whether the empty machine could hold a request. If not, waiting is useless.
    fn could_hold(&self, py: Python<'_>, wanted: &Bound<'_, PyAny>) -> PyResult<bool> {
        let wanted = self.wanted(py, wanted)?;
        self.ask(py, |pool| pool.could_hold(&wanted))
    }

    /// Hold the processors of a placement that the pool itself has not allocated.
    fn adopt(&self, py: Python<'_>, held: &Bound<'_, PyAny>) -> PyResult<Placement> {
        let nodes = placement(held, &self.topology)?;
        let (adopted, now) = self.ask(py, |pool| (pool.adopt(&nodes), pool.now()))?;
        adopted.or_wrong()?;
        self.site.get().claimed(&nodes, now);
        self.sync(py)?;
        Ok(self.placed(nodes))
    }

    /// Release an allocated or adopted placement, as a whole.
    fn release(&self, py: Python<'_>, held: &Bound<'_, PyAny>) -> PyResult<()> {
        let nodes = placement(held, &self.topology)?;
        self.ask(py, |pool| pool.release(&nodes))?.or_wrong()?;
        self.site.get().released(&nodes);
        self.sync(py)
    }

    #[pyo3(signature = (ratio = None))]
    fn room<'py>(&self, py: Python<'py>, ratio: Option<Vec<u32>>) -> PyResult<Bound<'py, PyDict>> {
        let space = self.lock(py)?.free_space(ratio.as_deref()).or_wrong()?;
        let dict = PyDict::new(py);
        dict.set_item("free", space.free)?;
        dict.set_item("nodes", space.nodes)?;
        let largest = space.largest.map(|PlacedBlock { base, dims }| -> PyResult<_> {
            PyTuple::new(py, [PyTuple::new(py, &base)?, PyTuple::new(py, &dims)?])
        });
        dict.set_item("largest", largest.transpose()?)?;
        if let Some([cpu, mem, gpu, other]) = space.amounts {
            for (kind, free) in [("cpu", cpu), ("mem", mem), ("gpu", gpu), ("other", other)] {
                dict.set_item(kind, free)?;
            }
        }
        Ok(dict)
    }

    /// The held placements, ordered by first node.
    #[getter]
    fn held(&self, py: Python<'_>) -> PyResult<Vec<Placement>> {
        Ok(self.lock(py)?.held().map(|nodes| self.placed(nodes.clone())).collect())
    }

    /// The topology of the machine.
    #[getter]
    fn topology(&self) -> Topology {
        Topology(Arc::clone(&self.topology))
    }

    /// The number of free nodes.
    #[getter]
    fn free_nodes(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.lock(py)?.site().free_nodes())
    }

    /// The current time of the pool.
    #[getter]
    fn now(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.lock(py)?.now().units())
    }

    /// Advance the clock of the pool to the time `to`; only allocators that use ages need the time.
    fn advance(&self, py: Python<'_>, to: f64) -> PyResult<()> {
        if !(0.0..=1e15).contains(&to) {
            return Err(wrong(format!("the time is {to}, but must be a number from 0 to 1e15")));
        }
        self.lock(py)?.advance(Time::new(to)).or_wrong()
    }

    /// The configuration of the pool, with every default filled in.
    #[getter]
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        from_table(py, self.lock(py)?.table())
    }

    /// The complete state of the pool, as JSON.
    fn snapshot_json(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&self.lock(py)?.snapshot()).map_err(failed)
    }

    fn restore_json(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        let snapshot: Snapshot = serde_json::from_str(text)
            .map_err(|error| wrong(format!("this is no snapshot of a pool ({error})")))?;
        self.ask(py, |pool| pool.restore(&snapshot))?.or_wrong()?;
        let pool = self.lock(py)?;
        self.site.get().set_to(pool.site(), pool.held());
        Ok(())
    }

    /// Draw the machine: `.` for a free node, `#` for a held one.
    fn drawing(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.lock(py)?.site().drawing())
    }
}
