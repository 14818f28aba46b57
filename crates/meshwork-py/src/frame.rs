//! Converts tables of jobs from Python (objects with `__arrow_c_stream__`) to CSV text.
#![allow(
    unsafe_code,
    reason = "the interface of Arrow hands over a pointer, whose contract the capsule's name vouches for"
)]

use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::Float32Type;
use arrow_array::{Array, RecordBatchReader};
use arrow_schema::DataType;
use meshwork::workload::table::{Cell, Column, Outcome, places};
use meshwork_lab::inputs::arrow::{cell, readable};
use meshwork_lab::inputs::check_rows;
use meshwork_slurm::cell::written;
use meshwork_slurm::date;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::error::wrong;

/// Splits names of columns into columns that tables of jobs have, and columns that are ignored.
///
/// Columns of per-job output that hold results of a run, such as waits, are in neither list.
#[pyfunction]
pub(crate) fn job_columns(names: Vec<String>, what: &str) -> PyResult<(Vec<String>, Vec<String>)> {
    sorted(names, what).map_err(wrong)
}

fn sorted(names: Vec<String>, what: &str) -> Result<(Vec<String>, Vec<String>), String> {
    places(names.iter().map(String::as_str)).map_err(|says| format!("{what}: {says}"))?;
    let (read, mut others): (Vec<_>, Vec<_>) =
        names.into_iter().partition(|name| Column::named(name).is_some());
    others.retain(|name| Outcome::named(name).is_none());
    Ok((read, others))
}

/// The CSV cell for a text, with a leading `'` if a spreadsheet would take the text for a formula.
///
/// Reading the cell gives the original text.
#[pyfunction]
pub(crate) fn text_cell(text: &str) -> String {
    written(text).into_owned()
}

/// Checks that every row of a CSV table of jobs is a valid job.
#[pyfunction]
pub(crate) fn check_jobs(py: Python<'_>, text: String, what: &str) -> PyResult<()> {
    py.detach(|| check_rows(text, what)).map_err(|error| wrong(error.0))
}

/// Converts an Arrow stream to the CSV text of a table of jobs. Also returns the names of columns
/// that are ignored.
///
/// `what` is the name of the table in messages.
#[pyfunction]
pub(crate) fn rows_as_csv(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    what: &str,
) -> PyResult<(String, Vec<String>)> {
    let capsule = source.call_method0("__arrow_c_stream__")?;
    let Ok(capsule) = capsule.cast::<PyCapsule>() else {
        return Err(wrong(format!("{what}: its `__arrow_c_stream__` gives no capsule")));
    };
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a stream of the C interface, which this function takes
    // over and releases.
    let reader = unsafe {
        RecordBatchStreamReader::from_raw(pointer.cast::<FFI_ArrowArrayStream>().as_ptr())
    };
    let reader = reader
        .map_err(|error| wrong(format!("{what}: this is no table that can be read ({error})")))?;
    py.detach(|| csv(reader, what)).map_err(wrong)
}

fn csv(reader: RecordBatchStreamReader, what: &str) -> Result<(String, Vec<String>), String> {
    let schema = reader.schema();
    let names = schema.fields().iter().map(|field| field.name().clone()).collect();
    let (columns, others) = sorted(names, what)?;
    let wanted: Vec<usize> = (0..schema.fields().len())
        .filter(|&at| columns.iter().any(|name| name == schema.field(at).name()))
        .collect();
    for &at in &wanted {
        let field = schema.field(at);
        readable(field.name(), field.data_type()).map_err(|says| format!("{what}: {says}"))?;
    }
    let names: Vec<&str> = wanted.iter().map(|&at| schema.field(at).name().as_str()).collect();
    let mut text = names.join(",");
    text.push('\n');
    for batch in reader {
        let batch = batch.map_err(|error| format!("{what}: {error}"))?;
        for row in 0..batch.num_rows() {
            for (i, &at) in wanted.iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                put(batch.column(at).as_ref(), row, &mut text);
            }
            text.push('\n');
        }
    }
    Ok((text, others))
}

fn put(column: &dyn Array, at: usize, out: &mut String) {
    match cell(column, at) {
        // pandas writes NaN for a missing value.
        Some(Cell::Number(number)) if number.is_nan() => {}
        // The shortest text of a 32-bit number, such as 1/3, has fewer digits than that of a 64-bit
        // number.
        Some(Cell::Number(_)) if *column.data_type() == DataType::Float32 => {
            *out += &column.as_primitive::<Float32Type>().value(at).to_string();
        }
        Some(Cell::Number(number)) => {
            let _ = write!(out, "{number}");
        }
        Some(Cell::Date(seconds)) => date(seconds, out),
        Some(Cell::Text(text)) => quoted(&written(&text), out),
        None => {}
    }
}

/// Writes seconds since the beginning of 1970 as a date, such as `2001-02-03T04:05:06`.
fn date(seconds: f64, out: &mut String) {
    let whole = seconds.floor();
    *out += &date::written(whole as i64).replace(' ', "T");
    let fraction = seconds - whole;
    if fraction > 0.0 {
        *out += format!("{fraction:.9}").trim_start_matches('0').trim_end_matches('0');
    }
}

fn quoted(text: &str, out: &mut String) {
    if !text.contains(['"', ',', '\n', '\r']) && text.trim() == text && !text.starts_with('#') {
        *out += text;
        return;
    }
    *out += &format!("\"{}\"", text.replace('"', "\"\""));
}
