//! Record of how a study was requested, stored in a results folder as `asked.toml`.
//!
//! Together with the text of the study in `experiment.toml`, it identifies the requested runs, long
//! after the command was typed.
//!
//! For a log, `place` is its path, and `beside` is its path relative to the results folder. So the
//! folder and the log can be moved together. Files whose text becomes part of scenarios, such as a
//! topology, are copied to [`FILES`].
//!
//! ```toml
//! file = "study.toml"
//! settings = ["workload.load=0.7"]
//!
//! [[input]]
//! path = "log.swf.gz"
//! blake3 = "…"
//! place = "/home/me/log.swf.gz"
//! beside = "../log.swf.gz"
//! ```

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::Table;

use crate::files::{FileError, write_whole};
use crate::inputs::Companion;
use crate::inputs::start::LogStart;
use crate::study::input::Input;
use crate::study::{Refused, Study};
use crate::threads::locked;

pub const ASKED: &str = "asked.toml";

pub const FILES: &str = "files";

pub const EXPERIMENT: &str = "experiment.toml";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyRequest {
    pub file: String,
    /// Name of the study. `None` in folders of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default)]
    pub settings: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub build: String,
    /// Reason why the study could not be run; `None` if it was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    #[serde(default, rename = "input", skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<RequestedInput>,
    /// Time spans of logs, for a study whose replications are windows of a log.
    #[serde(default, rename = "span", skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
    /// Texts of files that are part of scenarios. The key is the path of the file's copy in the
    /// results folder.
    #[serde(skip)]
    pub(crate) texts: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestedInput {
    pub path: String,
    pub blake3: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Path at which an input file was read when the study ran, relative to the results folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// Path of the file's copy in the results folder. `None` if the file was not copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<LogStart>,
}

/// Time span of a log, from its first to its last used arrival. Windows are parts of this span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    pub path: String,
    /// Start of the used part of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// End of the used part of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// First arrival, by the clock of the log.
    pub first: f64,
    /// Time of the last arrival, by the clock of the log.
    pub last: f64,
    /// Indices, from 0, of the windows in which no job arrives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub empty: Vec<u64>,
}

impl StudyRequest {
    /// Builds the record of a study; `inputs` are the files that it reads, by path.
    pub fn of(study: &Study, inputs: &BTreeMap<String, Input>) -> StudyRequest {
        let input = |(path, input): (&String, &Input)| RequestedInput {
            path: path.clone(),
            blake3: input.blake3.clone(),
            place: Some(input.path.clone()),
            start: input.start.clone(),
            ..RequestedInput::default()
        };
        let mut inputs: Vec<RequestedInput> = inputs.iter().map(input).collect();
        let mut texts = BTreeMap::new();
        for (path, Companion { place, text }) in locked(&study.companions).iter() {
            let blake3 = blake3::hash(text.as_bytes()).to_hex().to_string();
            // Files with the same name are told apart by digests of their content.
            let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
            let kept = format!("{FILES}/{}-{name}", &blake3[..16]);
            texts.insert(kept.clone(), text.clone());
            let place = Some(place.display().to_string());
            let kept = Some(kept);
            inputs.push(RequestedInput {
                path: path.clone(),
                blake3,
                place,
                kept,
                ..RequestedInput::default()
            });
        }
        inputs.sort_by(|one, other| one.path.cmp(&other.path));
        StudyRequest {
            file: study.file.clone(),
            name: Some(study.name.clone()),
            settings: study.settings.iter().map(|setting| setting.text.clone()).collect(),
            build: String::new(),
            left_out: None,
            inputs,
            spans: Vec::new(),
            texts,
        }
    }

    /// Possible paths of each input file, in the order in which they are tried. The key is the
    /// file's path in scenarios.
    pub fn found(&self, folder: &Path) -> BTreeMap<String, Vec<PathBuf>> {
        let places = |input: &RequestedInput| {
            let beside = input.kept.iter().chain(&input.beside).map(|path| folder.join(path));
            (input.path.clone(), beside.chain(input.place.iter().map(PathBuf::from)).collect())
        };
        self.inputs.iter().map(places).collect()
    }

    pub fn write(&self, folder: &Path) -> Result<(), Refused> {
        let mut asked = self.clone();
        let here = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        for input in &mut asked.inputs {
            let place = input.place.as_ref().map(Path::new);
            input.beside = place.and_then(|place| from_here(&here, place));
        }
        for (name, text) in &asked.texts {
            let path = folder.join(name);
            let home = path.parent().unwrap_or(folder);
            std::fs::create_dir_all(home).map_err(|error| FileError::making(home, &error))?;
            write_whole(&path, text.as_bytes())?;
        }
        let text = toml::to_string(&asked).expect("texts and lists of them are TOML");
        let text = format!("# How experiment.toml was asked for.\n{text}");
        write_whole(&folder.join(ASKED), text.as_bytes()).map_err(Refused::from)
    }

