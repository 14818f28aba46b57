//! Why a verdict is what it is, in words.

use super::{Holds, Judgement, Verdict};

/// Cells that are told one by one.
const MAX_CELLS: usize = 3;

impl Judgement {
    /// In how many scenarios the claim holds, with the numbers of those that decide: where it is not
    /// borne out, of those that speak against it. Where it cannot be checked, why.
    #[must_use]
    pub fn reason(&self) -> String {
        if let Some(why) = &self.why {
            return why.clone();
        }
        let wanted = match self.verdict {
            Verdict::BorneOut => Holds::Yes,
            Verdict::Undecided => Holds::Open,
            Verdict::NotBorneOut | Verdict::NotCheckable => Holds::No,
        };
        let telling = self.cells.iter().filter(|cell| cell.holds == wanted);
        let count = telling.clone().count();
        let words: Vec<String> = telling.take(MAX_CELLS).map(Judgement::words).collect();
        let (cells, open) = (self.cells.len(), self.count(Holds::Open));
        let mut text = format!("holds in {} of {cells}", self.count(Holds::Yes));
        if open > 0 {
            text += &format!(", open in {open}");
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
