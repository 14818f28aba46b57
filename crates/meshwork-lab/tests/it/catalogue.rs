//! Tests that code uses the catalogue it is given, and not the standard one.
//!
//! The sources of the crates above the model are scanned. Only a few files may name
//! the standard catalogue or its lists, so that additions are known everywhere.

use std::fs;
use std::path::{Path, PathBuf};

/// Function calls that read the standard catalogue, and so would miss added entries.
const STANDARD: [&str; 18] = [
    "Catalogue::standard",
    "catalogue()",
    "Scenario::read(",
    "Scenario::builder(",
    "Pool::read(",
    "Pool::memory(",
    "Pool::builder(",
    "Study::read(",
    "Study::parse(",
    "Report::read(",
    "Report::with_maps(",
    "ALLOCATORS",
    "SCHEDULERS",
    "SIZINGS",
    "SELECTORS",
    "NETWORKS",
    "WORKLOADS",
    "METRICS",
];

/// Calls that search only the standard entries of a family, and so would miss added entries.
const OF_FAMILY: [&str; 3] = ["FAMILY.find(", "FAMILY.resolve(", ".entries)("];

/// Source files that may use the standard catalogue, each with the reason why.
const MAY: [(&str, &str); 8] = [
    ("meshwork-lab/src/standard.rs", "what is meant where nobody gives a catalogue"),
    ("meshwork-report/src/standard.rs", "likewise"),
    ("meshwork-lab/src/trace/fit/mod.rs", "what is fitted to a log is a standard workload"),
    ("meshwork-lab/src/trace/generate.rs", "a log is made by a standard workload"),
    (
        "meshwork-operator/src/controller/replay.rs",
        "the clock of a replay, whose machine and scheduler are those of the site",
    ),
    ("meshwork-cli/src/main.rs", "the command without additions"),
    (
        "meshwork-cli/src/command/manual/mod.rs",
        "words of a family that has no pages and is in no catalogue",
    ),
    (
        "meshwork-cli/src/command/manual/example.rs",
        "the first of a family, which is a standard one",
    ),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && !path.ends_with("tests.rs")
        {
            found.push(path);
        }
    }
}

fn code(text: &str) -> String {
    let begin = |of: &str| text.find(&format!("\n#[cfg(test)]\n{of}mod tests"));
    let end = ["", "pub(super) "].into_iter().filter_map(begin).min();
    let code = &text[..end.unwrap_or(text.len())];
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Text before `FAMILY` in the names of families to which no entry can be added.
const CLOSED: [&str; 2] = ["traffic::", "KIND_"];

fn offences(code: &str) -> Vec<&'static str> {
    let is_word = |at: usize| {
        let before = code[..at].chars().next_back().unwrap_or(' ');
        !before.is_alphanumeric() && before != '_'
    };
    let is_closed = |at: usize| CLOSED.iter().any(|closed| code[..at].ends_with(closed));
    let named = |name: &&str| code.match_indices(name).any(|(at, _)| is_word(at));
    let asked = |name: &&str| code.match_indices(name).any(|(at, _)| !is_closed(at));
    let of_family = OF_FAMILY.into_iter().filter(asked);
    STANDARD.into_iter().filter(named).chain(of_family).collect()
}

#[test]
fn only_one_file_of_each_crate_knows_the_standard_catalogue() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for folder in ["lab", "report", "operator", "cli"].map(|own| format!("meshwork-{own}/src")) {
        sources(&crates.join(folder), &mut files);
    }
    assert!(files.len() > 80, "the sources are where they were");
    let mut used = 0;
    for file in files {
        let name = file.strip_prefix(crates).unwrap().display().to_string().replace('\\', "/");
        let found = offences(&code(&fs::read_to_string(&file).unwrap()));
        if MAY.iter().any(|(may, _)| *may == name) {
            used += usize::from(!found.is_empty());
        } else {
            assert!(found.is_empty(), "{name} reads {found:?}: take the catalogue that is given");
        }
    }
    assert_eq!(used, MAY.len(), "every exception is one");
}

#[test]
fn the_reader_of_sources_finds_what_it_looks_for() {
    let bad = "fn a() { Study::parse(b); }";
    assert_eq!(offences(bad), ["Study::parse("]);
    assert_eq!(offences("let c = metrics::FAMILY.find(x);"), ["FAMILY.find("]);
    assert_eq!(offences("SITE_FAMILY.find(x);"), ["FAMILY.find("]);
    assert!(offences("traffic::FAMILY.find(x); KIND_FAMILY.find(y); MY_METRICS").is_empty());
    assert!(
        code("/// Study::parse(\nlet a = 1;\n#[cfg(test)]\nmod tests { METRICS }").ends_with("1;")
    );
}
