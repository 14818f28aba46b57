//! Logs of jobs: statistics, conversion, cleaning, generation from a model, and fits of models.

pub mod convert;
mod fit;
mod form;
mod generate;
mod published;

use std::ops::Range;
use std::path::Path;

use meshwork::job::Job;
use meshwork::registry::number_meant;
use meshwork::topology::TopologyError;
use meshwork::workload::Inputs;
use meshwork::workload::statistics::Statistics;
use meshwork::workload::swf::{Header, Record};
use toml::{Table, Value};

use crate::run::file::write_whole;
use crate::run::inputs::Files;
use crate::study::Refused;
use meshwork_slurm::date::unix_seconds;

pub use convert::{Converted, convert};
pub use fit::{Distance, FitModel, Fitted, MIN_JOBS, Spread, fit};
pub use form::Form;
pub use generate::{MAX_JOBS, Model, generate};
pub use published::{SlurmPieces, history, megabytes};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    #[error("{0}")]
    Wrong(String),
    #[error("{0}")]
    Unwritten(String),
}

impl TraceError {
    /// Prefixes the error's sentence with the name of the file, unless the sentence begins with it.
    pub fn about(self, shown: &str) -> TraceError {
        match self {
            TraceError::Wrong(sentence) if !sentence.starts_with(shown) => {
                TraceError::Wrong(format!("{shown}: {sentence}"))
            }
            error => error,
        }
    }
}

impl From<TopologyError> for TraceError {
    fn from(error: TopologyError) -> TraceError {
        TraceError::Wrong(error.to_string())
    }
}

impl From<Refused> for TraceError {
    fn from(refused: Refused) -> TraceError {
        TraceError::Wrong(refused.0)
    }
}

impl From<String> for TraceError {
    fn from(sentence: String) -> TraceError {
        TraceError::Wrong(sentence)
    }
}

/// Statistics of a log or of a table of jobs, as the file's name tells.
pub fn info(path: &Path) -> Result<Statistics, TraceError> {
    let shown = path.display().to_string();
    let files = Files::default();
    let statistics = match Form::of(&shown)? {
        Form::Log { .. } => files.text(&shown).and_then(|text| Statistics::of(text, &shown)),
        _ => form::table_rows(&files, &shown).and_then(|rows| Statistics::of_table(rows, &shown)),
    };
    statistics.map_err(|error| TraceError::Wrong(error.0))
}

fn write(
    output: &Path,
    form: Form,
    header: &Header,
    kept: &[(Record, Job)],
) -> Result<(), TraceError> {
    let bytes = form::bytes(form, header, kept);
    write_whole(output, &bytes).map_err(|error| TraceError::Unwritten(error.to_string()))
}

/// Hint about a date that is in no calendar; empty for other texts.
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
pub(crate) fn on_the_clock_of(
    files: &Files,
    path: &str,
    form: Form,
    changes: &mut Table,
) -> Result<(), String> {
    let mut origin = None;
    for key in ["from", "until"] {
        let text = match changes.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Datetime(date)) => date.to_string(),
            _ => continue,
        };
        let date = unix_seconds(&text).ok_or_else(|| {
            format!(
                "`{key}` is \"{text}\", but must be a number from 0 to 1e15, or a date such as \
                 2003-05-01T12:30:00{}{}",
                number_meant(&text),
                no_such_day(&text)
            )
        })?;
        if origin.is_none() {
            origin = form::origin(files, path, form).map_err(|error| error.0)?;
        }
        let Some(begin) = origin else {
            return Err(format!(
                "`{key}` is a date, but {path} does not say when its clock begins: a log says it in a line `; UnixStartTime: SECONDS`"
            ));
        };
        // A date before the start of the log becomes 0, which precedes all jobs.
        changes.insert(key.to_owned(), Value::Float((date - begin).max(0.0)));
    }
    Ok(())
}
