//! Running a study: every scenario, replication by replication, on any number of threads.

pub mod build;
pub mod check;
mod columns;
pub(crate) mod cuts;
pub mod file;
pub mod inputs;
pub mod joboutput;
pub(crate) mod keys;
pub mod lock;
pub mod memory;
mod part;
pub(crate) mod replications;
mod results;
mod round;
mod runner;
mod runs;
pub mod seal;
pub mod store;
pub(crate) mod threads;
mod ticker;
pub(crate) mod windows;

use meshwork::observe::Observer;
use meshwork::scenario::{Outcome, Scenario};

use crate::run::store::Findings;
use crate::study::expand::Point;

pub use columns::Class;
pub use part::{BEAT, Unit, Worked};
pub use replications::{has_same_jobs, known, more};
pub use results::Results;
pub use runner::{Runner, Stopped};
pub(crate) use runner::{caught, locked};
pub(crate) use runs::Batches;
pub use runs::Runs;
pub use threads::NoThreads;

/// How far a study is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Runs that have ended, those taken from the store included.
    pub done: u64,
    /// Runs that are wanted; with `precision` this grows.
    pub total: u64,
    /// Runs taken from the store.
    pub reused: u64,
    /// Runs that failed.
    pub failed: u64,
    /// How much of the runs that go on has been done, in runs; those whose end is not known count for nothing.
    pub begun: f64,
    /// Jobs that have finished in all runs so far, those from the store left out.
    pub jobs: u64,
}

/// One run of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its key in the store.
    pub key: String,
    /// Which replication it is, from 0.
    pub replication: u64,
    /// What it gave, or one sentence that says why it failed.
    pub result: Result<Findings, String>,
}

/// Who looks on while a study runs, from any thread.
pub trait Watcher: Sync {
    /// A run of the scenario with this index has ended, or was taken from the store.
    fn ended(&self, point: usize, run: &Run);

    /// Who is told what happens in a run that is about to begin, if anyone is.
    fn observer(&self, point: &Point, replication: u64) -> Option<Box<dyn Observer + '_>>;
}

/// A way to run one replication of a scenario and tell an observer.
pub type Simulate<'a> =
    dyn Fn(&Scenario, u64, &mut dyn Observer) -> Result<Outcome, String> + Sync + 'a;
