//! List of the columns of a table of jobs, used by every reader and writer of such tables.
//!
//! Each has its name, its kind, and its place in a [`Row`] and a [`Job`].

use super::Row;
use crate::job::{Constraints, Job, Owner, Request, Terms, sides_text};
use crate::registry::{did_you_mean, nearest};

/// Kind of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// The number of a job.
    Number,
    /// A count.
    Count,
    /// An instant of the table's clock, or a date.
    Instant,
    /// A number that is not a count: a duration or a priority.
    Real,
    /// `true` or `false`.
    Flag,
    /// Text.
    Text,
}

/// A column of a table of jobs.
#[derive(Debug)]
pub struct Column {
    /// Name in the first line of the table.
    pub name: &'static str,
    /// Kind of the cells.
    pub holds: CellKind,
    get: fn(&Job) -> Option<String>,
    slot: fn(&mut Row) -> Slot<'_>,
}

impl Column {
    /// Returns the cell of a job; `None` if it is empty. A [`Job`] does not contain its wait.
    #[must_use]
    pub fn get(&self, job: &Job) -> Option<String> {
        (self.get)(job)
    }

    /// Returns the place of the cell in a row.
    pub fn slot<'r>(&self, row: &'r mut Row) -> Slot<'r> {
        (self.slot)(row)
    }
}

/// Place of a cell in a [`Row`].
#[derive(Debug)]
pub enum Slot<'r> {
    /// A number.
    Number(&'r mut Option<f64>),
    /// An instant, and whether it is a date.
    Instant(&'r mut Option<f64>, &'r mut bool),
    /// Text.
    Text(&'r mut Option<String>),
    /// A constraint: the name of its column, and the cell.
    Constraint(&'r mut Vec<(&'static str, String)>),
}

/// Every column that is read.
pub static COLUMNS: [Column; 26] = [
    Column {
        name: "job",
        holds: CellKind::Number,
        get: |job| Some(job.number.to_string()),
        slot: |row| Slot::Number(&mut row.job),
    },
    Column {
        name: "submit",
        holds: CellKind::Instant,
        get: |job| Some(job.arrival.to_string()),
        slot: |row| Slot::Instant(&mut row.submit, &mut row.is_dated),
    },
    Column {
        name: "runtime",
        holds: CellKind::Real,
        get: |job| Some(job.runtime.to_string()),
        slot: |row| Slot::Number(&mut row.runtime),
    },
    Column {
        name: "estimate",
        holds: CellKind::Real,
        get: |job| Some(job.estimate.to_string()),
        slot: |row| Slot::Number(&mut row.estimate),
    },
    Column {
        name: "nodes",
        holds: CellKind::Count,
        get: |job| match &job.request {
            Request::Nodes(_) | Request::Constrained(_) => Some(job.request.nodes().to_string()),
            _ => None,
        },
        slot: |row| Slot::Number(&mut row.nodes),
    },
    Column {
        name: "block",
        holds: CellKind::Text,
        get: |job| match &job.request {
            Request::Block(sides) => Some(sides_text(sides)),
            _ => None,
        },
        slot: |row| Slot::Text(&mut row.block),
    },
    Column {
        name: "subcube",
        holds: CellKind::Count,
        get: |job| match &job.request {
            Request::Subcube(dimension) => Some(dimension.to_string()),
            _ => None,
        },
        slot: |row| Slot::Number(&mut row.subcube),
    },
    Column {
        name: "user",
        holds: CellKind::Text,
        get: |job| owner(job)?.user.clone(),
        slot: |row| Slot::Text(&mut row.user),
    },
    Column {
        name: "group",
        holds: CellKind::Text,
        get: |job| owner(job)?.group.clone(),
        slot: |row| Slot::Text(&mut row.group),
    },
    Column {
        name: "application",
        holds: CellKind::Text,
        get: |job| owner(job)?.application.clone(),
        slot: |row| Slot::Text(&mut row.application),
    },
    Column {
        name: "queue",
        holds: CellKind::Text,
        get: |job| owner(job)?.queue.clone(),
        slot: |row| Slot::Text(&mut row.queue),
    },
    Column {
        name: "priority",
        holds: CellKind::Real,
        get: |job| Some(terms(job)?.priority).filter(|&own| own > 0.0).map(|own| own.to_string()),
        slot: |row| Slot::Number(&mut row.priority),
    },
    Column {
        name: "deadline",
        holds: CellKind::Instant,
        get: |job| job.deadline().map(|end| end.to_string()),
        slot: |row| Slot::Instant(&mut row.deadline, &mut row.is_deadline_dated),
    },
    Column {
        name: "after",
        holds: CellKind::Number,
        get: |job| job.after().map(|after| after.number.to_string()),
        slot: |row| Slot::Number(&mut row.after),
    },
    Column {
        name: "think",
        holds: CellKind::Real,
        get: |job| job.after().map(|after| after.think.to_string()),
        slot: |row| Slot::Number(&mut row.think),
    },
    Column {
        name: "wait",
        holds: CellKind::Real,
        get: |_| None,
        slot: |row| Slot::Number(&mut row.wait),
    },
    want("nodes_max", CellKind::Count, |job| wanted(job, "nodes_max")),
    want("segment", CellKind::Count, |job| wanted(job, "segment")),
    want("spread_segments", CellKind::Flag, |job| wanted(job, "spread_segments")),
    want("consolidate_segments", CellKind::Flag, |job| wanted(job, "consolidate_segments")),
    want("switches", CellKind::Count, |job| wanted(job, "switches")),
    want("contiguous", CellKind::Flag, |job| wanted(job, "contiguous")),
    want("exclusive", CellKind::Text, |job| wanted(job, "exclusive")),
    want("require", CellKind::Text, |job| wanted(job, "require")),
    want("exclude", CellKind::Text, |job| wanted(job, "exclude")),
    want("partition", CellKind::Text, |job| {
        wanted(job, "partition").or_else(|| owner(job)?.partition.clone())
    }),
];

/// Creates the column of a constraint.
const fn want(name: &'static str, holds: CellKind, get: fn(&Job) -> Option<String>) -> Column {
    Column { name, holds, get, slot: |row| Slot::Constraint(&mut row.constraints) }
}

fn wanted(job: &Job, column: &str) -> Option<String> {
    let Request::Constrained(constraints) = &job.request else { return None };
    Constraints::cells(constraints)
        .into_iter()
        .find(|(name, _)| *name == column)
        .map(|(_, cell)| cell)
}

fn owner(job: &Job) -> Option<&Owner> {
    job.owner.as_deref()
}

fn terms(job: &Job) -> Option<&Terms> {
    job.terms.as_deref()
}

/// Columns of per-job output with results of a run: a table may have them, but they are not read.
pub const OUTCOMES: [&str; 6] = ["start", "finish", "requested", "held", "site", "blocks"];

/// Finds the index of each of [`COLUMNS`] among the columns of a table with these names.
///
/// An unknown name is ignored, unless it resembles a column that is missing.
///
/// # Errors
/// In words that follow the name of the table: a column that occurs twice, a misspelt one, or a
/// missing one that is required.
pub fn places<'n>(
    names: impl IntoIterator<Item = &'n str>,
) -> Result<[Option<usize>; COLUMNS.len()], String> {
    let mut places = [None; COLUMNS.len()];
    let (mut given, mut unknown) = (Vec::new(), Vec::new());
    for (place, name) in names.into_iter().enumerate() {
        // Spreadsheets put a byte order mark before the first name.
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
        // Stricter than for suggestions: a user's own column is not a misspelt one.
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

/// Columns of which each row has exactly one.
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
