//! Tests that a plan for a state makes the same decisions as the run from which the state was
//! taken.

use std::sync::{Arc, Mutex};

use crate::common::{scenario, submissions};
use meshwork::alloc::ALLOCATORS;
use meshwork::cluster::Cluster;
use meshwork::engine::{
    HeldNodes, PlanError, PlanState, PolicyDecision, Setup, WithheldNodes, plan, simulate,
};
use meshwork::job::{Job, Request, Time};
use meshwork::machine::Placement;
use meshwork::scenario::Scenario;
use meshwork::sched::{SCHEDULERS, Scheduler};

/// Recorded decisions of a run: the state before each pass, and the jobs that started in that pass.
type Taken = Arc<Mutex<Vec<(PlanState, Vec<(usize, usize, Placement)>)>>>;

/// A scheduler that wraps another one, and records the state before each pass and the starts in it.
struct Noting {
    inner: Box<dyn Scheduler>,
    taken: Taken,
}

impl Scheduler for Noting {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let running = cluster.running().map(|(_, own)| HeldNodes {
            site: own.site,
            placement: own.placement.clone(),
            since: own.start,
            until: own.expected_end,
            job: own.job.clone(),
        });
        let running: Vec<HeldNodes> = running.collect();
        let mut waiting = Vec::new();
        let mut next = cluster.head();
        while let Some(ticket) = next {
            waiting.push((ticket.id, cluster.job(ticket).clone()));
            next = cluster.after(ticket);
        }
        self.inner.schedule(cluster);
        let started = cluster.running().filter_map(|(_, own)| {
            let place = waiting.iter().position(|(id, _)| *id == own.id)?;
            Some((place, own.site, own.placement.clone()))
        });
        let started = started.collect();
        let waiting = waiting.into_iter().map(|(_, job)| job).collect();
        let state = PlanState { now: cluster.now(), running, waiting, withheld: Vec::new() };
        self.taken.lock().unwrap().push((state, started));
    }

    fn wake_at(&self, now: Time) -> Option<Time> {
        self.inner.wake_at(now)
    }

    fn reserves(&self) -> bool {
        self.inner.reserves()
    }

    fn suspends(&self) -> bool {
        self.inner.suspends()
    }
}

/// Number of a run's decisions that are reproduced by plans, and number of all its decisions.
///
/// A plan is a policy's decision for a recorded state.
fn again(scenario: &Scenario, jobs: Vec<Job>) -> (usize, usize) {
    let taken = Taken::default();
    let setup = scenario.setup(0).unwrap();
    let noting = Noting { inner: setup.scheduler, taken: Arc::clone(&taken) };
    let setup = Setup { scheduler: Box::new(noting), ..setup };
    simulate(setup, submissions(jobs), &mut ()).unwrap();
    let taken = std::mem::take(&mut *taken.lock().unwrap());
    let (mut same, mut all) = (0, 0);
    for (state, mut started) in taken {
        // Of jobs that start and end in one instant a state does not know.
        if state.running.iter().any(|own| own.since >= state.now) {
            continue;
        }
        let PolicyDecision { starts, .. } = plan(scenario.setup(0).unwrap(), &state).unwrap();
        let mut planned: Vec<(usize, usize, Placement)> =
            starts.into_iter().map(|own| (own.waiting, own.site, own.placement)).collect();
        planned.sort_unstable_by_key(|own| own.0);
        started.sort_unstable_by_key(|own| own.0);
        all += 1;
        same += usize::from(planned == started);
    }
    (same, all)
}

/// Random jobs whose estimates are one to two times their run times.
fn jobs(request: impl Fn(u64) -> Request) -> Vec<Job> {
    let job = |n: u64| {
        let runtime = 60.0 + (n * 37 % 91) as f64;
        let estimate = runtime * (1.0 + (n * 29 % 11) as f64 / 10.0);
        Job { estimate, ..Job::new(n + 1, Time::new(n as f64 * 7.0), request(n), runtime) }
    };
    (0..90).map(job).collect()
}

