//! Strict reader of tables: refuses unknown keys and values out of bounds, and fills in defaults.

use toml::{Table, Value};

use super::spelling::{LOOSELY, memory_meant, nearest, number_meant, suggested};
use super::{DefaultValue, EntrySource, Kind, Param, Params, Problem, Standard, join, name_of};

/// Maximum depth of the nested tables in which the right place of a misplaced key is sought. The
/// path `workload.sizes.max` has this depth.
const DEEPEST: usize = 3;

/// Reads a table that may have the given parameters as its keys.
///
/// Refuses unknown keys, checks values and fills in defaults. The keys in `also` are allowed too:
/// the caller has already read them.
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

/// Reads a table like [`resolve`], but components in it may also name entries of `lists`.
///
/// # Errors
/// The first problem found.
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
                return Err(Problem::new(
                    path,
                    format!("`{at}` is missing: {} ({})", param.help, param.kind),
                ));
            }
        };
        table.insert(param.name.to_owned(), value);
    }
    Ok(Params { path: path.to_owned(), table, key: "", added: lists.added() })
}

/// Refuses keys that are not names of parameters. The error suggests a key that may be meant.
///
/// The suggestion is the same key in a nested table, if one has this key. Otherwise it is the known
/// key with the most similar spelling.
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

/// Collects the keys that nested tables may have, as dotted paths. If a table describes a
/// component, these are the parameters of the component that it names.
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

/// Parses a text that consists of a single TOML value; `None` for any other text.
pub(super) fn literal(text: &str) -> Option<Value> {
    let mut table: Table = format!("value = {text}").parse().ok()?;
    let value = table.remove("value")?;
    table.is_empty().then_some(value)
}

impl Kind {
    /// Whether a parameter of this kind is a list of tables, and `value` is an empty list.
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
            Kind::Integers(least, most) => match given {
                Value::Array(list) if !list.is_empty() => list
                    .iter()
                    .map(|item| whole(item, *least, *most).map(Value::Integer))
                    .collect::<Option<Vec<Value>>>()
                    .map(Value::Array)
                    .ok_or_else(refuse),
                single => whole(single, *least, *most)
                    .map(|n| Value::Array(vec![Value::Integer(n)]))
                    .ok_or_else(refuse),
            },
            Kind::Numbers(range) => given
                .as_array()
                .filter(|list| !list.is_empty())
                .and_then(|list| {
                    list.iter()
                        .map(|item| number(item).filter(|&n| range.holds(n)).map(Value::Float))
                        .collect::<Option<Vec<Value>>>()
                })
                .map(Value::Array)
                .ok_or_else(refuse),
            Kind::Flags => match given {
                Value::Array(list) if !list.is_empty() => list
                    .iter()
                    .map(|item| item.as_bool().map(Value::Boolean))
                    .collect::<Option<Vec<Value>>>()
                    .map(Value::Array)
                    .ok_or_else(refuse),
                single => single
                    .as_bool()
                    .map(|flag| Value::Array(vec![Value::Boolean(flag)]))
                    .ok_or_else(refuse),
            },
            Kind::Component(family) => {
                family.resolve_in(lists, path, given).map(|p| Value::Table(p.table))
            }
            Kind::Components(family) => match given {
                Value::Array(list) if !list.is_empty() => list
                    .iter()
                    .enumerate()
                    .map(|(i, item)| {
                        family
                            .resolve_in(lists, &format!("{path}[{i}]"), item)
                            .map(|p| Value::Table(p.table))
                    })
                    .collect::<Result<Vec<Value>, Problem>>()
                    .map(Value::Array),
                _ => Err(refuse()),
            },
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
                let list = given.as_array().filter(|list| !list.is_empty()).ok_or_else(refuse)?;
                let params: Vec<&Param> = params.iter().collect();
                let read = |(i, item): (usize, &Value)| {
                    let table = item.as_table().ok_or_else(refuse)?;
                    let at = format!("{path}[{i}]");
                    resolve_in(lists, &at, &params, table, &[]).map(|p| Value::Table(p.table))
                };
                let read: Result<Vec<Value>, Problem> = list.iter().enumerate().map(read).collect();
                read.map(Value::Array)
            }
        }
    }
}

/// Whether two items of a list name the same component with different parameters.
fn is_other_of_name(one: &Value, other: &Value) -> bool {
    one != other && name_of(one) == name_of(other)
}

/// Parses the numbers of a text such as `8x8`, the usual notation for sides.
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
