//! A store that is only looked into.

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::lines::Lines;
use super::record::Record;
use super::{RUNS, StoreError};

/// The runs of a folder, open to be read: changes nothing.
///
/// # Complexity
/// Some 40 bytes of memory for each run, however long its line is.
#[derive(Debug, Default)]
pub struct Archive {
    /// None where there is no run.
    file: Option<Mutex<File>>,
    lines: Lines,
}

impl Archive {
    /// Opens the store of a folder, and shows every run in it once, in the order in which they ended.
    ///
    /// # Errors
    /// If there is none, it cannot be read, or it holds two different results for one run.
    pub fn open(folder: &Path, each: impl FnMut(Record)) -> Result<Archive, StoreError> {
        let path = folder.join(RUNS);
        let lines = Lines::read(&path, each)?;
        Ok(Archive { file: File::open(path).ok().map(Mutex::new), lines })
    }

    /// How many runs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The run with this key.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<Record> {
        self.at(self.lines.place(key)?)
    }

    /// The runs at these places in the order of their keys, which must rise.
    #[must_use]
    pub fn chosen(&self, places: impl Iterator<Item = usize>) -> Vec<Record> {
        let mut all = self.lines.places().enumerate();
        let mut chosen = Vec::new();
        for place in places {
            let found = all.find(|(number, _)| *number == place);
            chosen.extend(found.and_then(|(_, place)| self.at(place)));
        }
        chosen
    }

    /// One sentence for every line that cannot be read.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.lines.warnings
    }

    fn at(&self, place: super::lines::Place) -> Option<Record> {
        let mut file = self.file.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        place.record(&mut file)
    }
}
