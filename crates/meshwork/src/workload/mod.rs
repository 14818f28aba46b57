//! Workloads: sources of jobs.
//!
//! A workload is an iterator of jobs. It does not depend on the machine's state, so every strategy
//! is compared on the same jobs.

mod held;
pub mod cirne_berman;
pub mod deep_learning;
mod dependencies;
pub mod distribution;
pub mod estimates;
pub mod jann;
pub mod lublin;
mod owners;
mod pieces;
mod resample;
mod scale;
pub mod slices;
pub mod statistics;
pub mod swf;
pub mod synthetic;
pub mod table;
#[cfg(test)]
mod testing;
mod transform;

use std::io::BufRead;

use crate::job::{After, Job};
use toml::{Table, Value};

use crate::registry::{About, EntrySource, Family, Params, Problem, abouts, named};
use crate::topology::Topology;

pub use dependencies::DEPENDENCIES;
pub(crate) use dependencies::are_asked_for as follow_others;
pub use estimates::ESTIMATES;
pub use resample::RESAMPLES;
pub use transform::{SHAPE, SHAPES, submissions, transformed};

/// Item of a workload: a job, or a line that is no job.
///
/// Jobs with a predecessor come first, then all other jobs in order of arrival.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Submission {
    /// A job with a fixed arrival.
    Job(Job),
    /// A job that is submitted after its predecessor has ended, and not before its own arrival.
    Following(Box<Following>),
    /// A line of a log that is not a job; it is counted and skipped.
    Unusable(Unusable),
}

/// A job that is submitted only after another job, its predecessor, has ended.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Following {
    /// The job; its arrival is 0 if only the predecessor determines its submission.
    pub job: Job,
    /// Number of the predecessor, and the think time from the predecessor's end to the submission.
    pub after: After,
    /// Number of jobs that have the predecessor's number. The job is submitted only after all of
    /// them have ended.
    pub ends: u32,
}

/// A line of a log that is not a job.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Unusable {
    /// Number of the line in the file, from 1.
    pub line: u64,
    /// Short reason: "no processors", "no run time" or "no submit time".
    pub reason: &'static str,
}

/// Error of a workload that stops the run, such as an unreadable log.
///
/// The text is one sentence that names file and line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WorkloadError(pub String);

/// Iterator of a workload: first the jobs with a predecessor, then all other jobs by arrival.
pub type Submissions = Box<dyn Iterator<Item = Result<Submission, WorkloadError>> + Send>;

/// Access to the files that a workload reads. The implementation opens and decodes them.
pub trait Inputs: Sync {
    /// Opens the text file at a path, decompressed if it was compressed.
    ///
    /// # Errors
    /// If the file cannot be opened. The error is one sentence that names the path.
    fn text(&self, path: &str) -> Result<Box<dyn BufRead + Send>, WorkloadError>;

    /// Opens the rows of a table of jobs at a path.
    ///
    /// # Errors
    /// If the table cannot be opened. The error is one sentence that names the path.
    fn rows(&self, path: &str) -> Result<Rows, WorkloadError>;
}

/// Rows of a table of jobs, in file order.
pub type Rows = Box<dyn Iterator<Item = Result<table::Row, WorkloadError>> + Send>;

/// An [`Inputs`] without files: every path is refused.
pub struct NoInputs;

impl Inputs for NoInputs {
    fn text(&self, path: &str) -> Result<Box<dyn BufRead + Send>, WorkloadError> {
        Err(WorkloadError(format!("{path}: this program reads no files")))
    }

    fn rows(&self, path: &str) -> Result<Rows, WorkloadError> {
        Err(WorkloadError(format!("{path}: this program reads no files")))
    }
}

/// Inputs for building a workload: seeds, files, and the machine's shape, but not its state.
pub struct WorkloadContext<'a> {
    /// Topology and speed of each site of the machine.
    pub sites: &'a [(Topology, f64)],
    /// Seed of the scenario.
    pub seed: u64,
    /// Index of the replication, from 0.
    pub replication: u64,
    /// Whether the workload must give the owners of jobs, if it knows them.
    pub owners: bool,
    /// Access to the workload's files.
    pub inputs: &'a dyn Inputs,
}

impl WorkloadContext<'_> {
    /// The site with the most processors; of several such sites, the first. Sizes of jobs are drawn
    /// for it.
    #[must_use]
    pub fn largest(&self) -> &Topology {
        let mut largest = &self.sites[0].0;
        for (topology, _) in self.sites {
            if topology.processors() > largest.processors() {
                largest = topology;
            }
        }
        largest
    }

    pub(crate) fn topologies(&self) -> Vec<Topology> {
        self.sites.iter().map(|(topology, _)| topology.clone()).collect()
    }

    /// Work that the whole machine can do in a unit of time. Each site adds its processors times
    /// its speed.
    #[must_use]
    pub fn capacity(&self) -> f64 {
        self.sites.iter().map(|(topology, speed)| f64::from(topology.processors()) * speed).sum()
    }
}

