//! Tests of schedulers that resize running jobs: cases made by hand, and quantities that must be
//! conserved.

use crate::common;
use crate::common::{job, metric, observed, random_jobs, run, scenario, submissions};
use meshwork::cluster::{Cluster, Reshape, StartOptions};
use meshwork::engine::Setup;
use meshwork::job::{Dims, Job, Request, Time};
use meshwork::machine::{Block, Placement};
use meshwork::observe::{Event, JobId, MachineState, Observer};
use meshwork::scenario::{Outcome, Scenario};
use meshwork::sched::{SCHEDULERS, Scheduler};
use meshwork::topology::Topology;

fn policies() -> impl Iterator<Item = &'static str> {
    SCHEDULERS.iter().filter(|s| s.malleable).map(|s| s.about.name)
}

/// Observer that records job sizes over time, ends of jobs, and held and idle processor time.
#[derive(Default)]
struct Watch {
    holding: std::collections::BTreeMap<JobId, u32>,
    sizes: Vec<(f64, Vec<u32>)>,
    ends: Vec<(u64, f64)>,
    delivered: f64,
    moves: u32,
    idle: f64,
}

impl Observer for Watch {
    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
        self.sizes.push((from.units(), self.holding.values().copied().collect()));
        self.delivered += (to - from) * state.held as f64;
        let held: u32 = self.holding.values().sum();
        assert_eq!(u64::from(held), state.held);
        if state.running > 0 {
            self.idle += (to - from) * (state.nodes - state.held) as f64;
        }
        assert!(state.waiting == 0 || state.running > 0, "jobs wait beside an idle machine");
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Started(run) | Event::Moved { running: run, .. } => {
                self.moves += u32::from(self.holding.insert(run.id, run.held).is_some());
                let rate = f64::from(run.held) / run.asked as f64;
                assert!(
                    (run.rate - rate).abs() < 1e-12,
                    "the rate is in proportion to what is held"
                );
            }
            Event::Finished(run) => {
                self.holding.remove(&run.id);
                self.ends.push((run.id.0, now.units()));
            }
            _ => {}
        }
    }
}

fn watched(study: &Scenario, jobs: Vec<Job>) -> (Outcome, Watch) {
    let (outcome, watch) = observed(study, jobs, Watch::default());
    (outcome, watch)
}

fn on_sixteen(scheduler: &str) -> Scenario {
    scenario(&format!(
        "machine = {{ topology = 'flat', processors = 16 }}\nscheduler = {scheduler}"
    ))
}

fn whole(arrival: f64, runtime: f64) -> Job {
    job(arrival, Request::Nodes(16), runtime)
}

#[test]
fn three_jobs_on_sixteen_processors() {
    let jobs = || vec![whole(0.0, 100.0), whole(1.0, 100.0), whole(2.0, 100.0)];
    let sizes = |scheduler: &str| -> Vec<Vec<u32>> {
        let (_, watch) = watched(&on_sixteen(scheduler), jobs());
        watch.sizes.into_iter().take(3).map(|(_, sizes)| sizes).collect()
    };
    assert_eq!(sizes("'equipartition'"), [vec![16], vec![8, 8], vec![6, 5, 5]]);
    assert_eq!(sizes("'folding'"), [vec![16], vec![8, 8], vec![4, 8, 4]]);
}

#[test]
fn two_jobs_by_hand_without_and_with_a_cost_of_migration() {
    for policy in policies() {
        let ends = |cost: f64| {
            let study = on_sixteen(&format!("{{ name = '{policy}', migration_cost = {cost:?} }}"));
            watched(&study, vec![whole(0.0, 10.0), whole(4.0, 10.0)]).1.ends
        };
        // At 4, the first job has 6 of its 10 units left. They take 12 on half of the machine. By
        // then the second job has done 6 of its 10 units, and continues at full speed.
        assert_eq!(ends(0.0), [(0, 16.0), (1, 20.0)], "{policy}");
        // The first job loses one unit of time when it is halved, the second job when it is
        // doubled.
        assert_eq!(ends(1.0), [(0, 17.0), (1, 21.5)], "{policy}");
    }
}

#[test]
fn a_level_of_one_is_first_come_first_served_on_the_whole_machine() {
    let flat = Topology::flat(16).unwrap();
    let mut jobs = random_jobs(&flat, 80, 1.0, 4);
    jobs.retain(|job| job.request.nodes() <= 16);
    let whole_machine = |job: &Job| Job {
        request: Request::Nodes(16),
        runtime: job.runtime * job.request.nodes() as f64 / 16.0,
        ..job.clone()
    };
    let (_, fcfs) = watched(&on_sixteen("'fcfs'"), jobs.iter().map(whole_machine).collect());
    for policy in policies() {
        let study = on_sixteen(&format!("{{ name = '{policy}', max_jobs = 1 }}"));
        let (_, watch) = watched(&study, jobs.clone());
        assert_eq!(watch.ends.len(), fcfs.ends.len());
        for ((id, end), (other, expected)) in watch.ends.iter().zip(&fcfs.ends) {
            assert!(id == other && (end - expected).abs() < 1e-9, "{policy}: {id} ends at {end}");
        }
    }
}

