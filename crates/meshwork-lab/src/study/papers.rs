//! Papers whose figures built-in studies reproduce, and the texts of these studies.

use std::path::Path;

use include_dir::{Dir, include_dir};
use meshwork::catalogue::Catalogue;
use meshwork::registry::similar;

use crate::study::{Refused, Study};

static STUDIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/studies");

#[derive(Debug, PartialEq, Eq)]
pub struct Paper {
    pub key: &'static str,
    pub authors: &'static str,
    pub title: &'static str,
}

pub static PAPERS: &[Paper] = &[
    Paper {
        key: "rsr",
        authors: "Chang & Mohapatra",
        title: "An Adaptive Job Allocation Method for Multicomputer Systems",
    },
    Paper {
        key: "wbsm",
        authors: "Zhu & Lin",
        title: "Allocation-Time-Based Processor Allocation Scheme for 2D Mesh Architecture",
    },
    Paper {
        key: "lazy",
        authors: "Mohapatra, Yu, Das & Kim",
        title: "A Lazy Scheduling Scheme for Improving Hypercube Performance",
    },
    Paper {
        key: "intelligent",
        authors: "Shih, Huang & Chung",
        title: "Improving Processor Allocation in Heterogeneous Computing Grid through Considering Both \
                Speed Heterogeneity and Resource Fragmentation",
    },
    Paper {
        key: "noncontiguous",
        authors: "Al-Kerboly",
        title: "The Non-Contiguous Allocation Strategies Performance for k-ary n-cube Connected Multi \
                Computers Using Smallest Job First Scheduling Strategy",
    },
    Paper {
        key: "rfold",
        authors: "Chen et al.",
        title: "Toward Co-adapting Machine Learning Job Shape and Cluster Topology",
    },
];

/// Key of the only paper whose experiment is not defined by a study.
///
/// In this experiment, tasks have no times and never end.
pub const FGD: &str = "fgd";

pub fn paper(key: &str) -> Result<&'static Paper, Refused> {
    PAPERS.iter().find(|paper| paper.key == key).ok_or_else(|| {
        let known: Vec<&str> = PAPERS.iter().map(|paper| paper.key).chain([FGD]).collect();
        let meant = similar(key, &known)
            .map_or_else(String::new, |meant| format!(" (did you mean `{meant}`?)"));
        Refused(format!("unknown paper `{key}`{meant}, but must be one of {}", known.join(", ")))
    })
}

/// File name and text of each built-in study, sorted by name.
pub fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut files: Vec<(&str, &str)> = STUDIES
        .files()
        .filter(|file| file.path().extension().is_some_and(|ending| ending == "toml"))
        .filter_map(|file| Some((file.path().to_str()?, file.contents_utf8()?)))
        .collect();
    files.sort_unstable_by_key(|(name, _)| by_figure(name));
    files.into_iter()
}

/// Sort key of a file name that orders numbers in it numerically, such as 2 before 10.
fn by_figure(name: &str) -> Vec<(u64, String)> {
    name.trim_end_matches(".toml")
        .split(['_', '-'])
        .map(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            (digits.parse().unwrap_or(0), part[digits.len()..].to_owned())
        })
        .collect()
}

/// Studies that reproduce a paper or one of its figures, in the order of the built-in studies.
pub fn studies(
    catalogue: &Catalogue,
    paper: &Paper,
    figure: Option<&str>,
    quick: bool,
    settings: &[String],
) -> Result<Vec<Study>, Refused> {
    let mut found = Vec::new();
    let mut figures: Vec<String> = Vec::new();
    for (name, text) in sources() {
        let study = Study::parse_in(catalogue, name, text, Path::new(""), &[])?;
        if study.paper.as_deref() != Some(paper.key) {
            continue;
        }
        let own: Vec<String> = study.figures().map(str::to_owned).collect();
        let wanted =
            figure.is_none_or(|figure| own.iter().any(|own| own.eq_ignore_ascii_case(figure)));
        for own in own {
            if !figures.contains(&own) {
                figures.push(own);
            }
        }
        if !wanted {
            continue;
        }
        let mut laid = if quick { study.quick.clone() } else { Vec::new() };
        let is_for_it = |setting: &&String| {
            study.obtain.is_some() || !setting.trim_start().starts_with("workload.path")
        };
        laid.extend(settings.iter().filter(is_for_it).cloned());
        found.push(if laid.is_empty() {
            study
        } else {
            Study::parse_in(catalogue, name, text, Path::new(""), &laid)?
        });
    }
    if let (Some(figure), true) = (figure, found.is_empty()) {
        return Err(Refused(format!(
            "`{}` has no figure `{figure}`, but has {}",
            paper.key,
            if figures.is_empty() { "none yet".to_owned() } else { figures.join(", ") }
        )));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::expand::expand;

    #[test]
    fn every_study_belongs_to_a_paper_and_can_be_expanded_whole_and_quick() {
        let mut count = 0;
        for paper in PAPERS {
            for quick in [false, true] {
                for study in studies(&Catalogue::standard(), paper, None, quick, &[]).unwrap() {
                    assert!(study.name.starts_with(paper.key), "{}", study.name);
                    let is_described = study.figure.is_some() && study.description.is_some();
                    assert!(is_described, "{}", study.name);
                    assert!(!study.claims.is_empty(), "{} claims nothing", study.name);
                    assert!(!study.quick.is_empty(), "{} has no quick form", study.name);
                    expand(&study).unwrap_or_else(|refused| panic!("{refused}"));
                    count += 1;
                }
            }
        }
        let is_of_a_paper = |name: &str| PAPERS.iter().any(|paper| name.starts_with(paper.key));
        let named = sources().filter(|(name, _)| is_of_a_paper(name)).count();
        assert_eq!(count, 2 * named, "a study that is called after a paper names it");
        for (name, text) in sources() {
            let study = Study::parse(name, text, Path::new(""), &[]).unwrap();
            expand(&study).unwrap_or_else(|refused| panic!("{refused}"));
        }
    }

    #[test]
    fn a_study_of_two_figures_is_found_by_either() {
        let paper = paper("noncontiguous").unwrap();
        let found = |figure: &str| studies(&Catalogue::standard(), paper, Some(figure), false, &[]);
        let named = |figure: &str| -> Vec<String> {
            found(figure).unwrap().into_iter().map(|study| study.name).collect()
        };
        assert_eq!(named("4"), ["noncontiguous_figures_1_4"]);
        assert_eq!(named("1"), named("4"));
        let has = "`noncontiguous` has no figure `1, 4`, but has 1, 4, 2, 5, 3, 6, parameters, k";
        assert_eq!(found("1, 4").unwrap_err().0, has);
    }

    #[test]
    fn figures_are_in_order_and_unknown_ones_are_refused() {
        assert!(by_figure("rsr_figure_2a.toml") < by_figure("rsr_figure_10.toml"));
        assert_eq!(
            paper("rs").unwrap_err().0,
            "unknown paper `rs` (did you mean `rsr`?), but must be one of rsr, wbsm, lazy, intelligent, noncontiguous, \
             rfold, fgd"
        );
        let refused =
            studies(&Catalogue::standard(), &PAPERS[0], Some("99"), false, &[]).unwrap_err().0;
        assert!(refused.starts_with("`rsr` has no figure `99`, but has "), "{refused}");
    }
}
