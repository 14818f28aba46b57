//! Scaling of jobs to a given load, by one of several methods.
//!
//! Lo, Mache and Windisch (*A comparative study of real workload traces and synthetic workload
//! models for parallel job scheduling*, JSSPP 1998) show that the ranking of schedulers depends on
//! the method. Frachtenberg and Feitelson (*Pitfalls in parallel job scheduling evaluation*, JSSPP
//! 2005) show which property of a log each method destroys.

use std::collections::BTreeMap;

use crate::job::{Job, Request};
use crate::registry::{Kind, LARGEST, Param, Params, Range, Words};
use crate::rng::Stream;

use super::held::Held;
use super::{Submissions, WorkloadContext, WorkloadError};

pub(super) const PARAMS: &[Param] = &[
    Param::new("load", Kind::Number(Range::Positive)).help(
        "the share of the machine's work that the jobs are to ask for, from the first arrival \
             to the last",
    ),
    Param::new("by", METHODS.kind()).is("\"interarrival\"").help(
        "interarrival: gaps between arrivals are multiplied; runtime: run times and estimates; \
             size: counts of processors, rounded up or down at random, up to the largest site; \
             jobs: jobs are left out at random, or come again; users: likewise all jobs of a user",
    ),
    Param::new("period", Kind::Number(Range::Positive))
        .absent("a day of seconds for jobs, a week for users")
        .help(
            "a job or a user that comes again comes later by a random multiple of this, so that \
             the hour of the day stays, and beyond the end goes on at the beginning; at any time, \
             where the jobs do not span two of them",
        ),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Interarrival,
    RunTime,
    Size,
    Jobs,
    Users,
}

static METHODS: Words<Method, 5> = Words::new([
    ("interarrival", Method::Interarrival),
    ("runtime", Method::RunTime),
    ("size", Method::Size),
    ("jobs", Method::Jobs),
    ("users", Method::Users),
]);

const DAY: f64 = 86_400.0;

pub(super) fn asks_for_owners(params: &Params) -> bool {
    params.meaning("by", &METHODS) == Method::Users
}
pub(super) fn scaled(
    jobs: Submissions,
    params: &Params,
    setting: &WorkloadContext<'_>,
) -> Submissions {
    let method = params.meaning("by", &METHODS);
    let week = if method == Method::Users { 7.0 * DAY } else { DAY };
    let scaling = Scaling {
        key: params.path().to_owned(),
        load: params.number("load"),
        method,
        period: params.get_number("period").unwrap_or(week),
        capacity: setting.capacity(),
        processors: setting.largest().grid().nodes(),
        keeps_owners: setting.owners,
    };
    let stream = Stream::new(setting.seed, setting.replication, "scale");
    let key = scaling.key.clone();
    Box::new(Held::new(jobs, key, move |jobs| scaling.apply(jobs, stream)))
}

struct Scaling {
    key: String,
    load: f64,
    method: Method,
    period: f64,
    capacity: f64,
    processors: u32,
    keeps_owners: bool,
}

fn work(job: &Job) -> f64 {
    job.request.nodes() as f64 * job.runtime
}

impl Scaling {
    /// Scales the jobs to the load that the study asks for. Time: **O(n log n)** for *n* jobs, plus
    /// **O(n)** for each of 60 steps of bisection if sizes are scaled.
    fn apply(&self, mut jobs: Vec<Job>, mut stream: Stream) -> Result<Vec<Job>, WorkloadError> {
        let (Some(first), Some(last)) = (jobs.first(), jobs.last()) else { return Ok(jobs) };
        let (first, span) = (first.arrival, last.arrival - first.arrival);
        let total: f64 = jobs.iter().map(work).sum();
        let goal = self.load * self.capacity * span;
        let factor = goal / total;
        if !(span > 0.0 && total > 0.0 && factor.is_finite() && factor > 0.0) {
            return Err(WorkloadError(format!(
                "`{}` scales jobs to a load, but the load of these {} jobs is not known: {}",
                self.key,
                jobs.len(),
                if span > 0.0 { "they do no work" } else { "they all arrive at one instant" }
            )));
        }
        match self.method {
            Method::Interarrival => {
                for job in &mut jobs {
                    job.move_to(first + (job.arrival - first) / factor);
                    job.delay(1.0 / factor);
                }
                if jobs.last().is_some_and(|last| last.arrival.units() > LARGEST) {
                    return Err(self.impossible("arrivals beyond 1e15"));
                }
            }
            Method::RunTime => {
                for job in &mut jobs {
                    job.lengthen(factor);
                    if job.runtime > LARGEST || job.estimate > LARGEST {
                        return Err(self.impossible("run times beyond 1e15"));
                    }
                }
            }
            Method::Size => self.resize(&mut jobs, goal, &mut stream)?,
            Method::Jobs => {
                let each = (0..jobs.len()).map(|job| vec![job]).collect();
                jobs = self.resample(&jobs, each, factor, goal, span, &mut stream)?;
            }
            Method::Users => {
                let groups = by_user(&self.key, "by", &jobs)?;
                jobs = self.resample(&jobs, groups, factor, goal, span, &mut stream)?;
            }
        }
        if self.method == Method::Users && !self.keeps_owners {
            jobs.iter_mut().for_each(|job| job.owner = None);
        }
        Ok(jobs)
    }

