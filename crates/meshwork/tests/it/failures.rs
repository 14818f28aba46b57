//! Tests of machines that fail: sums of node time, invariants, and formulas of queueing theory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::common::{
    Diary, Each, Given, Promises, SITES, allocators_on, interval, machines, metric, observed,
    random_jobs, refusal, replicate, run, scenario, schedulers_for_all_wirings,
};
use meshwork::cluster::Cluster;
use meshwork::conformance::submissions;
use meshwork::failures::daly;
use meshwork::job::{Job, Request, Time};
use meshwork::observe::{Event, JobId, MachineState, Observer};
use meshwork::scenario::{Outcome, Scenario};
use meshwork::sched::Scheduler;
use meshwork::topology::{Node, Topology};
use meshwork::workload::NoInputs;

/// Checks that no job holds a node out of service, and that interrupted jobs wait again.
///
/// All node time of jobs goes into work that lasts, work lost by a failure, or checkpoints.
struct Books {
    topologies: Vec<Topology>,
    owners: BTreeMap<(usize, Node), JobId>,
    down: BTreeSet<(usize, Node)>,
    waiting: BTreeSet<JobId>,
    /// For each job: work that no failure has undone, interruptions, and processor time.
    jobs: BTreeMap<JobId, (f64, u32, f64)>,
    finished: u64,
    interrupted: u64,
    downs: u64,
    lost: f64,
    /// Whether a job's work equals its run time, as on the network `ideal`.
    is_ideal: bool,
}

impl Books {
    fn new(scenario: &Scenario, is_ideal: bool) -> Books {
        Books {
            topologies: scenario.topologies(),
            owners: BTreeMap::new(),
            down: BTreeSet::new(),
            waiting: BTreeSet::new(),
            jobs: BTreeMap::new(),
            finished: 0,
            interrupted: 0,
            downs: 0,
            lost: 0.0,
            is_ideal,
        }
    }
}

impl Observer for Books {
    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
        assert!(from < to);
        assert_eq!(state.down, self.down.len() as u64, "at {to}");
        assert_eq!(state.waiting, self.waiting.len() as u64, "at {to}");
        assert_eq!(state.held, self.owners.len() as u64, "at {to}");
        let running: BTreeSet<JobId> = self.owners.values().copied().collect();
        assert_eq!(state.running, running.len() as u64, "at {to}");
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Arrived(id, _) => assert!(self.waiting.insert(*id)),
            Event::TurnedAway(id, _) => assert!(self.waiting.remove(id)),
            Event::Started(run) => {
                assert!(self.waiting.remove(&run.id), "job {} started and did not wait", run.id.0);
                for node in run.placement.nodes(self.topologies[run.site].grid()) {
                    let at = (run.site, node);
                    assert!(!self.down.contains(&at), "job {} on {at:?}, which is down", run.id.0);
                    assert_eq!(self.owners.insert(at, run.id), None, "{at:?} is held");
                }
                let (_, interruptions, earlier) =
                    self.jobs.get(&run.id).copied().unwrap_or_default();
                assert_eq!(run.wear().interruptions, interruptions);
                assert!((run.wear().earlier - earlier).abs() < 1e-9);
            }
            Event::Interrupted(run) | Event::Finished(run) => {
                self.owners.retain(|_, owner| *owner != run.id);
                let is_finished = matches!(event, Event::Finished(_));
                let (work, interruptions, earlier) = self.jobs.entry(run.id).or_default();
                let (span, wear) = (now - run.start, run.wear());
                *work += (span - wear.lost - wear.overhead) / run.stretch;
                *earlier += span;
                self.lost += wear.lost * f64::from(run.held);
                assert!(wear.lost >= 0.0 && wear.overhead >= 0.0);
                if is_finished {
                    self.finished += 1;
                    assert!(wear.lost.abs() < f64::MIN_POSITIVE);
                    let short = (*work - run.job.runtime).abs();
                    assert!(!self.is_ideal || short < 1e-6, "{work} of {}", run.job.runtime);
                } else {
                    *interruptions += 1;
                    assert_eq!(wear.interruptions, *interruptions);
                    self.interrupted += 1;
                    assert!(self.waiting.insert(run.id));
                }
            }
            Event::Down { site, node } => {
                let at = (*site, *node);
                assert!(!self.owners.contains_key(&at), "{at:?} goes down under a job");
                assert!(self.down.insert(at), "{at:?} is down already");
                self.downs += 1;
            }
            Event::Up { site, node } => assert!(self.down.remove(&(*site, *node))),
            _ => {}
        }
    }
}

