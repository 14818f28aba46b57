//! In which form a log is kept: the ending of its name says so.

use std::io::Write;

use flate2::{Compression, GzBuilder};
use meshwork::job::{Job, Request, sides_text};
use meshwork::workload::swf::{Header, Line, Record, records, write_header, write_record};
use meshwork::workload::table::{Listed, WANTS};
use meshwork::workload::{Inputs, WorkloadError};

use crate::cell::written;
use crate::run::inputs::Files;
use crate::study::Refused;

/// The form of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines in the Standard Workload Format.
    Log {
        /// Whether they are compressed with gzip.
        is_compressed: bool,
    },
    /// A table of jobs as CSV.
    Csv {
        /// Whether it is compressed with gzip.
        is_compressed: bool,
    },
    /// A table of jobs as Parquet, which compresses by itself.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Form {
    /// The form of a file with this name: a table where it ends in `.csv` or `.parquet`, else a log;
    /// compressed with `.gz` behind that.
    ///
    /// ```
    /// use meshwork_lab::trace::Form;
    /// assert_eq!(Form::of("a/log.swf.gz"), Ok(Form::Log { is_compressed: true }));
    /// assert_eq!(Form::of("JOBS.CSV"), Ok(Form::Csv { is_compressed: false }));
    /// assert!(Form::of("jobs.parquet.gz").is_err());
    /// ```
    ///
    /// # Errors
    /// If it ends in `.parquet.gz`.
    pub fn of(name: &str) -> Result<Form, Refused> {
        let lower = name.to_lowercase();
        let (stem, is_compressed) = match lower.strip_suffix(".gz") {
            Some(stem) => (stem, true),
            None => (lower.as_str(), false),
        };
        if stem.ends_with(".csv") {
            Ok(Form::Csv { is_compressed })
        } else if !stem.ends_with(".parquet") {
            Ok(Form::Log { is_compressed })
        } else if is_compressed {
            Err(Refused(format!("{name}: Parquet compresses by itself: leave out .gz")))
        } else {
            parquet(name)
        }
    }
}

#[cfg(feature = "parquet")]
fn parquet(_name: &str) -> Result<Form, Refused> {
    Ok(Form::Parquet)
}

#[cfg(not(feature = "parquet"))]
fn parquet(name: &str) -> Result<Form, Refused> {
    Err(Refused(format!("{name}: this is Parquet, and {}", crate::run::inputs::NO_PARQUET)))
}

/// When the clock of a log begins, in seconds since the beginning of 1970, where it says so.
pub(super) fn origin(files: &Files, path: &str, form: Form) -> Result<Option<f64>, WorkloadError> {
    if !matches!(form, Form::Log { .. }) {
        return Ok(Listed::read(files.rows(path)?, path)?.origin);
    }
    let mut header = Header::default();
    for line in records(files.text(path)?, path) {
        match line? {
            Line::Comment(comment) => header.add(&comment),
            // Comments further down are remarks on jobs.
            Line::Record { .. } => break,
        }
    }
    Ok(header.number("UnixStartTime").map(|seconds| seconds as f64))
}

const IN_MEMORY: &str = "writing to memory cannot fail";

/// A log in this form.
pub(super) fn bytes(form: Form, header: &Header, kept: &[(Record, Job)]) -> Vec<u8> {
    match form {
        Form::Log { is_compressed } => packed(is_compressed, lines(header, kept)),
        Form::Csv { is_compressed } => packed(is_compressed, table(kept)),
        #[cfg(feature = "parquet")]
        Form::Parquet => columns(kept),
    }
}

fn packed(is_compressed: bool, text: Vec<u8>) -> Vec<u8> {
    if !is_compressed {
        return text;
    }
    // No time and no name: the same log gives the same bytes.
    let mut packed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    packed.write_all(&text).expect(IN_MEMORY);
    packed.finish().expect(IN_MEMORY)
}

fn lines(header: &Header, kept: &[(Record, Job)]) -> Vec<u8> {
    let mut text = Vec::new();
    write_header(&mut text, header).expect(IN_MEMORY);
    for (record, _) in kept {
        write_record(&mut text, record).expect(IN_MEMORY);
    }
    text
}

