//! One scheduling decision, for a machine and a queue in a given state.

use std::collections::BTreeSet;

use super::{RunError, Setup, Simulation};
use crate::access::{Access, Reserved};
use crate::cluster::{Cluster, Place, StartOptions};
use crate::job::{Job, JobId, Time};
use crate::machine::Placement;
use crate::network;
use crate::observe::{Event, Observer};
use crate::sched::Scheduler;
use crate::topology::Node;
use crate::workload::Submission;

/// A machine and its queue at one instant.
#[derive(Clone, Debug)]
pub struct PlanState {
    /// The instant of the state.
    pub now: Time,
    /// Running jobs, in the order in which the allocator is told of their nodes.
    pub running: Vec<HeldNodes>,
    /// Waiting jobs in queue order. Each counts as arriving at the state's instant.
    pub waiting: Vec<Job>,
    /// Nodes that some or all waiting jobs may not use during an interval.
    pub withheld: Vec<WithheldNodes>,
}

/// Nodes that some or all waiting jobs may not use during an interval, such as reserved nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct WithheldNodes {
    /// Index of the site of the nodes.
    pub site: usize,
    /// Numbers of the nodes on their site.
    pub nodes: Vec<Node>,
    /// Begin of the interval.
    pub from: Time,
    /// End of the interval; infinite if it has none.
    pub until: Time,
    /// Indices of the waiting jobs from which the nodes are withheld; `None` for all waiting jobs.
    /// If indices are given, all waiting jobs must have different numbers.
    pub from_jobs: Option<Vec<usize>>,
}

/// The nodes that a running job holds, with the job.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldNodes {
    /// Index of the site on which the job runs.
    pub site: usize,
    /// The nodes that the job holds.
    pub placement: Placement,
    /// When the job started, before the instant of the state.
    pub since: Time,
    /// When the job is expected to end, as schedulers know it. An instant that has passed counts as
    /// now.
    pub until: Time,
    /// The job as it was submitted. Its arrival and its run time are ignored.
    pub job: Job,
}

/// Decisions of a policy (a setup without its jobs) about the waiting jobs of a given state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyDecision {
    /// Jobs that start now, in the order of their starts.
    pub starts: Vec<DecidedStart>,
    /// Waiting jobs that get a reservation: for each job its index, and the reserved start.
    pub reserved: Vec<(usize, Time)>,
    /// Indices of the waiting jobs that do not fit even the empty machine.
    pub never: Vec<usize>,
}

/// A waiting job that starts now.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedStart {
    /// Index of the job among the waiting ones.
    pub waiting: usize,
    /// Index of the site on which the job starts.
    pub site: usize,
    /// Nodes on which the job starts.
    pub placement: Placement,
}

/// Reason why there is no decision for a state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// A running job started at or after the instant of the state.
    #[error(
        "running job {0} started at {1}, but must have started before {2}, the present instant"
    )]
    Since(usize, Time, Time),
    /// The nodes of a running job are not on the machine, or another job holds one of them.
    #[error(
        "the nodes of running job {0} do not lie on the machine, or another job holds one of them"
    )]
    NotFree(usize),
    /// A component broke its contract while deciding.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Lets the policy of a setup decide once, in the given state.
