//! Tests seven report pages for accessibility, with the checker axe-core, and in print.
//!
//! No page has a serious violation, and no printed sheet is empty. `npm ci` in
//! `crates/meshwork-report/assets` installs axe-core. Without axe-core accessibility is not
//! checked, and without a browser the whole test is skipped, each with a message.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::chromium::{Page, browser};
use crate::common::{Scratch, call, examples, meshwork, put, skip};
use flate2::read::ZlibDecoder;
use serde_json::Value as Json;

/// Source text of axe-core; `None` if it is not installed.
fn axe() -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../meshwork-report/assets/node_modules/axe-core/axe.min.js");
    let text = fs::read_to_string(path).ok();
    if text.is_none() {
        skip(
            "tools",
            "axe-core is not installed (npm ci in crates/meshwork-report/assets), so no page was checked with it",
        );
    }
    text
}

fn of_example(folder: &Path, example: &str, settings: &[&str]) -> PathBuf {
    let file = examples().join(example).display().to_string();
    let mut run = vec!["run", &file, "--out", example, "--quiet"];
    run.extend(settings.iter().flat_map(|setting| ["--set", setting]));
    meshwork(folder, &run).ended(0);
    meshwork(folder, &["report", example]).ended(0);
    folder.join(example).join("report.html")
}

fn of_papers(folder: &Path) -> PathBuf {
    let shorter = ["--quick", "--set", "measure.jobs=800", "--set", "replications=2"];
    for figure in [["reproduce", "rsr", "3"], ["reproduce", "lazy", "2a"]] {
        meshwork(folder, &[&figure[..], &shorter[..]].concat()).ended(0);
    }
    folder.join("reproduction/quick/report.html")
}

/// Page that compares two topologies for a site of eight nodes in a row.
fn of_topologies(folder: &Path) -> PathBuf {
    let list = |spacing: u32| {
        format!(
            "- topology: row\n  torus3d:\n    toruses:\n      - name: row1\n        dims: {{x: 8, y: 1, z: 1}}\n        \
             nodes: n[0-7]\n        placements:\n          - dims: {{x: 1, y: 1, z: 1}}\n            anchor_spacing: \
             {{x: 1, y: 1, z: 1}}\n          - dims: {{x: 4, y: 1, z: 1}}\n            anchor_spacing: {{x: {spacing}, y: 1, z: 1}}\n"
        )
    };
    let conf = "NodeName=n[0-7] CPUs=8\nPartitionName=batch Nodes=ALL Default=YES Topology=row OverSubscribe=EXCLUSIVE\n";
    put(folder, "topology.yaml", list(4));
    put(folder, "fine.yaml", list(1));
    put(folder, "slurm.conf", conf);
    let mut sacct =
        "JobIDRaw|Partition|State|Submit|Eligible|Start|End|Timelimit|NNodes|NodeList|User\n"
            .to_owned();
    for job in 0..40 {
        let second = |offset: u32| {
            let at = job * 7 + offset;
            format!("2026-01-01T00:{:02}:{:02}", at / 60, at % 60)
        };
        let (submit, start, end) = (second(0), second(4), second(44));
        let (nodes, user) = (if job % 3 == 0 { 4 } else { 1 }, ["ada", "bob"][job as usize % 2]);
        sacct.push_str(&format!(
            "{}|batch|COMPLETED|{submit}|{submit}|{start}|{end}|00:02:00|{nodes}|n0|{user}\n",
            job + 1
        ));
    }
    put(folder, "jobs.txt", sacct);
    call(
        folder,
        "ops import --sacct jobs.txt --topology topology.yaml --conf slurm.conf --out site",
    )
    .ended(0);
    call(folder, "ops compare site fine.yaml --report compared.html --anyway").ended(0);
    folder.join("compared.html")
}

/// Violations that axe-core calls serious or critical, in words.
fn violations(page: &Page, axe: &str) -> Json {
    page.value(&format!("(() => {{ {axe}; return true; }})()"));
    page.act(
        "window.axed = null;
         axe.run(document, { resultTypes: ['violations'] }).then((found) => window.axed = found, (error) => window.axed = { violations: [{ impact: 'serious', id: String(error), nodes: [] }] })",
    );
    page.wait("window.axed");
    page.value(
        "axed.violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
            .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' ')}`)",
    )
}

/// Pieces of text on each sheet of a PDF that Chromium wrote.
fn sheets(pdf: &[u8]) -> Vec<usize> {
    let find = |from: usize, what: &[u8]| {
        pdf[from..].windows(what.len()).position(|own| own == what).map(|at| from + at)
    };
    let number_after = |at: usize| -> String {
        pdf[at..]
            .iter()
            .skip_while(|c| **c == b' ')
            .take_while(|c| c.is_ascii_digit())
            .map(|c| *c as char)
            .collect()
    };
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(page) = find(at, b"/Type /Page\n") {
        at = page + 1;
        let contents = find(page, b"/Contents ").expect("a page has contents");
        let object = format!("\n{} 0 obj", number_after(contents + 10));
        let begins = find(0, object.as_bytes()).expect("they are there");
        let stream = find(begins, b"stream\n").expect("they are a stream") + 7;
        let mut text = Vec::new();
        ZlibDecoder::new(&pdf[stream..]).read_to_end(&mut text).expect("it is deflated");
        all.push(text.windows(3).filter(|own| *own == b" Tj" || *own == b" TJ").count());
    }
    all
}

#[test]
fn seven_pages_have_nothing_serious_and_no_empty_sheet() {
    let Some(browser) = browser() else { return };
    let axe = axe();
    let folder = Scratch::new();
    let pages = [
        of_example(&folder, "load.toml", &["measure.jobs=300", "replications=2"]),
        of_example(&folder, "energy.toml", &[]),
        of_example(&folder, "sites.toml", &[]),
        of_example(&folder, "hypercube.toml", &[]),
        of_example(&folder, "fat_tree.toml", &[]),
        of_papers(&folder),
        of_topologies(&folder),
    ];
    for file in pages {
        let page = Page::open(&browser, &file);
        page.wait("[...document.querySelectorAll('.figures figure')].every((figure) => figure.querySelector('svg'))");
        page.wait("[...document.querySelectorAll('.machine')].every((one) => !one.machine || one.machine.moment)");
        if let Some(axe) = &axe {
            for dark in [false, true] {
                page.look(1280, 900, dark);
                assert_eq!(violations(&page, axe), serde_json::json!([]), "{}", file.display());
            }
        }
        let sheets = sheets(&page.pdf());
        assert!(!sheets.is_empty(), "{}", file.display());
        let is_empty = |(number, words): (usize, &usize)| (*words < 5).then_some(number + 1);
        let empty: Vec<usize> = sheets.iter().enumerate().filter_map(is_empty).collect();
        assert_eq!(empty, Vec::<usize>::new(), "{} of {sheets:?}", file.display());
    }
}
