//! Facts about the request of a study: machine, jobs, number of runs, and command to repeat it.

use serde::Serialize;
use toml::{Table, Value};

use super::Content;
use meshwork_lab::findings::summary::Summary;
use meshwork_lab::findings::unlike::unlike;
use meshwork_lab::run::ScenarioRuns;
use meshwork_lab::study::asked::EXPERIMENT;
use meshwork_lab::study::papers::sources;
use meshwork_lab::study::words::short;
use meshwork_lab::study::{Replications, Study};
use meshwork_lab::text::number::{count, plural, significant};
use meshwork_lab::text::{label, shown};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    pub name: String,
    pub text: String,
}

const MAX_FAILURES: usize = 100;

/// Text that marks a study as run with the settings of its table `[quick]`.
pub(super) const QUICK: &str = "Run in its quick form, which is smaller than the paper's: a verdict says less than that of the \
                                whole study.";

pub(super) fn facts(content: &Content) -> Vec<Fact> {
    let Content { study, points, .. } = content;
    let mut facts = Vec::new();
    let mut tell = |name: &str, text: String| {
        if !text.is_empty() {
            facts.push(Fact { name: name.to_owned(), text });
        }
    };
    tell("Runs", runs(content));
    if let Some(point) = points.first() {
        let table = point.scenario.table();
        // A machine of one site has nothing to select.
        let has_sites =
            points.iter().any(|own| own.scenario.table()["machine"].get("sites").is_some());
        for (name, key) in [
            ("Machine", "machine"),
            ("Jobs", "workload"),
            ("Scheduler", "scheduler"),
            ("Allocator", "allocator"),
            ("Sizing", "sizing"),
            ("Selector", "selector"),
            ("Network", "network"),
        ] {
            if let Some(value) = table.get(key).filter(|_| key != "selector" || has_sites) {
                tell(name, component(study, key, value));
            }
        }
        tell("Measured", measured(study, table));
        tell(
            "Seed",
            varied(study, "seed")
                .unwrap_or_else(|| table.get("seed").map_or_else(String::new, shown)),
        );
    }
    for axis in &study.sweep {
        let values: Vec<&Value> = axis.values.iter().collect();
        tell(&format!("Swept: {}", axis.key), short(&axis.key, &values).join(", "));
    }
    tell("Set on the command line", content.asked.settings.join(", "));
    let logs: Vec<String> = content
        .asked
        .inputs
        .iter()
        .filter(|input| input.kept.is_none())
        .map(|input| {
            format!("{} (BLAKE3 {})", input.path, &input.blake3[..16.min(input.blake3.len())])
        })
        .collect();
    tell("Logs", logs.join(", "));
    tell(
        "Meshwork",
        if content.versions.is_empty() {
            String::new()
        } else {
            format!(
                "version {}, model {}",
                content.versions.join(" and "),
                meshwork::scenario::MODEL_VERSION
            )
        },
    );
    facts
}

fn failed(content: &Content) -> u64 {
    content.results.runs.iter().map(|runs| runs.failures().len() as u64).sum()
}

/// Text on the number of finished runs and of all runs, such as `12 of 40 runs`.
pub(super) fn so_far(content: &Content) -> String {
    let ended: u64 = content.results.runs.iter().map(|runs| runs.ended() as u64).sum();
    let all = ended + failed(content) + content.missing;
    format!("{} of {}", count(ended), plural(all, "run"))
}

fn runs(content: &Content) -> String {
    let scenarios = content.points.len() as u64;
    let mut text = format!("{}, {}", so_far(content), plural(scenarios, "scenario"));
    text += &match &content.study.replications {
        Replications::Fixed(1) if scenarios == 1 => String::new(),
        Replications::Fixed(1) => ", one replication of each".to_owned(),
        Replications::Fixed(number) => format!(", {} replications of each", count(*number)),
        Replications::Windows { length, stride } if (stride - length).abs() <= 0.0 => {
            format!(", in windows of {length} units of the log's time")
        }
        Replications::Windows { length, stride } => {
            format!(", in windows of {length} units of the log's time, one every {stride}")
        }
        Replications::Precision { target, most, of, .. } => format!(
            ", replicated until the interval of {of} is within {} % of its mean, at most {most} times",
            significant(100.0 * target, 3)
        ),
    };
    let failed = failed(content);
    if failed > 0 {
        text += &format!("; {} failed", count(failed));
    }
    if content.missing > 0 {
        text += &format!("; {} not run yet", count(content.missing));
    }
    text
}

/// Text on a component of the study, such as the scheduler. It names the component of the first
/// scenario, or all values if the component is swept.
fn component(study: &Study, key: &str, value: &Value) -> String {
    varied(study, key).unwrap_or_else(|| {
        let text = short(key, &[value]).concat();
        let inner: Vec<&str> = study
            .sweep
            .iter()
            .filter(|axis| axis.values.len() > 1)
            .filter_map(|axis| axis.key.strip_prefix(key)?.strip_prefix('.'))
            .collect();
        if inner.is_empty() { text } else { format!("{text}; swept: {}", inner.join(", ")) }
    })
}

fn varied(study: &Study, key: &str) -> Option<String> {
    let axis = study.sweep.iter().find(|axis| axis.key == key && axis.values.len() > 1)?;
    let values: Vec<&Value> = axis.values.iter().collect();
    Some(format!("swept: {}", short(key, &values).join(", ")))
}

