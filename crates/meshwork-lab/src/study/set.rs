//! Sets the value at a dotted path in a study, as `[sweep]` and `--set` do.

use meshwork::registry::{Problem, join};
use toml::{Table, Value};

use crate::study::{Refused, table};

/// Sets a value at a path such as `workload.load` or `machine.sites[1].speed`.
///
/// Missing tables on the way are created. A component that is given only by its name becomes a
/// table. A key that contains a dot is quoted, as in `sweep."workload.load"`.
///
/// ```
/// use meshwork_lab::study::set::set;
/// let mut table: toml::Table = "allocator = 'first_fit'".parse().unwrap();
/// set(&mut table, "allocator.rotation", toml::Value::from("best")).unwrap();
/// set(&mut table, "workload.load", toml::Value::from(0.7)).unwrap();
/// assert_eq!(table["allocator"]["name"].as_str(), Some("first_fit"));
/// assert_eq!(table["allocator"]["rotation"].as_str(), Some("best"));
/// assert_eq!(table["workload"]["load"].as_float(), Some(0.7));
/// ```
pub fn set(table: &mut Table, path: &str, value: Value) -> Result<(), Problem> {
    let steps = steps(path)?;
    let (last, way) = steps.split_last().expect("a path has at least one step");
    let Step::Key(first) = &steps[0] else { unreachable!("a path begins with a key") };
    if way.is_empty() {
        table.insert(first.clone(), value);
        return Ok(());
    }
    let mut walked = first.clone();
    let mut here = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new()));
    for step in &way[1..] {
        here = enter(here, step, &walked)?;
        walked = step.after(&walked);
    }
    *enter(here, last, &walked)? = value;
    Ok(())
}

/// Parses a setting `KEY=VALUE` of the command line.
///
/// The value is TOML. A bare word that is not valid TOML is a text, so that names and paths need no
/// quotes.
///
/// ```
/// use meshwork_lab::study::set::assignment;
/// let (key, value) = assignment("workload.path=logs/a.swf.gz").unwrap();
/// assert_eq!((key.as_str(), value.as_str()), ("workload.path", Some("logs/a.swf.gz")));
/// assert_eq!(assignment("machine.dims=[16, 8]").unwrap().1.as_array().unwrap().len(), 2);
/// ```
pub fn assignment(text: &str) -> Result<(String, Value), Refused> {
    let Some((key, value)) = text.split_once('=') else {
        return Err(Refused(format!("`--set {text}` has no `=`: write `--set KEY=VALUE`")));
    };
    let (key, value) = (key.trim(), value.trim());
    steps(key).map_err(|problem| Refused(format!("--set {text}: {problem}")))?;
    // A line break could add a second key to the parsed table.
    let parsed = if value.contains(['\n', '\r']) {
        None
    } else {
        format!("value = {value}").parse::<Table>().ok().and_then(|mut table| table.remove("value"))
    };
    match parsed {
        Some(parsed) => Ok((key.to_owned(), parsed)),
        None if value.starts_with(['"', '\'', '[', '{']) => Err(Refused(format!(
            "--set {text}: `{value}` is not TOML: close every quote and bracket, or leave them out"
        ))),
        None if value.is_empty() => Err(Refused(format!(
            "`--set {text}` has no value after the `=`: write `--set KEY=VALUE`"
        ))),
        None => Ok((key.to_owned(), Value::String(value.to_owned()))),
    }
}

/// Number of keys and list indices in a path. Settings with a smaller number are applied first.
pub(crate) fn depth(path: &str) -> usize {
    steps(path).map_or(1, |steps| steps.len())
}

/// Text of a path for error messages, without quotes around a key that contains a dot.
pub(crate) fn plain(path: &str) -> String {
    steps(path).map_or_else(
        |_| path.to_owned(),
        |steps| steps.iter().fold(String::new(), |walked, step| step.after(&walked)),
    )
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

impl Step {
    fn after(&self, walked: &str) -> String {
        match self {
            Step::Key(key) => join(walked, key),
            Step::Index(index) => format!("{walked}[{index}]"),
        }
    }
}

fn enter<'a>(here: &'a mut Value, step: &Step, walked: &str) -> Result<&'a mut Value, Problem> {
    if let (Value::String(name), Step::Key(_)) = (&*here, step) {
        *here = Value::Table(table([("name", name.as_str().into())]));
    }
    let given = match step {
        Step::Key(_) if here.is_table() => String::new(),
        Step::Index(_) if here.is_array() => String::new(),
        _ => here.to_string(),
    };
    match (here, step) {
        (Value::Table(table), Step::Key(key)) => {
            Ok(table.entry(key.clone()).or_insert_with(|| Value::Table(Table::new())))
        }
        (Value::Array(list), Step::Index(index)) => {
            let count = list.len();
            list.get_mut(*index).ok_or_else(|| {
                Problem::new(
                    walked,
                    format!("`{walked}` has {count} elements, counted from 0, and no [{index}]"),
                )
            })
        }
        (_, Step::Key(key)) => Err(Problem::new(
            walked,
            format!("`{walked}` is {given}, but must be a table for `{key}` to be set in it"),
        )),
        (_, Step::Index(index)) => Err(Problem::new(
            walked,
            format!("`{walked}` is {given}, but must be a list for its [{index}] to be set"),
        )),
    }
}

