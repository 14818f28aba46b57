//! One scheduling decision, for a machine and a queue in a given state.

use std::collections::{BTreeMap, BTreeSet};

use super::{RunError, Setup};
use crate::access::{Access, Reserved};
use crate::cluster::{
    Cluster, Hold, MemoryReader, MemoryWriter, RecallError, RunKey, Running, Ticket,
};
use crate::facility::Facility;
use crate::job::{Job, JobId, Time};
use crate::machine::Placement;
use crate::network::{Network, NetworkError, Work};
use crate::observe::{Event, Messages, Observer};
use crate::topology::Node;

/// A machine and its queue at one instant.
#[derive(Clone, Debug)]
pub struct PlanState {
    /// The instant of the state.
    pub now: Time,
    /// Running jobs, in any order; the allocator learns of them in the order of their starts.
    pub running: Vec<HeldNodes>,
    /// Waiting jobs in queue order.
    pub waiting: Vec<Job>,
    /// Nodes that some or all waiting jobs may not use during an interval.
    pub withheld: Vec<WithheldNodes>,
    /// Scheduler state that an earlier plan saved, if any. With it, all jobs must have distinct
    /// numbers.
    pub memory: Option<PlanMemory>,
}

/// Memory of a policy after a plan, which is an input of the plan for a later state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanMemory {
    /// The instant of the plan.
    pub at: Time,
    /// Jobs that were running when the plan was complete, in the order of their starts.
    pub running: Vec<HeldNodes>,
    /// Numbers and arrivals of the jobs waiting when the plan was complete, in queue order.
    pub waiting: Vec<(u64, Time)>,
    /// Suspended jobs that waited, with their remaining times and the nodes where they resume.
    pub suspended: Vec<HeldNodes>,
    /// Memory (saved state) of the selector, the sizing and the allocators.
    pub facility: Vec<u64>,
    /// Memory of the scheduler; `None` if it has none.
    pub scheduler: Option<Vec<u64>>,
}

/// Nodes that some or all waiting jobs may not use during an interval, such as reserved nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct WithheldNodes {
    /// Index of the site of the nodes.
    pub site: usize,
    /// Numbers of the nodes on their site.
    pub nodes: Vec<Node>,
    /// Start of the interval in which the nodes are withheld.
    pub from: Time,
    /// End of the interval; infinite if it has none.
    pub until: Time,
    /// Indices of the waiting jobs from which the nodes are withheld; `None` if from all.
    ///
    /// Each listed job must have a number that no other job has.
    pub from_jobs: Option<Vec<usize>>,
}

/// A running job with the nodes that it holds, or a suspended job with the nodes on which it
/// resumes.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldNodes {
    /// Index of the site of the nodes.
    pub site: usize,
    /// The nodes that the job holds, or on which it resumes.
    pub placement: Placement,
    /// When the job started.
    pub since: Time,
    /// When the job is expected to end, as schedulers know it. The instant may have passed.
    pub until: Time,
    /// Expected run time at the start, divided by the requested run time. If it is `None`, the
    /// sizing is asked for it.
    pub stretch: Option<f64>,
    /// The job as it was submitted. Its run time is ignored.
    pub job: Job,
}

/// Decisions of a policy (all components of a run except jobs) on the waiting jobs of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyDecision {
    /// Jobs that start now, in the order of their starts.
    pub starts: Vec<DecidedStart>,
    /// Waiting jobs with a reservation.
    pub reserved: Vec<DecidedReservation>,
    /// Waiting jobs that do not fit even the empty machine, or that the scheduler turns away.
    pub never: Vec<usize>,
    /// Indices of the running jobs that are preempted and wait again.
    pub stopped: Vec<usize>,
    /// Running jobs that are moved or resized.
    pub moved: Vec<DecidedMove>,
    /// Time at which the scheduler must be called if no event occurs before; `None` if not needed.
    pub wake: Option<Time>,
    /// Memory of the policy, to be given to the plan of a later state.
    pub memory: PlanMemory,
}

/// The reserved start of a waiting job.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedReservation {
    /// Index of the job among the waiting jobs.
    pub waiting: usize,
    /// Latest start of the job, if all estimates hold.
    pub at: Time,
    /// Index of a site, and the reserved nodes there; `None` if any nodes will do.
    pub place: Option<(usize, Placement)>,
}

