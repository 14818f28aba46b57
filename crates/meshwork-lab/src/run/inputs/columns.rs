//! Tables of jobs, by the names of their columns: what is common to all formats, and CSV.

use std::io::{self, BufRead, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use meshwork::registry::did_you_mean;
use meshwork::workload::table::{Row, WANTS};
use meshwork::workload::{Rows, WorkloadError};

use crate::date::unix_seconds;

/// The columns of what a job is.
const OWN: [&str; 16] = [
    "job",
    "submit",
    "runtime",
    "estimate",
    "nodes",
    "block",
    "subcube",
    "user",
    "group",
    "application",
    "queue",
    "priority",
    "deadline",
    "after",
    "think",
    "wait",
];

/// The columns that are read; all others are left alone.
pub(super) const COLUMNS: [&str; OWN.len() + WANTS.len()] = {
    let own = OWN;
    let mut all = [""; OWN.len() + WANTS.len()];
    let mut place = 0;
    while place < all.len() {
        all[place] = if place < own.len() { own[place] } else { WANTS[place - own.len()] };
        place += 1;
    }
    all
};

/// Rows of a CSV file. The line of a row is its line in the file; blank lines and those that begin
/// with `#` are passed over.
pub(super) fn from_csv(path: &str, text: Box<dyn BufRead + Send>) -> Result<Rows, WorkloadError> {
    let passed = Passed::default();
    let filter = Filter { text, line: Vec::new(), at: 0, handed_on: 0, passed: passed.clone() };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(filter);
    let header = reader.headers().map_err(|error| csv_failed(path, &error, &passed))?.clone();
    let places = places(path, header.iter())?;
    let path = path.to_owned();
    let records = reader.into_records().map(move |record| {
        let record = record.map_err(|error| csv_failed(&path, &error, &passed))?;
        let line = record.position().map_or(0, |position| passed.line(position));
        let mut row = Row { line, ..Row::default() };
        for (column, place) in COLUMNS.iter().zip(&places) {
            let cell = place.and_then(|place| record.get(place)).unwrap_or_default();
            if !cell.is_empty() {
                put(&mut row, column, Cell::Text(cell)).map_err(|cell| {
                    WorkloadError(format!(
                        "{path}:{line}: `{column}` is `{cell}`, but must be {}",
                        kind(column)
                    ))
                })?;
            }
        }
        Ok(row)
    });
    Ok(Box::new(records))
}

/// Hands on the lines of a text that are neither blank nor remarks. The CSV reader could skip them
/// too, but then says the line where it began to look for a row, and not the row's own.
struct Filter {
    text: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    at: usize,
    handed_on: u64,
    passed: Passed,
}

impl Read for Filter {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.line.len() {
            self.line.clear();
            self.at = 0;
            if self.text.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(0);
            }
            // A carriage return would count as an end of line of its own.
            if self.line.ends_with(b"\r\n") {
                self.line.truncate(self.line.len() - 2);
                self.line.push(b'\n');
            }
            if self.line.starts_with(b"#") || self.line.trim_ascii().is_empty() {
                self.line.clear();
                self.passed.over(self.handed_on);
            } else {
                self.handed_on += 1;
            }
        }
        let count = buffer.len().min(self.line.len() - self.at);
        buffer[..count].copy_from_slice(&self.line[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Where lines were passed over: after how many that were handed on, and how many so far.
#[derive(Clone, Default)]
struct Passed(Arc<Mutex<Vec<(u64, u64)>>>);

impl Passed {
    fn gaps(&self) -> MutexGuard<'_, Vec<(u64, u64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn over(&self, handed_on: u64) {
        let mut gaps = self.gaps();
        let before = gaps.last().map_or(0, |&(_, count)| count);
        match gaps.last_mut() {
            Some(last) if last.0 == handed_on => last.1 += 1,
            _ => gaps.push((handed_on, before + 1)),
        }
    }

    /// The line in the file of a position in what was handed on.
    fn line(&self, position: &csv::Position) -> u64 {
        let gaps = self.gaps();
        let before = gaps.partition_point(|&(handed_on, _)| handed_on < position.line());
        position.line() + before.checked_sub(1).map_or(0, |last| gaps[last].1)
    }
}

/// Where each of [`COLUMNS`] is in a header.
pub(super) fn places<'a>(
    path: &str,
    header: impl Iterator<Item = &'a str>,
) -> Result<[Option<usize>; COLUMNS.len()], WorkloadError> {
    let mut places = [None; COLUMNS.len()];
    for (place, name) in header.enumerate() {
        // Spreadsheets put a mark of the encoding before the first name.
        let name = name.trim_start_matches('\u{feff}');
        if let Some(column) = COLUMNS.iter().position(|&column| column == name)
            && places[column].replace(place).is_some()
        {
            return Err(WorkloadError(format!("{path}: the column `{name}` is there twice")));
        }
    }
    let has = |name| COLUMNS.iter().zip(&places).any(|(&c, place)| c == name && place.is_some());
    if has("submit") && has("runtime") && (has("nodes") || has("block") || has("subcube")) {
        return Ok(places);
    }
    Err(WorkloadError(format!(
        "{path}: a table of jobs has the columns submit, runtime and one of nodes, block and subcube \
         in its first line, and perhaps estimate, job, user and group; this file has not"
    )))
}

/// A cell of a table of jobs.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    /// A text.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// Seconds since the beginning of 1970.
    Date(f64),
}

