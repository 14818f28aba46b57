//! The lines of `runs.jsonl`: read once from end to end, and then one by one from where they are.
//!
//! A line is some kilobytes, and there may be a million of them: what stays in memory is where each run is.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::record::Record;
use super::{GARBLED, StoreError};
use crate::run::file::FileError;

/// Where a line lies in its file, without its line break.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) length: u32,
}

/// Where every run of a store is, by its key.
#[derive(Debug, Default)]
pub(super) struct Lines {
    places: BTreeMap<u128, Place>,
    /// One sentence for every line that cannot be read.
    pub(super) warnings: Vec<String>,
    /// The lines that cannot be read, without their line breaks.
    pub(super) garbled: Vec<Vec<u8>>,
    /// The length of the file up to its last line break.
    pub(super) whole_bytes: u64,
}

/// The key of a run as the number that its digits are.
pub(super) fn digits(key: &str) -> Option<u128> {
    let is_key =
        key.len() == 32 && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_key.then(|| u128::from_str_radix(key, 16).ok())?
}

impl Lines {
    /// Reads a file from end to end and shows every run, each key once; changes nothing.
    ///
    /// # Errors
    /// If it cannot be read, or holds two different results for one run.
    pub(super) fn read(path: &Path, mut each: impl FnMut(Record)) -> Result<Lines, StoreError> {
        let name = path.display().to_string();
        let failed = |error: io::Error| FileError::reading(&name, path, &error);
        let metadata = fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(StoreError::NotRegular(name));
        }
        let mut reader = BufReader::new(File::open(path).map_err(failed)?);
        let mut lines = Lines::default();
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(failed)?;
            if read == 0 || line.pop() != Some(b'\n') {
                break;
            }
            let offset = lines.whole_bytes;
            lines.whole_bytes += read as u64;
            let whole = Record::read(&line).zip(u32::try_from(line.len()).ok());
            let Some((record, length)) = whole else {
                if !line.trim_ascii().is_empty() {
                    lines.warnings.push(format!(
                        "{name}:{number}: this line is garbled: it is kept in {GARBLED}, and its run is run \
                         again"
                    ));
                }
                lines.garbled.push(line.clone());
                continue;
            };
            let first = lines.place(&record.key);
            if let Some(first) = first {
                let before = File::open(path)
                    .map_err(failed)
                    .ok()
                    .and_then(|mut file| first.record(&mut file));
                if before.is_none_or(|before| before.findings != record.findings) {
                    let first = 1 + breaks_before(path, first.offset).map_err(failed)?;
                    return Err(StoreError::TwoResults { file: name, line: number, first });
                }
                continue;
            }
            lines.insert(&record.key, Place { offset, length });
            each(record);
        }
        Ok(lines)
    }

    pub(super) fn insert(&mut self, key: &str, place: Place) {
        if let Some(digits) = digits(key) {
            self.places.insert(digits, place);
        }
    }

    pub(super) fn place(&self, key: &str) -> Option<Place> {
        self.places.get(&digits(key)?).copied()
    }

    /// How many runs there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Every run, in the order of their keys.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        self.places.values().copied()
    }
}

impl Place {
    /// The run that stands here; `None` where the file has changed meanwhile.
    pub(super) fn record(self, file: &mut File) -> Option<Record> {
        let mut line = vec![0; self.length as usize];
        file.seek(SeekFrom::Start(self.offset)).ok()?;
        file.read_exact(&mut line).ok()?;
        Record::read(&line)
    }
}

/// How many lines end before this byte.
fn breaks_before(path: &Path, offset: u64) -> io::Result<u64> {
    let mut before = BufReader::new(File::open(path)?).take(offset);
    let mut count = 0;
    loop {
        let buffer = before.fill_buf()?;
        if buffer.is_empty() {
            return Ok(count);
        }
        count += buffer.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let read = buffer.len();
        before.consume(read);
    }
}
