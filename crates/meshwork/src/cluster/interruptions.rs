//! Histories of interrupted jobs: their remaining work, and where they must resume.

use std::collections::BTreeMap;

use super::Cluster;
use super::queue::Ticket;
use super::reservation::{Hold, Reservation};
use crate::failures::{Checkpoint, Saved};
use crate::job::{Job, Time};
use crate::machine::Placement;
use crate::observe::{JobId, Running, Wear};
use crate::offer::Proposal;

pub(super) struct Interruptions {
    checkpoint: Option<Checkpoint>,
    kill_at_estimate: bool,
    of: BTreeMap<JobId, JobHistory>,
}

struct JobHistory {
    job: Job,
    /// Work that earlier runs did and that is not lost, as a run time without slowdown.
    saved: f64,
    interruptions: u32,
    /// Time during which earlier, interrupted runs held processors.
    earlier: f64,
    suspended: Option<Suspended>,
}

#[derive(Clone, Debug)]
pub(super) struct Suspended {
    pub(super) site: usize,
    pub(super) placement: Placement,
    pub(super) stretch: f64,
}

impl Suspended {
    pub(super) fn proposal(&self) -> Proposal {
        let Suspended { site, ref placement, stretch } = *self;
        Proposal { site, placement: placement.clone(), stretch }
    }
}

impl JobHistory {
    fn of(job: &Job) -> JobHistory {
        JobHistory { job: job.clone(), saved: 0.0, interruptions: 0, earlier: 0.0, suspended: None }
    }

    /// Remaining work of the job. If jobs are killed at their estimates, work beyond the estimate
    /// is left out.
    fn left(&self, kill_at_estimate: bool) -> f64 {
        let Job { runtime, estimate, .. } = self.job;
        let whole = if kill_at_estimate { runtime.min(estimate) } else { runtime };
        (whole - self.saved).max(0.0)
    }

    /// The job as it enters the queue again.
    ///
    /// The run time and estimate are the remaining ones, and include time for checkpoints.
    fn waits_as(&self, checkpoint: Option<&Checkpoint>) -> Job {
        let nodes = self.job.request.nodes();
        let left = |whole: f64| {
            let left = (whole - self.saved).max(0.0);
            left + checkpoint.map_or(0.0, |checkpoint| checkpoint.overhead(left, nodes))
        };
        Job {
            runtime: left(self.job.runtime),
            estimate: left(self.job.estimate),
            ..self.job.clone()
        }
    }
}

impl Interruptions {
    pub(super) fn new(checkpoint: Option<Checkpoint>, kill_at_estimate: bool) -> Interruptions {
        Interruptions { checkpoint, kill_at_estimate, of: BTreeMap::new() }
    }

    /// Begins the history of an arriving job that writes checkpoints. Adds the time for checkpoints
    /// to its run time and estimate.
    pub(super) fn arrives(&mut self, id: JobId, job: Job) -> Job {
        let Some(checkpoint) = &self.checkpoint else { return job };
        let history = self.of.entry(id).or_insert(JobHistory::of(&job));
        history.waits_as(Some(checkpoint))
    }

    /// Completes the record of a starting job that was interrupted earlier.
    ///
    /// The record gets the job as submitted, not as requeued, and the job's interruptions so far.
    pub(super) fn starts(&mut self, running: &mut Running) {
        let Some(history) = self.of.get_mut(&running.id) else { return };
        history.suspended = None;
        let JobHistory { ref job, interruptions, earlier, .. } = *history;
        running.job.clone_from(job);
        let wear = Wear { interruptions, earlier, lost: 0.0, overhead: 0.0 };
        running.wear = Some(Box::new(wear));
    }

    /// Drops the history of a job that left the queue. Returns the job as submitted.
    pub(super) fn forget(&mut self, id: JobId) -> Option<Job> {
        self.of.remove(&id).map(|history| history.job)
    }

