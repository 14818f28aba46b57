//! Formats of logs and tables of jobs, and the dates of their clocks.

use std::ops::Range;

use meshwork::registry::number_meant;
use meshwork::workload::swf::{Header, LogLine, records};
use meshwork::workload::table::Listed;
use meshwork::workload::{Inputs, Rows, WorkloadError};
use meshwork_slurm::date::unix_seconds;
use toml::{Table, Value};

use super::start::LogStart;
use super::{Files, is_tsv, published};
use crate::refused::Refused;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Log {
        is_compressed: bool,
    },
    Csv {
        is_compressed: bool,
    },
    /// A table of jobs as Parquet, which has compression of its own.
    #[cfg(feature = "parquet")]
    Parquet,
    /// Formats that can only be read: tables separated by tabs, and published traces in JSON.
    Foreign,
}

impl Form {
    /// Format of the file `name`: a table if it ends in `.csv`, `.parquet`, `.tsv` or `.json`, else
    /// a log.
    ///
    /// A further ending `.gz` means that the file is compressed; `.parquet.gz` is an error.
    ///
    /// ```
    /// use meshwork_lab::inputs::form::Form;
    /// assert_eq!(Form::of("a/log.swf.gz"), Ok(Form::Log { is_compressed: true }));
    /// assert_eq!(Form::of("JOBS.CSV"), Ok(Form::Csv { is_compressed: false }));
    /// assert!(Form::of("jobs.parquet.gz").is_err());
    /// ```
    pub fn of(name: &str) -> Result<Form, Refused> {
        let lower = name.to_lowercase();
        let (stem, is_compressed) = match lower.strip_suffix(".gz") {
            Some(stem) => (stem, true),
            None => (lower.as_str(), false),
        };
        if stem.ends_with(".csv") {
            Ok(Form::Csv { is_compressed })
        } else if is_tsv(name) || is_json(name) {
            Ok(Form::Foreign)
        } else if !stem.ends_with(".parquet") {
            Ok(Form::Log { is_compressed })
        } else if is_compressed {
            Err(Refused(format!("{name}: Parquet compresses by itself: leave out .gz")))
        } else {
            parquet(name)
        }
    }
}

pub fn is_json(path: &str) -> bool {
    let lower = path.to_lowercase();
    lower.strip_suffix(".gz").unwrap_or(&lower).ends_with(".json")
}

pub fn is_study(path: &str) -> bool {
    path.to_lowercase().ends_with(".toml")
}

#[cfg(feature = "parquet")]
fn parquet(_name: &str) -> Result<Form, Refused> {
    Ok(Form::Parquet)
}

#[cfg(not(feature = "parquet"))]
fn parquet(name: &str) -> Result<Form, Refused> {
    Err(Refused(format!("{name}: this is Parquet, and {}", super::NO_PARQUET)))
}

/// Instant at which the clock is 0, in seconds since 1970, with its date; `None` if unknown.
fn origin(files: &Files, path: &str, form: Form) -> Result<Option<(f64, LogStart)>, WorkloadError> {
    if !matches!(form, Form::Log { .. }) {
        let origin = Listed::read(table_rows(files, path)?, path)?.origin;
        return Ok(origin.map(|unix| (unix, LogStart::at(unix))));
    }
    let mut header = Header::default();
    for line in records(files.text(path)?, path) {
        match line? {
            LogLine::Comment(comment) => header.add(&comment),
            // A comment after the header is about single jobs, and does not tell the date.
            LogLine::Record { .. } => break,
        }
    }
    let unix = header.number("UnixStartTime").map(|seconds| seconds as f64);
    Ok(unix.map(|unix| (unix, LogStart::of(&header).unwrap_or_else(|| LogStart::at(unix)))))
}

pub fn table_rows(files: &Files, path: &str) -> Result<Rows, WorkloadError> {
    match published::jobs(path).map_err(WorkloadError)? {
        Some(jobs) => Ok(Box::new(jobs.rows.into_iter().map(Ok))),
        None => files.rows(path),
    }
}

/// Hint that a date does not exist in the calendar. The hint is empty for any other text.
fn no_such_day(text: &str) -> String {
    let number = |range: Range<usize>| text.get(range).and_then(|part| part.parse::<u32>().ok());
    let is_date = text.get(..10).is_some_and(|date| unix_seconds(date).is_some());
    match (number(0..4), number(5..7), number(8..10)) {
        (Some(_), Some(month), _) if !(1..=12).contains(&month) => {
            format!(" (there is no month {month})")
        }
        (Some(_), Some(month), Some(day)) if !is_date => {
            format!(" (month {month} has no day {day})")
        }
        _ => String::new(),
    }
}

/// Converts dates in `from` and `until` to times by the clock of a log.
///
/// Dates without a time zone are in the time zone of the log, see [`LogStart::local`].
pub fn on_the_clock_of(
    files: &Files,
    path: &str,
    form: Form,
    changes: &mut Table,
) -> Result<(), String> {
    let mut begins = None;
    for key in ["from", "until"] {
        let text = match changes.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Datetime(date)) => date.to_string(),
            _ => continue,
        };
        if unix_seconds(&text).is_none() {
            return Err(format!(
                "`{key}` is \"{text}\", but must be a number from 0 to 1e15, or a date such as \
                 2003-05-01T12:30:00{}{}",
                number_meant(&text),
                no_such_day(&text)
            ));
        }
        if begins.is_none() {
            begins = origin(files, path, form).map_err(|error| error.0)?;
        }
        let Some((begin, start)) = &begins else {
            return Err(format!(
                "`{key}` is a date, but {path} does not say when its clock begins: a log says it in a line `; UnixStartTime: SECONDS`"
            ));
        };
        let time = start.unix_seconds(&text).unwrap_or_default() - begin;
        if key == "until" && time <= 0.0 {
            return Err(format!(
                "`{key}` is {text}, which leaves no job: {path} begins at {}",
                start.date(0.0)
            ));
        }
        // A date before the start of the log becomes 0, which precedes all jobs.
        changes.insert(key.to_owned(), Value::Float(time.max(0.0)));
    }
    Ok(())
}
