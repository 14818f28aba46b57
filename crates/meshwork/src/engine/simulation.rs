//! A run, one instant at a time.

use super::followers::Followers;
use super::unread::{Next, first, pull};
use super::{MAX_REFUSED, MAX_WAITING, Names, Passes, RunError, Setup};
use crate::cluster::{Breach, By, Cluster, Hopeless, MAX_IDLE_STEPS};
use crate::job::Time;
use crate::network::RunKey;
use crate::observe::Observer;
use crate::sched::Scheduler;
use crate::workload::Submissions;

/// So many jobs may wait beside a machine of which nothing is held: with more, nobody will start them.
const MAX_WAITING_IDLE: usize = 10_000;

/// A run that goes on when it is told to: instant by instant, up to a time, or to its end.
///
/// Within one instant: departures, then beginnings and ends of reservations, then repairs, then failures, then arrivals,
/// then one scheduling pass; or with [`Passes::Event`] a pass after each of them. Departures of one instant come in order
/// of the jobs' arrival, arrivals in the order of the workload, after them those that follow jobs that have ended. A job
/// that takes no time leaves before the next pass of the same instant. Outages alone keep no run going: it ends when no
/// job is left. So does a [timer](Scheduler::wake_at) of the scheduler, which brings about a pass and nothing else; with jobs
/// that wait and nothing that runs or arrives, [`MAX_IDLE_STEPS`] passes in a row that start nothing are the end of hope.
/// Processors fall asleep while time passes, between the instants at which anything else happens: no
/// scheduler is asked then.
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
    next: Option<Next>,
    /// Those that follow others, if any do.
    followers: Option<Box<Followers>>,
    names: Names,
    /// Where nothing but scheduler and allocator can keep a job from starting: whether each has to start in the end, or some
    /// at least.
    idles: Option<bool>,
    /// Whether nothing happens but that jobs arrive and end.
    only_jobs: bool,
    /// How many jobs were refused, until the first one fits.
    refused: Option<u64>,
    /// When the scheduler wants to be woken.
    timer: Option<Time>,
    /// How often it was woken on an idle machine since a job last started or was turned away.
    in_vain: u32,
    /// What happens next, if that has been asked.
    ahead: Option<Result<Option<Ahead>, RunError>>,
    /// When the run ended, if it has.
    end: Option<Time>,
}

/// When something happens next, and what.
#[derive(Clone, Copy)]
struct Ahead {
    instant: Time,
    arrival: Option<Time>,
    outage: Option<Time>,
    finish: Option<(Time, RunKey)>,
}

