use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::files::{FileError, host, target};

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LockError {
    #[error("{path}: {by} is writing to this file: wait for it to end")]
    Held { path: String, by: String },
    #[error("{0}: this is not a regular file, so nothing can be kept in it")]
    NotRegular(String),
    #[error(transparent)]
    File(#[from] FileError),
}

/// Exclusive lock for writing a file. It is released when dropped, or when its process ends.
///
/// The lock is taken on the file `FILE.lock` in the same folder, because every write replaces
/// `FILE` itself. Some file systems support no locks.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Locks a file, and removes its temporary versions left by killed processes.
    pub fn of(path: &Path) -> Result<Lock, LockError> {
        let shown = path.display().to_string();
        if fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
            return Err(LockError::NotRegular(shown));
        }
        let failed = |error: io::Error| FileError::writing(path, &error);
        let own = target(path).map_err(failed)?;
        let mut name = own.clone().into_os_string();
        name.push(".lock");
        let name = PathBuf::from(name);
        loop {
            let options = OpenOptions::new().read(true).write(true).create(true).clone();
            let file = options.open(&name).map_err(failed)?;
            let locked = file.try_lock();
            if matches!(locked, Err(TryLockError::WouldBlock)) {
                let by = fs::read_to_string(&name).unwrap_or_default();
                let by = if by.is_empty() { "another process".to_owned() } else { by };
                return Err(LockError::Held { path: shown, by });
            }
            let lock = Lock { file, path: name.clone() };
            if !lock.has_its_name() {
                // The previous holder has removed the opened lock file: lock the new one.
                continue;
            }
            lock.sign().map_err(failed)?;
            if locked.is_ok() {
                remove_unfinished(&own);
            }
            return Ok(lock);
        }
    }

    fn sign(&self) -> io::Result<()> {
        self.file.set_len(0)?;
        write!(&self.file, "process {} on {}", std::process::id(), host())
    }

    #[cfg(unix)]
    fn has_its_name(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let id = |data: fs::Metadata| (data.dev(), data.ino());
        let (own, named) = (self.file.metadata(), fs::metadata(&self.path));
        own.is_ok_and(|own| named.is_ok_and(|named| id(own) == id(named)))
    }

    /// Always true, because outside of Unix no other process can replace an open file.
    #[cfg(not(unix))]
    fn has_its_name(&self) -> bool {
        true
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.has_its_name() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes temporary files, such as `FILE.17.tmp`, that crashed processes left.
fn remove_unfinished(path: &Path) {
    let Some(own) = path.file_name().and_then(|name| name.to_str()) else { return };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| {
            name.strip_prefix(own)?.strip_prefix('.')?.strip_suffix(".tmp").map(str::to_owned)
        });
        let is_number = |text: String| text.bytes().all(|byte| byte.is_ascii_digit());
        if number.filter(|text| !text.is_empty()).is_some_and(is_number) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
