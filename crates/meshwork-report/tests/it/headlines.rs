//! Tests of the headlines in the reports of thirty studies, compared with `headlines.toml`.
//!
//! `UPDATE_EXPECTED=1 cargo test -p meshwork-report --test it headlines::` rewrites the file.
//! Review each headline before committing it.

use std::fs;
use std::path::Path;

use meshwork_lab::{Options, Study, run};
use meshwork_report::Report;
use toml::{Table, Value};

const MODEL: &str = "
replications = 4
[machine]
topology = 'mesh'
dims = [8, 8]
[workload]
name = 'synthetic'
load = 0.6
sizes = { name = 'uniform', max = 6 }
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 200
metrics = ['wait']
";

fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Report of an example, or of the common study `MODEL` with the additions in `table`.
fn report(folder: &Path, table: &Table) -> Report {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let (name, source) = match text(table, "example") {
        "" => ("study.toml".to_owned(), format!("{MODEL}{}", text(table, "more"))),
        name => (name.to_owned(), fs::read_to_string(examples.join(name)).unwrap()),
    };
    let settings = table.get("set").and_then(Value::as_array).into_iter().flatten();
    let settings: Vec<String> = settings.map(|own| own.as_str().unwrap().to_owned()).collect();
    let study = Study::parse(&name, &source, &examples, &settings).unwrap();
    let options = Options { out: Some(folder.to_path_buf()), threads: 2, ..Options::default() };
    run(&study, &options).unwrap();
    Report::read(folder).unwrap()
}

fn percentages_below(headline: &str) -> Vec<f64> {
    let parts = headline.split(" % below").filter(|part| !part.ends_with('.'));
    let words = parts.filter_map(|part| part.rsplit([' ', '(']).next());
    words.filter_map(|word| word.replace(',', "").parse().ok()).collect()
}

#[test]
fn each_study_has_the_headline_that_it_must_have() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/headlines.toml");
    let source = fs::read_to_string(&path).unwrap();
    let table: Table = source.parse().unwrap();
    let studies = table["study"].as_array().unwrap();
    assert!(studies.len() >= 30, "{}", studies.len());
    let mut wrong = Vec::new();
    let mut updated = source;
    for study in studies {
        let study = study.as_table().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let report = report(folder.path(), study);
        let findings = &report.sections[0].findings;
        let headline = findings.first().map_or("", |finding| &finding.text);
        let (name, expected) = (text(study, "name"), text(study, "headline"));
        for share in findings.iter().flat_map(|finding| percentages_below(&finding.text)) {
            assert!((0.0..=100.0).contains(&share), "{name}: {headline}");
        }
        if headline != expected {
            wrong.push(format!("{name}\n  is       {headline}\n  must be  {expected}"));
            let line = |headline: &str| format!("name = \"{name}\"\nheadline = \"{headline}\"\n");
            updated = updated.replace(&line(expected), &line(headline));
        }
        // The report shows the sentence of the figure's initial selection.
        let figures = &report.sections[0].figures;
        for (key, value) in findings.first().map_or(&[][..], |finding| &finding.at) {
            let choices = figures.first().map_or(&[][..], |figure| &figure.choices);
            let own = choices.iter().find(|choice| choice.key.key == *key);
            assert!(own.is_none_or(|own| own.values[own.first] == *value), "{name}: {key}");
        }
    }
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&path, updated).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
