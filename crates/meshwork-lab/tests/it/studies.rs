//! Tests that run whole studies with the crate `meshwork-lab` and the simulator.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use meshwork::catalogue::Catalogue;
use meshwork::{Component, Scenario};
use meshwork_lab::run::check::{CheckVerdict, StoreCheck, check};
use meshwork_lab::run::store::{RUNS, key, load};
use meshwork_lab::run::{RunProgress, ScenarioRuns};
use meshwork_lab::study::expand::expand;
use meshwork_lab::{Finished, Options, Study, run};

const STUDY: &str = "
name = 'small'
replications = 3
[machine]
topology = 'mesh'
dims = [8, 8]
[workload]
name = 'synthetic'
load = 0.4
sizes = { name = 'uniform', max = 6 }
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 300
metrics = ['turnaround', 'wait', 'utilization']
by_size = 'power_of_two'
[sweep]
scheduler = ['fcfs', 'sjf']
'workload.load' = [0.2, 0.4]
[compare]
scheduler = 'fcfs'
";

fn study(text: &str, settings: &[&str]) -> Study {
    let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
    Study::parse("small.toml", text, Path::new(""), &settings).unwrap()
}

fn run_in(folder: &Path, text: &str, threads: usize) -> Finished {
    let options = Options { out: Some(folder.to_path_buf()), threads, ..Options::default() };
    run(&study(text, &[]), &options).unwrap()
}

fn tables(folder: &Path) -> Vec<String> {
    ["summary.csv", "by_size.csv", "comparison.csv"]
        .map(|name| fs::read_to_string(folder.join(name)).unwrap())
        .to_vec()
}

fn checked(folder: &Path, most: usize, threads: usize) -> StoreCheck {
    check(&Catalogue::standard(), folder, most, threads).unwrap()
}

/// Checks that a folder has two runs, of which one cannot be repeated with the present inputs.
fn one_of_two_fails(folder: &Path) {
    assert_eq!(load(folder).unwrap().records.len(), 2);
    let verdicts = checked(folder, 2, 1).checked;
    let changed = verdicts.iter().filter(|run| matches!(run.verdict, CheckVerdict::Failed(_)));
    assert_eq!(changed.count(), 1, "{verdicts:?}");
}

fn refusal(text: &str, options: &Options<'_>) -> String {
    run(&study(text, &[]), options).err().expect("this must be refused").to_string()
}

#[test]
fn the_same_bytes_with_one_thread_and_two() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = run_in(one.path(), STUDY, 1);
    let second = run_in(two.path(), STUDY, 2);
    assert!(first.failures.is_empty() && first.warnings.is_empty(), "{:?}", first.failures);
    assert_eq!(tables(one.path()), tables(two.path()));
    assert_eq!(first.results, second.results);
    assert_eq!(first.summary.json(), second.summary.json());
    assert_eq!(load(one.path()).unwrap().records.len(), 12);
    assert_eq!(fs::read_to_string(one.path().join("experiment.toml")).unwrap(), STUDY);
}

#[test]
fn a_torn_store_gives_the_same_tables() {
    let whole = tempfile::tempdir().unwrap();
    run_in(whole.path(), STUDY, 1);
    let expected = tables(whole.path());
    let stored = fs::read(whole.path().join(RUNS)).unwrap();
    for share in [0, 1, 3, 5, 6] {
        let torn = tempfile::tempdir().unwrap();
        fs::write(torn.path().join(RUNS), &stored[..stored.len() * share / 6]).unwrap();
        run_in(torn.path(), STUDY, 2);
        assert_eq!(tables(torn.path()), expected);
        assert_eq!(load(torn.path()).unwrap().records.len(), 12);
    }
}

#[test]
fn a_wider_sweep_runs_only_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), STUDY, 0);
    let wider = STUDY.replace("[0.2, 0.4]", "[0.2, 0.3, 0.4]");
    let last = Mutex::new(RunProgress::default());
    let progress = |progress: RunProgress| *last.lock().unwrap() = progress;
    let options = Options {
        out: Some(folder.path().to_path_buf()),
        threads: 2,
        progress: &progress,
        ..Options::default()
    };
    let finished = run(&study(&wider, &[]), &options).unwrap();
    let last = *last.lock().unwrap();
    assert_eq!((last.done, last.total, last.reused, last.failed), (18, 18, 12, 0));
    assert_eq!(last.jobs, 6 * 300, "those from the store did not run");
    assert!(last.begun.abs() < 1e-9, "nothing goes on");
    assert_eq!(finished.warnings.len(), 1, "{:?}", finished.warnings);
    assert_eq!(fs::read_to_string(folder.path().join("experiment.toml")).unwrap(), wider);
}

