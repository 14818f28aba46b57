//! Jobs from a log in the Standard Workload Format, read as a stream.
//!
//! Where the format leaves a choice, these rules apply. Field 8 is the requested number of
//! processors, or field 5 if field 8 is unknown. Field 4 is the run time. Field 9 is the estimate,
//! or field 4 if field 9 is unknown. A run time beyond the estimate is kept, and so is a run time
//! of 0. A line without run time, processors or submission time is not a job. Such lines are
//! counted and skipped. Memory does not grow with the log, unless dependencies between jobs are
//! requested.

mod attributes;
mod choice;
mod format;
mod plain;

use std::collections::VecDeque;
use std::io::BufRead;

use crate::job::{Job, Request, Time};
use crate::registry::{About, Kind, Param};

pub use choice::Choice;
pub use format::{
    FIELDS, Header, LogLine, Record, RecordError, header, records, write_header, write_record,
};

use super::dependencies::Source;
use super::{Submission, Unusable, WorkloadEntry, WorkloadError};
use attributes::{Attributes, NOTHING};
use format::Lines;

/// Default number of jobs held back while reading, so that slightly unordered logs can be sorted.
pub const REORDER: usize = 10_000;

/// Registry entry of the workload `swf`.
pub static ENTRY: WorkloadEntry = WorkloadEntry::new(
    About::new("swf", "the jobs of a log in the Standard Workload Format")
        .definition(
            "Each line of the log is a job: submitted at field 2, asking for the processors of \
             field 8 (else field 5), running for field 4, with the estimate of field 9 (else the \
             run time). A line without processors, run time or time of submission is counted as \
             `unusable` and passed over. Where it is asked for, a job belongs to the user and \
             group of fields 12 and 13, runs the program of field 14, was submitted to the queue \
             and the partition of fields 15 and 16, and after the end of the job of field 17, by \
             the think time of field 18.",
        )
        .complexity(
            "O(1) for each line of a log that is in order; memory O(`reorder`), \
             whatever the length of the log.",
        )
        .source("Parallel Workloads Archive (Feitelson, Tsafrir & Krakov, JPDC 74(10), 2014)")
        .params(&[
            Param::new("path", Kind::Text).help("the log; it may be compressed with gzip"),
            Param::new("users", Kind::Integers(0, u32::MAX as u64))
                .absent("the jobs of all users")
                .help("only the jobs of these users (field 12)"),
            Param::new("queues", Kind::Integers(0, u32::MAX as u64))
                .absent("the jobs of all queues")
                .help("only the jobs of these queues (field 15)"),
            Param::new("reorder", Kind::Integer(0, 100_000_000)).is("10000").help(
                "how many jobs are held back to put a log in order whose lines are not quite",
            ),
        ]),
    |params, setting| {
        let path = params.text("path");
        let reader = setting.inputs.text(path)?;
        let reorder = params.integer("reorder") as usize;
        let attributes = Attributes::asked_for(setting.owners, Source::of(params));
        Ok(Box::new(chosen_jobs(reader, path, reorder, Choice::of(params), attributes)))
    },
)
.knows_owners(true)
.in_seconds(true);

/// Reads the jobs of a log in order of submission and, within one instant, in file order.
///
/// While reading, `reorder` jobs are held back for sorting. Lines that are not jobs are reported as
/// they are read. The first error ends the log.
///
/// In a log that is in order, a line takes constant time. Otherwise it takes **O(log r)**
/// comparisons and **O(r)** moves, where *r* is `reorder`.
pub fn jobs(
    reader: Box<dyn BufRead + Send>,
    path: &str,
    reorder: usize,
) -> impl Iterator<Item = Result<Submission, WorkloadError>> + use<> {
    chosen_jobs(reader, path, reorder, Choice::default(), None)
}

