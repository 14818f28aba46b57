//! Tests of deadlines and fairness, with cases made by hand.
//!
//! Each job's fair start is compared with its start in a separate run.

use crate::common::{Given, read, starts};
use meshwork::job::{Job, Owner, Request, Terms, Time};
use meshwork::rng::Stream;
use meshwork::scenario::{Outcome, Scenario};
use meshwork::workload::NoInputs;
use meshwork::workload::table::Row;

fn row(submit: f64, runtime: f64, estimate: f64, nodes: f64) -> Row {
    Row {
        submit: Some(submit.into()),
        runtime: Some(runtime),
        estimate: Some(estimate),
        nodes: Some(nodes as u32),
        ..Row::default()
    }
}

fn scenario(machine: &str, scheduler: &str, metrics: &str) -> Scenario {
    read(&format!(
        "machine = {machine}\nscheduler = '{scheduler}'\n\
         workload = {{ name = 'table', path = 'jobs.csv' }}\nmeasure = {{ metrics = {metrics} }}"
    ))
}

fn values(scenario: &Scenario, rows: &[Row]) -> Vec<Option<f64>> {
    let given = Given { rows: rows.to_vec(), ..Given::default() };
    let outcome: Outcome = scenario.run(0, &given, &mut ()).unwrap();
    outcome.metrics.iter().map(|metric| metric.value).collect()
}

const UNFAIR: &str = "['unfair_jobs', 'unfairness']";

#[test]
fn a_backfilled_job_that_was_expected_to_be_out_of_the_way() {
    // The first job ends at 3, although its estimate is 10. The third job was backfilled because it
    // would end by 10. It now delays the second job, which could have started at 3, until 10.
    let rows = [row(0.0, 3.0, 10.0, 6.0), row(1.0, 2.0, 2.0, 8.0), row(2.0, 8.0, 8.0, 4.0)];
    let flat = "{ topology = 'flat', processors = 10 }";
    assert_eq!(values(&scenario(flat, "easy", UNFAIR), &rows), [Some(1.0 / 3.0), Some(7.0 / 3.0)]);
    assert_eq!(values(&scenario(flat, "fcfs", UNFAIR), &rows), [Some(0.0), Some(0.0)]);
}

#[test]
fn a_small_job_that_comes_later_is_smallest_first() {
    // At 10 the third job starts, and the second one waits until 15. Without the third job, the
    // second would start at 10.
    let rows = [row(0.0, 10.0, 10.0, 4.0), row(1.0, 1.0, 1.0, 4.0), row(2.0, 5.0, 5.0, 1.0)];
    let flat = "{ topology = 'flat', processors = 4 }";
    assert_eq!(values(&scenario(flat, "sjf", UNFAIR), &rows), [Some(1.0 / 3.0), Some(5.0 / 3.0)]);
    // Jobs that arrive at one instant do not count as later arrivals for each other.
    let rows = [row(0.0, 10.0, 10.0, 4.0), row(1.0, 1.0, 1.0, 4.0), row(1.0, 5.0, 5.0, 1.0)];
    assert_eq!(values(&scenario(flat, "sjf", UNFAIR), &rows), [Some(0.0), Some(0.0)]);
}

/// Random jobs. Their times are multiples of a tenth, so that several events often share an
/// instant.
fn random(count: usize, nodes: u64, seed: u64) -> Vec<Row> {
    let mut stream = Stream::new(seed, 0, "fairness");
    let mut submit = 0.0;
    let job = |_| {
        submit += stream.below(30) as f64 * 0.1;
        let runtime = stream.below(90) as f64 * 0.1;
        let estimate = runtime * (1.0 + stream.below(3) as f64);
        row(submit, runtime, estimate, 1.0 + stream.below(nodes) as f64)
    };
    (0..count).map(job).collect()
}

