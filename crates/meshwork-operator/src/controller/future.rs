//! Controller model at an instant of a history, from which random continuations (futures) are run.

use std::sync::{Mutex, PoisonError};

use meshwork::job::{Job, Request, Time};

use super::Controller;
use super::cycles::Cycles;
use super::moment::WaitReasons;
use super::replay::{GivenStarts, JobOutcome, Turn};
use super::request::ControlledJob;
use super::rules::SiteRules;
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::history::{JobRecord, Second};

/// Run time, in seconds, of a job whose end is not known: 100 years.
const FOREVER: Second = 100 * 365 * 86_400;

/// Idle time of the machine, in seconds, after which a waiting job is assumed never to start.
const IDLE: Second = 600;

/// Controller model with the jobs that run or wait at an instant.
pub(crate) struct ReplayState<'a> {
    /// Controller model in its state at the instant `at`. Each simulated future runs on a copy of
    /// the model, because every search for nodes changes the node weights.
    controller: Mutex<Controller<'a>>,
    /// For each running or waiting job, whether the model has it in its queue.
    is_queued: Vec<bool>,
    cycles: Cycles,
    next_tick: Option<Second>,
    at: Second,
    /// All job records, including ended jobs. Submissions in a sampled future are copies of these
    /// records.
    known: Vec<(JobRecord, ControlledJob)>,
}

#[derive(Clone, Debug)]
pub(crate) struct ReplayedReasons {
    pub(crate) reasons: Vec<&'static str>,
    pub(crate) order: Vec<usize>,
    pub(crate) last_pass: Option<f64>,
}

/// Submission in a sampled future: index of the copied job, time, and run time in seconds.
pub(crate) type LaterJob = (usize, Second, Second);

