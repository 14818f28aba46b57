//! The catalogue: all strategies, workloads, metrics and topologies that a scenario may name.

use crate::alloc::parts::orders::{self, NODE_ORDERS, NodeOrderEntry};
use crate::alloc::parts::within::{self, WITHIN, WithinEntry};
use crate::alloc::{self, ALLOCATORS, AllocatorEntry};
use crate::network::pattern::{self, PATTERNS, PatternEntry};
use crate::network::{self, NETWORKS, NetworkEntry};
use crate::observe::metrics::{self, METRICS, Measure, MetricEntry};
use crate::presets::{self, MACHINES, MachineEntry};
use crate::registry::{About, Added, EntrySource, Family, Kind, ListedEntry, Param, Range, abouts};
use crate::sched::{self, SCHEDULERS, SchedulerEntry};
use crate::select::{self, SELECTORS, SelectorEntry};
use crate::sizing::{self, SIZINGS, SizingEntry};
use crate::topology::{TOPOLOGIES, TopologyEntry, Wiring};
use crate::workload::distribution::{
    RUNTIME_DISTRIBUTIONS, RUNTIMES, RuntimeEntry, SIZE_DISTRIBUTIONS, SIZES, SizeEntry,
};
use crate::workload::{self, WORKLOADS, WorkloadEntry};

/// The family of topologies, whose common parameters are a site's speed and own allocator.
pub static SITE_FAMILY: Family = Family {
    kind: "topology",
    key: "topology",
    entries: || abouts(TOPOLOGIES),
    common: &[
        Param::new("speed", Kind::Number(Range::Positive)).is("1.0").help(
            "how many times faster than the workload's own machine it runs a job; where \
                   `machine.speeds` draws a speed, that is multiplied by it",
        ),
        Param::new("allocator", Kind::Component(&alloc::FAMILY))
            .absent("the allocator of the scenario")
            .help("the allocator of this site, where sites differ"),
    ],
};

/// Every entry that a scenario may name: entries of this crate, and added ones.
///
/// A catalogue is used when a scenario or a pool is read, and never while a scenario runs.
///
/// ```
/// use meshwork::alloc::{AllocatorEntry, block::first_fit};
/// use meshwork::catalogue::Catalogue;
/// use meshwork::scenario::Scenario;
///
/// // Another name for first fit; examples/own-strategy has an allocator of its own.
/// static MINE: AllocatorEntry = first_fit::ENTRY.described(first_fit::ENTRY.about.renamed("mine"));
///
/// let catalogue = Catalogue::standard().with(&MINE)?;
/// let scenario = Scenario::read_in(&catalogue, &toml::toml! {
///     allocator = "mine"
///     machine = { topology = "mesh", dims = [8, 8] }
///     workload = { name = "lublin", jobs = 10 }
/// })?;
/// assert_eq!(scenario.table()["allocator"]["name"].as_str(), Some("mine"));
///
/// let taken = catalogue.with(&MINE).unwrap_err();
/// assert_eq!(taken.to_string(), "the allocator `mine` cannot be added: `mine` is a name of the allocator `mine`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Catalogue {
    added: Added,
}

/// The reason why an entry cannot be added to a catalogue, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {kind} `{name}` cannot be added: {what}")]
#[non_exhaustive]
pub struct EntryError {
    /// Kind of the entry that cannot be added, in a word such as "allocator".
    pub kind: &'static str,
    /// The name of the entry that cannot be added.
    pub name: &'static str,
    /// Description of what is wrong with the entry.
    pub what: String,
}

impl Catalogue {
    /// The catalogue with all entries of this crate.
    #[must_use]
    pub fn standard() -> Catalogue {
        Catalogue { added: Added::default() }
    }

    /// A copy of this catalogue with one more entry, as the last in the list of its family.
    ///
    /// An added metric is measured in every run that names no metrics, unless it is a quantile or
    /// is computed by a function that each run constructs anew.
    ///
    /// # Errors
    /// If a name of the entry is taken, the description of the entry (a name, a parameter or a
    /// default) is invalid, or the entry breaks a rule of its family.
    pub fn with<E: ListedEntry + Send>(&self, entry: &'static E) -> Result<Catalogue, EntryError> {
        let (family, about) = (E::family(), entry.about());
        let refuse = |what: String| EntryError { kind: family.kind, name: about.name, what };
        entry.check().map_err(refuse)?;
        about.check(self, family).map_err(refuse)?;
        let names = |about: &'static About| about.aliases.iter().copied().chain([about.name]);
        let others = self.entries(family);
        for taken in names(about) {
            if let Some(by) = others.iter().find(|&&other| names(other).any(|name| name == taken)) {
                let (kind, by) = (family.kind, by.name);
                return Err(refuse(format!("`{taken}` is a name of the {kind} `{by}`")));
            }
        }
        Ok(Catalogue { added: self.added.with(entry) })
    }

