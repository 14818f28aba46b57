//! Segment files, each with the runs of one attempt at a shard (the part of a study for one
//! process).
//!
//! So no file has two writers. An attempt writes `runs/SHARD.ATTEMPT.jsonl`, named `….jsonl.part`
//! until it has ended. Its lines are runs as in `runs.jsonl` and **notes**, which begin with other
//! keys. An empty line is a heartbeat. Times are seconds since the attempt began, so that no two
//! clocks are compared.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::StoreError;
use super::lines::digits;
use crate::files::FileError;

pub const SEGMENTS: &str = "runs";

const PART: &str = ".jsonl.part";
const WHOLE: &str = ".jsonl";

/// Time between two syncs of a file to disk. If a computer crashes, runs of this time may be lost.
const SYNC_EVERY: Duration = Duration::from_secs(15);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    Segment {
        shard: u64,
        of: u64,
        host: String,
        threads: usize,
        /// Number of runs that this attempt at the shard must make, as far as known at its start.
        runs: u64,
    },
    Ended {
        key: String,
        took: f64,
        at: f64,
    },
    Failed {
        scenario: usize,
        replication: u64,
        message: String,
        at: f64,
    },
    Over {
        at: f64,
        stopped: bool,
    },
}

impl Note {
    fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("a note is plain data");
        line.push(b'\n');
        line
    }
}

pub(super) fn is_note(line: &[u8]) -> bool {
    let begins = |word: &str| line.starts_with(word.as_bytes());
    line.is_empty()
        || ["{\"segment\":", "{\"ended\":", "{\"failed\":", "{\"over\":"].into_iter().any(begins)
}

pub(super) fn is_segment(path: &Path) -> bool {
    let is_inside = path.parent().is_some_and(|parent| parent.ends_with(SEGMENTS));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    is_inside && name.is_some_and(|name| name.ends_with(WHOLE) || name.ends_with(PART))
}

pub(super) fn all(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let folder = folder.join(SEGMENTS);
    let failed =
        |error: io::Error| FileError::reading(&folder.display().to_string(), &folder, &error);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(failed(error).into()),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        // The directory entry gives the file type, which avoids a query for each of many files.
        if is_segment(&path) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Opens a segment, which may have received its final name since the folder was listed.
pub(super) fn open(path: &Path) -> io::Result<File> {
    File::open(path).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound if is_segment(path) => File::open(whole_of(path)),
        _ => Err(error),
    })
}

pub(super) fn of_shard(folder: &Path, label: &str) -> Result<Vec<PathBuf>, StoreError> {
    let begin = format!("{label}.");
    let mut found = all(folder)?;
    found.retain(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&begin))
    });
    Ok(found)
}

pub(super) struct Segment {
    file: File,
    part: PathBuf,
    began: Instant,
    synced: Instant,
}

impl Segment {
    /// Creates the segment file of an attempt, named after the attempt. If that name is taken, a
    /// number is added to it.
    pub(super) fn create(folder: &Path, label: &str, attempt: &str) -> Result<Segment, StoreError> {
        let folder = folder.join(SEGMENTS);
        fs::create_dir_all(&folder).map_err(|error| FileError::making(&folder, &error))?;
        for number in 0_u32.. {
            let count = if number == 0 { String::new() } else { format!("-{number}") };
            let part = folder.join(format!("{label}.{attempt}{count}{PART}"));
            if whole_of(&part).exists() {
                continue;
            }
            match OpenOptions::new().append(true).create_new(true).open(&part) {
                Ok(file) => {
                    let now = Instant::now();
                    return Ok(Segment { file, part, began: now, synced: now });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(FileError::writing(&part, &error).into()),
            }
        }
        unreachable!("there are more numbers than attempts")
    }

    pub(super) fn path(&self) -> &Path {
        &self.part
    }

    /// Seconds since the attempt began, rounded to milliseconds.
    pub(super) fn now(&self) -> f64 {
        millis(self.began.elapsed())
    }

    /// Appends bytes to the file. They are synced to disk if the last sync is at least `SYNC_EVERY`
    /// ago.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        if self.synced.elapsed() >= SYNC_EVERY {
            self.synced = Instant::now();
            self.file.sync_data()?;
        }
        Ok(())
    }

    pub(super) fn note(&mut self, note: &Note) -> io::Result<u64> {
        let line = note.line();
        self.write(&line)?;
        Ok(line.len() as u64)
    }

    /// Writes a run's line and a note of the run's duration; returns the number of bytes.
    pub(super) fn run(&mut self, line: &[u8], key: &str, took: Duration) -> io::Result<u64> {
        let note = Note::Ended { key: key.to_owned(), took: millis(took), at: self.now() };
        let both = [line, &note.line()].concat();
        self.write(&both)?;
        Ok(both.len() as u64)
    }

    /// Completes the segment file and gives it its final name. This also works if the file was
    /// already merged and removed.
    pub(super) fn finish(&mut self, stopped: bool) -> Result<(), StoreError> {
        let writing = |error: io::Error| FileError::writing(&self.part, &error);
        let line = Note::Over { at: self.now(), stopped }.line();
        self.file.write_all(&line).and_then(|()| self.file.sync_all()).map_err(writing)?;
        match fs::rename(&self.part, whole_of(&self.part)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(writing(error).into()),
            _ => Ok(()),
        }
    }
}

pub(super) fn whole_of(part: &Path) -> PathBuf {
    let name = part.to_string_lossy();
    PathBuf::from(name.strip_suffix(".part").unwrap_or(&name))
}

fn millis(duration: Duration) -> f64 {
    duration.as_millis() as f64 / 1000.0
}

#[derive(Clone, Debug)]
pub struct ShardAttempt {
    pub path: PathBuf,
    pub is_whole: bool,
    /// Time of the last write, by the clock of the file system.
    pub touched: Option<std::time::SystemTime>,
    pub ended: u64,
    /// Time at which the attempt's last run ended, in seconds since the attempt began.
    pub last: f64,
    pub notes: Vec<Note>,
}

/// Reads the notes about attempts at shards from all segments of a folder.
pub fn attempts(
    folder: &Path,
    mut each: impl FnMut(u128, f64),
) -> Result<Vec<ShardAttempt>, StoreError> {
    let mut attempts = Vec::new();
    for path in all(folder)? {
        let failed =
            |error: io::Error| FileError::reading(&path.display().to_string(), &path, &error);
        let file = match open(&path) {
            Ok(file) => file,
            // The segment has been merged since the folder was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(error).into()),
        };
        let touched = file.metadata().and_then(|data| data.modified()).ok();
        let is_whole = !path.to_string_lossy().ends_with(PART);
        let notes = Vec::new();
        let mut attempt =
            ShardAttempt { path: path.clone(), is_whole, touched, ended: 0, last: 0.0, notes };
        let mut reader = BufReader::with_capacity(1 << 18, file);
        let mut line = Vec::new();
        while reader.by_ref().read_until(b'\n', &mut line).map_err(failed)? > 0 {
            if line.pop() == Some(b'\n') && !line.is_empty() && is_note(&line) {
                match serde_json::from_slice(&line) {
                    Ok(Note::Ended { key, took, at }) => {
                        attempt.ended += 1;
                        attempt.last = at;
                        if let Some(key) = digits(&key) {
                            each(key, took);
                        }
                    }
                    Ok(note) => attempt.notes.push(note),
                    Err(_) => {}
                }
            }
            line.clear();
        }
        attempts.push(attempt);
    }
    Ok(attempts)
}
