//! The possible starts of waiting jobs: the scheduler of a site, run over sampled futures.
//!
//! A future draws the run time of each job from jobs that ended before, and future submissions from
//! past ones. Nothing that a history records after the instant is used.

use std::collections::BTreeMap;
use std::sync::Arc;

use meshwork::rng::Stream;
use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::folder::SlurmMachine;
use super::forecast::{Conditions, Forecast, InitialState};
use super::history::{JobRecord, Second};
use super::plan::ResolvedRequest;
use super::state::{HeldBack, MachineState};

/// The minimum number of similar jobs from which run times are drawn.
const LEAST_SIMILAR: usize = 20;

/// The maximum ratio of the time limits of similar jobs.
const SIMILAR_LIMITS: f64 = 1.5;

/// Periods with which submissions may repeat, if a history has at least [`LEAST_PERIODS`] of them.
const PERIODS: [Second; 2] = [7 * 86_400, 86_400];
const LEAST_PERIODS: Second = 3;

/// The minimum length in seconds of a piece of past submissions that is resampled as a whole.
const SHORTEST_PIECE: Second = 60;

/// The number of earlier instants at which forecasts are compared with recorded starts.
const EARLIER: Second = 8;

/// The minimum number of recorded starts for a correction of intervals.
const LEAST_STARTS: usize = 30;

/// The seconds added to both waits of a ratio, because waits are known to the second only.
const SLACK: f64 = 5.0;

/// The number and the conditions of sampled futures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledFutures {
    pub count: u32,
    pub seed: u64,
    /// The probability that a job starts within its interval.
    pub confidence: f64,
    /// The seconds from the end of a job until its nodes can be allocated again.
    pub cleanup: Second,
}

/// The interval in which a waiting job is likely to start.
///
/// A bound is `None` if the job has not started by then in enough futures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartInterval {
    pub id: String,
    pub earliest: Option<Second>,
    pub median: Option<Second>,
    pub latest: Option<Second>,
    /// The reason that keeps it from starting, if it is neither nodes nor the queue.
    pub held: Option<HeldBack>,
}

impl StartInterval {
    /// The interval as JSON, with times in seconds since 1970.
    #[must_use]
    pub fn json(&self) -> Json {
        let reason = self.held.as_ref().map(|own| json!({ "kind": own.kind, "says": own.says }));
        json!({
            "job": self.id, "earliest": self.earliest, "median": self.median,
            "latest": self.latest, "reason": reason,
        })
    }
}

/// Run times of ended jobs, from which those of other jobs are drawn.
#[derive(Clone, Debug, Default)]
pub struct RunTimes<'a> {
    /// The ended jobs with their run times, in seconds.
    ended: Vec<(&'a JobRecord, Second)>,
}

impl<'a> RunTimes<'a> {
    /// The run times known at an instant.
    #[must_use]
    pub fn before(stays: &'a [JobRecord], at: Second) -> RunTimes<'a> {
        let run = |stay: &'a JobRecord| {
            let (start, end) = stay.start.zip(stay.end).filter(|(_, end)| *end <= at)?;
            Some((stay, (end - start).max(1)))
        };
        RunTimes { ended: stays.iter().filter_map(run).collect() }
    }

