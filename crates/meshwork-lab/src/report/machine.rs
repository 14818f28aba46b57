//! Runs that the page shows instant by instant: which they are, and where they stand in it.

use std::fmt::Write;
use std::path::Path;

use rayon::prelude::*;

use super::html::{embedded, escaped, list};
use super::{Content, Section};
use crate::findings::summary::label;
use crate::run::store::{Record, load};
use crate::study::Refused;
use crate::watch::recording::{Recording, Subject, Window};

/// How many scenarios are shown unless somebody chooses: enough to compare, few enough to wait for.
const FIRST: usize = 4;

/// How many characters all recordings of a page may take, unless somebody chooses.
const ROOM: usize = 4 << 20;

/// Which runs a page shows instant by instant, and which part of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Maps {
    /// Scenario and replication, both from 1. Where there is none, the first replication of the first scenarios.
    pub runs: Vec<(u64, u64)>,
    /// The part of each.
    pub window: Window,
}

impl Default for Maps {
    fn default() -> Maps {
        Maps { runs: Vec::new(), window: Window { from: 0.0, jobs: 10_000 } }
    }
}

impl Maps {
    /// No run is shown.
    #[must_use]
    pub fn none() -> Maps {
        Maps { runs: Vec::new(), window: Window { from: 0.0, jobs: 0 } }
    }
}

/// What is recorded of a study, and one sentence for each run that could not be.
pub(super) type Recorded = (Vec<Recording>, Vec<String>);

/// The recordings of a study whose runs lie in this folder. Runs are simulated again, as many at a time as there are
/// processors.
///
/// # Errors
/// If a run is chosen that is not there.
pub(super) fn record(content: &Content, folder: &Path, maps: &Maps) -> Result<Recorded, Refused> {
    if maps.window.jobs == 0 {
        return Ok(Recorded::default());
    }
    let records = load(folder).map(|loaded| loaded.records).unwrap_or_default();
    let chosen = chosen(content, &records, maps)?;
    let results: Vec<(String, Result<Recording, String>)> = chosen
        .par_iter()
        .map(|&(scenario, record)| {
            let title = label(&content.points[scenario].swept);
            let subject = Subject { record, title: &title, scenario: scenario as u64 + 1 };
            let recording = Recording::of(subject, folder, maps.window);
            (name(scenario, record.replication, &title), recording)
        })
        .collect();
    let (mut recordings, mut without) = Recorded::default();
    let mut taken = 0;
    for (name, result) in results {
        match result {
            Ok(recording) => {
                taken += serde_json::to_string(&recording).map_or(0, |text| text.len());
                if maps.runs.is_empty() && taken > ROOM && !recordings.is_empty() {
                    without.push(format!(
                        "{name} is not shown here: the page would be too large. `meshwork report` shows it \
                         when it is asked to with `--run`."
                    ));
                } else {
                    recordings.push(recording);
                }
            }
            Err(why) => without.push(format!("{name} cannot be shown instant by instant: {why}.")),
        }
    }
    Ok((recordings, without))
}

fn name(scenario: usize, replication: u64, title: &str) -> String {
    let title = if title.is_empty() { String::new() } else { format!(" ({title})") };
    let replication =
        if replication == 0 { String::new() } else { format!(", replication {}", replication + 1) };
    format!("Scenario {}{title}{replication}", scenario + 1)
}

/// The index of a scenario, and its stored run.
fn chosen<'a>(
    content: &Content,
    records: &'a [Record],
    maps: &Maps,
) -> Result<Vec<(usize, &'a Record)>, Refused> {
    let of = |scenario: usize, replication: u64| {
        let runs = content.results.runs.get(scenario)?;
        let run = runs.iter().find(|run| run.replication == replication && run.result.is_ok())?;
        records.iter().find(|record| record.key == run.key)
    };
    if maps.runs.is_empty() {
        let first = 0..content.points.len();
        return Ok(first.filter_map(|i| Some((i, of(i, 0)?))).take(FIRST).collect());
    }
    let one = |&(scenario, replication): &(u64, u64)| {
        let count = content.points.len() as u64;
        if scenario == 0 || scenario > count {
            let has = if count == 1 { "has one".to_owned() } else { format!("has {count}") };
            return Err(Refused(format!("there is no scenario {scenario}: the study {has}")));
        }
        let index = (scenario - 1) as usize;
        let record = replication.checked_sub(1).and_then(|replication| of(index, replication));
        record.map(|record| (index, record)).ok_or_else(|| {
            Refused(format!(
                "scenario {scenario} has no replication {replication} that ended well, so there is nothing \
                 to be shown of it"
            ))
        })
    };
    maps.runs.iter().map(one).collect()
}

/// The place of the map in a section; nothing where there is nothing to say.
pub(super) fn html(section: &Section) -> String {
    if section.recordings.is_empty() && section.without_map.is_empty() {
        return String::new();
    }
    let id = escaped(&section.id);
    let mut out = format!(
        "<section class=\"instants\" aria-labelledby=\"{id}-machine\">\n<h4 id=\"{id}-machine\">The machine, \
         instant by instant</h4>\n"
    );
    if !section.recordings.is_empty() {
        let _ = write!(
            out,
            "<p>Who holds which processors, and who waits. Drag the slider, or press play; choose a job to \
             follow it.</p>\n<noscript><p>This is drawn by a script.</p></noscript>\n\
             <div class=\"machine\"></div>\n<script type=\"application/json\" class=\"recordings\">{}\
             </script>\n",
            embedded(serde_json::json!(section.recordings))
        );
    }
    list(&mut out, "notes", &section.without_map);
    out + "</section>\n"
}

/// What draws the maps of all sections.
pub(super) const START: &str = "for (const data of document.querySelectorAll('script.recordings')) {\n  \
    drawMachine(data.previousElementSibling, JSON.parse(data.textContent));\n}";
