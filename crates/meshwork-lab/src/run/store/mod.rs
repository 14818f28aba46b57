//! The store: one line for every run that has ended, appended as it ends.
//!
//! A folder holds `runs.jsonl`. A line is one run: its key, the scenario with every default filled
//! in, the replication, what was measured, and the versions that measured it. The key says what was
//! run, so that resuming after a kill, extending a sweep and caching are one mechanism: a key that
//! is present is not run again. Everything else in the folder is derived and may be deleted.

mod archive;
mod leftovers;
mod lines;
mod record;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use meshwork::scenario::MODEL_VERSION;
use thiserror::Error;

use self::lines::{Lines, Place};
use crate::run::file::FileError;

pub use archive::Archive;
pub use leftovers::is_leftover;
pub use record::{Finding, Findings, Input, OwnerFindings, Record, SizeFindings, json, key};

/// The file of runs in a folder.
pub const RUNS: &str = "runs.jsonl";

/// Where lines that cannot be read are kept.
pub const GARBLED: &str = "runs.garbled";

/// Why a store cannot be opened, or takes no run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file stands where the folder must be.
    #[error("{0}: this is a file, but must be a folder for results")]
    NoFolder(String),
    /// `runs.jsonl` is a folder, a pipe or a device.
    #[error("{0}: this is not a regular file, so no runs can be kept in it")]
    NotRegular(String),
    /// Another process has it open.
    #[error("{0}: another run is writing to this file: wait for it to end")]
    InUse(String),
    /// Two lines give different results for one run.
    #[error(
        "{file}:{line}: this run has the same key as that of line {first}, but other results: delete the wrong line"
    )]
    TwoResults {
        /// The file.
        file: String,
        /// The later line, from 1.
        line: u64,
        /// The earlier one.
        first: u64,
    },
    /// A run has now given other results than those that are stored.
    #[error(
        "{file}: the run with the key {key} is stored with other results than it has now given"
    )]
    Differs {
        /// The file.
        file: String,
        /// The key of the run.
        key: String,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The runs of a folder, open for more.
///
/// # Complexity
/// Some 40 bytes of memory for each run: what it gave is read again from its line.
pub struct Store {
    file: PathBuf,
    sink: Box<dyn Write + Send>,
    /// The same file, to be read.
    reader: Option<File>,
    known: Lines,
    /// How long the file is.
    bytes: u64,
    /// What other builds of the program have run.
    elsewhere: BTreeSet<u128>,
    broken: bool,
}

impl Store {
    /// Opens the store of a folder; makes both where they are missing.
    ///
    /// A last line without a line break was torn by a kill: it is cut off, and its run will run
    /// again. Garbled lines elsewhere are moved to `runs.garbled`, with a warning for each, and their
    /// runs will run again. No other process can open the store for writing meanwhile, and files that one left
    /// unfinished when it was killed are removed.
    ///
    /// # Errors
    /// If the folder cannot be made or written, `runs.jsonl` is no regular file or is in use, or it holds two
    /// different results for one run.
    pub fn open(folder: &Path, build: &str) -> Result<Store, StoreError> {
        if folder.exists() && !folder.is_dir() {
            return Err(StoreError::NoFolder(folder.display().to_string()));
        }
        fs::create_dir_all(folder).map_err(|error| FileError::making(folder, &error))?;
        let path = folder.join(RUNS);
        let writing = |error: io::Error| FileError::writing(&path, &error);
        let (mut file, is_ours_alone) = open_for_append(&path)?;
        if is_ours_alone {
            leftovers::remove(folder);
        }
        let mut elsewhere = BTreeSet::new();
        let mut known = Lines::read(&path, |record| {
            if record.build != build || record.model_version != MODEL_VERSION {
                elsewhere.extend(request(&record));
            }
        })?;
        if !known.garbled.is_empty() {
            set_aside(&path, &folder.join(GARBLED), &known)?;
            // The file was replaced: the one that is open has lost its name.
            (file, _) = open_for_append(&path)?;
            let warnings = std::mem::take(&mut known.warnings);
            known = Lines::read(&path, drop)?;
            known.warnings = warnings;
        } else if file.metadata().is_ok_and(|data| data.len() > known.whole_bytes) {
            file.set_len(known.whole_bytes).map_err(writing)?;
        }
        file.seek(SeekFrom::End(0)).map_err(writing)?;
        Ok(Store {
            reader: File::open(&path).ok(),
            bytes: known.whole_bytes,
            file: path,
            sink: Box::new(file),
            known,
            elsewhere,
            broken: false,
        })
    }

    /// What the run with this key gave, if it is there.
    #[must_use]
    pub fn get(&mut self, key: &str) -> Option<Findings> {
        let place = self.known.place(key)?;
        Some(place.record(self.reader.as_mut()?)?.findings)
    }

    /// Whether another build of the program, or of the model, has run this.
    #[must_use]
    pub fn is_known_elsewhere(&self, record: &Record) -> bool {
        !self.elsewhere.is_empty()
            && request(record).is_some_and(|request| self.elsewhere.contains(&request))
    }

    /// What was found on opening that is worth a word.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.known.warnings
    }

    /// Appends a run and flushes it. A run that is there already is not written again.
    ///
    /// # Errors
    /// If the disk is full, or the like, and the store takes no more (later calls succeed and do nothing, so that
    /// it is said once); or if the run is there with other results.
    pub fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        if self.known.place(&record.key).is_some() {
            let known = self.get(&record.key);
            return if known.is_none_or(|known| known == record.findings) {
                Ok(())
            } else {
                let file = self.file.display().to_string();
                Err(StoreError::Differs { file, key: record.key.clone() })
            };
        }
        if self.broken {
            return Ok(());
        }
        let line = record.line();
        let written = self.sink.write_all(&line).and_then(|()| self.sink.flush());
        if let Err(error) = written {
            // What follows half a line would be garbled with it.
            self.broken = true;
            return Err(FileError::writing(&self.file, &error).into());
        }
        if let Ok(length) = u32::try_from(line.len() - 1) {
            self.known.insert(&record.key, Place { offset: self.bytes, length });
        }
        self.bytes += line.len() as u64;
        Ok(())
    }
}

