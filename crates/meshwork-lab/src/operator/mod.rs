//! Answers questions of a machine's operators, from the history of the machine's own jobs.
//!
//! [`sacct`] reads Slurm's accounting records, [`kueue`] reads Kueue's workloads, and [`swf`] reads
//! a log without nodes. Each of them produces a [`history`]. [`quality`] reports how reliable the
//! history is, and [`unmodelled`] lists the features of a site that a replay ignores. [`places`]
//! tests whether nodes form a listed place of the machine. [`folder`] stores a machine with its
//! history.
//!
//! [`controller`] models Slurm's controller with its two schedulers, and replays histories.
//! [`causes`] records what jobs wait for during a replay. [`fidelity`] compares the model with
//! recorded starts. [`when`] predicts the starts of waiting jobs from sampled futures.
//!
//! [`compare`] replays a history under several topologies, with [`paired`] intervals and a
//! treatment of [`unlisted`] sizes. [`propose`] searches for a better topology. A [`state`] is a
//! Slurm machine at one instant: [`explain`] finds why a job waits, and [`defrag`] finds moves of
//! jobs that free a listed place. An [`instant`] is the state of a simulated run, or of a pool with
//! any allocator.

pub mod causes;
pub mod compare;
pub mod controller;
pub mod defrag;
pub mod explain;
pub mod fidelity;
pub mod folder;
pub mod history;
pub mod instant;
pub mod kueue;
pub mod paired;
pub mod places;
pub mod propose;
pub mod quality;
pub mod sacct;
pub mod state;
pub mod swf;
pub mod unlisted;
pub mod unmodelled;
pub mod when;

use std::fmt;
use std::path::Path;

use crate::run::file::{FileError, MAX_RECORDS, bounded, read_whole};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    pub file: String,
    /// Line number, counted from 1; `None` for the file as a whole.
    pub line: Option<usize>,
    pub says: String,
}

impl FileProblem {
    #[must_use]
    pub fn at(file: &str, line: usize, says: impl Into<String>) -> FileProblem {
        FileProblem { file: file.to_owned(), line: Some(line), says: says.into() }
    }

    #[must_use]
    pub fn of(file: &str, says: impl Into<String>) -> FileProblem {
        FileProblem { file: file.to_owned(), line: None, says: says.into() }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        write!(f, "{}{line}: {}", self.file, self.says)
    }
}

/// Reads a text file of at most [`MAX_RECORDS`] bytes, which may be compressed by gzip.
pub fn read_text(path: &Path) -> Result<String, FileProblem> {
    let file = path.display().to_string();
    let unread = |error: FileError| {
        let says = error.to_string();
        FileProblem::of(&file, says.strip_prefix(&format!("{file}: ")).unwrap_or(&says))
    };
    let mut bytes = read_whole(&file, path, MAX_RECORDS).map_err(unread)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let reader = flate2::read::MultiGzDecoder::new(&bytes[..]);
        bytes = bounded(&file, path, reader, MAX_RECORDS).map_err(unread)?;
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        FileProblem::at(&file, line + 1, "this line is no text in UTF-8")
    })
}
