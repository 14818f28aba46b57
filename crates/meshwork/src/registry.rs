//! Names and parameters: what every strategy, workload and metric says of itself.
//!
//! A registry is a slice one can read: each kind of thing has one list of entries, and from an
//! entry come its name in studies, `--set` and `meshwork list`, the checks of its parameters, the
//! defaults that `meshwork show` fills in, and the shared tests. Parameters are data, so that one
//! strict reader serves them all and a test can try bad values in every one of them.

use std::fmt;

use toml::{Table, Value};

/// The largest number that any parameter or log field may have: far beyond any machine or clock,
/// and small enough that sums and products of such numbers stay finite.
pub const LARGEST: f64 = 1e15;

/// The smallest number above 0 that a parameter may have, so that quotients stay finite too.
pub const SMALLEST: f64 = 1e-15;

/// What is wrong with something that a user wrote: where, and one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// The dotted path of the key, such as `workload.load`; empty for the study as a whole.
    pub path: String,
    /// What was given and what would have been right.
    pub message: String,
}

impl Problem {
    /// A problem with the key at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { path: path.into(), message: message.into() }
    }
}

/// What every entry of every list says of itself.
#[derive(Debug)]
pub struct About {
    /// Its one spelling, everywhere.
    pub name: &'static str,
    /// Other spellings that are understood: the papers' acronyms.
    pub aliases: &'static [&'static str],
    /// What it does, in one line without a full stop.
    pub summary: &'static str,
    /// What it is, in full sentences: enough to follow it by hand. It stands on its page of the
    /// manual, with names of parameters in backticks.
    pub definition: &'static str,
    /// Time and space, with the variables defined, in full sentences.
    pub complexity: &'static str,
    /// Where its definition comes from.
    pub source: &'static str,
    /// Its parameters, in reading order.
    pub params: &'static [Param],
}

impl About {
    /// Whether a name that nothing is called stands, with word for word in its order, in what the entry says of
    /// itself: `backfill` and `easy_backfilling` in a summary that speaks of EASY backfilling.
    fn speaks_of(&self, name: &str) -> bool {
        let stem = |word: &str| {
            let word = word.to_lowercase();
            let ending = ["ing", "ed", "s"].into_iter().find(|&end| word.ends_with(end));
            ending.map_or(word.clone(), |end| word[..word.len() - end.len()].to_owned())
        };
        let stems = |text: &str| -> Vec<String> {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
            words.map(stem).collect()
        };
        let wanted = stems(name);
        let says = |text: &str| stems(text).windows(wanted.len().max(1)).any(|run| run == wanted);
        says(self.summary) || says(self.definition) || says(self.source)
    }
}

/// Something with a name in a list.
pub trait Named: Sync {
    /// What it says of itself.
    fn about(&self) -> &About;
}

impl Named for About {
    fn about(&self) -> &About {
        self
    }
}

/// One parameter of an entry.
#[derive(Debug)]
pub struct Param {
    /// Its key.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What it is when it is left out.
    pub default: DefaultValue,
    /// What it means, in one line.
    pub help: &'static str,
}

