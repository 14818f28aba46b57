//! The Standard Workload Format: one job per line, 18 numbers in a fixed order.
//!
//! A number that is not known is given as −1, and comments begin with a semicolon.
//!
//! Source: Chapin et al., *Benchmarks and standards for the evaluation of parallel job schedulers*,
//! JSSPP 1999, and version 2.2 of the format on the pages of the Parallel Workloads Archive.

use std::io::{self, BufRead, Read, Write};

use super::plain::short;
use crate::job::Job;
use crate::registry::LARGEST;
use crate::workload::WorkloadError;
use crate::workload::table::{COLUMNS, CellKind};

/// Names of the 18 fields of a line of a log, in order.
pub const FIELDS: [&str; 18] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "processors",
    "processor time",
    "memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "application",
    "queue",
    "partition",
    "preceding job",
    "think time",
];

/// Maximum length of a line in bytes. It limits the memory that is used for a file that is no log.
const MAX_LINE: usize = 1 << 20;

/// Error in a line of a log. The text continues a sentence that begins with `PATH:LINE:`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Error: the line has fewer than 18 fields.
    #[error("a line of a log in the Standard Workload Format has 18 fields, this one has {found}")]
    Fields {
        /// Number of fields that the line has.
        found: usize,
    },
    /// Error: a field is not a number.
    #[error("field {field} ({name}) is `{given}`, but must be a number")]
    NotANumber {
        /// Index of the field, from 1.
        field: usize,
        /// Name of the field: see [`FIELDS`].
        name: &'static str,
        /// Text of the field, or its beginning if it is long.
        given: String,
    },
    /// Error: the absolute value of a field is too large.
    #[error("field {field} ({name}) is `{given}`, but must be a number from -1e15 to 1e15")]
    TooLarge {
        /// Index of the field, from 1.
        field: usize,
        /// Name of the field: see [`FIELDS`].
        name: &'static str,
        /// Text of the field, or its beginning if it is long.
        given: String,
    },
    /// Error: a count is not a whole number, or it is too large.
    #[error("field {field} ({name}) is `{number}`, but must be a whole number up to {most}")]
    NotWhole {
        /// Index of the field, from 1.
        field: usize,
        /// Name of the field: see [`FIELDS`].
        name: &'static str,
        /// Value of the field in the invalid line.
        number: f64,
        /// Largest value that is allowed in the field.
        most: f64,
    },
}

/// One line of a log: 18 numbers, where −1 stands for an unknown number.
///
/// ```
/// use meshwork::workload::swf::{Record, write_record};
/// let record = Record::parse(b"7 120 -1 60 4 12.50 -1 8 90 -1 1 3 1 -1 1 -1 -1 -1").unwrap();
/// assert_eq!((record.number(), record.run_time(), record.processors()), (7.0, 60.0, 8.0));
/// let mut text = Vec::new();
/// write_record(&mut text, &record).unwrap();
/// assert_eq!(text, b"7 120 -1 60 4 12.5 -1 8 90 -1 1 3 1 -1 1 -1 -1 -1\n");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// The numbers of the line, in the order of [`FIELDS`].
    pub fields: [f64; 18],
}

impl Record {
    /// Parses the first 18 fields of a line of a log, separated by any blanks; ignores further
    /// fields.
    ///
    /// # Errors
    /// If the line is invalid. The error text continues a sentence that begins with `PATH:LINE:`.
    pub fn parse(line: &[u8]) -> Result<Record, RecordError> {
        let mut record = Record { fields: [-1.0; 18] };
        if record.read(line) { Ok(record) } else { Err(fault(line)) }
    }

    /// Converts a job to a line of a log, in the state "completed".
    ///
    /// Every field that corresponds to a property of the job is filled in. A request for a block
    /// becomes a count of processors. Attributes of the owner are kept only if they are numbers.
    #[must_use]
    pub fn of(job: &Job) -> Record {
        let mut fields = [-1.0; 18];
        for column in &COLUMNS {
            let (Some(field), Some(cell)) = (column.field, column.get(job)) else { continue };
            fields[field] = match column.holds {
                // A name such as `07` is not kept, because it would be read back as `7`.
                CellKind::Text => {
                    let number = cell.parse::<u32>().ok().filter(|own| own.to_string() == cell);
                    number.map_or(-1.0, f64::from)
                }
                _ => cell.parse().unwrap_or(-1.0),
            };
        }
        let nodes = job.request.nodes() as f64;
        (fields[4], fields[7], fields[10]) = (nodes, nodes, 1.0);
        Record { fields }
    }

