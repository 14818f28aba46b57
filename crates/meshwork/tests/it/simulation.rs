//! Tests that a run made in steps equals a run made in one go, with any queries between the steps.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{self, SITES, Transcript, machines, random_jobs, scenario, submissions};
use meshwork::cluster::{Cluster, MAX_IDLE_STEPS, StartOptions};
use meshwork::engine::{Names, RunError, Setup, Simulation, simulate};
use meshwork::job::{Job, Request, Time};
use meshwork::observe::{Event, MachineState, Observer};
use meshwork::rng::Stream;
use meshwork::scenario::Scenario;
use meshwork::sched::{SCHEDULERS, Scheduler};
use meshwork::topology::Topology;
use meshwork::workload::{NoInputs, Submissions};

/// Events of a run, and its state between instants, as text.
#[derive(Default)]
struct Told(Transcript);

impl Observer for Told {
    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
        writeln!(self.0.text, "{from} {to} {state:?}").unwrap();
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        self.0.observe(now, event);
    }
}

type Drive<'a> = &'a mut dyn FnMut(&mut Simulation<'_>) -> Result<(), RunError>;

/// Runs a simulation in the given way. Returns the events as text, and the end time or the error.
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

/// Runs a simulation step by step. Each step must lead to the instant that `peek` returned.
///
/// Repeated calls of `peek` must change nothing.
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

/// Runs a simulation up to one random instant after the other, some of which are in the past.
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

/// Compares a run made in one go with runs made in steps.
///
/// Returns the number of lines in the transcript of the run.
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

/// Tests step-by-step runs with a network that simulates messages from event to event.
///
/// The simulated network cannot go back in time, so an attempt to do so would be noticed.
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

#[test]
fn a_run_may_own_its_observer_and_be_sent_away() {
    fn away<T: Send + 'static>(it: T) -> T {
        it
    }
    let scenario = scenario("machine = { topology = 'flat', processors = 4 }");
    let jobs = submissions(random_jobs(&Topology::flat(4).unwrap(), 50, 2.0, 1));
    let setup = scenario.setup(0).unwrap();
    let mut simulation = away(Simulation::new(setup, jobs, Told::default()).unwrap());
    simulation.step().unwrap();
    assert!(simulation.run().unwrap() > Time::ZERO);
}

/// A closure that gets the simulation of a scenario may drop it before the end of the run.
#[test]
fn a_scenario_lends_its_run() {
    let text = "machine = { topology = 'mesh', dims = [8, 8] }
        measure = { jobs = 50 }
        workload = { name = 'lublin' }";
    let scenario = Scenario::read(&text.parse().unwrap()).unwrap();
    let mut whole = Told::default();
    let end = scenario.run(1, &NoInputs, &mut whole).unwrap().end;
    let mut lent = Told::default();
    let at = scenario.simulate(1, &NoInputs, &mut lent, |simulation| {
        stepped(simulation)?;
        Ok(simulation.cluster().now())
    });
    assert_eq!(at.unwrap(), end);
    assert!(whole.0 == lent.0);
    let half = Time::new(end.units() / 2.0);
    let mut told = Told::default();
    let left = scenario.simulate(1, &NoInputs, &mut told, |simulation| simulation.run_until(half));
    assert!(left.unwrap() && told.0.text.len() < lent.0.text.len());
    assert!(lent.0.text.starts_with(&told.0.text));
}

/// First come, first served, but jobs start only at multiples of an interval.
struct OnTimer {
    every: f64,
    from: f64,
    woken: Arc<AtomicU32>,
}

impl OnTimer {
    fn new(every: f64, from: f64) -> (Box<OnTimer>, Arc<AtomicU32>) {
        let woken = Arc::new(AtomicU32::new(0));
        (Box::new(OnTimer { every, from, woken: Arc::clone(&woken) }), woken)
    }
}

impl Scheduler for OnTimer {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now().units();
        if now % self.every != 0.0 {
            return;
        }
        self.woken.fetch_add(1, Ordering::Relaxed);
        while now >= self.from
            && let Some(head) = cluster.head()
            && cluster.start(head, StartOptions::default())
        {}
    }

    fn wake_at(&self, now: Time) -> Option<Time> {
        Some(Time::new(((now.units() / self.every).floor() + 1.0) * self.every))
    }
}

/// Setup of four processors with a scheduler that declares that it serves all jobs.
fn timed(text: &str, scheduler: Box<dyn Scheduler>) -> Setup {
    let text = format!("machine = {{ topology = 'flat', processors = 4 }}\n{text}");
    let setup = scenario(&text).setup(0).unwrap();
    Setup { scheduler, names: Names { serves_all: true, ..Names::default() }, ..setup }
}

