//! The columns of a table of jobs: name, meaning and kind of each, and how cells are read and
//! written.
//!
//! Cells are read into a [`Row`] and written from a [`Job`]. Every reader and writer of such tables
//! uses this one list.

use super::{Cell, LARGEST_WHOLE, Row};
use crate::job::{Constraints, Job, Owner, Pieces, Request, Terms, Time, sides_text};
use crate::registry::{LARGEST, did_you_mean, memory_meant, nearest};
use crate::topology::MAX_NODES;

/// Kind of value in the cells of a column, such as counts, times or texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// Column whose cells hold integers that identify jobs.
    Number,
    /// Column whose cells hold counts.
    Count,
    /// Column whose cells hold instants: of the table's own clock, or dates.
    Instant,
    /// Column whose cells hold numbers that may have decimals: durations or priorities.
    Real,
    /// Column whose cells hold `true` or `false`.
    Flag,
    /// Column whose cells hold text.
    Text,
}

impl CellKind {
    /// Word for the values in a column, such as `number` or `text`, as shown in lists of columns.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            CellKind::Number | CellKind::Count => "whole number",
            CellKind::Instant => "instant, or date",
            CellKind::Real => "number",
            CellKind::Flag => "true or false",
            CellKind::Text => "text",
        }
    }

    /// Description of a valid cell, which follows the words "must be" in an error message.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            CellKind::Instant => "a number, or a date such as 2003-05-01T12:30:00",
            CellKind::Text | CellKind::Flag => "a text or a number",
            CellKind::Number | CellKind::Count | CellKind::Real => "a number",
        }
    }
}

/// A column of a table of jobs.
#[derive(Debug)]
pub struct Column {
    /// Name of the column, as in the first line of the table.
    pub name: &'static str,
    /// Kind of the column's cells.
    pub holds: CellKind,
    /// Unit of the column's numbers; empty if they have none.
    pub unit: &'static str,
    /// Meaning of the column for a job, in one line.
    pub help: &'static str,
    /// Index, from 0, of the field of a log's lines with the meaning of this column. `None` if
    /// there is no such field.
    pub field: Option<usize>,
    get: fn(&Job) -> Option<String>,
    set: fn(&mut Row, Cell<'_>) -> Result<(), String>,
}

impl Column {
    /// Creates a column without unit, help and field. Its cells are empty for all jobs, and are not
    /// read.
    const fn new(name: &'static str, holds: CellKind) -> Column {
        let (get, set) = (|_: &Job| None, |_: &mut Row, _: Cell<'_>| Ok(()));
        Column { name, holds, unit: "", help: "", field: None, get, set }
    }

    const fn field(mut self, field: usize) -> Column {
        self.field = Some(field);
        self
    }

    const fn unit(mut self, unit: &'static str) -> Column {
        self.unit = unit;
        self
    }

    const fn help(mut self, help: &'static str) -> Column {
        self.help = help;
        self
    }

    const fn written(mut self, get: fn(&Job) -> Option<String>) -> Column {
        self.get = get;
        self
    }

    const fn read(mut self, set: fn(&mut Row, Cell<'_>) -> Result<(), String>) -> Column {
        self.set = set;
        self
    }

    /// The column of a table of jobs that has the given name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Column> {
        COLUMNS.iter().find(|column| column.name == name)
    }

    /// Whether the column describes a request for pieces (parts of nodes).
    #[must_use]
    pub fn is_of_pieces(&self) -> bool {
        OF_PIECES.contains(&self.name) || self.name == "exclusive"
    }

    /// Whether the column has a cell for every job.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        ["job", "submit", "runtime", "estimate"].contains(&self.name)
    }

    /// The cell of a job in this column; `None` if it is empty. The column `wait` is always empty,
    /// because a job does not store how long it waited.
    #[must_use]
    pub fn get(&self, job: &Job) -> Option<String> {
        (self.get)(job)
    }

