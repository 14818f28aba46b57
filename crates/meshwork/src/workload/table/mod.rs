//! Jobs from a table with named columns: made by hand, by another program, or by an earlier run.
//!
//! While a log may have lines that are not jobs, in a table every problem is an error, which names
//! its line.

mod columns;

use std::borrow::Cow;
use std::sync::Arc;

use crate::job::{
    After, Constraints, Dims, EXCLUSIVE, Inside, Job, Owner, Piece, Pieces, Request, Terms, Time,
    WHOLE_SHARE, hostlist,
};
use crate::registry::{About, Kind, LARGEST, Param};
use crate::topology::MAX_NODES;

use super::dependencies::{Sessions, Source};
use super::owners::Owners;
use super::{Rows, Submission, WorkloadEntry, WorkloadError};

use columns::MOST_OF_A_KIND;
pub use columns::{COLUMNS, CellKind, Column, Ended, OUTCOMES, Outcome, places};

/// Registry entry of the workload `table`.
pub static ENTRY: WorkloadEntry = WorkloadEntry::new(
    About::new(
        "table",
        "the jobs of a table with the columns submit, runtime, perhaps estimate \
             and job, and one of nodes, block (3x5) and subcube (2)",
    )
    .definition(
        "Each row of a CSV or Parquet file is a job, by the names of its columns: \
             `submit`, `runtime`, one of `nodes`, `block` and `subcube`, and perhaps \
             others. What a row with `nodes` wants beside them is for allocators that \
             go by what a site has written down. A row that is no job is an error, and \
             so is a column whose name is only misspelt; others are left alone.",
    )
    .complexity("The whole table is held in memory and sorted: O(j log j) for j jobs.")
    .source("general")
    .params(&[Param::new("path", Kind::Text)
        .help("the table: CSV, which may be compressed with gzip, or Parquet")]),
    |params, setting| {
        let path = params.text("path");
        let mut listed = Listed::read(setting.inputs.rows(path)?, path)?;
        if !setting.owners {
            listed.jobs.iter_mut().for_each(|(job, _)| job.owner = None);
        }
        super::pieces::check_all(listed.jobs.iter().map(|(job, _)| job), setting)
            .map_err(|WorkloadError(says)| WorkloadError(format!("{path}: {says}")))?;
        match Source::of(params).and_then(Source::sessions) {
            Some(sessions) => listed.infer(sessions),
            None => listed.jobs.sort_by_key(|(job, _)| job.arrival),
        }
        Ok(Box::new(listed.jobs.into_iter().map(|(job, _)| Ok(Submission::Job(job)))))
    },
)
.knows_owners(true);

/// Content of a table's cell, independent of the file format.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Text of a cell.
    Text(Cow<'a, str>),
    /// Number in a cell.
    Number(f64),
    /// Date in a cell, in seconds since the beginning of 1970.
    Date(f64),
}

/// An instant in a table of jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instant {
    /// Value of the instant on the table's own clock. If the instant is a date, the value is in
    /// seconds since the beginning of 1970.
    pub at: f64,
    /// Whether the instant was given as a date.
    pub is_date: bool,
}

impl From<f64> for Instant {
    /// Creates an instant that is a value of the table's clock, and not a date.
    fn from(at: f64) -> Instant {
        Instant { at, is_date: false }
    }
}

