//! Machines managed by Slurm, for use in studies.
//!
//! The crate `meshwork-slurm` parses the files of Slurm. [`read`] opens them, and [`scenario`]
//! turns a Slurm machine into the machine of a study.

use std::path::Path;

mod given;
pub mod scenario;

pub(crate) use given::{SITE_KEYS, open_sites};

pub use meshwork_slurm::*;

use crate::run::file::{FileError, MAX_TEXT, read_whole};

/// Reads a topology file of Slurm, and optionally a `slurm.conf`, as [`site::read`] does.
pub fn read(topology: &Path, conf: Option<&Path>) -> Result<site::Reading, String> {
    site::read(topology, conf, &read_file)
}

pub fn read_file(path: &Path) -> Result<String, String> {
    let shown = path.display().to_string();
    let text = read_whole(&shown, path, MAX_TEXT)
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| FileError::NotText(shown)));
    text.map_err(|error| error.to_string())
}
