//! Tests of what reports and notes say about the certainty of results.
//!
//! The results are of replayed logs, windows of logs, growing queues, and runs by different builds.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use meshwork::rng::Stream;
use meshwork_lab::findings::claims::CellState;
use meshwork_lab::run::ScenarioRuns;
use meshwork_lab::run::store::load;
use meshwork_lab::statistics::Method;
use meshwork_lab::{Finished, Options, Study, run};
use meshwork_report::Report;
use tempfile::TempDir;

/// Log for 16 processors, whose first job arrives at time 1000.
fn log(folder: &Path, jobs: u32, load: f64) {
    let mut stream = Stream::new(1, 0, "log");
    let (mut text, mut at) = ("submit,runtime,estimate,nodes\n".to_owned(), 1000.0);
    for _ in 0..jobs {
        let nodes = 1 + stream.below(8);
        let runtime = -10.0 * stream.unit().ln();
        writeln!(text, "{at},{runtime},{},{nodes}", 2.0 * runtime).unwrap();
        // A job takes 4.5 processors for 10 units of time on average.
        at += -45.0 / 16.0 / load * stream.unit().ln();
    }
    fs::write(folder.join("log.csv"), text).unwrap();
}

fn logged(jobs: u32, load: f64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    log(folder.path(), jobs, load);
    folder
}

const STUDY: &str = "
[machine]
topology = 'mesh'
dims = [4, 4]
[workload]
name = 'table'
path = 'log.csv'
[measure]
metrics = ['wait', 'utilization']
[sweep]
scheduler = ['fcfs', 'easy']
[compare]
scheduler = 'fcfs'
";

fn finished(folder: &Path, text: &str, options: &Options<'_>) -> Finished {
    let finished = run(&Study::parse("a.toml", text, folder, &[]).unwrap(), options).unwrap();
    assert!(finished.failures.is_empty(), "{:?}", finished.failures);
    finished
}

fn stored(folder: &Path, text: &str) -> (PathBuf, Finished) {
    let out = folder.join("out");
    let options = Options { out: Some(out.clone()), ..Options::default() };
    (out, finished(folder, text, &options))
}

/// Text of a study of random jobs of uniform sizes, with a mean run time of 5.
fn synthetic(head: &str, load: f64, tail: &str) -> String {
    format!(
        "{head}\n[workload]\nname = 'synthetic'\nload = {load}\nsizes = 'uniform'\n\
         runtimes = {{ name = 'exponential', mean = 5.0 }}\n{tail}"
    )
}

fn notes(folder: &Path, text: &str, finished: &Finished) -> Vec<String> {
    let study = Study::parse("a.toml", text, folder, &[]).unwrap();
    let Finished { points, results, summary, .. } = finished;
    meshwork_lab::findings::notes::notes(&study, points, results, summary)
}

fn warnings(folder: &Path, text: &str, finished: &Finished) -> Vec<String> {
    let study = Study::parse("a.toml", text, folder, &[]).unwrap();
    let Finished { points, results, summary, .. } = finished;
    meshwork_lab::findings::notes::warnings(&study, points, results, summary)
}

#[test]
fn replications_of_a_log_are_one_run_and_its_difference_has_an_interval() {
    let folder = logged(20_000, 0.5);
    for asked in ["replications = 5", "precision = 0.01"] {
        let text = format!("{asked}\n{STUDY}");
        let found = finished(folder.path(), &text, &Options::default());
        assert!(found.results.runs.iter().all(|runs| runs.len() == 1));
        let wait = found.summary.rows[0].metrics[0].1;
        assert_eq!((wait.replications, wait.method), (1, Some(Method::BatchMeans)));
        assert!(wait.half_width.unwrap() > 0.0, "no pretended certainty");
        let (name, difference, _) = &found.summary.rows[1].differences[0].metrics[0];
        assert_eq!((name.as_str(), difference.method), ("wait", Some(Method::BatchMeans)));
        let is_clear = difference.half_width.unwrap() > 0.0 && difference.excludes_zero();
        assert!(is_clear, "{difference:?}");
        // Both schedulers get the same jobs, so their difference is more certain than a mean.
        assert!(difference.half_width < wait.half_width, "{difference:?} {wait:?}");
        let (_, utilization, _) = &found.summary.rows[1].differences[0].metrics[1];
        assert!(utilization.half_width.unwrap() > 0.0 && !utilization.excludes_zero());
        let notes = notes(folder.path(), &text, &found);
        assert!(notes.len() == 1 && notes[0].contains("nothing random differs"), "{notes:?}");
    }
    // The page shows scenarios that run only once as complete, although 5 replications are
    // requested.
    let (out, _) = stored(folder.path(), &format!("replications = 5\n{STUDY}"));
    let report = Report::read(&out).unwrap();
    let views: Vec<_> =
        report.sections[0].figures.iter().flat_map(|figure| &figure.views).collect();
    assert!(views.iter().any(|view| view.expected == Some(5)));
    for view in views {
        assert!(!view.sentence.contains("so far"), "{}", view.sentence);
        assert!(view.series.iter().all(|line| line.once.iter().all(|once| *once)), "{view:?}");
        assert!(view.differences || view.series.iter().all(|line| !line.once.is_empty()));
    }
    let once = finished(folder.path(), STUDY, &Options::default());
    assert!(notes(folder.path(), STUDY, &once).is_empty());
    assert!(once.summary.rows[1].differences[0].metrics[0].1.half_width.is_some());
}

