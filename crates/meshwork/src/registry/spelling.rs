//! Spelling of names: the most similar name, the article of a noun, and dotted paths.

use std::fmt;

const MOST_NAMES: usize = 10;

/// Formats the suggestion for an unknown word: the most similar known word, and all known words.
///
/// Of more than ten known words only the ten most similar are listed.
///
/// ```
/// use meshwork::registry::did_you_mean;
/// assert_eq!(did_you_mean("nods", &["name", "nodes"]), "did you mean `nodes`? known: name, nodes");
/// assert_eq!(did_you_mean("NODES", &["name", "nodes"]), "did you mean `nodes`? known: name, nodes");
/// assert_eq!(did_you_mean("spacing", &["name", "nodes"]), "known: name, nodes");
/// ```
#[must_use]
pub fn did_you_mean(given: &str, known: &[&str]) -> String {
    suggested(given, similar(given, known), known)
}

/// Returns the known word that is spelled most like an unknown one; `None` if no word is similar.
///
/// ```
/// use meshwork::registry::similar;
/// assert_eq!(similar("nods", &["name", "nodes"]), Some("nodes"));
/// assert_eq!(similar("spacing", &["name", "nodes"]), None);
/// ```
#[must_use]
pub fn similar<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    nearest(given, known, LOOSELY)
}

/// Formats "did you mean …?" with the word `meant`, if any, and the known names.
pub(super) fn suggested(given: &str, meant: Option<&str>, known: &[&str]) -> String {
    let known = listed(given, known);
    match meant {
        Some(name) => format!("did you mean `{name}`? known: {known}"),
        None => format!("known: {known}"),
    }
}

/// Lists known names, or the most similar ones and the number of the others if there are too many.
pub(crate) fn listed(given: &str, known: &[&str]) -> String {
    if known.len() <= MOST_NAMES {
        return known.join(", ");
    }
    let mut nearest = known.to_vec();
    let likeness = |name: &str| strsim::jaro_winkler(&given.to_lowercase(), &name.to_lowercase());
    nearest.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
    format!("{} and {} more", nearest[..MOST_NAMES].join(", "), known.len() - MOST_NAMES)
}

/// Maximum number of edits between a wrong name and a suggested name of the given length.
pub(super) const LOOSELY: fn(usize) -> usize = |length| 1 + length / 3;

/// The candidate with the fewest edits from `given`. `None` if it has more edits than `most` allows
/// for its length.
pub(crate) fn nearest<'a>(
    given: &str,
    candidates: &[&'a str],
    most: fn(usize) -> usize,
) -> Option<&'a str> {
    // Elsewhere strategies are written in capitals: `FCFS` is `fcfs` here.
    let given = given.to_lowercase();
    candidates
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&given, &name.to_lowercase()), *name))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, name)| {
            // If every letter is another one, the names have nothing in common.
            distance <= most(name.len()) && distance < name.len().max(given.len())
        })
        .map(|(_, name)| name)
}

/// Hint for a text in place of a number: the number that `40%` or `2d` stands for.
///
/// For any other text, the hint is empty.
///
/// ```
/// use meshwork::registry::number_meant;
/// assert_eq!(number_meant("40%"), " (did you mean 0.4?)");
/// assert_eq!(number_meant("2d"), " (in seconds, 2d is 172800)");
/// assert_eq!(number_meant("ten"), "");
/// ```
#[must_use]
pub fn number_meant(text: &str) -> String {
    let Some((number, unit)) = with_unit(text) else { return String::new() };
    let seconds = match unit {
        "%" => return format!(" (did you mean {}?)", number / 100.0),
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        "w" => 604_800.0,
        _ => return String::new(),
    };
    format!(" (in seconds, {text} is {})", number * seconds)
}

/// Hint for a text in place of a whole number: the MiB that `2TiB` or `100 GB` stands for. For any
/// other text, the hint is empty.
///
/// A unit without `i` is read as Slurm reads it, as a power of 1024.
pub(crate) fn memory_meant(text: &str) -> String {
    let Some((number, unit)) = with_unit(text) else { return String::new() };
    let mebibytes = match unit.to_ascii_lowercase().as_str() {
        "m" | "mb" | "mib" => 1.0,
        "g" | "gb" | "gib" => 1_024.0,
        "t" | "tb" | "tib" => 1_048_576.0,
        _ => return String::new(),
    };
    format!(" (in MiB, {text} is {})", number * mebibytes)
}

/// Splits a text such as `2 d` into its number and its unit; `None` if it begins with no number.
fn with_unit(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim()))
}

/// Prefixes a noun with "a" or "an", according to its pronunciation, also if it begins with a
/// number.
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
        // Words with initial "u" are spoken like "you": unit, utilization.
        [] => noun.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']),
        // Spoken "eight", "eighty", "eight hundred"; also "eleven" and "eighteen", with thousands
        // and millions.
        [b'8', ..] => true,
        [b'1', b'1' | b'8', ..] => digits % 3 == 2,
        _ => false,
    };
    format!("{} {noun}", if is_spoken_with_a_vowel { "an" } else { "a" })
}

/// Returns `path.key`, or the key alone at the top level.
#[must_use]
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_in_mebibytes_and_a_duration_is_none() {
        assert_eq!(memory_meant("2TiB"), " (in MiB, 2TiB is 2097152)");
        assert_eq!(memory_meant("100 GB"), " (in MiB, 100 GB is 102400)");
        for text in ["2h", "40%", "ten", "4"] {
            assert_eq!(memory_meant(text), "", "{text}");
        }
    }
}
