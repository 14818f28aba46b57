//! Store of finished runs: one line per run, appended when the run ends.
//!
//! A results folder holds `runs.jsonl`, with one line per run: its key, the scenario with every
//! default filled in, the replication, the measured values, and the versions that measured them. A
//! run whose key is present is not repeated: this serves resuming, extending and caching alike. All
//! tables are derived from `runs.jsonl`.

mod archive;
mod leftovers;
mod lines;
mod order;
mod record;
mod segment;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use meshwork::scenario::MODEL_VERSION;
use thiserror::Error;

use self::lines::{Handles, Lines, Place, Source};
use self::segment::Segment;
use crate::files::{FileError, Whole};
use crate::refused::is_refused;
use crate::study::input::Input;

pub use archive::Archive;
pub(crate) use leftovers::WHOLE;
pub use leftovers::is_leftover;
pub use lines::Head;
pub use record::{Keys, OwnerFindings, RunFindings, RunMetric, RunRecord, SizeFindings, json, key};
pub use segment::{Note, SEGMENTS, ShardAttempt, attempts};

pub const RUNS: &str = "runs.jsonl";

/// File that receives unreadable lines of `runs.jsonl`.
pub const GARBLED: &str = "runs.garbled";

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    #[error("{0}: this is a file, but must be a folder for results")]
    NoFolder(String),
    #[error("{0}: this is not a regular file, so no runs can be kept in it")]
    NotRegular(String),
    #[error("{0}: another run is writing to this file: wait for it to end")]
    InUse(String),
    #[error(
        "{file}:{line}: this run has the same key as that of line {first}, but other results: delete the wrong line"
    )]
    TwoResults { file: String, line: u64, first: u64 },
    #[error(
        "{first} and {second}: these two lines have the same key {key}, but other results: one of them was changed, or \
         one of two computers computes wrongly; `meshwork check` replays runs; delete the wrong line"
    )]
    TwoPayloads { key: String, first: String, second: String },
    #[error(
        "{file}: the run with the key {key} is stored with other results than it has now given"
    )]
    Differs { file: String, key: String },
    #[error(transparent)]
    File(#[from] FileError),
}

is_refused!(StoreError);

/// Runs of a results folder, open for appending, in 50 bytes of memory per run.
pub struct Store {
    file: PathBuf,
    sink: Sink,
    known: Lines,
    handles: Handles,
    bytes: u64,
    /// Digests of the requests of stored runs that come from another build or model version.
    ///
    /// A request is a scenario, its input files and a replication, so its digest is equal for all
    /// builds.
    elsewhere: BTreeSet<u128>,
    /// Segments of shards that have been merged into `runs.jsonl`.
    merged: Vec<Source>,
    /// Whether this process holds the store lock. It is false if the file system has no locks.
    is_alone: bool,
    broken: bool,
}

enum Sink {
    Whole(Box<dyn Write + Send>),
    Segment(Segment),
}

impl Store {
    /// Opens the store of a folder; creates the folder and the store if they are missing.
    ///
    /// An incomplete last line is cut off. Other unreadable lines are moved to `runs.garbled`, with
    /// a warning each. Their runs are repeated. While the store is open, no other process can open
    /// it for writing. The store also knows the runs in segments, which it does not change. If
    /// there are none, temporary files of killed processes are removed.
    pub fn open(folder: &Path, build: &str) -> Result<Store, StoreError> {
        make(folder)?;
        let path = folder.join(RUNS);
        let (mut file, is_ours_alone) = open_for_append(&path)?;
        let segments = segment::all(folder)?;
        // If there are segments, other processes may be writing beside them.
        if is_ours_alone && segments.is_empty() {
            leftovers::remove(folder);
        }
        let mut elsewhere = BTreeSet::new();
        let mut known = Lines::default();
        known.read(&path, |head, line| note_elsewhere(&mut elsewhere, head, line, build))?;
        if !known.garbled.is_empty() {
            set_aside(&path, &folder.join(GARBLED), &known)?;
            // The file was replaced, so the open file no longer has a name.
            (file, _) = open_for_append(&path)?;
            let warnings = std::mem::take(&mut known.warnings);
            known = Lines::default();
            known.read(&path, |_, _| {})?;
            known.warnings = warnings;
        }
        let bytes = known.files[0].whole_bytes;
        if file.metadata().is_ok_and(|data| data.len() > bytes) {
            file.set_len(bytes).map_err(|error| FileError::writing(&path, &error))?;
        }
        for segment in segments {
            known.read(&segment, |head, line| note_elsewhere(&mut elsewhere, head, line, build))?;
        }
        file.seek(SeekFrom::End(0)).map_err(|error| FileError::writing(&path, &error))?;
        let sink = Sink::Whole(Box::new(file));
        Ok(Store { bytes, elsewhere, is_alone: is_ours_alone, ..Store::of(path, sink, known) })
    }

