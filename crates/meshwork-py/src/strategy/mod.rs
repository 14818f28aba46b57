//! Adapters for strategies, workloads, metrics and observers written in Python.
//!
//! A class gets its catalogue entry when it is registered. The component that the entry builds
//! holds an instance of the class and calls its methods. An exception in Python ends the run by
//! unwinding the stack, because the interfaces of strategies cannot return errors.

pub(crate) mod allocator;
pub(crate) mod ask;
pub(crate) mod cluster;
pub(crate) mod job;
pub(crate) mod catalogue;
mod lent;
pub(crate) mod metric;
pub(crate) mod observer;
pub(crate) mod offers;
pub(crate) mod scheduler;
pub(crate) mod selector;
pub(crate) mod site;
pub(crate) mod sizing;
pub(crate) mod workload;

use std::sync::Arc;

use meshwork::registry::Params;
use meshwork::topology::Topology as Wired;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::error::failed;
use crate::guard::{give_up, note_asker};
use crate::place::Topology;
use crate::values::from_table;

/// Instance of a registered class, with a study's parameters.
fn instance(kind: &'static str, params: &Params, machine: &[Wired]) -> Instance {
    made(kind, params.name(), machine, |py| {
        from_table(py, params.table().iter().filter(|(key, _)| *key != "name"))
    })
}

/// Creates an instance of a registered class, with the parameters that `given` returns.
fn made(
    kind: &'static str,
    name: &str,
    machine: &[Wired],
    given: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyDict>>,
) -> Instance {
    Python::attach(|py| {
        let made = || -> PyResult<Instance> {
            let class = catalogue::class(py, kind, name).ok_or_else(|| {
                failed(format!("the {kind} `{name}` is not registered in this process"))
            })?;
            let machine = machine.iter().map(|one| Topology(Arc::new(one.clone())));
            let machine = PyTuple::new(
                py,
                machine.map(|one| Py::new(py, one)).collect::<PyResult<Vec<_>>>()?,
            )?;
            let maker = py.import("meshwork._strategies")?.getattr("instance")?;
            let object = maker.call1((class.bind(py), kind, machine, given(py)?))?;
            Instance::of(kind, name, &object)
        };
        made().unwrap_or_else(|error| {
            give_up(&format!("the {kind} `{name}` could not be made"), Some(error))
        })
    })
}

/// Strategy, workload, metric or observer in Python.
pub(crate) struct Instance {
    kind: &'static str,
    name: Arc<str>,
    object: Py<PyAny>,
    is_stateless: bool,
    goes_by_free_nodes: bool,
    has_claimed: bool,
    has_released: bool,
    has_memory: bool,
    has_arrived: bool,
    has_fork: bool,
    has_wake_at: bool,
}

impl Instance {
    /// Wraps a Python object for the run of this thread.
    ///
    /// The flags and the optional methods of the object are looked up only once, here.
    pub(crate) fn of(kind: &'static str, name: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        note_asker(object.py())?;
        let flag =
            |name: &str| object.getattr(name).and_then(|flag| flag.is_truthy()).unwrap_or(false);
        let has = |name: &str| object.hasattr(name).unwrap_or(false);
        Ok(Instance {
            kind,
            name: name.into(),
            is_stateless: flag("stateless"),
            goes_by_free_nodes: flag("goes_by_free_nodes"),
            has_claimed: has("claimed"),
            has_released: has("released"),
            has_memory: has("memory") && has("recall"),
            has_arrived: has("arrived"),
            has_fork: has("fork"),
            has_wake_at: has("wake_at"),
            object: object.clone().unbind(),
        })
    }

    /// Ends the run because the strategy has raised an exception.
    fn give_up(&self, doing: &str, cause: PyErr) -> ! {
        give_up(&format!("the {} `{}` raised {doing}", self.kind, self.name), Some(cause))
    }

    /// Ends the run because the strategy has given an invalid answer.
    fn break_off(&self, what: &str) -> ! {
        give_up(&format!("the {} `{}` {what}", self.kind, self.name), None)
    }

    /// Copies the object by its method `fork` or by `copy.deepcopy`. A stateless object is shared.
    fn fork(&self) -> Instance {
        let object = Python::attach(|py| {
            if self.is_stateless {
                return self.object.clone_ref(py);
            }
            let copied = if self.has_fork {
                self.object.call_method0(py, "fork")
            } else {
                let deepcopy = py.import("copy").and_then(|copy| copy.getattr("deepcopy"));
                deepcopy.and_then(|deepcopy| deepcopy.call1((&self.object,))).map(Bound::unbind)
            };
            copied.unwrap_or_else(|error| self.give_up("when it was copied", error))
        });
        Instance { object, name: Arc::clone(&self.name), ..*self }
    }
}
