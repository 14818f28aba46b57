//! CSV cells that a spreadsheet would evaluate as a formula.
//!
//! Names come from outside, and spreadsheets evaluate text that begins with `=`, `+`, `-`, `@`, a
//! tab or a carriage return. Such a text is written with a leading apostrophe, which the table
//! readers of this crate remove again. Numbers are written unchanged.

use std::borrow::Cow;

/// Whether a text begins like a formula of a spreadsheet, after any leading apostrophes.
fn begins_a_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// Text as the content of a CSV cell: if it begins like a formula, an apostrophe is prepended.
///
/// A text that is a number stays unchanged.
///
/// ```
/// use meshwork_slurm::cell::{plain, written};
/// assert_eq!(written("=1+2"), "'=1+2");
/// assert_eq!(written("-1.5"), "-1.5");
/// assert_eq!(written("rack-7"), "rack-7");
/// for text in ["=1+2", "'=1", "''@", "-1.5", "- 1", "'", "o'=", ""] {
///     assert_eq!(plain(&written(text)), text);
/// }
/// ```
pub fn written(text: &str) -> Cow<'_, str> {
    if begins_a_formula(text) && text.parse::<f64>().is_err() {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the original text of a cell made by [`written`].
pub fn plain(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|_| begins_a_formula(cell)).unwrap_or(cell)
}