#[test]
fn where_only_one_scenario_draws_only_that_is_replicated() {
    let folder = logged(400, 0.6);
    let text = format!("replications = 4\n{STUDY}")
        .replace("scheduler = ['fcfs', 'easy']", "allocator = ['first_fit', 'random']")
        .replace("scheduler = 'fcfs'", "allocator = 'first_fit'");
    let (out, found) = stored(folder.path(), &text);
    let counts: Vec<usize> = found.results.runs.iter().map(ScenarioRuns::len).collect();
    // `first_fit` draws no random numbers, so it runs only once. The allocator `random` draws, but
    // its results may be equal.
    assert_eq!(counts[0], 1);
    let wait = found.summary.rows[1].differences[0].metrics[0].1;
    assert!(wait.half_width.unwrap() > 0.0, "{wait:?}");
    let shuffled = text.replace("path = 'log.csv'", "path = 'log.csv'\nshuffle = true");
    let found = finished(folder.path(), &shuffled, &Options::default());
    assert!(found.results.runs.iter().all(|runs| runs.len() == 4));
    assert_eq!(found.summary.rows[0].metrics[0].1.method, Some(Method::Replications));
    // The report of the results folder repeats the note of the run.
    let report = Report::read(&out).unwrap();
    assert!(report.sections[0].notes.iter().any(|note| note.contains("nothing random")));
}

#[test]
fn a_selector_that_draws_is_compared_with_one_that_does_not() {
    let folder = logged(600, 0.6);
    let text = "replications = 4
[machine]
sites = [{ topology = 'mesh', dims = [4, 2], speed = 1.5 }, { topology = 'mesh', dims = [2, 4] }]
[workload]
name = 'table'
path = 'log.csv'
[measure]
metrics = ['turnaround']
[sweep]
selector = ['first_fit', 'random']
[compare]
selector = 'first_fit'
[[claim]]
text = 'c'
metric = 'turnaround'
of = { selector = 'random' }
to = { selector = 'first_fit' }
above = 0.01
";
    let found = finished(folder.path(), text, &Options::default());
    let counts: Vec<usize> = found.results.runs.iter().map(ScenarioRuns::len).collect();
    assert_eq!(counts, [1, 4]);
    let metric = &found.summary.rows[1].metrics[0].0;
    let values: Vec<f64> = found.results.runs[1].measured(metric).map(|(_, value)| value).collect();
    let base = found.summary.rows[0].metrics[0].1.mean.unwrap();
    let difference = found.summary.rows[1].differences[0].metrics[0].1;
    let mean = values.iter().sum::<f64>() / 4.0 - base;
    let off = (difference.mean.unwrap() - mean).abs();
    assert!(off < 1e-9, "the one run is that of each replication");
    assert_eq!(difference.method, Some(Method::BatchMeans), "and the log's own noise counts");
    assert_eq!(found.claims[0].cells[0].of.map(|of| of > 0.0), Some(true));
    assert_eq!(found.claims[0].count(CellState::Yes), 1, "paired with all four");
    let notes = notes(folder.path(), text, &found);
    assert!(notes.iter().any(|note| note.contains("with selector = first_fit")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("with selector = random")), "{notes:?}");
}

