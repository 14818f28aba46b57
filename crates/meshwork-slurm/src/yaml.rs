//! Reads YAML as Slurm does, and records the line of each value.

use saphyr_parser::{Event, Parser, ScalarStyle};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Yaml {
    pub line: usize,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Text or number as it is written in the file, and whether it is in quotes.
    Scalar(String, bool),
    List(Vec<Yaml>),
    /// Keys in the order of the text, each with its line and its value.
    Map(Vec<(String, usize, Yaml)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub line: usize,
    pub says: String,
    /// Messages that Slurm logs.
    pub slurm: Vec<String>,
}

/// Maximum nesting of values. No valid topology file nests values so deeply.
const DEEPEST: usize = 64;

impl Yaml {
    /// Value of a key in a mapping. If the key occurs several times, the last value counts.
    pub fn get(&self, key: &str) -> Option<&Yaml> {
        match &self.value {
            Value::Map(pairs) => {
                pairs.iter().rev().find(|(own, ..)| own == key).map(|(.., value)| value)
            }
            _ => None,
        }
    }

    /// Elements of a list. Any other value counts as a list with this value as its only element.
    pub fn items(&self) -> &[Yaml] {
        match &self.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(text, false) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Phrase on the kind of the value for error messages, such as `a list`.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Scalar(..) => "a value",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// List or mapping that is being read. The last key of a mapping may still have no value.
enum Open {
    List(usize, Vec<Yaml>),
    Map(usize, Vec<(String, usize, Yaml)>, Option<(String, usize)>),
}

/// Reads the first document of a text; `None` for an empty text.
///
/// ```
/// use meshwork_slurm::yaml::{Value, read};
/// let yaml = read("- topology: t\n  dims: {x: 4}\n").unwrap().unwrap();
/// let dims = yaml.items()[0].get("dims").unwrap();
/// assert_eq!((dims.line, dims.get("x").map(|x| &x.value)), (2, Some(&Value::Scalar("4".into(), false))));
/// assert!(read("a: &b 1\nc: *b\n").unwrap_err().says.contains("alias"));
/// ```
///
/// # Errors
/// The problem with its line: invalid YAML, an alias, a key that is no text, or too deep nesting.
pub fn read(text: &str) -> Result<Option<Yaml>, Unreadable> {
    let unreadable = |line: usize, says: String| {
        let failed = "error: Failed to load topology.yaml: Unable to convert Data type";
        let slurm = vec![failed.to_owned(), FATAL.to_owned()];
        Unreadable { line, says, slurm }
    };
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            unreadable(error.marker().line(), format!("this is no YAML: {}", error.info()))
        })?;
        let line = span.start.line();
        let done = match event {
            Event::Alias(_) => {
                let mut refused =
                    unreadable(line, "an alias (`*name`) is not read: write the value out".into());
                let first = "error: _on_parse_event: YAML parser does not support aliases";
                refused.slurm.insert(0, first.to_owned());
                return Err(refused);
            }
            Event::Scalar(text, style, ..) => {
                let quoted = style != ScalarStyle::Plain;
                Yaml { line, value: Value::Scalar(text.into_owned(), quoted) }
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if open.len() >= DEEPEST {
                    let says = format!("values lie more than {DEEPEST} deep in one another");
                    return Err(unreadable(line, says));
                }
                open.push(match event {
                    Event::SequenceStart(..) => Open::List(line, Vec::new()),
                    _ => Open::Map(line, Vec::new(), None),
                });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(line, items)) => Yaml { line, value: Value::List(items) },
                Some(Open::Map(line, pairs, _)) => Yaml { line, value: Value::Map(pairs) },
                None => continue,
            },
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok((!done.is_null()).then_some(done)),
            Some(Open::List(_, items)) => items.push(done),
            Some(Open::Map(_, pairs, key)) => match (key.take(), done) {
                (Some((name, at)), value) => pairs.push((name, at, value)),
                (None, Yaml { line, value: Value::Scalar(name, _) }) => *key = Some((name, line)),
                (None, other) => {
                    let says = format!("{} is used as a key", other.kind());
                    return Err(unreadable(other.line, says));
                }
            },
        }
    }
    Ok(None)
}

/// Last message that Slurm logs if it cannot read a `topology.yaml`.
pub(super) const FATAL: &str = "fatal: Failed to initialize topology plugin";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_yaml() {
        let yaml = read("[{\"topology\":\"t\",\"flat\":true}]").unwrap().unwrap();
        assert_eq!(yaml.items()[0].get("flat").unwrap().value, Value::Scalar("true".into(), false));
        assert_eq!(yaml.items()[0].get("topology").unwrap().value, Value::Scalar("t".into(), true));
    }

    #[test]
    fn the_last_of_equal_keys_counts_and_lines_are_right() {
        let yaml = read("---\na: 1\nb:\n  - x\n  - {y: 2}\na: 3\n").unwrap().unwrap();
        assert_eq!(yaml.get("a").unwrap().line, 6);
        assert_eq!(yaml.get("b").unwrap().items()[1].get("y").unwrap().line, 5);
        assert!(read("").unwrap().is_none());
        assert!(read("---\n").unwrap().is_none());
    }

    #[test]
    fn what_is_no_yaml_is_refused_with_its_line() {
        for (text, line) in
            [("a: [1, 2\n", 2), ("a: 1\n  b: 2\n", 2), ("[a]: 1\n", 1), ("a: b: c\n", 1)]
        {
            let refused = read(text).unwrap_err();
            assert_eq!(refused.line, line, "{text:?}: {}", refused.says);
        }
        let deep = "[".repeat(100_000);
        assert!(read(&deep).is_err());
        let deep = "[".repeat(DEEPEST + 5);
        assert!(read(&deep).unwrap_err().says.contains("deep"));
    }
}
