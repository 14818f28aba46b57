//! Tests of the runs that a report page shows instant by instant.
//!
//! For runs that it cannot show, the page has a note.

use std::path::Path;

use meshwork_lab::watch::recording::RecordingWindow;
use meshwork_lab::{Options, Study, run};
use meshwork_report::{Maps, Report};
use tempfile::TempDir;

const STUDY: &str = "machine = { topology = 'mesh', dims = [8, 6] }\nreplications = 2\n\
    measure = { jobs = 60 }\n[workload]\nname = 'synthetic'\nload = 0.6\nsizes = 'uniform'\n\
    runtimes = { name = 'exponential', mean = 5.0 }\n\
    [sweep]\nscheduler = ['fcfs', 'sjf', 'easy']\n'workload.load' = [0.3, 0.6]\n";

fn ran_into(folder: &Path, text: &str) {
    let study = Study::parse("a.toml", text, folder, &[]).unwrap();
    let options = Options { out: Some(folder.to_owned()), threads: 1, ..Options::default() };
    assert_eq!(run(&study, &options).unwrap().failures, [""; 0]);
}

fn ran() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    ran_into(folder.path(), STUDY);
    folder
}

fn chosen(runs: &[(u64, u64)]) -> Maps {
    Maps { runs: runs.to_vec(), ..Maps::default() }
}

/// Scenario, replication and title of each run that is shown instant by instant.
fn shown(report: &Report) -> Vec<(u64, u64, &str)> {
    let recordings = report.sections[0].recordings.iter();
    recordings.map(|one| (one.scenario, one.replication, one.title.as_str())).collect()
}

#[test]
fn unless_somebody_chooses_those_that_are_compared_are_shown() {
    let folder = ran();
    let report = Report::with_maps(folder.path(), &Maps::default()).unwrap();
    let expected = [
        (2, 1, "scheduler = fcfs, workload.load = 0.6"),
        (4, 1, "scheduler = sjf, workload.load = 0.6"),
        (6, 1, "scheduler = easy, workload.load = 0.6"),
    ];
    assert_eq!(shown(&report), expected);
    assert_eq!(report.sections[0].without_map, [""; 0]);
    let page = report.html();
    assert_eq!(page.matches("class=\"recordings\"").count(), 1);
    let again = Report::with_maps(folder.path(), &Maps::default()).unwrap().html();
    assert!(page == again, "the same folder gives the same bytes");
}

#[test]
fn runs_are_shown_in_the_order_in_which_they_are_chosen() {
    let folder = ran();
    let report = Report::with_maps(folder.path(), &chosen(&[(6, 2), (1, 1)])).unwrap();
    let titles = [
        (6, 2, "scheduler = easy, workload.load = 0.6"),
        (1, 1, "scheduler = fcfs, workload.load = 0.3"),
    ];
    assert_eq!(shown(&report), titles);
}

#[test]
fn a_run_that_is_not_there_is_refused() {
    let folder = ran();
    let refusal = |runs: &[(u64, u64)]| {
        Report::with_maps(folder.path(), &chosen(runs)).unwrap_err().to_string()
    };
    assert_eq!(refusal(&[(7, 1)]), "there is no scenario 7: the study has 6");
    assert_eq!(
        refusal(&[(1, 1), (2, 3)]),
        "scenario 2 has no replication 3 that ended well, so there is nothing to be shown of it"
    );
    let several = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        ran_into(&several.path().join(name), STUDY);
    }
    assert_eq!(
        Report::with_maps(several.path(), &chosen(&[(1, 1)])).unwrap_err().to_string(),
        format!(
            "{}: `--run` chooses runs of a single study, and this folder has several: give the folder of one",
            several.path().display()
        )
    );
}

#[test]
fn without_maps_a_page_has_none() {
    let folder = ran();
    let page = Report::read(folder.path()).unwrap().html();
    assert!(!page.contains("class=\"recordings\""));
    let behind = Maps { runs: Vec::new(), window: RecordingWindow { from: 1e6, jobs: 5 } };
    let report = Report::with_maps(folder.path(), &behind).unwrap();
    let section = &report.sections[0];
    assert_eq!((section.recordings.len(), section.without_map.len()), (0, 3));
    let first = section.without_map.iter().min().unwrap();
    assert!(
        first.starts_with(
            "Scenario 2 (scheduler = fcfs, workload.load = 0.6) cannot be shown instant by instant: the run \
             ended at time "
        ) && first.ends_with(", and so has no time 1,000,000 to be shown."),
        "{first}"
    );
    assert!(report.html().contains("cannot be shown instant by instant"));
}

#[test]
fn the_plot_of_waits_is_not_empty_if_no_job_waits() {
    let folder = tempfile::tempdir().unwrap();
    let text = STUDY.replace("'workload.load' = [0.3, 0.6]\n", "");
    ran_into(folder.path(), &text.replace("load = 0.6", "load = 0.001"));
    let report = Report::with_maps(folder.path(), &Maps::default()).unwrap();
    let figures = &report.sections[0].figures;
    let waits = figures.iter().find(|figure| figure.heading == "How long jobs wait").unwrap();
    let view = &waits.views[0];
    assert!(view.sentence.ends_with(" No job waits."), "{}", view.sentence);
    // All jobs are on a line at 1 from a wait of 0 onwards.
    assert_eq!((&view.series[0].x[..], &view.series[0].mean[..]), (&[0.0, 1.0][..], &[1.0; 2][..]));
}
