//! Tests of machines of several sites whose nodes jobs share.
//!
//! An observer keeps its own ledger of cores, memory and GPUs. Other tests compare runs with those
//! of a single site, and with those of sites that hold whole nodes only.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::common::{
    Each, Watts, assert_near, every_selector, observed, refusal, scenario, watched,
};
use crate::shared_nodes::random_jobs;
use meshwork::job::{Inside, Job, JobId, Owner, Piece, Pieces, Request, Time};
use meshwork::observe::{Event, MachineState, Observer, Running};
use meshwork::rng::Stream;
use meshwork::scenario::Scenario;

/// Name, cores, memory, GPUs, islands and `other` of a type of nodes.
type Kind = (&'static str, [u32; 5]);

const A: Kind = ("a", [8, 100, 4, 2, 3]);
const B: Kind = ("b", [12, 60, 0, 1, 0]);
const C: Kind = ("c", [16, 300, 2, 1, 1]);

/// Type of a node, as the test expects it. It is not read from the table `machine`.
fn kind(site: usize, node: u32) -> Kind {
    match (site, node) {
        (0, 0..12) if node % 4 == 3 => B,
        (0, 0..12) => A,
        (1, 0..6) => C,
        _ => panic!("site {site} has no node {node}"),
    }
}

const MACHINE: &str = "machine = { sites = [\n\
    { topology = 'fat_tree', arity = [3, 4], allocator = 'fewest_leaves', nodes = [\n\
      { type = 'a', cpu = 8, mem = 100, gpu = 4, islands = 2, other = 3, on = '0-2,4-6,8-10' },\n\
      { type = 'b', cpu = 12, mem = 60 } ] },\n\
    { topology = 'mesh', dims = [3, 2], speed = 2.0, allocator = 'naive', nodes = [\n\
      { type = 'c', cpu = 16, mem = 300, gpu = 2, other = 1 } ] } ] }\n";

/// Random jobs of one role. Many name the types of nodes that they accept, so some fit one site
/// only.
fn jobs(rng: &mut Stream, count: u64, are_exact: bool) -> Vec<Job> {
    let mut jobs = random_jobs(rng, count);
    for job in &mut jobs {
        let Request::Pieces(pieces) = &mut job.request else { panic!("pieces") };
        pieces.roles.truncate(1);
        let of_gpus = ["a", "c", "a|c", "*"][rng.below(4) as usize];
        let of_any = [None, None, Some("b"), Some("a|b"), Some("c")][rng.below(5) as usize];
        let types = if pieces.roles[0].gpu > 0 { Some(of_gpus) } else { of_any };
        pieces.roles[0].types = types.map(str::to_owned);
        if are_exact {
            job.estimate = job.runtime;
        }
    }
    jobs
}

/// Amounts of a node: memory, `other`, cores of each island, and thousandths of each GPU.
fn cells((_, [cpu, mem, gpu, islands, other]): Kind) -> Vec<u32> {
    let cores = (0..islands).map(|_| cpu / islands);
    [mem, other].into_iter().chain(cores).chain((0..gpu).map(|_| 1000)).collect()
}

/// Observer that records the held amounts of every resource on every node.
///
/// It fails if a resource is held twice or held while out of service. It fails if a job gets other
/// amounts than it requested. If `keeps_promises` is set, it fails if a start is later than
/// promised.
#[derive(Default)]
struct Books {
    held: BTreeMap<(usize, u32), Vec<u32>>,
    running: BTreeMap<JobId, (usize, Vec<(u32, u16, u32)>)>,
    out: BTreeSet<(usize, u32, Option<u32>)>,
    promised: BTreeMap<JobId, Time>,
    keeps_promises: bool,
    starts: Vec<(u64, f64, usize)>,
    ended: u64,
    refused: Vec<u64>,
    stopped: u32,
    outages: u32,
    /// Highest power of the machine so far, in watts.
    power: f64,
}

impl Books {
    fn starts(&mut self, now: Time, running: &Running) {
        let Request::Pieces(request) = &running.job.request else { panic!("pieces") };
        let (site, piece) = (running.site, &request.roles[0]);
        let parts = &running.placement.parts.as_ref().expect("parts").parts;
        let (mut sums, mut all, mut pieces) = ([0; 4], Vec::new(), 0);
        for part in parts {
            let own = kind(site, part.node);
            let capacity = cells(own);
            let [cpu, mem, gpu, islands, other] = own.1;
            let suits = |types: &String| types.split('|').any(|one| one == "*" || one == own.0);
            assert!(piece.types.as_ref().is_none_or(suits), "{request} is on a node of {}", own.0);
            assert!(!self.out.contains(&(site, part.node, None)), "node {} is out", part.node);
            pieces += part.pieces;
            let held =
                self.held.entry((site, part.node)).or_insert_with(|| vec![0; capacity.len()]);
            for &(cell, amount) in &part.cells {
                let at = cell as usize;
                let Some(most) = capacity.get(at) else { continue }; // a tally of pieces
                held[at] += amount;
                assert!(held[at] <= *most, "site {site}, node {}, cell {cell}", part.node);
                let kind = match at {
                    0 | 1 => at,
                    _ if at < 2 + islands as usize => 2,
                    _ => 3,
                };
                sums[kind] += amount;
                if kind == 3 {
                    let gpu = u32::from(cell) - 2 - islands;
                    assert!(!self.out.contains(&(site, part.node, Some(gpu))), "a GPU is out");
                }
                all.push((part.node, cell, amount));
            }
            if request.exclusive {
                let whole = [mem, other, cpu, gpu * 1000];
                sums.iter_mut().zip(whole).for_each(|(sum, own)| *sum -= own);
            }
        }
        let count = piece.count;
        let asked = [piece.mem, piece.other, piece.cpu, piece.gpu * piece.share];
        let asked = if request.exclusive { [0; 4] } else { asked.map(|each| each * count) };
        assert_eq!(sums, asked, "{request} on site {site}");
        assert_eq!(pieces, count, "{request}");
        if self.keeps_promises
            && let Some(by) = self.promised.get(&running.id)
        {
            assert!(now <= *by, "job {} starts at {now}, not by {by}", running.job.number);
        }
        self.starts.push((running.job.number, now.units(), site));
        assert!(self.running.insert(running.id, (site, all)).is_none());
    }
}

impl Observer for Books {
    fn elapsed(&mut self, _from: Time, _to: Time, state: &MachineState) {
        self.power = self.power.max(state.power);
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Promised(id, by) => drop(self.promised.insert(*id, *by)),
            Event::Refused(_, job) => self.refused.push(job.number),
            Event::Started(running) => self.starts(now, running),
            Event::Finished(running) | Event::Interrupted(running) => {
                let is_end = matches!(event, Event::Finished(_));
                self.ended += u64::from(is_end);
                self.stopped += u32::from(!is_end);
                let (site, all) = self.running.remove(&running.id).unwrap();
                for (node, cell, amount) in all {
                    self.held.get_mut(&(site, node)).unwrap()[cell as usize] -= amount;
                }
            }
            Event::Down { site, node } => {
                self.outages += 1;
                let held = self.held.get(&(*site, *node));
                assert!(held.is_none_or(|held| held.iter().all(|amount| *amount == 0)));
                assert!(self.out.insert((*site, *node, None)));
            }
            Event::Up { site, node } => assert!(self.out.remove(&(*site, *node, None))),
            Event::GpuDown { site, node, gpu } => {
                self.outages += 1;
                assert!(self.out.insert((*site, *node, Some(*gpu))));
            }
            Event::GpuUp { site, node, gpu } => {
                assert!(self.out.remove(&(*site, *node, Some(*gpu))));
            }
            _ => {}
        }
    }
}

