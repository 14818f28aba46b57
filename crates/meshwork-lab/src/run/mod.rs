//! Runs a study: all scenarios and replications, on any number of threads.

pub mod build;
pub mod check;
mod columns;
pub(crate) mod cuts;
pub mod event;
pub mod joboutput;
pub mod kept;
pub(crate) mod keys;
pub mod lock;
pub mod memory;
mod part;
pub(crate) mod replications;
mod results;
mod round;
mod runner;
mod runs;
pub mod store;
pub mod stored;
mod ticker;
pub(crate) mod windows;

use meshwork::observe::Observer;
use meshwork::scenario::{Outcome, Scenario};

use crate::inputs::Files;
use crate::run::store::RunFindings;
use crate::study::expand::Point;

pub use columns::Class;
pub use part::{BEAT, Unit, Worked};
pub use replications::{has_same_jobs, known, more, watched};
pub use results::Results;
pub use runner::caught;
pub use runner::{Runner, Stopped};
pub(crate) use runs::Batches;
pub use runs::ScenarioRuns;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunProgress {
    /// Number of ended runs, including failed runs and runs taken from the store.
    pub done: u64,
    /// Number of runs that the study needs. If the study sets `precision`, the number may grow
    /// whenever a run ends.
    pub total: u64,
    pub reused: u64,
    pub failed: u64,
    /// Sum of the completed shares of unfinished runs, each from 0 to 1.
    pub begun: f64,
    /// Number of jobs finished in all runs so far, not counting runs taken from the store.
    pub jobs: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub key: String,
    pub replication: u64,
    pub result: Result<RunFindings, String>,
}

/// Observer of a study that is running. Its functions may be called from any thread.
pub trait Watcher: Sync {
    /// Called when a run of scenario `point` has ended, or was taken from the store.
    fn ended(&self, point: usize, run: &Run);

    /// Returns an observer for a run that is about to begin; `None` if it need not be observed.
    fn observer(&self, point: &Point, replication: u64) -> Option<Box<dyn Observer + '_>>;
}

pub type Simulate<'a> =
    dyn Fn(&Scenario, u64, &mut dyn Observer) -> Result<Outcome, String> + Sync + 'a;

pub(crate) fn simulated(
    scenario: &Scenario,
    replication: u64,
    files: &Files,
    observer: &mut dyn Observer,
) -> Result<Outcome, String> {
    scenario.run(replication, files, observer).map_err(|error| error.to_string())
}
