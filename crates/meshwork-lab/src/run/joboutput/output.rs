//! Files of per-job output, whose columns are known only after the last job.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use meshwork::topology::Topology;
use meshwork::workload::table::CellKind;

#[cfg(feature = "parquet")]
use super::parquet;
use super::{HEADER, JobOutputError, Part, Row, always, batsim, optional};
use crate::files::{FileError, temporary_of_run};
use crate::study::JobFormat;
use meshwork_slurm::cell::written;

pub(super) struct Output {
    path: PathBuf,
    temporary: PathBuf,
    format: JobFormat,
    writer: Option<BufWriter<File>>,
    always: Vec<Part>,
    /// The [`optional`] columns. The flag says whether any job so far has a value in the column.
    optional: Vec<(Part, bool)>,
}

impl Output {
    pub(super) fn create(path: PathBuf, format: JobFormat) -> Result<Output, JobOutputError> {
        if cfg!(not(feature = "parquet")) && format == JobFormat::Parquet {
            return Err(JobOutputError::NoParquet(path.display().to_string()));
        }
        let temporary = temporary_of_run(&path);
        let begun = || -> io::Result<BufWriter<File>> {
            let mut writer = BufWriter::with_capacity(1 << 16, File::create(&temporary)?);
            let header = if format == JobFormat::Batsim { batsim::HEADER } else { HEADER };
            writeln!(writer, "{header}")?;
            Ok(writer)
        };
        let writer = Some(begun().map_err(|error| FileError::writing(&path, &error))?);
        let optional = optional().map(|part| (part, false)).collect();
        Ok(Output { path, temporary, format, writer, always: always().collect(), optional })
    }

    pub(super) fn write(
        &mut self,
        row: &Row,
        topologies: &[Topology],
    ) -> Result<(), JobOutputError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let written = match self.format {
            JobFormat::Batsim => batsim::write(writer, row, topologies),
            _ => write_csv(writer, row, topologies, &self.always, &mut self.optional),
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
        // The columns are known now. A CSV file without optional columns is already complete.
        let is_as_it_is = match self.format {
            JobFormat::Batsim => true,
            JobFormat::Csv => !self.optional.iter().any(|(_, is_used)| *is_used),
            JobFormat::Parquet => false,
        };
        if !is_as_it_is {
            let again = self.again();
            self.rewrite(File::create(&again)?)?;
            fs::rename(again, &self.temporary)?;
        }
        fs::rename(&self.temporary, &self.path)
    }

    fn rewrite(&self, out: File) -> io::Result<()> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(&self.temporary)?;
        let always = self.always.iter().map(|part| (*part, true));
        let (places, parts): (Vec<usize>, Vec<Part>) = always
            .chain(self.optional.iter().copied())
            .enumerate()
            .filter_map(|(place, (part, is_used))| is_used.then_some((place, part)))
            .unzip();
        let mut table = Table::create(self.format, out, parts)?;
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record)? {
            table.push(places.iter().map(|&place| record.get(place).unwrap_or_default()))?;
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
    fn drop(&mut self) {
        self.writer = None;
        let _ = fs::remove_file(&self.temporary);
        let _ = fs::remove_file(self.again());
    }
}

enum Table {
    Csv(Box<csv::Writer<BufWriter<File>>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Columns<File>>),
}

impl Table {
    #[cfg_attr(
        not(feature = "parquet"),
        expect(clippy::needless_pass_by_value, reason = "a table in Parquet keeps them")
    )]
    fn create(format: JobFormat, out: File, parts: Vec<Part>) -> io::Result<Table> {
        match format {
            #[cfg(feature = "parquet")]
            JobFormat::Parquet => {
                Ok(Table::Parquet(Box::new(parquet::Columns::create(out, parts)?)))
            }
            _ => {
                let mut writer = csv::Writer::from_writer(BufWriter::new(out));
                writer.write_record(parts.iter().map(|part| part.name()))?;
                Ok(Table::Csv(Box::new(writer)))
            }
        }
    }

    fn push<'c>(&mut self, cells: impl Iterator<Item = &'c str>) -> io::Result<()> {
        match self {
            Table::Csv(writer) => {
                cells.map(written).try_for_each(|cell| writer.write_field(&*cell))?;
                Ok(writer.write_record(None::<&[u8]>)?)
            }
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

/// Writes a row of a CSV file. If any optional column has a cell, all optional columns are written.
fn write_csv(
    out: &mut impl Write,
    row: &Row,
    topologies: &[Topology],
    always: &[Part],
    optional: &mut [(Part, bool)],
) -> io::Result<()> {
    let ended = row.ended(topologies);
    for (at, part) in always.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let cell = part.cell(&ended).unwrap_or_default();
        match part {
            // Cells of blocks are always quoted, for simplicity.
            Part::Happened(outcome) if outcome.holds == CellKind::Text => {
                write!(out, "{comma}\"{cell}\"")?;
            }
            _ => write!(out, "{comma}{cell}")?,
        }
    }
    // Most jobs have no user and request only a count.
    let cells: Vec<Option<String>> = optional.iter().map(|(part, _)| part.cell(&ended)).collect();
    if cells.iter().any(Option::is_some) {
        for ((_, is_used), cell) in optional.iter_mut().zip(cells) {
            *is_used |= cell.is_some();
            write!(out, ",{}", quoted(&cell.unwrap_or_default()))?;
        }
    }
    writeln!(out)
}

pub(super) fn quoted(cell: &str) -> Cow<'_, str> {
    if cell.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\"")).into();
    }
    cell.into()
}
