//! The catalogue: every strategy, workload and metric that a scenario may name.

use crate::alloc::{self, ALLOCATORS, AllocatorEntry};
use crate::network::{self, NETWORKS, NetworkEntry};
use crate::observe::metrics::{self, METRICS, Measure, MetricEntry};
use crate::registry::{About, EntrySource, Family, Named, abouts};
use crate::sched::{self, SCHEDULERS, SchedulerEntry};
use crate::select::{self, SELECTORS, SelectorEntry};
use crate::sizing::{self, SIZINGS, SizingEntry};
use crate::topology::Wiring;
use crate::workload::{self, WORKLOADS, WorkloadEntry};

/// Every strategy, workload and metric that a scenario may name, with any added entries. It is used
/// when a scenario or a pool is read, and never while one runs.
///
/// ```
/// use meshwork::alloc::{AllocatorEntry, block::first_fit};
/// use meshwork::catalogue::Catalogue;
/// use meshwork::registry::About;
/// use meshwork::scenario::Scenario;
///
/// // Another name for first fit; examples/own-strategy has an allocator of its own.
/// static MINE: AllocatorEntry = AllocatorEntry {
///     about: About { name: "mine", aliases: &[], ..first_fit::ENTRY.about },
///     ..first_fit::ENTRY
/// };
///
/// let catalogue = Catalogue::standard().with_allocator(&MINE)?;
/// let scenario = Scenario::read_in(&catalogue, &toml::toml! {
///     allocator = "mine"
///     machine = { topology = "mesh", dims = [8, 8] }
///     workload = { name = "lublin", jobs = 10 }
/// })?;
/// assert_eq!(scenario.table()["allocator"]["name"].as_str(), Some("mine"));
///
/// let taken = catalogue.with_allocator(&MINE).unwrap_err();
/// assert_eq!(taken.to_string(), "the allocator `mine` cannot be added: `mine` is a name of the allocator `mine`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Catalogue {
    allocators: Vec<&'static AllocatorEntry>,
    schedulers: Vec<&'static SchedulerEntry>,
    sizings: Vec<&'static SizingEntry>,
    selectors: Vec<&'static SelectorEntry>,
    networks: Vec<&'static NetworkEntry>,
    workloads: Vec<&'static WorkloadEntry>,
    metrics: Vec<&'static MetricEntry>,
}

/// The reason why an entry cannot be added to a catalogue, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {kind} `{name}` cannot be added: {what}")]
#[non_exhaustive]
pub struct EntryError {
    /// The word for such an entry, such as "allocator".
    pub kind: &'static str,
    /// The name of the entry.
    pub name: &'static str,
    /// The problem with the entry.
    pub what: String,
}

impl Catalogue {
    /// All entries of this crate.
    #[must_use]
    pub fn standard() -> Catalogue {
        Catalogue {
            allocators: ALLOCATORS.to_vec(),
            schedulers: SCHEDULERS.to_vec(),
            sizings: SIZINGS.to_vec(),
            selectors: SELECTORS.to_vec(),
            networks: NETWORKS.to_vec(),
            workloads: WORKLOADS.to_vec(),
            metrics: METRICS.to_vec(),
        }
    }

    /// This catalogue with one more allocator, as the last of its list.
    ///
    /// # Errors
    /// If one of its names is taken, its description (a name, a parameter or a default) is invalid,
    /// or it serves no wiring. This catalogue itself never changes, here and below.
    pub fn with_allocator(&self, entry: &'static AllocatorEntry) -> Result<Catalogue, EntryError> {
        serves_any(&alloc::FAMILY, &entry.about, entry.serves)?;
        let allocators = self.with(&self.allocators, entry, &alloc::FAMILY)?;
        Ok(Catalogue { allocators, ..self.clone() })
    }

    /// This catalogue with one more scheduler.
    ///
    /// # Errors
    /// Those of [`with_allocator`](Catalogue::with_allocator).
    pub fn with_scheduler(&self, entry: &'static SchedulerEntry) -> Result<Catalogue, EntryError> {
        serves_any(&sched::FAMILY, &entry.about, entry.serves)?;
        let schedulers = self.with(&self.schedulers, entry, &sched::FAMILY)?;
        Ok(Catalogue { schedulers, ..self.clone() })
    }

