//! Allocation in one group if it has enough free nodes, otherwise spread over all groups.

use super::shares::Local;
use crate::alloc::AllocatorEntry;
use crate::alloc::parts::Domain;
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `group_or_spread`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "group_or_spread",
        "one group if the job fits into one, else all groups evenly, so that it \
             has many links between them",
    )
    .definition(
        "If a group has room for the job, it goes to the one with the fewest free processors of \
         those, the first of equals. If none has, it is spread over all groups as evenly as their \
         free processors allow: no group that has any left has two fewer of the job than another, \
         and where that does not come out even the first have one more. In each group its share is \
         placed as `fewest_leaves` would. A job fits whenever enough processors are free.",
    )
    .complexity(
        "O(g log g + l log l + n / 64 + r) for g groups, l leaves, n processors and r of the job.",
    )
    .source(
        "Prisacari, Rodriguez, Heidelberger, Chen, Minkenberg & Hoefler, Efficient \
             task placement and routing of nearest neighbor exchanges in dragonfly \
             networks, HPDC 2014, for why a job between groups should have many links",
    ),
    |_, topology| Ok(Box::new(Local::new(topology, Domain::GroupOrSpread))),
)
.serves(&[Wiring::FatTree, Wiring::Dragonfly]);
