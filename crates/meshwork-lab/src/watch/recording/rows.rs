//! Reconstruction of a run that cannot be repeated from its per-job output.

use std::path::Path;

use meshwork::job::{Dims, Job, Request, Time};
use meshwork::machine::{Block, Placement};
use meshwork::observe::JobId;
use meshwork::topology::{Grid, Topology};

use super::{
    Heard, Recording, RecordingError, RecordingWindow, Subject, Timeline, scenario_as_it_was, sites,
};
use crate::run::check::RepeatError;
use crate::run::joboutput::{self, HEADER};
use crate::study::JobFormat;
use crate::watch::{EventKind, RunEvent};

/// Recording of a run from its per-job output in this folder.
///
/// # Errors
/// If there is no job output or it cannot be read.
pub(super) fn read(
    subject: Subject<'_>,
    folder: &Path,
    window: RecordingWindow,
    why: RepeatError,
) -> Result<(Recording, Timeline), RecordingError> {
    let record = subject.record;
    let existing = [JobFormat::Csv, JobFormat::Parquet]
        .map(|format| joboutput::path(folder, &record.key, format))
        .into_iter()
        .find(|path| path.is_file());
    let Some(path) = existing else {
        return Err(RecordingError::Nowhere(why));
    };
    let wrong = |why: String| RecordingError::JobOutput { path: path.display().to_string(), why };
    let scenario = scenario_as_it_was(subject.catalogue, record)?;
    let topologies = scenario.topologies();
    let is_csv = path.extension().is_some_and(|extension| extension == "csv");
    let rows = if is_csv { from_csv(&path) } else { from_parquet(&path) };
    let rows = rows.map_err(wrong)?;
    let mut heard = Heard::new(window);
    for happening in happenings(&rows, &topologies).map_err(wrong)? {
        heard.take(happening);
    }
    let sites = sites(&scenario, record.replication)?;
    let (mut recording, timeline) = heard.seen(subject, sites, record.findings.end, true)?;
    recording.notes.push(format!(
        "The run could not be run again ({why}), so this is its per-job output: jobs that were refused or had \
         not finished are not in it, nor is how jobs were moved."
    ));
    Ok((recording, timeline))
}

/// A row of per-job output, for a finished job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row {
    pub(super) number: u64,
    pub(super) submit: f64,
    pub(super) start: f64,
    pub(super) finish: f64,
    pub(super) site: usize,
    pub(super) blocks: String,
    pub(super) nodes: Option<u32>,
    pub(super) block: Option<String>,
    pub(super) subcube: Option<u32>,
}

#[cfg(feature = "parquet")]
use super::parquet::from_parquet;

/// Fails: reading Parquet needs the feature `parquet`.
#[cfg(not(feature = "parquet"))]
fn from_parquet(_: &Path) -> Result<Vec<Row>, String> {
    Err(crate::run::inputs::NO_PARQUET.to_owned())
}

fn from_csv(path: &Path) -> Result<Vec<Row>, String> {
    let mut reader = csv::Reader::from_path(path).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let cell = |name: &str| {
            let place = HEADER.split(',').position(|column| column == name);
            place.and_then(|place| record.get(place)).unwrap_or_default()
        };
        rows.push(Row {
            number: parsed("job", cell("job"))?,
            submit: parsed("submit", cell("submit"))?,
            start: parsed("start", cell("start"))?,
            finish: parsed("finish", cell("finish"))?,
            site: parsed("site", cell("site"))?,
            blocks: cell("blocks").to_owned(),
            nodes: cell("nodes").parse().ok(),
            block: Some(cell("block").to_owned()).filter(|block| !block.is_empty()),
            subcube: cell("subcube").parse().ok(),
        });
    }
    Ok(rows)
}

fn parsed<T: std::str::FromStr>(name: &str, cell: &str) -> Result<T, String> {
    cell.parse().map_err(|_| format!("`{name}` is `{cell}`, but must be a number"))
}

/// Events in the order of the engine. At one instant, departures precede arrivals, and arrivals
/// precede starts; but a job with run time zero ends after its start.
fn happenings(rows: &[Row], topologies: &[Topology]) -> Result<Vec<RunEvent>, String> {
    let mut all: Vec<(Time, u8, RunEvent)> = Vec::with_capacity(3 * rows.len());
    for (i, row) in rows.iter().enumerate() {
        let id = JobId(i as u64);
        let wrong =
            |what: &str| format!("the row of job {} has no {what} that can be read", row.number);
        let topology = topologies.get(row.site).ok_or_else(|| wrong("site"))?;
        let placement = placement(&row.blocks, topology.grid()).ok_or_else(|| wrong("blocks"))?;
        let request = request(row).ok_or_else(|| wrong("request"))?;
        if [row.submit, row.start, row.finish].iter().any(|time| time.is_nan()) {
            return Err(wrong("times"));
        }
        let times = [row.submit, row.start, row.finish].map(Time::new);
        let job = Job::new(row.number, times[0], request, times[2] - times[1]);
        let started = EventKind::Started { site: row.site, placement };
        let is_instant = times[1] == times[2];
        let order = [1, 2, if is_instant { 3 } else { 0 }];
        for ((at, order), what) in times.into_iter().zip(order).zip([
            EventKind::Arrived(job),
            started,
            EventKind::Finished,
        ]) {
            all.push((at, order, RunEvent { at, id, what }));
        }
    }
    all.sort_by_key(|(at, order, happening)| (*at, *order, happening.id));
    Ok(all.into_iter().map(|(_, _, happening)| happening).collect())
}

fn request(row: &Row) -> Option<Request> {
    let nodes = row.nodes.map(Request::Nodes);
    let subcube = row.subcube.map(Request::Subcube);
    nodes.or(subcube).or_else(|| Some(Request::Block(dims(row.block.as_deref()?, 'x')?)))
}

/// Parses the output of [`Placement::text`].
fn placement(text: &str, grid: &Grid) -> Option<Placement> {
    let block = |text: &str| {
        let (corner, sides) = text.split_once(':')?;
        let (corner, sides) = (dims(corner, ',')?, dims(sides, 'x')?);
        let is_inside = corner.len() == grid.dimensions()
            && corner.iter().zip(grid.sides()).all(|(at, side)| at < side);
        let base = is_inside.then(|| grid.node(&corner))?;
        grid.holds(base, &sides).then_some(Block { base, sides })
    };
    let blocks = text.split(';').map(block).collect::<Option<_>>()?;
    Some(Placement { blocks })
}

fn dims(text: &str, between: char) -> Option<Dims> {
    text.split(between).map(|side| side.parse().ok()).collect()
}
