//! Parameters of a registry entry: values read from a study, with which a component is built.

use toml::{Table, Value};

use super::{Added, EntrySource, Family, ListedEntry, Problem, Words, join};

/// Returns the name of a component from an item that is a name or a table with parameters.
#[must_use]
pub fn name_of(item: &Value) -> Option<&str> {
    item.as_str().or_else(|| item.get("name")?.as_str())
}

/// Parameters of a registry entry with their values, all within their bounds.
///
/// Accessors panic if a parameter is not declared or is of another kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    pub(super) path: String,
    pub(super) table: Table,
    pub(super) key: &'static str,
    pub(super) added: Added,
}

impl Params {
    pub(crate) fn of_resolved(
        lists: &dyn EntrySource,
        path: &str,
        table: Table,
        key: &'static str,
    ) -> Params {
        Params { path: path.to_owned(), table, key, added: lists.added() }
    }

    /// Parameters of a nested table or component, which may name entries of the same catalogue.
    fn part(&self, path: String, table: Table, key: &'static str) -> Params {
        Params { path, table, key, added: self.added.clone() }
    }

    /// Returns the component's registry entry, which a catalogue may have added.
    #[must_use]
    pub fn entry<E: ListedEntry>(&self) -> &'static E {
        self.added.entry(self.name())
    }

    /// Dotted path of the table in the study from which the parameters were read.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Table of the parameters, with every default filled in.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Name of the component that has the parameters; never an alias.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text(self.key)
    }

    /// Creates a problem located at the parameter `key`.
    #[must_use]
    pub fn problem(&self, key: &str, message: impl Into<String>) -> Problem {
        Problem::new(join(&self.path, key), message)
    }

    /// Creates a problem located at the parameter `key`, whose sentence begins with the key's path.
    ///
    /// `says` is the rest of the sentence, such as `is 3, but must be even`.
    pub(crate) fn refusal(&self, key: &str, says: impl std::fmt::Display) -> Problem {
        self.problem(key, format!("`{}` {says}", join(&self.path, key)))
    }

    /// Whether the optional parameter `key` was given.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Returns the number given for the parameter `key`.
    #[must_use]
    pub fn number(&self, key: &str) -> f64 {
        self.get_number(key).unwrap_or_else(|| panic!("no number `{key}` is declared"))
    }

    /// Returns the number given for the parameter `key`; `None` if it was omitted.
    #[must_use]
    pub fn get_number(&self, key: &str) -> Option<f64> {
        self.table.get(key).and_then(Value::as_float)
    }

    /// Returns the integer given for the parameter `key`.
    #[must_use]
    pub fn integer(&self, key: &str) -> u64 {
        self.get_integer(key).unwrap_or_else(|| panic!("no whole number `{key}` is declared"))
    }

    /// Returns the integer given for the parameter `key`; `None` if it was omitted.
    #[must_use]
    pub fn get_integer(&self, key: &str) -> Option<u64> {
        self.table.get(key).and_then(Value::as_integer).map(|n| n as u64)
    }

    /// Returns the boolean given for the parameter `key`.
    #[must_use]
    pub fn flag(&self, key: &str) -> bool {
        self.table
            .get(key)
            .and_then(Value::as_bool)
            .unwrap_or_else(|| panic!("no flag `{key}` is declared"))
    }

    /// Returns the word or text given for the parameter `key`.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.get_text(key).unwrap_or_else(|| panic!("no text `{key}` is declared"))
    }

    /// Returns the word or text given for the parameter `key`; `None` if it was omitted.
    #[must_use]
    pub fn get_text(&self, key: &str) -> Option<&str> {
        self.table.get(key).and_then(Value::as_str)
    }

    /// Returns the value that a list of words assigns to the word given for the parameter `key`.
    #[must_use]
    pub fn meaning<T: Clone, const N: usize>(&self, key: &str, words: &Words<T, N>) -> T {
        self.get_meaning(key, words).unwrap_or_else(|| panic!("no such word `{key}` is declared"))
    }

    /// Returns the meaning that `words` assigns to the value of the parameter `key`.
    ///
    /// `None` if the parameter was omitted, or if its value is none of the words.
    #[must_use]
    pub fn get_meaning<T: Clone, const N: usize>(
        &self,
        key: &str,
        words: &Words<T, N>,
    ) -> Option<T> {
        self.get_text(key).and_then(|word| words.meaning(word)).cloned()
    }

    /// Returns the list of integers given for the parameter `key`; `None` if it was omitted.
    #[must_use]
    pub fn get_integers(&self, key: &str) -> Option<Vec<u32>> {
        let list = self.table.get(key)?.as_array()?;
        Some(list.iter().filter_map(Value::as_integer).map(|n| n as u32).collect())
    }

    /// Returns the list of integers given for the parameter `key`.
    #[must_use]
    pub fn integers(&self, key: &str) -> Vec<u32> {
        self.get_integers(key).unwrap_or_else(|| panic!("no list `{key}` is declared"))
    }

    /// Returns the list of booleans given for the parameter `key`; `None` if it was omitted.
    #[must_use]
    pub fn get_flags(&self, key: &str) -> Option<Vec<bool>> {
        let list = self.table.get(key)?.as_array()?;
        Some(list.iter().filter_map(Value::as_bool).collect())
    }

    /// Returns the list of numbers given for the parameter `key`.
    #[must_use]
    pub fn numbers(&self, key: &str) -> Vec<f64> {
        let list = self.table.get(key).and_then(Value::as_array);
        let list = list.unwrap_or_else(|| panic!("no list `{key}` is declared"));
        list.iter().filter_map(Value::as_float).collect()
    }

    /// Returns the list of texts given for the parameter `key`; `None` if it was omitted.
    #[must_use]
    pub fn get_texts(&self, key: &str) -> Option<Vec<&str>> {
        self.get_names(key)
    }

    /// Returns the list of names given for the parameter `key`; `None` if it was omitted.
    #[must_use]
    pub fn get_names(&self, key: &str) -> Option<Vec<&str>> {
        let list = self.table.get(key)?.as_array()?;
        Some(list.iter().filter_map(name_of).collect())
    }

    /// Returns the parameters in the table given for the parameter `key`.
    #[must_use]
    pub fn nested(&self, key: &str) -> Params {
        let table = self.table.get(key).and_then(Value::as_table);
        let table = table.unwrap_or_else(|| panic!("no table `{key}` is declared")).clone();
        self.part(join(&self.path, key), table, "")
    }

    /// Returns the parameters of each table in the list `key`; `None` if the list was omitted.
    #[must_use]
    pub fn get_tables(&self, key: &str) -> Option<Vec<Params>> {
        self.parts(key, "")
    }

    fn parts(&self, key: &str, name_key: &'static str) -> Option<Vec<Params>> {
        let list = self.table.get(key)?.as_array()?;
        let path = join(&self.path, key);
        let tables = list.iter().enumerate().filter_map(|(i, item)| {
            let table = item.as_table()?.clone();
            Some(self.part(format!("{path}[{i}]"), table, name_key))
        });
        Some(tables.collect())
    }

    /// Returns the parameters of the component named by the parameter `key`; `None` if omitted.
    #[must_use]
    pub fn get_component(&self, key: &str, family: &'static Family) -> Option<Params> {
        let table = self.table.get(key)?.as_table()?.clone();
        Some(self.part(join(&self.path, key), table, family.key))
    }

    /// Returns the parameters of the component named by the parameter `key`.
    #[must_use]
    pub fn component(&self, key: &str, family: &'static Family) -> Params {
        self.get_component(key, family)
            .unwrap_or_else(|| panic!("no component `{key}` is declared"))
    }

    /// Returns the parameters of each component in the list `key`; `None` if the list was omitted.
    #[must_use]
    pub fn get_components(&self, key: &str, family: &'static Family) -> Option<Vec<Params>> {
        self.parts(key, family.key)
    }
}