/// A scenario read from TOML; `None` if the machine has no such scheduler or allocator.
fn policy(text: &str) -> Option<Scenario> {
    let mut table: toml::Table = text.parse().unwrap();
    table.insert("workload".to_owned(), toml::toml! { name = "lublin" }.into());
    Scenario::read(&table).ok()
}

/// Schedulers whose decisions depend on more than the state, each with what it remembers.
const REMEMBER: [(&str, &str); 6] = [
    ("conservative", "promises made with estimates of jobs that have ended since"),
    ("reservation", "its reservations"),
    ("scan", "the queue that it serves, and its direction"),
    ("lazy", "when it looked last"),
    ("giving_up", "how long each job has been looked at"),
    ("slurm", "when its passes ran, and the usage of users"),
];

/// Schedulers that remember the place promised to the first waiting job.
///
/// They do so only on machines where the shape of a job matters.
const PROMISE: [&str; 3] = ["easy", "priority", "fair_share"];

/// Schedulers that resize running jobs or divide the machine permanently.
const DIVIDE: [&str; 3] = ["static_partitioning", "equipartition", "folding"];

#[test]
fn states_of_a_run_give_its_decisions_again() {
    let (mut wrong, mut exact) = (Vec::new(), 0);
    for entry in SCHEDULERS {
        let name = entry.about.name;
        if DIVIDE.contains(&name) {
            continue;
        }
        for machine in ["{ topology = 'torus', dims = [8, 8] }", "'flat:64'"] {
            let is_flat = machine.contains("flat");
            let text = format!("scheduler = '{name}'\nmachine = {machine}");
            let Some(scenario) = policy(&text) else { continue };
            let request = |n: u64| match is_flat {
                true => Request::Nodes(1 + (n * 13 % 35) as u32),
                false => Request::block(&[1 + (n % 5) as u32, 1 + (n % 7) as u32]),
            };
            let (same, all) = again(&scenario, jobs(request));
            let remembers =
                REMEMBER.iter().any(|(own, _)| *own == name) || !is_flat && PROMISE.contains(&name);
            exact += u32::from(!remembers);
            // Of those that remember, at least some decisions do not depend on it.
            let least = if remembers { 1 } else { all };
            if all < 100 || same < least {
                wrong.push((name, machine, same, all));
            }
        }
    }
    assert_eq!(wrong, []);
    assert!(exact >= 11, "{exact}");
}

/// Allocators whose answers depend on more than the held nodes, so that a plan cannot reproduce
/// them.
const DRAWS: [&str; 1] = ["random"];

#[test]
fn allocators_place_as_in_the_run() {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for entry in ALLOCATORS {
        let name = entry.about.name;
        for machine in
            ["topology = 'torus', dims = [8, 8]", "topology = 'hypercube', dimensions = 6"]
        {
            let text =
                format!("scheduler = 'fcfs'\nallocator = '{name}'\nmachine = {{ {machine} }}");
            let Some(scenario) = policy(&text) else { continue };
            let (same, all) = again(&scenario, jobs(|n| Request::Nodes(1 + (n * 13 % 20) as u32)));
            tried += 1;
            if same < all && !DRAWS.contains(&name) {
                wrong.push((name, machine, same, all));
            }
        }
    }
    assert_eq!(wrong, []);
    assert!(tried >= 25, "{tried}");
}

