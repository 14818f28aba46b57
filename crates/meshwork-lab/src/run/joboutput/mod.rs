//! Per-job output: one row per job of a run, as CSV, as Parquet, or in the columns of Batsim.
//!
//! First are the columns of the outcome, `job,submit,start,finish,requested,held,site,blocks`. The
//! columns of the request follow, `runtime,estimate,nodes,block,subcube`, so that a `table`
//! workload replays the same jobs. Other columns of tables of jobs come last, if some job has a
//! cell in them. `requested` and `held` are counts of processors; `site` is an index from 0.

mod batsim;
mod output;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use meshwork::job::{Job, Time};
use meshwork::machine::Placement;
use meshwork::observe::{Event, JobId, Observer, Running};
use meshwork::topology::Topology;
use meshwork::workload::table::{COLUMNS, CellKind, Column, Ended, Outcome};
use thiserror::Error;

use crate::files::{FileError, write_whole};
use crate::run::Results;
use crate::study::JobFormat;
use crate::study::expand::Point;
use crate::text::shown;
use meshwork_slurm::cell::written;
use output::Output;

pub const HEADER: &str =
    "job,submit,start,finish,requested,held,site,blocks,runtime,estimate,nodes,block,subcube";

#[derive(Clone, Copy, Debug)]
pub enum Part {
    Asked(&'static Column),
    Happened(&'static Outcome),
}

impl Part {
    pub fn named(name: &str) -> Option<Part> {
        let asked = Column::named(name).map(Part::Asked);
        asked.or_else(|| Outcome::named(name).map(Part::Happened))
    }

    pub fn name(self) -> &'static str {
        match self {
            Part::Asked(column) => column.name,
            Part::Happened(outcome) => outcome.name,
        }
    }

    pub fn holds(self) -> CellKind {
        match self {
            Part::Asked(column) => column.holds,
            Part::Happened(outcome) => outcome.holds,
        }
    }

    pub fn cell(self, ended: &Ended<'_>) -> Option<String> {
        match self {
            Part::Asked(column) => column.get(ended.job),
            Part::Happened(outcome) => Some(outcome.get(ended)),
        }
    }
}

/// Columns of per-job output that are always present, in the order of [`HEADER`].
fn always() -> impl Iterator<Item = Part> {
    HEADER.split(',').filter_map(Part::named)
}

/// Columns of per-job output that a file has only if some job has a cell in one of them.
pub fn optional() -> impl Iterator<Item = Part> {
    let is_always = |column: &&Column| HEADER.split(',').any(|name| name == column.name);
    COLUMNS.iter().filter(move |column| !is_always(column)).map(Part::Asked)
}

pub fn path(folder: &Path, key: &str, format: JobFormat) -> PathBuf {
    folder.join("jobs").join(format!("{key}.{}", format.ending()))
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JobOutputError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{0}: this program was built without the feature `parquet`")]
    NoParquet(String),
}

/// Name of the file that lists all files of per-job output, in the same folder.
pub const INDEX: &str = "index.csv";

pub fn write_index(
    folder: &Path,
    formats: &[JobFormat],
    points: &[Point],
    results: &Results,
) -> Result<(), FileError> {
    let index = folder.join("jobs").join(INDEX);
    if formats.is_empty() || results.runs.iter().all(|runs| runs.ended() == 0) {
        drop(fs::remove_file(index));
        return Ok(());
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let to_memory = "a table in memory can always be written";
    let keys = points.first().map_or(&[][..], |point| &point.swept[..]);
    let header = ["file", "format", "scenario", "replication"];
    let swept = keys.iter().map(|(key, _)| written(key));
    let header = header.map(Cow::Borrowed);
    writer.write_record(header.into_iter().chain(swept).map(Cow::into_owned)).expect(to_memory);
    for (number, (point, runs)) in points.iter().zip(&results.runs).enumerate() {
        let swept = point.swept.iter().map(|(_, value)| written(&shown(value)).into_owned());
        let swept: Vec<String> = swept.collect();
        for (replication, key) in runs.keys() {
            for format in formats {
                let own = [
                    format!("{key}.{}", format.ending()),
                    format.name().to_owned(),
                    (number + 1).to_string(),
                    replication.to_string(),
                ];
                writer.write_record(own.iter().chain(&swept)).expect(to_memory);
            }
        }
    }
    write_whole(&index, &writer.into_inner().expect(to_memory))
}

/// Observer that writes the jobs of one run to files, in order of arrival.
///
/// Jobs that were refused or have not finished are left out. A finished job is kept until all
/// earlier jobs have left the system. The files have temporary names until [`JobLog::finish`].
pub struct JobLog {
    topologies: Vec<Topology>,
    pending: VecDeque<Slot>,
    first: JobId,
    outputs: Vec<Output>,
    error: Option<JobOutputError>,
}

enum Slot {
    InSystem,
    Refused,
    Finished(Box<Row>),
}

struct Row {
    job: Job,
    start: Time,
    finish: Time,
    requested: u64,
    held: u32,
    site: usize,
    placement: Placement,
    stretch: f64,
}

impl Row {
    fn ended(&self, topologies: &[Topology]) -> Ended<'_> {
        Ended {
            job: &self.job,
            start: self.start,
            finish: self.finish,
            requested: self.requested,
            held: self.held,
            site: self.site,
            blocks: self.placement.text(topologies[self.site].grid()),
        }
    }
}

impl JobLog {
    pub fn create(
        folder: &Path,
        key: &str,
        formats: &[JobFormat],
        topologies: Vec<Topology>,
    ) -> Result<JobLog, JobOutputError> {
        let jobs = folder.join("jobs");
        fs::create_dir_all(&jobs).map_err(|error| FileError::making(&jobs, &error))?;
        let outputs = formats
            .iter()
            .map(|&format| Output::create(path(folder, key, format), format))
            .collect::<Result<_, JobOutputError>>()?;
        Ok(JobLog { topologies, pending: VecDeque::new(), first: JobId(0), outputs, error: None })
    }