/// Reads the jobs of a log like [`jobs`], but only from the lines that `choice` selects.
fn chosen_jobs(
    reader: Box<dyn BufRead + Send>,
    path: &str,
    reorder: usize,
    choice: Choice,
    attributes: Option<Attributes>,
) -> impl Iterator<Item = Result<Submission, WorkloadError>> + use<> {
    Log {
        lines: Lines::new(reader, path),
        record: Record { fields: [-1.0; 18] },
        // Allocated once, up to the default number of jobs, since growing would touch twice the
        // memory.
        held: VecDeque::with_capacity(reorder.min(REORDER) + 1),
        reorder,
        released: f64::NEG_INFINITY,
        seen: 0,
        choice,
        passed: 0,
        usable: 0,
        read_all: false,
        failed: false,
        attributes,
    }
}

/// Converts a line of a log to a job, or returns the reason why the line is not a job.
///
/// The outer `Err` is for an invalid line. The inner `Err` is for a line that is not a job, because
/// it lacks information. `count` is the index of the line, from 1, among all lines that are not
/// comments. It becomes the job's number if the line gives none.
///
/// # Errors
/// If the line is invalid. The error text continues a sentence that begins with `PATH:LINE:`.
pub fn job(record: &Record, count: u64) -> Result<Result<Job, &'static str>, RecordError> {
    match flaw(record) {
        None => Ok(Ok(Plain::of(record, count, NOTHING).job())),
        Some(Flaw::Unusable(reason)) => Ok(Err(reason)),
        Some(Flaw::Wrong(what)) => Err(what),
    }
}

/// Compact form of a job that is held back for sorting.
#[derive(Clone, Copy)]
struct Plain {
    number: u64,
    submit: f64,
    run_time: f64,
    estimate: f64,
    processors: u32,
    /// Number under which the job's attributes (such as its owner) are stored.
    attributes: u32,
}

/// Reason why a line is not a job: missing information or an invalid value.
enum Flaw {
    Unusable(&'static str),
    Wrong(RecordError),
}

/// Returns the reason why a line is not a job; `None` if the line is a job.
#[inline]
fn flaw(record: &Record) -> Option<Flaw> {
    let processors = record.processors();
    if record.run_time() < 0.0 {
        return Some(Flaw::Unusable("no run time"));
    }
    if processors <= 0.0 {
        return Some(Flaw::Unusable("no processors"));
    }
    if record.submit() < 0.0 {
        return Some(Flaw::Unusable("no submit time"));
    }
    let number = record.number();
    let is_meant = is_whole(processors) && number as i64 as f64 - number == 0.0;
    (!is_meant).then(|| Flaw::Wrong(not_whole(record)))
}

impl Plain {
    #[inline]
    fn of(record: &Record, count: u64, attributes: u32) -> Plain {
        let number = record.number() as i64;
        Plain {
            number: if number < 0 { count } else { number as u64 },
            submit: record.submit(),
            run_time: record.run_time(),
            estimate: record.requested_time().unwrap_or(record.run_time()),
            processors: record.processors() as u32,
            attributes,
        }
    }

