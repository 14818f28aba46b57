//! The catalogue: every strategy, workload and metric that a scenario may name.

use crate::alloc::{self, ALLOCATORS, AllocatorEntry};
use crate::network::{self, NETWORKS, NetworkEntry};
use crate::observe::metrics::{self, METRICS, MetricEntry};
use crate::registry::{About, Family, Lists, Named, abouts};
use crate::sched::{self, SCHEDULERS, SchedulerEntry};
use crate::select::{self, SELECTORS, SelectorEntry};
use crate::sizing::{self, SIZINGS, SizingEntry};
use crate::workload::{self, WORKLOADS, WorkloadEntry};

/// Every strategy, workload and metric that a scenario may name: the lists of this crate, and whatever
/// was added to them.
///
/// It is asked when a scenario or a pool is read, and never while one runs.
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

/// An entry cannot be added: one of its names is taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {kind} `{name}` cannot be added: `{taken}` is a name of the {kind} `{by}`")]
#[non_exhaustive]
pub struct NameTaken {
    /// The word for such an entry, as in "allocator".
    pub kind: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its name or alias that is taken.
    pub taken: &'static str,
    /// The entry that has it.
    pub by: &'static str,
}

impl Catalogue {
    /// Everything that this crate has.
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
    /// If one of its names is taken. This catalogue is as it was in any case, here and below.
    pub fn with_allocator(&self, entry: &'static AllocatorEntry) -> Result<Catalogue, NameTaken> {
        let allocators = with(&self.allocators, entry, &alloc::FAMILY)?;
        Ok(Catalogue { allocators, ..self.clone() })
    }

    /// This catalogue with one more scheduler.
    ///
    /// # Errors
    /// If one of its names is taken.
    pub fn with_scheduler(&self, entry: &'static SchedulerEntry) -> Result<Catalogue, NameTaken> {
        let schedulers = with(&self.schedulers, entry, &sched::FAMILY)?;
        Ok(Catalogue { schedulers, ..self.clone() })
    }

    /// This catalogue with one more sizing.
    ///
    /// # Errors
    /// If one of its names is taken.
    pub fn with_sizing(&self, entry: &'static SizingEntry) -> Result<Catalogue, NameTaken> {
        let sizings = with(&self.sizings, entry, &sizing::FAMILY)?;
        Ok(Catalogue { sizings, ..self.clone() })
    }

    /// This catalogue with one more selector.
    ///
    /// # Errors
    /// If one of its names is taken.
    pub fn with_selector(&self, entry: &'static SelectorEntry) -> Result<Catalogue, NameTaken> {
        let selectors = with(&self.selectors, entry, &select::FAMILY)?;
        Ok(Catalogue { selectors, ..self.clone() })
    }

    /// This catalogue with one more network.
    ///
    /// # Errors
    /// If one of its names is taken.
    pub fn with_network(&self, entry: &'static NetworkEntry) -> Result<Catalogue, NameTaken> {
        let networks = with(&self.networks, entry, &network::FAMILY)?;
        Ok(Catalogue { networks, ..self.clone() })
    }

    /// This catalogue with one more workload.
    ///
    /// # Errors
    /// If one of its names is taken.
    pub fn with_workload(&self, entry: &'static WorkloadEntry) -> Result<Catalogue, NameTaken> {
        let workloads = with(&self.workloads, entry, &workload::FAMILY)?;
        Ok(Catalogue { workloads, ..self.clone() })
    }

    /// This catalogue with one more metric. It is measured in every run that names no metrics,
    /// unless it is a quantile or made anew for each run.
    ///
    /// # Errors
    /// If one of its names is taken.
    pub fn with_metric(&self, entry: &'static MetricEntry) -> Result<Catalogue, NameTaken> {
        let metrics = with(&self.metrics, entry, &metrics::FAMILY)?;
        Ok(Catalogue { metrics, ..self.clone() })
    }

    /// Whether it is what this crate has, and no more: entries can be added and never taken away.
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

    /// Its schedulers.
    #[must_use]
    pub fn schedulers(&self) -> &[&'static SchedulerEntry] {
        &self.schedulers
    }

    /// Its sizings.
    #[must_use]
    pub fn sizings(&self) -> &[&'static SizingEntry] {
        &self.sizings
    }

    /// Its selectors.
    #[must_use]
    pub fn selectors(&self) -> &[&'static SelectorEntry] {
        &self.selectors
    }

    /// Its networks.
    #[must_use]
    pub fn networks(&self) -> &[&'static NetworkEntry] {
        &self.networks
    }

    /// Its workloads.
    #[must_use]
    pub fn workloads(&self) -> &[&'static WorkloadEntry] {
        &self.workloads
    }

    /// Its metrics.
    #[must_use]
    pub fn metrics(&self) -> &[&'static MetricEntry] {
        &self.metrics
    }
}

impl Lists for Catalogue {
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

/// A list and one more entry behind it.
fn with<E: Named>(
    list: &[&'static E],
    entry: &'static E,
    family: &Family,
) -> Result<Vec<&'static E>, NameTaken> {
    let about = entry.about();
    let names = |about: &'static About| about.aliases.iter().copied().chain([about.name]);
    for taken in names(about) {
        if let Some(by) = list.iter().find(|other| names(other.about()).any(|name| name == taken)) {
            let (kind, name, by) = (family.kind, about.name, by.about().name);
            return Err(NameTaken { kind, name, taken, by });
        }
    }
    let mut list = list.to_vec();
    list.push(entry);
    Ok(list)
}
