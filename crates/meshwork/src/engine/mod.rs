//! The engine: the only loop. What happens at an instant, and in which order.

mod followers;
mod names;
mod unread;

pub use names::Names;

use crate::access::Access;
use crate::cluster::{Breach, By, Cluster, Hopeless};
use crate::energy::Energy;
use crate::facility::Facility;
use crate::failures::Outages;
use crate::job::{Job, JobId, Time};
use crate::network::{Network, NetworkError};
use crate::observe::{Event, Observer, Running};
use crate::sched::Scheduler;
use crate::workload::{Following, Submission, Submissions, WorkloadError};
use followers::Followers;
use names::whose;
use unread::{Unread, check};

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
    /// How errors name what the run consists of; allocators bring their names with their sites.
    pub names: Names,
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
    /// An entry of this crate broke its contract, or the engine did: a bug, which is reported and never simulated on.
    #[error("a bug in Meshwork, please report it: {0}")]
    Bug(String),
    /// Something from outside broke its contract: it is named, and nothing is simulated on.
    #[error("{} at {at}: {what}", whose(.kind, .name, .job))]
    Strategy {
        /// The word for it, as in "allocator".
        kind: &'static str,
        /// Its name; empty where it was put into a [`Setup`] without one.
        name: &'static str,
        /// The job that it was about.
        job: Option<JobId>,
        /// When.
        at: Time,
        /// What it did.
        what: String,
    },
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

/// So many jobs may wait beside a machine of which nothing is held: with more, nobody will start them.
const MAX_WAITING_IDLE: usize = 10_000;

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
/// wait at once, none of the first [`MAX_REFUSED`] fits, nodes fail so often that no job gets to its end, or jobs are
/// left waiting beside an idle machine.
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
        names,
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
    let (followers, next) = first(&mut jobs, &mut cluster).map_err(|error| error.named(&names))?;
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
    let idles = is_plain.then_some(names.serves_all);
    let run = Run { cluster, scheduler, passes, until, jobs, next, followers, names, idles };
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
    names: Names,
    /// Where nothing but scheduler and allocator can keep a job from starting: whether each has to start in the end, or some
    /// at least.
    idles: Option<bool>,
}

impl Run<'_> {
    /// The loop, built twice: where nothing happens but that jobs arrive and end, what belongs to outages and to jobs that
    /// follow others is not there.
    fn drive<const ONLY_JOBS: bool>(self) -> Result<Time, RunError> {
        let Run { mut cluster, mut scheduler, passes, until, mut jobs, mut next, .. } = self;
        let Run { followers, names, idles, .. } = self;
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
            let finish = cluster
                .next_finish(by)
                .map_err(|error| names.error(of_network(&cluster, error.to_string())))?;
            let ends = finish.map(|(at, _)| at);
            let Some(instant) = earlier(earlier(arrival, ends), outage) else {
                return served(&cluster, idles, &names, cluster.now());
            };
            if let Some(end) = until.filter(|&end| instant > end) {
                cluster.elapse(end);
                // What waits may have started later, unless nothing ever has.
                return served(&cluster, idles.and(Some(false)), &names, end);
            }
            if instant < cluster.now() {
                let what = format!("it lets a job finish at {instant}, which has gone by");
                return Err(names.error(of_network(&cluster, what)));
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
                .map_err(|error| names.error(of_network(&cluster, error.to_string())))?;
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
                    pull(&mut jobs, &mut cluster, &mut next)
                        .map_err(|error| error.named(&names))?;
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
            if let Some(breach) = cluster.take_breach() {
                return Err(names.error(*breach));
            }
            if cluster.waiting_jobs() > MAX_WAITING_IDLE {
                served(&cluster, idles, &names, instant)?;
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

/// The end of a run, unless jobs are left waiting that nobody will ever start: all that wait, if each of them has to start, or
/// else if none ever has.
fn served(
    cluster: &Cluster<'_>,
    idles: Option<bool>,
    names: &Names,
    end: Time,
) -> Result<Time, RunError> {
    if !idles.is_some_and(|each| cluster.is_idle(!each)) {
        return Ok(end);
    }
    cluster.left_waiting().map_or(Ok(end), |breach| Err(names.error(*breach)))
}

#[cold]
fn of_network(cluster: &Cluster<'_>, what: String) -> Breach {
    Breach { by: By::Network, job: None, at: cluster.now(), what }
}

/// The first job of the workload that follows no other, after all that do.
fn first(
    jobs: &mut Submissions,
    cluster: &mut Cluster<'_>,
) -> Result<(Option<Box<Followers>>, Option<Next>), Unread> {
    let mut followers: Option<Box<Followers>> = None;
    loop {
        match jobs.next().transpose().map_err(Unread::Workload)? {
            Some(Submission::Job(job)) => {
                check(&job, cluster, true)?;
                return Ok((followers, Some(Next::of(job, cluster))));
            }
            Some(Submission::Following(follower)) => {
                let Following { job, after, ends } = *follower;
                check(&job, cluster, false)?;
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
) -> Result<(), Unread> {
    loop {
        match jobs.next() {
            Some(Ok(Submission::Job(job))) => {
                check(&job, cluster, true)?;
                *next = Some(Next::of(job, cluster));
            }
            Some(Ok(Submission::Unusable(line))) => {
                cluster.tell(&Event::Unusable(&line));
                continue;
            }
            Some(Ok(Submission::Following(follower))) => {
                let what = format!(
                    "it hands out a job that follows another, number {}, after one that does not",
                    follower.job.number
                );
                let (by, at) = (By::Workload, cluster.now());
                return Err(Unread::Breach(Box::new(Breach { by, job: None, at, what })));
            }
            Some(Err(error)) => return Err(Unread::Workload(error)),
            None => *next = None,
        }
        return Ok(());
    }
}
