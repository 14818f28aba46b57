//! Jobs from a table with named columns: made by hand, by another program, or by an earlier run.
//!
//! A machine's log may have lines that are not jobs; in a table every problem is an error with its
//! line.

mod columns;

use std::sync::Arc;

use crate::job::{After, Constraints, Dims, EXCLUSIVE, Job, Owner, Request, Terms, Time, hostlist};
use crate::registry::{About, DefaultValue, Kind, LARGEST, Param};
use crate::topology::MAX_NODES;

use super::dependencies::{Sessions, Source};
use super::owners::Owners;
use super::{Rows, Submission, WorkloadEntry, WorkloadError};

pub use columns::{COLUMNS, CellKind, Column, OUTCOMES, Slot, places};

/// Entry of the workload `table`.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    about: About {
        name: "table",
        aliases: &[],
        summary: "the jobs of a table with the columns submit, runtime, perhaps estimate and job, \
                  and one of nodes, block (3x5) and subcube (2)",
        definition: "Each row of a CSV or Parquet file is a job, by the names of its columns: \
                     `submit`, `runtime`, and one of `nodes`, `block` (such as `3x5`) and \
                     `subcube`; perhaps `estimate`, `job`, `user`, `group`, `application`, `queue` and `partition`. `priority` is from 0 to 1, \
                     `deadline` an instant of the clock of `submit`; `after` is the number of the job after whose end \
                     this one was submitted, and `think` how long after it; `wait` how long it waited. A row with `nodes` may say what \
                     else it wants of an allocator that goes by what a site has written down: `nodes_max`, \
                     `segment`, `spread_segments`, `consolidate_segments`, `switches`, `contiguous`, `exclusive` (`topo`: \
                     no other job in its blocks), `require` and `exclude` (lists of nodes such as `n[0-3]`), and `partition` again. `submit` may be a \
                     date, such as `2003-05-01T12:30:00`: the clock then begins with the first \
                     submission, and counts seconds. A row that is no job is an error, and so is a column whose name is only \
                     misspelt; others are left alone.",
        complexity: "The whole table is held in memory and sorted: O(j log j) for j jobs.",
        source: "general",
        params: &[Param {
            name: "path",
            kind: Kind::Text,
            default: DefaultValue::Required,
            help: "the table: CSV, which may be compressed with gzip, or Parquet",
        }],
    },
    ends: true,
    knows_owners: true,
    in_seconds: false,
    build: |params, setting| {
        let path = params.text("path");
        let mut listed = Listed::read(setting.inputs.rows(path)?, path)?;
        if !setting.owners {
            listed.jobs.iter_mut().for_each(|(job, _)| job.owner = None);
        }
        match Source::of(params).and_then(Source::sessions) {
            Some(sessions) => listed.infer(sessions),
            None => listed.jobs.sort_by_key(|(job, _)| job.arrival),
        }
        Ok(Box::new(listed.jobs.into_iter().map(|(job, _)| Ok(Submission::Job(job)))))
    },
};

/// One row of a table of jobs. `None` stands for an empty cell or a missing column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Line in the file, or number of the row in a file without lines, from 1.
    pub line: u64,
    /// Number of the job.
    pub job: Option<f64>,
    /// Submission, on the table's clock or as a date.
    pub submit: Option<f64>,
    /// Whether `submit` is a date, in seconds since the beginning of 1970.
    pub is_dated: bool,
    /// Run time.
    pub runtime: Option<f64>,
    /// Run time estimated by the user.
    pub estimate: Option<f64>,
    /// Number of requested processors.
    pub nodes: Option<f64>,
    /// Sides of the requested block, such as `3x5`.
    pub block: Option<String>,
    /// Dimension of the requested subcube.
    pub subcube: Option<f64>,
    /// User who owns the job.
    pub user: Option<String>,
    /// Group of the user.
    pub group: Option<String>,
    /// Program that the job runs.
    pub application: Option<String>,
    /// Queue of submission.
    pub queue: Option<String>,
    /// Urgency from 0 to 1.
    pub priority: Option<f64>,
    /// Instant by which the job is to end.
    pub deadline: Option<f64>,
    /// Whether `deadline` is a date, as for [`is_dated`](Row::is_dated).
    pub is_deadline_dated: bool,
    /// Number of the predecessor after whose end the job was submitted.
    pub after: Option<f64>,
    /// Think time after the predecessor's end.
    pub think: Option<f64>,
    /// Wait in an earlier run.
    pub wait: Option<f64>,
    /// Constraints as pairs of column name and cell.
    pub constraints: Vec<(&'static str, String)>,
}

