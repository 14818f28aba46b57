//! First fit: the first free block in row-major order of its base (lowest corner).

use std::ops::ControlFlow;

use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::{Asks, Finds};
use crate::geometry::cube::{CubeSearch, Subcube};
use crate::geometry::orientation::{Rotation, orientations};
use crate::geometry::reversed::{Reversed, reversed};
use crate::geometry::{FreeBases, NodeSet};
use crate::job::{Dims, Request};
use crate::machine::{Block, Placement};
use crate::registry::{About, Param, Words};
use crate::topology::{Grid, Node, Wiring};

/// Registry entry of the allocator `first_fit`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new("first_fit", "the first free block in row-major order of its base")
        .aliases(&["ff"])
        .definition(
            "Among all bases at which the whole block is free, the one of lowest index in \
             row-major order is taken. With `rotation = \"best\"` the orientations of the block \
             compete on that index. It finds a block whenever one is free in an orientation that \
             it tries, and the job holds exactly what it asked for. In row-major order dimension 0 \
             runs fastest, or with `scan = \"last_dimension\"` the last one.",
        )
        .complexity(
            "O(d · log s · n / 64) for each orientation, with d dimensions, sides up to s of the \
             block and n nodes: sets of nodes are shifted word by word. In a hypercube whose \
             blocks may be turned, all orientations are searched together.",
        )
        .source(
            "Zhu, Efficient processor allocation strategies for mesh-connected \
             parallel computers, JPDC 16, 1992",
        )
        .params(&[
            Rotation::PARAM,
            Param::new("scan", SCANS.kind())
                .is("\"first_dimension\"")
                .help("which dimension runs fastest in the order of bases"),
        ]),
    |params, topology| {
        let (grid, rotation) = (topology.grid(), Rotation::read(params));
        Ok(Box::new(if params.meaning("scan", &SCANS) {
            FirstFit::last_dimension_fastest(grid, rotation)
        } else {
            FirstFit::new(grid, rotation)
        }))
    },
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube])
.asks(Asks::Block)
.finds(Finds::EveryBlock)
.contiguous(true);

/// Values of the parameter `scan`; `true` means that the last dimension runs fastest.
static SCANS: Words<bool, 2> = Words::new([("first_dimension", false), ("last_dimension", true)]);

#[derive(Clone)]
pub(crate) struct FirstFit {
    rotation: Rotation,
    bases: FreeBases,
    /// Search of subcubes, used if all sides of the machine are 2 and blocks may be rotated.
    cubes: Option<CubeSearch>,
    /// The machine with its dimensions in reverse order, if the last dimension runs fastest in a
    /// scan.
    reversed: Option<Reversed>,
}

impl FirstFit {
    pub(crate) fn last_dimension_fastest(grid: &Grid, rotation: Rotation) -> FirstFit {
        let reversed = Reversed::new(grid);
        FirstFit { reversed: Some(reversed.clone()), ..FirstFit::new(reversed.grid(), rotation) }
    }

    pub(crate) fn new(grid: &Grid, rotation: Rotation) -> FirstFit {
        // A hypercube has very many orientations, so they are searched together.
        let is_cube = rotation != Rotation::Never && grid.sides().iter().all(|&side| side == 2);
        let cubes = is_cube.then(|| CubeSearch::new(grid.dimensions() as u32));
        FirstFit { rotation, bases: FreeBases::new(grid), cubes, reversed: None }
    }

    /// The first free block; `is_reversed` tells whether the dimensions of `grid` are in reverse
    /// order.
    pub(crate) fn first(
        &mut self,
        grid: &Grid,
        free: &NodeSet,
        sides: &Dims,
        is_reversed: bool,
    ) -> Option<Block> {
        let here = |sides: Dims| if is_reversed { reversed(&sides) } else { sides };
        if let Some(search) = &mut self.cubes {
            let best = self.rotation == Rotation::Best;
            return first_turned(search, free, &here(sides.clone()), is_reversed, best);
        }
        let mut best: Option<(Node, Dims)> = None;
        for sides in orientations(sides, self.rotation).map(here) {
            let base = self.bases.first(grid, free, &sides);
            if let Some(base) = base
                && best.as_ref().is_none_or(|(lowest, _)| base < *lowest)
            {
                best = Some((base, sides));
                if self.rotation != Rotation::Best {
                    break;
                }
            }
        }
        best.map(|(base, sides)| Block { base, sides })
    }
}

impl Allocator for FirstFit {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: Request::Block(sides), site, .. } = ask else { return None };
        let block = match self.reversed.take() {
            None => self.first(site.grid(), site.free(), sides, false),
            Some(mut reversed) => {
                let there = reversed.grid().clone();
                let found = self.first(&there, reversed.set(site.free()), sides, true);
                let block = found.map(|block| reversed.back(&block, site.grid()));
                self.reversed = Some(reversed);
                block
            }
        };
        block.map(Placement::from)
    }

    fn goes_by_free_nodes(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

/// The first free subcube among the orientations of a block whose sides are 1 or 2.
///
/// If `best` is set, the subcube with the lowest base is taken. Ties go to the earlier orientation
/// in the order of [`orientations`]. If `best` is not set, the first orientation with a free
/// subcube is taken.
fn first_turned(
    search: &mut CubeSearch,
    free: &NodeSet,
    sides: &Dims,
    is_reversed: bool,
    best: bool,
) -> Option<Block> {
    if sides.iter().any(|&side| side > 2) {
        return None;
    }
    let requested = Subcube::of(&Block { base: 0, sides: sides.clone() });
    // `orientations` is lexicographic, dimension 0 first, and starts with its requested side.
    let lexicographic = |mask: u32| if is_reversed { mask } else { mask.reverse_bits() };
    let leading = if is_reversed { sides.last() } else { sides.first() };
    let place = |mask: u32| match leading {
        Some(2) => !lexicographic(mask),
        _ => lexicographic(mask),
    };
    let mut first = None;
    search.for_each_mask(free, requested.dimension(), |bases| {
        let (cube, mask) = (bases.iter().next(), bases.mask());
        let base = cube.filter(|_| best).map(|cube| cube.base);
        let key = (base, mask != requested.mask, place(mask));
        if first.is_none_or(|(least, _)| key < least) {
            first = cube.map(|cube| (key, cube));
        }
        ControlFlow::Continue(())
    });
    first.map(|(_, cube)| cube.block(search.dimension()))
}
