//! Boundary search in which ties go to the block with the most held nodes around its corners.

use super::boundary_search::BoundarySearch;
use crate::alloc::AllocatorEntry;
use crate::form::{Asks, Finds};
use crate::geometry::orientation::Rotation;
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `corner_boundary_search`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "corner_boundary_search",
        "the free block with the most held neighbours, ties to the most about its corners",
    )
    .aliases(&["cvbsm"])
    .definition(
        "Boundary search with one more rule: of the places with equally many held neighbours, the \
         one with the most held nodes about its corners is taken. About a corner lie the 2ᵈ − 1 \
         nodes outside the block that touch it, across an edge or diagonally; those off the mesh \
         count as held. Ties that are left go to the lowest base.",
    )
    .complexity(
        "That of boundary search, and O(4ᵈ · d) for each place that ties, with d dimensions.",
    )
    .source("Zhu & Lin, Allocation-time-based processor allocation scheme for 2D mesh architecture")
    .params(&[Rotation::PARAM]),
    |params, topology| Ok(Box::new(BoundarySearch::new(params, topology, true, true))),
)
.serves(&[Wiring::Mesh, Wiring::Torus])
.asks(Asks::Block)
.finds(Finds::EveryBlock)
.contiguous(true);
