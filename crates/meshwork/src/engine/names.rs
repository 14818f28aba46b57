//! Names of the components of a run, for errors.

use super::RunError;
use crate::cluster::{Breach, Culprit};
use crate::job::JobId;
use crate::registry::Origin;

/// Names of the components of a run, for errors; by default each is named by its kind alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// Registry entry from which the scheduler comes, to be named in errors.
    pub scheduler: Origin,
    /// Whether a job that never starts is an error of the scheduler. The scheduler declares this by
    /// [`serves_all`](crate::sched::SchedulerEntry::serves_all).
    pub serves_all: bool,
    /// Whether the scheduler resizes running jobs, which work in proportion to their nodes.
    pub resizes: bool,
    /// Registry entry from which the site selector comes, to be named in errors.
    pub selector: Origin,
    /// Registry entry from which the sizing comes, to be named in errors.
    pub sizing: Origin,
    /// Registry entry from which the network model comes, to be named in errors.
    pub network: Origin,
    /// Registry entry of the workload, to be named in errors.
    pub workload: Origin,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            scheduler: Origin::unnamed("scheduler"),
            serves_all: false,
            resizes: false,
            selector: Origin::unnamed("selector"),
            sizing: Origin::unnamed("sizing"),
            network: Origin::unnamed("network"),
            workload: Origin::unnamed("workload"),
        }
    }
}

impl Names {
    /// Converts a breach of contract to an error that names the component. If the component is of
    /// this crate, the error is a bug.
    #[cold]
    pub(super) fn error(&self, breach: Breach) -> RunError {
        let Breach { by, job, at, what } = breach;
        let origin = match by {
            Culprit::Allocator(origin) => origin,
            Culprit::Scheduler => self.scheduler,
            Culprit::Selector => self.selector,
            Culprit::Sizing => self.sizing,
            Culprit::Network => self.network,
            Culprit::Workload => self.workload,
            Culprit::Meshwork => return RunError::Bug(what),
        };
        let Origin { kind, name, is_standard } = origin;
        let error = RunError::Strategy { kind, name, job, at, what };
        if is_standard { RunError::Bug(error.to_string()) } else { error }
    }
}

/// Beginning of an error message: the name of a component and, if `job` is given, the job.
pub(super) fn whose(kind: &'static str, name: &'static str, job: &Option<JobId>) -> String {
    let origin = Origin { kind, name, is_standard: false };
    match job {
        Some(job) => format!("{origin}, job {}", job.0),
        None => origin.to_string(),
    }
}
