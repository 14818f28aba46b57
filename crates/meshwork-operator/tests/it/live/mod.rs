//! Tests of the agent against a fake of Slurm.
//!
//! The agent is killed between any two calls, and faults of all kinds happen.

mod fake;
mod gain;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use meshwork_operator::live::SlurmCommands;
use meshwork_operator::live::agent::{AgentSettings, PlacementAgent};
use meshwork_operator::live::ends::{EndRule, ExpectedEnds};
use meshwork_operator::live::policy::LivePolicy;
use meshwork_operator::live::replay::replay;
use meshwork_slurm::history::{History, JobRecord};
use meshwork_slurm::hostlist;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::Value as Json;

use fake::{FakeSlurm, Fault, Killed, NO_RESERVATIONS, NODES, Phase, Special, Wanted};
use fake::{argument, filled, pending};

fn policy(allocator: &str, scheduler: &str) -> LivePolicy {
    let text = format!(
        "machine = 'mesh:4x4'\nallocator = '{allocator}'\nscheduler = '{scheduler}'\n\
         workload = {{ name = 'lublin', load = 0.5 }}\nmeasure = {{ jobs = 10 }}"
    );
    let scenario = meshwork::scenario::Scenario::read(&text.parse().unwrap()).unwrap();
    LivePolicy::named(scenario, (0..NODES).map(|node| format!("n{node}")).collect()).unwrap()
}

/// Faults and kills at random, with the settings of the agent.
#[derive(Clone, Debug)]
struct Story {
    is_easy: bool,
    passes: bool,
    predicts: bool,
    faults: Vec<(f64, Fault)>,
    kills: Vec<(u8, bool)>,
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let special = prop_oneof![
        8 => Just(Special::None),
        1 => (0..NODES).prop_map(Special::Own),
        1 => (0..NODES).prop_map(Special::Exclude),
        1 => (0..6_usize).prop_map(Special::After),
        1 => Just(Special::Features),
        1 => Just(Special::Heterogeneous),
        1 => (1..30_u8).prop_map(Special::Begin),
        1 => Just(Special::Tasks),
        1 => Just(Special::Comment),
    ];
    let sizes = (1..=12_u32, 0..3_u32);
    (0..3_u8, sizes, 1..30_u8, 30..600_u16, special).prop_map(
        |(user, (least, more), seconds, limit, special)| {
            // A job that lists its nodes requests exactly as many nodes as the list has.
            let more = if matches!(special, Special::Own(_)) { 0 } else { more };
            Wanted { user, least, most: least + more, seconds, limit, special }
        },
    )
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        12 => wanted().prop_map(Fault::Submit),
        1 => (0..NODES).prop_map(Fault::Drain),
        1 => (0..NODES).prop_map(Fault::Resume),
        1 => (0..NODES).prop_map(Fault::Down),
        2 => (0..12_usize).prop_map(Fault::Requeue),
        1 => (0..12_usize).prop_map(Fault::Cancel),
        1 => (0..12_usize).prop_map(Fault::Hold),
        1 => (0..12_usize).prop_map(Fault::Release),
        1 => (0..3_u8, 1..8_u32).prop_map(|(user, most)| Fault::Limit(user, most)),
        2 => (1..8_u8).prop_map(Fault::Crash),
        1 => (0..NODES, 1..6_usize, 0..60_u8, 10..60_u8)
            .prop_map(|(first, length, after, seconds)| Fault::Reserve(first, length, after, seconds)),
        2 => (0..NODES, 1..20_u8).prop_map(|(node, seconds)| Fault::Foreign(node, seconds)),
    ]
}

fn story() -> impl Strategy<Value = Story> {
    let faults = prop::collection::vec((0..60_u8, fault()), 6..30);
    let kills = prop::collection::vec((0..9_u8, any::<bool>()), 0..100);
    let settings = (any::<bool>(), any::<bool>(), any::<bool>());
    (settings, faults, kills).prop_map(|((is_easy, passes, predicts), faults, kills)| {
        let faults = faults.into_iter().map(|(at, fault)| (f64::from(at), fault)).collect();
        Story { is_easy, passes, predicts, faults, kills }
    })
}