    /// Writes the remaining rows and renames the files. No temporary file is left after an error.
    pub fn finish(mut self) -> Result<(), JobOutputError> {
        let pending = std::mem::take(&mut self.pending);
        for slot in pending {
            self.write(slot);
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => self.outputs.drain(..).try_for_each(Output::finish),
        }
    }

    fn slot(&mut self, id: JobId) -> &mut Slot {
        let index = (id.0 - self.first.0) as usize;
        while self.pending.len() <= index {
            self.pending.push_back(Slot::InSystem);
        }
        &mut self.pending[index]
    }

    fn drain(&mut self) {
        while !matches!(self.pending.front(), None | Some(Slot::InSystem)) {
            if let Some(slot) = self.pending.pop_front() {
                self.first.0 += 1;
                self.write(slot);
            }
        }
    }

    fn write(&mut self, slot: Slot) {
        let Slot::Finished(row) = slot else { return };
        if self.error.is_some() {
            return;
        }
        for output in &mut self.outputs {
            if let Err(error) = output.write(&row, &self.topologies) {
                self.error = Some(error);
                return;
            }
        }
    }

    fn finished(&mut self, now: Time, running: &Running) {
        *self.slot(running.id) = Slot::Finished(Box::new(Row {
            job: running.job.clone(),
            start: running.start,
            finish: now,
            requested: running.asked,
            held: running.held,
            site: running.site,
            placement: running.placement.clone(),
            stretch: running.stretch,
        }));
        self.drain();
    }
}

impl Observer for JobLog {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Arrived(id, _) => {
                self.slot(*id);
            }
            Event::Refused(id, _) => {
                *self.slot(*id) = Slot::Refused;
                self.drain();
            }
            Event::Finished(running) => self.finished(now, running),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use meshwork::job::Request;
    use meshwork::machine::Block;
    #[cfg(feature = "parquet")]
    use meshwork::workload::Inputs;
    #[cfg(feature = "parquet")]
    use meshwork::workload::table::Row as TableRow;

    use super::*;
    #[cfg(feature = "parquet")]
    use crate::inputs::Files;

