//! What a paper claims, with our verdicts.

use meshwork_lab::claims::{Holds, Judgement, Verdict};

use crate::output::{Output, Stop};
use crate::table::wrapped;

/// Cells that are told one by one.
const MOST_CELLS: usize = 3;

/// The width of the column of verdicts.
const VERDICT: usize = 15;

/// Prints each claim with its verdict and the numbers that decide.
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
        for line in wrapped(&reason(judgement), out.width.saturating_sub(VERDICT).max(20), "  ") {
            out.line(&format!("{indent}{line}"))?;
        }
    }
    Ok(())
}

/// In how many scenarios the claim holds, with the numbers of those that decide: where it is not
/// borne out, of those that speak against it.
fn reason(judgement: &Judgement) -> String {
    if let Some(why) = &judgement.why {
        return format!("→ {why}");
    }
    let wanted = match judgement.verdict {
        Verdict::BorneOut => Holds::Yes,
        Verdict::Undecided => Holds::Open,
        Verdict::NotBorneOut | Verdict::NotCheckable => Holds::No,
    };
    let telling = judgement.cells.iter().filter(|cell| cell.holds == wanted);
    let count = telling.clone().count();
    let words: Vec<String> = telling.take(MOST_CELLS).map(Judgement::words).collect();
    let (cells, open) = (judgement.cells.len(), judgement.count(Holds::Open));
    let mut text = format!("→ holds in {} of {cells}", judgement.count(Holds::Yes));
    if open > 0 {
        text += &format!(", open in {open}");
    }
    if judgement.needed < cells as u64 {
        text += &format!(", claimed of {}", judgement.needed);
    }
    if !words.is_empty() {
        text += &format!(": {}", words.join("; "));
    }
    if count > MOST_CELLS {
        text += "; …";
    }
    text
}
