//! How a study was asked for: what `experiment.toml` alone does not say.
//!
//! Beside the text of the study, a folder of results keeps `asked.toml`: what the file was called, the
//! settings of the command line, in order, and the digests of the logs that were read. The three
//! together say which runs are meant, long after the command was typed.
//!
//! ```toml
//! file = "study.toml"
//! settings = ["workload.load=0.7"]
//!
//! [[input]]
//! path = "log.swf.gz"
//! blake3 = "…"
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::run::inputs::reading_failed;
use crate::run::store::{Input, Record, write_whole};
use crate::study::{Refused, Study};

/// The file in a folder of results.
pub const ASKED: &str = "asked.toml";

/// The text of the study in a folder of results.
pub const EXPERIMENT: &str = "experiment.toml";

/// How a study was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The file of the study, as given.
    pub file: String,
    /// The settings of the command line, as given.
    #[serde(default)]
    pub settings: Vec<String>,
    /// Why nothing was run, if it could not be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// The files that its scenarios read, by the paths that stand in them.
    #[serde(default, rename = "input", skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
}

impl Asked {
    /// What is to be kept of a study and the files that it reads.
    #[must_use]
    pub fn of(study: &Study, inputs: &BTreeMap<String, Input>) -> Asked {
        let input =
            |(path, input): (&String, &Input)| Input { path: path.clone(), ..input.clone() };
        Asked {
            file: study.file.clone(),
            settings: study.settings.iter().map(|setting| setting.text.clone()).collect(),
            left_out: None,
            inputs: inputs.iter().map(input).collect(),
        }
    }

    /// Writes it into a folder.
    ///
    /// # Errors
    /// One sentence that names the file.
    pub fn write(&self, folder: &Path) -> Result<(), Refused> {
        let text = toml::to_string(self).expect("texts and lists of them are TOML");
        let text = format!("# How experiment.toml was asked for.\n{text}");
        write_whole(&folder.join(ASKED), text.as_bytes()).map_err(Refused)
    }

    /// Reads that of a folder; `None` where there is none, as in folders of older versions.
    ///
    /// # Errors
    /// One sentence that names the file, if it is there and cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Asked>, Refused> {
        let path = folder.join(ASKED);
        let name = path.display().to_string();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Refused(reading_failed(&name, &path, &error))),
        };
        toml::from_str(&text).map(Some).map_err(|error| {
            let message = error.message().trim().replace('\n', "; ");
            Refused(format!("{name}: this is not how Meshwork writes this file: {message}"))
        })
    }

    /// What can be said of a folder that does not say it: no settings, and the inputs that its runs
    /// name, the latest where one path had two contents.
    #[must_use]
    pub fn guess(records: &[Record]) -> Asked {
        let mut inputs: BTreeMap<String, Input> = BTreeMap::new();
        for record in records {
            let path = record.scenario.pointer("/workload/path").and_then(|path| path.as_str());
            if let (Some(path), Some(input)) = (path, &record.input) {
                let input = Input { path: path.to_owned(), ..input.clone() };
                inputs.insert(path.to_owned(), input);
            }
        }
        Asked {
            file: EXPERIMENT.to_owned(),
            inputs: inputs.into_values().collect(),
            ..Asked::default()
        }
    }

    /// The digest of the file at this path of a scenario.
    #[must_use]
    pub fn digest(&self, path: &str) -> Option<&str> {
        self.inputs.iter().find(|input| input.path == path).map(|input| input.blake3.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::clock::Start;

    #[test]
    fn what_was_asked_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Asked::read(folder.path()), Ok(None));
        let settings = ["workload.load=0.7", "sweep.'workload.load'=[0.1, 0.2]", "name=\"a ' b\""];
        let asked = Asked {
            file: "dir/a study.toml".to_owned(),
            settings: settings.map(str::to_owned).to_vec(),
            left_out: Some("there is no log".to_owned()),
            inputs: vec![Input {
                path: "logs/a.swf".to_owned(),
                blake3: "00ff".to_owned(),
                start: Some(Start { unix: 3, offset: None, zone: Some("UTC".to_owned()) }),
            }],
        };
        asked.write(folder.path()).unwrap();
        assert_eq!(Asked::read(folder.path()), Ok(Some(asked.clone())));
        assert_eq!(asked.digest("logs/a.swf"), Some("00ff"));
        assert_eq!(asked.digest("b"), None);
    }

    #[test]
    fn another_file_of_that_name_is_refused_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ASKED);
        std::fs::write(&path, "flie = 'a'").unwrap();
        let refused = Asked::read(folder.path()).unwrap_err().0;
        let begin = format!("{}: this is not how Meshwork writes this file: ", path.display());
        assert!(refused.starts_with(&begin), "{refused}");
    }
}