/// What was asked for, whoever ran it.
fn request(record: &Record) -> Option<u128> {
    let digest = record.input.as_ref().map(|input| input.blake3.as_str());
    lines::digits(&record::request(record.scenario.clone(), digest, record.replication))
}

/// What a store holds.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Its runs, in the order in which they ended.
    pub records: Vec<Record>,
    /// One sentence for every line that cannot be read.
    pub warnings: Vec<String>,
}

/// Reads the store of a folder as a whole and changes nothing: some kilobytes of memory for each run, of which
/// [`Archive`] keeps 40 bytes.
///
/// # Errors
/// If there is none, it cannot be read, or it holds two different results for one run.
pub fn load(folder: &Path) -> Result<Loaded, StoreError> {
    let mut records = Vec::new();
    let lines = Lines::read(&folder.join(RUNS), |record| records.push(record))?;
    Ok(Loaded { records, warnings: lines.warnings })
}

/// The file, and whether nobody else can have it open in this way: some file systems know no locks.
fn open_for_append(path: &Path) -> Result<(File, bool), StoreError> {
    let name = || path.display().to_string();
    // Asked before it is opened: opening a pipe would wait for its other end.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(StoreError::NotRegular(name()));
    }
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(|error| FileError::writing(path, &error))?;
    // Some file systems know no locks; there, two runs into one folder are the user's own risk.
    let lock = file.try_lock();
    if matches!(lock, Err(fs::TryLockError::WouldBlock)) {
        return Err(StoreError::InUse(name()));
    }
    Ok((file, lock.is_ok()))
}

