//! Tables of jobs in Parquet: the part of the lab that needs the feature `parquet` to read them.

use std::fs::File;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use meshwork::workload::table::{COLUMNS, Row, places};
use meshwork::workload::{Rows, WorkloadError};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::columns::{Cell, kind, put};

/// Rows of a Parquet file. The line of a row is its number, from 1.
pub(super) fn from_parquet(path: &str, file: File) -> Result<Rows, WorkloadError> {
    let builder = opened(path, file)?;
    let schema = builder.schema().clone();
    let names = schema.fields().iter().map(|field| field.name().as_str());
    let places = places(names).map_err(|what| WorkloadError(format!("{path}: {what}")))?;
    for (column, place) in COLUMNS.iter().zip(&places) {
        let kind = place.map(|place| schema.field(place).data_type());
        if let Some(kind) = kind.filter(|kind| !is_readable(kind)) {
            return Err(WorkloadError(format!(
                "{path}: the column `{}` holds {kind}, but must hold numbers, text or flags",
                column.name
            )));
        }
    }
    let wanted: Vec<usize> = places.iter().flatten().copied().collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
    let batches = builder.with_projection(mask).build().map_err(|e| failed(path, &e))?;
    let path = path.to_owned();
    let mut line = 0;
    let rows = batches.flat_map(move |batch| match batch {
        Ok(batch) => rows_of(&path, &batch, &mut line),
        Err(error) => vec![Err(WorkloadError(format!("{path}: {error}, after row {line}")))],
    });
    Ok(Box::new(rows))
}

/// The names of the columns of a Parquet file.
pub(super) fn names_of_parquet(path: &str, file: File) -> Result<Vec<String>, WorkloadError> {
    let builder = opened(path, file)?;
    Ok(builder.schema().fields().iter().map(|field| field.name().clone()).collect())
}

fn opened(path: &str, file: File) -> Result<ParquetRecordBatchReaderBuilder<File>, WorkloadError> {
    ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| failed(path, &error))
}

fn failed(path: &str, error: &dyn std::fmt::Display) -> WorkloadError {
    WorkloadError(format!("{path}: this is no Parquet file that can be read ({error})"))
}

/// How many rows a file says that it has; 0 where it cannot be read, which its reader will say.
pub(super) fn rows_of_parquet(file: File) -> u64 {
    let rows = ParquetRecordBatchReaderBuilder::try_new(file)
        .map(|builder| builder.metadata().file_metadata().num_rows());
    rows.ok().and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0)
}

fn is_readable(kind: &DataType) -> bool {
    kind.is_integer()
        || matches!(
            kind,
            DataType::Float32
                | DataType::Float64
                | DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Boolean
                | DataType::Timestamp(..)
                | DataType::Date32
                | DataType::Null
        )
}

fn rows_of(path: &str, batch: &RecordBatch, line: &mut u64) -> Vec<Result<Row, WorkloadError>> {
    let schema = batch.schema();
    // Only columns that are read are there.
    let column = |name: &str| COLUMNS.iter().find(|column| column.name == name);
    let known: Vec<_> = schema.fields().iter().map(|field| column(field.name())).collect();
    let rows = (0..batch.num_rows()).map(|at| {
        *line += 1;
        let mut row = Row { line: *line, ..Row::default() };
        for (column, cells) in known.iter().zip(batch.columns()) {
            let Some((column, cell)) = column.zip(cell(cells.as_ref(), at)) else { continue };
            put(&mut row, column, cell).map_err(|cell| {
                let (name, kind) = (column.name, kind(column));
                WorkloadError(format!("{path}:{line}: `{name}` is `{cell}`, but must be {kind}"))
            })?;
        }
        Ok(row)
    });
    rows.collect()
}

fn cell(column: &dyn Array, at: usize) -> Option<Cell<'_>> {
    if column.is_null(at) {
        return None;
    }
    let text = match column.data_type() {
        DataType::Int8 => return number::<Int8Type>(column, at, f64::from),
        DataType::Int16 => return number::<Int16Type>(column, at, f64::from),
        DataType::Int32 => return number::<Int32Type>(column, at, f64::from),
        DataType::Int64 => return number::<Int64Type>(column, at, |n| n as f64),
        DataType::UInt8 => return number::<UInt8Type>(column, at, f64::from),
        DataType::UInt16 => return number::<UInt16Type>(column, at, f64::from),
        DataType::UInt32 => return number::<UInt32Type>(column, at, f64::from),
        DataType::UInt64 => return number::<UInt64Type>(column, at, |n| n as f64),
        DataType::Float32 => return number::<Float32Type>(column, at, f64::from),
        DataType::Float64 => return number::<Float64Type>(column, at, |n| n),
        DataType::Date32 => {
            return date(number::<Date32Type>(column, at, |days| f64::from(days) * 86_400.0));
        }
        DataType::Timestamp(unit, _) => {
            return date(match unit {
                TimeUnit::Second => number::<TimestampSecondType>(column, at, |n| n as f64),
                TimeUnit::Millisecond => {
                    number::<TimestampMillisecondType>(column, at, |n| n as f64 / 1e3)
                }
                TimeUnit::Microsecond => {
                    number::<TimestampMicrosecondType>(column, at, |n| n as f64 / 1e6)
                }
                TimeUnit::Nanosecond => {
                    number::<TimestampNanosecondType>(column, at, |n| n as f64 / 1e9)
                }
            });
        }
        DataType::Boolean if column.as_boolean().value(at) => "true",
        DataType::Boolean => "false",
        DataType::Utf8 => column.as_string::<i32>().value(at),
        DataType::LargeUtf8 => column.as_string::<i64>().value(at),
        DataType::Utf8View => column.as_string_view().value(at),
        _ => return None,
    };
    (!text.is_empty()).then_some(Cell::Text(text))
}