///
/// As in one instant of a [`Simulation`], running jobs hold their nodes and are known to the
/// allocator, waiting jobs arrive, and the scheduler is called. Anything else that a policy
/// remembers of earlier instants, such as promises or usage, is not part of the state. The
/// failures, access rules, energy model and network of the setup are ignored, and every job takes
/// its estimate. Nodes that are out of service or reserved can be given in the state as withheld.
///
/// # Errors
/// If two running jobs hold one node. If a running job holds nodes that are not on the machine, or
/// started too late. If a component breaks its contract.
///
/// # Complexity
/// **O(r log r)** for *r* running jobs, and the time of a scheduling pass.
pub fn plan(setup: Setup, state: &PlanState) -> Result<PolicyDecision, PlanError> {
    let PlanState { now, running, waiting, withheld } = state;
    if let Some(late) = running.iter().position(|held| held.since >= *now) {
        return Err(PlanError::Since(late, running[late].since, *now));
    }
    let mut order: Vec<usize> = (0..running.len()).collect();
    order.sort_by_key(|&held| running[held].since);
    let held: Vec<HeldNodes> = order.iter().map(|&held| running[held].clone()).collect();
    let arriving = held.iter().map(|held| {
        let estimate = held.until.max(now.next()) - held.since;
        // The job must still run at the instant of the state.
        Job { arrival: held.since, estimate, runtime: 2.0 * estimate, ..held.job.clone() }
    });
    let queued = waiting.iter().map(|job| Job { arrival: *now, ..job.clone() });
    let jobs: Vec<Job> = arriving.chain(queued).collect();
    let jobs = jobs.into_iter().map(|job| Ok(Submission::Job(job)));

    let reserved = |own: &WithheldNodes| Reserved {
        nodes: (own.site, own.nodes.clone()),
        from: own.from,
        until: own.until,
        users: BTreeSet::new(),
        barred: own
            .from_jobs
            .as_ref()
            .map(|jobs| jobs.iter().map(|&job| waiting[job].number).collect()),
    };
    let Setup { scheduler: mut policy, .. } = setup;
    let setup = Setup {
        scheduler: Box::new(Adopting { held: held.clone(), next: 0 }),
        network: network::ideal(),
        kill_at_estimate: false,
        time: None,
        outages: None,
        access: None,
        energy: None,
        ..setup
    };
    let mut decisions = Decisions { running: held.len(), ..Decisions::default() };
    {
        let mut simulation = Simulation::new(setup, Box::new(jobs), &mut decisions)?;
        simulation.run_until(*now)?;
        let adopted: BTreeSet<JobId> =
            simulation.cluster().running().map(|(_, running)| running.id).collect();
        let mut ids = (0..held.len()).zip(&order);
        if let Some((_, &held)) = ids.find(|(id, _)| !adopted.contains(&JobId(*id as u64))) {
            return Err(PlanError::NotFree(held));
        }
        if !withheld.is_empty() {
            simulation.restrict(Access::of_reservations(withheld.iter().map(reserved).collect()));
        }
        if !waiting.is_empty() {
            simulation.pass(&mut *policy)?;
        }
    }
    Ok(decisions.plan)
}

/// Scheduler that starts the running jobs of a state on the nodes that they hold, and no other
/// jobs.
struct Adopting {
    held: Vec<HeldNodes>,
    next: usize,
}

impl Scheduler for Adopting {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let arrived = cluster.arrivals().to_vec();
        for ticket in arrived {
            let Some(held) = self.held.get(self.next) else { return };
            self.next += 1;
            let place = Place::These(held.site, &held.placement);
            cluster.start(ticket, StartOptions::at(place));
        }
    }
}

/// Observer that records what the policy decides about waiting jobs.
#[derive(Default)]
struct Decisions {
    running: usize,
    plan: PolicyDecision,
}

impl Decisions {
    fn waiting(&self, id: JobId) -> Option<usize> {
        (id.0 as usize).checked_sub(self.running)
    }
}

impl Observer for Decisions {
    fn observe(&mut self, _now: Time, event: &Event<'_>) {
        match event {
            Event::Started(running) => {
                if let Some(waiting) = self.waiting(running.id) {
                    let (site, placement) = (running.site, running.placement.clone());
                    self.plan.reserved.retain(|(job, _)| *job != waiting);
                    self.plan.starts.push(DecidedStart { waiting, site, placement });
                }
            }
            Event::Promised(id, at) => {
                if let Some(waiting) = self.waiting(*id) {
                    self.plan.reserved.retain(|(job, _)| *job != waiting);
                    self.plan.reserved.push((waiting, *at));
                }
            }
            Event::Refused(id, _) => self.plan.never.extend(self.waiting(*id)),
            _ => {}
        }
    }
}
