//! Strict reader of tables: refuses unknown keys and values out of bounds, and fills in defaults.

use toml::{Table, Value};

use super::spelling::{LOOSELY, memory_meant, nearest, number_meant, suggested};
use super::{DefaultValue, EntrySource, Kind, Param, Params, Problem, Standard, join, name_of};

/// Maximum depth at which the right place of a misplaced key is sought. The key
/// `workload.sizes.max` has this depth.
const DEEPEST: usize = 3;

/// Reads a table that may have the given parameters, and the keys `also`, which are not read.
///
/// Refuses unknown keys, checks values and fills in defaults.
///
/// # Errors
/// The first problem found.
pub fn resolve(
    path: &str,
    params: &[&Param],
    given: &Table,
    also: &[&str],
) -> Result<Params, Problem> {
    resolve_in(&Standard, path, params, given, also)
}

/// Variant of [`resolve`] in which components may also name entries of `lists`.
pub fn resolve_in(
    lists: &dyn EntrySource,
    path: &str,
    params: &[&Param],
    given: &Table,
    also: &[&str],
) -> Result<Params, Problem> {
    refuse_unknown(lists, path, params, given, also)?;
    let mut table = Table::new();
    for param in params {
        let at = join(path, param.name);
        let value = match (given.get(param.name), &param.default) {
            // An optional list may be empty, so that one of the values of a sweep can be "none".
            (Some(value), DefaultValue::Absent(_)) if param.kind.is_none_of(value) => continue,
            (Some(value), _) => param.kind.read(lists, &at, value)?,
            (None, DefaultValue::Is(text)) => param
                .kind
                .read(lists, &at, &literal(text).expect("a default is written as TOML"))
                .expect("a default is one of its own kind"),
            (None, DefaultValue::Absent(_)) => continue,
            (None, DefaultValue::Required) => {
                let says = format!("`{at}` is missing: {} ({})", param.help, param.kind);
                return Err(Problem::new(path, says));
            }
        };
        table.insert(param.name.to_owned(), value);
    }
    Ok(Params { path: path.to_owned(), table, key: "", added: lists.added() })
}

/// Refuses keys that are not names of parameters; the error suggests a key that may be meant.
///
/// The suggestion is the same key in a nested table, or else the most similar known key.
///
/// # Errors
/// The first unknown key.
pub fn refuse_unknown(
    lists: &dyn EntrySource,
    path: &str,
    params: &[&Param],
    given: &Table,
    also: &[&str],
) -> Result<(), Problem> {
    let is_known = |key: &str| params.iter().any(|param| param.name == key) || also.contains(&key);
    let Some(key) = given.keys().find(|key| !is_known(key)) else { return Ok(()) };
    let known: Vec<&str> =
        also.iter().copied().chain(params.iter().map(|param| param.name)).collect();
    let place = if path.is_empty() { String::new() } else { format!(" in `{path}`") };
    let within = within(lists, params, given, DEEPEST);
    let is_it = |inner: &&String| inner.rsplit('.').next() == Some(key);
    let depth = |inner: &String| inner.matches('.').count();
    let least = within.iter().filter(is_it).map(depth).min();
    let meant: Vec<String> = within
        .iter()
        .filter(is_it)
        .filter(|inner| Some(depth(inner)) == least)
        .map(|inner| join(path, inner))
        .collect();
    let meant = match meant.as_slice() {
        [] => nearest(key, &known, LOOSELY).map(str::to_owned).or_else(|| {
            let leaf = |inner: &String| inner.rsplit('.').next().map(str::to_owned);
            let leaves: Vec<String> = within.iter().filter_map(leaf).collect();
            let leaves: Vec<&str> = leaves.iter().map(String::as_str).collect();
            let meant = nearest(key, &leaves, |_| 1)?;
            let place = leaves.iter().position(|leaf| *leaf == meant)?;
            Some(join(path, &within[place]))
        }),
        some => Some(some.join("` or `")),
    };
    let says = suggested(key, meant.as_deref(), &known);
    Err(Problem::new(join(path, key), format!("unknown key `{key}`{place} ({says})")))
}

