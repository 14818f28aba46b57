//! Tests of energy and power caps.
//!
//! Results are compared with closed forms, with a separate account for each processor, and with
//! queueing theory.

use std::collections::BTreeMap;

use crate::common::{
    Promises, SITES, allocators_on, interval, job, machines, metric, observed, random_jobs,
    refusal, replicate, run, scenario, schedulers_for_all_wirings, starts,
};
use meshwork::job::{Job, Request, Time};
use meshwork::machine::Placement;
use meshwork::observe::{Event, MachineState, Observer};
use meshwork::scenario::{Outcome, Scenario};
use meshwork::sched::SCHEDULERS;
use meshwork::topology::{Node, Topology};
use meshwork::workload::NoInputs;

fn assert_close(one: f64, other: f64, what: &str) {
    let slack = 1e-9 * (1.0 + one.abs().max(other.abs()));
    assert!((one - other).abs() <= slack, "{what}: {one} and {other}");
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Doing {
    Held,
    Idle(Time),
    Down,
}

/// Reference computation of the energy that processors use.
///
/// It only follows the starts and ends of jobs and of outages. The sleeping time of a processor is
/// computed when its idle time ends, from the length of the idle time.
struct Accounts {
    topologies: Vec<Topology>,
    watts: [f64; 3],
    sleep_after: f64,
    wake_energy: f64,
    /// State of each processor, and the time up to which its energy has been added to the sums.
    doing: BTreeMap<(usize, Node), (Doing, Time)>,
    /// Jobs on each processor: 0 or 1, and for a moment 2 if running jobs swap nodes.
    holders: BTreeMap<(usize, Node), i32>,
    /// First arrival of a job that is not refused; energy is measured from then on.
    begun: Option<Time>,
    joules: f64,
    asleep: f64,
    woken: u64,
    /// Sleeping time reported to observers.
    told_asleep: f64,
    told_woken: u64,
    most: f64,
    last: Time,
}

impl Accounts {
    fn new(study: &Scenario) -> Accounts {
        let energy = study.table()["energy"].as_table().unwrap();
        let number = |key: &str| {
            let value = energy.get(key)?;
            value.as_float().or(value.as_integer().map(|whole| whole as f64))
        };
        let idle = number("idle").unwrap();
        Accounts {
            topologies: study.topologies(),
            watts: [idle, number("busy").unwrap(), number("sleep").unwrap_or(idle)],
            sleep_after: number("sleep_after").unwrap_or(f64::INFINITY),
            wake_energy: number("wake_energy").unwrap_or(0.0),
            doing: BTreeMap::new(),
            holders: BTreeMap::new(),
            begun: None,
            joules: 0.0,
            asleep: 0.0,
            woken: 0,
            told_asleep: 0.0,
            told_woken: 0,
            most: 0.0,
            last: Time::ZERO,
        }
    }

    fn comes(&mut self, now: Time) {
        if self.doing.is_empty() {
            for (site, topology) in self.topologies.iter().enumerate() {
                for node in 0..topology.nodes() {
                    self.doing.insert((site, node), (Doing::Idle(now), now));
                }
            }
        }
    }

    /// Sets the sums of energy, sleeping time and wake-ups to 0 at the first arrival.
    fn begin(&mut self, now: Time) {
        self.bring_up_to(now);
        self.begun = Some(now);
        (self.joules, self.asleep, self.woken) = (0.0, 0.0, 0);
    }

    fn bring_up_to(&mut self, now: Time) {
        let all: Vec<_> = self.doing.iter().map(|(at, (doing, _))| (*at, *doing)).collect();
        all.into_iter().for_each(|(at, doing)| self.turn(at, now, doing));
    }

    fn turn(&mut self, at: (usize, Node), now: Time, next: Doing) {
        let (doing, since) = self.doing.insert(at, (next, now)).unwrap();
        let [idle, busy, sleep] = self.watts;
        match doing {
            Doing::Held => self.joules += busy * (now - since),
            Doing::Down => {}
            Doing::Idle(from) => {
                let falls = from + self.sleep_after;
                let (awake, asleep) =
                    ((now.min(falls) - since).max(0.0), (now - since.max(falls)).max(0.0));
                self.joules += idle * awake + sleep * asleep;
                self.asleep += asleep;
                if next == Doing::Held && now > falls {
                    self.woken += 1;
                    self.joules += self.wake_energy;
                }
            }
        }
    }

    /// Adds `jobs`, which may be negative, to the jobs on each processor of a placement.
    fn take(&mut self, site: usize, placement: &Placement, now: Time, jobs: i32) {
        for node in placement.nodes(self.topologies[site].grid()) {
            let at = (site, node);
            let holders = self.holders.entry(at).or_default();
            let before = *holders > 0;
            *holders += jobs;
            match (before, *holders > 0) {
                (false, true) => self.turn(at, now, Doing::Held),
                (true, false) => self.turn(at, now, Doing::Idle(now)),
                _ => {}
            }
        }
    }

    /// Brings the sums up to the end of the run, and compares them with the run's metrics.
    ///
    /// The sums are the energy, the time asleep and the number of wake-ups.
    fn settle(&mut self, outcome: &Outcome, what: &str) {
        let Some(begun) = self.begun else { return };
        let end = outcome.end;
        self.bring_up_to(end);
        let (span, nodes) = (end - begun, self.doing.len() as f64);
        assert_close(metric(outcome, "energy") * 3.6e6, self.joules, what);
        assert_close(metric(outcome, "wake_ups"), self.woken as f64, what);
        assert_close(self.told_woken as f64, self.woken as f64, what);
        assert_close(self.told_asleep, self.asleep, what);
        if span > 0.0 {
            assert_close(metric(outcome, "mean_power") * span, self.joules, what);
            assert_close(metric(outcome, "asleep") * span * nodes, self.asleep, what);
        }
    }
}

impl Observer for Accounts {
    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
        assert!(from < to);
        if self.begun.is_some() {
            self.most = self.most.max(state.power);
            self.told_asleep += state.asleep as f64 * (to - from);
        }
        self.last = to;
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        assert!(now >= self.last);
        match event {
            Event::Refused(..) => self.comes(now),
            Event::Arrived(..) => {
                self.comes(now);
                if self.begun.is_none() {
                    self.begin(now);
                }
            }
            Event::Started(run) => self.take(run.site, &run.placement, now, 1),
            Event::Finished(run) | Event::Interrupted(run) => {
                self.take(run.site, &run.placement, now, -1);
            }
            Event::Down { site, node } => self.turn((*site, *node), now, Doing::Down),
            Event::Up { site, node } => self.turn((*site, *node), now, Doing::Idle(now)),
            Event::Moved { running, from } => {
                self.take(running.site, from, now, -1);
                self.take(running.site, &running.placement, now, 1);
            }
            Event::Awake { nodes, .. } => self.told_woken += nodes.len() as u64,
            _ => {}
        }
    }
}

