//! Tests that a converted log has the jobs of the original log.
//!
//! The original is read with the parameters that the conversion applied.

use std::fs;
use std::path::Path;

use meshwork::job::Job;
use meshwork::scenario::Scenario;
use meshwork::workload::Submission;
use meshwork_lab::inputs::Files;
use meshwork_lab::trace::convert;
use proptest::prelude::*;

use crate::shared;

/// Jobs of a log on 16 processors. `changes` has further keys of the workload.
fn jobs(log: &Path, changes: &str, seed: u64) -> Vec<Job> {
    let text = format!(
        "seed = {seed}
         machine = {{ topology = 'flat', processors = 16 }}
         [workload]
         name = 'swf'
         path = '{}'
         {changes}",
        log.display()
    );
    let scenario = Scenario::read(&text.parse().unwrap()).unwrap();
    let jobs = scenario.jobs(0, &Files::default()).unwrap();
    jobs.filter_map(|item| match item.unwrap() {
        Submission::Job(job) => Some(job),
        _ => None,
    })
    .collect()
}

/// Line of an SWF log with the given fields 1, 2, 4, 5, 6, 8, 9, 12 and 15.
fn line(numbers: [i64; 9]) -> String {
    let [number, submit, run, used, cpu, wanted, request, user, queue] = numbers;
    format!(
        "{number} {submit} -1 {run} {used} {cpu} -1 {wanted} {request} -1 1 {user} -1 -1 {queue} -1 -1 -1\n"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_log_converted_and_read_again_is_the_log_with_the_changes(
        lines in prop::collection::vec(
            (
                (-1..50_i64, -1..40_i64, -1..30_i64),
                (-1..17_i64, -1..9_i64, -1..17_i64),
                (-1..60_i64, -1..4_i64, -1..3_i64),
            ),
            1..40,
        ),
        some in prop::collection::vec(any::<bool>(), 9),
        from in 0_u32..20,
        first in 1_u32..30,
        split in 0.07..1.0_f64,
        scales in (0.1..5.0_f64, 0.1..5.0_f64),
        seed in 0_u64..5,
    ) {
        let changes: Vec<String> = [
            "users = [1, 2]".to_owned(),
            "queues = 1".to_owned(),
            format!("from = {from}"),
            format!("until = {}", from + 15),
            format!("first_jobs = {first}"),
            "shuffle = true".to_owned(),
            format!("split_above = {split:?}"),
            format!("runtime_scale = {:?}", scales.0),
            format!("arrival_scale = {:?}", scales.1),
        ]
        .into_iter()
        .zip(some)
        .filter_map(|(change, wanted)| wanted.then_some(change))
        .collect();
        let changes = changes.join("\n");
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old.swf"), folder.path().join("new.swf.gz"));
        let text: String = lines
            .iter()
            .map(|&((a, b, c), (d, e, f), (g, h, i))| line([a, b, c, d, e, f, g, h, i]))
            .collect();
        fs::write(&old, format!("; MaxProcs: 16\n{text}")).unwrap();
        match convert(&old, &new, &changes.parse().unwrap(), (seed, 0)) {
            Ok(done) => {
                let expected = jobs(&old, &changes, seed);
                prop_assert_eq!(&jobs(&new, "", seed), &expected);
                prop_assert_eq!(done.jobs, expected.len() as u64);
                // A second conversion without changes keeps all jobs.
                let again = folder.path().join("again.swf");
                convert(&new, &again, &toml::Table::new(), (seed, 0)).unwrap();
                prop_assert_eq!(jobs(&again, "", seed), expected);
            }
            Err(error) => {
                let error = error.to_string();
                let nothing = ["no job is left to write", "which leaves no job", "there is no job at all"];
                prop_assert!(nothing.iter().any(|words| error.contains(words)), "{}", error);
            }
        }
    }
}

#[test]
fn what_a_conversion_does_is_counted_and_noted() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.swf"), folder.path().join("new.swf"));
    let text = [
        line([1, 0, 10, 9, 4, 12, 20, 1, 1]),
        line([2, 5, 10, 3, -1, -1, -1, 2, 1]),
        line([3, 6, 10, 9, -1, -1, 20, 1, 2]),
    ];
    fs::write(&old, format!("; MaxJobs: 3\n; MaxProcs: 16\n{}", text.concat())).unwrap();
    let changes = "users = [1]\nsplit_above = 0.5\nruntime_scale = 1.5";
    let done = convert(&old, &new, &changes.parse().unwrap(), (1, 0)).unwrap();
    assert_eq!((done.lines, done.cut, done.jobs), (3, 1, 4));
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        fs::read_to_string(&new).unwrap(),
        format!(
            "; MaxJobs: 4\n; MaxProcs: 16\n; Note: converted by meshwork {version}; users = [1]; \
             split_above = 0.5; runtime_scale = 1.5\n\
             1 0 -1 15 8 6 -1 8 30 -1 1 1 -1 -1 1 -1 -1 -1\n\
             1 0 -1 15 4 6 -1 4 30 -1 1 1 -1 -1 1 -1 -1 -1\n\
             3 6 -1 15 8 -1 -1 -1 30 -1 1 1 -1 -1 2 -1 -1 -1\n\
             3 6 -1 15 1 -1 -1 -1 30 -1 1 1 -1 -1 2 -1 -1 -1\n"
        )
    );
}

#[test]
fn what_is_no_change_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.swf"), folder.path().join("new.swf"));
    fs::write(&old, line([1, 0, 10, 9, 4, 12, 20, 1, 1])).unwrap();
    for (changes, sentence) in [
        ("shape = 'exact'", "`shape` says how a log is read, and changes nothing of one"),
        ("split_above = 2", "`split_above` is 2, but must be a number from 0 to 1"),
        ("from = 3\nuntil = 2", "`until` is 2, but must be above `from`, which is 3"),
        (
            "split_above = 0.01",
            "`split_above` is 0.01, but must leave a job at least one of the 12 processors of the \
             largest site",
        ),
    ] {
        let error = convert(&old, &new, &changes.parse().unwrap(), (1, 0)).unwrap_err();
        assert!(error.to_string().ends_with(sentence), "{error}");
    }
    let error = convert(&old, &new, &"users = 9".parse().unwrap(), (1, 0)).unwrap_err().to_string();
    assert!(error.ends_with("no job is left to write: 1 of its 1 lines are jobs"), "{error}");
    assert!(!new.exists());
}

/// Published trace of a production cluster; without a copy the test is skipped.
#[test]
fn the_whole_of_openb() {
    let Some(pods) = shared("gpu/openb_pod_list_default.csv.gz") else { return };
    let Some(nodes) = shared("gpu/openb_node_list_all_node.csv.gz") else { return };
    let folder = tempfile::tempdir().unwrap();
    let none = toml::Table::new();
    let done = convert(&pods, &folder.path().join("jobs.csv"), &none, (1, 0)).unwrap();
    assert_eq!((done.lines, done.jobs, done.no_run_time), (8152, 7255, 897));
    let done = convert(&nodes, &folder.path().join("machine.toml"), &none, (1, 0)).unwrap();
    assert_eq!(done.nodes, 1523);
}
