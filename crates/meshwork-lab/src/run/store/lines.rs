//! Index of the lines of the files that store runs: `runs.jsonl` and the segments of shards.
//!
//! There may be a million lines of some kilobytes each, so only their positions stay in memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::record::RunRecord;
use super::segment;
use super::{GARBLED, StoreError};
use crate::files::{FileError, line_breaks};

/// Position and length of a run's line in a file, without the line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: u32,
    pub(super) offset: u64,
    pub(super) length: u32,
}

#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// Number of bytes up to and including the last line break, when the file was read.
    pub(super) whole_bytes: u64,
    /// Bytes after the last line break, which are an incomplete line.
    pub(super) torn_bytes: u64,
}

#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) files: Vec<Source>,
    places: HashMap<u128, Place>,
    pub(super) warnings: Vec<String>,
    pub(super) garbled: Vec<Vec<u8>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "a line without one of the private fields is no run")]
pub struct Head<'a> {
    #[serde(borrow)]
    pub key: Cow<'a, str>,
    pub model_version: u32,
    #[serde(borrow)]
    pub version: Cow<'a, str>,
    #[serde(borrow, default)]
    pub build: Cow<'a, str>,
    replication: u64,
    scenario: IgnoredAny,
    metrics: Object,
    finished: u64,
    end: f64,
}

/// Reads any JSON object and skips its content. It serves to check that a field is present.
struct Object;

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        deserializer.deserialize_map(Object)
    }
}

impl<'de> Visitor<'de> for Object {
    type Value = Object;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Object)
    }
}

/// Number of bytes of a file that are read at once and scanned in parallel. A line that is longer
/// is still read whole.
const BLOCK: u64 = 4 << 20;

const MIN_LINES: usize = 64;

enum Look<'a> {
    Note,
    Garbled,
    Run { head: Head<'a>, key: u128, length: u32 },
}