fn books(scenario: &Scenario, jobs: Vec<Job>, keeps_promises: bool) -> Books {
    let (_, seen) = observed(scenario, jobs, Books { keeps_promises, ..Books::default() });
    assert!(seen.held.values().flatten().all(|amount| *amount == 0) || !seen.running.is_empty());
    seen
}

/// Jobs that fit no site, even an empty one.
fn too_large(scenario: &Scenario, jobs: &[Job]) -> Vec<u64> {
    let mut facility = scenario.setup(0).unwrap().facility;
    let mut fits = |job: &Job| (0..2).any(|at| facility.propose_at(at, job, Time::ZERO).is_some());
    jobs.iter().filter(|job| !fits(job)).map(|job| job.number).collect()
}

#[test]
fn every_scheduler_and_selector_gives_each_job_its_vector_on_one_site() {
    let mut rng = Stream::new(61, 0, "sites");
    let (mut started, mut there) = (0, 0);
    for (_, selector) in every_selector() {
        for entry in meshwork::sched::SCHEDULERS.iter().filter(|entry| entry.shares) {
            let name = entry.about.name;
            let scenario = scenario(&format!("{MACHINE}{selector}\nscheduler = '{name}'"));
            let jobs = jobs(&mut rng, 60, true);
            let seen = books(&scenario, jobs.clone(), matches!(name, "easy" | "conservative"));
            assert_eq!(seen.refused, too_large(&scenario, &jobs), "{selector}, {name}");
            let ended = seen.ended + seen.refused.len() as u64;
            assert!(ended == 60 || !entry.serves_all, "{selector}, {name}: {ended} of 60");
            started += seen.starts.len();
            there += seen.starts.iter().filter(|(_, _, site)| *site == 1).count();
        }
    }
    assert!(there > started / 5 && there < started * 4 / 5, "{there} of {started} on one site");
}

