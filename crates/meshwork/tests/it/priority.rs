//! Tests of priority, fair share and preemption.
//!
//! They use cases made by hand, slow reference implementations, and formulas of queueing theory.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::{
    diary, interval, machines, random_jobs, refusal, run, scenario, submissions, watched,
};
use meshwork::alloc::ALLOCATORS;
use meshwork::job::{Job, Owner, Request, Terms, Time};
use meshwork::machine::Placement;
use meshwork::observe::{Event, JobId, Observer};
use meshwork::rng::Stream;

fn of(user: &str, queue: &str, job: Job) -> Job {
    let [user, queue] = [user, queue].map(|name| Some(name.to_owned()));
    Job { owner: Some(Arc::new(Owner { user, queue, ..Owner::default() })), ..job }
}

fn job(number: u64, arrival: f64, nodes: u32, runtime: f64) -> Job {
    Job::new(number, Time::new(arrival), Request::Nodes(nodes), runtime)
}

/// Numbers of the jobs in `waiting`, in order of their starts.
///
/// Another job holds all nodes until time 10.
fn order(scheduler: &str, waiting: impl IntoIterator<Item = Job>) -> Vec<u64> {
    let text = format!(
        "machine = {{ topology = 'flat', processors = 8 }}\nscheduler = {{ {scheduler}, backfill = 'none' }}"
    );
    let mut jobs = vec![of("first", "none", job(0, 0.0, 8, 10.0))];
    jobs.extend(waiting);
    let lines = diary(&text, jobs);
    let starts = lines.iter().filter_map(|line| line.split_once(" start "));
    starts.map(|(_, number)| number.parse().unwrap()).skip(1).collect()
}

#[test]
fn each_factor_orders_the_queue_by_itself() {
    let only = |weight: &str, more: &str| {
        let zero = "age = 0, size = 0, fair_share = 0, queue = 0, job = 0";
        let weights = zero.replace(&format!("{weight} = 0"), &format!("{weight} = 1"));
        format!("name = 'priority', weights = {{ {weights} }} {more}")
    };
    let sizes =
        || [(1, 1.0, 8), (2, 2.0, 2), (3, 3.0, 5)].map(|(n, at, nodes)| job(n, at, nodes, 20.0));
    assert_eq!(order(&only("age", ""), sizes()), [1, 2, 3]);
    assert_eq!(order(&only("size", ""), sizes()), [1, 3, 2]);
    assert_eq!(order(&only("size", ", favor_small = true"), sizes()), [2, 3, 1]);
    // Beyond the maximum age all are equally old, and earlier arrivals stay in front.
    assert_eq!(order(&only("age", ", max_age = 2"), sizes()), [1, 2, 3]);
    let queued = || {
        ["batch", "express", "none"]
            .into_iter()
            .zip(1..)
            .map(|(queue, n)| of("a", queue, job(n, 1.0, 8, 1.0)))
    };
    let queues =
        ", queues = [{ name = 'batch', priority = 2 }, { name = 'express', priority = 3 }]";
    assert_eq!(order(&only("queue", queues), queued()), [2, 1, 3]);
    assert_eq!(order(&only("queue", ""), queued()), [1, 2, 3]);
    let urgent = [0.1, 0.9, 0.5].into_iter().zip(1..).map(|(priority, number)| Job {
        terms: Some(Box::new(Terms { priority, ..Terms::default() })),
        ..job(number, 1.0, 8, 1.0)
    });
    assert_eq!(order(&only("job", ""), urgent), [2, 3, 1]);
    // The user who held the machine first comes last, although that user's job has waited longest.
    let users = || {
        [("first", 1, 1.0), ("other", 2, 2.0)]
            .map(|(user, n, at)| of(user, "q", job(n, at, 8, 1.0)))
    };
    assert_eq!(order(&only("fair_share", ""), users()), [2, 1]);
    assert_eq!(order("name = 'fair_share'", users()), [2, 1]);
}