/// A running job that is moved or resized.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedMove {
    /// Index of the job among the running jobs.
    pub running: usize,
    /// The nodes on which the job continues.
    pub placement: Placement,
    /// When the moved or resized job is expected to end.
    pub until: Time,
}

/// A waiting job that starts now.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedStart {
    /// Index of the job among the waiting jobs.
    pub waiting: usize,
    /// Index of the site on which the job starts.
    pub site: usize,
    /// Nodes on which the job starts.
    pub placement: Placement,
    /// When the started job is expected to end.
    pub until: Time,
}

/// Reason why there is no decision for a state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// A running job started after the instant of the state.
    #[error("running job {0} started at {1}, after {2}, the present instant")]
    Since(usize, Time, Time),
    /// The nodes of a running job are not on the machine, or another job holds one of them.
    #[error(
        "the nodes of running job {0} do not lie on the machine, or another job holds one of them"
    )]
    NotFree(usize),
    /// The memory is of a later instant than the state.
    #[error("the memory is of {0}, later than {1}, the present instant")]
    Later(Time, Time),
    /// Error: the given memory of an earlier plan was written by another policy.
    #[error("the memory is not one of this policy: {0}")]
    Memory(#[from] RecallError),
    /// A component broke its contract while deciding.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Makes one decision about the given state, by the policy of a setup.
///
/// The decision is made as in one instant of a [`Simulation`](super::Simulation). Running jobs hold
/// their nodes and are known to the allocator, waiting jobs arrive, and the scheduler is called.
/// The failures, access rules, energy model and network of the setup are ignored. Nodes that are
/// out of service or reserved can be given as withheld.
///
/// With the [memory](PolicyDecision::memory) of an earlier plan, the policy also knows its
/// promises, counters and usage at that time. A job that ran at that time and does not run now has
/// ended. A running job in the memory is read from there as submitted, and a waiting job keeps its
/// place in the queue. If the state orders the waiting jobs differently, the first job out of order
/// and all jobs behind it count as new arrivals.
///
/// # Errors
/// If running jobs hold a node twice or outside of the machine, or started after the instant of the
/// state. If the memory is of another policy or a later instant. If a component breaks its
/// contract.
///
/// # Complexity
/// **O(r log r)** for *r* running jobs, and the time of a scheduling pass.
pub fn plan(setup: Setup, state: &PlanState) -> Result<PolicyDecision, PlanError> {
    let PlanState { now, running, waiting, withheld, memory } = state;
    if let Some(late) = running.iter().position(|held| held.since > *now) {
        return Err(PlanError::Since(late, running[late].since, *now));
    }
    if let Some(memory) = memory.as_ref().filter(|memory| memory.at > *now) {
        return Err(PlanError::Later(memory.at, *now));
    }
    let Setup { facility, mut scheduler, names, .. } = setup;
    let known = Known::of(state, &facility);
    let rate = |held: &HeldNodes| match names.resizes {
        true => f64::from(held.placement.len()) / held.job.request.nodes().max(1) as f64,
        false => 1.0,
    };
    let mut decisions = Decisions { jobs: known.jobs(), ..Decisions::default() };
    let leaving = (0..).map(JobId).zip(&decisions.jobs);
    let leaving = leaving.filter(|(_, own)| matches!(own, Who::Ended(_))).map(|(id, _)| id);
    let network = Stated { at: *now, leaving: leaving.collect(), keys: BTreeSet::new() };
    let (wake, allocation, remembered, left, ran, stopped);
    {
        let mut cluster =
            Cluster::new(facility, Box::new(network), false, Box::new(&mut decisions));
        let first = known.held.iter().map(|(_, held)| held.since).min();
        cluster.begin_at(first.unwrap_or(*now).min(known.at.unwrap_or(*now)));
        let suspended = memory.iter().flat_map(|memory| &memory.suspended);
        let suspended: BTreeMap<u64, &HeldNodes> =
            suspended.map(|own| (own.job.number, own)).collect();
        let arrive = |cluster: &mut Cluster<'_>, index: usize| {
            let own = suspended.get(&waiting[index].number);
            let ticket = arrive(cluster, own.map_or(&waiting[index], |own| &own.job))?;
            if let Some(own) = own {
                cluster.adopt_suspended(ticket, (own.site, &own.placement), own.stretch);
            }
            Some(ticket)
        };
        // Jobs arrive in the order in which they did, which decides the order of their identifiers.
        let mut tickets: BTreeMap<Who, Ticket> = BTreeMap::new();
        let held: BTreeMap<Who, &Job> =
            known.held.iter().map(|(who, own)| (*who, &own.job)).collect();
        for who in known.earlier() {
            let ticket = match who {
                Who::Waiting(index) => arrive(&mut cluster, index),
                _ => self::arrive(&mut cluster, held[&who]),
            };
            tickets.extend(ticket.map(|ticket| (who, ticket)));
        }
        for (who, held) in &known.held {
            cluster.elapse(held.since);
            let pace = (held.stretch, rate(held), held.until.max(held.since));
            let is_held = tickets
                .get(who)
                .is_some_and(|own| cluster.adopt(*own, (held.site, &held.placement), pace));
            if let (false, Who::Running(index)) = (is_held, who) {
                return Err(PlanError::NotFree(*index));
            }
        }
        cluster.elapse(known.at.unwrap_or(*now));
        if let Some(memory) = memory {
            cluster.recall(&memory.facility, known.is_same_machine)?;
        }
        let waited: Vec<Option<Ticket>> = known
            .waited
            .iter()
            .map(|index| tickets.get(&Who::Waiting((*index)?)).copied())
            .collect();
        let numbers = memory.as_ref().and_then(|memory| memory.scheduler.as_deref());
        let mut reader = MemoryReader::new(&cluster, &waited, numbers);
        scheduler.recall(&mut reader)?;
        reader.end()?;
        cluster.elapse(*now);
        let ends = cluster.next_finish(Some(*now));
        let ends = ends.and_then(|first| cluster.depart(first.map(|(_, key)| key), false));
        ends.map_err(RunError::Network)?;
        for index in known.arriving() {
            arrive(&mut cluster, index);
        }
        if !withheld.is_empty() {
            let reserved = withheld.iter().map(|own| reserved(own, waiting)).collect();
            cluster.enable_access(Access::of_reservations(reserved), *now);
        }
        scheduler.schedule(&mut cluster);
        if let Some(error) = cluster.take_unfit() {
            return Err(RunError::Network(error).into());
        }
        if let Some(breach) = cluster.take_breach() {
            return Err(names.error(*breach).into());
        }
        wake = scheduler.wake_at(*now);
        allocation = cluster.memory();
        let mut writer = MemoryWriter::new(&cluster);
        let is_any = scheduler.memory(&mut writer);
        let (numbers, promises) = writer.into_parts();
        remembered = (is_any.then_some(numbers), promises);
        left = cluster.waiting().map(|own| (own.id, cluster.job(own).clone())).collect::<Vec<_>>();
        let held = |(ticket, site, placement, stretch): (Ticket, usize, &Placement, f64)| {
            let (placement, job) = (placement.clone(), cluster.job(ticket).clone());
            HeldNodes { site, placement, since: *now, until: *now, stretch: Some(stretch), job }
        };
        stopped = cluster.suspended_jobs().map(held).collect::<Vec<_>>();
        ran = cluster.running().map(|(_, own)| (own.id, own.clone())).collect::<BTreeMap<_, _>>();
    }
    let Decisions { jobs, mut plan, order } = decisions;
    let index_of = |id: JobId| match jobs.get(id.0 as usize) {
        Some(Who::Waiting(index)) => Some(*index),
        _ => None,
    };
    for (ticket, promise) in remembered.1 {
        let Some(waiting) = index_of(ticket.id) else { continue };
        plan.reserved.retain(|own| own.waiting != waiting);
        let place = match promise.hold {
            Hold::Nodes(placement) => Some((promise.site, placement)),
            Hold::Count(_) => None,
        };
        plan.reserved.push(DecidedReservation { waiting, at: promise.at, place });
    }
    let running = order.iter().filter_map(|id| ran.get(id));
    let running = running.map(|own: &Running| HeldNodes {
        site: own.site,
        placement: own.placement.clone(),
        since: own.start,
        until: own.expected_end,
        stretch: Some(own.stretch),
        job: own.job.clone(),
    });
    plan.wake = wake;
    plan.memory = PlanMemory {
        at: *now,
        running: running.collect(),
        waiting: left.iter().map(|(_, job)| (job.number, job.arrival)).collect(),
        suspended: stopped,
        facility: allocation,
        scheduler: remembered.0,
    };
    Ok(plan)
}