fn accounts_of(study: &Scenario, jobs: Vec<Job>, what: &str) -> (Outcome, Accounts) {
    let (outcome, mut accounts) = observed(study, jobs, Accounts::new(study));
    accounts.settle(&outcome, what);
    (outcome, accounts)
}

const KINDS: [&str; 5] = [
    "energy = { idle = 100, busy = 300 }",
    "energy = { idle = 100, busy = 300.5, sleep = 7.25, sleep_after = 2.3, wake = 0.7, wake_energy = 1234 }",
    "energy = { idle = 90, busy = 310, sleep = 0, sleep_after = 0 }",
    "energy = { idle = 100, busy = 300, sleep = 20, sleep_after = 4, wake = 1.5 }
     failures = { mtbf = 200, repair = 4 }",
    "energy = { idle = 100, busy = 300, sleep = 20, sleep_after = 1, wake = 0.4, wake_energy = 50 }
     failures = { mtbf = 150, repair = 3, checkpoint = { every = 1.5, cost = 0.25 }, drain = [{ from = 10, until = 60, nodes = '3-6' }] }",
];

/// Runs every scheduler, with a few allocators on machines of every wiring.
#[test]
fn the_books_are_those_of_each_processor() {
    let (mut woken, mut asleep, mut finished) = (0, 0.0, 0);
    for (machine, topology) in machines() {
        let allocators = allocators_on(&topology, 11);
        for scheduler in SCHEDULERS.iter().filter(|s| s.serves.contains(&topology.wiring())) {
            for (index, allocator) in allocators.iter().enumerate() {
                let kind = (index + scheduler.about.name.len()) % KINDS.len();
                let kind = KINDS[if scheduler.malleable { 0 } else { kind }];
                let text = format!(
                    "machine = {{ {machine} }}\nallocator = '{allocator}'\nscheduler = '{}'\n{kind}",
                    scheduler.about.name
                );
                let jobs = random_jobs(&topology, 60, 3.0, 1);
                let (outcome, accounts) = accounts_of(&scenario(&text), jobs, &text);
                woken += accounts.woken;
                asleep += accounts.asleep;
                finished += outcome.finished;
            }
        }
    }
    assert!(woken > 2000 && asleep > 2000.0 && finished > 3000, "{woken} {asleep} {finished}");
}

