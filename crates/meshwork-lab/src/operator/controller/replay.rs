//! A history as a run of the simulation engine, with the controller as its scheduler.
//!
//! The engine keeps the clock, the arrivals and the ends of jobs. Which nodes a job holds is known
//! to the controller alone, since jobs may share nodes; in the engine each job takes one processor.

use std::collections::BTreeMap;

use meshwork::cluster::{Cluster, StartOptions, Ticket};
use meshwork::engine::Simulation;
use meshwork::job::{Job, Request, Time};
use meshwork::rng::Stream;
use meshwork::sched::Scheduler;
use meshwork::workload::{Submission, Submissions};
use meshwork::{Component, Scenario};

use super::cycles::Cycles;
use super::rules::SiteRules;
use super::{Controller, Start};
use crate::operator::causes::{Causes, WaitsByCause};
use crate::operator::folder::SlurmMachine;
use crate::operator::forecast::JobOutcome;
use crate::operator::history::{JobRecord, Second, StartedBy};

/// The number of starts between two reports of progress.
const REPORT_EVERY: usize = 500;

/// Seconds by which a time may be missed for rounding.
const ROUNDING: f64 = 1e-6;

/// The records of a history that are to happen again on a machine.
///
/// A job runs as long as it did, and holds its nodes for `cleanup` seconds more. One that never
/// started waits until it was cancelled. Times are recorded in whole seconds: each `copy` draws
/// other fractions of them, and other phases of both schedulers; without one all are 0.
#[derive(Clone, Copy)]
pub struct ControllerReplay<'a> {
    pub machine: &'a SlurmMachine,
    pub rules: &'a SiteRules,
    pub stays: &'a [JobRecord],
    /// The seconds from the end of a job until its nodes are given out again.
    pub cleanup: f64,
    pub copy: Option<u64>,
    /// A callback with the number of starts so far.
    pub report: &'a dyn Fn(usize),
}

impl ControllerReplay<'_> {
    /// The outcome of each record.
    ///
    /// # Errors
    /// A sentence of the engine, if it cannot run.
    ///
    /// # Complexity
    /// That of both schedulers at each of their cycles, and **O(log n)** for each of *n* records.
    pub fn run(self) -> Result<Vec<JobOutcome>, String> {
        self.replay(None).map(|found| found.0)
    }

    /// The outcome of each record, and the seconds that it waits for each cause.
    ///
    /// # Errors
    /// That of [`run`](ControllerReplay::run).
    ///
    /// # Complexity
    /// Beside that of [`run`](ControllerReplay::run), at each event that of the rule for each kind
    /// of waiting request.
    pub fn run_with_waits(self) -> Result<(Vec<JobOutcome>, Vec<WaitsByCause>), String> {
        let causes = Causes::new(self.stays.len());
        let (outcomes, causes) = self.replay(Some(causes))?;
        Ok((outcomes, causes.map(Causes::into_waited).unwrap_or_default()))
    }

    fn replay(self, causes: Option<Causes>) -> Result<(Vec<JobOutcome>, Option<Causes>), String> {
        let ControllerReplay { machine, rules, stays, cleanup, copy, report } = self;
        let mut fractions = copy.map(|copy| Stream::new(copy, 0, "fractions of seconds"));
        let mut fraction = || fractions.as_mut().map_or(0.0, Stream::unit);
        let phases = [fraction(), fraction()];
        let mut jobs: Vec<Job> = Vec::new();
        let mut cancels: Vec<(Second, usize)> = Vec::new();
        let last = stays.iter().filter_map(|stay| stay.end.max(stay.start).max(stay.submit)).max();
        for (place, stay) in stays.iter().enumerate() {
            let Some(queued) = stay.queued().filter(|_| !stay.is_rejected()) else { continue };
            // A job that still waited or ran at the end of the recording does so until then.
            let end = stay.end.or(last);
            if stay.start.is_none() {
                match end {
                    Some(end) if end > queued => cancels.push((end, place)),
                    _ => continue,
                }
            }
            let runs = stay.start.zip(end).map_or(0, |(start, end)| (end - start).max(0));
            let error = fraction() - fraction();
            let runtime = (runs as f64 + error).max(0.0) + cleanup;
            let arrival = Time::new(queued as f64 + fraction());
            jobs.push(Job::new(place as u64, arrival, Request::Nodes(1), runtime));
        }
        jobs.sort_by_key(|job| (job.arrival, job.number));
        cancels.sort_unstable();
        let slots = u32::try_from(jobs.len().max(1)).unwrap_or(u32::MAX);
        let scenario = Scenario::builder().flat(slots).workload(Component::new("lublin")).jobs(1);
        let scenario = scenario.build().map_err(|problem| problem.to_string())?;
        let mut setup = scenario.setup(0).map_err(|error| error.to_string())?;
        setup.scheduler = Box::new(Outside);
        let jobs: Submissions = Box::new(jobs.into_iter().map(|job| Ok(Submission::Job(job))));
        let mut simulation = Simulation::new(setup, jobs, ()).map_err(|error| error.to_string())?;
        let controller = Controller::new(machine, rules, stays);
        let refused = |job: usize| JobOutcome {
            is_refused: controller.is_hopeless(job),
            ..JobOutcome::default()
        };
        let mut turn = Turn {
            outcomes: (0..stays.len()).map(refused).collect(),
            controller,
            stays,
            tickets: BTreeMap::new(),
            cancels,
            cancelled: 0,
            started: 0,
            phases,
            next_tick: None,
            cycles: Cycles::default(),
            causes,
            changes: 0,
            looked: vec![Second::MIN; stays.len()],
            freed: Second::MIN,
        };
        while simulation.peek().is_some() {
            let before = turn.started;
            simulation.step().map_err(|error| error.to_string())?;
            simulation.pass(&mut turn).map_err(|error| error.to_string())?;
            if turn.started / REPORT_EVERY > before / REPORT_EVERY {
                report(turn.started);
            }
        }
        Ok((turn.outcomes, turn.causes))
    }
}