    fn impossible(&self, what: &str) -> WorkloadError {
        WorkloadError(format!("`{}.load` is {}, which would take {what}", self.key, self.load))
    }

    /// Multiplies processor counts by a factor, so that the work is as near as possible to `goal`.
    /// The factor is found by bisection. For each job, a random number decides whether its new
    /// count is rounded up or down.
    fn resize(
        &self,
        jobs: &mut [Job],
        goal: f64,
        stream: &mut Stream,
    ) -> Result<(), WorkloadError> {
        if let Some(job) = jobs.iter().find(|job| !matches!(job.request, Request::Nodes(_))) {
            return Err(WorkloadError(format!(
                "`{}.by` is \"size\", which multiplies counts of processors, but job {} asks for {}",
                self.key, job.number, job.request
            )));
        }
        let coins: Vec<f64> = jobs.iter().map(|_| stream.unit()).collect();
        let resized = |job: &Job, coin: f64, factor: f64| {
            let size = libm::floor(job.request.nodes() as f64 * factor + coin);
            // A job larger than the machine is not enlarged; it will be refused.
            let most = f64::from(self.processors).max(job.request.nodes() as f64);
            size.clamp(1.0, most) as u32
        };
        let sum = |factor: f64| -> f64 {
            let each = jobs.iter().zip(&coins);
            each.map(|(job, &coin)| f64::from(resized(job, coin, factor)) * job.runtime).sum()
        };
        let (mut low, mut high) = (0.0, f64::from(self.processors) + 1.0);
        for (end, what, can_be) in
            [(high, "at most", sum(high) >= goal), (low, "at least", sum(low) <= goal)]
        {
            if !can_be {
                let reached = self.load * sum(end) / goal;
                return Err(WorkloadError(format!(
                    "`{}.load` is {}, but with sizes from 1 to {} the load of these jobs is {what} {reached:.4}",
                    self.key, self.load, self.processors
                )));
            }
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if sum(middle) < goal { low = middle } else { high = middle }
        }
        let factor = if (sum(high) - goal).abs() < (sum(low) - goal).abs() { high } else { low };
        let sizes: Vec<u32> =
            jobs.iter().zip(&coins).map(|(job, &coin)| resized(job, coin, factor)).collect();
        for (job, size) in jobs.iter_mut().zip(sizes) {
            job.request = Request::Nodes(size);
        }
        Ok(())
    }

