//! What has become of jobs that were interrupted, or write checkpoints: what is left of them, and where they go on.

use std::collections::BTreeMap;

use super::Cluster;
use super::queue::Ticket;
use super::reservation::{Hold, Reservation};
use crate::failures::{Checkpoint, Saved};
use crate::job::{Job, Time};
use crate::machine::Placement;
use crate::observe::{JobId, Running, Wear};
use crate::offer::Proposal;

/// What has become of the jobs that an interruption or a checkpoint has touched.
pub(super) struct Careers {
    checkpoint: Option<Checkpoint>,
    kill_at_estimate: bool,
    of: BTreeMap<JobId, Career>,
}

/// What has become of a job so far.
struct Career {
    job: Job,
    /// Work that checkpoints hold, or that was done before the job was suspended.
    saved: f64,
    interruptions: u32,
    /// Time on processors.
    earlier: f64,
    /// Where alone it goes on, if it is suspended.
    suspended: Option<Suspended>,
}

/// Where a suspended job goes on.
#[derive(Clone, Debug)]
pub(super) struct Suspended {
    pub(super) site: usize,
    pub(super) placement: Placement,
    pub(super) stretch: f64,
}

impl Suspended {
    /// As a place to start at.
    pub(super) fn proposal(&self) -> Proposal {
        let Suspended { site, ref placement, stretch } = *self;
        Proposal { site, placement: placement.clone(), stretch }
    }
}

impl Career {
    fn of(job: &Job) -> Career {
        Career { job: job.clone(), saved: 0.0, interruptions: 0, earlier: 0.0, suspended: None }
    }

    /// Work that is left, if it is ended at its estimate or not.
    fn left(&self, kill_at_estimate: bool) -> f64 {
        let Job { runtime, estimate, .. } = self.job;
        let whole = if kill_at_estimate { runtime.min(estimate) } else { runtime };
        (whole - self.saved).max(0.0)
    }

    /// The job as it waits: with what is left of it, checkpoints included.
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

impl Careers {
    pub(super) fn new(checkpoint: Option<Checkpoint>, kill_at_estimate: bool) -> Careers {
        Careers { checkpoint, kill_at_estimate, of: BTreeMap::new() }
    }

    /// A job has arrived: as it is to wait.
    pub(super) fn arrives(&mut self, id: JobId, job: Job) -> Job {
        let Some(checkpoint) = &self.checkpoint else { return job };
        let career = self.of.entry(id).or_insert(Career::of(&job));
        career.waits_as(Some(checkpoint))
    }

    /// A job starts: it is as its workload gave it, and knows what it has been through.
    pub(super) fn starts(&mut self, running: &mut Running) {
        let Some(career) = self.of.get_mut(&running.id) else { return };
        career.suspended = None;
        let Career { ref job, interruptions, earlier, .. } = *career;
        running.job.clone_from(job);
        let wear = Wear { interruptions, earlier, lost: 0.0, overhead: 0.0 };
        running.wear = Some(Box::new(wear));
    }

    /// A job has left the queue for good: as its workload gave it, where that had been kept.
    pub(super) fn forget(&mut self, id: JobId) -> Option<Job> {
        self.of.remove(&id).map(|career| career.job)
    }

    /// A job has ended.
    #[cold]
    pub(super) fn ends(&mut self, ran: &mut Running) {
        let Some(career) = self.of.remove(&ran.id) else { return };
        let left = career.left(self.kill_at_estimate);
        let overhead = self.checkpoint.map_or(0.0, |each| each.overhead(left, ran.asked));
        if let Some(wear) = &mut ran.wear {
            wear.overhead = overhead * ran.stretch;
        }
    }

    /// A job was interrupted, of whose run the first part, so long, was needed to wire its processors or to wake them: what it has done
    /// since its last checkpoint is lost. Returns how often it has been interrupted.
    pub(super) fn interrupts(&mut self, ran: &mut Running, setup: f64, now: Time) -> u32 {
        let kill_at_estimate = self.kill_at_estimate;
        let checkpoint = self.checkpoint;
        let career = self.of.entry(ran.id).or_insert_with(|| Career::of(&ran.job));
        let left = career.left(kill_at_estimate);
        let saved = match &checkpoint {
            Some(each) if ran.stretch > 0.0 => each.saved(left, done(ran, setup, now), ran.asked),
            _ => Saved { work: 0.0, overhead: 0.0 },
        };
        career.stops(ran, saved, now)
    }

    /// A job is suspended: nothing is lost but what it took to wire its processors, and it goes on where it was.
    pub(super) fn suspends(&mut self, ran: &mut Running, setup: f64, now: Time) {
        let career = self.of.entry(ran.id).or_insert_with(|| Career::of(&ran.job));
        let work = if ran.stretch > 0.0 { done(ran, setup, now) } else { 0.0 };
        career.stops(ran, Saved { work, overhead: 0.0 }, now);
        let Running { site, ref placement, stretch, .. } = *ran;
        career.suspended = Some(Suspended { site, placement: placement.clone(), stretch });
    }

    /// The job as it waits after it was stopped.
    pub(super) fn waits_again(&mut self, ran: &Running) -> Job {
        let career = self.of.entry(ran.id).or_insert_with(|| Career::of(&ran.job));
        career.waits_as(self.checkpoint.as_ref())
    }

    /// Where alone a waiting job goes on, if it is suspended.
    pub(super) fn suspended(&self, id: JobId) -> Option<&Suspended> {
        self.of.get(&id)?.suspended.as_ref()
    }
}

impl Cluster<'_> {
    /// Where alone a waiting job goes on, if it is suspended.
    pub(super) fn suspended(&self, ticket: Ticket) -> Option<&Suspended> {
        self.service.as_ref()?.careers.suspended(ticket.id)
    }

    /// When a suspended job may go on where it was, if the jobs that run there end at their estimates.
    pub(super) fn earliest_again(&self, ticket: Ticket) -> Option<Reservation> {
        let Suspended { site, placement, stretch } = self.suspended(ticket)?.clone();
        let span = self.queue.job(ticket).estimate * stretch;
        let hold = Hold::Nodes(placement);
        let there = Reservation { at: self.now, span, stretch, site, hold };
        Some(there.moved_to(self.expected_free(ticket, &there)))
    }
}

/// Work, checkpoints included, that a run has done by now.
fn done(ran: &Running, setup: f64, now: Time) -> f64 {
    ((now - ran.start) - setup).max(0.0) / ran.stretch
}

impl Career {
    /// The run ends before the job does, and so much is saved of it. Returns how often that has happened.
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
