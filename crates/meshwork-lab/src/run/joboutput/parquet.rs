//! Per-job output in Parquet: the part of it that needs the feature `parquet`.

use std::fs::File;
use std::io;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use meshwork::job::{Request, sides_text};
use meshwork::topology::Topology;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::{HEADER, Row};

/// Rows that are written together.
const GROUP: usize = 1 << 16;

/// The columns of a group of rows of Parquet.
#[derive(Default)]
struct Builders {
    rows: usize,
    whole: [UInt64Builder; 2],
    times: [Float64Builder; 5],
    small: [UInt32Builder; 4],
    texts: [StringBuilder; 2],
}

/// A file of Parquet that is being written.
pub(super) struct Columns {
    writer: ArrowWriter<File>,
    group: Builders,
}

impl Columns {
    pub(super) fn create(file: File) -> io::Result<Columns> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("meshwork {}", env!("CARGO_PKG_VERSION")))
            .build();
        let schema = Builders::default().batch()?.schema();
        let writer = ArrowWriter::try_new(file, schema, Some(properties)).map_err(disk)?;
        Ok(Columns { writer, group: Builders::default() })
    }

    pub(super) fn push(&mut self, row: &Row, topologies: &[Topology]) -> io::Result<()> {
        self.group.push(row, topologies);
        if self.group.rows == GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let batch = self.group.batch()?;
        self.writer.write(&batch).map_err(disk)?;
        self.writer.flush().map_err(disk)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.group.rows > 0 {
            self.flush()?;
        }
        self.writer.close().map(drop).map_err(disk)
    }
}

impl Builders {
    fn push(&mut self, row: &Row, topologies: &[Topology]) {
        let Row { job, start, finish, requested, held, site, placement, .. } = row;
        let times = [job.arrival.units(), start.units(), finish.units(), job.runtime, job.estimate];
        for (builder, time) in self.times.iter_mut().zip(times) {
            builder.append_value(time);
        }
        for (builder, count) in self.whole.iter_mut().zip([job.number, *requested]) {
            builder.append_value(count);
        }
        let (mut nodes, mut block, mut subcube) = (None, None, None);
        match &job.request {
            Request::Nodes(_) | Request::Wanting(_) => nodes = Some(job.request.nodes() as u32),
            Request::Block(sides) => block = Some(sides_text(sides)),
            Request::Subcube(dimension) => subcube = Some(*dimension),
        }
        let small = [Some(*held), Some(*site as u32), nodes, subcube];
        for (builder, count) in self.small.iter_mut().zip(small) {
            builder.append_option(count);
        }
        self.texts[0].append_value(placement.text(topologies[*site].grid()));
        self.texts[1].append_option(block);
        self.rows += 1;
    }

    fn batch(&mut self) -> io::Result<RecordBatch> {
        self.rows = 0;
        let [submit, start, finish, runtime, estimate] =
            self.times.each_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef);
        let [job, requested] =
            self.whole.each_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef);
        let [held, site, nodes, subcube] =
            self.small.each_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef);
        let [blocks, block] =
            self.texts.each_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef);
        let arrays = [
            job, submit, start, finish, requested, held, site, blocks, runtime, estimate, nodes,
            block, subcube,
        ];
        let optional = |name: &str| matches!(name, "nodes" | "block" | "subcube");
        let columns =
            HEADER.split(',').zip(arrays).map(|(name, array)| (name, array, optional(name)));
        RecordBatch::try_from_iter_with_nullable(columns).map_err(io::Error::other)
    }
}

/// What the disk said, out of what the Parquet writer makes of it.
fn disk(error: parquet::errors::ParquetError) -> io::Error {
    match error {
        parquet::errors::ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}
