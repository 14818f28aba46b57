//! Allocation in one group if it has enough free nodes, otherwise spread over all groups.

use super::shares::{Parts, evenly, on_few};
use crate::alloc::parts::Domain;
use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::machine::Placement;
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
    |_, topology| Ok(Box::new(GroupOrSpread(Parts::of(topology)))),
)
.serves(&[Wiring::FatTree, Wiring::Dragonfly]);

#[derive(Clone)]
struct GroupOrSpread(Parts);

impl Allocator for GroupOrSpread {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let wanted = site.count_if_free(request)?;
        let groups = self.0.groups(site.free());
        let fits_in_one = groups.iter().any(|&(_, free)| free >= wanted);
        let shares = if fits_in_one { on_few(groups, wanted) } else { evenly(&groups, wanted) };
        Some(self.0.in_groups(site, shares))
    }

    fn goes_by_free_nodes(&self) -> bool {
        true
    }

    fn domain(&self) -> Option<Domain> {
        Some(Domain::GroupOrSpread)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