/// Moves garbled lines out of the way: they are written down elsewhere before they are taken out.
fn set_aside(path: &Path, aside: &Path, lines: &Lines) -> Result<(), StoreError> {
    let mut garbled: Vec<u8> = Vec::new();
    for line in lines.garbled.iter().filter(|line| !line.trim_ascii().is_empty()) {
        garbled.extend_from_slice(line);
        garbled.push(b'\n');
    }
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(aside)
        .and_then(|mut file| file.write_all(&garbled).and_then(|()| file.sync_all()))
        .map_err(|error| FileError::writing(aside, &error))?;
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let failed = |error: io::Error| FileError::writing(path, &error);
    let mut whole = File::create(&temporary).map(io::BufWriter::new).map_err(failed)?;
    let mut trouble = None;
    Lines::read(path, |record| {
        let written = whole.write_all(&record.line());
        trouble = trouble.take().or(written.err());
    })?;
    trouble
        .map_or(Ok(()), Err)
        .and_then(|()| whole.flush())
        .and_then(|()| whole.get_ref().sync_all())
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|error| {
            let _ = fs::remove_file(&temporary);
            failed(error).into()
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use toml::Table;

    use super::*;

    pub(crate) fn record(number: u64, value: Option<f64>) -> Record {
        Record {
            key: format!("{number:032x}"),
            scenario: serde_json::json!({ "seed": 1, "workload": { "load": 0.1 } }),
            input: (number == 2).then(|| Input {
                path: "a \"b\"\n.swf".to_owned(),
                blake3: "00".to_owned(),
                start: None,
            }),
            replication: number,
            findings: Findings {
                metrics: vec![
                    Finding { name: "wait".to_owned(), value, batches: vec![0.1, 0.2] },
                    Finding { name: "turnaround".to_owned(), value: None, batches: Vec::new() },
                ],
                by_size: vec![SizeFindings {
                    size: 4,
                    jobs: 3,
                    metrics: vec![Finding {
                        name: "wait".to_owned(),
                        value: Some(1.0),
                        batches: vec![],
                    }],
                }],
                by_user: vec![],
                by_group: vec![],
                finished: 7,
                refused: 1,
                unusable: 0,
                end: 12.5,
                speeds: if number == 1 { vec![0.5, 1.25] } else { vec![] },
                batch_jobs: 0,
                first_batch: 0,
                queue_trend: None,
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
                store.append(&record(i, Some(i as f64 / 3.0))).unwrap();
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
        again.append(&record(3, None)).unwrap();
        assert_eq!(load(folder.path()).unwrap().records.len(), 4);
    }

    #[test]
    fn two_results_for_one_run_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RUNS);
        let lines = [record(0, Some(1.0)), record(1, None), record(0, Some(2.0))];
        fs::write(&path, lines.iter().flat_map(Record::line).collect::<Vec<u8>>()).unwrap();
        assert_eq!(
            Store::open(folder.path(), BUILD).err().unwrap().to_string(),
            format!(
                "{}:3: this run has the same key as that of line 1, but other results: delete the wrong \
                 line",
                path.display()
            )
        );
        fs::write(&path, [record(0, Some(1.0)).line(), record(0, Some(1.0)).line()].concat())
            .unwrap();
        let mut store = Store::open(folder.path(), BUILD).unwrap();
        assert!(store.append(&record(0, Some(1.0))).is_ok());
        assert_eq!(
            store.append(&record(0, Some(2.0))).unwrap_err().to_string(),
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
        assert_eq!(
            Store::open(&file, BUILD).err().unwrap().to_string(),
            format!("{}: this is a file, but must be a folder for results", file.display())
        );
        let below = file.join("below");
        assert_eq!(
            Store::open(&below, BUILD).err().unwrap().to_string(),
            format!(
                "{}: this folder cannot be made, because a file stands where a folder must be",
                below.display()
            )
        );
        let odd = folder.path().join("odd");
        fs::create_dir_all(odd.join(RUNS)).unwrap();
        assert_eq!(
            Store::open(&odd, BUILD).err().unwrap().to_string(),
            format!(
                "{}: this is not a regular file, so no runs can be kept in it",
                odd.join(RUNS).display()
            )
        );
        let used = folder.path().join("used");
        let _first = Store::open(&used, BUILD).unwrap();
        assert_eq!(
            Store::open(&used, BUILD).err().unwrap().to_string(),
            format!(
                "{}: another run is writing to this file: wait for it to end",
                used.join(RUNS).display()
            )
        );
    }

    /// Takes so many bytes, and is then as full as a disk.
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
        /// A store on a disk that has room for so many bytes.
        pub(crate) fn with_room_for(bytes: usize) -> Store {
            Store {
                file: PathBuf::from("out/runs.jsonl"),
                sink: Box::new(Full(bytes)),
                reader: None,
                known: Lines::default(),
                bytes: 0,
                elsewhere: BTreeSet::new(),
                broken: false,
            }
        }
    }

    #[test]
    fn a_full_disk_is_said_once() {
        let mut store = Store::with_room_for(record(0, None).line().len() + 10);
        assert!(store.append(&record(0, None)).is_ok());
        assert_eq!(
            store.append(&record(1, None)).unwrap_err().to_string(),
            "out/runs.jsonl: this file cannot be written, the disk is full"
        );
        assert!(store.append(&record(3, None)).is_ok());
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
        store.append(&record(1, None)).unwrap();
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
        // While another one has the store, its files are let alone.
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
            let read = Record::read(given.line().strip_suffix(b"\n").unwrap()).unwrap();
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
}
