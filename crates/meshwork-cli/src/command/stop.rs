//! Condition to stop before the next run: a time budget is used up, or a signal has arrived.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::output::{Output, Verdict, clear_line, finish, tell};

/// Interval between two checks for a signal.
const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Clone)]
pub(super) struct Stopper {
    began: Instant,
    budget: Option<Duration>,
    asked: Arc<AtomicBool>,
    interrupted: Arc<AtomicBool>,
}

impl Stopper {
    /// Creates a condition that is met after `budget`, or after the signal SIGTERM or SIGXCPU.
    ///
    /// Workload managers send these signals before they end a job.
    pub(super) fn new(budget: Option<Duration>) -> Stopper {
        let (asked, interrupted) = (Arc::default(), Arc::default());
        #[cfg(unix)]
        for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGXCPU] {
            // If the handler cannot be registered, the signal ends the process at once, as without
            // a handler.
            let _ = signal_hook::flag::register(signal, Arc::clone(&asked));
        }
        Stopper { began: Instant::now(), budget, asked, interrupted }
    }

    /// Creates a stopper like [`Stopper::new`] that Ctrl-C triggers, too.
    ///
    /// A second Ctrl-C ends the process at once.
    pub(super) fn of_user(budget: Option<Duration>) -> Stopper {
        let stopper = Stopper::new(budget);
        #[cfg(unix)]
        {
            let signal = signal_hook::consts::SIGINT;
            let Stopper { asked, interrupted, .. } = &stopper;
            let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(asked));
            let _ = signal_hook::flag::register(signal, Arc::clone(interrupted));
            let _ = signal_hook::flag::register(signal, Arc::clone(asked));
        }
        stopper
    }

    /// Condition that stops a command: [`Stopper::of_user`] without a time budget.
    ///
    /// If a program called the command, the result is `None`, because this program handles signals
    /// itself.
    pub(super) fn of_command(out: &Output) -> Option<Stopper> {
        (!out.is_kept).then(|| Stopper::of_user(None))
    }

    /// Whether no further run may start.
    pub(super) fn is_time(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
            || self.budget.is_some_and(|budget| self.began.elapsed() >= budget)
    }

    pub(super) fn verdict(&self) -> Verdict {
        match self.interrupted.load(Ordering::Relaxed) {
            true => Verdict::Interrupted,
            false => Verdict::Stopped,
        }
    }

    /// Makes a signal end the process, after printing a sentence if one is given.
    ///
    /// Used for work that cannot be resumed.
    pub(super) fn end_process(&self, sentence: Option<&'static str>) {
        let own = self.clone();
        thread::spawn(move || {
            while !own.asked.load(Ordering::Relaxed) {
                thread::sleep(LOOK_EVERY);
            }
            clear_line();
            if let Some(sentence) = sentence {
                tell(sentence);
            }
            std::process::exit(i32::from(finish(Ok(own.verdict()))));
        });
    }
}
