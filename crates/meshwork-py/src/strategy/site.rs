//! Sites as strategies in Python see them: NumPy arrays that follow every change.

use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use meshwork::geometry::NodeSet;
use meshwork::job::Time;
use meshwork::machine::{Placement as Nodes, Site as Model};
use meshwork::topology::Topology as Wired;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::buffer::{Buffer, Memory};
use crate::place::Topology;

/// A site as seen by a strategy, as arrays that follow every change without copies.
///
/// Nodes have the numbers 0, 1, 2, … along dimension 0 first, then along dimension 1, and so on.
///
/// Examples
/// --------
/// >>> import meshwork as mw
/// >>> pool = mw.Pool(mw.mesh(4, 2))
/// >>> held = pool.allocate((2, 1))
/// >>> pool.site.free_numbers.tolist(), pool.site.free.shape
/// ([2, 3, 4, 5, 6, 7], (4, 2))
#[pyclass(frozen, module = "meshwork")]
pub(crate) struct Site {
    topology: Arc<Wired>,
    free: Arc<[AtomicU8]>,
    /// Number of the allocation that holds each node, counted from 0; −1 if the node is free.
    holder: Arc<[AtomicI32]>,
    /// Time at which each node was allocated, as bits; NaN if it is free.
    since: Arc<[AtomicU64]>,
    state: Mutex<State>,
    arrays: [PyOnceLock<Py<PyAny>>; 3],
}

#[derive(Clone)]
struct State {
    /// Free nodes as a bit set, with one bit for each node.
    words: Vec<u64>,
    claims: i32,
}

const FREE: i32 = -1;

impl Site {
    pub(crate) fn new(topology: Arc<Wired>) -> Site {
        let nodes = topology.grid().nodes();
        let each = 0..nodes;
        Site {
            free: each.clone().map(|_| AtomicU8::new(1)).collect(),
            holder: each.clone().map(|_| AtomicI32::new(FREE)).collect(),
            since: each.map(|_| AtomicU64::new(f64::NAN.to_bits())).collect(),
            state: Mutex::new(State { words: NodeSet::full(nodes).words().to_vec(), claims: 0 }),
            topology,
            arrays: [const { PyOnceLock::new() }; 3],
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copy of the site that does not follow later changes.
    pub(crate) fn fork(&self) -> Site {
        Site {
            topology: Arc::clone(&self.topology),
            free: self.free.iter().map(|flag| AtomicU8::new(flag.load(Relaxed))).collect(),
            holder: self.holder.iter().map(|holder| AtomicI32::new(holder.load(Relaxed))).collect(),
            since: self.since.iter().map(|since| AtomicU64::new(since.load(Relaxed))).collect(),
            state: Mutex::new(self.state().clone()),
            arrays: [const { PyOnceLock::new() }; 3],
        }
    }

    pub(crate) fn topology(&self) -> &Arc<Wired> {
        &self.topology
    }

    /// Updates the flags of the free nodes from the model.
    ///
    /// Only changed 64-bit words of the bit set are visited, so a call without changes costs
    /// little.
    pub(crate) fn sync(&self, free: &NodeSet) {
        let mut state = self.state();
        for (at, (mine, &theirs)) in state.words.iter_mut().zip(free.words()).enumerate() {
            let mut differ = *mine ^ theirs;
            *mine = theirs;
            while differ != 0 {
                let bit = differ.trailing_zeros();
                differ &= differ - 1;
                let node = at * 64 + bit as usize;
                let is_free = theirs >> bit & 1;
                self.free[node].store(is_free as u8, Relaxed);
                if is_free == 1 {
                    self.holder[node].store(FREE, Relaxed);
                    self.since[node].store(f64::NAN.to_bits(), Relaxed);
                }
            }
        }
    }

    pub(crate) fn claimed(&self, placement: &Nodes, now: Time) {
        let mut state = self.state();
        let (number, since) = (state.claims, now.units().to_bits());
        state.claims = state.claims.wrapping_add(1).max(0);
        self.each(placement, |node| {
            self.free[node].store(0, Relaxed);
            self.holder[node].store(number, Relaxed);
            self.since[node].store(since, Relaxed);
            state.words[node / 64] &= !(1 << (node % 64));
        });
    }

    pub(crate) fn released(&self, placement: &Nodes) {
        let mut state = self.state();
        self.each(placement, |node| {
            self.free[node].store(1, Relaxed);
            self.holder[node].store(FREE, Relaxed);
            self.since[node].store(f64::NAN.to_bits(), Relaxed);
            state.words[node / 64] |= 1 << (node % 64);
        });
    }

    /// Resets the site. The nodes of the placements `held` then count as allocated at time 0.
    pub(crate) fn set_to<'n>(&self, model: &Model, held: impl Iterator<Item = &'n Nodes>) {
        self.sync(&NodeSet::full(model.grid().nodes()));
        self.state().claims = 0;
        for placement in held {
            self.claimed(placement, Time::ZERO);
        }
        self.sync(model.free());
    }

    fn each(&self, placement: &Nodes, mut visit: impl FnMut(usize)) {
        placement.for_each_run(self.topology.grid(), |start, count| {
            for node in start..start + count {
                visit(node as usize);
            }
        });
    }

    fn array(
        &self,
        py: Python<'_>,
        which: usize,
        memory: impl FnOnce() -> Memory,
    ) -> PyResult<Py<PyAny>> {
        let made = || Buffer::grid(memory(), self.topology.grid().sides()).array(py);
        Ok(self.arrays[which].get_or_try_init(py, made)?.clone_ref(py))
    }
}

#[pymethods]
impl Site {
    /// Whether each node is free, as an array with the node's coordinates as indices.
    #[getter]
    fn free(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.array(py, 0, || Memory::Flags(Arc::clone(&self.free)))
    }

    /// The numbers of the free nodes, in ascending order; dimension 0 runs fastest.
    ///
    /// The time is proportional to the number of nodes.
    #[getter]
    fn free_numbers(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let state = self.state();
        let mut numbers = Vec::new();
        for (at, &word) in state.words.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                numbers.push(at as i64 * 64 + i64::from(rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
        drop(state);
        Buffer::list(Memory::FixedWholes(numbers.into())).array(py)
    }

    /// The number of the allocation that holds each node; −1 if the node is free.
    ///
    /// The array has the node's coordinates as indices. Allocations are counted from 0.
    #[getter]
    fn holder(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.array(py, 1, || Memory::Wholes(Arc::clone(&self.holder)))
    }

    /// The time at which each node was allocated; NaN if the node is free.
    ///
    /// The array has the node's coordinates as indices.
    #[getter]
    fn since(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.array(py, 2, || Memory::Numbers(Arc::clone(&self.since)))
    }

    /// The topology of the site.
    #[getter(topology)]
    fn its_topology(&self) -> Topology {
        Topology(Arc::clone(&self.topology))
    }

    /// The sides of the grid, dimension 0 first.
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.topology.grid().sides())
    }

    /// The number of nodes.
    #[getter]
    fn nodes(&self) -> u32 {
        self.topology.grid().nodes()
    }

    /// The number of free nodes.
    #[getter]
    fn free_nodes(&self) -> u32 {
        self.state().words.iter().map(|word| word.count_ones()).sum()
    }

    fn __repr__(&self) -> String {
        format!("Site({}, {} of {} nodes free)", self.topology, self.free_nodes(), self.nodes())
    }
}