#[test]
fn sites_sleep_too() {
    for scheduler in schedulers_for_all_wirings() {
        for kind in KINDS {
            let text = format!("{SITES}\nscheduler = '{}'\n{kind}", scheduler.about.name);
            let jobs = random_jobs(&Topology::flat(14).unwrap(), 100, 6.0, 1);
            let (_, accounts) = accounts_of(&scenario(&text), jobs, &text);
            assert!(accounts.joules > 0.0, "{text}");
        }
    }
}

/// The first job holds both processors from 0 to 10. They are idle up to 15 and asleep up to 18.
///
/// The second job arrives at 18, waits 2 units of time until both are awake, and ends at 30.
#[test]
fn a_run_by_hand() {
    let study = |more: &str| {
        scenario(&format!(
            "machine = {{ topology = 'flat', processors = 2 }}
             energy = {{ idle = 10, busy = 100, sleep = 1, sleep_after = 5, wake = 2, wake_energy = 7 }}
             {more}"
        ))
    };
    let jobs = || {
        vec![
            job(0.0, Request::Nodes(2), 10.0),
            job(18.0, Request::Nodes(2), 10.0),
            job(19.0, Request::Nodes(1), 3.0),
        ]
    };
    let (outcome, transcript) = run(&study(""), jobs());
    assert!(transcript.contains("15 asleep 0 [0, 1]\n"), "{transcript}");
    assert!(transcript.contains("18 awake 0 [0, 1] 14\n"), "{transcript}");
    assert!(transcript.contains("30 finished 1\n"), "{transcript}");
    assert!(transcript.contains("33 finished 2\n"), "{transcript}");
    // The last job holds one of the two processors from 30 to 33, while the other one is idle.
    let joules = 2000.0 + 100.0 + 6.0 + 14.0 + 2400.0 + 300.0 + 30.0;
    assert_close(metric(&outcome, "energy"), joules / 3.6e6, "energy");
    assert_close(metric(&outcome, "mean_power"), joules / 33.0, "mean power");
    assert_close(metric(&outcome, "asleep"), 6.0 / 66.0, "asleep");
    assert_close(metric(&outcome, "wake_ups"), 2.0, "wake-ups");
    let turnaround = (10.0 + 12.0 + 14.0) / 3.0;
    assert_close(
        metric(&outcome, "energy_delay"),
        joules / 3.6e6 / 3.0 * turnaround,
        "energy-delay product",
    );
    assert_close(metric(&outcome, "turnaround"), turnaround, "turnaround");
    // From 16 on, the processors sleep for 2 more units. Only energy in the measured part counts.
    let (outcome, _) = run(&study("measure = { warmup_time = 16 }"), jobs());
    let joules = joules - 2000.0 - 100.0 - 2.0;
    assert_close(metric(&outcome, "energy"), joules / 3.6e6, "energy after a warm-up");
    assert_close(metric(&outcome, "mean_power"), joules / 17.0, "mean power after a warm-up");
    // The measured part begins after the instant of waking, so the energy of waking does not count.
    let (outcome, _) = run(&study("measure = { warmup_time = 18.5, time = 20 }"), jobs());
    assert_close(metric(&outcome, "energy"), 300.0 / 3.6e6, "energy of a span of work");
    assert_close(metric(&outcome, "wake_ups"), 0.0, "wake-ups of a span of work");
}