/// Adds an arriving job to the queue; `None` if it does not fit the empty machine.
fn arrive(cluster: &mut Cluster<'_>, job: &Job) -> Option<Ticket> {
    if cluster.arrive(job.clone()) { cluster.arrivals().last().copied() } else { None }
}

fn reserved(own: &WithheldNodes, waiting: &[Job]) -> Reserved {
    let barred = own.from_jobs.as_ref();
    Reserved {
        nodes: (own.site, own.nodes.clone()),
        from: own.from,
        until: own.until,
        users: BTreeSet::new(),
        barred: barred.map(|jobs| jobs.iter().map(|&job| waiting[job].number).collect()),
    }
}

/// Index of a running or waiting job in the state, or of an ended job in the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Running(usize),
    /// A job that ran after the earlier plan and has ended since.
    Ended(usize),
    Waiting(usize),
}

/// Facts about the jobs at the instant of a state, from the state and the policy's memory.
struct Known {
    /// Instant of the plan in the policy's memory, or of the last start after it.
    ///
    /// `None` if the policy has no memory.
    at: Option<Time>,
    /// Running jobs, and jobs that have ended since the earlier plan, in the order of their starts.
    held: Vec<(Who, HeldNodes)>,
    /// Waiting jobs whose place in the queue is known from the earlier plan.
    known: Vec<usize>,
    /// Present index of each job that the earlier plan left waiting. An entry is `None` if the job
    /// has left the queue or arrives anew. The list is empty if the policy's memory has no state of
    /// a scheduler.
    waited: Vec<Option<usize>>,
    arrivals: Vec<Time>,
    /// Whether no job has started since the earlier plan, and the nodes of all ended jobs are free.
    is_same_machine: bool,
}

