//! State of a stored run at an instant, obtained by repeating the run up to this instant.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use meshwork::catalogue::Catalogue;
use meshwork::engine::RunError;
use meshwork::job::{Cause, Job, Time};
use meshwork::observe::{Event, JobId, Observer, Running};
use meshwork::scenario::Scenario;

use super::{Instant, PlacedJob, WaitingJob};
use meshwork_lab::inputs::Files;
use meshwork_lab::run::caught;
use meshwork_lab::run::check::{RepeatError, scenario_of};
use meshwork_report::stored_run;

/// Numbers of a run's scenario and replication, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunName {
    pub scenario: u64,
    pub replication: u64,
}

impl FromStr for RunName {
    type Err = String;

    /// Parses `3` (scenario 3, replication 1) or `3/2` (scenario 3, replication 2).
    fn from_str(text: &str) -> Result<RunName, String> {
        let (scenario, replication) = text.split_once('/').unwrap_or((text, "1"));
        match (scenario.parse(), replication.parse()) {
            (Ok(scenario), Ok(replication)) if scenario > 0 && replication > 0 => {
                Ok(RunName { scenario, replication })
            }
            _ => Err("a run is the number of a scenario, or that and the number of a replication, as in 3/2"
                .to_owned()),
        }
    }
}

impl Instant {
    /// State of a run after all events up to `at`, found by repeating the run.
    ///
    /// # Errors
    /// The run does not exist, it cannot be repeated, or it ended before `at`.
    pub fn of_run(
        catalogue: &Catalogue,
        folder: &Path,
        run: RunName,
        at: Time,
    ) -> Result<Instant, String> {
        let shown = folder.display();
        let RunName { scenario, replication } = run;
        let record =
            stored_run(catalogue, folder, (scenario, replication)).map_err(|refused| refused.0)?;
        let end = record.findings.end;
        if !(0.0..=end).contains(&at.units()) {
            return Err(format!(
                "{shown}: run {scenario}/{replication} says nothing of {at}: it goes from 0 to {end}"
            ));
        }
        let files = Files::beside(folder);
        let cannot = |why: String| {
            format!("{shown}: run {scenario}/{replication} cannot be run again: {why}")
        };
        let (scenario, key) =
            scenario_of(catalogue, &record, &files).map_err(|error| cannot(error.to_string()))?;
        if key != record.key {
            let error = RepeatError::OtherKey { stored: record.key, own: key };
            return Err(cannot(error.to_string()));
        }
        caught(|| {
            let instant = instant(&scenario, record.replication, &files, at);
            instant.map_err(|error| error.to_string())
        })
        .map_err(cannot)
    }
}

fn instant(
    scenario: &Scenario,
    replication: u64,
    files: &Files,
    at: Time,
) -> Result<Instant, RunError> {
    let setup = scenario.setup_ideal(replication)?;
    let held_up = if setup.scheduler.reserves() { Cause::Reserved } else { Cause::Priority };
    let mut queue = Queue::default();
    let all = 0..setup.facility.sites().len();
    let (sites, mut running) = scenario.simulate(replication, files, &mut queue, |simulation| {
        simulation.run_until(at)?;
        let cluster = simulation.cluster();
        let sites = all.clone().map(|site| cluster.facility().fork_site(site)).collect();
        let jobs = cluster.running().map(|(_, running)| running.clone());
        Ok((sites, jobs.collect::<Vec<Running>>()))
    })?;
    running.sort_unstable_by_key(|running| running.id);
    let holder = |running: Running| PlacedJob {
        name: name(running.id, &running.job),
        site: running.site,
        placement: running.placement,
        since: running.start,
        until: Some(running.expected_end.max(at)),
        job: running.job,
    };
    let waiter = |(id, (job, promised)): (JobId, (Job, Option<Time>))| WaitingJob {
        name: name(id, &job),
        job,
        promised,
    };
    Ok(Instant {
        sites,
        empty: all.map(|site| setup.facility.fork_site(site)).collect(),
        now: at,
        running: running.into_iter().map(holder).collect(),
        waiting: queue.0.into_iter().map(waiter).collect(),
        held_up: Some(held_up),
    })
}

#[derive(Default)]
struct Queue(BTreeMap<JobId, (Job, Option<Time>)>);

/// Name of a job: its number in the workload, or else its position in the order of arrival.
fn name(id: JobId, job: &Job) -> String {
    if job.number > 0 { job.number.to_string() } else { (id.0 + 1).to_string() }
}

impl Observer for Queue {
    fn observe(&mut self, _now: Time, event: &Event<'_>) {
        match event {
            Event::Arrived(id, job) => drop(self.0.insert(*id, ((*job).clone(), None))),
            Event::TurnedAway(id, _) => drop(self.0.remove(id)),
            Event::Promised(id, by) => {
                if let Some((_, promised)) = self.0.get_mut(id) {
                    *promised = Some(*by);
                }
            }
            Event::Started(running) => drop(self.0.remove(&running.id)),
            Event::Interrupted(running) => {
                self.0.insert(running.id, (running.job.clone(), None));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_by_scenario_and_replication() {
        let run = |scenario, replication| Ok(RunName { scenario, replication });
        assert_eq!("3".parse(), run(3, 1));
        assert_eq!("3/2".parse(), run(3, 2));
        for wrong in ["", "0", "3/0", "a", "3/", "-1", "1/2/3"] {
            assert!(wrong.parse::<RunName>().unwrap_err().contains("as in 3/2"), "{wrong}");
        }
    }
}
