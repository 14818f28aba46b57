//! The catalogue of this process: the standard catalogue and the strategies registered in Python.

use std::sync::{Mutex, MutexGuard, PoisonError};

use meshwork::alloc::AllocatorEntry;
use meshwork::catalogue::Catalogue;
use meshwork::conformance::{self, Finding};
use meshwork::form::{Asks, Finds};
use meshwork::observe::metrics::{Measure, MetricEntry};
use meshwork::registry::{About, DefaultValue, Kind, Param, Range};
use meshwork::sched::SchedulerEntry;
use meshwork::select::SelectorEntry;
use meshwork::sizing::SizingEntry;
use meshwork::topology::Wiring;
use meshwork::workload::WorkloadEntry;
use meshwork_lab::run::build;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use toml::Value;

use crate::error::{OrWrong, wrong};
use crate::guard::guarded;
use crate::strategy;

/// Strategy whose entry is never freed, because studies that name it refer to the entry.
struct Registered {
    entry: Entry,
    name: &'static str,
    class: Py<PyAny>,
    /// Digest of the source code. Stored runs that were made with other code are not reused.
    digest: String,
}

#[derive(Clone, Copy)]
enum Entry {
    Allocator(&'static AllocatorEntry),
    Scheduler(&'static SchedulerEntry),
    Sizing(&'static SizingEntry),
    Selector(&'static SelectorEntry),
    Workload(&'static WorkloadEntry),
    Metric(&'static MetricEntry),
}

impl Entry {
    fn kind(self) -> &'static str {
        match self {
            Entry::Allocator(_) => "allocator",
            Entry::Scheduler(_) => "scheduler",
            Entry::Sizing(_) => "sizing",
            Entry::Selector(_) => "selector",
            Entry::Workload(_) => "workload",
            Entry::Metric(_) => "metric",
        }
    }

    fn added_to(self, catalogue: &Catalogue) -> PyResult<Catalogue> {
        match self {
            Entry::Allocator(entry) => catalogue.with(entry).or_wrong(),
            Entry::Scheduler(entry) => catalogue.with(entry).or_wrong(),
            Entry::Sizing(entry) => catalogue.with(entry).or_wrong(),
            Entry::Selector(entry) => catalogue.with(entry).or_wrong(),
            Entry::Workload(entry) => catalogue.with(entry).or_wrong(),
            Entry::Metric(entry) => catalogue.with(entry).or_wrong(),
        }
    }
}

/// Strategies, workloads and metrics of this process, in order of registration.
///
/// The GIL is held as long as the list is locked.
static REGISTERED: Mutex<Vec<Registered>> = Mutex::new(Vec::new());

fn list() -> MutexGuard<'static, Vec<Registered>> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn current() -> Catalogue {
    let added = list()
        .iter()
        .try_fold(Catalogue::standard(), |catalogue, one| one.entry.added_to(&catalogue));
    // Each entry was added to a catalogue when it was registered, so adding it again succeeds.
    added.unwrap_or_else(|_| Catalogue::standard())
}

fn is(one: &Registered, kind: &str, name: &str) -> bool {
    one.name == name && one.entry.kind() == kind
}

/// Class registered for a kind under a name.
pub(crate) fn class(py: Python<'_>, kind: &str, name: &str) -> Option<Py<PyAny>> {
    let list = list();
    let found = list.iter().find(|one| is(one, kind, name));
    found.map(|one| one.class.clone_ref(py))
}

/// Kind, name and digest of the registered strategies that the scenarios name.
///
/// They are in order of registration.
pub(crate) fn named<'t>(
    scenarios: impl IntoIterator<Item = &'t toml::Table>,
) -> Vec<(&'static str, &'static str, String)> {
    let list = list();
    let mut is_named = vec![false; list.len()];
    if !list.is_empty() {
        for table in scenarios {
            for (is_named, one) in is_named.iter_mut().zip(list.iter()) {
                *is_named = *is_named || table.values().any(|value| names(value, one.name));
            }
        }
    }
    list.iter()
        .zip(is_named)
        .filter(|(_, is_named)| *is_named)
        .map(|(one, _)| (one.entry.kind(), one.name, one.digest.clone()))
        .collect()
}

/// Identifier of a build: the identifier of the standard build and the digests of strategies.
pub(crate) fn build_with<'d>(digests: impl IntoIterator<Item = &'d str>) -> String {
    let all = std::iter::once(build::standard());
    all.chain(digests.into_iter().map(str::to_owned)).collect::<Vec<_>>().join("+")
}

fn names(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text == name,
        Value::Array(items) => items.iter().any(|item| names(item, name)),
        Value::Table(table) => table.values().any(|value| names(value, name)),
        _ => false,
    }
}

/// Kinds and names of the registered strategies, in order of registration.
#[pyfunction]
pub(crate) fn registered() -> Vec<(&'static str, &'static str)> {
    list().iter().map(|one| (one.entry.kind(), one.name)).collect()
}

/// Registers a class as a strategy. `facts` are what `meshwork._strategies` has found out about the
/// class, such as its parameters.
///
/// The class replaces an earlier one of the same kind and name.
#[pyfunction]
pub(crate) fn register(kind: &str, class: Py<PyAny>, facts: &Bound<'_, PyDict>) -> PyResult<()> {
    let text = |key: &str| -> PyResult<String> { item(facts, key)?.extract() };
    let name: &'static str = text("name")?.leak();
    let about = About::new(name, text("summary")?.leak())
        .definition(text("definition")?.leak())
        .complexity(text("complexity")?.leak())
        .source(text("source")?.leak())
        .params(params(&item(facts, "params")?)?);
    let flag = |key: &str| -> PyResult<bool> { item(facts, key)?.extract() };
    let entry = match kind {
        "allocator" => Entry::Allocator(Box::leak(Box::new(
            AllocatorEntry::new(about, strategy::allocator::build)
                .serves(serves(&item(facts, "serves")?)?)
                .dimensions(dimensions(&item(facts, "dimensions")?)?)
                .asks(asks(&text("asks")?)?)
                .finds(finds(&text("finds")?)?)
                .contiguous(flag("contiguous")?),
        ))),
        "scheduler" => Entry::Scheduler(Box::leak(Box::new(
            SchedulerEntry::new(about, strategy::scheduler::build)
                .serves(serves(&item(facts, "serves")?)?)
                .plans(flag("plans")?)
                .serves_all(flag("serves_all")?)
                // A class can read the owners of jobs, and whether it does is unknown.
                .by_owner(true),
        ))),
        "sizing" => {
            Entry::Sizing(Box::leak(Box::new(SizingEntry::new(about, strategy::sizing::build))))
        }
        "workload" => Entry::Workload(Box::leak(Box::new(
            WorkloadEntry::new(about, strategy::workload::build)
                .ends(flag("ends")?)
                .knows_owners(true),
        ))),
        "metric" => Entry::Metric(Box::leak(Box::new(MetricEntry::new(
            about,
            text("unit")?.leak(),
            match flag("watches")? {
                true => Measure::Watched(strategy::metric::gauge),
                false => Measure::MeanBy(strategy::metric::value),
            },
        )))),
        _ => Entry::Selector(Box::leak(Box::new(SelectorEntry::new(
            about,
            strategy::selector::build,
        )))),
    };
    let digest = text("digest")?;
    let mut list = list();
    let place = list.iter().position(|one| is(one, entry.kind(), name));
    let others = list.iter().enumerate().filter(|(at, _)| Some(*at) != place);
    let others = others
        .map(|(_, one)| one.entry)
        .try_fold(Catalogue::standard(), |all, entry| entry.added_to(&all))?;
    entry.added_to(&others)?;
    let new = Registered { entry, name, class, digest };
    match place {
        Some(at) => list[at] = new,
        None => list.push(new),
    }
    Ok(())
}

/// Checks a strategy against the contract of its kind. It may be a standard or a registered one.
///
/// The first value has the numbers of machines, queries and jobs with which the strategy was tried.
/// If the strategy breaks a rule of the contract, these numbers are 0, and the second value has the
/// rule and a drawing of the machine. Otherwise the second value is `None`.
#[pyfunction]
pub(crate) fn conform(
    py: Python<'_>,
    kind: &str,
    name: &str,
) -> PyResult<([u64; 3], Option<(String, String)>)> {
    let own = list().iter().find(|one| is(one, kind, name)).map(|one| one.entry);
    let standard = Catalogue::standard();
    let catalogue = own.map_or(Ok(standard.clone()), |entry| entry.added_to(&standard))?;
    let check = match kind {
        "allocator" => conformance::check_allocator,
        "scheduler" => conformance::check_scheduler,
        "sizing" => conformance::check_sizing,
        _ => conformance::check_selector,
    };
    match py.detach(|| guarded(|| check(&catalogue, name)))? {
        Ok(tried) => Ok(([tried.machines, tried.questions, tried.jobs], None)),
        Err(Finding::Broken(broken)) => Ok(([0; 3], Some((broken.to_string(), broken.drawing)))),
        Err(other) => Err(wrong(other)),
    }
}

fn item<'py>(facts: &Bound<'py, PyDict>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    facts.get_item(key)?.ok_or_else(|| wrong(format!("the strategy has no `{key}`")))
}