impl<'a> Look<'a> {
    fn at(line: &'a [u8], is_in_segment: bool) -> Look<'a> {
        if is_in_segment && segment::is_note(line) {
            return Look::Note;
        }
        let head: Option<Head<'a>> = serde_json::from_slice(line).ok();
        let key = head.as_ref().and_then(|head| digits(&head.key));
        match head.zip(key).zip(u32::try_from(line.len()).ok()) {
            Some(((head, key), length)) => Look::Run { head, key, length },
            None => Look::Garbled,
        }
    }
}

fn lines_of(mut text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    while !text.is_empty() {
        let begin = text;
        let length = text.skip_until(b'\n').unwrap_or(begin.len());
        lines.push(&begin[..length - 1]);
    }
    lines
}

/// Key as a number; `None` if the text is no key.
pub(super) fn digits(key: &str) -> Option<u128> {
    let is_key =
        key.len() == 32 && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_key.then(|| u128::from_str_radix(key, 16).ok())?
}

impl Lines {
    /// Adds the lines of one more file to the index. Calls `each` for every run that is new to the
    /// index.
    pub(super) fn read(
        &mut self,
        path: &Path,
        mut each: impl FnMut(&Head<'_>, &[u8]),
    ) -> Result<(), StoreError> {
        let name = path.display().to_string();
        let failed = |error: io::Error| FileError::reading(&name, path, &error);
        let is_segment = segment::is_segment(path);
        // Check before opening: opening a pipe would wait for its other end.
        if !is_segment && !fs::metadata(path).map_err(failed)?.is_file() {
            return Err(StoreError::NotRegular(name));
        }
        let opened = match segment::open(path) {
            // The segment has been merged since the folder was listed.
            Err(error) if is_segment && error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened.map_err(failed)?,
        };
        let file = u32::try_from(self.files.len()).expect("files are named one by one");
        self.files.push(Source { path: path.to_owned(), whole_bytes: 0, torn_bytes: 0 });
        let mut block = Vec::new();
        let mut handles = Handles::default();
        let mut number = 0;
        loop {
            let read = (&opened).take(BLOCK).read_to_end(&mut block).map_err(failed)?;
            if read == 0 {
                self.files[file as usize].torn_bytes = block.len() as u64;
                return Ok(());
            }
            let whole = block.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let lines = lines_of(&block[..whole]);
            let looks =
                lines.par_iter().with_min_len(MIN_LINES).map(|line| Look::at(line, is_segment));
            for (line, look) in lines.iter().zip(looks.collect::<Vec<Look<'_>>>()) {
                number += 1;
                let offset = self.files[file as usize].whole_bytes;
                self.files[file as usize].whole_bytes += line.len() as u64 + 1;
                match look {
                    Look::Note => {}
                    Look::Garbled => self.garbled(&name, number, is_segment, line),
                    Look::Run { head, key, length } => {
                        let place = Place { file, offset, length };
                        match self.places.get(&key).copied() {
                            None => {
                                self.places.insert(key, place);
                                each(&head, line);
                            }
                            Some(first) => {
                                self.compare(&mut handles, (key, first, place), number, line)?;
                            }
                        }
                    }
                }
            }
            block.drain(..whole);
        }
    }

    fn garbled(&mut self, name: &str, number: u64, is_segment: bool, line: &[u8]) {
        if !line.trim_ascii().is_empty() {
            let kept = if is_segment {
                "its run is run again".to_owned()
            } else {
                format!("it is kept in {GARBLED}, and its run is run again")
            };
            self.warnings.push(format!("{name}:{number}: this line is garbled: {kept}"));
        }
        if !is_segment {
            self.garbled.push(line.to_vec());
        }
    }

    /// Compares two lines of the same run. Two readable lines with different results are an error.
    /// If only the later line is readable, it replaces the earlier one.
    fn compare(
        &mut self,
        handles: &mut Handles,
        (key, first, second): (u128, Place, Place),
        number: u64,
        line: &[u8],
    ) -> Result<(), StoreError> {
        let before = handles.line(self, first);
        if before.as_deref() == Some(line) {
            return Ok(());
        }
        let Some(now) = RunRecord::read(line) else { return Ok(()) };
        let Some(before) = before.and_then(|before| RunRecord::read(&before)) else {
            self.places.insert(key, second);
            return Ok(());
        };
        if before.findings == now.findings {
            return Ok(());
        }
        let path = &self.files[first.file as usize].path;
        let breaks = File::open(path)
            .and_then(|file| line_breaks(BufReader::new(file).take(first.offset)))
            .map_err(|error| FileError::reading(&path.display().to_string(), path, &error))?;
        let file = self.files[second.file as usize].path.display().to_string();
        Err(if first.file == second.file {
            StoreError::TwoResults { file, line: number, first: breaks + 1 }
        } else {
            StoreError::TwoPayloads {
                key: now.key,
                first: format!("{}:{}", path.display(), breaks + 1),
                second: format!("{file}:{number}"),
            }
        })
    }

    pub(super) fn insert(&mut self, key: &str, place: Place) {
        if let Some(digits) = digits(key) {
            self.places.insert(digits, place);
        }
    }

    /// Removes a run from the index because its line turned out to be unreadable.
    pub(super) fn remove(&mut self, key: &str) {
        digits(key).map(|digits| self.places.remove(&digits));
    }

    pub(super) fn place(&self, key: &str) -> Option<Place> {
        self.places.get(&digits(key)?).copied()
    }

    pub(super) fn has(&self, key: u128) -> bool {
        self.places.contains_key(&key)
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Keys and positions of all runs, sorted by key. **O(n log n)** for *n* runs.
    pub(super) fn places(&self) -> Vec<(u128, Place)> {
        let mut all: Vec<(u128, Place)> =
            self.places.iter().map(|(k, place)| (*k, *place)).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }

    /// Replaces the positions of all runs after their files were rewritten.
    pub(super) fn moved(&mut self, files: Vec<Source>, places: Vec<(u128, Place)>) {
        self.files = files;
        self.places = places.into_iter().collect();
    }
}

#[derive(Debug, Default)]
pub(super) struct Handles(BTreeMap<u32, File>);

/// Maximum number of files open at once: many systems allow a process only 256 or 1024.
const MAX_HANDLES: usize = 64;

impl Handles {
    pub(super) fn line(&mut self, lines: &Lines, place: Place) -> Option<Vec<u8>> {
        if !self.0.contains_key(&place.file) {
            if self.0.len() >= MAX_HANDLES {
                self.0.clear();
            }
            let source = lines.files.get(place.file as usize)?;
            self.0.insert(place.file, segment::open(&source.path).ok()?);
        }
        let file = self.0.get_mut(&place.file)?;
        let mut line = vec![0; place.length as usize];
        file.seek(SeekFrom::Start(place.offset)).ok()?;
        file.read_exact(&mut line).ok()?;
        Some(line)
    }
}
