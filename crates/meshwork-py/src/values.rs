//! Values of Python as TOML, and of TOML and JSON as Python.

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString, PyTuple,
};
use serde_json::Value as Json;
use toml::{Table, Value};

use crate::error::wrong;

/// A value of Python as TOML would write it; `at` is where it stands, for messages.
///
/// Texts, truth values, numbers, and lists and mappings of them; what has a method `as_table` stands for the mapping
/// that it gives, what has `item` (a number of NumPy) for that number, and a path for its text.
pub(crate) fn to_toml(value: &Bound<'_, PyAny>, at: &str) -> PyResult<Value> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(value.extract()?));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_string()));
    }
    if value.is_instance_of::<PyInt>() {
        let whole = value.extract::<i64>().map_err(|_| {
            wrong(format!("`{at}` is {value}, but must be a whole number below 2^63"))
        })?;
        return Ok(Value::Integer(whole));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(value.extract()?));
    }
    if value.hasattr("as_table")? {
        return to_toml(&value.call_method0("as_table")?, at);
    }
    if value.hasattr("tolist")? {
        return to_toml(&value.call_method0("tolist")?, at);
    }
    if value.hasattr("__fspath__")? {
        let path: std::path::PathBuf = value.extract()?;
        return Ok(Value::String(path.display().to_string()));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let mut table = Table::new();
        for item in mapping.items()?.iter() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let Ok(key) = key.extract::<String>() else {
                return Err(wrong(format!(
                    "`{at}` has the key {}, but keys are texts",
                    repr(&key)
                )));
            };
            let inner = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
            table.insert(key, to_toml(&value, &inner)?);
        }
        return Ok(Value::Table(table));
    }
    if let Ok(items) = value.cast::<PySequence>() {
        let mut list = Vec::with_capacity(items.len()?);
        for (i, item) in items.try_iter()?.enumerate() {
            list.push(to_toml(&item?, &format!("{at}[{i}]"))?);
        }
        return Ok(Value::Array(list));
    }
    Err(wrong(format!(
        "`{at}` is {}, but must be a text, a number, a truth value, or a list or mapping of such",
        repr(value)
    )))
}

/// A mapping of Python as a table.
pub(crate) fn to_table(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Table> {
    match to_toml(value, "")? {
        Value::Table(table) => Ok(table),
        _ => Err(wrong(format!("{what} is {}, but must be a mapping", repr(value)))),
    }
}

/// How Python shows a value, cut where it is long.
pub(crate) fn repr(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "something".to_owned(), |text| text.to_string());
    if text.chars().count() <= 80 {
        return text;
    }
    text.chars().take(79).chain(['…']).collect()
}

/// A value of TOML as Python.
pub(crate) fn from_toml<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => number.into_pyobject(py)?.into_any(),
        Value::Boolean(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Datetime(date) => PyString::new(py, &date.to_string()).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(from_toml(py, item)?)?;
            }
            list.into_any()
        }
        Value::Table(table) => from_table(py, table)?.into_any(),
    })
}

/// A table of TOML as a dictionary.
pub(crate) fn from_table<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in table {
        dict.set_item(key, from_toml(py, value)?)?;
    }
    Ok(dict)
}

/// A value of JSON as Python.
pub(crate) fn from_json<'py>(py: Python<'py>, value: &Json) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Json::Null => py.None().into_bound(py),
        Json::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            _ => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Json::String(text) => PyString::new(py, text).into_any(),
        Json::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(from_json(py, item)?)?;
            }
            list.into_any()
        }
        Json::Object(fields) => {
            let dict = PyDict::new(py);
            for (key, value) in fields {
                dict.set_item(key, from_json(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Numbers as a tuple.
pub(crate) fn tuple<'py>(py: Python<'py>, numbers: &[u32]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, numbers)
}
