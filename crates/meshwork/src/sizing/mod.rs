//! Sizing: with how many processors a job may be started when it cannot have what it asked for.

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

/// A job's request, as the allocator of one site is asked it, and what may decide its size.
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    /// The request, in the form that the site's allocator asks for.
    pub request: &'a Request,
    /// That form.
    pub asks: Asks,
    /// Processors of the site.
    pub nodes: u32,
    /// How many jobs there are now.
    pub crowd: Crowd,
}

/// How many jobs a machine has to serve. While a scheduler looks ahead it is as it is now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crowd {
    /// Jobs that run.
    pub running: u64,
    /// Jobs that wait, the one in question included.
    pub waiting: u64,
}

/// One size in which a job may be started.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    /// What is asked of the allocator, in the form of the [`Demand`].
    pub request: Request,
    /// How many times longer the job then runs.
    pub stretch: f64,
}

/// Decides the sizes in which a job may be started.
pub trait Sizing: Send {
    /// The sizes to try, in this order, within one attempt to start the job.
    fn sizes(&self, demand: &Demand<'_>) -> SmallVec<[Size; 1]>;

    /// The fewest processors with which a job of this request could ever be started, however many
    /// other jobs there are then: a bound that spares hopeless questions. Asked once for each job.
    fn fewest(&self, demand: &Demand<'_>) -> u64;

    /// Whether every job gets what it asked for: its one size is its request, and it runs no longer.
    fn is_fixed(&self) -> bool {
        false
    }

    /// A job has joined the queue.
    fn arrived(&mut self, _request: &Request) {}

    /// An independent copy, for look-ahead.
    fn fork(&self) -> Box<dyn Sizing>;
}

/// A sizing in the list.
pub struct SizingEntry {
    /// What it says of itself.
    pub about: About,
    /// The strategy, for a machine of these sites.
    pub build: fn(&Params, &[Topology]) -> Result<Box<dyn Sizing>, Problem>,
}

impl Named for SizingEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// Every sizing.
pub static SIZINGS: &[&SizingEntry] =
    &[&exact::ENTRY, &rsr::ENTRY, &limit::ENTRY, &greedy_limit::ENTRY, &average_limit::ENTRY];

/// The sizing of whoever takes no part in sizing: every job gets what it asks for, or waits.
pub(crate) fn as_asked() -> Box<dyn Sizing> {
    exact::exact()
}

/// Sizings, as a family of names.
pub static FAMILY: Family =
    Family { kind: "sizing", key: "name", entries: || abouts(SIZINGS), common: &[] };
