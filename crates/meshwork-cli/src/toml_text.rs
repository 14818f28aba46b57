//! Writes a study as TOML text in which every string is on one line and visible.
//!
//! The writer of the `toml` library spreads strings with a line break over several lines, and does
//! not escape characters that change the direction of writing. Here such characters and line breaks
//! are escaped as in TOML, so that the output can be read again.

use std::fmt::Write;

use meshwork_lab::text::visible::visible;
use toml::{Table, Value};

/// TOML text of a table: first its plain values, then its subtables below their headings.
pub(crate) fn document(table: &Table) -> String {
    let mut out = String::new();
    write_table(&mut out, "", table);
    out
}

fn write_table(out: &mut String, path: &str, table: &Table) {
    for (key, value) in table.iter().filter(|(_, value)| !has_heading(value)) {
        let _ = writeln!(out, "{} = {}", quoted(key), inline(value));
    }
    for (key, value) in table {
        let own = if path.is_empty() { quoted(key) } else { format!("{path}.{}", quoted(key)) };
        match value {
            Value::Table(inner) => {
                // A table needs no heading if all its values have headings themselves, unless it is
                // empty.
                if inner.is_empty() || inner.values().any(|value| !has_heading(value)) {
                    write_heading(out, &format!("[{own}]"));
                }
                write_table(out, &own, inner);
            }
            Value::Array(list) if has_heading(value) => {
                for inner in list.iter().filter_map(Value::as_table) {
                    write_heading(out, &format!("[[{own}]]"));
                    write_table(out, &own, inner);
                }
            }
            _ => {}
        }
    }
}

fn write_heading(out: &mut String, heading: &str) {
    let blank = if out.is_empty() { "" } else { "\n" };
    let _ = writeln!(out, "{blank}{heading}");
}

/// Whether a TOML value is written below a heading: a table, or a list of tables.
fn has_heading(value: &Value) -> bool {
    match value {
        Value::Table(_) => true,
        Value::Array(list) => !list.is_empty() && list.iter().all(Value::is_table),
        _ => false,
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) if !is_plain(text) => escaped(text),
        Value::Array(list) => {
            let values: Vec<String> = list.iter().map(inline).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Table(table) => {
            let pair =
                |(key, value): (&String, &Value)| format!("{} = {}", quoted(key), inline(value));
            let pairs: Vec<String> = table.iter().map(pair).collect();
            if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
        }
        plain => plain.to_string(),
    }
}

fn quoted(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(is_bare) { key.to_owned() } else { escaped(key) }
}

fn is_plain(text: &str) -> bool {
    visible(text) == text
}

fn escaped(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_plain(c.encode_utf8(&mut [0; 4])) => out.push(c),
            c if u32::from(c) <= 0xffff => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => {
                let _ = write!(out, "\\U{:08x}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_seen_is_written_as_the_library_writes_it() {
        for text in [
            "name = 'a'\nprecision = 0.1\nreplications = 3\n",
            "name = \"it's \\\"so\\\"\"\n[machine]\ntopology = 'mesh'\ndims = [4, 4]\n\
             [machine.allocator]\nname = 'x'\n",
            "[[machine.sites]]\nspeed = 1.0\n[machine.sites.allocator]\nname = 'x'\n\
             [[machine.sites]]\nspeed = 2.0\n",
            "[measure]\nmetrics = ['wait', 'speed']\nusers = []\ntime = inf\n",
            "[a.b.c]\nd = 1\n",
            "mixed = [1, { a = 'b' }, []]\n",
            "[\"c.d\"]\ne = 1979-05-27T07:32:00Z\n",
        ] {
            let table: Table = text.parse().unwrap();
            assert_eq!(document(&table), toml::to_string(&table).unwrap(), "{text}");
        }
    }

    #[test]
    fn every_text_stands_on_one_line_and_is_read_again_as_it_was() {
        for text in ["a\nb", "\u{1b}[31mred", "\u{202e}fws", "\u{e0041}\u{7f}\t\"\\", "'\n\""] {
            let mut given = Table::new();
            given.insert("name".to_owned(), text.into());
            given.insert("list".to_owned(), Value::Array(vec![text.into()]));
            let inner = Table::from_iter([("k".to_owned(), text.into())]);
            given.insert(text.to_owned(), Value::Table(inner));
            let written = document(&given);
            assert_eq!(written.lines().count(), 5, "{written}");
            assert!(written.split('\n').all(is_plain), "{written:?}");
            assert_eq!(written.parse::<Table>().unwrap(), given);
        }
    }
}