#[test]
fn windows_of_a_log_are_its_replications() {
    let folder = logged(3000, 0.6);
    let span = 3000.0 * 45.0 / 16.0 / 0.6;
    let text = format!("windows = {{ length = {} }}\n{STUDY}", span / 9.0);
    let (out, found) = stored(folder.path(), &text);
    let windows = found.points[0].windows.clone().unwrap();
    assert!((8..=9).contains(&windows.count()), "{windows:?}");
    assert!(windows.first >= 1000.0);
    let wait = found.summary.rows[0].metrics[0].1;
    assert_eq!((wait.method, wait.replications), (Some(Method::Windows), windows.count()));
    let difference = found.summary.rows[1].differences[0].metrics[0].1;
    assert_eq!(difference.method, Some(Method::Windows));
    // Reference: a study for each window, with differences that are paired by hand.
    let mut by_hand = Vec::new();
    for index in 0..windows.count() {
        let (from, until) = windows.at(index);
        let one = STUDY.replace(
            "path = 'log.csv'",
            &format!("path = 'log.csv'\nfrom = {from}\nuntil = {until}"),
        );
        let one = finished(folder.path(), &one, &Options::default());
        let value = |row: usize| one.summary.rows[row].metrics[0].1.mean.unwrap();
        by_hand.push(value(1) - value(0));
    }
    let mean = by_hand.iter().sum::<f64>() / by_hand.len() as f64;
    assert!((difference.mean.unwrap() - mean).abs() < 1e-9);
    assert_eq!(difference.half_width, meshwork_lab::statistics::half_width(&by_hand));
    // If windows overlap by half, nearly twice as many windows give hardly more certainty.
    let stride =
        format!("windows = {{ length = {}, stride = {} }}\n{STUDY}", span / 9.0, span / 18.0);
    let more = finished(folder.path(), &stride, &Options::default());
    assert!(more.points[0].windows.as_ref().unwrap().count() >= 15);
    assert!(more.summary.rows[0].metrics[0].1.half_width.unwrap() > 0.4 * wait.half_width.unwrap());
    // A report repeats no run, and does not need the log.
    fs::remove_file(folder.path().join("log.csv")).unwrap();
    let report = Report::read(&out).unwrap();
    assert!(report.sections[0].tables[0].rows[0].len() == 3, "{:?}", report.sections[0].tables[0]);
    has_all_runs(&report);
}

fn has_all_runs(report: &Report) {
    let runs = &report.sections[0].facts.iter().find(|fact| fact.name == "Runs");
    assert!(runs.is_none_or(|fact| !fact.text.contains("not run yet")), "{runs:?}");
}

/// Windows without jobs are left out: a log may have weeks of maintenance.
#[test]
fn windows_without_jobs_are_left_out_and_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    // Of six windows of length 10, windows 1, 4 and 5 have jobs. The arrival at time 60 ends the
    // sixth window.
    let jobs = "submit,runtime,nodes\n0,5,2\n4,5,2\n31,5,2\n45,5,2\n48,1,2\n60,5,2\n";
    fs::write(folder.path().join("log.csv"), jobs).unwrap();
    let text = format!("windows = {{ length = 10 }}\n{STUDY}");
    let (out, found) = stored(folder.path(), &text);
    let windows = found.points[0].windows.clone().unwrap();
    assert_eq!((windows.count(), windows.empty), (3, 3));
    assert_eq!([0, 1, 2].map(|one| windows.at(one)), [(0.0, 10.0), (30.0, 40.0), (40.0, 50.0)]);
    let wait = found.summary.rows[0].metrics[0].1;
    assert_eq!(wait.replications, 3);
    let said = notes(folder.path(), &text, &found);
    let expected = "in 3 of 6 windows of log.csv no job arrives: they are left out";
    assert!(said.iter().any(|note| note == expected), "{said:?}");
    // A report knows the windows without the log.
    fs::remove_file(folder.path().join("log.csv")).unwrap();
    has_all_runs(&Report::read(&out).unwrap());
}

#[test]
fn windows_that_make_no_sense_are_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log.csv"), "submit,runtime,nodes\n0,5,2\n100,5,2\n").unwrap();
    let refusal = |text: &str| {
        let study = Study::parse("a.toml", text, folder.path(), &[]);
        let refused = study.and_then(|study| run(&study, &Options::default()).map(drop));
        refused.unwrap_err().0
    };
    assert_eq!(
        refusal(&format!("windows = {{ length = 80 }}\n{STUDY}")),
        "a.toml:1: `windows.length` is 80, but the jobs of log.csv arrive from 0 to 100: of windows of that \
         length only one fits, and an interval needs two"
    );
    assert_eq!(
        refusal(&format!("windows = {{ length = 20 }}\n{STUDY}")),
        "a.toml:1: `windows` makes 5 windows of log.csv, but jobs arrive in only one of them, and an interval needs two"
    );
    assert_eq!(
        refusal(&format!("replications = 2\nwindows = {{ length = 80 }}\n{STUDY}")),
        "a.toml:2: both `windows` and `replications` are given, but windows of the log are the replications"
    );
    let drawn = STUDY.replace(
        "name = 'table'\npath = 'log.csv'",
        "name = 'synthetic'\nload = 0.5\nsizes = 'uniform'\nruntimes = { name = 'exponential', mean = 1.0 }",
    );
    let drawn = drawn.replace("[measure]", "[measure]\njobs = 10");
    assert_eq!(
        refusal(&format!("windows = {{ length = 80 }}\n{drawn}")),
        "a.toml:1: `windows` are windows of a log, but the workload `synthetic` reads none: give `replications`, \
         each of which draws its own jobs"
    );
}