    /// This catalogue with one more sizing.
    ///
    /// # Errors
    /// Those of [`with_allocator`](Catalogue::with_allocator), except of wirings.
    pub fn with_sizing(&self, entry: &'static SizingEntry) -> Result<Catalogue, EntryError> {
        let sizings = self.with(&self.sizings, entry, &sizing::FAMILY)?;
        Ok(Catalogue { sizings, ..self.clone() })
    }

    /// This catalogue with one more selector.
    ///
    /// # Errors
    /// Those of [`with_allocator`](Catalogue::with_allocator), except of wirings.
    pub fn with_selector(&self, entry: &'static SelectorEntry) -> Result<Catalogue, EntryError> {
        let selectors = self.with(&self.selectors, entry, &select::FAMILY)?;
        Ok(Catalogue { selectors, ..self.clone() })
    }

    /// This catalogue with one more network.
    ///
    /// # Errors
    /// Those of [`with_allocator`](Catalogue::with_allocator), except of wirings.
    pub fn with_network(&self, entry: &'static NetworkEntry) -> Result<Catalogue, EntryError> {
        let networks = self.with(&self.networks, entry, &network::FAMILY)?;
        Ok(Catalogue { networks, ..self.clone() })
    }

    /// This catalogue with one more workload.
    ///
    /// # Errors
    /// Those of [`with_allocator`](Catalogue::with_allocator), except of wirings.
    pub fn with_workload(&self, entry: &'static WorkloadEntry) -> Result<Catalogue, EntryError> {
        let workloads = self.with(&self.workloads, entry, &workload::FAMILY)?;
        Ok(Catalogue { workloads, ..self.clone() })
    }

    /// This catalogue with one more metric. It is measured in every run that names no metrics,
    /// unless it is a quantile or constructed for each run.
    ///
    /// # Errors
    /// Those of [`with_allocator`](Catalogue::with_allocator), except of wirings; and if it has
    /// parameters but is neither `Measure::PerJob` nor `Measure::Ratio`.
    pub fn with_metric(&self, entry: &'static MetricEntry) -> Result<Catalogue, EntryError> {
        let metrics = self.with(&self.metrics, entry, &metrics::FAMILY)?;
        let is_given_them = matches!(entry.measure, Measure::PerJob(_) | Measure::Ratio(_));
        if !entry.about.params.is_empty() && !is_given_them {
            let (kind, name) = (metrics::FAMILY.kind, entry.about.name);
            let what = "it has parameters, but only what is called for each job that finished is given them: \
                        `Measure::PerJob` and `Measure::Ratio`"
                .to_owned();
            return Err(EntryError { kind, name, what });
        }
        Ok(Catalogue { metrics, ..self.clone() })
    }

    /// Whether it has only the entries of this crate; entries can be added but never removed.
    ///
    /// ```
    /// assert!(meshwork::catalogue::Catalogue::standard().is_standard());
    /// ```
    #[must_use]
    pub fn is_standard(&self) -> bool {
        let added = [
            self.allocators.len() - ALLOCATORS.len(),
            self.schedulers.len() - SCHEDULERS.len(),
            self.sizings.len() - SIZINGS.len(),
            self.selectors.len() - SELECTORS.len(),
            self.networks.len() - NETWORKS.len(),
            self.workloads.len() - WORKLOADS.len(),
            self.metrics.len() - METRICS.len(),
        ];
        added == [0; 7]
    }

    /// Its allocators, in the order of lists and pages.
    #[must_use]
    pub fn allocators(&self) -> &[&'static AllocatorEntry] {
        &self.allocators
    }

    /// Its schedulers, in the order of lists and pages.
    #[must_use]
    pub fn schedulers(&self) -> &[&'static SchedulerEntry] {
        &self.schedulers
    }

    /// Its sizings, in the order of lists and pages.
    #[must_use]
    pub fn sizings(&self) -> &[&'static SizingEntry] {
        &self.sizings
    }

    /// Its selectors, in the order of lists and pages.
    #[must_use]
    pub fn selectors(&self) -> &[&'static SelectorEntry] {
        &self.selectors
    }

    /// Its networks, in the order of lists and pages.
    #[must_use]
    pub fn networks(&self) -> &[&'static NetworkEntry] {
        &self.networks
    }

    /// Its workloads, in the order of lists and pages.
    #[must_use]
    pub fn workloads(&self) -> &[&'static WorkloadEntry] {
        &self.workloads
    }

    /// Its metrics, in the order of lists and pages.
    #[must_use]
    pub fn metrics(&self) -> &[&'static MetricEntry] {
        &self.metrics
    }
}

