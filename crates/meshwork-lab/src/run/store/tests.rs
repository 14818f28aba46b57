use proptest::prelude::*;
use toml::Table;

use super::*;

pub(crate) fn record(number: u64, value: Option<f64>) -> RunRecord {
    RunRecord {
        key: format!("{number:032x}"),
        scenario: serde_json::json!({ "seed": 1, "workload": { "load": 0.1 } }),
        input: (number == 2).then(|| Input {
            path: "a \"b\"\n.swf".to_owned(),
            blake3: "00".to_owned(),
            start: None,
            trace: None,
        }),
        replication: number,
        findings: RunFindings {
            metrics: vec![
                RunMetric::new("wait", value, vec![0.1, 0.2]),
                RunMetric::new("turnaround", None, Vec::new()),
            ],
            by_size: vec![SizeFindings {
                size: 4,
                jobs: 3,
                metrics: vec![RunMetric::new("wait", Some(1.0), vec![])],
            }],
            finished: 7,
            refused: 1,
            end: 12.5,
            speeds: if number == 1 { vec![0.5, 1.25] } else { vec![] },
            ..RunFindings::default()
        },
        model_version: MODEL_VERSION,
        version: "0.0.0".to_owned(),
        build: BUILD.to_owned(),
    }
}

const BUILD: &str = "b";

fn keys(loaded: &Loaded) -> Vec<&str> {
    loaded.records.iter().map(|record| record.key.as_str()).collect()
}

#[test]
fn a_line_is_as_documented() {
    let text = String::from_utf8(record(0, Some(2.0)).line()).unwrap();
    assert_eq!(
        text,
        "{\"key\":\"00000000000000000000000000000000\",\"scenario\":{\"seed\":1,\"workload\":\
         {\"load\":0.1}},\"replication\":0,\"metrics\":{\"wait\":2.0,\"turnaround\":null},\
         \"batches\":{\"wait\":[0.1,0.2]},\"by_size\":[{\"size\":4,\"jobs\":3,\"metrics\":\
         {\"wait\":1.0}}],\"finished\":7,\"refused\":1,\"unusable\":0,\"end\":12.5,\
         \"model_version\":2,\"version\":\"0.0.0\",\"build\":\"b\"}\n"
    );
}

#[test]
fn a_store_torn_at_any_byte_loses_no_whole_line() {
    let lines: Vec<Vec<u8>> = (0..3).map(|i| record(i, Some(i as f64 / 3.0)).line()).collect();
    let whole: Vec<u8> = lines.concat();
    for cut in 0..=whole.len() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(RUNS), &whole[..cut]).unwrap();
        let mut store = Store::open(folder.path(), BUILD).unwrap();
        let kept = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(store.known.len(), kept, "cut at {cut}");
        assert!(store.warnings().is_empty(), "a torn last line needs no warning");
        for i in 0..3 {
            store.append(&record(i, Some(i as f64 / 3.0)), Duration::ZERO).unwrap();
        }
        drop(store);
        assert_eq!(fs::read(folder.path().join(RUNS)).unwrap(), whole, "cut at {cut}");
    }
}

#[test]
fn garbled_lines_are_kept_aside_and_nothing_else_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(RUNS);
    let line = |i| record(i, Some(1.0)).line();
    let garbled = b"{\"key\":\"half{\xff\n[1, 2]\n".to_vec();
    fs::write(&path, [line(0), garbled.clone(), line(1), line(2)].concat()).unwrap();
    let before = fs::read(&path).unwrap();
    assert_eq!(load(folder.path()).unwrap().warnings.len(), 2);
    assert_eq!(fs::read(&path).unwrap(), before, "loading changes nothing");
    let store = Store::open(folder.path(), BUILD).unwrap();
    assert_eq!(
        store.warnings(),
        [2, 3].map(|number| format!(
            "{}:{number}: this line is garbled: it is kept in runs.garbled, and its run is run again",
            path.display()
        ))
    );
    drop(store);
    assert_eq!(fs::read(&path).unwrap(), [line(0), line(1), line(2)].concat());
    assert_eq!(fs::read(folder.path().join(GARBLED)).unwrap(), garbled);
    let mut again = Store::open(folder.path(), BUILD).unwrap();
    assert!(again.warnings().is_empty());
    again.append(&record(3, None), Duration::ZERO).unwrap();
    assert_eq!(load(folder.path()).unwrap().records.len(), 4);
}

#[test]
fn two_results_for_one_run_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(RUNS);
    let lines = [record(0, Some(1.0)), record(1, None), record(0, Some(2.0))];
    fs::write(&path, lines.iter().flat_map(RunRecord::line).collect::<Vec<u8>>()).unwrap();
    assert_eq!(
        Store::open(folder.path(), BUILD).err().unwrap().to_string(),
        format!(
            "{}:3: this run has the same key as that of line 1, but other results: delete the wrong \
             line",
            path.display()
        )
    );
    fs::write(&path, [record(0, Some(1.0)).line(), record(0, Some(1.0)).line()].concat()).unwrap();
    let mut store = Store::open(folder.path(), BUILD).unwrap();
    assert!(store.append(&record(0, Some(1.0)), Duration::ZERO).is_ok());
    assert_eq!(
        store.append(&record(0, Some(2.0)), Duration::ZERO).unwrap_err().to_string(),
        format!(
            "{}: the run with the key {} is stored with other results than it has now given",
            path.display(),
            record(0, None).key
        )
    );
}