fn books_of(scenario: &Scenario, jobs: Vec<Job>) -> (Outcome, Books) {
    let (outcome, books) = observed(
        scenario,
        jobs,
        Books::new(scenario, scenario.table()["network"]["name"].as_str() == Some("ideal")),
    );
    (outcome, books)
}

const KINDS: [&str; 4] = [
    "failures = { mtbf = 200, repair = 4 }",
    "failures = { mtbf = { name = 'weibull', shape = 0.7, scale = 150 }, repair = { name = 'log_normal', median = 2, sigma = 1 },
                  on_failure = 'restart', checkpoint = { every = 1.5, cost = 0.25 } }",
    "failures = { mtbf = 250, repair = { name = 'constant', value = 3 }, on_failure = 'restart',
                  maintenance = [{ from = 20, until = 30, nodes = '0-4' }, { from = 55.5, until = 56.5 }],
                  drain = [{ from = 10, until = 60, nodes = '3-6' }] }",
    "failures = { mtbf = 200, repair = 2.5, checkpoint = { every = 'daly', cost = 0.3 }, drain = [{ from = 40, nodes = '1', until = 90 }] }",
];

/// Runs every scheduler, with a few allocators on machines of every wiring.
#[test]
fn nobody_runs_on_what_is_down_and_the_books_balance() {
    let (mut interrupted, mut finished, mut downs) = (0, 0, 0);
    for (machine, topology) in machines() {
        let allocators = allocators_on(&topology, 9);
        for scheduler in schedulers_for_all_wirings() {
            for (index, allocator) in allocators.iter().enumerate() {
                let kind = KINDS[(index + scheduler.about.name.len()) % KINDS.len()];
                let text = format!(
                    "machine = {{ {machine} }}\nallocator = '{allocator}'\nscheduler = '{}'\n{kind}",
                    scheduler.about.name
                );
                let study = scenario(&text);
                let jobs = random_jobs(&topology, 80, 3.0, 1);
                let (outcome, books) = books_of(&study, jobs.clone());
                assert_eq!(outcome.finished, books.finished, "{text}");
                if scheduler.serves_all {
                    assert_eq!(books.waiting.len(), 0, "{text}");
                }
                assert!(
                    (metric(&outcome, "lost_node_hours") - books.lost / 3600.0).abs() < 1e-9,
                    "{text}"
                );
                let (utilization, goodput) =
                    (metric(&outcome, "utilization"), metric(&outcome, "goodput"));
                assert!(goodput <= utilization + 1e-12, "{text}");
                assert!(
                    kind.contains("checkpoint")
                        || books.lost > 0.0
                        || (goodput - utilization).abs() < f64::MIN_POSITIVE,
                    "{text}"
                );
                interrupted += books.interrupted;
                finished += books.finished;
                downs += books.downs;
                assert_eq!(
                    run(&study, jobs.clone()).1,
                    run(&study, jobs).1,
                    "{text}: the same run twice"
                );
            }
        }
    }
    assert!(
        interrupted > 800 && finished > 5000 && downs > 1500,
        "{interrupted} {finished} {downs}"
    );
}

#[test]
fn sites_fail_too() {
    for scheduler in schedulers_for_all_wirings() {
        for kind in KINDS {
            let text = format!("{SITES}\nscheduler = '{}'\n{kind}", scheduler.about.name);
            let jobs = random_jobs(&Topology::flat(14).unwrap(), 100, 12.0, 1);
            let (outcome, books) = books_of(&scenario(&text), jobs);
            assert_eq!(outcome.finished, books.finished, "{text}");
            assert!(books.downs > 0, "{text}");
        }
    }
}

