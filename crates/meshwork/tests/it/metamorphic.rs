//! Tests that certain changes of a run's input change its output in a predictable way.

use crate::common;
use crate::common::{job, machines, random_jobs, run, scenario, starts};
use meshwork::alloc::ALLOCATORS;
use meshwork::cluster::{Cluster, StartOptions};
use meshwork::engine::Setup;
use meshwork::job::{Dims, Job, Request, Time};
use meshwork::machine::{Block, Placement};
use meshwork::sched::{SCHEDULERS, Scheduler};

/// Scenarios on every machine, in which each scheduler is combined with a third of the allocators.
///
/// All pairs are in the conformance tests. A third is enough here, because the tested changes
/// affect schedulers and allocators separately.
fn every_text() -> Vec<(String, meshwork::topology::Topology)> {
    let mut all = Vec::new();
    for (machine, topology) in machines() {
        let allocators = ALLOCATORS.iter().enumerate().filter(|(_, a)| a.works_on(&topology));
        for (place, allocator) in allocators {
            let schedulers = SCHEDULERS.iter().enumerate();
            let third = schedulers.filter(|(other, _)| (place + other) % 3 == 0);
            for (_, scheduler) in third.filter(|(_, s)| s.serves.contains(&topology.wiring())) {
                let text = format!(
                    "machine = {{ {machine} }}\nallocator = '{}'\nscheduler = '{}'",
                    allocator.about.name, scheduler.about.name
                );
                all.push((text, topology.clone()));
            }
        }
    }
    all
}

fn map_times(jobs: &[Job], map: impl Fn(f64) -> f64, spans: f64) -> Vec<Job> {
    let changed = |job: &Job| Job {
        arrival: Time::new(map(job.arrival.units())),
        runtime: job.runtime * spans,
        estimate: job.estimate * spans,
        ..job.clone()
    };
    jobs.iter().map(changed).collect()
}

#[test]
fn doubling_all_durations_doubles_every_instant_bit_for_bit() {
    // The parameters of `slurm` are in seconds.
    for (text, topology) in every_text().into_iter().filter(|(text, _)| !text.contains("'slurm'")) {
        let jobs = random_jobs(&topology, 100, 3.0, 21);
        let once = starts(scenario(&text).setup(0).unwrap(), jobs.clone());
        let twice = starts(scenario(&text).setup(0).unwrap(), map_times(&jobs, |t| 2.0 * t, 2.0));
        let started = once.iter().flatten().count();
        // In its published form, `lazy` leaves jobs waiting after the last arrival if no job of
        // their size runs.
        assert!(started > if text.contains("'lazy'") { 15 } else { 30 }, "{started}: {text}");
        for (a, b) in once.iter().zip(&twice) {
            assert_eq!(a.map(|a| (2.0 * a).to_bits()), b.map(f64::to_bits), "{text}");
        }
    }
}

#[test]
fn a_later_beginning_changes_no_wait() {
    // Whole numbers, so that the shift is exact, and whole minutes, to which `slurm` rounds.
    for (text, topology) in every_text() {
        let jobs: Vec<Job> = random_jobs(&topology, 100, 3.0, 22)
            .into_iter()
            .map(|mut job| {
                job.arrival = Time::new((job.arrival.units() * 10.0).round());
                job.runtime = (job.runtime * 10.0).round();
                job.estimate = (job.estimate * 10.0).round();
                job
            })
            .collect();
        let now = starts(scenario(&text).setup(0).unwrap(), jobs.clone());
        let later =
            starts(scenario(&text).setup(0).unwrap(), map_times(&jobs, |t| t + 7680.0, 1.0));
        // A resized job continues at a rate such as 1/3, so its end is not a whole number.
        let resizes = SCHEDULERS.iter().any(|s| s.malleable && text.contains(s.about.name));
        let slack = if resizes { 1e-6 } else { 0.0 };
        for (a, b) in now.iter().zip(&later) {
            let gap = a.zip(*b).map_or(0.0, |(a, b)| (a + 7680.0 - b).abs());
            assert!(a.is_some() == b.is_some() && gap <= slack, "{text}: {a:?} {b:?}");
        }
    }
}