/// The fair-share factor is 2^(−(U/S)/d).
///
/// The first user has used the whole machine and has half of the shares, so the factor is 2^−2 =
/// 0.25, or 2^−1 = 0.5 with damping 2. The other user has the factor 1. The age factors of their
/// jobs are 9/20 = 0.45 and 1/20 = 0.05, with weight 1. So the other user's job comes first if the
/// difference of the fair-share terms exceeds 0.4.
#[test]
fn weights_are_weighed_against_each_other() {
    let jobs = || {
        [("first", 1, 1.0), ("other", 2, 9.0)]
            .map(|(user, n, at)| of(user, "q", job(n, at, 8, 1.0)))
    };
    let with = |fair_share: f64, damping: f64| {
        format!(
            "name = 'priority', weights = {{ fair_share = {fair_share} }}, max_age = 20, damping = {damping}"
        )
    };
    assert_eq!(order(&with(0.52, 1.0), jobs()), [1, 2], "0.75 × 0.52 = 0.39");
    assert_eq!(order(&with(0.55, 1.0), jobs()), [2, 1], "0.75 × 0.55 = 0.4125");
    assert_eq!(order(&with(0.79, 2.0), jobs()), [1, 2], "0.5 × 0.79 = 0.395");
    assert_eq!(order(&with(0.81, 2.0), jobs()), [2, 1], "0.5 × 0.81 = 0.405");
    // With shares of 3 and 1 the first user has a factor of 2^(−4/3).
    let shares = ", shares = [{ user = 'first', share = 3 }]";
    let unequal = |fair_share: f64| with(fair_share, 1.0) + shares;
    let factor = 1.0 - libm::exp2(-4.0 / 3.0);
    assert_eq!(order(&unequal(0.399 / factor), jobs()), [1, 2]);
    assert_eq!(order(&unequal(0.401 / factor), jobs()), [2, 1]);
}

