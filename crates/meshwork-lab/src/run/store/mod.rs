//! Store of finished runs: one line per run, appended when the run ends.
//!
//! A results folder holds `runs.jsonl`, with one line per run: its key, the scenario with every
//! default filled in, the replication, the measured values, and the versions that measured them.
//! The key identifies the run, and a run whose key is present is not repeated. So resuming after a
//! kill, extending a sweep and caching are one mechanism. The tables of results are derived from
//! `runs.jsonl` and may be deleted.

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
use crate::run::file::{FileError, Whole};

pub use archive::Archive;
pub(crate) use leftovers::WHOLE;
pub use leftovers::is_leftover;
pub use lines::Head;
pub use record::{
    Input, Keys, OwnerFindings, RunFindings, RunMetric, RunRecord, SizeFindings, Trace, digest_of,
    json, key,
};
pub use segment::{Note, SEGMENTS, ShardAttempt, attempts};

/// Name of the file of runs in a results folder.
pub const RUNS: &str = "runs.jsonl";

/// Name of the file to which unreadable lines of `runs.jsonl` are moved.
pub const GARBLED: &str = "runs.garbled";

/// Reason why a store cannot be opened or written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The path is a file instead of a results folder.
    #[error("{0}: this is a file, but must be a folder for results")]
    NoFolder(String),
    /// `runs.jsonl` is a folder, a pipe or a device.
    #[error("{0}: this is not a regular file, so no runs can be kept in it")]
    NotRegular(String),
    /// Another process has the store open.
    #[error("{0}: another run is writing to this file: wait for it to end")]
    InUse(String),
    /// Two lines of one file give different results for a run.
    #[error(
        "{file}:{line}: this run has the same key as that of line {first}, but other results: delete the wrong line"
    )]
    TwoResults {
        file: String,
        /// Number of the line with the later result of the run, from 1.
        line: u64,
        /// Number of the line with the earlier result of the run, from 1.
        first: u64,
    },
    /// Two files give different results for a run.
    #[error(
        "{first} and {second}: these two lines have the same key {key}, but other results: one of them was changed, or \
         one of two computers computes wrongly; `meshwork check` replays runs; delete the wrong line"
    )]
    TwoPayloads {
        key: String,
        /// File and line number of the earlier result of the run.
        first: String,
        /// File and line number of the later result of the run.
        second: String,
    },
    /// A run that was made again has given other results than the stored ones.
    #[error(
        "{file}: the run with the key {key} is stored with other results than it has now given"
    )]
    Differs {
        file: String,
        /// Key of the run.
        key: String,
    },
    #[error(transparent)]
    File(#[from] FileError),
}

/// Runs of a results folder, open for appending.
///
/// # Complexity
/// Some 50 bytes of memory per run: the findings of a run are read from its line when needed.
pub struct Store {
    file: PathBuf,
    sink: Sink,
    known: Lines,
    handles: Handles,
    /// Length of the file of runs, in bytes.
    bytes: u64,
    /// Runs that another build or model version has made, as digests that do not depend on the
    /// build. See [`Store::is_known_elsewhere`].
    elsewhere: BTreeSet<u128>,
    /// Segments (files of runs of single processes) that have been merged into `runs.jsonl`.
    merged: Vec<Source>,
    /// Whether this process holds the lock on the file of runs; some file systems have no locks.
    is_alone: bool,
    broken: bool,
}

/// File to which new runs are appended.
enum Sink {
    /// Appends runs to the file `runs.jsonl`.
    Whole(Box<dyn Write + Send>),
    /// Appends runs to a segment, a file of runs that only one attempt at a shard writes.
    Segment(Segment),
}

