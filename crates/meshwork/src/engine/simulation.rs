//! A run that can be advanced one instant at a time.

use super::followers::Followers;
use super::unread::{first, pull};
use super::{MAX_REFUSED, MAX_WAITING, Names, Passes, RunError, Setup};
use crate::cluster::{Breach, Cluster, Culprit, MAX_IDLE_STEPS, Unsatisfiable};
use crate::job::{Job, Time};
use crate::network::RunKey;
use crate::observe::Observer;
use crate::sched::Scheduler;
use crate::workload::Submissions;

/// Number of waiting jobs above which an idle machine is reported before the end of the run.
const MAX_WAITING_IDLE: usize = 10_000;

/// A run under the caller's control: advanced by instants, up to a time, or to its end.
///
/// The order within one instant is: departures, starts and ends of reservations, repairs, failures,
/// arrivals, one scheduling pass. With [`Passes::Event`] there is a pass after each departure,
/// after the outages, and after each arrival. Departures of one instant are ordered by the jobs'
/// arrival. Jobs arrive in the order of the workload, and after them the jobs whose
/// predecessors have ended. A job with run time 0 leaves before the next pass of the same instant.
///
/// The run ends when no job is left: neither outages nor a [timer](Scheduler::wake_at) of the
/// scheduler prolong it. A timer causes a pass and nothing else. If jobs wait and nothing runs or
/// arrives, the run gives up after [`MAX_IDLE_STEPS`] consecutive timer passes without a start.
/// Processors fall asleep between the instants of other events, without a scheduling pass.
///
/// ```
/// use meshwork::engine::Simulation;
/// use meshwork::job::Time;
/// use meshwork::{Component, NoInputs, Scenario};
///
/// let scenario = Scenario::builder()
///     .mesh([8, 8])
///     .workload(Component::new("lublin").with("load", 0.5))
///     .jobs(100)
///     .build()?;
/// let jobs = scenario.jobs(0, &NoInputs)?;
/// let mut simulation = Simulation::new(scenario.setup(0)?, jobs, ())?;
/// while simulation.peek().is_some_and(|at| at <= Time::new(3600.0)) {
///     simulation.step()?;
///     let cluster = simulation.cluster();
///     assert!(cluster.running().count() as u32 + cluster.site(0).free_nodes() <= 64);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation<'a> {
    cluster: Cluster<'a>,
    scheduler: Box<dyn Scheduler>,
    passes: Passes,
    until: Option<Time>,
    jobs: Submissions,
    next: Option<Job>,
    /// Jobs that are submitted only when other jobs have ended.
    followers: Option<Box<Followers>>,
    names: Names,
    /// Whether all jobs (`true`) or at least one (`false`) must have started when the machine is
    /// idle. It is `None` if outages, access rules or energy can keep jobs from starting.
    idles: Option<bool>,
    /// Whether the run has no outages, no access rules and no jobs that depend on other jobs.
    only_jobs: bool,
    /// Jobs refused so far; `None` as soon as one job has fitted the machine.
    refused: Option<u64>,
    timer: Option<Time>,
    /// Number of consecutive wake-ups at which no job ran, started or was rejected.
    in_vain: u32,
    /// The next event, if it has already been looked up.
    ahead: Option<Result<Option<Ahead>, RunError>>,
    end: Option<Time>,
}

#[derive(Clone, Copy)]
struct Ahead {
    instant: Time,
    outage: Option<Time>,
    finish: Option<(Time, RunKey)>,
    /// Whether jobs may still arrive, or may still start by the timer of the scheduler.
    goes_on: bool,
}

