//! Tests of partitions, reservations, outages, preemption and energy on nodes that several jobs
//! share.
//!
//! They use a naive simulator and cases made by hand.
#![expect(clippy::float_cmp, reason = "these instants are exact")]

use std::sync::Arc;

use crate::common::{Diary, Given, Watts, diary, observed, scenario, starts, submissions, watched};
use crate::shared_nodes::{
    NODES, Naive, Outage, Starts, Window, gpus, machine, of_pieces, random_jobs, shared,
};
use meshwork::job::{Inside, Job, Owner, Piece, Pieces, Request, Time};
use meshwork::machine::Placement;
use meshwork::observe::{Event, Observer};
use meshwork::pool::Pool;
use meshwork::rng::Stream;
use meshwork::scenario::Scenario;

/// Random jobs with random users and partitions. All pieces of a job are equal (one role).
fn jobs_of_owners(rng: &mut Stream, jobs: u64) -> Vec<Job> {
    let mut jobs = random_jobs(rng, jobs);
    for job in &mut jobs {
        if let Request::Pieces(pieces) = &mut job.request {
            // A job of several roles may fit nowhere at one instant, but fit when less is free.
            pieces.roles.truncate(1);
        }
        let of = |names: [&str; 3], rng: &mut Stream| Some(names[rng.below(3) as usize].to_owned());
        let partition = of(["left", "right", "all"], rng);
        let user = of(["ann", "bob", "eve"], rng);
        job.owner = Some(Arc::new(Owner { user, partition, ..Owner::default() }));
    }
    jobs
}

#[test]
fn partitions_and_windows_are_those_of_a_naive_simulator() {
    let mut rng = Stream::new(41, 0, "access");
    let (mut passed, mut confined, mut compared) = (0, 0, 0);
    for round in 0..48 {
        let domain = ["naive", "fewest_leaves"][round % 2];
        let order = ["first", "most_allocated", "least_allocated"][round % 3];
        let scheduler = ["easy", "fcfs", "easy"][round / 6 % 3];
        let jobs = jobs_of_owners(&mut rng, 70);
        let from = 10.0 + rng.below(20) as f64;
        let until = from + 5.0 + rng.below(40) as f64;
        let text = machine().replace(
            "nodes = [",
            &format!(
                "partitions = [{{ name = 'left', nodes = '0-6' }}, {{ name = 'right', nodes = '5-11' }}, \
                 {{ name = 'all', default = true }}], \
                 reservations = [{{ from = {from}, until = {until}, nodes = '4-7', users = ['ann'] }}], nodes = ["
            ),
        );
        let scenario = scenario(&format!(
            "{text}allocator = '{domain}'\norder = '{order}'\nscheduler = '{scheduler}'"
        ));
        let (_, seen) = observed(&scenario, jobs.clone(), Starts::default());
        let mut twin = Naive::new(&jobs, domain, order);
        twin.partitions =
            [("left", (0..7).collect()), ("right", (5..NODES).collect())].into_iter().collect();
        twin.windows.push(Window { from, until, nodes: (4..8).collect(), user: "ann" });
        let expected = twin.run(scheduler == "easy");
        for (own, other) in seen.starts.iter().zip(&expected) {
            assert_eq!(own, other, "round {round}: {domain}, {order}, {scheduler}");
        }
        assert_eq!(seen.starts.len(), expected.len());
        compared += expected.len();
        passed += seen.starts.windows(2).filter(|pair| pair[0].0 > pair[1].0).count();
        confined += seen.starts.iter().filter(|own| own.2.iter().all(|&node| node < 7)).count();
    }
    assert!(compared > 2500 && passed > 200 && confined > 500, "{compared} {passed} {confined}");
}

/// Observer that records outages, and starts of jobs.
#[derive(Default)]
struct Outages {
    starts: Starts,
    all: Vec<Outage>,
    stopped: u32,
}

impl Observer for Outages {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        self.starts.observe(now, event);
        let (node, gpu) = match event {
            Event::Down { node, .. } => (*node as usize, None),
            Event::GpuDown { node, gpu, .. } => (*node as usize, Some(*gpu as usize)),
            Event::Interrupted(_) => {
                self.stopped += 1;
                return;
            }
            _ => return,
        };
        self.all.push(Outage { from: now.units(), until: now.units() + 9.0, node, gpu });
    }
}

