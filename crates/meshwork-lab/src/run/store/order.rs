//! Canonical order of `runs.jsonl`, which makes files with the same runs identical byte for byte.
//!
//! The runs of the study come first, by scenario and replication; all others follow, by key. While
//! a study runs, lines are appended. When all runs have ended, the file is sorted once.

use std::fs;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use super::lines::{Lines, Place, Source};
use super::{Store, StoreError, leftovers, segment};
use crate::files::{FileError, Whole};

/// Maximum number of bytes of a new file that are held in memory before they are written.
const PART: u64 = 64 << 20;

impl Store {
    /// Merges the segment files of shards into `runs.jsonl`, and sorts it. Returns whether the file
    /// was rewritten.
    pub fn settle(&mut self, order: impl Iterator<Item = u128>) -> Result<bool, StoreError> {
        let places = in_order(&self.known, order);
        let mut end = 0;
        let is_in_order = places.iter().all(|(_, place)| {
            let fits = place.file == 0 && place.offset == end;
            end += u64::from(place.length) + 1;
            fits
        });
        if is_in_order && end == self.bytes {
            self.merged.extend(self.known.files.drain(1..));
            return Ok(false);
        }
        let writing = |error: io::Error| FileError::writing(&self.file, &error);
        Whole::create(&self.file)
            .and_then(|mut file| {
                copy(&self.known, &places, &mut file)?;
                file.finish()
            })
            .map_err(writing)?;
        let mut offset = 0;
        let moved = places.into_iter().map(|(key, place)| {
            let now = Place { file: 0, offset, length: place.length };
            offset += u64::from(place.length) + 1;
            (key, now)
        });
        let moved = moved.collect();
        self.merged.extend(self.known.files.drain(1..));
        let source = Source { path: self.file.clone(), whole_bytes: offset, torn_bytes: 0 };
        self.known.moved(vec![source], moved);
        self.reopen()?;
        Ok(true)
    }

    /// Removes segment files that were merged. A file that has grown since then is not removed.
    pub fn remove_segments(&mut self) {
        for source in self.merged.drain(..) {
            // A segment may have received its final name since it was read.
            for path in [segment::whole_of(&source.path), source.path] {
                let length = fs::metadata(&path).map(|data| data.len());
                if length.is_ok_and(|length| length == source.whole_bytes + source.torn_bytes) {
                    let _ = fs::remove_file(&path);
                }
            }
        }
        if let Some(folder) = self.file.parent() {
            // Without segments, no other process writes into the folder.
            let segments = folder.join(segment::SEGMENTS);
            if (fs::remove_dir(&segments).is_ok() || !segments.exists()) && self.is_alone {
                leftovers::remove(folder);
            }
        }
    }
}

fn in_order(known: &Lines, order: impl Iterator<Item = u128>) -> Vec<(u128, Place)> {
    let all = known.places();
    let mut is_placed = vec![false; all.len()];
    let mut places = Vec::with_capacity(all.len());
    for key in order {
        if let Ok(found) = all.binary_search_by_key(&key, |(key, _)| *key)
            && !std::mem::replace(&mut is_placed[found], true)
        {
            places.push(all[found]);
        }
    }
    let rest = all.iter().zip(&is_placed).filter(|(_, is_placed)| !**is_placed);
    places.extend(rest.map(|(place, _)| *place));
    places
}

/// Copies the lines at `places` to `out`, in this order and in several parts.
///
/// For each part, every old file is read once from start to end.
fn copy(known: &Lines, places: &[(u128, Place)], out: &mut Whole) -> io::Result<()> {
    let mut rest = places;
    while !rest.is_empty() {
        let mut bytes = 0;
        let count = rest
            .iter()
            .take_while(|(_, place)| {
                let fits = bytes < PART;
                bytes += u64::from(place.length) + 1;
                fits
            })
            .count();
        let (part, after) = rest.split_at(count);
        rest = after;
        let mut offset = 0;
        let mut wanted: Vec<(Place, usize)> = Vec::with_capacity(part.len());
        for (_, place) in part {
            wanted.push((*place, offset));
            offset += place.length as usize + 1;
        }
        let mut buffer = vec![b'\n'; offset];
        wanted.sort_unstable_by_key(|(place, _)| (place.file, place.offset));
        for of_file in wanted.chunk_by(|(a, _), (b, _)| a.file == b.file) {
            let path = &known.files[of_file[0].0.file as usize].path;
            let mut reader = BufReader::with_capacity(1 << 17, segment::open(path)?);
            let mut at = of_file[0].0.offset;
            reader.seek(SeekFrom::Start(at))?;
            for (place, begin) in of_file {
                reader.seek_relative((place.offset - at) as i64)?;
                reader.read_exact(&mut buffer[*begin..*begin + place.length as usize])?;
                at = place.offset + u64::from(place.length);
            }
        }
        out.write_all(&buffer)?;
    }
    Ok(())
}
