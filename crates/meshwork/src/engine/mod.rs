//! The engine: the only loop. What happens at an instant, and in which order.

mod followers;
mod names;
mod simulation;
mod unread;

pub use names::Names;
pub use simulation::Simulation;

use crate::access::Access;
use crate::cluster::Hopeless;
use crate::energy::Energy;
use crate::facility::Facility;
use crate::failures::Outages;
use crate::job::{JobId, Time};
use crate::network::{Network, NetworkError};
use crate::observe::Observer;
use crate::sched::Scheduler;
use crate::workload::{Submissions, WorkloadError};
use names::whose;

/// Everything that a run consists of, besides its jobs.
pub struct Setup {
    /// The machine and those who decide where jobs go.
    pub facility: Facility,
    /// Who decides which job starts, and when.
    pub scheduler: Box<dyn Scheduler>,
    /// How long placed jobs take.
    pub network: Box<dyn Network>,
    /// Whether a job that reaches its estimate is ended there.
    pub kill_at_estimate: bool,
    /// How often the scheduler is asked when several things happen at one instant.
    pub passes: Passes,
    /// How long the run goes on after the first arrival; `None` runs until all jobs are done or
    /// the observer is.
    pub time: Option<f64>,
    /// What fails, if anything does.
    pub outages: Option<Outages>,
    /// Who may have which nodes, if not everyone may have all.
    pub access: Option<Access>,
    /// What processors take, if somebody asks.
    pub energy: Option<Energy>,
    /// How errors name what the run consists of; allocators bring their names with their sites.
    pub names: Names,
}

/// How often the scheduler is asked when several jobs end or arrive at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passes {
    /// Once for the instant, after all departures, then all outages, and then all arrivals.
    #[default]
    Instant,
    /// After each departure, then after all outages, and then after each arrival.
    Event,
}

/// The most jobs that may wait at once: more than any log holds, and few enough for the memory. A
/// queue beyond it has no mean worth knowing.
pub const MAX_WAITING: usize = 4_000_000;

/// The most jobs that may be refused before one fits: a workload without an end would otherwise be
/// refused for ever.
pub const MAX_REFUSED: u64 = 1_000_000;

/// The most jobs whose starts are compared with fair ones: the work grows with the square of their number.
pub const MAX_JUDGED: usize = 50_000;

/// Why a run stopped without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The workload could not be read on.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// An entry of this crate broke its contract, or the engine did: a bug, which is reported and never simulated on.
    #[error("a bug in Meshwork, please report it: {0}")]
    Bug(String),
    /// Something from outside broke its contract: it is named, and nothing is simulated on.
    #[error("{} at {at}: {what}", whose(.kind, .name, .job))]
    Strategy {
        /// The word for it, as in "allocator".
        kind: &'static str,
        /// Its name; empty where it was put into a [`Setup`] without one.
        name: &'static str,
        /// The job that it was about.
        job: Option<JobId>,
        /// When.
        at: Time,
        /// What it did.
        what: String,
    },
    /// A job that the network cannot run.
    #[error(transparent)]
    Network(NetworkError),
    /// The queue grew beyond all measure.
    #[error(
        "more than {MAX_WAITING} jobs wait at once: they arrive far faster than the machine can serve \
         them"
    )]
    Overload,
    /// Nodes fail so often that the run would never end.
    #[error(transparent)]
    Hopeless(Hopeless),
    /// Too many jobs to say when each should have started.
    #[error(
        "`unfair_jobs` and `unfairness` run all jobs up to each arrival again, and more than {MAX_JUDGED} jobs arrive: \
         `workload.first_jobs`, `measure.jobs` or `measure.time` ends a run sooner"
    )]
    TooManyToJudge,
    /// No job fits.
    #[error("none of the first {MAX_REFUSED} jobs would fit even the empty machine")]
    NoneFits,
}

/// Runs the jobs and tells the observer what happens; returns the last instant. A [`Simulation`] does it step by step.
///
/// # Errors
/// If the workload cannot be read on, a strategy breaks its contract, more than [`MAX_WAITING`] jobs
/// wait at once, none of the first [`MAX_REFUSED`] fits, nodes fail so often that no job gets to its end, or jobs are
/// left waiting beside an idle machine.
///
/// # Complexity
/// **O(log r)** for each job with *r* running jobs, besides what the strategies do; memory
/// **O(jobs in the system)**.
pub fn simulate(
    setup: Setup,
    jobs: Submissions,
    observer: &mut dyn Observer,
) -> Result<Time, RunError> {
    Simulation::new(setup, jobs, observer)?.run()
}
