//! Conformance tests: check a catalogue's entry (such as an allocator) against the rules for its
//! kind.
//!
//! [`check_allocator`], [`check_scheduler`], [`check_sizing`], [`check_selector`],
//! [`check_network`], [`check_workload`] and [`check_metric`] try one entry of a catalogue on small
//! machines of every wiring, with every choice of its parameters, in long random histories and
//! whole runs. Results are compared with brute force where possible. The first violation is
//! returned as a [`Finding`] with the seed and the step that reproduce it. The tests of this crate
//! apply these functions to the crate's own entries.
//!
//! ```
//! use meshwork::catalogue::Catalogue;
//! use meshwork::conformance::check_allocator;
//!
//! let tried = check_allocator(&Catalogue::standard(), "first_fit")?;
//! assert!(tried.questions > 10_000);
//! # Ok::<(), meshwork::conformance::Finding>(())
//! ```
//!
//! The functions do not know the definition of an entry. Test it separately, against a
//! straightforward implementation. If an entry panics, the check panics too.

mod allocator;
mod metric;
mod network;
mod runs;
mod scheduler;
mod selector;
mod sizing;
mod workload;

pub use allocator::check_allocator;
pub use metric::check_metric;
pub use network::check_network;
pub use runs::{Transcript, random_jobs, submissions};
pub use scheduler::check_scheduler;
pub use selector::check_selector;
pub use sizing::check_sizing;
pub use workload::check_workload;

use std::ops::AddAssign;

use toml::{Table, Value};

use crate::registry::{DefaultValue, Kind, ListedEntry, Param, Problem};
use crate::topology::Topology;

/// Result of a failed check: a violated rule or an unknown entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// Error: the catalogue has no entry of this name.
    #[error(transparent)]
    Unknown(#[from] Problem),
    /// Error: the entry violates a rule for its kind.
    #[error(transparent)]
    Broken(Box<Broken>),
}

/// Violation of a rule by an entry of a catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {kind} `{name}`, {case}: {sentence}")]
#[non_exhaustive]
pub struct Broken {
    /// Kind of the entry, such as "allocator".
    pub kind: &'static str,
    /// Name of the entry.
    pub name: &'static str,
    /// Where the violation occurs: machine, parameters, and the seed and step that reproduce it.
    pub case: String,
    /// Actual behaviour of the entry and correct behaviour, in one sentence.
    pub sentence: String,
    /// [Drawing](crate::machine::Site::drawing) of the machine in the state that violates the rule.
    /// The drawing is empty if a run as a whole violates the rule.
    pub drawing: String,
}

/// Counts of what a successful check has tried, such as machines and jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tried {
    /// Number of machines tried, each counted once for every choice of parameters.
    pub machines: u64,
    /// Number of queries to the entry outside of whole runs, such as requests for a placement.
    pub questions: u64,
    /// Number of jobs that finished in complete simulation runs of the check.
    pub jobs: u64,
    /// Number of start times that schedulers promised in whole runs.
    pub promises: u64,
}

impl AddAssign for Tried {
    fn add_assign(&mut self, more: Tried) {
        self.machines += more.machines;
        self.questions += more.questions;
        self.jobs += more.jobs;
        self.promises += more.promises;
    }
}

/// Returns small meshes, tori, hypercubes and flat machines, each as text of a study and as
/// topology.
#[must_use]
pub fn machines() -> Vec<(String, Topology)> {
    let mut all = Vec::new();
    for sides in [&[12][..], &[6, 5], &[4, 3, 3], &[3, 2, 2, 3], &[2, 2, 2, 2]] {
        for (name, topology) in [("mesh", Topology::mesh(sides)), ("torus", Topology::torus(sides))]
        {
            all.push((format!("topology = '{name}', dims = {sides:?}"), small(topology)));
        }
    }
    all.push(("topology = 'hypercube', dimension = 4".to_owned(), small(Topology::hypercube(4))));
    all.push(("topology = 'flat', processors = 20".to_owned(), small(Topology::flat(20))));
    all
}

