//! Tests of the recorded causes of waiting.
//!
//! They use cases made by hand, and a reference implementation without caches for all allocators
//! and schedulers.

use crate::common;
use std::collections::BTreeMap;

use crate::common::{job, machines, random_jobs, run, scenario, submissions};
use meshwork::alloc::ALLOCATORS;
use meshwork::engine::simulate;
use meshwork::facility::Facility;
use meshwork::job::{Cause, Job, Request, Time};
use meshwork::observe::{Event, JobId, Observer, Running};
use meshwork::scenario::Scenario;
use meshwork::sched::SCHEDULERS;

const WAITS: [&str; 4] =
    ["wait_for_nodes", "wait_for_shape", "wait_for_priority", "wait_for_reserved"];

/// Reference model that follows a run by its events, without caches.
struct Twin {
    facility: Facility,
    held_up: Cause,
    waiting: BTreeMap<JobId, Job>,
    told: BTreeMap<JobId, f64>,
    seen: BTreeMap<Cause, u64>,
}

impl Twin {
    fn new(scenario: &Scenario) -> Twin {
        let setup = scenario.setup(0).unwrap();
        let mut facility = setup.facility;
        facility.ask_anew();
        let held_up = if setup.scheduler.reserves() { Cause::Reserved } else { Cause::Priority };
        let (waiting, told, seen) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Twin { facility, held_up, waiting, told, seen }
    }

    fn cause(&self, job: &Job, now: Time) -> Cause {
        let sites = 0..self.facility.sites().len();
        let has_room = |site| self.facility.fork().propose_at(site, job, now).is_some();
        if sites.clone().any(has_room) {
            return self.held_up;
        }
        let is_enough = |site| {
            let ahead = self.facility.fork_site(site);
            let free = u64::from(ahead.site().free_nodes());
            ahead.fewest(job).is_some_and(|fewest| fewest <= free)
        };
        if sites.into_iter().any(is_enough) { Cause::Shape } else { Cause::Nodes }
    }
}

impl Observer for Twin {
    fn asks_why_jobs_wait(&self) -> bool {
        true
    }

    fn waited(&mut self, from: Time, to: Time, id: JobId, cause: Cause) {
        let job = &self.waiting[&id];
        assert_eq!(cause, self.cause(job, from), "{id:?} asks for {} at {from}", job.request);
        *self.told.entry(id).or_default() += to - from;
        *self.seen.entry(cause).or_default() += 1;
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Arrived(id, job) => {
                self.waiting.insert(*id, (*job).clone());
            }
            Event::TurnedAway(id, _) => {
                self.waiting.remove(id);
            }
            Event::Started(Running { id, site, placement, job, .. }) => {
                self.waiting.remove(id);
                self.facility.claim(*site, placement, now).unwrap();
                let (told, wait) = (self.told.remove(id).unwrap_or(0.0), now - job.arrival);
                assert!((told - wait).abs() < 1e-9, "{id:?} waited {wait}, and was told {told}");
            }
            Event::Finished(run) => self.facility.release(run.site, &run.placement),
            _ => {}
        }
    }
}

#[test]
fn causes_are_what_a_machine_of_ones_own_answers() {
    let mut seen: BTreeMap<Cause, u64> = BTreeMap::new();
    for (machine, topology) in &machines() {
        let wiring = topology.wiring();
        for allocator in ALLOCATORS.iter().filter(|a| a.works_on(topology)) {
            let served = SCHEDULERS.iter().filter(|s| s.serves.contains(&wiring) && !s.malleable);
            for scheduler in served {
                let text = format!(
                    "machine = {{ {machine} }}\nallocator = '{}'\nscheduler = '{}'",
                    allocator.about.name, scheduler.about.name
                );
                let scenario = scenario(&text);
                let mut twin = Twin::new(&scenario);
                let jobs = submissions(random_jobs(topology, 16, 4.0, 3));
                simulate(scenario.setup(0).unwrap(), jobs, &mut twin).unwrap();
                twin.seen
                    .iter()
                    .for_each(|(&cause, spans)| *seen.entry(cause).or_default() += spans);
            }
        }
    }
    assert!(Cause::ALL.iter().all(|cause| seen.get(cause) > Some(&200)), "{seen:?}");
}