#[test]
fn outages_of_nodes_and_gpus_are_those_of_a_naive_simulator() {
    let mut rng = Stream::new(42, 0, "outages");
    let (mut stopped, mut failed, mut passed) = (0, 0, 0);
    for round in 0..48 {
        let domain = ["naive", "fewest_leaves"][round % 2];
        let order = ["first", "most_allocated", "least_allocated"][round % 3];
        let (scope, mtbf) = [("gpu", 250), ("node", 90)][round / 6 % 2];
        let scheduler = ["easy", "fcfs"][round / 12 % 2];
        let jobs = jobs_of_owners(&mut rng, 60);
        let scenario = shared(&format!(
            "allocator = '{domain}'\norder = '{order}'\nscheduler = '{scheduler}'\nseed = {round}\n\
             failures = {{ mtbf = {mtbf}, repair = {{ name = 'constant', value = 9.0 }}, scope = '{scope}' }}\n"
        ));
        let (_, seen) = observed(&scenario, jobs.clone(), Outages::default());
        let mut twin = Naive::new(&jobs, domain, order);
        twin.outages.clone_from(&seen.all);
        let expected = twin.run(scheduler == "easy");
        for (own, other) in seen.starts.starts.iter().zip(&expected) {
            assert_eq!(own, other, "round {round}: {domain}, {order}, {scheduler}, {scope}");
        }
        assert_eq!(seen.starts.starts.len(), expected.len());
        stopped += seen.stopped;
        failed += seen.all.len();
        let starts = &seen.starts.starts;
        passed += starts.windows(2).filter(|pair| pair[0].0 > pair[1].0).count();
    }
    assert!(stopped > 300 && failed > 600 && passed > 200, "{stopped} {failed} {passed}");
}

#[test]
fn a_gpu_fails_alone_and_its_node_serves_on() {
    // One node has two GPUs. The second job needs both, and waits for the repair.
    let text = "machine = { topology = 'flat', processors = 1, nodes = [{ type = 'a', cpu = 8, gpu = 2 }] }\n\
                failures = { mtbf = { name = 'constant', value = 10.0 }, repair = { name = 'constant', value = 5.0 }, \
                scope = 'gpu' }";
    let one = |number, at, count, runtime| of_pieces(number, at, gpus(count, 1), runtime);
    let cores = of_pieces(3, 0.0, Pieces::of(Piece::default()), 13.0);
    let jobs = vec![cores, one(1, 2.0, 1, 9.0), one(2, 3.0, 2, 3.0)];
    // Both GPUs fail at 10, are repaired at 15, and fail again at 25. The job that has only a core
    // is not affected.
    let expected = [
        "0 start 3",
        "2 start 1",
        "10 stop 1",
        "13 end 3",
        "15 start 1",
        "24 end 1",
        "24 start 2",
        "25 stop 2",
        "30 start 2",
        "33 end 2",
    ];
    assert_eq!(diary(text, jobs), expected);
}

#[test]
fn a_gpu_of_a_trace_fails_alone() {
    let text = "machine = { topology = 'flat', processors = 1, nodes = [{ type = 'a', cpu = 8, gpu = 2 }] }\n\
                failures = { trace = 't' }";
    let scenario = scenario(text);
    let overlapping = Given { text: "node,gpu,down,up\n0,1,5,8\n0,1,6,20\n", ..Given::default() };
    let refused =
        scenario.setup_with(0, &overlapping).err().map(|error| error.to_string()).unwrap();
    assert!(
        refused.contains("line 3: this outage overlaps that of line 2, and a GPU"),
        "{refused}"
    );
    let job = |number, at, count, runtime| of_pieces(number, at, gpus(count, 1), runtime);
    // The first job holds GPU 0. The second job needs both GPUs, and waits until both are back.
    let jobs = vec![job(1, 0.0, 1, 6.5), job(2, 1.0, 2, 3.0)];
    let mut seen = Diary::default();
    let given = Given { text: "node,gpu,down,up\n0,1,5,8\n0,0,6,7\n", ..Given::default() };
    let setup = scenario.setup_with(0, &given).unwrap();
    scenario.run_on(setup, submissions(jobs), &mut seen).unwrap();
    assert_eq!(
        seen.0,
        ["0 start 1", "6 stop 1", "7 start 1", "13.5 end 1", "13.5 start 2", "16.5 end 2"]
    );
}

