//! Compares every metric of small runs with values computed by hand.

use std::sync::Arc;

use crate::common::{assert_near, job, run, scenario, starts, submissions, value};
use meshwork::engine::RunError;
use meshwork::job::{Job, Owner, Request, Time};
use meshwork::observe::recorder::{OwnerAttribute, OwnerClass};
use meshwork::rng::Stream;
use meshwork::scenario::{Outcome, Scenario};
use meshwork::workload::{Submission, Unusable, WorkloadError};

fn assert_values(outcome: &Outcome, expected: &[(&str, f64)]) {
    for (name, expected) in expected {
        assert_near(outcome, name, *expected);
    }
}

fn flat(more: &str) -> Scenario {
    scenario(&format!("machine = {{ topology = 'flat', processors = 4 }}\n{more}"))
}

/// Three jobs on four processors. Under first come, first served they run from time 0 to 10, from
/// 10 to 15, and from 15 to 19.
fn three_jobs() -> Vec<Job> {
    vec![
        job(0.0, Request::Nodes(2), 10.0),
        job(1.0, Request::Nodes(4), 5.0),
        job(2.0, Request::Nodes(1), 4.0),
    ]
}

#[test]
fn all_of_a_run() {
    let (outcome, _) = run(&flat(""), three_jobs());
    assert_values(
        &outcome,
        &[
            ("wait", (0.0 + 9.0 + 13.0) / 3.0),
            ("queueing_delay", (0.0 + 9.0 + 13.0) / 3.0),
            ("turnaround", (10.0 + 14.0 + 17.0) / 3.0),
            ("service", 19.0 / 3.0),
            ("bounded_slowdown", (1.0 + 1.4 + 1.7) / 3.0),
            ("utilization", 44.0 / 76.0),
            ("utilization_asked", 44.0 / 76.0),
            ("queue_length", (1.0 + 16.0 + 5.0) / 19.0),
            ("internal_fragmentation", 0.0),
            ("external_fragmentation", 0.0),
            ("throughput", 3.0 / 19.0),
            ("carried_load", 44.0 / 76.0),
            ("size", (2.0 + 4.0 + 1.0) / 3.0),
            ("makespan", 19.0),
            ("max_wait", 13.0),
            ("finished", 3.0),
            ("refused", 0.0),
            ("unusable", 0.0),
        ],
    );
    let all: Vec<&str> = outcome.metrics.iter().map(|metric| metric.name).collect();
    assert_eq!(
        all,
        meshwork::observe::metrics::usual(
            meshwork::observe::metrics::METRICS,
            meshwork::observe::metrics::Features::default(),
        )
    );
}

#[test]
fn quantiles_lie_on_the_line_between_two_jobs() {
    let study = flat(
        "measure = { slowdown_threshold = 1, metrics = ['median_wait', 'p90_wait', 'p95_wait', 'p99_wait', \
         'slowdown', 'median_slowdown', 'p90_bounded_slowdown'] }",
    );
    // The waits are 0, 9 and 13, and the slowdowns are 1, 2.8 and 4.25.
    let (outcome, _) = run(&study, three_jobs());
    assert_values(
        &outcome,
        &[
            ("median_wait", 9.0),
            ("p90_wait", 9.0 + 0.8 * 4.0),
            ("p95_wait", 9.0 + 0.9 * 4.0),
            ("p99_wait", 9.0 + 0.98 * 4.0),
            ("slowdown", (1.0 + 2.8 + 4.25) / 3.0),
            ("median_slowdown", 2.8),
            ("p90_bounded_slowdown", 2.8 + 0.8 * 1.45),
        ],
    );
    // A job that takes no time has no slowdown.
    let mut jobs = three_jobs();
    jobs.push(job(3.0, Request::Nodes(1), 0.0));
    let (outcome, _) = run(&study, jobs);
    assert_values(&outcome, &[("median_wait", (9.0 + 12.0) / 2.0), ("median_slowdown", 2.8)]);
}

#[test]
fn quantiles_have_batches_where_enough_jobs_lie_beyond_them() {
    // Jobs run one after the other on the whole machine, so the job with index n waits n units.
    let jobs = (0..1600).map(|_| job(0.0, Request::Nodes(4), 1.0)).collect();
    let study = flat("measure = { metrics = ['median_wait', 'p90_wait'] }");
    let (outcome, _) = run(&study, jobs);
    assert_values(&outcome, &[("median_wait", 799.5), ("p90_wait", 1439.1)]);
    let batches = |at: usize| outcome.metrics[at].batches.clone();
    // There are 24 batches of 64 jobs; the last batch is left out. Half of a batch lies beyond the
    // median, which is enough. A tenth of a batch lies beyond the other quantile, which is too few.
    let medians: Vec<f64> = (0..24).map(|n| 64.0 * f64::from(n) + 31.5).collect();
    assert_eq!(batches(0), medians);
    assert_eq!(batches(1), [0.0; 0]);
}

