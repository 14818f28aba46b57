//! Host lists in the notation of Slurm: `n[0-3,7]`, `rack[1-2]n[01-16]`, `a,b`.

use std::cmp::Ordering;
use std::fmt::Write;

/// Largest number of names in one part of a host list, and of numbers in one range, as in Slurm.
pub const MOST: usize = 65_536;

/// Expands a host list to its names, in list order.
///
/// Names are separated by commas or blanks. Brackets contain numbers and ranges of numbers, whose
/// leading zeros are kept. With several brackets, the last one varies fastest.
///
/// ```
/// use meshwork::job::hostlist::names;
/// assert_eq!(names("n[08-10],x").unwrap(), ["n08", "n09", "n10", "x"]);
/// assert_eq!(names("r[1-2]n[0,3]-ib").unwrap(), ["r1n0-ib", "r1n3-ib", "r2n0-ib", "r2n3-ib"]);
/// assert!(names("n[0-3").unwrap_err().contains("is not closed"));
/// ```
///
/// # Errors
/// If a bracket is not closed, a range runs backwards or holds no number, or one of the parts has
/// more than [`MOST`] names. The error is one sentence.
pub fn names(list: &str) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for item in parts(list)? {
        expand(item, list, &mut all)?;
    }
    Ok(all)
}

/// Splits a list at the commas and blanks outside of brackets.
///
/// # Errors
/// If a bracket is not closed, not opened, or inside another one. The error is one sentence.
pub fn parts(list: &str) -> Result<Vec<&str>, String> {
    let mut items = Vec::new();
    let (mut start, mut is_open) = (0, false);
    for (at, letter) in list.char_indices() {
        match letter {
            '[' if is_open => {
                return Err(format!("the list `{list}` opens a bracket in a bracket"));
            }
            '[' => is_open = true,
            ']' if !is_open => {
                return Err(format!("the list `{list}` closes a bracket that it has not opened"));
            }
            ']' => is_open = false,
            ',' | ' ' | '\t' | '\n' if !is_open => {
                items.push(&list[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    if is_open {
        return Err(format!("the list `{list}` has a bracket that is not closed"));
    }
    items.push(&list[start..]);
    items.retain(|item| !item.is_empty());
    Ok(items)
}

fn expand(item: &str, list: &str, all: &mut Vec<String>) -> Result<(), String> {
    let mut names = vec![String::new()];
    let mut rest = item;
    while let Some((before, after)) = rest.split_once('[') {
        let (inside, after) = after.split_once(']').unwrap_or((after, ""));
        let numbers = numbers(inside, list)?;
        if names.len().saturating_mul(numbers.len()) > MOST {
            return Err(format!("the list `{list}` stands for more than {MOST} names"));
        }
        names = names
            .iter()
            .flat_map(|name| numbers.iter().map(move |number| format!("{name}{before}{number}")))
            .collect();
        rest = after;
    }
    names.iter_mut().for_each(|name| name.push_str(rest));
    all.append(&mut names);
    Ok(())
}

fn numbers(inside: &str, list: &str) -> Result<Vec<String>, String> {
    let mut numbers = Vec::new();
    for part in inside.split(',') {
        let wrong = || format!("`{part}` in the list `{list}` is no range of numbers, as in 0-7");
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit());
            text.parse::<u64>().ok().filter(|_| digits)
        };
        let (from, to) = number(first).zip(number(last)).ok_or_else(wrong)?;
        if from > to {
            return Err(format!("`{part}` in the list `{list}` runs backwards"));
        }
        if to - from >= MOST as u64 || numbers.len() + (to - from) as usize >= MOST {
            return Err(format!("`{part}` in the list `{list}` stands for more than {MOST} names"));
        }
        let width = first.len();
        numbers.extend((from..=to).map(|number| format!("{number:0width$}")));
    }
    Ok(numbers)
}

/// Formats names as a host list as Slurm does: sorted, with ranges. A single name has no brackets.
///
/// ```
/// use meshwork::job::hostlist::compressed;
/// assert_eq!(compressed(["n5", "n1", "n0", "n4"]), "n[0-1,4-5]");
/// assert_eq!(compressed(["n9", "n10"]), "n[9-10]");
/// assert_eq!(compressed(["r1n01", "r1n02", "login"]), "login,r1n[01-02]");
/// assert_eq!(compressed(["n7"]), "n7");
/// ```
///
/// # Complexity
/// **O(n log n)** for *n* names.
pub fn compressed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(&sorted(names), |group| group.len() > 1)
}

/// Formats names as a host list like [`compressed`], but with brackets even for a single number.
///
/// Equal lists have equal texts, and every reader of host lists accepts this form.
///
/// ```
/// use meshwork::job::hostlist::bracketed;
/// assert_eq!(bracketed(["n7"]), "n[7]");
/// assert_eq!(bracketed(["n7", "n8", "login", "x1"]), "login,n[7-8],x[1]");
/// ```
///
/// # Complexity
/// **O(n log n)** for *n* names.
pub fn bracketed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(&sorted(names), |group| !group[0].1.is_empty())
}

/// Formats names as a host list in the given order, without sorting them.
///
/// ```
/// use meshwork::job::hostlist::{in_order, names};
/// let given = ["n2", "n3", "n0", "login", "n1"];
/// assert_eq!(in_order(given), "n[2-3],n0,login,n1");
/// assert_eq!(names(&in_order(given)).unwrap(), given);
/// ```
///
/// # Complexity
/// **O(n)** for *n* names.
pub fn in_order<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let split: Vec<(&str, &str)> = names.into_iter().map(split_number).collect();
    let is_next = |a: &(&str, &str), b: &(&str, &str)| a.0 == b.0 && follows(a.1, b.1);
    let run = |run: &[(&str, &str)]| match run {
        [(prefix, number)] => format!("{prefix}{number}"),
        [(prefix, first), .., (_, last)] => format!("{prefix}[{first}-{last}]"),
        [] => String::new(),
    };
    split.chunk_by(is_next).map(run).collect::<Vec<String>>().join(",")
}