#[test]
fn what_is_delivered_is_the_work_of_the_jobs() {
    for (machine, topology) in common::machines() {
        for policy in policies() {
            for (level, cost) in [("", 0.0), (", max_jobs = 3", 0.0), ("", 0.7)] {
                let study = scenario(&format!(
                    "machine = {{ {machine} }}
                     scheduler = {{ name = '{policy}', migration_cost = {cost:?}{level} }}"
                ));
                let jobs = random_jobs(&topology, 120, 1.0, 6);
                let nodes = u64::from(topology.grid().nodes());
                let work: f64 = jobs
                    .iter()
                    .filter(|job| can_be_held(job, &topology) && job.request.nodes() <= nodes)
                    .map(|job| job.runtime * job.request.nodes() as f64)
                    .sum();
                let (outcome, watch) = watched(&study, jobs);
                assert_eq!(outcome.finished + outcome.refused, 120);
                assert!(watch.moves > 50, "{policy} on a {topology}: {} moves", watch.moves);
                let error = watch.delivered / work - 1.0;
                if cost == 0.0 {
                    assert!(error.abs() < 1e-9, "{policy} on a {topology}: {error}");
                } else {
                    assert!(error > 0.01, "{policy} on a {topology}: migration costs nothing");
                }
                if policy == "equipartition" {
                    assert!(watch.idle <= 0.0, "every processor is given to some job");
                }
            }
        }
    }
}

/// Whether a job fits the empty machine; the engine refuses other jobs.
fn can_be_held(job: &Job, topology: &Topology) -> bool {
    let asks = if topology.wiring() == meshwork::topology::Wiring::Flat {
        meshwork::form::Asks::Nodes
    } else {
        meshwork::form::Asks::Block
    };
    let rule = meshwork::shape::ShapeRule::Squarest;
    meshwork::shape::shaped(&job.request, asks, topology, rule).is_some_and(|request| match request
    {
        Request::Block(sides) => {
            sides.iter().zip(topology.grid().sides()).all(|(side, most)| side <= most)
        }
        _ => true,
    })
}

#[test]
fn a_machine_of_several_sites_is_refused_in_a_sentence() {
    for policy in policies() {
        let table = format!(
            "scheduler = '{policy}'\nworkload = 'lublin'\nmeasure = {{ jobs = 3 }}\n{}",
            common::SITES
        );
        let problem = Scenario::read(&table.parse().unwrap()).unwrap_err();
        assert_eq!(
            problem.message,
            format!(
                "the scheduler `{policy}` divides one machine among all jobs, but there are 5 sites"
            )
        );
        assert_eq!(problem.path, "scheduler");
    }
}

/// On a row of eight nodes, two running jobs swap nodes when a third job arrives.
struct Swap;

impl Scheduler for Swap {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        while cluster.waiting_jobs() > 0 && cluster.running().count() < 2 {
            let head = cluster.head().unwrap();
            assert!(cluster.start(head, StartOptions::default()));
        }
        if cluster.waiting_jobs() == 0 || cluster.running().count() < 2 {
            return;
        }
        let at = |base: u32, side: u32| {
            Placement::from(Block { base, sides: Dims::from_slice(&[side]) })
        };
        let mut keys: Vec<_> = cluster.running().map(|(key, _)| key).collect();
        keys.sort_unstable();
        let change = |key: usize, placement: Placement| Reshape {
            key: keys[key],
            placement,
            rate: 1.0,
            more: 0.0,
        };
        let before = cluster.site(0).free().clone();
        for wrong in [
            vec![change(0, at(0, 3)), change(1, at(2, 3))],
            vec![change(0, at(0, 3)), change(0, at(3, 3))],
            vec![change(0, at(0, 3)), change(1, at(7, 3))],
        ] {
            assert!(cluster.reshape_all(wrong).is_err());
            assert_eq!(cluster.site(0).free(), &before);
        }
        cluster.reshape_all(vec![change(0, at(4, 4)), change(1, at(0, 4))]).unwrap();
        let last = cluster.head().unwrap();
        cluster.turn_away(last);
    }
}

#[test]
fn jobs_may_change_places() {
    let row = scenario("machine = { topology = 'mesh', dims = [8] }");
    let setup = Setup { scheduler: Box::new(Swap), ..row.setup(0).unwrap() };
    let jobs = vec![
        job(0.0, Request::Nodes(4), 10.0),
        job(0.0, Request::Nodes(4), 10.0),
        job(3.0, Request::Nodes(1), 1.0),
    ];
    let mut transcript = common::Transcript::default();
    let outcome = row.run_on(setup, submissions(jobs), &mut transcript).unwrap();
    assert_eq!(outcome.end, Time::new(10.0), "{}", transcript.text);
    assert_eq!(transcript.text.matches("moved").count(), 2);
}

#[test]
fn metrics_of_jobs_that_are_resized() {
    let jobs = vec![whole(0.0, 10.0), whole(4.0, 10.0)];
    let (outcome, _) = run(&on_sixteen("'equipartition'"), jobs);
    let value = |name: &str| metric(&outcome, name);
    assert_eq!((value("wait"), value("turnaround"), value("service")), (0.0, 16.0, 16.0));
    assert_eq!((value("utilization"), value("makespan")), (1.0, 20.0));
    // Two jobs that ask for the whole machine, from 4 to 16.
    assert!((value("utilization_asked") - (20.0 + 12.0) / 20.0).abs() < 1e-12);
}
