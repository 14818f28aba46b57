//! Tree collapsing: tries subcubes in ascending order of mask, then of base.
//!
//! A mask has the dimensions along which a subcube extends, as bits.

use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::{Asks, Finds};
use crate::geometry::cube::CubeSearch;
use crate::job::Request;
use crate::machine::Placement;
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `tree_collapsing`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "tree_collapsing",
        "the first free subcube in order of its free dimensions and then of its base",
    )
    .definition(
        "Of all free subcubes of dimension k, the one is taken whose set of dimensions is the \
         lowest number when written as a mask, and of those the one with the lowest base. The \
         first mask is that of the buddy system. No free subcube is missed.",
    )
    .complexity(
        "One search over all masks together, at the worst O(2ⁿ / 64) words for \
             each of the C(n, k) masks; nothing is kept but which nodes are free.",
    )
    .source(
        "Chuang & Tzeng, A fast recognition-complete processor allocation strategy \
             for hypercube computers, IEEE TC 41(4), 1992",
    ),
    |_, topology| {
        let search = CubeSearch::new(topology.grid().dimensions() as u32);
        Ok(Box::new(TreeCollapsing { search }))
    },
)
.serves(&[Wiring::Hypercube])
.asks(Asks::Subcube)
.finds(Finds::EveryBlock)
.contiguous(true);

#[derive(Clone)]
struct TreeCollapsing {
    search: CubeSearch,
}

impl Allocator for TreeCollapsing {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: &Request::Subcube(k), site, .. } = ask else { return None };
        let cube = self.search.first(site.free(), k)?;
        Some(cube.block(self.search.dimension()).into())
    }

    fn goes_by_free_nodes(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