#[test]
fn nobody_falls_asleep_at_the_instant_of_a_start() {
    let study = scenario(
        "machine = { topology = 'flat', processors = 2 }
         energy = { idle = 10, busy = 100, sleep = 1, sleep_after = 0, wake = 2 }",
    );
    let jobs = [(0.0, 4.0), (1.0, 4.0), (8.0, 4.0), (13.0, 1.0)];
    let jobs = jobs.iter().map(|&(at, runtime)| job(at, Request::Nodes(2), runtime)).collect();
    let (outcome, transcript) = run(&study, jobs);
    // At 4 and at 8, one job ends as another starts. The processors sleep only from 12 to 13.
    assert_eq!(transcript.matches(" asleep ").count(), 1, "{transcript}");
    assert_close(metric(&outcome, "asleep"), 1.0 / 16.0, "asleep");
}

#[test]
fn watts_change_no_schedule() {
    for (machine, topology) in machines() {
        for scheduler in SCHEDULERS.iter().filter(|s| s.serves.contains(&topology.wiring())) {
            let text = format!("machine = {{ {machine} }}\nscheduler = '{}'", scheduler.about.name);
            let jobs = random_jobs(&topology, 100, 3.0, 7);
            let (plain, transcript) = run(&scenario(&text), jobs.clone());
            for energy in [
                "energy = { idle = 0, busy = 0 }",
                "energy = { idle = 100, busy = 300 }",
                "energy = { idle = 100, busy = 300, cap = 1e9 }",
                "energy = { idle = 100, busy = 300, sleep = 0, sleep_after = 1.1, wake_energy = 5 }",
            ] {
                let sleeps = energy.contains("sleep");
                if sleeps && scheduler.malleable {
                    continue;
                }
                let (outcome, other) = run(&scenario(&format!("{text}\n{energy}")), jobs.clone());
                let others: Vec<&str> = other
                    .lines()
                    .filter(|line| !line.contains(" asleep ") && !line.contains(" awake "))
                    .collect();
                assert!(others == transcript.lines().collect::<Vec<_>>(), "{text}\n{energy}");
                assert_eq!(other.contains("asleep"), sleeps, "{text}\n{energy}");
                for one in &plain.metrics {
                    let same = metric(&outcome, one.name);
                    assert_close(same, one.value.unwrap_or(same), one.name);
                }
            }
        }
    }
}

