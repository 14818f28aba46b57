//! Names and parameters: the description of every strategy, workload and metric.
//!
//! Each family, such as the allocators, has one list of entries in the source. An entry provides
//! its name in studies, `--set` and `meshwork list`, the checks of its parameters, the defaults
//! that `meshwork show` fills in, and the shared tests. Parameters are data, so one strict reader
//! serves all parameters, and a test can try bad values in each of them.

mod added;
mod check;
mod param;
mod params;
mod read;
mod spelling;
mod words;

pub use added::Added;
pub use param::{DefaultValue, Kind, Param, Range};
pub use params::{Params, name_of};
pub use read::{refuse_unknown, resolve, resolve_in};
pub(crate) use spelling::memory_meant;
pub use spelling::{did_you_mean, join, number_meant, similar, with_article};
pub(crate) use spelling::{listed, nearest};
pub use words::Words;

use std::fmt;

use toml::{Table, Value};

use spelling::suggested;

/// Largest number allowed in any parameter or log field. The bound keeps sums and products finite.
pub const LARGEST: f64 = 1e15;

/// Smallest positive number allowed in a parameter. The bound keeps quotients finite.
pub const SMALLEST: f64 = 1e-15;

/// Problem with user input: its location, and a message of one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// Dotted path of the key at fault, such as `workload.load`; empty for the study as a whole.
    pub path: String,
    /// Message that says which value was given, and which value would be right.
    pub message: String,
}

impl Problem {
    /// Creates a problem with the key at the dotted path `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { path: path.into(), message: message.into() }
    }
}

/// Description of a registry entry, from which help texts and pages of the manual are made.
///
/// ```
/// use meshwork::registry::About;
/// static ABOUT: About = About::new("last_fit", "the free block with the highest base")
///     .definition("Of all free places of the block, the one with the highest base is taken.")
///     .source("an example");
/// assert_eq!(ABOUT.renamed("mine").name, "mine");
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct About {
    /// Canonical spelling of the entry's name.
    pub name: &'static str,
    /// Other accepted spellings of the name, such as acronyms from papers.
    pub aliases: &'static [&'static str],
    /// Effect of the entry in one line without a full stop.
    pub summary: &'static str,
    /// Definition in full sentences, complete enough to implement it, for the manual.
    pub definition: &'static str,
    /// Time and space that the component takes, in full sentences that define their variables.
    pub complexity: &'static str,
    /// Source of the definition, such as a paper.
    pub source: &'static str,
    /// Parameters of the entry itself, in the order in which they are to be read.
    pub params: &'static [Param],
}

impl About {
    /// Creates a description from name and summary, without aliases, parameters and longer texts.
    #[must_use]
    pub const fn new(name: &'static str, summary: &'static str) -> About {
        let (definition, complexity, source) = ("", "", "");
        About { name, aliases: &[], summary, definition, complexity, source, params: &[] }
    }

    /// Sets other accepted spellings of the entry's name.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> About {
        About { aliases, ..self }
    }

    /// Sets the text that defines the entry, in full sentences.
    #[must_use]
    pub const fn definition(self, definition: &'static str) -> About {
        About { definition, ..self }
    }

    /// Sets the text on time and space that the component takes, in full sentences.
    #[must_use]
    pub const fn complexity(self, complexity: &'static str) -> About {
        About { complexity, ..self }
    }

    /// Sets the source of the definition, such as a paper.
    #[must_use]
    pub const fn source(self, source: &'static str) -> About {
        About { source, ..self }
    }

    /// Sets the parameters, in the order in which they are to be read.
    #[must_use]
    pub const fn params(self, params: &'static [Param]) -> About {
        About { params, ..self }
    }

    /// Replaces the entry's name, and drops the aliases, which belong to the original entry.
    #[must_use]
    pub const fn renamed(self, name: &'static str) -> About {
        About { name, aliases: &[], ..self }
    }

    /// Whether the summary, definition or source of an entry contains an unknown name.
    ///
    /// Word endings are ignored.
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

/// Item of a registry list, with a name and a description.
pub trait Named: Sync {
    /// Returns the description of this item, which has its name and its parameters.
    fn about(&self) -> &About;
}

impl Named for About {
    fn about(&self) -> &About {
        self
    }
}

/// Implements [`Named`] for a type with a field `about`.
macro_rules! named {
    ($entry:ty) => {
        impl $crate::registry::Named for $entry {
            fn about(&self) -> &$crate::registry::About {
                &self.about
            }
        }
    };
}
pub(crate) use named;

/// Registry entry of a family, such as the allocators, to which a catalogue can add entries.
pub trait ListedEntry: Named + Sized + 'static {
    /// Family to which all entries of this type belong, such as the allocators.
    fn family() -> &'static Family;

    /// Entries of the family in this crate, in the order in which lists and the manual show them.
    fn standard() -> &'static [&'static Self];

    /// Checks the properties of an entry beyond its name, texts and parameters.
    ///
    /// # Errors
    /// One sentence that describes what is wrong with the entry.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Family of registry entries, such as all allocators, with its entries in this crate.
