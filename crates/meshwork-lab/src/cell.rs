//! Cells of CSV that a spreadsheet would take for a formula.
//!
//! Names of users, queues and jobs are other people's words, and spreadsheets compute what begins
//! with `=`, `+`, `-` or `@`, even where that fetches a page or starts a program. Such a text is
//! written with an apostrophe before it, by which spreadsheets know text; whatever reads tables
//! here takes it away again. Numbers stay what they are.

use std::borrow::Cow;

/// Whether a text begins as a formula does, behind any apostrophes.
fn begins_a_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// The cell for a text: with an apostrophe before what begins as a formula and is no number.
///
/// ```
/// use meshwork_lab::cell::{plain, written};
/// assert_eq!(written("=1+2"), "'=1+2");
/// assert_eq!(written("-1.5"), "-1.5");
/// assert_eq!(written("rack-7"), "rack-7");
/// for text in ["=1+2", "'=1", "''@", "-1.5", "- 1", "'", "o'=", ""] {
///     assert_eq!(plain(&written(text)), text);
/// }
/// ```
#[must_use]
pub fn written(text: &str) -> Cow<'_, str> {
    if begins_a_formula(text) && text.parse::<f64>().is_err() {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text of a cell that was [`written`].
#[must_use]
pub fn plain(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|_| begins_a_formula(cell)).unwrap_or(cell)
}
