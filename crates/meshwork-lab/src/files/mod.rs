//! Reading and atomic writing of files, with errors as sentences.

pub mod seal;

use crate::refused::is_refused;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use thiserror::Error;

/// Reason why a file or a folder cannot be read or written, in the same words on all systems.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FileError {
    #[error("{0}: this is a directory, but must be a file")]
    IsFolder(String),
    #[error("{0}: there is no such file")]
    Missing(String),
    #[error("{0}: this file may not be read")]
    NotReadable(String),
    #[error("{0}: this is not a regular file, and every run reads it anew")]
    NotRegular(String),
    #[error("{0}: this is a device, but must be a file")]
    Device(String),
    #[error("{0}: this file is no text in UTF-8")]
    NotText(String),
    #[error("{path}: this file is too long: at most {mebibytes} MiB are read of it")]
    TooLong { path: String, mebibytes: u64 },
    #[error("{path}: cannot be read ({why})")]
    Unread { path: String, why: String },
    #[error("{path}: {what} may not be written")]
    NotWritable { path: String, what: &'static str },
    #[error("{path}: {what} cannot be written, the disk is full")]
    Full { path: String, what: &'static str },
    #[error("{path}: {what} cannot be made, because a file stands where a folder must be")]
    InTheWay { path: String, what: &'static str },
    #[error("{path}: {what} cannot be written, because its folder does not exist")]
    NoFolder { path: String, what: &'static str },
    #[error("{path}: {what} cannot be written ({why})")]
    Unwritten { path: String, what: &'static str, why: String },
}

is_refused!(FileError);

impl FileError {
    /// Error for a file that cannot be read; `shown` is its name in the message.
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

    pub fn writing(path: &Path, error: &io::Error) -> FileError {
        FileError::unwritten(path, "this file", error)
    }

    pub fn making(path: &Path, error: &io::Error) -> FileError {
        FileError::unwritten(path, "this folder", error)
    }

    fn unwritten(place: &Path, what: &'static str, error: &io::Error) -> FileError {
        let path = place.display().to_string();
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
            io::ErrorKind::NotFound => match closed(place) {
                Some(folder) => {
                    let why = format!("nothing new can be made in {}", folder.display());
                    FileError::Unwritten { path, what, why }
                }
                None => FileError::NoFolder { path, what },
            },
            _ => FileError::Unwritten { path, what, why: error.to_string() },
        }
    }
}

/// Folder in which the file `path` was to be created; `None` if the folder does not exist.
fn closed(path: &Path) -> Option<PathBuf> {
    let path = target(path).unwrap_or_else(|_| path.to_path_buf());
    let path = std::path::absolute(path).ok()?;
    path.parent().filter(|folder| folder.is_dir()).map(Path::to_path_buf)
}

/// Name of a file while it is being written, unique across processes and computers.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.tmp", process()));
    PathBuf::from(name)
}

/// Name of a file that a run writes, until it is complete.
///
/// Scenarios of a sweep that are identical have the same files, and may run at the same time.
pub(crate) fn temporary_of_run(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.{number}.tmp", process()));
    PathBuf::from(name)
}

/// Identifies this process among all that write to a file system, on any computer or container.
fn process() -> u64 {
    static NUMBER: OnceLock<u64> = OnceLock::new();
    *NUMBER.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let text = format!("{} {} {now}", host(), std::process::id());
        let digest = blake3::hash(text.as_bytes());
        let (part, _) = digest.as_bytes().split_at(8);
        // At most 15 digits, for use in file names.
        u64::from_le_bytes(part.try_into().expect("8 of 32 bytes")) % 1_000_000_000_000_000
    })
}

pub(crate) fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("HOSTNAME").ok())
        .or_else(|| std::env::var("COMPUTERNAME").ok())
        .unwrap_or_default();
    plain(name.trim())
}

/// Replaces characters that are not safe in file names, and keeps at most 40 characters. The result
/// is never empty.
pub(crate) fn plain(word: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let word: String = word.chars().take(40).map(fits).collect();
    if word.is_empty() { "host".to_owned() } else { word }
}

/// Maximum size, in bytes, of a file that describes something, such as a study, a machine or a
/// list.
pub const MAX_TEXT: u64 = 64 << 20;

/// Maximum size, in bytes, of a file of records that is read as a whole, such as a history.
pub const MAX_RECORDS: u64 = 1 << 30;

/// Reads a file of at most `most` bytes. Error messages call the file `shown`.
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

pub(crate) fn line_breaks(mut text: impl BufRead) -> io::Result<u64> {
    let mut count = 0;
    loop {
        let buffer = text.fill_buf()?;
        if buffer.is_empty() {
            return Ok(count);
        }
        count += buffer.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let read = buffer.len();
        text.consume(read);
    }
}

/// Resolves symbolic links at the end of a path. The resulting path need not exist yet.
pub(crate) fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    // Linux follows 40 links at most.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

/// File that has a temporary name until it is complete.
///
/// If it is dropped before [`finish`](Whole::finish), the previous file is unchanged. If the path
/// is a symbolic link, the file to which it leads is replaced. A pipe or a device is written
/// directly.
pub(crate) struct Whole {
    file: File,
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

/// Writes a file atomically, as `Whole` does. The old file survives an error.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let written = Whole::create(path).and_then(|mut whole| {
        whole.write_all(bytes)?;
        whole.finish()
    });
    written.map_err(|error| FileError::writing(path, &error))
}