/// What a job asks for, as a table has it: nodes, block, subcube.
fn asked(request: &Request) -> (Option<u32>, Option<String>, Option<u32>) {
    match request {
        Request::Nodes(count) => (Some(*count), None, None),
        Request::Block(sides) => (None, Some(sides_text(sides)), None),
        Request::Subcube(dimension) => (None, None, Some(*dimension)),
        Request::Wanting(wants) => (Some(wants.nodes), None, None),
    }
}

/// The columns of what some job wants beside a count, each with a cell for every job.
fn wanted(kept: &[(Record, Job)]) -> Vec<(&'static str, Vec<Option<String>>)> {
    let cells: Vec<Vec<(&str, String)>> = kept
        .iter()
        .map(|(_, job)| match &job.request {
            Request::Wanting(wants) => wants.cells(),
            _ => Vec::new(),
        })
        .collect();
    let column = |&name: &&'static str| {
        let cell = |cells: &Vec<(&str, String)>| {
            cells.iter().find(|(own, _)| *own == name).map(|(_, cell)| cell.clone())
        };
        (name, cells.iter().map(cell).collect::<Vec<Option<String>>>())
    };
    let columns = WANTS.iter().map(column);
    columns.filter(|(_, cells)| cells.iter().any(Option::is_some)).collect()
}

/// As the `table` workload reads it. Columns for blocks, subcubes and what else a job wants are there if a job has one.
fn table(kept: &[(Record, Job)]) -> Vec<u8> {
    let only_counts =
        kept.iter().all(|(_, job)| matches!(job.request, Request::Nodes(_) | Request::Wanting(_)));
    let wanted = wanted(kept);
    let columns = if only_counts { 5 } else { 7 };
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = ["job", "submit", "runtime", "estimate", "nodes", "block", "subcube"];
    let more = wanted.iter().map(|(name, _)| *name);
    writer.write_record(names[..columns].iter().copied().chain(more)).expect(IN_MEMORY);
    for (place, (_, job)) in kept.iter().enumerate() {
        let (nodes, block, subcube) = asked(&job.request);
        let count = |count: Option<u32>| count.map_or_else(String::new, |count| count.to_string());
        let cells = [
            job.number.to_string(),
            job.arrival.to_string(),
            job.runtime.to_string(),
            job.estimate.to_string(),
            count(nodes),
            block.unwrap_or_default(),
            count(subcube),
        ];
        let more = wanted.iter().map(|(_, cells)| cells[place].as_deref().unwrap_or_default());
        let cells = cells[..columns].iter().map(String::as_str).chain(more);
        writer.write_record(cells.map(|cell| written(cell).into_owned())).expect(IN_MEMORY);
    }
    writer.into_inner().expect(IN_MEMORY)
}

#[cfg(feature = "parquet")]
fn columns(kept: &[(Record, Job)]) -> Vec<u8> {
    use std::sync::Arc;

    use arrow_array::builder::{StringBuilder, UInt32Builder};
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;

    let jobs = || kept.iter().map(|(_, job)| job);
    let times =
        |of: fn(&Job) -> f64| Arc::new(Float64Array::from_iter_values(jobs().map(of))) as ArrayRef;
    let (mut nodes, mut block, mut subcube) =
        (UInt32Builder::new(), StringBuilder::new(), UInt32Builder::new());
    for job in jobs() {
        let asked = asked(&job.request);
        nodes.append_option(asked.0);
        block.append_option(asked.1);
        subcube.append_option(asked.2);
    }
    let number = UInt64Array::from_iter_values(jobs().map(|job| job.number));
    let mut columns = vec![
        ("job", Arc::new(number) as ArrayRef, false),
        ("submit", times(|job| job.arrival.units()), false),
        ("runtime", times(|job| job.runtime), false),
        ("estimate", times(|job| job.estimate), false),
        ("nodes", Arc::new(nodes.finish()) as ArrayRef, true),
        ("block", Arc::new(block.finish()) as ArrayRef, true),
        ("subcube", Arc::new(subcube.finish()) as ArrayRef, true),
    ];
    for (name, cells) in wanted(kept) {
        columns.push((name, Arc::new(StringArray::from_iter(cells)), true));
    }
    let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length");
    let properties = WriterProperties::builder()
        .set_compression(parquet::basic::Compression::SNAPPY)
        .set_created_by(format!("meshwork {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect(IN_MEMORY);
    writer.write(&batch).expect(IN_MEMORY);
    writer.close().expect(IN_MEMORY);
    bytes
}
