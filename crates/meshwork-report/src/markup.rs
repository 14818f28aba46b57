//! Helpers for HTML that several modules use: embedded JSON, sentences and lists.

use maud::{Markup, PreEscaped, html};
use serde_json::Value as Json;

use meshwork_lab::text::visible::visible_json;

/// JSON escaped for embedding in `<script>`, with control characters made visible.
pub fn embedded(value: Json) -> PreEscaped<String> {
    PreEscaped(visible_json(value).to_string().replace('<', "\\u003c"))
}

pub fn sentence(text: &str) -> String {
    let mut text = capitalized(text.trim());
    if !text.is_empty() && !text.ends_with(['.', '?', '!', '…']) {
        text.push('.');
    }
    text
}

pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Shows parts of a text in backticks as code.
pub fn coded(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // An unpaired backtick is kept as it is.
    let is_paired = parts.len() % 2 == 1;
    html! {
        @if is_paired {
            @for (number, part) in parts.iter().enumerate() {
                @if number % 2 == 1 { code { (part) } } @else { (part) }
            }
        } @else { (text) }
    }
}

pub(super) fn list(class: &str, lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() { ul class=(class) { @for line in lines { li { (coded(line)) } } } }
    }
}
