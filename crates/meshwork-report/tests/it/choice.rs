//! Tests of the report of a choice: its candidates in the plots and in the table.

use std::path::Path;

use meshwork_lab::Study;
use meshwork_lab::choose::request::ChoiceRequest;
use meshwork_lab::choose::{ChooseOptions, choose};
use meshwork_report::Report;

use crate::candidates::CANDIDATES;

#[test]
fn the_page_of_a_choice_names_its_candidates() {
    let folder = tempfile::tempdir().unwrap();
    let request = ChoiceRequest {
        within: "10%".to_owned(),
        second: Some("utilization".to_owned()),
        ..ChoiceRequest::default()
    };
    let out = Some(folder.path().to_owned());
    let options = ChooseOptions { request, out, threads: 1, ..ChooseOptions::default() };
    let study = Study::parse("study.toml", CANDIDATES, Path::new(""), &[]).unwrap();
    let choice = choose(&study, &options).unwrap();
    let report = Report::read(folder.path()).unwrap();
    let section = &report.sections[0];
    let view = |name: &str| {
        let figure = section.figures.iter().find(|figure| figure.id.ends_with(name)).unwrap();
        &figure.views[0]
    };
    let marks = &view("-trade-off").series;
    let mut labels: Vec<&str> =
        marks.iter().flat_map(|line| &line.labels).map(String::as_str).collect();
    labels.sort_unstable();
    let all = ["easy, first_fit", "easy, random", "fcfs, first_fit", "fcfs, random"];
    assert_eq!(labels, [&all[..], &["sjf, first_fit", "sjf, random"]].concat());
    let race = view("-race");
    assert_eq!(race.colour.as_ref().unwrap().label, "scheduler, allocator");
    assert!(race.series.iter().all(|line| labels.contains(&&*line.name)));
    // The table numbers candidates from 1. The index `recommended` counts from 0.
    let chosen = format!("#{} scheduler = ", choice.recommended.unwrap() + 1);
    assert!(section.tables[0].rows[0][0].text.starts_with(&chosen));
    let is_of_ideal = |note: &String| note.starts_with("Contiguous allocators are compared with");
    assert!(section.notes.iter().any(is_of_ideal), "{:?}", section.notes);
    let numbers = "Every number stands in full in choice.json of the folder of results";
    assert!(report.html().contains(numbers));
}