#[test]
fn replications_until_precise_are_the_same_after_an_interruption() {
    let text = STUDY.replace(
        "replications = 3",
        "precision = 0.1\nprecision_of = 'turnaround'\nmin_replications = 3\nmax_replications = 12",
    );
    let whole = tempfile::tempdir().unwrap();
    let finished = run_in(whole.path(), &text, 2);
    let counts: Vec<usize> = finished.results.runs.iter().map(ScenarioRuns::len).collect();
    assert!(counts.iter().all(|count| (3..=12).contains(count)), "{counts:?}");
    let torn = tempfile::tempdir().unwrap();
    let stored = fs::read(whole.path().join(RUNS)).unwrap();
    fs::write(torn.path().join(RUNS), &stored[..stored.len() / 2]).unwrap();
    run_in(torn.path(), &text, 1);
    assert_eq!(tables(torn.path()), tables(whole.path()));
}

#[test]
fn per_job_output_is_replayed_exactly() {
    let folder = tempfile::tempdir().unwrap();
    // The workload is finite, so every job finishes.
    let text = "
[machine]
topology = 'mesh'
dims = [8, 8]
[workload]
name = 'lublin'
jobs = 200
[output]
jobs = ['csv', 'parquet']
";
    let endings = if cfg!(feature = "parquet") { &["csv", "parquet"][..] } else { &["csv"] };
    let text = text.replace("['csv', 'parquet']", &format!("{endings:?}"));
    let first = run_in(&folder.path().join("first"), &text, 1);
    assert!(first.failures.is_empty(), "{:?}", first.failures);
    let only = |finished: &Finished| finished.results.runs[0].get(0).unwrap();
    let (key, results) = (only(&first).key, only(&first).result.unwrap());
    for ending in endings {
        let jobs = folder.path().join("first/jobs").join(format!("{key}.{ending}"));
        let replay = format!(
            "[machine]\ntopology = 'mesh'\ndims = [8, 8]\n\
             [workload]\nname = 'table'\npath = '{}'\n[output]\njobs = ['csv']\n",
            jobs.display()
        );
        let out = folder.path().join(ending);
        let second = run_in(&out, &replay, 1);
        assert!(second.failures.is_empty(), "{:?}", second.failures);
        let run = only(&second);
        assert_eq!(run.result.as_ref().unwrap(), &results);
        let read = |folder: PathBuf, key: &str| {
            fs::read_to_string(folder.join("jobs").join(format!("{key}.csv"))).unwrap()
        };
        let (then, now) = (read(folder.path().join("first"), &key), read(out, &run.key));
        assert_eq!(then, now, "every start and every block");
        assert_eq!(then.lines().count(), 201);
    }
}

#[test]
fn job_output_asked_for_later_is_made_and_stores_no_run_twice() {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), STUDY, 2);
    let with_jobs = format!("{STUDY}[output]\njobs = 'csv'\n");
    let finished = run_in(folder.path(), &with_jobs, 2);
    assert!(finished.failures.is_empty(), "{:?}", finished.failures);
    assert_eq!(fs::read_dir(folder.path().join("jobs")).unwrap().count(), 13, "and the index");
    let index = fs::read_to_string(folder.path().join("jobs/index.csv")).unwrap();
    let lines: Vec<&str> = index.lines().collect();
    assert_eq!(lines[0], "file,format,scenario,replication,scheduler,workload.load");
    assert_eq!(lines.len(), 13);
    let key = finished.results.runs[3].key(2).unwrap();
    assert!(lines.contains(&&format!("{key}.csv,csv,4,2,sjf,0.4")[..]), "{index}");
    assert_eq!(load(folder.path()).unwrap().records.len(), 12);
    let nowhere = run(&study(&with_jobs, &[]), &Options::default()).unwrap();
    assert_eq!(
        nowhere.warnings,
        ["small.toml: `[output]` asks for one row per job, but there is no folder for it: give \
          `--out DIR`"]
    );
}

