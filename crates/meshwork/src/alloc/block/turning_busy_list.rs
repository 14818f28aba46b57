//! Turning busy list: the busy list strategy, in which blocks may also be rotated.

use super::busy_list::first_on_planes;
use super::held::FirstBase;
use crate::alloc::AllocatorEntry;
use crate::form::{Asks, Finds};
use crate::geometry::orientation::Rotation;
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `turning_busy_list`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "turning_busy_list",
        "the first base on the planes to the right of held blocks, turned if need be",
    )
    .aliases(&["tbl"])
    .definition(
        "The busy list strategy, which tries the block as it was asked for and \
             then, if it does not fit, in its other orientations.",
    )
    .complexity("That of the busy list, for each orientation.")
    .source("Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, PGNET 2006"),
    |_, _| Ok(FirstBase::boxed(Rotation::IfNeeded, first_on_planes)),
)
.serves(&[Wiring::Mesh])
.asks(Asks::Block)
.finds(Finds::EveryBlock)
.contiguous(true);