#[test]
fn a_node_and_its_gpus_fail_and_come_back_in_any_order() {
    // Maintenance windows take nodes out of service while GPUs fail and are repaired. No resource
    // may be given twice or lost.
    let mut rng = Stream::new(43, 0, "both");
    for seed in 0..12 {
        let jobs = jobs_of_owners(&mut rng, 60);
        let scenario = shared(&format!(
            "scheduler = 'easy'\nseed = {seed}\nfailures = {{ mtbf = 500, repair = 30, scope = 'gpu', \
             maintenance = [{{ from = 20, until = 45, nodes = '0-4' }}, {{ from = 40, until = 60, nodes = '3-9' }}], \
             drain = [{{ from = 10, until = 30, nodes = '8-10' }}] }}"
        ));
        let (outcome, seen) = observed(&scenario, jobs, Outages::default());
        assert_eq!(outcome.finished + outcome.refused, 60);
        assert!(seen.all.iter().any(|outage| outage.gpu.is_none()));
        for (_, at, nodes) in &seen.starts.starts {
            let is_out = |node: &usize| {
                (20.0..45.0).contains(at) && *node < 5
                    || (40.0..60.0).contains(at) && (3..10).contains(node)
                    || (10.0..30.0).contains(at) && (8..11).contains(node)
            };
            assert!(!nodes.iter().any(is_out), "a job starts at {at} on {nodes:?}");
        }
    }
}

#[test]
fn a_failed_gpu_lasts_beyond_the_outage_of_its_node() {
    // The GPU fails at 10 and is repaired at 30. Its node is out of service from 15 to 20.
    let text = "machine = { topology = 'flat', processors = 1, nodes = [{ type = 'a', cpu = 8, gpu = 1 }] }\n\
                failures = { mtbf = { name = 'constant', value = 10.0 }, repair = { name = 'constant', value = 20.0 }, \
                scope = 'gpu', maintenance = [{ from = 15, until = 20 }] }";
    let gpu = of_pieces(1, 11.0, gpus(1, 1), 3.0);
    let core = of_pieces(2, 16.0, Pieces::of(Piece::default()), 1.0);
    let first = of_pieces(0, 0.0, Pieces::of(Piece::default()), 1.0);
    let expected = [
        "0 start 0",
        "1 end 0",
        "15 down 0",
        "20 up 0",
        "20 start 2",
        "21 end 2",
        "30 start 1",
        "33 end 1",
    ];
    let text = format!("{text}\nscheduler = {{ name = 'window' }}");
    assert_eq!(diary(&text, vec![first, gpu, core]), expected);
}

fn of_queue(number: u64, at: f64, pieces: Pieces, runtime: f64, queue: &str) -> Job {
    let owner = Owner { queue: Some(queue.to_owned()), ..Owner::default() };
    Job { owner: Some(Arc::new(owner)), ..of_pieces(number, at, pieces, runtime) }
}

/// Ann has used a node of eight cores for ten minutes, and Ben two cores.
///
/// So Ben's job starts first.
#[test]
fn whole_nodes_are_used_by_all_their_cores() {
    let of_user = |number, at, request, user: &str| {
        let owner = Owner { user: Some(user.to_owned()), ..Owner::default() };
        let owner = Some(Arc::new(owner));
        Job { owner, ..Job::new(number, Time::new(at), request, 600.0) }
    };
    let cores = |cpu| Request::pieces(Pieces::of(Piece { cpu, ..Piece::default() }));
    let jobs = vec![
        of_user(1, 0.0, Request::Nodes(1), "ann"),
        of_user(2, 600.0, cores(2), "ben"),
        of_user(3, 600.0, cores(6), "eve"),
        of_user(4, 660.0, cores(8), "ann"),
        of_user(5, 720.0, cores(8), "ben"),
    ];
    let weights = "{ age = 0, size = 0, fair_share = 1, queue = 0, job = 0 }";
    for scheduler in [
        "'fair_share'".to_owned(),
        format!("{{ name = 'priority', weights = {weights} }}"),
        "{ name = 'slurm', PriorityWeightFairshare = 1000, PriorityCalcPeriod = '1' }".to_owned(),
    ] {
        let scenario = scenario(&format!(
            "machine = {{ topology = 'flat', processors = 1, nodes = [{{ type = 'a', cpu = 8 }}] }}\n\
             scheduler = {scheduler}"
        ));
        let (_, seen) = observed(&scenario, jobs.clone(), Diary::default());
        let place = |line: &str| seen.0.iter().position(|own| own.ends_with(line)).unwrap();
        assert!(place("start 5") < place("start 4"), "{scheduler}: {:?}", seen.0);
    }
}

