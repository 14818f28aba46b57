//! `meshwork show`: prints the scenarios of a study.

use meshwork::catalogue::Catalogue;
use meshwork::scenario::Scenario;
use meshwork_lab::Study;
use meshwork_lab::study::Replications;
use meshwork_lab::study::expand::{count, points};
use serde_json::{Map, Value as Json, json};
use toml::{Table, Value};

use crate::args::Show;
use crate::command::list::of_any_kind;
use crate::output::{Ended, Output, Stop, Verdict};
use crate::toml_text;
use meshwork_lab::text::number::significant;

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Show) -> Ended {
    let name = arguments.file.to_string_lossy();
    if !arguments.file.exists() && !of_any_kind(catalogue, &name).is_empty() {
        return Err(Stop::Wrong(format!(
            "{name}: there is no such file; `meshwork list {name}` tells about what has this name"
        )));
    }
    let study = Study::read_in(catalogue, &arguments.file, &arguments.settings)?;
    let total = count(&study)?;
    for (i, point) in points(&study)?.enumerate() {
        let point = point?;
        let speeds = speeds(&study, &point.scenario);
        if arguments.json {
            let swept: Map<String, Json> =
                point.swept.iter().map(|(key, value)| (key.clone(), json(value))).collect();
            let mut object = json!({ "scenario": swept, "resolved": json(point.scenario.table()) });
            if !speeds.is_empty() {
                object["speeds"] = json(&speeds);
            }
            out.json(&object)?;
            continue;
        }
        if i > 0 {
            out.line("")?;
        }
        if !point.swept.is_empty() {
            let words: Vec<String> =
                point.swept.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            out.line(&format!("# scenario {} of {total}: {}", i + 1, words.join(", ")))?;
        }
        out.text(&toml_text::document(&document(&study, point.scenario.table())))?;
        for (replication, speeds) in speeds.iter().enumerate() {
            let words: Vec<String> = speeds.iter().map(|&speed| significant(speed, 4)).collect();
            let number = replication + 1;
            out.line(&format!("# speeds in replication {number}: {}", words.join(", ")))?;
        }
    }
    Ok(Verdict::Done)
}

fn json(value: impl serde::Serialize) -> Json {
    serde_json::to_value(value).unwrap_or(Json::Null)
}

/// Speeds of the sites in each replication that is certain to run.
///
/// If the study sets a `precision`, the minimum number of replications is certain. If replications
/// are windows of a log, all have equal speeds, and the list has one element.
fn speeds(study: &Study, scenario: &Scenario) -> Vec<Vec<f64>> {
    let count = match study.replications {
        Replications::Fixed(count) | Replications::Precision { least: count, .. } => count,
        Replications::Windows { .. } => 1,
    };
    (0..count).map_while(|replication| scenario.speeds(replication)).collect()
}

/// Complete study whose only scenario is the given one.
fn document(study: &Study, scenario: &Table) -> Table {
    let mut document = Table::new();
    let whole = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    document.insert("name".to_owned(), study.name.clone().into());
    document.extend(study.description.clone().map(|text| ("description".to_owned(), text.into())));
    document.extend(study.time_unit.clone().map(|unit| ("time_unit".to_owned(), unit.into())));
    match &study.replications {
        Replications::Fixed(replications) => {
            document.insert("replications".to_owned(), whole(*replications));
        }
        Replications::Windows { length, stride } => {
            let mut windows = Table::new();
            windows.insert("length".to_owned(), Value::Float(*length));
            windows.insert("stride".to_owned(), Value::Float(*stride));
            document.insert("windows".to_owned(), Value::Table(windows));
        }
        Replications::Precision { target, least, most, of } => {
            document.insert("precision".to_owned(), Value::Float(*target));
            document.insert("precision_of".to_owned(), of.clone().into());
            document.insert("min_replications".to_owned(), whole(*least));
            document.insert("max_replications".to_owned(), whole(*most));
        }
    }
    document.extend(scenario.clone());
    document
}