#[test]
fn a_job_that_never_fits_changes_nothing_for_the_others() {
    for (text, topology) in every_text() {
        let jobs = random_jobs(&topology, 100, 3.0, 23);
        let mut with = jobs.clone();
        let too_large = Request::Nodes(topology.grid().nodes() + 1);
        with.insert(50, job(jobs[50].arrival.units(), too_large, 5.0));
        let alone = starts(scenario(&text).setup(0).unwrap(), jobs);
        let mut beside = starts(scenario(&text).setup(0).unwrap(), with);
        assert_eq!(beside.remove(50), None);
        assert_eq!(alone, beside, "{text}");
    }
}

#[test]
fn estimates_do_not_change_first_come_first_served() {
    for (text, topology) in every_text().into_iter().filter(|(text, _)| text.contains("'fcfs'")) {
        let jobs = random_jobs(&topology, 100, 3.0, 24);
        let mut wider = jobs.clone();
        wider.iter_mut().for_each(|job| job.estimate = job.estimate * 3.0 + 1.0);
        let started = starts(scenario(&text).setup(0).unwrap(), jobs);
        assert_eq!(started, starts(scenario(&text).setup(0).unwrap(), wider));
        let order: Vec<f64> = started.into_iter().flatten().collect();
        assert!(order.is_sorted(), "{text}: starts are in order of arrival");
    }
}

#[test]
fn jobs_of_no_time_leave_at_once() {
    let flat = scenario("machine = { topology = 'flat', processors = 4 }");
    let jobs: Vec<Job> = (0..3).map(|_| job(1.0, Request::Nodes(4), 0.0)).collect();
    let (outcome, _) = run(&flat, jobs.clone());
    assert_eq!((outcome.finished, outcome.end), (3, Time::new(1.0)));
    assert_eq!(starts(flat.setup(0).unwrap(), jobs), [Some(1.0); 3]);
}

#[test]
fn departures_come_before_arrivals_and_both_before_one_pass() {
    let flat = scenario("machine = { topology = 'flat', processors = 4 }");
    let jobs = vec![job(0.0, Request::Nodes(4), 5.0), job(5.0, Request::Nodes(4), 1.0)];
    assert_eq!(starts(flat.setup(0).unwrap(), jobs), [Some(0.0), Some(5.0)]);
    // The pass sees both simultaneous arrivals, so the smaller job starts first.
    let sjf = scenario("machine = { topology = 'flat', processors = 4 }\nscheduler = 'sjf'");
    let jobs = vec![job(1.0, Request::Nodes(3), 5.0), job(1.0, Request::Nodes(2), 1.0)];
    assert_eq!(starts(sjf.setup(0).unwrap(), jobs), [Some(2.0), Some(1.0)]);
}

#[test]
fn the_textbook_example_of_backfilling() {
    // Ten processors. Sizes, arrivals and estimates are those of the reference example.
    let jobs = || {
        [(6, 0.0, 10.0), (8, 1.0, 10.0), (9, 2.0, 10.0), (2, 3.0, 30.0)]
            .map(|(nodes, at, time)| job(at, Request::Nodes(nodes), time))
            .to_vec()
    };
    let with = |scheduler: &str| {
        let text = format!(
            "machine = {{ topology = 'flat', processors = 10 }}\nscheduler = '{scheduler}'"
        );
        starts(scenario(&text).setup(0).unwrap(), jobs())
    };
    assert_eq!(with("easy"), [0.0, 10.0, 33.0, 3.0].map(Some));
    assert_eq!(with("conservative"), [0.0, 10.0, 20.0, 30.0].map(Some));
    assert_eq!(with("fcfs"), [0.0, 10.0, 20.0, 30.0].map(Some));
}