/// Sorts names and removes duplicates. Each name is split into a prefix and a number.
fn sorted<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<(&'a str, &'a str)> {
    let mut split: Vec<(&str, &str)> = names.into_iter().map(split_number).collect();
    split.sort_by(|a, b| natural(a.0, b.0).then_with(|| by_number(a.1, b.1)));
    split.dedup();
    split
}

fn joined(split: &[(&str, &str)], has_brackets: impl Fn(&[(&str, &str)]) -> bool) -> String {
    let mut text = String::new();
    for group in split.chunk_by(|a, b| a.0 == b.0 && !a.1.is_empty() && !b.1.is_empty()) {
        let brackets = if has_brackets(group) { ("[", "]") } else { ("", "") };
        text.push_str(if text.is_empty() { "" } else { "," });
        text.push_str(group[0].0);
        text.push_str(brackets.0);
        for (i, range) in group.chunk_by(|a, b| follows(a.1, b.1)).enumerate() {
            text.push_str(if i == 0 { "" } else { "," });
            text.push_str(range[0].1);
            if let Some(last) = range[1..].last() {
                let _ = write!(text, "-{}", last.1);
            }
        }
        text.push_str(brackets.1);
    }
    text
}

fn split_number(name: &str) -> (&str, &str) {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    // Slurm does not treat longer strings of digits as numbers either.
    if digits > 18 { (name, "") } else { name.split_at(name.len() - digits) }
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

fn by_number(a: &str, b: &str) -> Ordering {
    number(a).cmp(&number(b)).then(a.len().cmp(&b.len()))
}

/// Whether `b` is the number directly after `a`, such as `10` after `09`.
///
/// `b` must be padded with zeros to the width of `a`.
fn follows(a: &str, b: &str) -> bool {
    if a.is_empty() || b.is_empty() {
        return false;
    }
    let next = number(a) + 1;
    next == number(b) && b == format!("{next:0width$}", width = a.len())
}

/// Natural order of names: digit sequences are compared as numbers.
fn natural(a: &str, b: &str) -> Ordering {
    fn pieces(text: &str) -> Vec<(bool, &str)> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.bytes().next() {
            let is_number = first.is_ascii_digit();
            let end = rest.bytes().position(|letter| letter.is_ascii_digit() != is_number);
            let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
            pieces.push((is_number, piece));
            rest = after;
        }
        pieces
    }
    let (own, other) = (pieces(a), pieces(b));
    for (a, b) in own.iter().zip(&other) {
        let order = match (a, b) {
            ((true, a), (true, b)) => by_number(a, b),
            ((_, a), (_, b)) => a.cmp(b),
        };
        if order.is_ne() {
            return order;
        }
    }
    own.len().cmp(&other.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_wrong_with_a_list_is_said() {
        for (list, says) in [
            ("n[0-3", "is not closed"),
            ("n0-3]", "closes a bracket"),
            ("n[0-[3]]", "in a bracket"),
            ("n[3-0]", "runs backwards"),
            ("n[a-b]", "no range of numbers"),
            ("n[]", "no range of numbers"),
            ("n[0-65536]", "more than 65536"),
            ("n[0-999]m[0-999]", "more than 65536"),
            ("n[0-99999999999999999999]", "no range of numbers"),
        ] {
            let sentence = names(list).unwrap_err();
            assert!(sentence.contains(says) && sentence.contains(list), "{sentence}");
        }
        assert_eq!(names("").unwrap(), Vec::<String>::new());
        assert_eq!(names("a, b\tc").unwrap(), ["a", "b", "c"]);
    }

    #[test]
    fn a_width_is_kept() {
        assert_eq!(compressed(["n1", "n01", "n001"]), "n[1,01,001]");
        assert_eq!(compressed(["n099", "n100", "n101"]), "n[099-101]");
        assert_eq!(compressed(["r10n1", "r9n1"]), "r9n1,r10n1");
        assert_eq!(compressed(["a1-ib", "a2-ib"]), "a1-ib,a2-ib");
    }

    proptest! {
        #[test]
        fn a_short_list_stands_for_the_same_names(
            picks in prop::collection::btree_set((0_usize..3, 0_u32..40), 0..30),
        ) {
            let name = |(prefix, number): &(usize, u32)| {
                format!("{}{number:02}", ["n", "rack1node", "x"][*prefix])
            };
            let all: Vec<String> = picks.iter().map(name).collect();
            let mut back = names(&compressed(all.iter().map(String::as_str))).unwrap();
            back.sort();
            let in_brackets = bracketed(all.iter().map(String::as_str));
            let mut again = names(&in_brackets).unwrap();
            again.sort();
            let mut turned = all.clone();
            turned.reverse();
            prop_assert_eq!(&names(&in_order(turned.iter().map(String::as_str))).unwrap(), &turned);
            let mut all = all;
            all.sort();
            prop_assert_eq!(&again, &all);
            prop_assert_eq!(back, all);
        }
    }
}