#[test]
fn a_folder_that_cannot_be_used_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let (below, odd, used) =
        (file.join("below"), folder.path().join("odd"), folder.path().join("used"));
    fs::create_dir_all(odd.join(RUNS)).unwrap();
    let _first = Store::open(&used, BUILD).unwrap();
    for (path, named, says) in [
        (&file, &file, "this is a file, but must be a folder for results"),
        (
            &below,
            &below,
            "this folder cannot be made, because a file stands where a folder must be",
        ),
        (&odd, &odd.join(RUNS), "this is not a regular file, so no runs can be kept in it"),
        (&used, &used.join(RUNS), "another run is writing to this file: wait for it to end"),
    ] {
        let refused = Store::open(path, BUILD).err().unwrap().to_string();
        assert_eq!(refused, format!("{}: {says}", named.display()));
    }
}

/// Writer that accepts a number of bytes and then fails like a full disk.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Store {
    pub(crate) fn with_room_for(bytes: usize) -> Store {
        let mut known = Lines::default();
        known.files.push(Source {
            path: PathBuf::from("out/runs.jsonl"),
            whole_bytes: 0,
            torn_bytes: 0,
        });
        Store::of(PathBuf::from("out/runs.jsonl"), Sink::Whole(Box::new(Full(bytes))), known)
    }
}

#[test]
fn a_full_disk_is_said_once() {
    let mut store = Store::with_room_for(record(0, None).line().len() + 10);
    assert!(store.append(&record(0, None), Duration::ZERO).is_ok());
    assert_eq!(
        store.append(&record(1, None), Duration::ZERO).unwrap_err().to_string(),
        "out/runs.jsonl: this file cannot be written, the disk is full"
    );
    assert!(store.append(&record(3, None), Duration::ZERO).is_ok());
    assert!(store.get(&record(3, None).key).is_none());
}

#[test]
fn a_key_tells_runs_apart_and_not_paths() {
    let table = |text: &str| text.parse::<Table>().unwrap();
    let base = table("seed = 1\n[workload]\nname = 'swf'\npath = 'a.swf'");
    let moved = table("seed = 1\n[workload]\nname = 'swf'\npath = 'b/a.swf'");
    let key = |table: &Table, digest, replication| key(table, Some(digest), replication, BUILD);
    assert_eq!(key(&base, "d", 0), key(&moved, "d", 0));
    assert_ne!(key(&base, "d", 0), key(&base, "e", 0));
    assert_ne!(key(&base, "d", 0), key(&base, "d", 1));
    assert_ne!(key(&base, "d", 0), key(&table("seed = 2"), "d", 0));
    assert_eq!(key(&base, "d", 0).len(), 32);
    assert_ne!(key(&base, "d", 0), super::key(&base, Some("d"), 0, "another build"));
}

#[test]
fn runs_of_another_build_are_known_for_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), BUILD).unwrap();
    store.append(&record(1, None), Duration::ZERO).unwrap();
    assert!(!store.is_known_elsewhere(&record(1, None)));
    drop(store);
    let store = Store::open(folder.path(), "another").unwrap();
    assert!(store.is_known_elsewhere(&record(1, None)));
    assert!(!store.is_known_elsewhere(&record(2, None)), "another replication");
}

#[test]
fn what_a_killed_run_left_is_removed_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs");
    fs::create_dir(&jobs).unwrap();
    let key = "0123456789abcdef0123456789abcdef";
    let dead = [
        format!("jobs/{key}.csv.17.0.tmp"),
        format!("jobs/{key}.parquet.17.3.tmp"),
        "jobs/index.csv.tmp".to_owned(),
        "jobs/index.csv.17.tmp".to_owned(),
        "summary.csv.tmp".to_owned(),
        "runs.jsonl.tmp".to_owned(),
    ];
    let others = [
        format!("jobs/{key}.csv"),
        format!("jobs/{key}.tmp"),
        "jobs/notes.17.0.tmp".to_owned(),
        "mine.tmp".to_owned(),
        "summary.csv".to_owned(),
    ];
    for name in dead.iter().chain(&others) {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let first = Store::open(folder.path(), BUILD).unwrap();
    let is_there = |name: &String| folder.path().join(name).exists();
    assert!(!dead.iter().any(is_there) && others.iter().all(is_there));
    // While another store holds the lock, the temporary files stay.
    fs::write(folder.path().join(&dead[0]), "").unwrap();
    assert!(Store::open(folder.path(), BUILD).is_err() && is_there(&dead[0]));
    drop(first);
}

proptest! {
    #[test]
    fn every_number_survives_the_store(bits in any::<u64>(), batches in prop::collection::vec(any::<f64>(), 0..4)) {
        let value = Some(f64::from_bits(bits)).filter(|value| value.is_finite());
        let mut given = record(2, value);
        given.findings.metrics[0].batches =
            batches.into_iter().filter(|value| value.is_finite()).collect();
        let read = RunRecord::read(given.line().strip_suffix(b"\n").unwrap()).unwrap();
        prop_assert_eq!(read.line(), given.line());
        prop_assert_eq!(read.findings.metrics[0].value.map(f64::to_bits), value.map(f64::to_bits));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(RUNS), [bytes, vec![b'\n'], record(1, None).line()].concat()).unwrap();
        let loaded = load(folder.path()).unwrap();
        prop_assert!(keys(&loaded).contains(&record(1, None).key.as_str()));
    }
}
