//! Verdicts on the claims of several studies, by paper.

use serde::Serialize;

use super::Section;
use crate::findings::claims::ClaimVerdict;
use crate::study::papers::PAPERS;

/// Verdicts in column order, for the table of verdicts by paper.
const VERDICTS: [ClaimVerdict; 4] = [
    ClaimVerdict::BorneOut,
    ClaimVerdict::NotBorneOut,
    ClaimVerdict::Undecided,
    ClaimVerdict::NotCheckable,
];

/// Table of verdicts by paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    /// Names of the table's columns, which are the verdicts.
    pub verdicts: Vec<String>,
    /// One row for each paper that a section of the report is about.
    pub papers: Vec<PaperLine>,
}

/// Verdicts on the claims of a paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PaperLine {
    /// Key of the paper on the command line.
    pub key: String,
    pub authors: String,
    pub title: String,
    /// Indices of the report's sections about the paper.
    pub sections: Vec<usize>,
    /// For each verdict, in the column order of the table, the number of claims of this paper.
    pub counts: Vec<usize>,
    /// All claims of the paper, ordered by verdict. Each is given by the index of its section, the
    /// index of the claim in this section, and its verdict.
    pub claims: Vec<(usize, usize, String)>,
}

impl Overview {
    /// Collects the verdicts of a page's sections by paper.
    ///
    /// `None` if there is a single section, or if no section is about a paper.
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
    let count = |verdict: &ClaimVerdict| {
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
