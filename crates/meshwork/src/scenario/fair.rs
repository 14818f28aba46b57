//! Fair starts: the instant at which each job would start without later arrivals.
//!
//! This is the strict fair start time of Sabin and Sadayappan (*Unfairness metrics for
//! space-sharing parallel job schedulers*, JSSPP 2005). One further run is made for each instant of
//! arrival, except for jobs that started before the next arrival.

use std::collections::{BTreeMap, BTreeSet};

use super::{Outcome, Scenario};
use crate::engine::{MAX_JUDGED, RunError, Setup, simulate};
use crate::job::{Job, Time};
use crate::observe::metrics::Measure;
use crate::observe::{Event, JobId, Observer};
use crate::workload::{Inputs, Submission};

impl Scenario {
    pub(super) fn judges_starts(&self) -> bool {
        let is_of_lateness = |measure: &Measure| matches!(measure, Measure::PerLateness(_));
        self.parts.metrics.iter().any(|(found, _)| is_of_lateness(&found.0.measure))
    }

    /// Runs the scenario, and the additional runs that determine the fair starts of its jobs.
    ///
    /// At most [`MAX_JUDGED`] jobs may arrive.
    pub(super) fn run_and_judge(
        &self,
        replication: u64,
        inputs: &dyn Inputs,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        let mut course = Course::default();
        let (setup, jobs) = self.parts_of(replication, inputs)?;
        let mut seen = self.watch(setup, jobs, &mut (&mut course, &mut *observer))?;
        if course.arrived.len() > MAX_JUDGED {
            return Err(RunError::TooManyToJudge);
        }
        let counted: BTreeSet<JobId> = seen.recorder.judged().iter().copied().collect();
        let mut late = BTreeMap::new();
        for (last, ids) in course.to_judge(&counted) {
            if observer.is_done() {
                break; // the observer has seen enough, so the result will not be used
            }
            let again = self.setup_with(replication, inputs)?;
            let fair = course.without_those_after(last, ids, Setup { time: None, ..again })?;
            for (id, fair) in fair {
                late.insert(id, (course.started[&id] - fair).max(0.0));
            }
        }
        seen.recorder.judge(|id| late.get(&id).copied().unwrap_or(0.0));
        Ok(seen.outcome())
    }
}

#[derive(Default)]
struct Course {
    /// Jobs in order of arrival, so that an index is a job's identifier; refused jobs are included.
    arrived: Vec<Job>,
    started: BTreeMap<JobId, Time>,
}

impl Observer for Course {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Arrived(_, job) | Event::Refused(_, job) => self.arrived.push((*job).clone()),
            Event::Started(run) => drop(self.started.entry(run.id).or_insert(now)),
            _ => {}
        }
    }

    fn is_done(&self) -> bool {
        self.arrived.len() > MAX_JUDGED
    }
}

impl Course {
    /// Groups of jobs that arrived together and had not started before the next arrival. Only jobs
    /// in `counted` belong to a group. Each group comes with the index of the last job that arrived
    /// at its instant.
    fn to_judge(&self, counted: &BTreeSet<JobId>) -> Vec<(usize, BTreeSet<JobId>)> {
        let mut all = Vec::new();
        let mut first = 0;
        for group in self.arrived.chunk_by(|a, b| a.arrival == b.arrival) {
            let end = first + group.len();
            if let Some(next) = self.arrived.get(end) {
                let waits = |id: &JobId| self.started.get(id).is_some_and(|at| *at >= next.arrival);
                let ids = (first..end).map(|place| JobId(place as u64));
                let ids: BTreeSet<JobId> =
                    ids.filter(|id| counted.contains(id) && waits(id)).collect();
                if !ids.is_empty() {
                    all.push((end - 1, ids));
                }
            }
            first = end;
        }
        all
    }

    /// Starts of the jobs `ids` in a run without the jobs that arrive after the job with index
    /// `last`.
    fn without_those_after(
        &self,
        last: usize,
        ids: BTreeSet<JobId>,
        setup: Setup,
    ) -> Result<Vec<(JobId, Time)>, RunError> {
        let jobs: Vec<Job> = self.arrived[..=last].to_vec();
        let mut awaited = Awaited { ids, starts: Vec::new() };
        let jobs = Box::new(jobs.into_iter().map(|job| Ok(Submission::Job(job))));
        simulate(setup, jobs, &mut awaited)?;
        Ok(awaited.starts)
    }
}

struct Awaited {
    ids: BTreeSet<JobId>,
    starts: Vec<(JobId, Time)>,
}

impl Observer for Awaited {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Started(run) if self.ids.remove(&run.id) => self.starts.push((run.id, now)),
            Event::TurnedAway(id, _) => drop(self.ids.remove(id)),
            _ => {}
        }
    }

    fn is_done(&self) -> bool {
        self.ids.is_empty()
    }
}