/// In the history, user 0 ran jobs of 20 s, user 1 of 5 s, and user 2 of 3 s.
fn predicted() -> ExpectedEnds {
    let stay = |(user, seconds): (u8, i64)| JobRecord {
        user: format!("u{user}"),
        start: Some(0),
        end: Some(seconds),
        nodelist: "n1".to_owned(),
        ..JobRecord::default()
    };
    let history = History { stays: [(0, 20), (1, 5), (2, 3)].map(stay).to_vec() };
    ExpectedEnds::of(EndRule::UserMean, &history)
}

/// Node lists chosen by the agent, by job id and time of submission.
type Chosen = BTreeMap<(String, i64), BTreeSet<Vec<String>>>;

/// Counts over all test cases: events in the agent's log by name, kills, and starts.
#[derive(Debug, Default)]
struct Happened {
    events: BTreeMap<String, usize>,
    kills: usize,
    starts: usize,
    undecided: usize,
    vanished: usize,
    /// Numbers of the started jobs, in order of their starts.
    order: Vec<String>,
}

/// Runs the agent through the faults and kills of a test case until every job has ended.
///
/// The result is checked, and the events of the case are added to `happened`.
fn play(policy: &LivePolicy, story: &Story, happened: &mut Happened) -> Result<(), TestCaseError> {
    let mut slurm = FakeSlurm::new(story.faults.clone(), story.kills.clone());
    let settings =
        AgentSettings { pass: story.passes.then(|| "pass".to_owned()), ..AgentSettings::default() };
    let (chosen, log) = (RefCell::new(Chosen::new()), RefCell::new(String::new()));
    let note = |event: &Json| {
        if event["event"] == "place" {
            let key =
                (event["job"].as_str().unwrap().to_owned(), event["submitted"].as_i64().unwrap());
            let mut nodes = hostlist::names(event["nodes"].as_str().unwrap()).unwrap();
            nodes.sort();
            chosen.borrow_mut().entry(key).or_default().insert(nodes);
        }
        *log.borrow_mut() += &format!("{event}\n");
    };
    let ends = if story.predicts { predicted() } else { ExpectedEnds::default() };
    let new = || {
        let mut agent = PlacementAgent::new(policy, settings.clone(), Box::new(&note));
        agent.ends = ends.clone();
        agent
    };
    let mut agent = new();
    let mut wrong = 0;
    let mut quiet = 0;
    loop {
        let cycle = catch_unwind(AssertUnwindSafe(|| agent.cycle(&mut slurm)));
        match cycle {
            Ok(_) => slurm.sleep(1.0),
            Err(cause) if cause.is::<Killed>() => {
                wrong += agent.metrics.wrong;
                agent = new();
                slurm.sleep(0.5);
            }
            Err(cause) => resume_unwind(cause),
        }
        if slurm.has_faults() {
            continue;
        }
        if quiet == 120 {
            slurm.calm();
        }
        quiet += 1;
        let waits =
            slurm.jobs.iter().any(|job| !matches!(job.phase, Phase::Done | Phase::Cancelled));
        if quiet > 120 && !waits {
            break;
        }
        prop_assert!(quiet < 6_000, "stuck: {:#?}", slurm.jobs);
    }
    wrong += agent.metrics.wrong;
    prop_assert_eq!(wrong, 0);
    prop_assert!(slurm.overlaps.is_empty(), "{:?}", slurm.overlaps);
    let chosen = chosen.borrow();
    for start in &slurm.starts {
        let nodes: Vec<String> = start.nodes.iter().cloned().collect();
        let lists = chosen.get(&start.key);
        let is_chosen = lists.is_some_and(|lists| lists.contains(&nodes));
        prop_assert!(is_chosen, "{:?} started on {:?}, but {:?}", start.key, nodes, lists);
    }
    // At the end, the node list of a job that required particular nodes has the requested length.
    for job in &slurm.jobs {
        if let (Special::Own(_), Phase::Done) = (&job.wanted.special, &job.phase) {
            let count = hostlist::names(&job.requires).unwrap().len();
            prop_assert_eq!(count, job.wanted.least as usize);
        }
    }
    let again = replay(policy, &log.borrow()).unwrap();
    prop_assert!(again.different.is_empty(), "{:?}", again);
    for line in log.borrow().lines() {
        let event: Json = serde_json::from_str(line).unwrap();
        *happened.events.entry(event["event"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    happened.kills += slurm.killed;
    happened.starts += slurm.starts.len();
    happened.undecided += slurm.undecided;
    happened.vanished += slurm.vanished;
    happened.order.extend(slurm.starts.iter().map(|own| own.key.0.clone()));
    Ok(())
}

#[test]
fn ten_thousand_kills_misplace_no_job_and_lose_none() {
    let happened = RefCell::new(Happened::default());
    let (fcfs, easy) = (policy("mc1x1", "fcfs"), policy("mc1x1", "easy"));
    let config =
        ProptestConfig { cases: 260, failure_persistence: None, ..ProptestConfig::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, random);
    let run = runner.run(&story(), |story| {
        play(if story.is_easy { &easy } else { &fcfs }, &story, &mut happened.borrow_mut())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    let happened = happened.into_inner();
    assert!(happened.kills >= 10_000 && happened.starts >= 1_500, "{happened:?}");
    for (event, least) in [
        ("decision", 1_000),
        ("place", 1_000),
        ("started", 1_000),
        ("take_back", 100),
        ("pass", 50),
        ("left", 50),
        ("refused", 1),
    ] {
        let count = happened.events.get(event).copied().unwrap_or(0);
        assert!(count >= least, "{event}: {happened:?}");
    }
    assert!(happened.vanished >= 50, "{happened:?}");
}

fn submit(user: u8, nodes: u32, seconds: u8, limit: u16) -> Fault {
    let special = Special::None;
    Fault::Submit(Wanted { user, least: nodes, most: nodes, seconds, limit, special })
}

/// Story with the faults `faults`, in which the agent is never killed.
fn undisturbed(predicts: bool, faults: Vec<(f64, Fault)>) -> Story {
    Story { is_easy: true, passes: false, predicts, faults, kills: Vec::new() }
}

/// The agent takes back each requeued job within two minutes, before Slurm could start it again.
#[test]
fn a_requeued_job_starts_by_a_new_decision() {
    let mut happened = Happened::default();
    let policy = policy("mc1x1", "easy");
    for seconds in 0..40_u8 {
        let faults = vec![
            (0.0, submit(1, 4, 30, 60)),
            (1.0, submit(1, 12, 30, 60)),
            (f64::from(seconds), Fault::Requeue(usize::from(seconds % 2))),
            (f64::from(seconds) + 2.0, Fault::Down(usize::from(seconds % 16))),
            (f64::from(seconds) + 9.0, Fault::Resume(usize::from(seconds % 16))),
        ];
        play(&policy, &undisturbed(false, faults), &mut happened).unwrap();
    }
    assert_eq!(happened.undecided, 0, "{happened:?}");
    assert!(happened.starts >= 110 && happened.events["take_back"] >= 40, "{happened:?}");
}

/// A job does not get reserved nodes if its time limit reaches into the reservation.
///
/// This holds even if the job is predicted to end before the reservation.
#[test]
fn a_prediction_does_not_reach_into_a_reservation() {
    let mut happened = Happened::default();
    let faults = vec![(0.0, Fault::Reserve(0, 16, 60, 30)), (0.0, submit(1, 4, 5, 600))];
    play(&policy("mc1x1", "easy"), &undisturbed(true, faults), &mut happened).unwrap();
    assert_eq!(happened.starts, 1, "{happened:?}");
    assert!(!happened.events.contains_key("take_back"), "{happened:?}");
}

#[test]
fn a_predicted_end_lets_a_job_start_out_of_turn() {
    // Job 2 waits for the end of job 1. Job 3 is short, but has a long time limit.
    let faults =
        [(0.0, submit(0, 12, 29, 100)), (3.0, submit(1, 16, 5, 100)), (6.0, submit(2, 4, 3, 600))];
    let starts = |predicts: bool| {
        let mut happened = Happened::default();
        let story = undisturbed(predicts, faults.to_vec());
        play(&policy("mc1x1", "easy"), &story, &mut happened).unwrap();
        happened.order
    };
    assert_eq!(starts(false), ["1", "2", "3"]);
    assert_eq!(starts(true), ["1", "3", "2"]);
}

/// Fake Slurm that refuses every update of a job, and counts these updates.
struct Refusing(FakeSlurm, usize);

impl SlurmCommands for Refusing {
    fn ask(&mut self, program: &str, arguments: &[String]) -> Result<String, String> {
        self.0.ask(program, arguments)
    }

    fn control(&mut self, line: &str) -> Result<String, String> {
        if line.starts_with("update ") {
            self.1 += 1;
            return Ok("Requested node configuration is not available\n".to_owned());
        }
        self.0.control(line)
    }

    fn now(&mut self) -> f64 {
        self.0.now()
    }

    fn token(&mut self) -> String {
        self.0.token()
    }
}

#[test]
fn a_refused_placement_is_followed_by_a_pause() {
    let mut slurm = Refusing(FakeSlurm::new(vec![(0.0, submit(0, 1, 5, 60))], Vec::new()), 0);
    let policy = policy("mc1x1", "fcfs");
    let settings = AgentSettings::default();
    let pause = settings.settle;
    let mut agent = PlacementAgent::new(&policy, settings, Box::new(|_| ()));
    for _ in 0..30 {
        slurm.0.sleep(1.0);
        agent.cycle(&mut slurm).unwrap();
    }
    let most = (30.0 / pause) as usize + 1;
    assert!((5..=most).contains(&slurm.1), "{} updates in 30 s", slurm.1);
}

/// Fake Slurm that shows `each` new one-node jobs at every look of the agent.
///
/// It accepts every update.
struct Stream {
    looks: u64,
    each: u64,
}

/// Second at which all jobs of a [`Stream`] are submitted.
const SUBMITTED: i64 = 1_800_000_000;

impl SlurmCommands for Stream {
    fn ask(&mut self, program: &str, arguments: &[String]) -> Result<String, String> {
        if program == "sinfo" {
            return Ok((0..NODES).map(|node| format!("n{node} idle\n")).collect());
        }
        let Some(format) = argument(arguments, "--format") else { return Ok(String::new()) };
        self.looks += 1;
        let first = self.looks * self.each;
        let fill = |number: u64| {
            filled(format, |letter| match letter {
                'i' | 'A' => number.to_string(),
                'P' => "in".to_owned(),
                't' => "PD".to_owned(),
                'D' => "1".to_owned(),
                'Q' => "1000".to_owned(),
                'V' => SUBMITTED.to_string(),
                'l' => "10:00".to_owned(),
                _ => "(null)".to_owned(),
            })
        };
        Ok((first..first + self.each).map(fill).collect())
    }

    fn control(&mut self, line: &str) -> Result<String, String> {
        Ok(match line.strip_prefix("show job ") {
            Some(id) => pending(id, SUBMITTED, 1),
            None if line == "show reservation" => NO_RESERVATIONS.to_owned(),
            None => String::new(),
        })
    }

    fn now(&mut self) -> f64 {
        SUBMITTED as f64 + self.looks as f64
    }

    fn token(&mut self) -> String {
        "<token>".to_owned()
    }
}

/// CPU seconds of this thread, which other programs do not lengthen.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// Prints the measurements that docs/performance.md quotes. Run it with `cargo test --release -p
/// meshwork-operator --test it live::figures -- --ignored --nocapture`.
#[test]
#[ignore = "it measures"]
#[allow(clippy::print_stderr, reason = "figures of a page")]
fn figures_of_looks() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let pages = status.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
        pages.unwrap_or(0) * 4 / 1024
    };
    let policy = policy("mc1x1", "easy");
    let mut agent = PlacementAgent::new(&policy, AgentSettings::default(), Box::new(|_: &Json| {}));
    let mut slurm = Stream { looks: 0, each: 10_000 };
    let (mut placed, mut began) = (0, processor_seconds());
    for look in 0..11 {
        placed += agent.cycle(&mut slurm).unwrap();
        if look == 0 {
            eprintln!("after one look: {} MB", resident());
        }
    }
    let each = (processor_seconds() - began) / 11.0;
    eprintln!("after {} jobs: {} MB, {placed} placed", slurm.looks * slurm.each, resident());
    eprintln!("a look with 10,000 pending jobs, without squeue: {each:.3} CPU s");
    let mut small = Stream { looks: 0, each: 16 };
    began = processor_seconds();
    let placed: usize = (0..200).map(|_| agent.cycle(&mut small).unwrap()).sum();
    let each = (processor_seconds() - began) / placed as f64;
    eprintln!("{:.0} decisions in a CPU second", 1.0 / each);
}
