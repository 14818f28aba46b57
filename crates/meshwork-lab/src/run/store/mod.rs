//! The store: one line for every run that has ended, appended as it ends.
//!
//! A folder holds `runs.jsonl`. A line is one run: its key, the scenario with every default filled
//! in, the replication, what was measured, and the versions that measured it. The key says what was
//! run, so that resuming after a kill, extending a sweep and caching are one mechanism: a key that
//! is present is not run again. Everything else in the folder is derived and may be deleted.

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
    Finding, Findings, Input, Keys, OwnerFindings, Record, SizeFindings, Trace, digest_of, json,
    key,
};
pub use segment::{Attempt, Note, SEGMENTS, attempts};

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
    /// Two files give different results for one run.
    #[error(
        "{first} and {second}: these two lines have the same key {key}, but other results: one of them was changed, or \
         one of two computers computes wrongly; `meshwork check` replays runs; delete the wrong line"
    )]
    TwoPayloads {
        /// The key of the run.
        key: String,
        /// The earlier line: its file and number.
        first: String,
        /// The later one.
        second: String,
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
/// Some 50 bytes of memory for each run: what it gave is read again from its line.
pub struct Store {
    file: PathBuf,
    sink: Sink,
    known: Lines,
    handles: Handles,
    /// How long the file is.
    bytes: u64,
    /// What other builds of the program have run.
    elsewhere: BTreeSet<u128>,
    /// Segments whose runs are in the file now.
    merged: Vec<Source>,
    /// Whether nobody else can have the file open: some file systems know no locks.
    is_alone: bool,
    broken: bool,
}

/// Where new runs go.
enum Sink {
    /// To the file of all runs.
    Whole(Box<dyn Write + Send>),
    /// To a file of this attempt alone.
    Segment(Segment),
}

impl Store {
    /// Opens the store of a folder; makes both where they are missing.
    ///
    /// A last line without a line break was torn by a kill: it is cut off, and its run will run
    /// again. Garbled lines elsewhere are moved to `runs.garbled`, with a warning for each, and their
    /// runs will run again. No other process can open the store for writing meanwhile, and files that one left
    /// unfinished when it was killed are removed. Runs in segments, which other processes may still write, are known
    /// too, and nothing is changed there.
    ///
    /// # Errors
    /// If the folder cannot be made or written, `runs.jsonl` is no regular file or is in use, or there are two
    /// different results for one run.
    pub fn open(folder: &Path, build: &str) -> Result<Store, StoreError> {
        make(folder)?;
        let path = folder.join(RUNS);
        let (mut file, is_ours_alone) = open_for_append(&path)?;
        let segments = segment::all(folder)?;
        // Where there are segments, somebody else may be writing beside them.
        if is_ours_alone && segments.is_empty() {
            leftovers::remove(folder);
        }
        let mut elsewhere = BTreeSet::new();
        let mut known = Lines::default();
        known.read(&path, |head, line| note_elsewhere(&mut elsewhere, head, line, build))?;
        if !known.garbled.is_empty() {
            set_aside(&path, &folder.join(GARBLED), &known)?;
            // The file was replaced: the one that is open has lost its name.
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

    /// Opens the store of a folder for one attempt at a shard: runs go to a segment of its own, and nothing else is
    /// written. It knows the runs of earlier attempts at the same shard and, if it is to look there, those of
    /// `runs.jsonl`. `label` names the shard and `attempt` the attempt.
    ///
    /// # Errors
    /// If the folder cannot be made or written, a file cannot be read, or there are two different results for one run.
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

    /// What the run with this key gave, if it is there.
    #[must_use]
    pub fn get(&mut self, key: &str) -> Option<Findings> {
        let place = self.known.place(key)?;
        let line = self.handles.line(&self.known, place)?;
        let findings = Findings::read(&line);
        if findings.is_none() {
            // It looked like a run, and is none.
            self.known.remove(key);
        }
        findings
    }

    /// Whether the run with this key, as a number, seems to be there: that it can be read is not sure.
    #[must_use]
    pub fn has(&self, key: u128) -> bool {
        self.known.has(key)
    }

    /// Whether no run is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.len() == 0
    }

    /// How many runs are there.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
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

    /// Whether it takes no more, because the disk is full or the like.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Gives away all that it knows, to be looked into; until it is dropped it still keeps others from writing.
    pub(crate) fn archive(&mut self) -> Archive {
        Archive::of(std::mem::take(&mut self.known))
    }

    /// Appends a run, which took so long, and flushes it. A run that is there already is not written again.
    ///
    /// # Errors
    /// If the disk is full, or the like, and the store takes no more (later calls succeed and do nothing, so that
    /// it is said once); or if the run is there with other results.
    pub fn append(&mut self, record: &Record, took: Duration) -> Result<(), StoreError> {
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
            // What follows half a line would be garbled with it.
            self.broken = true;
            FileError::writing(&self.file, &error)
        })?;
        // The file of all runs is the first that was read, and a segment of one's own the last.
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

    /// Notes in the segment of a shard; nothing elsewhere.
    ///
    /// # Errors
    /// As [`append`](Store::append).
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

    /// Says in the segment of a shard that it is alive.
    pub fn beat(&mut self) {
        if let Sink::Segment(segment) = &mut self.sink
            && !self.broken
            && segment.write(b"\n").is_ok()
        {
            self.bytes += 1;
        }
    }

    /// Ends the segment of a shard, which gets the name of a whole one; does nothing elsewhere.
    ///
    /// # Errors
    /// If that cannot be: what is in it counts all the same.
    pub fn finish(&mut self, stopped: bool) -> Result<(), StoreError> {
        match &mut self.sink {
            Sink::Segment(segment) if !self.broken => segment.finish(stopped),
            _ => Ok(()),
        }
    }

    /// The file was replaced: goes on with the new one.
    fn reopen(&mut self) -> Result<(), StoreError> {
        let (mut file, _) = open_for_append(&self.file)?;
        let end = file.seek(SeekFrom::End(0));
        self.bytes = end.map_err(|error| FileError::writing(&self.file, &error))?;
        self.sink = Sink::Whole(Box::new(file));
        self.handles = Handles::default();
        Ok(())
    }
}

/// Makes the folder of results, where it is missing.
fn make(folder: &Path) -> Result<(), StoreError> {
    if folder.exists() && !folder.is_dir() {
        return Err(StoreError::NoFolder(folder.display().to_string()));
    }
    fs::create_dir_all(folder).map_err(|error| FileError::making(folder, &error))?;
    Ok(())
}

/// What another build has run is read as a whole: that is rare.
fn note_elsewhere(elsewhere: &mut BTreeSet<u128>, head: &Head<'_>, line: &[u8], build: &str) {
    if head.build != build || head.model_version != MODEL_VERSION {
        elsewhere.extend(Record::read(line).as_ref().and_then(request));
    }
}

/// What was asked for, whoever ran it.
fn request(record: &Record) -> Option<u128> {
    let digest = record.input.as_ref().map(Input::digest);
    lines::digits(&record::request(record.scenario.clone(), digest.as_deref(), record.replication))
}

/// What a store holds.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Its runs, in the order in which they stand there.
    pub records: Vec<Record>,
    /// One sentence for every line that cannot be read.
    pub warnings: Vec<String>,
}

/// Reads the store of a folder as a whole and changes nothing: some kilobytes of memory for each run, of which
/// [`Archive`] keeps 50 bytes.
///
/// # Errors
/// If there is none, it cannot be read, or it holds two different results for one run.
pub fn load(folder: &Path) -> Result<Loaded, StoreError> {
    let mut records = Vec::new();
    let archive = Archive::open(folder, |_, line| records.extend(Record::read(line)))?;
    Ok(Loaded { records, warnings: archive.warnings().to_vec() })
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
    let failed = |error: io::Error| FileError::writing(path, &error);
    let mut whole = Whole::create(path).map(io::BufWriter::new).map_err(failed)?;
    let mut trouble = None;
    Lines::default().read(path, |_, line| {
        let written = whole.write_all(line).and_then(|()| whole.write_all(b"\n"));
        trouble = trouble.take().or(written.err());
    })?;
    let written = trouble.map_or(Ok(()), Err);
    let written = written.and_then(|()| whole.into_inner()?.finish());
    written.map_err(|error| failed(error).into())
}

#[cfg(test)]
mod tests;
