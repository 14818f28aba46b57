//! Reads tables of jobs, whose columns are found by name. This includes tables in CSV, and code
//! that all formats of tables share.

use std::io::{self, BufRead, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use meshwork::registry::did_you_mean;
use meshwork::workload::WorkloadError;
use meshwork::workload::table::{COLUMNS, Cell, CellKind, Column, Row, places};

use super::Files;
use crate::inputs::published::history;
use meshwork_slurm::cell::plain;
use meshwork_slurm::date::unix_seconds;

const MAX_LINE: u64 = 1 << 20;

pub(crate) type Lines<T> = Box<dyn Iterator<Item = Result<T, WorkloadError>> + Send>;

/// Function that makes a row of type `T` from a line number and the cells of that line.
pub(crate) type Make<T, const N: usize> = fn(u64, [Option<Cell<'_>>; N]) -> Result<T, String>;

impl Files {
    pub(super) fn jobs(&self, path: &str) -> Result<Lines<Row>, WorkloadError> {
        self.table(path, |names| places(names.iter().copied()), job).or_else(|error| {
            let rows = history(self, path).map_err(WorkloadError)?.ok_or(error)?;
            Ok(Box::new(rows.into_iter().map(Ok)) as Lines<Row>)
        })
    }

    pub(crate) fn column_names(&self, path: &str) -> Result<Vec<String>, WorkloadError> {
        let mut all = Vec::new();
        let note = |names: &[&str]| {
            all.extend(names.iter().map(|name| (*name).to_owned()));
            Ok([])
        };
        drop(self.table(path, note, |_, []| Ok(()))?);
        Ok(all)
    }

    /// Names of columns that are ignored, because tables of jobs have no such column.
    pub(crate) fn unread_columns(&self, path: &str) -> Result<Vec<String>, WorkloadError> {
        let names = self.column_names(path)?.into_iter();
        Ok(names.filter(|name| Column::named(name).is_none()).collect())
    }
}

pub(super) fn jobs_of_csv(
    path: &str,
    text: Box<dyn BufRead + Send>,
) -> Result<Lines<Row>, WorkloadError> {
    from_csv(path, text, |names| places(names.iter().copied()), job)
}

pub(super) fn job(line: u64, cells: [Option<Cell<'_>>; COLUMNS.len()]) -> Result<Row, String> {
    let mut row = Row { line, ..Row::default() };
    for (column, cell) in COLUMNS.iter().zip(cells) {
        cell.map_or(Ok(()), |cell| put(&mut row, column, cell))?;
    }
    Ok(row)
}

/// Rows of a CSV table, without blank lines and lines that begin with `#`.
pub(super) fn from_csv<T: 'static, const N: usize>(
    path: &str,
    text: Box<dyn BufRead + Send>,
    places: impl FnOnce(&[&str]) -> Result<[Option<usize>; N], String>,
    make: Make<T, N>,
) -> Result<Lines<T>, WorkloadError> {
    let (mut reader, passed) = reader(path, text);
    let header = reader.headers().map_err(|error| csv_failed(path, &error, &passed))?;
    // Spreadsheets write a byte order mark before the first name.
    let names: Vec<&str> = header.iter().map(|name| name.trim_start_matches('\u{feff}')).collect();
    let places = places(&names).map_err(|what| WorkloadError(format!("{path}: {what}")))?;
    let path = path.to_owned();
    let records = reader.into_records().map(move |record| {
        let record = record.map_err(|error| csv_failed(&path, &error, &passed))?;
        let line = record.position().map_or(0, |position| passed.line(position));
        let text = |place: usize| record.get(place).map(plain).filter(|text| !text.is_empty());
        let cells = places.map(|place| text(place?).map(|text| Cell::Text(text.into())));
        make(line, cells).map_err(|what| WorkloadError(format!("{path}:{line}: {what}")))
    });
    Ok(Box::new(records))
}

fn reader(path: &str, text: Box<dyn BufRead + Send>) -> (csv::Reader<Filter>, Passed) {
    let passed = Passed::default();
    let filter = Filter { text, line: Vec::new(), at: 0, handed_on: 0, passed: passed.clone() };
    let mut builder = csv::ReaderBuilder::new();
    let delimiter = if is_tsv(path) { b'\t' } else { b',' };
    (builder.delimiter(delimiter).trim(csv::Trim::All).from_reader(filter), passed)
}

/// Whether the file's name says that its columns are separated by tabs.
pub(crate) fn is_tsv(path: &str) -> bool {
    let lower = path.to_lowercase();
    lower.strip_suffix(".gz").unwrap_or(&lower).ends_with(".tsv")
}

/// Reader that skips blank lines and comments, so that rows have their line numbers.
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
            let read = self.text.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut self.line)?;
            if read == 0 {
                return Ok(0);
            }
            if read as u64 > MAX_LINE {
                return Err(io::Error::other("a line has more than a million bytes"));
            }
            // The CSV reader would count a carriage return as a line break of its own.
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

/// Groups of consecutive lines that [`Filter`] left out.
///
/// The first number of a group counts the lines passed on before the group. The second one counts
/// all lines left out up to the end of the group.
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

    fn line(&self, position: &csv::Position) -> u64 {
        let gaps = self.gaps();
        let before = gaps.partition_point(|&(handed_on, _)| handed_on < position.line());
        position.line() + before.checked_sub(1).map_or(0, |last| gaps[last].1)
    }
}

/// Makes a row of a table of jobs from cells, each given with the name of its column.
///
/// ```
/// use meshwork::workload::table::Cell;
/// use meshwork_lab::inputs::row;
/// let cells = [("submit", Cell::Number(2.0)), ("nodes", Cell::Number(3.0))];
/// assert_eq!(row(1, cells)?.nodes, Some(3));
/// let unknown = row(1, [("node", Cell::Number(3.0))]).unwrap_err();
/// assert!(unknown.starts_with("there is no column `node` (did you mean `nodes`?"));
/// # Ok::<(), String>(())
/// ```
pub fn row<'a>(
    line: u64,
    cells: impl IntoIterator<Item = (&'a str, Cell<'a>)>,
) -> Result<Row, String> {
    let mut row = Row { line, ..Row::default() };
    for (name, cell) in cells {
        let Some(column) = Column::named(name) else {
            let known: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
            return Err(format!("there is no column `{name}` ({})", did_you_mean(name, &known)));
        };
        put(&mut row, column, cell)?;
    }
    Ok(row)
}