#[test]
fn a_check_finds_a_changed_bit() {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), STUDY, 2);
    let all = checked(folder.path(), 100, 2);
    assert_eq!((all.stored, all.checked.len()), (12, 12));
    assert!(all.checked.iter().all(|run| run.verdict == CheckVerdict::Same), "{:?}", all.checked);
    assert_eq!(checked(folder.path(), 5, 1).checked.len(), 5);
    let path = folder.path().join(RUNS);
    let mut record = load(folder.path()).unwrap().records.remove(0);
    let wait = record.findings.metrics[0].value.unwrap();
    record.findings.metrics[0].value = Some(f64::from_bits(wait.to_bits() ^ 1));
    fs::write(&path, record.line()).unwrap();
    let one = checked(folder.path(), 10, 1);
    assert!(matches!(one.checked[0].verdict, CheckVerdict::Different(_)), "{:?}", one.checked);
    record.model_version += 1;
    fs::write(&path, record.line()).unwrap();
    let other = checked(folder.path(), 10, 1);
    assert!(matches!(other.checked[0].verdict, CheckVerdict::Failed(_)), "{:?}", other.checked);
}

#[test]
fn a_log_is_known_by_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("jobs.csv");
    fs::write(&log, "submit,runtime,nodes\n0,5,2\n1,5,3\n").unwrap();
    let text = "[machine]\ntopology = 'flat'\nprocessors = 4\n[workload]\nname = 'table'\npath = 'jobs.csv'\n";
    let study = |file: &str| Study::parse(file, text, folder.path(), &[]).unwrap();
    let out = folder.path().join("out");
    let options = Options { out: Some(out.clone()), threads: 1, ..Options::default() };
    let first = run(&study("a.toml"), &options).unwrap();
    let metrics = first.results.runs[0].get(0).unwrap().result.unwrap();
    assert_eq!(metrics.metric("wait").unwrap().value, Some(2.0), "0 and 4");
    assert_eq!(checked(&out, 1, 1).checked[0].verdict, CheckVerdict::Same);
    fs::write(&log, "submit,runtime,nodes\n0,5,2\n1,5,2\n").unwrap();
    let second = run(&study("a.toml"), &options).unwrap();
    assert_ne!(first.results.runs[0].key(0), second.results.runs[0].key(0));
    one_of_two_fails(&out);
}

#[test]
fn a_trace_of_outages_is_known_by_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("outages.csv");
    fs::write(&trace, "node,down,up\n0,5,20\n3,8,\n").unwrap();
    let text = "machine = { topology = 'flat', processors = 4 }\nfailures = { trace = 'outages.csv' }\n\
                workload = { name = 'synthetic', load = 0.4, sizes = 'uniform', runtimes = { name = 'constant', value = 3 } }\n\
                measure = { time = 200, metrics = ['availability', 'interruptions'] }";
    let study = || Study::parse("a.toml", text, folder.path(), &[]).unwrap();
    let out = folder.path().join("out");
    let options = Options { out: Some(out.clone()), threads: 1, ..Options::default() };
    let first = run(&study(), &options).unwrap();
    let metrics = first.results.runs[0].get(0).unwrap().result.unwrap();
    assert!(metrics.metric("availability").unwrap().value.unwrap() < 0.8);
    assert_eq!(checked(&out, 5, 1).checked[0].verdict, CheckVerdict::Same);
    // The same study finds the stored run, and one with another trace does not.
    let again = run(&study(), &options).unwrap();
    assert_eq!(first.results.runs[0].key(0), again.results.runs[0].key(0));
    fs::write(&trace, "node,down,up\n0,5,20\n").unwrap();
    let second = run(&study(), &options).unwrap();
    assert_ne!(first.results.runs[0].key(0), second.results.runs[0].key(0));
    one_of_two_fails(&out);
    fs::remove_file(&trace).unwrap();
    let missing = run(&study(), &options).err().unwrap().to_string();
    assert!(missing.contains("outages.csv: there is no such file"), "{missing}");
}

