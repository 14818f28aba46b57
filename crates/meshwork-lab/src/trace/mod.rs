//! Logs of jobs: statistics, conversion, cleaning, generation from a model, and fits of models.

pub mod convert;
mod fit;
mod form;
mod generate;

use std::path::Path;

use meshwork::job::Job;
use meshwork::topology::TopologyError;
use meshwork::workload::Inputs;
use meshwork::workload::statistics::Statistics;
use meshwork::workload::swf::{Header, Record};

use crate::files::write_whole;
use crate::inputs::Files;
use crate::inputs::form::table_rows;
use crate::study::Refused;

pub use crate::inputs::form::Form;
pub use convert::{Converted, convert};
pub use fit::{Distance, FitModel, Fitted, MIN_JOBS, Spread, fit};
pub use generate::{MAX_JOBS, Model, generate};

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

/// Computes the statistics of a log or a table of jobs. The file's name decides which of them it
/// is.
pub fn info(path: &Path) -> Result<Statistics, TraceError> {
    let shown = path.display().to_string();
    let files = Files::default();
    let statistics = match Form::of(&shown)? {
        Form::Log { .. } => files.text(&shown).and_then(|text| Statistics::of(text, &shown)),
        _ => table_rows(&files, &shown).and_then(|rows| Statistics::of_table(rows, &shown)),
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
