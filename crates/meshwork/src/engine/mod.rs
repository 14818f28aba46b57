//! The engine: the only loop. What happens at an instant, and in which order.

mod followers;

use crate::access::Access;
use crate::cluster::{Cluster, Hopeless};
use crate::energy::Energy;
use crate::facility::Facility;
use crate::failures::Outages;
use crate::job::{Job, Time};
use crate::network::{Network, NetworkError};
use crate::observe::{Event, Observer, Running};
use crate::sched::Scheduler;
use crate::workload::{Following, Submission, Submissions, WorkloadError};
use followers::Followers;

/// Everything that a run consists of, besides its jobs.
pub struct Setup {
    /// The machine and those who decide where jobs go.
    pub facility: Facility,
    /// Who decides which job starts, and when.
    pub scheduler: Box<dyn Scheduler>,
    /// How long placed jobs take.
    pub network: Box<dyn Network>,
    /// Whether a job that reaches its estimate is ended there.
    pub kill_at_estimate: bool,
    /// How often the scheduler is asked when several things happen at one instant.
    pub passes: Passes,
    /// How long the run goes on after the first arrival; `None` runs until all jobs are done or
    /// the observer is.
    pub time: Option<f64>,
    /// What fails, if anything does.
    pub outages: Option<Outages>,
    /// Who may have which nodes, if not everyone may have all.
    pub access: Option<Access>,
    /// What processors take, if somebody asks.
    pub energy: Option<Energy>,
}

/// How often the scheduler is asked when several jobs end or arrive at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passes {
    /// Once for the instant, after all departures, then all outages, and then all arrivals.
    #[default]
    Instant,
    /// After each departure, then after all outages, and then after each arrival.
    Event,
}

/// The most jobs that may wait at once: more than any log holds, and few enough for the memory. A
/// queue beyond it has no mean worth knowing.
pub const MAX_WAITING: usize = 4_000_000;

/// The most jobs that may be refused before one fits: a workload without an end would otherwise be
/// refused for ever.
pub const MAX_REFUSED: u64 = 1_000_000;

/// The most jobs whose starts are compared with fair ones: the work grows with the square of their number.
pub const MAX_JUDGED: usize = 50_000;

/// Why a run stopped without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The workload could not be read on.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A strategy broke its contract: a bug, which is reported and never simulated on.
    #[error("a bug in Meshwork, please report it: {0}")]
    Bug(String),
    /// A job that the network cannot run.
    #[error(transparent)]
    Network(NetworkError),
    /// The queue grew beyond all measure.
    #[error(
        "more than {MAX_WAITING} jobs wait at once: they arrive far faster than the machine can serve \
         them"
    )]
    Overload,
    /// Nodes fail so often that the run would never end.
    #[error(transparent)]
    Hopeless(Hopeless),
    /// Too many jobs to say when each should have started.
    #[error(
        "`unfair_jobs` and `unfairness` run all jobs up to each arrival again, and more than {MAX_JUDGED} jobs arrive: \
         `workload.first_jobs`, `measure.jobs` or `measure.time` ends a run sooner"
    )]
    TooManyToJudge,
    /// No job fits.
    #[error("none of the first {MAX_REFUSED} jobs would fit even the empty machine")]
    NoneFits,
}

/// Runs the jobs and tells the observer what happens; returns the last instant.
///
/// Within one instant: departures, then beginnings and ends of reservations, then repairs, then failures, then arrivals,
/// then one scheduling pass; or with [`Passes::Event`] a pass after each of them. Departures of one instant come in order
/// of the jobs' arrival, arrivals in the order of the workload, after them those that follow jobs that have ended. A job
/// that takes no time leaves before the next pass of the same instant. Outages alone keep no run going: it ends when no
/// job is left. Processors fall asleep while time passes, between the instants at which anything else happens: no
/// scheduler is asked then.
///
/// # Errors
/// If the workload cannot be read on, a strategy breaks its contract, more than [`MAX_WAITING`] jobs
/// wait at once, none of the first [`MAX_REFUSED`] fits, or nodes fail so often that no job gets to its end.
///
/// # Complexity
/// **O(log r)** for each job with *r* running jobs, besides what the strategies do; memory
/// **O(jobs in the system)**.
pub fn simulate(
    setup: Setup,
    mut jobs: Submissions,
    observer: &mut dyn Observer,
) -> Result<Time, RunError> {
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
    } = setup;
    // Outages, reservations and sleep are of certain nodes.
    let is_plain = outages.is_none() && access.is_none() && energy.is_none();
    let nobody_looks =
        !observer.asks_where_jobs_run() && !scheduler.looks_at_nodes() && !network.goes_by_nodes();
    if is_plain && nobody_looks {
        facility.name_no_nodes();
    }
    let mut cluster = Cluster::new(facility, network, kill_at_estimate, observer);
    cluster.watch_waits(scheduler.reserves());
    let (followers, next) = first(&mut jobs, &mut cluster)?;
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
    let only_jobs = followers.is_none() && !cluster.has_outages();
    let run = Run { cluster, scheduler, passes, until, jobs, next, followers };
    if only_jobs { run.drive::<true>() } else { run.drive::<false>() }
}

/// The next job of the workload.
struct Next {
    /// When it arrives: that is asked at every instant, and at once.
    arrival: Time,
    /// Where it will wait and run.
    room: Box<Running>,
}

impl Next {
    #[inline(always)]
    fn of(job: Job, cluster: &mut Cluster<'_>) -> Next {
        Next { arrival: job.arrival, room: cluster.room_for(job) }
    }
}