    /// Field 1: number of the job.
    #[must_use]
    pub fn number(&self) -> f64 {
        self.fields[0]
    }

    /// Field 2: submission, in seconds.
    #[must_use]
    pub fn submit(&self) -> f64 {
        self.fields[1]
    }

    /// Field 4: run time in seconds; negative if unknown.
    #[must_use]
    pub fn run_time(&self) -> f64 {
        self.fields[3]
    }

    /// Requested processors (field 8) or, if field 8 is unknown, allocated processors (field 5).
    #[must_use]
    pub fn processors(&self) -> f64 {
        if self.fields[7] > 0.0 { self.fields[7] } else { self.fields[4] }
    }

    /// Field 9: run time requested by the user in seconds, if known.
    #[must_use]
    pub fn requested_time(&self) -> Option<f64> {
        Some(self.fields[8]).filter(|&requested| requested > 0.0)
    }

    /// Field 12: user, if known.
    #[must_use]
    pub fn user(&self) -> Option<f64> {
        Some(self.fields[11]).filter(|&user| user >= 0.0)
    }

    /// Field 13: group of the user, if known.
    #[must_use]
    pub fn group(&self) -> Option<f64> {
        Some(self.fields[12]).filter(|&group| group >= 0.0)
    }

    /// Field 14: program that the job runs, if known.
    #[must_use]
    pub fn application(&self) -> Option<f64> {
        Some(self.fields[13]).filter(|&application| application >= 0.0)
    }

    /// Field 15: queue to which the job was submitted, if known.
    #[must_use]
    pub fn queue(&self) -> Option<f64> {
        Some(self.fields[14]).filter(|&queue| queue >= 0.0)
    }

    /// Field 16: partition to which the job was submitted, if known.
    #[must_use]
    pub fn partition(&self) -> Option<f64> {
        Some(self.fields[15]).filter(|&partition| partition >= 0.0)
    }

    /// Field 3: wait in seconds, if known.
    #[must_use]
    pub fn wait(&self) -> Option<f64> {
        Some(self.fields[2]).filter(|&wait| wait >= 0.0)
    }

    /// Field 17: number of the predecessor, if any. The numbers of jobs in a log begin at 1.
    #[must_use]
    pub fn preceding(&self) -> Option<f64> {
        Some(self.fields[16]).filter(|&number| number > 0.0)
    }

    /// Field 18: think time after the predecessor's end in seconds; 0 if unknown. Negative values
    /// are read as 0, because a job cannot be submitted before its predecessor's end.
    #[must_use]
    pub fn think_time(&self) -> f64 {
        self.fields[17].max(0.0)
    }

    /// Parses a line into this record; returns `false` for an invalid line, which [`fault`]
    /// explains. Integers of up to seven digits are read in one step. Longer ones, of up to 15
    /// digits, take one multiplication and one addition per digit. Nearly all lines are
    /// [plain](Record::read_plain) and are not read by this function.
    pub(super) fn read(&mut self, line: &[u8]) -> bool {
        let mut at = 0;
        for field in &mut self.fields {
            while at < line.len() && is_blank(line[at]) {
                at += 1;
            }
            if let Some(bytes) = line[at..].first_chunk() {
                let bytes = u64::from_le_bytes(*bytes);
                // Most fields of most logs are unknown.
                if bytes & 0xff_ffff == NOT_KNOWN {
                    *field = -1.0;
                    at += 3;
                    continue;
                }
                if let Some((number, digits)) = short(bytes, is_blank) {
                    *field = f64::from(number);
                    at += digits + 1;
                    continue;
                }
            }
            let start = at;
            let negative = at < line.len() && line[at] == b'-';
            at += usize::from(negative);
            let digits_from = at;
            let mut number: u64 = 0;
            while at < line.len() && line[at].is_ascii_digit() {
                number = number.wrapping_mul(10).wrapping_add(u64::from(line[at] - b'0'));
                at += 1;
            }
            let digits = at - digits_from;
            let whole = at == line.len() || is_blank(line[at]);
            if whole && digits.wrapping_sub(1) < 15 {
                let number = number as f64;
                *field = if negative { 0.0 - number } else { number };
                continue;
            }
            while at < line.len() && !is_blank(line[at]) {
                at += 1;
            }
            match number_in(&line[start..at]) {
                Some(number) if number.abs() <= LARGEST => *field = number + 0.0,
                _ => return false,
            }
        }
        true
    }
}