    /// Repeats groups of jobs, so that the work of all jobs is multiplied by `factor`. With a
    /// factor of 2.3, for example, all groups are taken twice. Then further groups are taken in
    /// random order, once each, as long as each brings the work nearer to the goal.
    fn resample(
        &self,
        jobs: &[Job],
        mut groups: Vec<Vec<usize>>,
        factor: f64,
        goal: f64,
        span: f64,
        stream: &mut Stream,
    ) -> Result<Vec<Job>, WorkloadError> {
        /// Largest number of jobs that scaling may produce. The number is limited because all jobs
        /// are held in memory.
        const MAX_JOBS: f64 = 1e7;
        if factor * jobs.len() as f64 > MAX_JOBS {
            return Err(self.impossible("more than 10000000 jobs"));
        }
        let first = jobs[0].arrival;
        let total: f64 = jobs.iter().map(work).sum();
        let whole = libm::floor(factor) as u32;
        let mut taken: Vec<Job> = if whole > 0 { jobs.to_vec() } else { Vec::new() };
        let numbers = numbers_apart(jobs);
        let later = |pass: u32, group: &[usize], taken: &mut Vec<Job>, stream: &mut Stream| {
            let shift = self.shift(span, stream);
            taken.extend(group.iter().map(|&place| {
                let mut job = jobs[place].clone();
                job.move_to(first + shift.of(job.arrival - first));
                renumber(&mut job, u64::from(pass) * numbers);
                job
            }));
        };
        for pass in 1..whole {
            groups.iter().for_each(|group| later(pass, group, &mut taken, stream));
        }
        for last in (1..groups.len()).rev() {
            groups.swap(last, stream.below(last as u64 + 1) as usize);
        }
        let mut reached = f64::from(whole) * total;
        for group in &groups {
            let more: f64 = group.iter().map(|&place| work(&jobs[place])).sum();
            if (goal - reached - more).abs() >= (goal - reached).abs() {
                break;
            }
            reached += more;
            if whole == 0 {
                taken.extend(group.iter().map(|&place| jobs[place].clone()));
            } else {
                later(whole, group, &mut taken, stream);
            }
        }
        if taken.is_empty() {
            return Err(WorkloadError(format!(
                "`{}.load` is {}, which leaves none of {} jobs",
                self.key,
                self.load,
                jobs.len()
            )));
        }
        taken.sort_by_key(|job: &Job| job.arrival);
        Ok(taken)
    }

    /// Draws the time by which the repetition of a group of jobs is shifted. The time is a whole
    /// number of periods, such as days, if the log spans at least two periods.
    fn shift(&self, span: f64, stream: &mut Stream) -> Shift {
        let periods = libm::floor(span / self.period);
        if periods < 2.0 {
            return Shift { by: stream.unit() * span, around: span };
        }
        let by = (1 + stream.below(periods as u64 - 1)) as f64 * self.period;
        Shift { by, around: periods * self.period }
    }
}

/// Indices of the jobs of each user. A job without a user is a group of its own.
pub(super) fn by_user(
    path: &str,
    key: &str,
    jobs: &[Job],
) -> Result<Vec<Vec<usize>>, WorkloadError> {
    let mut users: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut alone = Vec::new();
    for (place, job) in jobs.iter().enumerate() {
        match job.owner.as_ref().and_then(|owner| owner.user.as_deref()) {
            Some(user) => users.entry(user).or_default().push(place),
            None => alone.push(vec![place]),
        }
    }
    if users.is_empty() {
        return Err(WorkloadError(format!(
            "`{path}.{key}` is \"users\", but of none of these {} jobs it is known whose it is",
            jobs.len()
        )));
    }
    Ok(users.into_values().chain(alone).collect())
}

/// Offset between the job numbers of successive repetitions of a log. Each repetition adds this
/// offset to the numbers of its jobs. So a repeated job follows its predecessor in the same
/// repetition, not the original predecessor. The offset is 0 if no job has a predecessor.
pub(super) fn numbers_apart(jobs: &[Job]) -> u64 {
    if jobs.iter().all(|job| job.after().is_none()) {
        return 0;
    }
    jobs.iter().map(|job| job.number).max().unwrap_or(0) + 1
}

pub(super) fn renumber(job: &mut Job, by: u64) {
    job.number += by;
    if let Some(after) = job.terms.as_mut().and_then(|terms| terms.after.as_mut()) {
        after.number += by;
    }
}

/// Shift of all arrivals of a log to later times.
///
/// Arrivals shifted beyond the end of the log continue from its beginning.
struct Shift {
    by: f64,
    around: f64,
}

