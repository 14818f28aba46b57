//! How errors name those who decide in a run.

use super::RunError;
use crate::cluster::{Breach, By};
use crate::job::JobId;
use crate::registry::Origin;

/// How errors name those who decide in a run: by default by what they are alone, because who puts a [`Setup`](super::Setup) together may
/// put in anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// The scheduler.
    pub scheduler: Origin,
    /// Whether it [declares](crate::sched::SchedulerEntry::serves_all) that every job starts in the end: it is then
    /// an error if one does not.
    pub serves_all: bool,
    /// The selector.
    pub selector: Origin,
    /// The sizing.
    pub sizing: Origin,
    /// The network.
    pub network: Origin,
    /// Where the jobs come from.
    pub workload: Origin,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            scheduler: Origin::unnamed("scheduler"),
            serves_all: false,
            selector: Origin::unnamed("selector"),
            sizing: Origin::unnamed("sizing"),
            network: Origin::unnamed("network"),
            workload: Origin::unnamed("workload"),
        }
    }
}

impl Names {
    /// A broken contract as an error: what broke it is named, and if that is ours, it is a bug of ours.
    #[cold]
    pub(super) fn error(&self, breach: Breach) -> RunError {
        let Breach { by, job, at, what } = breach;
        let origin = match by {
            By::Allocator(origin) => origin,
            By::Scheduler => self.scheduler,
            By::Selector => self.selector,
            By::Sizing => self.sizing,
            By::Network => self.network,
            By::Workload => self.workload,
            By::Ourselves => return RunError::Bug(what),
        };
        let Origin { kind, name, is_standard } = origin;
        let error = RunError::Strategy { kind, name, job, at, what };
        if is_standard { RunError::Bug(error.to_string()) } else { error }
    }
}

/// An entry and a job at the beginning of a sentence.
pub(super) fn whose(kind: &'static str, name: &'static str, job: &Option<JobId>) -> String {
    let origin = Origin { kind, name, is_standard: false };
    match job {
        Some(job) => format!("{origin}, job {}", job.0),
        None => origin.to_string(),
    }
}
