//! When a command is to end between two runs: after a time, or because it was asked to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Whether it is time to end.
pub(super) struct Stopper {
    began: Instant,
    budget: Option<Duration>,
    asked: Arc<AtomicBool>,
}

impl Stopper {
    /// After so long, and as soon as the system asks for the end of the process (SIGTERM): engines do so some time
    /// before they kill.
    pub(super) fn new(budget: Option<Duration>) -> Stopper {
        let asked = Arc::new(AtomicBool::new(false));
        #[cfg(unix)]
        for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGXCPU] {
            // Where it cannot be had, the process ends at once, as others do.
            let _ = signal_hook::flag::register(signal, Arc::clone(&asked));
        }
        Stopper { began: Instant::now(), budget, asked }
    }

    /// Whether the next run is not to begin.
    pub(super) fn is_time(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
            || self.budget.is_some_and(|budget| self.began.elapsed() >= budget)
    }
}