    /// Reads the record of how a study was requested from its results folder. `None` if there is no
    /// record, as in folders of older versions.
    pub fn read(folder: &Path) -> Result<Option<StudyRequest>, Refused> {
        let path = folder.join(ASKED);
        let name = path.display().to_string();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileError::reading(&name, &path, &error).into()),
        };
        toml::from_str(&text).map(Some).map_err(|error| {
            let message = error.message().trim().replace('\n', "; ");
            Refused(format!("{name}: this is not how Meshwork writes this file: {message}"))
        })
    }

    /// Name of the study in a results folder; `None` without a study, or if it is unknown.
    pub(crate) fn name_in(folder: &Path) -> Result<Option<String>, Refused> {
        let Ok(source) = std::fs::read_to_string(folder.join(EXPERIMENT)) else { return Ok(None) };
        let Some(asked) = StudyRequest::read(folder)? else { return Ok(None) };
        let own = source.parse::<Table>().unwrap_or_default().remove("name");
        let own = own.and_then(|name| name.as_str().map(str::to_owned));
        let stem = || Some(Path::new(&asked.file).file_stem()?.to_string_lossy().into_owned());
        Ok(asked.name.clone().or(own).or_else(stem))
    }

    /// Record for a results folder that has no `asked.toml`. The input files of the study are added
    /// later by [`learn`](StudyRequest::learn).
    pub fn guess() -> StudyRequest {
        StudyRequest { file: EXPERIMENT.to_owned(), ..StudyRequest::default() }
    }

    /// Adds an input file. An entry of the list with the same path is replaced.
    pub(crate) fn know(&mut self, path: &str, blake3: &str, place: &str, start: Option<LogStart>) {
        let found = RequestedInput {
            path: path.to_owned(),
            blake3: blake3.to_owned(),
            place: Some(place.to_owned()),
            start,
            ..RequestedInput::default()
        };
        match self.inputs.binary_search_by(|other| other.path.as_str().cmp(path)) {
            Ok(place) => self.inputs[place] = found,
            Err(place) => self.inputs.insert(place, found),
        }
    }

    /// Digest of the input file that scenarios name as `path`. `None` if there is no such file.
    pub fn digest(&self, path: &str) -> Option<&str> {
        self.inputs.iter().find(|input| input.path == path).map(|input| input.blake3.as_str())
    }
}

/// Path relative to `folder`; `None` without a common root, as on two drives of Windows.
fn from_here(folder: &Path, path: &Path) -> Option<String> {
    let plain = |path: &Path| -> Option<Vec<std::ffi::OsString>> {
        let mut parts = Vec::new();
        for part in path.components() {
            match part {
                Component::ParentDir => drop(parts.pop()),
                Component::CurDir => {}
                part => parts.push(part.as_os_str().to_owned()),
            }
        }
        path.is_absolute().then_some(parts)
    };
    let (folder, path) = (plain(folder)?, plain(path)?);
    let common = folder.iter().zip(&path).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return None;
    }
    let mut seen = PathBuf::new();
    seen.extend(folder[common..].iter().map(|_| ".."));
    seen.extend(&path[common..]);
    seen.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(StudyRequest::read(folder.path()), Ok(None));
        let settings = ["workload.load=0.7", "sweep.'workload.load'=[0.1, 0.2]", "name=\"a ' b\""];
        let asked = StudyRequest {
            file: "dir/a study.toml".to_owned(),
            name: Some("a study".to_owned()),
            settings: settings.map(str::to_owned).to_vec(),
            build: "0f".to_owned(),
            left_out: Some("there is no log".to_owned()),
            inputs: vec![RequestedInput {
                path: "logs/a.swf".to_owned(),
                blake3: "00ff".to_owned(),
                place: Some(folder.path().join("../logs/a.swf").display().to_string()),
                beside: None,
                kept: None,
                start: Some(LogStart { unix: 3, offset: None, zone: Some("UTC".to_owned()) }),
            }],
            spans: vec![Span {
                path: "b".to_owned(),
                from: None,
                until: None,
                first: 0.5,
                last: 1e9,
                empty: vec![2, 5],
            }],
            texts: BTreeMap::new(),
        };
        asked.write(folder.path()).unwrap();
        let mut read = StudyRequest::read(folder.path()).unwrap().unwrap();
        assert_eq!(read.inputs[0].beside.take().as_deref(), Some("../logs/a.swf"));
        assert_eq!(read, asked);
        assert_eq!(asked.digest("logs/a.swf"), Some("00ff"));
        assert_eq!(asked.digest("b"), None);
    }

    #[test]
    fn another_file_of_that_name_is_refused_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ASKED);
        std::fs::write(&path, "flie = 'a'").unwrap();
        let refused = StudyRequest::read(folder.path()).unwrap_err().0;
        let begin = format!("{}: this is not how Meshwork writes this file: ", path.display());
        assert!(refused.starts_with(&begin), "{refused}");
    }
}