fn with_preemption(preempt: &str) -> Scenario {
    scenario(&format!(
        "machine = {{ topology = 'flat', processors = 2, nodes = [{{ type = 'a', cpu = 8, mem = 100, gpu = 4, islands = 2 }}] }}\n\
         scheduler = {{ name = 'priority', preempt = '{preempt}', \
         queues = [{{ name = 'low', priority = 1 }}, {{ name = 'high', priority = 2 }}] }}"
    ))
}

#[test]
fn jobs_are_preempted_for_what_is_missing_alone() {
    let mem = |mem| Pieces::of(Piece { mem, ..Piece::default() });
    // The first two jobs hold most of the memory of both nodes. The third job, on GPUs, holds no
    // memory. The urgent job lacks only memory, so the youngest job that holds memory is preempted.
    let jobs = vec![
        of_queue(1, 0.0, mem(90), 50.0, "low"),
        of_queue(2, 1.0, mem(90), 50.0, "low"),
        of_queue(3, 2.0, gpus(1, 2), 50.0, "low"),
        of_queue(4, 3.0, mem(60), 10.0, "high"),
    ];
    for (preempt, lines) in [
        (
            "requeue",
            ["3 stop 2", "3 start 4", "13 end 4", "13 start 2", "50 end 1", "52 end 3", "63 end 2"],
        ),
        (
            "suspend",
            ["3 stop 2", "3 start 4", "13 end 4", "13 start 2", "50 end 1", "52 end 3", "61 end 2"],
        ),
    ] {
        let scenario = with_preemption(preempt);
        let (_, seen) = observed(&scenario, jobs.clone(), Diary::default());
        assert_eq!(seen.0[3..], lines, "{preempt}");
    }
}

#[test]
fn a_suspended_job_goes_on_with_its_own_parts() {
    // The third job takes two of the three GPUs that the suspended first job held. The fourth job
    // uses a GPU that is free meanwhile.
    let jobs = vec![
        of_queue(1, 0.0, Pieces { inside: Inside::Node, ..gpus(3, 1) }, 20.0, "low"),
        of_queue(2, 1.0, Pieces { inside: Inside::Node, ..gpus(4, 1) }, 100.0, "high"),
        of_queue(3, 5.0, Pieces { inside: Inside::Node, ..gpus(2, 1) }, 10.0, "high"),
        of_queue(4, 6.0, gpus(1, 1), 30.0, "low"),
    ];
    let scenario = with_preemption("suspend");
    let mut seen: Vec<(u64, f64, Vec<(u16, u32)>)> = Vec::new();
    watched(&scenario, jobs, |now, event| {
        if let Event::Started(run) = event {
            let parts = &run.placement.parts.as_ref().unwrap().parts;
            let cells = parts.iter().flat_map(|part| part.cells.to_vec()).collect();
            seen.push((run.job.number, now.units(), cells));
        }
    });
    let of = |number: u64| seen.iter().filter(|own| own.0 == number).collect::<Vec<_>>();
    let (first, again) = (of(1)[0], of(1)[1]);
    assert_eq!((first.1, again.1), (0.0, 15.0), "it waits for the two GPUs of the third");
    assert_eq!(first.2, again.2, "and has the cells that it had");
    assert_eq!(of(4)[0].1, 6.0, "a GPU that nobody holds is not kept for it");
}

#[test]
fn preemption_with_everything_gives_no_cell_twice() {
    let mut rng = Stream::new(44, 0, "preempted");
    let mut stopped = 0;
    for round in 0..24 {
        let preempt = ["requeue", "suspend"][round % 2];
        let backfill = ["none", "easy"][round / 2 % 2];
        let mut jobs = jobs_of_owners(&mut rng, 80);
        for job in &mut jobs {
            let queue = ["low", "high"][usize::from(rng.below(4) == 0)].to_owned();
            let mut owner = (**job.owner.as_ref().unwrap()).clone();
            owner.queue = Some(queue);
            job.owner = Some(Arc::new(owner));
        }
        let scenario = scenario(&format!(
            "{}scheduler = {{ name = 'priority', preempt = '{preempt}', backfill = '{backfill}', \
             queues = [{{ name = 'low', priority = 1 }}, {{ name = 'high', priority = 2 }}] }}",
            machine()
        ));
        let (outcome, seen) = observed(&scenario, jobs, Outages::default());
        assert_eq!(outcome.finished + outcome.refused, 80);
        stopped += seen.stopped;
    }
    assert!(stopped > 100, "only {stopped} were preempted");
}