#[test]
fn whole_blocks_switches_and_links_fail() {
    for (machine, more) in [
        ("topology = 'mesh', dims = [8, 8]", "scope = 'block', block = [4, 2]"),
        ("topology = 'torus', dims = [6, 6]", "scope = 'link'"),
        ("topology = 'hypercube', dimension = 6", "scope = 'block', block = 3"),
        ("topology = 'fat_tree', arity = [8, 4]", "scope = 'switch'"),
        ("topology = 'dragonfly', p = 2, a = 4, h = 2", "scope = 'switch'"),
        ("topology = 'flat', processors = 60", "scope = 'block', block = 6"),
        ("topology = 'mesh', dims = [4, 4], processors_per_node = 4", "scope = 'switch'"),
    ] {
        for scheduler in ["fcfs", "easy", "conservative"] {
            let text = format!(
                "machine = {{ {machine} }}\nscheduler = '{scheduler}'\nfailures = {{ mtbf = 300, repair = 5, {more} }}"
            );
            let study = scenario(&text);
            let jobs = random_jobs(&study.topologies()[0], 150, 3.0, 3);
            let (_, books) = books_of(&study, jobs);
            assert!(books.interrupted > 0 && books.waiting.is_empty(), "{text}");
        }
    }
}

#[test]
fn jobs_with_messages_are_interrupted_too() {
    for network in ["hops", "link_load", "wormhole"] {
        let text = format!(
            "machine = {{ topology = 'torus', dims = [4, 4] }}\nallocator = 'naive'\nnetwork = '{network}'
             scheduler = 'easy'\nfailures = {{ mtbf = 6000, repair = 300 }}"
        );
        let study = scenario(&text);
        let mut jobs = random_jobs(&study.topologies()[0], 60, 1.0, 1);
        for (at, job) in jobs.iter_mut().enumerate() {
            job.arrival = Time::new(at as f64 * 300.0);
        }
        let (outcome, books) = books_of(&study, jobs.clone());
        assert!(
            books.interrupted > 3 && outcome.finished == 60,
            "{network}: {}",
            books.interrupted
        );
        assert_eq!(run(&study, jobs.clone()).1, run(&study, jobs).1);
    }
}

/// With an infinite `mtbf`, the output is that of a run without failures.
#[test]
fn what_never_fails_changes_nothing() {
    let never = [
        "failures = { mtbf = 'inf' }",
        "failures = { mtbf = inf, repair = 3, scope = 'node', on_failure = 'restart' }",
    ];
    for (machine, topology) in machines() {
        for scheduler in schedulers_for_all_wirings() {
            let text = format!("machine = {{ {machine} }}\nscheduler = '{}'", scheduler.about.name);
            let jobs = random_jobs(&topology, 120, 3.0, 7);
            let (outcome, transcript) = run(&scenario(&text), jobs.clone());
            for never in never {
                let (other, other_transcript) =
                    run(&scenario(&format!("{text}\n{never}")), jobs.clone());
                assert_eq!(transcript, other_transcript, "{text}");
                assert_eq!(outcome, other, "{text}");
            }
        }
    }
}

#[test]
fn all_strategies_meet_the_same_outages() {
    let seen = |rest: &str| {
        let study = scenario(&format!(
            "machine = {{ topology = 'mesh', dims = [6, 6] }}
             workload = {{ name = 'synthetic', load = 0.4, sizes = 'uniform', runtimes = {{ name = 'exponential', mean = 5 }} }}
             measure = {{ time = 400 }}
             {rest}"
        ));
        let (mut downs, mut arrivals) = (Vec::new(), Vec::new());
        let mut see = Each(|now: Time, event: &Event<'_>| match event {
            Event::Down { node, .. } => downs.push((now, *node)),
            Event::Arrived(_, job) => arrivals.push((now, job.request.clone())),
            _ => {}
        });
        study.run(2, &NoInputs, &mut see).unwrap();
        (downs, arrivals)
    };
    let fails = "failures = { mtbf = 200, repair = 10 }";
    let one = seen(fails);
    let other = seen(&format!("{fails}\nscheduler = 'easy'\nallocator = 'naive'"));
    assert!(one.0.len() > 30);
    assert_eq!(one, other);
    assert_eq!(one.1, seen("").1, "the jobs are the same without failures");
}

fn jobs(jobs: &[(f64, u32, f64, f64)]) -> Vec<Job> {
    jobs.iter()
        .zip(1..)
        .map(|(&(arrival, nodes, runtime, estimate), number)| Job {
            estimate,
            ..Job::new(number, Time::new(arrival), Request::Nodes(nodes), runtime)
        })
        .collect()
}

/// Start of the current outage of each node that is out of service.
type Outages = Arc<Mutex<BTreeMap<Node, Time>>>;