#[test]
fn a_job_past_its_estimate_is_expected_to_end_now() {
    // The first job runs to 20, although its estimate is 5. At 6, the head of the queue (4
    // processors) is promised a start "now". A job of 3 units on the two free processors would end
    // later and would take processors that the head needs, so it waits.
    let mut jobs = vec![
        job(0.0, Request::Nodes(2), 20.0),
        job(1.0, Request::Nodes(4), 5.0),
        job(6.0, Request::Nodes(2), 3.0),
    ];
    jobs[0].estimate = 5.0;
    for scheduler in ["easy", "conservative"] {
        let text =
            format!("machine = {{ topology = 'flat', processors = 4 }}\nscheduler = '{scheduler}'");
        let started = starts(scenario(&text).setup(0).unwrap(), jobs.clone());
        assert_eq!(started, [0.0, 20.0, 25.0].map(Some), "{scheduler}");
    }
    let text = "machine = { topology = 'flat', processors = 4 }
                scheduler = { name = 'easy', kill_at_estimate = true }";
    let started = starts(scenario(text).setup(0).unwrap(), jobs);
    assert_eq!(started, [0.0, 5.0, 10.0].map(Some), "ended at its estimate");
}

/// Starts every job at once, and halves or doubles the oldest job at every arrival and end.
struct Halving;

impl Scheduler for Halving {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        while let Some(head) = cluster.head() {
            if !cluster.start(head, StartOptions::default()) {
                // Fold the oldest running job onto the first half of its processors.
                let Some((key, run)) = cluster.running().find(|(_, run)| run.held > 1) else {
                    break;
                };
                let block = &run.placement.blocks[0];
                let half = block.sides[0] / 2;
                let folded = Block { base: block.base, sides: Dims::from_slice(&[half]) };
                let rate = f64::from(half) / f64::from(run.held) * run.rate;
                cluster.reshape(key, folded.into(), rate, 0.0).unwrap();
                // With exact estimates, the expected end of a job moves with its actual end.
                let ends: Vec<f64> =
                    cluster.running().map(|(_, run)| run.expected_end.units()).collect();
                assert_eq!(ends, [16.0]);
            }
        }
    }
}

#[test]
fn a_running_job_can_be_resized() {
    let flat = scenario("machine = { topology = 'flat', processors = 8 }");
    let setup = Setup { scheduler: Box::new(Halving), ..flat.setup(0).unwrap() };
    let jobs = vec![job(0.0, Request::Nodes(8), 10.0), job(4.0, Request::Nodes(4), 3.0)];
    let mut transcript = common::Transcript::default();
    let outcome = flat.run_on(setup, common::submissions(jobs), &mut transcript).unwrap();
    // At 4, six units of work are left. They take 12 units of time on half the processors.
    assert_eq!(outcome.end, Time::new(16.0), "{}", transcript.text);
    assert!(transcript.text.contains("4 moved 0"));
}

/// Scheduler that moves the running job to the other end of the machine at every instant.
struct Wanderer;

impl Scheduler for Wanderer {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let away = |at: u32| Placement::from(Block { base: at, sides: Dims::from_slice(&[3]) });
        let moved = cluster.running().next().map(|(key, run)| (key, run.placement.blocks[0].base));
        if let Some((key, base)) = moved {
            // A move beyond the machine or with an invalid rate is refused, and the job stays where
            // it is.
            assert!(cluster.reshape(key, away(6), 1.0, 0.0).is_err());
            assert!(cluster.reshape(key, away(0), f64::NAN, 0.0).is_err());
            cluster.reshape(key, away(4 - base), 1.0, 0.5).unwrap();
        } else if let Some(head) = cluster.head() {
            cluster.start(head, StartOptions::default());
        }
    }
}

#[test]
fn a_running_job_can_be_moved_at_a_cost() {
    let flat = scenario("machine = { topology = 'flat', processors = 8 }");
    let setup = Setup { scheduler: Box::new(Wanderer), ..flat.setup(0).unwrap() };
    let jobs = vec![
        job(0.0, Request::Nodes(3), 10.0),
        job(1.0, Request::Nodes(1), 0.0),
        job(2.0, Request::Nodes(1), 0.0),
    ];
    let mut transcript = common::Transcript::default();
    flat.run_on(setup, common::submissions(jobs), &mut transcript).unwrap();
    // Two moves cost half a unit of time each.
    assert!(transcript.text.contains("11 finished 0"), "{}", transcript.text);
}
