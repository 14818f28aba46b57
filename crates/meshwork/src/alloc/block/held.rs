//! List of held blocks, and the allocators that search it for a base.

use smallvec::{SmallVec, smallvec};

use crate::alloc::{Allocator, Ask, Claim};
use crate::geometry::orientation::{Rotation, orientations};
use crate::job::{Dims, Request, Time};
use crate::machine::{Block, Placement, Site};
use crate::topology::{Grid, Node};

/// Box of nodes that does not wrap around a ring, from `low` up to but excluding `high`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) low: Dims,
    pub(super) high: Dims,
}

impl Span {
    pub(super) fn overlap(&self, other: &Span) -> u32 {
        let mut shared = 1;
        for d in 0..self.low.len() {
            let low = self.low[d].max(other.low[d]);
            shared *= self.high[d].min(other.high[d]).saturating_sub(low);
        }
        shared
    }

    /// Appends to `rest` the nodes of this span that are not in `other`, as spans.
    ///
    /// At most two spans are appended for each dimension.
    pub(super) fn less(self, other: &Span, rest: &mut Vec<Span>) {
        if self.overlap(other) == 0 {
            rest.push(self);
            return;
        }
        let mut left = self;
        for d in 0..other.low.len() {
            if left.low[d] < other.low[d] {
                let mut below = left.clone();
                below.high[d] = other.low[d];
                left.low[d] = other.low[d];
                rest.push(below);
            }
            if other.high[d] < left.high[d] {
                let mut above = left.clone();
                above.low[d] = other.high[d];
                left.high[d] = other.high[d];
                rest.push(above);
            }
        }
    }

    pub(super) fn for_each_run(&self, grid: &Grid, mut visit: impl FnMut(u32, u32)) {
        let mut at = self.low.clone();
        loop {
            let start = at.iter().zip(grid.strides()).map(|(at, stride)| at * stride).sum();
            visit(start, self.high[0] - self.low[0]);
            let Some(d) = (1..at.len()).find(|&d| at[d] + 1 < self.high[d]) else { return };
            at[d] += 1;
            at[1..d].copy_from_slice(&self.low[1..d]);
        }
    }
}

/// Divides a block into spans that do not wrap around a ring.
///
/// The number of spans is 1, doubled for each dimension along which the block wraps around.
pub(super) fn spans(grid: &Grid, corner: &[u32], sides: &[u32]) -> SmallVec<[Span; 1]> {
    let high = corner.iter().zip(sides).map(|(at, length)| at + length).collect();
    let mut spans: SmallVec<[Span; 1]> = smallvec![Span { low: Dims::from_slice(corner), high }];
    for (d, &side) in grid.sides().iter().enumerate() {
        for i in 0..spans.len() {
            if spans[i].high[d] > side {
                let mut around = spans[i].clone();
                around.low[d] = 0;
                around.high[d] -= side;
                spans[i].high[d] = side;
                spans.push(around);
            }
        }
    }
    spans
}

/// Held block, or a piece of a held block that wraps around a ring or was released in part.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) span: Span,
    pub(super) since: Time,
    /// Number of blocks that were claimed before this block. If a block is divided, all its pieces
    /// have the same number.
    pub(super) number: u64,
}

/// All held blocks, in the order of their claims. If a block is divided, its pieces keep its
/// position.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldBlocks {
    pub(super) list: Vec<Held>,
    claimed: u64,
}

impl HeldBlocks {
    pub(super) fn claimed(&mut self, placement: &Placement, grid: &Grid, now: Time) {
        for block in &placement.blocks {
            for span in spans(grid, &grid.coordinates(block.base), &block.sides) {
                self.list.push(Held { span, since: now, number: self.claimed });
            }
            self.claimed += 1;
        }
    }

