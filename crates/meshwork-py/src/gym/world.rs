//! What all environments share: jobs that arrive, wait, run and end.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use meshwork::job::{Job, Time};
use meshwork::machine::Placement;
use meshwork::workload::{Submission, Submissions};

use super::Script;

/// A job that runs: when it ends, and its place in the order of arrival, by which those that end together are told
/// apart.
#[derive(PartialEq, Eq)]
pub(super) struct Running {
    end: Time,
    arrival: u64,
    pub(super) start: Time,
    /// When it would end by its estimate.
    pub(super) expected_end: Time,
    pub(super) placement: Placement,
}

impl Ord for Running {
    fn cmp(&self, other: &Running) -> std::cmp::Ordering {
        (self.end, self.arrival).cmp(&(other.end, other.arrival))
    }
}

impl PartialOrd for Running {
    fn partial_cmp(&self, other: &Running) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A job that waits, and its place in the order of arrival.
pub(super) struct Waiting {
    pub(super) job: Job,
    arrival: u64,
}

/// The jobs of an episode and its clock.
pub(super) struct World {
    script: Script,
    jobs: Submissions,
    next: Option<Job>,
    pub(super) queue: VecDeque<Waiting>,
    running: BinaryHeap<Reverse<Running>>,
    pub(super) now: Time,
    arrived: u64,
    /// How many jobs of the episode have been taken from its workload.
    taken: u64,
    speed: f64,
    waited: f64,
}

impl World {
    /// Before the first episode.
    pub(super) fn new(script: Script, speed: f64) -> World {
        World {
            script,
            jobs: Box::new(std::iter::empty()),
            next: None,
            queue: VecDeque::new(),
            running: BinaryHeap::new(),
            now: Time::ZERO,
            arrived: 0,
            taken: 0,
            speed,
            waited: 0.0,
        }
    }

    /// Begins an episode, at the first arrival.
    pub(super) fn reset(
        &mut self,
        episode: u64,
        fits: impl FnMut(&Job) -> bool,
    ) -> Result<(), String> {
        let Script { scenario, files, .. } = &self.script;
        let jobs = scenario.jobs(episode, files.as_ref()).map_err(|error| error.to_string())?;
        *self = World { jobs, ..World::new(self.script.clone(), self.speed) };
        self.pull()?;
        self.go_on(fits, &mut |_| {})
    }

    /// The next job of the workload.
    fn pull(&mut self) -> Result<(), String> {
        if self.taken >= self.script.jobs {
            self.next = None;
            return Ok(());
        }
        self.taken += 1;
        self.next = loop {
            match self.jobs.next().transpose().map_err(|error| error.to_string())? {
                Some(Submission::Job(job)) => break Some(job),
                Some(Submission::Unusable(_)) => {}
                Some(Submission::Following(_)) => {
                    return Err("`workload.dependencies` is given, but the jobs of an environment follow no others".to_owned());
                }
                None => break None,
            }
        };
        Ok(())
    }

    /// Whether no decision is left: all jobs of the episode have started.
    pub(super) fn is_over(&self) -> bool {
        self.queue.is_empty() && self.next.is_none()
    }

    /// The jobs that run, in no particular order.
    pub(super) fn running(&self) -> impl Iterator<Item = &Running> {
        self.running.iter().map(|Reverse(running)| running)
    }

    /// How long a running job goes on by its estimate; 0 where that is over.
    pub(super) fn remaining(&self, running: &Running) -> f64 {
        (running.expected_end - self.now).max(0.0)
    }

    /// Starts the waiting job at this place of the queue.
    pub(super) fn start(&mut self, at: usize, placement: Placement) {
        let Some(Waiting { job, arrival }) = self.queue.remove(at) else { return };
        let (start, after) = (self.now, |time: f64| self.now + time / self.speed);
        let (end, expected_end) = (after(job.runtime), after(job.estimate));
        self.running.push(Reverse(Running { end, arrival, start, expected_end, placement }));
    }

    /// Lets time pass to the next departure or arrival. If only departures count and there will be
    /// one, it is to that. Gives whether it did: if not, nothing will ever happen but what the
    /// agent does.
    pub(super) fn pass(
        &mut self,
        only_departures: bool,
        fits: impl FnMut(&Job) -> bool,
        release: &mut dyn FnMut(&Placement),
    ) -> Result<bool, String> {
        let departure = self.running.peek().map(|Reverse(running)| running.end);
        let arrival = self.next.as_ref().map(|job| job.arrival);
        let arrival = arrival.filter(|_| !only_departures || departure.is_none());
        match departure.into_iter().chain(arrival).min() {
            Some(to) => self.pass_to(to, fits, release).map(|()| true),
            None => Ok(false),
        }
    }

    /// Lets time pass until somebody waits, or nobody will.
    pub(super) fn go_on(
        &mut self,
        mut fits: impl FnMut(&Job) -> bool,
        release: &mut dyn FnMut(&Placement),
    ) -> Result<(), String> {
        while self.queue.is_empty() && !self.is_over() {
            let Some(arrival) = self.next.as_ref().map(|job| job.arrival) else { return Ok(()) };
            self.pass_to(arrival, &mut fits, release)?;
        }
        Ok(())
    }

    /// Up to an instant, departures before arrivals.
    fn pass_to(
        &mut self,
        to: Time,
        mut fits: impl FnMut(&Job) -> bool,
        release: &mut dyn FnMut(&Placement),
    ) -> Result<(), String> {
        loop {
            let departure =
                self.running.peek().map(|Reverse(running)| running.end).filter(|&at| at <= to);
            let arrival = self.next.as_ref().map(|job| job.arrival).filter(|&at| at <= to);
            match (departure, arrival) {
                (Some(at), next) if next.is_none_or(|next| at <= next) => {
                    self.elapse(at);
                    if let Some(Reverse(running)) = self.running.pop() {
                        release(&running.placement);
                    }
                }
                (_, Some(at)) => {
                    self.elapse(at);
                    if let Some(job) = self.next.take() {
                        if fits(&job) {
                            self.queue.push_back(Waiting { job, arrival: self.arrived });
                        }
                        self.arrived += 1;
                    }
                    self.pull()?;
                }
                _ => break,
            }
        }
        self.elapse(to);
        Ok(())
    }

    fn elapse(&mut self, to: Time) {
        if to > self.now {
            self.waited += self.queue.len() as f64 * (to - self.now);
            self.now = to;
        }
    }

    /// How long all jobs together waited since this was asked last.
    pub(super) fn take_waited(&mut self) -> f64 {
        std::mem::take(&mut self.waited)
    }
}