    /// The sample of run times for a job that has run for `elapsed` seconds.
    ///
    /// It is taken from jobs with a similar time limit: those of the same user if there are enough,
    /// else those of all users. If these are too few, the shares of their limits that all jobs used
    /// are added. If no job ran longer than `elapsed`, ten evenly spaced times up to the limit are
    /// returned, but none more than an hour, or than `elapsed`, ahead.
    ///
    /// # Complexity
    /// **O(n log n)** for *n* ended jobs.
    #[must_use]
    pub fn of(&self, stay: &JobRecord, elapsed: Second) -> Vec<Second> {
        let most = stay.limit.unwrap_or(Second::MAX).max(elapsed + 1);
        let alike = |own: &JobRecord| match (own.limit, stay.limit) {
            (Some(one), Some(other)) => {
                let ratio = one.max(1) as f64 / other.max(1) as f64;
                (1.0 / SIMILAR_LIMITS..=SIMILAR_LIMITS).contains(&ratio)
            }
            (one, other) => one == other,
        };
        let longer = |is: &dyn Fn(&JobRecord) -> bool| {
            let own = self.ended.iter().filter(|(own, runs)| *runs > elapsed && is(own));
            own.map(|(_, runs)| (*runs).min(most)).collect::<Vec<Second>>()
        };
        let mut times = longer(&|own| alike(own) && own.user == stay.user);
        if times.len() < LEAST_SIMILAR {
            times = longer(&alike);
        }
        if let Some(limit) = stay.limit.filter(|_| times.len() < LEAST_SIMILAR) {
            let share = |(own, runs): &(&JobRecord, Second)| {
                let share = (*runs as f64 / own.limit?.max(1) as f64).min(1.0);
                Some(((share * limit as f64) as Second).clamp(1, most)).filter(|&own| own > elapsed)
            };
            times.extend(self.ended.iter().filter_map(share));
        }
        if times.is_empty() {
            let span = (most - elapsed).min(elapsed.max(3_600));
            times = (1..=10).map(|tenth| elapsed + (span * tenth / 10).max(1)).collect();
        }
        times.sort_unstable();
        times
    }
}

/// The ratios of real to predicted waits at earlier instants, for each bound of the interval.
///
/// Effects that the model leaves out make forecasts early or late by a factor, which past forecasts
/// show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastRatios {
    /// Ratios, ascending, and whether the start is known. For unknown starts the wait so far
    /// counts.
    of: [Vec<(f64, bool)>; 3],
}

impl PastRatios {
    /// Computes the ratios at instants before `at` from starts recorded by then.
    ///
    /// # Complexity
    /// That of a forecast for each earlier instant and future.
    #[must_use]
    pub fn before(
        machine: &SlurmMachine,
        stays: &[JobRecord],
        at: Second,
        sampled: SampledFutures,
    ) -> PastRatios {
        let mut ratios = PastRatios::default();
        let Some(first) = stays.iter().filter_map(JobRecord::queued).min() else { return ratios };
        let sampled = SampledFutures { count: (sampled.count / 8).max(20), ..sampled };
        for earlier in 1..=EARLIER {
            let then = first + (at - first).max(0) * earlier / (EARLIER + 1);
            for own in StartQueue::of(machine, stays, then, sampled).intervals() {
                let started = stays
                    .iter()
                    .filter(|stay| stay.id == own.id && own.held.is_none())
                    .filter(|stay| stay.end.is_none_or(|end| end > then))
                    .find(|stay| stay.submit.is_some_and(|submit| submit <= then));
                let Some(stay) = started else { continue };
                let start = stay.start.filter(|&start| start < at);
                if start.is_none() && stay.end.is_some_and(|end| end <= at) {
                    continue;
                }
                let real = (start.unwrap_or(at) - then) as f64 + SLACK;
                let bounds = [own.earliest, own.median, own.latest];
                for (ratios, bound) in ratios.of.iter_mut().zip(bounds) {
                    if let Some(bound) = bound {
                        ratios.push((real / ((bound - then) as f64 + SLACK), start.is_some()));
                    }
                }
            }
        }
        for own in &mut ratios.of {
            own.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        ratios
    }

    /// The ratio that a given share of starts does not exceed, by the Kaplan–Meier estimator.
    /// `None` if too few starts are known.
    fn quantile(&self, bound: usize, share: f64) -> Option<f64> {
        let own = &self.of[bound];
        if own.iter().filter(|(_, is_known)| *is_known).count() < LEAST_STARTS {
            return None;
        }
        let mut waiting = 1.0;
        for (place, (ratio, is_known)) in own.iter().enumerate() {
            if *is_known {
                waiting *= 1.0 - 1.0 / (own.len() - place) as f64;
            }
            if 1.0 - waiting >= share {
                return Some(*ratio);
            }
        }
        own.last().map(|(ratio, _)| *ratio)
    }

    /// Corrects the bounds of an interval by the ratios of past forecasts.
    #[must_use]
    pub fn correct(&self, own: StartInterval, at: Second, confidence: f64) -> StartInterval {
        let tail = (1.0 - confidence) / 2.0;
        let corrected = |bound: usize, share: f64, time: Option<Second>| {
            let Some(ratio) = self.quantile(bound, share) else { return time };
            let wait = |time: Second| ((time - at) as f64 + SLACK) * ratio - SLACK;
            time.map(|time| at + wait(time).max(0.0).round() as Second)
        };
        let median = corrected(1, 0.5, own.median);
        let earliest = corrected(0, tail, own.earliest).min(median.or(own.earliest));
        let latest = corrected(2, 1.0 - tail, own.latest);
        StartInterval {
            earliest,
            median,
            latest: latest.map(|own| own.max(median.unwrap_or(own))),
            ..own
        }
    }
}

/// The jobs of a site at an instant, from which futures are sampled; only its past is used.
pub struct StartQueue<'a> {
    machine: &'a SlurmMachine,
    conditions: Conditions,
    sampled: SampledFutures,
    at: Second,
    /// Running jobs, then waiting ones; the latter have no start and no end.
    present: Vec<JobRecord>,
    running: InitialState,
    /// The possible run times of each present job.
    times: Vec<Arc<[Second]>>,
    requests: Vec<ResolvedRequest>,
    /// Past submissions in order, to be resampled.
    past: Vec<PastSubmission>,
    held: Vec<StartInterval>,
}