#[test]
fn arrivals_see_the_queue_before_them() {
    let study = |more: &str| flat(&format!("measure = {{ metrics = ['queue_seen'] {more} }}"));
    // The third job meets one waiting job, the second. A fourth job of the same instant meets two.
    let (outcome, _) = run(&study(""), three_jobs());
    assert_values(&outcome, &[("queue_seen", 1.0 / 3.0)]);
    let mut jobs = three_jobs();
    jobs.extend([job(2.0, Request::Nodes(1), 1.0), job(10.0, Request::Nodes(1), 1.0)]);
    let (outcome, _) = run(&study(""), jobs.clone());
    // At 10 the first job leaves, and three still wait when the last one arrives.
    assert_values(&outcome, &[("queue_seen", (0.0 + 0.0 + 1.0 + 2.0 + 3.0) / 5.0)]);
    let (outcome, _) = run(&study(", warmup_time = 2"), jobs);
    assert_values(&outcome, &[("queue_seen", (1.0 + 2.0 + 3.0) / 3.0)]);
}

#[test]
fn padding_is_what_rounding_up_takes_from_the_machine() {
    let study = scenario(
        "machine = { topology = 'hypercube', dimension = 3 }
         allocator = 'buddy'
         measure = { metrics = ['utilization', 'utilization_asked', 'padding'] }",
    );
    // For 10 units, a request of 3 processors holds 4 of 8. Then a request of 2 processors holds 2.
    let jobs = vec![job(0.0, Request::Nodes(3), 10.0), job(10.0, Request::Nodes(2), 10.0)];
    let (outcome, _) = run(&study, jobs);
    assert_values(
        &outcome,
        &[
            ("utilization", 60.0 / 160.0),
            ("utilization_asked", 50.0 / 160.0),
            ("padding", 10.0 / 160.0),
        ],
    );
}

#[test]
fn jobs_are_told_apart_by_their_owners() {
    let of = |user: Option<&str>, group: Option<&str>, job: Job| {
        let [user, group] = [user, group].map(|name| name.map(str::to_owned));
        let owner = Owner { user, group, ..Owner::default() };
        Job { owner: Some(Arc::new(owner)), ..job }
    };
    let [first, second, third]: [Job; 3] = three_jobs().try_into().unwrap();
    let jobs = vec![
        of(Some("10"), Some("a"), first),
        of(Some("9"), Some("a"), second),
        of(None, None, third),
    ];
    let of_both = "workload = { name = 'table', path = 'none' }\n\
                   measure = { metrics = ['wait', 'utilization'], by_user = true, by_group = true }";
    let table = format!("machine = {{ topology = 'flat', processors = 4 }}\n{of_both}");
    let study = Scenario::read(&table.parse().unwrap()).unwrap();
    let (outcome, _) = run(&study, jobs);
    let shown = |classes: &[OwnerClass]| {
        let one = |class: &OwnerClass| {
            assert_eq!(class.metrics.len(), 1, "only means over jobs");
            (class.name.clone(), class.jobs, class.metrics[0].value.unwrap())
        };
        classes.iter().map(one).collect::<Vec<_>>()
    };
    let name = |name: &str| Some(name.to_owned());
    assert_eq!(
        shown(&outcome.by_owner[&OwnerAttribute::User]),
        [(name("9"), 1, 9.0), (name("10"), 1, 0.0), (None, 1, 13.0)]
    );
    assert_eq!(
        shown(&outcome.by_owner[&OwnerAttribute::Group]),
        [(name("a"), 2, 4.5), (None, 1, 13.0)]
    );
}

