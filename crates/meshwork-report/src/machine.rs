//! Selects and lays out the runs that a page replays event by event.

use std::path::Path;

use maud::{Markup, html};
use meshwork::catalogue::Catalogue;
use rayon::prelude::*;

use super::markup::{embedded, list};
use super::{Content, Section, StoredChoice};
use meshwork_lab::run::store::{Archive, RunRecord};
use meshwork_lab::study::Refused;
use meshwork_lab::study::sample::sample;
use meshwork_lab::study::words::short_label;
use meshwork_lab::text::shown;
use meshwork_lab::watch::recording::{
    Recording, RecordingError, RecordingWindow, Subject, Timeline, kept,
};

/// Maximum number of timelines in a plot: more lines could not be told apart.
const GLANCES: usize = 12;

/// Maximum number of scenarios whose runs are replayed, unless the user selected the runs.
const MAPS: usize = 4;

/// Maximum number of characters of all recordings in a page, unless the user selected the runs.
const ROOM: usize = 4 << 20;

/// Selection of the runs that a page replays event by event, and of the jobs in each replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Maps {
    /// Runs to replay. Each has the numbers of its scenario and replication, counted from 1.
    pub runs: Vec<(u64, u64)>,
    pub window: RecordingWindow,
}

impl Default for Maps {
    fn default() -> Maps {
        Maps { runs: Vec::new(), window: RecordingWindow { from: 0.0, jobs: 10_000 } }
    }
}

impl Maps {
    pub fn none() -> Maps {
        Maps { runs: Vec::new(), window: RecordingWindow { from: 0.0, jobs: 0 } }
    }
}

#[derive(Default)]
pub(super) struct Recorded {
    pub(super) recordings: Vec<Recording>,
    pub(super) without: Vec<String>,
    pub(super) timelines: Vec<Timeline>,
}