/// One row of a table of jobs. A field is `None` if its cell is empty or its column is missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Line number of the row in the file, from 1. In a file format without lines, the index of the
    /// row.
    pub line: u64,
    /// Number of the job.
    pub job: Option<u64>,
    /// Submission time of the job.
    pub submit: Option<Instant>,
    /// Run time of the job.
    pub runtime: Option<f64>,
    /// Run time of the job as estimated by its user.
    pub estimate: Option<f64>,
    /// Number of requested processors.
    pub nodes: Option<u32>,
    /// Sides of the requested block.
    pub block: Option<Dims>,
    /// Dimension of the requested subcube.
    pub subcube: Option<u32>,
    /// User, group and other names of the job's owner.
    pub owner: Owner,
    /// Priority of the job.
    pub priority: Option<f64>,
    /// Deadline for the end of the job.
    pub deadline: Option<Instant>,
    /// Number of the job after whose end this job was submitted.
    pub after: Option<u64>,
    /// Think time between the end of the job `after` and the submission of this job.
    pub think: Option<f64>,
    /// How long the job waited in an earlier run.
    pub wait: Option<f64>,
    /// Constraints on the processors that the job requests by the column `nodes`.
    pub constraints: Constraints,
    /// Number of pieces that the job requests.
    pub pieces: Option<u32>,
    /// Cores of each piece.
    pub cpu: Option<u32>,
    /// Memory of each requested piece (part of a node), in MiB.
    pub mem: Option<u32>,
    /// GPUs of each piece: their number, and the share that the piece needs of each GPU, in
    /// thousandths.
    pub gpu: Option<(u32, u32)>,
    /// Amount of the resource `other` for each piece. The study defines what `other` stands for.
    pub other: Option<u32>,
    /// Minimum and maximum number of pieces on a node.
    pub per_node: Option<(u32, u32)>,
    /// The part of the machine, such as one leaf switch, within which all pieces of the job must
    /// lie.
    pub inside: Option<Inside>,
    /// Types of nodes or GPUs, or features of nodes, that are allowed for the requested pieces.
    pub types: Option<String>,
    /// The requested pieces by role, if the job has pieces of several roles.
    pub roles: Option<Vec<Piece>>,
    /// Whether the job excludes all other jobs from its nodes.
    pub whole_nodes: bool,
}

/// Reads the jobs of a table in order of submission and, within one instant, in file order.
///
/// The whole table is held in memory for sorting. A job without a number gets the number of its
/// row, from 1. A job without an estimate gets its run time as the estimate.
///
/// # Errors
/// The first row that is not a job, or a table without rows.
pub fn jobs(rows: Rows, path: &str) -> Result<Vec<Submission>, WorkloadError> {
    let mut jobs = Listed::read(rows, path)?.jobs;
    jobs.sort_by_key(|(job, _)| job.arrival);
    Ok(jobs.into_iter().map(|(job, _)| Submission::Job(job)).collect())
}

/// Jobs of a table in the order of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Every job in file order, and whether the table gives the job's estimate.
    pub jobs: Vec<(Job, bool)>,
    /// Wait of each job in an earlier run, in file order, if the table gives it.
    pub waits: Vec<Option<f64>>,
    /// Number of jobs with a think time but no predecessor; their think time has no effect.
    pub idle_thinks: u64,
    /// Start of the table's clock in seconds since the beginning of 1970, if submissions are dates.
    /// The clock starts at the first submission.
    pub origin: Option<f64>,
}

impl Listed {
    /// Reads a whole table. Dates of submission are converted to seconds since the first of them.
    ///
    /// # Errors
    /// The first row that is not a job, or a table without rows.
    pub fn read(rows: Rows, path: &str) -> Result<Listed, WorkloadError> {
        let mut listed =
            Listed { jobs: Vec::new(), waits: Vec::new(), idle_thinks: 0, origin: None };
        let mut owners = Owners::default();
        let mut is_dated = None;
        for row in rows {
            let mut row = row?;
            let line = row.line;
            let failed = |what: String| WorkloadError(format!("{path}:{line}: {what}"));
            let owner = owners.number(std::mem::take(&mut row.owner), |owner| owner);
            let owner = owners.get(owner);
            let is_date = row.submit.is_some_and(|submit| submit.is_date);
            let words = |is_date| if is_date { "a date" } else { "a number" };
            let (wait, estimate, deadline) = (row.wait, row.estimate, row.deadline);
            listed.idle_thinks += u64::from(row.think > Some(0.0) && row.after.is_none());
            let job = job(row, listed.jobs.len() as u64 + 1, owner).map_err(failed)?;
            if *is_dated.get_or_insert(is_date) != is_date {
                let others = if is_date { "numbers" } else { "dates" };
                return Err(failed(format!(
                    "submit is {}, but those above are {others}",
                    words(is_date)
                )));
            }
            if let Some(deadline) = deadline.filter(|deadline| deadline.is_date != is_date) {
                return Err(failed(format!(
                    "deadline is {}, but submit is {}",
                    words(deadline.is_date),
                    words(is_date)
                )));
            }
            listed.waits.push(wait);
            listed.jobs.push((job, estimate.is_some()));
        }
        let first = listed.jobs.iter().map(|(job, _)| job.arrival).min();
        let Some(first) = first else {
            return Err(WorkloadError(format!("{path}: the table has no jobs")));
        };
        listed.origin = (is_dated == Some(true)).then_some(first.units());
        if let Some(origin) = listed.origin {
            for (job, _) in &mut listed.jobs {
                job.move_to(Time::new(job.arrival.units() - origin));
            }
        }
        Ok(listed)
    }