impl Known {
    fn of(state: &PlanState, facility: &Facility) -> Known {
        let PlanState { running, waiting, memory, .. } = state;
        let arrivals = waiting.iter().map(|job| job.arrival).collect();
        let mut known = Known {
            at: None,
            held: running
                .iter()
                .cloned()
                .enumerate()
                .map(|(n, own)| (Who::Running(n), own))
                .collect(),
            known: Vec::new(),
            waited: Vec::new(),
            arrivals,
            is_same_machine: false,
        };
        if let Some(memory) = memory {
            known.remember(state, memory, facility);
        }
        let before = memory.iter().flat_map(|memory| &memory.running);
        let places: BTreeMap<u64, usize> = before.map(|own| own.job.number).zip(0..).collect();
        let place = |held: &HeldNodes| places.get(&held.job.number).copied().unwrap_or(usize::MAX);
        let mut held: Vec<_> = known.held.drain(..).map(|own| (place(&own.1), own)).collect();
        held.sort_by_key(|(place, (_, held))| (held.since, *place));
        known.held = held.into_iter().map(|(_, own)| own).collect();
        let last = known.held.iter().map(|(_, held)| held.since).max();
        known.at = memory.as_ref().map(|memory| last.map_or(memory.at, |at| at.max(memory.at)));
        known
    }

    fn remember(&mut self, state: &PlanState, memory: &PlanMemory, facility: &Facility) {
        let PlanState { running, waiting, .. } = state;
        let number = |held: &HeldNodes| held.job.number;
        let runs: BTreeMap<u64, &HeldNodes> =
            running.iter().map(|own| (number(own), own)).collect();
        // Of a job that has ended, other jobs may hold nodes by now.
        let mut free = facility.fork();
        for held in running {
            if held.site < free.sites().len() {
                let _ = free.claim(held.site, &held.placement, held.since);
            }
        }
        let ran =
            |own: &&HeldNodes| runs.get(&number(own)).is_some_and(|now| now.since == own.since);
        let before = memory.running.iter().map(|own| ((number(own), own.since), own));
        let before: BTreeMap<(u64, Time), &HeldNodes> = before.collect();
        for (_, held) in &mut self.held {
            if let Some(own) = before.get(&(number(held), held.since)) {
                (held.stretch, held.job) = (own.stretch, own.job.clone());
            }
        }
        let mut ended = memory.running.iter().enumerate().filter(|(_, own)| !ran(own));
        self.is_same_machine = running.len() + ended.clone().count() == memory.running.len();
        for (index, own) in ended.by_ref() {
            let site = free.sites().get(own.site);
            if site.is_some_and(|on| on.site().has_free(&own.placement)) {
                self.held.push((Who::Ended(index), own.clone()));
            } else {
                self.is_same_machine = false;
            }
        }
        if memory.scheduler.is_none() {
            return;
        }
        let places: BTreeMap<u64, usize> =
            memory.waiting.iter().map(|(number, _)| *number).zip(0..).collect();
        self.waited = vec![None; memory.waiting.len()];
        let mut least = 0;
        for (index, job) in waiting.iter().enumerate() {
            match places.get(&job.number) {
                Some(&place) if place >= least => {
                    (self.waited[place], least) = (Some(index), place + 1);
                    self.known.push(index);
                }
                _ => break,
            }
        }
    }

