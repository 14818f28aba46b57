//! In which form a log is kept: the ending of its name says so.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::{Compression, GzBuilder};
use meshwork::job::Job;
use meshwork::workload::swf::{
    FIELDS, Header, LogLine, Record, records, write_header, write_record,
};
use meshwork::workload::table::{COLUMNS, Column, Listed};
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
            LogLine::Comment(comment) => header.add(&comment),
            // Comments further down are remarks on jobs.
            LogLine::Record { .. } => break,
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

/// The fields of a log that tables have names for, from 0, with the column of each.
const NAMES: [(usize, &str); 5] =
    [(11, "user"), (12, "group"), (13, "application"), (14, "queue"), (15, "partition")];

/// Columns that a log has a field for.
const FIELDED: [&str; 13] = [
    "job", "submit", "runtime", "estimate", "nodes", "after", "think", "wait", NAMES[0].1,
    NAMES[1].1, NAMES[2].1, NAMES[3].1, NAMES[4].1,
];

/// Fields of a log that tables have no column for.
const NO_COLUMN: [usize; 4] = [5, 6, 9, 10];

/// Sentences on what this form has no place for, of jobs from a log or from a table.
///
/// In a log, names become numbers.
pub(super) fn without_place(
    form: Form,
    of_log: bool,
    header: &Header,
    kept: &mut [(Record, Job)],
) -> Vec<String> {
    let mut says = Vec::new();
    let mut say = |what: &str, names: Vec<&str>| {
        if !names.is_empty() {
            says.push(format!("{what}: {}", names.join(", ")));
        }
    };
    if matches!(form, Form::Log { .. }) {
        let is_lost = |column: &&Column| {
            !FIELDED.contains(&column.name) && kept.iter().any(|(_, job)| column.get(job).is_some())
        };
        let lost = COLUMNS.iter().filter(is_lost).map(|column| column.name);
        let (shapes, mut lost): (Vec<_>, Vec<_>) =
            lost.partition(|name| ["block", "subcube"].contains(name));
        // Jobs of a log are numbered from 1.
        if kept.iter().any(|(_, job)| job.after().is_some_and(|after| after.number == 0)) {
            lost.push("after the job 0");
        }
        say("left out, because a log has no place for it", lost);
        say("became counts of processors", shapes);
        let numbered = NAMES.into_iter().filter(|&(field, name)| number(field, name, kept));
        say(
            "names became numbers, from 1 in the order of the log",
            numbered.map(|n| n.1).collect(),
        );
        return says;
    }
    let has = |is: &dyn Fn(&Record) -> bool| of_log && kept.iter().any(|(record, _)| is(record));
    let of_field = |field: &usize| has(&|record| record.fields[*field] >= 0.0);
    let mut lost: Vec<&str> =
        NO_COLUMN.into_iter().filter(of_field).map(|field| FIELDS[field]).collect();
    let got_others =
        |record: &Record| record.fields[4] > 0.0 && record.fields[4] - record.processors() != 0.0;
    if has(&got_others) {
        lost.push("allocated processors");
    }
    if header.get("UnixStartTime").is_some() {
        lost.push("the date when the clock begins");
    }
    say("left out, because a table has no place for it", lost);
    says
}

/// Gives the names of a column numbers, from 1 in the order of the jobs, unless all are numbers.
/// Says whether it did.
fn number(field: usize, name: &str, kept: &mut [(Record, Job)]) -> bool {
    let column = column(name);
    let is_none =
        |(record, job): &(Record, Job)| record.fields[field] < 0.0 && column.get(job).is_some();
    if !kept.iter().any(is_none) {
        return false;
    }
    let mut numbers = BTreeMap::new();
    for (record, job) in kept {
        if let Some(own) = column.get(job) {
            let next = numbers.len() + 1;
            record.fields[field] = *numbers.entry(own).or_insert(next) as f64;
        }
    }
    true
}

fn column(name: &str) -> &'static Column {
    COLUMNS.iter().find(|column| column.name == name).expect("a column of tables of jobs")
}

/// The cell of a job: what is not known of it may stand in its line.
fn cell(column: &Column, (record, job): &(Record, Job)) -> Option<String> {
    let field = || match column.name {
        "wait" => record.wait(),
        name => {
            let (field, _) = NAMES.iter().find(|(_, own)| *own == name)?;
            Some(record.fields[*field]).filter(|&number| number >= 0.0)
        }
    };
    column.get(job).or_else(|| field().map(|number| number.to_string()))
}

/// The columns of a table of these jobs: those that are always there, and those that some job has
/// a cell in.
fn used(always: &[&str], kept: &[(Record, Job)]) -> Vec<&'static Column> {
    let is_used = |column: &&Column| {
        always.contains(&column.name) || kept.iter().any(|job| cell(column, job).is_some())
    };
    COLUMNS.iter().filter(is_used).collect()
}

/// The jobs as the `table` workload reads them, with columns for blocks and subcubes if a job has
/// one of them.
fn table(kept: &[(Record, Job)]) -> Vec<u8> {
    let mut columns = used(&["job", "submit", "runtime", "estimate", "nodes"], kept);
    if columns.iter().any(|column| ["block", "subcube"].contains(&column.name)) {
        columns =
            used(&["job", "submit", "runtime", "estimate", "nodes", "block", "subcube"], kept);
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|column| column.name)).expect(IN_MEMORY);
    for job in kept {
        let cells = columns.iter().map(|column| cell(column, job).unwrap_or_default());
        writer.write_record(cells.map(|cell| written(&cell).into_owned())).expect(IN_MEMORY);
    }
    writer.into_inner().expect(IN_MEMORY)
}

#[cfg(feature = "parquet")]
fn columns(kept: &[(Record, Job)]) -> Vec<u8> {
    use crate::run::joboutput::parquet::Columns;

    let always = ["job", "submit", "runtime", "estimate"];
    let used = used(&[&always[..], &["nodes", "block", "subcube"]].concat(), kept);
    let kinds =
        used.iter().map(|column| (column.name, column.holds, !always.contains(&column.name)));
    let mut bytes = Vec::new();
    let mut table = Columns::create(&mut bytes, kinds.collect()).expect(IN_MEMORY);
    for job in kept {
        let cells: Vec<String> =
            used.iter().map(|column| cell(column, job).unwrap_or_default()).collect();
        table.push(cells.iter().map(String::as_str)).expect(IN_MEMORY);
    }
    table.finish().expect(IN_MEMORY);
    bytes
}
