//! Conversion between Python, TOML and JSON values.

use meshwork::topology::MAX_NODES;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyMapping, PySequence, PyString};
use serde_json::Value as Json;
use toml::{Table, Value};

use crate::error::wrong;

/// Maximum nesting of mappings and lists in a value. No key of a study needs deeper nesting.
const DEEPEST: usize = 64;

/// Maximum number of values in one conversion.
///
/// An object with more values is probably endless. If it is not, its data should be in a file.
const MOST: usize = 1 << 20;

/// Converts a Python value to TOML. `at` is the name of the value's place in messages.
///
/// Accepts texts, booleans, numbers, lists and mappings. An object with a method `as_table` or
/// `tolist` (which NumPy's numbers and arrays have) is replaced by the result of that method. A
/// path is replaced by its text.
///
/// # Errors
/// If the value has another type, is nested too deeply, or has too many values. The limits are
/// needed, since a Python object may contain itself or be endless.
pub(crate) fn to_toml(value: &Bound<'_, PyAny>, at: &str) -> PyResult<Value> {
    Reader { values: 0 }.value(value, at, 0)
}

/// Converter from Python to TOML that counts the values that it has read.
struct Reader {
    values: usize,
}

impl Reader {
    fn value(&mut self, value: &Bound<'_, PyAny>, at: &str, depth: usize) -> PyResult<Value> {
        self.values += 1;
        let place = if at.is_empty() { "what is given" } else { at };
        if self.values > MOST {
            return Err(wrong(format!(
                "`{}` is too much: there may be {MOST} values in all",
                shortened(place)
            )));
        }
        if depth > DEEPEST {
            return Err(wrong(format!(
                "`{}` lies too deep: lists and mappings may lie in one another {DEEPEST} deep",
                shortened(place)
            )));
        }
        if value.is_instance_of::<PyBool>() {
            return Ok(Value::Boolean(value.extract()?));
        }
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Value::String(text.to_string()));
        }
        if value.is_instance_of::<PyInt>() {
            let whole = value.extract::<i64>().map_err(|_| {
                wrong(format!("`{at}` is {}, but must be a whole number below 2^63", repr(value)))
            })?;
            return Ok(Value::Integer(whole));
        }
        if value.is_instance_of::<PyFloat>() {
            return Ok(Value::Float(value.extract()?));
        }
        for stands_for in ["as_table", "tolist"] {
            if value.hasattr(stands_for)? {
                return self.value(&value.call_method0(stands_for)?, at, depth + 1);
            }
        }
        if value.hasattr("__fspath__")? {
            let path: std::path::PathBuf = value.extract()?;
            return Ok(Value::String(path.display().to_string()));
        }
        if let Ok(mapping) = value.cast::<PyMapping>() {
            let mut table = Table::new();
            for item in mapping.call_method0("items")?.try_iter()? {
                let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
                let Ok(key) = key.extract::<String>() else {
                    return Err(wrong(format!(
                        "`{at}` has the key {}, but keys are texts",
                        repr(&key)
                    )));
                };
                let inner = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                table.insert(key, self.value(&value, &inner, depth + 1)?);
            }
            return Ok(Value::Table(table));
        }
        if let Ok(items) = value.cast::<PySequence>() {
            let mut list = Vec::new();
            for (i, item) in items.try_iter()?.enumerate() {
                list.push(self.value(&item?, &format!("{at}[{i}]"), depth + 1)?);
            }
            return Ok(Value::Array(list));
        }
        Err(wrong(format!(
            "`{at}` is {}, but must be a text, a number, a truth value, or a list or mapping of such",
            repr(value)
        )))
    }
}

/// Extracts a list of numbers. `None` if the object has other values, or too many values.
///
/// The list may have as many numbers as the largest machine has nodes. The length is checked first,
/// since an object may claim a length for which the memory does not suffice.
pub(crate) fn numbers<'py, T>(given: &Bound<'py, PyAny>) -> Option<Vec<T>>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let is_bounded = given.len().is_ok_and(|len| len <= MAX_NODES as usize);
    if is_bounded { given.extract().ok() } else { None }
}

/// Converts a Python mapping to a TOML table.
pub(crate) fn to_table(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Table> {
    match to_toml(value, "")? {
        Value::Table(table) => Ok(table),
        _ => Err(wrong(format!("{what} is {}, but must be a mapping", repr(value)))),
    }
}

/// The Python `repr` of a value, truncated to 80 characters.
pub(crate) fn repr(value: &Bound<'_, PyAny>) -> String {
    shortened(&value.repr().map_or_else(|_| "something".to_owned(), |text| text.to_string()))
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= 80 {
        return text.to_owned();
    }
    text.chars().take(79).chain(['…']).collect()
}

/// Converts a TOML value to Python.
pub(crate) fn from_toml<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => number.into_pyobject(py)?.into_any(),
        Value::Boolean(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Datetime(date) => PyString::new(py, &date.to_string()).into_any(),
        Value::Array(items) => {
            let items: PyResult<Vec<_>> = items.iter().map(|item| from_toml(py, item)).collect();
            items?.into_pyobject(py)?
        }
        Value::Table(table) => from_table(py, table)?.into_any(),
    })
}

/// Converts a TOML table to a dictionary.
pub(crate) fn from_table<'py, 'v>(
    py: Python<'py>,
    table: impl IntoIterator<Item = (&'v String, &'v Value)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in table {
        dict.set_item(key, from_toml(py, value)?)?;
    }
    Ok(dict)
}

/// Converts the swept values of a scenario to a dictionary.
pub(crate) fn swept<'py>(
    py: Python<'py>,
    swept: &[(String, Value)],
) -> PyResult<Bound<'py, PyDict>> {
    from_table(py, swept.iter().map(|(key, value)| (key, value)))
}

/// Converts a JSON value to Python.
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
            let items: PyResult<Vec<_>> = items.iter().map(|item| from_json(py, item)).collect();
            items?.into_pyobject(py)?
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
