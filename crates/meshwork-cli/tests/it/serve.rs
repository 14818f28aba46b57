//! Tests of `meshwork run --serve`, queried over real connections while the study runs.

use std::fs;

use crate::common::serving::{LONG, SHORT, Serving, arguments, study};
use crate::common::{Scratch, call, examples, meshwork, read};
use serde_json::Value as Json;

#[test]
fn the_page_fills_in_while_the_study_runs() {
    let folder = Scratch::new();
    let serving = Serving::start(&folder, LONG, &["--threads", "1", "--serve"]);
    let (head, page) = serving.get("/", "");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/html"), "{head}");
    assert!(page.contains("connect-src 'self'") && page.contains("id=\"live-machine\""));
    assert!(!page.contains("src=\"http"), "nothing comes from elsewhere");
    let now = serving
        .once("/machine.json", |now| now["done"].as_u64() > Some(0) && !now["machine"].is_null());
    assert_eq!(now["ended"], false);
    assert_eq!(now["total"], 320);
    let machine = &now["machine"];
    let recording = &machine["recording"];
    assert_eq!(recording["sites"][0]["sides"], serde_json::json!([16, 16]));
    assert_eq!(recording["until"], machine["time"]);
    // In the recording, only running jobs have a site.
    let columns = recording["columns"].as_array().unwrap();
    let started = columns.iter().find(|column| column[0] == "site").unwrap();
    assert_eq!(started[2], machine["running"]);
    let report = serving.once("/report.json", |report| {
        report["data"]["sections"][0]["figures"]
            .as_array()
            .is_some_and(|figures| !figures.is_empty())
    });
    assert!(report["results"].as_str().unwrap().contains("<table"));
    let (head, _) = serving.get("/report.json", "");
    let tag = head.lines().find_map(|line| line.strip_prefix("ETag: ")).unwrap();
    assert!(tag.starts_with('"') && tag.ends_with('"'));
    assert!(serving.get("/x", "").0.starts_with("HTTP/1.1 404"));
}

#[test]
fn the_last_state_is_the_whole_report_and_stays_where_it_is_to_stay() {
    let folder = Scratch::new();
    let serving = Serving::start(&folder, SHORT, &["--out", "out", "--serve=stay"]);
    let now = serving.once("/machine.json", |now| now["ended"] == true);
    assert_eq!((&now["done"], &now["total"], &now["failed"]), (&16.into(), &16.into(), &0.into()));
    let (head, body) = serving.get("/report.json", "");
    let tag = format!("ETag: \"{}\"", now["version"].as_str().unwrap());
    assert!(head.lines().any(|line| line == tag), "{head}");
    let known = serving.get("/report.json", &format!("If-None-Match:{}\r\n", &tag[5..]));
    assert!(known.0.starts_with("HTTP/1.1 304") && known.1.is_empty(), "{known:?}");
    // Every mean of the summary is in the plots.
    let data = serde_json::from_str::<Json>(&body).unwrap()["data"].to_string();
    let summary = read(&folder, "out/summary.csv");
    let mut means = 0;
    for line in summary.lines().skip(1) {
        let mean = line.split(',').nth(3).unwrap();
        assert!(data.contains(mean), "{mean}");
        means += 1;
    }
    assert_eq!(means, 24);
}

#[test]
fn results_are_the_same_bytes_with_and_without_it() {
    let folder = Scratch::new();
    let file = study();
    let with = meshwork(
        &folder,
        &arguments(&file, SHORT, &["--out", "with", "--threads", "2", "--serve=once"]),
    );
    let without =
        meshwork(&folder, &arguments(&file, SHORT, &["--out", "without", "--threads", "1"]));
    assert_eq!((with.status, without.status), (Some(0), Some(0)));
    assert_eq!(with.out.replace("to with:", "to without:"), without.out);
    assert!(with.err.starts_with("Watch at http://127.0.0.1:") && with.err.lines().count() == 1);
    for name in ["summary.csv", "comparison.csv", "experiment.toml", "asked.toml"] {
        let read = |of: &str| fs::read(folder.join(of).join(name)).unwrap();
        assert_eq!(read("with"), read("without"), "{name}");
    }
    // Runs are stored in the order in which they ended.
    let runs = |of: &str| {
        let text = fs::read_to_string(folder.join(of).join("runs.jsonl")).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(runs("with"), runs("without"));
}

#[test]
fn several_studies_share_a_page_and_a_wrong_word_is_refused() {
    let folder = Scratch::new();
    let (load, other) = (study(), examples().join("precision.toml").display().to_string());
    let said = meshwork(
        &folder,
        &["run", &load, &other, "--set", "measure.jobs=300", "--quiet", "--serve"],
    )
    .ended(0);
    said.out_is("");
    meshwork(&folder, &["run", &load, "--serve=always"]).ended(2).err_has("auto, once, stay");
    call(&folder, "run none.toml --serve").err_is("error: none.toml: there is no such file\n");
}

#[test]
fn the_report_of_a_folder_that_is_filling_fills() {
    let folder = Scratch::new();
    let file = study();
    let shard = |index: &str| {
        let more = ["--out", "S", "--shard", index, "--threads", "1", "--quiet"];
        meshwork(&folder, &arguments(&file, SHORT, &more)).succeeded();
    };
    shard("0/2");
    let serving = Serving::of(&folder, &["report", "S", "--serve=stay"]);
    let now = serving.json("/machine.json");
    let done = now["done"].as_u64().unwrap();
    assert_eq!((&now["total"], &now["ended"]), (&16.into(), &false.into()));
    assert!(done > 0 && done < 16, "{now}");
    let results = |report: &Json| report["results"].as_str().unwrap().to_owned();
    let half = results(&serving.json("/report.json"));
    assert!(half.contains("<table"), "{half}");
    shard("1/2");
    let now = serving.once("/machine.json", |now| now["ended"] == true);
    assert_eq!((&now["done"], &now["failed"]), (&16.into(), &0.into()));
    assert_ne!(results(&serving.json("/report.json")), half);
    // Collecting in the meantime does not change the page.
    let whole = results(&serving.json("/report.json"));
    call(&folder, "collect S").ended(0);
    let version = now["version"].clone();
    let now = serving.once("/machine.json", |now| now["version"] != version);
    assert_eq!((&now["done"], &now["ended"]), (&16.into(), &true.into()));
    assert_eq!(results(&serving.json("/report.json")), whole);
}