    /// Opens the store of a folder for one attempt at a shard, the part of a study for one process.
    pub fn for_shard(
        folder: &Path,
        label: &str,
        attempt: &str,
        looks_into_runs: bool,
    ) -> Result<Store, StoreError> {
        make(folder)?;
        let mut known = Lines::default();
        let runs = Some(folder.join(RUNS)).filter(|runs| looks_into_runs && runs.exists());
        for path in runs.into_iter().chain(segment::of_shard(folder, label)?) {
            known.read(&path, |_, _| {})?;
        }
        let segment = Segment::create(folder, label, attempt)?;
        let path = segment.path().to_owned();
        known.files.push(Source { path: path.clone(), whole_bytes: 0, torn_bytes: 0 });
        Ok(Store::of(path, Sink::Segment(segment), known))
    }

    fn of(file: PathBuf, sink: Sink, known: Lines) -> Store {
        Store {
            file,
            sink,
            known,
            handles: Handles::default(),
            bytes: 0,
            elsewhere: BTreeSet::new(),
            merged: Vec::new(),
            is_alone: false,
            broken: false,
        }
    }

    /// Measured results of a stored run. `None` if the store has no such run, or if its line is
    /// unreadable.
    pub fn get(&mut self, key: &str) -> Option<RunFindings> {
        let place = self.known.place(key)?;
        let line = self.handles.line(&self.known, place)?;
        let findings = RunFindings::read(&line);
        if findings.is_none() {
            // The scan took the line for a run, but it is none.
            self.known.remove(key);
        }
        findings
    }

    /// Whether the index has a run with this key. The stored line of the run may still be
    /// unreadable.
    pub fn has(&self, key: u128) -> bool {
        self.known.has(key)
    }

