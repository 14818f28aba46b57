//! The columns of a table of jobs, in one list: what each is called and holds, and where that stands
//! in a [`Row`] and in a [`Job`]. Every reader and writer of such tables goes by it.

use super::Row;
use crate::job::{Job, Owner, Request, Terms, Wants, sides_text};
use crate::registry::{did_you_mean, nearest};

/// Kind of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// The number of a job.
    Number,
    /// A count.
    Count,
    /// An instant of the table's clock, or a date.
    Instant,
    /// A number that is no count: a length of time, or a priority.
    Real,
    /// `true` or `false`.
    Flag,
    /// A text.
    Text,
}

/// A column of a table of jobs.
#[derive(Debug)]
pub struct Column {
    /// Its name in the first line of the table.
    pub name: &'static str,
    /// The kind of its cells.
    pub holds: Holds,
    get: fn(&Job) -> Option<String>,
    slot: fn(&mut Row) -> Slot<'_>,
}

impl Column {
    /// The cell of a job; `None` where it is empty. How long a job waited is not known of it.
    #[must_use]
    pub fn get(&self, job: &Job) -> Option<String> {
        (self.get)(job)
    }

    /// Where its cell stands in a row.
    pub fn slot<'r>(&self, row: &'r mut Row) -> Slot<'r> {
        (self.slot)(row)
    }
}

/// Where a cell stands in a [`Row`].
#[derive(Debug)]
pub enum Slot<'r> {
    /// A number.
    Number(&'r mut Option<f64>),
    /// An instant, and whether it is a date.
    Instant(&'r mut Option<f64>, &'r mut bool),
    /// A text.
    Text(&'r mut Option<String>),
    /// One of the things that a job wants beside a count: the name of its column, and the cell.
    Want(&'r mut Vec<(&'static str, String)>),
}

/// Every column that is read.
pub static COLUMNS: [Column; 26] = [
    Column {
        name: "job",
        holds: Holds::Number,
        get: |job| Some(job.number.to_string()),
        slot: |row| Slot::Number(&mut row.job),
    },
    Column {
        name: "submit",
        holds: Holds::Instant,
        get: |job| Some(job.arrival.to_string()),
        slot: |row| Slot::Instant(&mut row.submit, &mut row.is_dated),
    },
    Column {
        name: "runtime",
        holds: Holds::Real,
        get: |job| Some(job.runtime.to_string()),
        slot: |row| Slot::Number(&mut row.runtime),
    },
    Column {
        name: "estimate",
        holds: Holds::Real,
        get: |job| Some(job.estimate.to_string()),
        slot: |row| Slot::Number(&mut row.estimate),
    },
    Column {
        name: "nodes",
        holds: Holds::Count,
        get: |job| match &job.request {
            Request::Nodes(_) | Request::Wanting(_) => Some(job.request.nodes().to_string()),
            _ => None,
        },
        slot: |row| Slot::Number(&mut row.nodes),
    },
    Column {
        name: "block",
        holds: Holds::Text,
        get: |job| match &job.request {
            Request::Block(sides) => Some(sides_text(sides)),
            _ => None,
        },
        slot: |row| Slot::Text(&mut row.block),
    },
    Column {
        name: "subcube",
        holds: Holds::Count,
        get: |job| match &job.request {
            Request::Subcube(dimension) => Some(dimension.to_string()),
            _ => None,
        },
        slot: |row| Slot::Number(&mut row.subcube),
    },
    Column {
        name: "user",
        holds: Holds::Text,
        get: |job| owner(job)?.user.clone(),
        slot: |row| Slot::Text(&mut row.user),
    },
    Column {
        name: "group",
        holds: Holds::Text,
        get: |job| owner(job)?.group.clone(),
        slot: |row| Slot::Text(&mut row.group),
    },
    Column {
        name: "application",
        holds: Holds::Text,
        get: |job| owner(job)?.application.clone(),
        slot: |row| Slot::Text(&mut row.application),
    },
    Column {
        name: "queue",
        holds: Holds::Text,
        get: |job| owner(job)?.queue.clone(),
        slot: |row| Slot::Text(&mut row.queue),
    },
    Column {
        name: "priority",
        holds: Holds::Real,
        get: |job| Some(terms(job)?.priority).filter(|&own| own > 0.0).map(|own| own.to_string()),
        slot: |row| Slot::Number(&mut row.priority),
    },
    Column {
        name: "deadline",
        holds: Holds::Instant,
        get: |job| job.deadline().map(|end| end.to_string()),
        slot: |row| Slot::Instant(&mut row.deadline, &mut row.is_deadline_dated),
    },
    Column {
        name: "after",
        holds: Holds::Number,
        get: |job| job.after().map(|after| after.number.to_string()),
        slot: |row| Slot::Number(&mut row.after),
    },
    Column {
        name: "think",
        holds: Holds::Real,
        get: |job| job.after().map(|after| after.think.to_string()),
        slot: |row| Slot::Number(&mut row.think),
    },
    Column {
        name: "wait",
        holds: Holds::Real,
        get: |_| None,
        slot: |row| Slot::Number(&mut row.wait),
    },
    want("nodes_max", Holds::Count, |job| wanted(job, "nodes_max")),
    want("segment", Holds::Count, |job| wanted(job, "segment")),
    want("spread_segments", Holds::Flag, |job| wanted(job, "spread_segments")),
    want("consolidate_segments", Holds::Flag, |job| wanted(job, "consolidate_segments")),
    want("switches", Holds::Count, |job| wanted(job, "switches")),
    want("contiguous", Holds::Flag, |job| wanted(job, "contiguous")),
    want("exclusive", Holds::Text, |job| wanted(job, "exclusive")),
    want("require", Holds::Text, |job| wanted(job, "require")),
    want("exclude", Holds::Text, |job| wanted(job, "exclude")),
    want("partition", Holds::Text, |job| {
        wanted(job, "partition").or_else(|| owner(job)?.partition.clone())
    }),
];

