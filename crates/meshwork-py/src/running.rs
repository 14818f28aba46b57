//! Supervises the runs of studies: interrupts, observers in Python, and progress.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use meshwork::job::Time;
use meshwork::observe::{Event, Observer};
use meshwork_lab::run::{Run, RunProgress, Stopped, Watcher};
use meshwork_lab::study::expand::Point;
use meshwork_lab::text::label;
use meshwork_lab::{Finished, Options, Refused, Study};
use pyo3::prelude::*;

use crate::error;
use crate::guard::{self, Askers, Failures, give_up, guarded, note_asker};
use crate::strategy::Instance;
use crate::strategy::observer::InPython;
use crate::values::swept;

/// Tells each thread of a study which run it makes, and stops runs on request.
pub(crate) struct Overseer<'s> {
    failures: Arc<Failures>,
    askers: Arc<Askers>,
    /// Whether no further run may begin.
    pub(crate) stop: AtomicBool,
    /// Whether active runs must be aborted.
    break_off: AtomicBool,
    interrupt: Interrupt,
    /// Whether messages name a scenario by its swept values.
    has_sweep: bool,
    /// Makes a Python observer for each run.
    observer: Option<&'s Py<PyAny>>,
}

/// Observer that aborts a run between two events, once the flag is set.
pub(crate) struct Stopper<'a>(&'a AtomicBool);

impl Watcher for Overseer<'_> {
    fn ended(&self, _point: usize, _run: &Run) {}

    fn observer(&self, point: &Point, replication: u64) -> Option<Box<dyn Observer + '_>> {
        let stopper = self.watch(point, replication);
        match self.observer.and_then(|make| observer(make, point, replication)) {
            Some(own) => Some(Box::new((stopper, own))),
            None => Some(Box::new(stopper)),
        }
    }
}

impl Overseer<'_> {
    /// Begins a run in this thread, and returns the observer that can abort it.
    pub(crate) fn watch(&self, point: &Point, replication: u64) -> Stopper<'_> {
        let swept =
            if self.has_sweep { format!("{}, ", label(&point.swept)) } else { String::new() };
        let place = format!(", in the run of {swept}replication {}", replication + 1);
        guard::begin(&self.failures, place, &self.askers);
        let stopper = Stopper(&self.break_off);
        stopper.look();
        stopper
    }

    /// Acts on an interrupt by the user, if there was one.
    ///
    /// No further run begins. Whether active runs are aborted depends on the [`Interrupt`].
    fn look(
        &self,
        py: Python<'_>,
        wanted: PyResult<()>,
        interrupted: &mut Option<(PyErr, Option<Instant>)>,
    ) {
        let again = wanted.is_err() && interrupted.is_some();
        if let Err(error) = wanted {
            interrupted.get_or_insert((error, None));
        }
        let Some((_, last)) = interrupted else { return };
        self.stop.store(true, Ordering::Relaxed);
        if self.interrupt == Interrupt::AtOnce || again {
            self.break_off.store(true, Ordering::Relaxed);
        }
        let is_due = last.is_none_or(|last| last.elapsed() >= INTERRUPT_EVERY);
        if self.break_off.load(Ordering::Relaxed) && is_due {
            *last = Some(Instant::now());
            // If the exception cannot be raised in a thread, the run still ends between two events.
            self.askers.interrupt(py).unwrap_or_else(|error| error.write_unraisable(py, None));
        }
    }
}

impl Stopper<'_> {
    fn look(&self) {
        if self.0.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped("the study was interrupted".to_owned())));
        }
    }
}

impl Observer for Stopper<'_> {
    fn asks_where_jobs_run(&self) -> bool {
        false
    }

    fn asks_what_blocks(&self) -> bool {
        false
    }

    fn observe(&mut self, _now: Time, _event: &Event<'_>) {
        self.look();
    }
}

/// Python observer for a run; `None` if the caller gives none.
fn observer(make: &Py<PyAny>, point: &Point, replication: u64) -> Option<InPython> {
    let made = Python::attach(|py| -> PyResult<_> {
        note_asker(py)?;
        let swept = swept(py, &point.swept)?;
        let object = make.bind(py).call1((swept, replication))?;
        if object.is_none() {
            return Ok(None);
        }
        let name = object.get_type().name()?.to_string();
        Instance::of("observer", &name, &object).map(Some)
    });
    let made = made.unwrap_or_else(|error| give_up("no observer could be made", Some(error)))?;
    Some(InPython::new(made, &point.scenario.topologies()))
}

/// Interval between checks for signals and reports of progress.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Interval between interrupts of Python code, which gives the code time to clean up.
const INTERRUPT_EVERY: Duration = Duration::from_secs(1);

/// Number of active calls that run threads.
///
/// `PROCESS` is the process in which the first of these calls began.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Guard that counts a call of this library as active while it runs threads.
pub(crate) struct Active;