    /// Sorts the jobs by submission, and infers their predecessors from users' sessions.
    /// Predecessors that the table states are replaced.
    fn infer(&mut self, mut sessions: Sessions) {
        let waits = std::mem::take(&mut self.waits);
        let mut jobs: Vec<_> = std::mem::take(&mut self.jobs).into_iter().zip(waits).collect();
        jobs.sort_by_key(|((job, _), _)| job.arrival);
        for ((job, _), wait) in &mut jobs {
            let after = sessions.after(job, wait.unwrap_or(0.0));
            if after.is_some() || job.after().is_some() {
                job.terms.get_or_insert_default().after = after;
            }
        }
        (self.jobs, self.waits) = jobs.into_iter().unzip();
    }
}

fn job(row: Row, number: u64, owner: Option<Arc<Owner>>) -> Result<Job, String> {
    let runtime = row.runtime.ok_or("the row has no runtime")?;
    let submit = row.submit.ok_or("the row has no submit")?;
    let terms = Terms {
        priority: row.priority.unwrap_or(0.0),
        deadline: row.deadline.map(|deadline| Time::new(deadline.at)),
        after: row.after.map(|number| After { number, think: row.think.unwrap_or(0.0) }),
    };
    Ok(Job {
        number: row.job.unwrap_or(number),
        arrival: Time::new(submit.at),
        runtime,
        estimate: row.estimate.unwrap_or(runtime),
        owner,
        terms: (terms != Terms::default()).then(|| Box::new(terms)),
        request: request(row)?,
    })
}

fn request(row: Row) -> Result<Request, String> {
    let is_whole = row.nodes.is_some() || row.block.is_some() || row.subcube.is_some();
    if row.pieces.is_some() || row.roles.is_some() {
        if is_whole {
            return Err("the row has more than one of nodes, block, subcube and pieces".to_owned());
        }
        return pieces(row);
    }
    if !is_whole && (row.cpu.is_some() || row.gpu.is_some() || row.mem.is_some()) {
        return pieces(row);
    }
    if row.whole_nodes {
        let says = "exclusive is `node`, which goes with `pieces`: whole nodes are never shared";
        return Err(says.to_owned());
    }
    let constraints = row.constraints;
    match (row.nodes, row.block, row.subcube) {
        (Some(nodes), None, None) => match constraints.nodes_max {
            Some(most) if most < nodes => {
                Err(format!("nodes_max is {most}, but must be at least nodes, {nodes}"))
            }
            _ => Ok(Request::constrained(Constraints { nodes, ..constraints })),
        },
        (Some(_), ..) | (None, Some(_), Some(_)) => {
            Err("the row has more than one of nodes, block and subcube".to_owned())
        }
        (None, block, subcube) => {
            // Without a count of nodes, only the constraint `partition` is possible.
            let beside = constraints.cells().into_iter().find(|(column, _)| *column != "partition");
            if let Some((column, _)) = beside {
                return Err(format!(
                    "the row wants `{column}`, which goes with `nodes` and not with a block or a subcube"
                ));
            }
            block.map(Request::Block).or(subcube.map(Request::Subcube)).ok_or_else(|| {
                "the row asks for nothing: one of nodes, block, subcube and pieces says what"
                    .to_owned()
            })
        }
    }
}

