//! Files that a run which was killed left unfinished.
//!
//! Whatever is written beside a store has another name until it is whole. A run removes its own such files, unless it is
//! killed. Who has the lock of the store is the only one that writes there, on whatever host: all such files that he
//! finds are those of the dead. Where the file system knows no locks, nothing is removed, since nobody can tell.

use std::fs;
use std::path::Path;

use crate::watch::recording::kept::RECORDINGS;

/// The ending of a file that is not whole yet.
const ENDING: &str = ".tmp";

/// What is written whole or not at all by the one who has the lock.
pub(crate) const WHOLE: &[&str] = &[
    "runs.jsonl",
    "summary.csv",
    "by_size.csv",
    "comparison.csv",
    "by_user.csv",
    "by_group.csv",
    "by_application.csv",
    "by_queue.csv",
    "by_partition.csv",
    "speeds.csv",
    "failures.csv",
    "claims.csv",
    "experiment.toml",
    "asked.toml",
];

/// Removes what the dead left in a folder of results; only for who has the lock of its store. What cannot be removed
/// stays: it is in nobody's way.
pub(super) fn remove(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_unfinished) {
            let _ = fs::remove_file(entry.path());
        }
    }
    for room in ["jobs", RECORDINGS] {
        for entry in fs::read_dir(folder.join(room)).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(is_leftover) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether a file of this name would have become one of those: `summary.csv.17.tmp`.
fn is_unfinished(name: &str) -> bool {
    let Some(name) = name.strip_suffix(ENDING) else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name =
        name.rsplit_once('.').filter(|(_, last)| is_number(last)).map_or(name, |(name, _)| name);
    WHOLE.contains(&name)
}

/// Whether a file of this name in the folder of per-job output, or of recordings, is one that was never finished: a
/// reader passes it over.
///
/// ```
/// use meshwork_lab::run::store::is_leftover;
/// assert!(is_leftover("0123456789abcdef0123456789abcdef.csv.17.0.tmp"));
/// assert!(!is_leftover("0123456789abcdef0123456789abcdef.csv"));
/// ```
#[must_use]
pub fn is_leftover(name: &str) -> bool {
    let Some(name) = name.strip_suffix(ENDING) else { return false };
    if name == "index.csv" {
        return true;
    }
    let parts: Vec<&str> = name.split('.').collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_key = |text: &str| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    matches!(&parts[..], [key, "csv" | "parquet" | "run", process, count]
        if is_key(key) && is_number(process) && is_number(count))
}
