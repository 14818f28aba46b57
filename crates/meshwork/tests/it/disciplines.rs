//! Tests of properties that particular schedulers and sizings guarantee.
//!
//! A sizing is a strategy that decides how many processors a job gets.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{
    Promises, job, machines, observed, random_jobs, run, scenario, starts, watched,
};
use meshwork::alloc::ALLOCATORS;
use meshwork::job::{Job, Request, Time};
use meshwork::observe::{Event, JobId, MachineState, Observer, Running};
use meshwork::rng::Stream;
use meshwork::sched::SCHEDULERS;
use meshwork::topology::Topology;
use toml::{Table, Value};

/// Records the waiting and running jobs at the end of every instant.
#[derive(Default)]
struct Instants {
    waiting: BTreeMap<JobId, u32>,
    running: BTreeMap<JobId, u32>,
    started: Vec<(JobId, u32, u32)>,
    seen: Vec<Instant>,
}

#[derive(Clone, Debug, PartialEq)]
struct Instant {
    at: Time,
    started: Vec<(JobId, u32, u32)>,
    queues: Vec<Vec<JobId>>,
    running: Vec<usize>,
}

impl Instants {
    fn note(&mut self, now: Time) {
        let of = |jobs: &BTreeMap<JobId, u32>, class: u32| -> Vec<JobId> {
            jobs.iter().filter(|(_, c)| **c == class).map(|(id, _)| *id).collect()
        };
        let instant = Instant {
            at: now,
            started: self.started.clone(),
            queues: (0..4).map(|class| of(&self.waiting, class)).collect(),
            running: (0..4).map(|class| of(&self.running, class).len()).collect(),
        };
        match self.seen.last_mut().filter(|last| last.at == now) {
            Some(last) => *last = instant,
            None => self.seen.push(instant),
        }
    }
}

impl Observer for Instants {
    fn elapsed(&mut self, _from: Time, _to: Time, _state: &MachineState) {
        self.started.clear();
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Arrived(id, job) => drop(self.waiting.insert(*id, job.request.size_class())),
            Event::Started(run) => {
                let class = self.waiting.remove(&run.id).unwrap();
                self.running.insert(run.id, class);
                let cube = Topology::hypercube(3).unwrap();
                let nodes = run.placement.nodes(cube.grid());
                self.started.push((run.id, nodes[0], nodes[nodes.len() - 1]));
            }
            Event::Finished(run) => drop(self.running.remove(&run.id)),
            _ => {}
        }
        self.note(now);
    }
}

#[test]
fn the_lazy_scheduler_instant_by_instant() {
    let case: Table = include_str!("../../../../tests/corpus/lazy.toml").parse().unwrap();
    let array = |value: &Value| value.as_array().unwrap().clone();
    let list = |value: &Value| -> Vec<i64> {
        array(value).iter().map(|v| v.as_integer().unwrap()).collect()
    };
    let lists = |value: &Value| array(value).iter().map(list).collect::<Vec<_>>();
    let id = |number: i64| JobId(number as u64 - 1);
    let jobs: Vec<Job> = lists(&case["jobs"])
        .iter()
        .map(|row| job(row[1] as f64, Request::Subcube(row[0] as u32), row[2] as f64))
        .collect();
    let started = |row: &Vec<i64>| (id(row[0]), row[1] as u32, row[2] as u32);
    let queue = |queue: Vec<i64>| queue.into_iter().map(id).collect();
    let expected: Vec<Instant> = array(&case["instant"])
        .iter()
        .map(|instant| Instant {
            at: Time::new(instant["at"].as_integer().unwrap() as f64),
            started: lists(&instant["started"]).iter().map(started).collect(),
            queues: lists(&instant["queues"]).into_iter().map(queue).collect(),
            running: list(&instant["running"]).into_iter().map(|n| n as usize).collect(),
        })
        .collect();
    assert_eq!(expected.len(), 10);
    let study = scenario(
        "machine = { topology = 'hypercube', dimension = 3 }\nallocator = 'buddy'\nscheduler = 'lazy'",
    );
    let (_, instants) = observed(&study, jobs, Instants::default());
    assert_eq!(instants.seen, expected);
}

/// Workload whose small jobs arrive so fast that some always run, with one job for the whole
/// machine.
fn hostile(count: usize) -> Vec<Job> {
    let mut rng = Stream::new(7, 0, "hostile");
    let mut jobs: Vec<Job> = (0..count)
        .map(|i| {
            let request = Request::Subcube(rng.below(2) as u32);
            job(i as f64 * 0.5, request, 2.0 + rng.below(20) as f64 * 0.1)
        })
        .collect();
    jobs.insert(20, job(9.75, Request::Subcube(4), 1.0));
    jobs
}