#[test]
fn cores_and_gpus_take_power_by_the_part() {
    // Two nodes have eight cores and two GPUs each. A core takes 1 watt idle and 3 busy, a GPU 10
    // and 100.
    let text = "machine = { topology = 'flat', processors = 2, nodes = [{ type = 'a', cpu = 8, gpu = 2 }] }\n\
                energy = { idle = 1, busy = 3, gpu_idle = 10, gpu_busy = 100 }";
    let half = Pieces::of(Piece { cpu: 4, gpu: 1, share: 500, ..Piece::default() });
    let jobs = vec![
        Job::new(1, Time::ZERO, Request::pieces(half), 10.0),
        Job::new(2, Time::new(5.0), Request::Nodes(1), 10.0),
    ];
    let scenario = scenario(text);
    let (_, seen) = observed(&scenario, jobs, Watts::default());
    let half = 12.0 + 4.0 * 3.0 + 3.5 * 10.0 + 0.5 * 100.0;
    let both = 4.0 + 12.0 * 3.0 + 1.5 * 10.0 + 2.5 * 100.0;
    let whole = 8.0 + 8.0 * 3.0 + 2.0 * 10.0 + 2.0 * 100.0;
    assert_eq!(seen.0, [(0.0, 5.0, half), (5.0, 10.0, both), (10.0, 15.0, whole)]);
}

#[test]
fn only_idle_nodes_sleep_and_their_gpus_with_them() {
    // The first node always has a job. The second node is idle from 10 on, and sleeps from 14 on.
    let text = "machine = { topology = 'flat', processors = 2, nodes = [{ type = 'a', cpu = 8, gpu = 2 }] }\n\
                energy = { idle = 1, busy = 3, gpu_idle = 10, gpu_busy = 100, sleep = 0.5, sleep_after = 4, wake = 2, wake_energy = 7 }";
    let core = |number, at, runtime| of_pieces(number, at, Pieces::of(Piece::default()), runtime);
    let jobs = vec![
        core(1, 0.0, 30.0),
        core(2, 0.0, 12.0),
        Job::new(3, Time::ZERO, Request::Nodes(1), 10.0),
        Job::new(4, Time::new(20.0), Request::Nodes(1), 3.0),
    ];
    let scenario = scenario(text);
    let (_, seen) = observed(&scenario, jobs, Watts::default());
    let two = 6.0 + 10.0 * 3.0 + 2.0 * 10.0 + 2.0 * 100.0;
    let idle = |held: f64| (16.0 - held) + held * 3.0 + 4.0 * 10.0;
    let asleep = 7.0 + 3.0 + 8.0 * 0.5 + 2.0 * 10.0;
    let woken = 7.0 + 9.0 * 3.0 + 2.0 * 10.0 + 2.0 * 100.0;
    let expected = [
        (0.0, 10.0, two),
        (10.0, 12.0, idle(2.0)),
        (12.0, 14.0, idle(1.0)),
        (14.0, 20.0, asleep),
        (20.0, 25.0, woken),
        (25.0, 29.0, idle(1.0)),
        (29.0, 30.0, asleep),
    ];
    assert_eq!(seen.0, expected);
}

/// Job of one piece with the given cores. Jobs arrive in the order of their numbers.
fn cores(number: u64, cpu: u32, runtime: f64) -> Job {
    let pieces = Pieces::of(Piece { cpu, ..Piece::default() });
    of_pieces(number, number as f64 / 100.0, pieces, runtime)
}

#[test]
fn a_cap_holds_jobs_back_by_their_cores() {
    // Sixteen cores, of which ten may be held: 16 + 2 · 10 = 36 watts.
    let text = "machine = { topology = 'flat', processors = 2, nodes = [{ type = 'a', cpu = 8 }] }\n\
                scheduler = 'easy'\nenergy = { idle = 1, busy = 3, cap = 36 }";
    let jobs = vec![cores(1, 6, 10.0), cores(2, 6, 10.0), cores(3, 4, 5.0), cores(4, 4, 50.0)];
    // The third job runs beside the first one. The fourth job does not delay the start of the
    // second.
    let starts = diary_of_starts(text, jobs);
    assert_eq!(starts, ["0.01 start 1", "0.03 start 3", "5.03 start 4", "10.01 start 2"]);
}

