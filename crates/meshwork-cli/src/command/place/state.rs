//! What is saved of a desk: in the answer to `snapshot`, and in the file of `--state`.

use std::collections::BTreeMap;
use std::path::Path;

use meshwork::pool::{Desk, Name, State};
use meshwork_lab::run::file::write_whole;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::line::Counter;
use crate::output::Stop;
use crate::picture::Letters;

/// The form of what is saved. A newer program that saves something else counts on.
const FORMAT: u32 = 1;

/// A desk at one instant, with the letters of its drawing.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saved {
    format: u32,
    /// The letter of each name, in the order of names in the state, and behind them the one that was given last.
    letters: String,
    pub(super) state: State,
}

impl Saved {
    pub(super) fn of(counter: &Counter, state: State) -> Saved {
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

    /// What was saved, from JSON; `from` says where that stands.
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

    /// Who has which letter.
    pub(super) fn letters(&self, _desk: &Desk) -> Result<(Letters, BTreeMap<Name, char>), String> {
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

/// Goes on from what a file holds, if it is there.
pub(super) fn load(counter: &mut Counter, path: &Path) -> Result<(), Stop> {
    let shown = path.display();
    let wrong = |sentence: String| Stop::Wrong(format!("--state {shown}: {sentence}"));
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(wrong(format!("this file cannot be read ({error})"))),
    };
    let json = serde_json::from_slice(&bytes).map_err(|error| {
        wrong(format!("this is not JSON (line {}, column {})", error.line(), error.column()))
    })?;
    Saved::read(json, "the state").and_then(|saved| counter.restore(&saved)).map_err(wrong)?;
    counter.is_changed = false;
    Ok(())
}

/// Saves a desk, whole or not at all, if anything has happened.
pub(super) fn save(counter: &mut Counter, path: &Path) -> Result<(), Stop> {
    if !std::mem::take(&mut counter.is_changed) {
        return Ok(());
    }
    let saved = Saved::of(counter, counter.desk.state());
    let text = saved.json().map_err(Stop::Failed)? + "\n";
    write_whole(path, text.as_bytes()).map_err(|error| Stop::Failed(format!("--state {error}")))
}
