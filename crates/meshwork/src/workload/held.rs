//! Transformations of a workload that need all of its jobs in memory.

use crate::job::Job;

use super::{Submission, Submissions, WorkloadError};

/// Largest number of jobs held in memory for a transformation.
const MAX_JOBS: usize = 10_000_000;

type Change = Box<dyn FnOnce(Vec<Job>) -> Result<Vec<Submission>, WorkloadError> + Send>;

/// Iterator that reads all jobs, transforms them, and then returns them. Unusable lines come first.
/// If reading fails, only the error is returned, because the error has no position among the
/// transformed jobs.
pub(super) struct Held {
    /// The workload and its transformation. `None` from the first call of `next` on.
    source: Option<(Submissions, Change)>,
    ready: std::vec::IntoIter<Result<Submission, WorkloadError>>,
    /// Path of the study's parameter that requires all jobs in memory. Error messages name this
    /// parameter.
    key: String,
}

impl Held {
    pub(super) fn new(
        jobs: Submissions,
        key: String,
        change: impl FnOnce(Vec<Job>) -> Result<Vec<Job>, WorkloadError> + Send + 'static,
    ) -> Held {
        Held::handing_out(jobs, key, move |jobs| {
            Ok(change(jobs)?.into_iter().map(Submission::Job).collect())
        })
    }

    /// Creates the iterator for a transformation that may return jobs with predecessors.
    pub(super) fn handing_out(
        jobs: Submissions,
        key: String,
        change: impl FnOnce(Vec<Job>) -> Result<Vec<Submission>, WorkloadError> + Send + 'static,
    ) -> Held {
        Held { source: Some((jobs, Box::new(change))), ready: Vec::new().into_iter(), key }
    }

    fn read(
        &self,
        source: Submissions,
        change: Change,
    ) -> Result<Vec<Result<Submission, WorkloadError>>, WorkloadError> {
        let (mut unusable, mut jobs) = (Vec::new(), Vec::new());
        for item in source {
            match item? {
                Submission::Job(_) if jobs.len() == MAX_JOBS => {
                    return Err(WorkloadError(format!(
                        "`{}` holds all jobs in memory, and there are more than {MAX_JOBS}",
                        self.key
                    )));
                }
                Submission::Job(job) => jobs.push(job),
                // Jobs are linked only after all other transformations.
                other => unusable.push(Ok(other)),
            }
        }
        Ok(unusable.into_iter().chain(change(jobs)?.into_iter().map(Ok)).collect())
    }
}

impl Iterator for Held {
    type Item = Result<Submission, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some((jobs, change)) = self.source.take() {
            let ready = self.read(jobs, change).unwrap_or_else(|error| vec![Err(error)]);
            self.ready = ready.into_iter();
        }
        self.ready.next()
    }
}
