//! Read-only access to the store of runs in a results folder.

use std::path::Path;
use std::sync::Mutex;

use super::lines::{Handles, Head, Lines, Place};
use super::record::{RunFindings, RunRecord};
use super::{RUNS, SEGMENTS, StoreError, segment};
use crate::threads::locked;

/// Runs of a results folder, including its segments, open for reading: 50 bytes of memory per run.
#[derive(Debug, Default)]
pub struct Archive {
    lines: Lines,
    handles: Mutex<Handles>,
}

impl Archive {
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
        Ok(Archive::of(lines))
    }

    /// Archive of a sweep's results folder, which may not have any runs yet.
    pub(crate) fn of_sweep(folder: &Path) -> Result<Archive, StoreError> {
        if folder.join(RUNS).exists() || folder.join(SEGMENTS).is_dir() {
            return Archive::open(folder, |_, _| {});
        }
        Ok(Archive::default())
    }

    pub(super) fn of(lines: Lines) -> Archive {
        Archive { lines, handles: Mutex::default() }
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn has(&self, key: u128) -> bool {
        self.lines.has(key)
    }

    /// Stored run with a key. `None` if there is none, or if its line is unreadable.
    pub fn find(&self, key: &str) -> Option<RunRecord> {
        self.at(self.lines.place(key)?)
    }

    pub fn findings(&self, key: &str) -> Option<RunFindings> {
        RunFindings::read(&self.line(self.lines.place(key)?)?)
    }

    pub fn chosen(&self, places: impl Iterator<Item = usize>) -> Vec<RunRecord> {
        let all = self.lines.places();
        places.filter_map(|place| self.at(all.get(place)?.1)).collect()
    }

    pub fn warnings(&self) -> &[String] {
        &self.lines.warnings
    }

    fn at(&self, place: Place) -> Option<RunRecord> {
        RunRecord::read(&self.line(place)?)
    }

    fn line(&self, place: Place) -> Option<Vec<u8>> {
        let mut handles = locked(&self.handles);
        handles.line(&self.lines, place)
    }
}
