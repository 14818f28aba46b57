//! Plans: the future of a machine, with reserved starts of waiting jobs.
//!
//! Conservative backfilling keeps a [`Plan`]. There are three implementations, and [`of`] chooses
//! the fastest one for the machine:
//!
//! - `counts`: numbers of free nodes over time, if a job can use any nodes that are free;
//! - `sets`: sets of free nodes over time, if the allocator depends only on which nodes are free;
//! - `forks`: copies of the machine, for all other machines and allocators.
//!
//! All of them give equal reservations. EASY backfilling keeps a [`Promise`]: the reservation of
//! one job.

mod counts;
mod forks;
mod promise;
mod sets;

pub use promise::Promise;

use counts::Counts;
use forks::Forks;
use sets::Sets;

use crate::cluster::{Cluster, Reservation, Ticket};
use crate::job::Time;

/// Future of a machine: running jobs end at their estimates, and reserved jobs start as planned.
///
/// A job past its estimate is expected to end now. A plan remains valid as long as each job is
/// started by [`start_due`](Plan::start_due), or is added by [`hold`](Plan::hold) right after its
/// start. When the cluster [is disturbed](Cluster::is_disturbed), a new plan is needed.
///
/// ```
/// use meshwork::cluster::Cluster;
/// use meshwork::plan::{self, Plan};
/// use meshwork::sched::Scheduler;
///
/// #[derive(Default)]
/// struct Conservative(Option<Box<dyn Plan>>);
///
/// impl Scheduler for Conservative {
///     fn schedule(&mut self, cluster: &mut Cluster<'_>) {
///         let plan = plan::kept(&mut self.0, cluster);
///         plan.compress(cluster);
///         for ticket in cluster.to_plan() {
///             if let Some(found) = plan.earliest(cluster, ticket, None) {
///                 plan.hold(cluster, ticket, found);
///             }
///         }
///         plan.start_due(cluster);
///     }
/// }
/// ```
pub trait Plan: Send {
    /// Advances the plan to the present instant, at which it has not been used yet.
    ///
    /// The nodes of ended jobs become free. Reserved starts that have passed are moved to this
    /// instant.
    fn advance(&mut self, cluster: &Cluster<'_>);

    /// Earliest reservation that delays no other.
    ///
    /// `None` if the job never fits, or cannot start by the time `by`.
    fn earliest(
        &mut self,
        cluster: &Cluster<'_>,
        ticket: Ticket,
        by: Option<Time>,
    ) -> Option<Reservation>;

    /// Adds the reservation of a job, after all other reservations.
    ///
    /// Unless [`forks`] created the plan, the reservation must be the one that
    /// [`earliest`](Plan::earliest) returns now. If the job has just started, its nodes count as
    /// nodes of a running job.
    fn hold(&mut self, cluster: &Cluster<'_>, ticket: Ticket, reservation: Reservation);

    /// Removes the reservation of a job; returns whether it had one.
    fn release(&mut self, ticket: Ticket) -> bool;

    /// Waiting jobs with their reservations, in the order in which the reservations were added.
    fn promises(&self) -> Vec<(Ticket, Reservation)>;

    /// Moves each reservation, in the order of addition, to its earliest start while all others
    /// stay.
    ///
    /// No reservation gets later or needlessly changes nodes. If no job has ended now or is past
    /// its estimate, nothing changes.
    fn compress(&mut self, cluster: &Cluster<'_>);

    /// Starts the jobs whose reservation is due and whose nodes are free, in the order of addition.
    fn start_due(&mut self, cluster: &mut Cluster<'_>);
}

/// Creates a plan without reservations, by the implementation that is fastest for the machine.
#[must_use]
pub fn of(cluster: &Cluster<'_>) -> Box<dyn Plan> {
    if cluster.counts_alone() {
        return Box::new(Counts::new(cluster));
    }
    match Sets::new(cluster) {
        Some(sets) => Box::new(sets),
        None => forks(cluster),
    }
}

/// Creates an empty plan of future reservations, which works on every machine.
///
/// Any reservation can be added to it.
#[must_use]
pub fn forks(cluster: &Cluster<'_>) -> Box<dyn Plan> {
    Box::new(Forks::new(cluster))
}

/// Returns the plan stored in `kept`, advanced to now. Stores and returns a new plan if none is
/// stored, or if the cluster [is disturbed](Cluster::is_disturbed).
pub fn kept<'p>(kept: &'p mut Option<Box<dyn Plan>>, cluster: &Cluster<'_>) -> &'p mut dyn Plan {
    let plan = match kept.take() {
        Some(mut plan) if !cluster.is_disturbed() => {
            plan.advance(cluster);
            plan
        }
        _ => of(cluster),
    };
    kept.insert(plan).as_mut()
}