#[test]
fn the_fair_start_is_that_of_a_run_without_those_who_came_later() {
    let machines = [
        "{ topology = 'flat', processors = 12 }",
        "{ topology = 'mesh', dims = [4, 3] }\nallocator = 'random'",
    ];
    let mut unfair = 0;
    for machine in machines {
        for scheduler in ["fcfs", "sjf", "edf", "easy", "conservative", "window"] {
            for seed in 0..3 {
                let rows = random(50, 9, seed);
                let scenario = scenario(machine, scheduler, UNFAIR);
                let jobs: Vec<Job> = rows
                    .iter()
                    .map(|row| {
                        let arrival = Time::new(row.submit.unwrap().at);
                        let request = Request::Nodes(row.nodes.unwrap());
                        let job = Job::new(0, arrival, request, row.runtime.unwrap());
                        Job { estimate: row.estimate.unwrap(), ..job }
                    })
                    .collect();
                let all = starts(scenario.setup(0).unwrap(), jobs.clone());
                let late: Vec<f64> = (0..jobs.len())
                    .map(|own| {
                        let arrival = jobs[own].arrival;
                        let no_later = jobs.iter().filter(|job| job.arrival <= arrival).cloned();
                        let alone = starts(scenario.setup(0).unwrap(), no_later.collect());
                        (all[own].unwrap() - alone[own].unwrap()).max(0.0)
                    })
                    .collect();
                let share = late.iter().filter(|late| **late > 0.0).count() as f64 / 50.0;
                let mean = late.iter().sum::<f64>() / 50.0;
                let [Some(jobs), Some(time)] = values(&scenario, &rows)[..] else { panic!() };
                let what = format!("{scheduler} on {machine}");
                assert!((jobs - share).abs() < 1e-12 && (time - mean).abs() < 1e-9, "{what}");
                if scheduler == "fcfs" {
                    assert_eq!(jobs.total_cmp(&0.0), std::cmp::Ordering::Equal, "{what}");
                }
                unfair += u32::from(jobs > 0.0);
            }
        }
    }
    assert!(unfair > 10, "{unfair}");
}

#[test]
fn a_mean_over_the_measured_jobs_has_batches() {
    let text = "machine = { topology = 'flat', processors = 8 }\nscheduler = 'sjf'\n\
                workload = { name = 'synthetic', load = 0.8, sizes = 'uniform', \
                runtimes = { name = 'exponential', mean = 5.0 } }\n\
                measure = { jobs = 600, warmup_jobs = 100, metrics = ['unfairness', 'wait'] }";
    let outcome = read(text).run(0, &NoInputs, &mut ()).unwrap();
    assert_eq!(outcome.finished, 500);
    assert!(outcome.metrics.iter().all(|metric| metric.batches.len() >= 10));
    assert!(outcome.metrics[0].value.unwrap() > 0.0);
}

#[test]
fn users_are_compared_by_their_means() {
    let of = |row: Row, user: Option<&str>| {
        let owner = Owner { user: user.map(str::to_owned), ..Owner::default() };
        Row { owner, ..row }
    };
    // On one processor, the waits are 0 and 2 for user a, 4 for user b, and 6 for the job without a
    // user.
    let rows = [
        of(row(0.0, 2.0, 2.0, 1.0), Some("a")),
        of(row(0.0, 2.0, 2.0, 1.0), Some("a")),
        of(row(0.0, 2.0, 2.0, 1.0), Some("b")),
        of(row(0.0, 2.0, 2.0, 1.0), None),
    ];
    let text = "machine = { topology = 'flat', processors = 1 }\n\
                workload = { name = 'table', path = 'jobs.csv' }\n\
                measure = { metrics = ['jain_slowdown', 'jain_wait'], slowdown_threshold = 1 }";
    // The mean waits are 1 and 4, so the index is 25 / (2 · 17). The slowdowns are 1, 2 and 3 with
    // means 1.5 and 3, so the index is 20.25 / (2 · 11.25).
    assert_eq!(values(&read(text), &rows), [Some(0.9), Some(25.0 / 34.0)]);
    let nobody: Vec<Row> = rows.iter().map(|row| of(row.clone(), None)).collect();
    assert_eq!(values(&read(text), &nobody), [None, None]);
}

