//! Tests of fits of workload models to logs.

use std::fs;
use std::path::PathBuf;

use meshwork::workload::swf::{Header, Record};
use tempfile::TempDir;

use super::*;
use crate::study::Study;
use crate::trace::{Form, write};

fn log(folder: &TempDir, workload: &str) -> PathBuf {
    let table: Table = workload.parse().unwrap();
    let jobs = drawn(&table, 128).unwrap();
    let path = folder.path().join("log.swf");
    let mut header = Header::default();
    let mut add =
        |label: &str, value: &str| header.entries.push((label.to_owned(), value.to_owned()));
    add("MaxProcs", "128");
    add("UnixStartTime", "835833600"); // midnight
    let kept: Vec<(Record, Job)> = jobs
        .into_iter()
        .map(|job| {
            let mut record = Record::of(&job);
            record.fields[1] = job.arrival.units().floor();
            (record, job)
        })
        .collect();
    write(&path, Form::Log { is_compressed: false }, &header, &kept).unwrap();
    path
}

fn ks(fitted: &Fitted, what: &str) -> f64 {
    fitted.distances.iter().find(|distance| distance.what.starts_with(what)).unwrap().ks
}

#[test]
fn a_model_is_near_to_what_was_drawn_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (FitModel::Jann, "name = 'jann'\njobs = 20000"),
        (
            FitModel::CirneBerman,
            "name = 'cirne_berman'\njobs = 20000\np_pow2 = 0.1\naccuracy_cv = 0.3",
        ),
        (FitModel::Lublin, "name = 'lublin'\njobs = 20000"),
    ];
    for (model, workload) in cases {
        let path = log(&folder, workload);
        let fitted = fit(&path, model).unwrap();
        let columns = if model == FitModel::CirneBerman { 4 } else { 3 };
        assert_eq!((fitted.jobs, fitted.distances.len()), (20_000, columns), "{:?}", fitted.notes);
        for what in ["processors", "run time", "time between"] {
            assert!(ks(&fitted, what) < 0.08, "{model:?}: {:?}", fitted.distances);
        }
        for distance in &fitted.distances[..2] {
            let ratio = distance.model.mean / distance.log.mean;
            assert!((ratio - 1.0).abs() < 0.1, "{model:?}: {distance:?}");
        }
        // The model submits as many jobs as the log in the same time.
        let gap = &fitted.distances[2];
        assert!((gap.model.mean / gap.log.mean - 1.0).abs() < 0.1, "{model:?}: {gap:?}");
    }
    // The fit of a model that did not make the log is at a larger distance.
    let path = log(&folder, "name = 'jann'\njobs = 20000");
    let own = fit(&path, FitModel::Jann).unwrap();
    let other = fit(&path, FitModel::Lublin).unwrap();
    let (near, far) = (ks(&own, "run time"), ks(&other, "run time"));
    assert!(near < far, "{:?} {:?}", own.distances, other.distances);
}

#[test]
fn the_study_is_read_by_run_and_estimates_are_modal() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(
        &folder,
        "name = 'lublin'\njobs = 5000\nestimates = { name = 'tsafrir', max = 200000 }",
    );
    let fitted = fit(&path, FitModel::Jann).unwrap();
    let text = fitted.study.to_string();
    assert!(Study::parse("fitted.toml", &text, folder.path(), &[]).is_ok(), "{text}");
    let popular = fitted.study["workload"]["estimates"]["popular"].as_array().unwrap();
    assert_eq!(popular.len(), 20);
    assert_eq!(popular[0]["time"].as_float(), Some(200_000.0));
    assert!((popular[0]["share"].as_float().unwrap() - 0.2175).abs() < 1e-3);
    assert!(ks(&fitted, "requested") < 0.02, "{:?}", fitted.distances);
}

/// Writes a log with the given jobs. Each has its submission time, run time, number of processors
/// and requested time.
fn by_hand(folder: &TempDir, jobs: impl Iterator<Item = (u32, u32, u32, i32)>) -> PathBuf {
    let path = folder.path().join("hand.swf");
    let lines = jobs.enumerate().map(|(i, (submit, run, size, request))| {
        format!(
            "{} {submit} -1 {run} {size} -1 -1 {size} {request} -1 1 1 -1 -1 -1 -1 -1 -1\n",
            i + 1
        )
    });
    fs::write(&path, lines.collect::<String>()).unwrap();
    path
}

#[test]
fn what_no_model_is_fitted_to_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let sentence = |path: &PathBuf, model| {
        let said = fit(path, model).unwrap_err().to_string();
        said.replace(&path.display().to_string(), "hand.swf")
    };
    let few = by_hand(&folder, (0..9).map(|i| (i, 5, 1, 9)));
    assert_eq!(
        sentence(&few, FitModel::Jann),
        "hand.swf: a model is fitted to 100 jobs or more, but the log has 9"
    );
    let at_once = by_hand(&folder, (0..200).map(|_| (7, 5, 1, 9)));
    assert_eq!(
        sentence(&at_once, FitModel::Lublin),
        "hand.swf: no model is fitted to jobs that all arrive at one instant, or never run"
    );
    let no_requests = by_hand(&folder, (0..200).map(|i| (i * 10, 5 + i % 7, 1 + i % 3, -1)));
    assert_eq!(
        sentence(&no_requests, FitModel::CirneBerman),
        "hand.swf: the model cirne_berman is one of requested times, which 0 of 200 jobs have: fit jann or lublin"
    );
    let fitted = fit(&no_requests, FitModel::Jann).unwrap();
    assert_eq!(fitted.distances.len(), 3);
    assert!(fitted.notes.iter().any(|note| note.contains("few requested times")));
}

#[test]
fn jobs_that_do_not_vary_have_a_fit() {
    let folder = tempfile::tempdir().unwrap();
    for size in [1, 3, 64] {
        let path = by_hand(&folder, (0..150).map(|i| (i * 60, 30, size, 60)));
        for (_, model) in FitModel::ALL {
            let fitted =
                fit(&path, model).unwrap_or_else(|error| panic!("{model:?} {size}: {error}"));
            let drawn = &fitted.distances[0];
            assert!((drawn.model.mean / f64::from(size) - 1.0).abs() < 0.6, "{model:?}: {drawn:?}");
            assert!(
                model != FitModel::Jann
                    || fitted.notes.iter().any(|note| note.contains("vary more"))
            );
        }
    }
}
