//! The lines of a `slurm.conf` or a `topology.conf`, as pairs of keys and values.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfLine {
    /// Number of the line, counted from 1. For a continued line, it is the number of its first
    /// line.
    pub number: usize,
    pub pairs: Vec<(String, String)>,
}

impl ConfLine {
    /// Value of a key; `None` if the line does not have the key.
    ///
    /// If the key occurs several times, the last value counts. The case of the key does not matter.
    pub fn get(&self, key: &str) -> Option<&str> {
        let pair = self.pairs.iter().rev().find(|(own, _)| own.eq_ignore_ascii_case(key));
        pair.map(|(_, value)| value.as_str())
    }
}

/// The lines of a file in the format of `slurm.conf`.
///
/// Comments begin with `#`, a backslash at the end continues a line, and values may be quoted. A
/// word without `=` is a key without a value, or the value of a preceding `Include`.
///
/// ```
/// use meshwork_slurm::lines::lines;
/// let lines = lines("# nodes\nNodeName=n[0-3] CPUs=2 \\\n  Comment=\"two of\" # more\n");
/// assert_eq!((lines.len(), lines[0].number), (1, 2));
/// assert_eq!(lines[0].get("comment"), Some("two of"));
/// ```
pub fn lines(text: &str) -> Vec<ConfLine> {
    let mut lines = Vec::new();
    let mut joined: Option<(usize, String)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let (start, mut whole) = joined.take().unwrap_or((number, String::new()));
        let line = without_comment(line).trim_end();
        if let Some(part) = line.strip_suffix('\\') {
            whole.push_str(part);
            whole.push(' ');
            joined = Some((start, whole));
            continue;
        }
        whole.push_str(line);
        lines.push((start, whole));
    }
    lines.extend(joined);
    let line = |(number, text): (usize, String)| ConfLine { number, pairs: pairs(&text) };
    lines.into_iter().map(line).filter(|line| !line.pairs.is_empty()).collect()
}

/// Text of a line up to its comment. A comment begins with `#`, but not with `\#`.
fn without_comment(line: &str) -> &str {
    let mut before = ' ';
    for (at, letter) in line.char_indices() {
        if letter == '#' && before != '\\' {
            return &line[..at];
        }
        before = letter;
    }
    line
}

fn pairs(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|letter: char| letter == '=' || letter.is_whitespace());
        let (key, after) = rest.split_at(end.unwrap_or(rest.len()));
        let Some(value) = after.trim_start().strip_prefix('=') else {
            match pairs.last_mut() {
                Some((_, value)) if value.is_empty() => *value = key.to_owned(),
                _ => pairs.push((key.to_owned(), String::new())),
            }
            rest = after.trim_start();
            continue;
        };
        let value = value.trim_start();
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
        };
        pairs.push((key.to_owned(), value.to_owned()));
        rest = after.trim_start();
    }
    pairs
}

/// Rows of a table of `sacctmgr show … -P`, by column.
pub fn parsable_rows(text: &str) -> impl Iterator<Item = BTreeMap<&str, &str>> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('|').collect();
    lines.map(move |line| header.iter().copied().zip(line.split('|')).collect())
}