impl Store {
    /// Opens the store of a folder; creates the folder and the store if they are missing.
    ///
    /// A last line without a line break is incomplete because its process was killed. It is cut
    /// off, and its run is repeated. Other unreadable lines are moved to `runs.garbled`, with a
    /// warning each, and their runs are repeated. While the store is open, no other process can
    /// open it for writing. The store also knows the runs in segments, to which other processes may
    /// still append, and does not change segments. If there are no segments, temporary files of
    /// killed processes are removed.
    ///
    /// # Errors
    /// If the folder cannot be created or written, `runs.jsonl` is no regular file or is in use, or
    /// there are two different results for one run.
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
        Ok(Store {
            file: path,
            sink: Sink::Whole(Box::new(file)),
            known,
            handles: Handles::default(),
            bytes,
            elsewhere,
            merged: Vec::new(),
            is_alone: is_ours_alone,
            broken: false,
        })
    }

    /// Opens the store of a folder for one attempt at a shard, the part of a study for one process.
    ///
    /// Runs are written to a segment, a file for this attempt only. No other file is written. The
    /// store knows runs of earlier attempts at the shard and, if `looks_into_runs`, of
    /// `runs.jsonl`. `label` names the shard, and `attempt` the attempt.
    ///
    /// # Errors
    /// If the folder cannot be created or written, a file cannot be read, or there are two
    /// different results for one run.
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
        Ok(Store {
            file: path,
            sink: Sink::Segment(segment),
            known,
            handles: Handles::default(),
            bytes: 0,
            elsewhere: BTreeSet::new(),
            merged: Vec::new(),
            is_alone: false,
            broken: false,
        })
    }

    /// Findings of the run with the key `key`; `None` if there is none or its line is unreadable.
    #[must_use]
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

    /// Whether a run with the key `key` is indexed. Its line may still turn out to be unreadable.
    #[must_use]
    pub fn has(&self, key: u128) -> bool {
        self.known.has(key)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.len() == 0
    }

    /// Number of runs in the store.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether another build of the program, or another model version, has already made a run.
    #[must_use]
    pub fn is_known_elsewhere(&self, record: &RunRecord) -> bool {
        !self.elsewhere.is_empty()
            && request(record).is_some_and(|request| self.elsewhere.contains(&request))
    }

    /// Warnings from opening the store, one sentence each.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.known.warnings
    }

    /// Whether a write has failed. After a failure no more runs are stored.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Moves the index of the stored runs into an archive, which can only be read.
    ///
    /// The store keeps its lock, so until it is dropped no other process can write.
    pub(crate) fn archive(&mut self) -> Archive {
        Archive::of(std::mem::take(&mut self.known))
    }

    /// Appends a run and flushes it; `took` is the duration of the run. A run that is already
    /// stored is not written again.
    ///
    /// # Errors
    /// If a write fails, for instance because the disk is full, or if the run is stored with
    /// different results. After a failed write, later calls do nothing and succeed, so that the
    /// failure is reported once.
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

    /// Appends a note, such as that on a failed run, to the segment of a shard. Does nothing if the
    /// store is not opened for a shard.
    ///
    /// # Errors
    /// If a write fails, as for [`append`](Store::append).
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

    /// Writes a heartbeat, which is an empty line, into the segment (file of runs) of a shard.
    pub fn beat(&mut self) {
        if let Sink::Segment(segment) = &mut self.sink
            && !self.broken
            && segment.write(b"\n").is_ok()
        {
            self.bytes += 1;
        }
    }

    /// Ends the segment (file of runs) of a shard and gives it its final name. Does nothing if the
    /// store is not opened for a shard.
    ///
    /// # Errors
    /// If the file cannot be written or renamed; the runs in the segment count nevertheless.
    pub fn finish(&mut self, stopped: bool) -> Result<(), StoreError> {
        match &mut self.sink {
            Sink::Segment(segment) if !self.broken => segment.finish(stopped),
            _ => Ok(()),
        }
    }

    /// Opens the file of runs again after it was replaced by a new one.
    fn reopen(&mut self) -> Result<(), StoreError> {
        let (mut file, _) = open_for_append(&self.file)?;
        let end = file.seek(SeekFrom::End(0));
        self.bytes = end.map_err(|error| FileError::writing(&self.file, &error))?;
        self.sink = Sink::Whole(Box::new(file));
        self.handles = Handles::default();
        Ok(())
    }
}

/// Creates a results folder if it is missing.
fn make(folder: &Path) -> Result<(), StoreError> {
    if folder.exists() && !folder.is_dir() {
        return Err(StoreError::NoFolder(folder.display().to_string()));
    }
    fs::create_dir_all(folder).map_err(|error| FileError::making(folder, &error))?;
    Ok(())
}

/// Records the digest of a run if another build or model version made it.
///
/// Only the lines of such runs are read completely.
fn note_elsewhere(elsewhere: &mut BTreeSet<u128>, head: &Head<'_>, line: &[u8], build: &str) {
    if head.build != build || head.model_version != MODEL_VERSION {
        elsewhere.extend(RunRecord::read(line).as_ref().and_then(request));
    }
}

/// Digest of a run without its build, so that the digest is the same for all builds of the program.
fn request(record: &RunRecord) -> Option<u128> {
    let digest = record.input.as_ref().map(Input::digest);
    lines::digits(&record::request(record.scenario.clone(), digest.as_deref(), record.replication))
}

/// Whole contents of a store.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Runs of the store, in the order of its files.
    pub records: Vec<RunRecord>,
    /// Warnings about unreadable lines, one sentence each.
    pub warnings: Vec<String>,
}

/// Reads the whole store of a folder without changing it. Takes some kilobytes of memory per run,
/// while [`Archive`] takes 50 bytes.
///
/// # Errors
/// If the store cannot be read, or holds two different results for one run.
pub fn load(folder: &Path) -> Result<Loaded, StoreError> {
    let mut records = Vec::new();
    let archive = Archive::open(folder, |_, line| records.extend(RunRecord::read(line)))?;
    Ok(Loaded { records, warnings: archive.warnings().to_vec() })
}

/// Opens a file for appending. The flag is true if the file could be locked.
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
    // Some file systems support no locks; there, running two studies into one folder is at the
    // user's risk.
    let lock = file.try_lock();
    if matches!(lock, Err(fs::TryLockError::WouldBlock)) {
        return Err(StoreError::InUse(name()));
    }
    Ok((file, lock.is_ok()))
}

/// Moves unreadable lines of a file to the file `aside`. They are written to `aside` before they
/// are removed.
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
