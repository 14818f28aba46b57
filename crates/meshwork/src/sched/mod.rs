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

use crate::cluster::Cluster;
use crate::job::Time;
use crate::registry::{About, DefaultValue, Family, Kind, Named, Param, Params, Problem, abouts};
use crate::topology::{Topology, Wiring};

/// Decides which waiting jobs start, and when.
pub trait Scheduler: Send {
    /// Called once for each instant at which a job arrived or ended, after all of them; and when it [wants to be
    /// woken](Scheduler::wake_at).
    fn schedule(&mut self, cluster: &mut Cluster<'_>);

    /// A timer: when it is to be called even if nothing else happens then; a finite instant after `now`. Asked after each
    /// call, and the last answer counts. A timer keeps no run going in which no job is left.
    fn wake_at(&self, _now: Time) -> Option<Time> {
        None
    }

    /// Whether it looks at all that wait and keeps nodes for those that come before: a job that could start and does not
    /// then waits for what is [reserved](crate::job::Cause::Reserved), and else for its
    /// [turn](crate::job::Cause::Priority).
    fn reserves(&self) -> bool {
        false
    }

    /// Whether it looks at which nodes are free or held, and not only at how many: see
    /// [`asks_where_jobs_run`](crate::observe::Observer::asks_where_jobs_run). It may promise nodes, and start jobs beside
    /// them, without a look at them.
    fn looks_at_nodes(&self) -> bool {
        true
    }

    /// Whether it suspends running jobs, which then go on with the work that is left: it needs a network in which jobs
    /// have work.
    fn suspends(&self) -> bool {
        false
    }
}

/// A scheduler in the list.
pub struct SchedulerEntry {
    /// What it says of itself.
    pub about: About,
    /// The wirings it works on.
    pub serves: &'static [Wiring],
    /// Whether it plans with estimates, and so keeps promises.
    pub plans: bool,
    /// Whether every job starts in the end, if arrivals end: else, with some parameters, it may turn
    /// jobs away or leave them waiting beside an idle machine.
    pub serves_all: bool,
    /// Whether it divides the machine itself and resizes jobs while they run: it needs a machine of
    /// one site, and asks neither selector, sizing nor allocator.
    pub malleable: bool,
    /// Whether it goes by whose jobs are: the workload then has to say so, where it knows.
    pub by_owner: bool,
    /// The policy, for a machine of these sites.
    pub build: fn(&Params, &[Topology]) -> Result<Box<dyn Scheduler>, Problem>,
}

impl Named for SchedulerEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// Every scheduler.
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

/// Schedulers, as a family of names. Whether jobs are ended at their estimates is decided with the
/// scheduler, for it is what gives an estimate its meaning.
pub static FAMILY: Family = Family {
    kind: "scheduler",
    key: "name",
    entries: || abouts(SCHEDULERS),
    common: &[Param {
        name: "kill_at_estimate",
        kind: Kind::Flag,
        default: DefaultValue::Is("false"),
        help: "whether a job that reaches its estimate is ended there",
    }],
};
