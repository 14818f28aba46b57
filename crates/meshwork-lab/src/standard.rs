//! Functions without a catalogue as an argument: they use the standard catalogue of strategies.

use std::path::Path;

use meshwork::catalogue::Catalogue;

use crate::study::{Refused, Study};

pub(crate) fn catalogue() -> Catalogue {
    Catalogue::standard()
}

impl Study {
    /// Reads a study file and applies `KEY=VALUE` settings from the command line.
    pub fn read(path: &Path, settings: &[String]) -> Result<Study, Refused> {
        Study::read_in(&catalogue(), path, settings)
    }

    /// Parses the text of a study; `file` is its name in messages.
    ///
    /// ```
    /// use std::path::Path;
    /// use meshwork_lab::Study;
    /// let text = "replications = 3\n[sweep]\nscheduler = ['fcfs', 'easy']\n";
    /// let study = Study::parse("a.toml", text, Path::new(""), &[]).unwrap();
    /// assert_eq!(study.sweep[0].values.len(), 2);
    /// let refused = Study::parse("a.toml", "\nreplications = 0", Path::new(""), &[]).unwrap_err();
    /// assert_eq!(
    ///     refused.to_string(),
    ///     "a.toml:2: `replications` is 0, but must be a whole number from 1 to 1000000"
    /// );
    /// ```
    pub fn parse(
        file: &str,
        source: &str,
        folder: &Path,
        settings: &[String],
    ) -> Result<Study, Refused> {
        Study::parse_in(&catalogue(), file, source, folder, settings)
    }
}
