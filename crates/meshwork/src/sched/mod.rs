//! Schedulers: which waiting jobs start, and when.

pub mod conservative;
pub mod easy;
pub mod fcfs;
pub mod sjf;

use crate::cluster::Cluster;
use crate::registry::{About, Default, Family, Kind, Named, Param, Params, Problem, abouts};

/// Decides which waiting jobs start, and when.
pub trait Scheduler {
    /// Called once for each instant at which a job arrived or ended, after all of them.
    fn schedule(&mut self, cluster: &mut Cluster<'_>);
}

/// A scheduler in the list.
pub struct SchedulerEntry {
    /// What it says of itself.
    pub about: About,
    /// Whether it plans with estimates, and so keeps promises.
    pub plans: bool,
    /// The policy.
    pub build: fn(&Params) -> Result<Box<dyn Scheduler>, Problem>,
}

impl Named for SchedulerEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// Every scheduler.
pub static SCHEDULERS: &[&SchedulerEntry] =
    &[&fcfs::ENTRY, &sjf::ENTRY, &easy::ENTRY, &conservative::ENTRY];

/// Schedulers, as a family of names. Whether jobs are ended at their estimates is decided with the
/// scheduler, for it is what gives an estimate its meaning.
pub static FAMILY: Family = Family {
    kind: "scheduler",
    key: "name",
    entries: || abouts(SCHEDULERS),
    common: &[Param {
        name: "kill_at_estimate",
        kind: Kind::Flag,
        default: Default::Is("false"),
        help: "whether a job that reaches its estimate is ended there",
    }],
};
