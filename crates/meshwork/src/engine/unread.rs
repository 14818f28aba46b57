//! Reading of the next job from the workload, with checks of the job.

use super::followers::Followers;
use super::{Names, RunError};
use crate::cluster::{Breach, Cluster, Culprit};
use crate::job::{Job, JobId};
use crate::observe::Event;
use crate::workload::{Following, Submission, Submissions, WorkloadError};

/// Reads the dependent jobs with which the workload begins, and the first other job. A job is
/// dependent if it is submitted only after the end of another job.
pub(super) fn first(
    jobs: &mut Submissions,
    cluster: &mut Cluster<'_>,
) -> Result<(Option<Box<Followers>>, Option<Job>), Unread> {
    let mut followers: Option<Box<Followers>> = None;
    loop {
        match jobs.next().transpose().map_err(Unread::Workload)? {
            Some(Submission::Job(job)) => {
                check(&job, cluster, true)?;
                return Ok((followers, Some(job)));
            }
            Some(Submission::Following(follower)) => {
                let Following { job, after, ends } = *follower;
                check(&job, cluster, false)?;
                followers.get_or_insert_default().keep(job, after, ends);
            }
            Some(Submission::Unusable(line)) => cluster.notify(&Event::Unusable(&line)),
            None => return Ok((followers, None)),
        }
    }
}

/// Reads the next job into `next`, and reports unusable lines of a log to the observer.
#[inline(always)]
pub(super) fn pull(
    jobs: &mut Submissions,
    cluster: &mut Cluster<'_>,
    next: &mut Option<Job>,
) -> Result<(), Unread> {
    loop {
        match jobs.next() {
            Some(Ok(Submission::Job(job))) => {
                check(&job, cluster, true)?;
                *next = Some(job);
            }
            Some(Ok(Submission::Unusable(line))) => {
                cluster.notify(&Event::Unusable(&line));
                continue;
            }
            Some(Ok(Submission::Following(follower))) => {
                let what = format!(
                    "it hands out a job that follows another, number {}, after one that does not",
                    follower.job.number
                );
                let (by, at) = (Culprit::Workload, cluster.now());
                return Err(Unread::Breach(Box::new(Breach { by, job: None, at, what })));
            }
            Some(Err(error)) => return Err(Unread::Workload(error)),
            None => *next = None,
        }
        return Ok(());
    }
}

pub(super) enum Unread {
    Workload(WorkloadError),
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

/// Checks the run time and estimate of a job. If `is_next` is set, its arrival is checked too: it
/// must be finite, and not before the present.
#[inline]
fn check(job: &Job, cluster: &Cluster<'_>, is_next: bool) -> Result<(), Unread> {
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
    Unread::Breach(Box::new(Breach { by: Culprit::Workload, job, at: cluster.now(), what }))
}
