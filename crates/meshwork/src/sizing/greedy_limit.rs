//! Greedy limit allocation: a job is folded (halved) until it fits, down to one processor.

use smallvec::SmallVec;

use super::folding::{Stretch, all_folds};
use super::{Demand, Size, Sizing, SizingEntry, YU};
use crate::registry::About;

/// Registry entry of the sizing `greedy_limit`.
pub static ENTRY: SizingEntry = SizingEntry::new(
    About::new(
        "greedy_limit",
        "a job that does not fit is folded until it does, down to one processor",
    )
    .aliases(&["greedy"])
    .definition(
        "At each attempt to start a job its whole size is tried first, then the size folded once, \
         and so on down to one processor: `rsr` without a bound on the folds.",
    )
    .complexity(
        "At most one question to the allocator for each fold, and one more: O(log \
             p) for p processors.",
    )
    .source(YU)
    .params(&[Stretch::PARAM]),
    |params, _| Ok(Box::new(GreedyLimit { stretch: Stretch::read(params) })),
);

#[derive(Clone, Copy)]
struct GreedyLimit {
    stretch: Stretch,
}

impl Sizing for GreedyLimit {
    fn sizes(&self, demand: &Demand<'_>) -> SmallVec<[Size; 1]> {
        all_folds(demand, u64::MAX, self.stretch)
    }

    fn fewest(&self, _demand: &Demand<'_>) -> u64 {
        1
    }

    fn fork(&self) -> Box<dyn Sizing> {
        Box::new(*self)
    }
}