#[test]
fn wrong_estimates_and_every_order_leave_the_books_in_order() {
    use meshwork::alloc::parts::orders::NODE_ORDERS;
    let mut rng = Stream::new(62, 0, "orders");
    for order in NODE_ORDERS {
        for scheduler in ["easy", "conservative", "slurm"] {
            let scenario = scenario(&format!(
                "{MACHINE}workload = {{ name = 'lublin' }}\nselector = 'best_fit'\norder = '{}'\n\
                 scheduler = '{scheduler}'",
                order.about.name
            ));
            let jobs = jobs(&mut rng, 80, false);
            let seen = books(&scenario, jobs, false);
            assert_eq!(seen.ended + seen.refused.len() as u64, 80, "{}", order.about.name);
        }
    }
}

#[test]
fn nodes_and_gpus_of_all_sites_fail_and_jobs_wait_again() {
    let mut rng = Stream::new(63, 0, "failures");
    let (mut stopped, mut outages) = (0, 0);
    for round in 0..24 {
        let (scope, mtbf) = [("gpu", 400), ("node", 120)][round % 2];
        let scheduler = ["easy", "fcfs", "conservative", "slurm"][round / 2 % 4];
        let selector = ["first_fit", "best_fit", "intelligent"][round / 8];
        let scenario = scenario(&format!(
            "{MACHINE}selector = '{selector}'\nscheduler = '{scheduler}'\nseed = {round}\n\
             failures = {{ mtbf = {mtbf}, repair = 9, scope = '{scope}' }}"
        ));
        let jobs = jobs(&mut rng, 60, false);
        let seen = books(&scenario, jobs, false);
        assert_eq!(seen.ended + seen.refused.len() as u64, 60, "{scope}, {scheduler}");
        stopped += seen.stopped;
        outages += seen.outages;
    }
    assert!(stopped > 100 && outages > 200, "{stopped} jobs in {outages} outages");
}

#[test]
fn maintenance_and_a_power_cap_hold_on_several_sites() {
    let mut rng = Stream::new(64, 0, "rules");
    for round in 0..60 {
        let scheduler = ["easy", "fcfs", "conservative", "slurm", "reservation"][round % 5];
        let (rules, most) = [
            ("failures = { maintenance = [{ from = 20, until = 45, nodes = '0-5,12-14' }] }", 0.0),
            // All 204 cores take 1 watt idle, and 100 of them may take 2 more.
            ("energy = { idle = 1, busy = 3, cap = 404 }", 404.0),
            // All 48 GPUs take 10 watts idle, and there are 2000 watts more for GPUs and cores.
            ("energy = { idle = 1, busy = 3, gpu_idle = 10, gpu_busy = 100, cap = 2684 }", 2684.0),
        ][round / 5 % 3];
        let selector = ["first_fit", "best_fit"][round / 15 % 2];
        let scenario = scenario(&format!(
            "{MACHINE}selector = '{selector}'\nscheduler = '{scheduler}'\n{rules}"
        ));
        let is_exact = round < 30;
        let jobs = jobs(&mut rng, 60, is_exact);
        let seen = books(&scenario, jobs, is_exact && matches!(scheduler, "easy" | "conservative"));
        assert_eq!(seen.ended + seen.refused.len() as u64, 60, "{rules}, {scheduler}");
        assert!(seen.power <= most, "{scheduler}: {} of {most} watts", seen.power);
    }
}