/// Text on the measured part of a run and on the warm-up before it.
fn measured(study: &Study, table: &Table) -> String {
    let Some(measure) = table.get("measure").and_then(Value::as_table) else {
        return String::new();
    };
    let number = |key: &str| {
        measure.get(key).map(|value| match value {
            Value::Integer(number) => count(u64::try_from(*number).unwrap_or(0)),
            other => shown(other),
        })
    };
    let mut words: Vec<String> = Vec::new();
    let is_swept = |key: &str| study.sweep.iter().any(|axis| axis.key == format!("measure.{key}"));
    for (key, before, after) in [
        ("jobs", "until ", " jobs have finished"),
        ("time", "until time ", ""),
        ("warmup_jobs", "the first ", " jobs are not measured"),
        ("warmup_time", "nothing before time ", " is measured"),
    ] {
        let number = number(key).filter(|number| !["0", "0.0"].contains(&number.as_str()));
        if let (Some(number), false) = (number, is_swept(key)) {
            words.push(format!("{before}{number}{after}"));
        }
    }
    words.join("; ")
}

pub(super) fn command(content: &Content) -> String {
    let Content { study, asked, .. } = content;
    let mut settings = &asked.settings[..];
    let is_built_in = sources().any(|(name, text)| name == asked.file && text == study.source);
    let mut command = match (&study.paper, is_built_in) {
        (Some(paper), true) => {
            let mut command = format!("meshwork reproduce {paper}");
            if let Some(figure) = study.figures().next() {
                command += &format!(" {}", quoted(figure));
            }
            if let Some(rest) = beyond_quick(content) {
                command += " --quick";
                settings = rest;
            }
            command
        }
        _ => {
            let file = match &content.folder {
                Some(_) => study.folder.join(EXPERIMENT).display().to_string(),
                None => asked.file.clone(),
            };
            format!("meshwork run {}", quoted(&file))
        }
    };
    for setting in settings {
        command += &format!(" --set {}", quoted(setting));
    }
    command
}

/// Settings that the user gave beyond those of the table `[quick]`; `None` if this table was not
/// used.
fn beyond_quick(content: &Content) -> Option<&[String]> {
    let quick = &content.study.quick;
    if quick.is_empty() { None } else { content.asked.settings.strip_prefix(&quick[..]) }
}

pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Warnings without which the numbers of the study would be misread.
pub(super) fn warnings(content: &Content, summary: &Summary) -> Vec<String> {
    let Content { study, points, results, .. } = content;
    sentences(&meshwork_lab::findings::notes::warnings(study, points, results, summary))
}

fn sentences(notes: &[String]) -> Vec<String> {
    let sentence = |note: &String| {
        let mut letters = note.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string());
        format!("{}{}.", first.unwrap_or_default(), letters.as_str())
    };
    notes.iter().map(sentence).collect()
}

pub(super) fn notes_on_networks(content: &Content) -> Vec<String> {
    sentences(&meshwork_lab::findings::notes::of_networks(&content.study, &content.points))
}

pub(super) fn notes(content: &Content, summary: &Summary) -> Vec<String> {
    let Content { study, points, results, .. } = content;
    let mut notes =
        sentences(&meshwork_lab::findings::notes::notes(study, points, results, summary));
    if beyond_quick(content).is_some() {
        notes.push(QUICK.to_owned());
    }
    if let Some(why) = &content.asked.left_out {
        notes.push(format!("This study was left out: {why}"));
    } else if content.results.runs.iter().all(ScenarioRuns::is_empty) {
        notes.push(
            "No run has ended yet. The command below runs the study; the page shows more when it is made \
             again."
                .to_owned(),
        );
    } else if content.missing > 0 {
        notes.push(format!(
            "{} not here yet: the numbers below are of those that are.",
            match content.missing {
                1 => "One run is".to_owned(),
                missing => format!("{} runs are", count(missing)),
            }
        ));
    }
    notes.extend(
        unlike(&content.study.catalogue, &content.points)
            .iter()
            .map(|differing| differing.to_string()),
    );
    notes.extend(content.notes.iter().cloned());
    notes
}

/// Messages of failed runs, each with its first failed run and the number of further runs.
pub(super) fn failures(content: &Content) -> Vec<String> {
    let mut groups: Vec<(String, &str, u64)> = Vec::new();
    for (point, runs) in content.points.iter().zip(&content.results.runs) {
        for (replication, message) in runs.failures() {
            if let Some((.., count)) = groups.iter_mut().find(|(_, own, _)| *own == message) {
                *count += 1;
                continue;
            }
            let swept = label(&point.swept);
            let place = if swept.is_empty() { String::new() } else { format!("{swept}, ") };
            groups.push((format!("{place}replication {}", replication + 1), message, 1));
        }
    }
    let more: u64 = groups.iter().skip(MAX_FAILURES).map(|(.., count)| count).sum();
    let sentence = |(place, message, runs): &(String, &str, u64)| match runs {
        1 => format!("{place}: {message}"),
        runs => format!("{place} and {}: {message}", plural(runs - 1, "other run")),
    };
    let mut sentences: Vec<String> = groups.iter().take(MAX_FAILURES).map(sentence).collect();
    if more > 0 {
        sentences.push(format!("and {} more, in failures.csv", count(more)));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell() {
        assert_eq!(quoted("workload.load=0.7"), "workload.load=0.7");
        assert_eq!(quoted("Table IV"), "'Table IV'");
        assert_eq!(quoted("name='a b'"), r"'name='\''a b'\'''");
    }
}
