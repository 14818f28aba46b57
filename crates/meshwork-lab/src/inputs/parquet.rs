use std::fs::File;

use meshwork::workload::WorkloadError;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::arrow::{cell, readable};
use super::columns::{Lines, Make};

/// Rows of a Parquet file. The line number of a row is its position in the file, from 1.
pub(super) fn from_parquet<T: Send + 'static, const N: usize>(
    path: &str,
    file: File,
    places: impl FnOnce(&[&str]) -> Result<[Option<usize>; N], String>,
    make: Make<T, N>,
) -> Result<Lines<T>, WorkloadError> {
    let builder = opened(path, file)?;
    let schema = builder.schema().clone();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let refused = |what: String| WorkloadError(format!("{path}: {what}"));
    let places = places(&names).map_err(refused)?;
    let mut wanted: Vec<usize> = places.iter().flatten().copied().collect();
    wanted.sort_unstable();
    for &place in &wanted {
        readable(names[place], schema.field(place).data_type()).map_err(refused)?;
    }
    // A batch has only the requested columns, in the order of the file.
    let places = places.map(|place| wanted.binary_search(&place?).ok());
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
    let batches = builder.with_projection(mask).build().map_err(|e| failed(path, &e))?;
    let path = path.to_owned();
    let mut line = 0;
    let rows = batches.flat_map(move |batch| match batch {
        Ok(batch) => {
            let row = |at: usize| {
                line += 1;
                let cells = places.map(|place| cell(batch.column(place?).as_ref(), at));
                make(line, cells).map_err(|what| WorkloadError(format!("{path}:{line}: {what}")))
            };
            (0..batch.num_rows()).map(row).collect()
        }
        Err(error) => vec![Err(WorkloadError(format!("{path}: {error}, after row {line}")))],
    });
    Ok(Box::new(rows))
}

fn opened(path: &str, file: File) -> Result<ParquetRecordBatchReaderBuilder<File>, WorkloadError> {
    ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| failed(path, &error))
}

fn failed(path: &str, error: &dyn std::fmt::Display) -> WorkloadError {
    WorkloadError(format!("{path}: this is no Parquet file that can be read ({error})"))
}

/// Number of rows that a Parquet file states. It is 0 if the file is unreadable; reading its jobs
/// fails later.
pub(super) fn rows_of_parquet(file: File) -> u64 {
    let rows = ParquetRecordBatchReaderBuilder::try_new(file)
        .map(|builder| builder.metadata().file_metadata().num_rows());
    rows.ok().and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use arrow_array::types::Int8Type;
    use arrow_array::{
        ArrayRef, BinaryArray, BooleanArray, DictionaryArray, Float32Array, Int16Array,
        RecordBatch, StringArray, TimestampMillisecondArray, UInt64Array,
    };
    use meshwork::job::Owner;
    use meshwork::workload::table::{Instant, Row, places};
    use parquet::arrow::ArrowWriter;

    use super::*;
    use crate::inputs::columns::job;

    fn parquet(columns: Vec<(&str, ArrayRef)>) -> Result<Vec<Row>, String> {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, true)),
        )
        .unwrap();
        let mut file = tempfile::tempfile().unwrap();
        let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let rows = from_parquet("t.parquet", file, |names| places(names.iter().copied()), job);
        rows.and_then(Iterator::collect).map_err(|error: WorkloadError| error.0)
    }

    fn two() -> ArrayRef {
        Arc::new(Int16Array::from(vec![1, 1]))
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
        let first = Row { line: 1, submit: Some(0.0.into()), runtime: Some(0.5), ..Row::default() };
        assert_eq!(rows[0], Row { subcube: Some(3), ..first });
        assert_eq!((rows[1].line, &rows[1].block), (2, &Some([2, 2][..].into())));
    }

    #[test]
    fn a_submission_may_be_a_date() {
        let stamps = TimestampMillisecondArray::from(vec![86_400_000, 30_000]);
        let columns = vec![("submit", Arc::new(stamps) as _), ("runtime", two()), ("nodes", two())];
        let rows = parquet(columns);
        let submits: Vec<_> = rows.unwrap().into_iter().map(|row| row.submit).collect();
        assert_eq!(submits, [86_400.0, 30.0].map(|at| Some(Instant { at, is_date: true })));
    }

    #[test]
    fn users_with_large_numbers_stay_apart() {
        let users: DictionaryArray<Int8Type> = vec!["b", "a"].into_iter().collect();
        let numbers = UInt64Array::from(vec![(1 << 53) + 1, 1 << 53]);
        let rows = parquet(vec![
            ("submit", two()),
            ("runtime", two()),
            ("nodes", two()),
            ("user", Arc::new(numbers)),
            ("group", Arc::new(users)),
        ]);
        let owners: Vec<_> = rows.unwrap().into_iter().map(|row| row.owner).collect();
        let owner = |user: &str, group: &str| Owner {
            user: Some(user.to_owned()),
            group: Some(group.to_owned()),
            ..Owner::default()
        };
        assert_eq!(owners, [owner("9007199254740993", "b"), owner("9007199254740992", "a")]);
    }

    #[test]
    fn what_is_wrong_with_a_parquet_table_is_said() {
        for (nodes, sentence) in [
            (
                Arc::new(BooleanArray::from(vec![true, false])) as ArrayRef,
                "t.parquet:1: `nodes` is `true`, but must be a number",
            ),
            (
                Arc::new(BinaryArray::from(vec![&b"4"[..], b"5"])),
                "t.parquet: the column `nodes` holds Binary, but must hold numbers, dates, lengths of time, flags or text",
            ),
            (
                Arc::new(StringArray::from(vec!["4", "four"])),
                "t.parquet:2: `nodes` is `four`, but must be a number",
            ),
        ] {
            let columns = vec![("submit", two()), ("runtime", two()), ("nodes", nodes)];
            assert_eq!(parquet(columns).unwrap_err(), sentence);
        }
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, b"PAR1 and nothing more").unwrap();
        let error = from_parquet("t.parquet", file, |_| Ok([]), |_, []| Ok(())).err().unwrap().0;
        assert!(
            error.starts_with("t.parquet: this is no Parquet file that can be read"),
            "{error}"
        );
    }
}
