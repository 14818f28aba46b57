//! RFold's placement without folding: each piece of a shape gets a cube in which it fits.

use super::cubes::{self, CUBE, Cubes};
use super::pieces;
use super::set_order::Ties;
use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::{Asks, Finds};
use crate::job::Request;
use crate::machine::Placement;
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `reconfigurable_blocks`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "reconfigurable_blocks",
        "a block in pieces, as many as it touches cubes, each in any cube with room for it",
    )
    .aliases(&["reconfig"])
    .definition(
        "The machine is cut into cubes of side `cube`, whose faces optical switches join at will. \
         A block of any sides is cut along the same lines: into whole cubes, and at its far sides \
         into pieces that fill a cube along all dimensions but one, along all but two, and so on, \
         in lexicographic order of the dimensions that they fill. Kind by kind, the pieces go to \
         the first cubes, in lexicographic order, in which they are free, one in a cube; all of \
         one kind lie alike, at the first place for which there are enough cubes. That place is \
         any if the block has no whole cube, and else a corner. If a kind has no room, the next \
         orientation of the block is tried. It is not asked whether pieces that are joined lie \
         opposite one another, and switches cost nothing.",
    )
    .complexity(
        "O(p · c · m) for each orientation, with p kinds of pieces, c cubes and m \
             places in a cube, besides O(n) to look at n nodes.",
    )
    .source(
        "Chen et al., RFold, arXiv 2510.03891, 2025: reconfiguration alone, as its program does it",
    )
    .params(&[CUBE, Ties::PARAM]),
    |params, topology| {
        let grid = topology.grid();
        let side = cubes::side(params, grid)?;
        Ok(Box::new(Blocks { cubes: Cubes::new(grid, side), ties: Ties::read(params) }))
    },
)
.serves(&[Wiring::Mesh, Wiring::Torus])
.asks(Asks::Block)
.finds(Finds::SomeBlocks);

#[derive(Clone)]
struct Blocks {
    cubes: Cubes,
    ties: Ties,
}

impl Allocator for Blocks {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: Request::Block(sides), site, .. } = ask else { return None };
        self.cubes.look_at(site.free());
        pieces::place(&self.cubes, sides, self.ties)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
