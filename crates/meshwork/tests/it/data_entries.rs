//! Tests that every workload and every metric of the catalogue obeys the rules for its kind.
//!
//! Faulty workloads and metrics must be detected too.

use crate::common;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::job;
use meshwork::catalogue::Catalogue;
use meshwork::conformance::{Finding, Tried, check_metric, check_workload};
use meshwork::job::{Job, Owner, Request, Time};
use meshwork::observe::Running;
use meshwork::observe::metrics::{METRICS, Measure, MetricEntry, Rules};
use meshwork::registry::{About, DefaultValue, Kind, Param, Range};
use meshwork::workload::{NoInputs, Submission, Submissions, WorkloadEntry, lublin};
use toml::{Table, Value};

fn sentence(found: Result<Tried, Finding>) -> String {
    found.expect_err("a rule is broken").to_string()
}

#[test]
fn workloads_keep_the_rules() {
    let catalogue = Catalogue::standard();
    let synthetic = "name = 'synthetic', load = 0.4, sizes = 'uniform',
                     runtimes = { name = 'exponential', mean = 5.0 }";
    let mut tried = Tried::default();
    for given in [
        synthetic,
        "name = 'lublin', jobs = 200",
        "name = 'jann', jobs = 200",
        "name = 'cirne_berman', jobs = 200",
        "name = 'deep_learning', load = 0.4",
    ] {
        let given: Table = format!("workload = {{ {given} }}").parse().unwrap();
        let given = given["workload"].clone();
        tried += check_workload(&catalogue, given, &NoInputs).unwrap_or_else(|e| panic!("{e}"));
    }
    assert!(tried.questions > 50_000 && tried.jobs > 2000, "{tried:?}");
}

#[test]
fn every_metric_of_plain_runs_keeps_the_rules() {
    let catalogue = Catalogue::standard();
    // Users, fair starts and power are not part of a plain run.
    let is_plain = |measure: &Measure| {
        !matches!(
            measure,
            Measure::Evenness(_) | Measure::PerLateness(_) | Measure::Power | Measure::Energy(_)
        )
    };
    let mut tried = Tried::default();
    for metric in METRICS.iter().filter(|metric| is_plain(&metric.measure)) {
        tried += check_metric(&catalogue, metric.about.name).unwrap_or_else(|e| panic!("{e}"));
    }
    assert!(tried.machines > 300 && tried.questions > 5000, "{tried:?}");
}

fn handed_out(jobs: Vec<Job>) -> Submissions {
    Box::new(jobs.into_iter().map(|job| Ok(Submission::Job(job))))
}

fn jobs(change: impl Fn(usize, &mut Job)) -> Submissions {
    let mut jobs: Vec<Job> = (0..20).map(|i| job(f64::from(i), Request::Nodes(2), 3.0)).collect();
    jobs.iter_mut().enumerate().for_each(|(i, job)| change(i, job));
    handed_out(jobs)
}

/// Checks a workload that consists of the given jobs.
///
/// `$ends` says whether the workload declares that it ends by itself.
macro_rules! workload {
    ($ends:expr, $jobs:expr) => {{
        static ENTRY: WorkloadEntry =
            WorkloadEntry::new(lublin::ENTRY.about.renamed("mine").params(&[]), |_, _| Ok($jobs))
                .ends($ends);
        let catalogue = Catalogue::standard().with(&ENTRY).unwrap();
        check_workload(&catalogue, "mine", &NoInputs)
    }};
}

#[test]
fn a_workload_that_breaks_a_rule_is_told_which() {
    static READ: AtomicU64 = AtomicU64::new(0);
    assert!(workload!(true, jobs(|_, _| ())).is_ok());
    for (found, expected) in [
        (
            workload!(true, jobs(|i, job| job.arrival = Time::new(40.0 - i as f64))),
            "its job 1 (from 0) arrives at 39, after one that arrives at 40: arrivals are finite, and in order",
        ),
        (
            workload!(true, jobs(|i, job| job.runtime = if i == 3 { f64::INFINITY } else { 1.0 })),
            "its job 3 (from 0) has the run time inf and the estimate 3: run times are finite",
        ),
        (
            workload!(true, jobs(|_, job| job.estimate = f64::NAN)),
            "its job 0 (from 0) has the run time 3 and the estimate NaN",
        ),
        (
            workload!(true, jobs(|_, job| job.request = Request::Nodes(0))),
            "its job 0 (from 0) asks for no processor",
        ),
        (
            workload!(true, jobs(|_, job| job.owner = Some(Owner::default().into()))),
            "its job 0 (from 0) has an owner, but it declares to know none",
        ),
        (workload!(false, jobs(|_, _| ())), "it declares never to end, but ends after 20 jobs"),
        (
            workload!(true, {
                let more = READ.fetch_add(1, Ordering::Relaxed) as f64;
                jobs(move |_, job| job.runtime += more)
            }),
            "the same seed gives other jobs the second time",
        ),
    ] {
        let found = sentence(found);
        assert!(found.starts_with("the workload `mine`, on a 12 mesh: "), "{found}");
        assert!(found.contains(expected), "{found}\ndoes not say: {expected}");
    }
}

