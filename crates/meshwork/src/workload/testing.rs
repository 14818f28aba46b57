//! Jobs of workloads given as text, for the tests of this folder.

use super::{
    BuildError, FAMILY, NoInputs, Submission, Submissions, WORKLOADS, WorkloadContext,
    WorkloadError, submissions,
};
use crate::job::Job;
use crate::registry::entry;
use crate::topology::Topology;

pub(super) fn context(sites: &[(Topology, f64)]) -> WorkloadContext<'_> {
    WorkloadContext { sites, seed: 1, replication: 0, owners: false, inputs: &NoInputs }
}

/// Returns the jobs of a workload. Panics at an item that is not a job with a fixed arrival.
pub(super) fn only_jobs(items: Submissions) -> Result<Vec<Job>, WorkloadError> {
    let job = |item| match item {
        Submission::Job(job) => job,
        other => panic!("{other:?}"),
    };
    items.map(|item| item.map(job)).collect()
}

/// Builds a workload for a machine of one site, and returns its first `most` jobs.
pub(super) fn built(given: &str, machine: Topology, most: usize) -> Result<Vec<Job>, BuildError> {
    let table: toml::Table = given.parse().unwrap();
    let params = FAMILY.resolve("workload", &table.into())?;
    let sites = [(machine, 1.0)];
    let jobs = submissions(entry(WORKLOADS, params.name()), &params, &context(&sites))?;
    Ok(only_jobs(Box::new(jobs.take(most)))?)
}

pub(super) fn built_flat(given: &str, processors: u32) -> Result<Vec<Job>, BuildError> {
    built(given, Topology::flat(processors).unwrap(), usize::MAX)
}