    pub fn is_empty(&self) -> bool {
        self.known.len() == 0
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether the store has this run from another build of the program or another model version.
    pub fn is_known_elsewhere(&self, record: &RunRecord) -> bool {
        !self.elsewhere.is_empty()
            && request(record).is_some_and(|request| self.elsewhere.contains(&request))
    }

    pub fn warnings(&self) -> &[String] {
        &self.known.warnings
    }

    /// Whether a write to the store has failed. After a failure, no more runs are stored.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Moves the index of the stored runs into an archive. The store keeps its lock.
    pub(crate) fn archive(&mut self) -> Archive {
        Archive::of(std::mem::take(&mut self.known))
    }

    /// Appends a run to the store and flushes it, unless the run is stored already.
    ///
    /// A failed write is reported only once.
    pub fn append(&mut self, record: &RunRecord, took: Duration) -> Result<(), StoreError> {
        if self.known.place(&record.key).is_some() {
            let known = self.get(&record.key);
            if known.is_some_and(|known| known != record.findings) {
                let file = self.file.display().to_string();
                return Err(StoreError::Differs { file, key: record.key.clone() });
            }
            if self.known.place(&record.key).is_some() {
                return Ok(());
            }
        }
        if self.broken {
            return Ok(());
        }
        let line = record.line();
        let all = match &mut self.sink {
            Sink::Whole(sink) => {
                sink.write_all(&line).and_then(|()| sink.flush()).map(|()| line.len() as u64)
            }
            Sink::Segment(segment) => segment.run(&line, &record.key, took),
        };
        let all = all.map_err(|error| {
            // A line after an incomplete one would be unreadable as well.
            self.broken = true;
            FileError::writing(&self.file, &error)
        })?;
        // `runs.jsonl` is the first file in the index, and the store's own segment the last.
        let file = match self.sink {
            Sink::Whole(_) => 0,
            Sink::Segment(_) => u32::try_from(self.known.files.len() - 1).unwrap_or_default(),
        };
        if let Ok(length) = u32::try_from(line.len() - 1) {
            self.known.insert(&record.key, Place { file, offset: self.bytes, length });
        }
        self.bytes += all;
        Ok(())
    }

    /// Appends a note to the segment file in the store of a shard. Does nothing in other stores.
    pub fn note(&mut self, note: impl FnOnce(f64) -> Note) -> Result<(), StoreError> {
        let Sink::Segment(segment) = &mut self.sink else { return Ok(()) };
        if self.broken {
            return Ok(());
        }
        let note = note(segment.now());
        self.bytes += segment.note(&note).map_err(|error| {
            self.broken = true;
            FileError::writing(&self.file, &error)
        })?;
        Ok(())
    }

    pub fn beat(&mut self) {
        if let Sink::Segment(segment) = &mut self.sink
            && !self.broken
            && segment.write(b"\n").is_ok()
        {
            self.bytes += 1;
        }
    }

    /// Gives the segment file in the store of a shard its final name. Does nothing in other stores.
    pub fn finish(&mut self, stopped: bool) -> Result<(), StoreError> {
        match &mut self.sink {
            Sink::Segment(segment) if !self.broken => segment.finish(stopped),
            _ => Ok(()),
        }
    }

    fn reopen(&mut self) -> Result<(), StoreError> {
        let (mut file, _) = open_for_append(&self.file)?;
        let end = file.seek(SeekFrom::End(0));
        self.bytes = end.map_err(|error| FileError::writing(&self.file, &error))?;
        self.sink = Sink::Whole(Box::new(file));
        self.handles = Handles::default();
        Ok(())
    }
}

fn make(folder: &Path) -> Result<(), StoreError> {
    if folder.exists() && !folder.is_dir() {
        return Err(StoreError::NoFolder(folder.display().to_string()));
    }
    Ok(fs::create_dir_all(folder).map_err(|error| FileError::making(folder, &error))?)
}

fn note_elsewhere(elsewhere: &mut BTreeSet<u128>, head: &Head<'_>, line: &[u8], build: &str) {
    if head.build != build || head.model_version != MODEL_VERSION {
        elsewhere.extend(RunRecord::read(line).as_ref().and_then(request));
    }
}

fn request(record: &RunRecord) -> Option<u128> {
    let digest = record.input.as_ref().map(Input::digest);
    lines::digits(&record::request(record.scenario.clone(), digest.as_deref(), record.replication))
}

#[derive(Clone, Debug, Default)]
pub struct Loaded {
    pub records: Vec<RunRecord>,
    pub warnings: Vec<String>,
}

/// Reads all stored runs into memory, at some kilobytes per run. An [`Archive`] needs only 50 bytes
/// per run.
pub fn load(folder: &Path) -> Result<Loaded, StoreError> {
    let mut records = Vec::new();
    let archive = Archive::open(folder, |_, line| records.extend(RunRecord::read(line)))?;
    Ok(Loaded { records, warnings: archive.warnings().to_vec() })
}

/// Opens a file for appending. Returns the file, and whether it could be locked.
fn open_for_append(path: &Path) -> Result<(File, bool), StoreError> {
    let name = || path.display().to_string();
    // Check before opening: opening a pipe would wait for its other end.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(StoreError::NotRegular(name()));
    }
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(|error| FileError::writing(path, &error))?;
    // Some file systems support no locks.
    let lock = file.try_lock();
    if matches!(lock, Err(fs::TryLockError::WouldBlock)) {
        return Err(StoreError::InUse(name()));
    }
    Ok((file, lock.is_ok()))
}

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
    let failed = |error: io::Error| FileError::writing(path, &error);
    let mut whole = Whole::create(path).map(io::BufWriter::new).map_err(failed)?;
    let mut error = None;
    Lines::default().read(path, |_, line| {
        let written = whole.write_all(line).and_then(|()| whole.write_all(b"\n"));
        error = error.take().or(written.err());
    })?;
    let written = error.map_or(Ok(()), Err);
    let written = written.and_then(|()| whole.into_inner()?.finish());
    written.map_err(|error| failed(error).into())
}

#[cfg(test)]
mod tests;
