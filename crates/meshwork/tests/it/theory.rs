//! Compares the engine with formulas of queueing theory.
//!
//! Results must be in confidence intervals over independent replications. Seeds are fixed, so the
//! tests are deterministic. The confidence level (99.9 %) and the number of replications were
//! chosen before the results were known.

use crate::common::{interval, replicate, scenario};
use meshwork::cluster::{Cluster, StartOptions};
use meshwork::engine::Setup;
use meshwork::scenario::Scenario;
use meshwork::sched::Scheduler;
use meshwork::workload::NoInputs;
use toml::Value;

/// Blocking probability of *c* servers without a queue at offered load *a*, by Erlang's formula B.
fn erlang_b(c: u32, a: f64) -> f64 {
    (1..=c).fold(1.0, |blocked, k| a * blocked / (f64::from(k) + a * blocked))
}

/// Mean wait at *c* servers with a queue, by Erlang's formula C. Service times are exponential with
/// mean 1.
fn erlang_c_wait(c: u32, a: f64) -> f64 {
    let rho = a / f64::from(c);
    let blocked = erlang_b(c, a);
    blocked / (1.0 - rho * (1.0 - blocked)) / (f64::from(c) - a)
}

fn assert_mean(what: &str, values: &[f64], theory: f64) {
    let (mean, half_width) = interval(values);
    assert!(
        (mean - theory).abs() <= half_width,
        "{what}: {mean} ± {half_width}, theory says {theory}"
    );
    assert!(half_width < 0.2 * theory, "{what}: ± {half_width} around {mean} says nothing");
}

/// Jobs of one processor that keep the share `load` of the machine busy.
fn one_processor_jobs(machine: &str, load: f64, runtimes: &str, jobs: u32) -> Scenario {
    scenario(&format!(
        "machine = {{ {machine} }}
         workload = {{ name = 'synthetic', load = {load}, runtimes = {{ {runtimes} }},
                       sizes = {{ name = 'constant', value = 1, form = 'count' }} }}
         measure = {{ warmup_jobs = 2000, jobs = {jobs} }}"
    ))
}

#[test]
fn waits_of_one_processor_jobs_are_erlang_c() {
    for (c, machine, load) in [
        (1, "topology = 'flat', processors = 1", 0.7),
        (4, "topology = 'mesh', dims = [2, 2]", 0.8),
        (16, "topology = 'torus', dims = [4, 4]", 0.9),
    ] {
        let study = one_processor_jobs(machine, load, "name = 'exponential', mean = 1.0", 40_000);
        let theory = erlang_c_wait(c, load * f64::from(c));
        assert_mean(&format!("M/M/{c}"), &replicate(&study, "wait"), theory);
    }
}

#[test]
fn poisson_arrivals_see_the_queue_of_the_clock() {
    let load = 0.7;
    let mut study = one_processor_jobs(
        "topology = 'flat', processors = 1",
        load,
        "name = 'exponential', mean = 1.0",
        40_000,
    )
    .table()
    .clone();
    let metrics = ["queue_seen", "queue_length", "median_wait", "p95_wait"].map(Value::from);
    study["measure"].as_table_mut().unwrap().insert("metrics".into(), metrics.to_vec().into());
    let study = Scenario::read(&study).unwrap();
    // M/M/1: ρ² / (1 − ρ) jobs wait, and P(wait > t) = ρ · exp(−(1 − ρ) t).
    let queue = load * load / (1.0 - load);
    assert_mean("the queue that arrivals see", &replicate(&study, "queue_seen"), queue);
    assert_mean("the queue over time", &replicate(&study, "queue_length"), queue);
    for (name, beyond) in [("median_wait", 0.5), ("p95_wait", 0.05)] {
        let theory = libm::log(load / beyond) / (1.0 - load);
        assert_mean(name, &replicate(&study, name), theory);
    }
}

#[test]
fn waits_at_one_server_are_pollaczek_khinchine() {
    let load = 0.6;
    for (runtimes, second_moment) in [
        ("name = 'constant', value = 1.0", 1.0),
        ("name = 'uniform', min = 0.0, max = 2.0", 4.0 / 3.0),
        // A coefficient of variation of 2: the second moment is 1 + 4.
        ("name = 'hyperexponential', mean = 1.0, alpha = 0.9, cv = 2.0", 5.0),
    ] {
        let study = one_processor_jobs("topology = 'flat', processors = 1", load, runtimes, 60_000);
        let theory = load * second_moment / (2.0 * (1.0 - load));
        assert_mean(runtimes, &replicate(&study, "wait"), theory);
    }
}

#[test]
fn jobs_that_need_the_whole_machine_are_a_queue_at_one_server() {
    let study = scenario(
        "machine = { topology = 'mesh', dims = [4, 3] }
         workload = { name = 'synthetic', load = 0.7, runtimes = { name = 'exponential', mean = 2.0 },
                      sizes = { name = 'uniform', min = [4, 3], max = [4, 3] } }
         measure = { warmup_jobs = 2000, jobs = 40000 }",
    );
    // M/M/1 with mean service 2: ρ / (1 − ρ) times the mean.
    assert_mean("whole machine", &replicate(&study, "wait"), 0.7 / 0.3 * 2.0);
    assert_mean("its utilization", &replicate(&study, "utilization"), 0.7);
}