/// The text `-1 `, which stands for an unknown number, in the lowest bytes of a 64-bit word.
const NOT_KNOWN: u64 = u64::from_le_bytes(*b"-1 \0\0\0\0\0");

/// Whether a byte separates fields: any blank or control character.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    byte <= b' '
}

/// Parses a number in one of the usual notations, also with decimals, many digits or an exponent.
#[inline(never)]
pub(super) fn number_in(token: &[u8]) -> Option<f64> {
    if let Some(number) = short_decimal(token) {
        return Some(number);
    }
    let plain = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    if !token.iter().all(plain) {
        return None; // the standard library accepts `inf` and `nan`
    }
    std::str::from_utf8(token).ok()?.parse().ok()
}

/// Parses a decimal number of up to 15 digits. The digits and the power of ten are exact as floats,
/// so one division gives the correctly rounded result, like the standard library.
fn short_decimal(token: &[u8]) -> Option<f64> {
    const POWERS: [f64; 16] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let (negative, digits) = match token.split_first() {
        Some((b'-', digits)) => (true, digits),
        _ => (false, token),
    };
    if !(2..=16).contains(&digits.len()) {
        return None;
    }
    let mut number: u64 = 0;
    let mut point = None;
    for (i, &byte) in digits.iter().enumerate() {
        if byte.is_ascii_digit() {
            number = number * 10 + u64::from(byte - b'0');
        } else if byte == b'.' && point.is_none() {
            point = Some(i);
        } else {
            return None;
        }
    }
    let number = number as f64 / POWERS[digits.len() - 1 - point?];
    Some(if negative { -number } else { number })
}

/// Describes the problem with a line that [`Record::read`] has rejected.
#[cold]
pub(super) fn fault(line: &[u8]) -> RecordError {
    let mut fields = line.split(|&byte| is_blank(byte)).filter(|field| !field.is_empty());
    for (i, name) in FIELDS.into_iter().enumerate() {
        let Some(field) = fields.next() else {
            return RecordError::Fields { found: i };
        };
        let shown = || {
            let text = String::from_utf8_lossy(&field[..field.len().min(40)]);
            text.escape_debug().to_string()
        };
        match number_in(field) {
            None => {
                return RecordError::NotANumber { field: i + 1, name, given: shown() };
            }
            Some(number) if number.abs() > LARGEST => {
                return RecordError::TooLarge { field: i + 1, name, given: shown() };
            }
            Some(_) => {}
        }
    }
    // Not reached: a line of 18 numbers within the bounds is accepted.
    RecordError::Fields { found: FIELDS.len() }
}

/// Reader of the nonblank lines of a log, which reuses its buffer.
pub(super) struct Lines {
    reader: Box<dyn BufRead + Send>,
    path: String,
    /// Bytes of the file that have been read. Lines are parsed in this buffer, without copies.
    buffer: Vec<u8>,
    /// Range of the buffer that holds data not yet returned as lines.
    rest: std::ops::Range<usize>,
    line: u64,
}

impl Lines {
    pub(super) fn new(reader: Box<dyn BufRead + Send>, path: &str) -> Lines {
        // The buffer is larger than those of most readers, so that their data is not copied twice.
        let buffer = vec![0; 1 << 17];
        Lines { reader, path: path.to_owned(), buffer, rest: 0..0, line: 0 }
    }