/// Reads the jobs of a table in order of submission and, within one instant, in file order.
///
/// The whole table is held in memory for sorting. A job without a number has that of its row, from
/// 1; a job without an estimate has its run time.
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
    /// Every job in file order, and whether the table gives its estimate.
    pub jobs: Vec<(Job, bool)>,
    /// Wait of each job, if the table gives it.
    pub waits: Vec<Option<f64>>,
    /// Start of the clock, in seconds since the beginning of 1970; `None` without dates. It is the
    /// first submission, if the submissions are dates.
    pub origin: Option<f64>,
}

impl Listed {
    /// Reads a whole table. Dates of submission become seconds since the first of them.
    ///
    /// # Errors
    /// The first row that is not a job, or a table without rows.
    pub fn read(rows: Rows, path: &str) -> Result<Listed, WorkloadError> {
        let (mut jobs, mut waits, mut is_dated) = (Vec::new(), Vec::new(), None);
        let mut owners = Owners::default();
        for row in rows {
            let mut row = row?;
            let partition = row.constraints.iter().find(|(column, _)| *column == "partition");
            let partition = partition.map(|(_, cell)| cell.clone());
            let owner = Owner {
                user: row.user.take(),
                group: row.group.take(),
                application: row.application.take(),
                queue: row.queue.take(),
                partition,
            };
            let owner = owners.number(owner, |owner| owner);
            let failed = |what: String| WorkloadError(format!("{path}:{}: {what}", row.line));
            let number = jobs.len() as u64 + 1;
            let job = job(&row, number, owners.get(owner)).map_err(failed)?;
            if *is_dated.get_or_insert(row.is_dated) != row.is_dated {
                let (this, others) =
                    if row.is_dated { ("a date", "numbers") } else { ("a number", "dates") };
                return Err(failed(format!("submit is {this}, but those above are {others}")));
            }
            if row.deadline.is_some() && row.is_deadline_dated != row.is_dated {
                let (this, other) =
                    if row.is_dated { ("a number", "a date") } else { ("a date", "a number") };
                return Err(failed(format!("deadline is {this}, but submit is {other}")));
            }
            waits.push(row.wait.map(|_| span(row.wait, "wait")).transpose().map_err(failed)?);
            jobs.push((job, row.estimate.is_some()));
        }
        let first = jobs.iter().map(|(job, _)| job.arrival).min();
        let Some(first) = first else {
            return Err(WorkloadError(format!("{path}: the table has no jobs")));
        };
        let origin = (is_dated == Some(true)).then_some(first.units());
        if let Some(origin) = origin {
            for (job, _) in &mut jobs {
                job.move_to(Time::new(job.arrival.units() - origin));
            }
        }
        Ok(Listed { jobs, waits, origin })
    }

