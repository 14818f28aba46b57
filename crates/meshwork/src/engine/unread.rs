//! Jobs of a workload that no run can have.

use super::{Names, RunError};
use crate::cluster::{Breach, By, Cluster};
use crate::job::{Job, JobId};
use crate::workload::WorkloadError;

/// Why the next job of a workload cannot be had.
pub(super) enum Unread {
    /// The workload says so.
    Workload(WorkloadError),
    /// It gives what is no job.
    Breach(Box<Breach>),
}

impl Unread {
    #[cold]
    pub(super) fn named(self, names: &Names) -> RunError {
        match self {
            Unread::Workload(error) => RunError::Workload(error),
            Unread::Breach(breach) => names.error(*breach),
        }
    }
}

/// Whether a job of the workload may arrive at the present instant or later. The numbers of a log were looked at as they
/// were read.
#[inline]
pub(super) fn check(job: &Job, cluster: &Cluster<'_>, is_next: bool) -> Result<(), Unread> {
    let (arrival, now) = (job.arrival, cluster.now());
    let comes_in_order = !is_next || (arrival >= now && arrival.units() < f64::INFINITY);
    let is_timed = (0.0..f64::INFINITY).contains(&job.runtime) && job.estimate >= 0.0;
    if comes_in_order && is_timed {
        return Ok(());
    }
    Err(unusable(job, cluster, comes_in_order))
}

#[cold]
fn unusable(job: &Job, cluster: &Cluster<'_>, comes_in_order: bool) -> Unread {
    let Job { arrival, runtime, estimate, number, .. } = job;
    let what = if !comes_in_order {
        format!(
            "it hands out a job that arrives at {arrival}, but jobs come in the order of their arrivals, which are finite"
        )
    } else if *estimate >= 0.0 {
        format!("the run time of the job is {runtime}, but must be a finite number from 0 on")
    } else {
        format!("the estimate of the job is {estimate}, but must be a number from 0 on")
    };
    let what = format!("{what} (it is number {number} of the workload)");
    let job = Some(JobId(cluster.arrived()));
    Unread::Breach(Box::new(Breach { by: By::Workload, job, at: cluster.now(), what }))
}
