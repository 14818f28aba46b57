//! Fuzz target that reads arbitrary text as a study.
//!
//! The text must be read and expanded into scenarios, or refused in one sentence. The table of each
//! scenario must be read as an equal scenario.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use meshwork::scenario::Scenario;
use meshwork_lab::study::expand::{count, expand};
use meshwork_lab::{Refused, Study};

fuzz_target!(|text: &str| {
    // What follows a line of its own is a setting, as of `--set`.
    let (text, setting) = match text.split_once("\n--set ") {
        Some((text, setting)) => (text, vec![setting.to_owned()]),
        None => (text, Vec::new()),
    };
    let study = match Study::parse("study.toml", text, Path::new(""), &setting) {
        Ok(study) => study,
        Err(refused) => return is_a_sentence(&refused),
    };
    match count(&study) {
        Ok(scenarios) if scenarios <= 100 => {}
        Ok(_) => return,
        Err(refused) => return is_a_sentence(&refused),
    }
    match expand(&study) {
        Err(refused) => is_a_sentence(&refused),
        Ok(points) => {
            for point in points {
                let table = point.scenario.table();
                let again = Scenario::read(table).expect("a resolved scenario is a scenario");
                assert_eq!(again.table(), table);
            }
        }
    }
});

fn is_a_sentence(refused: &Refused) {
    let says_where = refused.0.starts_with("study.toml:") || refused.0.contains("--set ");
    assert!(says_where, "{refused}");
}