/// A column of what a job wants beside a count.
const fn want(name: &'static str, holds: Holds, get: fn(&Job) -> Option<String>) -> Column {
    Column { name, holds, get, slot: |row| Slot::Want(&mut row.wants) }
}

fn wanted(job: &Job, column: &str) -> Option<String> {
    let Request::Wanting(wants) = &job.request else { return None };
    Wants::cells(wants).into_iter().find(|(name, _)| *name == column).map(|(_, cell)| cell)
}

fn owner(job: &Job) -> Option<&Owner> {
    job.owner.as_deref()
}

fn terms(job: &Job) -> Option<&Terms> {
    job.terms.as_deref()
}

/// The columns of per-job output that say what happened: a table may have them, and none is read.
pub const OUTCOMES: [&str; 6] = ["start", "finish", "requested", "held", "site", "blocks"];

/// Where each of [`COLUMNS`] is among the columns of a table with these names.
///
/// A name that is none of them is left alone, but not where one of them was meant that is missing.
///
/// # Errors
/// In words that follow the name of the table: a column that is there twice, one that is misspelt, or
/// one without which there are no jobs.
pub fn places<'n>(
    names: impl IntoIterator<Item = &'n str>,
) -> Result<[Option<usize>; COLUMNS.len()], String> {
    let mut places = [None; COLUMNS.len()];
    let (mut given, mut unknown) = (Vec::new(), Vec::new());
    for (place, name) in names.into_iter().enumerate() {
        // Spreadsheets put a mark of the encoding before the first name.
        let name = name.trim_start_matches('\u{feff}');
        given.push(name.escape_debug().to_string());
        match COLUMNS.iter().position(|column| column.name == name) {
            Some(column) if places[column].replace(place).is_some() => {
                return Err(format!("the column `{name}` is there twice"));
            }
            None if !OUTCOMES.contains(&name) => unknown.push(name),
            _ => {}
        }
    }
    let known = COLUMNS.each_ref().map(|column| column.name);
    let is_there = |name: &str| known.iter().zip(&places).any(|(k, p)| *k == name && p.is_some());
    for name in unknown {
        // Nearer than a suggestion has to be: another column of a user's is no misspelt one of ours.
        let meant = nearest(name, &known, |length| (length / 4).max(1));
        if let Some(meant) = meant.filter(|meant| !is_there(meant)) {
            let given = name.escape_debug();
            let says = did_you_mean(meant, &known);
            return Err(format!("unknown column `{given}` ({says})"));
        }
    }
    if is_there("submit") && is_there("runtime") && ASKED.iter().any(|name| is_there(name)) {
        return Ok(places);
    }
    let more = known.iter().filter(|name| !["submit", "runtime"].contains(*name));
    let more: Vec<&str> = more.filter(|name| !ASKED.contains(*name)).copied().collect();
    let given = if given.is_empty() { "none".to_owned() } else { given.join(", ") };
    Err(format!(
        "a table of jobs has the columns submit, runtime and one of nodes, block and subcube, and \
         perhaps {}; this one has {given}",
        more.join(", ")
    ))
}

/// The columns of which each row has one.
const ASKED: [&str; 3] = ["nodes", "block", "subcube"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_column_is_said_and_a_users_own_is_left_alone() {
        let at = |names: &str| places(names.split(','));
        let known = |name: &str| COLUMNS.iter().position(|column| column.name == name).unwrap();
        let places = at("submit,runtime,nodes,gpu,state,held,blocks,users,user").unwrap();
        assert_eq!(
            places[known("user")],
            Some(8),
            "who has `user` means something else by `users`"
        );
        assert_eq!(places[known("block")], None);
        for (given, meant) in [
            ("segmant", "segment"),
            ("Priority", "priority"),
            ("spread_segment", "spread_segments"),
            ("queu", "queue"),
        ] {
            let says = at(&format!("submit,runtime,nodes,{given}")).unwrap_err();
            let begins =
                format!("unknown column `{given}` (did you mean `{meant}`? known: {meant}, ");
            assert!(says.starts_with(&begins), "{says}");
        }
        assert!(at("Submit,runtime,nodes").unwrap_err().starts_with("unknown column `Submit`"));
        assert!(at("runtime,nodes").unwrap_err().ends_with("; this one has runtime, nodes"));
    }
}
