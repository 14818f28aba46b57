//! Random allocation: every set of free nodes of the requested size is equally likely.

use super::LO;
use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::geometry::ranked::in_order;
use crate::geometry::ranks::Ranks;
use crate::machine::Placement;
use crate::registry::About;

/// Registry entry of the allocator `random`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new("random", "free processors, all sets of them equally likely")
        .definition(
            "The nodes are drawn one by one from those that are free, each with equal \
             chance: the first steps of a shuffle of their ascending list, with random \
             numbers of the site's own. A job fits whenever enough nodes are free, and \
             its ranks lie in the order in which their nodes are drawn.",
        )
        .complexity("O(n / 64 + r log n) for r nodes of n, and r random numbers.")
        .source(LO),
    |_, _| Ok(Box::new(Random::default())),
);

#[derive(Default)]
struct Random {
    /// Positions in the list of free nodes, which a draw permutes.
    ///
    /// Between two requests, they are in ascending order.
    places: Vec<u32>,
    /// Indices in `places` that a draw swapped with the first indices, stored to undo the swaps.
    changed: Vec<usize>,
    ranks: Ranks,
}

impl Allocator for Random {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, rng, .. } = ask;
        let wanted = site.count_if_free(request)? as usize;
        let free = site.free_nodes();
        self.ranks.count(site.free());
        self.places.extend(self.places.len() as u32..free);
        self.changed.clear();
        for drawn in 0..wanted {
            let pick = drawn + rng.below(u64::from(free) - drawn as u64) as usize;
            self.places.swap(drawn, pick);
            self.changed.push(pick);
        }
        let nodes = self.places[..wanted].iter().map(|&place| self.ranks.node(site.free(), place));
        let placement = in_order(site.grid(), nodes);
        for (drawn, &pick) in self.changed.iter().enumerate().rev() {
            self.places.swap(drawn, pick);
        }
        Some(placement)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(Random::default())
    }
}