/// Reads a request for pieces from words, such as `pieces=4 cpu=8 gpu=1`.
///
/// Each word has the name of a column of a table of jobs, and the value of its cell. The function
/// is the inverse of the display of [`Pieces`].
///
/// # Errors
/// The first word that names no column of pieces, or the problem with the value of a word.
pub fn pieces_in_words(text: &str) -> Result<Request, String> {
    let mut row = Row::default();
    for word in text.split_whitespace() {
        let (name, cell) = word.split_once('=').unwrap_or((word, ""));
        let column = Column::named(name).filter(|column| column.is_of_pieces());
        let Some(column) = column else {
            return Err(format!(
                "`{word}` says nothing of pieces, which are as in \"pieces=4 cpu=8 gpu=1 inside=leaf\""
            ));
        };
        column.set(&mut row, Cell::Text(cell.into()))?;
    }
    if row.roles.is_none() {
        row.pieces.get_or_insert(1);
    }
    pieces(row)
}

/// The request for pieces that a row of a table describes.
pub(super) fn pieces(row: Row) -> Result<Request, String> {
    let beside = row.constraints.cells().into_iter().find(|(column, _)| *column != "partition");
    if let Some((column, _)) = beside {
        return Err(format!(
            "the row wants `{column}`, which goes with `nodes` and not with pieces"
        ));
    }
    let roles = match row.roles {
        Some(roles) => {
            let own = [
                ("pieces", row.pieces.is_some()),
                ("cpu", row.cpu.is_some()),
                ("mem", row.mem.is_some()),
                ("gpu", row.gpu.is_some()),
                ("other", row.other.is_some()),
                ("per_node", row.per_node.is_some()),
                ("type", row.types.is_some()),
            ];
            if let Some((column, _)) = own.iter().find(|(_, is_given)| *is_given) {
                return Err(format!("the row has `roles`, which say what `{column}` says too"));
            }
            roles
        }
        None => {
            let (gpu, share) = row.gpu.unwrap_or((0, WHOLE_SHARE));
            let (least, most) = row.per_node.map_or((1, None), |(least, most)| (least, Some(most)));
            vec![Piece {
                count: row.pieces.unwrap_or(1),
                cpu: row.cpu.unwrap_or(1),
                mem: row.mem.unwrap_or(0),
                gpu,
                share,
                other: row.other.unwrap_or(0),
                per_node_min: least,
                per_node: most,
                types: row.types,
            }]
        }
    };
    let inside = row.inside.unwrap_or_default();
    let pieces = Pieces { roles, inside, exclusive: row.whole_nodes };
    if pieces.cores() > u64::from(u32::MAX) {
        return Err(format!(
            "the row asks for {} cores, more than any machine has",
            pieces.cores()
        ));
    }
    Ok(Request::pieces(pieces))
}

/// Largest whole number that a cell may hold.
const LARGEST_WHOLE: u64 = LARGEST as u64;