    /// Sorts the jobs by submission and infers their predecessors, ignoring the table's.
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

fn job(row: &Row, number: u64, owner: Option<Arc<Owner>>) -> Result<Job, String> {
    let runtime = span(row.runtime, "runtime")?;
    Ok(Job {
        number: match row.job {
            Some(own) => whole(own, "job", 0.0, LARGEST)? as u64,
            None => number,
        },
        arrival: Time::new(span(row.submit, "submit")?),
        request: request(row)?,
        runtime,
        estimate: match row.estimate {
            Some(_) => span(row.estimate, "estimate")?,
            None => runtime,
        },
        owner,
        terms: terms(row)?,
    })
}

/// Reads priority, deadline and predecessor of a job.
fn terms(row: &Row) -> Result<Option<Box<Terms>>, String> {
    let priority = match row.priority {
        Some(own) if !(0.0..=1.0).contains(&own) => {
            return Err(format!("priority is {own}, but must be a number from 0 to 1"));
        }
        own => own.unwrap_or(0.0),
    };
    let deadline = match row.deadline {
        Some(_) => Some(Time::new(span(row.deadline, "deadline")?)),
        None => None,
    };
    let after = match row.after {
        Some(own) => {
            let number = whole(own, "after", 0.0, LARGEST)? as u64;
            let think = row.think.map_or(Ok(0.0), |_| span(row.think, "think"))?;
            Some(After { number, think })
        }
        None => None,
    };
    let terms = Terms { priority, deadline, after };
    Ok((terms != Terms::default()).then(|| Box::new(terms)))
}

fn span(cell: Option<f64>, column: &str) -> Result<f64, String> {
    match cell {
        Some(number) if (0.0..=LARGEST).contains(&number) => Ok(number),
        Some(number) => Err(format!("{column} is {number}, but must be a number from 0 to 1e15")),
        None => Err(format!("the row has no {column}")),
    }
}

fn whole(number: f64, column: &str, least: f64, most: f64) -> Result<f64, String> {
    if (least..=most).contains(&number) && number.fract() == 0.0 {
        return Ok(number);
    }
    Err(format!("{column} is {number}, but must be a whole number from {least} to {most}"))
}

fn request(row: &Row) -> Result<Request, String> {
    if let Some(column) = demands(row).filter(|_| row.nodes.is_none()) {
        return Err(format!(
            "the row wants `{column}`, which goes with `nodes` and not with a block or a subcube"
        ));
    }
    match (row.nodes, &row.block, row.subcube) {
        (Some(nodes), None, None) => {
            let nodes = whole(nodes, "nodes", 1.0, f64::from(u32::MAX))? as u32;
            constraints_of(nodes, &row.constraints).map(Request::constrained)
        }
        (None, Some(block), None) => sides(block).map(Request::Block).ok_or_else(|| {
            format!(
                "block is `{}`, but must be sides from 1 to {MAX_NODES} joined by x, such as 3x5",
                block.escape_debug()
            )
        }),
        (None, None, Some(dimension)) => {
            let most = f64::from(MAX_NODES.ilog2());
            Ok(Request::Subcube(whole(dimension, "subcube", 0.0, most)? as u32))
        }
        (None, None, None) => {
            Err("the row asks for nothing: one of nodes, block and subcube says what".to_owned())
        }
        _ => Err("the row has more than one of nodes, block and subcube".to_owned()),
    }
}

/// First constraint of a row that requires a count. `partition` does not: with a block it is only
/// the partition of submission.
fn demands(row: &Row) -> Option<&'static str> {
    row.constraints.iter().map(|(column, _)| *column).find(|column| *column != "partition")
}