/// Collects the keys of nested tables, or of the component that a table names, as dotted paths.
fn within(
    lists: &dyn EntrySource,
    params: &[&Param],
    given: &Table,
    deepest: usize,
) -> Vec<String> {
    let mut keys = Vec::new();
    for param in params.iter().filter(|_| deepest > 0) {
        let usual = match param.default {
            DefaultValue::Is(text) => literal(text),
            _ => None,
        };
        let value = given.get(param.name).or(usual.as_ref());
        let inner: Vec<&Param> = match param.kind {
            Kind::Table(params) => params.iter().collect(),
            Kind::Component(family) => {
                let named = value.and_then(|value| match value {
                    Value::Table(table) => table.get(family.key)?.as_str(),
                    _ => value.as_str(),
                });
                let entry = named.and_then(|name| family.find_in(lists, "", name).ok());
                entry
                    .into_iter()
                    .flat_map(|about| about.params.iter().chain(family.common))
                    .collect()
            }
            _ => continue,
        };
        let none = Table::new();
        let table = value.and_then(Value::as_table).unwrap_or(&none);
        keys.extend(inner.iter().map(|inner| join(param.name, inner.name)));
        let deeper = within(lists, &inner, table, deepest - 1);
        keys.extend(deeper.iter().map(|key| join(param.name, key)));
    }
    keys
}

/// Parses a text that is a single TOML value.
pub(super) fn literal(text: &str) -> Option<Value> {
    let mut table: Table = format!("value = {text}").parse().ok()?;
    let value = table.remove("value")?;
    table.is_empty().then_some(value)
}

impl Kind {
    fn is_none_of(&self, value: &Value) -> bool {
        matches!(self, Kind::Tables(_)) && value.as_array().is_some_and(Vec::is_empty)
    }

