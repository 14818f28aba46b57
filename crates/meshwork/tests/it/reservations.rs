//! Tests that all implementations of a plan agree, even if reservations are withdrawn.

use crate::common::{Transcript, random_jobs, scenario, submissions};
use meshwork::cluster::Cluster;
use meshwork::engine::simulate;
use meshwork::plan::{self, Plan};
use meshwork::sched::Scheduler;
use meshwork::topology::Topology;

/// Conservative backfilling that withdraws some reservations and makes them again after all others.
struct Wavering {
    plan: Option<Box<dyn Plan>>,
    /// Whether to use the plan that looks ahead on forks (copies) of the machine.
    ///
    /// All other implementations of a plan must agree with it.
    forks: bool,
    passes: u64,
}

impl Scheduler for Wavering {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        self.passes += 1;
        if self.forks && self.plan.is_none() {
            self.plan = Some(plan::forks(cluster));
        }
        let plan = plan::kept(&mut self.plan, cluster);
        plan.compress(cluster);
        let mut again = cluster.to_plan();
        assert!(again.iter().all(|&ticket| !plan.release(ticket)), "none of them has one");
        let wavers = |id: u64| (id + self.passes).is_multiple_of(7);
        for ticket in cluster.waiting().filter(|ticket| wavers(ticket.id.0)) {
            if plan.release(ticket) {
                again.push(ticket);
            }
        }
        for ticket in again {
            if let Some(found) = plan.earliest(cluster, ticket, None) {
                let sooner = plan.earliest(cluster, ticket, Some(cluster.now()));
                assert_eq!(sooner.is_some(), found.at == cluster.now());
                cluster.promise(ticket, found.at);
                plan.hold(cluster, ticket, found);
            }
        }
        plan.start_due(cluster);
    }
}

#[test]
fn every_form_of_a_plan_takes_reservations_back() {
    let machines = [
        ("topology = 'flat', processors = 40", Topology::flat(40)),
        ("topology = 'mesh', dims = [6, 5]", Topology::mesh(&[6, 5])),
        ("topology = 'torus', dims = [4, 3, 3]", Topology::torus(&[4, 3, 3])),
    ];
    for (machine, topology) in machines {
        let topology = topology.unwrap();
        let scenario = scenario(&format!("machine = {{ {machine} }}"));
        for seed in 0..12 {
            let mut jobs = random_jobs(&topology, 150, [2.0, 6.0][seed as usize % 2], seed);
            if seed % 3 == 0 {
                jobs.iter_mut().step_by(9).for_each(|job| job.runtime = job.estimate * 1.5);
            }
            let [quick, forks] = [false, true].map(|forks| {
                let mut setup = scenario.setup(0).unwrap();
                setup.scheduler = Box::new(Wavering { plan: None, forks, passes: 0 });
                let mut transcript = Transcript::default();
                simulate(setup, submissions(jobs.clone()), &mut transcript).unwrap();
                transcript.text
            });
            assert!(quick == forks, "{machine} {seed}\n{quick}\n---\n{forks}");
        }
    }
}