#[test]
fn jobs_of_a_partition_stay_on_its_nodes_of_every_site() {
    let mut rng = Stream::new(67, 0, "partitions");
    let text = MACHINE.replace(
        "machine = { ",
        "machine = { partitions = [{ name = 'left', nodes = '0-5,12-13', default = true }], ",
    );
    for scheduler in ["easy", "fcfs", "conservative", "slurm"] {
        let scenario = scenario(&format!("{text}scheduler = '{scheduler}'"));
        let seen = runs(&scenario, jobs(&mut rng, 60, false));
        assert!(seen.len() > 20, "{scheduler}");
        for (_, _, site, nodes, _) in &seen {
            assert!(nodes.iter().all(|&node| node < [6, 2][*site]), "site {site}: {nodes:?}");
        }
    }
}

#[test]
fn preempted_jobs_and_jobs_that_send_leave_the_books_in_order() {
    let mut rng = Stream::new(68, 0, "preempted");
    let mut stopped = 0;
    for round in 0..24 {
        let preempt = ["requeue", "suspend"][round % 2];
        let backfill = ["none", "easy"][round / 2 % 2];
        let selector = ["first_fit", "best_fit", "random"][round / 4 % 3];
        let mut jobs = jobs(&mut rng, 80, false);
        for job in &mut jobs {
            let queue = Some(["low", "high"][usize::from(rng.below(4) == 0)].to_owned());
            job.owner = Some(Arc::new(Owner { queue, ..Owner::default() }));
        }
        let scenario = scenario(&format!(
            "{MACHINE}selector = '{selector}'\n\
             scheduler = {{ name = 'priority', preempt = '{preempt}', backfill = '{backfill}', \
             queues = [{{ name = 'low', priority = 1 }}, {{ name = 'high', priority = 2 }}] }}"
        ));
        let seen = books(&scenario, jobs, false);
        assert_eq!(seen.ended + seen.refused.len() as u64, 80, "{preempt}, {backfill}");
        stopped += seen.stopped;
    }
    assert!(stopped > 50, "only {stopped} were preempted");
    for network in ["hops", "link_load"] {
        let scenario = scenario(&format!(
            "{MACHINE}scheduler = 'easy'\nnetwork = {{ name = '{network}', pattern = 'all_to_all' }}"
        ));
        let seen = books(&scenario, jobs(&mut rng, 60, false), false);
        assert_eq!(seen.ended + seen.refused.len() as u64, 60, "{network}");
    }
}

/// Job, start, site, nodes and end of each run.
fn runs(scenario: &Scenario, jobs: Vec<Job>) -> Vec<(u64, f64, usize, Vec<u32>, f64)> {
    let mut seen = Vec::new();
    watched(scenario, jobs, |now, event| {
        if let Event::Finished(run) = event {
            let parts = run.placement.parts.as_ref().map_or(&[][..], |parts| &parts.parts);
            let nodes = parts.iter().map(|part| part.node).collect();
            seen.push((run.job.number, run.start.units(), run.site, nodes, now.units()));
        }
    });
    seen
}