#[test]
fn no_job_waits_for_ever_under_lazy_with_a_threshold() {
    let count = 4000;
    let end = count as f64 * 0.5;
    let start = |scheduler: &str| {
        let text = format!(
            "machine = {{ topology = 'hypercube', dimension = 4 }}
             allocator = 'buddy'
             scheduler = {{ name = 'lazy', {scheduler} }}"
        );
        starts(scenario(&text).setup(0).unwrap(), hostile(count))
    };
    for scheduler in [
        "threshold = 'dynamic'",
        "threshold = 'dynamic', retry = true",
        "threshold = 100",
        "threshold = 100, retry = true",
    ] {
        let large = start(scheduler)[20].unwrap_or(f64::INFINITY);
        assert!(large < 0.1 * end, "{scheduler}: the large job starts at {large} of {end}");
    }
    // Without a threshold, the large job starts only after the last arrival, or never if it is not
    // retried.
    assert!(start("threshold = 'none', retry = true")[20].unwrap() > end);
    assert_eq!(start("threshold = 'none'")[20], None);
}

#[test]
fn lazy_with_retry_serves_every_job_on_every_machine() {
    for (machine, topology) in machines() {
        for threshold in ["'dynamic'", "'none'", "3.0"] {
            let text = format!(
                "machine = {{ {machine} }}
                 scheduler = {{ name = 'lazy', threshold = {threshold}, retry = true }}"
            );
            for seed in 0..3 {
                let started = starts(
                    scenario(&text).setup(0).unwrap(),
                    random_jobs(&topology, 150, 4.0, seed),
                );
                assert!(started.iter().all(Option::is_some), "{text} on a {topology}");
            }
        }
    }
}

/// Records started jobs with their size classes. Each size class has a queue.
#[derive(Default)]
struct Order {
    waiting: BTreeMap<JobId, u32>,
    starts: Vec<(JobId, u32)>,
    /// Whether the queue of the last started job's size class has been empty since that start.
    emptied: bool,
}

impl Observer for Order {
    fn observe(&mut self, _now: Time, event: &Event<'_>) {
        match event {
            Event::Arrived(id, job) => drop(self.waiting.insert(*id, job.request.size_class())),
            Event::Started(run) => {
                let class = self.waiting.remove(&run.id).unwrap();
                let moved_on = self.starts.last().is_some_and(|(_, last)| *last != class);
                assert!(!moved_on || self.emptied, "a queue is left before it is empty");
                self.starts.push((run.id, class));
                self.emptied = false;
            }
            _ => {}
        }
        let last = self.starts.last().map(|(_, last)| *last);
        self.emptied |= !self.waiting.values().any(|class| Some(*class) == last);
    }
}

#[test]
fn scan_serves_a_whole_queue_before_the_next() {
    for (machine, topology) in machines() {
        for direction in ["up", "down"] {
            let text = format!(
                "machine = {{ {machine} }}\nscheduler = {{ name = 'scan', direction = '{direction}' }}"
            );
            let jobs = random_jobs(&topology, 400, 3.0, 12);
            let (_, order) = observed(&scenario(&text), jobs, Order::default());
            assert!(order.starts.len() > 350);
            let classes: BTreeSet<u32> = order.starts.iter().map(|(_, class)| *class).collect();
            assert!(classes.len() > 2, "{classes:?}");
            // Jobs of one class start in order of arrival.
            for class in classes {
                let ids = order.starts.iter().filter(|(_, c)| *c == class).map(|(id, _)| *id);
                assert!(ids.is_sorted(), "{text}");
            }
        }
    }
}