/// Scheduler that checks the outages listed among busy nodes against those that were observed.
struct Comparing {
    scheduler: Box<dyn Scheduler>,
    begins: Outages,
    /// Number of outages that were seen after they had lasted longer than the mean repair.
    postponed: Arc<Mutex<usize>>,
}

impl Scheduler for Comparing {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        let begins = self.begins.lock().unwrap().clone();
        for busy in cluster.busy_nodes().filter(|busy| busy.job.is_none()) {
            let node = busy.placement.blocks[0].base;
            assert_eq!(Some(&busy.since), begins.get(&node), "node {node} at {now}");
            *self.postponed.lock().unwrap() += usize::from(now - busy.since > 4.0);
        }
        self.scheduler.schedule(cluster);
    }
}

#[test]
fn a_postponed_repair_begins_no_new_outage() {
    let study = scenario(&format!("machine = 'mesh:4x4'\nscheduler = 'fcfs'\n{}", KINDS[0]));
    let mut setup = study.setup(0).unwrap();
    let (begins, postponed) = (Outages::default(), Arc::new(Mutex::new(0)));
    let outages = Arc::clone(&begins);
    let mut observer = Each(|now: Time, event: &Event<'_>| match event {
        Event::Down { node, .. } => _ = outages.lock().unwrap().insert(*node, now),
        Event::Up { node, .. } => _ = outages.lock().unwrap().remove(node),
        _ => {}
    });
    let inner = setup.scheduler;
    setup.scheduler =
        Box::new(Comparing { scheduler: inner, begins, postponed: Arc::clone(&postponed) });
    let list: Vec<(f64, u32, f64, f64)> =
        (0..200).map(|own| (f64::from(own), 1 + own % 3, 3.0, 3.0)).collect();
    study.run_on(setup, submissions(jobs(&list)), &mut observer).unwrap();
    assert!(*postponed.lock().unwrap() > 0);
}

fn diary(text: &str, trace: &'static str, list: &[(f64, u32, f64, f64)]) -> Vec<String> {
    let study = scenario(text);
    let mut diary = Diary::default();
    let setup = study.setup_with(0, &Given { text: trace, ..Given::default() }).unwrap();
    study.run_on(setup, submissions(jobs(list)), &mut diary).unwrap();
    diary.0
}

#[test]
fn an_interrupted_job_waits_where_it_was_or_at_the_end() {
    let trace = "node,down,up\n0,4,6\n";
    let text = |rest: &str| {
        format!(
            "machine = {{ topology = 'flat', processors = 1 }}
             failures = {{ trace = 't', {rest} }}"
        )
    };
    let list = [(0.0, 1, 10.0, 10.0), (1.0, 1, 2.0, 2.0)];
    assert_eq!(
        diary(&text("on_failure = 'requeue_front'"), trace, &list),
        [
            "0 start 1",
            "4 stop 1",
            "4 down 0",
            "6 up 0",
            "6 start 1",
            "16 end 1",
            "16 start 2",
            "18 end 2"
        ]
    );
    assert_eq!(
        diary(&text("on_failure = 'restart'"), trace, &list),
        [
            "0 start 1",
            "4 stop 1",
            "4 down 0",
            "6 up 0",
            "6 start 2",
            "8 end 2",
            "8 start 1",
            "18 end 1"
        ]
    );
    // Up to the interruption at 4, checkpoints at 1.5 and 3.5 save 3 units of work. The remaining 7
    // units take 4 checkpoints, which cost 2 units of time.
    assert_eq!(
        diary(&text("checkpoint = { every = 1.5, cost = 0.5 }"), trace, &list[..1]),
        ["0 start 1", "4 stop 1", "4 down 0", "6 up 0", "6 start 1", "15 end 1"]
    );
    // A job whose node fails at the instant of the job's end has ended.
    assert_eq!(
        diary(&text(""), trace, &[(0.0, 1, 4.0, 4.0)]),
        ["0 start 1", "4 end 1", "4 down 0"]
    );
}