/// With backfilling, priority by age makes the decisions of EASY, node for node.
#[test]
fn by_age_alone_it_is_easy_or_first_come_first_served() {
    let mut compared = 0;
    for (machine, topology) in machines() {
        for (index, allocator) in
            ALLOCATORS.iter().enumerate().filter(|(_, a)| a.works_on(&topology))
        {
            let text = |scheduler: &str| {
                let name = allocator.about.name;
                format!(
                    "machine = {{ {machine} }}\nscheduler = {{ {scheduler} }}\nallocator = '{name}'"
                )
            };
            let by_age =
                "name = 'priority', weights = { fair_share = 0, queue = 0, job = 0 }, backfill =";
            for (backfill, name) in [("easy", "easy"), ("none", "fcfs")] {
                let plain = scenario(&text(&format!("name = '{name}'")));
                let ranked = scenario(&text(&format!("{by_age} '{backfill}'")));
                let jobs = random_jobs(&topology, 150, 1.4, index as u64);
                let without_promises = |text: String| {
                    text.lines()
                        .filter(|line| !line.contains("promised"))
                        .map(str::to_owned)
                        .collect::<Vec<_>>()
                };
                let (plain, ranked) = (run(&plain, jobs.clone()).1, run(&ranked, jobs).1);
                assert_eq!(
                    without_promises(plain),
                    without_promises(ranked),
                    "{machine} {}",
                    allocator.about.name
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// Two users always have waiting jobs, of different sizes and run times.
#[test]
fn what_users_get_converges_to_their_shares() {
    for (scheduler, half_life) in
        [("fair_share", "604800"), ("fair_share", "'none'"), ("priority", "20000")]
    {
        for (share, part) in [(1.0, 0.5), (3.0, 0.75)] {
            let weights = if scheduler == "priority" { ", weights = { age = 0 }" } else { "" };
            let text = format!(
                "machine = {{ topology = 'mesh', dims = [8, 8] }}
                 scheduler = {{ name = '{scheduler}', half_life = {half_life}{weights}, backfill = 'none',
                                shares = [{{ user = 'large', share = {share} }}] }}
                 measure = {{ time = 6000 }}"
            );
            let mut rng = Stream::new(1, 0, "fair");
            let mut jobs = Vec::new();
            // Each user requests slightly more than the user's share, so that the queue stays
            // short.
            for number in 1..=7_200 {
                let large = number % 16 == 0;
                let (user, most, longest) =
                    if large { ("large", 32, 80) } else { ("small", 6, 18) };
                let nodes = 1 + rng.below(most) as u32;
                let arrival = number as f64 * 0.8;
                let job = job(number, arrival, nodes, 1.0 + rng.below(longest) as f64);
                jobs.push(of(user, "q", job));
            }
            let study = scenario(&text);
            // Processor time of each user's finished jobs.
            let mut used: BTreeMap<String, f64> = BTreeMap::new();
            watched(&study, jobs, |now, event| {
                if let Event::Finished(run) = event {
                    let user = run.job.owner.as_ref().unwrap().user.clone().unwrap();
                    *used.entry(user).or_default() += run.asked as f64 * (now - run.start);
                }
            });
            let got = used["large"] / (used["large"] + used["small"]);
            assert!((got - part).abs() < 0.02, "{scheduler} {half_life}: {got} of {part}");
        }
    }
}

const EXPRESS: &str = "queues = [{ name = 'low', priority = 1 }, { name = 'high', priority = 2 }]";

#[test]
fn low_queues_make_room_for_high_ones() {
    let text = |preempt: &str| {
        format!(
            "machine = {{ topology = 'flat', processors = 4 }}
             scheduler = {{ name = 'priority', preempt = '{preempt}', {EXPRESS} }}"
        )
    };
    let jobs = || {
        vec![
            of("a", "low", job(1, 0.0, 2, 10.0)),
            of("a", "none", job(2, 1.0, 2, 10.0)),
            of("b", "high", job(3, 4.0, 2, 3.0)),
        ]
    };
    assert_eq!(
        diary(&text("none"), jobs()),
        ["0 start 1", "1 start 2", "10 end 1", "10 start 3", "11 end 2", "13 end 3"]
    );
    // The job without a queue ranks lowest and is preempted. It loses 3 units of work, and restarts
    // at 7.
    assert_eq!(
        diary(&text("requeue"), jobs()),
        [
            "0 start 1",
            "1 start 2",
            "4 stop 2",
            "4 start 3",
            "7 end 3",
            "7 start 2",
            "10 end 1",
            "17 end 2"
        ]
    );
    // A job that is suspended instead loses no work.
    assert_eq!(
        diary(&text("suspend"), jobs()),
        [
            "0 start 1",
            "1 start 2",
            "4 stop 2",
            "4 start 3",
            "7 end 3",
            "7 start 2",
            "10 end 1",
            "14 end 2"
        ]
    );
    // The job of the lowest queue that started last is preempted. No job is preempted for a job of
    // the same queue or of a lower one.
    let alike = vec![
        of("a", "low", job(1, 0.0, 2, 10.0)),
        of("a", "low", job(2, 1.0, 2, 10.0)),
        of("a", "low", job(3, 2.0, 2, 1.0)),
        of("a", "none", job(4, 2.0, 2, 1.0)),
        of("a", "high", job(5, 3.0, 1, 1.0)),
    ];
    assert_eq!(
        diary(&text("suspend"), alike),
        [
            "0 start 1",
            "1 start 2",
            "3 stop 2",
            "3 start 5",
            "4 end 5",
            "4 start 2",
            "10 end 1",
            "10 start 3",
            "11 end 3",
            "11 start 4",
            "12 end 2",
            "12 end 4"
        ]
    );
}

/// With mean service 1/μ for each class, the mean response is 1/(μ(1 − ρ₁)) in the high class.
///
/// In the low class it is 1/(μ(1 − ρ₁)(1 − ρ₁ − ρ₂)).
#[test]
fn suspended_jobs_at_one_server_are_preemptive_resume() {
    let text = format!(
        "machine = {{ topology = 'flat', processors = 1 }}
         scheduler = {{ name = 'priority', preempt = 'suspend', {EXPRESS}, half_life = 'none',
                        weights = {{ queue = 1e6, fair_share = 0 }}, max_age = 1e15 }}"
    );
    let study = scenario(&text);
    let (high, low) = (0.3, 0.4);
    let mut means = [Vec::new(), Vec::new()];
    for replication in 0..20 {
        let mut rng = Stream::new(7, replication, "two classes");
        let mut arrivals: Vec<(f64, &str)> = Vec::new();
        for (rate, queue) in [(high, "high"), (low, "low")] {
            let mut at = 0.0;
            while at < 20_000.0 {
                at -= libm::log(rng.unit()) / rate;
                arrivals.push((at, queue));
            }
        }
        arrivals.sort_by(|a, b| a.0.total_cmp(&b.0));
        let jobs = arrivals.into_iter().zip(1..).map(|((at, queue), number)| {
            of("a", queue, job(number, at, 1, -libm::log(rng.unit())))
        });
        // Sum of turnaround times and number of jobs by queue.
        let mut responses: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        watched(&study, jobs.collect(), |now, event| {
            if let Event::Finished(run) = event {
                let queue = run.job.owner.as_ref().unwrap().queue.clone().unwrap();
                let (sum, count) = responses.entry(queue).or_default();
                *sum += now - run.job.arrival;
                *count += 1.0;
            }
        });
        for (mean, queue) in means.iter_mut().zip(["high", "low"]) {
            let (sum, count) = responses[queue];
            mean.push(sum / count);
        }
    }
    let theory = [1.0 / (1.0 - high), 1.0 / ((1.0 - high) * (1.0 - high - low))];
    for (values, theory) in means.iter().zip(theory) {
        let (mean, half) = interval(values);
        assert!((mean - theory).abs() < half, "{mean} ± {half}, but {theory}");
        assert!(half < 0.1 * theory);
    }
}

/// Checks the invariants of runs with preemption.
struct Rules {
    suspends: bool,
    queues: BTreeMap<JobId, u32>,
    running: BTreeMap<JobId, (Time, Placement)>,
    /// For each stopped job, its run time so far, and its placement when it was last stopped.
    ran: BTreeMap<JobId, (f64, Placement)>,
    stops: u32,
    /// Present instant, and the queue ranks of jobs that were stopped at this instant.
    ///
    /// The next start empties the list, because jobs are stopped to make space for it.
    now: (Time, Vec<u32>),
}

impl Rules {
    fn queue(job: &Job) -> u32 {
        match job.owner.as_ref().unwrap().queue.as_deref() {
            Some("high") => 2,
            Some("low") => 1,
            _ => 0,
        }
    }
}

impl Observer for Rules {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        if self.now.0 != now {
            assert!(self.now.1.is_empty(), "who is stopped makes room for somebody");
            self.now = (now, Vec::new());
        }
        match event {
            Event::Started(run) => {
                self.queues.insert(run.id, Rules::queue(&run.job));
                // Jobs stopped just before were preempted for this one.
                for stopped in self.now.1.drain(..) {
                    assert!(stopped < Rules::queue(&run.job));
                }
                if let Some((_, placement)) = self.ran.get(&run.id).filter(|_| self.suspends) {
                    assert_eq!(placement, &run.placement, "a suspended job goes on where it was");
                }
                assert!(self.running.insert(run.id, (now, run.placement.clone())).is_none());
            }
            Event::Interrupted(run) => {
                let (start, placement) = self.running.remove(&run.id).unwrap();
                assert!(start < now);
                let (ran, _) = self.ran.get(&run.id).map_or((0.0, ()), |(ran, _)| (*ran, ()));
                self.ran.insert(run.id, (ran + (now - start), placement));
                self.now.1.push(self.queues[&run.id]);
                self.stops += 1;
            }
            Event::Finished(run) => {
                let (start, _) = self.running.remove(&run.id).unwrap();
                let before = self.ran.get(&run.id).map_or(0.0, |(ran, _)| *ran);
                let all = if self.suspends { before + (now - start) } else { now - start };
                let work = run.job.runtime * run.stretch;
                assert!((all - work).abs() < 1e-9, "job {} ran {all}, not {work}", run.id.0);
            }
            _ => {}
        }
    }
}

#[test]
fn preempted_jobs_are_of_lower_queues_and_lose_nothing_that_they_should_not() {
    let mut stops = 0;
    for (machine, topology) in machines() {
        for (index, allocator) in
            ALLOCATORS.iter().enumerate().filter(|(_, a)| a.works_on(&topology))
        {
            for preempt in ["requeue", "suspend"] {
                let name = allocator.about.name;
                let study = scenario(&format!(
                    "machine = {{ {machine} }}\nallocator = '{name}'
                     scheduler = {{ name = 'priority', preempt = '{preempt}', {EXPRESS} }}"
                ));
                let mut rng = Stream::new(9, index as u64, "queues");
                let jobs = random_jobs(&topology, 120, 1.2, index as u64).into_iter();
                let jobs = jobs.map(|job| {
                    let queue = ["high", "low", "none", "low"][rng.below(4) as usize];
                    of(["a", "b", "c"][rng.below(3) as usize], queue, job)
                });
                let mut rules = Rules {
                    suspends: preempt == "suspend",
                    queues: BTreeMap::new(),
                    running: BTreeMap::new(),
                    ran: BTreeMap::new(),
                    stops: 0,
                    now: (Time::ZERO, Vec::new()),
                };
                let setup = study.setup(0).unwrap();
                study
                    .run_on(setup, submissions(jobs.collect()), &mut rules)
                    .unwrap_or_else(|error| panic!("{machine} {name} {preempt}: {error}"));
                assert!(rules.running.is_empty());
                stops += rules.stops;
            }
        }
    }
    assert!(stops > 1_000, "{stops}");
}

#[test]
fn what_is_wrong_is_said_in_one_sentence() {
    let refused =
        |text: &str| refusal(&format!("machine = {{ topology = 'flat', processors = 4 }}\n{text}"));
    let priority = |rest: &str| refused(&format!("scheduler = {{ name = 'priority', {rest} }}"));
    assert!(
        priority("shares = [{ user = 'a', share = 1 }, { user = 'a', share = 2 }]")
            .contains("the user \"a\" has two shares")
    );
    assert!(
        priority("queues = [{ name = 'q', priority = 1 }, { name = 'q', priority = 1 }]")
            .contains("the queue \"q\" has two priorities")
    );
    assert!(priority("queues = [{ name = 'q', priority = -1 }]").contains("a number from 0"));
    assert!(priority("shares = [{ user = 'q', share = 0 }]").contains("a number above 0"));
    assert!(priority("weights = { sice = 1 }").contains("size"));
    let suspends = "scheduler = { name = 'priority', preempt = 'suspend' }";
    assert!(
        refused(&format!("{suspends}\nfailures = {{ mtbf = 9, repair = 1 }}"))
            .contains("may not come back")
    );
    let mesh = refusal(&format!(
        "{suspends}\nmachine = {{ topology = 'mesh', dims = [4, 4] }}\nnetwork = 'wormhole'"
    ));
    assert!(mesh.contains("the network `ideal` has work"), "{mesh}");
}