#[test]
fn a_queue_that_grows_is_said_everywhere() {
    let head = "replications = 2
machine = { topology = 'mesh', dims = [8, 8] }
scheduler = 'fcfs'
measure = { jobs = 1000, metrics = ['wait'] }";
    let text = &synthetic(head, 0.2, "[sweep]\n'workload.load' = [0.2, 3.0]\n");
    let folder = tempfile::tempdir().unwrap();
    let (out, found) = stored(folder.path(), text);
    let growing: Vec<bool> = found.summary.rows.iter().map(|row| row.growing).collect();
    assert_eq!(growing, [false, true]);
    let json = found.summary.json();
    assert_eq!((&json[0]["growing"], &json[1]["growing"]), (&false.into(), &true.into()));
    let warnings = warnings(folder.path(), text, &found);
    let overloaded = "the machine is overloaded with workload.load = 3";
    assert!(warnings[0].starts_with(overloaded), "{warnings:?}");
    assert!(notes(folder.path(), text, &found).is_empty());
    let report = Report::read(&out).unwrap();
    let section = &report.sections[0];
    assert_eq!(section.growing, [1]);
    assert_eq!(section.tables[0].rows[1][0].note, "the queue grows");
    assert!(section.warnings[0].starts_with("The machine is overloaded"));
}

#[test]
fn loads_and_estimates_are_not_those_of_jobs_that_send_messages() {
    let head = "machine = { topology = 'mesh', dims = [4, 4] }
network = { name = 'link_load', pattern = 'near_neighbour', iterations = 20, think_time = 30 }
measure = { jobs = 400, metrics = ['turnaround'] }";
    let sweep = "[sweep]\nscheduler = ['fcfs', { name = 'easy', kill_at_estimate = true }]\n";
    let text = &synthetic(head, 0.5, sweep);
    let folder = tempfile::tempdir().unwrap();
    let found = finished(folder.path(), text, &Options::default());
    let said = notes(folder.path(), text, &found);
    assert_eq!(
        said,
        [
            "`workload.load` is not the load: it is computed from run times, and a job that sends messages stays \
             until they have arrived; it only sets how much arrives, and `utilization` tells the load",
            "the scheduler plans with estimates that may be far off with scheduler = easy (kill_at_estimate=true): they \
             come from the run times of the workload, and a job that sends messages stays until they \
             have arrived; give run times near the `service` that is measured",
            "`scheduler.kill_at_estimate` has no effect with scheduler = easy (kill_at_estimate=true): a job that \
             sends messages stays until they have arrived",
        ]
    );
    let warnings = warnings(folder.path(), text, &found);
    assert!(warnings[0].ends_with("; compare `throughput` instead, or lower the load"));
    let without = text.replace("network = {", "network = 'ideal' # {");
    let found = finished(folder.path(), &without, &Options::default());
    assert!(notes(folder.path(), &without, &found).is_empty());
    let of_log = text
        .replace("name = 'synthetic'", "name = 'table'\npath = 'log.csv'")
        .replace("sizes = 'uniform'\nruntimes = { name = 'exponential', mean = 5.0 }\n", "");
    log(folder.path(), 400, 0.5);
    let found = finished(folder.path(), &of_log, &Options::default());
    let said = notes(folder.path(), &of_log, &found);
    assert!(said[0].starts_with("`workload.scale.load` is not the load: "), "{said:?}");
    assert!(said[1].starts_with("the run times of the log or table are not used: "), "{said:?}");
}

#[test]
fn stable_runs_are_rarely_said_to_grow() {
    let text = "machine = { topology = 'flat', processors = 8 }
scheduler = 'fcfs'
[workload]
name = 'synthetic'
load = 0.9
sizes = { name = 'constant', value = 1 }
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 1000
metrics = ['wait']
[sweep]
seed = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40]
";
    let found = finished(Path::new(""), text, &Options::default());
    let growing = found.summary.rows.iter().filter(|row| row.growing).count();
    assert!(growing <= 2, "{growing} of 40 at a load of 0.9");
}