/// A maintenance window interrupts jobs only under schedulers without look-ahead.
#[test]
fn windows_are_seen_coming() {
    let text = |scheduler: &str, closure: &str| {
        format!(
            "machine = {{ topology = 'flat', processors = 4 }}\nscheduler = '{scheduler}'\nfailures = {{ {closure} }}"
        )
    };
    let window = "maintenance = [{ from = 10, until = 20, nodes = '0-1' }]";
    // Two jobs hold 2 nodes each. The third job, of 2 nodes, is interrupted by the window unless it
    // waits for the nodes that stay in service.
    let list = [(0.0, 2, 6.0, 6.0), (0.0, 2, 8.0, 8.0), (1.0, 2, 9.0, 9.0), (1.0, 1, 3.0, 3.0)];
    assert_eq!(
        diary(&text("fcfs", window), "", &list),
        [
            "0 start 1",
            "0 start 2",
            "6 end 1",
            "6 start 3",
            "8 end 2",
            "8 start 4",
            "10 stop 3",
            "10 down 0",
            "10 down 1",
            "11 end 4",
            "11 start 3",
            "20 end 3",
            "20 up 0",
            "20 up 1"
        ],
        "it knows nothing of it"
    );
    for scheduler in ["easy", "conservative"] {
        let mut seen = diary(&text(scheduler, window), "", &list);
        seen.retain(|line| !line.contains("promise"));
        assert_eq!(
            seen,
            [
                "0 start 1",
                "0 start 2",
                "6 end 1",
                "6 start 4",
                "8 end 2",
                "8 start 3",
                "9 end 4",
                "10 down 0",
                "10 down 1",
                "17 end 3"
            ],
            "{scheduler}"
        );
    }
    let seen = diary(&text("conservative", window), "", &list);
    let promised: Vec<&String> = seen.iter().filter(|line| line.contains("promise")).collect();
    assert_eq!(promised, ["0 promise 1 0", "0 promise 2 0", "1 promise 3 8", "1 promise 4 6"]);
    // A drain lets the running job end, and admits no other.
    let drain = "drain = [{ from = 5, until = 12, nodes = '0-1' }]";
    assert_eq!(
        diary(&text("fcfs", drain), "", &list[..3]),
        [
            "0 start 1",
            "0 start 2",
            "6 end 1",
            "6 down 0",
            "6 down 1",
            "8 end 2",
            "8 start 3",
            "12 up 0",
            "12 up 1",
            "17 end 3"
        ]
    );
}

/// If estimates are exact, maintenance interrupts no job, and every promised start is kept.
#[test]
fn who_looks_ahead_is_never_caught() {
    let windows = "failures = { maintenance = [{ from = 12, until = 15, nodes = '0-5' }, { from = 20, until = 31.5 },
                   { from = 44, until = 45, nodes = '2-9' }], drain = [{ from = 30, until = 70, nodes = '7' }] }";
    for (machine, topology) in machines() {
        for scheduler in ["easy", "conservative", "reservation"] {
            for allocator in allocators_on(&topology, 8) {
                let text = format!(
                    "machine = {{ {machine} }}\nscheduler = '{scheduler}'\nallocator = '{allocator}'\n{windows}"
                );
                let study = scenario(&text);
                let mut jobs = random_jobs(&topology, 90, 3.0, 5);
                for job in &mut jobs {
                    // Times are multiples of 1/8. With tenths, rounding could move an end past the
                    // beginning of a window.
                    job.estimate = (job.runtime * 8.0).round() / 8.0;
                    job.runtime = job.estimate;
                    job.arrival = Time::new((job.arrival.units() * 8.0).round() / 8.0);
                }
                // Promises are renewed whenever a window begins or ends.
                let (_, promises) = observed(&study, jobs, Promises::renewed());
                assert!(scheduler == "reservation" || promises.kept > 0, "{text}");
            }
        }
    }
}

