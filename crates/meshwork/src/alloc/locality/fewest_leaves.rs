//! Allocation on as few leaf switches as possible.

use super::shares::Local;
use crate::alloc::AllocatorEntry;
use crate::alloc::parts::Domain;
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `fewest_leaves`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "fewest_leaves",
        "free processors behind as few leaf switches as can be, the tightest where one will do",
    )
    .aliases(&["fewest_switches"])
    .definition(
        "A leaf is what one leaf switch of a fat tree, one router of a dragonfly or one node with \
         several processors holds. If a leaf has room for the job, it goes to the one with the \
         fewest free processors of those. If none has, the leaf with the most free processors is \
         filled, and the rest of the job is placed in the same way. Of equals the first. \
         Processors of a leaf are taken from the lowest number on, and ranks go by number. No \
         other choice needs fewer leaves, and a job fits whenever enough processors are free.",
    )
    .complexity("O(l log l + n / 64 + r) for l leaves, n processors and r of the job.")
    .source("the best-fit rule of Slurm's topology/tree, over leaves alone"),
    |_, topology| Ok(Box::new(Local::new(topology, Domain::Leaves))),
)
.serves(&[Wiring::FatTree, Wiring::Dragonfly, Wiring::Multiprocessor]);
