//! The standard catalogue: what is meant where nobody gives one. Everything else in this crate takes the catalogue that
//! it is given, so that what a program adds is known everywhere.

use std::path::Path;

use meshwork::catalogue::Catalogue;

use crate::report::{Maps, Report};
use crate::study::{Refused, Study};

/// The standard catalogue.
pub(crate) fn catalogue() -> Catalogue {
    Catalogue::standard()
}

impl Study {
    /// Reads a study file, with `KEY=VALUE` settings of the command line laid over it.
    ///
    /// # Errors
    /// The first thing that is wrong, with the line.
    pub fn read(path: &Path, settings: &[String]) -> Result<Study, Refused> {
        Study::read_in(&catalogue(), path, settings)
    }

    /// Reads the text of a study; `file` is what messages call it.
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
    ///
    /// # Errors
    /// The first thing that is wrong, with the line.
    pub fn parse(
        file: &str,
        source: &str,
        folder: &Path,
        settings: &[String],
    ) -> Result<Study, Refused> {
        Study::parse_in(&catalogue(), file, source, folder, settings)
    }
}

impl Report {
    /// The report of a folder of results, or of a folder of such folders, with no run shown instant by instant.
    ///
    /// # Errors
    /// One sentence, if there is no study in it, or its only one cannot be read.
    pub fn read(folder: &Path) -> Result<Report, Refused> {
        Report::with_maps(folder, &Maps::none())
    }

    /// The same, with runs that are shown instant by instant where there is a single study.
    ///
    /// # Errors
    /// The same, or if a run is chosen that is not there.
    pub fn with_maps(folder: &Path, maps: &Maps) -> Result<Report, Refused> {
        Report::with_maps_in(&catalogue(), folder, maps)
    }
}
