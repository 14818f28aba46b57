use std::io::{self, Write};
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use meshwork::workload::table::CellKind;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::Part;

const GROUP: usize = 1 << 16;

enum Cells {
    Numbers(UInt64Builder),
    Counts(UInt32Builder),
    Reals(Float64Builder),
    Flags(BooleanBuilder),
    Texts(StringBuilder),
}

impl Cells {
    fn of(holds: CellKind) -> Cells {
        match holds {
            CellKind::Number => Cells::Numbers(UInt64Builder::new()),
            CellKind::Count => Cells::Counts(UInt32Builder::new()),
            CellKind::Instant | CellKind::Real => Cells::Reals(Float64Builder::new()),
            CellKind::Flag => Cells::Flags(BooleanBuilder::new()),
            CellKind::Text => Cells::Texts(StringBuilder::new()),
        }
    }

    fn push(&mut self, cell: &str) -> io::Result<()> {
        let cell = (!cell.is_empty()).then_some(cell);
        match self {
            Cells::Numbers(cells) => cells.append_option(parsed(cell)?),
            Cells::Counts(cells) => cells.append_option(parsed(cell)?),
            Cells::Reals(cells) => cells.append_option(parsed(cell)?),
            Cells::Flags(cells) => cells.append_option(parsed(cell)?),
            Cells::Texts(cells) => cells.append_option(cell),
        }
        Ok(())
    }

    fn array(&mut self) -> ArrayRef {
        match self {
            Cells::Numbers(cells) => Arc::new(cells.finish()),
            Cells::Counts(cells) => Arc::new(cells.finish()),
            Cells::Reals(cells) => Arc::new(cells.finish()),
            Cells::Flags(cells) => Arc::new(cells.finish()),
            Cells::Texts(cells) => Arc::new(cells.finish()),
        }
    }
}

fn parsed<T: FromStr>(cell: Option<&str>) -> io::Result<Option<T>> {
    let wrong = |cell| io::Error::other(format!("`{cell}` is none of what its column holds"));
    cell.map(|cell| cell.parse().map_err(|_| wrong(cell))).transpose()
}

pub(crate) struct Columns<W: Write + Send> {
    writer: ArrowWriter<W>,
    columns: Vec<(&'static str, Cells, bool)>,
    rows: usize,
}

impl<W: Write + Send> Columns<W> {
    pub(crate) fn create(out: W, parts: Vec<Part>) -> io::Result<Columns<W>> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("meshwork {}", env!("CARGO_PKG_VERSION")))
            .build();
        let with_cells = |part: Part| {
            let may_be_empty = matches!(part, Part::Asked(column) if !column.is_certain());
            (part.name(), Cells::of(part.holds()), may_be_empty)
        };
        let mut columns: Vec<_> = parts.into_iter().map(with_cells).collect();
        let schema = batch(&mut columns)?.schema();
        let writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(disk)?;
        Ok(Columns { writer, columns, rows: 0 })
    }

    pub(crate) fn push<'c>(&mut self, cells: impl IntoIterator<Item = &'c str>) -> io::Result<()> {
        for ((_, column, _), cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell)?;
        }
        self.rows += 1;
        if self.rows == GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.rows = 0;
        let batch = batch(&mut self.columns)?;
        self.writer.write(&batch).map_err(disk)?;
        self.writer.flush().map_err(disk)
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.writer.close().map(drop).map_err(disk)
    }
}

fn batch(columns: &mut [(&'static str, Cells, bool)]) -> io::Result<RecordBatch> {
    let arrays = columns.iter_mut().map(|(name, cells, empty)| (*name, cells.array(), *empty));
    RecordBatch::try_from_iter_with_nullable(arrays).map_err(io::Error::other)
}

fn disk(error: parquet::errors::ParquetError) -> io::Error {
    match error {
        parquet::errors::ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}
