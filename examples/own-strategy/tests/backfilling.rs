//! Tests that backfilling written outside of Meshwork gives the schedules of Meshwork's own.

use meshwork::Scenario;
use meshwork::alloc::ALLOCATORS;
use meshwork::conformance::{SITES, Transcript, every_machine, random_jobs, submissions};
use meshwork::engine::simulate;
use meshwork::job::Job;
use meshwork::topology::Topology;

const PAIRS: [[&str; 2]; 2] = [["easy", "own_easy"], ["conservative", "own_conservative"]];

/// Checks that each pair of schedulers gives equal starts, placements and promises. Returns the
/// number of lines that were compared.
fn assert_alike(machine: &str, jobs: &[Job]) -> usize {
    let catalogue = own_strategy::catalogue().unwrap();
    let transcript = |scheduler: &str| {
        let text = format!("{machine}\nscheduler = '{scheduler}'\nworkload = 'lublin'");
        let scenario = Scenario::read_in(&catalogue, &text.parse().unwrap()).unwrap();
        let mut transcript = Transcript::default();
        let setup = scenario.setup(0).unwrap();
        simulate(setup, submissions(jobs.to_vec()), &mut transcript).unwrap();
        transcript.text
    };
    let lines = PAIRS.map(|[ours, own]| {
        let (ours, own) = (transcript(ours), transcript(own));
        assert!(ours == own, "{machine}\n{ours}\n---\n{own}");
        ours.lines().count()
    });
    lines.iter().sum()
}

/// Random jobs, of which some run longer than estimated.
fn jobs(topology: &Topology, count: usize, seed: u64) -> Vec<Job> {
    let mut jobs = random_jobs(topology, count, [2.0, 6.0][seed as usize % 2], seed);
    for job in jobs.iter_mut().step_by([3, 9, 31][seed as usize % 3]) {
        job.runtime = job.estimate * [1.01, 1.5, 4.0][seed as usize % 3];
    }
    jobs
}

#[test]
fn every_machine_and_allocator() {
    let mut lines = 0;
    for (machine, topology) in every_machine() {
        for allocator in ALLOCATORS.iter().filter(|allocator| allocator.works_on(&topology)) {
            for seed in 0..2 {
                let name = allocator.about.name;
                let machine = format!("machine = {{ {machine} }}\nallocator = '{name}'");
                lines += assert_alike(&machine, &jobs(&topology, 40, seed));
            }
        }
    }
    assert!(lines > 50_000, "only {lines} events");
}

#[test]
fn long_queues_on_a_count_of_processors_and_on_a_grid() {
    let machines = [
        (Topology::flat(64).unwrap(), "machine = { topology = 'flat', processors = 64 }"),
        (Topology::mesh(&[8, 8]).unwrap(), "machine = { topology = 'mesh', dims = [8, 8] }"),
    ];
    for (topology, machine) in &machines {
        for seed in 0..6 {
            assert_alike(machine, &jobs(topology, 400, seed));
        }
    }
}

#[test]
fn several_sites_and_machines_whose_nodes_fail() {
    let jobs = jobs(&Topology::flat(14).unwrap(), 100, 2);
    assert_alike(SITES, &jobs);
    for allocator in ["first_fit", "buddy_2d"] {
        let machine = format!(
            "machine = {{ topology = 'mesh', dims = [4, 4] }}\nallocator = '{allocator}'
             failures = {{ mtbf = 400, repair = {{ name = 'exponential', mean = 4 }} }}"
        );
        assert_alike(&machine, &jobs);
    }
}
