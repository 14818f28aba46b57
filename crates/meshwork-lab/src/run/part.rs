//! Runs a part of a study in one process among several.

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rayon::prelude::*;

use crate::run::replications::{first, more};
use crate::run::runner::{Runner, Shared};
use crate::run::runs::ScenarioRuns;
use crate::run::store::{Note, Store};
use crate::run::{Run, RunProgress};
use crate::study::Replications;
use crate::study::expand::Point;
use crate::threads::{NoThreads, into_inner, locked, pool};

/// Unit of work of a process: one run, or all runs of a scenario. Runs of a scenario form one unit
/// if their number depends on results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    pub scenario: usize,
    pub replication: Option<u64>,
}

impl Unit {
    /// Number of runs, as far as known in advance. A whole scenario may need more later.
    pub(crate) fn runs(self, replications: &Replications, points: &[Point]) -> u64 {
        self.replication.map_or_else(|| first(replications, &points[self.scenario]), |_| 1)
    }
}

#[derive(Clone, Debug)]
pub struct Worked {
    pub progress: RunProgress,
    pub stopped: bool,
    pub store_error: Option<String>,
    /// Index of the scenario, replication and error message of each failed run.
    pub failures: Vec<(usize, u64, String)>,
}

pub const BEAT: Duration = Duration::from_secs(30);

impl Runner<'_> {
    /// Runs only the given units of a study, and puts their results into the store.
    pub fn work(&self, threads: usize, units: &[Unit]) -> Result<Worked, NoThreads> {
        let pool = pool(threads)?;
        let shared = Shared::new(self);
        locked(&shared.progress).total = units.iter().map(|unit| self.begins_with(*unit)).sum();
        let (ended, is_over) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // The receiver must be dropped when the thread ends.
                let is_over = is_over;
                while is_over.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                    if let Some(store) = &self.store {
                        locked(store).beat();
                    }
                }
            });
            pool.install(|| {
                for units in shared.apart(units) {
                    units.par_iter().with_max_len(1).for_each(|unit| shared.unit(*unit));
                }
            });
            drop(ended);
        });
        let progress = *locked(&shared.progress);
        let stopped = shared.stopped.load(Ordering::Relaxed);
        let store_error = into_inner(shared.store_error);
        let failures = into_inner(shared.failures);
        Ok(Worked { progress, stopped, store_error, failures })
    }

    fn begins_with(&self, unit: Unit) -> u64 {
        unit.runs(self.replications, self.points)
    }
}

impl Shared<'_, '_> {
    fn apart(&self, units: &[Unit]) -> [Vec<Unit>; 2] {
        let store = self.runner.store.as_ref().filter(|store| !locked(store).is_empty());
        let Some(store) = store else { return [units.to_vec(), Vec::new()] };
        // Consecutive units of one scenario share the digest of the common key parts.
        let of_one: Vec<&[Unit]> = units.chunk_by(|a, b| a.scenario == b.scenario).collect();
        let parts: Vec<(Vec<Unit>, Vec<Unit>)> =
            of_one.into_par_iter().map(|units| self.apart_of_one(store, units)).collect();
        let (fresh, stored): (Vec<Vec<Unit>>, Vec<Vec<Unit>>) = parts.into_iter().unzip();
        [fresh.concat(), stored.concat()]
    }

    fn apart_of_one(&self, store: &Mutex<Store>, units: &[Unit]) -> (Vec<Unit>, Vec<Unit>) {
        let scenario = units[0].scenario;
        let keys = self.runner.keys(scenario);
        units.iter().partition(|unit| {
            let mut runs = match unit.replication {
                Some(number) => number..number + 1,
                None => 0..self.runner.begins_with(**unit),
            };
            !runs.all(|number| self.is_there(store, &keys, scenario, number))
        })
    }

    fn unit(&self, unit: Unit) {
        let is_full = || self.runner.store.as_ref().is_some_and(|store| locked(store).is_broken());
        if let Some(replication) = unit.replication {
            if !is_full() && !self.must_stop() {
                self.noted(unit.scenario, replication);
            }
            return;
        }
        let mut runs = ScenarioRuns::default();
        let mut wanted = self.runner.begins_with(unit);
        let mut counted = wanted;
        while (runs.len() as u64) < wanted {
            if is_full() || self.must_stop() {
                return;
            }
            let next = runs.len() as u64;
            runs.push(self.noted(unit.scenario, next));
            if next + 1 == wanted {
                wanted = more(self.runner.replications, &runs);
                locked(&self.progress).total += wanted.saturating_sub(counted);
                counted = counted.max(wanted);
            }
        }
    }

    fn noted(&self, scenario: usize, replication: u64) -> Run {
        let run = self.replication(scenario, replication);
        if let Err(message) = &run.result {
            locked(&self.failures).push((scenario, replication, message.clone()));
            if let Some(store) = &self.runner.store {
                let note =
                    |at| Note::Failed { scenario, replication, message: message.clone(), at };
                let noted = locked(store).note(note);
                noted.unwrap_or_else(|error| *locked(&self.store_error) = Some(error.to_string()));
            }
        }
        run
    }
}