impl<'a> Simulation<'a> {
    /// Creates a run before its first instant. The observer may be borrowed, as `&mut observer`.
    ///
    /// # Errors
    /// If the first jobs of the workload cannot be read.
    pub fn new(
        setup: Setup,
        mut jobs: Submissions,
        observer: impl Observer + 'a,
    ) -> Result<Simulation<'a>, RunError> {
        let Setup {
            mut facility,
            scheduler,
            network,
            kill_at_estimate,
            passes,
            time,
            outages,
            access,
            energy,
            names,
        } = setup;
        // Outages, reservations and sleep states refer to individual nodes.
        let is_plain = outages.is_none() && access.is_none() && energy.is_none();
        let nobody_looks = !observer.asks_where_jobs_run()
            && !scheduler.looks_at_nodes()
            && !network.goes_by_nodes();
        if is_plain && nobody_looks {
            facility.name_no_nodes();
        }
        let mut cluster = Cluster::new(facility, network, kill_at_estimate, Box::new(observer));
        cluster.watch_waits(scheduler.reserves());
        let (followers, next) =
            first(&mut jobs, &mut cluster).map_err(|error| error.named(&names))?;
        if followers.is_some() {
            cluster.note_turned_away();
        }
        let until = time.and_then(|time| next.as_ref().map(|first| first.arrival + time));
        if let (Some(outages), Some(first)) = (outages, &next) {
            cluster.enable_outages(outages, first.arrival, scheduler.reserves());
        }
        if let (Some(access), Some(first)) = (access, &next) {
            cluster.enable_access(access, first.arrival);
        }
        if let (Some(energy), Some(first)) = (energy, &next) {
            cluster.enable_power(energy, first.arrival);
        }
        Ok(Simulation {
            only_jobs: followers.is_none() && !cluster.has_outages(),
            idles: is_plain.then_some(names.serves_all),
            cluster,
            scheduler,
            passes,
            until,
            jobs,
            next,
            followers,
            names,
            refused: Some(0),
            timer: None,
            in_vain: 0,
            ahead: None,
            end: None,
        })
    }

    /// State of the machine and the queue after the last processed instant.
    #[must_use]
    pub fn cluster(&self) -> &Cluster<'a> {
        &self.cluster
    }

    /// Arrival of the next job; `None` if there is none.
    ///
    /// A job has no arrival before all its predecessors have ended.
    #[must_use]
    pub fn next_arrival(&self) -> Option<Time> {
        let following = self.followers.as_ref().and_then(|followers| followers.next_arrival());
        earlier(self.next.as_ref().map(|next| next.arrival), following)
    }

    /// Returns the instant of the next step; `None` at the end. A simulated network is advanced to
    /// it.
    pub fn peek(&mut self) -> Option<Time> {
        if self.end.is_some() {
            return None;
        }
        let ahead = match self.ahead.take() {
            Some(ahead) => ahead,
            None if self.only_jobs => self.look_ahead::<true>(),
            None => self.look_ahead::<false>(),
        };
        let instant = match &ahead {
            Ok(ahead) => ahead.map(|ahead| ahead.instant),
            // The error is returned by the next step.
            Err(_) => Some(self.cluster.now()),
        };
        self.ahead = Some(ahead);
        instant.filter(|&instant| self.until.is_none_or(|end| instant <= end))
    }

    /// Processes one instant; returns `false` if no event was left and the run has ended. If jobs
    /// with run time 0 start, their instant takes several calls. With [`Passes::Event`] each event
    /// takes one call.
    ///
    /// # Errors
    /// The errors of [`simulate`](super::simulate); after an error the run has ended.
    pub fn step(&mut self) -> Result<bool, RunError> {
        if self.only_jobs { self.advance::<true>() } else { self.advance::<false>() }
    }

    /// Processes all instants up to `at`. The clock then shows the last of these instants.
    ///
    /// Returns whether events are left, or the errors of [`step`](Simulation::step).
    pub fn run_until(&mut self, at: Time) -> Result<bool, RunError> {
        while self.peek().is_some_and(|next| next <= at) {
            self.step()?;
        }
        Ok(self.peek().is_some())
    }

    /// Runs to the end, and returns the last instant or the errors of [`step`](Simulation::step).
    pub fn run(&mut self) -> Result<Time, RunError> {
        if self.only_jobs {
            while self.advance::<true>()? {}
        } else {
            while self.advance::<false>()? {}
        }
        Ok(self.end.unwrap_or(self.cluster.now()))
    }

    /// Makes one more scheduling pass at the present instant, with another scheduler.
    ///
    /// A timer that this scheduler sets replaces the timer of the run. The method must be called
    /// before [`peek`](Simulation::peek), and has the errors of [`step`](Simulation::step).
    pub fn pass(&mut self, scheduler: &mut dyn Scheduler) -> Result<(), RunError> {
        if self.end.is_some() {
            return Ok(());
        }
        self.ahead = None;
        // A scheduler from outside the run may leave jobs waiting.
        self.idles = None;
        let waiting = self.cluster.waiting_jobs();
        let Simulation { cluster, followers, names, .. } = self;
        let mut passed = pass::<false>(scheduler, cluster, followers, names);
        if let (Ok(()), Some(timer)) = (&passed, scheduler.wake_at(self.cluster.now())) {
            passed = self.set_timer(Some(timer), waiting);
        }
        if passed.is_err() {
            self.end = Some(self.cluster.now());
        }
        passed
    }

    /// Processes one instant; `ONLY_JOBS` leaves out code for outages and predecessors.
    #[inline(always)]
    fn advance<const ONLY_JOBS: bool>(&mut self) -> Result<bool, RunError> {
        if self.end.is_some() {
            return Ok(false);
        }
        let done = self.instant::<ONLY_JOBS>();
        if done.is_err() {
            self.end = Some(self.cluster.now());
        }
        done
    }

    /// Finds the next event, unless the run ends before it.
    #[inline(always)]
    fn look_ahead<const ONLY_JOBS: bool>(&mut self) -> Result<Option<Ahead>, RunError> {
        let arrival = match ONLY_JOBS {
            true => self.next.as_ref().map(|next| next.arrival),
            false => self.next_arrival(),
        };
        let timer = if self.timer.is_some() { self.next_timer(arrival) } else { None };
        let goes_on = arrival.is_some() || timer.is_some();
        let outage = if ONLY_JOBS { None } else { self.cluster.next_outage(goes_on) };
        let others = earlier(earlier(arrival, outage), timer);
        let by = earlier(others, self.until);
        let finish = self
            .cluster
            .next_finish(by)
            .map_err(|error| self.names.error(of_network(&self.cluster, error.to_string())))?;
        let ends = finish.map(|(at, _)| at);
        let Some(instant) = earlier(others, ends) else { return Ok(None) };
        if instant < self.cluster.now() {
            let what = format!("it lets a job finish at {instant}, which has gone by");
            return Err(self.names.error(of_network(&self.cluster, what)));
        }
        Ok(Some(Ahead { instant, outage, finish, goes_on }))
    }

    #[inline(always)]
    fn instant<const ONLY_JOBS: bool>(&mut self) -> Result<bool, RunError> {
        // The cache is usually empty, and taking even an empty entry moves a large value.
        let ahead = if self.ahead.is_none() {
            self.look_ahead::<ONLY_JOBS>()?
        } else {
            self.ahead.take().transpose()?.flatten()
        };
        let Some(Ahead { instant, outage, finish, goes_on }) = ahead else {
            return self.finish(self.cluster.now(), self.idles);
        };
        if let Some(end) = self.until.filter(|&end| instant > end) {
            self.cluster.elapse(end);
            // After the end of the run waiting jobs might have started, so that only a run in which
            // no job has ever started is an error.
            return self.finish(end, self.idles.and(Some(false)));
        }
        let Simulation { cluster, passes, jobs, next, followers, names, refused, .. } = self;
        cluster.elapse(instant);
        if !ONLY_JOBS {
            cluster.clear_disturbance();
        }
        let departed = cluster
            .depart(
                finish.filter(|(at, _)| *at == instant).map(|(_, key)| key),
                *passes == Passes::Event,
            )
            .map_err(|error| names.error(of_network(cluster, error.to_string())))?;
        if !ONLY_JOBS && let Some(followers) = followers {
            release_followers(followers, cluster);
        }
        let mut may_arrive = *passes == Passes::Instant || !departed;
        if !ONLY_JOBS && outage == Some(instant) && may_arrive {
            let changed =
                cluster.apply_due_outages(goes_on).map_err(
                    |unsatisfiable| match unsatisfiable {
                        Unsatisfiable::Bug(bug) => RunError::Bug(bug),
                        unsatisfiable => RunError::Unsatisfiable(unsatisfiable),
                    },
                )?;
            may_arrive = *passes == Passes::Instant || !changed;
        }
        while may_arrive {
            let is_next = next.as_ref().is_some_and(|next| next.arrival == instant);
            let job = match followers {
                _ if is_next => next.take(),
                Some(followers) if !ONLY_JOBS => followers.take(instant),
                _ => None,
            };
            let Some(job) = job else { break };
            may_arrive = *passes == Passes::Instant;
            let number = job.number;
            let is_last = *refused == Some(MAX_REFUSED - 1);
            let last_request = is_last.then(|| job.request.clone());
            if cluster.arrive(job) {
                *refused = None;
            } else {
                *refused = refused.map(|jobs| jobs + 1);
                if !ONLY_JOBS && let Some(followers) = followers {
                    followers.ended(number, instant);
                }
            }
            if *refused == Some(MAX_REFUSED) {
                let why = last_request.and_then(|request| {
                    let reason = cluster.never(&request)?;
                    Some(format!("; the last asks for {request}: {reason}"))
                });
                return Err(RunError::NoneFits { why: why.unwrap_or_default() });
            }
            if cluster.waiting_jobs() > MAX_WAITING {
                return Err(RunError::Overload);
            }
            if is_next {
                pull(jobs, cluster, next).map_err(|error| error.named(names))?;
            }
        }
        if cluster.is_done() {
            self.end = Some(instant);
            return Ok(true);
        }
        let waiting = cluster.waiting_jobs();
        pass::<ONLY_JOBS>(&mut *self.scheduler, cluster, followers, names)?;
        let timer = self.scheduler.wake_at(instant);
        if timer.is_some() || self.timer.is_some() {
            self.set_timer(timer, waiting)?;
        }
        if self.cluster.waiting_jobs() > MAX_WAITING_IDLE && !self.may_wake() {
            self.check_served(self.idles)?;
        }
        Ok(true)
    }

    /// Next wake-up of the scheduler; `None` if it cannot lead to the start of a job.
    #[cold]
    fn next_timer(&self, arrival: Option<Time>) -> Option<Time> {
        let waits = self.cluster.waiting_jobs() > 0 && self.may_wake();
        self.timer.filter(|_| arrival.is_some() || self.cluster.running_jobs() > 0 || waits)
    }

    fn may_wake(&self) -> bool {
        self.timer.is_some() && self.in_vain < MAX_IDLE_STEPS
    }

    /// Sets the timer after a scheduling pass; `waiting` is the queue length before the pass.
    #[cold]
    fn set_timer(&mut self, timer: Option<Time>, waiting: usize) -> Result<(), RunError> {
        let now = self.cluster.now();
        if let Some(at) = timer.filter(|&at| at <= now || at.units() == f64::INFINITY) {
            let what =
                format!("it wants to be woken at {at}, but must name a finite instant after {now}");
            return Err(self.names.error(Breach {
                by: Culprit::Scheduler,
                job: None,
                at: now,
                what,
            }));
        }
        let helps = self.cluster.running_jobs() > 0 || self.cluster.waiting_jobs() < waiting;
        let was_woken = self.timer == Some(now);
        self.in_vain = if helps { 0 } else { self.in_vain.saturating_add(u32::from(was_woken)) };
        self.timer = timer;
        Ok(())
    }

    /// Ends the run at `end`; fails if waiting jobs are left that will never start.
    #[cold]
    fn finish(&mut self, end: Time, idles: Option<bool>) -> Result<bool, RunError> {
        self.check_served(idles)?;
        self.end = Some(end);
        Ok(false)
    }

    /// Fails if jobs wait on an idle machine, as far as `idles` forbids this.
    ///
    /// `Some(true)` always forbids it, `Some(false)` only if no job has ever started, `None` never.
    fn check_served(&self, idles: Option<bool>) -> Result<(), RunError> {
        if !idles.is_some_and(|each| self.cluster.is_idle(!each)) {
            return Ok(());
        }
        self.cluster.left_waiting().map_or(Ok(()), |breach| Err(self.names.error(*breach)))
    }
}

#[inline(always)]
fn pass<const ONLY_JOBS: bool>(
    scheduler: &mut dyn Scheduler,
    cluster: &mut Cluster<'_>,
    followers: &mut Option<Box<Followers>>,
    names: &Names,
) -> Result<(), RunError> {
    scheduler.schedule(cluster);
    let now = cluster.now();
    if !ONLY_JOBS && let Some(followers) = followers {
        cluster.take_turned_away().for_each(|number| followers.ended(number, now));
    }
    if let Some(error) = cluster.take_unfit() {
        return Err(RunError::Network(error));
    }
    cluster.take_breach().map_or(Ok(()), |breach| Err(names.error(*breach)))
}
#[inline]
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    one.into_iter().chain(other).min()
}

#[cold]
fn release_followers(followers: &mut Followers, cluster: &Cluster<'_>) {
    for departure in cluster.departures() {
        followers.ended(departure.ran.job.number, cluster.now());
    }
}

#[cold]
fn of_network(cluster: &Cluster<'_>, what: String) -> Breach {
    Breach { by: Culprit::Network, job: None, at: cluster.now(), what }
}
