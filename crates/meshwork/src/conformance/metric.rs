//! Conformance test for metrics.

use toml::{Table, Value};

use super::runs::{name, random_jobs, scenario, submissions};
use super::{Finding, Tried, broken, machines, with_parameters};
use crate::catalogue::Catalogue;
use crate::observe::metrics::{self, MetricEntry};
use crate::observe::recorder::Measured;
use crate::scenario::Scenario;
use crate::topology::Topology;

const SEED: u64 = 9;
/// Number of jobs in a checked run; enough for metrics that divide the jobs into batches.
const JOBS: usize = 400;

/// Checks a metric of a catalogue against the rules for metrics.
///
/// The metric, a name or a table with name and parameters, is tried in runs of random jobs. Its
/// value over the run, and in each batch, is a finite number or absent. It does not change when a
/// run is repeated, even if other metrics are measured too.
///
/// # Errors
/// The first violated rule, or an unknown metric.
pub fn check_metric(catalogue: &Catalogue, given: impl Into<Value>) -> Result<Tried, Finding> {
    let given = given.into();
    let params = metrics::FAMILY.resolve_in(catalogue, "metric", &given)?;
    let entry = catalogue.entry::<MetricEntry>(params.name());
    let mut own = params.table().clone();
    own.remove(metrics::FAMILY.key);
    let with = with_parameters(&own);
    let mut tried = Tried::default();
    for (machine, topology) in &machines() {
        for scheduler in ["fcfs", "easy"] {
            let case = format!("on a {topology}{with} under `{scheduler}`, seed {SEED}");
            tried += in_runs(catalogue, &given, entry, machine, topology, scheduler)
                .map_err(broken(entry, case))?;
        }
        tried.machines += 1;
    }
    Ok(tried)
}

fn in_runs(
    catalogue: &Catalogue,
    given: &Value,
    entry: &'static MetricEntry,
    machine: &str,
    topology: &Topology,
    scheduler: &str,
) -> Result<Tried, String> {
    // Energy is measured only if a study has an energy model.
    let energy =
        if metrics::is_of_energy(entry) { "\nenergy = { idle = 120, busy = 350 }" } else { "" };
    let machine = format!("machine = {{ {machine} }}{energy}");
    let measuring = |others: &[&str]| -> Result<Scenario, String> {
        let others = others.iter().filter(|other| **other != entry.about.name);
        let all: Vec<Value> = others.map(|other| name(other)).chain([given.clone()]).collect();
        let mut measure = Table::new();
        measure.insert("metrics".to_owned(), Value::Array(all));
        let parts = [("scheduler", name(scheduler)), ("measure", Value::Table(measure))];
        scenario(catalogue, &machine, &parts)
    };
    let alone = measuring(&[])?;
    let first = measured(&alone, entry, topology)?;
    let numbers = first.value.iter().chain(&first.batches);
    if let Some(number) = numbers.into_iter().find(|number| !number.is_finite()) {
        return Err(format!("it is {number}, but a value is a finite number, or there is none"));
    }
    for (scenario, where_) in
        [(alone, "the second time"), (measuring(&["wait", "utilization"])?, "beside others")]
    {
        let other = measured(&scenario, entry, topology)?;
        if other != first {
            let text = |value: Option<f64>| value.map_or("nothing".to_owned(), |v| v.to_string());
            let (was, is) = (text(first.value), text(other.value));
            return Err(format!("the same run gives {was}, and {is} {where_}"));
        }
    }
    Ok(Tried { questions: 1 + first.batches.len() as u64, jobs: JOBS as u64, ..Tried::default() })
}

fn measured(
    scenario: &Scenario,
    entry: &'static MetricEntry,
    topology: &Topology,
) -> Result<Measured, String> {
    let jobs = random_jobs(topology, JOBS, 3.0, SEED);
    let run = || scenario.run_on(scenario.setup(0)?, submissions(jobs), &mut ());
    let outcome = run().map_err(|error| format!("a run stops: {error}"))?;
    let own = outcome.metrics.into_iter().find(|metric| metric.name == entry.about.name);
    own.ok_or_else(|| "it is not measured where it is named".to_owned())
}
