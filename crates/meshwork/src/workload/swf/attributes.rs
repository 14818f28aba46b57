//! What a line says of a job besides what it asks for: whose it is, where it was submitted, and after which other job.
//!
//! It is kept beside the jobs that are held back, so that a log of which nobody asks this costs nothing for it.

use super::{FIELDS, Record, RecordError};
use crate::job::{After, Job, Owner, Terms};
use crate::registry::LARGEST;
use crate::workload::dependencies::{Sessions, Source};
use crate::workload::owners::{Owners, UNKNOWN};

/// The number of a job of which nothing else is known.
pub(super) const NOTHING: u32 = UNKNOWN;

/// User, group, application, queue and partition, below 0 where they are not known.
type Key = [i64; 5];

/// What else the lines of a log say.
pub(super) struct Attributes {
    owners: Owners<Key>,
    /// What is said of each job, where it is asked after which other one it came; else the number of a job is that of its
    /// owner.
    came: Option<Came>,
}

struct Came {
    lines: Vec<Line>,
    /// Whether that is seen from when users submitted their jobs, and not said.
    sessions: Option<Sessions>,
}

struct Line {
    owner: u32,
    after: Option<After>,
    wait: f64,
}

impl Attributes {
    /// What is asked for, if anything is.
    pub(super) fn asked_for(owners: bool, source: Option<Source>) -> Option<Attributes> {
        let came = source.map(|source| Came { lines: Vec::new(), sessions: source.sessions() });
        (owners || came.is_some()).then(|| Attributes { owners: Owners::default(), came })
    }

    /// Keeps what a line says; returns the number under which it is kept.
    ///
    /// # Errors
    /// A preceding job whose number is none.
    pub(super) fn note(&mut self, record: &Record) -> Result<u32, RecordError> {
        let owner = self.owners.number(key(record), named);
        let Some(came) = &mut self.came else { return Ok(owner) };
        let (after, wait) = (record.after()?, record.wait().unwrap_or(0.0));
        came.lines.push(Line { owner, after, wait });
        Ok((came.lines.len() - 1) as u32)
    }

    /// Gives a job what is kept under its number. Jobs come in order of submission.
    pub(super) fn give(&mut self, number: u32, job: &mut Job) {
        let Some(came) = &mut self.came else {
            job.owner = self.owners.get(number);
            return;
        };
        let line = &came.lines[number as usize];
        job.owner = self.owners.get(line.owner);
        let after = match &mut came.sessions {
            Some(sessions) => sessions.after(job, line.wait),
            None => line.after,
        };
        job.terms = after.map(|after| Box::new(Terms { after: Some(after), ..Terms::default() }));
    }
}

impl Record {
    /// Fields 17 and 18: after which other job it was submitted, where there is one.
    ///
    /// # Errors
    /// If its number is none.
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

/// An owner by the numbers of a log.
fn named(key: Key) -> Owner {
    let known = |own: i64| (own >= 0).then(|| own.to_string());
    let [user, group, application, queue, partition] = key.map(known);
    Owner { user, group, application, queue, partition }
}
