//! Input files of workloads: opening, decompression and digests.

#[cfg(feature = "parquet")]
pub mod arrow;
mod columns;
pub mod form;
#[cfg(feature = "parquet")]
mod parquet;
pub mod published;
pub mod start;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use flate2::bufread::MultiGzDecoder;
use meshwork::workload::table::{Listed, Row};
use meshwork::workload::{Inputs, Rows, WorkloadError};

use crate::files::{FileError, MAX_TEXT, bounded, line_breaks};

pub use columns::row;
pub(crate) use columns::{Lines, Make, is_tsv};

const BUFFER: usize = 1 << 16;

/// Files that the workloads of a study read.
///
/// A relative path is looked up first in the folder of the study file and then in the current
/// directory. Compression by gzip and the format Parquet are recognized by the first bytes, not by
/// the name.
#[derive(Debug, Default)]
pub struct Files {
    folder: PathBuf,
    found: BTreeMap<String, Vec<PathBuf>>,
    digests: Mutex<BTreeMap<PathBuf, String>>,
    companions: Companions,
}

pub(crate) type Companions = Arc<Mutex<BTreeMap<String, Companion>>>;

/// File whose text becomes part of scenarios, such as a topology file.
#[derive(Clone, Debug)]
pub(crate) struct Companion {
    pub(crate) place: PathBuf,
    pub(crate) text: String,
}

impl Files {
    pub fn beside(folder: &Path) -> Files {
        Files { folder: folder.to_path_buf(), ..Files::default() }
    }

    /// Files that a study in the folder `folder` names.
    ///
    /// `found` has the paths of files that were found elsewhere. `companions` has files that become
    /// part of scenarios.
    pub(crate) fn with(
        folder: &Path,
        found: BTreeMap<String, Vec<PathBuf>>,
        companions: Companions,
    ) -> Files {
        Files { found, companions, ..Files::beside(folder) }
    }

    /// Resolves the path of a file that a study names. If no such file exists, the path is
    /// unchanged.
    ///
    /// ```
    /// use std::path::Path;
    /// use meshwork_lab::inputs::Files;
    /// let files = Files::beside(Path::new("nowhere"));
    /// assert_eq!(files.locate("log.swf"), Path::new("log.swf"));
    /// ```
    pub fn locate(&self, path: &str) -> PathBuf {
        let found = self.found.get(path).into_iter().flatten().cloned();
        let mut places = [self.folder.join(path)].into_iter().chain(found);
        places.find(|place| place.exists()).unwrap_or_else(|| PathBuf::from(path))
    }

    /// Path of a file that becomes part of scenarios, such as a topology. If the study is in a
    /// results folder, this is the path of the file's copy there.
    pub(crate) fn locate_companion(&self, path: &str) -> PathBuf {
        let mut found = self.found.get(path).into_iter().flatten();
        found.find(|place| place.exists()).cloned().unwrap_or_else(|| self.locate(path))
    }

    /// Reads a file that becomes part of scenarios, such as a topology. Its text is recorded, so
    /// that it can be copied to the results folder.
    pub(crate) fn companion(&self, path: &str, located: &Path) -> Result<String, FileError> {
        let shown = located.display().to_string();
        let reader = decompressed(open(&shown, located)?)
            .map_err(|error| FileError::reading(&shown, located, &error))?;
        let text = String::from_utf8(bounded(&shown, located, reader, MAX_TEXT)?)
            .map_err(|_| FileError::NotText(shown))?;
        let place = std::path::absolute(located).unwrap_or_else(|_| located.to_owned());
        let companion = Companion { place, text: text.clone() };
        crate::threads::locked(&self.companions).insert(path.to_owned(), companion);
        Ok(text)
    }

    pub fn check(&self, path: &str) -> Result<(), FileError> {
        open(path, &self.locate(path)).map(drop)
    }

    /// BLAKE3 digest of a file as stored on disk, in hexadecimal. Each file is read once.
    pub fn digest(&self, path: &str) -> Result<String, FileError> {
        let located = self.locate(path);
        let mut digests = crate::threads::locked(&self.digests);
        if let Some(digest) = digests.get(&located) {
            return Ok(digest.clone());
        }
        let file = open(path, &located)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(file).map_err(|e| FileError::reading(path, &located, &e))?;
        let digest = hasher.finalize().to_hex().to_string();
        digests.insert(located, digest.clone());
        Ok(digest)
    }

    /// Number of lines of a log or a CSV file. For a Parquet file, the number of rows that it
    /// states.
    pub fn rows_of(&self, path: &str) -> Result<u64, FileError> {
        let located = self.locate(path);
        let failed = |error: io::Error| FileError::reading(path, &located, &error);
        let mut reader = BufReader::with_capacity(BUFFER, open(path, &located)?);
        if is_parquet(&mut reader).map_err(failed)? {
            return Ok(rows_of_parquet(reader.into_inner()));
        }
        decompress(reader).and_then(line_breaks).map_err(failed)
    }