    /// Stores the value of a table's cell in the field of a row that belongs to this column.
    ///
    /// An empty text counts as no cell. Text in a column of numbers is parsed.
    ///
    /// # Errors
    /// If the column cannot hold the cell. The error is one sentence without a line number.
    pub fn set(&self, row: &mut Row, cell: Cell<'_>) -> Result<(), String> {
        let refused = |cell: &dyn std::fmt::Display| {
            let meant = match self.name {
                "mem" => memory_meant(&cell.to_string()),
                _ => String::new(),
            };
            format!("`{}` is `{cell}`, but must be {}{meant}", self.name, self.holds.meaning())
        };
        let cell = match (self.holds, cell) {
            (_, Cell::Text(text)) if text.is_empty() => return Ok(()),
            (CellKind::Text | CellKind::Flag, Cell::Number(number)) => {
                Cell::Text(number.to_string().into())
            }
            (CellKind::Text | CellKind::Flag, Cell::Text(text)) => Cell::Text(text),
            (_, Cell::Text(text)) => Cell::Number(text.trim().parse().map_err(|_| refused(&text))?),
            (CellKind::Instant, Cell::Date(seconds)) => Cell::Date(seconds),
            (_, Cell::Date(_)) => return Err(refused(&"a date")),
            (_, Cell::Number(number)) => Cell::Number(number),
        };
        (self.set)(row, cell).map_err(|says| format!("{}{says}", self.name))
    }
}

const TIME: &str = "time";
const PROCESSORS: &str = "processors";

/// All columns that a table of jobs may have.
pub static COLUMNS: [Column; 35] = [
    Column::new("job", CellKind::Number)
        .field(0)
        .help("its number; left out, that of its row, from 1")
        .written(|job| Some(job.number.to_string()))
        .read(|row, cell| put(&mut row.job, cell.whole(0, LARGEST_WHOLE))),
    Column::new("submit", CellKind::Instant)
        .field(1)
        .unit(TIME)
        .help(
            "when it was submitted; where these are dates, the clock begins with the first and \
             counts seconds",
        )
        .written(|job| Some(job.arrival.to_string()))
        .read(|row, cell| put(&mut row.submit, cell.instant())),
    Column::new("runtime", CellKind::Real)
        .field(3)
        .unit(TIME)
        .help("how long it runs")
        .written(|job| Some(job.runtime.to_string()))
        .read(|row, cell| put(&mut row.runtime, cell.real(LARGEST))),
    Column::new("estimate", CellKind::Real)
        .field(8)
        .unit(TIME)
        .help("how long its user says that it runs; left out, its run time")
        .written(|job| Some(job.estimate.to_string()))
        .read(|row, cell| put(&mut row.estimate, cell.real(LARGEST))),
    Column::new("nodes", CellKind::Count)
        .field(7)
        .unit(PROCESSORS)
        .help("how many it asks for")
        .written(|job| match &job.request {
            Request::Nodes(_) | Request::Constrained(_) => Some(job.request.nodes().to_string()),
            _ => None,
        })
        .read(|row, cell| put(&mut row.nodes, cell.count(1, u32::MAX))),
    Column::new("block", CellKind::Text)
        .unit(PROCESSORS)
        .help("the sides of the block that it asks for, such as `3x5`")
        .written(|job| match &job.request {
            Request::Block(sides) => Some(sides_text(sides)),
            _ => None,
        })
        .read(|row, cell| put(&mut row.block, cell.sides())),
    Column::new("subcube", CellKind::Count)
        .help("the dimension of the subcube that it asks for")
        .written(|job| match &job.request {
            Request::Subcube(dimension) => Some(dimension.to_string()),
            _ => None,
        })
        .read(|row, cell| put(&mut row.subcube, cell.count(0, MAX_NODES.ilog2()))),
    Column::new("user", CellKind::Text)
        .field(11)
        .help("who submitted it")
        .written(|job| owner(job)?.user.clone())
        .read(|row, cell| put(&mut row.owner.user, cell.text())),
    Column::new("group", CellKind::Text)
        .field(12)
        .help("the group of whoever submitted it")
        .written(|job| owner(job)?.group.clone())
        .read(|row, cell| put(&mut row.owner.group, cell.text())),
    Column::new("application", CellKind::Text)
        .field(13)
        .help("the program that it runs")
        .written(|job| owner(job)?.application.clone())
        .read(|row, cell| put(&mut row.owner.application, cell.text())),
    Column::new("queue", CellKind::Text)
        .field(14)
        .help("the queue that it was submitted to")
        .written(|job| owner(job)?.queue.clone())
        .read(|row, cell| put(&mut row.owner.queue, cell.text())),
    Column::new("priority", CellKind::Real)
        .help("how urgent it is, from 0 to 1; left out, 0")
        .written(|job| {
            Some(terms(job)?.priority).filter(|&own| own > 0.0).map(|own| own.to_string())
        })
        .read(|row, cell| put(&mut row.priority, cell.real(1.0))),
    Column::new("deadline", CellKind::Instant)
        .unit(TIME)
        .help("by when it is to have ended: a date where `submit` is one")
        .written(|job| job.deadline().map(|end| end.to_string()))
        .read(|row, cell| put(&mut row.deadline, cell.instant())),
    Column::new("after", CellKind::Number)
        .field(16)
        .help("the number of the job after whose end it was submitted")
        .written(|job| job.after().map(|after| after.number.to_string()))
        .read(|row, cell| put(&mut row.after, cell.whole(0, LARGEST_WHOLE))),
    Column::new("think", CellKind::Real)
        .field(17)
        .unit(TIME)
        .help("how long after the end of `after`; left out, 0")
        .written(|job| job.after().map(|after| after.think.to_string()))
        .read(|row, cell| put(&mut row.think, cell.real(LARGEST))),
    Column::new("wait", CellKind::Real)
        .field(2)
        .unit(TIME)
        .help("how long it waited where it ran before, for `dependencies`")
        .read(|row, cell| put(&mut row.wait, cell.real(LARGEST))),
    Column::new("nodes_max", CellKind::Count)
        .unit(PROCESSORS)
        .help("the most that it takes, where it takes more than `nodes` if it can")
        .written(|job| wanted(job, "nodes_max"))
        .read(|row, cell| put(&mut row.constraints.nodes_max, cell.count(1, u32::MAX))),
    Column::new("segment", CellKind::Count)
        .unit(PROCESSORS)
        .help("how many there are in each of the segments that may lie apart")
        .written(|job| wanted(job, "segment"))
        .read(|row, cell| put(&mut row.constraints.segment, cell.count(1, u32::MAX))),
    Column::new("spread_segments", CellKind::Flag)
        .help("whether each segment has base blocks of its own")
        .written(|job| wanted(job, "spread_segments"))
        .read(|row, cell| cell.flag().map(|is_set| row.constraints.spread_segments = is_set)),
    Column::new("consolidate_segments", CellKind::Flag)
        .help("whether all segments lie in one block of a listed size")
        .written(|job| wanted(job, "consolidate_segments"))
        .read(|row, cell| cell.flag().map(|is_set| row.constraints.consolidate_segments = is_set)),
    Column::new("switches", CellKind::Count)
        .unit("leaf switches")
        .help("the most that it may touch")
        .written(|job| wanted(job, "switches"))
        .read(|row, cell| put(&mut row.constraints.switches, cell.count(1, u32::MAX))),
    Column::new("contiguous", CellKind::Flag)
        .help("whether its nodes must follow one another")
        .written(|job| wanted(job, "contiguous"))
        .read(|row, cell| cell.flag().map(|is_set| row.constraints.contiguous = is_set)),
    Column::new("exclusive", CellKind::Text)
        .help(
            "`topo`: no other job may be in its base blocks; `node`, with pieces: nor on its nodes",
        )
        .written(|job| match pieces(job) {
            Some(pieces) => pieces.exclusive.then(|| "node".to_owned()),
            None => wanted(job, "exclusive"),
        })
        .read(|row, cell| {
            let of_nodes = cell.is_exclusive_of_nodes()?;
            let flag =
                if of_nodes { &mut row.whole_nodes } else { &mut row.constraints.whole_blocks };
            *flag = true;
            Ok(())
        }),
    Column::new("require", CellKind::Text)
        .help(
            "nodes that it must have, such as `n[0-3]`; more than it constraints: among which it \
             lies",
        )
        .written(|job| wanted(job, "require"))
        .read(|row, cell| put(&mut row.constraints.require, cell.hosts())),
    Column::new("exclude", CellKind::Text)
        .help("nodes that it must not have, such as `n[0-3]`")
        .written(|job| wanted(job, "exclude"))
        .read(|row, cell| put(&mut row.constraints.exclude, cell.hosts())),
    Column::new("partition", CellKind::Text)
        .field(15)
        .help("the partition that it was submitted to, whose nodes it may have")
        .written(|job| wanted(job, "partition").or_else(|| owner(job)?.partition.clone()))
        .read(|row, cell| {
            row.constraints.partition = Some(cell.text()?);
            row.owner.partition.clone_from(&row.constraints.partition);
            Ok(())
        }),
    Column::new("pieces", CellKind::Count)
        .help(
            "how many pieces it has, on a machine whose nodes jobs share; left out beside `cpu` or \
             `gpu`, 1",
        )
        .written(|job| of_piece(job, "pieces"))
        .read(|row, cell| put(&mut row.pieces, cell.count(1, u32::MAX))),
    Column::new("cpu", CellKind::Count)
        .unit("cores")
        .help("how many each piece gets; left out, 1")
        .written(|job| of_piece(job, "cpu"))
        .read(|row, cell| put(&mut row.cpu, cell.count(1, MOST_OF_A_KIND))),
    Column::new("mem", CellKind::Count)
        .unit("MiB")
        .help("how much memory each piece gets; left out, 0")
        .written(|job| of_piece(job, "mem"))
        .read(|row, cell| put(&mut row.mem, cell.count(0, MOST_OF_A_KIND))),
    Column::new("gpu", CellKind::Real)
        .unit("GPUs")
        .help("how many each piece gets, or a part of one, such as 0.5; left out, 0")
        .written(|job| of_piece(job, "gpu"))
        .read(|row, cell| put(&mut row.gpu, cell.gpus())),
    Column::new("other", CellKind::Count)
        .help("how much of the fourth kind each piece gets; left out, 0")
        .written(|job| of_piece(job, "other"))
        .read(|row, cell| put(&mut row.other, cell.count(0, MOST_OF_A_KIND))),
    Column::new("per_node", CellKind::Text)
        .unit("pieces")
        .help("the most on one node, such as `4`, or the fewest and the most, such as `2-4`")
        .written(|job| of_piece(job, "per_node"))
        .read(|row, cell| put(&mut row.per_node, cell.span())),
    Column::new("inside", CellKind::Text)
        .help("what must hold all pieces: `island`, `node`, `leaf` or `block`")
        .written(|job| Some(pieces(job)?.inside.word()?.to_owned()))
        .read(|row, cell| put(&mut row.inside, cell.inside())),
    Column::new("type", CellKind::Text)
        .help(
            "the types of nodes or GPUs, or the features, that it may have, separated by `|`; `*` \
             for any",
        )
        .written(|job| of_piece(job, "type"))
        .read(|row, cell| put(&mut row.types, cell.text())),
    Column::new("roles", CellKind::Text)
        .help(
            "pieces of several kinds, such as `1*cpu=4+8*cpu=16,gpu=1`, instead of the columns for \
             one",
        )
        .written(|job| pieces(job)?.roles_text())
        .read(|row, cell| put(&mut row.roles, cell.roles())),
];

/// Columns that describe pieces, which are requested parts of nodes. Their cells are empty for jobs
/// that do not request pieces.
const OF_PIECES: [&str; 9] =
    ["pieces", "cpu", "mem", "gpu", "other", "per_node", "inside", "type", "roles"];

/// Maximum amount of one resource that a piece may request.
pub(super) const MOST_OF_A_KIND: u32 = 1 << 30;

fn put<T>(slot: &mut Option<T>, read: Result<T, String>) -> Result<(), String> {
    *slot = Some(read?);
    Ok(())
}

fn wanted(job: &Job, column: &str) -> Option<String> {
    let Request::Constrained(constraints) = &job.request else { return None };
    Constraints::cells(constraints)
        .into_iter()
        .find(|(name, _)| *name == column)
        .map(|(_, cell)| cell)
}

/// The cell of a column that describes pieces. `None` if the job requests no pieces, or pieces of
/// several roles.
fn of_piece(job: &Job, column: &str) -> Option<String> {
    let [piece] = &pieces(job)?.roles[..] else { return None };
    piece.cells().into_iter().find(|(name, _)| *name == column).map(|(_, cell)| cell)
}

fn pieces(job: &Job) -> Option<&Pieces> {
    match &job.request {
        Request::Pieces(pieces) => Some(pieces),
        _ => None,
    }
}

fn owner(job: &Job) -> Option<&Owner> {
    job.owner.as_deref()
}

fn terms(job: &Job) -> Option<&Terms> {
    job.terms.as_deref()
}

/// A finished job with its times and nodes, from which its row of per-job output is made.
#[derive(Clone, Debug)]
pub struct Ended<'a> {
    /// The job that has finished.
    pub job: &'a Job,
    /// When the job started.
    pub start: Time,
    /// When the job ended.
    pub finish: Time,
    /// Number of processors that the job requested.
    pub requested: u64,
    /// Number of processors that the job held.
    pub held: u32,
    /// Index of the site on which the job ran.
    pub site: usize,
    /// Processors that the job held: corner and sides of each block.
    pub blocks: String,
}

