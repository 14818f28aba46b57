//! Functions that use the standard catalogue of strategies. Other functions take one as an
//! argument.

use std::path::Path;

use meshwork::catalogue::Catalogue;
use meshwork_lab::Refused;

use crate::{Maps, Report};

impl Report {
    /// Reads the report of a results folder, or of a folder of results folders. No run is replayed.
    pub fn read(folder: &Path) -> Result<Report, Refused> {
        Report::with_maps(folder, &Maps::none())
    }

    /// Reads the report of a results folder, in which selected runs can be replayed event by event.
    pub fn with_maps(folder: &Path, maps: &Maps) -> Result<Report, Refused> {
        Report::with_maps_in(&Catalogue::standard(), folder, maps)
    }
}