impl<'a> ReplayState<'a> {
    /// State just before the second `at`. The first `present` records are running or waiting jobs.
    pub(crate) fn recorded(
        machine: &'a SlurmMachine,
        rules: &'a SiteRules,
        stays: Vec<JobRecord>,
        present: usize,
        at: Second,
    ) -> Result<ReplayState<'a>, String> {
        let turn = ReplayState::turn(machine, rules, stays, at, None)?;
        let Turn { mut controller, cycles, next_tick, .. } = turn;
        let count = controller.stays.len();
        for job in present..count {
            drop(controller.end(job, at));
            controller.withdraw(job);
        }
        let mut is_queued = vec![false; present];
        controller.pairs.iter().for_each(|pair| is_queued[pair.job] = true);
        let known = std::mem::take(controller.stays.to_mut()).into_iter();
        let known: Vec<(JobRecord, ControlledJob)> = known.zip(controller.jobs.clone()).collect();
        controller.stays = known[..present].iter().map(|own| own.0.clone()).collect();
        controller.jobs.truncate(present);
        controller.seen.truncate(present);
        let controller = Mutex::new(controller);
        Ok(ReplayState { controller, is_queued, cycles, next_tick, at, known })
    }

    /// Replays a history up to a second, for the wait reason of each job and the order of the
    /// queue.
    pub(crate) fn reasons(
        machine: &'a SlurmMachine,
        rules: &'a SiteRules,
        stays: Vec<JobRecord>,
        at: Second,
    ) -> Result<ReplayedReasons, String> {
        let reasons = Some(WaitReasons::default());
        let turn = ReplayState::turn(machine, rules, stays, at, reasons)?;
        let reasons = turn.reasons.unwrap_or_default();
        let jobs = 0..turn.controller.stays.len();
        Ok(ReplayedReasons {
            reasons: jobs.map(|job| reasons.of(&turn.controller, job)).collect(),
            order: turn.controller.order(),
            last_pass: turn.cycles.last(),
        })
    }

    /// Replays recorded starts and ends before the second `at`. If `reasons` is given, wait reasons
    /// are collected.
    fn turn(
        machine: &'a SlurmMachine,
        rules: &'a SiteRules,
        stays: Vec<JobRecord>,
        at: Second,
        reasons: Option<WaitReasons>,
    ) -> Result<Turn<'a>, String> {
        let controller = Controller::new(machine, rules, stays);
        let outcome = |(job, stay): (usize, &JobRecord)| JobOutcome {
            start: stay.start.filter(|_| stay.ran()),
            nodes: machine.nodes(&stay.nodelist).ok().filter(|_| stay.ran()),
            partition: controller.partition_of(job),
            by: stay.by,
            is_refused: false,
        };
        let outcomes: Vec<JobOutcome> = controller.stays.iter().enumerate().map(outcome).collect();
        let (mut jobs, mut cancels) = (Vec::new(), Vec::new());
        for (place, stay) in controller.stays.iter().enumerate() {
            let Some(queued) = stay.queued().filter(|queued| *queued < at) else { continue };
            if stay.start.is_none() {
                cancels.extend(stay.end.map(|end| (end, place)));
            }
            let runs =
                stay.start.zip(stay.end).map_or(FOREVER, |(start, end)| (end - start).max(0));
            jobs.push(job(place, queued, runs));
        }
        cancels.sort_unstable();
        let mut turn = Turn::new(controller);
        turn.cancels = cancels;
        turn.reasons = reasons;
        turn.follow(Some(GivenStarts { outcomes: &outcomes, until: at }));
        turn.run(jobs, Some(at), |_, _| true)?;
        Ok(turn)
    }

    /// Whether a running or waiting job could not even start on the empty machine.
    pub(crate) fn is_hopeless(&self, job: usize) -> bool {
        self.controller.lock().unwrap_or_else(PoisonError::into_inner).is_hopeless(job)
    }

    /// Registers a change of a waiting job. The main scheduler will run because of it.
    pub(crate) fn change(&mut self) {
        self.cycles.news();
    }

    /// Start of each running or waiting job in one simulated future.
    ///
    /// The future lasts until `end`, and then until the machine has been idle for [`IDLE`] seconds.
    /// The start is `None` if the job does not start in this time. `runs` has the rest of each
    /// job's run time, and `later` the later submissions.
    pub(crate) fn starts(
        &self,
        runs: &[Second],
        later: &[LaterJob],
        cleanup: Second,
        end: Second,
    ) -> Result<Vec<Option<Second>>, String> {
        let (at, present) = (self.at, runs.len());
        let mut controller = self.controller.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let ranks = self.known.iter().map(|own| own.1.rank + 1).max().unwrap_or(0);
        let of_present = runs.iter().enumerate();
        let mut jobs: Vec<Job> =
            of_present.map(|(place, runs)| job(place, at, runs + cleanup)).collect();
        for (place, &(like, at, runs)) in later.iter().enumerate() {
            let (stay, own) = &self.known[like];
            let moved = at - own.eligible;
            controller.stays.to_mut().push(JobRecord {
                submit: Some(at),
                eligible: Some(at),
                start: None,
                end: None,
                ..stay.clone()
            });
            controller.jobs.push(ControlledJob {
                eligible: at,
                rank: ranks + place as u64,
                last_priority: own.last_priority.map(|(last, time)| (last, time + moved)),
                ..own.clone()
            });
            jobs.push(job(present + place, at, runs + cleanup));
        }
        controller.seen.resize(present + later.len(), Default::default());
        let mut turn = Turn::new(controller);
        for (job, held) in &turn.controller.running {
            turn.outcomes[*job].start = Some(held.start);
        }
        turn.is_queued.clone_from(&self.is_queued);
        (turn.cycles, turn.next_tick) = (self.cycles.clone(), self.next_tick);
        let mut first = 0;
        turn.run(jobs, None, |turn, _| {
            let is_settled = |own: &&JobOutcome| own.start.is_some() || own.is_refused;
            first += turn.outcomes[first..present].iter().take_while(is_settled).count();
            first < present && (turn.now() < end || turn.idle() < IDLE)
        })?;
        Ok(turn.outcomes[..present].iter().map(|own| own.start).collect())
    }
}

fn job(place: usize, at: Second, runs: Second) -> Job {
    Job::new(place as u64, Time::new(at as f64), Request::Nodes(1), runs as f64)
}
