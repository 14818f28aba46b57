//! Sizings: strategies that decide on how many processors a job may start.

pub mod average_limit;
pub mod exact;
pub mod folding;
pub mod greedy_limit;
pub mod limit;
pub mod rsr;

use smallvec::SmallVec;

use crate::alloc::{RecallError, nothing_to_recall};
use crate::form::Asks;
use crate::job::Request;
use crate::registry::{About, Family, Params, Problem, abouts, named};
use crate::topology::Topology;

/// Input of a sizing (a strategy that sets the sizes of jobs): a request, the site, and the load.
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    /// Request of the job, converted to the form of request that `asks` names.
    pub request: &'a Request,
    /// Form of request that the site's allocator requires.
    pub asks: Asks,
    /// Number of processors of the site.
    pub nodes: u32,
    /// Current numbers of running and waiting jobs.
    pub counts: QueueCounts,
}

/// Numbers of running and waiting jobs of a machine.
///
/// Look-ahead does not change these numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Number of running jobs.
    pub running: u64,
    /// Number of waiting jobs, including the job to be sized.
    pub waiting: u64,
}

/// Size in which a job may be started.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    /// Request to the allocator, in the form that it requires ([`asks`](Demand::asks)).
    pub request: Request,
    /// Factor on the job's run time, because of a size other than requested; otherwise 1.
    pub stretch: f64,
}

/// Strategy that decides the sizes in which a job may be started.
pub trait Sizing: Send {
    /// Returns the sizes to try within one attempt to start the job, in order.
    fn sizes(&self, demand: &Demand<'_>) -> SmallVec<[Size; 1]>;

    /// Returns the fewest processors with which a job of this request could ever be started.
    ///
    /// The bound holds for any queue. With fewer free processors, the allocator is not asked.
    fn fewest(&self, demand: &Demand<'_>) -> u64;

    /// Whether jobs start only with the size that they requested, so that every `stretch` is 1.
    fn is_fixed(&self) -> bool {
        false
    }

    /// Records that a job with the given request has joined the queue.
    fn arrived(&mut self, _request: &Request) {}

    /// Returns, as numbers, the state that a sizing strategy has derived from earlier jobs.
    ///
    /// The list is empty for most strategies, because they have no such state.
    fn memory(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Restores the [memory](Sizing::memory) that a sizing with equal parameters returned.
    ///
    /// # Errors
    /// If the numbers are not the memory of such a sizing.
    fn recall(&mut self, memory: &[u64]) -> Result<(), RecallError> {
        nothing_to_recall(memory)
    }

    /// Returns an independent copy of the sizing, for look-ahead.
    fn fork(&self) -> Box<dyn Sizing>;
}

const YU: &str = "Yu & Das, Limit allocation: an efficient processor management scheme for \
                  hypercubes, ICPP 1994";

/// Registry entry of a sizing.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SizingEntry {
    /// Name, definition and parameters of the sizing.
    pub about: About,
    /// Builds the sizing for a machine with the given sites.
    pub build: fn(&Params, &[Topology]) -> Result<Box<dyn Sizing>, Problem>,
}

impl SizingEntry {
    /// Creates the registry entry of a sizing.
    #[must_use]
    pub const fn new(
        about: About,
        build: fn(&Params, &[Topology]) -> Result<Box<dyn Sizing>, Problem>,
    ) -> SizingEntry {
        SizingEntry { about, build }
    }

    /// Replaces the description of the sizing.
    #[must_use]
    pub const fn described(mut self, about: About) -> SizingEntry {
        self.about = about;
        self
    }
}

named!(SizingEntry);

/// Registry entries of all sizings of this crate.
pub static SIZINGS: &[&SizingEntry] =
    &[&exact::ENTRY, &rsr::ENTRY, &limit::ENTRY, &greedy_limit::ENTRY, &average_limit::ENTRY];

/// The default sizing, by which every job gets its requested size or waits.
pub(crate) fn as_asked() -> Box<dyn Sizing> {
    Box::new(exact::Exact)
}

/// Registry family of all sizings. A study selects a sizing by name.
pub static FAMILY: Family =
    Family { kind: "sizing", key: "name", entries: || abouts(SIZINGS), common: &[] };