/// The row that these columns make, of a job that stands in no file.
///
/// ```
/// use meshwork_lab::run::inputs::{Cell, row};
/// let cells = [("submit", Cell::Number(2.0)), ("nodes", Cell::Number(3.0))];
/// assert_eq!(row(1, cells)?.nodes, Some(3.0));
/// let unknown = row(1, [("node", Cell::Number(3.0))]).unwrap_err();
/// assert!(unknown.starts_with("there is no column `node` (did you mean `nodes`?"));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// If there is no such column, or a cell is none of it: one sentence, without the line.
pub fn row<'a>(
    line: u64,
    cells: impl IntoIterator<Item = (&'a str, Cell<'a>)>,
) -> Result<Row, String> {
    let mut row = Row { line, ..Row::default() };
    for (column, cell) in cells {
        if !COLUMNS.contains(&column) {
            let meant = did_you_mean(column, &COLUMNS);
            return Err(format!("there is no column `{column}` ({meant})"));
        }
        put(&mut row, column, cell)
            .map_err(|cell| format!("`{column}` is `{cell}`, but must be {}", kind(column)))?;
    }
    Ok(row)
}

/// Puts a cell into its field of the row; a text that should be a number comes back.
pub(super) fn put<'a>(row: &mut Row, column: &str, cell: Cell<'a>) -> Result<(), &'a str> {
    if let Some(&column) = WANTS.iter().find(|&&own| own == column) {
        let text = match cell {
            Cell::Text(text) => text.to_owned(),
            Cell::Number(number) => number.to_string(),
            Cell::Date(_) => return Err("a date"),
        };
        row.wants.push((column, text));
        return Ok(());
    }
    let words = match column {
        "block" => Some(&mut row.block),
        "user" => Some(&mut row.user),
        "group" => Some(&mut row.group),
        "application" => Some(&mut row.application),
        "queue" => Some(&mut row.queue),
        _ => None,
    };
    if let Some(words) = words {
        *words = Some(match cell {
            Cell::Text(text) => text.to_owned(),
            Cell::Number(number) => number.to_string(),
            Cell::Date(_) => return Err("a date"),
        });
        return Ok(());
    }
    let number = match cell {
        Cell::Number(number) => number,
        Cell::Date(seconds) if is_instant(column) => dated(row, column, seconds),
        Cell::Date(_) => return Err("a date"),
        Cell::Text(text) => match (text.trim().parse(), unix_seconds(text)) {
            (Ok(number), _) => number,
            (_, Some(seconds)) if is_instant(column) => dated(row, column, seconds),
            _ => return Err(text),
        },
    };
    let field = match column {
        "job" => &mut row.job,
        "submit" => &mut row.submit,
        "runtime" => &mut row.runtime,
        "estimate" => &mut row.estimate,
        "nodes" => &mut row.nodes,
        "priority" => &mut row.priority,
        "deadline" => &mut row.deadline,
        "after" => &mut row.after,
        "think" => &mut row.think,
        "wait" => &mut row.wait,
        _ => &mut row.subcube,
    };
    *field = Some(number);
    Ok(())
}

/// Whether a column holds instants, which may be dates.
fn is_instant(column: &str) -> bool {
    matches!(column, "submit" | "deadline")
}

