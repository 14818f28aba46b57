//! Read-only access to the store of runs in a results folder.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::lines::{Handles, Head, Lines, Place};
use super::record::{RunFindings, RunRecord};
use super::{RUNS, StoreError, segment};

/// Runs of a results folder, open for reading only. They include the runs in segments, which are
/// files to which other processes may still append.
///
/// # Complexity
/// Some 50 bytes of memory per run, however long its line is.
#[derive(Debug, Default)]
pub struct Archive {
    lines: Lines,
    handles: Mutex<Handles>,
}

impl Archive {
    /// Opens the store of a folder and calls `each` once per run.
    ///
    /// # Errors
    /// If the folder has no store, the store cannot be read, or it holds two different results for
    /// one run.
    pub fn open(
        folder: &Path,
        mut each: impl FnMut(&Head<'_>, &[u8]),
    ) -> Result<Archive, StoreError> {
        let path = folder.join(RUNS);
        let mut lines = Lines::default();
        let segments = segment::all(folder)?;
        if path.exists() || segments.is_empty() {
            lines.read(&path, &mut each)?;
        }
        for segment in segments {
            lines.read(&segment, &mut each)?;
        }
        Ok(Archive { lines, handles: Mutex::default() })
    }

    /// Archive of lines that have already been read.
    pub(super) fn of(lines: Lines) -> Archive {
        Archive { lines, handles: Mutex::default() }
    }

    /// Number of runs in the archive.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether the archive has no runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is a run with the key `key`, given as a number.
    #[must_use]
    pub fn has(&self, key: u128) -> bool {
        self.lines.has(key)
    }

    /// Run with the key `key`; `None` if there is none or its line is unreadable.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<RunRecord> {
        self.at(self.lines.place(key)?)
    }

    /// Findings of the run with the key `key`; `None` if there is none or its line is unreadable.
    #[must_use]
    pub fn findings(&self, key: &str) -> Option<RunFindings> {
        RunFindings::read(&self.line(self.lines.place(key)?)?)
    }

    /// Runs at the given indices. An index is a position among all runs in the order of their keys.
    #[must_use]
    pub fn chosen(&self, places: impl Iterator<Item = usize>) -> Vec<RunRecord> {
        let all = self.lines.places();
        places.filter_map(|place| self.at(all.get(place)?.1)).collect()
    }

    /// Warnings about unreadable lines, one sentence each.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.lines.warnings
    }

    fn at(&self, place: Place) -> Option<RunRecord> {
        RunRecord::read(&self.line(place)?)
    }

    fn line(&self, place: Place) -> Option<Vec<u8>> {
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        handles.line(&self.lines, place)
    }
}