/// A job that alone would exceed the cap is refused at once; all others are served.
///
/// If estimates are exact and processors wake at once, all reservations are kept.
#[test]
fn the_cap_holds() {
    let (mut refused, mut finished) = (0, 0);
    for (machine, topology) in machines() {
        let nodes = f64::from(topology.nodes());
        for scheduler in schedulers_for_all_wirings() {
            for (index, allocator) in allocators_on(&topology, 7).into_iter().enumerate() {
                let cap = 100.0 * nodes + 200.0 * (nodes * 0.6).floor() + 50.0;
                let more = [
                    "",
                    ", sleep = 5, sleep_after = 1.5",
                    ", sleep = 5, sleep_after = 0.5, wake = 1.25, wake_energy = 100",
                ][index % 3];
                let text = format!(
                    "machine = {{ {machine} }}\nallocator = '{allocator}'\nscheduler = '{}'
                     energy = {{ idle = 100, busy = 300, cap = {cap:?}{more} }}",
                    scheduler.about.name
                );
                let mut jobs = random_jobs(&topology, 80, 3.0, 3);
                jobs.iter_mut().for_each(|job| job.estimate = job.runtime);
                let study = scenario(&text);
                let (outcome, accounts) = accounts_of(&study, jobs.clone(), &text);
                assert!(accounts.most <= cap, "{text}: {}", accounts.most);
                assert!(accounts.most > 0.8 * cap - 100.0 * nodes, "{text}: {}", accounts.most);
                if scheduler.serves_all {
                    assert_eq!(outcome.finished + outcome.refused, 80, "{text}");
                }
                if scheduler.plans && !more.contains("wake") {
                    let (_, promises) = observed(&study, jobs, Promises::default());
                    assert!(promises.kept > 10, "{text}: only {} promises", promises.kept);
                }
                refused += outcome.refused;
                finished += outcome.finished;
            }
        }
    }
    assert!(refused > 300 && finished > 5000, "{refused} {finished}");
}

/// Tests that a power cap for six busy processors acts like a machine of six processors.
///
/// Jobs on a large machine with this cap start at the same times as on the small machine.
#[test]
fn a_cap_is_a_smaller_machine() {
    let small = Topology::flat(6).unwrap();
    for scheduler in schedulers_for_all_wirings() {
        // These schedulers keep certain nodes free, which are others on a larger machine.
        if ["reservation", "lazy"].contains(&scheduler.about.name) {
            continue;
        }
        for seed in 0..4 {
            let jobs: Vec<Job> = random_jobs(&small, 120, 3.0, seed)
                .into_iter()
                .map(|job| Job { request: Request::Nodes(job.request.nodes() as u32), ..job })
                .collect();
            let setup = |text: &str| {
                let name = scheduler.about.name;
                scenario(&format!("scheduler = '{name}'\n{text}")).setup(0).unwrap()
            };
            let six = setup("machine = { topology = 'flat', processors = 6 }");
            let capped = setup(
                "machine = { topology = 'flat', processors = 2000 }
                 energy = { idle = 0, busy = 250, cap = 1500 }",
            );
            assert_eq!(
                starts(six, jobs.clone()),
                starts(capped, jobs),
                "{} with seed {seed}",
                scheduler.about.name
            );
        }
    }
}

#[test]
fn sites_share_a_cap() {
    for scheduler in schedulers_for_all_wirings() {
        let text = format!(
            "{SITES}\nscheduler = '{}'\nenergy = {{ idle = 0, busy = 10, cap = 95 }}",
            scheduler.about.name
        );
        let mut jobs = random_jobs(&Topology::flat(9).unwrap(), 100, 12.0, 1);
        jobs.iter_mut().for_each(|job| job.estimate = job.runtime);
        let (outcome, accounts) = accounts_of(&scenario(&text), jobs, &text);
        assert!(accounts.most <= 95.0 && accounts.most > 40.0, "{text}: {}", accounts.most);
        if scheduler.serves_all {
            assert_eq!(outcome.finished + outcome.refused, 100, "{text}");
        }
    }
}

