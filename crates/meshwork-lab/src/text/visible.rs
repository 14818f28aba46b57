//! Makes untrusted text safe to show.
//!
//! A name, a key or the header of a log may hold control characters, which a terminal obeys, and
//! bidirectional marks. All shown text is escaped at the output: by the command for the terminal,
//! by this crate for pages and tables. Stored text is unchanged.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::Value as Json;

/// Escapes a one-line text: invisible control characters become escapes of TOML and JSON.
///
/// ```
/// use meshwork_lab::text::visible::visible;
/// assert_eq!(visible("a wide machine"), "a wide machine");
/// assert_eq!(visible("red \u{1b}[31m\n"), "red \\u001b[31m\\n");
/// assert_eq!(visible("\u{202e}fws.gol"), "\\u202efws.gol");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed)
}

/// Escapes a text of several lines as [`visible`] does, except for line breaks and tabs.
pub fn visible_text(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_obeyed(c) && !matches!(c, '\n' | '\t'))
}

/// Escapes every text in a JSON value, including keys, for showing it in a page.
pub fn visible_json(value: Json) -> Json {
    match value {
        Json::String(text) => match visible_text(&text) {
            Cow::Borrowed(_) => Json::String(text),
            Cow::Owned(text) => Json::String(text),
        },
        Json::Array(list) => Json::Array(list.into_iter().map(visible_json).collect()),
        Json::Object(fields) => {
            let fields = fields.into_iter();
            Json::Object(
                fields
                    .map(|(key, value)| (visible(&key).into_owned(), visible_json(value)))
                    .collect(),
            )
        }
        other => other,
    }
}

/// Whether a character is not shown but obeyed: a control, a direction mark, a zero width or a tag.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

fn escaped(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&is_hidden) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        match c {
            c if !is_hidden(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_can_be_seen_stays_and_is_not_copied() {
        for text in ["", "8 × 8 mesh, ± 3", "Größe ─ 数 👩‍💻", "C:\\new"] {
            assert!(matches!(visible(text), Cow::Borrowed(_)), "{text}");
        }
        assert!(matches!(visible_text("a\n\tb"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_obeyed_is_written_out() {
        for (text, shown) in [
            ("a\tb\r\n", "a\\tb\\r\\n"),
            ("\u{7f}\u{9b}1m\0", "\\u007f\\u009b1m\\u0000"),
            ("\u{2066}x\u{2069}\u{feff}", "\\u2066x\\u2069\\ufeff"),
            ("\u{e0041}", "\\udb40\\udc41"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(visible_text("a\r\n\u{1b}b"), "a\\r\n\\u001bb");
        assert_eq!(
            visible_json(json!({ "k\u{1b}": ["\u{202e}", 1, { "a": "x\ny" }] })),
            json!({ "k\\u001b": ["\\u202e", 1, { "a": "x\ny" }] })
        );
    }

    proptest! {
        #[test]
        fn as_json_it_is_the_same_text_again(text in any::<String>()) {
            let shown = visible(&text);
            prop_assert!(!shown.chars().any(is_obeyed));
            prop_assert_eq!(visible(&shown), shown.as_ref());
            // The escapes are valid in JSON and give back the text.
            let written = serde_json::to_string(&text).unwrap();
            let read: String = serde_json::from_str(&visible(&written)).unwrap();
            prop_assert_eq!(read, text);
        }
    }
}