/// A scheduler of the engine that leaves all to one outside.
struct Outside;

impl Scheduler for Outside {
    fn schedule(&mut self, _cluster: &mut Cluster<'_>) {}

    fn looks_at_nodes(&self) -> bool {
        false
    }
}

/// The controller as a scheduler, with the state of its cycles.
struct Turn<'a> {
    controller: Controller<'a>,
    stays: &'a [JobRecord],
    tickets: BTreeMap<usize, Ticket>,
    /// The jobs that are cancelled while they wait, by time, and how many were.
    cancels: Vec<(Second, usize)>,
    cancelled: usize,
    outcomes: Vec<JobOutcome>,
    started: usize,
    /// The fractions of seconds at which the main scheduler and backfill run.
    phases: [f64; 2],
    next_tick: Option<Second>,
    cycles: Cycles,
    causes: Option<Causes>,
    /// How often nodes were given out or came back.
    changes: u64,
    /// When backfill had each job in its queue last, and when nodes came back last.
    looked: Vec<Second>,
    freed: Second,
}

impl Scheduler for Turn<'_> {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let at = cluster.now().units();
        let now = at.floor() as Second;
        if let Some(causes) = &mut self.causes {
            causes.pass(now);
        }
        let mut has_news = false;
        for departure in cluster.departures() {
            let job = departure.ran.job.number as usize;
            drop(self.controller.end(job, now));
            if self.stays[job].was_killed() {
                self.cycles.killed();
            }
            has_news = true;
            self.free(now);
        }
        for &ticket in cluster.arrivals() {
            let job = cluster.job(ticket).number as usize;
            self.tickets.insert(job, ticket);
            if !self.outcomes[job].is_refused {
                self.controller.submit(job);
            }
            has_news = true;
        }
        while let Some(&(_, job)) = self.cancels.get(self.cancelled).filter(|own| own.0 <= now) {
            self.cancelled += 1;
            if let Some(ticket) = self.tickets.remove(&job) {
                self.controller.withdraw(job);
                cluster.turn_away(ticket);
                has_news = true;
                self.free(now);
            }
        }
        let period = self.controller.rules.weights.period;
        let origin = self.controller.rules.started.unwrap_or(now);
        let first = || origin + (now - origin).div_euclid(period) * period + period;
        let tick = *self.next_tick.get_or_insert_with(first);
        if tick <= now {
            self.cycles.change(self.controller.tick(tick));
            self.next_tick = Some(tick + ((now - tick) / period + 1) * period);
        }
        if has_news {
            self.cycles.news();
        }
        if self.controller.waiting() > 0 {
            self.run_cycles(cluster, at, now);
        }
        if let Some(causes) = &mut self.causes {
            let has_looked = |job: usize| self.looked[job] >= self.freed;
            let waiting = self.controller.waiting_kinds();
            causes.look(waiting, self.changes, &|job| self.controller.ask(job), &has_looked);
        }
    }

    fn looks_at_nodes(&self) -> bool {
        false
    }

    fn wake_at(&self, now: Time) -> Option<Time> {
        if self.controller.waiting() == 0 {
            return None;
        }
        let now = now.units();
        // The next instant at a phase that is neither past nor before a time.
        let next = |time: f64, phase: f64| {
            let time = time.max(now);
            let at = (time - phase - ROUNDING).ceil() + phase;
            if at > now { at } else { at + 1.0 }
        };
        let parameters = &self.controller.rules.parameters;
        let main = [self.cycles.main_at(parameters), self.cycles.full_at(parameters)];
        let main = main.into_iter().flatten().map(|time| next(time, self.phases[0]));
        let backfill = self.cycles.backfill_at(parameters);
        let backfill = backfill.into_iter().map(|time| next(time, self.phases[1]));
        let is_moving = self.controller.rules.weights.is_multifactor;
        let tick = self.next_tick.filter(|_| is_moving).map(|tick| (tick as f64).max(now + 1.0));
        let cancel = self.cancels.get(self.cancelled).map(|own| (own.0 as f64).max(now + 1.0));
        main.chain(backfill).chain(tick).chain(cancel).reduce(f64::min).map(Time::new)
    }
}

