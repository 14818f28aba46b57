//! Where jobs come from. A workload is an iterator of jobs and knows nothing of the machine's
//! state, so that every strategy is compared on the same jobs.

mod held;
pub mod cirne_berman;
pub mod deep_learning;
mod dependencies;
pub mod distribution;
pub mod estimates;
pub mod jann;
pub mod lublin;
mod owners;
mod scale;
pub mod slices;
pub mod statistics;
pub mod swf;
pub mod synthetic;
pub mod table;
mod transform;

use std::io::BufRead;

use crate::job::{After, Job};
use toml::{Table, Value};

use crate::registry::{About, Family, Lists, Named, Params, Problem, abouts};
use crate::topology::Topology;

pub use dependencies::DEPENDENCIES;
pub(crate) use dependencies::are_asked_for as follow_others;
pub use estimates::ESTIMATES;
pub use transform::{SHAPE, SHAPES, submissions, transformed};

/// What a workload hands to the engine: first the jobs that follow others, then all others in order of arrival.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Submission {
    /// A job.
    Job(Job),
    /// A job that is submitted after others have ended, and not before its arrival.
    Following(Box<Following>),
    /// A line of a log that is no job: it is counted and passed over.
    Unusable(Unusable),
}

/// A job that follows others.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Following {
    /// The job; its arrival is the beginning of the clock where only the others count.
    pub job: Job,
    /// After which others, by their number, and how much later.
    pub after: After,
    /// How many jobs with that number there are: it follows the last of them.
    pub ends: u32,
}

/// A line of a log that is no job.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Unusable {
    /// Its line in the file, from 1.
    pub line: u64,
    /// Why, in a few words: "no processors", "no run time", "no submit time".
    pub reason: &'static str,
}

/// A workload that stops the run: a log that cannot be read on. One sentence, with file and line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WorkloadError(pub String);

/// Jobs in order of arrival.
pub type Submissions = Box<dyn Iterator<Item = Result<Submission, WorkloadError>> + Send>;

/// What the model reads but does not open: the caller owns files and formats.
pub trait Inputs: Sync {
    /// The text behind a path, decompressed.
    ///
    /// # Errors
    /// One sentence that names the path.
    fn text(&self, path: &str) -> Result<Box<dyn BufRead + Send>, WorkloadError>;

    /// The rows of a table of jobs behind a path.
    ///
    /// # Errors
    /// One sentence that names the path.
    fn rows(&self, path: &str) -> Result<Rows, WorkloadError>;
}

/// The rows of a table of jobs, in file order.
pub type Rows = Box<dyn Iterator<Item = Result<table::Row, WorkloadError>> + Send>;

/// Inputs for workloads that read nothing: every path is refused.
pub struct NoInputs;

impl Inputs for NoInputs {
    fn text(&self, path: &str) -> Result<Box<dyn BufRead + Send>, WorkloadError> {
        Err(WorkloadError(format!("{path}: this program reads no files")))
    }

    fn rows(&self, path: &str) -> Result<Rows, WorkloadError> {
        Err(WorkloadError(format!("{path}: this program reads no files")))
    }
}

/// What a workload may know when it is built: the machine's shape, never its state.
pub struct WorkloadContext<'a> {
    /// Every site's topology and speed.
    pub sites: &'a [(Topology, f64)],
    /// The seed of the scenario.
    pub seed: u64,
    /// Which replication this is, from 0.
    pub replication: u64,
    /// Whether jobs are to say whose they are, where that is known.
    pub owners: bool,
    /// Where files come from.
    pub inputs: &'a dyn Inputs,
}

impl WorkloadContext<'_> {
    /// The site with most processors, the first of them: the one that sizes are drawn for.
    #[must_use]
    pub fn largest(&self) -> &Topology {
        let mut largest = &self.sites[0].0;
        for (topology, _) in self.sites {
            if topology.grid().nodes() > largest.grid().nodes() {
                largest = topology;
            }
        }
        largest
    }

    /// Work that the whole machine can do in a unit of time: processors times their speed.
    #[must_use]
    pub fn capacity(&self) -> f64 {
        self.sites.iter().map(|(topology, speed)| f64::from(topology.grid().nodes()) * speed).sum()
    }
}

/// Why a workload could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Something in the study.
    #[error(transparent)]
    Problem(#[from] Problem),
    /// Something in what it reads.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// A workload in the list.
pub struct WorkloadEntry {
    /// What it says of itself.
    pub about: About,
    /// Whether it ends by itself; the others need `measure.jobs` or `measure.time`.
    pub ends: bool,
    /// Whether it may know users and groups, and after which others its jobs come.
    pub knows_owners: bool,
    /// Whether its clock counts seconds, whatever its parameters are; of any other nobody knows.
    pub in_seconds: bool,
    /// Its jobs, on a machine of this shape.
    pub build: fn(&Params, &WorkloadContext<'_>) -> Result<Submissions, BuildError>,
}

impl Named for WorkloadEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// Every workload.
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

/// Puts the `load` of a workload that has none of its own into its `scale`.
///
/// A load is then asked for alike of all workloads.
///
/// # Errors
/// If both are given.
pub(crate) fn spell_out(lists: &dyn Lists, scenario: &mut Table) -> Result<(), Problem> {
    let Some(Value::Table(workload)) = scenario.get_mut("workload") else { return Ok(()) };
    let name = workload.get(FAMILY.key).and_then(Value::as_str);
    let about = name.and_then(|name| FAMILY.find_in(lists, "workload", name).ok());
    let is_scaled = about.is_some_and(|about| about.params.iter().all(|own| own.name != "load"));
    // What `scale` is beside a table is said where it is read.
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

/// Workloads, as a family of names.
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