fn diary_of_starts(text: &str, jobs: Vec<Job>) -> Vec<String> {
    diary(text, jobs).into_iter().filter(|line| line.contains("start")).collect()
}

#[test]
fn a_cap_holds_jobs_back_by_their_gpus() {
    // Sixteen cores and four GPUs take 56 watts idle. The cap leaves 200 watts: 2 for each held
    // core, and 90 for each held GPU.
    let text = "machine = { topology = 'flat', processors = 2, nodes = [{ type = 'a', cpu = 8, gpu = 2 }] }\n\
                scheduler = 'easy'\n\
                energy = { idle = 1, busy = 3, gpu_idle = 10, gpu_busy = 100, cap = 256 }";
    let wants = |number, cpu, gpu, share, runtime| {
        let pieces = Pieces::of(Piece { cpu, gpu, share, ..Piece::default() });
        of_pieces(number, number as f64 / 100.0, pieces, runtime)
    };
    let jobs = vec![
        wants(1, 2, 2, 1000, 10.0),
        wants(2, 1, 1, 1000, 10.0),
        wants(3, 4, 0, 1000, 5.0),
        wants(4, 4, 0, 1000, 50.0),
        wants(5, 1, 1, 500, 1.0),
    ];
    // The first job leaves 16 watts, which is enough for the third and the fourth one. The second
    // job and half a GPU wait until the first one ends.
    let starts = diary_of_starts(text, jobs);
    let expected =
        ["0.01 start 1", "0.03 start 3", "0.04 start 4", "10.01 start 2", "10.01 start 5"];
    assert_eq!(starts, expected);
}

#[test]
fn reservation_keeps_parts_of_the_node_with_the_fewest_jobs() {
    let text = "machine = { topology = 'flat', processors = 2, nodes = [{ type = 'a', cpu = 8 }] }\n\
                scheduler = 'reservation'\norder = 'first'";
    // Two jobs are on the first node, and one is on the second node, on which six cores are kept
    // for the fourth job. So the fifth job waits although it would fit, and the sixth one does not.
    let jobs = vec![
        cores(1, 4, 10.0),
        cores(2, 3, 40.0),
        cores(3, 6, 20.0),
        cores(4, 6, 5.0),
        cores(5, 2, 100.0),
        cores(6, 1, 1.0),
    ];
    let starts = diary_of_starts(text, jobs);
    let expected = [
        "0.01 start 1",
        "0.02 start 2",
        "0.03 start 3",
        "0.06 start 6",
        "10.01 start 5",
        "20.03 start 4",
    ];
    assert_eq!(starts, expected);
}

/// Jobs that each ask for 1 to 12 whole nodes, with estimates that are often wrong.
fn jobs_of_whole_nodes(rng: &mut Stream) -> Vec<Job> {
    let mut at = 0.0;
    let next = |number| {
        at += rng.below(4) as f64;
        let runtime = 1.0 + rng.below(30) as f64;
        let request = Request::Nodes(1 + rng.below(if number % 5 == 0 { 12 } else { 4 }) as u32);
        let estimate = runtime + rng.below(3) as f64 * 5.0;
        Job { estimate, ..Job::new(number, Time::new(at), request, runtime) }
    };
    (1..=120).map(next).collect()
}

const OF_ONE_CORE: &str = "machine = { topology = 'flat', processors = 12, nodes = [{ type = 'a', cpu = 1, gpu = 1 }] }\n\
                           allocator = 'naive'\norder = 'first'\n";

/// Power of a node with one core and one GPU. The power cap lets seven nodes be busy.
const OF_A_NODE: &str = "energy = { idle = 11, busy = 103, cap = 826 }";
/// Power of a core and of a GPU of a node whose total power is `OF_A_NODE`.
const OF_ITS_PARTS: &str =
    "energy = { idle = 1, busy = 3, gpu_idle = 10, gpu_busy = 100, cap = 826 }";

#[test]
fn nodes_of_one_core_are_scheduled_like_whole_nodes() {
    let whole = "machine = { topology = 'flat', processors = 12 }\nallocator = 'naive'\n";
    let mut rng = Stream::new(71, 0, "whole");
    for scheduler in [
        "'fcfs'",
        "'reservation'",
        "{ name = 'reservation', reservations = 3 }",
        "{ name = 'reservation', reservations = 2, bypass_limit = 2 }",
    ] {
        for energy in ["", OF_A_NODE].repeat(3) {
            let jobs = jobs_of_whole_nodes(&mut rng);
            let of = |machine: &str| {
                let text = format!("{machine}scheduler = {scheduler}\n{energy}");
                starts(scenario(&text).setup(0).unwrap(), jobs.clone())
            };
            assert_eq!(of(OF_ONE_CORE), of(whole), "{scheduler} {energy}");
        }
    }
}