/// Parsers of a table's cell. An error text continues a sentence that begins with the column name.
impl Cell<'_> {
    fn must_be(&self, what: &str) -> String {
        match self {
            Cell::Text(text) => format!(" is `{}`, but must be {what}", text.escape_debug()),
            Cell::Number(number) | Cell::Date(number) => {
                format!(" is {number}, but must be {what}")
            }
        }
    }

    fn real(&self, most: f64) -> Result<f64, String> {
        match self {
            Cell::Number(number) | Cell::Date(number) if (0.0..=most).contains(number) => {
                Ok(*number)
            }
            _ => {
                let most = if most < LARGEST { most.to_string() } else { "1e15".to_owned() };
                Err(self.must_be(&format!("a number from 0 to {most}")))
            }
        }
    }

    fn instant(&self) -> Result<Instant, String> {
        Ok(Instant { at: self.real(LARGEST)?, is_date: matches!(self, Cell::Date(_)) })
    }

    fn whole(&self, least: u64, most: u64) -> Result<u64, String> {
        match self {
            Cell::Number(number)
                if number.fract() == 0.0 && (least as f64..=most as f64).contains(number) =>
            {
                Ok(*number as u64)
            }
            _ => Err(self.must_be(&format!("a whole number from {least} to {most}"))),
        }
    }

    fn count(&self, least: u32, most: u32) -> Result<u32, String> {
        self.whole(least.into(), most.into()).map(|count| count as u32)
    }

    fn flag(&self) -> Result<bool, String> {
        match self.text()?.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(self.must_be("true or false")),
        }
    }

    fn text(&self) -> Result<String, String> {
        match self {
            Cell::Text(text) => Ok(text.clone().into_owned()),
            _ => Err(self.must_be("a text")),
        }
    }

    fn sides(&self) -> Result<Dims, String> {
        let side =
            |part: &str| part.trim().parse().ok().filter(|side| (1..=MAX_NODES).contains(side));
        let sides = self.text()?.split(['x', 'X']).map(side).collect::<Option<Dims>>();
        sides.ok_or_else(|| {
            self.must_be(&format!("sides from 1 to {MAX_NODES} joined by x, such as 3x5"))
        })
    }

    fn hosts(&self) -> Result<String, String> {
        let list = self.text()?;
        hostlist::names(&list).map_err(|says| format!(": {says}"))?;
        Ok(list)
    }

    /// Reads a cell of the column `exclusive`. Returns `true` if the cell says `node`: the job
    /// shares no node with other jobs. Returns `false` if it says `topo`: the job shares no base
    /// block with other jobs.
    fn is_exclusive_of_nodes(&self) -> Result<bool, String> {
        match self.text()?.as_str() {
            EXCLUSIVE => Ok(false),
            "node" => Ok(true),
            _ => Err(self.must_be(&format!("{EXCLUSIVE}, node, or empty"))),
        }
    }

    /// Reads a cell with a number of GPUs, or with a part of one GPU.
    ///
    /// Returns the number of GPUs, and the needed share of each GPU in thousandths.
    fn gpus(&self) -> Result<(u32, u32), String> {
        let share = |number: f64| (number * f64::from(WHOLE_SHARE)).round();
        match self {
            Cell::Number(number) if number.fract() == 0.0 => {
                self.count(0, MOST_OF_A_KIND).map(|count| (count, WHOLE_SHARE))
            }
            Cell::Number(number) if *number > 0.0 && *number < 1.0 && share(*number) >= 1.0 => {
                Ok((1, share(*number) as u32))
            }
            _ => Err(self.must_be("a whole number, or a part of one GPU, from 0.001 to 1")),
        }
    }

    /// Reads a range of numbers of pieces from a cell: its minimum and maximum. If the cell has one
    /// number, this number is the maximum, and the minimum is 1.
    fn span(&self) -> Result<(u32, u32), String> {
        let text = self.text()?;
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|&number| number > 0);
        let span = match text.split_once('-') {
            Some((least, most)) => number(least).zip(number(most)),
            None => number(&text).map(|most| (1, most)),
        };
        span.filter(|(least, most)| least <= most)
            .ok_or_else(|| self.must_be("a count from 1 on, such as 4, or two, such as 2-4"))
    }

    fn inside(&self) -> Result<Inside, String> {
        let text = self.text()?;
        let known = Inside::WORDS.iter().find(|(word, _)| *word == text);
        let words = Inside::WORDS.map(|(word, _)| word).join(", ");
        known.map(|(_, inside)| *inside).ok_or_else(|| self.must_be(&format!("one of {words}")))
    }

    /// Parses pieces of several roles from a cell, in the form that [`Pieces::roles_text`] writes.
    fn roles(&self) -> Result<Vec<Piece>, String> {
        let text = self.text()?;
        let wrong = || self.must_be("roles joined by +, such as 1*cpu=4+8*cpu=16,gpu=1");
        let role = |text: &str| {
            let (count, cells) = text.split_once('*').ok_or_else(wrong)?;
            let mut row = Row { pieces: count.trim().parse().ok(), ..Row::default() };
            row.pieces.filter(|&count| count > 0).ok_or_else(wrong)?;
            for cell in cells.split(',') {
                let (name, cell) = cell.split_once('=').ok_or_else(wrong)?;
                let known = ["cpu", "mem", "gpu", "other", "per_node", "type"];
                let column = known.contains(&name.trim()).then(|| Column::named(name.trim()));
                let column = column.flatten().ok_or_else(wrong)?;
                column.set(&mut row, Cell::Text(cell.trim().into())).map_err(|_| wrong())?;
            }
            match pieces(row) {
                Ok(Request::Pieces(mut pieces)) => pieces.roles.pop().ok_or_else(wrong),
                _ => Err(wrong()),
            }
        };
        text.split('+').map(role).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Builds a row of a job table, with defaults for missing cells that every row needs.
    ///
    /// A text that begins with `@` is a date.
    fn row(given: &[(&str, &str)]) -> Result<Row, String> {
        let mut row = Row { line: 7, ..Row::default() };
        let needed = [("submit", "1"), ("runtime", "2"), ("nodes", "3")];
        let is_given = |name: &str| given.iter().any(|(own, _)| *own == name);
        let needed = needed.into_iter().filter(|(name, _)| !is_given(name));
        for (name, text) in needed.chain(given.iter().copied()) {
            let cell = match text.strip_prefix('@') {
                Some(seconds) => Cell::Date(seconds.parse().unwrap()),
                None => Cell::Text(text.into()),
            };
            Column::named(name).unwrap().set(&mut row, cell)?;
        }
        Ok(row)
    }

    fn listed(rows: &[&[(&str, &str)]]) -> Result<Listed, String> {
        let failed = |what| WorkloadError(format!("jobs.csv:7: {what}"));
        let rows: Vec<_> = rows.iter().map(|cells| row(cells).map_err(failed)).collect();
        Listed::read(Box::new(rows.into_iter()), "jobs.csv").map_err(|error| error.0)
    }

    fn read(rows: &[&[(&str, &str)]]) -> Result<Vec<Job>, String> {
        let mut jobs = listed(rows)?.jobs;
        jobs.sort_by_key(|(job, _)| job.arrival);
        Ok(jobs.into_iter().map(|(job, _)| job).collect())
    }

    #[test]
    fn every_form_of_request() {
        for (name, text, request) in [
            ("nodes", "3", Request::Nodes(3)),
            ("block", "3x5", Request::block(&[3, 5])),
            ("block", "4", Request::block(&[4])),
            ("block", " 2 x 3 X 4", Request::block(&[2, 3, 4])),
            ("subcube", "0", Request::Subcube(0)),
        ] {
            let cells = [("nodes", ""), (name, text)];
            assert_eq!(read(&[&cells]).unwrap()[0].request, request);
        }
    }

    #[test]
    fn what_a_job_wants_beside_a_count() {
        let with = |cells: &[(&str, &str)]| read(&[cells]).map(|jobs| jobs[0].request.clone());
        let all = with(&[
            ("nodes_max", "5"),
            ("segment", "3.0"),
            ("spread_segments", "TRUE"),
            ("consolidate_segments", "0"),
            ("switches", "2"),
            ("contiguous", "1"),
            ("exclusive", "topo"),
            ("require", "n[0-1]"),
            ("exclude", "n9,x"),
            ("partition", "batch"),
        ]);
        let text = "3 nodes_max=5 segment=3 spread_segments=true switches=2 contiguous=true exclusive=topo \
                    require=n[0-1] exclude=n9,x partition=batch";
        assert_eq!(all.unwrap().to_string(), text);
        assert_eq!(with(&[("contiguous", "false")]), Ok(Request::Nodes(3)), "that is nothing");
        for (cell, sentence) in [
            (("nodes_max", "2"), "nodes_max is 2, but must be at least nodes, 3"),
            (("segment", "0"), "segment is 0, but must be a whole number from 1 to 4294967295"),
            (("segment", "two"), "`segment` is `two`, but must be a number"),
            (("contiguous", "maybe"), "contiguous is `maybe`, but must be true or false"),
            (("exclusive", "1"), "exclusive is `1`, but must be topo, node, or empty"),
            (("require", "n[0"), "require: the list `n[0` has a bracket that is not closed"),
        ] {
            assert_eq!(with(&[cell]).unwrap_err(), format!("jobs.csv:7: {sentence}"));
        }
        let block = |cell| with(&[("nodes", ""), ("block", "2x2"), cell]);
        assert_eq!(
            block(("segment", "1")).unwrap_err(),
            "jobs.csv:7: the row wants `segment`, which goes with `nodes` and not with a block or a subcube"
        );
        assert_eq!(block(("partition", "1")), Ok(Request::block(&[2, 2])));
    }

    #[test]
    fn attributes_of_a_job() {
        let full = [
            ("user", "ada"),
            ("queue", "night"),
            ("priority", "0.5"),
            ("deadline", "9"),
            ("after", "4"),
            ("partition", "debug"),
        ];
        let thinking = [&full[..], &[("think", "3")]].concat();
        let jobs = read(&[&full, &thinking, &[]]).unwrap();
        let owner = jobs[0].owner.as_deref().unwrap();
        let name = |name: &str| Some(name.to_owned());
        assert_eq!((&owner.user, &owner.group), (&name("ada"), &None));
        assert_eq!((&owner.queue, &owner.partition), (&name("night"), &name("debug")));
        let after = Some(After { number: 4, think: 0.0 });
        let terms = Terms { priority: 0.5, deadline: Some(Time::new(9.0)), after };
        assert_eq!(jobs[0].terms.as_deref(), Some(&terms));
        assert_eq!(jobs[1].after(), Some(After { number: 4, think: 3.0 }));
        assert_eq!((&jobs[2].owner, &jobs[2].terms), (&None, &None));
        assert_eq!(listed(&[&[("think", "3")], &thinking]).unwrap().idle_thinks, 1);
        let dated = [("submit", "@1e9")];
        let later = [("submit", "@1000000005"), ("deadline", "@1000000060")];
        assert_eq!(
            read(&[&dated, &later]).unwrap()[1].deadline(),
            Some(Time::new(60.0)),
            "on the clock that begins with the first"
        );
    }

    #[test]
    fn jobs_are_sorted_and_those_of_one_instant_stay_in_file_order() {
        let rows = ["5", "1", "5", "0", "1"].map(|submit| [("submit", submit)]);
        let rows: Vec<&[(&str, &str)]> = rows.iter().map(|cells| &cells[..]).collect();
        let numbers: Vec<u64> = read(&rows).unwrap().iter().map(|job| job.number).collect();
        assert_eq!(numbers, [4, 2, 5, 1, 3]);
    }

    #[test]
    fn dates_count_from_the_first_of_them() {
        let listed = listed(&[&[("submit", "@1000000007")], &[("submit", "@1e9")]]).unwrap();
        let submits: Vec<f64> = listed.jobs.iter().map(|(job, _)| job.arrival.units()).collect();
        assert_eq!((listed.origin, submits), (Some(1e9), vec![7.0, 0.0]));
    }

    #[test]
    fn what_is_left_out() {
        let jobs = read(&[&[], &[("job", "9"), ("estimate", "8")]]).unwrap();
        assert_eq!((jobs[0].number, jobs[0].estimate), (1, 2.0));
        assert_eq!((jobs[1].number, jobs[1].estimate), (9, 8.0));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let block = |text| {
            format!(
                "block is `{text}`, but must be sides from 1 to 16777216 joined by x, such as 3x5"
            )
        };
        for (cells, sentence) in [
            (
                &[("nodes", "")][..],
                "the row asks for nothing: one of nodes, block, subcube and pieces says what",
            ),
            (&[("subcube", "1")], "the row has more than one of nodes, block and subcube"),
            (
                &[("nodes", ""), ("subcube", "1"), ("block", "2")],
                "the row has more than one of nodes, block and subcube",
            ),
            (&[("submit", "")], "the row has no submit"),
            (&[("runtime", "")], "the row has no runtime"),
            (&[("runtime", "-1")], "runtime is -1, but must be a number from 0 to 1e15"),
            (&[("estimate", "NaN")], "estimate is NaN, but must be a number from 0 to 1e15"),
            (&[("wait", "-1")], "wait is -1, but must be a number from 0 to 1e15"),
            (&[("think", "-1")], "think is -1, but must be a number from 0 to 1e15"),
            (&[("deadline", "-1")], "deadline is -1, but must be a number from 0 to 1e15"),
            (&[("priority", "1.5")], "priority is 1.5, but must be a number from 0 to 1"),
            (&[("nodes", "1.5")], "nodes is 1.5, but must be a whole number from 1 to 4294967295"),
            (&[("nodes", "0")], "nodes is 0, but must be a whole number from 1 to 4294967295"),
            (&[("subcube", "25")], "subcube is 25, but must be a whole number from 0 to 24"),
            (
                &[("after", "1.5")],
                "after is 1.5, but must be a whole number from 0 to 1000000000000000",
            ),
            (&[("block", "3x0")], &block("3x0")),
            (&[("block", "x")], &block("x")),
            (&[("user", "@1")], "`user` is `a date`, but must be a text or a number"),
            (&[("submit", "@9")], "submit is a date, but those above are numbers"),
            (&[("deadline", "@9")], "deadline is a date, but submit is a number"),
        ] {
            let refused = read(&[&[], cells]).unwrap_err();
            assert_eq!(refused, format!("jobs.csv:7: {sentence}"));
        }
        let dated = &[("submit", "@9")][..];
        let refused = read(&[dated, &[]]).unwrap_err();
        assert_eq!(refused, "jobs.csv:7: submit is a number, but those above are dates");
        let refused = read(&[&[("submit", "@9"), ("deadline", "60")]]).unwrap_err();
        assert_eq!(refused, "jobs.csv:7: deadline is a number, but submit is a date");
        assert_eq!(read(&[]).unwrap_err(), "jobs.csv: the table has no jobs");
    }

    fn any_cell() -> impl Strategy<Value = Option<Cell<'static>>> {
        let text = "[0-9a-z,x. \\[\\]-]{0,6}".prop_map(|text| Cell::Text(text.into()));
        let whole = (0..50_u32).prop_map(|number| Cell::Number(f64::from(number)));
        let number = any::<f64>().prop_map(Cell::Number);
        prop::option::of(
            prop_oneof![1 => text, 6 => whole, 1 => number, 1 => Just(Cell::Date(5.0))],
        )
    }

    proptest! {
        #[test]
        fn whatever_the_cells_hold_jobs_are_sound_or_refused(
            cells in prop::collection::vec(prop::collection::vec(any_cell(), COLUMNS.len()), 0..4)
        ) {
            let rows: Vec<Row> = cells.into_iter().zip(2..).map(|(cells, line)| {
                let mut row = Row { line, ..Row::default() };
                for (column, cell) in COLUMNS.iter().zip(cells) {
                    let refused = cell.map(|cell| column.set(&mut row, cell));
                    if let Some(Err(sentence)) = refused {
                        assert!(sentence.trim_start_matches('`').starts_with(column.name));
                    }
                }
                row
            }).collect();
            match Listed::read(Box::new(rows.into_iter().map(Ok)), "jobs.csv") {
                Ok(listed) => for (job, _) in listed.jobs {
                    prop_assert!(job.runtime >= 0.0 && job.estimate >= 0.0 && job.request.nodes() > 0);
                },
                Err(error) => prop_assert!(error.0.starts_with("jobs.csv:")),
            }
        }
    }
}
