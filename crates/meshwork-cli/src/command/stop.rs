//! Condition to stop before the next run: a time budget is used up, or a signal has arrived.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(super) struct Stopper {
    began: Instant,
    budget: Option<Duration>,
    asked: Arc<AtomicBool>,
}

impl Stopper {
    /// Creates a condition that holds after `budget`, or after the signals SIGTERM and SIGXCPU.
    ///
    /// Workload managers send these signals before they kill a job.
    pub(super) fn new(budget: Option<Duration>) -> Stopper {
        let asked = Arc::new(AtomicBool::new(false));
        #[cfg(unix)]
        for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGXCPU] {
            // If the handler cannot be registered, the signal ends the process at once, as without
            // a handler.
            let _ = signal_hook::flag::register(signal, Arc::clone(&asked));
        }
        Stopper { began: Instant::now(), budget, asked }
    }

    /// Variant of [`Stopper::new`] whose condition also holds after Ctrl-C.
    ///
    /// A second Ctrl-C ends the process at once.
    pub(super) fn of_user(budget: Option<Duration>) -> Stopper {
        let stopper = Stopper::new(budget);
        #[cfg(unix)]
        {
            let (signal, asked) = (signal_hook::consts::SIGINT, &stopper.asked);
            let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(asked));
            let _ = signal_hook::flag::register(signal, Arc::clone(asked));
        }
        stopper
    }

    /// Whether it is time to stop, so that no further run may start.
    pub(super) fn is_time(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
            || self.budget.is_some_and(|budget| self.began.elapsed() >= budget)
    }
}
