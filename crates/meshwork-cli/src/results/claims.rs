//! Prints the claims of a paper with their verdicts.

use meshwork_lab::findings::claims::Judgement;

use crate::output::{Output, Stop};
use crate::wrap::wrapped;

/// Width in characters of the column with the verdicts.
const VERDICT: usize = 15;

pub(crate) fn print(out: &mut Output, judgements: &[Judgement]) -> Result<(), Stop> {
    let indent = " ".repeat(VERDICT);
    for judgement in judgements {
        let verdict = format!("{:VERDICT$}", judgement.verdict);
        let text = match &judgement.claim.source {
            Some(source) => format!("{} ({source})", judgement.claim.text),
            None => judgement.claim.text.clone(),
        };
        let lines = wrapped(&text, out.width.saturating_sub(VERDICT).max(20), "");
        for (i, line) in lines.iter().enumerate() {
            let before = if i == 0 { &verdict } else { &indent };
            out.line(&format!("{before}{line}"))?;
        }
        for line in wrapped(
            &format!("→ {}", judgement.reason()),
            out.width.saturating_sub(VERDICT).max(20),
            "  ",
        ) {
            out.line(&format!("{indent}{line}"))?;
        }
    }
    Ok(())
}
