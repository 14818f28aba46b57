//! Folding on a static torus: a job runs in the most cube-like shape into which it can be bent.

use super::fold::folded_for_torus;
use super::set_order::Ties;
use crate::alloc::block::first_fit::FirstFit;
use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::{Asks, Finds};
use crate::geometry::orientation::Rotation;
use crate::job::Request;
use crate::machine::Placement;
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `folding`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "folding",
        "first fit on a torus, of a job in the most cube-like shape into which its \
             rings can be folded",
    )
    .definition(
        "A line may be bent into any block with as many nodes. A sheet of two dimensions folds \
         into two layers, halving one side, and a block with a side of 2 or a sheet into four \
         where the shortest side of the machine is 4, the factor 4 being made from one side or \
         from both. Of the shapes whose longest side fits the shortest side of the machine the one \
         with the least longest side is taken, by the least sides among equals; a job that has \
         none keeps its own. That shape is placed by `first_fit` with `rotation = \"if_needed\"` \
         and `scan = \"last_dimension\"`; no other is tried. Lines are folded whether or not a \
         ring is left.",
    )
    .complexity("As `first_fit`, and O(n⅔) for the shapes of n nodes.")
    .source(
        "Chen et al., Toward co-adapting machine learning job shape and cluster topology (RFold), \
         arXiv 2510.03891, 2025: its folding on a static torus, as its program does it",
    )
    .params(&[Ties::PARAM]),
    |params, topology| {
        let grid = topology.grid();
        Ok(Box::new(Folding {
            shortest: grid.sides().iter().copied().min().unwrap_or(1),
            ties: Ties::read(params),
            first_fit: FirstFit::last_dimension_fastest(grid, Rotation::IfNeeded),
        }))
    },
)
.serves(&[Wiring::Torus])
.dimensions(Some(&[3]))
.asks(Asks::Block)
.finds(Finds::SomeBlocks);

#[derive(Clone)]
struct Folding {
    shortest: u32,
    ties: Ties,
    first_fit: FirstFit,
}

impl Allocator for Folding {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, now, rng } = ask;
        let Request::Block(sides) = request else { return None };
        let shape = <[u32; 3]>::try_from(sides.as_slice()).ok()?;
        let folded = Request::block(&folded_for_torus(shape, self.shortest, self.ties));
        self.first_fit.choose(Ask::new(&folded, site, now, rng))
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
