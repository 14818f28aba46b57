//! Free nodes at random.

use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::{Asks, Finds};
use crate::geometry::ranked::in_order;
use crate::machine::Placement;
use crate::registry::About;
use crate::topology::{Node, Wiring};

/// The entry of `random`.
pub static ENTRY: AllocatorEntry = AllocatorEntry {
    about: About {
        name: "random",
        aliases: &[],
        summary: "free processors, all sets of them equally likely",
        definition: "The nodes are drawn one by one from those that are free, each with equal \
                     chance: the first steps of a shuffle of their ascending list, with random \
                     numbers of the site's own. A job fits whenever enough nodes are free, and \
                     its ranks lie in the order in which their nodes are drawn.",
        complexity: "O(n / 64 + F) for F free nodes of n, and r random numbers for r nodes.",
        source: "Lo, Windisch, Liu & Nitzberg, Noncontiguous processor allocation algorithms for \
                 mesh-connected multicomputers, TPDS 8(7), 1997",
        params: &[],
    },
    serves: &Wiring::ALL,
    dimensions: None,
    asks: Asks::Nodes,
    finds: Finds::AnyNodes,
    contiguous: false,
    build: |_, _| Ok(Box::new(Random { left: Vec::new() })),
};

/// Random allocation: the first steps of a Fisher–Yates shuffle of the free nodes. Ranks lie in the
/// order in which their nodes are drawn.
#[derive(Clone)]
struct Random {
    /// Room for the nodes that are still to be drawn from.
    left: Vec<Node>,
}

impl Allocator for Random {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, rng, .. } = ask;
        let wanted = site.count_with_room(request)?;
        self.left.clear();
        self.left.extend(site.free().iter());
        let left = &mut self.left;
        for drawn in 0..wanted as usize {
            let pick = drawn + rng.below((left.len() - drawn) as u64) as usize;
            left.swap(drawn, pick);
        }
        Some(in_order(site.grid(), left.iter().take(wanted as usize).copied()))
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(Random { left: Vec::new() })
    }
}