/// Makes a recording and a timeline of each run that `maps` selects. Also makes timelines of
/// further runs whose events are stored, up to `GLANCES` in all. Leaves out recordings that would
/// make the page too large.
pub(super) fn record(content: &Content, folder: &Path, maps: &Maps) -> Result<Recorded, Refused> {
    if maps.window.jobs == 0 {
        return Ok(Recorded::default());
    }
    let archive = Archive::open(folder, |_, _| {}).unwrap_or_default();
    let chosen = chosen(content, &archive, maps)?;
    let results: Vec<(String, Result<(Recording, Timeline), RecordingError>)> = chosen
        .par_iter()
        .map(|(scenario, record)| {
            let title = title(content, *scenario);
            let clock = content.clock_of(*scenario);
            let subject = subject(content, *scenario, record, &title);
            let seen = Recording::with_timeline(subject, folder, maps.window)
                .map(|(recording, timeline)| (Recording { clock, ..recording }, timeline));
            (name(*scenario, record.replication, &title), seen)
        })
        .collect();
    let Recorded { mut recordings, mut without, mut timelines } = Recorded::default();
    let mut taken = 0;
    for (name, result) in results {
        match result {
            Ok((recording, timeline)) => {
                timelines.push(timeline);
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
    timelines.extend(further(content, folder, &archive, &chosen));
    timelines.truncate(GLANCES);
    timelines.sort_by_key(|timeline| (timeline.scenario, timeline.replication));
    for timeline in &mut timelines {
        let swept = content.points[timeline.scenario as usize - 1].swept.iter();
        timeline.swept = swept.map(|(key, value)| (key.clone(), shown(value))).collect();
    }
    Ok(Recorded { recordings, without, timelines })
}

fn further(
    content: &Content,
    folder: &Path,
    archive: &Archive,
    chosen: &[(usize, RunRecord)],
) -> Vec<Timeline> {
    let of = |scenario: usize| {
        let key = content.results.runs.get(scenario)?.key(0)?;
        let is_shown = chosen.iter().any(|(_, other)| other.key == key);
        let is_kept = !is_shown && kept::path(folder, &key).is_file();
        is_kept.then(|| archive.find(&key).map(|record| (scenario, record)))?
    };
    let rest = GLANCES.saturating_sub(chosen.len());
    let kept: Vec<(usize, RunRecord)> =
        (0..content.points.len()).filter_map(of).take(rest).collect();
    let seen = |(scenario, record): &(usize, RunRecord)| {
        let title = title(content, *scenario);
        Timeline::of(subject(content, *scenario, record, &title), folder).ok()
    };
    kept.par_iter().filter_map(seen).collect()
}

fn title(content: &Content, scenario: usize) -> String {
    short_label(&content.study, &content.points[scenario].swept)
}

fn subject<'a>(
    content: &'a Content,
    scenario: usize,
    record: &'a RunRecord,
    title: &'a str,
) -> Subject<'a> {
    let (catalogue, scenario) = (&content.study.catalogue, scenario as u64 + 1);
    Subject { catalogue, record, title, scenario }
}

fn run(
    content: &Content,
    archive: &Archive,
    scenario: usize,
    replication: u64,
) -> Option<RunRecord> {
    archive.find(&content.results.runs.get(scenario)?.key(replication)?)
}

fn name(scenario: usize, replication: u64, title: &str) -> String {
    let title = if title.is_empty() { String::new() } else { format!(" ({title})") };
    let replication =
        if replication == 0 { String::new() } else { format!(", replication {}", replication + 1) };
    format!("Scenario {}{title}{replication}", scenario + 1)
}

fn chosen(
    content: &Content,
    archive: &Archive,
    maps: &Maps,
) -> Result<Vec<(usize, RunRecord)>, Refused> {
    let of = |scenario: usize, replication: u64| run(content, archive, scenario, replication);
    if maps.runs.is_empty() {
        let raced = content.choice.as_ref().map(StoredChoice::sample);
        let shown = raced.unwrap_or_else(|| sample(&content.study)).into_iter();
        return Ok(shown.filter_map(|i| Some((i, of(i, 0)?))).take(MAPS).collect());
    }
    maps.runs.iter().map(|&run| one(content, archive, run)).collect()
}

fn one(
    content: &Content,
    archive: &Archive,
    (scenario, replication): (u64, u64),
) -> Result<(usize, RunRecord), Refused> {
    let count = content.points.len() as u64;
    if scenario == 0 || scenario > count {
        let has = if count == 1 { "has one".to_owned() } else { format!("has {count}") };
        return Err(Refused(format!("there is no scenario {scenario}: the study {has}")));
    }
    let index = (scenario - 1) as usize;
    let record = replication.checked_sub(1).and_then(|number| run(content, archive, index, number));
    record.map(|record| (index, record)).ok_or_else(|| {
        Refused(format!(
            "scenario {scenario} has no replication {replication} that ended well, so there is nothing \
             to be shown of it"
        ))
    })
}

/// Stored run of the study in `folder`. `run` has its scenario and replication, counted from 1.
pub fn stored_run(
    catalogue: &Catalogue,
    folder: &Path,
    run: (u64, u64),
) -> Result<RunRecord, Refused> {
    if let [study] = &super::folder::studies(folder)?[..] {
        let content = super::folder::read(catalogue, study)?;
        let archive = Archive::open(study, |_, _| {})?;
        return Ok(one(&content, &archive, run)?.1);
    }
    Err(Refused(format!(
        "{}: there are several studies in this folder: give that of one of them",
        folder.display()
    )))
}

/// HTML element for the map of the machine.
///
/// It is empty without a recording, unless there is a note on why a recording is missing.
pub(super) fn html(section: &Section, is_alone: bool) -> Markup {
    let title = format!("{}-machine", section.id);
    html! {
        @if !section.recordings.is_empty() || !section.without_map.is_empty() {
            section.instants aria-labelledby=(title) {
                @if is_alone {
                    h3.small id=(title) { "The machine, instant by instant" }
                } @else {
                    h4 id=(title) { "The machine, instant by instant" }
                }
                @if !section.recordings.is_empty() {
                    p {
                        "Who holds which processors, and who waits. Drag the slider, or press play; choose a job \
                         to follow it."
                    }
                    noscript { p { "This is drawn by a script." } }
                    div.machine {}
                    script.recordings type="application/json" {
                        (embedded(serde_json::json!(section.recordings)))
                    }
                }
                (list("notes", &section.without_map))
            }
        }
    }
}