/// Returns [`machines`] and small machines of all other wirings. Some of them are rings in only
/// some dimensions.
#[must_use]
pub fn every_machine() -> Vec<(String, Topology)> {
    let others = [
        (
            "topology = 'torus', dims = [6, 5], wrap = [true, false]",
            Topology::with_rings(&[6, 5], &[true, false]),
        ),
        (
            "topology = 'torus', dims = [4, 3, 3], wrap = [false, true, true]",
            Topology::with_rings(&[4, 3, 3], &[false, true, true]),
        ),
        (
            "topology = 'mesh', dims = [3, 2, 4], wrap = [true, true, false]",
            Topology::with_rings(&[3, 2, 4], &[true, true, false]),
        ),
        ("topology = 'tofu', dims = 2", Topology::tofu(&[2])),
        ("topology = 'fat_tree', arity = [4, 5]", Topology::fat_tree(&[4, 5], 1.0)),
        (
            "topology = 'fat_tree', arity = [4, 2, 3], taper = 2",
            Topology::fat_tree(&[4, 2, 3], 2.0),
        ),
        ("topology = 'dragonfly', p = 2, a = 3, h = 1", Topology::dragonfly(2, 3, 1)),
        ("topology = 'twisted_torus', dims = [3, 6]", Topology::twisted_torus(&[3, 6])),
        (
            "topology = 'mesh', dims = [3, 2], processors_per_node = 4",
            Topology::mesh(&[3, 2]).and_then(|mesh| mesh.with_processors(4)),
        ),
    ];
    let others = others.map(|(text, topology)| (text.to_owned(), small(topology)));
    machines().into_iter().chain(others).collect()
}

fn small<E: std::fmt::Debug>(topology: Result<Topology, E>) -> Topology {
    topology.expect("a machine of a few nodes")
}

/// Machine of several sites in the notation of studies; one site has an allocator of its own.
pub const SITES: &str = "machine = { sites = [
    { topology = 'mesh', dims = [4, 3] },
    { topology = 'flat', processors = 14, speed = 1.25 },
    { topology = 'torus', dims = [5], allocator = 'frame_sliding', speed = 0.75 },
    { topology = 'hypercube', dimension = 4, speed = 1.125 },
    { topology = 'flat', processors = 9, speed = 1.125 } ] }";

/// Returns the parameter settings with which a check tries an entry, each as a table of a study.
///
/// These are all combinations of the values that are tried for each parameter. A parameter with a
/// choice of words, or a flag, is tried with every value. A required integer is tried with its
/// smallest value, and with this value plus 2, but at most its largest value. A required list of
/// integers is tried with one element, which takes the same two values. Others are not set.
#[must_use]
pub fn variants(params: &[Param]) -> Vec<Table> {
    let mut tables = vec![Table::new()];
    for param in params {
        let choices = choices(param);
        if !choices.is_empty() {
            tables =
                tables.iter().flat_map(|t| choices.iter().map(|c| with(t, param, c))).collect();
        }
    }
    tables
}

/// Parameter settings to try: the required parameters alone, then variants that change one
/// parameter.
fn single_choices(params: &[Param]) -> Vec<Table> {
    let must_be_given = |param: &&Param| matches!(param.default, DefaultValue::Required);
    let mut usual = Table::new();
    for param in params.iter().filter(must_be_given) {
        usual.extend(choices(param).first().map(|choice| (param.name.to_owned(), choice.clone())));
    }
    let each = params.iter().flat_map(|param| choices(param).into_iter().map(move |c| (param, c)));
    let tables: Vec<Table> = each.map(|(param, choice)| with(&usual, param, &choice)).collect();
    std::iter::once(usual).chain(tables).collect()
}

fn with(table: &Table, param: &Param, choice: &Value) -> Table {
    let mut table = table.clone();
    table.insert(param.name.to_owned(), choice.clone());
    table
}

/// Values of a parameter that are tried. Empty unless the parameter takes words or booleans, or is
/// a required integer.
fn choices(param: &Param) -> Vec<Value> {
    let must_be_given = matches!(param.default, DefaultValue::Required);
    match param.kind {
        Kind::Choice(words) => words.iter().map(|word| Value::String((*word).to_owned())).collect(),
        Kind::Flag => vec![Value::Boolean(false), Value::Boolean(true)],
        Kind::Integer(least, most) | Kind::Integers(least, most) if must_be_given => {
            let number = |n: u64| Value::Integer(i64::try_from(n).unwrap_or(i64::MAX));
            vec![number(least), number(most.min(least.saturating_add(2)))]
        }
        _ => Vec::new(),
    }
}

/// Creates a function that reports, with a sentence, how a registry entry violates a rule.
///
/// The report has no drawing of the machine.
fn broken<E: ListedEntry>(entry: &'static E, case: String) -> impl FnOnce(String) -> Finding {
    let (kind, name, drawing) = (E::family().kind, entry.about().name, String::new());
    move |sentence| Finding::Broken(Box::new(Broken { kind, name, case, sentence, drawing }))
}

fn component(name: &str, table: &Table) -> Value {
    let mut component = Table::new();
    component.insert("name".to_owned(), Value::String(name.to_owned()));
    component.extend(table.clone());
    Value::Table(component)
}

fn with_parameters(table: &Table) -> String {
    let words: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    if words.is_empty() { String::new() } else { format!(" with {}", words.join(", ")) }
}
