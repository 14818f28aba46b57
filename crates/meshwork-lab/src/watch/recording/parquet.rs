//! Reading of per-job output in Parquet, which needs the feature `parquet`.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::rows::Row;

pub(super) fn from_parquet(path: &Path) -> Result<Vec<Row>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let file = File::open(path).map_err(|error| text(&error))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| text(&error))?;
    let mut rows = Vec::new();
    for batch in builder.build().map_err(|error| text(&error))? {
        let batch = batch.map_err(|error| text(&error))?;
        rows.extend(of_batch(&batch).ok_or("its columns are not those of per-job output")?);
    }
    Ok(rows)
}

/// The rows of a batch; `None` if a column is missing or has another type.
fn of_batch(batch: &RecordBatch) -> Option<Vec<Row>> {
    let real = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<Float64Type>();
    let small = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<UInt32Type>();
    let text = |name: &str| batch.column_by_name(name)?.as_string_opt::<i32>();
    let number = batch.column_by_name("job")?.as_primitive_opt::<UInt64Type>()?;
    let (submit, start, finish) = (real("submit")?, real("start")?, real("finish")?);
    let (site, nodes, subcube) = (small("site")?, small("nodes")?, small("subcube")?);
    let (blocks, block) = (text("blocks")?, text("block")?);
    let row = |at: usize| Row {
        number: number.value(at),
        submit: submit.value(at),
        start: start.value(at),
        finish: finish.value(at),
        site: site.value(at) as usize,
        blocks: blocks.value(at).to_owned(),
        nodes: nodes.is_valid(at).then(|| nodes.value(at)),
        block: block.is_valid(at).then(|| block.value(at).to_owned()),
        subcube: subcube.is_valid(at).then(|| subcube.value(at)),
    };
    Some((0..batch.num_rows()).map(row).collect())
}