#[test]
fn static_partitioning_never_mixes_sizes() {
    let study = scenario(
        "machine = { topology = 'hypercube', dimension = 4 }\nscheduler = 'static_partitioning'",
    );
    let jobs = random_jobs(&Topology::hypercube(4).unwrap(), 1000, 2.0, 9);
    let whole = jobs.iter().filter(|job| job.request.size_class() == 4).count() as u64;
    let mut seen: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let outcome = watched(&study, jobs, |_, event| {
        if let Event::Started(run) = event {
            let class = run.job.request.size_class();
            let nodes = run.placement.nodes(Topology::hypercube(4).unwrap().grid());
            assert_eq!(nodes.len(), 1 << class);
            seen.entry(class).or_default().extend(nodes);
        }
    });
    assert!(whole > 100);
    assert_eq!((outcome.refused, outcome.finished), (whole, 1000 - whole));
    let nodes = |class: u32| seen[&class].iter().copied().collect::<Vec<u32>>();
    assert_eq!(nodes(0), [14, 15]);
    assert_eq!(nodes(1), [12, 13]);
    assert_eq!(nodes(2), [8, 9, 10, 11]);
    assert_eq!(nodes(3), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn static_partitioning_gives_its_partitions_to_all_sizes_of_their_class() {
    let study = scenario(
        "machine = { topology = 'hypercube', dimension = 3 }\nscheduler = 'static_partitioning'",
    );
    let jobs = [(1, 0.0), (1, 1.0), (0, 2.0), (0, 3.0), (3, 4.0)]
        .map(|(dimension, at)| job(at, Request::Subcube(dimension), 10.0))
        .to_vec();
    let (_, transcript) = run(&study, jobs);
    for (started, base) in [(0, 4), (2, 6), (3, 7)] {
        let line = transcript.lines().find(|line| line.contains(&format!("started {started} ")));
        assert!(line.unwrap().contains(&format!("base: {base},")), "{transcript}");
    }
    assert!(transcript.contains("10 started 1 ") && transcript.contains("4 turned away 4"));
}

#[test]
fn a_window_of_one_is_first_come_first_served_and_reservations_of_none_are_a_window() {
    for (machine, topology) in machines() {
        let with = |scheduler: &str| {
            let text = format!("machine = {{ {machine} }}\nscheduler = {scheduler}");
            run(&scenario(&text), random_jobs(&topology, 200, 4.0, 5)).1
        };
        let fcfs = with("'fcfs'");
        assert_eq!(fcfs, with("{ name = 'window', width = 1 }"));
        assert_eq!(fcfs, with("{ name = 'window', skip_limit = 0 }"));
        let window = with("'window'");
        assert_ne!(fcfs, window);
        assert_eq!(window, with("{ name = 'reservation', reservations = 0 }"));
        assert_eq!(window, with("{ name = 'reservation', bypass_limit = 'none' }"));
        assert_ne!(window, with("'reservation'"));
    }
}

#[test]
fn no_job_is_skipped_more_often_than_it_may_be() {
    let (machine, topology) = &machines()[2];
    for limit in [1_usize, 3, 10] {
        let text = format!(
            "machine = {{ {machine} }}\nscheduler = {{ name = 'window', skip_limit = {limit} }}"
        );
        let started = starts(scenario(&text).setup(0).unwrap(), random_jobs(topology, 300, 4.0, 6));
        let skips = |at: usize| {
            let later = started[at + 1..].iter().flatten();
            later.filter(|start| **start < started[at].unwrap()).count()
        };
        let most = (0..started.len()).filter(|&i| started[i].is_some()).map(skips).max();
        assert!(most.unwrap() <= limit, "{most:?} of {limit}");
        assert!(limit > 3 || most == Some(limit), "{most:?} of {limit}");
    }
}

/// Sizings that may fold a job on a machine with few processors.
const SIZINGS: [&str; 7] = [
    "'exact'",
    "{ name = 'rsr', max_folds = 2 }",
    "{ name = 'rsr', max_folds = 1, stretch = 'ratio' }",
    "{ name = 'limit', dimension = 2 }",
    "'greedy_limit'",
    "'average_limit'",
    "{ name = 'average_limit', average = 'requests' }",
];

/// Checks that only folded jobs take longer than their run time.
#[derive(Default)]
struct Services {
    folds: bool,
    folded: usize,
    refused: usize,
    order: Vec<JobId>,
}

impl Observer for Services {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Started(run) => {
                self.order.push(run.id);
                assert!(run.stretch >= 1.0);
                self.folded += usize::from(run.stretch > 1.0);
            }
            Event::Finished(run) => self.check(now, run),
            Event::Refused(..) => self.refused += 1,
            _ => {}
        }
    }
}

impl Services {
    fn check(&self, now: Time, run: &Running) {
        assert!(self.folds || run.stretch <= 1.0);
        assert_eq!(now, run.start + run.job.runtime * run.stretch);
        if run.stretch <= 1.0 {
            assert_eq!(now, run.start + run.job.runtime, "exactly the service time");
            assert!(u64::from(run.held) >= run.asked);
        }
    }
}