#[test]
fn a_site_on_which_no_job_fits_changes_nothing() {
    let mut rng = Stream::new(65, 0, "small");
    let site = "{ topology = 'fat_tree', arity = [3, 4], allocator = 'DOMAIN', nodes = [\n\
         { type = 'a', cpu = 8, mem = 100, gpu = 4, islands = 2, other = 3, on = '0-2,4-6,8-10' },\n\
         { type = 'b', cpu = 12, mem = 60 } ] }";
    let small = "{ topology = 'flat', processors = 2, allocator = 'naive', nodes = [{ type = 'b', cpu = 1 }] }";
    let mut passed = 0;
    for round in 0..48 {
        let scheduler = ["easy", "conservative", "fcfs"][round % 3];
        let own = site.replace("DOMAIN", ["naive", "fewest_leaves"][round / 3 % 2]);
        let rest = format!(
            "scheduler = '{scheduler}'\norder = '{}'\n",
            ["first", "most_allocated", "least_allocated"][round / 6 % 3]
        );
        let mut jobs = random_jobs(&mut rng, 80);
        for job in &mut jobs {
            let Request::Pieces(pieces) = &mut job.request else { panic!("pieces") };
            pieces.roles.truncate(1);
            pieces.roles[0].cpu += 1;
        }
        let alone = own.replace("allocator = 'naive', ", "");
        let alone = alone.replace("allocator = 'fewest_leaves', ", "");
        let allocator = ["naive", "fewest_leaves"][round / 3 % 2];
        let text = format!("machine = {alone}\nallocator = '{allocator}'\n{rest}");
        let alone = runs(&scenario(&text), jobs.clone());
        for (at, sites) in [format!("{own}, {small}"), format!("{small}, {own}")].iter().enumerate()
        {
            let text = format!("machine = {{ sites = [{sites}] }}\n{rest}selector = 'best_fit'\n");
            let both = runs(&scenario(&text), jobs.clone());
            assert!(both.iter().all(|own| own.2 == at), "round {round}");
            let there: Vec<_> =
                both.into_iter().map(|own| (own.0, own.1, 0, own.3, own.4)).collect();
            for (own, other) in there.iter().zip(&alone) {
                assert_eq!(own, other, "round {round}: {scheduler}, {sites}");
            }
            assert_eq!(there.len(), alone.len());
        }
        let mut starts: Vec<(f64, u64)> = alone.iter().map(|own| (own.1, own.0)).collect();
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        passed += starts.windows(2).filter(|pair| pair[0].1 > pair[1].1).count();
    }
    assert!(passed > 100, "only {passed} jobs were passed");
}

#[test]
fn whole_nodes_of_several_sites_are_those_of_sites_without_types() {
    let sites = |nodes: &str| {
        format!(
            "machine = {{ sites = [{{ topology = 'mesh', dims = [12] {nodes} }}, \
             {{ topology = 'mesh', dims = [8], speed = 2.0 {nodes} }}] }}\n"
        )
    };
    let mut rng = Stream::new(66, 0, "whole");
    let mut compared = 0;
    for (_, selector) in every_selector() {
        for (scheduler, allocator) in [
            ("fcfs", "naive"),
            ("sjf", "naive"),
            ("fcfs", "first_fit"),
            ("easy", "first_fit"),
            ("conservative", "first_fit"),
        ] {
            let rest =
                format!("{selector}\nscheduler = '{scheduler}'\nallocator = '{allocator}'\n");
            let mut at = 0.0;
            let jobs = (0..80).map(|number| {
                at += rng.below(4) as f64;
                let runtime = 1.0 + rng.below(30) as f64;
                Job::new(number, Time::new(at), Request::Nodes(1 + rng.below(9) as u32), runtime)
            });
            let jobs: Vec<Job> = jobs.collect();
            let in_pieces = jobs.iter().map(|job| {
                let Request::Nodes(count) = job.request else { panic!("nodes") };
                let request = Pieces::of(Piece { count, cpu: 8, ..Piece::default() });
                Job { request: Request::pieces(request), ..job.clone() }
            });
            let in_pieces: Vec<Job> = in_pieces.collect();
            let plain = runs(&scenario(&(sites("") + &rest)), jobs.clone());
            let types = ", nodes = [{ type = 'x', cpu = 8 }]";
            let typed = scenario(&(sites(types) + &rest));
            for jobs in [in_pieces, jobs] {
                let own = runs(&typed, jobs);
                let strip = |all: &[(u64, f64, usize, Vec<u32>, f64)]| -> Vec<_> {
                    all.iter().map(|own| (own.0, own.1, own.2, own.4)).collect()
                };
                assert_eq!(strip(&own), strip(&plain), "{selector}, {scheduler}, {allocator}");
                compared += own.len();
            }
        }
    }
    assert!(compared > 3000, "only {compared} runs were compared");
}

