//! Allocation in as few groups as possible, and in each group on as few leaves as possible.

use super::shares::{Parts, on_few};
use crate::alloc::parts::Domain;
use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::machine::Placement;
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
    |_, topology| Ok(Box::new(FewestGroups(Parts::of(topology)))),
)
.serves(&[Wiring::FatTree, Wiring::Dragonfly]);

#[derive(Clone)]
struct FewestGroups(Parts);

impl Allocator for FewestGroups {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let wanted = site.count_if_free(request)?;
        let shares = on_few(self.0.groups(site.free()), wanted);
        Some(self.0.in_groups(site, shares))
    }

    fn goes_by_free_nodes(&self) -> bool {
        true
    }

    fn domain(&self) -> Option<Domain> {
        Some(Domain::Groups)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
