//! Memory that NumPy arrays view without a copy.
//!
//! An object with NumPy's attribute `__array_interface__` gives NumPy an address, a shape and a
//! type. An array that is made from the object keeps it alive. The object owns the memory, never
//! moves it, and frees it only when the object itself is freed. Memory that changes while arrays
//! view it consists of atomics, so that concurrent access is defined. Writers such as `Envs` may
//! run without the GIL: the contents are consistent once the call that changes them has returned.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU64};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Memory that NumPy arrays view, as one variant for each type of elements.
#[derive(Clone)]
pub(crate) enum Memory {
    /// Booleans, of one byte each.
    Flags(Arc<[AtomicU8]>),
    /// Integers of 32 bits each.
    Wholes(Arc<[AtomicI32]>),
    /// Floating-point numbers of 64 bits, stored as integers with the same bits.
    Numbers(Arc<[AtomicU64]>),
    FixedNumbers(Arc<[f64]>),
    FixedWholes(Arc<[i64]>),
}

impl Memory {
    /// Address, number of elements, NumPy's name of the element type, and element size in bytes.
    fn view(&self) -> (usize, usize, &'static str, usize) {
        match self {
            Memory::Flags(own) => (own.as_ptr().addr(), own.len(), "|b1", 1),
            Memory::Wholes(own) => (own.as_ptr().addr(), own.len(), "<i4", 4),
            Memory::Numbers(own) => (own.as_ptr().addr(), own.len(), "<f8", 8),
            Memory::FixedNumbers(own) => (own.as_ptr().addr(), own.len(), "<f8", 8),
            Memory::FixedWholes(own) => (own.as_ptr().addr(), own.len(), "<i8", 8),
        }
    }
}

/// An object from which `numpy.asarray` makes a read-only array without a copy.
#[pyclass(frozen, module = "meshwork._meshwork")]
pub(crate) struct Buffer {
    memory: Memory,
    shape: Vec<usize>,
    first_runs_fastest: bool,
}

impl Buffer {
    pub(crate) fn list(memory: Memory) -> Buffer {
        Buffer { shape: vec![memory.view().1], memory, first_runs_fastest: false }
    }

    /// One value for each node of a grid.
    ///
    /// The first coordinate runs fastest in memory and is the first index of the array.
    pub(crate) fn grid(memory: Memory, sides: &[u32]) -> Buffer {
        let shape = sides.iter().map(|&side| side as usize).collect();
        Buffer { memory, shape, first_runs_fastest: true }
    }

    /// Two-dimensional buffer of `columns` columns, stored row by row.
    pub(crate) fn rows(memory: Memory, columns: usize) -> Buffer {
        let shape = vec![memory.view().1 / columns.max(1), columns];
        Buffer { memory, shape, first_runs_fastest: false }
    }

    pub(crate) fn array(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let numpy = py.import("numpy")?;
        Ok(numpy.call_method1("asarray", (Py::new(py, self)?,))?.unbind())
    }
}

#[pymethods]
impl Buffer {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (address, _, kind, width) = self.memory.view();
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", kind)?;
        interface.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        interface.set_item("data", (address, true))?;
        if self.first_runs_fastest {
            let strides = self.shape.iter().scan(width, |stride, side| {
                let this = *stride;
                *stride *= side;
                Some(this)
            });
            interface.set_item("strides", PyTuple::new(py, strides.collect::<Vec<_>>())?)?;
        }
        Ok(interface)
    }

    fn __len__(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }
}