#[test]
fn every_pairing_serves_each_job_for_its_time_and_no_longer_but_for_folding() {
    let mut folded = BTreeMap::new();
    let mut turn = 0;
    for (machine, topology) in machines() {
        let jobs = random_jobs(&topology, 60, 4.0, 31);
        for allocator in ALLOCATORS.iter().filter(|a| a.works_on(&topology)) {
            // Malleable schedulers have another service time: see tests/malleable.rs.
            let rigid = SCHEDULERS.iter().filter(|s| !s.malleable);
            for scheduler in rigid.filter(|s| s.serves.contains(&topology.wiring())) {
                // The sizing `exact` is tried with every pair, and two of the other sizings in
                // turn.
                turn += 1;
                let others = SIZINGS[1..].len();
                for sizing in [0, 1 + turn % others, 1 + (turn + 2) % others].map(|i| SIZINGS[i]) {
                    let text = format!(
                        "machine = {{ {machine} }}\nallocator = '{}'\nscheduler = '{}'\nsizing = {sizing}",
                        allocator.about.name, scheduler.about.name
                    );
                    let study = scenario(&text);
                    let (outcome, services) = observed(
                        &study,
                        jobs.clone(),
                        Services { folds: sizing != "'exact'", ..Services::default() },
                    );
                    let value = |name: &str| crate::common::value(&outcome, name).unwrap_or(0.0);
                    assert!(value("internal_fragmentation") >= 0.0, "{text}");
                    assert!(value("utilization") <= 1.0, "{text}");
                    if sizing == "'exact'" {
                        assert!(value("utilization_asked") <= value("utilization") + 1e-12);
                    }
                    // Some schedulers serve only listed sizes, and refuse all other jobs.
                    let served = services.order.len();
                    assert!(served > 0 && served + services.refused > 10, "{text}\n{served} jobs");
                    if scheduler.about.name == "fcfs" {
                        assert!(services.order.is_sorted(), "{text}: starts in order of arrival");
                    }
                    *folded.entry(sizing).or_insert(0) += services.folded;
                }
            }
        }
    }
    for (sizing, count) in folded {
        assert!(sizing == "'exact'" || count > 1000, "{sizing} folded {count} jobs");
    }
}

#[test]
fn folding_never_and_folding_always_are_known_sizings() {
    for (machine, topology) in machines() {
        let largest = topology.grid().nodes().next_power_of_two().trailing_zeros();
        let jobs = random_jobs(&topology, 150, 4.0, 17);
        for scheduler in ["fcfs", "easy", "conservative", "scan", "window"] {
            let with = |sizing: &str| {
                let text = format!(
                    "machine = {{ {machine} }}\nscheduler = '{scheduler}'\nsizing = {sizing}"
                );
                run(&scenario(&text), jobs.clone()).1
            };
            let exact = with("'exact'");
            assert_eq!(exact, with("{ name = 'rsr', max_folds = 0 }"));
            assert_eq!(exact, with(&format!("{{ name = 'limit', dimension = {largest} }}")));
            let greedy = with("'greedy_limit'");
            assert_ne!(exact, greedy, "{scheduler} on a {topology}");
            // Every dimension is halved as often as needed.
            assert_eq!(
                greedy,
                with("{ name = 'rsr', max_folds = 12 }"),
                "{scheduler} on a {topology}"
            );
        }
    }
}

/// Promised start times are kept although jobs may be folded, because estimates are exact.
#[test]
fn promises_are_kept_to_jobs_that_may_be_folded() {
    let mut made = 0;
    for (machine, topology) in machines() {
        for scheduler in ["easy", "conservative"] {
            for sizing in &SIZINGS[1..5] {
                let text = format!(
                    "machine = {{ {machine} }}\nscheduler = '{scheduler}'\nsizing = {sizing}"
                );
                let mut jobs = random_jobs(&topology, 100, 5.0, 41);
                jobs.iter_mut().for_each(|job| job.estimate = job.runtime);
                let study = scenario(&text);
                made += observed(&study, jobs, Promises::renewed()).1.made;
            }
        }
    }
    assert!(made > 1000, "only {made} promises");
}

fn ends(text: &str, jobs: Vec<Job>) -> Vec<Time> {
    let mut ends = BTreeMap::new();
    watched(&scenario(text), jobs, |now, event| {
        if let Event::Finished(run) = event {
            ends.insert(run.id, now);
        }
    });
    ends.into_values().collect()
}

fn cube(dimension: u32, at: f64, runtime: f64) -> Job {
    job(at, Request::Subcube(dimension), runtime)
}

