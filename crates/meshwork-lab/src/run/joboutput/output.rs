//! The files of the jobs of a run: which columns they have is known when the last job is.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use meshwork::job::Request;
use meshwork::topology::Topology;
use meshwork::workload::table::{COLUMNS, Column, Holds};

#[cfg(feature = "parquet")]
use super::parquet;
use super::{HEADER, JobOutputError, Row, batsim, optional};
use crate::run::file::{FileError, process};
use crate::study::JobFormat;

/// How many columns are always there.
const ALWAYS: usize = 13;

/// One file under a temporary name.
pub(super) struct Output {
    path: PathBuf,
    temporary: PathBuf,
    format: JobFormat,
    writer: Option<BufWriter<File>>,
    /// In which [`optional`] columns some job has a cell.
    used: Vec<bool>,
}

impl Output {
    pub(super) fn create(path: PathBuf, format: JobFormat) -> Result<Output, JobOutputError> {
        // Two scenarios of a sweep that are the same have one key, and may run at the same time.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        if cfg!(not(feature = "parquet")) && format == JobFormat::Parquet {
            return Err(JobOutputError::NoParquet(path.display().to_string()));
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.{number}.tmp", process()));
        let temporary = PathBuf::from(name);
        let begun = || -> io::Result<BufWriter<File>> {
            let mut writer = BufWriter::with_capacity(1 << 16, File::create(&temporary)?);
            let header = if format == JobFormat::Batsim { batsim::HEADER } else { HEADER };
            writeln!(writer, "{header}")?;
            Ok(writer)
        };
        let writer = Some(begun().map_err(|error| FileError::writing(&path, &error))?);
        Ok(Output { path, temporary, format, writer, used: vec![false; optional().count()] })
    }

    pub(super) fn write(
        &mut self,
        row: &Row,
        topologies: &[Topology],
    ) -> Result<(), JobOutputError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let written = match self.format {
            JobFormat::Batsim => batsim::write(writer, row, topologies),
            _ => write_csv(writer, row, topologies, &mut self.used),
        };
        written.map_err(|error| self.failed(&error))
    }

    pub(super) fn finish(mut self) -> Result<(), JobOutputError> {
        self.finished().map_err(|error| self.failed(&error))
    }

    fn finished(&mut self) -> io::Result<()> {
        if let Some(mut writer) = self.writer.take() {
            writer.flush()?;
        }
        // Which columns there are is known now, and a file of CSV that has no more than the usual is as it should be.
        let is_as_it_is = match self.format {
            JobFormat::Batsim => true,
            JobFormat::Csv => !self.used.contains(&true),
            JobFormat::Parquet => false,
        };
        if !is_as_it_is {
            let again = self.again();
            self.rewrite(File::create(&again)?)?;
            fs::rename(again, &self.temporary)?;
        }
        fs::rename(&self.temporary, &self.path)
    }

    /// Writes the rows once more, with the columns that some job has a cell in.
    fn rewrite(&self, out: File) -> io::Result<()> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(&self.temporary)?;
        let more: Vec<(usize, &Column)> = (ALWAYS..)
            .zip(optional())
            .zip(&self.used)
            .filter_map(|(column, used)| used.then_some(column))
            .collect();
        let mut table = Table::create(self.format, out, &more)?;
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record)? {
            let of_more = more.iter().map(|&(place, _)| record.get(place).unwrap_or_default());
            table.push(record.iter().take(ALWAYS).chain(of_more))?;
        }
        table.finish()
    }

    fn again(&self) -> PathBuf {
        self.temporary.with_extension("again.tmp")
    }

    fn failed(&self, error: &io::Error) -> JobOutputError {
        FileError::writing(&self.path, error).into()
    }
}

impl Drop for Output {
    /// A run that failed leaves no file behind; of one that did not, the name is gone already.
    fn drop(&mut self) {
        self.writer = None;
        let _ = fs::remove_file(&self.temporary);
        let _ = fs::remove_file(self.again());
    }
}

/// A table whose columns are known.
enum Table {
    Csv(Box<csv::Writer<BufWriter<File>>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Columns<File>>),
}

impl Table {
    fn create(format: JobFormat, out: File, more: &[(usize, &Column)]) -> io::Result<Table> {
        let more = more.iter().map(|(_, column)| (column.name, column.holds));
        let columns = HEADER.split(',').map(|name| (name, holds(name))).chain(more);
        match format {
            #[cfg(feature = "parquet")]
            JobFormat::Parquet => {
                let optional = |name: &str| {
                    matches!(name, "nodes" | "block" | "subcube")
                        || !HEADER.split(',').any(|always| always == name)
                };
                let columns = columns.map(|(name, holds)| (name, holds, optional(name)));
                Ok(Table::Parquet(Box::new(parquet::Columns::create(out, columns.collect())?)))
            }
            _ => {
                let mut writer = csv::Writer::from_writer(BufWriter::new(out));
                writer.write_record(columns.map(|(name, _)| name))?;
                Ok(Table::Csv(Box::new(writer)))
            }
        }
    }

    fn push<'c>(&mut self, cells: impl Iterator<Item = &'c str>) -> io::Result<()> {
        match self {
            Table::Csv(writer) => Ok(writer.write_record(cells)?),
            #[cfg(feature = "parquet")]
            Table::Parquet(columns) => columns.push(cells),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Table::Csv(mut writer) => writer.flush(),
            #[cfg(feature = "parquet")]
            Table::Parquet(columns) => columns.finish(),
        }
    }
}

/// Kind of the cells of a column that is always there.
fn holds(name: &str) -> Holds {
    match name {
        "start" | "finish" => Holds::Instant,
        "requested" => Holds::Number,
        "held" | "site" => Holds::Count,
        "blocks" => Holds::Text,
        _ => COLUMNS.iter().find(|column| column.name == name).expect("one of a table").holds,
    }
}

/// Writes a row: the cells that are always there, and if it has others, those of all other columns.
fn write_csv(
    out: &mut impl Write,
    row: &Row,
    topologies: &[Topology],
    used: &mut [bool],
) -> io::Result<()> {
    let Row { job, start, finish, requested, held, site, placement, .. } = row;
    let blocks = placement.text(topologies[*site].grid());
    write!(
        out,
        "{},{},{start},{finish},{requested},{held},{site},\"{blocks}\",{},{}",
        job.number, job.arrival, job.runtime, job.estimate
    )?;
    for name in ["nodes", "block", "subcube"] {
        let column = COLUMNS.iter().find(|column| column.name == name);
        let cell = column.and_then(|column| column.get(job)).unwrap_or_default();
        write!(out, ",{cell}")?;
    }
    // Most jobs are nobody's and want no more than a count.
    if job.owner.is_some() || job.terms.is_some() || matches!(job.request, Request::Constrained(_))
    {
        for (column, used) in optional().zip(used) {
            let cell = column.get(job);
            *used |= cell.is_some();
            write!(out, ",{}", quoted(&cell.unwrap_or_default()))?;
        }
    }
    writeln!(out)
}

/// A cell of CSV.
pub(super) fn quoted(cell: &str) -> Cow<'_, str> {
    if cell.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\"")).into();
    }
    cell.into()
}
