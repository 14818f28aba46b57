//! Reads published traces as tables of jobs. A trace is recognized by the names of its columns.

mod formats;
mod kueue;
mod machine;
mod philly;
mod slurm;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read as _;

use meshwork::workload::Inputs as _;
use meshwork::workload::table::{Cell, Column, Instant, Row};

use super::form::is_json;
use crate::inputs::Files;
use crate::slurm::folder::SlurmMachine;
use crate::text::number::count;
use formats::{FORMATS, HISTORY, HISTORY_COLUMNS, SHARED_COLUMNS};
use meshwork_slurm::date::unix_seconds;
use meshwork_slurm::sacct::span;

pub use machine::machine_text;
pub use slurm::SlurmPieces;

#[derive(Debug)]
struct Published {
    name: &'static str,
    marks: &'static [&'static str],
    holds: Holds,
    no_place: &'static [&'static str],
}

#[derive(Debug)]
enum Holds {
    Jobs {
        columns: &'static [Mapped],
        one_per: Option<&'static str>,
        skipped: &'static [(&'static str, &'static [&'static str])],
    },
    Nodes(MachineColumns),
    Nothing(&'static str),
}

#[derive(Clone, Copy, Debug)]
struct Mapped {
    ours: &'static str,
    source: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// The cell is the value in a column. A text that is a date is converted to a date.
    Of(&'static str),
    /// The cell is the job ID in a column. The column is used only if all its values are whole
    /// numbers.
    Id(&'static str),
    /// The cell is the number in a column times a factor, which converts the unit.
    Times(&'static str, f64),
    /// The cell is the product of the numbers in two columns and a factor, which converts the unit.
    Product(&'static str, &'static str, f64),
    /// The cell is the quotient of the numbers in two columns, if the second is positive. Otherwise
    /// it is empty.
    Share(&'static str, &'static str),
    /// The cell is the time in seconds between two instants, each in a column. The earlier one is
    /// first.
    Between(&'static str, &'static str),
    /// The cell is a translation of the word in a column. The list pairs each word of the column
    /// with its translation.
    Word(&'static str, &'static [(&'static str, &'static str)]),
    /// The cell is a constant word if a column has a certain value, and otherwise empty.
    ///
    /// The fields are the name of the column, the value and the word.
    If(&'static str, &'static str, &'static str),
    /// The cell is a constant word if the number in a column is positive, and otherwise empty.
    IfSome(&'static str, &'static str),
    /// The cell is the time, in seconds, at which an hour begins. One column has the day, another
    /// one the hour. Both count from 0.
    Hour(&'static str, &'static str),
    /// The cell is converted from a column in which durations are written in Slurm's format.
    Limit(&'static str),
    /// The cell is the memory in MB from a column in which amounts are written in Slurm's format.
    SlurmMemory(&'static str),
    /// The cell is a number or property of a job's pieces, which are equal parts of nodes. It is
    /// read from a list of trackable resources.
    Tres(&'static str, &'static str),
    /// The cell is a number or property of a job's pieces, which are equal parts of nodes. It is
    /// read from options of `salloc`.
    Options(&'static str, &'static str),
    Always(f64),
}

impl Source {
    fn columns(self) -> Vec<&'static str> {
        match self {
            Source::Of(one)
            | Source::Id(one)
            | Source::Times(one, _)
            | Source::Word(one, _)
            | Source::If(one, ..)
            | Source::IfSome(one, _)
            | Source::Limit(one)
            | Source::SlurmMemory(one)
            | Source::Tres(one, _)
            | Source::Options(one, _) => vec![one],
            Source::Product(one, other, _)
            | Source::Share(one, other)
            | Source::Between(one, other)
            | Source::Hour(one, other) => vec![one, other],
            Source::Always(_) => Vec::new(),
        }
    }
}

#[derive(Debug)]
struct MachineColumns {
    name: &'static str,
    /// Column that gives the cores of a node in some unit, and the factor that converts them to
    /// cores.
    cpu: Option<(&'static str, f64)>,
    memory: Option<&'static str>,
    gpus: Option<&'static str>,
    model: Option<&'static str>,
    /// Names of the columns that give the groups of a node (such as clusters), largest group first.
    above: &'static [&'static str],
}

impl MachineColumns {
    fn columns(&self) -> Vec<&'static str> {
        let amounts = [self.cpu.map(|(name, _)| name), self.memory, self.gpus, self.model];
        let all = std::iter::once(self.name).chain(amounts.into_iter().flatten());
        all.chain(self.above.iter().copied()).collect()
    }
}

/// Maximum number of columns that are read from a trace.
const MOST: usize = 48;

/// Row of a trace: its line number in the file, and the cells of the columns that are read.
struct Given {
    line: u64,
    cells: [Option<Cell<'static>>; MOST],
}

struct Recognized {
    format: &'static Published,
    read: Vec<&'static str>,
    /// Names of the columns in the file that are not read because Meshwork does not know them.
    unknown: Vec<String>,
    rows: Vec<Given>,
}

#[derive(Default)]
pub struct PublishedJobs {
    pub rows: Vec<Row>,
    pub lines: u64,
    pub no_run_time: u64,
    pub no_processors: u64,
    pub no_submit_time: u64,
    pub lost: Vec<String>,
}

/// Reads the jobs of a published trace; `None` if the file is not a published trace.
pub fn jobs(path: &str) -> Result<Option<PublishedJobs>, String> {
    let Some(found) = recognized(&Files::default(), path)? else { return Ok(None) };
    let name = found.format.name;
    match &found.format.holds {
        Holds::Jobs { columns, one_per, skipped } => {
            Reading::new(path, &found, columns, *one_per).read(skipped).map(Some)
        }
        Holds::Nodes(_) => Err(format!(
            "{path}: this lists the nodes of a machine ({name}): write it to a file that ends in .toml"
        )),
        Holds::Nothing(reason) => {
            Err(format!("{path}: of this table ({name}) no jobs are made: {reason}"))
        }
    }
}

/// Reads the jobs in a site's job history; `None` if the file is not such a history.
pub fn history(files: &Files, path: &str) -> Result<Option<Vec<Row>>, String> {
    let found = recognized(files, path)?.filter(|found| found.format.name == HISTORY);
    let Some(found) = found else { return Ok(None) };
    let reading = Reading::new(path, &found, &HISTORY_COLUMNS[SHARED_COLUMNS..], None);
    let mut rows = reading.read(&[])?.rows;
    for submit in rows.iter_mut().filter_map(|row| row.submit.as_mut()) {
        submit.is_date = true;
    }
    let machine = files.locate(path).parent().and_then(SlurmMachine::of_sharing_site);
    let Some(machine) = machine else { return Ok(Some(rows)) };
    let of_line: HashMap<u64, &Given> = found.rows.iter().map(|row| (row.line, row)).collect();
    let parts = machine.parts().map_err(|says| format!("{path}: {says}"))?;
    for row in &mut rows {
        let given = of_line[&row.line];
        let text = |column: &str| found.text(given, column).unwrap_or_default();
        let partition = text("partition");
        let first = partition.split(',').next().unwrap_or_default();
        let Some(site) = parts.get(first).or(parts.values().next()) else { continue };
        let nodes = row.nodes.map_or(0.0, f64::from);
        let cpus = found.number(given, "processors")?.unwrap_or(0.0);
        let is_whole = !text("exclusive").is_empty();
        let pieces = SlurmPieces::of_job(&text("options"), (nodes, cpus), is_whole, &site.machine);
        let Some(pieces) = pieces else { continue };
        row.nodes = None;
        for mapped in &HISTORY_COLUMNS[..SHARED_COLUMNS] {
            if let (Some(column), Some(cell)) =
                (Column::named(mapped.ours), pieces.cell(mapped.ours))
            {
                column.set(row, cell).map_err(|says| format!("{path}:{}: {says}", given.line))?;
            }
        }
    }
    Ok(Some(rows))
}

/// Recognizes a published trace and reads its rows; `None` if the file is not a published trace.
fn recognized(files: &Files, path: &str) -> Result<Option<Recognized>, String> {
    if is_json(path) {
        return from_json(path).map(Some);
    }
    let names = files.column_names(path).map_err(|error| error.0)?;
    let is_there = |wanted: &str| names.iter().any(|name| name.trim().eq_ignore_ascii_case(wanted));
    // A table of jobs in the format of this program has both columns.
    if is_there("submit") && is_there("runtime") {
        return Ok(None);
    }
    let Some(format) = FORMATS.iter().find(|format| format.marks.iter().all(|mark| is_there(mark)))
    else {
        return Ok(None);
    };
    let read = format.columns();
    let unknown = names.iter().filter(|name| {
        let name = name.trim();
        !name.is_empty() && !read.iter().any(|own| own.eq_ignore_ascii_case(name))
    });
    let unknown = unknown.map(|name| name.trim().to_owned()).collect();
    let places = |names: &[&str]| {
        let place =
            |wanted: &str| names.iter().position(|name| name.trim().eq_ignore_ascii_case(wanted));
        Ok(std::array::from_fn(|at| read.get(at).and_then(|wanted| place(wanted))))
    };
    let lines = files.table(path, places, given).map_err(|error| error.0)?;
    let rows = lines.collect::<Result<Vec<Given>, _>>().map_err(|error| error.0)?;
    Ok(Some(Recognized { format, read, unknown, rows }))
}

fn from_json(path: &str) -> Result<Recognized, String> {
    let mut text = String::new();
    let read = Files::default().text(path).map_err(|error| error.0)?.read_to_string(&mut text);
    read.map_err(|error| format!("{path}: {error}"))?;
    match text.trim_start().starts_with('{') && text.contains("\"items\"") {
        true => kueue::read(path, &text),
        false => philly::read(path, &text),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "what the reader of tables takes")]
fn given(line: u64, cells: [Option<Cell<'_>>; MOST]) -> Result<Given, String> {
    let owned = |cell: Cell<'_>| match cell {
        Cell::Text(text) => Cell::Text(Cow::Owned(text.into_owned())),
        Cell::Number(number) => Cell::Number(number),
        Cell::Date(date) => Cell::Date(date),
    };
    Ok(Given { line, cells: cells.map(|cell| cell.filter(|cell| !is_none(cell)).map(owned)) })
}

fn is_none(cell: &Cell<'_>) -> bool {
    const NONE: [&str; 10] =
        ["", "nan", "none", "null", "na", "n/a", "nat", "unknown", "infinite", "unlimited"];
    match cell {
        Cell::Text(text) => NONE.iter().any(|none| text.trim().eq_ignore_ascii_case(none)),
        Cell::Number(number) | Cell::Date(number) => !number.is_finite(),
    }
}

impl Published {
    fn columns(&self) -> Vec<&'static str> {
        let mut all: Vec<&'static str> = match &self.holds {
            Holds::Jobs { columns, one_per, skipped } => {
                let own = columns.iter().flat_map(|mapped| mapped.source.columns());
                own.chain(*one_per).chain(skipped.iter().map(|(column, _)| *column)).collect()
            }
            Holds::Nodes(columns) => columns.columns(),
            Holds::Nothing(_) => Vec::new(),
        };
        all.extend(self.no_place);
        let mut once = BTreeSet::new();
        all.retain(|name| once.insert(*name));
        all
    }
}

struct Reading<'a> {
    path: &'a str,
    found: &'a Recognized,
    columns: &'static [Mapped],
    one_per: Option<&'static str>,
    jobs: PublishedJobs,
    /// For each known field that is no column of tables of jobs, number of jobs with a value in it.
    absent: BTreeMap<&'static str, u64>,
    /// Number of jobs with a value in each column of the trace that tables of jobs cannot hold.
    no_place: Vec<u64>,
    /// Number of rows whose job IDs are ignored because they are not whole numbers.
    other_ids: u64,
    /// Number of amounts (of cores, memory and so on) that were rounded up to whole numbers.
    rounded: u64,
}

impl<'a> Reading<'a> {
    fn new(
        path: &'a str,
        found: &'a Recognized,
        columns: &'static [Mapped],
        one_per: Option<&'static str>,
    ) -> Reading<'a> {
        let jobs = PublishedJobs {
            lines: found.rows.len() as u64,
            lost: vec![format!("read as {}", found.format.name)],
            ..PublishedJobs::default()
        };
        let no_place = vec![0; found.format.no_place.len()];
        Reading {
            path,
            found,
            columns,
            one_per,
            jobs,
            absent: BTreeMap::new(),
            no_place,
            other_ids: 0,
            rounded: 0,
        }
    }

    fn read(
        mut self,
        skipped: &[(&'static str, &'static [&'static str])],
    ) -> Result<PublishedJobs, String> {
        let (found, path) = (self.found, self.path);
        let mut places: HashMap<String, usize> = HashMap::new();
        let (mut idle, mut merged) = (0, 0);
        for given in &found.rows {
            let says = |column: &str, words: &[&str]| {
                found.text(given, column).is_some_and(|text| words.contains(&&*text))
            };
            if skipped.iter().any(|(column, words)| says(column, words)) {
                idle += 1;
                continue;
            }
            let key = self.one_per.and_then(|column| found.text(given, column));
            let known = key.as_ref().and_then(|key| places.get(key.as_ref()).copied());
            let failed = |what: String| format!("{path}:{}: {what}", given.line);
            if let Some(place) = known {
                let (row, _) = self.row(given, false).map_err(failed)?;
                self.join(place, &row);
                merged += 1;
                continue;
            }
            let (row, asks) = self.row(given, true).map_err(failed)?;
            let lacks = [row.submit.is_none(), row.runtime.is_none(), !asks];
            let counts = &mut self.jobs;
            match lacks {
                [true, ..] => counts.no_submit_time += 1,
                [_, true, _] => counts.no_run_time += 1,
                [.., true] => counts.no_processors += 1,
                _ => {
                    places.extend(key.map(|key| (key.into_owned(), counts.rows.len())));
                    counts.rows.push(row);
                }
            }
        }
        if self.other_ids > 0 {
            self.jobs.rows.iter_mut().for_each(|row| row.job = None);
        }
        self.report(idle, merged);
        Ok(self.jobs)
    }

    /// Converts a row of the trace to a row of the table of jobs. The flag is true if the row
    /// requests nodes or pieces of nodes.
    fn row(&mut self, given: &Given, is_new: bool) -> Result<(Row, bool), String> {
        let mut row = Row { line: given.line, ..Row::default() };
        let mut done: Vec<&str> = Vec::new();
        for mapped in self.columns {
            if done.contains(&mapped.ours) {
                continue;
            }
            let Some(cell) = self.found.cell(given, mapped.source)? else {
                let is_id =
                    matches!(mapped.source, Source::Id(id) if self.found.get(given, id).is_some());
                self.other_ids += u64::from(is_id);
                continue;
            };
            // A count of 0, as of a job that never started, is no request.
            if ["nodes", "pieces", "cpu", "gpu"].contains(&mapped.ours) && is_zero(&cell) {
                continue;
            }
            done.push(mapped.ours);
            // Pieces determine the possible numbers of nodes, so a number of nodes is left out.
            let is_of_all =
                |own: &Mapped| own.ours == "pieces" && !matches!(own.source, Source::Options(..));
            let has_pieces = done.contains(&"pieces") || self.columns.iter().any(is_of_all);
            if mapped.ours == "nodes" && has_pieces {
                continue;
            }
            match Column::named(mapped.ours) {
                Some(column) => column.set(&mut row, self.whole(mapped.ours, cell)).map_err(
                    |says| match mapped.source {
                        // The error message names the column as in the trace.
                        Source::Of(theirs) => says.replacen(mapped.ours, theirs, 1),
                        _ => says,
                    },
                )?,
                None if is_new => *self.absent.entry(mapped.ours).or_default() += 1,
                None => {}
            }
        }
        if is_new {
            for (at, column) in self.found.format.no_place.iter().enumerate() {
                self.no_place[at] += u64::from(self.found.get(given, column).is_some());
            }
        }
        let asks = ["nodes", "pieces", "roles"].iter().any(|own| done.contains(own));
        Ok((row, asks))
    }

    /// Rounds an amount of cores or memory, or of more than one GPU, up to a whole number.
    ///
    /// Other amounts are unchanged.
    fn whole(&mut self, ours: &str, cell: Cell<'static>) -> Cell<'static> {
        let number = match &cell {
            Cell::Number(number) => *number,
            Cell::Text(text) => text.parse().unwrap_or(f64::NAN),
            Cell::Date(_) => f64::NAN,
        };
        let is_whole = match ours {
            "cpu" | "mem" => false,
            "gpu" => number <= 1.0,
            _ => true,
        };
        if is_whole || number.is_nan() || number.ceil() - number == 0.0 {
            return cell;
        }
        self.rounded += 1;
        Cell::Number(number.ceil())
    }

    /// Merges a further row of the trace into the job at `place`. The job then runs from the first
    /// submission to the last end.
    fn join(&mut self, place: usize, row: &Row) {
        let own = &mut self.jobs.rows[place];
        let (Some(begin), Some(other)) = (own.submit, row.submit) else { return };
        let end = |at: Instant, length: Option<f64>| at.at + length.unwrap_or(0.0);
        let end = end(begin, own.runtime).max(end(other, row.runtime));
        let first = if other.at < begin.at { other } else { begin };
        own.submit = Some(first);
        own.runtime = Some(end - first.at);
    }

    /// Writes a sentence about each kind of lost information, with the number of jobs concerned.
    fn report(&mut self, idle: u64, merged: u64) {
        let format = self.found.format;
        let mut say = |what: &str, of: Vec<String>| {
            if !of.is_empty() {
                self.jobs.lost.push(format!("{what}: {}", of.join(", ")));
            }
        };
        let of_jobs = |name: &str, jobs: u64| format!("{name} of {} jobs", count(jobs));
        let no_place = format.no_place.iter().zip(&self.no_place).filter(|(_, jobs)| **jobs > 0);
        let no_place = self
            .absent
            .iter()
            .map(|(name, jobs)| of_jobs(name, *jobs))
            .chain(no_place.map(|(name, jobs)| of_jobs(name, *jobs)))
            .collect();
        say("left out, because jobs have no column for it", no_place);
        say(
            "left out, because they are no columns of this trace that are known",
            self.found.unknown.clone(),
        );
        if self.other_ids > 0 {
            let ids = format!("of {} jobs", count(self.other_ids));
            say("numbered by their rows, because their IDs are no whole numbers", vec![ids]);
        }
        if self.rounded > 0 {
            let amounts = vec![format!("{} amounts", count(self.rounded))];
            say("rounded up to whole cores, MiB or GPUs", amounts);
        }
        if idle > 0 {
            say(
                "left out, because the job does not run in them",
                vec![format!("{} rows", count(idle))],
            );
        }
        if merged > 0 {
            let rows = format!("{} rows", count(merged));
            say("joined to the first row of their job, in whole hours", vec![rows]);
        }
    }
}

impl Recognized {
    /// Reads the rows of a JSON trace in the format that is recognized by the column `mark`.
    ///
    /// `cell` gives the value of a row in a column.
    fn of_json<R>(
        mark: &str,
        rows: impl Iterator<Item = (u64, R)>,
        cell: impl Fn(&R, &str) -> Option<Cell<'static>>,
    ) -> Recognized {
        let is_own = |format: &&Published| format.marks.contains(&mark);
        let format = FORMATS.iter().find(is_own).expect("the list has it");
        let read = format.columns();
        let rows = rows.map(|(line, row)| {
            let mut cells = [const { None }; MOST];
            for (own, column) in cells.iter_mut().zip(&read) {
                *own = cell(&row, column).filter(|cell| !is_none(cell));
            }
            Given { line, cells }
        });
        Recognized { rows: rows.collect(), format, read, unknown: Vec::new() }
    }

    fn get<'a>(&'a self, given: &'a Given, column: &str) -> Option<&'a Cell<'static>> {
        let at = self.read.iter().position(|own| *own == column)?;
        given.cells[at].as_ref()
    }

    fn text<'a>(&'a self, given: &'a Given, column: &str) -> Option<Cow<'a, str>> {
        self.get(given, column).map(|cell| match cell {
            Cell::Text(text) => Cow::Borrowed(text.trim()),
            Cell::Number(number) | Cell::Date(number) => Cow::Owned(number.to_string()),
        })
    }

    fn number(&self, given: &Given, column: &str) -> Result<Option<f64>, String> {
        match self.get(given, column) {
            None => Ok(None),
            Some(Cell::Number(number) | Cell::Date(number)) => Ok(Some(*number)),
            Some(Cell::Text(text)) => {
                let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
                number.map(Some).ok_or_else(|| wrong(column, text, "a number"))
            }
        }
    }

    fn amount(&self, given: &Given, column: &str) -> Result<Option<f64>, String> {
        match self.number(given, column)? {
            Some(number) if number < 0.0 => {
                Err(format!("`{column}` is {number}, but must not be negative"))
            }
            number => Ok(number),
        }
    }

    fn instant(&self, given: &Given, column: &str) -> Result<Option<Cell<'static>>, String> {
        match self.get(given, column) {
            Some(Cell::Text(text)) if text.trim().parse::<f64>().is_err() => {
                let date = unix_seconds(text).map(Cell::Date);
                let right = "a number, or a date such as 2003-05-01T12:30:00";
                date.map(Some).ok_or_else(|| wrong(column, text, right))
            }
            Some(Cell::Date(date)) => Ok(Some(Cell::Date(*date))),
            _ => Ok(self.number(given, column)?.map(Cell::Number)),
        }
    }

    /// Cell of a table of jobs; `None` if the trace has no value for it.
    fn cell(&self, given: &Given, source: Source) -> Result<Option<Cell<'static>>, String> {
        let positive = |number: f64| (number >= 0.0).then_some(Cell::Number(number));
        Ok(match source {
            Source::Of(column) => match self.get(given, column) {
                Some(Cell::Text(text)) => Some(match unix_seconds(text) {
                    Some(date) => Cell::Date(date),
                    None => Cell::Text(Cow::Owned(text.trim().to_owned())),
                }),
                cell => cell.cloned(),
            },
            Source::Id(column) => {
                let id = self.text(given, column).and_then(|text| text.parse::<u64>().ok());
                id.filter(|id| *id <= 1 << 49).map(|id| Cell::Number(id as f64))
            }
            Source::Times(column, factor) => {
                self.amount(given, column)?.and_then(|number| positive(tidy(number * factor)))
            }
            Source::Product(one, other, factor) => {
                let both = self.amount(given, one)?.zip(self.amount(given, other)?);
                both.and_then(|(one, other)| positive(tidy(one * other * factor)))
            }
            Source::Share(all, among) => {
                let both = self.amount(given, all)?.zip(self.amount(given, among)?);
                both.filter(|both| both.1 > 0.0).and_then(|(all, among)| positive(all / among))
            }
            Source::Between(begin, end) => {
                let both = self.instant(given, begin)?.zip(self.instant(given, end)?);
                both.and_then(|(begin, end)| positive(value(&end) - value(&begin)))
            }
            Source::If(column, value, ours) => {
                let is_it = self.text(given, column).is_some_and(|text| text == value);
                is_it.then_some(Cell::Text(Cow::Borrowed(ours)))
            }
            Source::IfSome(column, ours) => {
                let number = self.amount(given, column)?.filter(|number| *number > 0.0);
                number.map(|_| Cell::Text(Cow::Borrowed(ours)))
            }
            Source::Word(column, words) => {
                let Some(text) = self.text(given, column) else { return Ok(None) };
                let word = words.iter().find(|(theirs, _)| *theirs == text);
                let Some((_, ours)) = word else {
                    let known: Vec<&str> = words.iter().map(|(theirs, _)| *theirs).collect();
                    return Err(wrong(column, &text, &format!("one of {}", known.join(", "))));
                };
                Some(Cell::Text(Cow::Borrowed(ours)))
            }
            Source::Hour(day, hour) => {
                let both = self.amount(given, day)?.zip(self.amount(given, hour)?);
                both.map(|(day, hour)| Cell::Number(day * 86_400.0 + hour * 3600.0))
            }
            Source::Limit(column) => {
                let Some(text) = self.text(given, column) else { return Ok(None) };
                let seconds = span(&text);
                let seconds =
                    seconds.map_err(|_| wrong(column, &text, "a time such as 1-12:00:00"))?;
                seconds.map(|seconds| Cell::Number(seconds as f64))
            }
            Source::SlurmMemory(column) => {
                let Some(text) = self.text(given, column) else { return Ok(None) };
                let megabytes = megabytes(&text).map(Cell::Number);
                Some(megabytes.ok_or_else(|| wrong(column, &text, "an amount such as 4000M"))?)
            }
            Source::Tres(column, ours) => {
                let text = self.text(given, column);
                text.and_then(|text| SlurmPieces::of_tres(&text)).and_then(|own| own.cell(ours))
            }
            Source::Options(column, ours) => {
                let text = self.text(given, column);
                text.and_then(|text| SlurmPieces::of_options(&text)).and_then(|own| own.cell(ours))
            }
            Source::Always(number) => Some(Cell::Number(number)),
        })
    }
}

fn wrong(column: &str, text: &str, right: &str) -> String {
    format!("`{column}` is `{}`, but must be {right}", text.escape_debug())
}

fn is_zero(cell: &Cell<'_>) -> bool {
    match cell {
        Cell::Number(number) => *number == 0.0,
        Cell::Text(text) => text.trim().parse::<f64>().is_ok_and(|number| number == 0.0),
        Cell::Date(_) => false,
    }
}

fn value(cell: &Cell<'_>) -> f64 {
    match cell {
        Cell::Number(number) | Cell::Date(number) => *number,
        Cell::Text(_) => f64::NAN,
    }
}

/// Rounds a number to six decimals, which removes rounding errors of unit conversions.
fn tidy(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// Parses an amount of memory in MB: `4G`, `2000M`, `512K`, and the older `4Gn` and `4Gc`.
pub fn megabytes(text: &str) -> Option<f64> {
    let text = text.trim_end_matches(['n', 'c']);
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "M" => 1.0,
        "K" => 1.0 / 1024.0,
        "G" => 1024.0,
        "T" => 1024.0 * 1024.0,
        _ => return None,
    };
    digits.parse::<f64>().ok().filter(|amount| *amount >= 0.0).map(|amount| tidy(amount * factor))
}
