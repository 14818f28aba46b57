//! The first free block in row-major order of its base.

use std::ops::ControlFlow;

use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::{Asks, Finds};
use crate::geometry::FreeBases;
use crate::geometry::NodeSet;
use crate::geometry::cube::{CubeSearch, Subcube};
use crate::geometry::orientation::{Rotation, orientations};
use crate::job::{Dims, Request};
use crate::machine::{Block, Placement};
use crate::registry::About;
use crate::topology::{Grid, Node, Wiring};

/// The entry of `first_fit`.
pub static ENTRY: AllocatorEntry = AllocatorEntry {
    about: About {
        name: "first_fit",
        aliases: &["ff"],
        summary: "the first free block in row-major order of its base",
        definition: "Among all bases at which the whole block is free, the one of lowest index \
                     in row-major order is taken. With `rotation = \"best\"` the orientations of \
                     the block compete on that index. It finds a block whenever one is free in \
                     an orientation that it tries, and the job holds exactly what it asked for.",
        complexity: "O(d · log s · n / 64) for each orientation, with d dimensions, sides up to \
                     s of the block and n nodes: sets of nodes are shifted word by word. In a \
                     hypercube whose blocks may be turned, all orientations are searched \
                     together.",
        source: "Zhu, Efficient processor allocation strategies for mesh-connected parallel \
                 computers, JPDC 16, 1992",
        params: &[Rotation::PARAM],
    },
    serves: &[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube],
    dimensions: None,
    asks: Asks::Block,
    finds: Finds::EveryBlock,
    contiguous: true,
    build: |params, topology| Ok(Box::new(FirstFit::new(topology.grid(), Rotation::read(params)))),
};

/// First fit, on a grid of any number of dimensions, wrapped or not.
///
/// Among all bases at which the whole block is free it takes the one of lowest index. With
/// `rotation = "best"` the orientations compete on that index. It finds a block whenever there is
/// one in an orientation it tries; there is no internal fragmentation on a mesh.
///
/// # Complexity
/// **O(d · log s · n / 64)** for each orientation: see [`FreeBases`]. Where all sides of the machine are
/// 2, that of a [`CubeSearch`] for all orientations together.
#[derive(Clone)]
pub(crate) struct FirstFit {
    rotation: Rotation,
    bases: FreeBases,
    /// The search in a hypercube, or a mesh of twos, in which blocks may be turned.
    cubes: Option<CubeSearch>,
}

impl FirstFit {
    pub(crate) fn new(grid: &Grid, rotation: Rotation) -> FirstFit {
        // A cube has very many orientations: they are searched together.
        let is_cube = rotation != Rotation::Never && grid.sides().iter().all(|&side| side == 2);
        let cubes = is_cube.then(|| CubeSearch::new(grid.dimensions() as u32));
        FirstFit { rotation, bases: FreeBases::new(grid), cubes }
    }
}

impl Allocator for FirstFit {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let Request::Block(sides) = request else { return None };
        if let Some(search) = &mut self.cubes {
            let best = self.rotation == Rotation::Best;
            return first_turned(search, site.free(), sides, best).map(Placement::from);
        }
        let mut best: Option<(Node, Dims)> = None;
        for sides in orientations(sides, self.rotation) {
            let base = self.bases.first(site.grid(), site.free(), &sides);
            if let Some(base) = base
                && best.as_ref().is_none_or(|(lowest, _)| base < *lowest)
            {
                best = Some((base, sides));
                if self.rotation != Rotation::Best {
                    break;
                }
            }
        }
        best.map(|(base, sides)| Block { base, sides }.into())
    }

    fn goes_by_free_nodes(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

/// The first fit among the orientations of a subcube: by base first if the best is wanted, then the
/// requested one, then in the order of [`orientations`].
fn first_turned(
    search: &mut CubeSearch,
    free: &NodeSet,
    sides: &Dims,
    best: bool,
) -> Option<Block> {
    if sides.iter().any(|&side| side > 2) {
        return None;
    }
    let requested = Subcube::of(&Block { base: 0, sides: sides.clone() });
    // That order is lexicographic, dimension 0 first, and begins with the side that it has in the request.
    let place = |mask: u32| match sides[0] {
        2 => !mask.reverse_bits(),
        _ => mask.reverse_bits(),
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