#[test]
fn static_partitions_are_queues_at_one_server_each() {
    // All jobs request one dimension of a 4-cube, which has one partition for this dimension (two
    // for dimension 0). The load of this partition is `load`, and waits are those of one server.
    let study = |dimension: u32, load: f64, runtimes: &str| {
        let share = load * f64::from(1 << dimension) / 16.0;
        scenario(&format!(
            "machine = {{ topology = 'hypercube', dimension = 4 }}
             scheduler = 'static_partitioning'
             workload = {{ name = 'synthetic', load = {share}, runtimes = {{ {runtimes} }},
                           sizes = {{ name = 'constant', value = {dimension}, form = 'subcube' }} }}
             measure = {{ warmup_jobs = 2000, jobs = 60000 }}"
        ))
    };
    for (dimension, load) in [(1, 0.5), (3, 0.7)] {
        for (runtimes, second_moment) in [
            ("name = 'uniform', min = 0.0, max = 2.0", 4.0 / 3.0),
            ("name = 'hyperexponential', mean = 1.0, alpha = 0.9, cv = 2.0", 5.0),
        ] {
            let theory = load * second_moment / (2.0 * (1.0 - load));
            let waits = replicate(&study(dimension, load, runtimes), "wait");
            assert_mean(&format!("dimension {dimension}, {runtimes}"), &waits, theory);
        }
    }
    let two = study(0, 1.4, "name = 'exponential', mean = 1.0");
    assert_mean("two servers", &replicate(&two, "wait"), erlang_c_wait(2, 1.4));
}

/// A scheduler without a queue. It starts each arriving job or turns it away.
struct Loss;

impl Scheduler for Loss {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        for ticket in cluster.arrivals().to_vec() {
            if !cluster.start(ticket, StartOptions::default()) {
                cluster.turn_away(ticket);
            }
        }
    }
}

#[test]
fn a_machine_without_a_queue_loses_erlang_b_whatever_the_run_times() {
    let (c, offered) = (8, 6.0);
    for runtimes in [
        "name = 'exponential', mean = 1.0",
        "name = 'constant', value = 1.0",
        "name = 'hyperexponential', mean = 1.0, alpha = 0.9, cv = 3.0",
    ] {
        let study = one_processor_jobs(
            "topology = 'hypercube', dimension = 3",
            offered / f64::from(c),
            runtimes,
            40_000,
        );
        let lost: Vec<f64> = (0..20)
            .map(|r| {
                let setup = Setup { scheduler: Box::new(Loss), ..study.setup(r).unwrap() };
                let jobs = study.jobs(r, &NoInputs).unwrap();
                let outcome = study.run_on(setup, jobs, &mut ()).unwrap();
                // Jobs of the warm-up are lost as often as any others.
                let (lost, served) = (outcome.refused as f64, 40_000.0);
                lost / (lost + served)
            })
            .collect();
        assert_mean(runtimes, &lost, erlang_b(c, offered));
    }
}

#[test]
fn smallest_job_first_serves_small_jobs_sooner() {
    let study = |scheduler: &str| {
        scenario(&format!(
            "machine = {{ topology = 'flat', processors = 16 }}
             scheduler = '{scheduler}'
             workload = {{ name = 'synthetic', load = 0.8, sizes = {{ name = 'uniform' }},
                           runtimes = {{ name = 'exponential', mean = 1.0 }} }}
             measure = {{ warmup_jobs = 500, jobs = 20000 }}"
        ))
    };
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let (fcfs, sjf) =
        (mean(replicate(&study("fcfs"), "wait")), mean(replicate(&study("sjf"), "wait")));
    assert!(sjf < 0.7 * fcfs, "sjf {sjf}, fcfs {fcfs}");
}

/// Equipartition is processor sharing: all jobs are served at once, at equal rates.
///
/// The mean time in the system depends only on the mean of the work, not on its distribution.
#[test]
fn turnarounds_under_equipartition_are_those_of_processor_sharing() {
    let load = 0.6;
    for runtimes in ["name = 'exponential', mean = 1.0", "name = 'uniform', min = 0.0, max = 2.0"] {
        // With 10,080 processors, the parts of all jobs are equal within a few thousandths.
        let study = scenario(&format!(
            "machine = {{ topology = 'flat', processors = 10080 }}
             scheduler = 'equipartition'
             workload = {{ name = 'synthetic', load = {load}, runtimes = {{ {runtimes} }},
                           sizes = {{ name = 'constant', value = 10080, form = 'count' }} }}
             measure = {{ warmup_jobs = 2000, jobs = 22000 }}"
        ));
        assert_mean(runtimes, &replicate(&study, "turnaround"), 1.0 / (1.0 - load));
    }
}
