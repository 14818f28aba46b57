//! Best fit: the free block with the most held neighbours. Walls do not count as neighbours.

use super::boundary::boundary_search::BoundarySearch;
use crate::alloc::{Allocator, AllocatorEntry, Ask, flag};
use crate::form::{Asks, Finds};
use crate::geometry::orientation::{Rotation, orientations};
use crate::geometry::{FreeBases, NodeSet};
use crate::job::{Dims, Request};
use crate::machine::{Block, Placement};
use crate::registry::About;
use crate::topology::{Grid, Node, Wiring};

/// Registry entry of the allocator `best_fit`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new("best_fit", "the free block with the most held neighbours, walls not counted")
        .aliases(&["bf"])
        .definition(
            "Of all free places of the block, the one with the most held nodes beside its faces is \
             taken, so that what is left free stays in one piece. Edges of the machine do not \
             count unless `count_walls` says so. With `base_only` nothing but the neighbours of \
             the base is looked at. Ties go to the lowest base.",
        )
        .complexity(
            "Three or four times a first fit for each orientation, and O(1) for each corner of \
             what is held; with `base_only` a first fit, and O(d) for each free base.",
        )
        .source(
            "Zhu, Efficient processor allocation strategies for mesh-connected \
             parallel computers, JPDC 16, 1992",
        )
        .params(&[
            Rotation::PARAM,
            flag("count_walls", "whether the edges of a mesh count as held"),
            flag(
                "base_only",
                "count only the neighbours of the base at which the block would not be free",
            ),
        ]),
    |params, topology| {
        let count_walls = params.flag("count_walls");
        if !params.flag("base_only") {
            return Ok(Box::new(BoundarySearch::new(params, topology, count_walls, false)));
        }
        Ok(Box::new(BestBaseNode {
            rotation: Rotation::read(params),
            count_walls,
            bases: FreeBases::new(topology.grid()),
        }))
    },
)
.serves(&[Wiring::Mesh, Wiring::Torus])
.asks(Asks::Block)
.finds(Finds::EveryBlock)
.contiguous(true);

/// Variant of best fit that examines only the neighbours of the base (lowest corner) of a block.
///
/// A neighbour of the base is blocked if the requested block could not begin there. This is the
/// case if the block would overlap held nodes. If walls count, it is also the case if the block
/// would cross an edge of the mesh.
#[derive(Clone)]
struct BestBaseNode {
    rotation: Rotation,
    count_walls: bool,
    bases: FreeBases,
}

impl Allocator for BestBaseNode {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: Request::Block(sides), site, .. } = ask else { return None };
        let grid = site.grid();
        let mut best: Option<(u32, Node, Dims)> = None;
        for sides in orientations(sides, self.rotation) {
            let bases = self.bases.all(grid, site.free(), &sides);
            for base in bases.iter() {
                let blocked = blocked_neighbours(grid, bases, base, &sides, self.count_walls);
                if best.as_ref().is_none_or(|(most, ..)| blocked > *most) {
                    best = Some((blocked, base, sides.clone()));
                }
            }
            if best.is_some() && self.rotation == Rotation::IfNeeded {
                break;
            }
        }
        best.map(|(_, base, sides)| Block { base, sides }.into())
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

/// Number of neighbours of the node `base` that cannot be bases of the requested block.
///
/// Neighbours beyond the edge of the mesh count only if walls are counted.
fn blocked_neighbours(
    grid: &Grid,
    bases: &NodeSet,
    base: Node,
    sides: &[u32],
    count_walls: bool,
) -> u32 {
    let mut blocked = 0;
    for (d, length) in sides.iter().enumerate() {
        let (at, side, stride) = (grid.coordinate(base, d), grid.sides()[d], grid.strides()[d]);
        let wraps = grid.is_ring(d);
        let below = match at {
            0 => wraps.then(|| base + (side - 1) * stride),
            _ => Some(base - stride),
        };
        let above = match at + if wraps { 1 } else { *length } {
            end if end == side => wraps.then(|| base + stride - side * stride),
            _ => Some(base + stride),
        };
        for neighbour in [below, above] {
            blocked += u32::from(neighbour.map_or(count_walls, |node| !bases.contains(node)));
        }
    }
    blocked
}
