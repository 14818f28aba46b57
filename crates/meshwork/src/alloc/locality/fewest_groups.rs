//! Allocation in as few groups as possible, and within each group on as few leaves as possible.

use super::shares::Local;
use crate::alloc::AllocatorEntry;
use crate::alloc::parts::Domain;
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `fewest_groups`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "fewest_groups",
        "free processors in as few groups as can be, and there behind as few leaf switches",
    )
    .definition(
        "A group is one of a dragonfly, or a subtree below the top of a fat tree. If a group has \
         room for the job, it goes to the one with the fewest free processors of those. If none \
         has, the group with the most free processors is filled, and the rest of the job is placed \
         in the same way; of equals the first. In each group its share is placed as \
         `fewest_leaves` would. A job fits whenever enough processors are free.",
    )
    .complexity(
        "O(g log g + l log l + n / 64 + r) for g groups, l leaves, n processors and r of the job.",
    )
    .source("the rule of `fewest_leaves`, over groups first"),
    |_, topology| Ok(Box::new(Local::new(topology, Domain::Groups))),
)
.serves(&[Wiring::FatTree, Wiring::Dragonfly]);
