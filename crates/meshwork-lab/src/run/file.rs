//! Files that are read, and written whole or not at all; why they cannot be, in a sentence.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
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
    /// It is a device, which may never end.
    #[error("{0}: this is a device, but must be a file")]
    Device(String),
    /// It holds something else.
    #[error("{0}: this file is no text in UTF-8")]
    NotText(String),
    /// It has more bytes than are read at once.
    #[error("{path}: this file is too long: at most {mebibytes} MiB are read of it")]
    TooLong {
        /// The file.
        path: String,
        /// How much is read.
        mebibytes: u64,
    },
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

    fn too_long(shown: &str, most: u64) -> FileError {
        FileError::TooLong { path: shown.to_owned(), mebibytes: most >> 20 }
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

/// The most bytes of a file that describes something: a study, a machine, a list.
pub const MAX_TEXT: u64 = 64 << 20;

/// The most bytes of a file that grows with what happens and is read as a whole: a history, a
/// state.
pub const MAX_RECORDS: u64 = 1 << 30;

/// Reads a file of at most so many bytes, as a whole; `shown` is what the user calls it. A pipe is
/// read to its end.
///
/// # Errors
/// If it cannot be read, is a device, or is longer.
pub fn read_whole(shown: &str, path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    if is_device(path) {
        return Err(FileError::Device(shown.to_owned()));
    }
    let file = File::open(path).map_err(|error| FileError::reading(shown, path, &error))?;
    if file.metadata().is_ok_and(|data| data.len() > most) {
        return Err(FileError::too_long(shown, most));
    }
    bounded(shown, path, file, most)
}

/// All that a reader of a file gives, if that is at most so many bytes.
pub(crate) fn bounded(
    shown: &str,
    path: &Path,
    reader: impl Read,
    most: u64,
) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    let read = reader.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| FileError::reading(shown, path, &error))?;
    if bytes.len() as u64 > most {
        return Err(FileError::too_long(shown, most));
    }
    Ok(bytes)
}

#[cfg(unix)]
fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = path.metadata().map(|data| data.file_type());
    kind.is_ok_and(|kind| kind.is_char_device() || kind.is_block_device())
}

#[cfg(not(unix))]
fn is_device(_: &Path) -> bool {
    false
}

/// Where links lead, the last of which may lead to what is not there yet.
pub(crate) fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    // As many as Linux follows.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

/// A file that is being written, under another name until it is whole. Dropped before, it leaves
/// what was there.
///
/// Of a link the target is replaced. A pipe or a device cannot be replaced by a file, and is
/// written at once.
pub(crate) struct Whole {
    file: File,
    /// The name that it has, and the one that it is to get; none for a pipe or a device.
    names: Option<(PathBuf, PathBuf)>,
}

impl Whole {
    pub(crate) fn create(path: &Path) -> io::Result<Whole> {
        if fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Whole { file, names: None });
        }
        let path = target(path)?;
        let temporary = temporary(&path);
        Ok(Whole { file: File::create(&temporary)?, names: Some((temporary, path)) })
    }

    /// Gives the file its name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let Some((temporary, path)) = &self.names else { return self.file.flush() };
        self.file.sync_all()?;
        fs::rename(temporary, path)?;
        self.names = None;
        Ok(())
    }
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.names {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Writes a file whole or not at all: to another name first, which then replaces it.
///
/// Of a link the target is replaced, and what is no regular file is written through to.
///
/// # Errors
/// If it cannot be written; what was there before is then still there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let written = Whole::create(path).and_then(|mut whole| {
        whole.write_all(bytes)?;
        whole.finish()
    });
    written.map_err(|error| FileError::writing(path, &error))
}
