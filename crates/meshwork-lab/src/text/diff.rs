//! Differences of two texts, line by line.

/// Number of unchanged lines shown before and after a change.
const CONTEXT: usize = 3;

/// Unified diff of two texts; empty if the texts are equal.
///
/// ```
/// use meshwork_lab::text::diff::difference;
/// assert_eq!(difference("a\nb\n", "a\nc\n", "old", "new"), "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
/// assert_eq!(difference("a\n", "a\n", "old", "new"), "");
/// ```
pub fn difference(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let differences = similar::TextDiff::from_lines(old, new);
    differences
        .unified_diff()
        .context_radius(CONTEXT)
        .missing_newline_hint(false)
        .header(old_name, new_name)
        .to_string()
}
