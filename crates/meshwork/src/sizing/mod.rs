//! Sizing: alternative sizes of a job that cannot have the requested processors.

pub mod average_limit;
pub mod exact;
pub mod folding;
pub mod greedy_limit;
pub mod limit;
pub mod rsr;

use smallvec::SmallVec;

use crate::form::Asks;
use crate::job::Request;
use crate::registry::{About, Family, Named, Params, Problem, abouts};
use crate::topology::Topology;

/// A job's request to the allocator of one site, with the inputs that may decide its size.
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    /// The request, in the form `asks`.
    pub request: &'a Request,
    /// The form that the site's allocator requires.
    pub asks: Asks,
    /// Processors of the site.
    pub nodes: u32,
    /// Current numbers of running and waiting jobs.
    pub counts: QueueCounts,
}

/// Queue counts of a machine. Look-ahead keeps the current numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Running jobs.
    pub running: u64,
    /// Waiting jobs, including the one in question.
    pub waiting: u64,
}

/// One size in which a job may be started.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    /// The request to the allocator, in the form of the [`Demand`].
    pub request: Request,
    /// Slowdown: factor on the job's run time.
    pub stretch: f64,
}

/// A strategy that decides the sizes in which a job may be started.
pub trait Sizing: Send {
    /// The sizes to try, in this order, within one attempt to start the job.
    fn sizes(&self, demand: &Demand<'_>) -> SmallVec<[Size; 1]>;

    /// The fewest processors with which a job of this request could ever be started. The bound
    /// holds for any number of other jobs, and spares unsatisfiable requests. Called once for each
    /// job.
    fn fewest(&self, demand: &Demand<'_>) -> u64;

    /// Whether every job gets its request: its one size is the request, without slowdown.
    fn is_fixed(&self) -> bool {
        false
    }

    /// Records that a job has joined the queue.
    fn arrived(&mut self, _request: &Request) {}

    /// An independent copy, for look-ahead.
    fn fork(&self) -> Box<dyn Sizing>;
}

/// Registry entry of a sizing.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SizingEntry {
    /// Name, definition and parameters.
    pub about: About,
    /// Builds the strategy for a machine of these sites.
    pub build: fn(&Params, &[Topology]) -> Result<Box<dyn Sizing>, Problem>,
}

impl SizingEntry {
    /// Creates an entry.
    #[must_use]
    pub const fn new(
        about: About,
        build: fn(&Params, &[Topology]) -> Result<Box<dyn Sizing>, Problem>,
    ) -> SizingEntry {
        SizingEntry { about, build }
    }

    /// Replaces the description.
    #[must_use]
    pub const fn described(mut self, about: About) -> SizingEntry {
        self.about = about;
        self
    }
}

impl Named for SizingEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// All sizings.
pub static SIZINGS: &[&SizingEntry] =
    &[&exact::ENTRY, &rsr::ENTRY, &limit::ENTRY, &greedy_limit::ENTRY, &average_limit::ENTRY];

/// The default sizing: every job gets its request or waits.
pub(crate) fn as_asked() -> Box<dyn Sizing> {
    exact::exact()
}

/// Sizings as a family of names.
pub static FAMILY: Family =
    Family { kind: "sizing", key: "name", entries: || abouts(SIZINGS), common: &[] };