    pub(super) fn read(
        &self,
        lists: &dyn EntrySource,
        path: &str,
        given: &Value,
    ) -> Result<Value, Problem> {
        let refuse = || Problem::new(path, format!("`{path}` is {given}, but must be {self}"));
        let refuse_number = |meant: fn(&str) -> String| {
            let Problem { message, .. } = refuse();
            Problem::new(path, message + &given.as_str().map(meant).unwrap_or_default())
        };
        let each = |read: &dyn Fn(&str, &Value) -> Result<Value, Problem>| {
            let list = given.as_array().filter(|list| !list.is_empty()).ok_or_else(refuse)?;
            let items = list.iter().enumerate();
            let read = items.map(|(i, item)| read(&format!("{path}[{i}]"), item));
            read.collect::<Result<_, _>>().map(Value::Array)
        };
        match self {
            Kind::Number(range) => number(given)
                .filter(|&n| range.holds(n))
                .map(Value::Float)
                .ok_or_else(|| refuse_number(number_meant)),
            Kind::Integer(least, most) => whole(given, *least, *most)
                .map(Value::Integer)
                .ok_or_else(|| refuse_number(memory_meant)),
            Kind::Flag => given.as_bool().map(Value::Boolean).ok_or_else(refuse),
            Kind::Choice(words) => match given.as_str() {
                Some(word) if words.contains(&word) => Ok(given.clone()),
                Some(word) => {
                    let Problem { message, .. } = refuse();
                    let meant = nearest(word, words, LOOSELY)
                        .map_or_else(String::new, |meant| format!(" (did you mean `{meant}`?)"));
                    Err(Problem::new(path, message + &meant))
                }
                None => Err(refuse()),
            },
            Kind::Or(words, kind) => match given.as_str() {
                Some(word) if words.contains(&word) => Ok(given.clone()),
                Some(_) => Err(refuse()),
                None => kind.read(lists, path, given).map_err(|_| refuse()),
            },
            Kind::Text => {
                given.as_str().map(|text| Value::String(text.to_owned())).ok_or_else(refuse)
            }
            Kind::Texts => {
                let list = given.as_array().filter(|list| !list.is_empty()).ok_or_else(refuse)?;
                let texts = list.iter().all(Value::is_str);
                if texts { Ok(given.clone()) } else { Err(refuse()) }
            }
            Kind::Integers(..) if given.as_str().is_some_and(|text| joined(text).is_some()) => {
                let numbers = joined(given.as_str().unwrap_or_default()).unwrap_or_default();
                let Problem { message, .. } = refuse();
                Err(Problem::new(path, format!("{message} (did you mean `{numbers:?}`?)")))
            }
            Kind::Integers(least, most) => {
                let read = |item: &Value| whole(item, *least, *most).map(Value::Integer);
                one_or_more(given, read).ok_or_else(refuse)
            }
            Kind::Numbers(range) => {
                let read =
                    |item: &Value| number(item).filter(|&n| range.holds(n)).map(Value::Float);
                let list = Some(given).filter(|given| given.is_array());
                list.and_then(|list| one_or_more(list, read)).ok_or_else(refuse)
            }
            Kind::Flags => {
                one_or_more(given, |item| item.as_bool().map(Value::Boolean)).ok_or_else(refuse)
            }
            Kind::Component(family) => {
                family.resolve_in(lists, path, given).map(|p| Value::Table(p.table))
            }
            Kind::Components(family) => {
                each(&|at, item| family.resolve_in(lists, at, item).map(|p| Value::Table(p.table)))
            }
            Kind::Names(family) => {
                let list = given.as_array().filter(|list| !list.is_empty()).ok_or_else(refuse)?;
                // An entry without parameters is stored as its name, any other as a table of all
                // parameters.
                let canonical = |(i, item): (usize, &Value)| {
                    let about = match item {
                        Value::String(name) => family.find_in(lists, path, name)?,
                        Value::Table(_) => {
                            let own = family.resolve_in(lists, &format!("{path}[{i}]"), item)?;
                            family.find_in(lists, path, own.name())?
                        }
                        _ => return Err(refuse()),
                    };
                    if about.params.is_empty() && family.common.is_empty() {
                        return Ok(Value::String(about.name.to_owned()));
                    }
                    let own = family.resolve_in(lists, &format!("{path}[{i}]"), item)?;
                    Ok(Value::Table(own.table))
                };
                let all = list.iter().enumerate().map(canonical).collect::<Result<Vec<_>, _>>()?;
                let others = |item: &&Value| all.iter().any(|other| is_other_of_name(other, item));
                if let Some(name) = all.iter().find(others).and_then(name_of) {
                    let message = format!(
                        "`{path}` names `{name}` twice, with other parameters: it is there once"
                    );
                    return Err(Problem::new(path, message));
                }
                Ok(Value::Array(all))
            }
            Kind::Table(params) => {
                let table = given.as_table().ok_or_else(refuse)?;
                let params: Vec<&Param> = params.iter().collect();
                resolve_in(lists, path, &params, table, &[])
                    .map(|params| Value::Table(params.table))
            }
            Kind::Tables(params) => {
                let params: Vec<&Param> = params.iter().collect();
                each(&|at, item| {
                    let table = item.as_table().ok_or_else(refuse)?;
                    resolve_in(lists, at, &params, table, &[]).map(|p| Value::Table(p.table))
                })
            }
        }
    }
}

fn is_other_of_name(one: &Value, other: &Value) -> bool {
    one != other && name_of(one) == name_of(other)
}

/// Converts one value or a list of values with `read`; `None` if `read` refuses any of them.
fn one_or_more(given: &Value, read: impl Fn(&Value) -> Option<Value>) -> Option<Value> {
    let list = given.as_array().filter(|list| !list.is_empty());
    let list = list.map_or(std::slice::from_ref(given), Vec::as_slice);
    list.iter().map(read).collect::<Option<_>>().map(Value::Array)
}

fn joined(text: &str) -> Option<Vec<u64>> {
    text.split(['x', 'X', '×', ',']).map(|part| part.trim().parse().ok()).collect()
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

fn whole(value: &Value, least: u64, most: u64) -> Option<i64> {
    let number = value.as_integer()?;
    let within = u64::try_from(number).is_ok_and(|n| (least..=most).contains(&n));
    within.then_some(number)
}