/// A number of seconds as the date that it is.
fn date(cell: Option<Cell<'_>>) -> Option<Cell<'_>> {
    cell.map(|cell| match cell {
        Cell::Number(seconds) => Cell::Date(seconds),
        other => other,
    })
}

fn number<T: ArrowPrimitiveType>(
    column: &dyn Array,
    at: usize,
    convert: impl Fn(T::Native) -> f64,
) -> Option<Cell<'static>> {
    Some(Cell::Number(convert(column.as_primitive::<T>().value(at))))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BinaryArray, BooleanArray, Float32Array, Int16Array, StringArray,
        TimestampMillisecondArray, UInt64Array,
    };
    use parquet::arrow::ArrowWriter;

    use super::*;

    fn parquet(columns: Vec<(&str, ArrayRef)>) -> Result<Vec<Row>, String> {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, true)),
        )
        .unwrap();
        let mut file = tempfile::tempfile().unwrap();
        let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let rows = from_parquet("t.parquet", file);
        rows.and_then(Iterator::collect).map_err(|error: WorkloadError| error.0)
    }

    #[test]
    fn a_parquet_table_of_any_numbers() {
        let rows = parquet(vec![
            ("submit", Arc::new(Int16Array::from(vec![0, 7])) as ArrayRef),
            ("other", Arc::new(BooleanArray::from(vec![true, false]))),
            ("runtime", Arc::new(Float32Array::from(vec![0.5, 2.0]))),
            ("subcube", Arc::new(UInt64Array::from(vec![Some(3), None]))),
            ("block", Arc::new(StringArray::from(vec![None, Some("2x2")]))),
        ])
        .unwrap();
        assert_eq!(
            rows[0],
            Row {
                line: 1,
                submit: Some(0.0),
                runtime: Some(0.5),
                subcube: Some(3.0),
                ..Row::default()
            }
        );
        assert_eq!((rows[1].line, rows[1].block.as_deref()), (2, Some("2x2")));
    }

    #[test]
    fn a_submission_may_be_a_date() {
        let two = || Arc::new(Int16Array::from(vec![1, 1])) as ArrayRef;
        let stamps = TimestampMillisecondArray::from(vec![86_400_000, 30_000]);
        let rows = parquet(vec![
            ("submit", Arc::new(stamps) as ArrayRef),
            ("runtime", two()),
            ("nodes", two()),
        ]);
        let submits: Vec<_> =
            rows.unwrap().into_iter().map(|row| (row.submit, row.is_dated)).collect();
        assert_eq!(submits, [(Some(86_400.0), true), (Some(30.0), true)]);
    }

    #[test]
    fn what_is_wrong_with_a_parquet_table_is_said() {
        let two = || Arc::new(Int16Array::from(vec![0, 7])) as ArrayRef;
        let refused = parquet(vec![
            ("submit", two()),
            ("runtime", two()),
            ("nodes", Arc::new(BooleanArray::from(vec![true, false]))),
        ]);
        assert_eq!(refused.unwrap_err(), "t.parquet:1: `nodes` is `true`, but must be a number");
        let refused = parquet(vec![
            ("submit", two()),
            ("runtime", two()),
            ("nodes", Arc::new(BinaryArray::from(vec![&b"4"[..], b"5"]))),
        ]);
        assert_eq!(
            refused.unwrap_err(),
            "t.parquet: the column `nodes` holds Binary, but must hold numbers, text or flags"
        );
        let refused = parquet(vec![
            ("submit", two()),
            ("runtime", two()),
            ("nodes", Arc::new(StringArray::from(vec!["4", "four"]))),
        ]);
        assert_eq!(refused.unwrap_err(), "t.parquet:2: `nodes` is `four`, but must be a number");
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, b"PAR1 and nothing more").unwrap();
        let error = from_parquet("t.parquet", file).err().unwrap().0;
        assert!(
            error.starts_with("t.parquet: this is no Parquet file that can be read"),
            "{error}"
        );
    }
}
