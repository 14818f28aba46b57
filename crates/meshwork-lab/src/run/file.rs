//! Files that are read, and written whole or not at all; why they cannot be, in a sentence.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use thiserror::Error;

/// Why a file or a folder cannot be read or written. The operating system's own words differ from system to system;
/// the common cases are put in ours.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FileError {
    /// A folder stands where a file must be.
    #[error("{0}: this is a directory, but must be a file")]
    IsFolder(String),
    /// Nothing is there to be read.
    #[error("{0}: there is no such file")]
    Missing(String),
    /// The file may not be read.
    #[error("{0}: this file may not be read")]
    NotReadable(String),
    /// It is a pipe or a device.
    #[error("{0}: this is not a regular file, and every run reads it anew")]
    NotRegular(String),
    /// It cannot be read for another reason.
    #[error("{path}: cannot be read ({why})")]
    Unread {
        /// The file.
        path: String,
        /// The operating system's own words.
        why: String,
    },
    /// The file or folder may not be written.
    #[error("{path}: {what} may not be written")]
    NotWritable {
        /// Where it is.
        path: String,
        /// `this file` or `this folder`.
        what: &'static str,
    },
    /// The disk is full.
    #[error("{path}: {what} cannot be written, the disk is full")]
    Full {
        /// Where it is.
        path: String,
        /// `this file` or `this folder`.
        what: &'static str,
    },
    /// A file stands where a folder must be.
    #[error("{path}: {what} cannot be made, because a file stands where a folder must be")]
    InTheWay {
        /// Where it is.
        path: String,
        /// `this file` or `this folder`.
        what: &'static str,
    },
    /// The folder that it should lie in is not there.
    #[error("{path}: {what} cannot be written, because its folder does not exist")]
    NoFolder {
        /// Where it is.
        path: String,
        /// `this file` or `this folder`.
        what: &'static str,
    },
    /// It cannot be written for another reason.
    #[error("{path}: {what} cannot be written ({why})")]
    Unwritten {
        /// Where it is.
        path: String,
        /// `this file` or `this folder`.
        what: &'static str,
        /// The operating system's own words.
        why: String,
    },
}

impl FileError {
    /// Why the file at `path`, which the user knows as `shown`, cannot be read.
    pub(crate) fn reading(shown: &str, path: &Path, error: &io::Error) -> FileError {
        let shown = shown.to_owned();
        match error.kind() {
            _ if path.is_dir() => FileError::IsFolder(shown),
            io::ErrorKind::NotFound => FileError::Missing(shown),
            io::ErrorKind::PermissionDenied => FileError::NotReadable(shown),
            _ => FileError::Unread { path: shown, why: error.to_string() },
        }
    }

    /// Why a file cannot be written.
    pub(crate) fn writing(path: &Path, error: &io::Error) -> FileError {
        FileError::unwritten(path, "this file", error)
    }

    /// Why a folder cannot be made.
    pub(crate) fn making(path: &Path, error: &io::Error) -> FileError {
        FileError::unwritten(path, "this folder", error)
    }

    fn unwritten(path: &Path, what: &'static str, error: &io::Error) -> FileError {
        let path = path.display().to_string();
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                FileError::NotWritable { path, what }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                FileError::Full { path, what }
            }
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                FileError::InTheWay { path, what }
            }
            io::ErrorKind::NotFound => FileError::NoFolder { path, what },
            _ => FileError::Unwritten { path, what, why: error.to_string() },
        }
    }
}

/// What a file is called until it is whole: a name that no other process has, on whatever computer.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.tmp", process()));
    PathBuf::from(name)
}

/// A number that no other process has that writes to the same file system: processes of two computers, or of two
/// containers, may well have the same one of the system's.
pub(crate) fn process() -> u64 {
    static NUMBER: OnceLock<u64> = OnceLock::new();
    *NUMBER.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let text = format!("{} {} {now}", host(), std::process::id());
        let digest = blake3::hash(text.as_bytes());
        let (part, _) = digest.as_bytes().split_at(8);
        // 15 digits at most: it stands in names of files.
        u64::from_le_bytes(part.try_into().expect("8 of 32 bytes")) % 1_000_000_000_000_000
    })
}

/// The name of this computer, fit for the name of a file.
pub(crate) fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("HOSTNAME").ok())
        .or_else(|| std::env::var("COMPUTERNAME").ok())
        .unwrap_or_default();
    plain(name.trim())
}

/// A word with nothing in it that a name of a file should not have, and no dot; never empty.
pub(crate) fn plain(word: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let word: String = word.chars().take(40).map(fits).collect();
    if word.is_empty() { "host".to_owned() } else { word }
}

/// Writes a file whole or not at all: to another name first, which then replaces it.
///
/// # Errors
/// If it cannot be written; what was there before is then still there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let temporary = temporary(path);
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(|error| FileError::writing(path, &error))
}