#[test]
fn quantiles_that_are_asked_for_are_taken_of_each_class_too() {
    let mut stream = Stream::new(3, 0, "classes");
    let jobs: Vec<Job> = (0..400)
        .map(|i| job(f64::from(i), Request::Nodes(1 + stream.below(4) as u32), 3.0 * stream.unit()))
        .collect();
    let study = flat(
        "measure = { by_size = 'exact', metrics = ['wait', 'median_wait', 'p90_wait', 'utilization'] }",
    );
    let starts = starts(study.setup(0).unwrap(), jobs.clone());
    let (outcome, _) = run(&study, jobs.clone());
    let mut seen = 0;
    for class in &outcome.by_size {
        let mut waits: Vec<f64> = (jobs.iter().zip(&starts))
            .filter(|(job, _)| job.request == Request::Nodes(class.size as u32))
            .map(|(job, start)| start.unwrap() - job.arrival.units())
            .collect();
        waits.sort_by(f64::total_cmp);
        assert_eq!(waits.len() as u64, class.jobs);
        // The definition: linear interpolation between the two values around share · (n − 1).
        let quantile = |share: f64| {
            let at = share * (waits.len() - 1) as f64;
            let (low, high) = (waits[at.floor() as usize], waits[at.ceil() as usize]);
            low + (high - low) * at.fract()
        };
        let names: Vec<&str> = class.metrics.iter().map(|metric| metric.name).collect();
        assert_eq!(names, ["wait", "median_wait", "p90_wait"]);
        for (metric, share) in class.metrics[1..].iter().zip([0.5, 0.9]) {
            assert!((metric.value.unwrap() - quantile(share)).abs() < 1e-9, "{metric:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 8);
}

#[test]
fn a_workload_without_owners_is_not_measured_by_them() {
    let table = "machine = { topology = 'flat', processors = 4 }
         workload = { name = 'synthetic', load = 0.5, sizes = 'uniform',
                      runtimes = { name = 'exponential', mean = 1.0 } }
         measure = { jobs = 10, by_group = true }";
    let problem = Scenario::read(&table.parse().unwrap()).unwrap_err();
    assert_eq!(problem.path, "measure.by_group");
    assert_eq!(
        problem.message,
        "`measure.by_group` is for logs and tables: the jobs of the workload `synthetic` are nobody's"
    );
}

#[test]
fn a_threshold_for_the_slowdown() {
    let (outcome, _) = run(&flat("measure = { slowdown_threshold = 1 }"), three_jobs());
    assert_values(&outcome, &[("bounded_slowdown", (1.0 + 14.0 / 5.0 + 17.0 / 4.0) / 3.0)]);
}

#[test]
fn a_warm_up_by_jobs() {
    // Measured from the end of the first job: 10 to 19, the other two jobs.
    let (outcome, _) = run(&flat("measure = { warmup_jobs = 1 }"), three_jobs());
    assert_values(
        &outcome,
        &[
            ("wait", 11.0),
            ("utilization", 24.0 / 36.0),
            ("queue_length", 5.0 / 9.0),
            ("throughput", 2.0 / 9.0),
            ("makespan", 19.0),
            ("finished", 2.0),
        ],
    );
}

#[test]
fn a_warm_up_by_time_begins_within_a_span() {
    let (outcome, _) = run(&flat("measure = { warmup_time = 4 }"), three_jobs());
    assert_values(
        &outcome,
        &[
            ("utilization", (12.0 + 20.0 + 4.0) / 60.0),
            ("finished", 3.0),
            ("throughput", 3.0 / 15.0),
        ],
    );
}

#[test]
fn an_end_by_time_counts_from_the_first_arrival() {
    let later: Vec<Job> =
        three_jobs().into_iter().map(|job| Job { arrival: job.arrival + 100.0, ..job }).collect();
    for (jobs, end) in [(three_jobs(), 12.0), (later, 112.0)] {
        let (outcome, _) = run(&flat("measure = { time = 12 }"), jobs);
        assert_eq!(outcome.end, Time::new(end));
        assert_values(
            &outcome,
            &[("utilization", 28.0 / 48.0), ("finished", 1.0), ("wait", 0.0), ("makespan", 10.0)],
        );
    }
}

#[test]
fn an_end_by_jobs_is_at_the_instant_of_the_last() {
    let (outcome, transcript) = run(&flat("measure = { jobs = 2 }"), three_jobs());
    assert_eq!((outcome.end.units(), outcome.finished), (15.0, 2));
    assert!(!transcript.contains("started 2"), "nothing is scheduled after the end");
}

#[test]
fn nothing_to_measure_is_nothing_and_not_zero() {
    let (outcome, _) = run(&flat(""), vec![job(0.0, Request::Nodes(5), 1.0)]);
    for name in ["wait", "turnaround", "utilization", "throughput", "makespan", "max_wait"] {
        assert_eq!(value(&outcome, name), None, "{name}");
    }
    assert_eq!((outcome.refused, value(&outcome, "finished")), (1, Some(0.0)));
}

#[test]
fn free_processors_in_the_wrong_places_are_external_fragmentation() {
    let row = scenario("machine = { topology = 'mesh', dims = [3, 1] }");
    let jobs = vec![
        job(0.0, Request::block(&[1, 1]), 4.0),
        job(0.0, Request::block(&[1, 1]), 10.0),
        job(5.0, Request::block(&[2, 1]), 1.0),
    ];
    // From 5 to 10 the first and the last processor are free, and two adjacent ones are requested.
    let (outcome, _) = run(&row, jobs);
    assert_values(&outcome, &[("external_fragmentation", 10.0 / 33.0), ("makespan", 11.0)]);
}

#[test]
fn processors_that_nobody_asked_for_are_internal_fragmentation() {
    // A count of 5 becomes a block of 3 × 2.
    let mesh = scenario("machine = { topology = 'mesh', dims = [4, 4] }");
    let (outcome, _) = run(&mesh, vec![job(0.0, Request::Nodes(5), 2.0)]);
    assert_values(
        &outcome,
        &[
            ("internal_fragmentation", 1.0 / 6.0),
            ("utilization", 6.0 / 16.0),
            ("utilization_asked", 5.0 / 16.0),
        ],
    );
}

#[test]
fn each_size_by_itself() {
    let study = |by: &str| flat(&format!("measure = {{ by_size = '{by}', metrics = ['wait'] }}"));
    let mut jobs = three_jobs();
    jobs.push(job(3.0, Request::Nodes(3), 1.0));
    let (exact, _) = run(&study("exact"), jobs.clone());
    let sizes: Vec<(u64, u64, Option<f64>)> =
        exact.by_size.iter().map(|c| (c.size, c.jobs, c.metrics[0].value)).collect();
    // Three processors are free beside the third job, so the fourth starts with it at 15.
    assert_eq!(
        sizes,
        [(1, 1, Some(13.0)), (2, 1, Some(0.0)), (3, 1, Some(12.0)), (4, 1, Some(9.0))]
    );
    let (powers, _) = run(&study("power_of_two"), jobs);
    let sizes: Vec<(u64, u64, Option<f64>)> =
        powers.by_size.iter().map(|c| (c.size, c.jobs, c.metrics[0].value)).collect();
    assert_eq!(sizes, [(1, 1, Some(13.0)), (2, 1, Some(0.0)), (4, 2, Some(10.5))]);
}

#[test]
fn batches_are_parts_of_the_whole() {
    let study = scenario(
        "machine = { topology = 'flat', processors = 4 }
         workload = { name = 'synthetic', load = 0.7, sizes = 'uniform',
                      runtimes = { name = 'exponential', mean = 1.0 } }
         measure = { jobs = 640, metrics = ['wait', 'throughput', 'makespan'] }",
    );
    let outcome = study.run(0, &meshwork::workload::NoInputs, &mut ()).unwrap();
    let [wait, throughput, makespan] = &outcome.metrics[..] else { panic!("three metrics") };
    // 640 jobs fill forty batches of sixteen, which become twenty of thirty-two.
    assert_eq!((wait.batches.len(), throughput.batches.len(), makespan.batches.len()), (20, 20, 0));
    let mean = wait.batches.iter().sum::<f64>() / 20.0;
    assert!((mean - wait.value.unwrap()).abs() < 1e-9, "equal batches have the mean of the whole");
    assert!(wait.batches.windows(2).any(|pair| (pair[0] - pair[1]).abs() > 1e-3));
}

/// Waits in order of arrival, and number of waiting jobs at each arrival.
#[derive(Default)]
struct Waits {
    waits: std::collections::BTreeMap<u64, f64>,
    met: Vec<f64>,
    waiting: f64,
}

impl meshwork::observe::Observer for Waits {
    fn observe(&mut self, _: Time, event: &meshwork::observe::Event<'_>) {
        use meshwork::observe::Event;
        match event {
            Event::Arrived(..) => {
                self.met.push(self.waiting);
                self.waiting += 1.0;
            }
            Event::Started(_) => self.waiting -= 1.0,
            Event::Finished(job) => drop(self.waits.insert(job.id.0, job.start - job.job.arrival)),
            _ => {}
        }
    }
}

#[test]
fn batches_hold_the_same_jobs_under_every_scheduler() {
    let mut cuts = Vec::new();
    for scheduler in ["fcfs", "sjf", "easy"] {
        let study = scenario(&format!(
            "machine = {{ topology = 'mesh', dims = [4, 4] }}
             scheduler = '{scheduler}'
             workload = {{ name = 'lublin', jobs = 1000 }}
             measure = {{ warmup_jobs = 100, metrics = ['wait'] }}"
        ));
        let mut seen = Waits::default();
        let outcome = study.run(0, &meshwork::workload::NoInputs, &mut seen).unwrap();
        let meshwork::observe::recorder::Batching { jobs, first, queue } = outcome.cut;
        let wait = &outcome.metrics[0];
        // A thousand jobs in batches of 32 make 31 full ones; those of the warm-up are left out.
        assert_eq!((jobs, queue.len()), (32, 31));
        assert!((3..=5).contains(&first), "{first}");
        for (index, batch) in (first..).zip(&wait.batches) {
            let of_batch = (index * jobs..(index + 1) * jobs).map(|id| seen.waits[&id]);
            let mean = of_batch.sum::<f64>() / jobs as f64;
            assert!(
                (mean - batch).abs() < 1e-9,
                "{scheduler}: batch {index} has {batch}, not {mean}"
            );
        }
        for (met, batch) in seen.met.chunks_exact(32).zip(&queue) {
            assert!((met.iter().sum::<f64>() / 32.0 - batch).abs() < 1e-9, "{scheduler}");
        }
        cuts.push((first, wait.batches.len()));
    }
    assert!(cuts.iter().all(|(_, batches)| (26..=28).contains(batches)), "{cuts:?}");
}

#[test]
fn lines_that_are_no_jobs_are_counted_and_a_broken_log_ends_the_run() {
    let study = flat("");
    let unusable = || Submission::Unusable(Unusable { line: 7, reason: "no processors" });
    let items = vec![Ok(unusable()), Ok(Submission::Job(three_jobs().remove(0))), Ok(unusable())];
    let outcome =
        study.run_on(study.setup(0).unwrap(), Box::new(items.into_iter()), &mut ()).unwrap();
    assert_eq!((outcome.unusable, outcome.finished), (2, 1));

    let broken = || WorkloadError("log.swf:3: a line has 18 fields, this one has 3".to_owned());
    let items = vec![Ok(Submission::Job(three_jobs().remove(0))), Err(broken())];
    let error =
        study.run_on(study.setup(0).unwrap(), Box::new(items.into_iter()), &mut ()).unwrap_err();
    assert_eq!(error, RunError::Workload(broken()));
}

#[test]
fn a_workload_that_runs_back_in_time_is_named_and_gives_no_result() {
    let study = flat("");
    let jobs = vec![job(5.0, Request::Nodes(1), 1.0), job(4.0, Request::Nodes(1), 1.0)];
    let error = study.run_on(study.setup(0).unwrap(), submissions(jobs), &mut ()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the workload, job 1 at 5: it hands out a job that arrives at 4"),
        "{error}"
    );
}

#[test]
fn a_workload_of_which_no_job_fits_comes_to_an_end() {
    let study = scenario(
        "machine = { topology = 'mesh', dims = [8, 8] }\nmeasure = { jobs = 10 }\n\
         workload = { name = 'synthetic', arrival_rate = 1.0, runtimes = { name = 'constant', value = 1 },\n\
         sizes = { name = 'constant', value = [9, 2] } }",
    );
    let stopped = study.run(0, &meshwork::workload::NoInputs, &mut ()).unwrap_err();
    assert_eq!(
        stopped.to_string(),
        "none of the first 1000000 jobs would fit even the empty machine"
    );
    // Where the allocator has a reason, the sentence gives it.
    let gangs = scenario(
        "machine = { topology = 'fat_tree', arity = [4, 2], nodes = [{ type = 'dgx' }] }\n\
         allocator = 'naive'\nmeasure = { jobs = 10 }\n\
         workload = { name = 'synthetic', arrival_rate = 1.0, runtimes = { name = 'constant', value = 1 },\n\
         sizes = { name = 'vectors', of = [{ pieces = 5, gpu = 8, cpu = 8, inside = 'leaf' }] } }",
    );
    let stopped = gangs.run(0, &meshwork::workload::NoInputs, &mut ()).unwrap_err().to_string();
    let reason = ": no leaf holds more than 4 pieces with 8 cores and 8 GPUs, not 5";
    assert!(stopped.ends_with(reason), "{stopped}");
}