/// Passes on the result of adding entries, for functions that accept a catalogue or such a result.
impl TryFrom<Result<Catalogue, EntryError>> for Catalogue {
    type Error = EntryError;

    fn try_from(added: Result<Catalogue, EntryError>) -> Result<Catalogue, EntryError> {
        added
    }
}

impl EntrySource for Catalogue {
    fn entries(&self, family: &Family) -> Vec<&'static About> {
        let is = |other: &Family| std::ptr::eq(family, other);
        if is(&alloc::FAMILY) {
            abouts(&self.allocators)
        } else if is(&sched::FAMILY) {
            abouts(&self.schedulers)
        } else if is(&sizing::FAMILY) {
            abouts(&self.sizings)
        } else if is(&select::FAMILY) {
            abouts(&self.selectors)
        } else if is(&network::FAMILY) {
            abouts(&self.networks)
        } else if is(&workload::FAMILY) {
            abouts(&self.workloads)
        } else if is(&metrics::FAMILY) {
            abouts(&self.metrics)
        } else {
            (family.entries)()
        }
    }
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |abouts: Vec<&'static About>| -> Vec<&'static str> {
            abouts.into_iter().map(|about| about.name).collect()
        };
        f.debug_struct("Catalogue")
            .field("allocators", &names(abouts(&self.allocators)))
            .field("schedulers", &names(abouts(&self.schedulers)))
            .field("sizings", &names(abouts(&self.sizings)))
            .field("selectors", &names(abouts(&self.selectors)))
            .field("networks", &names(abouts(&self.networks)))
            .field("workloads", &names(abouts(&self.workloads)))
            .field("metrics", &names(abouts(&self.metrics)))
            .finish()
    }
}

impl Catalogue {
    /// A list with one more entry at the end, if the entry is valid.
    fn with<E: Named>(
        &self,
        list: &[&'static E],
        entry: &'static E,
        family: &Family,
    ) -> Result<Vec<&'static E>, EntryError> {
        let about = entry.about();
        let refuse = |what: String| EntryError { kind: family.kind, name: about.name, what };
        about.check(self, family).map_err(refuse)?;
        let names = |about: &'static About| about.aliases.iter().copied().chain([about.name]);
        for taken in names(about) {
            let mut others = list.iter().copied();
            if let Some(by) = others.find(|&other| names(other.about()).any(|name| name == taken)) {
                let (kind, by) = (family.kind, by.about().name);
                return Err(refuse(format!("`{taken}` is a name of the {kind} `{by}`")));
            }
        }
        let mut list = list.to_vec();
        list.push(entry);
        Ok(list)
    }
}

fn serves_any(family: &Family, about: &'static About, serves: &[Wiring]) -> Result<(), EntryError> {
    let what = || "it serves no wiring, and so no machine".to_owned();
    let refused = || EntryError { kind: family.kind, name: about.name, what: what() };
    if serves.is_empty() { Err(refused()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries of this crate meet the rules for added entries.
    #[test]
    fn every_entry_of_this_crate_could_be_added() {
        let catalogue = Catalogue::standard();
        let families = [
            &alloc::FAMILY,
            &sched::FAMILY,
            &sizing::FAMILY,
            &select::FAMILY,
            &network::FAMILY,
            &workload::FAMILY,
            &metrics::FAMILY,
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
        use crate::registry::{DefaultValue, Kind, Param};
        static MINE: SchedulerEntry = SchedulerEntry {
            about: About {
                name: "mine",
                params: &[Param {
                    name: "depth",
                    kind: Kind::Integer(1, 9),
                    default: DefaultValue::Is("0"),
                    help: "how deep",
                }],
                ..sched::fcfs::ENTRY.about
            },
            ..sched::fcfs::ENTRY
        };
        let refused = Catalogue::standard().with_scheduler(&MINE).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the scheduler `mine` cannot be added: the default of its parameter is refused: `depth` is 0, but must be a \
             whole number from 1 to 9"
        );
        static NOWHERE: SchedulerEntry = SchedulerEntry {
            about: About { name: "nowhere", ..sched::fcfs::ENTRY.about },
            serves: &[],
            ..sched::fcfs::ENTRY
        };
        let refused = Catalogue::standard().with_scheduler(&NOWHERE).unwrap_err();
        let expected =
            "the scheduler `nowhere` cannot be added: it serves no wiring, and so no machine";
        assert_eq!(refused.to_string(), expected);
    }
}