/// Reason why a workload could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Error: a key or value of the study is wrong.
    #[error(transparent)]
    Problem(#[from] Problem),
    /// Error: the workload's input, such as a log, cannot be read or is wrong.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// Registry entry of a workload.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct WorkloadEntry {
    /// Name, description and parameters of the workload.
    pub about: About,
    /// Whether the workload ends by itself; otherwise `measure.jobs` or `measure.time` is required.
    pub ends: bool,
    /// Whether the workload may give the users, groups and predecessors of jobs.
    pub knows_owners: bool,
    /// Whether the workload's clock always counts seconds. In other workloads, the unit is unknown.
    pub in_seconds: bool,
    /// Builds the iterator of jobs for a machine of a given shape.
    pub build: fn(&Params, &WorkloadContext<'_>) -> Result<Submissions, BuildError>,
}

impl WorkloadEntry {
    /// Creates the registry entry of a workload that ends by itself.
    ///
    /// Its clock has an unknown unit, and its jobs have no owners.
    #[must_use]
    pub const fn new(
        about: About,
        build: fn(&Params, &WorkloadContext<'_>) -> Result<Submissions, BuildError>,
    ) -> WorkloadEntry {
        WorkloadEntry { about, build, ends: true, knows_owners: false, in_seconds: false }
    }

    /// Replaces name, description and parameters of the workload's registry entry.
    #[must_use]
    pub const fn described(mut self, about: About) -> WorkloadEntry {
        self.about = about;
        self
    }

    /// Replaces the function that builds the iterator of jobs.
    #[must_use]
    pub const fn build(
        mut self,
        build: fn(&Params, &WorkloadContext<'_>) -> Result<Submissions, BuildError>,
    ) -> WorkloadEntry {
        self.build = build;
        self
    }

    /// Sets whether the workload ends by itself.
    #[must_use]
    pub const fn ends(mut self, ends: bool) -> WorkloadEntry {
        self.ends = ends;
        self
    }

    /// Sets whether the workload may give the users, groups and predecessors of jobs.
    #[must_use]
    pub const fn knows_owners(mut self, knows_owners: bool) -> WorkloadEntry {
        self.knows_owners = knows_owners;
        self
    }

    /// Sets whether the workload's clock always counts seconds.
    #[must_use]
    pub const fn in_seconds(mut self, in_seconds: bool) -> WorkloadEntry {
        self.in_seconds = in_seconds;
        self
    }
}

named!(WorkloadEntry);

/// Every workload. Lists of workloads and the pages of the manual have this order.
pub static WORKLOADS: &[&WorkloadEntry] = &[
    &synthetic::ENTRY,
    &swf::ENTRY,
    &table::ENTRY,
    &lublin::ENTRY,
    &jann::ENTRY,
    &cirne_berman::ENTRY,
    &slices::ENTRY,
    &deep_learning::ENTRY,
];

/// Moves the key `load` into the table `scale` if the chosen workload has no parameter `load`. So
/// all workloads accept a load in the same way. Fails if both `load` and `scale` are given.
pub(crate) fn spell_out(lists: &dyn EntrySource, scenario: &mut Table) -> Result<(), Problem> {
    let Some(Value::Table(workload)) = scenario.get_mut("workload") else { return Ok(()) };
    let name = workload.get(FAMILY.key).and_then(Value::as_str);
    let about = name.and_then(|name| FAMILY.find_in(lists, "workload", name).ok());
    let is_scaled = about.is_some_and(|about| about.params.iter().all(|own| own.name != "load"));
    // A `scale` that is no table is refused later, when the parameters are read.
    if !is_scaled || workload.get("scale").is_some_and(|scale| !scale.is_table()) {
        return Ok(());
    }
    let Some(load) = workload.remove("load") else { return Ok(()) };
    let scale = workload.entry("scale").or_insert_with(|| Value::Table(Table::new()));
    match scale.as_table_mut().and_then(|scale| scale.insert("load".to_owned(), load)) {
        None => Ok(()),
        Some(_) => Err(Problem::new(
            "workload.load",
            "`workload.load` and `workload.scale.load` are both given, and are one: give one of them",
        )),
    }
}

/// The family of workloads, which a study selects by name.
pub static FAMILY: Family = Family {
    kind: "workload",
    key: "name",
    entries: || abouts(WORKLOADS),
    common: transform::PARAMS,
};

#[cfg(test)]
mod tests {
    use crate::scenario::Scenario;

    fn read(workload: &str) -> Result<Scenario, String> {
        let text = format!(
            "machine = {{ topology = 'flat', processors = 8 }}\nmeasure = {{ jobs = 9 }}\nworkload = {workload}"
        );
        Scenario::read(&text.parse().unwrap()).map_err(|problem| problem.message)
    }

    #[test]
    fn a_load_is_asked_for_alike_of_every_workload() {
        for rest in ["'swf', path = 'a.swf'", "'table', path = 'a.csv'", "'lublin', jobs = 5"] {
            let scaled = |scale: &str| read(&format!("{{ name = {rest}, {scale} }}")).unwrap();
            let (short, long) = (scaled("load = 0.7"), scaled("scale = { load = 0.7 }"));
            assert_eq!(short.table(), long.table());
            let by = "load = 0.7, scale = { by = 'runtime' }";
            assert_eq!(
                scaled(by).table(),
                scaled("scale = { load = 0.7, by = 'runtime' }").table()
            );
        }
        let own =
            "sizes = { name = 'uniform', max = 4 }, runtimes = { name = 'constant', value = 5.0 }";
        let own = read(&format!("{{ name = 'synthetic', load = 0.7, {own} }}")).unwrap();
        assert!(own.table()["workload"].get("scale").is_none());
        assert_eq!(
            read("{ name = 'swf', path = 'a', load = 0.7, scale = { load = 0.6 } }").unwrap_err(),
            "`workload.load` and `workload.scale.load` are both given, and are one: give one of them"
        );
    }
}