#[test]
fn a_cap_of_cores_and_gpus_is_one_of_nodes_where_each_has_both() {
    let mut rng = Stream::new(72, 0, "capped");
    for scheduler in ["easy", "conservative", "slurm", "sjf", "window"].repeat(3) {
        let jobs = jobs_of_whole_nodes(&mut rng);
        let of = |energy: &str| {
            let text = format!("{OF_ONE_CORE}scheduler = '{scheduler}'\n{energy}");
            starts(scenario(&text).setup(0).unwrap(), jobs.clone())
        };
        let capped = of(OF_ITS_PARTS);
        assert_eq!(capped, of(OF_A_NODE), "{scheduler}");
        assert_ne!(capped, of(""), "{scheduler}");
    }
}

fn pool(rest: &str) -> Pool {
    Pool::read(&format!("{}{rest}", machine()).parse().unwrap()).unwrap()
}

#[test]
fn a_pool_of_parts_gives_back_what_it_gave_and_is_restored() {
    let mut rng = Stream::new(45, 0, "pool");
    let (mut placed, mut refused) = (0, 0);
    for order in ["first", "most_allocated", "least_allocated"] {
        let rest = format!("order = '{order}'\nallocator = 'fewest_leaves'\n");
        let (mut one, mut other) = (pool(&rest), pool(&rest));
        let idle = one.site().amounts().unwrap().free();
        let mut held: Vec<Placement> = Vec::new();
        for job in random_jobs(&mut rng, 300) {
            let there = one.can(&job.request);
            let found = one.allocate(&job.request);
            assert_eq!(there, found, "`can` says where");
            placed += usize::from(found.is_some());
            if found.is_none() && one.could_hold(&job.request) {
                refused += 1;
                let says = one.shortage(&job.request).expect("what is short");
                assert!(says.contains("free") || says.starts_with("enough in total"), "{says}");
            }
            held.extend(found);
            while held.len() > 12 {
                let gone = held.swap_remove(rng.below(held.len() as u64) as usize);
                one.release(&gone).unwrap();
            }
            other.restore(&one.snapshot()).unwrap();
            assert_eq!(
                other.site().amounts().unwrap().free(),
                one.site().amounts().unwrap().free()
            );
            assert_eq!(other.snapshot(), one.snapshot());
        }
        for gone in held {
            one.release(&gone).unwrap();
        }
        assert_eq!(one.site().amounts().unwrap().free(), idle);
        assert_eq!(one.held().count(), 0);
    }
    assert!(placed > 300 && refused > 100, "{placed} placed, {refused} refused");
}

#[test]
fn equal_parts_of_a_node_are_released_one_by_one_and_whole_nodes_wait_for_them() {
    let mut pool = pool("");
    let core = Request::pieces(Pieces::of(Piece::default()));
    let (one, other) = (pool.allocate(&core).unwrap(), pool.allocate(&core).unwrap());
    assert_eq!(one, other, "cores of an island are alike");
    let whole = Placement { parts: None, ..one.clone() };
    assert!(pool.adopt(&whole).is_err(), "the node is in use");
    pool.release(&one).unwrap();
    assert!(pool.adopt(&whole).is_err());
    pool.release(&other).unwrap();
    assert!(pool.release(&other).is_err(), "both are gone");
    pool.adopt(&whole).unwrap();
    assert_ne!(pool.can(&core).unwrap().blocks, whole.blocks);
    pool.release(&whole).unwrap();
    assert_eq!(pool.can(&core), Some(one));
}

#[test]
fn pieces_of_a_pool_that_cannot_be_get_one_sentence() {
    let says = |columns: &str| {
        let columns: toml::Table = columns.parse().unwrap();
        pool("").pieces(&columns).unwrap_err().message
    };
    for (columns, part) in [
        ("gpu = 5", "can never start: no node has 1 core and 5 GPUs: the nearest type, `a`, has"),
        ("gpus = 1", "unknown key `gpus` in `pieces` (did you mean `gpu`?"),
        ("gpu = -1", "but must be a number from 0"),
        ("gpu = 1.5", "must be a whole number, or a part of one GPU"),
        ("type = 'z'", "which no node has (known: a, b)"),
    ] {
        let sentence = says(columns);
        assert!(sentence.contains(part), "{columns}: {sentence}");
    }
    let plain = Pool::read(&"machine = 'flat:4'".parse().unwrap()).unwrap();
    let columns: toml::Table = "gpu = 1".parse().unwrap();
    assert!(plain.pieces(&columns).unwrap_err().message.contains("give `machine.nodes`"));
}

