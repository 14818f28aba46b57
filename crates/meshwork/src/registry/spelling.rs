//! How names are spelt and spoken: the nearest one, the article before one, the path to one.

use std::fmt;

/// The most names that an error lists.
const MOST_NAMES: usize = 10;

/// The suggestion for an unknown word: the nearest of the known ones, and all of them.
///
/// Of more than ten, the ten nearest are named.
///
/// ```
/// use meshwork::registry::did_you_mean;
/// assert_eq!(did_you_mean("nods", &["name", "nodes"]), "did you mean `nodes`? known: name, nodes");
/// assert_eq!(did_you_mean("NODES", &["name", "nodes"]), "did you mean `nodes`? known: name, nodes");
/// assert_eq!(did_you_mean("spacing", &["name", "nodes"]), "known: name, nodes");
/// ```
#[must_use]
pub fn did_you_mean(given: &str, known: &[&str]) -> String {
    suggested(given, nearest(given, known, LOOSELY), known)
}

/// "did you mean …?" and the known names; only the names where nothing is near.
pub(super) fn suggested(given: &str, meant: Option<&str>, known: &[&str]) -> String {
    let known = listed(given, known);
    match meant {
        Some(name) => format!("did you mean `{name}`? known: {known}"),
        None => format!("known: {known}"),
    }
}

/// Names in their order; of many, those that begin most alike, with a count of the others.
pub(crate) fn listed(given: &str, known: &[&str]) -> String {
    if known.len() <= MOST_NAMES {
        return known.join(", ");
    }
    let mut nearest = known.to_vec();
    let likeness = |name: &str| strsim::jaro_winkler(&given.to_lowercase(), &name.to_lowercase());
    nearest.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
    format!("{} and {} more", nearest[..MOST_NAMES].join(", "), known.len() - MOST_NAMES)
}

/// In how many letters a name of this length may differ from what is suggested for it.
pub(super) const LOOSELY: fn(usize) -> usize = |length| 1 + length / 3;

/// The candidate that differs least in spelling, if not by more than one of its length may.
pub(crate) fn nearest<'a>(
    given: &str,
    candidates: &[&'a str],
    most: fn(usize) -> usize,
) -> Option<&'a str> {
    // Strategies are written in capitals elsewhere: `FCFS` is `fcfs`.
    let given = given.to_lowercase();
    candidates
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&given, &name.to_lowercase()), *name))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, name)| distance <= most(name.len()))
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