#[test]
fn metrics_of_two_sites_by_hand() {
    // Three of four GPUs of the first site for 10, and the node of the second site for 5.
    let text = "machine = { sites = [\n\
         { topology = 'flat', processors = 1, nodes = [{ type = 'a', cpu = 8, mem = 100, gpu = 4, gpu_type = 'x', islands = 2 }] },\n\
         { topology = 'flat', processors = 1, nodes = [{ type = 'b', cpu = 24, mem = 300, gpu = 4, gpu_type = 'x' }] }] }\n\
         energy = { idle = 1, busy = 3, gpu_idle = 10, gpu_busy = 100 }\n\
         measure = { metrics = ['cpu_allocation', 'mem_allocation', 'gpu_allocation', 'cpu_utilization', 'gpu_utilization', \
         'unallocated_gpus', 'gpu_frag_2', 'gpu_frag_4', 'fgd_fragmentation', 'islands_per_job', 'nodes_per_job', 'utilization'] }";
    let scenario = scenario(text);
    let three = Pieces::of(Piece { count: 3, gpu: 1, mem: 10, ..Piece::default() });
    let jobs = vec![
        Job::new(0, Time::ZERO, Request::pieces(three), 10.0),
        Job::new(1, Time::new(5.0), Request::Nodes(1), 5.0),
    ];
    let (outcome, watts) = observed(&scenario, jobs, Watts::default());
    let near = |name: &str, value: f64| assert_near(&outcome, name, value);
    near("cpu_allocation", (3.0 * 10.0 + 24.0 * 5.0) / 320.0);
    near("utilization", (3.0 * 10.0 + 24.0 * 5.0) / 320.0);
    near("mem_allocation", (30.0 * 10.0 + 300.0 * 5.0) / 4000.0);
    near("gpu_allocation", (3.0 * 10.0 + 4.0 * 5.0) / 80.0);
    near("cpu_utilization", 30.0 / 320.0);
    near("gpu_utilization", 30.0 / 80.0);
    near("unallocated_gpus", (5.0 * 5.0 + 1.0 * 5.0) / 10.0);
    // One of five free GPUs, then the only one.
    near("gpu_frag_2", (0.2 * 5.0 + 1.0 * 5.0) / 10.0);
    near("gpu_frag_4", (0.2 * 5.0 + 1.0 * 5.0) / 10.0);
    near("fgd_fragmentation", 0.0);
    near("islands_per_job", 1.5);
    near("nodes_per_job", 1.0);
    let three = 29.0 + 3.0 * 3.0 + 5.0 * 10.0 + 3.0 * 100.0;
    let both = 5.0 + 27.0 * 3.0 + 10.0 + 7.0 * 100.0;
    assert_eq!(watts.0, [(0.0, 5.0, three), (5.0, 10.0, both)]);
}

/// The load of random jobs is relative to the nodes of all sites together.
///
/// On several sites, jobs arrive as on one site with the same total number of nodes.
#[test]
fn the_load_is_of_the_nodes_of_all_sites() {
    let arrivals = |machine: &str| {
        let scenario = scenario(&format!(
            "machine = {machine}\nmeasure = {{ jobs = 50 }}\nworkload = {{ name = 'synthetic', load = 0.5, \
             runtimes = {{ name = 'constant', value = 9.0 }}, sizes = {{ name = 'vectors', of = \
             [{{ gpu = 1, cpu = 4 }}, {{ cpu = 30 }}] }} }}"
        ));
        let mut arrivals = Vec::new();
        let mut see = Each(|now: Time, event: &Event<'_>| {
            if let Event::Arrived(_, job) = event {
                arrivals.push((now.units(), job.request.clone()));
            }
        });
        scenario.run(0, &meshwork::NoInputs, &mut see).unwrap();
        arrivals.truncate(50);
        arrivals
    };
    let one = arrivals(
        "{ topology = 'flat', processors = 4, nodes = [{ type = 'dgx', on = '0' }, { type = 'cpu' }] }",
    );
    let three = arrivals(
        "{ sites = [{ topology = 'flat', processors = 1, nodes = [{ type = 'dgx' }] }, \
         { topology = 'flat', processors = 3, nodes = [{ type = 'cpu' }] }] }",
    );
    assert_eq!(one, three);
    assert_eq!(one.len(), 50);
}