pub struct Family {
    /// Word for an entry of the family, as in "unknown allocator".
    pub kind: &'static str,
    /// Key under which a table of a study names an entry: `topology` for a site, otherwise `name`.
    pub key: &'static str,
    /// Descriptions of all entries of the family in this crate.
    pub entries: fn() -> Vec<&'static About>,
    /// Parameters that every entry of the family has in addition to its own.
    pub common: &'static [Param],
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Family({})", self.kind)
    }
}

/// Origin of a component of a run, for errors: the kind and name of its registry entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Word for the kind of component, such as "allocator".
    pub kind: &'static str,
    /// Name of the entry, such as `first_fit`; empty if the component comes from no entry.
    pub name: &'static str,
    /// Whether the entry belongs to this crate. A broken contract is then a bug of this crate.
    pub is_standard: bool,
}

impl Origin {
    /// Returns the origin of a component that the calling program provides without a registry
    /// entry. `kind` is the word for the kind of component, such as "allocator".
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

/// Collects the descriptions of registry entries.
pub fn abouts<E: Named>(entries: &[&'static E]) -> Vec<&'static About> {
    entries.iter().map(|entry| entry.about()).collect()
}

/// Returns the registry entry with the name `name` from a list.
///
/// # Panics
/// If no entry has this name. Names are checked when a scenario is read, so an unknown name here is
/// a bug.
pub fn entry<E: Named>(entries: &[&'static E], name: &str) -> &'static E {
    entries.iter().find(|entry| entry.about().name == name).expect("a resolved name is in its list")
}

/// Source of registry entries: this crate alone, or a catalogue with additions.
pub trait EntrySource {
    /// Catalogue entries that are added to those of this crate.
    fn added(&self) -> Added;

    /// Returns the descriptions of a family's entries, in the order of lists and pages.
    fn entries(&self, family: &Family) -> Vec<&'static About> {
        (family.entries)().into_iter().chain(self.added().abouts(family)).collect()
    }
}

/// Source that has only the registry entries of this crate.
pub struct Standard;

impl EntrySource for Standard {
    fn added(&self) -> Added {
        Added::default()
    }
}

impl Family {
    /// Returns the kind and name of a component for error messages, given its entry's name.
    #[must_use]
    pub fn origin(&self, name: &'static str) -> Origin {
        let is_standard = (self.entries)().iter().any(|about| about.name == name);
        Origin { kind: self.kind, name, is_standard }
    }

    /// Returns the description of the entry of this crate that has the given name or alias.
    ///
    /// # Errors
    /// A sentence that names the nearest known name.
    pub fn find(&self, path: &str, name: &str) -> Result<&'static About, Problem> {
        self.find_in(&Standard, path, name)
    }

    /// Variant of [`find`](Family::find) that searches the entries of `lists`.
    pub fn find_in(
        &self,
        lists: &dyn EntrySource,
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
        // A name that is not similar to any known name may be a term from an entry's description.
        let meant = nearest(name, &candidates, spelling::LOOSELY)
            .or_else(|| entries.iter().find(|about| about.speaks_of(name)).map(|about| about.name));
        Err(Problem::new(
            path,
            format!("unknown {} `{name}` ({})", self.kind, suggested(name, meant, &known)),
        ))
    }

    /// Reads a component of a study: a name, or a table with name and parameters.
    ///
    /// Fills in the defaults of omitted parameters. Only entries of this crate can be named.
    ///
    /// # Errors
    /// The first problem found.
    pub fn resolve(&self, path: &str, given: &Value) -> Result<Params, Problem> {
        self.resolve_in(&Standard, path, given)
    }

    /// Variant of [`resolve`](Family::resolve) with the entries of `lists`, such as a catalogue's.
    pub fn resolve_in(
        &self,
        lists: &dyn EntrySource,
        path: &str,
        given: &Value,
    ) -> Result<Params, Problem> {
        // A name inside a table has its own line or command-line option, to which an error must
        // point.
        let at = if given.is_table() { join(path, self.key) } else { path.to_owned() };
        let (name, own) = match given {
            Value::String(name) => (name.as_str(), Table::new()),
            Value::Table(table) => {
                let mut own = table.clone();
                match own.remove(self.key) {
                    Some(Value::String(_)) => {}
                    Some(other) => {
                        let says = format!(
                            "`{}` is {other}, but must be the name of {}",
                            join(path, self.key),
                            with_article(self.kind)
                        );
                        return Err(Problem::new(join(path, self.key), says));
                    }
                    None => {
                        let says = format!(
                            "`{path}` has no `{}`, which says which {} it is",
                            self.key, self.kind
                        );
                        return Err(Problem::new(path, says));
                    }
                }
                (table[self.key].as_str().expect("checked above"), own)
            }
            other => {
                let says = format!(
                    "`{path}` is {other}, but must be the name of {}, or a table with `{}` \
                     and its parameters",
                    with_article(self.kind),
                    self.key
                );
                return Err(Problem::new(path, says));
            }
        };
        let about = self.find_in(lists, &at, name)?;
        let params: Vec<&Param> = about.params.iter().chain(self.common).collect();
        let mut resolved = Table::new();
        resolved.insert(self.key.to_owned(), Value::String(about.name.to_owned()));
        resolved.extend(resolve_in(lists, path, &params, &own, &[self.key])?.table);
        Ok(Params { path: path.to_owned(), table: resolved, key: self.key, added: lists.added() })
    }
}