/// Hypercube of eight nodes with the given sizing.
fn with(sizing: &str) -> String {
    format!(
        "machine = {{ topology = 'hypercube', dimension = 3 }}\nallocator = 'buddy'\nsizing = {sizing}"
    )
}

#[test]
fn the_worked_example_of_restricted_size_reduction() {
    let jobs = || vec![cube(2, 0.0, 100.0), cube(0, 0.0, 100.0), cube(2, 1.0, 6.0)];
    let (_, transcript) = run(&scenario(&with("{ name = 'rsr', max_folds = 1 }")), jobs());
    assert!(transcript.contains("1 started 2 site 0 [Block { base: 6, sides: [2, 1, 1] }]"));
    assert_eq!(ends(&with("{ name = 'rsr', max_folds = 1 }"), jobs())[2], Time::new(13.0));
    assert_eq!(ends(&with("{ name = 'rsr', max_folds = 0 }"), jobs())[2], Time::new(106.0));
}

#[test]
fn the_worked_examples_of_limit_allocation() {
    // A 3-cube job on a 1-cube takes four times as long.
    let limit = with("{ name = 'limit', dimension = 1 }");
    assert_eq!(ends(&limit, vec![cube(3, 0.0, 5.0)]), [Time::new(20.0)]);
    // Seven jobs hold a node each. The 2-cube job runs on the only free node, and takes four times
    // as long.
    let mut jobs: Vec<Job> = (0..7).map(|_| cube(0, 0.0, 100.0)).collect();
    jobs.push(cube(2, 1.0, 5.0));
    assert_eq!(ends(&with("'greedy_limit'"), jobs)[7], Time::new(21.0));
    // Two jobs run. With the third job, an equal share is 8 / 3 processors, which is rounded down
    // to 2.
    let jobs = || vec![cube(0, 0.0, 100.0), cube(0, 0.0, 100.0), cube(3, 1.0, 5.0)];
    assert_eq!(ends(&with("'average_limit'"), jobs())[2], Time::new(21.0));
    // With `running_jobs`, only the two running jobs are counted, so a share is half of the
    // machine. With `requests`, the mean of the requested dimensions 0, 0 and 3 is 1.
    let of = |average: &str| with(&format!("{{ name = 'average_limit', average = '{average}' }}"));
    assert_eq!(ends(&of("running_jobs"), jobs())[2], Time::new(11.0));
    assert_eq!(ends(&of("requests"), jobs())[2], Time::new(21.0));
    // Limited to dimension 0, a 7-cube job takes 128 times as long.
    let large = "machine = { topology = 'hypercube', dimension = 8 }
                 sizing = { name = 'limit', dimension = 0 }";
    assert_eq!(ends(large, vec![cube(7, 0.0, 1.0)]), [Time::new(128.0)]);
}

#[test]
fn a_block_is_folded_along_its_longer_side() {
    // Six of eight columns are held. The job of 5 × 3 does not fit folded to 3 × 3, but folded to 2
    // × 3 it fits in the other two columns.
    let text = |sizing: &str| {
        format!("machine = {{ topology = 'mesh', dims = [8, 8] }}\nsizing = {sizing}")
    };
    let jobs =
        || vec![job(0.0, Request::block(&[6, 8]), 50.0), job(1.0, Request::block(&[5, 3]), 6.0)];
    assert_eq!(ends(&text("{ name = 'rsr', max_folds = 1 }"), jobs())[1], Time::new(56.0));
    assert_eq!(ends(&text("{ name = 'rsr', max_folds = 2 }"), jobs())[1], Time::new(25.0));
    let ratio = "{ name = 'rsr', max_folds = 2, stretch = 'ratio' }";
    assert_eq!(ends(&text(ratio), jobs())[1], Time::new(1.0 + 6.0 * (5.0 / 3.0) * (3.0 / 2.0)));
}

fn first_nodes(text: &str, jobs: Vec<Job>) -> Vec<Option<u32>> {
    let mut seen = vec![None; jobs.len()];
    watched(&scenario(text), jobs, |_, event| {
        if let Event::Started(run) = event {
            seen[run.id.0 as usize] = Some(run.placement.blocks[0].base);
        }
    });
    seen
}

