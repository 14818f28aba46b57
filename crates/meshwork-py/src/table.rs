//! Tables of results, which any consumer of Arrow can read.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray,
};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyList, PyString};
use serde_json::Value as Json;
use toml::Value;

use crate::buffer::{Buffer, Memory};
use crate::error::OrWrong;

/// A table of named columns of equal length.
#[pyclass(frozen, module = "meshwork._meshwork")]
pub(crate) struct Table(RecordBatch);

impl Table {
    pub(crate) fn of(columns: Vec<(String, ArrayRef)>) -> Table {
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, array)| {
                Field::new(name, array.data_type().clone(), array.null_count() > 0)
            })
            .collect();
        let (schema, arrays) =
            (Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, array)| array));
        let batch = RecordBatch::try_new(schema, arrays.collect());
        Table(batch.expect("the columns of a table are made together"))
    }

    fn column(&self, name: &str) -> PyResult<&ArrayRef> {
        self.0.column_by_name(name).ok_or_else(|| {
            let known: Vec<&str> = self.names().collect();
            PyKeyError::new_err(format!(
                "there is no column `{name}`; there are {}",
                known.join(", ")
            ))
        })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.schema_ref().fields().iter().map(|field| field.name().as_str())
    }
}

#[pymethods]
impl Table {
    /// Builds a table from a JSON list of objects.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Table> {
        let rows: Vec<serde_json::Map<String, Json>> = serde_json::from_str(text).or_wrong()?;
        Ok(Table::of_objects(&rows))
    }

    /// Builds a table from columns. A column has a name, a type, and values, any of which may be
    /// missing.
    #[staticmethod]
    fn _from_columns(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Table> {
        let array = |kind: &str, values: Bound<'_, PyAny>| -> PyResult<ArrayRef> {
            Ok(match kind {
                "Float64" => numbers(values.extract::<Vec<Option<f64>>>()?),
                "Int64" => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
                "Boolean" => Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?)),
                _ => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
            })
        };
        let columns = columns.into_iter();
        let columns = columns.map(|(name, kind, values)| Ok((name, array(&kind, values)?)));
        Ok(Table::of(columns.collect::<PyResult<_>>()?))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Vec<(String, String, Bound<'py, PyList>)>,))> {
        let (py, table) = (slf.py(), &slf.get().0);
        let column = |(name, column): (&str, &ArrayRef)| {
            let cells: PyResult<Vec<_>> =
                (0..column.len()).map(|row| cell(py, column, row)).collect();
            let kind = format!("{:?}", column.data_type());
            Ok((name.to_owned(), kind, PyList::new(py, cells?)?))
        };
        let columns = slf.get().names().zip(table.columns()).map(column);
        Ok((slf.getattr("_from_columns")?, (columns.collect::<PyResult<_>>()?,)))
    }

    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.names().collect()
    }

    /// Values of a column: a buffer if they are numbers and none is missing, otherwise a list.
    fn values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.column(name)?;
        if column.null_count() == 0 {
            let memory = match column.data_type() {
                DataType::Float64 => Some(Memory::FixedNumbers(
                    column.as_primitive::<Float64Type>().values().iter().copied().collect(),
                )),
                DataType::Int64 => Some(Memory::FixedWholes(
                    column.as_primitive::<Int64Type>().values().iter().copied().collect(),
                )),
                _ => None,
            };
            if let Some(memory) = memory {
                return Ok(Bound::new(py, Buffer::list(memory))?.into_any());
            }
        }
        let cells: PyResult<Vec<_>> = (0..column.len()).map(|row| cell(py, column, row)).collect();
        cells?.into_pyobject(py)
    }

    /// The values of a row, in the order of the columns.
    fn row<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyList>> {
        let cells: PyResult<Vec<_>> =
            self.0.columns().iter().map(|column| cell(py, column, row)).collect();
        PyList::new(py, cells?)
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows ignoring a requested schema: the consumer casts if necessary.
        drop(requested_schema);
        let (batch, schema) = (self.0.clone(), self.0.schema());
        let batches = RecordBatchIterator::new(std::iter::once(Ok(batch)), schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

fn cell<'py>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match column.data_type() {
        DataType::Float64 => {
            column.as_primitive::<Float64Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Int64 => {
            column.as_primitive::<Int64Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Boolean => PyBool::new(py, column.as_boolean().value(row)).to_owned().into_any(),
        _ => PyString::new(py, column.as_string::<i32>().value(row)).into_any(),
    })
}

/// A column of numbers, any of which may be missing.
pub(crate) fn numbers(values: impl IntoIterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<Float64Array>())
}

/// A column of integers.
pub(crate) fn wholes(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

/// A column of texts, any of which may be missing.
pub(crate) fn texts<'t>(values: impl IntoIterator<Item = Option<&'t str>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<StringArray>())
}

/// Column of swept values. If all values are numbers, or all are booleans, so is the column.
///
/// Otherwise the values become texts.
pub(crate) fn swept(values: &[&Value]) -> ArrayRef {
    let all = |is: fn(&Value) -> bool| values.iter().all(|value| is(value));
    if all(Value::is_integer) {
        return wholes(values.iter().filter_map(|value| value.as_integer()));
    }
    if all(|value| value.is_integer() || value.is_float()) {
        let number =
            |value: &&Value| value.as_float().or(value.as_integer().map(|whole| whole as f64));
        return numbers(values.iter().map(number));
    }
    if all(Value::is_bool) {
        let truths: Vec<bool> = values.iter().filter_map(|value| value.as_bool()).collect();
        return Arc::new(BooleanArray::from(truths));
    }
    let texts: Vec<String> = values.iter().map(|value| meshwork_lab::text::shown(value)).collect();
    Arc::new(StringArray::from(texts))
}

impl Table {
    /// Builds a table from JSON objects with equal keys.
    fn of_objects(rows: &[serde_json::Map<String, Json>]) -> Table {
        let names: Vec<&String> = rows.first().map_or_else(Vec::new, |row| row.keys().collect());
        let column = |name: &String| -> ArrayRef {
            let cells: Vec<&Json> =
                rows.iter().map(|row| row.get(name).unwrap_or(&Json::Null)).collect();
            let all = |is: fn(&Json) -> bool| cells.iter().all(|cell| is(cell));
            if all(Json::is_i64) {
                wholes(cells.iter().filter_map(|cell| cell.as_i64()))
            } else if all(|cell| cell.is_number() || cell.is_null()) {
                numbers(cells.iter().map(|cell| cell.as_f64()))
            } else if all(Json::is_boolean) {
                Arc::new(BooleanArray::from(
                    cells.iter().filter_map(|cell| cell.as_bool()).collect::<Vec<_>>(),
                ))
            } else {
                let text = |cell: &&Json| match cell {
                    Json::Null => None,
                    Json::String(text) => Some(text.clone()),
                    other => Some(other.to_string()),
                };
                Arc::new(cells.iter().map(text).collect::<StringArray>())
            }
        };
        Table::of(names.into_iter().map(|name| (name.clone(), column(name))).collect())
    }
}
