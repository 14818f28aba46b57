//! Removal of temporary files of killed runs.
//!
//! The process that holds the store lock is the only writer on any host, so all temporary files
//! that it finds come from killed runs. If the file system supports no locks, nothing is removed.

use std::fs;
use std::path::Path;

use crate::run::joboutput::INDEX;
use crate::run::kept::RECORDINGS;

const ENDING: &str = ".tmp";

/// Files of a results folder that only the holder of the store lock may write.
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

/// Deletes temporary files of killed runs. The caller must hold the store lock.
pub(super) fn remove(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_unfinished) {
            let _ = fs::remove_file(entry.path());
        }
    }
    for part in ["jobs", RECORDINGS] {
        for entry in fs::read_dir(folder.join(part)).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(is_leftover) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether a file name is a temporary name of one of the files in [`WHOLE`]. An example is
/// `summary.csv.17.tmp`.
fn is_unfinished(name: &str) -> bool {
    let Some(name) = name.strip_suffix(ENDING) else { return false };
    WHOLE.contains(&without_process(name))
}

/// Removes the process number from the temporary name of a file. Older versions appended none.
fn without_process(name: &str) -> &str {
    name.rsplit_once('.').filter(|(_, last)| is_number(last)).map_or(name, |(name, _)| name)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a file name is that of unfinished per-job output or of an unfinished recording. Readers
/// of the folder skip such files.
///
/// ```
/// use meshwork_lab::run::store::is_leftover;
/// assert!(is_leftover("0123456789abcdef0123456789abcdef.csv.17.0.tmp"));
/// assert!(!is_leftover("0123456789abcdef0123456789abcdef.csv"));
/// ```
pub fn is_leftover(name: &str) -> bool {
    let Some(name) = name.strip_suffix(ENDING) else { return false };
    if without_process(name) == INDEX {
        return true;
    }
    let parts: Vec<&str> = name.split('.').collect();
    let is_key = |text: &str| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    matches!(&parts[..], [key, "csv" | "parquet" | "run", process, count]
        if is_key(key) && is_number(process) && is_number(count))
}
