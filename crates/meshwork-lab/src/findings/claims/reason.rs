//! Explanations of the verdicts on claims.

use crate::text::number::plural;

use super::{CellState, ClaimVerdict, Judgement};

/// Maximum number of cells (combinations of swept values) that an explanation lists one by one.
const MAX_CELLS: usize = 3;

impl Judgement {
    /// Explains a verdict by the number of cells in which the claim holds, and lists decisive
    /// cells.
    pub fn reason(&self) -> String {
        if let Some(why) = &self.why {
            return why.clone();
        }
        let wanted = match self.verdict {
            ClaimVerdict::BorneOut => CellState::Yes,
            ClaimVerdict::Undecided => CellState::Open,
            ClaimVerdict::NotBorneOut | ClaimVerdict::NotCheckable => CellState::No,
        };
        let telling = self.cells.iter().filter(|cell| cell.holds == wanted);
        let count = telling.clone().count();
        let words: Vec<String> = telling.take(MAX_CELLS).map(Judgement::words).collect();
        let (cells, open) = (self.cells.len(), self.count(CellState::Open));
        let scenarios = plural(cells as u64, "scenario");
        let mut text = format!("holds in {} of {scenarios}", self.count(CellState::Yes));
        if open > 0 {
            text += &format!(", undecided in {open}");
        }
        if self.needed < cells as u64 {
            text += &format!(", claimed of {}", self.needed);
        }
        if !words.is_empty() {
            text += &format!(": {}", words.join("; "));
        }
        if count > MAX_CELLS {
            text += "; …";
        }
        text
    }
}