/// A run that goes on.
struct Run<'a> {
    cluster: Cluster<'a>,
    scheduler: Box<dyn Scheduler>,
    passes: Passes,
    until: Option<Time>,
    jobs: Submissions,
    next: Option<Next>,
    /// Those that follow others, if any do.
    followers: Option<Box<Followers>>,
}

impl Run<'_> {
    /// The loop, built twice: where nothing happens but that jobs arrive and end, what belongs to outages and to jobs that
    /// follow others is not there.
    fn drive<const ONLY_JOBS: bool>(self) -> Result<Time, RunError> {
        let Run { mut cluster, mut scheduler, passes, until, mut jobs, mut next, followers } = self;
        let mut followers = followers.filter(|_| !ONLY_JOBS);
        // Until the first job fits.
        let mut refused = Some(0);
        loop {
            let mut arrival = next.as_ref().map(|next| next.arrival);
            if !ONLY_JOBS && let Some(followers) = &followers {
                arrival = earlier(arrival, followers.next_arrival());
            }
            let outage = if ONLY_JOBS { None } else { cluster.next_outage(arrival.is_some()) };
            let by = earlier(earlier(arrival, outage), until);
            let finish =
                cluster.next_finish(by).map_err(|error| RunError::Bug(error.to_string()))?;
            let ends = finish.map(|(at, _)| at);
            let Some(instant) = earlier(earlier(arrival, ends), outage) else {
                return Ok(cluster.now());
            };
            if let Some(end) = until.filter(|&end| instant > end) {
                cluster.elapse(end);
                return Ok(end);
            }
            if instant < cluster.now() {
                return Err(RunError::Bug(format!("time would run back to {instant}")));
            }
            cluster.elapse(instant);
            if !ONLY_JOBS {
                cluster.calm_down();
            }
            let departed = cluster
                .depart(
                    finish.filter(|(at, _)| *at == instant).map(|(_, key)| key),
                    passes == Passes::Event,
                )
                .map_err(|error| RunError::Bug(error.to_string()))?;
            if !ONLY_JOBS && let Some(followers) = &mut followers {
                release_followers(followers, &cluster);
            }
            let mut may_arrive = passes == Passes::Instant || !departed;
            if !ONLY_JOBS && outage == Some(instant) && may_arrive {
                let struck =
                    cluster.strike(arrival.is_some()).map_err(|hopeless| match hopeless {
                        Hopeless::Bug(bug) => RunError::Bug(bug),
                        hopeless => RunError::Hopeless(hopeless),
                    })?;
                may_arrive = passes == Passes::Instant || !struck;
            }
            while may_arrive {
                let is_next = next.as_ref().is_some_and(|next| next.arrival == instant);
                let room = match &mut followers {
                    _ if is_next => next.take().map(|next| next.room),
                    Some(followers) if !ONLY_JOBS => {
                        followers.take(instant).map(|job| cluster.room_for(job))
                    }
                    _ => None,
                };
                let Some(room) = room else { break };
                may_arrive = passes == Passes::Instant;
                let number = room.job.number;
                if cluster.arrive(room) {
                    refused = None;
                } else {
                    refused = refused.map(|jobs| jobs + 1);
                    if !ONLY_JOBS && let Some(followers) = &mut followers {
                        followers.ended(number, instant);
                    }
                }
                if refused == Some(MAX_REFUSED) {
                    return Err(RunError::NoneFits);
                }
                if cluster.waiting_jobs() > MAX_WAITING {
                    return Err(RunError::Overload);
                }
                if is_next {
                    pull(&mut jobs, &mut cluster, &mut next)?;
                }
            }
            if cluster.is_done() {
                return Ok(instant);
            }
            scheduler.schedule(&mut cluster);
            if !ONLY_JOBS && let Some(followers) = &mut followers {
                cluster.take_turned_away().for_each(|number| followers.ended(number, instant));
            }
            if let Some(error) = cluster.take_unfit() {
                return Err(RunError::Network(error));
            }
            if let Some(bug) = cluster.take_bug() {
                return Err(RunError::Bug(bug));
            }
        }
    }
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

/// The first job of the workload that follows no other, after all that do.
fn first(
    jobs: &mut Submissions,
    cluster: &mut Cluster<'_>,
) -> Result<(Option<Box<Followers>>, Option<Next>), RunError> {
    let mut followers: Option<Box<Followers>> = None;
    loop {
        match jobs.next().transpose()? {
            Some(Submission::Job(job)) => return Ok((followers, Some(Next::of(job, cluster)))),
            Some(Submission::Following(follower)) => {
                let Following { job, after, ends } = *follower;
                followers.get_or_insert_default().keep(job, after, ends);
            }
            Some(Submission::Unusable(line)) => cluster.tell(&Event::Unusable(&line)),
            None => return Ok((followers, None)),
        }
    }
}

/// Makes the next job of the workload the `next` one; lines that are none are told to the observer.
#[inline(always)]
fn pull(
    jobs: &mut Submissions,
    cluster: &mut Cluster<'_>,
    next: &mut Option<Next>,
) -> Result<(), RunError> {
    loop {
        match jobs.next() {
            Some(Ok(Submission::Job(job))) => *next = Some(Next::of(job, cluster)),
            Some(Ok(Submission::Unusable(line))) => {
                cluster.tell(&Event::Unusable(&line));
                continue;
            }
            Some(Ok(Submission::Following(follower))) => {
                return Err(RunError::Bug(format!(
                    "the workload hands out job {}, which follows another, after one that does not",
                    follower.job.number
                )));
            }
            Some(Err(error)) => return Err(error.into()),
            None => *next = None,
        }
        return Ok(());
    }
}