/// A past submission.
struct PastSubmission {
    at: Second,
    stay: JobRecord,
    times: Arc<[Second]>,
    request: ResolvedRequest,
}

impl<'a> StartQueue<'a> {
    /// The running and waiting jobs of a site just before a second of its history.
    ///
    /// # Complexity
    /// **O(k n log n)** for *n* records before the instant, and *k* running jobs or pairs of a user
    /// and a limit.
    #[must_use]
    pub fn of(
        machine: &'a SlurmMachine,
        stays: &[JobRecord],
        at: Second,
        sampled: SampledFutures,
    ) -> StartQueue<'a> {
        let conditions = Conditions::of(machine, sampled.cleanup);
        let known = RunTimes::before(stays, at);
        // Before its start, only its user and its limit tell how long a job may run.
        let mut drawn: BTreeMap<(String, Option<Second>), Arc<[Second]>> = BTreeMap::new();
        let mut whole = |stay: &JobRecord| {
            let times = drawn.entry((stay.user.clone(), stay.limit));
            Arc::clone(times.or_insert_with(|| known.of(stay, 0).into()))
        };
        let is_multifactor =
            machine.setting("PriorityType").is_some_and(|kind| kind.ends_with("multifactor"));
        // A history has the last priority of a job; its age since `when` is subtracted from it.
        let priority = |stay: &JobRecord, when: Second| {
            stay.priority.map(|_| conditions.order.priority(stay, when).round() as i64)
        };
        let (mut present, mut times, mut running) = (Vec::new(), Vec::new(), Vec::new());
        for stay in stays.iter().filter(|stay| stay.ran()) {
            let Some(start) = stay.start.filter(|&start| start < at) else { continue };
            let Ok(nodes) = machine.nodes(&stay.nodelist) else { continue };
            if stay.end.is_none_or(|end| end > at) {
                running.push((present.len(), start, nodes));
                times.push(known.of(stay, at - start).into());
                present.push(JobRecord { end: None, ..stay.clone() });
            }
        }
        let mut held = Vec::new();
        let is_waiting = |stay: &&JobRecord| {
            stay.submit.or(stay.eligible).is_some_and(|submit| submit <= at)
                && stay.start.is_none_or(|start| start >= at)
                && stay.end.is_none_or(|end| end > at)
                && !stay.is_rejected()
        };
        for stay in stays.iter().filter(is_waiting) {
            if let Some(reason) = MachineState::reason_at(stay, at) {
                held.push(StartInterval {
                    id: stay.id.clone(),
                    held: Some(reason),
                    ..StartInterval::default()
                });
                continue;
            }
            let priority = priority(stay, at);
            times.push(whole(stay));
            let start = Some(at);
            present.push(JobRecord { priority, start, end: None, ..stay.clone() });
        }
        let last = present.iter().filter_map(|stay| stay.priority).min().unwrap_or(0);
        let mut past: Vec<(Second, JobRecord)> = stays
            .iter()
            .filter(|stay| !stay.is_rejected() && stay.nodes > 0)
            .filter_map(|stay| Some((stay.queued().filter(|&queued| queued < at)?, stay)))
            .map(|(queued, stay)| {
                // Without priority factors, later jobs come behind all waiting ones.
                let priority = match is_multifactor {
                    true => priority(stay, queued),
                    false => stay.priority.map(|_| last - 1),
                };
                (queued, JobRecord { priority, ..stay.clone() })
            })
            .collect();
        past.sort_by_key(|(queued, _)| *queued);
        let mut all = present.clone();
        all.extend(past.iter().map(|(_, stay)| stay.clone()));
        let mut requests = ResolvedRequest::all(machine, &all);
        let of_past = requests.split_off(present.len());
        let past = past.into_iter().zip(of_past);
        let past = past.map(|((at, stay), request)| PastSubmission {
            at,
            times: whole(&stay),
            stay,
            request,
        });
        let past = past.collect();
        let running = InitialState { at, running };
        StartQueue {
            machine,
            conditions,
            sampled,
            at,
            present,
            running,
            times,
            requests,
            past,
            held,
        }
    }

    /// The intervals of all waiting jobs, first of those that wait only for nodes and the queue.
    ///
    /// # Complexity
    /// That of a forecast for each future.
    #[must_use]
    pub fn intervals(&self) -> Vec<StartInterval> {
        let waiting = self.running.running.len()..self.present.len();
        let starts: Vec<Vec<Option<Second>>> =
            (0..self.sampled.count).into_par_iter().map(|future| self.starts(future)).collect();
        let interval = |place: usize| {
            let mut own: Vec<Second> =
                starts.iter().map(|future| future[place].unwrap_or(Second::MAX)).collect();
            own.sort_unstable();
            let last = own.len().saturating_sub(1) as f64;
            let tail = (1.0 - self.sampled.confidence) / 2.0;
            let at = |rank: f64| own.get(rank as usize).copied().filter(|&own| own < Second::MAX);
            StartInterval {
                id: self.present[place].id.clone(),
                earliest: at((tail * last).floor()),
                median: at((0.5 * last).round()),
                latest: at(((1.0 - tail) * last).ceil()),
                held: None,
            }
        };
        waiting.map(interval).chain(self.held.iter().cloned()).collect()
    }

    /// Changes of a waiting job that may let it start sooner, each with its new median start.
    ///
    /// All changes are evaluated in the same futures.
    ///
    /// # Complexity
    /// That of [`StartQueue::intervals`] for each change.
    #[must_use]
    pub fn changes(&mut self, job: &str) -> Vec<(String, Option<Second>)> {
        let waiting = self.running.running.len()..self.present.len();
        let Some(place) = waiting.rev().find(|&place| self.present[place].id == job) else {
            return Vec::new();
        };
        let own = self.present[place].clone();
        let mut changed = Vec::new();
        if own.nodes > 1 {
            let nodes = own.nodes / 2;
            let processors = own.processors.div_ceil(2);
            let what = format!("{nodes} nodes in place of {}", own.nodes);
            changed.push((what, JobRecord { nodes, processors, ..own.clone() }));
        }
        if let Some(limit) = own.limit.filter(|&limit| limit >= 120) {
            let half = limit / 120 * 60;
            let what = format!("a limit of {} min in place of {}", half / 60, limit / 60);
            changed.push((what, JobRecord { limit: Some(half), ..own.clone() }));
        }
        for conf in self.machine.reading.conf.iter().flat_map(|conf| &conf.partitions) {
            let named = own.partition.split(',').any(|name| name == conf.name);
            if !named && self.machine.site(&conf.name).whole.count() >= own.nodes {
                let what = format!("the partition {}", conf.name);
                changed.push((what, JobRecord { partition: conf.name.clone(), ..own.clone() }));
            }
        }
        let (request, times) = (self.requests[place].clone(), self.times[place].clone());
        let mut found = Vec::new();
        for (what, stay) in changed {
            let site = self.machine.site(&stay.partition);
            self.requests[place] = ResolvedRequest::of(self.machine, site, &stay);
            let most = stay.limit.unwrap_or(Second::MAX);
            self.times[place] = times.iter().map(|&runs| runs.min(most)).collect();
            self.present[place] = stay;
            let here = place - self.running.running.len();
            found.push((what, self.intervals()[here].median));
        }
        (self.present[place], self.requests[place], self.times[place]) = (own, request, times);
        found
    }

    /// The start of each present job in a future.
    fn starts(&self, future: u32) -> Vec<Option<Second>> {
        let mut stream = Stream::new(self.sampled.seed, future.into(), "when");
        let mut draw = |times: &[Second]| times[stream.below(times.len() as u64) as usize];
        let (mut stays, mut requests) = (self.present.clone(), self.requests.clone());
        let mut work = 0.0;
        for (stay, times) in stays.iter_mut().zip(&self.times) {
            let runs = draw(times);
            let start = stay.start.unwrap_or(self.at);
            stay.end = Some(start + runs);
            work += (start + runs - self.at) as f64 * f64::from(stay.nodes);
        }
        let drained = work / f64::from(self.machine.nodes_up().max(1));
        let longest = stays.iter().filter_map(|stay| Some(stay.end? - self.at)).max().unwrap_or(0);
        let horizon = (3.0 * drained) as Second + longest.max(SHORTEST_PIECE);
        let here = stays.len();
        self.arrivals(&mut stream, horizon, &mut stays, &mut requests);
        let asked = Forecast {
            cut: Some(&self.running),
            ..Forecast::new(self.machine, &stays, &self.conditions)
        };
        let outcomes = asked.run_resolved(&requests).unwrap_or_default();
        outcomes[..here].iter().map(|own| own.start).collect()
    }

    /// Adds resampled past submissions to a future.
    ///
    /// Pieces of the past begin at random, or in a long history at the same time of the week or
    /// day.
    fn arrivals(
        &self,
        stream: &mut Stream,
        horizon: Second,
        stays: &mut Vec<JobRecord>,
        requests: &mut Vec<ResolvedRequest>,
    ) {
        let Some(first) = self.past.first().map(|own| own.at) else { return };
        let known = (self.at - first).max(1);
        let period = PERIODS.into_iter().find(|&period| known >= LEAST_PERIODS * period);
        let mut covered = 0;
        while covered < horizon {
            let (begin, length) = match period {
                Some(period) => {
                    let back = 1 + stream.below((known / period) as u64) as Second;
                    let length = (horizon - covered).min(period - covered % period);
                    (self.at - back * period + covered % period, length)
                }
                None => {
                    let length = SHORTEST_PIECE.max(horizon / 4).min(known);
                    let latest = (known - length + 1).max(1) as u64;
                    (first + stream.below(latest) as Second, length)
                }
            };
            let from = self.past.partition_point(|own| own.at < begin);
            let until = self.past.partition_point(|own| own.at < begin + length);
            for own in &self.past[from..until] {
                let at = self.at + covered + (own.at - begin);
                let runs = own.times[stream.below(own.times.len() as u64) as usize];
                stays.push(JobRecord {
                    submit: Some(at),
                    eligible: Some(at),
                    start: Some(at),
                    end: Some(at + runs),
                    ..own.stay.clone()
                });
                requests.push(own.request.clone());
            }
            covered += length;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn machine(partitions: &str) -> SlurmMachine {
        let topology = "- topology: flat\n  flat: true\n  cluster_default: true\n".to_owned();
        let conf = format!("NodeName=n[0-3] CPUs=1\n{partitions}");
        let texts =
            vec![(PathBuf::from("topology.yaml"), topology), (PathBuf::from("slurm.conf"), conf)];
        SlurmMachine::made(texts).unwrap()
    }

    const ALL: &str = "PartitionName=p Nodes=ALL Default=YES\n";

    fn job(id: u32, submit: Second, run: Option<(Second, Second)>, nodelist: &str) -> JobRecord {
        JobRecord {
            id: id.to_string(),
            attempt: 1,
            user: "ada".to_owned(),
            partition: "p".to_owned(),
            submit: Some(submit),
            eligible: Some(submit),
            start: run.map(|(start, _)| start),
            end: run.map(|(_, end)| end),
            limit: Some(600),
            nodes: 4,
            exclusive: true,
            nodelist: nodelist.to_owned(),
            ..JobRecord::default()
        }
    }

    const SAMPLED: SampledFutures =
        SampledFutures { count: 50, seed: 1, confidence: 0.9, cleanup: 0 };

    #[test]
    fn equal_run_times_leave_a_single_start() {
        let machine = machine(ALL);
        let mut stays: Vec<JobRecord> =
            (0..30).map(|id| job(id, 100 * i64::from(id), None, "")).collect();
        for (stay, start) in stays.iter_mut().zip((0..).step_by(100)) {
            (stay.start, stay.end) = (Some(start), Some(start + 100));
            stay.nodelist = "n[0-3]".to_owned();
        }
        stays.push(job(30, 3_000, Some((3_000, 3_580)), "n[0-3]"));
        // Later records must not be used: neither the end of the running job above, nor this job.
        stays.push(job(31, 3_010, Some((3_580, 3_590)), "n[0-3]"));
        let queue = StartQueue::of(&machine, &stays, 3_050, SAMPLED);
        let found = queue.intervals();
        assert_eq!(found.len(), 1);
        let own = &found[0];
        assert_eq!(own.id, "31");
        assert_eq!([own.earliest, own.median, own.latest], [Some(3_100); 3]);
    }

    #[test]
    fn intervals_are_wider_for_a_higher_confidence() {
        let machine = machine(ALL);
        let mut stays: Vec<JobRecord> =
            (0..40).map(|id| job(id, 0, Some((0, 60 + 10 * i64::from(id))), "n[0-3]")).collect();
        stays.push(job(40, 1_000, Some((1_000, 9_000)), "n[0-3]"));
        stays.push(job(41, 1_000, None, ""));
        let width = |confidence| {
            let sampled = SampledFutures { confidence, count: 400, ..SAMPLED };
            let own = &StartQueue::of(&machine, &stays, 1_001, sampled).intervals()[0];
            let (first, last) = (own.earliest.unwrap(), own.latest.unwrap());
            assert!(first <= own.median.unwrap() && own.median.unwrap() <= last);
            (first, last)
        };
        let (narrow, wide) = (width(0.5), width(0.9));
        assert!(wide.0 < narrow.0 && narrow.1 < wide.1, "{wide:?} {narrow:?}");
        // Of 40 run times from 60 to 450 s, 5 % are below 80 s and 5 % above 430 s.
        assert!((1_060..=1_090).contains(&wide.0) && (1_420..=1_450).contains(&wide.1));
    }

    #[test]
    fn run_times_are_those_of_the_user_beyond_what_has_passed() {
        let mut stays: Vec<JobRecord> =
            (0..30).map(|id| job(id, 0, Some((0, 10 + i64::from(id))), "n0")).collect();
        let other = |mut stay: JobRecord| {
            stay.user = "bo".to_owned();
            stay
        };
        stays.extend((30..60).map(|id| other(job(id, 0, Some((0, 500)), "n0"))));
        let known = RunTimes::before(&stays, 1_000);
        let own = job(99, 0, None, "");
        assert_eq!(known.of(&own, 0), (10..40).collect::<Vec<Second>>());
        // Too few jobs of its user ran longer than 30 s, so those of all users count.
        let longer = known.of(&own, 30);
        assert!(longer.iter().all(|&runs| runs > 30) && longer.contains(&500));
        // No job has run that long: any time up to the limit is possible.
        let beyond = known.of(&own, 550);
        assert!(beyond.iter().all(|&runs| (551..=600).contains(&runs)), "{beyond:?}");
        // A job that has not ended does not count.
        assert!(RunTimes::before(&stays, 5).ended.is_empty());
    }

    #[test]
    fn another_partition_is_named_with_its_start() {
        let machine =
            machine("PartitionName=p Nodes=n[0-1] Default=YES\nPartitionName=q Nodes=n[2-3]\n");
        let small = |stay: JobRecord| JobRecord { nodes: 2, ..stay };
        let mut stays: Vec<JobRecord> =
            (0..30).map(|id| small(job(id, 0, Some((0, 400)), "n[0-1]"))).collect();
        stays.push(small(job(30, 1_000, Some((1_000, 1_400)), "n[0-1]")));
        stays.push(small(job(31, 1_001, None, "")));
        let mut queue = StartQueue::of(&machine, &stays, 1_010, SAMPLED);
        let before = queue.intervals();
        assert_eq!(before[0].median, Some(1_400));
        let changes = queue.changes("31");
        let of = |what: &str| changes.iter().find(|(own, _)| own.contains(what)).unwrap().1;
        assert_eq!(of("partition q"), Some(1_010));
        assert_eq!(of("1 nodes"), Some(1_400));
        assert_eq!(queue.intervals(), before);
    }

    #[test]
    fn waits_that_were_longer_than_predicted_lengthen_the_interval() {
        let known = |ratio: f64| (0..40).map(|own| (ratio + f64::from(own) / 1e6, true)).collect();
        let ratios = PastRatios { of: [known(0.5), known(2.0), known(3.0)] };
        let own = StartInterval {
            id: "1".to_owned(),
            earliest: Some(115),
            median: Some(125),
            latest: Some(135),
            held: None,
        };
        let found = ratios.correct(own.clone(), 100, 0.9);
        assert_eq!([found.earliest, found.median, found.latest], [Some(105), Some(155), Some(215)]);
        // Half of the starts are unknown: they are only known to be later.
        let mut of = ratios.of;
        of[1] = (0..80).map(|own| (1.0 + f64::from(own), own % 2 == 0)).collect();
        let censored = PastRatios { of };
        assert!(censored.quantile(1, 0.5).unwrap() > 41.0);
        // Too few known starts correct nothing.
        let few = PastRatios { of: [vec![(9.0, true); 5], Vec::new(), vec![(9.0, false); 99]] };
        assert_eq!(few.correct(own.clone(), 100, 0.9), own);
    }

    #[test]
    fn a_held_job_has_a_reason_and_no_interval() {
        let machine = machine(ALL);
        let held = JobRecord { reason: "JobHeldUser".to_owned(), ..job(1, 0, None, "") };
        let found = StartQueue::of(&machine, &[held], 10, SAMPLED).intervals();
        assert_eq!(found[0].median, None);
        assert_eq!(found[0].held.as_ref().map(|own| own.kind), Some("held"));
    }
}
