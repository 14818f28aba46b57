//! Reconstructs a run from its per-job output, for runs that cannot be repeated.

use std::path::Path;

use meshwork::job::{Dims, Job, Time};
use meshwork::machine::{Block, Placement};
use meshwork::observe::JobId;
use meshwork::topology::{Grid, Topology};
use meshwork::workload::table::{self, Cell, Listed};

use super::{
    Heard, Recording, RecordingError, RecordingWindow, Subject, Timeline, scenario_as_it_was, sites,
};
use crate::inputs::Files;
use crate::run::check::RepeatError;
use crate::run::joboutput::{self, HEADER, Part};
use crate::study::JobFormat;
use crate::watch::{EventKind, RunEvent};

/// Reconstructs the recording of a run from its per-job output in a results folder.
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
    let rows = rows(&path).map_err(wrong)?;
    let mut heard = Heard::new(window);
    for happening in happenings(rows, &topologies).map_err(wrong)? {
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

/// Request of a finished job, and when and where it ran.
struct Row {
    asked: table::Row,
    start: f64,
    finish: f64,
    site: f64,
    blocks: String,
}

const COLUMNS: usize = 13;

fn rows(path: &Path) -> Result<Vec<Row>, String> {
    let shown = path.display().to_string();
    debug_assert_eq!(HEADER.split(',').count(), COLUMNS, "each is read");
    let known = |names: &[&str]| {
        let mut places = [None; COLUMNS];
        for (place, name) in places.iter_mut().zip(HEADER.split(',')) {
            *place = names.iter().position(|own| *own == name);
            place.ok_or_else(|| format!("there is no column `{name}`, as per-job output has"))?;
        }
        Ok(places)
    };
    let rows = Files::default().table(&shown, known, row).and_then(Iterator::collect);
    let shown = format!("{shown}:");
    rows.map_err(|error| error.0.strip_prefix(&shown).unwrap_or(&error.0).trim_start().to_owned())
}

fn row(line: u64, cells: [Option<Cell<'_>>; COLUMNS]) -> Result<Row, String> {
    let asked = table::Row { line, ..table::Row::default() };
    let (start, finish, site, blocks) = (f64::NAN, f64::NAN, f64::NAN, String::new());
    let mut row = Row { asked, start, finish, site, blocks };
    for (name, cell) in HEADER.split(',').zip(cells) {
        let (Some(cell), Some(part)) = (cell, Part::named(name)) else { continue };
        match (part, cell) {
            (Part::Asked(column), cell) => column.set(&mut row.asked, cell)?,
            (Part::Happened(_), Cell::Text(text)) if name == "blocks" => row.blocks = text.into(),
            (Part::Happened(outcome), cell) => {
                let number = match &cell {
                    Cell::Text(text) => text.parse().map_err(|_| text.as_ref()),
                    Cell::Number(number) => Ok(*number),
                    Cell::Date(_) => Err("a date"),
                };
                let number = number.map_err(|cell| {
                    format!("`{name}` is `{cell}`, but must be {}", outcome.holds.meaning())
                })?;
                match name {
                    "start" => row.start = number,
                    "finish" => row.finish = number,
                    "site" => row.site = number,
                    _ => {}
                }
            }
        }
    }
    Ok(row)
}

/// Events of all jobs in the order of the simulator. If a job has the run time 0, its end comes
/// after its start, at the same instant.
fn happenings(rows: Vec<Row>, topologies: &[Topology]) -> Result<Vec<RunEvent>, String> {
    let mut all: Vec<(Time, u8, RunEvent)> = Vec::with_capacity(3 * rows.len());
    for (i, row) in rows.into_iter().enumerate() {
        let id = JobId(i as u64);
        let listed = Listed::read(Box::new(std::iter::once(Ok(row.asked))), "the row");
        let (asked, _) = listed.map_err(|error| error.0)?.jobs.remove(0);
        let wrong =
            |what: &str| format!("the row of job {} has no {what} that can be read", asked.number);
        if row.start.is_nan() || row.finish.is_nan() {
            return Err(wrong("times"));
        }
        let site = row.site as usize;
        let topology = topologies.get(site).filter(|_| row.site >= 0.0);
        let grid = topology.ok_or_else(|| wrong("site"))?.grid();
        let placement = placement(&row.blocks, grid).ok_or_else(|| wrong("blocks"))?;
        let times = [asked.arrival, Time::new(row.start), Time::new(row.finish)];
        let job = Job::new(asked.number, times[0], asked.request, times[2] - times[1]);
        let started = EventKind::Started { site, placement };
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
    Some(Placement { blocks, parts: None })
}

fn dims(text: &str, between: char) -> Option<Dims> {
    text.split(between).map(|side| side.parse().ok()).collect()
}
