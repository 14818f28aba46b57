//! Writes logs and tables of jobs, in the format that belongs to the ending of the file name.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::{Compression, GzBuilder};
use meshwork::job::Job;
use meshwork::workload::swf::{FIELDS, Header, Record, write_header, write_record};
use meshwork::workload::table::{COLUMNS, CellKind, Column};

use crate::inputs::form::Form;
use meshwork_slurm::cell::written;

const IN_MEMORY: &str = "writing to memory cannot fail";

pub(super) fn bytes(form: Form, header: &Header, kept: &[(Record, Job)]) -> Vec<u8> {
    match form {
        Form::Log { is_compressed } => packed(is_compressed, lines(header, kept)),
        Form::Csv { is_compressed } => packed(is_compressed, table(kept)),
        #[cfg(feature = "parquet")]
        Form::Parquet => columns(kept),
        Form::Foreign => unreachable!("`convert` writes no such format"),
    }
}

fn packed(is_compressed: bool, text: Vec<u8>) -> Vec<u8> {
    if !is_compressed {
        return text;
    }
    // The file has neither a time nor a name in it, so that the same log gives the same bytes.
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

/// Columns that hold text in a table of jobs, but numbers in a log. Each has the index of its field
/// in the log.
fn names() -> impl Iterator<Item = (&'static Column, usize)> {
    let texts = COLUMNS.iter().filter(|column| column.holds == CellKind::Text);
    texts.filter_map(|column| Some((column, column.field?)))
}

/// Whether tables of jobs have no column for a field of a log. Fields have indices from 0.
fn has_no_column(field: usize) -> bool {
    field != 4 && COLUMNS.iter().all(|column| column.field != Some(field))
}

/// Warnings about attributes of jobs that the output format `form` cannot store.
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
            column.field.is_none() && kept.iter().any(|(_, job)| column.get(job).is_some())
        };
        let lost = COLUMNS.iter().filter(is_lost).map(|column| column.name);
        let (shapes, mut lost): (Vec<_>, Vec<_>) =
            lost.partition(|name| ["block", "subcube"].contains(name));
        // Jobs of a log are numbered from 1.
        if kept.iter().any(|(_, job)| job.after().is_some_and(|after| after.number == 0)) {
            lost.push("after the job 0");
        }
        // In a log, an estimate of 0 means an unknown one.
        if kept.iter().any(|(_, job)| job.estimate <= 0.0 && job.runtime > 0.0) {
            lost.push("an estimate of 0");
        }
        say("left out, because a log has no place for it", lost);
        say("became counts of processors", shapes);
        let numbered = names().filter(|&(column, field)| number(column, field, kept));
        say(
            "names became numbers, from 1 in the order of the log",
            numbered.map(|(column, _)| column.name).collect(),
        );
        return says;
    }
    let has = |is: &dyn Fn(&Record) -> bool| of_log && kept.iter().any(|(record, _)| is(record));
    let is_lost =
        |field: &usize| has_no_column(*field) && has(&|record| record.fields[*field] >= 0.0);
    let mut lost: Vec<&str> =
        (0..FIELDS.len()).filter(is_lost).map(|field| FIELDS[field]).collect();
    if has(&|record| record.fields[17] > 0.0 && record.preceding().is_none()) {
        lost.push("think times of jobs that follow none");
    }
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

/// Replaces the names in a column by numbers from 1. Returns whether the column contained names.
fn number(column: &Column, field: usize, kept: &mut [(Record, Job)]) -> bool {
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

/// Cell of a job in a column. Some columns are read from the job's line in the log. `None` if the
/// cell is empty.
fn cell(column: &Column, (record, job): &(Record, Job)) -> Option<String> {
    let is_of_line = column.holds == CellKind::Text || column.name == "wait";
    let field = || Some(record.fields[column.field.filter(|_| is_of_line)?]);
    let known = || field().filter(|&number| number >= 0.0).map(|number| number.to_string());
    column.get(job).or_else(known)
}

/// Columns to write: those that are always written, and those with a value for a job.
fn used(always: &[&str], kept: &[(Record, Job)]) -> Vec<&'static Column> {
    let is_used = |column: &&Column| {
        column.is_certain()
            || always.contains(&column.name)
            || kept.iter().any(|job| cell(column, job).is_some())
    };
    COLUMNS.iter().filter(is_used).collect()
}

/// Writes jobs as a CSV table. If any job requests a block or a subcube, the table has columns for
/// both.
fn table(kept: &[(Record, Job)]) -> Vec<u8> {
    let mut columns = used(&["nodes"], kept);
    if columns.iter().any(|column| ["block", "subcube"].contains(&column.name)) {
        columns = used(&["nodes", "block", "subcube"], kept);
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
    use crate::run::joboutput::{Part, parquet::Columns};

    let used = used(&["nodes", "block", "subcube"], kept);
    let mut bytes = Vec::new();
    let parts = used.iter().map(|column| Part::Asked(column)).collect();
    let mut table = Columns::create(&mut bytes, parts).expect(IN_MEMORY);
    for job in kept {
        let cells: Vec<String> =
            used.iter().map(|column| cell(column, job).unwrap_or_default()).collect();
        table.push(cells.iter().map(String::as_str)).expect(IN_MEMORY);
    }
    table.finish().expect(IN_MEMORY);
    bytes
}
