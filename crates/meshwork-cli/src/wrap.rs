//! Lines of text that fit a terminal.

use crate::number::width;

/// Wraps a text into lines. Each line after the first begins with `before`.
///
/// A word that is longer than a line stays whole.
pub(crate) fn wrapped(text: &str, columns: usize, before: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        let is_empty = line.trim().is_empty();
        if !is_empty && width(line) + 1 + width(word) > columns {
            lines.push(format!("{before}{word}"));
        } else {
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_between_words() {
        assert_eq!(wrapped("aa bb cc dd", 5, ""), ["aa bb", "cc dd"]);
        assert_eq!(wrapped("aa bb cc", 5, "  "), ["aa bb", "  cc"]);
        assert_eq!(wrapped("aaaaaaaa b", 5, ""), ["aaaaaaaa", "b"]);
    }
}
