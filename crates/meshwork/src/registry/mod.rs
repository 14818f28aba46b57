//! Names and parameters: what every strategy, workload and metric says of itself.
//!
//! A registry is a slice one can read: each kind of thing has one list of entries, and from an
//! entry come its name in studies, `--set` and `meshwork list`, the checks of its parameters, the
//! defaults that `meshwork show` fills in, and the shared tests. Parameters are data, so that one
//! strict reader serves them all and a test can try bad values in every one of them.

mod check;
mod param;
mod params;
mod read;
mod spelling;
mod words;

pub use param::{DefaultValue, Kind, Param, Range};
pub use params::{Params, name_of};
pub use read::{refuse_unknown, resolve, resolve_in};
pub use spelling::{did_you_mean, join, with_article};
pub(crate) use spelling::{listed, nearest};
pub use words::Words;

use std::fmt;

use toml::{Table, Value};

use spelling::suggested;

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

/// Whose something is, as errors name it: an entry by its kind and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The word for such an entry, as in "allocator".
    pub kind: &'static str,
    /// Its name; empty where it comes from no entry.
    pub name: &'static str,
    /// Whether it is an entry of this crate: what is wrong with it is a bug of ours.
    pub is_standard: bool,
}

impl Origin {
    /// Something of this kind that comes from no entry, but from the program that runs it.
    #[must_use]
    pub const fn unnamed(kind: &'static str) -> Origin {
        Origin { kind, name: "", is_standard: false }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Origin { kind, name, .. } = self;
        if name.is_empty() { write!(f, "the {kind}") } else { write!(f, "the {kind} `{name}`") }
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
    /// How errors name an entry of this family, by its name alone.
    #[must_use]
    pub fn origin(&self, name: &'static str) -> Origin {
        let is_standard = (self.entries)().iter().any(|about| about.name == name);
        Origin { kind: self.kind, name, is_standard }
    }

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
        let meant = nearest(name, &candidates, spelling::LOOSELY)
            .or_else(|| entries.iter().find(|about| about.speaks_of(name)).map(|about| about.name));
        Err(Problem::new(
            path,
            format!("unknown {} `{name}` ({})", self.kind, suggested(name, meant, &known)),
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
