//! The simulation engine: its event loop, and the order of events within an instant.

mod followers;
mod names;
mod plan;
mod simulation;
mod unread;

pub use names::Names;
pub use plan::{
    DecidedMove, DecidedReservation, DecidedStart, HeldNodes, PlanError, PlanMemory, PlanState,
    PolicyDecision, WithheldNodes, plan,
};
pub use simulation::Simulation;

use crate::access::Access;
use crate::cluster::Unsatisfiable;
use crate::energy::Energy;
use crate::facility::Facility;
use crate::failures::Outages;
use crate::job::{JobId, Time};
use crate::network::{Network, NetworkError};
use crate::observe::Observer;
use crate::sched::Scheduler;
use crate::workload::{Submissions, WorkloadError};
use names::whose;

/// All components of a run except its jobs.
pub struct Setup {
    /// The machine with its allocators, sizing and selector.
    pub facility: Facility,
    /// The scheduler, which decides which jobs start, and when.
    pub scheduler: Box<dyn Scheduler>,
    /// The network model, which decides how long placed jobs take.
    pub network: Box<dyn Network>,
    /// Whether a job is killed when it reaches its estimate.
    pub kill_at_estimate: bool,
    /// Whether the scheduler is called once for an instant or once for each event of the instant.
    pub passes: Passes,
    /// Length of the run after the first arrival, in units of the clock; `None` without a limit.
    pub time: Option<f64>,
    /// Failures, maintenance and drains; `None` if nothing fails.
    pub outages: Option<Outages>,
    /// Partitions and reservations; `None` if every job may use every node.
    pub access: Option<Access>,
    /// Energy model; `None` if power is not modelled.
    pub energy: Option<Energy>,
    /// Names of the components, for errors. The names of allocators come with their sites.
    pub names: Names,
}

/// How often the scheduler is called at an instant with several events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passes {
    /// One scheduling pass per instant: after its departures, outages and arrivals, in this order.
    #[default]
    Instant,
    /// One scheduling pass after each departure, after all outages of an instant, and after each
    /// arrival.
    Event,
}

/// Maximum number of waiting jobs, beyond which the mean queue length would be meaningless.
pub const MAX_WAITING: usize = 4_000_000;

/// Number of refused jobs after which a run stops if no job has fitted the machine so far.
///
/// Without this limit, a run of an endless workload might never end.
pub const MAX_REFUSED: u64 = 1_000_000;

/// Maximum number of jobs in a run for which fair starts are computed, in quadratic time.
pub const MAX_JUDGED: usize = 50_000;

/// Reason why a run stopped without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Reading the workload failed.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A registry entry of this crate, or the engine, broke its contract, which is a bug.
    #[error("a bug in Meshwork, please report it: {0}")]
    Bug(String),
    /// A component from outside this crate broke its contract.
    #[error("{} at {at}: {what}", whose(.kind, .name, .job))]
    Strategy {
        /// Kind of the component, such as "allocator".
        kind: &'static str,
        /// Name of the component; empty if the [`Setup`] does not name it.
        name: &'static str,
        /// The job that the error concerns; `None` if it concerns no single job.
        job: Option<JobId>,
        /// Instant at which the contract was broken.
        at: Time,
        /// Phrase that says how the component broke the contract.
        what: String,
    },
    /// The network cannot run some job.
    #[error(transparent)]
    Network(NetworkError),
    /// More than [`MAX_WAITING`] jobs wait at once.
    #[error(
        "more than {MAX_WAITING} jobs wait at once: they arrive far faster than the machine can serve \
         them"
    )]
    Overload,
    /// Nodes fail so often that the run would never end.
    #[error(transparent)]
    Unsatisfiable(Unsatisfiable),
    /// Too many jobs arrive in a run that computes the fair start of every job.
    ///
    /// The maximum is [`MAX_JUDGED`].
    #[error(
        "`unfair_jobs` and `unfairness` run all jobs up to each arrival again, and more than {MAX_JUDGED} jobs arrive: \
         `workload.first_jobs`, `measure.jobs` or `measure.time` ends a run sooner"
    )]
    TooManyToJudge,
    /// No job can run: none of the first [`MAX_REFUSED`] jobs of the workload fits the empty
    /// machine.
    #[error("none of the first {MAX_REFUSED} jobs would fit even the empty machine{why}")]
    NoneFits {
        /// Request of the last refused job, with the reason why it never fits; empty if unknown.
        why: String,
    },
}

/// Runs the jobs, reports events to the observer, and returns the last instant.
///
/// To advance a run step by step, use a [`Simulation`].
///
/// # Errors
/// In each of these cases:
///
/// - The workload cannot be read further.
/// - A strategy breaks its contract.
/// - More than [`MAX_WAITING`] jobs wait at once.
/// - None of the first [`MAX_REFUSED`] jobs fits.
/// - The network cannot run a job.
/// - A job never ends, or no waiting job can start, because of failures.
/// - Jobs are left waiting although the machine is idle.
///
/// # Complexity
/// **O(log r)** per job with *r* running jobs, plus the strategies; memory **O(jobs in the
/// system)**.
pub fn simulate(
    setup: Setup,
    jobs: Submissions,
    observer: &mut dyn Observer,
) -> Result<Time, RunError> {
    Simulation::new(setup, jobs, observer)?.run()
}
