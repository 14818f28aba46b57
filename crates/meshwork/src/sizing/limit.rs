//! Limit allocation: a fixed upper bound on the processors of every job.

use smallvec::{SmallVec, smallvec};

use super::folding::{Stretch, within};
use super::{Demand, Size, Sizing, SizingEntry, YU};
use crate::registry::{About, Kind, Param};

/// Registry entry of the sizing `limit`.
pub static ENTRY: SizingEntry = SizingEntry::new(
    About::new("limit", "every job that asks for more than a fixed limit is folded down to it")
        .definition(
            "A job that asks for more than 2 to the power of `dimension` processors is folded \
             until it has no more, and always runs in that size, however empty the machine is.",
        )
        .complexity("One question to the allocator for each attempt.")
        .source(YU)
        .params(&[
            Param::new("dimension", Kind::Integer(0, 64))
                .help("the limit: 2 to this power processors"),
            Stretch::PARAM,
        ]),
    |params, sites| {
        let limit = params.integer("dimension") as u32;
        let most = sites.iter().map(|site| site.grid().nodes()).max().unwrap_or(1);
        let largest = most.next_power_of_two().trailing_zeros();
        if limit > largest {
            let says = format!(
                "is {limit}, but no site has more than {most} processors: a limit from 0 to \
                 {largest} would be right"
            );
            return Err(params.refusal("dimension", says));
        }
        Ok(Box::new(Limit { dimension: limit, stretch: Stretch::read(params) }))
    },
);

#[derive(Clone, Copy)]
struct Limit {
    dimension: u32,
    stretch: Stretch,
}

impl Sizing for Limit {
    fn sizes(&self, demand: &Demand<'_>) -> SmallVec<[Size; 1]> {
        smallvec![within(demand, self.dimension, self.stretch)]
    }

    fn fewest(&self, demand: &Demand<'_>) -> u64 {
        within(demand, self.dimension, self.stretch).request.nodes()
    }

    fn fork(&self) -> Box<dyn Sizing> {
        Box::new(*self)
    }
}