    /// Returns the next nonblank line, without leading blanks; `None` at the end.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, WorkloadError> {
        loop {
            let Some(line) = self.next_line()? else { return Ok(None) };
            self.line += 1;
            let mut start = line.start;
            if self.line == 1 && self.buffer[line.clone()].starts_with(b"\xef\xbb\xbf") {
                start += 3; // byte order mark
            }
            while start < line.end && is_blank(self.buffer[start]) {
                start += 1;
            }
            if start < line.end {
                return Ok(Some(&self.buffer[start..line.end]));
            }
        }
    }

    /// Reads the next line if it is plain (18 numbers, single blanks) and wholly in the buffer.
    /// Otherwise returns `false`, and may have changed the record.
    #[inline]
    pub(super) fn read_plain(&mut self, record: &mut Record) -> bool {
        let Some(length) = record.read_plain(&self.buffer[self.rest.clone()]) else { return false };
        self.rest.start += length;
        self.line += 1;
        true
    }

    /// Returns the range of the next line in the buffer, without its line end.
    #[inline]
    fn next_line(&mut self) -> Result<Option<std::ops::Range<usize>>, WorkloadError> {
        let mut searched = self.rest.start;
        loop {
            if let Some(length) = memchr::memchr(b'\n', &self.buffer[searched..self.rest.end]) {
                let line = self.rest.start..searched + length;
                self.rest.start = line.end + 1;
                return Ok(Some(line));
            }
            let unfinished = self.rest.len();
            if self.fill()? == 0 {
                let line = self.rest.clone();
                self.rest.start = self.rest.end;
                return Ok((!line.is_empty()).then_some(line));
            }
            searched = self.rest.start + unfinished;
        }
    }

    #[cold]
    fn fill(&mut self) -> Result<usize, WorkloadError> {
        self.buffer.copy_within(self.rest.clone(), 0);
        self.rest = 0..self.rest.len();
        if self.rest.len() == self.buffer.len() {
            if self.buffer.len() >= MAX_LINE {
                self.line += 1;
                return Err(self.error("a line of more than a million bytes is not one of a log"));
            }
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let buffer = &mut self.buffer[self.rest.end..];
        let read = loop {
            match self.reader.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let read = read.map_err(|error| {
            WorkloadError(format!("{}: {error} after line {}", self.path, self.line))
        })?;
        self.rest.end += read;
        Ok(read)
    }

    /// Number of the line read last, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    #[cold]
    pub(super) fn error(&self, what: impl std::fmt::Display) -> WorkloadError {
        WorkloadError(format!("{}:{}: {what}", self.path, self.line))
    }
}

/// One nonblank line of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum LogLine {
    /// Line with a comment. The value is the text after the semicolon, without trailing blanks: see
    /// [`Header::add`].
    Comment(String),
    /// Line that describes a job, with its numbers.
    Record {
        /// Number of the line in the file, from 1.
        line: u64,
        /// The numbers in the line's 18 fields.
        record: Record,
    },
}

/// Returns every line of a log in file order. The iterator ends after the first error.
pub fn records(
    reader: Box<dyn BufRead + Send>,
    path: &str,
) -> impl Iterator<Item = Result<LogLine, WorkloadError>> + use<> {
    Records { lines: Lines::new(reader, path), ended: false }
}

struct Records {
    lines: Lines,
    ended: bool,
}

impl Iterator for Records {
    type Item = Result<LogLine, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = match self.lines.next() {
            Ok(Some([b';', comment @ ..])) => {
                Ok(LogLine::Comment(String::from_utf8_lossy(comment).trim_end().to_owned()))
            }
            Ok(Some(text)) => match Record::parse(text) {
                Ok(record) => Ok(LogLine::Record { line: self.lines.line(), record }),
                Err(what) => Err(self.lines.error(what)),
            },
            Ok(None) => {
                self.ended = true;
                return None;
            }
            Err(error) => Err(error),
        };
        self.ended = item.is_err();
        Some(item)
    }
}

/// Comments of a log in order, each as a label and a value.
///
/// A comment without a label, such as the second line of a note, has an empty label, and its whole
/// text as the value.
///
/// ```
/// use meshwork::workload::swf::Header;
/// let mut header = Header::default();
/// header.add(" MaxNodes: 128 (of 144)");
/// header.add(" Note: First line");
/// header.add("       and second line");
/// assert_eq!(header.get("MaxNodes"), Some("128 (of 144)"));
/// assert_eq!(header.number("MaxNodes"), Some(128));
/// assert_eq!(header.entries[2], (String::new(), "       and second line".to_owned()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Label and value of every comment. A label such as `Note` or `Queue` may occur several times.
    pub entries: Vec<(String, String)>,
}