    /// Reads the rows of a table. `places` finds the index of each column that Meshwork knows.
    pub(crate) fn table<T: Send + 'static, const N: usize>(
        &self,
        path: &str,
        places: impl FnOnce(&[&str]) -> Result<[Option<usize>; N], String>,
        make: Make<T, N>,
    ) -> Result<Lines<T>, WorkloadError> {
        let located = self.locate(path);
        let failed = |error: io::Error| {
            WorkloadError(FileError::reading(path, &located, &error).to_string())
        };
        let file = open(path, &located).map_err(refused)?;
        let mut reader = BufReader::with_capacity(BUFFER, file);
        if is_parquet(&mut reader).map_err(failed)? {
            from_parquet(path, reader.into_inner(), places, make)
        } else {
            columns::from_csv(path, decompress(reader).map_err(failed)?, places, make)
        }
    }
}

impl Inputs for Files {
    fn text(&self, path: &str) -> Result<Box<dyn BufRead + Send>, WorkloadError> {
        let located = self.locate(path);
        let file = open(path, &located).map_err(refused)?;
        decompressed(file)
            .map_err(|e| WorkloadError(FileError::reading(path, &located, &e).to_string()))
    }

    fn rows(&self, path: &str) -> Result<Rows, WorkloadError> {
        self.jobs(path)
    }
}

/// Checks that every row of a CSV table of jobs is a valid job.
///
/// Error messages give the index of a row, counted from 0 as in data frames.
///
/// ```
/// use meshwork_lab::inputs::check_rows;
/// let text = "submit,runtime,nodes\n0,60,4\n1,long,4\n";
/// assert_eq!(
///     check_rows(text.to_owned(), "jobs").unwrap_err().0,
///     "jobs, row 1 (from 0): `runtime` is `long`, but must be a number"
/// );
/// ```
pub fn check_rows(text: String, what: &str) -> Result<(), WorkloadError> {
    let of_row = |error: WorkloadError, row: Option<u64>| {
        let rest = error.0.strip_prefix(what).and_then(|rest| rest.strip_prefix(':'));
        let Some((line, rest)) = rest.and_then(|rest| rest.split_once(": ")) else { return error };
        let Ok(line) = line.parse::<u64>() else { return error };
        WorkloadError(format!("{what}, row {} (from 0): {rest}", row.unwrap_or(line)))
    };
    let mut failed = None;
    let rows = columns::jobs_of_csv(what, Box::new(io::Cursor::new(text.into_bytes())))?;
    let rows: Vec<_> = rows
        .zip(0..)
        .map_while(|(row, place)| match row {
            Ok(row) => Some(Ok(Row { line: place, ..row })),
            Err(error) => {
                failed = Some(of_row(error, Some(place)));
                None
            }
        })
        .collect();
    // A wrong row above an unreadable one is reported first.
    let is_empty = rows.is_empty();
    let listed = Listed::read(Box::new(rows.into_iter()), what);
    match (listed, failed) {
        (Err(error), None) => Err(of_row(error, None)),
        (Err(error), Some(_)) if !is_empty => Err(of_row(error, None)),
        (_, Some(error)) => Err(error),
        (Ok(_), None) => Ok(()),
    }
}

fn is_parquet(reader: &mut BufReader<File>) -> io::Result<bool> {
    Ok(reader.fill_buf()?.starts_with(b"PAR1"))
}

#[cfg(feature = "parquet")]
use self::parquet::{from_parquet, rows_of_parquet};

/// Replacement for the reader of Parquet files in programs without the feature `parquet`.
/// It returns 0. The file is refused later, when its jobs are read.
#[cfg(not(feature = "parquet"))]
fn rows_of_parquet(_: File) -> u64 {
    0
}

#[cfg(not(feature = "parquet"))]
fn from_parquet<T, const N: usize>(
    path: &str,
    _: File,
    _: impl FnOnce(&[&str]) -> Result<[Option<usize>; N], String>,
    _: Make<T, N>,
) -> Result<Lines<T>, WorkloadError> {
    Err(WorkloadError(format!("{path}: this is Parquet, and {NO_PARQUET}: CSV can be read")))
}

#[cfg(not(feature = "parquet"))]
pub(crate) const NO_PARQUET: &str =
    "this program was built without the feature `parquet`: build it with `--features full`";