impl Active {
    /// Counts a call as active; an error if the process was forked during another active call.
    ///
    /// Threads of the other call do not exist in the forked process, so its work would never end.
    pub(crate) fn begin() -> PyResult<Active> {
        let process = std::process::id();
        if ACTIVE.load(Ordering::SeqCst) == 0 {
            PROCESS.store(process, Ordering::SeqCst);
        } else if PROCESS.load(Ordering::SeqCst) != process {
            return Err(error::failed(
                "this process was forked while a study ran in threads of its parent, and they are not here: start \
                 processes by multiprocessing's \"spawn\" or \"forkserver\", or before a study runs",
            ));
        }
        ACTIVE.fetch_add(1, Ordering::SeqCst);
        Ok(Active)
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        ACTIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How active runs end after the user has interrupted a study.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Active runs are aborted at once, between two events or within Python code.
    ///
    /// An aborted run is not kept.
    AtOnce,
    /// Active runs continue to their ends.
    ///
    /// A second interrupt aborts them at once. An aborted run is stored as failed.
    BetweenRuns,
}

/// Runs a study without the GIL, and reports its progress by calls of `tell`.
///
/// The arguments of `tell` are the numbers of finished, required, reused and failed runs; the
/// progress of unfinished runs, as a number of runs; and the number of finished jobs.
pub(crate) fn run(
    py: Python<'_>,
    study: &Study,
    options: Options<'_>,
    tell: Option<&Py<PyAny>>,
    observer: Option<&Py<PyAny>>,
) -> PyResult<Result<Finished, Refused>> {
    let how = Interrupt::AtOnce;
    let (finished, raised) = oversee(py, how, study, tell, observer, |overseer, note| {
        let options = Options { progress: note, watcher: Some(overseer), ..options };
        meshwork_lab::run(study, &options)
    })?;
    raised.map_or(Ok(finished), Err)
}

/// Calls the function `act`, which runs a study, in a separate thread and without the GIL.
///
/// Returns the result of `act`. If Python strategies failed, it also returns the exception of the
/// first one.
///
/// # Errors
///
/// An interrupt by the user, or a failure if `act` panics.
pub(crate) fn oversee<T: Send>(
    py: Python<'_>,
    interrupt: Interrupt,
    study: &Study,
    tell: Option<&Py<PyAny>>,
    observer: Option<&Py<PyAny>>,
    act: impl FnOnce(&Overseer<'_>, &(dyn Fn(RunProgress) + Sync)) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let _active = Active::begin()?;
    let overseer = Overseer {
        failures: Arc::default(),
        askers: Arc::default(),
        stop: AtomicBool::new(false),
        break_off: AtomicBool::new(false),
        interrupt,
        has_sweep: !study.sweep.is_empty(),
        observer,
    };
    let progress = Mutex::new(RunProgress::default());
    let note = |now: RunProgress| *progress.lock().unwrap_or_else(PoisonError::into_inner) = now;
    let telling = |py: Python<'_>| -> PyResult<()> {
        let RunProgress { done, total, reused, failed, begun, jobs } =
            *progress.lock().unwrap_or_else(PoisonError::into_inner);
        match tell {
            Some(tell) => tell.call1(py, (done, total, reused, failed, begun, jobs)).map(drop),
            None => Ok(()),
        }
    };
    let (finished, interrupted) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel(1);
            let (overseer, note) = (&overseer, &note);
            scope.spawn(move || {
                let finished = catch_unwind(AssertUnwindSafe(|| act(overseer, note)));
                let _ = sender.send(finished);
            });
            let mut interrupted = None;
            loop {
                match receiver.recv_timeout(LOOK_EVERY) {
                    Ok(finished) => return (finished, interrupted),
                    Err(RecvTimeoutError::Disconnected) => {
                        let said: Box<dyn std::any::Any + Send> =
                            Box::new("the thread of the study is gone");
                        return (Err(said), interrupted);
                    }
                    Err(RecvTimeoutError::Timeout) => Python::attach(|py| {
                        let wanted = py.check_signals().and_then(|()| match interrupted {
                            None => telling(py),
                            Some(_) => Ok(()),
                        });
                        overseer.look(py, wanted, &mut interrupted);
                    }),
                }
            }
        })
    });
    if let Some((interrupted, _)) = interrupted {
        return Err(interrupted);
    }
    let finished = finished.map_err(|panic| {
        overseer.failures.take().unwrap_or_else(|| error::failed(error::of_panic(&*panic)))
    })?;
    telling(py)?;
    Ok((finished, overseer.failures.take()))
}

/// Calls a function on a thread pool that ends with the call.
///
/// Otherwise a process that is forked afterwards would wait for threads that it does not have.
pub(crate) fn apart<T: Send>(act: impl FnOnce() -> T + Send) -> PyResult<T> {
    let threads = rayon::ThreadPoolBuilder::new().build().map_err(error::failed)?;
    guarded(|| threads.install(act))
}
