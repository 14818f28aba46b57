//! Verdicts on the claims of several studies, by paper.

use serde::Serialize;

use super::Section;
use meshwork_lab::findings::claims::ClaimVerdict;
use meshwork_lab::study::papers::PAPERS;

const VERDICTS: [ClaimVerdict; 4] = [
    ClaimVerdict::BorneOut,
    ClaimVerdict::NotBorneOut,
    ClaimVerdict::Undecided,
    ClaimVerdict::NotCheckable,
];

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    pub verdicts: Vec<String>,
    pub papers: Vec<PaperLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PaperLine {
    pub key: String,
    pub authors: String,
    pub title: String,
    pub sections: Vec<usize>,
    pub counts: Vec<usize>,
    /// Claims of the paper, ordered by verdict. Each has its section, its index in the section, and
    /// its verdict.
    pub claims: Vec<(usize, usize, String)>,
}

impl Overview {
    /// Collects verdicts by paper; `None` with a single section, or if no section is about a paper.
    pub(super) fn of(sections: &[Section]) -> Option<Overview> {
        if sections.len() < 2 {
            return None;
        }
        let lines = PAPERS.iter().map(|paper| line(paper.key, sections));
        let papers: Vec<PaperLine> = lines.filter(|line| !line.sections.is_empty()).collect();
        let verdicts = VERDICTS.map(|verdict| verdict.to_string()).to_vec();
        (!papers.is_empty()).then_some(Overview { verdicts, papers })
    }
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