#[test]
fn what_is_wrong_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let into = |path: &Path| Options { out: Some(path.to_path_buf()), ..Options::default() };
    assert_eq!(
        refusal(STUDY, &into(&file)),
        format!("{}: this is a file, but must be a folder for results", file.display())
    );
    let log =
        "[machine]\ntopology = 'flat'\nprocessors = 4\n[workload]\nname = 'swf'\npath = 'no.swf'\n";
    for options in [Options::default(), into(&folder.path().join("out"))] {
        assert_eq!(refusal(log, &options), "small.toml:6: no.swf: there is no such file");
    }
    let swept = format!("{log}[sweep]\n'workload.path' = [\n'{}',\n'no.swf']\n", file.display());
    let refused = refusal(&swept, &Options::default());
    assert_eq!(refused, "small.toml:10: no.swf: there is no such file");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_run_that_fails_is_reported_and_the_others_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (good, bad) = (folder.path().join("good.csv"), folder.path().join("bad.csv"));
    fs::write(&good, "submit,runtime,nodes\n0,5,2\n").unwrap();
    fs::write(&bad, "submit,runtime,nodes\n0,5,two\n").unwrap();
    let text = format!(
        "[machine]\ntopology = 'flat'\nprocessors = 4\n[workload]\nname = 'table'\npath = ''\n\
         [sweep]\n'workload.path' = ['{}', '{}']\n",
        bad.display(),
        good.display()
    );
    let out = folder.path().join("out");
    let finished = run_in(&out, &text, 2);
    assert_eq!(
        finished.failures,
        [format!(
            "small.toml: the run of workload.path = {0}, replication 1 failed: {0}:2: `nodes` is `two`, \
             but must be a number",
            bad.display()
        )]
    );
    assert_eq!(load(&out).unwrap().records.len(), 1);
    assert!(finished.summary.rows[0].metrics.is_empty());
    assert!(!finished.summary.rows[1].metrics.is_empty());
}

#[test]
fn job_output_that_cannot_be_written_fails_its_runs_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs");
    fs::write(&jobs, "in the way").unwrap();
    let finished = run_in(folder.path(), &format!("{STUDY}[output]\njobs = 'csv'\n"), 2);
    assert_eq!(finished.failures.len(), 12);
    assert_eq!(
        finished.failures[0],
        format!(
            "small.toml: the run of scheduler = fcfs, workload.load = 0.2, replication 1 failed: {}: \
             this folder cannot be made, because a file stands where a folder must be",
            jobs.display()
        )
    );
    assert!(load(folder.path()).unwrap().records.is_empty());
}

#[test]
fn a_log_that_ends_in_the_middle_fails_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let line = "1 0 -1 10 4 -1 -1 4 10 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    std::io::Write::write_all(&mut encoder, line.repeat(1000).as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let log = folder.path().join("log.swf.gz");
    fs::write(&log, &packed[..packed.len() / 2]).unwrap();
    let text = format!(
        "[machine]\ntopology = 'flat'\nprocessors = 4\n[workload]\nname = 'swf'\npath = '{}'\n",
        log.display()
    );
    let finished = run(&study(&text, &[]), &Options::default()).unwrap();
    assert_eq!(finished.failures.len(), 1, "{:?}", finished.failures);
    assert!(finished.failures[0].contains(&log.display().to_string()), "{:?}", finished.failures);
    assert!(finished.summary.rows[0].metrics.is_empty(), "half a log is no result");
}

#[test]
fn a_scenario_that_was_built_has_the_key_of_the_study_that_says_the_same() {
    let study = study(STUDY, &["scheduler=fcfs", "workload.load=0.4"]);
    let written = expand(&study).unwrap();
    let built = Scenario::builder()
        .mesh([8, 8])
        .scheduler("fcfs")
        .workload(
            Component::new("synthetic")
                .with("load", 0.4)
                .with("sizes", Component::new("uniform").with("max", 6))
                .with("runtimes", Component::new("exponential").with("mean", 5.0)),
        )
        .jobs(300)
        .metrics(["turnaround", "wait", "utilization"])
        .set("measure.by_size", "power_of_two")
        .build()
        .unwrap();
    let key = |scenario: &Scenario| key(scenario.table(), None, 2, "build");
    assert_eq!(written.len(), 1);
    assert_eq!(key(&built), key(&written[0].scenario));
}