#[test]
fn what_a_state_cannot_be_is_said() {
    let scenario = scenario("machine = { topology = 'mesh', dims = [4, 4] }");
    let held = |nodes: &[u32], since: f64| HeldNodes {
        site: 0,
        placement: Placement::of_nodes(scenario.topologies()[0].grid(), nodes.iter().copied()),
        since: Time::new(since),
        until: Time::new(50.0),
        job: Job::new(1, Time::ZERO, Request::Nodes(nodes.len() as u32), 1.0),
    };
    let ask = |running: Vec<HeldNodes>| {
        let waiting = vec![
            Job::new(7, Time::ZERO, Request::Nodes(17), 1.0),
            Job::new(8, Time::ZERO, Request::Nodes(8), 60.0),
            Job::new(9, Time::ZERO, Request::Nodes(8), 60.0),
        ];
        let state = PlanState { now: Time::new(10.0), running, waiting, withheld: Vec::new() };
        plan(scenario.setup(0).unwrap(), &state)
    };
    let planned = ask(vec![held(&[0, 1, 4, 5], 2.0)]).unwrap();
    assert_eq!(planned.never, [0]);
    assert_eq!(planned.starts.iter().map(|own| own.waiting).collect::<Vec<_>>(), [1]);
    let nodes = planned.starts[0].placement.nodes(scenario.topologies()[0].grid());
    assert!(nodes.iter().all(|node| ![0, 1, 4, 5].contains(node)), "{nodes:?}");
    let twice = ask(vec![held(&[0, 1], 2.0), held(&[1, 2], 1.0)]).unwrap_err();
    assert_eq!(twice, PlanError::NotFree(0));
    let late = ask(vec![held(&[0], 10.0)]).unwrap_err();
    assert!(late.to_string().starts_with("running job 0 started at 10, but must"), "{late}");
}

#[test]
fn withheld_nodes_are_for_jobs_that_end_before_and_for_others() {
    let scenario = scenario(
        "machine = { topology = 'mesh', dims = [4, 4] }\nscheduler = 'easy'\nallocator = 'first_fit'",
    );
    let job = |number: u64, nodes: u32, estimate: f64| {
        Job::new(number, Time::ZERO, Request::Nodes(nodes), estimate)
    };
    let ask = |withheld: Vec<WithheldNodes>, waiting: Vec<Job>| {
        let state = PlanState { now: Time::new(10.0), running: Vec::new(), waiting, withheld };
        let planned = plan(scenario.setup(0).unwrap(), &state).unwrap();
        let grid = scenario.topologies()[0].clone();
        let nodes =
            |own: &meshwork::engine::DecidedStart| (own.waiting, own.placement.nodes(grid.grid()));
        planned.starts.iter().map(nodes).collect::<Vec<_>>()
    };
    let of = |nodes: std::ops::Range<u32>, from: f64, until: f64, jobs: Option<Vec<usize>>| {
        let (from, until) = (Time::new(from), Time::new(until));
        WithheldNodes { site: 0, nodes: nodes.collect(), from, until, from_jobs: jobs }
    };
    // The first four rows begin to be reserved at 40.
    let reserved = || of(0..8, 40.0, 100.0, None);
    assert_eq!(ask(vec![reserved()], vec![job(1, 8, 30.0)]), [(0, (0..8).collect())]);
    assert_eq!(ask(vec![reserved()], vec![job(1, 8, 31.0)]), [(0, (8..16).collect())]);
    assert_eq!(ask(vec![reserved()], vec![job(1, 9, 31.0)]), []);
    // A reservation in force withholds them from any job, and one that is over from none.
    assert_eq!(
        ask(vec![of(0..8, 5.0, 100.0, None)], vec![job(1, 8, 1.0)]),
        [(0, (8..16).collect())]
    );
    assert_eq!(ask(vec![of(0..8, 5.0, 9.0, None)], vec![job(1, 8, 99.0)]), [(0, (0..8).collect())]);
    // Of two equal jobs, only one may not use them.
    let never = of(0..8, 0.0, f64::INFINITY, Some(vec![0]));
    let found = ask(vec![never], vec![job(1, 8, 50.0), job(2, 8, 50.0)]);
    assert_eq!(found, [(0, (8..16).collect()), (1, (0..8).collect())]);
}