/// A column of per-job output that describes the outcome of a job. A table of jobs may have such a
/// column, but it is not read.
#[derive(Debug)]
pub struct Outcome {
    /// Name of the column, as in the first line of the table.
    pub name: &'static str,
    /// Kind of the column's cells.
    pub holds: CellKind,
    /// Unit of the numbers in the column; empty if the column has no numbers or they have no unit.
    pub unit: &'static str,
    /// Meaning of the column for a job, in one line.
    pub help: &'static str,
    get: fn(&Ended<'_>) -> String,
}

impl Outcome {
    /// The column of per-job output that has the given name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Outcome> {
        OUTCOMES.iter().find(|outcome| outcome.name == name)
    }

    /// The cell of a finished job in this column.
    #[must_use]
    pub fn get(&self, ended: &Ended<'_>) -> String {
        (self.get)(ended)
    }
}

/// The columns of per-job output that describe the outcomes of jobs.
pub static OUTCOMES: [Outcome; 6] = [
    Outcome {
        name: "start",
        holds: CellKind::Instant,
        unit: TIME,
        help: "when it started",
        get: |ended| ended.start.to_string(),
    },
    Outcome {
        name: "finish",
        holds: CellKind::Instant,
        unit: TIME,
        help: "when it ended",
        get: |ended| ended.finish.to_string(),
    },
    Outcome {
        name: "requested",
        holds: CellKind::Number,
        unit: PROCESSORS,
        help: "how many it asked for, in whatever form",
        get: |ended| ended.requested.to_string(),
    },
    Outcome {
        name: "held",
        holds: CellKind::Count,
        unit: PROCESSORS,
        help: "how many it had",
        get: |ended| ended.held.to_string(),
    },
    Outcome {
        name: "site",
        holds: CellKind::Count,
        unit: "",
        help: "on which site, from 0",
        get: |ended| ended.site.to_string(),
    },
    Outcome {
        name: "blocks",
        holds: CellKind::Text,
        unit: "",
        help: "where it lay: corner and sides of each block, such as `3,0:2x2;5,0:1x1`",
        get: |ended| ended.blocks.clone(),
    },
];

