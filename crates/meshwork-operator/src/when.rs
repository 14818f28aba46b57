//! Predicts when waiting jobs start: a site's modelled scheduler runs over sampled futures.
//!
//! In a future, run times are drawn from ended jobs, and submissions are copies of earlier ones.
//! Records after the instant of the prediction are not used.

use std::collections::BTreeMap;
use std::sync::Arc;

use meshwork::rng::Stream;
use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::controller::future::{LaterJob, ReplayState};
use super::controller::rules::SiteRules;
use super::state::{HeldBack, MachineState};
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_lab::text::number::plural;
use meshwork_slurm::history::{JobRecord, Second};

/// Minimum number of similar jobs from which run times are drawn.
const LEAST_SIMILAR: usize = 20;

/// Largest ratio between the time limits of two jobs that count as similar.
const SIMILAR_LIMITS: f64 = 1.5;

/// Possible periods of submissions in seconds: a week and a day. A period is used if the history is
/// at least [`LEAST_PERIODS`] times as long.
const PERIODS: [Second; 2] = [7 * 86_400, 86_400];
const LEAST_PERIODS: Second = 3;

/// Fraction of sampled futures without submissions, for histories shorter than three days.
const LULLS: f64 = 0.2;

/// Shortest stretch of past submissions that is resampled, in seconds.
const SHORTEST_PIECE: Second = 60;

/// Number of earlier instants at which predictions are compared with recorded starts.
const EARLIER: Second = 8;

/// Minimum number of recorded starts that are needed to correct predicted intervals.
const LEAST_STARTS: usize = 30;

/// Seconds added to two waits before their ratio is taken, because waits are only known to the
/// second.
const SLACK: f64 = 5.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledFutures {
    pub count: u32,
    pub seed: u64,
    /// Probability with which a job should start within its predicted interval.
    pub confidence: f64,
    /// Seconds from the end of a job until its nodes can be allocated again.
    pub cleanup: Second,
}

/// Interval in which a waiting job is likely to start.
///
/// A time is `None` if too few sampled futures have a start. A future ends when all waiting jobs
/// have started, or when the machine has been idle for a while.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartInterval {
    pub id: String,
    pub earliest: Option<Second>,
    pub median: Option<Second>,
    pub latest: Option<Second>,
    /// Reason why Slurm holds the job back, if it does.
    pub held: Option<HeldBack>,
    /// Whether the job could not even start on the empty machine.
    pub is_hopeless: bool,
}

impl StartInterval {
    /// JSON object of the interval. Its times are in seconds since 1970.
    pub fn json(&self) -> Json {
        let reason = self.held.as_ref().map(|own| json!({ "kind": own.kind, "says": own.says }));
        json!({
            "job": self.id, "earliest": self.earliest, "median": self.median,
            "latest": self.latest, "reason": reason,
        })
    }
}

#[derive(Clone, Debug, Default)]
pub struct RunTimes<'a> {
    ended: Vec<(&'a JobRecord, Second)>,
}

impl<'a> RunTimes<'a> {
    pub fn before(stays: &'a [JobRecord], at: Second) -> RunTimes<'a> {
        let run = |stay: &'a JobRecord| {
            let (start, end) = stay.start.zip(stay.end).filter(|(_, end)| *end <= at)?;
            Some((stay, (end - start).max(1)))
        };
        RunTimes { ended: stays.iter().filter_map(run).collect() }
    }

    /// Sample of run times in seconds, for a job that has run for `elapsed` seconds.
    ///
    /// The sample is taken from jobs with a similar time limit: of the same user, or, if there are
    /// too few, of all users. If there are still too few, run times of all jobs are added, scaled
    /// by the ratio of the time limits. Only run times longer than `elapsed` count. If there are
    /// none, the sample is ten evenly spaced times up to the time limit, but at most `elapsed` plus
    /// the longer of one hour and `elapsed`.
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

/// Ratios of real to predicted waits at earlier instants, for each time of a [`StartInterval`].
///
/// The model ignores some effects. The ratios show by what factor its predictions are therefore too
/// early or too late.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastRatios {
    /// Ratios of real to predicted waits, in ascending order.
    ///
    /// There is a list for each time of a predicted interval: the earliest, median and latest
    /// start. The flag is `false` if the start is unknown; the real wait is then a lower bound.
    of: [Vec<(f64, bool)>; 3],
}

