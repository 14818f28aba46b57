//! How the claims of several studies fare, paper by paper.

use serde::Serialize;

use super::Section;
use crate::findings::claims::Verdict;
use crate::study::papers::PAPERS;

/// The verdicts, in the order of the columns.
const VERDICTS: [Verdict; 4] =
    [Verdict::BorneOut, Verdict::NotBorneOut, Verdict::Undecided, Verdict::NotCheckable];

/// A table of verdicts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    /// The names of the columns.
    pub verdicts: Vec<String>,
    /// One for each paper that a section is about.
    pub papers: Vec<PaperLine>,
}

/// One paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PaperLine {
    /// What the command line calls it; empty for studies of no paper.
    pub key: String,
    /// Who wrote it.
    pub authors: String,
    /// Its title.
    pub title: String,
    /// The indices of its sections.
    pub sections: Vec<usize>,
    /// How many claims have each verdict.
    pub counts: Vec<usize>,
    /// Every claim, in the order of the columns: its section, the claim's index in it, and its verdict.
    pub claims: Vec<(usize, usize, String)>,
}

impl Overview {
    /// None where there is one section, or none of a paper.
    pub(super) fn of(sections: &[Section]) -> Option<Overview> {
        if sections.len() < 2 {
            return None;
        }
        let papers: Vec<PaperLine> =
            PAPERS.iter().map(|paper| line(paper.key, sections)).filter(has_sections).collect();
        let overview = Overview { verdicts: VERDICTS.map(|v| v.to_string()).to_vec(), papers };
        (!overview.papers.is_empty()).then_some(overview)
    }
}

fn has_sections(line: &PaperLine) -> bool {
    !line.sections.is_empty()
}

fn line(key: &str, sections: &[Section]) -> PaperLine {
    let paper = PAPERS.iter().find(|paper| paper.key == key);
    let own: Vec<usize> =
        (0..sections.len()).filter(|&i| sections[i].paper.as_deref() == Some(key)).collect();
    let claims = || {
        own.iter().flat_map(|&i| sections[i].claims.iter().enumerate().map(move |(j, c)| (i, j, c)))
    };
    let count = |verdict: &Verdict| {
        let name = verdict.to_string();
        claims().filter(|(_, _, claim)| claim.verdict == name).count()
    };
    let mut all: Vec<(usize, usize, String)> =
        claims().map(|(i, j, claim)| (i, j, claim.verdict.clone())).collect();
    all.sort_by_key(|(.., own)| VERDICTS.iter().position(|other| other.to_string() == *own));
    PaperLine {
        key: key.to_owned(),
        authors: paper.map_or("", |paper| paper.authors).to_owned(),
        title: paper.map_or("", |paper| paper.title).to_owned(),
        counts: VERDICTS.iter().map(count).collect(),
        claims: all,
        sections: own,
    }
}