impl Turn<'_> {
    fn free(&mut self, now: Second) {
        self.changes += 1;
        self.freed = now;
    }

    /// Runs the cycles that are due.
    fn run_cycles(&mut self, cluster: &mut Cluster<'_>, at: f64, now: Second) {
        let parameters = &self.controller.rules.parameters;
        let is_due = |time: Option<f64>| time.is_some_and(|time| time <= at + ROUNDING);
        let is_phase = |phase: f64| ((at - phase).round() - (at - phase)).abs() < ROUNDING;
        let is_full = is_due(self.cycles.full_at(parameters));
        let is_main = is_full || is_due(self.cycles.main_at(parameters));
        if is_main && is_phase(self.phases[0]) {
            self.cycles.ran_main(at, is_full);
            let starts = self.controller.main(now, is_full, None);
            self.controller.ran(false);
            self.make(cluster, now, starts, StartedBy::Main);
        }
        if is_due(self.cycles.backfill_at(parameters)) && is_phase(self.phases[1]) {
            self.cycles.ran_backfill(at);
            if self.causes.is_some() {
                self.controller.waiting_kinds().for_each(|(job, _)| self.looked[job] = now);
            }
            let starts = self.controller.backfill(now, None);
            self.controller.ran(true);
            self.make(cluster, now, starts, StartedBy::Backfill);
        }
    }

    fn make(&mut self, cluster: &mut Cluster<'_>, now: Second, starts: Vec<Start>, by: StartedBy) {
        for start in starts {
            let Some(ticket) = self.tickets.remove(&start.job) else { continue };
            if cluster.start(ticket, StartOptions::default()) {
                let at = now.max(self.stays[start.job].queued().unwrap_or(now));
                let Start { nodes, .. } = start;
                self.outcomes[start.job] =
                    JobOutcome { start: Some(at), nodes, by, is_refused: false };
                self.started += 1;
                self.changes += 1;
                self.cycles.change(true);
            }
        }
    }
}
