//! Outages and repairs of nodes, and jobs that outages interrupt.
//!
//! Allocators and all other components see a node out of service as a held node.

use std::collections::BTreeMap;

use super::closures::Closure;
use super::ends::{End, OutOfService};
use super::interruptions::Interruptions;
use super::queue::Ticket;
use super::{Cluster, Culprit, Departure};
use crate::alloc::{Claim, Holder};
use crate::failures::{Outages, Step, Timeline, What};
use crate::geometry::{Block, NodeSet, Placement};
use crate::job::{Dims, Job, Time};
use crate::network::RunKey;
use crate::observe::{Event, JobId, Running};
use crate::topology::Node;

/// Maximum number of interruptions of a job. A job with more is assumed never to finish.
pub const MAX_INTERRUPTIONS: u32 = 10_000;

/// Maximum number of idle instants with outages or repairs in a run, and of timer events in vain.
///
/// An instant is idle if no job runs and none will arrive. A timer event is in vain if no job runs,
/// starts or is rejected.
pub const MAX_IDLE_STEPS: u32 = 200_000;

/// Reasons to stop a run with failures because it would never end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsatisfiable {
    /// A job is interrupted too often to ever finish.
    #[error(
        "job {number} was interrupted more than {MAX_INTERRUPTIONS} times: it takes longer than its nodes stay up, and \
         would never end (`failures.checkpoint` saves what it has done)"
    )]
    NeverEnds {
        /// Number of the job in the workload.
        number: u64,
    },
    /// No waiting job can start.
    #[error(
        "{waiting} jobs wait while nothing runs and no job arrives, and in {MAX_IDLE_STEPS} outages and repairs none could \
         start: never are enough nodes in service"
    )]
    NoneStarts {
        /// Number of waiting jobs.
        waiting: usize,
    },
    /// A component broke its contract when it claimed nodes, which is a bug.
    #[error("{0}")]
    Bug(String),
}

pub(super) struct Service {
    timeline: Timeline,
    to_the_end: bool,
    /// Nodes and GPUs that are out of service or draining, and the outages of each.
    nodes: BTreeMap<Unit, Affected>,
    /// Number of draining nodes and GPUs. They leave service when the jobs on them have ended.
    draining: usize,
    pub(super) interruptions: Interruptions,
    /// Planned outages that schedulers may see.
    pub(super) closures: Vec<Closure>,
    /// Whether a node left or re-entered service since the last scheduling pass.
    pub(super) is_disturbed: bool,
    idle: u32,
}

/// A node or GPU: its site, its node, and its number if it is a GPU.
type Unit = (usize, Node, Option<u32>);

#[derive(Default)]
struct Affected {
    /// Number of current outages that interrupt running jobs. `soft` is the number of current
    /// outages that let running jobs end.
    hard: u32,
    soft: u32,
    /// Placement with which the node or GPU is taken out of service during an outage.
    ///
    /// It is `None` while a running job still holds the node or GPU.
    out: Option<Placement>,
    /// Index in the cluster's list of nodes out of service; `None` if no return is expected.
    slot: Option<usize>,
    /// Expected end of the last outage of this node or GPU.
    expected: Time,
}

impl Service {
    /// Creates a state in which no node fails. It only records preempted and suspended jobs.
    pub(super) fn without_outages(kill_at_estimate: bool) -> Service {
        let timeline = Timeline::default();
        Service::new(Outages { timeline, to_the_end: false, checkpoint: None }, kill_at_estimate)
    }

    fn new(outages: Outages, kill_at_estimate: bool) -> Service {
        let Outages { timeline, to_the_end, checkpoint } = outages;
        Service {
            timeline,
            to_the_end,
            nodes: BTreeMap::new(),
            draining: 0,
            interruptions: Interruptions::new(checkpoint, kill_at_estimate),
            closures: Vec::new(),
            is_disturbed: false,
            idle: 0,
        }
    }

    pub(super) fn starts(&mut self, running: &mut Running) {
        self.idle = 0;
        self.interruptions.starts(running);
    }

    /// Drops the history of a job that leaves the queue. Returns the job as submitted.
    pub(super) fn turns_away(&mut self, id: JobId, job: Job) -> Job {
        self.idle = 0;
        self.interruptions.forget(id).unwrap_or(job)
    }
}