    #[inline]
    fn job(self) -> Job {
        Job {
            estimate: self.estimate,
            ..Job::new(
                self.number,
                Time::new(self.submit),
                Request::Nodes(self.processors),
                self.run_time,
            )
        }
    }
}

/// Whether a number is whole and fits a `u32`. The test casts and subtracts, which is faster than
/// `fract`.
#[inline]
fn is_whole(processors: f64) -> bool {
    f64::from(processors as u32) - processors == 0.0
}

#[cold]
fn not_whole(record: &Record) -> RecordError {
    let processors = record.processors();
    let (field, number, most) = if is_whole(processors) {
        (0, record.number(), 1e15)
    } else {
        (if record.fields[7] > 0.0 { 7 } else { 4 }, processors, f64::from(u32::MAX))
    };
    RecordError::NotWhole { field: field + 1, name: FIELDS[field], number, most }
}

struct Log {
    lines: Lines,
    record: Record,
    /// Jobs held back for sorting, in order of submission and, within one instant, in file order.
    held: VecDeque<Plain>,
    reorder: usize,
    released: f64,
    choice: Choice,
    /// Number of lines read so far, without comments. `passed` counts the lines that were not
    /// selected, and `usable` the lines that are jobs.
    seen: u64,
    passed: u64,
    usable: u64,
    read_all: bool,
    failed: bool,
    attributes: Option<Attributes>,
}

impl Log {
    /// Reads until more than `reorder` jobs are buffered, the log ends, or a line is not a job.
    #[inline(always)]
    fn read_on(&mut self) -> Result<Option<Unusable>, WorkloadError> {
        while !self.read_all && self.held.len() <= self.reorder {
            if !self.lines.read_plain(&mut self.record) && !self.read_any()? {
                break;
            }
            self.seen += 1;
            if !self.choice.takes(&self.record) {
                self.passed += 1;
                continue;
            }
            match flaw(&self.record) {
                None => {}
                Some(Flaw::Unusable(reason)) => {
                    return Ok(Some(Unusable { line: self.lines.line(), reason }));
                }
                Some(Flaw::Wrong(what)) => return Err(self.lines.error(what)),
            }
            let noted = match &mut self.attributes {
                None => NOTHING,
                Some(attributes) => {
                    attributes.note(&self.record).map_err(|what| self.lines.error(what))?
                }
            };
            self.hold(Plain::of(&self.record, self.seen, noted))?;
        }
        Ok(None)
    }

    #[inline(always)]
    fn release(&mut self) -> Option<Job> {
        let plain = self.held.pop_front()?;
        self.released = plain.submit;
        let Some(attributes) = &mut self.attributes else { return Some(plain.job()) };
        let mut job = plain.job();
        attributes.give(plain.attributes, &mut job);
        Some(job)
    }

    /// Reads the next line that is no comment, in any notation. Returns `false` at the end of the
    /// log.
    #[inline(never)]
    fn read_any(&mut self) -> Result<bool, WorkloadError> {
        loop {
            let Some(text) = self.lines.next()? else {
                self.read_all = true;
                return if self.usable == 0 { Err(self.nothing()) } else { Ok(false) };
            };
            if text[0] == b';' {
                continue;
            }
            if !self.record.read(text) {
                let what = format::fault(text);
                return Err(self.lines.error(what));
            }
            return Ok(true);
        }
    }

    #[inline]
    fn hold(&mut self, job: Plain) -> Result<(), WorkloadError> {
        self.usable += 1;
        let submit = job.submit;
        if submit < self.released {
            return Err(self.too_late(submit));
        }
        if self.held.back().is_none_or(|last| last.submit <= submit) {
            self.held.push_back(job);
        } else {
            let place = self.held.partition_point(|other| other.submit <= submit);
            self.held.insert(place, job);
        }
        Ok(())
    }

    #[cold]
    fn too_late(&self, submit: f64) -> WorkloadError {
        self.lines.error(format_args!(
            "this job was submitted at {submit}, but one submitted at {} stands more than {} jobs before \
             it: set a larger `reorder`, or sort the log once with `meshwork trace convert`",
            self.released, self.reorder
        ))
    }

    #[cold]
    fn nothing(&self) -> WorkloadError {
        let path = self.lines.path();
        WorkloadError(match self.seen {
            0 => format!("{path}: the log has no jobs"),
            seen if self.passed == seen => format!("{path}: {}", self.choice.nothing(seen)),
            seen => format!(
                "{path}: the log has no jobs: none of its {seen} lines has a submit time, a run \
                 time and processors"
            ),
        })
    }
}

impl Iterator for Log {
    type Item = Result<Submission, WorkloadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        match self.read_on() {
            Ok(None) => self.release().map(|job| Ok(Submission::Job(job))),
            Ok(Some(line)) => Some(Ok(Submission::Unusable(line))),
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use std::io::{BufReader, Read};

    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8], reorder: usize) -> Vec<Result<Submission, WorkloadError>> {
        jobs(Box::new(BufReader::new(std::io::Cursor::new(text.to_vec()))), "log.swf", reorder)
            .collect()
    }