fn sent(network: &str, jobs: Vec<Job>) -> Vec<(u64, f64, u64)> {
    let network = format!("{{ name = '{network}', pattern = 'all_to_all' }}");
    sent_by("dims = [4, 4]", &network, jobs)
}

/// Number, service time and message hops of each job of a run on a mesh, in order of ends.
fn sent_by(mesh: &str, network: &str, jobs: Vec<Job>) -> Vec<(u64, f64, u64)> {
    let text = format!(
        "machine = {{ topology = 'mesh', {mesh}, nodes = [{{ type = 'a', cpu = 8, gpu = 4 }}] }}\n\
         network = {network}\nallocator = 'naive'"
    );
    let mut sent = Vec::new();
    let outcome = watched(&scenario(&text), jobs, |now, event| {
        if let Event::Finished(run) = event {
            let messages = run.messages.as_ref().unwrap();
            sent.push((run.job.number, now - run.start, messages.hops));
        }
    });
    assert_eq!(outcome.finished as usize, sent.len());
    sent
}

#[test]
fn pieces_send_from_the_nodes_that_they_are_on() {
    let pieces = |per_node| Pieces::of(Piece { count: 4, per_node, ..Piece::default() });
    let job = |request| vec![Job::new(1, Time::ZERO, request, 1.0)];
    for network in ["hops", "link_load", "wormhole"] {
        // With one piece on each node, messages are those of a job that holds these nodes as a
        // whole.
        let apart = sent(network, job(Request::pieces(pieces(Some(1)))));
        let whole = sent(network, job(Request::Nodes(4)));
        assert_eq!(apart[0].2, whole[0].2, "{network}");
        assert!(apart[0].2 > 0);
        // Two nodes, one hop apart, have two pieces each. Four pairs of pieces send in both
        // directions.
        let two = sent(network, job(Request::pieces(pieces(Some(2)))));
        assert_eq!(two[0].2, 8, "{network}");
        let one = sent(network, job(Request::pieces(pieces(None))));
        assert_eq!(one[0].2, 0, "{network}: all on one node");
    }
    // If only one piece sends, its job takes as long in `wormhole` as in `hops`.
    let alone = |name: &str| {
        let network = format!("{{ name = '{name}', pattern = 'one_to_all', buffer = 8 }}");
        sent_by("dims = [4, 4]", &network, job(Request::pieces(pieces(Some(2)))))[0].1
    };
    assert_eq!(alone("wormhole"), alone("hops"));
}

#[test]
fn jobs_on_one_node_share_its_way_into_the_network() {
    // All jobs have one piece on each of two nodes. The pieces send messages to each other.
    let job = |number| {
        let pieces = Pieces::of(Piece { count: 2, per_node: Some(1), ..Piece::default() });
        Job::new(number, Time::ZERO, Request::pieces(pieces), 1.0)
    };
    let last = |messages: u32, jobs: Vec<Job>, more: &str| {
        let network =
            format!("{{ name = 'wormhole', pattern = 'ring', num_messages = {messages}, {more} }}");
        let seen = sent_by("dims = [2]", &network, jobs);
        seen.iter().map(|own| own.1).fold(0.0, f64::max)
    };
    for more in ["virtual_channels = 1", "virtual_channels = 2", "timing = 'booksim'"] {
        // Two jobs take turns, and so take as long as one job with all their messages.
        let alone = last(20, vec![job(1)], more);
        let both = last(20, vec![job(1), job(2)], more);
        assert_eq!(both, last(40, vec![job(1)], more), "{more}");
        assert!(both > 1.5 * alone, "{more}: {both} and {alone}");
        // A job that thinks longer than messages take leaves the way to the other job.
        let more = format!("{more}, think_time = 1000, send = 'delivered'");
        let alone = last(20, vec![job(1)], &more);
        let both = last(20, vec![job(1), job(2)], &more);
        assert!(both < 1.05 * alone, "{more}: {both} and {alone}");
    }
}