    fn running(id: u64, request: Request, sides: &[u32], times: (f64, f64, f64)) -> Running {
        let job = Job {
            estimate: times.2 * 2.0,
            ..Job::new(id + 10, Time::new(times.0), request, times.2)
        };
        let placement = Placement::from(Block { base: 5, sides: sides.into() });
        Running {
            id: JobId(id),
            asked: job.request.nodes(),
            held: placement.len(),
            job,
            site: 0,
            placement,
            start: Time::new(times.1),
            expected_end: Time::new(times.1),
            stretch: 1.0,
            rate: 1.0,
            dispersal: 0.0,
            messages: None,
            wear: None,
        }
    }

    /// Feeds the events of four jobs to an observer. The second job is refused, the third one
    /// finishes first, and the fourth one never finishes.
    fn feed(log: &mut JobLog) {
        let first = running(0, Request::Nodes(3), &[2, 2], (0.1, 0.25, 1e14));
        let third = running(2, Request::block(&[1, 2]), &[1, 2], (0.3, 0.3, 1.0));
        let fourth = running(3, Request::Subcube(1), &[1, 2], (0.4, 0.5, 1.0));
        log.observe(first.job.arrival, &Event::Arrived(JobId(0), &first.job));
        log.observe(first.start, &Event::Started(&first));
        log.observe(Time::new(0.2), &Event::Refused(JobId(1), &fourth.job));
        log.observe(third.start, &Event::Arrived(JobId(2), &third.job));
        log.observe(Time::new(1.3), &Event::Finished(&third));
        log.observe(Time::new(1.3), &Event::Arrived(JobId(3), &fourth.job));
        log.observe(Time::new(2.5), &Event::Finished(&first));
    }

    /// Unfinished job output with the events of [`feed`].
    fn fed(folder: &Path) -> JobLog {
        let mut formats = vec![JobFormat::Csv];
        if cfg!(feature = "parquet") {
            formats.push(JobFormat::Parquet);
        }
        let topologies = vec![Topology::mesh(&[4, 4]).unwrap()];
        let mut log = JobLog::create(folder, "k", &formats, topologies).unwrap();
        feed(&mut log);
        log
    }

    #[test]
    fn rows_stand_in_order_of_arrival() {
        let folder = tempfile::tempdir().unwrap();
        let log = fed(folder.path());
        assert!(!path(folder.path(), "k", JobFormat::Csv).exists(), "not before the run has ended");
        log.finish().unwrap();
        assert_eq!(
            fs::read_to_string(path(folder.path(), "k", JobFormat::Csv)).unwrap(),
            format!(
                "{HEADER}\n10,0.1,0.25,2.5,3,4,0,\"1,1:2x2\",100000000000000,\
                 200000000000000,3,,\n12,0.3,0.3,1.3,2,2,0,\"1,1:1x2\",1,2,,1x2,\n"
            )
        );
        assert_eq!(
            fs::read_dir(folder.path().join("jobs")).unwrap().count(),
            if cfg!(feature = "parquet") { 2 } else { 1 },
            "nothing temporary"
        );
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn both_forms_are_read_back_as_the_same_table() {
        let folder = tempfile::tempdir().unwrap();
        fed(folder.path()).finish().unwrap();
        let files = Files::beside(folder.path());
        let rows = |name: &str| -> Vec<TableRow> {
            let rows = files.rows(name).map_err(|error| error.0).unwrap();
            rows.map(|row| TableRow { line: 0, ..row.unwrap() }).collect()
        };
        let csv = rows("jobs/k.csv");
        assert_eq!(csv, rows("jobs/k.parquet"));
        assert_eq!(
            (csv.len(), csv[0].nodes, &csv[1].block),
            (2, Some(3), &Some([1, 2][..].into()))
        );
        assert_eq!(
            (csv[0].job, csv[0].submit, csv[0].estimate),
            (Some(10), Some(0.1.into()), Some(2e14))
        );
    }

    #[test]
    fn a_run_that_failed_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(fed(folder.path()));
        assert_eq!(fs::read_dir(folder.path().join("jobs")).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("jobs"), "").unwrap();
        let refused =
            JobLog::create(folder.path(), "k", &[JobFormat::Csv], Vec::new()).err().unwrap();
        assert_eq!(
            refused.to_string(),
            format!(
                "{}: this folder cannot be made, because a file stands where a folder must be",
                folder.path().join("jobs").display()
            )
        );
    }
}