#[test]
fn runs_of_another_build_are_not_taken_and_that_is_said() {
    let folder = logged(50, 0.6);
    let out = folder.path().join("out");
    let with = |build: &str| Options {
        out: Some(out.clone()),
        build: build.to_owned(),
        ..Options::default()
    };
    let first = finished(folder.path(), STUDY, &with("a"));
    assert!(first.warnings.is_empty(), "{:?}", first.warnings);
    assert!(finished(folder.path(), STUDY, &with("a")).warnings.is_empty());
    assert_eq!(load(&out).unwrap().records.len(), 2);
    let edited = finished(folder.path(), STUDY, &with("b"));
    assert_eq!(
        edited.warnings,
        [format!(
            "{}: 2 runs of this study were made by another build of the program, whose code differs: what it gave is \
             kept there, but is not used, and was run again",
            out.join("runs.jsonl").display()
        )]
    );
    assert_ne!(edited.results.runs[0].key(0), first.results.runs[0].key(0));
    assert_eq!(load(&out).unwrap().records.len(), 4);
    // A report shows the runs of the latest build.
    assert!(finished(folder.path(), STUDY, &with("a")).warnings.is_empty(), "nothing is run");
    let report = Report::read(&out).unwrap();
    assert!(report.sections[0].tables[0].rows.len() == 2);
}

#[test]
fn metrics_stand_in_the_order_in_which_they_are_named() {
    let folder = logged(50, 0.6);
    let text = STUDY.replace("['wait', 'utilization']", "['utilization', 'turnaround', 'wait']");
    let found = finished(folder.path(), &text, &Options::default());
    let names: Vec<&str> =
        found.summary.rows[0].metrics.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["utilization", "turnaround", "wait"]);
    let csv = found.summary.csv();
    assert!(csv.lines().nth(1).unwrap().starts_with("fcfs,utilization,"), "{csv}");
}

#[test]
fn the_study_in_a_folder_of_results_finds_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("study");
    fs::create_dir(&logs).unwrap();
    log(&logs, 50, 0.6);
    fs::write(logs.join("mine.toml"), STUDY).unwrap();
    let out = folder.path().join("results/one");
    let options = Options { out: Some(out.clone()), ..Options::default() };
    let first = run(&Study::read(&logs.join("mine.toml"), &[]).unwrap(), &options).unwrap();
    let again = Study::read(&out.join("experiment.toml"), &[]).unwrap();
    assert_eq!(again.name, "mine");
    let second = run(&again, &Options::default()).unwrap();
    assert_eq!(first.summary, second.summary);
    // The inputs are found even after all files were moved together.
    let moved = tempfile::tempdir().unwrap();
    for name in ["study", "results"] {
        fs::rename(folder.path().join(name), moved.path().join(name)).unwrap();
    }
    let again = Study::read(&moved.path().join("results/one/experiment.toml"), &[]).unwrap();
    assert_eq!(run(&again, &Options::default()).unwrap().summary, first.summary);
    let command = &Report::read(&moved.path().join("results/one")).unwrap().sections[0].command;
    let file = moved.path().join("results/one/experiment.toml");
    assert_eq!(*command, format!("meshwork run {}", file.display()));
}

#[test]
fn differences_of_unlike_jobs_have_no_mark_and_those_who_refused_are_named() {
    let head = "replications = 3
machine = { topology = 'mesh', dims = [16, 8] }
measure = { jobs = 200, metrics = ['wait'] }";
    // `buddy_2d` serves only squares, and refuses jobs with a side longer than that of its machine.
    let sweep = "[sweep]
allocator = ['first_fit', 'buddy_2d', 'best_fit']
[compare]
allocator = 'first_fit'
";
    let text = &synthetic(head, 0.6, sweep);
    let folder = tempfile::tempdir().unwrap();
    let (out, found) = stored(folder.path(), text);
    let rows = &found.summary.rows;
    let same = |row: usize| rows[row].differences[0].same_jobs;
    assert!(!same(1) && same(2));
    let warnings = warnings(folder.path(), text, &found);
    let refused = warnings.iter().find(|warning| warning.contains("were refused")).unwrap();
    let begin = refused.split("allocator = buddy_2d refused ").nth(1).expect(refused);
    assert!(begin.contains(", first_fit 0, best_fit 0): they would not fit"), "{refused}");
    let report = Report::read(&out).unwrap();
    let table = &report.sections[0].tables[1];
    assert!(!table.rows[0][1].marked && !table.rows[0][1].text.contains('*'), "{table:?}");
    assert!(table.caption.contains("on the jobs that each ran"), "{}", table.caption);
}
