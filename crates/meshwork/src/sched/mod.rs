//! Schedulers: which waiting jobs start, and when.

pub mod conservative;
pub mod easy;
pub mod edf;
pub mod equipartition;
pub mod fair_share;
pub mod fcfs;
pub mod folding;
pub mod giving_up;
pub mod lazy;
mod malleable;
mod ordered;
pub mod priority;
mod queues;
mod ranked;
pub mod reservation;
pub mod scan;
mod shares;
pub mod sjf;
pub mod slurm;
pub mod static_partitioning;
mod usage;
pub mod window;

use crate::cluster::{Cluster, MemoryReader, MemoryWriter, RecallError};
use crate::job::Time;
use crate::registry::{About, Family, Kind, Param, Params, Problem, abouts, named};
use crate::topology::{Topology, Wiring};

/// Scheduler: decides which waiting jobs start, and when.
pub trait Scheduler: Send {
    /// Schedules waiting jobs.
    ///
    /// Called once for each instant with events (arrivals, departures, outages and others), after
    /// all of them, and at [`wake_at`](Scheduler::wake_at). With
    /// [`Passes::Event`](crate::engine::Passes::Event) it is called more often.
    fn schedule(&mut self, cluster: &mut Cluster<'_>);

    /// Time of the next call of `schedule` even if nothing happens before; `None` if not needed.
    ///
    /// It must be finite and after `now`. Only the last result counts. When no job is left, the run
    /// ends even if a call is due.
    fn wake_at(&self, _now: Time) -> Option<Time> {
        None
    }

    /// Writes what the scheduler remembers between two passes; returns whether it remembers
    /// anything.
    ///
    /// This lets a [plan](crate::engine::plan()) continue an earlier one. If a scheduler returns
    /// `true`, the next plan reports to it the jobs that have ended or arrived since. Otherwise the
    /// next plan lets all waiting jobs arrive anew, and reports no ended jobs.
    fn memory(&self, _memory: &mut MemoryWriter) -> bool {
        false
    }

    /// Restores the [memory](Scheduler::memory) that a scheduler with equal parameters wrote.
    ///
    /// Called once by each [`plan`](crate::engine::plan()), before its pass, even if [nothing was
    /// written](MemoryReader::is_new). Running jobs have started by then, and the queue has only
    /// jobs that the writing scheduler knew. Newer jobs arrive in the first pass.
    ///
    /// # Errors
    /// If the numbers are not the memory of such a scheduler.
    fn recall(&mut self, _memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        Ok(())
    }

    /// Whether the scheduler considers all waiting jobs and reserves nodes for some of them.
    ///
    /// If it does, a job that could start but does not waits for
    /// [reserved](crate::job::Cause::Reserved) nodes. Otherwise, the job waits for its
    /// [turn](crate::job::Cause::Priority).
    fn reserves(&self) -> bool {
        false
    }

    /// Whether the scheduler reads which nodes are free or held, and not only how many.
    fn looks_at_nodes(&self) -> bool {
        true
    }

    /// Whether the scheduler suspends running jobs. The network must then not simulate messages.
    fn suspends(&self) -> bool {
        false
    }
}

/// Registry entry of a scheduler.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SchedulerEntry {
    /// Name, documentation and parameters of the scheduler.
    pub about: About,
    /// Wirings (kinds of machine, such as meshes and tori) that the scheduler supports.
    pub serves: &'static [Wiring],
    /// Whether the scheduler plans with run time estimates.
    pub plans: bool,
    /// Whether every job eventually starts once no more jobs arrive, whatever the parameters are.
    pub serves_all: bool,
    /// Whether the scheduler divides a machine of one site itself and resizes running jobs.
    pub malleable: bool,
    /// Whether the scheduler depends on the owners of jobs, which the workload must then supply.
    pub by_owner: bool,
    /// Whether the scheduler can schedule jobs that share nodes.
    ///
    /// Such a scheduler lets the allocator choose the nodes of jobs. It keeps nodes for waiting
    /// jobs only by guards (reservations that other starts must not delay), by a
    /// [plan](crate::plan), or as [placements](Cluster::least_busy) that other starts avoid.
    pub shares: bool,
    /// Builds the scheduler from its parameters, for a machine with the given sites.
    pub build: fn(&Params, &[Topology]) -> Result<Box<dyn Scheduler>, Problem>,
}

