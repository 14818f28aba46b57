//! What was asked for, or nothing.

use smallvec::{SmallVec, smallvec};

use super::{Size, Sizing, SizingEntry};
use crate::job::Request;
use crate::registry::About;

/// The entry of `exact`.
pub static ENTRY: SizingEntry = SizingEntry {
    about: About {
        name: "exact",
        aliases: &[],
        summary: "every job gets what it asked for, or waits",
        source: "the rule of all rigid jobs",
        params: &[],
    },
    build: |_| Ok(Box::new(Exact)),
};

struct Exact;

impl Sizing for Exact {
    fn sizes(&mut self, request: &Request) -> SmallVec<[Size; 1]> {
        smallvec![Size { request: request.clone(), stretch: 1.0 }]
    }

    fn fewest(&self, request: &Request) -> u64 {
        request.nodes()
    }

    fn fork(&self) -> Box<dyn Sizing> {
        Box::new(Exact)
    }
}
