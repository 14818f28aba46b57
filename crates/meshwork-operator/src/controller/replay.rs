//! Replays a history in the simulation engine, with the controller model as the scheduler.
//!
//! The engine has the clock, arrivals and ends. Only the controller model knows the nodes of jobs,
//! because jobs may share nodes: in the engine, each job holds one processor.

use std::collections::{BTreeMap, BTreeSet};

use meshwork::cluster::{Cluster, StartOptions, Ticket};
use meshwork::engine::Simulation;
use meshwork::geometry::NodeSet;
use meshwork::job::{Job, Request, Time};
use meshwork::rng::Stream;
use meshwork::sched::Scheduler;
use meshwork::workload::{Submission, Submissions};
use meshwork::{Component, Scenario};

use super::cycles::Cycles;
use super::moment::WaitReasons;
use super::rules::SiteRules;
use super::{Controller, Start};
use crate::causes::{Causes, WaitsByCause};
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::history::{JobRecord, Second, StartedBy};

const REPORT_EVERY: usize = 500;

/// Tolerance in comparisons of times, in seconds.
const ROUNDING: f64 = 1e-6;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobOutcome {
    pub start: Option<Second>,
    pub nodes: Option<NodeSet>,
    pub partition: usize,
    pub by: StartedBy,
    /// Whether the job can never start.
    pub is_refused: bool,
}

/// Starts that a replay repeats before its schedulers decide: recorded, or from an earlier replay.
#[derive(Clone, Copy)]
pub struct GivenStarts<'a> {
    pub outcomes: &'a [JobOutcome],
    pub until: Second,
}

/// Replay of a recorded job history by a model of Slurm's controller.
///
/// A job runs for its recorded run time, and holds its nodes for `cleanup` seconds more. If it
/// never started, it waits until its recorded cancellation. If `copy` is set, it is the seed of
/// random numbers. They vary the recorded times by fractions of a second, and set the phases of the
/// two schedulers.
#[derive(Clone, Copy)]
pub struct ControllerReplay<'a> {
    pub machine: &'a SlurmMachine,
    pub rules: &'a SiteRules,
    pub stays: &'a [JobRecord],
    /// Seconds from the end of a job until its nodes can be allocated again.
    pub cleanup: f64,
    pub copy: Option<u64>,
    /// Function that is called with the number of jobs started so far.
    pub report: &'a dyn Fn(usize),
}

impl ControllerReplay<'_> {
    pub fn run(self) -> Result<Vec<JobOutcome>, String> {
        self.run_within(Second::MAX, None).map(Option::unwrap_or_default)
    }

    /// Outcomes of a replay that repeats the starts in `given` before it makes decisions.
    ///
    /// The result is `None` if jobs that start later wait for more than `most` seconds in total.
    pub fn run_within(
        self,
        most: Second,
        given: Option<GivenStarts<'_>>,
    ) -> Result<Option<Vec<JobOutcome>>, String> {
        let (outcomes, _, waited) = self.replay(None, most, given)?;
        Ok((waited <= most).then_some(outcomes))
    }

    /// Replays the history. Returns the outcome of each record, and its seconds of waiting by
    /// cause.
    pub fn run_with_waits(self) -> Result<(Vec<JobOutcome>, Vec<WaitsByCause>), String> {
        let causes = Causes::new(self.stays.len());
        let (outcomes, causes, _) = self.replay(Some(causes), Second::MAX, None)?;
        Ok((outcomes, causes.map(Causes::into_waited).unwrap_or_default()))
    }

    /// Replays the history. Returns the outcomes, the causes of waits, and the sum of all waits in
    /// seconds. Causes are collected if `causes` is given. The replay stops once the sum exceeds
    /// `most`.
    fn replay(
        self,
        causes: Option<Causes>,
        most: Second,
        given: Option<GivenStarts<'_>>,
    ) -> Result<(Vec<JobOutcome>, Option<Causes>, Second), String> {
        let ControllerReplay { machine, rules, stays, cleanup, copy, report } = self;
        let mut fractions = copy.map(|copy| Stream::new(copy, 0, "fractions of seconds"));
        let mut fraction = || fractions.as_mut().map_or(0.0, Stream::unit);
        let phases = [fraction(), fraction()];
        let mut jobs: Vec<Job> = Vec::new();
        let mut cancels: Vec<(Second, usize)> = Vec::new();
        let last = stays.iter().filter_map(|stay| stay.end.max(stay.start).max(stay.submit)).max();
        for (place, stay) in stays.iter().enumerate() {
            let Some(queued) = stay.queued().filter(|_| !stay.is_rejected()) else { continue };
            // A job without an end waits or runs until the last recorded second.
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
        cancels.sort_unstable();
        let mut turn = Turn::new(Controller::new(machine, rules, stays));
        (turn.cancels, turn.phases, turn.causes) = (cancels, phases, causes);
        turn.follow(given);
        turn.run(jobs, None, |turn, before| {
            if turn.started / REPORT_EVERY > before / REPORT_EVERY {
                report(turn.started);
            }
            turn.waited <= most
        })?;
        Ok((turn.outcomes, turn.causes, turn.waited))
    }
}

