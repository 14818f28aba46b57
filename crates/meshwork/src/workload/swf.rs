//! Jobs from a log in the Standard Workload Format, read as a stream.
//!
//! The rules, where the format leaves a choice: a job asks for the processors of field 8, or of
//! field 5 where field 8 is not known; it runs for field 4; its estimate is field 9, or the run time
//! where field 9 is not known. Nothing is killed at its estimate, and a run time of 0 is kept. A line
//! without a run time, without processors or without a time of submission is no job: it is counted
//! and passed over. Memory does not grow with the log.

mod format;

use std::collections::VecDeque;
use std::io::BufRead;

use crate::job::{Job, Request, Time};
use crate::registry::{About, Default, Kind, Param};

pub use format::{FIELDS, Header, Line, Record, header, records, write_header, write_record};

use super::{Submission, Unusable, WorkloadEntry, WorkloadError};
use format::Lines;

/// How many jobs are held back, where a study does not say, so that a log whose lines are a little
/// out of order can be put in order as it is read.
pub const REORDER: usize = 10_000;

/// The entry in the list.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    about: About {
        name: "swf",
        aliases: &[],
        summary: "The jobs of a log in the Standard Workload Format",
        source: "Parallel Workloads Archive (Feitelson, Tsafrir & Krakov, JPDC 74(10), 2014)",
        params: &[
            Param {
                name: "path",
                kind: Kind::Text,
                default: Default::Required,
                help: "the log; it may be compressed with gzip",
            },
            Param {
                name: "reorder",
                kind: Kind::Integer(0, 100_000_000),
                default: Default::Is("10000"),
                help: "how many jobs are held back to put a log in order whose lines are not quite",
            },
        ],
    },
    ends: true,
    build: |params, setting| {
        let path = params.text("path");
        let reader = setting.inputs.text(path)?;
        Ok(Box::new(jobs(reader, path, params.integer("reorder") as usize)))
    },
};

/// The jobs of a log, in order of submission and, within one instant, in file order; `reorder` jobs
/// are held back to sort them.
///
/// Lines that are no jobs come as they are read. The first error ends the log.
///
/// A line costs constant time in a log that is in order, and O(log `reorder`) comparisons and
/// O(`reorder`) moves where it is not.
pub fn jobs(
    reader: Box<dyn BufRead>,
    path: &str,
    reorder: usize,
) -> impl Iterator<Item = Result<Submission, WorkloadError>> + use<> {
    Log {
        lines: Lines::new(reader, path),
        record: Record { fields: [-1.0; 18] },
        held: VecDeque::new(),
        reorder,
        released: f64::NEG_INFINITY,
        seen: 0,
        usable: 0,
        read_all: false,
        failed: false,
    }
}

/// The job that a line stands for, or why it stands for none; the outer error is a line that cannot
/// be meant. `count` is its place among the lines with jobs, from 1: its number where it has none.
///
/// # Errors
/// What is wrong with the line, in words that follow `PATH:LINE:`.
pub fn job(record: &Record, count: u64) -> Result<Result<Job, &'static str>, String> {
    Ok(Plain::of(record, count)?.map(Plain::job))
}

/// A job in the form in which many are held back.
#[derive(Clone, Copy)]
struct Plain {
    number: u64,
    submit: f64,
    run_time: f64,
    estimate: f64,
    processors: u32,
}

impl Plain {
    #[inline]
    fn of(record: &Record, count: u64) -> Result<Result<Plain, &'static str>, String> {
        let (submit, run_time, processors) =
            (record.submit(), record.run_time(), record.processors());
        if run_time < 0.0 {
            return Ok(Err("no run time"));
        }
        if processors <= 0.0 {
            return Ok(Err("no processors"));
        }
        if submit < 0.0 {
            return Ok(Err("no submit time"));
        }
        let number = record.number();
        if f64::from(processors as u32) != processors || (number as i64) as f64 != number {
            return Err(not_whole(record));
        }
        Ok(Ok(Plain {
            number: if number < 0.0 { count } else { number as u64 },
            submit,
            run_time,
            estimate: record.requested_time().unwrap_or(run_time),
            processors: processors as u32,
        }))
    }

    #[inline]
    fn job(self) -> Job {
        Job {
            number: self.number,
            arrival: Time::new(self.submit),
            request: Request::Nodes(self.processors),
            runtime: self.run_time,
            estimate: self.estimate,
        }
    }
}

#[cold]
fn not_whole(record: &Record) -> String {
    let processors = record.processors();
    let (field, number, most) = if f64::from(processors as u32) == processors {
        (0, record.number(), 1e15)
    } else {
        (if record.fields[7] > 0.0 { 7 } else { 4 }, processors, f64::from(u32::MAX))
    };
    format!(
        "field {} ({}) is `{number}`, but must be a whole number up to {most}",
        field + 1,
        FIELDS[field]
    )
}

struct Log {
    lines: Lines,
    /// The line being read.
    record: Record,
    /// Jobs held back, in order of submission and then file order.
    held: VecDeque<Plain>,
    reorder: usize,
    /// When the last job that was handed out was submitted.
    released: f64,
    /// Lines with jobs or what might have been jobs, and jobs among them.
    seen: u64,
    usable: u64,
    read_all: bool,
    failed: bool,
}

impl Log {
    fn advance(&mut self) -> Result<Option<Submission>, WorkloadError> {
        while !self.read_all && self.held.len() <= self.reorder {
            let Some(text) = self.lines.next()? else {
                self.read_all = true;
                if self.usable == 0 {
                    return Err(self.nothing());
                }
                break;
            };
            if text[0] == b';' {
                continue;
            }
            if !self.record.read(text) {
                let what = format::fault(text);
                return Err(self.lines.error(what));
            }
            self.seen += 1;
            match Plain::of(&self.record, self.seen) {
                Ok(Ok(job)) => self.hold(job)?,
                Ok(Err(reason)) => {
                    let line = self.lines.line();
                    return Ok(Some(Submission::Unusable(Unusable { line, reason })));
                }
                Err(what) => return Err(self.lines.error(what)),
            }
        }
        Ok(self.held.pop_front().map(|job| {
            self.released = job.submit;
            Submission::Job(job.job())
        }))
    }

    #[inline]
    fn hold(&mut self, job: Plain) -> Result<(), WorkloadError> {
        self.usable += 1;
        if job.submit < self.released {
            return Err(self.too_late(&job));
        }
        if self.held.back().is_none_or(|last| last.submit <= job.submit) {
            self.held.push_back(job);
        } else {
            let place = self.held.partition_point(|other| other.submit <= job.submit);
            self.held.insert(place, job);
        }
        Ok(())
    }

    #[cold]
    fn too_late(&self, job: &Plain) -> WorkloadError {
        self.lines.error(format_args!(
            "this job was submitted at {}, but one submitted at {} stands more than {} jobs before \
             it: set a larger `reorder`, or sort the log once with `meshwork trace convert`",
            job.submit, self.released, self.reorder
        ))
    }

    #[cold]
    fn nothing(&self) -> WorkloadError {
        let path = self.lines.path();
        WorkloadError(match self.seen {
            0 => format!("{path}: the log has no jobs"),
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
        let item = self.advance().transpose();
        self.failed = matches!(item, Some(Err(_)));
        item
    }
}
