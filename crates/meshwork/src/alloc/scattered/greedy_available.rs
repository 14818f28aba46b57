//! Greedy available: takes the requested block, or else the largest free blocks that fit into it.

use crate::alloc::block::first_fit::FirstFit;
use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::Asks;
use crate::geometry::NodeSet;
use crate::geometry::largest::LargestBlock;
use crate::geometry::orientation::Rotation;
use crate::geometry::ranked::in_order;
use crate::geometry::squarest::block_for;
use crate::job::{Dims, Request};
use crate::machine::{Block, Placement};
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `greedy_available`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "greedy_available",
        "the block asked for, or else the largest free blocks inside it, one by one",
    )
    .aliases(&["gabl"])
    .definition(
        "The block that the job asks for is placed as first fit places it, if it is free anywhere, \
         turned if need be. If not, the largest free block is taken whose sides are no longer than \
         those of the block, and which has no more processors than are still wanted; then the \
         largest whose sides are no longer than those of that one, and so on until the job has as \
         many processors as it asks for. Of equally large blocks the one with the lowest base is \
         taken, and of those the longest along the first dimensions. A job that asks for a count \
         asks for the squarest block that holds it, and gets no more than the count. So a job fits \
         whenever enough processors are free.",
    )
    .complexity(
        "O(s^(d-1) · d · n / 64) for each piece, with sides up to s in d dimensions and n nodes.",
    )
    .source(
        "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, A fast and efficient \
             processor allocation strategy which combines a contiguous and \
             non-contiguous processor allocation algorithms, 2007",
    )
    .params(&[Rotation::TURNING]),
    |params, topology| {
        let grid = topology.grid();
        Ok(Box::new(GreedyAvailable {
            whole: FirstFit::new(grid, Rotation::read(params)),
            largest: LargestBlock::new(grid),
            free: NodeSet::empty(grid.nodes()),
        }))
    },
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube])
.asks(Asks::BlockOrNodes);

#[derive(Clone)]
struct GreedyAvailable {
    whole: FirstFit,
    largest: LargestBlock,
    free: NodeSet,
}

impl Allocator for GreedyAvailable {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, now, rng, .. } = ask;
        let count = site.count_if_free(request)?;
        let grid = site.grid();
        let asked = match request {
            Request::Block(sides) => sides.clone(),
            _ => block_for(count, grid)?,
        };
        let whole = Request::Block(asked);
        if whole.nodes() == u64::from(count)
            && let Some(placement) = self.whole.choose(Ask::new(&whole, site, now, rng))
        {
            return Some(placement);
        }
        let Request::Block(mut most) = whole else { return None };
        most.iter_mut().zip(grid.sides()).for_each(|(most, side)| *most = (*most).min(*side));
        self.free.copy_from(site.free());
        let (mut placement, mut rest) = (Placement::default(), count);
        while rest > 0 && most.iter().any(|&side| side > 1) {
            let (base, sides) = self.largest.find(grid, &self.free, &most, rest)?;
            let block = Block { base, sides: Dims::clone(&sides) };
            block.for_each_run(grid, |start, count| self.free.remove_range(start, count));
            rest -= block.len();
            placement.blocks.push(block);
            most = sides;
        }
        // After a block of one node, only blocks of one node can follow.
        placement.blocks.extend(in_order(grid, self.free.iter().take(rest as usize)).blocks);
        Some(placement)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