/// Reads a count with the constraints of its row.
fn constraints_of(nodes: u32, cells: &[(&'static str, String)]) -> Result<Constraints, String> {
    let mut constraints = Constraints::of(nodes);
    for (column, cell) in cells {
        let number = || {
            let given = cell.parse().map_err(|_| {
                format!("{column} is `{}`, but must be a whole number", cell.escape_debug())
            })?;
            whole(given, column, 1.0, f64::from(u32::MAX)).map(|number| Some(number as u32))
        };
        let flag = || match cell.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(format!("{column} is `{}`, but must be true or false", cell.escape_debug())),
        };
        let list = || {
            let refused = |says| format!("{column}: {says}");
            hostlist::names(cell).map_err(refused).map(|_| Some(cell.clone()))
        };
        match *column {
            "nodes_max" => constraints.nodes_max = number()?,
            "segment" => constraints.segment = number()?,
            "switches" => constraints.switches = number()?,
            "spread_segments" => constraints.spread_segments = flag()?,
            "consolidate_segments" => constraints.consolidate_segments = flag()?,
            "contiguous" => constraints.contiguous = flag()?,
            "exclusive" if cell == EXCLUSIVE => constraints.whole_blocks = true,
            "exclusive" => {
                let given = cell.escape_debug();
                return Err(format!("exclusive is `{given}`, but must be {EXCLUSIVE}, or empty"));
            }
            "require" => constraints.require = list()?,
            "exclude" => constraints.exclude = list()?,
            "partition" => constraints.partition = Some(cell.clone()),
            other => return Err(format!("there is no column {other} of what a job wants")),
        }
    }
    if let Some(most) = constraints.nodes_max.filter(|&most| most < nodes) {
        return Err(format!("nodes_max is {most}, but must be at least nodes, {nodes}"));
    }
    Ok(constraints)
}

fn sides(text: &str) -> Option<Dims> {
    let side = |part: &str| part.trim().parse().ok().filter(|side| (1..=MAX_NODES).contains(side));
    text.split(['x', 'X']).map(side).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(rows: Vec<Row>) -> Result<Vec<Job>, String> {
        let jobs = jobs(Box::new(rows.into_iter().map(Ok)), "jobs.csv").map_err(|e| e.0)?;
        Ok(jobs
            .into_iter()
            .map(|item| match item {
                Submission::Job(job) => job,
                other => panic!("{other:?}"),
            })
            .collect())
    }

    fn row() -> Row {
        Row { line: 7, submit: Some(1.0), runtime: Some(2.0), nodes: Some(3.0), ..Row::default() }
    }

    #[test]
    fn every_form_of_request() {
        let none = Row { nodes: None, ..row() };
        for (given, request) in [
            (row(), Request::Nodes(3)),
            (Row { block: Some("3x5".into()), ..none.clone() }, Request::block(&[3, 5])),
            (Row { block: Some("4".into()), ..none.clone() }, Request::block(&[4])),
            (Row { block: Some(" 2 x 3 X 4".into()), ..none.clone() }, Request::block(&[2, 3, 4])),
            (Row { subcube: Some(0.0), ..none }, Request::Subcube(0)),
        ] {
            assert_eq!(read(vec![given]).unwrap()[0].request, request);
        }
    }

    #[test]
    fn what_a_job_wants_beside_a_count() {
        let with = |cells: &[(&'static str, &str)]| {
            let constraints =
                cells.iter().map(|&(column, cell)| (column, cell.to_owned())).collect();
            read(vec![Row { constraints, ..row() }]).map(|jobs| jobs[0].request.clone())
        };
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
            (("segment", "two"), "segment is `two`, but must be a whole number"),
            (("contiguous", "maybe"), "contiguous is `maybe`, but must be true or false"),
            (("exclusive", "1"), "exclusive is `1`, but must be topo, or empty"),
            (("require", "n[0"), "require: the list `n[0` has a bracket that is not closed"),
        ] {
            assert_eq!(with(&[cell]).unwrap_err(), format!("jobs.csv:7: {sentence}"));
        }
        let block = Row { nodes: None, block: Some("2x2".into()), ..row() };
        let constraints_of =
            |column| Row { constraints: vec![(column, "1".to_owned())], ..block.clone() };
        assert_eq!(
            read(vec![constraints_of("segment")]).unwrap_err(),
            "jobs.csv:7: the row wants `segment`, which goes with `nodes` and not with a block or a subcube"
        );
        assert_eq!(
            read(vec![constraints_of("partition")]).unwrap()[0].request,
            Request::block(&[2, 2])
        );
    }

    #[test]
    fn attributes_of_a_job() {
        let constraints = vec![("partition", "debug".to_owned())];
        let full = Row {
            user: Some("ada".into()),
            queue: Some("night".into()),
            priority: Some(0.5),
            deadline: Some(9.0),
            after: Some(4.0),
            constraints,
            ..row()
        };
        let jobs = read(vec![full.clone(), Row { think: Some(3.0), ..full }, row()]).unwrap();
        let owner = jobs[0].owner.as_deref().unwrap();
        let name = |name: &str| Some(name.to_owned());
        assert_eq!((&owner.user, &owner.group), (&name("ada"), &None));
        assert_eq!((&owner.queue, &owner.partition), (&name("night"), &name("debug")));
        let after = Some(After { number: 4, think: 0.0 });
        let terms = Terms { priority: 0.5, deadline: Some(Time::new(9.0)), after };
        assert_eq!(jobs[0].terms.as_deref(), Some(&terms));
        assert_eq!(jobs[1].after(), Some(After { number: 4, think: 3.0 }));
        assert_eq!((&jobs[2].owner, &jobs[2].terms), (&None, &None));
        for (given, sentence) in [
            (
                Row { priority: Some(1.5), ..row() },
                "priority is 1.5, but must be a number from 0 to 1",
            ),
            (
                Row { deadline: Some(-1.0), ..row() },
                "deadline is -1, but must be a number from 0 to 1e15",
            ),
            (
                Row { after: Some(1.5), ..row() },
                "after is 1.5, but must be a whole number from 0 to 1000000000000000",
            ),
            (
                Row { after: Some(1.0), think: Some(-1.0), ..row() },
                "think is -1, but must be a number from 0 to 1e15",
            ),
            (Row { wait: Some(-1.0), ..row() }, "wait is -1, but must be a number from 0 to 1e15"),
            (
                Row { deadline: Some(9.0), is_deadline_dated: true, ..row() },
                "deadline is a date, but submit is a number",
            ),
        ] {
            assert_eq!(read(vec![given]).unwrap_err(), format!("jobs.csv:7: {sentence}"));
        }
        let dated = Row { submit: Some(1e9), is_dated: true, ..row() };
        let later = Row {
            submit: Some(1e9 + 5.0),
            deadline: Some(1e9 + 60.0),
            is_deadline_dated: true,
            ..dated.clone()
        };
        let jobs = read(vec![dated.clone(), later]).unwrap();
        assert_eq!(
            jobs[1].deadline(),
            Some(Time::new(60.0)),
            "on the clock that begins with the first"
        );
        assert_eq!(
            read(vec![Row { deadline: Some(60.0), ..dated }]).unwrap_err(),
            "jobs.csv:7: deadline is a number, but submit is a date"
        );
    }

    #[test]
    fn jobs_are_sorted_and_those_of_one_instant_stay_in_file_order() {
        let rows = [5.0, 1.0, 5.0, 0.0, 1.0]
            .into_iter()
            .map(|submit| Row { submit: Some(submit), ..row() })
            .collect();
        let numbers: Vec<u64> = read(rows).unwrap().iter().map(|job| job.number).collect();
        assert_eq!(numbers, [4, 2, 5, 1, 3]);
    }

    #[test]
    fn dates_count_from_the_first_of_them() {
        let dated = |submit| Row { submit: Some(submit), is_dated: true, ..row() };
        let rows = vec![Ok(dated(1e9 + 7.0)), Ok(dated(1e9))];
        let listed = Listed::read(Box::new(rows.into_iter()), "jobs.csv").unwrap();
        let submits: Vec<f64> = listed.jobs.iter().map(|(job, _)| job.arrival.units()).collect();
        assert_eq!((listed.origin, submits), (Some(1e9), vec![7.0, 0.0]));
        assert_eq!(
            read(vec![dated(1e9), row()]).unwrap_err(),
            "jobs.csv:7: submit is a number, but those above are dates"
        );
    }

    #[test]
    fn what_is_left_out() {
        let jobs = read(vec![row(), Row { job: Some(9.0), estimate: Some(8.0), ..row() }]).unwrap();
        assert_eq!((jobs[0].number, jobs[0].estimate), (1, 2.0));
        assert_eq!((jobs[1].number, jobs[1].estimate), (9, 8.0));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let none = Row { nodes: None, ..row() };
        let block = |text: &str| Row { block: Some(text.into()), ..none.clone() };
        for (given, sentence) in [
            (none.clone(), "the row asks for nothing: one of nodes, block and subcube says what"),
            (
                Row { subcube: Some(1.0), ..row() },
                "the row has more than one of nodes, block and subcube",
            ),
            (Row { submit: None, ..row() }, "the row has no submit"),
            (Row { runtime: None, ..row() }, "the row has no runtime"),
            (
                Row { runtime: Some(-1.0), ..row() },
                "runtime is -1, but must be a number from 0 to 1e15",
            ),
            (
                Row { estimate: Some(f64::NAN), ..row() },
                "estimate is NaN, but must be a number from 0 to 1e15",
            ),
            (
                Row { nodes: Some(1.5), ..row() },
                "nodes is 1.5, but must be a whole number from 1 to 4294967295",
            ),
            (
                Row { nodes: Some(0.0), ..row() },
                "nodes is 0, but must be a whole number from 1 to 4294967295",
            ),
            (
                Row { subcube: Some(25.0), ..none.clone() },
                "subcube is 25, but must be a whole number from 0 to 24",
            ),
            (
                block("3x0"),
                "block is `3x0`, but must be sides from 1 to 16777216 joined by x, such as 3x5",
            ),
            (
                block(""),
                "block is ``, but must be sides from 1 to 16777216 joined by x, such as 3x5",
            ),
        ] {
            assert_eq!(read(vec![row(), given]).unwrap_err(), format!("jobs.csv:7: {sentence}"));
        }
        assert_eq!(read(vec![]).unwrap_err(), "jobs.csv: the table has no jobs");
    }

    fn any_cell() -> impl Strategy<Value = Option<f64>> {
        prop::option::of(prop_oneof![any::<f64>(), (0..50_u32).prop_map(f64::from)])
    }

    proptest! {
        #[test]
        fn whatever_the_cells_hold_jobs_are_sound_or_refused(
            cells in prop::collection::vec((any_cell(), any_cell(), any_cell(), any_cell(), any_cell(),
                prop::option::weighted(0.1, "[0-9x. -]{0,6}"), prop::option::weighted(0.1, 0.0..30.0_f64)), 0..4)
        ) {
            let rows = cells.into_iter().zip(2..).map(|(cells, line)| {
                let (job, submit, runtime, estimate, nodes, block, subcube) = cells;
                Row { line, job, submit, runtime, estimate, nodes, block, subcube, ..Row::default() }
            });
            match read(rows.collect()) {
                Ok(jobs) => for job in jobs {
                    prop_assert!(job.runtime >= 0.0 && job.estimate >= 0.0 && job.request.nodes() > 0);
                },
                Err(sentence) => prop_assert!(sentence.starts_with("jobs.csv:")),
            }
        }
    }
}