    /// The entries of a family, in the order in which lists and manual pages show them.
    ///
    /// ```
    /// use meshwork::{Catalogue, sched::SchedulerEntry};
    /// assert!(Catalogue::standard().list::<SchedulerEntry>().len() > 10);
    /// ```
    #[must_use]
    pub fn list<E: ListedEntry>(&self) -> Vec<&'static E> {
        self.added.list()
    }

    /// The entry with this name.
    ///
    /// # Panics
    /// If no entry has this name. Names are checked when a scenario is read, so an unknown name
    /// here is a bug.
    #[must_use]
    pub fn entry<E: ListedEntry>(&self, name: &str) -> &'static E {
        self.added.entry(name)
    }

    /// Whether the catalogue has only entries of this crate; entries are never removed from it.
    ///
    /// ```
    /// assert!(meshwork::catalogue::Catalogue::standard().is_standard());
    /// ```
    #[must_use]
    pub fn is_standard(&self) -> bool {
        self.added.is_empty()
    }
}

/// Conversion of the result of adding an entry to a catalogue.
///
/// With it, a function that takes a catalogue accepts this result too, and returns its error.
impl TryFrom<Result<Catalogue, EntryError>> for Catalogue {
    type Error = EntryError;

    fn try_from(added: Result<Catalogue, EntryError>) -> Result<Catalogue, EntryError> {
        added
    }
}

impl EntrySource for Catalogue {
    fn added(&self) -> Added {
        self.added.clone()
    }
}

/// Implements [`ListedEntry`] for types of entries. Each is given with its family, the list of this
/// crate's entries, and the check of an added entry.
macro_rules! listed_entries {
    ($($entry:ty, $family:path, $list:path, $check:expr;)*) => {$(
        impl ListedEntry for $entry {
            fn family() -> &'static Family {
                &$family
            }

            fn standard() -> &'static [&'static Self] {
                $list
            }

            fn check(&self) -> Result<(), String> {
                let check: fn(&Self) -> Result<(), String> = $check;
                check(self)
            }
        }
    )*};
}

listed_entries! {
    AllocatorEntry, alloc::FAMILY, ALLOCATORS, |entry| serves_any(entry.serves);
    NodeOrderEntry, orders::FAMILY, NODE_ORDERS, |_| Ok(());
    WithinEntry, within::FAMILY, WITHIN, |_| Ok(());
    SchedulerEntry, sched::FAMILY, SCHEDULERS, |entry| serves_any(entry.serves);
    SizingEntry, sizing::FAMILY, SIZINGS, |_| Ok(());
    SelectorEntry, select::FAMILY, SELECTORS, |_| Ok(());
    NetworkEntry, network::FAMILY, NETWORKS, |_| Ok(());
    WorkloadEntry, workload::FAMILY, WORKLOADS, |_| Ok(());
    SizeEntry, SIZES, SIZE_DISTRIBUTIONS, |_| Ok(());
    RuntimeEntry, RUNTIMES, RUNTIME_DISTRIBUTIONS, |_| Ok(());
    PatternEntry, pattern::FAMILY, PATTERNS, |_| Ok(());
    MetricEntry, metrics::FAMILY, METRICS, is_given_parameters;
    TopologyEntry, SITE_FAMILY, TOPOLOGIES, |_| Ok(());
    MachineEntry, presets::FAMILY, MACHINES, MachineEntry::is_toml;
}

fn serves_any(serves: &[Wiring]) -> Result<(), String> {
    let what = || "it serves no wiring, and so no machine".to_owned();
    if serves.is_empty() { Err(what()) } else { Ok(()) }
}

fn is_given_parameters(entry: &MetricEntry) -> Result<(), String> {
    let is_given_them = matches!(entry.measure, Measure::PerJob(_) | Measure::Ratio(_));
    if entry.about.params.is_empty() || is_given_them {
        return Ok(());
    }
    let what = "it has parameters, but only what is called for each job that finished is given them: \
                `Measure::PerJob` and `Measure::Ratio`";
    Err(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_this_crate_could_be_added() {
        let catalogue = Catalogue::standard();
        let families = [
            &alloc::FAMILY,
            &orders::FAMILY,
            &within::FAMILY,
            &sched::FAMILY,
            &sizing::FAMILY,
            &select::FAMILY,
            &network::FAMILY,
            &workload::FAMILY,
            &metrics::FAMILY,
            &SITE_FAMILY,
            &presets::FAMILY,
        ];
        for family in families {
            for about in catalogue.entries(family) {
                assert_eq!(
                    about.check(&catalogue, family),
                    Ok(()),
                    "{} {}",
                    family.kind,
                    about.name
                );
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_added() {
        const DEPTH: Param = Param::new("depth", Kind::Integer(1, 9)).is("0").help("how deep");
        static MINE: SchedulerEntry =
            sched::fcfs::ENTRY.described(sched::fcfs::ENTRY.about.renamed("mine").params(&[DEPTH]));
        let refused = Catalogue::standard().with(&MINE).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the scheduler `mine` cannot be added: the default of its parameter is refused: `depth` is 0, but must be a \
             whole number from 1 to 9"
        );
        static NOWHERE: SchedulerEntry =
            sched::fcfs::ENTRY.described(sched::fcfs::ENTRY.about.renamed("nowhere")).serves(&[]);
        let refused = Catalogue::standard().with(&NOWHERE).unwrap_err();
        let expected =
            "the scheduler `nowhere` cannot be added: it serves no wiring, and so no machine";
        assert_eq!(refused.to_string(), expected);
    }
}
