//! A run step by step is the run at once, whatever is asked of it in between.

mod common;

use std::fmt::Write as _;

use common::{SITES, Transcript, machines, random_jobs, scenario, submissions};
use meshwork::cluster::Cluster;
use meshwork::engine::{RunError, Setup, Simulation, simulate};
use meshwork::job::{Job, Request, Time};
use meshwork::observe::{Event, Observer, State};
use meshwork::rng::Stream;
use meshwork::scenario::Scenario;
use meshwork::sched::{SCHEDULERS, Scheduler};
use meshwork::topology::Topology;
use meshwork::workload::{NoInputs, Submissions};

/// What is told of a run: its events, and between which instants time passed in which state.
#[derive(Default)]
struct Told(Transcript);

impl Observer for Told {
    fn elapsed(&mut self, from: Time, to: Time, state: &State) {
        writeln!(self.0.text, "{from} {to} {state:?}").unwrap();
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        self.0.observe(now, event);
    }
}

/// How a run goes on.
type Drive<'a> = &'a mut dyn FnMut(&mut Simulation<'_>) -> Result<(), RunError>;

/// What is told of a run that goes on like this, and how it ended.
fn driven(setup: Setup, jobs: Submissions, drive: Drive<'_>) -> (String, Result<Time, RunError>) {
    let mut told = Told::default();
    let end = Simulation::new(setup, jobs, &mut told).and_then(|mut simulation| {
        drive(&mut simulation)?;
        assert_eq!(simulation.peek(), None, "nothing is left");
        assert!(!simulation.step()?, "nothing is left");
        simulation.run()
    });
    (told.0.text, end)
}

/// One instant at a time, and each when it was foreseen, whoever asks and how often.
fn stepped(simulation: &mut Simulation<'_>) -> Result<(), RunError> {
    loop {
        let (before, at) = (simulation.cluster().now(), simulation.peek());
        assert_eq!(simulation.peek(), at, "a question changes nothing");
        assert_eq!(simulation.cluster().now(), before, "a question changes nothing");
        let went_on = simulation.step()?;
        assert_eq!(went_on, at.is_some(), "foreseen at {at:?} after {before}");
        if !went_on {
            return Ok(());
        }
        assert_eq!(Some(simulation.cluster().now()), at);
    }
}

/// Up to random instants, some of which have gone by.
fn in_spans(simulation: &mut Simulation<'_>, seed: u64) -> Result<(), RunError> {
    let mut rng = Stream::new(seed, 0, "instants");
    let mut at = 0.0;
    loop {
        at += rng.below(200) as f64 * 0.1 - 2.0;
        let goes_on = simulation.run_until(Time::new(at))?;
        assert!(simulation.peek().is_none_or(|next| next > Time::new(at)));
        if !goes_on {
            return simulation.step().map(drop);
        }
    }
}

/// Holds all ways through a run to each other; gives how many lines are told of it.
fn agree(text: &str, runs: impl Fn() -> (Setup, Submissions)) -> usize {
    let mut told = Told::default();
    let (setup, jobs) = runs();
    let end = simulate(setup, jobs, &mut told);
    let once = (told.0.text, end);
    for seed in 0..3 {
        let (setup, jobs) = runs();
        let again = match seed {
            0 => driven(setup, jobs, &mut stepped),
            seed => driven(setup, jobs, &mut |simulation| in_spans(simulation, seed)),
        };
        assert!(once == again, "{text}\n{once:?}\n---\n{again:?}");
    }
    once.0.lines().count()
}

fn of_jobs(text: &str, jobs: &[Job]) -> usize {
    let scenario = scenario(text);
    agree(text, || (scenario.setup(0).unwrap(), submissions(jobs.to_vec())))
}

#[test]
fn all_schedulers_step_by_step() {
    let mut lines = 0;
    for (machine, topology) in &machines() {
        let served = SCHEDULERS.iter().filter(|s| s.serves.contains(&topology.wiring()));
        for (seed, scheduler) in (0..).zip(served) {
            let text = format!("machine = {{ {machine} }}\nscheduler = '{}'", scheduler.about.name);
            let jobs = random_jobs(topology, 60, 3.0, seed);
            lines += of_jobs(&text, &jobs);
            lines += of_jobs(&format!("{text}\npasses = 'event'"), &jobs);
            if !scheduler.malleable {
                let failing = "failures = { mtbf = 200, repair = 4 }";
                lines += of_jobs(&format!("{text}\n{failing}"), &jobs);
            }
        }
    }
    assert!(lines > 50_000, "only {lines} lines");
}

#[test]
fn machines_with_more_to_happen_step_by_step() {
    let mesh = Topology::mesh(&[8, 8]).unwrap();
    let jobs = random_jobs(&mesh, 100, 3.0, 7);
    let sites = random_jobs(&Topology::flat(14).unwrap(), 100, 8.0, 7);
    assert!(of_jobs(SITES, &sites) > 300);
    for more in [
        "measure = { time = 60.0 }",
        "energy = { idle = 100, busy = 300, sleep = 7.25, sleep_after = 2.3, wake = 0.7 }",
        "scheduler = 'easy'\nfailures = { maintenance = [{ from = 12, until = 15, nodes = '0-5' }] }",
    ] {
        let text = format!("machine = {{ topology = 'mesh', dims = [8, 8] }}\n{more}");
        assert!(of_jobs(&text, &jobs) > 100, "{text}");
    }
}

/// A network that is simulated goes on up to what comes next, and a step back would show.
#[test]
fn messages_step_by_step() {
    let text = "machine = { topology = 'mesh', dims = [6, 6] }
        network = { name = 'wormhole', pattern = 'all_to_all' }
        measure = { jobs = 30 }
        [workload]
        name = 'synthetic'
        sizes = 'uniform'
        load = 3.0
        runtimes = { name = 'exponential', mean = 40.0 }";
    let scenario = Scenario::read(&text.parse().unwrap()).unwrap();
    let lines = agree(text, || {
        let jobs = scenario.jobs(0, &NoInputs).unwrap();
        (scenario.setup(0).unwrap(), Box::new(jobs.take(60)))
    });
    assert!(lines > 150, "only {lines} lines");
}

#[test]
fn errors_come_when_they_came_at_once_and_end_the_run() {
    let scenario = scenario("machine = { topology = 'flat', processors = 4 }");
    let jobs = || {
        let mut jobs = vec![common::job(0.0, Request::Nodes(3), 5.0)];
        jobs.push(common::job(2.0, Request::Nodes(3), 5.0));
        jobs.push(common::job(1.0, Request::Nodes(3), 5.0));
        jobs
    };
    agree("jobs that go back in time", || (scenario.setup(0).unwrap(), submissions(jobs())));
    let mut simulation =
        Simulation::new(scenario.setup(0).unwrap(), submissions(jobs()), ()).unwrap();
    assert!(simulation.step().unwrap());
    assert!(simulation.run().unwrap_err().to_string().contains("arrives at 1"));
    assert_eq!(simulation.peek(), None);
    assert!(!simulation.step().unwrap());
}

#[test]
fn machine_and_queue_are_there_between_steps() {
    let scenario = scenario("machine = { topology = 'flat', processors = 4 }");
    let jobs = (0..3).map(|at| common::job(f64::from(at), Request::Nodes(3), 10.0)).collect();
    let mut simulation =
        Simulation::new(scenario.setup(0).unwrap(), submissions(jobs), ()).unwrap();
    assert!(simulation.run_until(Time::new(1.5)).unwrap());
    let cluster = simulation.cluster();
    assert_eq!(cluster.now(), Time::new(1.0), "the clock stands at the last instant");
    assert_eq!((cluster.running().count(), cluster.waiting_jobs()), (1, 1));
    assert_eq!(cluster.site(0).free_nodes(), 1);
    let head = cluster.head().unwrap();
    assert_eq!(cluster.job(head).arrival, Time::new(1.0));
    assert_eq!(simulation.run().unwrap(), Time::new(30.0));
}

/// A run that owns all it needs goes on in another thread.
#[test]
fn a_run_can_be_sent_away() {
    let scenario = scenario("machine = { topology = 'flat', processors = 4 }");
    let jobs = submissions(random_jobs(&Topology::flat(4).unwrap(), 50, 2.0, 1));
    let mut simulation: Simulation<'static> =
        Simulation::new(scenario.setup(0).unwrap(), jobs, Told::default()).unwrap();
    simulation.step().unwrap();
    let end = std::thread::spawn(move || simulation.run()).join().unwrap().unwrap();
    assert!(end > Time::ZERO);
}

/// Whoever decides between two steps starts jobs as a scheduler does, and breaks the same contract.
#[test]
fn a_pass_between_two_steps() {
    struct Idle;
    impl Scheduler for Idle {
        fn schedule(&mut self, _: &mut Cluster<'_>) {}
    }
    let scenario = scenario("machine = { topology = 'mesh', dims = [8, 8] }\nscheduler = 'fcfs'");
    let jobs = || submissions(random_jobs(&Topology::mesh(&[8, 8]).unwrap(), 200, 3.0, 5));
    let mut told = Told::default();
    simulate(scenario.setup(0).unwrap(), jobs(), &mut told).unwrap();
    let mut fcfs = scenario.setup(0).unwrap().scheduler;
    let setup = Setup { scheduler: Box::new(Idle), ..scenario.setup(0).unwrap() };
    let (between, end) = driven(setup, jobs(), &mut |simulation| {
        while simulation.step()? {
            simulation.pass(&mut *fcfs)?;
        }
        Ok(())
    });
    end.unwrap();
    assert!(between == told.0.text);
}