/// The share of nodes in service is mtbf / (mtbf + repair), for all distributions of both times.
#[test]
fn availability_is_that_of_renewal_theory() {
    for (fails, theory) in [
        ("mtbf = 100, repair = 25", 0.8),
        (
            "mtbf = { name = 'weibull', shape = 2.0, scale = 100 }, repair = { name = 'constant', value = 20 }",
            88.622_692_5 / 108.622_692_5,
        ),
        (
            "mtbf = { name = 'uniform', min = 50, max = 100 }, repair = { name = 'log_normal', median = 10, sigma = 0.5 }",
            75.0 / 86.331_484_5,
        ),
    ] {
        let study = scenario(&format!(
            "machine = {{ topology = 'mesh', dims = [8, 8] }}
             workload = {{ name = 'synthetic', load = 0.2, sizes = 'uniform', runtimes = {{ name = 'exponential', mean = 5 }} }}
             measure = {{ time = 12000, warmup_time = 2000, metrics = ['availability'] }}
             failures = {{ {fails} }}"
        ));
        let values: Vec<f64> = (0..10)
            .map(|r| metric(&study.run(r, &NoInputs, &mut ()).unwrap(), "availability"))
            .collect();
        let mean = values.iter().sum::<f64>() / 10.0;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 9.0;
        // 99.9 % of Student's t with 9 degrees of freedom.
        let half_width = 4.781 * (variance / 10.0).sqrt();
        assert!(
            (mean - theory).abs() <= half_width && half_width < 0.01,
            "{fails}: {mean} ± {half_width}, not {theory}"
        );
    }
}

/// Mean number of jobs in a system of *c* servers that fail and are repaired independently.
///
/// No work is lost. The number is computed from the balance equations of the Markov chain over jobs
/// in the system and servers in service. For *c* = 1 it is the closed form of White & Christie's
/// model for breakdowns at any time (Queuing with preemptive priorities or with breakdown,
/// Operations Research 6(1), 1958).
fn jobs_in_system(c: usize, arrival: f64, service: f64, fails: f64, repair: f64) -> f64 {
    const MOST: usize = 150;
    let mut p = vec![vec![1.0 / (MOST * (c + 1)) as f64; c + 1]; MOST];
    for _ in 0..30_000 {
        let mut change: f64 = 0.0;
        for n in 0..MOST {
            for up in 0..=c {
                let mut inflow = 0.0;
                if n > 0 {
                    inflow += arrival * p[n - 1][up];
                }
                if n + 1 < MOST {
                    inflow += service * up.min(n + 1) as f64 * p[n + 1][up];
                }
                if up < c {
                    inflow += fails * (up + 1) as f64 * p[n][up + 1];
                }
                if up > 0 {
                    inflow += repair * (c - up + 1) as f64 * p[n][up - 1];
                }
                let arrivals = if n + 1 < MOST { arrival } else { 0.0 };
                let outflow = arrivals
                    + service * up.min(n) as f64
                    + fails * up as f64
                    + repair * (c - up) as f64;
                let next = inflow / outflow;
                change = change.max((next - p[n][up]).abs());
                p[n][up] = next;
            }
        }
        let whole: f64 = p.iter().flatten().sum();
        p.iter_mut().flatten().for_each(|p| *p /= whole);
        if change < 1e-13 {
            break;
        }
    }
    p.iter().enumerate().map(|(n, p)| n as f64 * p.iter().sum::<f64>()).sum()
}

#[test]
fn queues_with_breakdowns_are_those_of_theory() {
    // Breakdowns are rare or frequent compared with jobs, which take 1.
    for (c, arrival, fails, repair) in
        [(1, 0.5, 0.05, 0.2), (1, 0.3, 1.0, 2.0), (2, 1.0, 0.1, 0.4), (4, 2.4, 0.05, 0.25)]
    {
        let theory = jobs_in_system(c, arrival, 1.0, fails, repair);
        if c == 1 {
            let (down, f, r) = (1.0 - arrival * (1.0 + fails / repair), fails, repair);
            let closed = (arrival * (1.0 + f / r) + f * arrival * arrival / (r * r)) / down
                + f * arrival / (r * (f + r));
            assert!((theory - closed).abs() < 1e-6, "{theory} and {closed}");
        }
        let study = scenario(&format!(
            "machine = {{ topology = 'flat', processors = {c} }}
             workload = {{ name = 'synthetic', mean_interarrival = {}, runtimes = {{ name = 'exponential', mean = 1.0 }},
                           sizes = {{ name = 'constant', value = 1, form = 'count' }} }}
             measure = {{ warmup_jobs = 2000, jobs = 30000 }}
             failures = {{ mtbf = {}, repair = {}, checkpoint = {{ every = 1e-6, cost = 0 }} }}",
            1.0 / arrival, 1.0 / fails, 1.0 / repair
        ));
        let (mean, half_width) = interval(&replicate(&study, "turnaround"));
        assert!(
            (mean * arrival - theory).abs() <= half_width * arrival && half_width < 0.2 * mean,
            "M/M/{c}: {} ± {}, theory says {theory}",
            mean * arrival,
            half_width * arrival
        );
    }
}

