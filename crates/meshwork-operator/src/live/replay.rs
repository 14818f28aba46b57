//! Repeats the decisions in the log of a shadow (an observer) or an agent, and compares them.

use serde_json::Value as Json;

use super::policy::LivePolicy;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogReplay {
    pub decisions: usize,
    /// Numbers of the lines whose repeated decision differs from the recorded one.
    pub different: Vec<usize>,
    /// Whether the last line is incomplete because the process that wrote it was killed.
    pub is_cut: bool,
}

/// Repeats every decision in a log. The line of a decision holds the state for which it was made.
pub fn replay(policy: &LivePolicy, text: &str) -> Result<LogReplay, String> {
    let mut found = LogReplay::default();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((place, line)) = lines.next() {
        let number = place + 1;
        let mut event: Json = match serde_json::from_str(line) {
            Ok(event) => event,
            Err(_) if lines.peek().is_none() && !text.ends_with('\n') => {
                found.is_cut = true;
                break;
            }
            Err(error) => return Err(format!("line {number}: this is no event ({error})")),
        };
        if !matches!(event["event"].as_str(), Some("decision" | "would" | "start")) {
            continue;
        }
        found.decisions += 1;
        let again = policy.again(event["state"].take());
        if again.map_err(|says| format!("line {number}: {says}"))? != event["plan"] {
            found.different.push(number);
        }
    }
    Ok(found)
}