impl PastRatios {
    /// Compares waits that were predicted at earlier instants with the waits recorded before `at`.
    pub fn before(
        machine: &SlurmMachine,
        stays: &[JobRecord],
        at: Second,
        sampled: SampledFutures,
    ) -> Result<PastRatios, String> {
        let mut ratios = PastRatios::default();
        let first = stays.iter().filter_map(JobRecord::queued).min();
        let Some(first) = first else { return Ok(ratios) };
        let all = SiteRules::of(machine);
        let sampled = SampledFutures { count: (sampled.count / 8).max(20), ..sampled };
        for earlier in 1..=EARLIER {
            let then = first + (at - first).max(0) * earlier / (EARLIER + 1);
            let rules = all.known_at(then);
            for own in StartQueue::of(machine, &rules, stays, then, sampled)?.intervals()? {
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
        Ok(ratios)
    }

    /// Quantile of the ratios of real waits to predicted waits, by the Kaplan–Meier estimator.
    ///
    /// It is `None` if too few starts are known.
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

    /// Corrects a predicted interval by the ratios of real to predicted waits at earlier instants.
    ///
    /// The interval never becomes shorter. If earlier intervals were too long, this does not show
    /// that a shorter one would be enough now.
    pub fn correct(&self, own: StartInterval, at: Second, confidence: f64) -> StartInterval {
        let tail = (1.0 - confidence) / 2.0;
        let corrected = |bound: usize, share: f64, time: Option<Second>| {
            let ratio = self.quantile(bound, share);
            let ratio = match bound {
                0 => ratio.map(|own| own.min(1.0)),
                2 => ratio.map(|own| own.max(1.0)),
                _ => ratio,
            };
            let Some(ratio) = ratio else { return time };
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

/// Jobs known at an instant, from which possible continuations (futures) are sampled.
pub struct StartQueue<'a> {
    machine: &'a SlurmMachine,
    rules: &'a SiteRules,
    sampled: SampledFutures,
    at: Second,
    known: Vec<JobRecord>,
    /// Number of running jobs; `present` also counts waiting jobs.
    running: usize,
    present: usize,
    state: ReplayState<'a>,
    /// Possible run times of each running or waiting job, in seconds.
    times: Vec<Arc<[Second]>>,
    past: Vec<PastSubmission>,
    held: Vec<StartInterval>,
}

struct PastSubmission {
    at: Second,
    job: usize,
    times: Arc<[Second]>,
}

impl<'a> StartQueue<'a> {
    /// Running and waiting jobs just before a second. `rules` are the rules known then
    /// ([`SiteRules::known_at`]).
    pub fn of(
        machine: &'a SlurmMachine,
        rules: &'a SiteRules,
        stays: &[JobRecord],
        at: Second,
        sampled: SampledFutures,
    ) -> Result<StartQueue<'a>, String> {
        let lengths = RunTimes::before(stays, at);
        // Before its start, only user and time limit tell how long a job may run.
        let mut drawn: BTreeMap<(String, Option<Second>), Arc<[Second]>> = BTreeMap::new();
        let mut whole = |stay: &JobRecord| {
            let times = drawn.entry((stay.user.clone(), stay.limit));
            Arc::clone(times.or_insert_with(|| lengths.of(stay, 0).into()))
        };
        let (mut running, mut waiting, mut ended) = (Vec::new(), Vec::new(), Vec::new());
        let (mut held, mut times) = (Vec::new(), Vec::new());
        for stay in stays.iter().filter(|stay| !stay.is_rejected() && stay.nodes > 0) {
            let is_submitted = stay.submit.or(stay.eligible).is_some_and(|submit| submit <= at);
            let is_left = stay.end.is_none_or(|end| end > at);
            // Remove unknown starts and ends. The start of a waiting job becomes its end, at which
            // its priority was recorded.
            let open = |start: Option<Second>| JobRecord {
                start,
                end: if start.is_some() { None } else { stay.start.or(stay.end) },
                state: String::new(),
                ..stay.clone()
            };
            match stay.start.filter(|&start| start < at) {
                Some(start) if is_left && stay.ran() => {
                    times.push(lengths.of(stay, at - start).into());
                    running.push(open(Some(start)));
                }
                None if is_left && is_submitted => match MachineState::reason_at(stay, at) {
                    Some(reason) => held.push(StartInterval {
                        id: stay.id.clone(),
                        held: Some(reason),
                        ..StartInterval::default()
                    }),
                    None => waiting.push(open(None)),
                },
                _ if stay.queued().is_some_and(|queued| queued < at) => ended.push(stay.clone()),
                _ => {}
            }
        }
        times.extend(waiting.iter().map(&mut whole));
        let (first, present) = (running.len(), running.len() + waiting.len());
        let known = [running, waiting, ended].concat();
        let past = known.iter().enumerate().filter_map(|(job, stay)| {
            let at = stay.queued().filter(|&queued| queued < at)?;
            Some(PastSubmission { at, job, times: whole(stay) })
        });
        let mut past: Vec<PastSubmission> = past.collect();
        past.sort_by_key(|own| own.at);
        let state = ReplayState::recorded(machine, rules, known.clone(), present, at)?;
        let running = first;
        Ok(StartQueue {
            machine,
            rules,
            sampled,
            at,
            known,
            running,
            present,
            state,
            times,
            past,
            held,
        })
    }

    /// Predicted start intervals of all waiting jobs. Jobs that are not held back come first.
    pub fn intervals(&self) -> Result<Vec<StartInterval>, String> {
        let futures = (0..self.sampled.count).into_par_iter().map(|future| self.starts(future));
        let starts: Vec<Vec<Option<Second>>> = futures.collect::<Result<_, String>>()?;
        let interval = |place: usize| {
            let mut own: Vec<Second> =
                starts.iter().map(|future| future[place].unwrap_or(Second::MAX)).collect();
            own.sort_unstable();
            let last = own.len().saturating_sub(1) as f64;
            let tail = (1.0 - self.sampled.confidence) / 2.0;
            let at = |rank: f64| own.get(rank as usize).copied().filter(|&own| own < Second::MAX);
            StartInterval {
                id: self.known[place].id.clone(),
                earliest: at((tail * last).floor()),
                median: at((0.5 * last).round()),
                latest: at(((1.0 - tail) * last).ceil()),
                held: None,
                is_hopeless: self.state.is_hopeless(place),
            }
        };
        let waiting = (self.running..self.present).map(interval);
        Ok(waiting.chain(self.held.iter().cloned()).collect())
    }

    /// Changes to a waiting job's request that may let it start sooner.
    ///
    /// Each change comes with the median start that it would give. All changes are tried in the
    /// same sampled futures.
    ///
    /// # Complexity
    /// The time of [`StartQueue::intervals`] for each change.
    pub fn changes(&mut self, job: &str) -> Result<Vec<(String, Option<Second>)>, String> {
        let mut waiting = (self.running..self.present).rev();
        let Some(place) = waiting.find(|&place| self.known[place].id == job) else {
            return Ok(Vec::new());
        };
        let own = self.known[place].clone();
        let mut changed = Vec::new();
        if own.nodes > 1 {
            let nodes = own.nodes / 2;
            let processors = own.processors.div_ceil(2);
            let what = format!("{} instead of {}", plural(nodes.into(), "node"), own.nodes);
            changed.push((what, JobRecord { nodes, processors, ..own.clone() }));
        }
        if let Some(limit) = own.limit.filter(|&limit| limit >= 120) {
            let half = limit / 120 * 60;
            let what = format!("a limit of {} min instead of {}", half / 60, limit / 60);
            changed.push((what, JobRecord { limit: Some(half), ..own.clone() }));
        }
        let asked = if own.partitions.is_empty() { &own.partition } else { &own.partitions };
        for partition in &self.rules.partitions {
            let is_named = asked.split(',').any(|name| name == partition.name);
            if !is_named && self.machine.site(&partition.name).whole.count() >= own.nodes {
                let what = format!("the partition {}", partition.name);
                let (partition, partitions) = (partition.name.clone(), String::new());
                changed.push((what, JobRecord { partition, partitions, ..own.clone() }));
            }
        }
        let times = self.times[place].clone();
        let mut found = Vec::new();
        for (what, stay) in changed {
            let most = stay.limit.unwrap_or(Second::MAX);
            self.times[place] = times.iter().map(|&runs| runs.min(most)).collect();
            self.known[place] = stay;
            self.state = self.state_now()?;
            self.state.change();
            found.push((what, self.intervals()?[place - self.running].median));
        }
        (self.known[place], self.times[place]) = (own, times);
        self.state = self.state_now()?;
        Ok(found)
    }

    fn state_now(&self) -> Result<ReplayState<'a>, String> {
        let known = self.known.clone();
        ReplayState::recorded(self.machine, self.rules, known, self.present, self.at)
    }

    fn starts(&self, future: u32) -> Result<Vec<Option<Second>>, String> {
        let mut stream = Stream::new(self.sampled.seed, future.into(), "when");
        let draw = |times: &Arc<[Second]>| times[stream.below(times.len() as u64) as usize];
        let mut runs: Vec<Second> = self.times.iter().map(draw).collect();
        for (runs, stay) in runs[..self.running].iter_mut().zip(&self.known) {
            *runs -= self.at - stay.start.unwrap_or(self.at);
        }
        let work = runs.iter().zip(&self.known);
        let work: f64 = work.map(|(runs, stay)| *runs as f64 * f64::from(stay.nodes)).sum();
        let drained = work / f64::from(self.machine.nodes_up().max(1));
        let longest = runs.iter().copied().max().unwrap_or(0);
        let horizon = (3.0 * drained) as Second + longest.max(SHORTEST_PIECE);
        let later = self.later(&mut stream, horizon);
        self.state.starts(&runs, &later, self.sampled.cleanup, self.at + 2 * horizon)
    }

    /// Submissions in one sampled future, put together from stretches of the past. In a long
    /// history, a stretch comes from the same time of the week or day. In a short history, it
    /// begins at a random time in a recent part of the past. Each future draws the length of this
    /// part between a minute and the whole past, uniformly on a logarithmic scale. Some futures of
    /// a short history have no submissions.
    fn later(&self, stream: &mut Stream, horizon: Second) -> Vec<LaterJob> {
        let mut later = Vec::new();
        let Some(first) = self.past.first().map(|own| own.at) else { return later };
        let known = (self.at - first).max(1);
        let period = PERIODS.into_iter().find(|&period| known >= LEAST_PERIODS * period);
        let shortest = SHORTEST_PIECE.min(known);
        if period.is_none() && stream.unit() < LULLS {
            return later;
        }
        let longer = libm::pow(known as f64 / shortest as f64, stream.unit());
        let recent = ((shortest as f64 * longer) as Second).clamp(shortest, known);
        let mut covered = 0;
        while covered < horizon {
            let (begin, length) = match period {
                Some(period) => {
                    let back = 1 + stream.below((known / period) as u64) as Second;
                    let length = (horizon - covered).min(period - covered % period);
                    (self.at - back * period + covered % period, length)
                }
                None => {
                    let length = SHORTEST_PIECE.max(horizon / 4).min(recent);
                    let latest = (recent - length + 1).max(1) as u64;
                    (self.at - recent + stream.below(latest) as Second, length)
                }
            };
            let from = self.past.partition_point(|own| own.at < begin);
            let until = self.past.partition_point(|own| own.at < begin + length);
            for own in &self.past[from..until] {
                let at = self.at + covered + (own.at - begin);
                later.push((own.job, at, own.times[stream.below(own.times.len() as u64) as usize]));
            }
            covered += length;
        }
        later
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshwork_lab::slurm::folder::FLAT;

    fn machine(partitions: &str) -> SlurmMachine {
        let conf = format!("NodeName=n[0-3] CPUs=1\n{partitions}");
        SlurmMachine::made([("topology.yaml", FLAT), ("slurm.conf", &conf)]).unwrap()
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

    fn intervals(
        machine: &SlurmMachine,
        stays: &[JobRecord],
        at: Second,
        sampled: SampledFutures,
    ) -> Vec<StartInterval> {
        let rules = SiteRules::of(machine).known_at(at);
        StartQueue::of(machine, &rules, stays, at, sampled).unwrap().intervals().unwrap()
    }

    const SAMPLED: SampledFutures =
        SampledFutures { count: 50, seed: 1, confidence: 0.9, cleanup: 0 };

    #[test]
    fn equal_run_times_leave_a_single_start() {
        let machine = machine(ALL);
        let run = |id, at| job(id, at, Some((at, at + 100)), "n[0-3]");
        let mut stays: Vec<JobRecord> = (0..30).map(|id| run(id, 100 * i64::from(id))).collect();
        stays.push(job(30, 3_000, Some((3_000, 3_580)), "n[0-3]"));
        // Later records must not be used: the end of the running job above, and this job.
        stays.push(job(31, 3_010, Some((3_580, 3_590)), "n[0-3]"));
        let found = intervals(&machine, &stays, 3_050, SAMPLED);
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
            let own = &intervals(&machine, &stays, 1_001, sampled)[0];
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
        let other = |stay: JobRecord| JobRecord { user: "bo".to_owned(), ..stay };
        stays.extend((30..60).map(|id| other(job(id, 0, Some((0, 500)), "n0"))));
        let known = RunTimes::before(&stays, 1_000);
        let own = job(99, 0, None, "");
        assert_eq!(known.of(&own, 0), (10..40).collect::<Vec<Second>>());
        // Too few jobs of the user ran longer than 30 s.
        let longer = known.of(&own, 30);
        assert!(longer.iter().all(|&runs| runs > 30) && longer.contains(&500));
        // No job has run for so long: any time up to the limit is possible.
        let beyond = known.of(&own, 550);
        assert!(beyond.iter().all(|&runs| (551..=600).contains(&runs)), "{beyond:?}");
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
        let rules = SiteRules::of(&machine);
        let mut queue = StartQueue::of(&machine, &rules, &stays, 1_010, SAMPLED).unwrap();
        let before = queue.intervals().unwrap();
        assert_eq!(before[0].median, Some(1_400));
        let changes = queue.changes("31").unwrap();
        let of = |what: &str| changes.iter().find(|(own, _)| own.contains(what)).unwrap().1;
        assert_eq!(of("partition q"), Some(1_010));
        assert_eq!(of("1 node instead of 2"), Some(1_400));
        assert_eq!(queue.intervals().unwrap(), before);
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
            is_hopeless: false,
        };
        let found = ratios.correct(own.clone(), 100, 0.9);
        assert_eq!([found.earliest, found.median, found.latest], [Some(105), Some(155), Some(215)]);
        let mut of = ratios.of;
        of[1] = (0..80).map(|own| (1.0 + f64::from(own), own % 2 == 0)).collect();
        let censored = PastRatios { of };
        assert!(censored.quantile(1, 0.5).unwrap() > 41.0);
        let few = PastRatios { of: [vec![(9.0, true); 5], Vec::new(), vec![(9.0, false); 99]] };
        assert_eq!(few.correct(own.clone(), 100, 0.9), own);
    }

    #[test]
    fn a_held_job_has_a_reason_and_no_interval() {
        let machine = machine(ALL);
        let held = JobRecord { reason: "JobHeldUser".to_owned(), ..job(1, 0, None, "") };
        let found = intervals(&machine, &[held], 10, SAMPLED);
        assert_eq!(found[0].median, None);
        assert_eq!(found[0].held.as_ref().map(|own| own.kind), Some("held"));
    }
}
