//! Attributes of a log's jobs that are stored only if needed: owner, queue, partition, predecessor.
//!
//! The attributes are stored apart from the jobs. So a log takes no more memory if none are needed.

use super::{FIELDS, Record, RecordError};
use crate::job::{After, Job, Owner, Terms};
use crate::registry::LARGEST;
use crate::workload::dependencies::{Sessions, Source};
use crate::workload::owners::{Owners, UNKNOWN};

/// Number that stands for a job without stored attributes.
pub(super) const NOTHING: u32 = UNKNOWN;

/// User, group, application, queue and partition of a job; −1 if unknown.
type Key = [i64; 5];

/// Attributes of a log's jobs, such as the owner of each job, in compact form.
pub(super) struct Attributes {
    owners: Owners<Key>,
    /// Owner and predecessor of each line with attributes; `None` if dependencies are not
    /// requested.
    ///
    /// If it is `None`, only owners are stored, and the number that stands for the attributes of a
    /// line is the number of its owner.
    came: Option<Came>,
}

struct Came {
    lines: Vec<Line>,
    /// Sessions of users, from which dependencies are inferred; `None` if the log states
    /// dependencies.
    sessions: Option<Sessions>,
}

struct Line {
    owner: u32,
    after: Option<After>,
    wait: f64,
}

impl Attributes {
    /// Creates the store for the requested attributes of jobs; `None` if no attributes are
    /// requested.
    pub(super) fn asked_for(owners: bool, source: Option<Source>) -> Option<Attributes> {
        let came = source.map(|source| Came { lines: Vec::new(), sessions: source.sessions() });
        (owners || came.is_some()).then(|| Attributes { owners: Owners::default(), came })
    }

    /// Stores the attributes of a line of a log, and returns the number under which they are
    /// stored. Fails if the line's number of the preceding job is invalid.
    pub(super) fn note(&mut self, record: &Record) -> Result<u32, RecordError> {
        let owner = self.owners.number(key(record), named);
        let Some(came) = &mut self.came else { return Ok(owner) };
        let (after, wait) = (record.after()?, record.wait().unwrap_or(0.0));
        came.lines.push(Line { owner, after, wait });
        Ok((came.lines.len() - 1) as u32)
    }

    /// Gives a job the attributes stored under the number `number`. Jobs must come in order of
    /// submission.
    pub(super) fn give(&mut self, number: u32, job: &mut Job) {
        let Some(came) = &mut self.came else {
            job.owner = self.owners.get(number);
            return;
        };
        let line = &came.lines[number as usize];
        job.owner = self.owners.get(line.owner);
        let sessions = came.sessions.as_mut();
        let after = sessions.map_or(line.after, |sessions| sessions.after(job, line.wait));
        job.terms = after.map(|after| Box::new(Terms { after: Some(after), ..Terms::default() }));
    }
}

impl Record {
    /// The job's predecessor and think time, from fields 17 and 18; `None` without a predecessor.
    ///
    /// # Errors
    /// If the number of the predecessor is not a whole number.
    pub fn after(&self) -> Result<Option<After>, RecordError> {
        let Some(number) = self.preceding() else { return Ok(None) };
        if number.fract() != 0.0 {
            let (field, name) = (17, FIELDS[16]);
            return Err(RecordError::NotWhole { field, name, number, most: LARGEST });
        }
        Ok(Some(After { number: number as u64, think: self.think_time() }))
    }
}

fn key(record: &Record) -> Key {
    let field = |value: Option<f64>| value.map_or(-1, |value| value as i64);
    [record.user(), record.group(), record.application(), record.queue(), record.partition()]
        .map(field)
}

fn named(key: Key) -> Owner {
    let known = |own: i64| (own >= 0).then(|| own.to_string());
    let [user, group, application, queue, partition] = key.map(known);
    Owner { user, group, application, queue, partition }
}