/// Stores a cell in a row. If the column holds times, a text that is a date becomes a time.
fn put(row: &mut Row, column: &Column, cell: Cell<'_>) -> Result<(), String> {
    let date = match &cell {
        Cell::Text(text) if column.holds == CellKind::Instant => unix_seconds(text),
        _ => None,
    };
    column.set(row, date.map_or(cell, Cell::Date))
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

    use meshwork::workload::table::Instant;

    use super::*;

    fn csv(text: &str) -> Result<Vec<Row>, String> {
        let rows = jobs_of_csv("t.csv", Box::new(Cursor::new(text.to_owned().into_bytes())));
        rows.and_then(Iterator::collect).map_err(|error: WorkloadError| error.0)
    }

    #[test]
    fn a_csv_table_by_the_names_of_its_columns() {
        let rows = csv(
            "place,block,submit, runtime ,nodes\r\n\r\n9,3x5,0.5,10,\r\n# a remark\r\n9,,1,20,4",
        );
        let row = |line, submit: f64, runtime| {
            let (submit, runtime) = (Some(submit.into()), Some(runtime));
            Row { line, submit, runtime, ..Row::default() }
        };
        let first = Row { block: Some([3, 5][..].into()), ..row(3, 0.5, 10.0) };
        assert_eq!(rows.unwrap(), [first, Row { nodes: Some(4), ..row(5, 1.0, 20.0) }]);
    }

    #[test]
    fn a_submission_may_be_a_date() {
        let text = "submit,runtime,nodes\n1970-01-02,5,1\n1970-01-01T00:00:30Z,5,1\n";
        let submits: Vec<_> = csv(text).unwrap().into_iter().map(|row| row.submit).collect();
        let expected = [86_400.0, 30.0].map(|at| Some(Instant { at, is_date: true }));
        assert_eq!(submits, expected);
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
        let header = |given: &str| {
            format!(
                "t.csv: a table of jobs has the columns submit, runtime and one of nodes, block, subcube and \
                 pieces, and perhaps job, estimate, user, group, application, queue, priority, deadline, after, think, \
                 wait, nodes_max, segment, spread_segments, consolidate_segments, switches, contiguous, \
                 exclusive, require, exclude, partition, mem, other, per_node, inside, type; this one has {given}"
            )
        };
        for (text, sentence) in [
            (
                "",
                "t.csv: this file is empty, but must be a table of jobs, whose first line names its columns",
            ),
            ("submit,runtime,place\n1,2,3\n", &*header("submit, runtime, place")),
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
        let rows = jobs_of_csv("t.csv", Box::new(Cursor::new(bytes))).unwrap();
        let error = rows.collect::<Result<Vec<Row>, WorkloadError>>().unwrap_err();
        assert_eq!(error.0, "t.csv:2: a table is text in UTF-8, and this line is not");
    }
}
