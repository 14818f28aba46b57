//! Saved state of `meshwork place`: the answer to `snapshot`, and the content of a `--state` file.

use std::collections::BTreeMap;
use std::path::Path;

use meshwork::pool::{Name, NamedPoolState};
use meshwork_lab::files::seal::{seal, unseal};
use meshwork_lab::files::{FileError, MAX_RECORDS, read_whole, write_whole};
use meshwork_lab::run::lock::{Lock, LockError};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::line::Counter;
use crate::output::Stop;
use crate::picture::Letters;

/// Version of the format of a saved state. It is increased when the format changes.
const FORMAT: u32 = 1;

/// State of a pool at one instant, with the letters that stand for its holders.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saved {
    format: u32,
    /// Letters of the placements, in the order of the names in `state`, then the letter assigned
    /// last.
    ///
    /// The letter of a placement without a name is `#`.
    letters: String,
    pub(super) state: NamedPoolState,
}

impl Saved {
    pub(super) fn of(counter: &Counter, state: NamedPoolState) -> Saved {
        let letter = |name: &Option<Name>| {
            let letter = name.as_ref().and_then(|name| counter.letter_of.get(name));
            letter.copied().unwrap_or('#')
        };
        let letters = state.names.iter().map(letter).chain(counter.letters.last());
        Saved { format: FORMAT, letters: letters.collect(), state }
    }

    pub(super) fn json(&self) -> Result<String, String> {
        serde_json::to_string(self)
            .map_err(|error| format!("the state cannot be written ({error})"))
    }

    pub(super) fn read(json: Json, from: &str) -> Result<Saved, String> {
        let format = json.get("format").and_then(Json::as_u64);
        if let Some(format) = format.filter(|&format| format != u64::from(FORMAT)) {
            return Err(format!(
                "{from} is of format {format}, and this program reads format {FORMAT}"
            ));
        }
        serde_json::from_value(json)
            .map_err(|error| format!("{from} is none that this command has given: {error}"))
    }

    /// Letters that stand for placements, and the letter of each named placement.
    ///
    /// The first result has the number of placements with each letter.
    pub(super) fn letters(&self) -> Result<(Letters, BTreeMap<Name, char>), String> {
        let wrong = || format!("the snapshot is damaged: its letters are {:?}", self.letters);
        let mut given = self.letters.chars();
        let mut letter_of = BTreeMap::new();
        for name in &self.state.names {
            let letter = given.next().ok_or_else(wrong)?;
            if let Some(name) = name {
                letter_of.insert(name.clone(), letter);
            }
        }
        let letters = Letters::of(letter_of.values().copied(), given.next());
        match (letters, given.next()) {
            (Some(letters), None) => Ok((letters, letter_of)),
            _ => Err(wrong()),
        }
    }
}

/// Locks a state file, since two processes with one file would allocate nodes twice.
pub(super) fn lock(path: &Path) -> Result<Lock, Stop> {
    Lock::of(path).map_err(|error| match error {
        LockError::File(error) => Stop::Failed(format!("--state {error}")),
        other => Stop::Wrong(format!("--state {other}")),
    })
}

/// Restores the pool from the state file. A missing file is no error.
pub(super) fn load(counter: &mut Counter, path: &Path) -> Result<(), Stop> {
    let shown = path.display().to_string();
    let wrong = |sentence: String| Stop::Wrong(format!("--state {shown}: {sentence}"));
    let bytes = match read_whole(&shown, path, MAX_RECORDS) {
        Ok(bytes) => bytes,
        Err(FileError::Missing(_)) => return Ok(()),
        Err(error) => return Err(Stop::Wrong(format!("--state {error}"))),
    };
    // A state from an older version has no digest, which is recognized by the missing key.
    let object = unseal(&bytes).ok_or_else(|| {
        wrong(
            "this state is damaged, or was changed by hand: its digest is another; go on from a \
             copy of it, or without \
             the file from an empty machine"
                .to_owned(),
        )
    })?;
    let json = serde_json::from_slice(&object).map_err(|error| {
        wrong(format!("this is not JSON (line {}, column {})", error.line(), error.column()))
    })?;
    Saved::read(json, "the state").and_then(|saved| counter.restore(&saved)).map_err(wrong)?;
    counter.is_changed = false;
    Ok(())
}

pub(super) fn save(counter: &mut Counter, path: &Path) -> Result<(), Stop> {
    if !std::mem::take(&mut counter.is_changed) {
        return Ok(());
    }
    let saved = Saved::of(counter, counter.named.state());
    let text = seal(&saved.json().map_err(Stop::Failed)?);
    write_whole(path, text.as_bytes()).map_err(|error| Stop::Failed(format!("--state {error}")))
}

#[cfg(test)]
mod tests {
    use meshwork::catalogue::Catalogue;
    use meshwork::pool::{NamedPool, Pool};
    use meshwork_operator::instant::Instant;

    use super::*;

    fn counter() -> Counter {
        let table = "machine = { topology = 'mesh', dims = [4, 2] }".parse().unwrap();
        Counter::new(NamedPool::new(Pool::read(&table).unwrap()))
    }

    #[test]
    fn a_state_with_any_bit_changed_is_refused_and_one_of_before_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        let mut first = counter();
        first
            .answer(Some(br#"{"op":"allocate","id":"a","block":[3,2]}"#), &mut String::new())
            .unwrap();
        save(&mut first, &path).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let explained = || Instant::of_pool(&Catalogue::standard(), &path, &|_| Ok(()));
        load(&mut counter(), &path).unwrap();
        assert_eq!(explained().unwrap().running.len(), 1);
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &bytes).unwrap();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let mut other = counter();
            assert!(matches!(load(&mut other, &path), Err(Stop::Wrong(_))), "{bit}: {text}");
            assert_eq!(other.named.pool().site().free_nodes(), 8, "{bit}: {text}");
            assert!(explained().is_err(), "{bit}: {text}");
        }
        let before = first.named.state();
        let before = Saved::of(&first, before).json().unwrap() + "\n";
        std::fs::write(&path, before).unwrap();
        let mut other = counter();
        load(&mut other, &path).unwrap();
        assert_eq!(other.named.pool().site().free_nodes(), 2);
        assert!(explained().is_ok());
    }
}