/// Notes that an instant is a date.
fn dated(row: &mut Row, column: &str, seconds: f64) -> f64 {
    match column {
        "deadline" => row.is_deadline_dated = true,
        _ => row.is_dated = true,
    }
    seconds
}

/// What a column must hold.
pub(super) fn kind(column: &str) -> &'static str {
    if is_instant(column) { "a number, or a date such as 2003-05-01T12:30:00" } else { "a number" }
}

fn csv_failed(path: &str, error: &csv::Error, passed: &Passed) -> WorkloadError {
    let line = error.position().map(|position| passed.line(position));
    WorkloadError(match (error.kind(), line) {
        (csv::ErrorKind::UnequalLengths { expected_len, len, .. }, Some(line)) => format!(
            "{path}:{line}: every row has as many cells as the first line, {expected_len}, this one \
             has {len}"
        ),
        (csv::ErrorKind::Utf8 { .. }, Some(line)) => {
            format!("{path}:{line}: a table is text in UTF-8, and this line is not")
        }
        (csv::ErrorKind::Io(error), _) => format!("{path}: cannot be read on ({error})"),
        (_, Some(line)) => format!("{path}:{line}: {error}"),
        (_, None) => format!("{path}: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn csv(text: &str) -> Result<Vec<Row>, String> {
        let rows = from_csv("t.csv", Box::new(Cursor::new(text.to_owned().into_bytes())));
        rows.and_then(Iterator::collect).map_err(|error: WorkloadError| error.0)
    }

    #[test]
    fn a_csv_table_by_the_names_of_its_columns() {
        let rows = csv(
            "place,block,submit, runtime ,nodes\r\n\r\n9,3x5,0.5,10,\r\n# a remark\r\n9,,1,20,4",
        );
        let first = Row {
            line: 3,
            submit: Some(0.5),
            runtime: Some(10.0),
            block: Some("3x5".to_owned()),
            ..Row::default()
        };
        let second = Row {
            line: 5,
            submit: Some(1.0),
            runtime: Some(20.0),
            nodes: Some(4.0),
            ..Row::default()
        };
        assert_eq!(rows.unwrap(), [first, second]);
    }

    #[test]
    fn a_submission_may_be_a_date() {
        let text = "submit,runtime,nodes\n1970-01-02,5,1\n1970-01-01T00:00:30Z,5,1\n";
        let submits = |rows: Vec<Row>| -> Vec<(Option<f64>, bool)> {
            rows.into_iter().map(|row| (row.submit, row.is_dated)).collect()
        };
        let expected = [(Some(86_400.0), true), (Some(30.0), true)];
        assert_eq!(submits(csv(text).unwrap()), expected);
        assert_eq!(
            csv("submit,runtime,nodes\n1,2003-05-01,3\n").unwrap_err(),
            "t.csv:2: `runtime` is `2003-05-01`, but must be a number"
        );
        assert_eq!(
            csv("submit,runtime,nodes\n2003-15-01,1,3\n").unwrap_err(),
            "t.csv:2: `submit` is `2003-15-01`, but must be a number, or a date such as 2003-05-01T12:30:00"
        );
    }

    #[test]
    fn what_is_wrong_with_a_csv_table_is_said_with_its_line() {
        let header = "t.csv: a table of jobs has the columns submit, runtime and one of nodes, block \
                      and subcube in its first line, and perhaps estimate, job, user and group; this file has not";
        for (text, sentence) in [
            ("", header),
            ("submit,runtime\n1,2\n", header),
            ("submit,runtime,nodes,submit\n", "t.csv: the column `submit` is there twice"),
            (
                "submit,runtime,nodes\n1,abc,3\n",
                "t.csv:2: `runtime` is `abc`, but must be a number",
            ),
            (
                "submit,runtime,nodes\n1,2,3\n1,2\n",
                "t.csv:3: every row has as many cells as the first line, 3, this one has 2",
            ),
        ] {
            assert_eq!(csv(text).unwrap_err(), sentence);
        }
        let bytes = b"submit,runtime,nodes\n1,\xff,3\n".to_vec();
        let rows = from_csv("t.csv", Box::new(Cursor::new(bytes))).unwrap();
        let error = rows.collect::<Result<Vec<Row>, WorkloadError>>().unwrap_err();
        assert_eq!(error.0, "t.csv:2: a table is text in UTF-8, and this line is not");
    }
}