/// Mean time to finish `work` that begins anew after each failure, including the repair times.
fn without_failure(work: f64, mtbf: f64, repair: f64) -> f64 {
    (mtbf + repair) * (libm::exp(work / mtbf) - 1.0)
}

/// Tests the run times of jobs that restart after failures against closed forms.
///
/// A job of work S takes (M + R)(exp(S / M) − 1) on average, where M is the mean time between
/// failures and R is the repair time. With checkpoints, this holds for each segment between two
/// checkpoints. Daly's interval between checkpoints wastes least.
#[test]
fn checkpoints_waste_what_daly_says() {
    let (mtbf, repair, cost, work) = (40.0, 3.0, 0.5, 100.0);
    let study = |nodes: u32, checkpoint: &str| {
        scenario(&format!(
            "machine = {{ topology = 'flat', processors = {nodes} }}
             workload = {{ name = 'synthetic', mean_interarrival = 1e-9, runtimes = {{ name = 'constant', value = {work} }},
                           sizes = {{ name = 'constant', value = {nodes}, form = 'count' }}, first_jobs = 60 }}
             measure = {{ jobs = 60, metrics = ['makespan', 'interruptions', 'goodput'] }}
             failures = {{ mtbf = {mtbf}, repair = {repair}, scope = 'block', block = {nodes}, {checkpoint} }}"
        ))
    };
    let every = daly(cost, mtbf);
    let with = |every: f64| {
        let whole = (work / every).ceil() - 1.0;
        whole * without_failure(every + cost, mtbf, repair)
            + without_failure(work - whole * every, mtbf, repair)
    };
    for (checkpoint, theory) in [
        (String::new(), without_failure(work, mtbf, repair)),
        (format!("checkpoint = {{ every = 'daly', cost = {cost} }}"), with(every)),
        (format!("checkpoint = {{ every = {}, cost = {cost} }}", every / 3.0), with(every / 3.0)),
        (format!("checkpoint = {{ every = {}, cost = {cost} }}", every * 4.0), with(every * 4.0)),
    ] {
        assert!(theory >= with(every), "{checkpoint}");
        let (mean, half_width) = interval(&replicate(&study(1, &checkpoint), "makespan"));
        assert!(
            (mean / 60.0 - theory).abs() <= half_width / 60.0 && half_width < 0.15 * mean,
            "{checkpoint}: {} ± {}, theory says {theory}",
            mean / 60.0,
            half_width / 60.0
        );
    }
    // A block of nodes fails as a whole, so the optimum for its jobs is that of one failure unit.
    let daly = "checkpoint = { every = 'daly', cost = 0.5 }";
    let one = study(1, daly).run(0, &NoInputs, &mut ()).unwrap();
    let six = study(6, daly).run(0, &NoInputs, &mut ()).unwrap();
    assert_eq!(metric(&one, "makespan").to_bits(), metric(&six, "makespan").to_bits());
}