fn serves(given: &Bound<'_, PyAny>) -> PyResult<&'static [Wiring]> {
    let words: Vec<String> = given.extract()?;
    let wiring = |word: &String| {
        Wiring::ALL.into_iter().find(|wiring| wiring.name() == word).ok_or_else(|| {
            let all = Wiring::ALL.map(Wiring::name).join(", ");
            wrong(format!("`serves` has {word:?}, but must be a list of some of {all}"))
        })
    };
    Ok(words.iter().map(wiring).collect::<PyResult<Vec<Wiring>>>()?.leak())
}

/// Numbers of dimensions that an allocator serves; `None` if it serves any number.
///
/// Python gives one number or a list of numbers.
fn dimensions(given: &Bound<'_, PyAny>) -> PyResult<Option<&'static [usize]>> {
    if given.is_none() {
        return Ok(None);
    }
    let all = given.extract::<usize>().map(|only| vec![only]).or_else(|_| given.extract())?;
    Ok(Some(all.leak()))
}

fn asks(word: &str) -> PyResult<Asks> {
    Ok(match word {
        "nodes" => Asks::Nodes,
        "block" => Asks::Block,
        "block_or_nodes" => Asks::BlockOrNodes,
        "subcube" => Asks::Subcube,
        "square" => Asks::Square,
        _ => {
            return Err(wrong(format!(
                "`asks` is {word:?}, but must be one of nodes, block, block_or_nodes, subcube and square"
            )));
        }
    })
}

fn finds(word: &str) -> PyResult<Finds> {
    Ok(match word {
        "any_nodes" => Finds::AnyNodes,
        "every_block" => Finds::EveryBlock,
        "some_blocks" => Finds::SomeBlocks,
        _ => {
            return Err(wrong(format!(
                "`finds` is {word:?}, but must be one of any_nodes, every_block and some_blocks"
            )));
        }
    })
}

/// Declarations of parameters.
///
/// Each has the name, the kind, the arguments of the kind, the default as TOML text or `None`, and
/// the help.
fn params(given: &Bound<'_, PyAny>) -> PyResult<&'static [Param]> {
    let mut params = Vec::new();
    for one in given.try_iter()? {
        let (name, kind, words, default, help): (
            String,
            String,
            Vec<String>,
            Option<String>,
            String,
        ) = one?.extract()?;
        let bound =
            |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        let kind = match kind.as_str() {
            "number" => Kind::Number(range(words.first().map_or("", String::as_str))),
            "integer" => Kind::Integer(bound(0), bound(1)),
            "flag" => Kind::Flag,
            "choice" => {
                let words = words.into_iter().map(|word| &*word.leak());
                Kind::Choice(words.collect::<Vec<&'static str>>().leak())
            }
            _ => Kind::Text,
        };
        let default = default.map_or(DefaultValue::Required, |text| DefaultValue::Is(text.leak()));
        params.push(Param { name: name.leak(), kind, default, help: help.leak() });
    }
    Ok(params.leak())
}

fn range(word: &str) -> Range {
    match word {
        "positive" => Range::Positive,
        "share" => Range::Share,
        "inside" => Range::Inside,
        "at_least_one" => Range::AtLeastOne,
        _ => Range::NonNegative,
    }
}
