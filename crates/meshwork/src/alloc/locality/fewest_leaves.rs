//! Allocation on as few leaf switches as possible.

use super::shares::Parts;
use crate::alloc::parts::Domain;
use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::machine::Placement;
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
    |_, topology| Ok(Box::new(FewestLeaves(Parts::of(topology)))),
)
.serves(&[Wiring::FatTree, Wiring::Dragonfly, Wiring::Multiprocessor]);

#[derive(Clone)]
struct FewestLeaves(Parts);

impl Allocator for FewestLeaves {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let wanted = site.count_if_free(request)?;
        Some(self.0.on_few_leaves(site, wanted))
    }

    fn goes_by_free_nodes(&self) -> bool {
        true
    }

    fn domain(&self) -> Option<Domain> {
        Some(Domain::Leaves)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