    fn arriving(&self) -> impl Iterator<Item = usize> + use<> {
        self.known.len()..self.arrivals.len()
    }

    fn jobs(&self) -> Vec<Who> {
        let mut all = self.earlier();
        all.extend(self.arriving().map(Who::Waiting));
        all
    }

    /// Jobs that arrived before the instant of the state, in order of arrival.
    fn earlier(&self) -> Vec<Who> {
        let mut held: Vec<(Time, u64, Who)> = self
            .held
            .iter()
            .map(|(who, held)| (held.job.arrival.min(held.since), held.job.number, *who))
            .collect();
        held.sort_unstable();
        let mut held = held.into_iter().peekable();
        let mut all = Vec::new();
        for &index in &self.known {
            while let Some((_, _, who)) = held.next_if(|(at, ..)| *at <= self.arrivals[index]) {
                all.push(who);
            }
            all.push(Who::Waiting(index));
        }
        all.extend(held.map(|(_, _, who)| who));
        all
    }
}

/// Network model for a single decision: only the jobs in `leaving` end, at the instant `at`.
struct Stated {
    at: Time,
    leaving: BTreeSet<JobId>,
    /// The running jobs that end at the instant of the state.
    keys: BTreeSet<RunKey>,
}

impl Network for Stated {
    fn start(
        &mut self,
        _now: Time,
        run: RunKey,
        _work: Work,
        _site: usize,
        _placement: &Placement,
    ) -> Result<(), NetworkError> {
        if self.leaving.remove(&run.id) {
            self.keys.insert(run);
        }
        Ok(())
    }

    fn change(&mut self, _: Time, _: RunKey, _: f64, _: f64, _: usize, _: &Placement) {}

    fn next_finish(&mut self, _by: Option<Time>) -> Result<Option<(Time, RunKey)>, NetworkError> {
        Ok(self.keys.first().map(|key| (self.at, *key)))
    }

    fn finish(&mut self, _now: Time, run: RunKey) -> Option<Box<Messages>> {
        self.keys.remove(&run);
        None
    }
}

#[derive(Default)]
struct Decisions {
    jobs: Vec<Who>,
    plan: PolicyDecision,
    order: Vec<JobId>,
}

impl Decisions {
    fn waiting(&self, id: JobId) -> Option<usize> {
        match self.jobs.get(id.0 as usize) {
            Some(Who::Waiting(index)) => Some(*index),
            _ => None,
        }
    }

    fn running(&self, id: JobId) -> Option<usize> {
        match self.jobs.get(id.0 as usize) {
            Some(Who::Running(index)) => Some(*index),
            _ => None,
        }
    }
}

impl Observer for Decisions {
    fn observe(&mut self, _now: Time, event: &Event<'_>) {
        match event {
            Event::Started(running) => {
                self.order.push(running.id);
                if let Some(waiting) = self.waiting(running.id) {
                    let (site, placement) = (running.site, running.placement.clone());
                    let until = running.expected_end;
                    self.plan.reserved.retain(|own| own.waiting != waiting);
                    self.plan.starts.push(DecidedStart { waiting, site, placement, until });
                }
            }
            Event::Promised(id, at) => {
                if let Some(waiting) = self.waiting(*id) {
                    self.plan.reserved.retain(|own| own.waiting != waiting);
                    let made = DecidedReservation { waiting, at: *at, place: None };
                    self.plan.reserved.push(made);
                }
            }
            Event::Refused(id, _) | Event::TurnedAway(id, _) => {
                self.plan.never.extend(self.waiting(*id));
            }
            Event::Interrupted(running) => {
                self.order.retain(|id| *id != running.id);
                self.plan.stopped.extend(self.running(running.id));
            }
            Event::Moved { running, .. } => {
                let (placement, until) = (running.placement.clone(), running.expected_end);
                if let Some(running) = self.running(running.id) {
                    self.plan.moved.push(DecidedMove { running, placement, until });
                }
            }
            _ => {}
        }
    }
}