    /// Drops the history of a finished job, and records the time that the job spent on checkpoints.
    #[cold]
    pub(super) fn ends(&mut self, ran: &mut Running) {
        let Some(history) = self.of.remove(&ran.id) else { return };
        let left = history.left(self.kill_at_estimate);
        let overhead = self.checkpoint.map_or(0.0, |each| each.overhead(left, ran.asked));
        if let Some(wear) = &mut ran.wear {
            wear.overhead = overhead * ran.stretch;
        }
    }

    /// Records an interruption of a job. Returns the job's number of interruptions so far.
    ///
    /// The work since its last checkpoint is lost. `setup` is the time at the start of the run in
    /// which links were switched or nodes woke.
    pub(super) fn interrupts(&mut self, ran: &mut Running, setup: f64, now: Time) -> u32 {
        let kill_at_estimate = self.kill_at_estimate;
        let checkpoint = self.checkpoint;
        let history = self.of.entry(ran.id).or_insert_with(|| JobHistory::of(&ran.job));
        let left = history.left(kill_at_estimate);
        let saved = match &checkpoint {
            Some(each) if ran.stretch > 0.0 => each.saved(left, done(ran, setup, now), ran.asked),
            _ => Saved { work: 0.0, overhead: 0.0 },
        };
        history.stops(ran, saved, now)
    }

    /// Records that a job was suspended. No work is lost, only the setup time at the start of its
    /// run.
    pub(super) fn suspends(&mut self, ran: &mut Running, setup: f64, now: Time) {
        let history = self.of.entry(ran.id).or_insert_with(|| JobHistory::of(&ran.job));
        let work = if ran.stretch > 0.0 { done(ran, setup, now) } else { 0.0 };
        history.stops(ran, Saved { work, overhead: 0.0 }, now);
        let Running { site, ref placement, stretch, .. } = *ran;
        history.suspended = Some(Suspended { site, placement: placement.clone(), stretch });
    }

    /// Records that a waiting job was already suspended before the run began.
    pub(super) fn adopts(&mut self, id: JobId, job: &Job, suspended: Suspended) {
        let suspended = Some(suspended);
        self.of.insert(id, JobHistory { suspended, ..JobHistory::of(job) });
    }

    pub(super) fn waits_again(&mut self, ran: &Running) -> Job {
        let history = self.of.entry(ran.id).or_insert_with(|| JobHistory::of(&ran.job));
        history.waits_as(self.checkpoint.as_ref())
    }

    pub(super) fn suspended(&self, id: JobId) -> Option<&Suspended> {
        self.of.get(&id)?.suspended.as_ref()
    }
}

impl Cluster<'_> {
    pub(super) fn suspended(&self, ticket: Ticket) -> Option<&Suspended> {
        self.service.as_ref()?.interruptions.suspended(ticket.id)
    }

    /// The earliest reservation for a suspended job, on the nodes on which it must resume. `None`
    /// if the job is not suspended.
    pub(super) fn earliest_again(&self, ticket: Ticket) -> Option<Reservation> {
        let Suspended { site, placement, stretch } = self.suspended(ticket)?.clone();
        let span = self.queue.job(ticket).estimate * stretch;
        let hold = Hold::Nodes(placement);
        let there = Reservation { at: self.now, span, stretch, site, hold };
        Some(there.moved_to(self.expected_free(ticket, &there)))
    }
}

/// Work that a run has done so far, including checkpoints, as a run time without slowdown.
fn done(ran: &Running, setup: f64, now: Time) -> f64 {
    ((now - ran.start) - setup).max(0.0) / ran.stretch
}

impl JobHistory {
    /// Records that a run was stopped, and what it saved. Returns the job's number of interruptions
    /// so far.
    fn stops(&mut self, ran: &mut Running, saved: Saved, now: Time) -> u32 {
        let (span, stretch) = (now - ran.start, ran.stretch);
        ran.wear = Some(Box::new(Wear {
            interruptions: self.interruptions + 1,
            earlier: self.earlier,
            lost: (span - (saved.work + saved.overhead) * stretch).max(0.0),
            overhead: saved.overhead * stretch,
        }));
        self.interruptions += 1;
        self.earlier += span;
        self.saved += saved.work;
        self.interruptions
    }
}