/// The power cap allows four busy processors of eight. A job of four is promised a start at 10.
///
/// Of the jobs behind it, one that ends by 10 starts early. One that would run longer does not
/// start, because the promised job needs all the power.
#[test]
fn a_promise_counts_the_cap_in() {
    let study = scenario(
        "machine = { topology = 'flat', processors = 8 }\nscheduler = 'easy'
         energy = { idle = 1, busy = 2, cap = 12 }",
    );
    let jobs = [(0.0, 3, 10.0), (1.0, 4, 5.0), (2.0, 1, 9.0), (3.0, 1, 7.0), (4.0, 5, 1.0)];
    let jobs = jobs.iter().map(|&(at, nodes, time)| job(at, Request::Nodes(nodes), time)).collect();
    let (_, transcript) = run(&study, jobs);
    for line in
        ["1 promised 1 10", "3 started 3 ", "10 started 1 ", "15 started 2 ", "4 refused 4 5"]
    {
        assert!(transcript.lines().any(|told| told.starts_with(line)), "{line}:\n{transcript}");
    }
}

fn assert_mean(study: &Scenario, name: &str, theory: f64) {
    let (mean, half_width) = interval(&replicate(study, name));
    assert!((mean - theory).abs() <= half_width, "{name}: {mean} ± {half_width}, not {theory}");
    assert!(half_width < 0.05 * theory, "{name}: ± {half_width} around {mean} says nothing");
}

/// Scenario of jobs with one processor and the mean run time 1.
fn queue(processors: u32, load: f64, energy: &str) -> Scenario {
    scenario(&format!(
        "machine = {{ topology = 'flat', processors = {processors} }}
         energy = {{ {energy} }}
         workload = {{ name = 'synthetic', load = {load}, runtimes = {{ name = 'exponential', mean = 1.0 }},
                       sizes = {{ name = 'constant', value = 1, form = 'count' }} }}
         measure = {{ warmup_jobs = 1000, jobs = 21000 }}"
    ))
}

/// Each server of an M/M/c queue is busy for the share ρ of the time.
#[test]
fn mean_power_is_that_of_a_queue() {
    for (c, load) in [(1, 0.7), (8, 0.6)] {
        let servers = f64::from(c);
        let theory = 100.0 * servers + 200.0 * load * servers;
        assert_mean(&queue(c, load, "idle = 100, busy = 300"), "mean_power", theory);
    }
}

/// The server of an M/M/1 queue sleeps after an idle time *a*.
///
/// Idle times are exponential with mean 1/λ. So it sleeps for the share (1 − ρ) exp(−λa) of the
/// time, and is woken λ (1 − ρ) exp(−λa) times in a unit of time.
#[test]
fn a_server_that_sleeps_is_that_of_theory() {
    let (load, after) = (0.4, 1.5);
    let study =
        queue(1, load, "idle = 100, busy = 300, sleep = 10, sleep_after = 1.5, wake_energy = 80");
    let asleep = (1.0 - load) * libm::exp(-load * after);
    assert_mean(&study, "asleep", asleep);
    let power = 300.0 * load + 100.0 * (1.0 - load - asleep) + 10.0 * asleep + 80.0 * load * asleep;
    assert_mean(&study, "mean_power", power);
}

/// The first job of a busy period waits until the server has woken.
///
/// This is Welch's queue with an exceptional first service (Operations Research 12, 1964).
#[test]
fn waking_delays_as_theory_says() {
    let (load, after, wake): (f64, f64, f64) = (0.4, 1.0, 2.0);
    let study = queue(1, load, "idle = 100, busy = 300, sleep = 10, sleep_after = 1, wake = 2");
    let asleep = libm::exp(-load * after);
    let (first, second) = (asleep * wake, asleep * wake * wake);
    let plain = 1.0 / (1.0 - load);
    let theory = plain + (2.0 * first + load * second) / (2.0 * (1.0 + load * first));
    assert_mean(&study, "turnaround", theory);
}

