//! Weighted boundary search: the free block whose held neighbours have the greatest total weight.
//!
//! The weight of a held neighbour decreases with the time since it was claimed.

use std::cell::LazyCell;

use super::best_base::BestBase;
use super::contact::{Beside, Faces, beside};
use super::peaks::Edges;
use crate::alloc::block::held::{Held, HeldBlocks, Span, spans};
use crate::alloc::{Allocator, AllocatorEntry, Ask, Claim, flag};
use crate::form::{Asks, Finds};
use crate::geometry::orientation::Rotation;
use crate::job::{Dims, Request};
use crate::machine::{Placement, Site};
use crate::registry::{About, Kind, Param, Range, Words};
use crate::topology::{Grid, Wiring};

/// Registry entry of the allocator `weighted_boundary_search`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "weighted_boundary_search",
        "the free block with the most held neighbours, those claimed long ago counting less",
    )
    .aliases(&["wbsm"])
    .definition(
        "Boundary search in which a held neighbour counts by its age: 1 if its block was claimed \
         just now, and 0 once it is `alpha` units of time old. Blocks claimed at about the same \
         time tend to end at about the same time, and leave one large hole if they lie together. \
         Edges of the machine count in full. With a large enough `alpha` this is boundary search.",
    )
    .complexity(
        "That of boundary search, and O(h log h) to order h held blocks, of which \
             each contact looks at those that begin or end beside it.",
    )
    .source("Zhu & Lin, Allocation-time-based processor allocation scheme for 2D mesh architecture")
    .params(&[
        Rotation::PARAM,
        Param::new("alpha", Kind::Number(Range::Positive)).is("100.0").help(
            "the age at which a neighbour has lost its weight, in units of time; the mean run \
                 time in the paper, 100 there",
        ),
        Param::new("weighting", WEIGHTINGS.kind()).is("\"linear\"").help(
            "how weight goes with age: evenly from 1 to 0 at `alpha`, all of it at `alpha`, or \
                 by a factor of e in each `alpha`",
        ),
        flag("corners", "whether ties go to the block with the most held nodes about its corners"),
    ]),
    |params, topology| {
        let corners = params.flag("corners");
        Ok(Box::new(WeightedBoundarySearch {
            best: BestBase::new(topology.grid(), Rotation::read(params), corners),
            held: HeldBlocks::default(),
            alpha: params.number("alpha"),
            weighting: params.meaning("weighting", &WEIGHTINGS),
            corners,
        }))
    },
)
.serves(&[Wiring::Mesh, Wiring::Torus])
.asks(Asks::Block)
.finds(Finds::EveryBlock)
.contiguous(true);

static WEIGHTINGS: Words<Weighting, 3> = Words::new([
    ("linear", Weighting::Linear),
    ("step", Weighting::Step),
    ("exponential", Weighting::Exponential),
]);

/// The weighted boundary search strategy, with weights that are multiples of 2⁻³².
///
/// Therefore, sums of weights do not depend on the order of the summands, and ties are exact.
#[derive(Clone)]
struct WeightedBoundarySearch {
    best: BestBase,
    held: HeldBlocks,
    alpha: f64,
    weighting: Weighting,
    corners: bool,
}

#[derive(Clone, Copy)]
enum Weighting {
    Linear,
    Step,
    Exponential,
}

/// Weight of a wall, or of a node that has just been claimed, in units of 2⁻³².
const ONE: u64 = 1 << 32;

impl WeightedBoundarySearch {
    fn weight(&self, age: f64) -> u64 {
        let age = age.max(0.0) / self.alpha;
        let share = match self.weighting {
            Weighting::Linear => (1.0 - age).max(0.0),
            Weighting::Step if age < 1.0 => 1.0,
            Weighting::Step => 0.0,
            Weighting::Exponential => libm::exp(-age),
        };
        (share * ONE as f64).round() as u64
    }
}

impl Allocator for WeightedBoundarySearch {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: Request::Block(sides), site, now, .. } = ask else { return None };
        let grid = site.grid();
        let weigh = |held: &Held| self.weight(now.units() - held.since.units());
        // Computed only if the requested block is free somewhere.
        let weights: LazyCell<Vec<(u64, &Span)>, _> =
            LazyCell::new(|| self.held.list.iter().map(|held| (weigh(held), &held.span)).collect());
        // If corner values do not count, edges of held blocks with zero weight do not matter.
        let matter = || weights.iter().filter(|(weight, _)| *weight > 0 || self.corners);
        let surfaces = LazyCell::new(|| Surfaces::new(grid, &weights));
        let block = self.best.search(
            site,
            sides,
            ONE,
            |edges: &mut Edges| edges.of_spans(grid, matter().map(|(_, span)| *span)),
            |corner, sides, blocked| surfaces.contact(grid, corner, sides, blocked),
        );
        block.map(Placement::from)
    }

    fn claimed(&mut self, placement: &Placement, site: &Site, claim: Claim) {
        self.held.claimed(placement, site.grid(), claim.now);
    }

    fn released(&mut self, placement: &Placement, site: &Site) {
        self.held.released(placement, site.grid());
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

/// Held blocks with a positive weight, sorted along each dimension by begin and by end.
///
/// If a held block touches a free block from above, it begins exactly where the free block ends. So
/// each face is compared with only a few held blocks.
struct Surfaces<'a> {
    begins: Vec<Vec<(u32, u64, &'a Span)>>,
    ends: Vec<Vec<(u32, u64, &'a Span)>>,
}

impl<'a> Surfaces<'a> {
    fn new(grid: &Grid, held: &[(u64, &'a Span)]) -> Surfaces<'a> {
        let sorted = |at: &dyn Fn(&Span, usize) -> u32, d: usize| {
            let matter = held.iter().filter(|(weight, _)| *weight > 0);
            let mut list: Vec<(u32, u64, &Span)> =
                matter.map(|&(weight, span)| (at(span, d), weight, span)).collect();
            list.sort_by_key(|(at, ..)| *at);
            list
        };
        let dimensions = 0..grid.dimensions();
        Surfaces {
            begins: dimensions.clone().map(|d| sorted(&|span, d| span.low[d], d)).collect(),
            ends: dimensions.map(|d| sorted(&|span, d| span.high[d], d)).collect(),
        }
    }

    fn contact(&self, grid: &Grid, corner: &[u32], sides: &[u32], blocked: Faces) -> u64 {
        let nodes: u32 = sides.iter().product();
        let mut sum = 0;
        for d in 0..sides.len() {
            for high in [false, true] {
                if !blocked.has(d, high) {
                    continue;
                }
                let at = match beside(grid, d, corner[d], sides[d], high) {
                    Beside::Nothing => continue,
                    Beside::Wall => {
                        sum += u64::from(nodes / sides[d]) * ONE;
                        continue;
                    }
                    Beside::Nodes(at) => at,
                };
                let (list, begin) =
                    if high { (&self.begins[d], at) } else { (&self.ends[d], at + 1) };
                let from = list.partition_point(|&(place, ..)| place < begin);
                let touching = || list[from..].iter().take_while(|(place, ..)| *place == begin);
                if touching().next().is_none() {
                    continue;
                }
                let (mut corner, mut sides) = (Dims::from_slice(corner), Dims::from_slice(sides));
                corner[d] = at;
                sides[d] = 1;
                for face in spans(grid, &corner, &sides) {
                    for (_, weight, span) in touching() {
                        sum += weight * u64::from(face.overlap(span));
                    }
                }
            }
        }
        sum
    }
}