impl Header {
    /// Adds a comment, given as the text after its semicolon.
    pub fn add(&mut self, comment: &str) {
        let comment = comment.trim_end();
        let entry = match comment.split_once(':') {
            Some((label, value)) if is_label(label.trim()) && !value.starts_with('/') => {
                (label.trim().to_owned(), value.trim().to_owned())
            }
            _ => (String::new(), comment.to_owned()),
        };
        self.entries.push(entry);
    }

    /// Value of the first comment that has the given label.
    #[must_use]
    pub fn get(&self, label: &str) -> Option<&str> {
        self.entries.iter().find(|(own, _)| own == label).map(|(_, value)| value.as_str())
    }

    /// Integer with which the value of a header comment begins. If several comments have the given
    /// label, the first one counts.
    #[must_use]
    pub fn number(&self, label: &str) -> Option<u64> {
        let value = self.get(label)?;
        let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
        value[..end].parse().ok()
    }

    /// Processors of the log's machine: `MaxProcs` or, if it is missing, `MaxNodes`.
    #[must_use]
    pub fn processors(&self) -> Option<u64> {
        let known = |label| self.number(label).filter(|&processors| processors > 0);
        known("MaxProcs").or_else(|| known("MaxNodes"))
    }
}

fn is_label(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Reads the comments at the beginning of a log, up to the first job.
///
/// # Errors
/// If the reader fails. The error names the last line that was read.
pub fn header(reader: Box<dyn BufRead + Send>, path: &str) -> Result<Header, WorkloadError> {
    let mut lines = Lines::new(reader, path);
    let mut header = Header::default();
    while let Some([b';', comment @ ..]) = lines.next()? {
        header.add(&String::from_utf8_lossy(comment));
    }
    Ok(header)
}

/// Writes the comments of a log in the form that [`header`] reads.
///
/// # Errors
/// The errors of the writer.
pub fn write_header(to: &mut dyn Write, header: &Header) -> io::Result<()> {
    for (label, value) in &header.entries {
        let value = value.replace(['\n', '\r'], " ");
        if label.is_empty() {
            writeln!(to, ";{value}")?;
        } else {
            writeln!(to, "{}", format!("; {label}: {value}").trim_end())?;
        }
    }
    Ok(())
}

/// Writes one line of a log. Integers have no decimal point. Other numbers have the shortest form
/// that is read back exactly.
///
/// # Errors
/// The errors of the writer.
pub fn write_record(to: &mut dyn Write, record: &Record) -> io::Result<()> {
    for (i, field) in record.fields.iter().enumerate() {
        let end = if i + 1 < record.fields.len() { ' ' } else { '\n' };
        write!(to, "{}{end}", field + 0.0)?; // −0 is written as 0
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Slow reference implementation for a fast reader of one to seven digits before a blank.
    fn digit_by_digit(bytes: &[u8; 8]) -> Option<(u32, usize)> {
        let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits == 8 || !is_blank(bytes[digits]) {
            return None;
        }
        let add = |number: u32, byte: &u8| number * 10 + u32::from(byte - b'0');
        Some((bytes[..digits].iter().fold(0, add), digits))
    }

    proptest! {
        #[test]
        fn short_numbers_are_read_at_once_as_digit_by_digit(
            number in "[0-9]{0,8}",
            next in any::<u8>(),
            rest in prop::array::uniform8(any::<u8>()),
        ) {
            let mut bytes = rest;
            let number = number.as_bytes();
            bytes[..number.len()].copy_from_slice(number);
            for byte in [next, b' ', b'\t', b'/', b':', b'.', b'-', 0x80 | b'1', 0xff] {
                if let Some(after) = bytes.get_mut(number.len()) {
                    *after = byte;
                }
                prop_assert_eq!(short(u64::from_le_bytes(bytes), is_blank), digit_by_digit(&bytes));
            }
        }
    }
}