#[test]
fn a_study_of_several_sites_with_types_is_read_as_it_is_written() {
    let first = scenario(&format!("{MACHINE}order = 'fgd'"));
    let again = Scenario::read(first.table()).unwrap();
    assert_eq!(first.table(), again.table());
    let sites = first.table()["machine"]["sites"].as_array().unwrap();
    assert_eq!(sites[0]["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(sites[1]["nodes"][0]["cpu"].as_integer(), Some(16));
    assert!(first.shares_nodes());
}

#[test]
fn bad_types_of_several_sites_get_one_sentence() {
    let read = |sites: &str, rest: &str, of: &str| {
        let text = format!(
            "machine = {{ sites = [{sites}] }}\nmeasure = {{ jobs = 9 }}\n{rest}\n\
             workload = {{ name = 'synthetic', load = 0.5, runtimes = {{ name = 'constant', value = 1.0 }}, \
             sizes = {{ name = 'vectors', of = [{of}] }} }}"
        );
        refusal(&text)
    };
    let flat = |nodes: &str| format!("{{ topology = 'flat', processors = 4{nodes} }}");
    let [dgx, cpu, nvl] =
        ["dgx", "cpu", "nvl72"].map(|name| flat(&format!(", nodes = [{{ type = '{name}' }}]")));
    let mixed = read(&format!("{dgx}, {}", flat("")), "", "{ cpu = 1 }");
    assert_eq!(
        mixed,
        "`machine.sites[1]` has no types of `nodes`, but `machine.sites[0]` has: jobs share the nodes of every site or of \
         none"
    );
    let on = read(&format!("{dgx}, {}", flat(", nodes = [{ type = 'cpu', on = '7' }]")), "", "{}");
    assert_eq!(
        on,
        "`machine.sites[1].nodes[0].on` names node 7, but the machine has the nodes 0 to 3"
    );
    // The nearest type of all sites is named.
    let never = read(&format!("{cpu}, {dgx}"), "", "{ gpu = 9, cpu = 4 }");
    assert_eq!(
        never,
        "`workload.sizes.of[0]` can never start: no node has 4 cores and 9 GPUs: the nearest type, `dgx`, has 112 cores, \
         2097152 MiB and 8 GPUs"
    );
    let apart = read(&format!("{cpu}, {dgx}"), "", "{ roles = '1*cpu=120+1*gpu=1' }");
    assert_eq!(
        apart,
        "`workload.sizes.of[0]` can never start: its kinds of pieces need nodes of different sites"
    );
    let which = read(&format!("{nvl}, {dgx}"), "", "{ gpu = 1 }");
    assert_eq!(
        which,
        "`workload.sizes.of[0]` wants GPUs and does not say which, but there are gb200 and h100: give their `type`, or several \
         as in `gb200|h100`"
    );
    let unknown = read(&format!("{nvl}, {dgx}"), "", "{ gpu = 1, type = 'a100' }");
    assert_eq!(
        unknown,
        "`workload.sizes.of[0]` wants nodes of type `a100`, which no node has (did you mean `h100`? \
         known: nvl72, dgx, gb200, h100)"
    );
    let without =
        read(&format!("{cpu}, {cpu}"), "failures = { mtbf = 9, repair = 1, scope = 'gpu' }", "{}");
    assert_eq!(without, "`failures.scope` is \"gpu\", but no node of the machine has GPUs");
    let both = format!(
        "machine = {{ sites = [{}], nodes = [{{ type = 'dgx' }}] }}\nworkload = {{ name = 'lublin', jobs = 1 }}",
        flat("")
    );
    let says = refusal(&both);
    assert!(says.starts_with("`machine.nodes` is given beside `machine.sites`"), "{says}");
}

#[test]
fn a_job_of_one_leaf_suits_the_machine_if_one_site_has_leaves() {
    let leaf = Pieces { inside: Inside::Leaf, ..Pieces::of(Piece::default()) };
    let job = Job::new(0, Time::ZERO, Request::pieces(leaf), 1.0);
    let seen = books(&scenario(&format!("{MACHINE}selector = 'fastest_first'")), vec![job], false);
    assert_eq!(seen.starts, [(0, 0.0, 0)], "the mesh, which is faster, has no leaves");
}