#[test]
fn energy_is_told_where_it_is_asked_for() {
    let names = |text: &str| {
        let study = scenario(&format!("machine = {{ topology = 'flat', processors = 4 }}\n{text}"));
        let (outcome, _) = run(&study, vec![job(0.0, Request::Nodes(1), 1.0)]);
        outcome.metrics.iter().map(|metric| metric.name).collect::<Vec<_>>()
    };
    let of_energy = ["energy", "mean_power", "energy_delay", "asleep", "wake_ups"];
    let with = names("energy = { idle = 1, busy = 2 }");
    let without = names("");
    assert!(of_energy.iter().all(|name| with.contains(name) && !without.contains(name)));
    assert_eq!(with.len(), without.len() + of_energy.len());
}

#[test]
fn what_is_wrong_is_said_in_a_sentence() {
    for (text, part) in [
        ("energy = { idle = 100, busy = 50 }", "`energy.busy` is 50, but a processor that works"),
        (
            "energy = { idle = 100, busy = 300, cap = 390 }",
            "the 4 processors take 400 when all are idle",
        ),
        ("energy = { idle = 100, busy = 300, cap = 500 }", "lets no job start"),
        ("energy = { idle = 100, busy = 300, watts = 3 }", "watts"),
        (
            "scheduler = 'equipartition'\nenergy = { idle = 100, busy = 300, cap = 900 }",
            "`energy.cap` is given, but the scheduler `equipartition`",
        ),
        (
            "scheduler = 'equipartition'\nenergy = { idle = 100, busy = 300, sleep = 5, sleep_after = 1 }",
            "`energy.sleep` is given, but the scheduler `equipartition`",
        ),
        (
            "sizing = 'greedy_limit'\nenergy = { idle = 100, busy = 300, cap = 900 }",
            "the sizing `greedy_limit` decides only as it starts",
        ),
        (
            "network = 'link_load'\nenergy = { idle = 100, busy = 300, sleep = 5, sleep_after = 1, wake = 1 }",
            "`energy.wake` comes before the work of a job, but in the network `link_load`",
        ),
    ] {
        let table = format!(
            "machine = {{ topology = 'mesh', dims = [2, 2] }}\nworkload = {{ name = 'lublin', jobs = 10 }}\n{text}"
        );
        let refused = refusal(&table);
        assert!(refused.contains(part), "{text}: {refused}");
    }
}

#[test]
fn a_metric_of_energy_wants_to_know_what_processors_take() {
    let read = |metric: &str, energy: &str| {
        let text = format!(
            "machine = {{ topology = 'flat', processors = 4 }}\nworkload = {{ name = 'lublin', jobs = 9 }}\n\
             measure = {{ metrics = ['wait', '{metric}'] }}\n{energy}"
        );
        Scenario::read(&text.parse().unwrap())
    };
    for metric in ["energy", "mean_power", "energy_delay", "asleep", "wake_ups"] {
        let problem = read(metric, "").unwrap_err();
        assert_eq!(problem.path, "measure.metrics");
        assert_eq!(
            problem.message,
            format!(
                "the metric `{metric}` is of what processors take, which nothing says: give `energy`, such as \
                 {{ idle = 120, busy = 350 }}"
            )
        );
        assert!(read(metric, "energy = { idle = 120, busy = 350 }").is_ok());
    }
}

#[test]
fn other_metrics_of_what_a_study_leaves_out_are_no_false_zeros() {
    let names = ["packet_latency", "network_latency", "blocking_time", "hops", "link_utilization"];
    let of_deadlines = ["missed_deadlines", "tardiness"];
    let text = format!(
        "machine = {{ topology = 'mesh', dims = [4, 4] }}\nworkload = {{ name = 'synthetic', load = 0.5, sizes = 'uniform', \
         runtimes = {{ name = 'constant', value = 5.0 }} }}\n\
         measure = {{ jobs = 50, metrics = {:?} }}",
        [&names[..], &of_deadlines].concat()
    );
    let scenario = Scenario::read(&text.parse().unwrap()).unwrap();
    let outcome = scenario.run(0, &NoInputs, &mut ()).unwrap();
    for measured in outcome.metrics {
        assert_eq!(measured.value, None, "{}", measured.name);
    }
}