impl Shift {
    fn of(&self, arrival: f64) -> f64 {
        let later = arrival + self.by;
        later - libm::floor(later / self.around) * self.around
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::job::{Owner, Time};
    use crate::topology::Topology;
    use crate::workload::testing::{context, only_jobs};
    use crate::workload::{FAMILY, Submission, transformed};

    /// A log of 2,000 jobs of 40 users, over 50 days.
    fn log() -> Vec<Job> {
        let mut stream = Stream::new(3, 0, "log");
        let mut at = 100.0;
        let jobs = (1..=2_000).map(|number| {
            at += -2_160.0 * libm::log(stream.unit());
            let user = Some((stream.below(40)).to_string());
            let request = Request::Nodes(1 + stream.below(12) as u32);
            let runtime = -3_600.0 * libm::log(stream.unit());
            Job {
                estimate: 7_200.0,
                owner: Some(Arc::new(Owner { user, ..Owner::default() })),
                ..Job::new(number, Time::new(at), request, runtime)
            }
        });
        jobs.collect()
    }

    fn scaled_jobs(jobs: Vec<Job>, given: &str, owners: bool) -> Result<Vec<Job>, String> {
        let table: toml::Table =
            format!("name = 'table'\npath = 'x'\nscale = {{ {given} }}").parse().unwrap();
        let params =
            FAMILY.resolve("workload", &table.into()).map_err(|error| error.to_string())?;
        let sites = [(Topology::flat(16).unwrap(), 1.0), (Topology::flat(4).unwrap(), 2.0)];
        let setting = WorkloadContext { owners, ..context(&sites) };
        let jobs = Box::new(jobs.into_iter().map(|job| Ok(Submission::Job(job))));
        let jobs = transformed(true, jobs, &params, &setting).map_err(|error| error.to_string())?;
        only_jobs(jobs).map_err(|error| error.0)
    }

    /// Load of the given jobs over the time span of the original log.
    fn load(jobs: &[Job], span: f64) -> f64 {
        jobs.iter().map(work).sum::<f64>() / (24.0 * span)
    }

    fn span(jobs: &[Job]) -> f64 {
        jobs[jobs.len() - 1].arrival - jobs[0].arrival
    }

    #[test]
    fn every_method_gives_the_load_and_changes_nothing_else() {
        let before = log();
        let all = span(&before);
        for wanted in [0.3, 0.9, 2.7] {
            let of = |by: &str| {
                scaled_jobs(before.clone(), &format!("load = {wanted}, by = '{by}'"), true).unwrap()
            };
            let jobs = of("interarrival");
            assert!((load(&jobs, span(&jobs)) / wanted - 1.0).abs() < 1e-9);
            for (a, b) in before.iter().zip(&jobs) {
                assert_eq!(Job { arrival: a.arrival, ..b.clone() }, *a);
                let stretched = (b.arrival - jobs[0].arrival) * all / span(&jobs);
                assert!((stretched - (a.arrival - before[0].arrival)).abs() < 1e-6 * all);
            }
            let jobs = of("runtime");
            assert!((load(&jobs, all) / wanted - 1.0).abs() < 1e-9);
            for (a, b) in before.iter().zip(&jobs) {
                assert_eq!((a.arrival, &a.request), (b.arrival, &b.request));
                assert!((b.estimate / a.estimate - b.runtime / a.runtime).abs() < 1e-9);
            }
            let jobs = of("jobs");
            let largest = before.iter().map(work).fold(0.0, f64::max) / (24.0 * all);
            assert!((load(&jobs, all) - wanted).abs() <= largest, "{}", load(&jobs, all));
            assert!(jobs.is_sorted_by_key(|job| job.arrival));
            assert!(jobs.iter().all(|job| {
                let original = &before[job.number as usize - 1];
                let shift = (job.arrival - original.arrival).abs();
                let days = (shift / DAY).round() * DAY;
                original.runtime.total_cmp(&job.runtime).is_eq() && (shift - days).abs() < 1e-3
            }));
        }
    }

    #[test]
    fn users_stay_whole() {
        let before = log();
        let (all, now) = (span(&before), load(&before, span(&before)));
        for factor in [0.5, 1.5, 2.2] {
            let jobs = scaled_jobs(
                before.clone(),
                &format!("load = {}, by = 'users'", now * factor),
                true,
            )
            .unwrap();
            let mut of_user: BTreeMap<String, (usize, usize)> = BTreeMap::new();
            let user = |job: &Job| job.owner.as_ref().unwrap().user.clone().unwrap();
            before.iter().for_each(|job| of_user.entry(user(job)).or_default().0 += 1);
            jobs.iter().for_each(|job| of_user.entry(user(job)).or_default().1 += 1);
            let times: Vec<usize> = of_user.values().map(|(jobs, taken)| taken / jobs).collect();
            assert!(
                of_user.values().all(|(jobs, taken)| taken % jobs == 0),
                "all jobs of a user, or none"
            );
            let least = factor.floor() as usize;
            assert!(times.iter().all(|&n| n == least || n == least + 1), "{times:?}");
            // One user of 40 has about a fortieth of the work, by which the load may be off.
            assert!((load(&jobs, all) / now - factor).abs() < 0.05, "{}", load(&jobs, all) / now);
            // Repeated jobs fall on the same day of the week: 50 days count as seven weeks.
            assert!(jobs.iter().all(|job| {
                let shift = (job.arrival - before[job.number as usize - 1].arrival) / (7.0 * DAY);
                (shift - shift.round()).abs() < 1e-6
            }));
        }
        let stripped = scaled_jobs(before.clone(), "load = 0.9, by = 'users'", false).unwrap();
        assert!(stripped.iter().all(|job| job.owner.is_none()));
        let nobody: Vec<Job> = before.into_iter().map(|job| Job { owner: None, ..job }).collect();
        assert_eq!(
            scaled_jobs(nobody, "load = 0.9, by = 'users'", false).unwrap_err(),
            "`workload.scale.by` is \"users\", but of none of these 2000 jobs it is known whose it is"
        );
    }

    #[test]
    fn sizes_are_whole_and_no_larger_than_the_machine() {
        let before = log();
        let (all, now) = (span(&before), load(&before, span(&before)));
        for factor in [0.4, 1.2, 1.6] {
            let wanted = now * factor;
            let jobs = scaled_jobs(before.clone(), &format!("load = {wanted}, by = 'size'"), false)
                .unwrap();
            assert!(
                (load(&jobs, all) / wanted - 1.0).abs() < 0.002,
                "{}",
                load(&jobs, all) / wanted
            );
            assert!(jobs.iter().all(|job| (1..=16).contains(&job.request.nodes())));
            assert!(before.iter().zip(&jobs).all(|(a, b)| a.arrival == b.arrival));
        }
        let sentence = |given: &str| scaled_jobs(before.clone(), given, false).unwrap_err();
        let most = before.iter().map(|job| 16.0 * job.runtime).sum::<f64>() / (24.0 * all);
        assert_eq!(
            sentence("load = 50, by = 'size'"),
            format!(
                "`workload.scale.load` is 50, but with sizes from 1 to 16 the load of these jobs is at most {most:.4}"
            )
        );
        let mut blocks = before.clone();
        blocks[7].request = Request::block(&[2, 2]);
        assert_eq!(
            scaled_jobs(blocks, "load = 0.5, by = 'size'", false).unwrap_err(),
            "`workload.scale.by` is \"size\", which multiplies counts of processors, but job 8 asks for 2x2"
        );
    }

    #[test]
    fn what_has_no_load_cannot_be_scaled() {
        let mut jobs: Vec<Job> = log().into_iter().take(3).collect();
        let at = jobs[0].arrival;
        jobs.iter_mut().for_each(|job| job.arrival = at);
        assert_eq!(
            scaled_jobs(jobs.clone(), "load = 0.5", false).unwrap_err(),
            "`workload.scale` scales jobs to a load, but the load of these 3 jobs is not known: they all arrive at one \
             instant"
        );
        jobs[2].arrival = at + 9.0;
        jobs.iter_mut().for_each(|job| job.runtime = 0.0);
        assert!(scaled_jobs(jobs, "load = 0.5", false).unwrap_err().ends_with("they do no work"));
        assert_eq!(
            scaled_jobs(log(), "load = 1e-9, by = 'jobs'", false).unwrap_err(),
            "`workload.scale.load` is 0.000000001, which leaves none of 2000 jobs"
        );
        assert_eq!(
            scaled_jobs(log(), "load = 1e9, by = 'jobs'", false).unwrap_err(),
            "`workload.scale.load` is 1000000000, which would take more than 10000000 jobs"
        );
        let unknown = scaled_jobs(log(), "load = 0.9, by = 'time'", false).unwrap_err();
        assert!(
            unknown.contains("must be one of interarrival, runtime, size, jobs, users"),
            "{unknown}"
        );
    }
}
