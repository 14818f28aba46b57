//! A stored run at an instant: it is run again up to then.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use meshwork::catalogue::Catalogue;
use meshwork::facility::Facility;
use meshwork::job::{Cause, Job, Time};
use meshwork::machine::Placement;
use meshwork::observe::{Event, JobId, Observer, Running};
use meshwork::scenario::Scenario;

use super::{Holder, Instant, Waiter};
use crate::report::stored_run;
use crate::run::caught;
use crate::run::check::{RepeatError, scenario_of};
use crate::run::inputs::Files;
use crate::watch::single;

/// A run of a study: its scenario and its replication, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunName {
    /// The scenario.
    pub scenario: u64,
    /// The replication.
    pub replication: u64,
}

impl FromStr for RunName {
    type Err = String;

    /// Reads `3` or `3/2`.
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
    /// A run of the study in a folder of results, after all that happened up to `at`. It is run again up to then, and so nothing
    /// has to be kept of it.
    ///
    /// # Errors
    /// One sentence, if there is no such run, it cannot be run again, or it did not last so long.
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
        let mut followed = Followed::new(&scenario, record.replication, at).map_err(cannot)?;
        let outcome = caught(|| {
            let outcome = scenario.run(record.replication, &files, &mut followed);
            outcome.map_err(|error| error.to_string())
        });
        outcome.map_err(cannot)?;
        Ok(followed.instant())
    }
}

/// A machine that follows a run up to an instant, event by event: its allocators have seen all that those of the run have.
struct Followed {
    until: Time,
    is_over: bool,
    empty: Facility,
    facility: Facility,
    held_up: Cause,
    running: BTreeMap<JobId, Running>,
    waiting: BTreeMap<JobId, (Job, Option<Time>)>,
    /// Where jobs have been moved to at this instant: some of it may be another's that is still to leave.
    moved: BTreeMap<JobId, (usize, Placement)>,
}

impl Followed {
    fn new(scenario: &Scenario, replication: u64, until: Time) -> Result<Followed, String> {
        let setup = scenario.sound(replication).map_err(|error| error.to_string())?;
        let held_up = if setup.scheduler.reserves() { Cause::Reserved } else { Cause::Priority };
        Ok(Followed {
            until,
            is_over: false,
            empty: setup.facility.fork(),
            facility: setup.facility,
            held_up,
            running: BTreeMap::new(),
            waiting: BTreeMap::new(),
            moved: BTreeMap::new(),
        })
    }

    fn has_moved(&mut self) {
        let now = self.until;
        for (_, (site, placement)) in std::mem::take(&mut self.moved) {
            // What the engine has claimed is free here too.
            drop(self.facility.claim(site, &placement, now));
        }
    }

    fn instant(mut self) -> Instant {
        self.has_moved();
        let now = self.until;
        self.facility.crowd.running = self.running.len() as u64;
        self.facility.crowd.waiting = self.waiting.len() as u64;
        let sites = 0..self.facility.sites().len();
        let holder = |running: Running| Holder {
            name: name(running.id, &running.job),
            site: running.site,
            placement: running.placement,
            since: running.start,
            until: Some(running.expected_end.max(now)),
            job: running.job,
        };
        let waiter = |(id, (job, promised)): (JobId, (Job, Option<Time>))| Waiter {
            name: name(id, &job),
            job,
            promised,
        };
        Instant {
            sites: sites.clone().map(|site| self.facility.fork_site(site)).collect(),
            empty: sites.map(|site| self.empty.fork_site(site)).collect(),
            now,
            running: self.running.into_values().map(holder).collect(),
            waiting: self.waiting.into_iter().map(waiter).collect(),
            held_up: Some(self.held_up),
        }
    }
}

/// As everywhere: where a workload has no numbers, the place in the order of arrival is one.
fn name(id: JobId, job: &Job) -> String {
    if job.number > 0 { job.number.to_string() } else { (id.0 + 1).to_string() }
}

impl Observer for Followed {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        self.is_over |= now > self.until;
        if self.is_over {
            return;
        }
        if !matches!(event, Event::Moved { .. }) {
            self.has_moved();
        }
        match event {
            Event::Arrived(id, job) => {
                self.facility.arrived(job);
                self.waiting.insert(*id, ((*job).clone(), None));
            }
            Event::TurnedAway(id, _) => drop(self.waiting.remove(id)),
            Event::Promised(id, by) => {
                if let Some((_, promised)) = self.waiting.get_mut(id) {
                    *promised = Some(*by);
                }
            }
            Event::Started(running) => {
                self.waiting.remove(&running.id);
                drop(self.facility.claim(running.site, &running.placement, now));
                self.running.insert(running.id, (*running).clone());
            }
            Event::Moved { running, .. } => {
                if self
                    .moved
                    .insert(running.id, (running.site, running.placement.clone()))
                    .is_none()
                    && let Some(before) = self.running.get(&running.id)
                {
                    self.facility.release(before.site, &before.placement);
                }
                self.running.insert(running.id, (*running).clone());
            }
            Event::Finished(running) | Event::Interrupted(running) => {
                if let Some(own) = self.running.remove(&running.id) {
                    self.facility.release(own.site, &own.placement);
                }
                if matches!(event, Event::Interrupted(_)) {
                    self.waiting.insert(running.id, (running.job.clone(), None));
                }
            }
            Event::Down { site, node } => {
                let alone = single(self.facility.sites()[*site].site().grid(), *node);
                drop(self.facility.claim(*site, &alone, now));
            }
            Event::Up { site, node } => {
                let alone = single(self.facility.sites()[*site].site().grid(), *node);
                self.facility.release(*site, &alone);
            }
            _ => {}
        }
    }

    fn is_done(&self) -> bool {
        self.is_over
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