impl Cluster<'_> {
    /// Installs the outages of the run. If `looks_ahead` is set, schedulers can see the planned
    /// ones.
    #[cold]
    pub(crate) fn enable_outages(&mut self, outages: Outages, now: Time, looks_ahead: bool) {
        let mut service = Service::new(outages, self.kill_at_estimate);
        service.timeline.begin(now);
        if looks_ahead {
            let site = |site: usize| self.facility.sites()[site].site();
            let planned = service.timeline.planned().filter(|planned| planned.until > now);
            service.closures =
                planned.map(|planned| Closure::new(&planned, site(planned.site).grid())).collect();
            service.closures.sort_by_key(|closure| closure.from);
        }
        self.service = Some(Box::new(service));
    }

    /// Whether nodes left or re-entered service since the last scheduling pass. If so, reservations
    /// must be renewed.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        self.service.as_ref().is_some_and(|service| service.is_disturbed)
    }

    pub(crate) fn has_outages(&self) -> bool {
        self.service.is_some() || self.gate.is_some()
    }

    /// Next instant of an outage, a repair, or the begin or end of a reservation of nodes.
    ///
    /// Outages and repairs count if a job runs or will arrive, or if one waits while nodes are out
    /// of service. Begins and ends of reservations count if a job waits. `None` if no instant
    /// counts.
    #[inline]
    pub(crate) fn next_outage(&self, more_arrive: bool) -> Option<Time> {
        let step =
            self.service.as_ref().and_then(|service| self.next_step_of(service, more_arrive));
        let edge = self.gate.as_ref().and_then(|_| self.next_edge());
        step.into_iter().chain(edge).min()
    }

    #[cold]
    pub(crate) fn clear_disturbance(&mut self) {
        if let Some(service) = &mut self.service {
            service.is_disturbed = false;
        }
        self.seen.is_edge = false;
    }

    #[cold]
    fn next_step_of(&self, service: &Service, more_arrive: bool) -> Option<Time> {
        let may_start = self.queue.len() > 0 && !self.out.is_empty();
        if more_arrive || !self.running.is_empty() || may_start {
            service.timeline.next()
        } else {
            None
        }
    }

    /// Applies what is due now: begins and ends of reservations, repairs and failures. Returns
    /// whether anything was due.
    #[cold]
    pub(crate) fn apply_due_outages(&mut self, more_arrive: bool) -> Result<bool, Unsatisfiable> {
        let is_edge = self.pass_edge();
        let Some(mut service) = self.service.take() else { return Ok(is_edge) };
        let changed = self.steps(&mut service);
        if matches!(changed, Ok(true)) {
            service.is_disturbed = true;
            self.count_free();
            let Service { closures, nodes, .. } = &mut *service;
            let now = self.now;
            closures.retain(|closure| {
                let is_out = |node: &Node| {
                    let affected = nodes.get(&(closure.site, *node, None));
                    affected.is_some_and(|affected| affected.out.is_some())
                };
                closure.until > now
                    && !(closure.from <= now && closure.nodes.iter().all(|node| is_out(&node)))
            });
            if self.running.is_empty() && !more_arrive {
                service.idle += 1;
            }
        }
        let is_idle = service.idle > MAX_IDLE_STEPS;
        self.service = Some(service);
        if is_idle {
            return Err(Unsatisfiable::NoneStarts { waiting: self.queue.len() });
        }
        changed.map(|changed| changed || is_edge)
    }

    fn steps(&mut self, service: &mut Service) -> Result<bool, Unsatisfiable> {
        let mut changed = false;
        while let Some(step) = service.timeline.step(self.now) {
            changed = true;
            match step.what {
                What::Begin => self.begin_outage(service, step)?,
                What::Overdue => {
                    for node in step.nodes {
                        self.expect_back(service, (step.site, node, step.gpu), step.expected);
                    }
                }
                What::End => {
                    for node in step.nodes {
                        let unit = (step.site, node, step.gpu);
                        self.end_outage(service, unit, step.drains)?;
                    }
                }
            }
        }
        Ok(changed)
    }

    fn begin_outage(&mut self, service: &mut Service, step: Step) -> Result<(), Unsatisfiable> {
        let Step { site, nodes, gpu, expected, drains, .. } = step;
        for &node in &nodes {
            let affected = service.nodes.entry((site, node, gpu)).or_default();
            if drains {
                service.draining += usize::from(affected.soft == 0 && affected.out.is_none());
                affected.soft += 1;
            } else {
                affected.hard += 1;
            }
        }
        let mut back: Vec<Unit> = nodes.iter().map(|&node| (site, node, gpu)).collect();
        let hit = if drains { Vec::new() } else { self.jobs_on(site, &nodes, gpu) };
        let mut interrupted = Vec::new();
        for key in hit {
            let mut interruptions = 0;
            let ran = self.stop(key, |ran, setup, now| {
                interruptions = service.interruptions.interrupts(ran, setup, now);
            });
            if interruptions > MAX_INTERRUPTIONS {
                return Err(Unsatisfiable::NeverEnds { number: ran.job.number });
            }
            for node in ran.placement.nodes(self.site(site).grid()) {
                back.extend(affected_on(service, (site, node)));
            }
            interrupted.push(ran);
        }
        back.sort_unstable();
        back.dedup();
        for node in nodes {
            self.expect_back(service, (site, node, gpu), expected);
        }
        for unit in back {
            self.take_out(service, unit)?;
        }
        for ran in interrupted {
            self.requeue(service, &ran, service.to_the_end)?;
        }
        Ok(())
    }

    /// The jobs that hold some of the given nodes, in order of arrival. If `gpu` is given, a job
    /// must also hold part of the GPU with this number on one of the nodes.
    fn jobs_on(&self, site: usize, nodes: &[Node], gpu: Option<u32>) -> Vec<RunKey> {
        let grid = self.site(site).grid();
        let mut set = NodeSet::empty(grid.nodes());
        nodes.iter().for_each(|&node| set.insert(node));
        let holds = |ran: &Running| {
            ran.site == site
                && !ran.placement.is_clear_of(&set, grid)
                && gpu.is_none_or(|gpu| self.holds_gpu(ran, nodes, gpu))
        };
        let mut hit: Vec<RunKey> = self
            .running
            .iter()
            .filter(|(_, ran)| holds(ran))
            .map(|(slot, ran)| RunKey { id: ran.id, slot: slot as u32 })
            .collect();
        hit.sort_unstable();
        hit
    }

    fn holds_gpu(&self, ran: &Running, nodes: &[Node], gpu: u32) -> bool {
        let Some(types) = self.site(ran.site).topology().types() else { return false };
        let parts = ran.placement.parts.as_ref().map_or(&[][..], |parts| &parts.parts);
        parts.iter().filter(|part| nodes.contains(&part.node)).any(|part| {
            let its = types.of(part.node).gpus_from() + gpu as usize;
            part.cells.iter().any(|(cell, _)| *cell as usize == its)
        })
    }

    /// Stops a running job and releases its nodes. Calls `notify` to record the interruption.
    pub(super) fn stop(
        &mut self,
        key: RunKey,
        notify: impl FnOnce(&mut Running, f64, Time),
    ) -> Box<Running> {
        let mut ran = self.running.remove(key.slot as usize);
        self.network.stop(self.now, key);
        self.facility.counts.running -= 1;
        if let Some(ends) = self.ends.get_mut() {
            ends.remove(&End::of(key.slot as usize, &ran));
        }
        let setup =
            self.facility.sites()[ran.site].setup_time(&ran.placement) + self.woke_for(ran.id);
        self.give_back(&ran);
        notify(&mut ran, setup, self.now);
        self.observer.observe(self.now, &Event::Interrupted(&ran));
        self.departures.push(Departure { ran: ran.clone() });
        ran
    }

    pub(super) fn requeue(
        &mut self,
        service: &mut Service,
        ran: &Running,
        to_the_end: bool,
    ) -> Result<Ticket, Unsatisfiable> {
        let job = service.interruptions.waits_again(ran);
        let Some((fewest, form)) = self.need(&job) else {
            return Err(Unsatisfiable::Bug("a job that ran fits nowhere".to_owned()));
        };
        self.facility.counts.waiting += 1;
        let ticket = self.queue.put_back(ran.id, job, fewest, to_the_end, form);
        self.arrivals.push(ticket);
        Ok(ticket)
    }

    /// Takes a node or GPU out of service. Does nothing if it is already out, or if a job still
    /// runs on it.
    fn take_out(&mut self, service: &mut Service, at: Unit) -> Result<(), Unsatisfiable> {
        let (site, node, gpu) = at;
        let Some(affected) = service.nodes.get_mut(&at) else { return Ok(()) };
        if affected.out.is_some() {
            return Ok(());
        }
        let Some(placement) = self.if_unused(at) else { return Ok(()) };
        if affected.soft > 0 {
            service.draining -= 1;
        }
        affected.out = Some(placement.clone());
        self.facility
            .site_mut(site)
            .claim(&placement, Claim::new(self.now, Holder::Outage))
            .map_err(|error| Unsatisfiable::Bug(error.to_string()))?;
        self.switch_off(site, &placement);
        self.changes += 1;
        self.state.down += u64::from(placement.len());
        let event =
            gpu.map_or(Event::Down { site, node }, |gpu| Event::GpuDown { site, node, gpu });
        self.observer.observe(self.now, &event);
        let expected = affected.expected;
        self.expect_back(service, at, expected);
        Ok(())
    }

    /// Postpones the expected return of a node or GPU to `expected`, if that is later.
    fn expect_back(&mut self, service: &mut Service, at: Unit, expected: Time) {
        let Some(affected) = service.nodes.get_mut(&at) else { return };
        affected.expected = affected.expected.max(expected);
        let Some(placement) = affected.out.clone() else { return };
        let expected = affected.expected;
        // A postponed return does not begin a new outage.
        let since = affected.slot.take().map_or(self.now, |slot| self.is_back(slot).since);
        // Nobody plans with a node that never returns.
        if !expected.units().is_finite() {
            return;
        }
        let out = OutOfService { site: at.0, placement, since, until: expected };
        let slot = self.out.vacant_key();
        if let Some(ends) = self.ends.get_mut() {
            ends.insert(End::of_outage(slot, &out));
        }
        self.out.insert(out);
        affected.slot = Some(slot);
    }

    fn is_back(&mut self, slot: usize) -> OutOfService {
        let out = self.out.remove(slot);
        if let Some(ends) = self.ends.get_mut() {
            ends.remove(&End::of_outage(slot, &out));
        }
        out
    }

    fn end_outage(
        &mut self,
        service: &mut Service,
        at: Unit,
        drains: bool,
    ) -> Result<(), Unsatisfiable> {
        let Some(affected) = service.nodes.get_mut(&at) else { return Ok(()) };
        if drains {
            affected.soft -= 1;
            service.draining -= usize::from(affected.soft == 0 && affected.out.is_none());
        } else {
            affected.hard -= 1;
        }
        if affected.hard + affected.soft > 0 {
            return Ok(());
        }
        let Some(Affected { out, slot, .. }) = service.nodes.remove(&at) else { return Ok(()) };
        if let Some(slot) = slot {
            self.is_back(slot);
        }
        if let Some(placement) = out {
            let (site, node, gpu) = at;
            self.facility.release(site, &placement);
            self.switch_on(site, &placement);
            self.changes += 1;
            self.releases += 1;
            self.state.down -= u64::from(placement.len());
            let event =
                gpu.map_or(Event::Up { site, node }, |gpu| Event::GpuUp { site, node, gpu });
            self.observer.observe(self.now, &event);
            // A GPU may have failed while its node was out of service.
            for unit in affected_on(service, (site, node)) {
                self.take_out(service, unit)?;
            }
        }
        Ok(())
    }

    #[cold]
    pub(super) fn take_drained(&mut self) {
        let Some(mut service) = self.service.take_if(|service| service.draining > 0) else {
            return;
        };
        let waits = |(_, affected): &(&Unit, &Affected)| affected.out.is_none();
        let drained: Vec<Unit> = service.nodes.iter().filter(waits).map(|(at, _)| *at).collect();
        let before = self.changes;
        for at in drained {
            if let Err(error) = self.take_out(&mut service, at) {
                self.note(Culprit::Meshwork, None, error.to_string());
            }
        }
        service.is_disturbed |= self.changes > before;
        self.service = Some(service);
    }

    /// Placement that consists of an unused node or GPU. `None` if the node or GPU is out of
    /// service, or if a job holds part of it.
    fn if_unused(&self, (site, node, gpu): Unit) -> Option<Placement> {
        let site = self.site(site);
        let dimensions = site.grid().dimensions();
        let alone = Block { base: node, sides: Dims::from_elem(1, dimensions) }.into();
        let Some(amounts) = site.amounts() else {
            return site.free().contains(node).then_some(alone);
        };
        let parts = match gpu {
            None => amounts.is_idle(node).then(|| amounts.rest(node)),
            Some(gpu) => amounts.whole_gpu(node, gpu),
        }?;
        Some(Placement { parts: Some(Box::new(parts)), ..alone })
    }
}

/// Units that have an outage now, among a node and its GPUs.
fn affected_on(service: &Service, (site, node): (usize, Node)) -> Vec<Unit> {
    let units = service.nodes.range((site, node, None)..=(site, node, Some(u32::MAX)));
    units.map(|(unit, _)| *unit).collect()
}
