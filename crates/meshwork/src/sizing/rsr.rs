//! Restricted size reduction: a job that does not fit is folded (halved) a limited number of times.

use smallvec::SmallVec;

use super::folding::{Stretch, all_folds};
use super::{Demand, Size, Sizing, SizingEntry};
use crate::registry::{About, Kind, Param};

/// Registry entry of the sizing `rsr`.
pub static ENTRY: SizingEntry = SizingEntry::new(
    About::new(
        "rsr",
        "a job that does not fit as it is is folded to half its size, again and \
             again but at most so many times, before it waits",
    )
    .aliases(&["restricted_size_reduction"])
    .definition(
        "At each attempt to start a job its whole size is tried first, then the \
             size folded once, up to `max_folds` times: a subcube loses a dimension, a \
             square half its side, a block half its longest side, a count half of \
             itself, rounded up. A folded job runs longer in proportion.",
    )
    .complexity("At most one question to the allocator for each fold, and one more.")
    .source(
        "Chang & Mohapatra, An adaptive job allocation method for multicomputer \
             systems, section 3.2",
    )
    .params(&[
        Param::new("max_folds", Kind::Integer(0, u32::MAX as u64))
            .is("1")
            .help("how many times a job may be folded"),
        Stretch::PARAM,
    ]),
    |params, _| {
        Ok(Box::new(Rsr { folds: params.integer("max_folds"), stretch: Stretch::read(params) }))
    },
);

#[derive(Clone, Copy)]
struct Rsr {
    folds: u64,
    stretch: Stretch,
}

impl Sizing for Rsr {
    fn sizes(&self, demand: &Demand<'_>) -> SmallVec<[Size; 1]> {
        all_folds(demand, self.folds, self.stretch)
    }

    fn fewest(&self, demand: &Demand<'_>) -> u64 {
        self.sizes(demand).last().map_or(1, |size| size.request.nodes())
    }

    fn fork(&self) -> Box<dyn Sizing> {
        Box::new(*self)
    }
}
