//! Reasons why jobs wait, as they change over the course of a run.
//!
//! A reason comes from an allocator, which is asked whether a request could start. The answer
//! depends only on the request, and often stays the same for a while. So a recording has only the
//! changes of the answer for each distinct request.

use std::collections::BTreeMap;

use meshwork::facility::Facility;
use meshwork::job::{Cause, Job, Request, Time};
use meshwork::machine::Placement;
use meshwork::observe::JobId;
use meshwork::scenario::Scenario;
use meshwork::topology::Node;

use crate::watch::{EventKind, RunEvent, single};

/// Maximum number of times that allocators are asked whether a request could start. With more
/// questions, making the page would take longer than the run.
const MOST_QUESTIONS: u32 = 200_000;

/// Answer of an allocator to the request of a waiting job. 0 means too few free nodes, 1 enough
/// nodes but not in the required shape, and 2 that the request could start.
pub(super) type Answer = u8;

/// Copy of a run's machine that computes why each waiting job cannot start. It applies every event
/// of the run.
pub(super) struct Answers {
    facility: Facility,
    held_up: Cause,
    running: BTreeMap<JobId, (usize, Placement)>,
    /// Running jobs, kept so that an interrupted one can return to the queue.
    jobs: BTreeMap<JobId, Job>,
    /// New placements of jobs that move at the current instant. They take effect together, once all
    /// are known.
    moved: BTreeMap<JobId, (usize, Placement)>,
    waiting: BTreeMap<JobId, Job>,
    /// Distinct requests of waiting jobs, each with the number of these jobs and one example.
    alike: BTreeMap<Request, (u32, Job)>,
    told: BTreeMap<Request, Answer>,
    questions_left: u32,
}

impl Answers {
    /// Makes a copy of the scenario's machine as it is before the run. `None` if the machine cannot
    /// be built.
    pub(super) fn of(scenario: &Scenario, replication: u64) -> Option<Answers> {
        let setup = scenario.setup_ideal(replication).ok()?;
        Some(Answers {
            held_up: if setup.scheduler.reserves() { Cause::Reserved } else { Cause::Priority },
            facility: setup.facility,
            running: BTreeMap::new(),
            jobs: BTreeMap::new(),
            moved: BTreeMap::new(),
            waiting: BTreeMap::new(),
            alike: BTreeMap::new(),
            told: BTreeMap::new(),
            questions_left: MOST_QUESTIONS,
        })
    }

    pub(super) fn held_up(&self) -> Cause {
        self.held_up
    }

    pub(super) fn is_silent(&self) -> bool {
        self.questions_left == 0
    }

    pub(super) fn apply(&mut self, happening: &RunEvent) {
        let RunEvent { at, id, what } = happening;
        if !matches!(what, EventKind::Moved { .. }) {
            self.have_moved(*at);
        }
        match what {
            EventKind::Arrived(job) => {
                self.facility.arrived(job);
                self.joins_queue(*id, job);
            }
            EventKind::Refused(_) => {}
            EventKind::TurnedAway => drop(self.leaves_queue(*id)),
            EventKind::Started { site, placement } => {
                if let Some(job) = self.leaves_queue(*id) {
                    self.jobs.insert(*id, job);
                }
                // Claimed nodes are free in this copy too.
                drop(self.facility.claim(*site, placement, *at));
                self.running.insert(*id, (*site, placement.clone()));
            }
            EventKind::Moved { placement } => {
                let Some((site, from)) = self.running.get_mut(id) else { return };
                if self.moved.insert(*id, (*site, placement.clone())).is_none() {
                    self.facility.release(*site, from);
                }
                *from = placement.clone();
            }
            EventKind::Finished | EventKind::Interrupted => {
                if let Some((site, placement)) = self.running.remove(id) {
                    self.facility.release(site, &placement);
                }
                let job = self.jobs.remove(id);
                if let (EventKind::Interrupted, Some(job)) = (what, job) {
                    self.joins_queue(*id, &job);
                }
            }
            EventKind::Down { site, node } => {
                drop(self.facility.claim(*site, &self.alone(*site, *node), *at));
            }
            EventKind::Up { site, node } => {
                let alone = self.alone(*site, *node);
                self.facility.release(*site, &alone);
            }
        }
        self.facility.counts.running = self.running.len() as u64;
        self.facility.counts.waiting = self.waiting.len() as u64;
    }

    fn alone(&self, site: usize, node: Node) -> Placement {
        single(self.facility.sites()[site].site().grid(), node)
    }

    fn joins_queue(&mut self, id: JobId, job: &Job) {
        self.alike.entry(job.request.clone()).or_insert_with(|| (0, job.clone())).0 += 1;
        self.waiting.insert(id, job.clone());
    }

    fn leaves_queue(&mut self, id: JobId) -> Option<Job> {
        let job = self.waiting.remove(&id)?;
        if let Some((count, _)) = self.alike.get_mut(&job.request) {
            *count -= 1;
            if *count == 0 {
                self.alike.remove(&job.request);
            }
        }
        Some(job)
    }

    fn have_moved(&mut self, now: Time) {
        for (_, (site, placement)) in std::mem::take(&mut self.moved) {
            drop(self.facility.claim(site, &placement, now));
        }
    }

    /// Requests of waiting jobs for which the allocator's answer has changed since the last call.
    ///
    /// If the limit on the number of questions is reached, some changes are missing.
    pub(super) fn changes(&mut self, now: Time) -> Vec<(Request, Answer)> {
        self.have_moved(now);
        let mut changes = Vec::new();
        for (request, (_, job)) in &self.alike {
            if self.questions_left == 0 {
                break;
            }
            self.questions_left -= 1;
            let answer = match self.facility.lacks(job, now) {
                Some(Cause::Nodes) => 0,
                Some(_) => 1,
                None => 2,
            };
            if self.told.insert(request.clone(), answer) != Some(answer) {
                changes.push((request.clone(), answer));
            }
        }
        changes
    }
}
