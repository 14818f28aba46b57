//! Input tables: any object with `__arrow_c_stream__`, converted to the rows of a table of jobs.
#![allow(
    unsafe_code,
    reason = "the interface of Arrow hands over a pointer, whose contract the capsule's name vouches for"
)]

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatchReader};
use arrow_schema::{DataType, TimeUnit};
use meshwork::workload::table::{COLUMNS, OUTCOMES, places};
use meshwork_lab::run::inputs::check_rows;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::error::wrong;

/// Splits column names into those read from a table of jobs and those ignored.
///
/// Columns of per-job output with results of a run are in neither list.
#[pyfunction]
pub(crate) fn job_columns(names: Vec<String>, what: &str) -> PyResult<(Vec<String>, Vec<String>)> {
    sorted(names, what).map_err(wrong)
}

fn sorted(names: Vec<String>, what: &str) -> Result<(Vec<String>, Vec<String>), String> {
    places(names.iter().map(String::as_str)).map_err(|says| format!("{what}: {says}"))?;
    let is_read = |name: &String| COLUMNS.iter().any(|column| column.name == *name);
    let (read, others): (Vec<_>, Vec<_>) = names.into_iter().partition(is_read);
    Ok((read, others.into_iter().filter(|name| !OUTCOMES.contains(&name.as_str())).collect()))
}

/// Checks that every row of a CSV table of jobs is a valid job.
#[pyfunction]
pub(crate) fn check_jobs(py: Python<'_>, text: String, what: &str) -> PyResult<()> {
    py.detach(|| check_rows(text, what)).map_err(|error| wrong(error.0))
}

/// Converts an Arrow stream to CSV; also returns the names of the ignored columns.
///
/// Messages name the table by `what`.
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
    // SAFETY: a capsule of this name holds a stream of the C interface, which we take over and
    // release.
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
        let (name, kind) = (schema.field(at).name(), schema.field(at).data_type());
        let value = if let DataType::Dictionary(_, value) = kind { value } else { kind };
        if !is_readable(value) {
            return Err(format!(
                "{what}: the column `{name}` holds {kind}, but must hold numbers, dates, lengths of time, flags or text"
            ));
        }
    }
    let names: Vec<&str> = wanted.iter().map(|&at| schema.field(at).name().as_str()).collect();
    let mut text = names.join(",");
    text.push('\n');
    for batch in reader {
        let batch = batch.map_err(|error| format!("{what}: {error}"))?;
        let arrays: Vec<_> = wanted.iter().map(|&at| batch.column(at)).collect();
        // For a dictionary column, the index of each row's value.
        let keys =
            |array: &ArrayRef| array.as_any_dictionary_opt().map(|array| array.normalized_keys());
        let keys: Vec<_> = arrays.iter().map(|array| keys(array)).collect();
        for row in 0..batch.num_rows() {
            for (i, array) in arrays.iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                match &keys[i] {
                    Some(_) if array.is_null(row) => {}
                    Some(keys) => {
                        cell(array.as_any_dictionary().values().as_ref(), keys[row], &mut text);
                    }
                    None => cell(array.as_ref(), row, &mut text),
                }
            }
            text.push('\n');
        }
    }
    Ok((text, others))
}

fn is_readable(kind: &DataType) -> bool {
    kind.is_numeric()
        && !matches!(
            kind,
            DataType::Float16
                | DataType::Decimal32(..)
                | DataType::Decimal64(..)
                | DataType::Decimal128(..)
                | DataType::Decimal256(..)
        )
        || matches!(
            kind,
            DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Timestamp(..)
                | DataType::Date32
                | DataType::Date64
                | DataType::Duration(..)
                | DataType::Boolean
                | DataType::Null
        )
}

fn cell(column: &dyn Array, at: usize, out: &mut String) {
    if column.is_null(at) {
        return;
    }
    macro_rules! number {
        ($kind:ty) => {
            *out += &column.as_primitive::<$kind>().value(at).to_string()
        };
    }
    match column.data_type() {
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        // pandas writes NaN for a missing value.
        DataType::Float64 if column.as_primitive::<Float64Type>().value(at).is_nan() => {}
        DataType::Float64 => number!(Float64Type),
        DataType::Date32 => {
            date(f64::from(column.as_primitive::<Date32Type>().value(at)) * 86_400.0, out);
        }
        DataType::Date64 => date(seconds::<Date64Type>(column, at, 1e3), out),
        DataType::Timestamp(unit, _) => date(
            match unit {
                TimeUnit::Second => seconds::<TimestampSecondType>(column, at, 1.0),
                TimeUnit::Millisecond => seconds::<TimestampMillisecondType>(column, at, 1e3),
                TimeUnit::Microsecond => seconds::<TimestampMicrosecondType>(column, at, 1e6),
                TimeUnit::Nanosecond => seconds::<TimestampNanosecondType>(column, at, 1e9),
            },
            out,
        ),
        DataType::Duration(unit) => {
            let seconds = match unit {
                TimeUnit::Second => seconds::<DurationSecondType>(column, at, 1.0),
                TimeUnit::Millisecond => seconds::<DurationMillisecondType>(column, at, 1e3),
                TimeUnit::Microsecond => seconds::<DurationMicrosecondType>(column, at, 1e6),
                TimeUnit::Nanosecond => seconds::<DurationNanosecondType>(column, at, 1e9),
            };
            *out += &seconds.to_string();
        }
        DataType::Boolean => *out += &column.as_boolean().value(at).to_string(),
        DataType::Utf8 => quoted(column.as_string::<i32>().value(at), out),
        DataType::LargeUtf8 => quoted(column.as_string::<i64>().value(at), out),
        DataType::Utf8View => quoted(column.as_string_view().value(at), out),
        _ => {}
    }
}

fn seconds<T: ArrowPrimitiveType<Native = i64>>(
    column: &dyn Array,
    at: usize,
    per_second: f64,
) -> f64 {
    column.as_primitive::<T>().value(at) as f64 / per_second
}

/// Appends seconds since 1970-01-01 as an ISO 8601 date.
///
/// By Hinnant's algorithm for the civil calendar, in eras of 400 years.
fn date(seconds: f64, out: &mut String) {
    let days = (seconds / 86_400.0).floor();
    let rest = seconds - days * 86_400.0;
    let shifted = days as i64 + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let whole = rest.floor();
    let (hour, minute, second) = (whole as i64 / 3600, whole as i64 / 60 % 60, whole as i64 % 60);
    *out += &format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    let fraction = rest - whole;
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
