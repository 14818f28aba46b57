//! A history as a run of the simulation engine, with the controller as its scheduler.
//!
//! The engine keeps the clock, the arrivals and the ends of jobs. Which nodes a job holds is known
//! to the controller alone, since jobs may share nodes; in the engine each job takes one processor.

use std::collections::BTreeMap;

use meshwork::cluster::{Cluster, StartOptions, Ticket};
use meshwork::engine::Simulation;
use meshwork::job::{Job, Request, Time};
use meshwork::sched::Scheduler;
use meshwork::workload::{Submission, Submissions};
use meshwork::{Component, Scenario};

use super::Controller;
use super::cycles::Cycles;
use super::rules::SiteRules;
use crate::operator::folder::SlurmMachine;
use crate::operator::history::{JobRecord, Second};

/// The start of each record when all happen again; `None` for those that never start.
///
/// A job runs as long as it did, and holds its nodes for `cleanup` seconds more. One that never
/// started waits until it was cancelled.
///
/// # Errors
/// A sentence of the engine, if it cannot run.
///
/// # Complexity
/// That of both schedulers at each of their cycles, and **O(1)** for each second.
pub fn replay(
    machine: &SlurmMachine,
    rules: &SiteRules,
    stays: &[JobRecord],
    cleanup: f64,
    report: &dyn Fn(usize),
) -> Result<Vec<Option<Second>>, String> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut cancels: Vec<(Second, usize)> = Vec::new();
    let last = stays.iter().filter_map(|stay| stay.end.max(stay.start).max(stay.submit)).max();
    for (place, stay) in stays.iter().enumerate() {
        let Some(queued) = stay.queued().filter(|_| !stay.is_rejected()) else { continue };
        if stay.start.is_none() {
            match stay.end {
                Some(end) if end <= queued => continue,
                end => cancels.extend(end.map(|end| (end, place))),
            }
        }
        // A job that still ran at the end of the recording runs until then.
        let end = stay.end.or(last);
        let runs = stay.start.zip(end).map_or(0, |(start, end)| (end - start).max(0));
        let runtime = runs as f64 + cleanup;
        let arrival = Time::new(queued as f64);
        jobs.push(Job::new(place as u64, arrival, Request::Nodes(1), runtime));
    }
    jobs.sort_by_key(|job| (job.arrival, job.number));
    cancels.sort_unstable();
    let slots = u32::try_from(jobs.len().max(1)).unwrap_or(u32::MAX);
    let scenario = Scenario::builder().flat(slots).workload(Component::new("lublin")).jobs(1);
    let scenario = scenario.build().map_err(|problem| problem.to_string())?;
    let mut setup = scenario.setup(0).map_err(|error| error.to_string())?;
    setup.scheduler = Box::new(EverySecond { waits: false });
    let jobs: Submissions = Box::new(jobs.into_iter().map(|job| Ok(Submission::Job(job))));
    let mut simulation = Simulation::new(setup, jobs, ()).map_err(|error| error.to_string())?;
    let mut turn = Turn {
        controller: Controller::new(machine, rules, stays),
        stays,
        tickets: BTreeMap::new(),
        cancels,
        cancelled: 0,
        starts: vec![None; stays.len()],
        started: 0,
        next_tick: None,
        cycles: Cycles::default(),
    };
    while simulation.peek().is_some() {
        let before = turn.started;
        simulation.step().map_err(|error| error.to_string())?;
        simulation.pass(&mut turn).map_err(|error| error.to_string())?;
        if turn.started / REPORT_EVERY > before / REPORT_EVERY {
            report(turn.started);
        }
    }
    Ok(turn.starts)
}

/// The number of starts between two reports of progress.
const REPORT_EVERY: usize = 500;

/// A scheduler that does nothing but ask for a pass at every full second while jobs wait.
struct EverySecond {
    waits: bool,
}

impl Scheduler for EverySecond {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        self.waits = cluster.waiting_jobs() > 0;
    }

    fn wake_at(&self, now: Time) -> Option<Time> {
        self.waits.then(|| Time::new(now.units().floor() + 1.0))
    }

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
    starts: Vec<Option<Second>>,
    started: usize,
    next_tick: Option<Second>,
    cycles: Cycles,
}

impl Scheduler for Turn<'_> {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let at = cluster.now().units();
        let now = at.floor() as Second;
        let mut has_news = false;
        for departure in cluster.departures() {
            drop(self.controller.end(departure.ran.job.number as usize, now));
            has_news = true;
        }
        for &ticket in cluster.arrivals() {
            let job = cluster.job(ticket).number as usize;
            self.tickets.insert(job, ticket);
            if !self.controller.is_hopeless(job) {
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
        if self.controller.waiting() == 0 {
            return;
        }
        let parameters = &self.controller.rules.parameters;
        let is_due = |time: Option<f64>| time.is_some_and(|time| time <= at);
        let is_full = is_due(self.cycles.full_at(parameters));
        if is_full || is_due(self.cycles.main_at(parameters)) {
            self.cycles.ran_main(at, is_full);
            let starts = self.controller.main(now, is_full, None);
            self.controller.ran(false);
            self.make(cluster, now, &starts);
        }
        if is_due(self.cycles.backfill_at(parameters)) {
            self.cycles.ran_backfill(at);
            let starts = self.controller.backfill(now, None);
            self.controller.ran(true);
            self.make(cluster, now, &starts);
        }
    }
}

impl Turn<'_> {
    fn make(&mut self, cluster: &mut Cluster<'_>, now: Second, starts: &[super::Start]) {
        for start in starts {
            let Some(ticket) = self.tickets.remove(&start.job) else { continue };
            if cluster.start(ticket, StartOptions::default()) {
                self.starts[start.job] =
                    Some(now.max(self.stays[start.job].queued().unwrap_or(now)));
                self.started += 1;
                self.cycles.change(true);
            }
        }
    }
}