fn steps(path: &str) -> Result<Vec<Step>, Problem> {
    let refuse = || {
        Problem::new(
            "",
            format!(
                "`{path}` is no path to a key: write words joined by dots, as in `workload.load`"
            ),
        )
    };
    let mut steps = Vec::new();
    let mut rest = path;
    loop {
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let end = rest[1..].find(quote).ok_or_else(refuse)?;
            steps.push(Step::Key(rest[1..=end].to_owned()));
            rest = &rest[end + 2..];
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let key = rest[..end].trim();
            let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if key.is_empty() || !key.chars().all(bare) {
                return Err(refuse());
            }
            steps.push(Step::Key(key.to_owned()));
            rest = &rest[end..];
        }
        while let Some(after) = rest.strip_prefix('[') {
            let (index, after) = after.split_once(']').ok_or_else(refuse)?;
            steps.push(Step::Index(index.parse().map_err(|_| refuse())?));
            rest = after;
        }
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Ok(steps),
            None => return Err(refuse()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    #[test]
    fn a_bare_name_becomes_a_table_when_a_parameter_is_set() {
        let mut study = table("sizing = 'rsr'");
        set(&mut study, "sizing.max_folds", Value::Integer(2)).unwrap();
        assert_eq!(study, table("sizing = { name = 'rsr', max_folds = 2 }"));
    }

    #[test]
    fn elements_of_lists_and_quoted_keys() {
        let mut study = table("machine = { sites = [{ speed = 1 }, { speed = 1 }] }");
        set(&mut study, "machine.sites[1].speed", Value::Integer(3)).unwrap();
        set(&mut study, "sweep.\"workload.load\"", Value::Array(vec![])).unwrap();
        assert_eq!(
            study,
            table(
                "machine = { sites = [{ speed = 1 }, { speed = 3 }] }\n\
                 [sweep]\n'workload.load' = []"
            )
        );
    }

    #[test]
    fn what_cannot_be_set_is_said_in_a_sentence() {
        for (path, sentence) in [
            ("seed.x", "`seed` is 1, but must be a table for `x` to be set in it"),
            ("seed[0]", "`seed` is 1, but must be a list for its [0] to be set"),
            ("dims[2]", "`dims` has 2 elements, counted from 0, and no [2]"),
            (
                "a..b",
                "`a..b` is no path to a key: write words joined by dots, as in `workload.load`",
            ),
            ("", "`` is no path to a key: write words joined by dots, as in `workload.load`"),
        ] {
            let mut study = table("seed = 1\ndims = [3, 4]");
            let problem = set(&mut study, path, Value::Boolean(true)).unwrap_err();
            assert_eq!(problem.message, sentence);
        }
    }

    #[test]
    fn a_value_is_toml_and_a_bare_word_is_a_text() {
        for (given, expected) in [
            ("k=1", Value::Integer(1)),
            ("k=0.5", Value::Float(0.5)),
            ("k=true", Value::Boolean(true)),
            ("k='a b'", Value::from("a b")),
            ("k=first_fit", Value::from("first_fit")),
            ("k = ../logs/a=b.swf", Value::from("../logs/a=b.swf")),
            ("k=[1, 2]", Value::Array(vec![Value::Integer(1), Value::Integer(2)])),
        ] {
            assert_eq!(assignment(given).unwrap(), ("k".to_owned(), expected));
        }
        for (given, sentence) in [
            ("load", "`--set load` has no `=`: write `--set KEY=VALUE`"),
            ("load=", "`--set load=` has no value after the `=`: write `--set KEY=VALUE`"),
            (
                "d=[1,",
                "--set d=[1,: `[1,` is not TOML: close every quote and bracket, or leave them out",
            ),
            (
                "=1",
                "--set =1: `` is no path to a key: write words joined by dots, as in `workload.load`",
            ),
        ] {
            assert_eq!(assignment(given).unwrap_err().0, sentence);
        }
        assert_eq!(assignment("k=1\nseed = 2").unwrap().1, Value::from("1\nseed = 2"));
    }

    fn paths() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("[a-z_]{1,6}", 1..5)
    }

    proptest! {
        #[test]
        fn what_was_set_is_found_again(path in paths(), other in paths(), value in any::<i64>()) {
            let mut study = Table::new();
            set(&mut study, &other.join("."), Value::from("name")).unwrap();
            set(&mut study, &path.join("."), Value::Integer(value)).unwrap();
            let found = path[1..].iter().try_fold(&study[&path[0]], |here, key| here.get(key));
            prop_assert_eq!(found, Some(&Value::Integer(value)));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            if let Ok((key, value)) = assignment(&text) {
                let _ = set(&mut Table::new(), &key, value);
            }
            let _ = set(&mut Table::new(), &text, Value::Integer(1));
            let _ = (depth(&text), plain(&text));
        }
    }
}