#[test]
fn what_never_ends_is_said() {
    let endless = |text: &str, list: &[(f64, u32, f64, f64)]| {
        let study = scenario(text);
        let setup = study.setup(0).unwrap();
        study.run_on(setup, submissions(jobs(list)), &mut ()).unwrap_err().to_string()
    };
    let sentence = endless(
        "machine = { topology = 'flat', processors = 4 }\nfailures = { mtbf = 1, repair = 0.1 }",
        &[(0.0, 4, 1000.0, 1000.0)],
    );
    assert!(
        sentence.starts_with("job 1 was interrupted more than 10000 times: it takes longer"),
        "{sentence}"
    );
    let sentence = endless(
        "machine = { topology = 'flat', processors = 40 }\nfailures = { mtbf = 1, repair = 9 }",
        &[(0.0, 40, 1.0, 1.0)],
    );
    assert!(sentence.starts_with("1 jobs wait while nothing runs"), "{sentence}");
    // Jobs that wait for nodes that never return end the run, as without failures.
    let text = "machine = { topology = 'flat', processors = 4 }\nfailures = { drain = [{ from = 0, nodes = '2' }] }";
    let study = scenario(text);
    let list = submissions(jobs(&[(0.0, 4, 1.0, 1.0), (1.0, 3, 1.0, 1.0)]));
    assert_eq!(study.run_on(study.setup(0).unwrap(), list, &mut ()).unwrap().finished, 0);
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let refused = |text: &str| {
        refusal(&format!(
            "machine = {{ topology = 'mesh', dims = [4, 4] }}\nworkload = {{ name = 'lublin', jobs = 5 }}\n{text}"
        ))
    };
    for (text, part) in [
        ("failures = {}", "`failures` says of nothing that it fails"),
        ("failures = { mtbf = 10 }", "`failures.repair` is missing"),
        (
            "failures = { mtbf = 10, repair = 0 }",
            "`failures.repair.mean` is 0.0, but must be a number above 0",
        ),
        (
            "failures = { mtbf = 10, repair = -2 }",
            "`failures.repair.mean` is -2.0, but must be a number above 0",
        ),
        (
            "failures = { mtbf = 10, repair = 'inf' }",
            "`failures.repair` is \"inf\", but a repair takes a time above 0 that ends",
        ),
        ("failures = { repair = 10 }", "says of nothing that it fails"),
        (
            "failures = { repair = 10, trace = 't' }",
            "`failures.repair` is given without `failures.mtbf`",
        ),
        ("failures = { mtbf = 'often', repair = 1 }", "unknown distribution of durations `often`"),
        ("failures = { mtbf = 10, repair = 1, scop = 'node' }", "unknown key `scop` in `failures`"),
        ("failures = { mtbf = 10, repair = 1, scope = 'rack' }", "`failures.scope` is \"rack\""),
        (
            "failures = { mtbf = 10, repair = 1, scope = 'block', block = [3, 4] }",
            "blocks of one size must tile the 4 × 4 mesh",
        ),
        (
            "failures = { mtbf = 10, repair = 1, trace_start = 4 }",
            "no `failures.trace` that it could be about",
        ),
        (
            "failures = { maintenance = [{ from = 5, until = 5 }] }",
            "`failures.maintenance[0].until` is 5, but must be after 5",
        ),
        (
            "failures = { maintenance = [{ from = 5, until = 9, nodes = '16' }] }",
            "`failures.maintenance[0].nodes` names node 16, but the machine has the nodes 0 to 15",
        ),
        (
            "failures = { drain = [{ from = 5, until = 1 }] }",
            "`failures.drain[0].until` is 1, but must be after 5",
        ),
        (
            "failures = { trace = 't', checkpoint = { every = 'daly', cost = 1 } }",
            "`failures.mtbf` is missing",
        ),
        (
            "failures = { mtbf = 9, repair = 1, checkpoint = { every = 'daly', cost = 0 } }",
            "for which there is no optimum",
        ),
        (
            "failures = { mtbf = 9, repair = 1, checkpoint = { cost = 1 } }",
            "`failures.checkpoint.every` is missing",
        ),
        (
            "failures = { mtbf = 9, repair = 1, on_failure = 'kill' }",
            "`failures.on_failure` is \"kill\"",
        ),
        (
            "scheduler = 'equipartition'\nfailures = { mtbf = 9, repair = 1 }",
            "the scheduler `equipartition` moves and resizes running jobs",
        ),
        (
            "network = 'hops'\nfailures = { mtbf = 9, repair = 1, checkpoint = { every = 1, cost = 1 } }",
            "the network `ideal` has work",
        ),
    ] {
        let sentence = refused(text);
        assert!(sentence.contains(part), "{text}: {sentence}");
        assert!(!sentence.contains('\n') && !sentence.ends_with('.'), "{sentence}");
    }
    let study = scenario(
        "machine = { topology = 'flat', processors = 4 }\nfailures = { trace = 'outages.csv' }",
    );
    let sentence = |text| {
        let given = Given { text, ..Given::default() };
        study.setup_with(0, &given).err().unwrap().to_string()
    };
    assert_eq!(
        sentence("node,down,up\n4,1,2\n"),
        "outages.csv, line 2: `4` is no node of the machine, whose nodes are 0 to 3"
    );
    assert!(
        sentence("node,down,up\n3,1,5\n3,4,9\n")
            .starts_with("outages.csv, line 3: this outage overlaps that of line 2")
    );
    assert_eq!(
        study.setup(0).err().unwrap().to_string(),
        "outages.csv: this program reads no files"
    );
}