#[test]
fn jobs_start_on_a_timer_alone() {
    let jobs = || {
        let ask = |nodes| Request::Nodes(nodes);
        vec![
            common::job(1.0, ask(3), 4.0),
            common::job(2.0, ask(1), 25.0),
            common::job(9.0, ask(2), 1.0),
        ]
    };
    for more in ["", "passes = 'event'", "failures = { mtbf = 'inf' }"] {
        let (scheduler, woken) = OnTimer::new(10.0, 0.0);
        let starts = common::starts(timed(more, scheduler), jobs());
        // The third job finds two free processors once the first job has ended, at 14.
        assert_eq!(starts, [Some(10.0), Some(10.0), Some(20.0)], "{more}");
        assert_eq!(woken.load(Ordering::Relaxed), 3, "at 10, 20 and 30");
        let lines = agree(more, || (timed(more, OnTimer::new(10.0, 0.0).0), submissions(jobs())));
        assert!(lines > 10);
    }
    let end = simulate(timed("", OnTimer::new(10.0, 0.0).0), submissions(jobs()), &mut ());
    assert_eq!(end.unwrap(), Time::new(35.0), "with no job left a timer keeps no run going");
    let limited = timed("measure = { time = 15.0 }", OnTimer::new(10.0, 0.0).0);
    assert_eq!(simulate(limited, submissions(jobs()), &mut ()).unwrap(), Time::new(16.0));
}

/// A pass in which nothing can start does not change the schedule.
#[test]
fn a_pass_in_between_changes_nothing_for_who_needs_none() {
    struct Restless(Box<dyn Scheduler>);
    impl Scheduler for Restless {
        fn schedule(&mut self, cluster: &mut Cluster<'_>) {
            self.0.schedule(cluster);
        }

        fn reserves(&self) -> bool {
            self.0.reserves()
        }

        fn wake_at(&self, now: Time) -> Option<Time> {
            Some(now + 0.7)
        }
    }
    let jobs = random_jobs(&Topology::flat(40).unwrap(), 100, 3.0, 3);
    for name in ["fcfs", "sjf", "easy", "conservative"] {
        let text =
            format!("machine = {{ topology = 'flat', processors = 40 }}\nscheduler = '{name}'");
        let [own, woken] = [false, true].map(|is_woken| {
            let mut setup = scenario(&text).setup(0).unwrap();
            if is_woken {
                setup.scheduler = Box::new(Restless(setup.scheduler));
            }
            common::starts(setup, jobs.clone())
        });
        assert_eq!(own, woken, "{name}");
    }
}

#[test]
fn a_timer_is_hope_for_long_but_not_for_ever() {
    let jobs = || submissions(vec![common::job(0.5, Request::Nodes(3), 4.0)]);
    let late = timed("", OnTimer::new(1.0, 150_000.0).0);
    assert_eq!(simulate(late, jobs(), &mut ()).unwrap(), Time::new(150_004.0));
    let idle = "it does not start it, though the machine is idle; ";
    let (never, woken) = OnTimer::new(1.0, f64::INFINITY);
    let error = simulate(timed("", never), jobs(), &mut ()).unwrap_err();
    assert!(error.to_string().contains(idle), "{error}");
    assert_eq!(woken.load(Ordering::Relaxed), MAX_IDLE_STEPS);
    // The run ends with the same error if arrivals never end.
    let endless = "machine = { topology = 'flat', processors = 4 }
        measure = { jobs = 1 }
        [workload]
        name = 'synthetic'
        sizes = 'uniform'
        load = 50
        runtimes = { name = 'exponential', mean = 5.0 }";
    let scenario = Scenario::read(&endless.parse().unwrap()).unwrap();
    let jobs = scenario.jobs(0, &NoInputs).unwrap();
    let setup = timed("", OnTimer::new(0.25, f64::INFINITY).0);
    let error = simulate(setup, jobs, &mut ()).unwrap_err();
    assert!(error.to_string().contains(idle), "{error}");
}

#[test]
fn a_timer_that_does_not_let_time_pass_breaks_the_contract() {
    struct WakesAt(f64);
    impl Scheduler for WakesAt {
        fn schedule(&mut self, _: &mut Cluster<'_>) {}

        fn wake_at(&self, now: Time) -> Option<Time> {
            Some(now + self.0)
        }
    }
    for (after, shown) in [(0.0, "5"), (-3.0, "2"), (f64::INFINITY, "inf")] {
        let jobs = submissions(vec![common::job(5.0, Request::Nodes(3), 4.0)]);
        let error = simulate(timed("", Box::new(WakesAt(after))), jobs, &mut ()).unwrap_err();
        let expected = format!(
            "the scheduler at 5: it wants to be woken at {shown}, but must name a finite instant after 5"
        );
        assert!(matches!(error, RunError::Strategy { kind: "scheduler", .. }), "{error:?}");
        assert_eq!(error.to_string(), expected);
    }
}

/// A caller starts jobs between two steps, under the contract of a scheduler.
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