impl<'a> Simulation<'a> {
    /// A run of these jobs before its first instant. The observer may be borrowed, as `&mut observer`.
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
        // Outages, reservations and sleep are of certain nodes.
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
            cluster.suffer(outages, first.arrival, scheduler.reserves());
        }
        if let (Some(access), Some(first)) = (access, &next) {
            cluster.keep_apart(access, first.arrival);
        }
        if let (Some(energy), Some(first)) = (energy, &next) {
            cluster.draw(energy, first.arrival);
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

    /// The machine and its queue, as the last instant left them.
    #[must_use]
    pub fn cluster(&self) -> &Cluster<'a> {
        &self.cluster
    }

    /// The next arrival, if any job is left to arrive. Jobs that follow others have none before those have ended.
    #[must_use]
    pub fn next_arrival(&self) -> Option<Time> {
        let following = self.followers.as_ref().and_then(|followers| followers.next_arrival());
        earlier(self.next.as_ref().map(|next| next.arrival), following)
    }

    /// The instant of the next step; `None` if nothing is left to happen. A network that is simulated goes on up to then; for
    /// nobody else anything changes.
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
            // The next step says what is wrong.
            Err(_) => Some(self.cluster.now()),
        };
        self.ahead = Some(ahead);
        instant.filter(|&instant| self.until.is_none_or(|end| instant <= end))
    }

    /// Processes one instant; `false` if nothing is left to happen, and the run has ended. An instant takes further steps where
    /// jobs start that take no time, and with [`Passes::Event`] one for each event.
    ///
    /// # Errors
    /// As [`simulate`](super::simulate); the run has ended then.
    pub fn step(&mut self) -> Result<bool, RunError> {
        if self.only_jobs { self.advance::<true>() } else { self.advance::<false>() }
    }

    /// Processes all instants up to this one; `false` if nothing is left to happen. The clock stands at the last of them.
    ///
    /// # Errors
    /// As [`step`](Simulation::step).
    pub fn run_until(&mut self, at: Time) -> Result<bool, RunError> {
        while self.peek().is_some_and(|next| next <= at) {
            self.step()?;
        }
        Ok(self.peek().is_some())
    }

    /// Goes on to the end of the run, and gives the last instant.
    ///
    /// # Errors
    /// As [`step`](Simulation::step).
    pub fn run(&mut self) -> Result<Time, RunError> {
        if self.only_jobs {
            while self.advance::<true>()? {}
        } else {
            while self.advance::<false>()? {}
        }
        Ok(self.end.unwrap_or(self.cluster.now()))
    }

    /// One more pass at the present instant, by another scheduler: for whoever decides between two steps. Comes before
    /// [`peek`](Simulation::peek), which may let a simulated network go on.
    ///
    /// # Errors
    /// As [`step`](Simulation::step).
    pub fn pass(&mut self, scheduler: &mut dyn Scheduler) -> Result<(), RunError> {
        if self.end.is_some() {
            return Ok(());
        }
        self.ahead = None;
        // Whoever decides elsewhere may leave jobs waiting.
        self.idles = None;
        let Simulation { cluster, followers, names, .. } = self;
        let passed = pass::<false>(scheduler, cluster, followers, names);
        if passed.is_err() {
            self.end = Some(self.cluster.now());
        }
        passed
    }

    /// One instant, in a run that ends with its first error. Built twice: where nothing happens but that jobs arrive and end,
    /// what belongs to outages and to jobs that follow others is not there.
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

    /// What happens next, besides the end of a run that ends at a given time.
    #[inline(always)]
    fn look_ahead<const ONLY_JOBS: bool>(&mut self) -> Result<Option<Ahead>, RunError> {
        let arrival = match ONLY_JOBS {
            true => self.next.as_ref().map(|next| next.arrival),
            false => self.next_arrival(),
        };
        let outage = if ONLY_JOBS { None } else { self.cluster.next_outage(arrival.is_some()) };
        let timer = if self.timer.is_some() { self.next_timer(arrival) } else { None };
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
        Ok(Some(Ahead { instant, arrival, outage, finish }))
    }

    #[inline(always)]
    fn instant<const ONLY_JOBS: bool>(&mut self) -> Result<bool, RunError> {
        // Hardly anybody asks, and to take an answer that is not there is to move a large nothing.
        let ahead = if self.ahead.is_none() {
            self.look_ahead::<ONLY_JOBS>()?
        } else {
            self.ahead.take().transpose()?.flatten()
        };
        let Some(Ahead { instant, arrival, outage, finish }) = ahead else {
            return self.finish(self.cluster.now(), self.idles);
        };
        if let Some(end) = self.until.filter(|&end| instant > end) {
            self.cluster.elapse(end);
            // What waits may have started later, unless nothing ever has.
            return self.finish(end, self.idles.and(Some(false)));
        }
        let Simulation { cluster, passes, jobs, next, followers, names, refused, .. } = self;
        cluster.elapse(instant);
        if !ONLY_JOBS {
            cluster.calm_down();
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
            let struck = cluster.strike(arrival.is_some()).map_err(|hopeless| match hopeless {
                Hopeless::Bug(bug) => RunError::Bug(bug),
                hopeless => RunError::Hopeless(hopeless),
            })?;
            may_arrive = *passes == Passes::Instant || !struck;
        }
        while may_arrive {
            let is_next = next.as_ref().is_some_and(|next| next.arrival == instant);
            let room = match followers {
                _ if is_next => next.take().map(|next| next.room),
                Some(followers) if !ONLY_JOBS => {
                    followers.take(instant).map(|job| cluster.room_for(job))
                }
                _ => None,
            };
            let Some(room) = room else { break };
            may_arrive = *passes == Passes::Instant;
            let number = room.job.number;
            if cluster.arrive(room) {
                *refused = None;
            } else {
                *refused = refused.map(|jobs| jobs + 1);
                if !ONLY_JOBS && let Some(followers) = followers {
                    followers.ended(number, instant);
                }
            }
            if *refused == Some(MAX_REFUSED) {
                return Err(RunError::NoneFits);
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

    /// When the scheduler is woken, if that may help a job.
    #[cold]
    fn next_timer(&self, arrival: Option<Time>) -> Option<Time> {
        let waits = self.cluster.waiting_jobs() > 0 && self.may_wake();
        self.timer.filter(|_| arrival.is_some() || self.cluster.running_jobs() > 0 || waits)
    }

    /// Whether there is a timer, and it may still lead to a start.
    fn may_wake(&self) -> bool {
        self.timer.is_some() && self.in_vain < MAX_IDLE_STEPS
    }

    /// Sets the timer after a pass, before which so many jobs waited.
    #[cold]
    fn set_timer(&mut self, timer: Option<Time>, waiting: usize) -> Result<(), RunError> {
        let now = self.cluster.now();
        if let Some(at) = timer.filter(|&at| at <= now || at.units() == f64::INFINITY) {
            let what =
                format!("it wants to be woken at {at}, but must name a finite instant after {now}");
            return Err(self.names.error(Breach { by: By::Scheduler, job: None, at: now, what }));
        }
        let helps = self.cluster.running_jobs() > 0 || self.cluster.waiting_jobs() < waiting;
        let was_woken = self.timer == Some(now);
        self.in_vain = if helps { 0 } else { self.in_vain.saturating_add(u32::from(was_woken)) };
        self.timer = timer;
        Ok(())
    }

    /// The end of a run at that instant, unless jobs are left waiting that nobody will ever start.
    #[cold]
    fn finish(&mut self, end: Time, idles: Option<bool>) -> Result<bool, RunError> {
        self.check_served(idles)?;
        self.end = Some(end);
        Ok(false)
    }

    /// Whether jobs are left waiting that nobody will ever start: all that wait, if each of them has to start, or else if none
    /// ever has.
    fn check_served(&self, idles: Option<bool>) -> Result<(), RunError> {
        if !idles.is_some_and(|each| self.cluster.is_idle(!each)) {
            return Ok(());
        }
        self.cluster.left_waiting().map_or(Ok(()), |breach| Err(self.names.error(*breach)))
    }
}

/// A scheduling pass, unless something breaks its contract in it.
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

/// The earlier of two instants, if there are both.
#[inline]
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Those that follow jobs that have just ended, and are no longer on the machine, are submitted.
#[cold]
fn release_followers(followers: &mut Followers, cluster: &Cluster<'_>) {
    for departure in cluster.departures() {
        followers.ended(departure.ran.job.number, cluster.now());
    }
}

#[cold]
fn of_network(cluster: &Cluster<'_>, what: String) -> Breach {
    Breach { by: By::Network, job: None, at: cluster.now(), what }
}
