//! Questions of operators, answered from the history of their own machine.
//!
//! [`sacct`] reads Slurm's accounting records, [`kueue`] Kueue's workloads, and [`swf`] a log
//! without nodes; all of them produce a [`history`]. [`quality`] reports how reliable it is,
//! [`unmodelled`] lists the features of a site that a replay ignores, and [`places`] tests whether
//! nodes are a listed place of the machine. [`folder`] stores a machine with its history.
//!
//! [`controller`] models Slurm's controller with its two schedulers and replays histories, and
//! [`causes`] records what jobs wait for meanwhile. [`fidelity`] compares it with recorded starts,
//! and [`when`] estimates starts of waiting jobs over sampled futures.
//!
//! [`compare`] replays a history under several topologies, with [`paired`] intervals and
//! [`unlisted`] sizes, and [`propose`] searches a better topology. A [`state`] is a machine at one
//! instant, for which [`explain`] says why a job waits and [`defrag`] which moves free a place; an
//! [`instant`] is the state of a simulated run or of a pool with any allocator.

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

/// A problem with a file, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    pub file: String,
    /// The line, from 1; `None` for the file as a whole.
    pub line: Option<usize>,
    pub says: String,
}

impl FileProblem {
    /// A problem with a line.
    #[must_use]
    pub fn at(file: &str, line: usize, says: impl Into<String>) -> FileProblem {
        FileProblem { file: file.to_owned(), line: Some(line), says: says.into() }
    }

    /// A problem with a file as a whole.
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

/// The text of a file of at most [`MAX_RECORDS`] bytes, decompressed if it is gzip.
///
/// # Errors
/// If it cannot be read, is longer, or is no text.
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