fn open(shown: &str, path: &Path) -> Result<File, FileError> {
    if path.is_dir() {
        return Err(FileError::IsFolder(shown.to_owned()));
    }
    // Check before opening: a pipe would block, and be empty for a second replication.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(FileError::NotRegular(shown.to_owned()));
    }
    File::open(path).map_err(|error| FileError::reading(shown, path, &error))
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
fn refused(error: FileError) -> WorkloadError {
    WorkloadError(error.to_string())
}

fn decompressed(file: File) -> io::Result<Box<dyn BufRead + Send>> {
    decompress(BufReader::with_capacity(BUFFER, file))
}

fn decompress<R: Read + Send + 'static>(
    mut reader: BufReader<R>,
) -> io::Result<Box<dyn BufRead + Send>> {
    // One read of a regular file returns both bytes of the mark of gzip; pipes are refused before.
    if reader.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        // A gzip file may have several members, as after `cat`.
        Ok(Box::new(BufReader::with_capacity(BUFFER, Unpacked(MultiGzDecoder::new(reader)))))
    } else {
        Ok(Box::new(reader))
    }
}

/// Reader that decompresses gzip. Its error messages are plain sentences.
struct Unpacked<R>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidData => {
                io::Error::new(error.kind(), "the compressed file is cut off or damaged")
            }
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(files: &Files, path: &str) -> Result<String, String> {
        let mut text = String::new();
        let mut reader = files.text(path).map_err(|error| error.0)?;
        reader.read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    }

    #[test]
    fn compression_is_told_by_content_and_not_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::beside(folder.path());
        std::fs::write(folder.path().join("plain.gz"), "a log").unwrap();
        std::fs::write(folder.path().join("packed.swf"), gzip(b"a log")).unwrap();
        let twice: Vec<u8> = [gzip(b"a "), gzip(b"log")].concat();
        std::fs::write(folder.path().join("twice.gz"), twice).unwrap();
        std::fs::write(folder.path().join("empty"), "").unwrap();
        for name in ["plain.gz", "packed.swf", "twice.gz"] {
            assert_eq!(read(&files, name).unwrap(), "a log", "{name}");
        }
        assert_eq!(read(&files, "empty").unwrap(), "");
    }

    #[test]
    fn a_table_may_be_compressed() {
        let folder = tempfile::tempdir().unwrap();
        let text = b"submit,runtime,nodes\n0,5,2\n";
        std::fs::write(folder.path().join("jobs.csv.gz"), gzip(text)).unwrap();
        let files = Files::beside(folder.path());
        let rows: Vec<_> = files.rows("jobs.csv.gz").ok().unwrap().map(Result::unwrap).collect();
        assert_eq!((rows.len(), rows[0].runtime), (1, Some(5.0)));
    }

    #[test]
    fn a_truncated_gzip_is_an_error_and_not_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let packed = gzip(b"1 2 3 4 5 6 7 8 9 10\n".repeat(1000).as_slice());
        std::fs::write(folder.path().join("cut.gz"), &packed[..packed.len() / 2]).unwrap();
        let files = Files::beside(folder.path());
        let sentence = "the compressed file is cut off or damaged";
        assert_eq!(read(&files, "cut.gz").unwrap_err(), sentence);
        std::fs::write(folder.path().join("bad.gz"), [&packed[..20], &[0xff; 40]].concat())
            .unwrap();
        assert_eq!(read(&files, "bad.gz").unwrap_err(), sentence);
    }

    #[test]
    fn what_cannot_be_opened_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::beside(folder.path());
        std::fs::create_dir(folder.path().join("logs")).unwrap();
        let directory = "logs: this is a directory, but must be a file";
        let missing = "no.swf: there is no such file";
        assert_eq!(read(&files, "logs").unwrap_err(), directory);
        assert_eq!(read(&files, "no.swf").unwrap_err(), missing);
        assert_eq!(files.rows("logs").err().unwrap().0, directory);
        assert_eq!(files.rows("no.swf").err().unwrap().0, missing);
        if cfg!(unix) {
            let device = "/dev/null: this is not a regular file, and every run reads it anew";
            assert_eq!(read(&files, "/dev/null").unwrap_err(), device);
        }
        assert_eq!(files.digest("logs").unwrap_err().to_string(), directory);
        assert_eq!(files.digest("no.swf").unwrap_err().to_string(), missing);
    }

    #[test]
    fn a_digest_is_of_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::beside(folder.path());
        std::fs::write(folder.path().join("a"), "same").unwrap();
        std::fs::write(folder.path().join("b"), "same").unwrap();
        std::fs::write(folder.path().join("c"), "other").unwrap();
        assert_eq!(files.digest("a").unwrap(), blake3::hash(b"same").to_hex().to_string());
        assert_eq!(files.digest("a"), files.digest("b"));
        assert_ne!(files.digest("a"), files.digest("c"));
    }
}