/// Scheduler of the engine that decides nothing, because [`Turn`] makes all decisions.
struct Outside;

impl Scheduler for Outside {
    fn schedule(&mut self, _cluster: &mut Cluster<'_>) {}

    fn looks_at_nodes(&self) -> bool {
        false
    }
}

pub(super) struct Turn<'a> {
    pub(super) controller: Controller<'a>,
    tickets: BTreeMap<usize, Ticket>,
    /// Cancellations of waiting jobs, sorted by time. The first `cancelled` of them are past.
    pub(super) cancels: Vec<(Second, usize)>,
    cancelled: usize,
    /// For each job, whether it is in the queue already before the engine reports its arrival.
    pub(super) is_queued: Vec<bool>,
    pub(super) outcomes: Vec<JobOutcome>,
    started: usize,
    waited: Second,
    until: Second,
    given: BTreeMap<usize, JobOutcome>,
    pending: BTreeSet<(Second, usize)>,
    phases: [f64; 2],
    pub(super) next_tick: Option<Second>,
    pub(super) cycles: Cycles,
    causes: Option<Causes>,
    pub(super) reasons: Option<WaitReasons>,
    changes: u64,
    looked: Vec<Second>,
    freed: Second,
    now: Second,
}

impl Scheduler for Turn<'_> {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let at = cluster.now().units();
        let now = at.floor() as Second;
        self.now = now;
        if let Some(causes) = &mut self.causes {
            causes.pass(now);
        }
        let mut has_news = false;
        self.run_given_first(cluster, at, now);
        for departure in cluster.departures() {
            let job = departure.ran.job.number as usize;
            let held = self.controller.end(job, now);
            if let Some((reasons, held)) = self.reasons.as_mut().zip(held) {
                reasons.note_end(held.nodes, now);
            }
            if self.controller.stays[job].was_killed() {
                self.cycles.killed();
            }
            has_news = true;
            self.free(now);
        }
        let number = |ticket: &Ticket| (*ticket, cluster.job(*ticket).number as usize);
        let arrivals: Vec<(Ticket, usize)> = cluster.arrivals().iter().map(number).collect();
        for (ticket, job) in arrivals {
            // A job that runs at the beginning of a future already holds its nodes.
            if self.controller.running.contains_key(&job) {
                cluster.start(ticket, StartOptions::default());
                continue;
            }
            self.tickets.insert(job, ticket);
            if self.is_queued.get(job) == Some(&true) {
                continue;
            }
            if let Some(start) = self.given.get(&job).and_then(|own| own.start) {
                self.pending.insert((start, job));
            }
            let is_refused = self.outcomes[job].is_refused;
            if !is_refused {
                self.controller.submit(job);
            }
            match &mut self.reasons {
                Some(reasons) if is_refused => self.controller.note_refusal(job, reasons),
                Some(reasons) => self.controller.note_arrival(job, now, reasons),
                None => {}
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
        let rules = self.controller.rules;
        let (period, origin) = (rules.weights.period, rules.started.unwrap_or(now));
        let first = || {
            if let Some(started) = rules.started {
                self.cycles.started(started as f64, now as f64, &rules.parameters);
            }
            origin + (now - origin).div_euclid(period) * period + period
        };
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
        // First instant with this phase not before `time`, and later than `now`.
        let next = |time: f64, phase: f64| {
            let time = time.max(now);
            let at = (time - phase - ROUNDING).ceil() + phase;
            if at > now { at } else { at + 1.0 }
        };
        let given = self.pending.first().filter(|own| own.0 < self.until);
        let given = given.map(|own| (own.0 as f64).max(now + 1.0));
        let parameters = &self.controller.rules.parameters;
        let main = [self.cycles.main_at(parameters), self.cycles.full_at(parameters)];
        let main = main.into_iter().flatten().map(|time| next(time, self.phases[0]));
        let backfill = self.cycles.backfill_at(parameters);
        let backfill = backfill.into_iter().map(|time| next(time, self.phases[1]));
        let is_moving = self.controller.rules.weights.is_multifactor;
        let tick = self.next_tick.filter(|_| is_moving).map(|tick| (tick as f64).max(now + 1.0));
        let cancel = self.cancels.get(self.cancelled).map(|own| (own.0 as f64).max(now + 1.0));
        let others = tick.into_iter().chain(cancel).chain(given);
        main.chain(backfill).chain(others).reduce(f64::min).map(Time::new)
    }
}