    /// Removes the blocks of a released placement from the list, in **O(n)** for *n* held blocks.
    pub(super) fn released(&mut self, placement: &Placement, grid: &Grid) {
        for block in &placement.blocks {
            for span in spans(grid, &grid.coordinates(block.base), &block.sides) {
                if let Some(whole) = self.list.iter().position(|held| held.span == span) {
                    self.list.remove(whole);
                    continue;
                }
                let mut rest = Vec::new();
                let mut list = Vec::with_capacity(self.list.len());
                for held in &self.list {
                    held.span.clone().less(&span, &mut rest);
                    list.extend(rest.drain(..).map(|span| Held { span, ..held.clone() }));
                }
                self.list = list;
            }
        }
    }
}

/// Function that finds the first free base (lowest corner) for a block in one orientation.
///
/// Its arguments are the grid, the held blocks, and the sides of the block.
type FindBase = fn(&Grid, &[Held], &[u32]) -> Option<Node>;

/// Allocator that searches the list of held blocks for the first free base of a block.
///
/// The first orientation with a free base is taken. With [`Rotation::Best`], the orientation with
/// the lowest base is taken.
#[derive(Clone)]
pub(super) struct FirstBase {
    rotation: Rotation,
    held: HeldBlocks,
    find: FindBase,
}

impl FirstBase {
    pub(super) fn boxed(rotation: Rotation, find: FindBase) -> Box<dyn Allocator> {
        Box::new(FirstBase { rotation, held: HeldBlocks::default(), find })
    }
}

impl Allocator for FirstBase {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: Request::Block(sides), site, .. } = ask else { return None };
        let mut found = orientations(sides, self.rotation)
            .filter_map(|sides| Some(((self.find)(site.grid(), &self.held.list, &sides)?, sides)));
        let (base, sides) = match self.rotation {
            Rotation::Best => found.min_by_key(|(base, _)| *base),
            _ => found.next(),
        }?;
        Some(Block { base, sides }.into())
    }

    fn rotation(&self) -> Rotation {
        self.rotation
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::geometry::NodeSet;
    use crate::topology::Topology;

    fn block(grid: &Grid, picks: &[(u32, u32)]) -> Placement {
        let corner: Dims = grid.sides().iter().zip(picks).map(|(s, p)| p.0 % s).collect();
        let sides = grid
            .sides()
            .iter()
            .zip(picks)
            .zip(&corner)
            .map(|((side, pick), at)| {
                1 + pick.1 % if grid.is_wrapped() { *side } else { side - at }
            })
            .collect();
        Block { base: grid.node(&corner), sides }.into()
    }

    proptest! {
        #[test]
        fn the_list_covers_what_is_held_and_remembers_when(
            sides in prop::collection::vec(1_u32..6, 1..4),
            wrapped in any::<bool>(),
            steps in prop::collection::vec(
                (any::<bool>(), prop::collection::vec((0_u32..60, 0_u32..60), 3)),
                1..30,
            ),
        ) {
            let topology = if wrapped { Topology::torus(&sides) } else { Topology::mesh(&sides) };
            let mut site = Site::new(topology.unwrap(), 1.0);
            let grid = site.grid().clone();
            let mut held = HeldBlocks::default();
            let mut since = vec![None; grid.nodes() as usize];
            for (i, (claim, picks)) in steps.into_iter().enumerate() {
                let now = Time::new(i as f64);
                let wanted = block(&grid, &picks);
                let mut taken = NodeSet::empty(grid.nodes());
                taken.assign_complement(site.free());
                let part = wanted.part_in(if claim { site.free() } else { &taken }, &grid);
                // Release or claim the whole block if possible.
                let part = if part.len() == wanted.len() { wanted } else { part };
                if part.is_empty() {
                    continue;
                }
                if claim {
                    site.claim(&part).unwrap();
                    held.claimed(&part, &grid, now);
                } else {
                    site.release(&part);
                    held.released(&part, &grid);
                }
                for node in part.nodes(&grid) {
                    since[node as usize] = claim.then_some(now);
                }
                let mut listed = vec![None; grid.nodes() as usize];
                for held in &held.list {
                    held.span.for_each_run(&grid, |start, count| {
                        for node in start..start + count {
                            assert!(listed[node as usize].replace(held.since).is_none());
                        }
                    });
                }
                prop_assert_eq!(&listed, &since);
            }
        }
    }
}
