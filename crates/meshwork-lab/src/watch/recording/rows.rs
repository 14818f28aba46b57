//! A run from its per-job output, where it cannot be run again.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use meshwork::job::{Dims, Job, Request, Time};
use meshwork::machine::{Block, Placement};
use meshwork::observe::JobId;
use meshwork::scenario::Scenario;
use meshwork::topology::{Grid, Topology};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use toml::Table;

use super::{Recording, Subject, Tape, Window, sites};
use crate::run::joboutput::{self, HEADER};
use crate::study::JobFormat;
use crate::watch::{Happening, What};

/// The recording of a run whose job output lies in this folder.
///
/// # Errors
/// One sentence, if there is none or it cannot be read.
pub(super) fn read(
    subject: Subject<'_>,
    folder: &Path,
    window: Window,
    why: &str,
) -> Result<Recording, String> {
    let record = subject.record;
    let existing = [JobFormat::Csv, JobFormat::Parquet]
        .map(|format| joboutput::path(folder, &record.key, format))
        .into_iter()
        .find(|path| path.is_file());
    let Some(path) = existing else {
        return Err(format!(
            "{why}; and it has no per-job output either, which `[output] jobs = \"csv\"` would have written"
        ));
    };
    let shown = path.display().to_string();
    let table = Table::try_from(&record.scenario)
        .map_err(|error| format!("its scenario cannot be read ({error})"))?;
    let scenario = Scenario::read(&table).map_err(|problem| problem.message)?;
    let topologies = scenario.topologies();
    let begun = Recording::begin(subject, sites(&scenario, record.replication)?, window);
    let is_csv = path.extension().is_some_and(|extension| extension == "csv");
    let rows = if is_csv { from_csv(&path) } else { from_parquet(&path) };
    let rows = rows.map_err(|error| format!("{shown}: {error}"))?;
    let mut tape = Tape::new(window);
    for happening in happenings(&rows, &topologies).map_err(|error| format!("{shown}: {error}"))? {
        tape.take(happening);
    }
    let mut recording = begun.filled(subject, tape, record.findings.end)?;
    recording.notes.push(format!(
        "The run could not be run again ({why}), so this is its per-job output: jobs that were refused or had \
         not finished are not in it, nor is how jobs were moved."
    ));
    Ok(recording)
}

/// What a row says of a job that has finished.
#[derive(Clone, Debug, Default, PartialEq)]
struct Row {
    number: u64,
    submit: f64,
    start: f64,
    finish: f64,
    site: usize,
    blocks: String,
    nodes: Option<u32>,
    block: Option<String>,
    subcube: Option<u32>,
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

fn from_parquet(path: &Path) -> Result<Vec<Row>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let file = File::open(path).map_err(|error| text(&error))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| text(&error))?;
    let mut rows = Vec::new();
    for batch in builder.build().map_err(|error| text(&error))? {
        let batch = batch.map_err(|error| text(&error))?;
        rows.extend(of_batch(&batch).ok_or("its columns are not those of per-job output")?);
    }
    Ok(rows)
}

/// The rows of a batch; `None` where a column is missing or of another kind.
fn of_batch(batch: &RecordBatch) -> Option<Vec<Row>> {
    let real = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<Float64Type>();
    let small = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<UInt32Type>();
    let text = |name: &str| batch.column_by_name(name)?.as_string_opt::<i32>();
    let number = batch.column_by_name("job")?.as_primitive_opt::<UInt64Type>()?;
    let (submit, start, finish) = (real("submit")?, real("start")?, real("finish")?);
    let (site, nodes, subcube) = (small("site")?, small("nodes")?, small("subcube")?);
    let (blocks, block) = (text("blocks")?, text("block")?);
    let row = |at: usize| Row {
        number: number.value(at),
        submit: submit.value(at),
        start: start.value(at),
        finish: finish.value(at),
        site: site.value(at) as usize,
        blocks: blocks.value(at).to_owned(),
        nodes: nodes.is_valid(at).then(|| nodes.value(at)),
        block: block.is_valid(at).then(|| block.value(at).to_owned()),
        subcube: subcube.is_valid(at).then(|| subcube.value(at)),
    };
    Some((0..batch.num_rows()).map(row).collect())
}

/// What happened, in the order of the engine: at one instant departures, arrivals, starts; but a job that takes no
/// time ends after it has begun.
fn happenings(rows: &[Row], topologies: &[Topology]) -> Result<Vec<Happening>, String> {
    let mut all: Vec<(Time, u8, Happening)> = Vec::with_capacity(3 * rows.len());
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
        let job = Job {
            number: row.number,
            arrival: times[0],
            request,
            runtime: times[2] - times[1],
            estimate: times[2] - times[1],
        };
        let started = What::Started { site: row.site, placement };
        let is_instant = times[1] == times[2];
        let order = [1, 2, if is_instant { 3 } else { 0 }];
        for ((at, order), what) in
            times.into_iter().zip(order).zip([What::Arrived(job), started, What::Finished])
        {
            all.push((at, order, Happening { at, id, what }));
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

/// What [`Placement::text`] wrote.
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
