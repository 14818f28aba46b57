//! Questions of those who operate a machine, answered from its own history.
//!
//! [`sacct`] reads what Slurm remembers, [`kueue`] what Kueue does, [`swf`] a log without nodes, and [`history`] is what all readers make of it; [`quality`] says how far it can
//! be relied on, [`unmodelled`] what it has that no replay knows, [`places`] whether nodes are a
//! place that the machine's lists have. [`folder`] keeps a machine with its
//! history. [`plan`] is what backfill plans, [`forecast`] lets a history happen again, [`causes`] says what jobs wait for
//! meanwhile, and [`fidelity`] holds it against the rule. [`compare`] lets it happen under several topologies, with [`paired`]
//! intervals and [`unlisted`] sizes, and [`propose`] searches a better one. A [`state`] is a machine at one instant, of which [`explain`] says why a job waits, and [`defrag`] what would make room;
//! an [`instant`] is that of a simulated run, or of a pool, whatever its allocator is.

pub mod causes;
pub mod compare;
pub mod defrag;
mod desks;
pub mod explain;
pub mod fidelity;
pub mod folder;
pub mod forecast;
pub mod history;
pub mod instant;
pub mod kueue;
pub mod order;
pub mod paired;
pub mod places;
pub mod plan;
pub mod propose;
pub mod quality;
pub mod sacct;
pub mod state;
pub mod swf;
pub mod unlisted;
pub mod unmodelled;

use std::fmt;
use std::path::Path;

use crate::run::file::{FileError, MAX_RECORDS, bounded, read_whole};

/// Something that is wrong with a file, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The file.
    pub file: String,
    /// The line, from 1; none for the file as a whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub says: String,
}

impl Trouble {
    /// Something that is wrong with a line.
    #[must_use]
    pub fn at(file: &str, line: usize, says: impl Into<String>) -> Trouble {
        Trouble { file: file.to_owned(), line: Some(line), says: says.into() }
    }

    /// Something that is wrong with a file as a whole.
    #[must_use]
    pub fn of(file: &str, says: impl Into<String>) -> Trouble {
        Trouble { file: file.to_owned(), line: None, says: says.into() }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        write!(f, "{}{line}: {}", self.file, self.says)
    }
}

/// The text of a file of at most [`MAX_RECORDS`] bytes, unpacked where it is packed by gzip.
///
/// # Errors
/// If it cannot be read, is longer, or is no text.
pub fn read_text(path: &Path) -> Result<String, Trouble> {
    let file = path.display().to_string();
    let unread = |error: FileError| {
        let says = error.to_string();
        Trouble::of(&file, says.strip_prefix(&format!("{file}: ")).unwrap_or(&says))
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
        Trouble::at(&file, line + 1, "this line is no text in UTF-8")
    })
}
