//! Jobs from a table with named columns: made by hand, by another program, or by an earlier run.
//!
//! A log of a machine may have lines that are no jobs; a table has not. Whatever is wrong with a row
//! is an error, with its line.

use crate::job::{Dims, Job, Request, Time};
use crate::registry::{About, Default, Kind, LARGEST, Param};
use crate::topology::MOST_NODES;

use super::{Rows, Submission, WorkloadEntry, WorkloadError};

/// The entry in the list.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    about: About {
        name: "table",
        aliases: &[],
        summary: "The jobs of a table with the columns submit, runtime, perhaps estimate and job, \
                  and one of nodes, block (3x5) and subcube (2)",
        source: "general",
        params: &[Param {
            name: "path",
            kind: Kind::Text,
            default: Default::Required,
            help: "the table: CSV, which may be compressed with gzip, or Parquet",
        }],
    },
    ends: true,
    build: |params, setting| {
        let path = params.text("path");
        Ok(Box::new(jobs(setting.inputs.rows(path)?, path)?.into_iter().map(Ok)))
    },
};

/// One row of a table of jobs, with what its columns hold; `None` for an empty cell and for a column
/// that is not there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its line in the file, or its number in a file without lines, from 1.
    pub line: u64,
    /// The job's number.
    pub job: Option<f64>,
    /// When it is submitted.
    pub submit: Option<f64>,
    /// How long it runs.
    pub runtime: Option<f64>,
    /// How long its user says it will run.
    pub estimate: Option<f64>,
    /// How many processors it asks for.
    pub nodes: Option<f64>,
    /// The sides of the block that it asks for, such as `3x5`.
    pub block: Option<String>,
    /// The dimension of the subcube that it asks for.
    pub subcube: Option<f64>,
}

/// The jobs of a table, in order of submission and, within one instant, in file order.
///
/// The whole table is held in memory while it is sorted. A job without a number has that of its row,
/// from 1; one without an estimate has its run time.
///
/// # Errors
/// The first row that is no job, or a table without rows.
pub fn jobs(rows: Rows, path: &str) -> Result<Vec<Submission>, WorkloadError> {
    let mut jobs = Vec::new();
    for row in rows {
        let row = row?;
        let number = jobs.len() as u64 + 1;
        let job = job(&row, number)
            .map_err(|what| WorkloadError(format!("{path}:{}: {what}", row.line)))?;
        jobs.push(job);
    }
    if jobs.is_empty() {
        return Err(WorkloadError(format!("{path}: the table has no jobs")));
    }
    jobs.sort_by_key(|job| job.arrival);
    Ok(jobs.into_iter().map(Submission::Job).collect())
}

fn job(row: &Row, number: u64) -> Result<Job, String> {
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
    })
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
    match (row.nodes, &row.block, row.subcube) {
        (Some(nodes), None, None) => {
            Ok(Request::Nodes(whole(nodes, "nodes", 1.0, f64::from(u32::MAX))? as u32))
        }
        (None, Some(block), None) => sides(block).map(Request::Block).ok_or_else(|| {
            format!(
                "block is `{}`, but must be sides from 1 to {MOST_NODES} joined by x, such as 3x5",
                block.escape_debug()
            )
        }),
        (None, None, Some(dimension)) => {
            let most = f64::from(MOST_NODES.ilog2());
            Ok(Request::Subcube(whole(dimension, "subcube", 0.0, most)? as u32))
        }
        (None, None, None) => {
            Err("the row asks for nothing: one of nodes, block and subcube says what".to_owned())
        }
        _ => Err("the row has more than one of nodes, block and subcube".to_owned()),
    }
}

fn sides(text: &str) -> Option<Dims> {
    let side = |part: &str| part.trim().parse().ok().filter(|side| (1..=MOST_NODES).contains(side));
    text.split(['x', 'X']).map(side).collect()
}
