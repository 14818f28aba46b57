//! Tests that entries added to the catalogue are known in the whole crate.
//!
//! An added metric is measured in windows of logs and shown in reports. An added topology is shown
//! in reports, and an added distribution is accepted in sweeps and in the schema. Studies of papers
//! are read in a given catalogue.

use std::fs;
use std::path::Path;

use meshwork::catalogue::Catalogue;
use meshwork::observe::metrics::{Measure, MetricEntry};
use meshwork::registry::About;
use meshwork::workload::distribution::{Runtime, RuntimeEntry};
use meshwork_lab::study::papers::{paper, studies};
use meshwork_lab::study::schema::schema;
use meshwork_lab::{Options, Study, run};
use meshwork_report::{Maps, Report};

use crate::clique::CLIQUE;

/// Added metric: twice the number of finished jobs.
static TWICE: MetricEntry = MetricEntry::new(
    About::new("twice", "twice the jobs that finished")
        .definition("Two for each job that finished.")
        .complexity("O(1).")
        .source("this test"),
    "half jobs",
    Measure::Total(|totals| Some(2.0 * totals.finished as f64)),
);

#[test]
fn a_metric_from_outside_is_measured_in_windows_and_shown_with_its_unit() {
    let catalogue = Catalogue::standard().with(&TWICE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..100).map(|i| format!("{i},1,1\n")).collect();
    fs::write(folder.path().join("log.csv"), format!("submit,runtime,nodes\n{rows}")).unwrap();
    let text = "windows = { length = 20 }
machine = { topology = 'flat', processors = 4 }
workload = { name = 'table', path = 'log.csv' }
measure = { metrics = ['twice', 'wait'] }";
    let study = Study::parse_in(&catalogue, "a.toml", text, folder.path(), &[]).unwrap();
    let out = folder.path().join("out");
    let finished = run(&study, &Options { out: Some(out.clone()), ..Options::default() }).unwrap();
    assert!(finished.failures.is_empty(), "{:?}", finished.failures);
    let (name, twice) = &finished.summary.rows[0].metrics[0];
    assert_eq!((name.as_str(), twice.mean, twice.replications), ("twice", Some(40.0), 4));
    let report = Report::with_maps_in(&catalogue, &out, &Maps::none()).unwrap();
    let line = &report.sections[0].tables[0].rows[0];
    assert_eq!((line[0].text.as_str(), line[0].note.as_str()), ("twice", TWICE.about.summary));
    assert_eq!(line[2].text, "half jobs");
}

#[test]
fn studies_of_papers_are_read_in_the_catalogue_that_is_given() {
    let catalogue = Catalogue::standard().with(&TWICE).unwrap();
    let key = meshwork_lab::study::papers::PAPERS[0].key;
    let settings = ["measure.metrics=[\"twice\"]".to_owned()];
    let found = studies(&catalogue, paper(key).unwrap(), None, true, &settings).unwrap();
    let first = meshwork_lab::study::expand::point_at(&found[0], 0).unwrap();
    let metrics = first.scenario.table()["measure"]["metrics"].to_string();
    assert!(metrics.contains("twice"), "{metrics}");
    assert!(Path::new(&found[0].file).extension().is_some());
}

#[test]
fn a_topology_from_outside_has_a_study_a_report_and_a_map() {
    let catalogue = Catalogue::standard().with(&CLIQUE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = "machine = { topology = 'clique', routers = 6, nodes = 4 }
workload = { name = 'lublin', jobs = 40 }
[sweep]
allocator = ['naive', 'fewest_leaves']";
    let study = Study::parse_in(&catalogue, "a.toml", text, folder.path(), &[]).unwrap();
    let out = folder.path().join("out");
    let finished = run(&study, &Options { out: Some(out.clone()), ..Options::default() }).unwrap();
    assert!(finished.failures.is_empty(), "{:?}", finished.failures);
    assert_eq!(finished.summary.rows.len(), 2);
    let report = Report::with_maps_in(&catalogue, &out, &Maps::default()).unwrap();
    let page = report.html();
    assert!(page.contains("clique of 6 routers with 4 nodes each"), "the page names the machine");
    assert!(Report::with_maps_in(&Catalogue::standard(), &out, &Maps::default()).is_err());
}

#[test]
fn a_distribution_from_outside_is_in_sweeps_and_in_the_schema() {
    static HALVES: RuntimeEntry = RuntimeEntry::new(
        About::new("half_or_whole", "half a unit of time, or a whole one"),
        |_| Ok(Runtime::drawn_by(0.75, |stream| if stream.unit() < 0.5 { 0.5 } else { 1.0 })),
    );
    let catalogue = Catalogue::standard().with(&HALVES).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = "machine = { topology = 'flat', processors = 8 }
measure = { jobs = 400, metrics = ['service'] }
[workload]
name = 'synthetic'
load = 0.3
sizes = { name = 'constant', value = 1 }
[sweep]
'workload.runtimes' = [{ name = 'constant', value = 1 }, 'half_or_whole']";
    let study = Study::parse_in(&catalogue, "a.toml", text, folder.path(), &[]).unwrap();
    let finished = run(&study, &Options::default()).unwrap();
    assert!(finished.failures.is_empty(), "{:?}", finished.failures);
    let service: Vec<_> = finished.summary.rows.iter().map(|row| row.metrics[0].1.mean).collect();
    assert_eq!(service[0], Some(1.0));
    assert!((service[1].unwrap() - 0.75).abs() < 0.05, "{service:?}");
    assert!(schema(&catalogue).to_string().contains("\"half_or_whole\""));
    assert!(!schema(&Catalogue::standard()).to_string().contains("\"half_or_whole\""));
}
