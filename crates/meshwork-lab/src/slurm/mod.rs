//! Files of Slurm on disk, which the crate `meshwork-slurm` parses.

use std::path::Path;

pub mod folder;

use meshwork_slurm::{FileProblem, site};

use crate::files::{FileError, MAX_RECORDS, MAX_TEXT, bounded, read_whole};

/// Reads a topology file and a `slurm.conf`, of which one may be missing, as [`site::read`] does.
pub fn read(topology: Option<&Path>, conf: Option<&Path>) -> Result<site::Reading, String> {
    site::read(topology, conf, &read_file)
}

pub fn read_file(path: &Path) -> Result<String, String> {
    let shown = path.display().to_string();
    let text = read_whole(&shown, path, MAX_TEXT)
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| FileError::NotText(shown)));
    text.map_err(|error| error.to_string())
}

/// Reads a text file of at most [`MAX_RECORDS`] bytes, which may be compressed by gzip.
pub fn read_text(path: &Path) -> Result<String, FileProblem> {
    let file = path.display().to_string();
    let unread = |error: FileError| {
        let says = error.to_string();
        FileProblem::of(&file, says.strip_prefix(&format!("{file}: ")).unwrap_or(&says))
    };
    let mut bytes = read_whole(&file, path, MAX_RECORDS).map_err(unread)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let reader = flate2::read::MultiGzDecoder::new(&bytes[..]);
        bytes = bounded(&file, path, reader, MAX_RECORDS).map_err(unread)?;
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        FileProblem::at(&file, line + 1, "this line is no text in UTF-8")
    })
}
