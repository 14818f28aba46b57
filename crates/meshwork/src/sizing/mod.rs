//! Sizing: with how many processors a job may be started when it cannot have what it asked for.

pub mod exact;

use smallvec::SmallVec;

use crate::job::Request;
use crate::registry::{About, Family, Named, Params, Problem, abouts};

/// One size in which a job may be started.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    /// What is asked of the allocator.
    pub request: Request,
    /// How many times longer the job then runs.
    pub stretch: f64,
}

/// Decides the sizes in which a job may be started.
pub trait Sizing {
    /// The sizes to try, in this order, within one attempt to start the job.
    fn sizes(&mut self, request: &Request) -> SmallVec<[Size; 1]>;

    /// The fewest processors with which a job of this request could ever be started: a bound that
    /// spares hopeless questions, **O(1)**.
    fn fewest(&self, request: &Request) -> u64;

    /// An independent copy, for look-ahead.
    fn fork(&self) -> Box<dyn Sizing>;
}

/// A sizing in the list.
pub struct SizingEntry {
    /// What it says of itself.
    pub about: About,
    /// The strategy.
    pub build: fn(&Params) -> Result<Box<dyn Sizing>, Problem>,
}

impl Named for SizingEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// Every sizing.
pub static SIZINGS: &[&SizingEntry] = &[&exact::ENTRY];

/// Sizings, as a family of names.
pub static FAMILY: Family =
    Family { kind: "sizing", key: "name", entries: || abouts(SIZINGS), common: &[] };