#[test]
fn deadlines_that_are_missed_and_by_how_much() {
    let by = |row: Row, deadline: f64| Row { deadline: Some(deadline.into()), ..row };
    // On one processor, the jobs end at 2, 5 and 9. The first is 1 late, the second ends just in
    // time, and the third has no deadline.
    let rows = [
        by(row(0.0, 2.0, 2.0, 1.0), 1.0),
        by(row(0.0, 3.0, 3.0, 1.0), 5.0),
        row(0.0, 4.0, 4.0, 1.0),
    ];
    let flat = "{ topology = 'flat', processors = 1 }";
    let metrics = "['missed_deadlines', 'tardiness']";
    assert_eq!(values(&scenario(flat, "fcfs", metrics), &rows), [Some(0.5), Some(0.5)]);
    assert_eq!(values(&scenario(flat, "fcfs", metrics), &rows[2..]), [None, None]);
    let text = "machine = { topology = 'flat', processors = 1 }\n\
                workload = { name = 'table', path = 'x', deadlines = { factor = 2 } }\n\
                measure = { metrics = ['missed_deadlines', 'tardiness'] }";
    // Now the third job has a deadline, 8.
    let [Some(missed), Some(late)] = values(&read(text), &rows)[..] else { panic!() };
    assert!((missed - 2.0 / 3.0).abs() < 1e-12 && (late - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn the_earliest_deadline_first_and_those_without_one_last() {
    let with = |deadline: Option<f64>, nodes: u32| {
        let mut job = Job::new(0, Time::ZERO, Request::Nodes(nodes), 10.0);
        let deadline = deadline.map(Time::new);
        job.terms = deadline.map(|_| Box::new(Terms { deadline, ..Terms::default() }));
        job
    };
    let text = "machine = { topology = 'flat', processors = 4 }\nscheduler = 'edf'\n\
                workload = { name = 'table', path = 'none' }";
    let start = |jobs: Vec<Job>| -> Vec<f64> {
        let all = starts(read(text).setup(0).unwrap(), jobs);
        all.into_iter().map(Option::unwrap).collect()
    };
    assert_eq!(
        start(vec![
            with(None, 4),
            with(Some(9.0), 4),
            with(None, 4),
            with(Some(3.0), 4),
            with(Some(9.0), 4)
        ]),
        [30.0, 10.0, 40.0, 0.0, 20.0]
    );
    // A job that cannot start blocks all others.
    assert_eq!(
        start(vec![with(Some(1.0), 3), with(Some(2.0), 2), with(Some(3.0), 1)]),
        [0.0, 10.0, 10.0]
    );
}

/// On one processor, the scheduler `edf` minimizes the maximum lateness (Jackson's rule).
#[test]
fn no_order_of_jobs_is_less_late_than_by_deadline() {
    let mut stream = Stream::new(5, 0, "deadlines");
    for _ in 0..200 {
        let jobs: Vec<(f64, f64)> =
            (0..5).map(|_| (1.0 + stream.below(9) as f64, 1.0 + stream.below(30) as f64)).collect();
        let latest = |order: &[usize]| {
            let mut now = 0.0;
            let each = order.iter().map(|&own| {
                now += jobs[own].0;
                now - jobs[own].1
            });
            each.fold(f64::NEG_INFINITY, f64::max)
        };
        let mut least = f64::INFINITY;
        permutations(&mut vec![0, 1, 2, 3, 4], 0, &mut |order| least = latest(order).min(least));
        let text = "machine = { topology = 'flat', processors = 1 }\nscheduler = 'edf'\n\
                    workload = { name = 'table', path = 'none' }";
        let given = jobs.iter().map(|&(runtime, deadline)| {
            let mut job = Job::new(0, Time::ZERO, Request::Nodes(1), runtime);
            let deadline = Some(Time::new(deadline));
            job.terms = Some(Box::new(Terms { deadline, ..Terms::default() }));
            job
        });
        let all = starts(read(text).setup(0).unwrap(), given.collect());
        let own = jobs.iter().zip(all).map(|(job, start)| start.unwrap() + job.0 - job.1);
        let own = own.fold(f64::NEG_INFINITY, f64::max);
        assert!((own - least).abs() < 1e-12, "{jobs:?}: {own} and {least}");
    }
}

fn permutations(order: &mut Vec<usize>, from: usize, look: &mut dyn FnMut(&[usize])) {
    if from == order.len() {
        look(order);
    }
    for at in from..order.len() {
        order.swap(from, at);
        permutations(order, from + 1, look);
        order.swap(from, at);
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let refused = |workload: &str, metric: &str| {
        let text = format!(
            "machine = {{ topology = 'flat', processors = 4 }}\nworkload = {workload}\n\
             measure = {{ metrics = ['{metric}'] }}"
        );
        let problem = Scenario::read(&text.parse().unwrap()).unwrap_err();
        assert_eq!(problem.path, "measure.metrics");
        problem.message
    };
    assert_eq!(
        refused("{ name = 'lublin', jobs = 9 }", "jain_wait"),
        "the metric `jain_wait` compares users, but the jobs of the workload `lublin` are nobody's: it is for logs and tables"
    );
    assert_eq!(
        refused("{ name = 'table', path = 'x', dependencies = 'log' }", "unfairness"),
        "the metrics `unfair_jobs` and `unfairness` compare runs of jobs that arrive when they arrive, but with \
         `workload.dependencies` that depends on how others are served"
    );
}