impl<'a> Turn<'a> {
    pub(super) fn new(controller: Controller<'a>) -> Turn<'a> {
        let refused = |job: usize| JobOutcome {
            is_refused: controller.is_hopeless(job),
            ..JobOutcome::default()
        };
        let count = controller.stays.len();
        Turn {
            outcomes: (0..count).map(refused).collect(),
            controller,
            tickets: BTreeMap::new(),
            cancels: Vec::new(),
            cancelled: 0,
            is_queued: Vec::new(),
            started: 0,
            waited: 0,
            until: Second::MIN,
            given: BTreeMap::new(),
            pending: BTreeSet::new(),
            phases: [0.0; 2],
            next_tick: None,
            cycles: Cycles::default(),
            causes: None,
            reasons: None,
            changes: 0,
            looked: vec![Second::MIN; count],
            freed: Second::MIN,
            now: Second::MIN,
        }
    }

    /// Sets starts that replace the decisions of the schedulers up to an instant.
    pub(super) fn follow(&mut self, given: Option<GivenStarts<'_>>) {
        let Some(given) = given else { return };
        self.until = given.until;
        let is_before = |own: &(usize, &JobOutcome)| {
            own.1.start.is_some_and(|start| start < given.until) && own.1.nodes.is_some()
        };
        let before = given.outcomes.iter().enumerate().filter(is_before);
        self.given = before.map(|(job, own)| (job, own.clone())).collect();
    }

    /// Runs jobs in the engine up to time `end`, in seconds.
    ///
    /// The run stops earlier if `goes_on` returns false after an instant.
    pub(super) fn run(
        &mut self,
        mut jobs: Vec<Job>,
        end: Option<Second>,
        mut goes_on: impl FnMut(&Turn<'a>, usize) -> bool,
    ) -> Result<(), String> {
        jobs.sort_by_key(|job| (job.arrival, job.number));
        // The workload is replaced, but needs two processors to be valid.
        let slots = u32::try_from(jobs.len().max(2)).unwrap_or(u32::MAX);
        let scenario = Scenario::builder().flat(slots).workload(Component::new("lublin")).jobs(1);
        let scenario = scenario.build().map_err(|problem| problem.to_string())?;
        let mut setup = scenario.setup(0).map_err(|error| error.to_string())?;
        setup.scheduler = Box::new(Outside);
        let jobs: Submissions = Box::new(jobs.into_iter().map(|job| Ok(Submission::Job(job))));
        let mut simulation = Simulation::new(setup, jobs, ()).map_err(|error| error.to_string())?;
        while let Some(next) = simulation.peek() {
            if end.is_some_and(|end| next.units() >= end as f64) {
                break;
            }
            let before = self.started;
            simulation.step().map_err(|error| error.to_string())?;
            simulation.pass(self).map_err(|error| error.to_string())?;
            if !goes_on(self, before) {
                break;
            }
        }
        Ok(())
    }

    /// Seconds for which no job has run.
    pub(super) fn idle(&self) -> Second {
        let is_idle = self.controller.running.is_empty();
        if is_idle { self.now.saturating_sub(self.freed) } else { 0 }
    }

    pub(super) fn now(&self) -> Second {
        self.now
    }

    fn free(&mut self, now: Second) {
        self.changes += 1;
        self.freed = now;
    }

    /// Runs scheduler cycles before the other events of their second, if recorded starts allow it.
    ///
    /// Recorded starts allow it on two conditions: the started jobs waited before this second, and
    /// no job that ends in this second held their nodes. This order is assumed because a cycle
    /// after the events could have started more jobs. Only wait reasons depend on the order.
    fn run_given_first(&mut self, cluster: &mut Cluster<'_>, at: f64, now: Second) {
        if self.reasons.is_none() || now >= self.until {
            return;
        }
        let mut ended = self.controller.no_nodes();
        for departure in cluster.departures() {
            let held = self.controller.running.get(&(departure.ran.job.number as usize));
            held.into_iter().for_each(|held| ended.unite(&held.nodes));
        }
        for by in [StartedBy::Main, StartedBy::Backfill] {
            if !self.has_given(now, by) {
                continue;
            }
            let given = |job: usize| {
                self.given.get(&job).filter(|own| own.start == Some(now) && own.by == by)
            };
            let number = |ticket: &Ticket| cluster.job(*ticket).number as usize;
            let is_new = cluster.arrivals().iter().any(|own| given(number(own)).is_some());
            let due = self.pending.range(..=(now, usize::MAX)).filter_map(|own| given(own.1));
            let mut nodes = due.filter_map(|own| own.nodes.as_ref());
            if is_new || nodes.any(|own| own.meets(&ended)) {
                continue;
            }
            match by {
                StartedBy::Backfill => self.run_backfill(cluster, at, now),
                _ => self.run_main(cluster, at, now),
            }
        }
    }

    fn run_cycles(&mut self, cluster: &mut Cluster<'_>, at: f64, now: Second) {
        let parameters = &self.controller.rules.parameters;
        let is_due = |time: Option<f64>| time.is_some_and(|time| time <= at + ROUNDING);
        let is_phase = |phase: f64| ((at - phase).round() - (at - phase)).abs() < ROUNDING;
        let is_main =
            is_due(self.cycles.full_at(parameters)) || is_due(self.cycles.main_at(parameters));
        let follows = now < self.until;
        if is_main && is_phase(self.phases[0]) || follows && self.has_given(now, StartedBy::Main) {
            self.run_main(cluster, at, now);
        }
        let is_backfill = is_due(self.cycles.backfill_at(parameters));
        if is_backfill && is_phase(self.phases[1])
            || follows && self.has_given(now, StartedBy::Backfill)
        {
            self.run_backfill(cluster, at, now);
        }
        // Make the given starts at a submission, or by an unknown scheduler.
        if follows {
            let starts = self.given_starts(now, |_| true);
            self.make(cluster, now, starts, StartedBy::Unknown);
        }
    }

    fn run_main(&mut self, cluster: &mut Cluster<'_>, at: f64, now: Second) {
        let full = self.cycles.full_at(&self.controller.rules.parameters);
        let is_full = full.is_some_and(|time| time <= at + ROUNDING);
        self.cycles.ran_main(at, is_full, &self.controller.rules.parameters);
        let queue = self.reasons.as_ref().map(|_| self.controller.queue());
        let starts = match now < self.until {
            true => self.given_starts(now, |by| by != StartedBy::Backfill),
            false => self.controller.main(now, is_full, None),
        };
        if let Some((queue, reasons)) = queue.zip(self.reasons.as_mut()) {
            self.controller.note_main(&queue, now, (is_full, false), reasons);
        }
        self.controller.ran(false);
        self.make(cluster, now, starts, StartedBy::Main);
    }

    fn run_backfill(&mut self, cluster: &mut Cluster<'_>, at: f64, now: Second) {
        self.cycles.ran_backfill(at);
        if self.causes.is_some() {
            self.controller.waiting_kinds().for_each(|(job, _)| self.looked[job] = now);
        }
        let starts = match now < self.until {
            true => self.given_starts(now, |by| by == StartedBy::Backfill),
            false => self.controller.backfill(now, None),
        };
        if let Some(reasons) = &mut self.reasons {
            self.controller.note_backfill(reasons);
        }
        self.controller.ran(true);
        self.make(cluster, now, starts, StartedBy::Backfill);
    }

    fn has_given(&self, now: Second, by: StartedBy) -> bool {
        let due = self.pending.range(..=(now, usize::MAX));
        due.into_iter().any(|own| self.given[&own.1].by == by)
    }

    /// Makes the due starts that the replay must repeat, and returns them. `is_by` selects the
    /// schedulers whose starts are made.
    fn given_starts(&mut self, now: Second, is_by: impl Fn(StartedBy) -> bool) -> Vec<Start> {
        let due = self.pending.range(..=(now, usize::MAX));
        let due: Vec<(Second, usize)> =
            due.filter(|own| is_by(self.given[&own.1].by)).copied().collect();
        let mut starts = Vec::new();
        for own in due {
            self.pending.remove(&own);
            let JobOutcome { nodes: Some(nodes), partition, .. } = &self.given[&own.1] else {
                continue;
            };
            let (job, partition) = (own.1, *partition);
            self.controller.start(job, partition, nodes.clone(), now);
            starts.push(Start { job, partition, nodes: Some(nodes.clone()) });
        }
        starts
    }

    fn make(&mut self, cluster: &mut Cluster<'_>, now: Second, starts: Vec<Start>, by: StartedBy) {
        for start in starts {
            let Some(ticket) = self.tickets.remove(&start.job) else { continue };
            if cluster.start(ticket, StartOptions::default()) {
                let at = now.max(self.controller.stays[start.job].queued().unwrap_or(now));
                let Start { nodes, partition, job } = start;
                let queued = self.controller.stays[job].queued().unwrap_or(at);
                self.waited += if now < self.until { 0 } else { at - queued };
                self.outcomes[job] =
                    JobOutcome { start: Some(at), nodes, partition, by, is_refused: false };
                self.started += 1;
                self.changes += 1;
                self.cycles.change(true);
            }
        }
    }
}
