//! Rigid jobs: each waits until it can get the number of processors that it requests.

use smallvec::{SmallVec, smallvec};

use super::{Demand, Size, Sizing, SizingEntry};
use crate::registry::About;

/// Registry entry of the sizing `exact`.
pub static ENTRY: SizingEntry = SizingEntry::new(
    About::new("exact", "every job gets what it asked for, or waits")
        .definition(
            "A job is started with what it asked for, rounded up only as far as its \
             allocator must, or it waits.",
        )
        .complexity("One question to the allocator for each attempt.")
        .source("the rule of all rigid jobs"),
    |_, _| Ok(Box::new(Exact)),
);

pub(super) struct Exact;

impl Sizing for Exact {
    fn sizes(&self, demand: &Demand<'_>) -> SmallVec<[Size; 1]> {
        smallvec![Size { request: demand.request.clone(), stretch: 1.0 }]
    }

    fn fewest(&self, demand: &Demand<'_>) -> u64 {
        demand.request.nodes()
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Sizing> {
        Box::new(Exact)
    }
}
