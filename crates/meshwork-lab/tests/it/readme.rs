//! Tests of the Markdown pages at the root of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use meshwork::catalogue::Catalogue;
use meshwork::presets;
use meshwork::scenario::SITE_FAMILY;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn block(text: &str, language: &str) -> String {
    let open = format!("```{language}");
    let lines = text.lines().skip_while(|line| *line != open).skip(1);
    lines.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_readme_counts_what_there_is() {
    let catalogue = Catalogue::standard();
    let text = page("README.md");
    let rows = [
        ("topologies", (SITE_FAMILY.entries)().len()),
        ("machines", (presets::FAMILY.entries)().len()),
        ("allocators", catalogue.list::<meshwork::alloc::AllocatorEntry>().len()),
        ("schedulers", catalogue.list::<meshwork::sched::SchedulerEntry>().len()),
        ("networks", catalogue.list::<meshwork::network::NetworkEntry>().len()),
        ("workloads", catalogue.list::<meshwork::workload::WorkloadEntry>().len()),
        ("metrics", catalogue.list::<meshwork::observe::metrics::MetricEntry>().len()),
    ];
    for (kind, count) in rows {
        let row = format!("](docs/reference/{kind}/README.md) | {count} | ");
        assert!(text.contains(&row), "{kind}: {count}");
    }
}

#[test]
fn the_front_pages_name_what_is_simulated() {
    for name in [
        "README.md",
        "docs/README.md",
        "crates/meshwork/README.md",
        "crates/meshwork-lab/README.md",
        "crates/meshwork-cli/README.md",
        "crates/meshwork-py/README.md",
        "crates/meshwork/src/lib.rs",
        "crates/meshwork-lab/src/lib.rs",
        "crates/meshwork-cli/src/lib.rs",
    ] {
        let text = page(name);
        let screen =
            text.lines().take(30).flat_map(|line| line.trim_start_matches("//!").split(' '));
        let screen = screen.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let screen = screen.to_lowercase();
        for word in ["mesh", "fat tree", "dragonfly", "tpu", "slurm", "kueue"] {
            let plural = word.replace("fly", "flies");
            assert!(screen.contains(word) || screen.contains(&plural), "{name}: {word}");
        }
    }
}

#[test]
fn the_rust_of_the_readme_is_the_tour_of_the_model_which_is_run() {
    let source = page("crates/meshwork/src/lib.rs");
    let tour: String = source
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect();
    let shown = block(&page("README.md"), "rust");
    assert!(shown.lines().count() > 1 && tour.contains(&shown), "{shown}");
}

#[test]
fn the_session_of_the_readme_is_the_expected_output_of_its_example() {
    let session = block(&page("README.md"), "console");
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