    /// A line of a log with the given numbers in fields 1, 2, 4, 5, 8 and 9.
    fn line(number: i64, submit: i64, run: i64, used: i64, requested: i64, time: i64) -> String {
        format!(
            "{number} {submit} -1 {run} {used} -1 -1 {requested} {time} -1 1 -1 -1 -1 -1 -1 -1 -1\n"
        )
    }

    fn only(text: &str) -> Result<Submission, String> {
        read(text.as_bytes(), 10).into_iter().next().expect("an item").map_err(|error| error.0)
    }

    fn one_job(text: &str) -> Job {
        match only(text) {
            Ok(Submission::Job(job)) => job,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn numbers(items: &[Result<Submission, WorkloadError>]) -> Vec<u64> {
        let job = |item: &Result<Submission, WorkloadError>| match item {
            Ok(Submission::Job(job)) => Some(job.number),
            _ => None,
        };
        items.iter().filter_map(job).collect()
    }

    #[test]
    fn the_rules_for_the_fields() {
        let job = one_job(&line(7, 100, 60, 4, 8, 90));
        assert_eq!(
            job,
            Job { estimate: 90.0, ..Job::new(7, Time::new(100.0), Request::Nodes(8), 60.0) }
        );
        assert_eq!(one_job(&line(7, 100, 60, 4, -1, 90)).request, Request::Nodes(4));
        assert_eq!(one_job(&line(7, 100, 60, 4, 0, 90)).request, Request::Nodes(4));
        assert_eq!(one_job(&line(7, 100, 60, 4, 8, -1)).estimate, 60.0);
        assert_eq!(one_job(&line(7, 100, 60, 4, 8, 0)).estimate, 60.0);
        assert_eq!(one_job(&line(7, 100, 60, 4, 8, 30)).estimate, 30.0, "nothing is killed");
        assert_eq!(one_job(&line(7, 100, 0, 4, 8, 90)).runtime, 0.0, "a run time of 0 is kept");
        assert_eq!(one_job(&line(-1, 100, 1, 4, 8, 90)).number, 1);
    }

    #[test]
    fn lines_that_are_no_jobs_are_handed_over_with_a_reason() {
        let good = line(1, 0, 1, 1, 1, 1);
        for (bad, reason) in [
            (line(2, -1, -1, 0, 0, -1), "no run time"),
            (line(2, -1, 5, 0, -1, -1), "no processors"),
            (line(2, -1, 5, 1, -1, -1), "no submit time"),
        ] {
            let items = read(format!("; a comment\n{good}\n{bad}").as_bytes(), 10);
            assert_eq!(items[0], Ok(Submission::Unusable(Unusable { line: 4, reason })));
            assert_eq!(numbers(&items), [1]);
            let Err(error) = &read(bad.as_bytes(), 10)[1] else { panic!() };
            assert!(error.0.starts_with("log.swf: the log has no jobs: none of its 1 lines"));
        }
    }

    #[test]
    fn blanks_comments_and_line_ends_of_every_kind() {
        let text = b"\xef\xbb\xbf; caf\xe9\r\n\r\n\t1\t0 -1   5.50 4 1.5 -1 4 +9 -1 1 1 1 1 1 1 1 1 99 extra\r\n\
                     ;\n  ; in the middle\n   \n2 1 -1 6 4 -1 -1 4 9e0 -1 1 -1 -1 -1 -1 -1 -1 -1";
        let items = read(text, 10);
        assert_eq!(numbers(&items), [1, 2]);
        let Ok(Submission::Job(job)) = &items[0] else { panic!() };
        assert_eq!((job.runtime, job.estimate), (5.5, 9.0));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, sentence) in [
            ("", "log.swf: the log has no jobs"),
            ("; nothing\n", "log.swf: the log has no jobs"),
            (
                "\n1 2 3\n",
                "log.swf:2: a line of a log in the Standard Workload Format has 18 fields, this \
                 one has 3",
            ),
            (
                "1 2 3 abc 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n",
                "log.swf:1: field 4 (run time) is `abc`, but must be a number",
            ),
            (
                "1 2 3 nan 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n",
                "log.swf:1: field 4 (run time) is `nan`, but must be a number",
            ),
            (
                "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 1-8\n",
                "log.swf:1: field 18 (think time) is `1-8`, but must be a number",
            ),
            (
                "1 2000000000000000 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n",
                "log.swf:1: field 2 (submit time) is `2000000000000000`, but must be a number from \
                 -1e15 to 1e15",
            ),
            (
                "1 2 3 4 5 6 7 2.5 9 10 11 12 13 14 15 16 17 18\n",
                "log.swf:1: field 8 (requested processors) is `2.5`, but must be a whole number up \
                 to 4294967295",
            ),
            (
                "1 2 3 4 5000000000 6 7 0 9 10 11 12 13 14 15 16 17 18\n",
                "log.swf:1: field 5 (processors) is `5000000000`, but must be a whole number up to \
                 4294967295",
            ),
            (
                "1.5 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n",
                "log.swf:1: field 1 (job number) is `1.5`, but must be a whole number up to \
                 1000000000000000",
            ),
        ] {
            assert_eq!(only(text).unwrap_err(), sentence);
        }
        let huge = "1 ".repeat(1 << 20);
        assert!(only(&huge).unwrap_err().contains("more than a million bytes"));
    }

    #[test]
    fn an_error_ends_the_log() {
        let good = line(1, 0, 1, 1, 1, 1);
        let items = read(format!("{good}x\n{good}").as_bytes(), 0);
        assert_eq!(items.len(), 2);
        assert!(items[0].is_ok() && items[1].is_err());
    }

    /// Reader that fails after its text, as a damaged archive does.
    struct Torn<'a>(&'a [u8]);

