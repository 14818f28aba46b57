//! Tests that a thousand kills lose and duplicate no completed run.
//!
//! The runs of a study are divided into shards, which are killed at any byte of their output.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use meshwork::catalogue::Catalogue;
use meshwork::rng::Stream;
use meshwork_lab::run::build;
use meshwork_lab::sweep::{Shard, ShardWork, collect, run_shard};
use meshwork_lab::{Options, Study, run};

/// Study with 240 runs of about ten microseconds each.
const STUDY: &str = "
replications = 60
[machine]
topology = 'flat'
processors = 4
[workload]
name = 'synthetic'
sizes = 'uniform'
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 5
metrics = ['wait']
[sweep]
'workload.load' = [0.1, 0.2, 0.3, 0.4]
";
const KILLS: u64 = 1000;
const SHARDS: u64 = 5;

fn attempt(study: &Study, folder: &Path, index: u64, runs: u64) -> bool {
    let begun = AtomicU64::new(0);
    let stop = || begun.fetch_add(1, Ordering::Relaxed) >= runs;
    let work = ShardWork {
        folder: folder.to_owned(),
        shard: Shard { index, of: SHARDS },
        deal: None,
        threads: 1,
        max_memory: None,
        progress: &|_| {},
        watcher: None,
        build: build::standard(),
        stop: &stop,
    };
    let ended = run_shard(study, &work).unwrap();
    assert_eq!(ended.failures, [""; 0]);
    ended.stopped
}

fn segments(folder: &Path) -> BTreeSet<PathBuf> {
    let found = fs::read_dir(folder.join("runs")).into_iter().flatten().flatten();
    found.map(|entry| entry.path()).collect()
}

fn keys(file: &Path) -> Vec<String> {
    let bytes = fs::read(file).unwrap();
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let text = std::str::from_utf8(&bytes[..whole]).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("{\"key\":\""));
    lines.map(|line| line[8..40].to_owned()).collect()
}

#[test]
fn a_thousand_kills_lose_and_double_nothing() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("shared");
    let study = Study::parse("study.toml", STUDY, Path::new(""), &[]).unwrap();
    let local = home.path().join("local");
    let options = Options { out: Some(local.clone()), threads: 1, ..Options::default() };
    assert!(run(&study, &options).unwrap().failures.is_empty());
    let expected = fs::read(local.join("runs.jsonl")).unwrap();

    let mut chance = Stream::new(7, 0, "kills");
    let mut ended: BTreeSet<String> = BTreeSet::new();
    for kill in 0..KILLS {
        let index = (chance.unit() * SHARDS as f64) as u64;
        let before = segments(&folder);
        // Most attempts complete one run, and the kill may remove this run. So the study is
        // unfinished at every kill. An attempt does not repeat completed runs, so they do not count
        // towards its limit.
        attempt(&study, &folder, index, u64::from(chance.unit() < 0.9));
        let new: Vec<PathBuf> = segments(&folder).difference(&before).cloned().collect();
        let [segment] = &new[..] else { panic!("an attempt has one segment: {new:?}") };
        // Imitate a kill: leave a file that has the name of an unfinished attempt and ends at any
        // byte.
        let bytes = fs::read(segment).unwrap();
        let cut = (chance.unit() * (bytes.len() + 1) as f64) as usize;
        let part = PathBuf::from(format!("{}.part", segment.display()));
        fs::write(&part, &bytes[..cut]).unwrap();
        fs::remove_file(segment).unwrap();
        for key in keys(&part) {
            assert!(ended.insert(key), "a run that had ended was run again by its own shard");
        }
        if kill % 100 == 99 {
            let collected = collect(&Catalogue::standard(), &folder).unwrap();
            let done = collected.missing.total - collected.missing.runs;
            assert_eq!(done, ended.len() as u64, "after {kill} kills");
        }
    }
    assert!(ended.len() > 60 && ended.len() < 240, "{}: all were kills in the middle", ended.len());
    for index in 0..SHARDS {
        assert!(!attempt(&study, &folder, index, u64::MAX));
    }
    let all: Vec<String> = segments(&folder).iter().flat_map(|segment| keys(segment)).collect();
    assert_eq!((all.len(), all.iter().collect::<BTreeSet<_>>().len()), (240, 240));
    let collected = collect(&Catalogue::standard(), &folder).unwrap();
    assert_eq!(collected.missing.runs, 0);
    assert!(fs::read(folder.join("runs.jsonl")).unwrap() == expected, "other bytes");
    for table in ["summary.csv", "experiment.toml", "asked.toml"] {
        let text = |folder: &Path| fs::read_to_string(folder.join(table)).unwrap();
        assert_eq!(text(&folder), text(&local), "{table}");
    }
}