/// Two jobs end at time 5, and the overdue first waiting job is placed between their releases.
///
/// At this moment the lists of free blocks have {7}, {4, 5} and {0 to 3}. The smallest block that
/// suffices is {4, 5}.
#[test]
fn lazy_places_as_if_subcubes_not_yet_given_back_were_held() {
    let jobs = vec![cube(2, 0.0, 1.0), cube(1, 0.0, 5.0), cube(0, 0.0, 5.0), cube(1, 2.0, 1.0)];
    let on = "machine = { topology = 'hypercube', dimension = 3 }
        allocator = { name = 'buddy', form = 'lists' }";
    let firsts = first_nodes(&format!("{on}\nscheduler = 'lazy'"), jobs);
    assert_eq!(firsts, [Some(0), Some(4), Some(6), Some(4)]);
}

/// The first waiting job is promised nodes 2 to 5, of which 2 and 3 are still held.
///
/// A small job that would run beyond the promised start is placed by best fit as if nodes 2 to 5
/// were all held. So it gets node 6, which then has held neighbours on both sides, and not node 0.
#[test]
fn easy_places_a_later_job_as_if_what_is_promised_were_held() {
    let block = |at, length, runtime| job(at, Request::block(&[length]), runtime);
    let jobs = vec![
        block(0.0, 1, 0.5),
        block(0.0, 1, 100.0),
        block(0.0, 2, 10.0),
        block(0.0, 3, 0.5),
        block(0.0, 1, 100.0),
        block(1.0, 4, 10.0),
        block(1.0, 1, 100.0),
    ];
    let on = "machine = { topology = 'mesh', dims = [8] }\nallocator = 'best_fit'";
    let firsts = first_nodes(&format!("{on}\nscheduler = 'easy'"), jobs);
    let expected = [0, 1, 2, 4, 7, 2, 6];
    assert_eq!(firsts, expected.map(Some));
}

/// With a pass after each event, two simultaneous ends of jobs are noticed one after the other.
///
/// In the first pass, the second job still holds its nodes. So a waiting job that needs the nodes
/// of both jobs starts only in the second pass. Under `window`, a smaller job starts before it.
#[test]
fn a_pass_for_each_event_sees_the_events_of_an_instant_one_by_one() {
    let jobs = || {
        let nodes = |at, count, runtime| job(at, Request::Nodes(count), runtime);
        vec![nodes(0.0, 3, 4.0), nodes(0.0, 2, 4.0), nodes(1.0, 5, 1.0), nodes(2.0, 3, 1.0)]
    };
    let ends = |passes: &str, scheduler: &str| {
        ends(&format!("machine = {{ topology = 'flat', processors = 5 }}\n{passes}\nscheduler = '{scheduler}'"), jobs())
            .iter()
            .map(|end| end.units())
            .collect::<Vec<f64>>()
    };
    for default in ["", "passes = 'instant'"] {
        assert_eq!(ends(default, "window"), [4.0, 4.0, 5.0, 6.0], "both are free in the one pass");
    }
    assert_eq!(ends("passes = 'event'", "window"), [4.0, 4.0, 6.0, 5.0]);
    assert_eq!(ends("passes = 'event'", "fcfs"), [4.0, 4.0, 5.0, 6.0]);
}

/// The threshold of `lazy` counts arrivals since the first one, or since 0 if `rate_from = "zero"`.
#[test]
fn the_rate_of_arrivals_counts_from_the_first_or_from_zero() {
    let jobs = || {
        vec![
            cube(2, 10.0, 1.0), // the whole machine, to 11
            cube(2, 10.0, 1.5), // waits for 1, to 12.5
            cube(2, 10.0, 1.0), // waits for 2.5, to 13.5
            cube(0, 12.6, 9.0), // of the other class, from 13.5 on if it is oldest and overdue
            cube(2, 12.7, 1.0),
        ]
    };
    let text = |more: &str| {
        format!(
            "machine = {{ topology = 'hypercube', dimension = 2 }}\nallocator = 'buddy'
             scheduler = {{ name = 'lazy'{more} }}"
        )
    };
    let first = ends(&text(""), jobs());
    assert_eq!(first, ends(&text(", rate_from = 'first_arrival'"), jobs()));
    // At 13.5 the mean delay is 3.5 / 3. Since the first arrival, jobs arrive at the rate 5 / 3.5,
    // and the job of one node may wait for 1.94 units of time. Since time 0, the rate is 5 / 13.5,
    // and this job may wait for 0.50 units, less than it has waited.
    assert_eq!(first[4], Time::new(14.5));
    let zero = ends(&text(", rate_from = 'zero'"), jobs());
    assert_eq!(zero[3], Time::new(22.5));
}