    impl Read for Torn<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(std::io::Error::other("the archive is torn")),
                read => Ok(read),
            }
        }
    }

    #[test]
    fn a_reader_that_fails_is_an_error_with_the_last_line() {
        let text = "1 0 -1 5 4 -1 -1 4 9 -1 1 -1 -1 -1 -1 -1 -1 -1\n2 1 -1";
        let items: Vec<_> =
            jobs(Box::new(BufReader::new(Torn(text.as_bytes()))), "log.swf.gz", 10).collect();
        assert_eq!(
            items,
            [Err(WorkloadError("log.swf.gz: the archive is torn after line 1".into()))]
        );
    }

    #[test]
    fn a_log_is_put_in_order_within_the_reorder_buffer() {
        let text: String = [(1, 5), (2, 3), (3, 5), (4, 9), (5, 5), (6, 8)]
            .into_iter()
            .map(|(number, submit)| line(number, submit, 1, 1, 1, 1))
            .collect();
        assert_eq!(numbers(&read(text.as_bytes(), 1000)), [2, 1, 3, 5, 6, 4]);
        // Job 5 is two lines late, counting one line for the job that is being returned.
        assert_eq!(numbers(&read(text.as_bytes(), 1)), [2, 1, 3, 5, 6, 4]);
        let items = read(text.as_bytes(), 0);
        assert_eq!(numbers(&items), [1]);
        assert_eq!(
            items[1].as_ref().unwrap_err().0,
            "log.swf:2: this job was submitted at 3, but one submitted at 5 stands more than 0 jobs \
             before it: set a larger `reorder`, or sort the log once with `meshwork trace convert`"
        );
    }

    proptest! {
        #[test]
        fn reordering_is_a_stable_sort_or_an_error(
            submits in prop::collection::vec(0..30_i64, 1..60),
            reorder in 0..20_usize,
        ) {
            let text: String =
                (1..).zip(&submits).map(|(n, &submit)| line(n, submit, 1, 1, 1, 1)).collect();
            let mut sorted: Vec<(i64, u64)> = submits.iter().copied().zip(1..).collect();
            sorted.sort_by_key(|&(submit, _)| submit);
            let sorted: Vec<u64> = sorted.into_iter().map(|(_, number)| number).collect();
            // A job gets its place if at most `reorder` jobs submitted later precede it in the
            // file.
            let mendable = (0..submits.len()).all(|i| {
                submits[..i].iter().filter(|&&above| above > submits[i]).count() <= reorder
            });
            let items = read(text.as_bytes(), reorder);
            let got = numbers(&items);
            let failed = items.iter().any(Result::is_err);
            prop_assert!(!(mendable && failed));
            if failed {
                // The jobs before the error are in order, and nothing follows the error.
                prop_assert!(items.last().unwrap().is_err());
                let key = |&number: &u64| (submits[number as usize - 1], number);
                prop_assert!(got.is_sorted_by_key(key));
            } else {
                prop_assert_eq!(got, sorted);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..400)) {
            read(&text, 3);
            for _ in records(Box::new(std::io::Cursor::new(text.clone())), "x") {}
            let _ = header(Box::new(std::io::Cursor::new(text)), "x");
        }

        #[test]
        fn nearly_a_log_does_not_make_it_panic(text in "([;0-9.e+-]{0,4}[ \t]?){0,40}(\r?\n[0-9 -]{30,60}){0,6}") {
            for item in read(text.as_bytes(), 3) {
                if let Err(error) = item {
                    prop_assert!(error.0.starts_with("log.swf:"), "{}", error);
                }
            }
        }

        #[test]
        fn records_are_written_and_read_back(
            fields in prop::array::uniform18(prop_oneof![
                Just(-1.0), (0..100_000_000_u32).prop_map(f64::from), -1e15..1e15_f64, -10.0..10.0_f64,
                (0..1_000_000_u32).prop_map(|n| f64::from(n) / 100.0),
            ])
        ) {
            let record = Record { fields };
            let mut text = Vec::new();
            write_record(&mut text, &record).unwrap();
            prop_assert_eq!(Record::parse(&text), Ok(record));
        }

        #[test]
        fn numbers_are_read_as_the_standard_library_reads_them(text in "-?[0-9]{1,9}(\\.[0-9]{0,9})?|-?\\.[0-9]{1,18}") {
            let line = format!("{text} 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 {text}");
            let record = Record::parse(line.as_bytes()).unwrap();
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!((record.fields[0], record.fields[17]), (expected, expected));
            prop_assert!(record.fields[0].is_sign_positive() || expected < 0.0);
        }

        #[test]
        fn headers_are_written_and_read_back(comments in prop::collection::vec("[ ]{0,3}[A-Za-z]{0,6}(:? ?)[ -~]{0,12}", 0..8)) {
            let mut header = Header::default();
            for comment in &comments {
                header.add(comment);
            }
            let mut text = Vec::new();
            write_header(&mut text, &header).unwrap();
            let again = super::header(Box::new(std::io::Cursor::new(text)), "x").unwrap();
            prop_assert_eq!(again, header);
        }
    }

    #[test]
    fn a_header_ends_with_the_first_job() {
        let text = format!(
            "; Version: 2.2\r\n;   MaxProcs: 4008 (all)\n;\n; Note: see http://a.b\n; {}; MaxNodes: 3\n",
            line(1, 0, 1, 1, 1, 1).replacen("1 0", "x\n1 0", 1)
        );
        let header = header(Box::new(std::io::Cursor::new(text)), "x").unwrap();
        assert_eq!(header.get("Version"), Some("2.2"));
        assert_eq!(header.processors(), Some(4008));
        assert_eq!(header.get("Note"), Some("see http://a.b"));
        assert_eq!(header.get("MaxNodes"), None);
        assert_eq!(header.entries.len(), 5);
    }
}
