//! The pages at the root of the repository, held to what they show.

use std::fs;
use std::path::{Path, PathBuf};

use meshwork_lab::study::expand::expand;
use meshwork_lab::{Options, Study, run};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What stands between a line that opens a block of code in this language and the line that closes
/// it.
fn block(text: &str, language: &str) -> String {
    let open = format!("```{language}");
    let lines = text.lines().skip_while(|line| *line != open).skip(1);
    lines.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_study_of_the_readme_runs() {
    let text = block(&page("README.md"), "toml");
    let study = Study::parse("README.md", &text, Path::new(""), &[]).unwrap();
    assert_eq!(expand(&study).unwrap().len(), 6);
    let short = ["replications=2", "measure.jobs=600", "allocator=first_fit"].map(str::to_owned);
    let study = Study::parse("README.md", &text, Path::new(""), &short).unwrap();
    let finished = run(&study, &Options::default()).unwrap();
    assert_eq!(finished.failures, Vec::<String>::new());
    assert_eq!(finished.summary.rows.len(), 3);
}

#[test]
fn the_rust_of_the_readme_is_the_tour_of_the_model_which_is_run() {
    let source = page("crates/meshwork/src/lib.rs");
    let tour: String = source
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect();
    assert_eq!(block(&page("README.md"), "rust"), block(&tour, ""));
}

#[test]
fn the_session_of_the_readme_is_the_expected_output_of_its_example() {
    let session = block(&page("README.md"), "");
    let (command, output) = session.split_once('\n').unwrap();
    assert_eq!(command, "$ meshwork run examples/first.toml");
    assert_eq!(output.trim_end(), page("examples/first.out").trim_end());
}

#[test]
fn every_link_between_the_pages_leads_somewhere() {
    let pages =
        ["README", "ARCHITECTURE", "DESIGN", "CONTRIBUTING", "CHANGELOG", "docs/performance"];
    let mut links = 0;
    for name in pages.map(|page| format!("{page}.md")) {
        let text = page(&name);
        for rest in text.split("](").skip(1) {
            let target = rest.split(')').next().unwrap();
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if target.starts_with("http") {
                continue;
            }
            let folder = root().join(&name).parent().unwrap().to_path_buf();
            assert!(folder.join(file).exists(), "{name}: {target}");
            let slug =
                |line: &str| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            let plain = |line: &str| slug(line).replace([',', ':', '`'], "");
            let has = |line: &str| line.starts_with('#') && plain(line) == anchor;
            assert!(anchor.is_empty() || text.lines().any(has), "{name}: {target}");
            links += 1;
        }
    }
    assert!(links > 15, "only {links} links were found");
}
