//! Checks, before the first run, that `from` and `until` of a workload do not exclude all jobs.

use std::collections::BTreeSet;

use meshwork::catalogue::Catalogue;
use meshwork::registry::Problem;
use meshwork::scenario::Scenario;
use meshwork::workload::Inputs;
use toml::Value;

use crate::study::expand::{self, Point};
use crate::study::{Refused, Study};

const KEYS: [&str; 2] = ["until", "from"];

/// Checks that at least one job of each log is between the workload's `from` and `until`.
pub(crate) fn check(study: &Study, points: &[Point], files: &dyn Inputs) -> Result<(), Refused> {
    let mut seen = BTreeSet::new();
    for (index, point) in points.iter().enumerate() {
        let workload = &point.scenario.table()["workload"];
        let key = KEYS.into_iter().find(|key| workload.get(key).is_some());
        let Some(key) = key.filter(|_| point.scenario.input_path().is_some()) else { continue };
        if point.windows.is_some() || !seen.insert(workload.to_string()) {
            continue;
        }
        let Err(sentence) = first_job(&point.scenario, files) else { continue };
        let is_of_cut = whole(&study.catalogue, &point.scenario)
            .is_ok_and(|whole| first_job(&whole, files).is_ok());
        if is_of_cut {
            let problem = Problem::new(format!("workload.{key}"), sentence);
            return Err(expand::refused(study, index, &problem));
        }
    }
    Ok(())
}

fn first_job(scenario: &Scenario, files: &dyn Inputs) -> Result<(), String> {
    let mut jobs = scenario.jobs(0, files).map_err(|error| error.to_string())?;
    jobs.next().map_or(Ok(()), |first| first.map(drop)).map_err(|error| error.0)
}

fn whole(catalogue: &Catalogue, scenario: &Scenario) -> Result<Scenario, Problem> {
    let mut table = scenario.table().clone();
    if let Some(workload) = table.get_mut("workload").and_then(Value::as_table_mut) {
        workload.retain(|key, _| !KEYS.contains(&key));
    }
    Scenario::read_in(catalogue, &table)
}