/// What a parameter is when a study leaves it out.
#[derive(Debug)]
pub enum DefaultValue {
    /// It must be given.
    Required,
    /// This value, as TOML.
    Is(&'static str),
    /// Nothing: what that means, in a few words.
    Absent(&'static str),
}

/// What a parameter may be.
#[derive(Debug)]
pub enum Kind {
    /// A number in a range.
    Number(Range),
    /// A whole number from one bound to the other.
    Integer(u64, u64),
    /// `true` or `false`.
    Flag,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// One of a few words, or else a value of this kind.
    Or(&'static [&'static str], &'static Kind),
    /// Any text, such as a path.
    Text,
    /// A list of whole numbers, each from one bound to the other; a single one is a list of one.
    Integers(u64, u64),
    /// A list of numbers, each in a range.
    Numbers(Range),
    /// A list of `true` and `false`; a single one is a list of one.
    Flags,
    /// A name, or a table with a name and parameters, from a list.
    Component(&'static Family),
    /// A list of components.
    Components(&'static Family),
    /// A list of names.
    Names(&'static Family),
    /// A table of its own.
    Table(&'static [Param]),
}

/// A range of numbers.
#[derive(Clone, Copy, Debug)]
pub enum Range {
    /// Above 0, and at least [`SMALLEST`].
    Positive,
    /// 0 or more.
    NonNegative,
    /// From 0 to 1.
    Share,
    /// Above 0 and below 1.
    Inside,
    /// 1 or more.
    AtLeastOne,
}

impl Range {
    fn holds(self, number: f64) -> bool {
        match self {
            Range::Positive => (SMALLEST..=LARGEST).contains(&number),
            Range::NonNegative => (0.0..=LARGEST).contains(&number),
            Range::Share => (0.0..=1.0).contains(&number),
            Range::Inside => number > 0.0 && number < 1.0,
            Range::AtLeastOne => (1.0..=LARGEST).contains(&number),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Range::Positive => "a number above 0, from 1e-15 to 1e15",
            Range::NonNegative => "a number from 0 to 1e15",
            Range::Share => "a number from 0 to 1",
            Range::Inside => "a number above 0 and below 1",
            Range::AtLeastOne => "a number from 1 to 1e15",
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Number(range) => range.fmt(f),
            Kind::Integer(least, most) => write!(f, "a whole number from {least} to {most}"),
            Kind::Flag => f.write_str("true or false"),
            Kind::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Kind::Or(words, kind) => write!(f, "{}, or {kind}", words.join(", ")),
            Kind::Text => f.write_str("a text in quotes"),
            Kind::Integers(least, most) => {
                write!(f, "a list of whole numbers from {least} to {most}")
            }
            Kind::Numbers(range) => write!(f, "a list, each {range}"),
            Kind::Flags => f.write_str("a list, each true or false"),
            Kind::Component(family) => {
                write!(
                    f,
                    "the name of {}, or a table with `name` and its parameters",
                    with_article(family.kind)
                )
            }
            Kind::Components(family) => write!(f, "a list of {}s", family.kind),
            Kind::Names(family) => write!(f, "a list of names of {}s", family.kind),
            Kind::Table(_) => f.write_str("a table"),
        }
    }
}

/// A kind of thing with names, and where its entries are listed.
pub struct Family {
    /// The word for one of them, as in "unknown allocator".
    pub kind: &'static str,
    /// The key that holds the name in a table: `name`, but `topology` for a site.
    pub key: &'static str,
    /// Every entry.
    pub entries: fn() -> Vec<&'static About>,
    /// Parameters that every entry of the family has besides its own.
    pub common: &'static [Param],
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Family({})", self.kind)
    }
}

/// The `about` of every entry of a list.
pub fn abouts<E: Named>(entries: &[&'static E]) -> Vec<&'static About> {
    entries.iter().map(|entry| entry.about()).collect()
}

/// The entry of a list with this name.
///
/// # Panics
/// If there is none: names are looked up when a scenario is read, so an unknown one here is a bug.
pub fn entry<E: Named>(entries: &[&'static E], name: &str) -> &'static E {
    entries.iter().find(|entry| entry.about().name == name).expect("a resolved name is in its list")
}

/// Where the entries of a family are looked up.
pub trait Lists {
    /// The entries of a family, in the order of lists and pages.
    fn entries(&self, family: &Family) -> Vec<&'static About>;
}

/// The lists of this crate, to which nothing was added.
pub struct Standard;

impl Lists for Standard {
    fn entries(&self, family: &Family) -> Vec<&'static About> {
        (family.entries)()
    }
}

impl Family {
    /// The entry of this crate with this name or alias.
    ///
    /// # Errors
    /// A sentence that names the nearest known one.
    pub fn find(&self, path: &str, name: &str) -> Result<&'static About, Problem> {
        self.find_in(&Standard, path, name)
    }

    /// The entry with this name or alias, among those of these lists.
    ///
    /// # Errors
    /// A sentence that names the nearest known one.
    pub fn find_in(
        &self,
        lists: &dyn Lists,
        path: &str,
        name: &str,
    ) -> Result<&'static About, Problem> {
        let entries = lists.entries(self);
        if let Some(about) =
            entries.iter().find(|about| about.name == name || about.aliases.contains(&name))
        {
            return Ok(about);
        }
        let known: Vec<&str> = entries.iter().map(|about| about.name).collect();
        let aliases = entries.iter().flat_map(|about| about.aliases.iter().copied());
        let candidates: Vec<&str> = known.iter().copied().chain(aliases).collect();
        // What has no spelling near it may be a word that an entry says of itself.
        let meant = nearest(name, &candidates)
            .or_else(|| entries.iter().find(|about| about.speaks_of(name)).map(|about| about.name));
        Err(Problem::new(
            path,
            format!("unknown {} `{name}` ({})", self.kind, suggested(meant, &known)),
        ))
    }

    /// Reads a name of this crate, or a table with a name and parameters, and fills in every default.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn resolve(&self, path: &str, given: &Value) -> Result<Params, Problem> {
        self.resolve_in(&Standard, path, given)
    }

    /// Reads a name of these lists, or a table with a name and parameters, and fills in every default.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn resolve_in(
        &self,
        lists: &dyn Lists,
        path: &str,
        given: &Value,
    ) -> Result<Params, Problem> {
        // A name that stands in a table has a line, or an option, of its own.
        let at = if given.is_table() { join(path, self.key) } else { path.to_owned() };
        let (name, own) = match given {
            Value::String(name) => (name.as_str(), Table::new()),
            Value::Table(table) => {
                let mut own = table.clone();
                match own.remove(self.key) {
                    Some(Value::String(_)) => {}
                    Some(other) => {
                        return Err(Problem::new(
                            join(path, self.key),
                            format!(
                                "`{}` is {other}, but must be the name of {}",
                                join(path, self.key),
                                with_article(self.kind)
                            ),
                        ));
                    }
                    None => {
                        return Err(Problem::new(
                            path,
                            format!(
                                "`{path}` has no `{}`, which says which {} it is",
                                self.key, self.kind
                            ),
                        ));
                    }
                }
                (table[self.key].as_str().expect("checked above"), own)
            }
            other => {
                return Err(Problem::new(
                    path,
                    format!(
                        "`{path}` is {other}, but must be the name of {}, or a table with `{}` \
                         and its parameters",
                        with_article(self.kind),
                        self.key
                    ),
                ));
            }
        };
        let about = self.find_in(lists, &at, name)?;
        let params: Vec<&Param> = about.params.iter().chain(self.common).collect();
        let mut resolved = Table::new();
        resolved.insert(self.key.to_owned(), Value::String(about.name.to_owned()));
        resolved.extend(resolve_in(lists, path, &params, &own, &[self.key])?.table);
        Ok(Params { path: path.to_owned(), table: resolved, key: self.key })
    }
}

/// Reads a table against its parameters: refuses unknown keys, checks every value, and fills in
/// every default. `also` names keys that the caller has read itself.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn resolve(
    path: &str,
    params: &[&Param],
    given: &Table,
    also: &[&str],
) -> Result<Params, Problem> {
    resolve_in(&Standard, path, params, given, also)
}

/// As [`resolve`], where names are those of these lists.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn resolve_in(
    lists: &dyn Lists,
    path: &str,
    params: &[&Param],
    given: &Table,
    also: &[&str],
) -> Result<Params, Problem> {
    for key in given.keys() {
        if !params.iter().any(|param| param.name == key) {
            let known: Vec<&str> =
                also.iter().copied().chain(params.iter().map(|param| param.name)).collect();
            let place = if path.is_empty() { String::new() } else { format!(" in `{path}`") };
            return Err(Problem::new(
                join(path, key),
                format!("unknown key `{key}`{place} ({})", suggestion(key, &known, &known)),
            ));
        }
    }
    let mut table = Table::new();
    for param in params {
        let at = join(path, param.name);
        let value = match (given.get(param.name), &param.default) {
            (Some(value), _) => param.kind.read(lists, &at, value)?,
            (None, DefaultValue::Is(text)) => param
                .kind
                .read(lists, &at, &literal(text))
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
    Ok(Params { path: path.to_owned(), table, key: "" })
}

fn literal(text: &str) -> Value {
    let mut table: Table = format!("value = {text}").parse().expect("a default is written as TOML");
    table.remove("value").expect("the key just written")
}

impl Kind {
    fn read(&self, lists: &dyn Lists, path: &str, given: &Value) -> Result<Value, Problem> {
        let refuse = || Problem::new(path, format!("`{path}` is {given}, but must be {self}"));
        match self {
            Kind::Number(range) => {
                number(given).filter(|&n| range.holds(n)).map(Value::Float).ok_or_else(refuse)
            }
            Kind::Integer(least, most) => {
                whole(given, *least, *most).map(Value::Integer).ok_or_else(refuse)
            }
            Kind::Flag => given.as_bool().map(Value::Boolean).ok_or_else(refuse),
            Kind::Choice(words) => match given.as_str() {
                Some(word) if words.contains(&word) => Ok(given.clone()),
                Some(word) => Err(Problem::new(
                    path,
                    format!("`{path}` is {given}, but must be {}", suggestion(word, words, words)),
                )),
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
                let canonical = |item: &Value| {
                    let name = item.as_str().ok_or_else(refuse)?;
                    Ok(Value::String(family.find_in(lists, path, name)?.name.to_owned()))
                };
                list.iter().map(canonical).collect::<Result<Vec<Value>, _>>().map(Value::Array)
            }
            Kind::Table(params) => {
                let table = given.as_table().ok_or_else(refuse)?;
                let params: Vec<&Param> = params.iter().collect();
                resolve_in(lists, path, &params, table, &[])
                    .map(|params| Value::Table(params.table))
            }
        }
    }
}

/// The numbers of a text such as `8x8`, as sides are written elsewhere.
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

/// "did you mean …?" and the known names; only the names where nothing is near.
fn suggestion(given: &str, candidates: &[&str], known: &[&str]) -> String {
    suggested(nearest(given, candidates), known)
}

fn suggested(meant: Option<&str>, known: &[&str]) -> String {
    match meant {
        Some(name) => format!("did you mean `{name}`? known: {}", known.join(", ")),
        None => format!("known: {}", known.join(", ")),
    }
}

/// The candidate that differs least in spelling, if it does not differ much.
fn nearest<'a>(given: &str, candidates: &[&'a str]) -> Option<&'a str> {
    candidates
        .iter()
        .map(|name| (strsim::damerau_levenshtein(given, name), *name))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, name)| distance <= 1 + name.len() / 3)
        .map(|(_, name)| name)
}

