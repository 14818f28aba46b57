//! Conversion of data to text: numbers, values of a study, differences, and untrusted names.

pub mod diff;
pub mod number;
pub mod visible;

use serde_json::Value as Json;
use toml::{Table, Value};

/// Formats a value of a study for a cell or label: texts without quotes, all else as TOML.
///
/// ```
/// use meshwork_lab::text::shown;
/// assert_eq!(shown(&toml::Value::from("fcfs")), "fcfs");
/// assert_eq!(shown(&toml::Value::from(0.1)), "0.1");
/// ```
pub fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub(crate) fn table<'a>(pairs: impl IntoIterator<Item = (&'a str, Value)>) -> Table {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

pub fn label(swept: &[(String, Value)]) -> String {
    let words: Vec<String> =
        swept.iter().map(|(key, value)| format!("{key} = {}", shown(value))).collect();
    words.join(", ")
}

pub(crate) fn swept_json(swept: &[(String, Value)]) -> Json {
    let json = |value: &Value| serde_json::to_value(value).unwrap_or(Json::Null);
    swept.iter().map(|(key, value)| (key.clone(), json(value))).collect()
}
