//! Failures of strategies in Python, which end the run of the thread in which they occur.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use meshwork_lab::run::Stopped;
use pyo3::prelude::*;

use crate::error;

/// Context of the run in this thread.
///
/// It has the failures of the study, the name of the run for messages, and the list of threads that
/// call Python.
#[derive(Clone, Default)]
struct Context {
    failures: Arc<Failures>,
    place: String,
    askers: Arc<Askers>,
}

/// Python thread identifiers of threads that call Python objects.
#[derive(Default)]
pub(crate) struct Askers(Mutex<BTreeSet<u64>>);

impl Askers {
    /// Raises `KeyboardInterrupt` in threads that execute Python, which ends even endless loops.
    pub(crate) fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        let threads = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let interrupt = py.import("meshwork._strategies")?.getattr("interrupt")?;
        interrupt.call1((threads,)).map(drop)
    }
}

/// Notes that this thread's run calls Python objects.
pub(crate) fn note_asker(py: Python<'_>) -> PyResult<()> {
    let thread: u64 = py.import("threading")?.call_method0("get_ident")?.extract()?;
    let askers = CONTEXT.with_borrow(|context| Arc::clone(&context.askers));
    askers.0.lock().unwrap_or_else(PoisonError::into_inner).insert(thread);
    Ok(())
}

/// First failure of a strategy in Python, in any thread.
#[derive(Default)]
pub(crate) struct Failures(Mutex<Option<(String, Option<PyErr>)>>);

thread_local! {
    static CONTEXT: RefCell<Context> = RefCell::default();
}

/// Ends this thread's run because a strategy cannot continue.
///
/// `what` is a sentence without a period at the end, to which the name of the run and the cause are
/// appended.
pub(crate) fn give_up(what: &str, cause: Option<PyErr>) -> ! {
    let context = CONTEXT.with_borrow(Clone::clone);
    let mut sentence = format!("{what}{}", context.place);
    if let Some(cause) = &cause {
        let text = Python::attach(|py| cause.value(py).to_string());
        let kind = Python::attach(|py| {
            cause.get_type(py).name().map_or_else(|_| String::new(), |name| name.to_string())
        });
        sentence += &format!(": {kind}: {}", text.replace('\n', "; "));
    }
    let mut first = context.failures.0.lock().unwrap_or_else(PoisonError::into_inner);
    first.get_or_insert_with(|| (sentence.clone(), cause));
    drop(first);
    resume_unwind(Box::new(Stopped(sentence)))
}

/// Calls `act`, and returns an exception if it panics.
///
/// If a strategy in Python caused the panic, the exception describes the failure of the strategy.
pub(crate) fn guarded<T>(act: impl FnOnce() -> T) -> PyResult<T> {
    let failures = Arc::new(Failures::default());
    let context = Context { failures: Arc::clone(&failures), ..Context::default() };
    let before = CONTEXT.replace(context);
    let done = catch_unwind(AssertUnwindSafe(act));
    CONTEXT.set(before);
    done.map_err(|panic| failures.take().unwrap_or_else(|| error::failed(error::of_panic(&*panic))))
}

impl Failures {
    pub(crate) fn take(&self) -> Option<PyErr> {
        let first = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        first.map(|(sentence, cause)| error::strategy(sentence, cause))
    }
}

/// Begins a run in this thread: its failures, its name in messages, and the threads to interrupt.
pub(crate) fn begin(failures: &Arc<Failures>, place: String, askers: &Arc<Askers>) {
    let (failures, askers) = (Arc::clone(failures), Arc::clone(askers));
    CONTEXT.set(Context { failures, place, askers });
}