/// A noun with the article that it is spoken with, also where it begins with a number.
///
/// ```
/// use meshwork::registry::with_article;
/// assert_eq!(with_article("mesh"), "a mesh");
/// assert_eq!(with_article("allocator"), "an allocator");
/// assert_eq!(with_article("8 × 8 mesh"), "an 8 × 8 mesh");
/// assert_eq!(with_article("128 × 2 torus"), "a 128 × 2 torus");
/// ```
#[must_use]
pub fn with_article(noun: impl fmt::Display) -> String {
    let noun = noun.to_string();
    let digits = noun.bytes().take_while(u8::is_ascii_digit).count();
    let is_spoken_with_a_vowel = match &noun.as_bytes()[..digits] {
        // Words that begin with a u sound like "you": unit, utilization.
        [] => noun.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']),
        // Eight, eighty, eight hundred; eleven and eighteen, also of thousands and millions.
        [b'8', ..] => true,
        [b'1', b'1' | b'8', ..] => digits % 3 == 2,
        _ => false,
    };
    format!("{} {noun}", if is_spoken_with_a_vowel { "an" } else { "a" })
}

/// `path.key`, or the key alone at the top.
#[must_use]
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Parameters that have been read: every declared one is there and within its bounds, or was left
/// out where that is allowed.
///
/// The accessors panic on a parameter that was not declared or is of another kind, which is a
/// mistake of the strategy's author that its first test meets.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    path: String,
    table: Table,
    key: &'static str,
}

