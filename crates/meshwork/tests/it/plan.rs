//! Tests that `plan`, given a recorded state of a run, makes the same decisions as the run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::common::{scenario, submissions};
use meshwork::alloc::ALLOCATORS;
use meshwork::alloc::parts::orders::NODE_ORDERS;
use meshwork::cluster::Cluster;
use meshwork::engine::{
    HeldNodes, PlanError, PlanMemory, PlanState, Setup, WithheldNodes, plan, simulate,
};
use meshwork::geometry::NodeSet;
use meshwork::job::{Job, Owner, Piece, Pieces, Request, Terms, Time};
use meshwork::machine::Placement;
use meshwork::observe::Running;
use meshwork::rng::Stream;
use meshwork::scenario::Scenario;
use meshwork::sched::{SCHEDULERS, Scheduler};
use meshwork::select::SELECTORS;
use meshwork::sizing::SIZINGS;
use meshwork::topology::Grid;

/// For each pass: the state before it, the running jobs after it, and the next wake-up.
type Taken = Arc<Mutex<Vec<(PlanState, Vec<HeldNodes>, Option<Time>)>>>;

/// Records the state before and after each pass of another scheduler.
struct Noting {
    inner: Box<dyn Scheduler>,
    taken: Taken,
}

fn running(cluster: &Cluster<'_>) -> Vec<HeldNodes> {
    let held = |own: &Running| HeldNodes {
        site: own.site,
        placement: own.placement.clone(),
        since: own.start,
        until: own.expected_end,
        stretch: Some(own.stretch),
        job: own.job.clone(),
    };
    cluster.running().map(|(_, own)| held(own)).collect()
}

