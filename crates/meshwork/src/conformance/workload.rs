//! Conformance test for workloads.

use toml::Value;

use super::runs::{Serves, each_job_once, scenario};
use super::{Finding, Tried, broken, machines, with_parameters};
use crate::catalogue::Catalogue;
use crate::job::{Job, Time};
use crate::registry::Params;
use crate::topology::Topology;
use crate::workload::{self, BuildError, Inputs, Submission, WorkloadContext, WorkloadEntry};

const MOST: usize = 5000;
const RUN: usize = 150;

/// Checks a workload of a catalogue against the rules for workloads.
///
/// The workload is tried on those small meshes, tori, hypercubes and flat machines that it does not
/// refuse. It is given as a name, or as a table with name and parameters; its files come from
/// `inputs`.
///
/// - Jobs that are submitted only after another job has ended come first. After them come all other
///   jobs in order of arrival. Arrivals and run times are finite, estimates are numbers, and each
///   job requests at least one processor.
/// - The same seed and replication give the same jobs.
/// - A workload that [declares](WorkloadEntry::ends) not to end has more jobs than are read. A
///   workload that declares that it does not [know](WorkloadEntry::knows_owners) users names none.
/// - Under the scheduler first come, first served, each job that the machine can hold starts once
///   and ends once.
///
/// If a workload declares that it ends, the check does not verify this.
///
/// # Errors
/// The first violated rule, or an unknown workload.
pub fn check_workload(
    catalogue: &Catalogue,
    given: impl Into<Value>,
    inputs: &dyn Inputs,
) -> Result<Tried, Finding> {
    let params = workload::FAMILY.resolve_in(catalogue, "workload", &given.into())?;
    let entry = catalogue.entry::<WorkloadEntry>(params.name());
    let mut tried = Tried::default();
    let mut last_refusal = String::new();
    for (machine, topology) in &machines() {
        let case = || {
            let mut own = params.table().clone();
            own.retain(|key, _| entry.about.params.iter().any(|param| param.name == key));
            format!("on a {topology}{}", with_parameters(&own))
        };
        let read = |replication| read(entry, &params, topology, replication, inputs);
        let jobs = match read(0) {
            Err(BuildError::Problem(problem)) => {
                last_refusal = problem.message;
                continue;
            }
            Err(BuildError::Workload(error)) => return Err(broken(entry, case())(error.0)),
            Ok(read) => read,
        };
        let again = jobs_of(&jobs, entry).and_then(|own| match read(0) {
            Ok(again) if again == jobs => Ok(own),
            _ => Err("the same seed gives other jobs the second time".to_owned()),
        });
        let own = again.map_err(broken(entry, case()))?;
        tried.questions += jobs.len() as u64;
        if own.len() == jobs.len() {
            let machine = format!("machine = {{ {machine} }}");
            let run = || {
                let scenario = scenario(catalogue, &machine, &[])?;
                each_job_once(&scenario, &own[..own.len().min(RUN)], Serves::All)
            };
            tried += run().map_err(broken(entry, case()))?;
        }
        tried.machines += 1;
    }
    if tried.machines == 0 {
        let sentence = format!("it serves none of them, so nothing can be tried: {last_refusal}");
        return Err(broken(entry, "on every small machine".to_owned())(sentence));
    }
    Ok(tried)
}

fn read(
    entry: &WorkloadEntry,
    params: &Params,
    topology: &Topology,
    replication: u64,
    inputs: &dyn Inputs,
) -> Result<Vec<Submission>, BuildError> {
    let sites = [(topology.clone(), 1.0)];
    let context = WorkloadContext { sites: &sites, seed: 1, replication, owners: true, inputs };
    let all = workload::submissions(entry, params, &context)?.take(MOST);
    all.collect::<Result<Vec<Submission>, _>>().map_err(BuildError::Workload)
}

/// Returns the jobs that do not depend on the end of another job.
fn jobs_of(all: &[Submission], entry: &WorkloadEntry) -> Result<Vec<Job>, String> {
    let mut jobs: Vec<Job> = Vec::new();
    for (place, submission) in all.iter().enumerate() {
        let (job, follows) = match submission {
            Submission::Job(job) => (job, false),
            Submission::Following(follower) => (&follower.job, true),
            Submission::Unusable(_) => continue,
        };
        let wrong = |what: String| Err(format!("its job {place} (from 0) {what}"));
        if follows && !jobs.is_empty() {
            return wrong("follows another, and comes after one that does not".to_owned());
        }
        let last = jobs.last().map_or(Time::ZERO, |last| last.arrival);
        if !follows && (job.arrival < last || job.arrival.units() == f64::INFINITY) {
            return wrong(format!(
                "arrives at {}, after one that arrives at {last}: arrivals are finite, and in order",
                job.arrival
            ));
        }
        if !(job.runtime >= 0.0 && job.runtime < f64::INFINITY && job.estimate >= 0.0) {
            let Job { runtime, estimate, .. } = job;
            return wrong(format!(
                "has the run time {runtime} and the estimate {estimate}: run times are finite, and both are numbers from 0 on"
            ));
        }
        if job.request.nodes() == 0 {
            return wrong("asks for no processor".to_owned());
        }
        if job.owner.is_some() && !entry.knows_owners {
            return wrong("has an owner, but it declares to know none".to_owned());
        }
        if !follows {
            jobs.push(job.clone());
        }
    }
    if !entry.ends && all.len() < MOST {
        return Err(format!("it declares never to end, but ends after {} jobs", all.len()));
    }
    Ok(jobs)
}