impl Params {
    /// Wraps a table that has been resolved before.
    pub(crate) fn of_resolved(path: &str, table: Table, key: &'static str) -> Params {
        Params { path: path.to_owned(), table, key }
    }

    /// The dotted path of the table they were read from.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The table, with every default filled in.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The canonical name of the component they belong to.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text(self.key)
    }

    /// A problem with one of these parameters.
    #[must_use]
    pub fn problem(&self, key: &str, message: impl Into<String>) -> Problem {
        Problem::new(join(&self.path, key), message)
    }

    /// Whether an optional parameter was given.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// A number.
    #[must_use]
    pub fn number(&self, key: &str) -> f64 {
        self.get_number(key).unwrap_or_else(|| panic!("no number `{key}` is declared"))
    }

    /// A number that may have been left out.
    #[must_use]
    pub fn get_number(&self, key: &str) -> Option<f64> {
        self.table.get(key).and_then(Value::as_float)
    }

    /// A whole number.
    #[must_use]
    pub fn integer(&self, key: &str) -> u64 {
        self.get_integer(key).unwrap_or_else(|| panic!("no whole number `{key}` is declared"))
    }

    /// A whole number that may have been left out.
    #[must_use]
    pub fn get_integer(&self, key: &str) -> Option<u64> {
        self.table.get(key).and_then(Value::as_integer).map(|n| n as u64)
    }

    /// A flag.
    #[must_use]
    pub fn flag(&self, key: &str) -> bool {
        self.table
            .get(key)
            .and_then(Value::as_bool)
            .unwrap_or_else(|| panic!("no flag `{key}` is declared"))
    }

    /// A word or a text.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.get_text(key).unwrap_or_else(|| panic!("no text `{key}` is declared"))
    }

    /// A word or a text that may have been left out.
    #[must_use]
    pub fn get_text(&self, key: &str) -> Option<&str> {
        self.table.get(key).and_then(Value::as_str)
    }

    /// A list of whole numbers that may have been left out.
    #[must_use]
    pub fn get_integers(&self, key: &str) -> Option<Vec<u32>> {
        let list = self.table.get(key)?.as_array()?;
        Some(list.iter().filter_map(Value::as_integer).map(|n| n as u32).collect())
    }

    /// A list of whole numbers.
    #[must_use]
    pub fn integers(&self, key: &str) -> Vec<u32> {
        self.get_integers(key).unwrap_or_else(|| panic!("no list `{key}` is declared"))
    }

    /// A list of flags that may have been left out.
    #[must_use]
    pub fn get_flags(&self, key: &str) -> Option<Vec<bool>> {
        let list = self.table.get(key)?.as_array()?;
        Some(list.iter().filter_map(Value::as_bool).collect())
    }

    /// A list of numbers.
    #[must_use]
    pub fn numbers(&self, key: &str) -> Vec<f64> {
        let list = self.table.get(key).and_then(Value::as_array);
        let list = list.unwrap_or_else(|| panic!("no list `{key}` is declared"));
        list.iter().filter_map(Value::as_float).collect()
    }

    /// A list of names that may have been left out.
    #[must_use]
    pub fn get_names(&self, key: &str) -> Option<Vec<&str>> {
        let list = self.table.get(key)?.as_array()?;
        Some(list.iter().filter_map(Value::as_str).collect())
    }

    /// The parameters of a table of its own.
    #[must_use]
    pub fn nested(&self, key: &str) -> Params {
        let table = self.table.get(key).and_then(Value::as_table);
        let table = table.unwrap_or_else(|| panic!("no table `{key}` is declared")).clone();
        Params { path: join(&self.path, key), table, key: "" }
    }

    /// A component that may have been left out.
    #[must_use]
    pub fn get_component(&self, key: &str, family: &'static Family) -> Option<Params> {
        let table = self.table.get(key)?.as_table()?.clone();
        Some(Params { path: join(&self.path, key), table, key: family.key })
    }

    /// A component.
    #[must_use]
    pub fn component(&self, key: &str, family: &'static Family) -> Params {
        self.get_component(key, family)
            .unwrap_or_else(|| panic!("no component `{key}` is declared"))
    }

    /// A list of components that may have been left out.
    #[must_use]
    pub fn get_components(&self, key: &str, family: &'static Family) -> Option<Vec<Params>> {
        let list = self.table.get(key)?.as_array()?;
        let path = join(&self.path, key);
        let tables = list.iter().enumerate().filter_map(|(i, item)| {
            let table = item.as_table()?.clone();
            Some(Params { path: format!("{path}[{i}]"), table, key: family.key })
        });
        Some(tables.collect())
    }
}