macro_rules! metric {
    ($name:literal, $measure:expr) => {{
        static ENTRY: MetricEntry = MetricEntry::new(
            About::new($name, "an example").params(&[Param {
                name: "above",
                kind: Kind::Number(Range::NonNegative),
                default: DefaultValue::Is("1.0"),
                help: "what counts",
            }]),
            "share",
            $measure,
        );
        Catalogue::standard().with(&ENTRY).unwrap()
    }};
}

#[test]
fn a_metric_that_breaks_a_rule_is_told_which() {
    let infinite =
        metric!("infinite", Measure::PerJob(|job, _, _| 1.0 / (job.wait() - job.wait())));
    let found = sentence(check_metric(&infinite, "infinite"));
    let expected = "the metric `infinite`, on a 12 mesh with above = 1.0 under `fcfs`, seed 9: it is inf, but a value is";
    assert!(found.starts_with(expected), "{found}");
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let counting = metric!(
        "counting",
        Measure::PerJob(|_, _, _| ASKED.fetch_add(1, Ordering::Relaxed) as f64)
    );
    let found = sentence(check_metric(&counting, "counting"));
    assert!(found.contains("the same run gives ") && found.contains(" the second time"), "{found}");
}

/// Share of the work that belongs to jobs whose waits did not exceed a bound.
fn in_time(job: &Running, now: Time, rules: &Rules) -> (f64, f64) {
    let work = f64::from(job.held) * job.service(now);
    (if job.wait() <= rules.params.number("above") { work } else { 0.0 }, work)
}

/// Two jobs of which the second waits until the first one ends.
#[test]
fn a_metric_is_a_ratio_of_sums_and_is_given_its_parameters() {
    let catalogue = metric!("in_time", Measure::Ratio(in_time));
    check_metric(&catalogue, "in_time").unwrap();
    let value = |metrics: &str| {
        let study = format!(
            "machine = {{ topology = 'flat', processors = 8 }}
             workload = {{ name = 'lublin', jobs = 1 }}
             measure = {{ {metrics} }}"
        );
        let study = meshwork::Scenario::read_in(&catalogue, &study.parse().unwrap()).unwrap();
        let jobs = vec![job(0.0, Request::Nodes(8), 3.0), job(0.0, Request::Nodes(8), 9.0)];
        let setup = study.setup(0).unwrap();
        let outcome = study.run_on(setup, common::submissions(jobs), &mut ()).unwrap();
        let own = outcome.metrics.iter().find(|metric| metric.name == "in_time").unwrap();
        (own.value.unwrap(), study.table()["measure"].get("metrics").map(Value::to_string))
    };
    let (plain, table) = value("metrics = ['in_time']");
    assert!((plain - 0.25).abs() < 1e-12, "{plain}");
    assert_eq!(table.unwrap(), "[{ name = \"in_time\", above = 1.0 }]");
    let (patient, _) = value("metrics = ['wait', { name = 'in_time', above = 3 }]");
    assert!((patient - 1.0).abs() < 1e-12, "{patient}");
    let (usual, table) = value("by_size = 'exact'");
    assert!((usual - 0.25).abs() < 1e-12 && table.is_none(), "{usual}");
    let refused = |metrics: &str| {
        let study = format!(
            "machine = {{ topology = 'flat', processors = 8 }}\nworkload = 'lublin'\nmeasure = {{ metrics = {metrics} }}"
        );
        meshwork::Scenario::read_in(&catalogue, &study.parse().unwrap()).unwrap_err().message
    };
    let below = refused("[{ name = 'in_time', above = -1 }]");
    assert!(below.starts_with("`measure.metrics[0].above` is -1, but must be a number"), "{below}");
    let twice = refused("['in_time', { name = 'in_time', above = 2.0 }]");
    assert!(twice.starts_with("`measure.metrics` names `in_time` twice"), "{twice}");
    let unknown = refused("[{ name = 'wait', above = 2.0 }]");
    assert!(unknown.starts_with("unknown key `above` in `measure.metrics[0]`"), "{unknown}");
    let number = refused("[3]");
    assert!(number.starts_with("`measure.metrics` is [3], but must be a list"), "{number}");
    static OF_TIME: MetricEntry = MetricEntry::new(
        About::new("of_time", "an example").params(&[Param {
            name: "above",
            kind: Kind::Flag,
            default: DefaultValue::Is("true"),
            help: "",
        }]),
        "share",
        Measure::PerArrival,
    );
    let refused = Catalogue::standard().with(&OF_TIME).err().unwrap().to_string();
    assert!(
        refused.starts_with("the metric `of_time` cannot be added: it has parameters, but"),
        "{refused}"
    );
}