impl SchedulerEntry {
    /// Creates the registry entry of a scheduler that starts every job, on every kind of machine.
    #[must_use]
    pub const fn new(
        about: About,
        build: fn(&Params, &[Topology]) -> Result<Box<dyn Scheduler>, Problem>,
    ) -> SchedulerEntry {
        SchedulerEntry {
            about,
            build,
            serves: &Wiring::ALL,
            plans: false,
            serves_all: true,
            malleable: false,
            by_owner: false,
            shares: false,
        }
    }

    /// Replaces the description of the scheduler.
    #[must_use]
    pub const fn described(self, about: About) -> SchedulerEntry {
        SchedulerEntry { about, ..self }
    }

    /// Replaces the function that builds the scheduler.
    #[must_use]
    pub const fn build(
        self,
        build: fn(&Params, &[Topology]) -> Result<Box<dyn Scheduler>, Problem>,
    ) -> SchedulerEntry {
        SchedulerEntry { build, ..self }
    }

    /// Sets the wirings (kinds of machine, such as meshes and tori) that the scheduler supports.
    #[must_use]
    pub const fn serves(self, serves: &'static [Wiring]) -> SchedulerEntry {
        SchedulerEntry { serves, ..self }
    }

    /// Sets whether the scheduler plans with run time estimates.
    #[must_use]
    pub const fn plans(self, plans: bool) -> SchedulerEntry {
        SchedulerEntry { plans, ..self }
    }

    /// Sets whether every job eventually starts.
    #[must_use]
    pub const fn serves_all(self, serves_all: bool) -> SchedulerEntry {
        SchedulerEntry { serves_all, ..self }
    }

    /// Sets whether the scheduler divides the machine itself and resizes running jobs.
    #[must_use]
    pub const fn malleable(self, malleable: bool) -> SchedulerEntry {
        SchedulerEntry { malleable, ..self }
    }

    /// Sets whether the scheduler can schedule jobs that share nodes.
    #[must_use]
    pub const fn shares(self, shares: bool) -> SchedulerEntry {
        SchedulerEntry { shares, ..self }
    }

    /// Sets whether the scheduler depends on the owners of jobs.
    #[must_use]
    pub const fn by_owner(self, by_owner: bool) -> SchedulerEntry {
        SchedulerEntry { by_owner, ..self }
    }
}

named!(SchedulerEntry);

/// Registry entries of all schedulers of this crate.
pub static SCHEDULERS: &[&SchedulerEntry] = &[
    &fcfs::ENTRY,
    &sjf::ENTRY,
    &edf::ENTRY,
    &priority::ENTRY,
    &fair_share::ENTRY,
    &easy::ENTRY,
    &conservative::ENTRY,
    &window::ENTRY,
    &reservation::ENTRY,
    &scan::ENTRY,
    &static_partitioning::ENTRY,
    &lazy::ENTRY,
    &equipartition::ENTRY,
    &folding::ENTRY,
    &giving_up::ENTRY,
    &slurm::ENTRY,
];

/// Registry family of all schedulers, with the parameter by which jobs are killed at their
/// estimates.
pub static FAMILY: Family = Family {
    kind: "scheduler",
    key: "name",
    entries: || abouts(SCHEDULERS),
    common: &[Param::new("kill_at_estimate", Kind::Flag).is("false").help(
        "whether a job that reaches its estimate is ended there; without effect where jobs send \
             messages",
    )],
};