impl Scheduler for Noting {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let waiting = cluster.waiting().map(|ticket| cluster.job(ticket).clone()).collect();
        let (now, withheld) = (cluster.now(), Vec::new());
        let state = PlanState { now, running: running(cluster), waiting, withheld, memory: None };
        self.inner.schedule(cluster);
        let wake = self.inner.wake_at(now);
        self.taken.lock().unwrap().push((state, running(cluster), wake));
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

/// Number of recorded scheduling passes that plans reproduce, and number of all recorded passes.
///
/// If `remembers` is set, each plan gets the memory that the previous plan returned.
fn again(scenario: &Scenario, jobs: Vec<Job>, remembers: bool) -> (usize, usize) {
    let taken = Taken::default();
    let setup = scenario.setup(0).unwrap();
    let noting = Noting { inner: setup.scheduler, taken: Arc::clone(&taken) };
    let setup = Setup { scheduler: Box::new(noting), ..setup };
    simulate(setup, submissions(jobs), &mut ()).unwrap();
    let taken = std::mem::take(&mut *taken.lock().unwrap());
    let (mut same, mut all) = (0, 0);
    let mut memory = None;
    for (state, mut after, wake) in taken {
        let state = PlanState { memory: memory.take(), ..state };
        all += 1;
        let Ok(planned) = plan(scenario.setup(0).unwrap(), &state) else { continue };
        let mut decided = planned.memory.running.clone();
        let starts: BTreeSet<u64> =
            planned.starts.iter().map(|own| state.waiting[own.waiting].number).collect();
        let ran: BTreeSet<u64> = state.running.iter().map(|own| own.job.number).collect();
        let is_new = |own: &&HeldNodes| !ran.contains(&own.job.number);
        let agrees = starts == after.iter().filter(is_new).map(|own| own.job.number).collect();
        // A job that was suspended waits with what is left of it.
        for own in after.iter_mut().chain(&mut decided) {
            (own.job.runtime, own.job.estimate) = (0.0, 0.0);
        }
        after.sort_unstable_by_key(|own| own.job.number);
        decided.sort_unstable_by_key(|own| own.job.number);
        same += usize::from(agrees && decided == after && planned.wake == wake);
        memory = remembers.then_some(planned.memory);
    }
    (same, all)
}

/// Jobs of five users. Some of the jobs outrun their estimates.
fn jobs(request: impl Fn(u64) -> Request) -> Vec<Job> {
    let job = |n: u64| {
        let runtime = 60.0 + (n * 37 % 91) as f64;
        let estimate = (runtime * (0.7 + (n * 29 % 11) as f64 / 7.0)).round();
        let owner = Owner {
            user: Some(format!("u{}", n * n % 5)),
            queue: Some(format!("q{}", n % 3)),
            ..Owner::default()
        };
        let terms = Terms { priority: (n * 7 % 10) as f64 / 10.0, ..Terms::default() };
        let (owner, terms) = (Some(owner.into()), Some(terms.into()));
        let arrival = Time::new(n as f64 * 7.0);
        Job { estimate, owner, terms, ..Job::new(n + 1, arrival, request(n), runtime) }
    };
    (0..90).map(job).collect()
}

/// Scenario from TOML; `None` if its machine has no such scheduler or allocator.
fn policy(text: &str) -> Option<Scenario> {
    let mut table: toml::Table = text.parse().unwrap();
    table.insert("workload".to_owned(), toml::toml! { name = "lublin" }.into());
    Scenario::read(&table).ok()
}

/// Schedulers with parameters that make them carry more memory from one plan to the next.
const PARAMETERS: [(&str, &str); 17] = [
    ("priority", "weights = { age = 1, size = 3, fair_share = 9 }, half_life = 100, max_age = 50"),
    ("priority", "queues = [{ name = 'q1', priority = 2 }], preempt = 'requeue'"),
    ("priority", "queues = [{ name = 'q2', priority = 5 }], preempt = 'suspend'"),
    ("priority", "backfill = 'none', half_life = 'none', favor_small = true"),
    ("fair_share", "half_life = 60, shares = [{ user = 'u1', share = 3 }]"),
    ("fair_share", "backfill = 'none', half_life = 'none'"),
    ("window", "width = 4, skip_limit = 2"),
    ("reservation", "reservations = 3, bypass_limit = 2"),
    ("scan", "direction = 'down', gated = true"),
    ("lazy", "threshold = 40, retry = true"),
    ("lazy", "release_order = 'literal', rate_from = 'zero'"),
    ("equipartition", "max_jobs = 5, migration_cost = 3"),
    ("folding", "max_jobs = 6"),
    (
        "slurm",
        "PriorityWeightFairshare = 1000, PriorityWeightAge = 100, PriorityCalcPeriod = '1', PriorityDecayHalfLife = '3'",
    ),
    ("slurm", "bf_interval = 'never', sched_interval = 45, default_queue_depth = 2"),
    ("slurm", "bf_interval = 40, batch_sched_delay = 10, bf_min_age_reserve = 20"),
    ("slurm", "PriorityWeightJobSize = 100, PriorityFavorSmall = true, bf_max_job_user = 1"),
];

/// Schedulers that carry no memory from one plan to the next.
const FORGETFUL: [&str; 6] =
    ["fcfs", "sjf", "edf", "static_partitioning", "equipartition", "folding"];

#[test]
fn states_of_a_run_give_its_passes_again() {
    let (mut wrong, mut tried) = (Vec::new(), BTreeSet::new());
    let machines = [
        "{ topology = 'torus', dims = [8, 8] }",
        "{ topology = 'mesh', dims = [9, 7] }",
        "{ topology = 'hypercube', dimension = 6 }",
        "'flat:64'",
    ];
    for entry in SCHEDULERS {
        let name = entry.about.name;
        let own = PARAMETERS.iter().filter(|(own, _)| *own == name).map(|(_, more)| *more);
        for more in std::iter::once("").chain(own) {
            for machine in machines {
                let comma = if more.is_empty() { "" } else { ", " };
                let text =
                    format!("scheduler = {{ name = '{name}'{comma}{more} }}\nmachine = {machine}");
                let Some(scenario) = policy(&text) else { continue };
                let request = |n: u64| match machine.contains("dims") {
                    false => Request::Nodes(1 + (n * 13 % 35) as u32),
                    true => Request::block(&[1 + (n % 5) as u32, 1 + (n % 7) as u32]),
                };
                let (same, all) = again(&scenario, jobs(request), true);
                tried.insert((name, more));
                if all < 60 || same < all {
                    wrong.push((name, more, machine, same, all));
                }
                if FORGETFUL.contains(&name) {
                    let (same, all) = again(&scenario, jobs(request), false);
                    if same < all {
                        wrong.push((name, "without memory", machine, same, all));
                    }
                }
            }
        }
    }
    assert_eq!(wrong, []);
    assert_eq!(tried.len(), SCHEDULERS.len() + PARAMETERS.len());
}

#[test]
fn allocators_place_as_in_the_run() {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for entry in ALLOCATORS {
        let name = entry.about.name;
        for machine in
            ["topology = 'torus', dims = [8, 8]", "topology = 'hypercube', dimension = 6"]
        {
            for scheduler in ["fcfs", "easy", "conservative"] {
                let text = format!(
                    "scheduler = '{scheduler}'\nallocator = '{name}'\nmachine = {{ {machine} }}"
                );
                let Some(scenario) = policy(&text) else { continue };
                let jobs = jobs(|n| Request::Nodes(1 + (n * 13 % 20) as u32));
                let (same, all) = again(&scenario, jobs, true);
                tried += 1;
                if same < all {
                    wrong.push((name, scheduler, machine, same, all));
                }
            }
        }
    }
    assert_eq!(wrong, []);
    assert!(tried >= 75, "{tried}");
}

#[test]
fn shared_nodes_are_decided_as_in_the_run() {
    let types = "nodes = [{ type = 'a', cpu = 16, mem = 64, gpu = 4, islands = 2, on = '0-5' }, \
                 { type = 'b', cpu = 32, mem = 256, gpu = 0, on = '6-8' }]";
    let jobs = || {
        jobs(|n| match n % 4 {
            0 => Request::Nodes(1 + (n % 3) as u32),
            kind => {
                let count = 1 + (n % 4) as u32;
                let (gpu, share) = [(0, 1000), (2, 1000), (1, 300)][kind as usize - 1];
                let piece = Piece { count, cpu: 2, mem: 5, gpu, share, ..Piece::default() };
                Request::pieces(Pieces { roles: vec![piece], ..Pieces::default() })
            }
        })
    };
    let (mut wrong, mut tried) = (Vec::new(), 0);
    let schedulers = SCHEDULERS.iter().map(|entry| format!("scheduler = '{}'", entry.about.name));
    let orders = NODE_ORDERS.iter().map(|entry| format!("order = '{}'", entry.about.name));
    let allocators = ALLOCATORS.iter().map(|entry| format!("allocator = '{}'", entry.about.name));
    for policies in schedulers.chain(orders).chain(allocators) {
        for machine in ["topology = 'mesh', dims = [3, 3]", "topology = 'flat', processors = 9"] {
            let text = format!("{policies}\nmachine = {{ {machine}, {types} }}");
            let Some(scenario) = policy(&text) else { continue };
            let (same, all) = again(&scenario, jobs(), true);
            tried += 1;
            if all < 60 || same < all {
                wrong.push((policies.clone(), machine, same, all));
            }
        }
    }
    assert_eq!(wrong, []);
    assert!(tried >= 75, "{tried}");
}

#[test]
fn selectors_sizings_and_passes_decide_as_in_the_run() {
    let sites = "machine = { sites = [{ topology = 'mesh', dims = [6, 6] }, { topology = 'mesh', dims = [5, 5], speed = 2 }] }";
    let cube = "machine = { topology = 'hypercube', dimension = 6 }";
    let mut rest: Vec<String> = SELECTORS
        .iter()
        .map(|entry| format!("{sites}\nselector = '{}'", entry.about.name))
        .collect();
    rest.extend(SIZINGS.iter().filter_map(|entry| {
        let text = format!("{cube}\nsizing = '{}'", entry.about.name);
        policy(&format!("{text}\nscheduler = 'fcfs'")).map(|_| text)
    }));
    rest.push(format!("{cube}\nsizing = {{ name = 'average_limit', average = 'requests' }}"));
    rest.push(format!("{cube}\npasses = 'event'"));
    let mut wrong = Vec::new();
    for text in &rest {
        for scheduler in ["easy", "conservative", "slurm", "lazy", "fair_share"] {
            let scenario = policy(&format!("{text}\nscheduler = '{scheduler}'"));
            let Some(scenario) = scenario else { panic!("{text}") };
            let (same, all) =
                again(&scenario, jobs(|n| Request::Nodes(1 + (n * 13 % 20) as u32)), true);
            if same < all {
                wrong.push((text, scheduler, same, all));
            }
        }
    }
    assert_eq!(wrong, []);
    assert!(rest.len() >= 12, "{rest:?}");
}

/// A plan that gets the memory of another state uses it or returns an error. It does not panic.
#[test]
fn memories_of_other_states_do_no_harm() {
    let machine = "machine = { topology = 'torus', dims = [4, 4] }";
    let schedulers = SCHEDULERS
        .iter()
        .filter_map(|entry| policy(&format!("{machine}\nscheduler = '{}'", entry.about.name)));
    let grid = Grid::new(&[4, 4], true).unwrap();
    let mut rng = Stream::new(1, 0, "states");
    let mut refused = 0;
    let schedulers: Vec<Scenario> = schedulers.collect();
    for scenario in &schedulers {
        let mut memory: Option<PlanMemory> = None;
        for turn in 1..60_u64 {
            let now = Time::new(turn as f64 * 10.0);
            let (mut running, mut free) = (Vec::new(), NodeSet::full(16));
            for number in 1..8 {
                let node = rng.below(16) as u32;
                if rng.below(2) == 0 && free.contains(node) {
                    free.remove_range(node, 1);
                    running.push(HeldNodes {
                        site: 0,
                        placement: Placement::of_nodes(&grid, [node]),
                        since: Time::new(rng.below(turn * 10) as f64),
                        until: Time::new(rng.below(turn * 20) as f64),
                        stretch: None,
                        job: Job::new(number, Time::ZERO, Request::Nodes(1), 5.0),
                    });
                }
            }
            let waiting = (0..rng.below(6)).map(|_| {
                let number = 10 + rng.below(40);
                Job::new(number, now, Request::Nodes(1 + rng.below(16) as u32), 30.0)
            });
            let waiting: BTreeMap<u64, Job> = waiting.map(|job| (job.number, job)).collect();
            let waiting = waiting.into_values().collect();
            if let Some(memory) = &mut memory
                && let Some(numbers) = &mut memory.scheduler
                && !numbers.is_empty()
                && turn % 5 == 0
            {
                let place = rng.below(numbers.len() as u64) as usize;
                numbers[place] = rng.below(70);
            }
            let state = PlanState { now, running, waiting, withheld: Vec::new(), memory };
            memory = match plan(scenario.setup(0).unwrap(), &state) {
                Ok(decided) => Some(decided.memory),
                Err(PlanError::Memory(_)) => {
                    refused += 1;
                    None
                }
                Err(PlanError::Run(error)) if state.memory.is_some() => {
                    // A memory that was tampered with may promise nodes that it does not have.
                    assert!(!error.to_string().is_empty());
                    None
                }
                Err(error) => panic!("{error}"),
            };
        }
    }
    assert!(schedulers.len() > 12 && refused > 10, "{refused}");
}

#[test]
fn what_a_state_cannot_be_is_said() {
    let scenario = scenario("machine = { topology = 'mesh', dims = [4, 4] }");
    let held = |nodes: &[u32], since: f64| HeldNodes {
        site: 0,
        placement: Placement::of_nodes(scenario.topologies()[0].grid(), nodes.iter().copied()),
        since: Time::new(since),
        until: Time::new(50.0),
        stretch: None,
        job: Job::new(1, Time::ZERO, Request::Nodes(nodes.len() as u32), 1.0),
    };
    let ask = |running: Vec<HeldNodes>| {
        let waiting = vec![
            Job::new(7, Time::ZERO, Request::Nodes(17), 1.0),
            Job::new(8, Time::ZERO, Request::Nodes(8), 60.0),
            Job::new(9, Time::ZERO, Request::Nodes(8), 60.0),
        ];
        let state = PlanState {
            now: Time::new(10.0),
            running,
            waiting,
            withheld: Vec::new(),
            memory: None,
        };
        plan(scenario.setup(0).unwrap(), &state)
    };
    let planned = ask(vec![held(&[0, 1, 4, 5], 2.0)]).unwrap();
    assert_eq!(planned.never, [0]);
    assert_eq!(planned.starts.iter().map(|own| own.waiting).collect::<Vec<_>>(), [1]);
    let nodes = planned.starts[0].placement.nodes(scenario.topologies()[0].grid());
    assert!(nodes.iter().all(|node| ![0, 1, 4, 5].contains(node)), "{nodes:?}");
    let twice = ask(vec![held(&[0, 1], 2.0), held(&[1, 2], 1.0)]).unwrap_err();
    assert_eq!(twice, PlanError::NotFree(0));
    let late = ask(vec![held(&[0], 11.0)]).unwrap_err();
    assert_eq!(late.to_string(), "running job 0 started at 11, after 10, the present instant");
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
        let state = PlanState {
            now: Time::new(10.0),
            running: Vec::new(),
            waiting,
            withheld,
            memory: None,
        };
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
    // The first four rows of nodes are reserved from 40 on.
    let reserved = || of(0..8, 40.0, 100.0, None);
    assert_eq!(ask(vec![reserved()], vec![job(1, 8, 30.0)]), [(0, (0..8).collect())]);
    assert_eq!(ask(vec![reserved()], vec![job(1, 8, 31.0)]), [(0, (8..16).collect())]);
    assert_eq!(ask(vec![reserved()], vec![job(1, 9, 31.0)]), []);
    // A reservation that has begun withholds its nodes from every job. One that has ended withholds
    // none.
    assert_eq!(
        ask(vec![of(0..8, 5.0, 100.0, None)], vec![job(1, 8, 1.0)]),
        [(0, (8..16).collect())]
    );
    assert_eq!(ask(vec![of(0..8, 5.0, 9.0, None)], vec![job(1, 8, 99.0)]), [(0, (0..8).collect())]);
    // Of two equal jobs, only the first may not use the nodes.
    let never = of(0..8, 0.0, f64::INFINITY, Some(vec![0]));
    let found = ask(vec![never], vec![job(1, 8, 50.0), job(2, 8, 50.0)]);
    assert_eq!(found, [(0, (8..16).collect()), (1, (0..8).collect())]);
}