#[test]
fn causes_are_right_on_several_sites() {
    let jobs = random_jobs(&meshwork::topology::Topology::flat(14).unwrap(), 100, 15.0, 2);
    for scheduler in ["fcfs", "easy", "window"] {
        let scenario = scenario(&format!("{}\nscheduler = '{scheduler}'", common::SITES));
        let mut twin = Twin::new(&scenario);
        simulate(scenario.setup(0).unwrap(), submissions(jobs.clone()), &mut twin).unwrap();
        assert!(!twin.seen.is_empty());
    }
}

/// Values of the four metrics of waits by cause, and of the metric `wait`.
fn waits(scheduler: &str, jobs: Vec<Job>) -> ([f64; 4], f64) {
    let names = WAITS.map(|name| format!("'{name}'")).join(", ");
    let scenario = scenario(&format!(
        "machine = {{ topology = 'mesh', dims = [4, 4] }}\nscheduler = '{scheduler}'\n\
         measure = {{ metrics = ['wait', {names}] }}"
    ));
    let (outcome, _) = run(&scenario, jobs);
    let metric = |name: &str| common::metric(&outcome, name);
    (WAITS.map(metric), metric("wait"))
}

/// Three jobs wait on 4 × 4 nodes, where two other jobs hold three of the four columns.
///
/// The third job waits for a square of four free nodes, and the fourth waits for free nodes. The
/// fifth first waits for its turn (under EASY, for reserved nodes), and then for free nodes.
#[test]
fn a_case_by_hand() {
    let block = |arrival, sides: &[u32], runtime| job(arrival, Request::block(sides), runtime);
    let jobs = || {
        vec![
            block(0.0, &[2, 4], 10.0),
            block(0.0, &[1, 4], 4.0),
            block(1.0, &[2, 2], 1.0),  // waits for a square until 4
            block(2.0, &[3, 3], 2.0),  // waits for nodes until 10
            block(6.0, &[2, 4], 20.0), // could start at once; from 10 to 12 too few are left
        ]
    };
    let fifth = |[nodes, shape, priority, reserved]: [f64; 4]| {
        [nodes / 5.0, shape / 5.0, priority / 5.0, reserved / 5.0]
    };
    assert_eq!(waits("fcfs", jobs()), (fifth([10.0, 3.0, 4.0, 0.0]), 17.0 / 5.0));
    assert_eq!(waits("easy", jobs()), (fifth([10.0, 3.0, 0.0, 4.0]), 17.0 / 5.0));
}

#[test]
fn whoever_looks_changes_nothing() {
    for (machine, topology) in &machines() {
        for allocator in ALLOCATORS.iter().filter(|a| a.works_on(topology)) {
            for scheduler in ["fcfs", "easy", "conservative"] {
                let text = format!(
                    "machine = {{ {machine} }}\nallocator = '{}'\nscheduler = '{scheduler}'",
                    allocator.about.name,
                );
                let jobs = random_jobs(topology, 20, 4.0, 5);
                let names = WAITS.map(|name| format!("'{name}'")).join(", ");
                let measured = format!("{text}\nmeasure = {{ metrics = ['wait', {names}] }}");
                let (_, plain) = run(&scenario(&text), jobs.clone());
                let (outcome, looked_at) = run(&scenario(&measured), jobs);
                assert!(plain == looked_at, "{text}");
                let value = |i: usize| outcome.metrics[i].value.unwrap();
                let parts: f64 = (1..5).map(value).sum();
                assert!((parts - value(0)).abs() < 1e-9 * parts.max(1.0), "{text}");
            }
        }
    }
}
