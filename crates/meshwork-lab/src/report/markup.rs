//! Pieces of HTML that several parts of a page are made of.

use maud::{Markup, PreEscaped, html};
use serde_json::Value as Json;

use crate::visible::visible_json;

/// JSON that cannot end the element that it stands in, all of whose texts can be seen.
pub(super) fn embedded(value: Json) -> PreEscaped<String> {
    PreEscaped(visible_json(value).to_string().replace('<', "\\u003c"))
}

/// A text with its first letter large and a full stop at its end.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.trim().chars();
    let mut text: String =
        letters.next().map_or_else(String::new, |c| c.to_uppercase().chain(letters).collect());
    if !text.is_empty() && !text.ends_with(['.', '?', '!', '…']) {
        text.push('.');
    }
    text
}

/// A text in which what stands in backticks is a name.
fn coded(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // One that is not closed is a backtick.
    let is_paired = parts.len() % 2 == 1;
    html! {
        @if is_paired {
            @for (number, part) in parts.iter().enumerate() {
                @if number % 2 == 1 { code { (part) } } @else { (part) }
            }
        } @else { (text) }
    }
}

/// Sentences as a list; nothing where there are none.
pub(super) fn list(class: &str, lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() { ul class=(class) { @for line in lines { li { (coded(line)) } } } }
    }
}