/// Finds each of [`COLUMNS`] among the names of a table's columns, and returns its index there.
///
/// An unknown name is ignored, unless it resembles a column that is missing.
///
/// # Errors
/// If a column occurs twice, is misspelt, or is required but missing. The error text continues a
/// sentence that begins with the name of the table.
pub fn places<'n>(
    names: impl IntoIterator<Item = &'n str>,
) -> Result<[Option<usize>; COLUMNS.len()], String> {
    let mut places = [None; COLUMNS.len()];
    let (mut given, mut unknown) = (Vec::new(), Vec::new());
    for (place, name) in names.into_iter().enumerate() {
        given.push(name.escape_debug().to_string());
        match COLUMNS.iter().position(|column| column.name == name) {
            Some(column) if places[column].replace(place).is_some() => {
                return Err(format!("the column `{name}` is there twice"));
            }
            None if Outcome::named(name).is_none() => unknown.push(name),
            _ => {}
        }
    }
    if given.is_empty() {
        return Err(
            "this file is empty, but must be a table of jobs, whose first line names its columns"
                .to_owned(),
        );
    }
    let separator = match unknown[..] {
        [only] if given.len() == 1 => [';', '\t', '|'].into_iter().find(|&c| only.contains(c)),
        _ => None,
    };
    if let Some(separator) = separator {
        return Err(format!(
            "the columns of this table are separated by `{}`, but must be separated by commas",
            separator.escape_default()
        ));
    }
    let known = COLUMNS.each_ref().map(|column| column.name);
    let is_there = |name: &str| known.iter().zip(&places).any(|(k, p)| *k == name && p.is_some());
    // In a table with whole nodes, columns with the names of pieces are the user's own.
    let is_whole = ["nodes", "block", "subcube"].into_iter().any(is_there);
    let has_pieces = ["pieces", "roles"].into_iter().any(is_there);
    let means_pieces = has_pieces || !is_whole;
    let is_known = |name: &&&str| means_pieces || !OF_PIECES.contains(*name);
    let candidates: Vec<&str> = known.iter().filter(is_known).copied().collect();
    for name in unknown {
        // This is stricter than for suggestions, so that a user's own column is not taken for a
        // misspelt one.
        let meant = nearest(name, &candidates, |length| (length / 4).max(1));
        if let Some(meant) = meant.filter(|meant| !is_there(meant)) {
            let given = name.escape_debug();
            let says = did_you_mean(meant, &candidates);
            return Err(format!("unknown column `{given}` ({says})"));
        }
    }
    let is_whole_row =
        is_there("submit") && is_there("runtime") && ASKED.iter().any(|name| is_there(name));
    if is_whole_row {
        if !means_pieces {
            for (place, column) in places.iter_mut().zip(&COLUMNS) {
                if OF_PIECES.contains(&column.name) {
                    *place = None;
                }
            }
        }
        return Ok(places);
    }
    let more = known.iter().filter(|name| !["submit", "runtime"].contains(*name));
    let more: Vec<&str> = more.filter(|name| !ASKED.contains(*name)).copied().collect();
    Err(format!(
        "a table of jobs has the columns submit, runtime and one of nodes, block, subcube and pieces, and \
         perhaps {}; this one has {}",
        more.join(", "),
        given.join(", ")
    ))
}

/// Columns that can state a job's request. A table has one of `nodes`, `block` and `subcube`, or
/// else columns of pieces (parts of nodes). Of these, `pieces`, `cpu`, `gpu` or `roles` must be
/// there.
const ASKED: [&str; 7] = ["nodes", "block", "subcube", "pieces", "cpu", "gpu", "roles"];

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
        assert_eq!(
            at("submit;runtime;nodes").unwrap_err(),
            "the columns of this table are separated by `;`, but must be separated by commas"
        );
    }
}
