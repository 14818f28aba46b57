//! Free list: lists of disjoint free subcubes, one list for each dimension of subcubes.

use super::CubeLists;
use crate::alloc::{Allocator, AllocatorEntry, Ask, Claim, RecallError, flag};
use crate::form::{Asks, Finds};
use crate::geometry::cube::CubeSearch;
use crate::job::Request;
use crate::machine::{Placement, Site};
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `free_list`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "free_list",
        "lists of disjoint free subcubes, halved when needed and merged with any neighbour",
    )
    .definition(
        "Free nodes are listed as disjoint subcubes, one list for each dimension. A request takes \
         the first cube of its list, or of the nearest list above, which is halved along its \
         highest free dimension until the size is right. A cube that is given back is merged with \
         any listed cube that has the same free dimensions and lies next to it. When no list can \
         serve a request, every subcube is looked at, and if one is free the lists are formed anew \
         around it; with `strict_lists` the request waits instead.",
    )
    .complexity(
        "O(n log c) for c cubes in the lists; that of a search of all subcubes \
             when the lists are formed anew.",
    )
    .source(
        "Kim, Das & Lin, A top-down processor allocation scheme for hypercube \
             computers, IEEE TPDS 2(1), 1991",
    )
    .params(&[flag(
        "strict_lists",
        "whether a request that no listed cube can serve waits; otherwise every \
             subcube is looked at, and the lists are formed anew if one is free",
    )]),
    |params, topology| {
        let dimension = topology.grid().dimensions() as u32;
        Ok(Box::new(FreeList {
            strict: params.flag("strict_lists"),
            lists: CubeLists::new(dimension, |_, among, _| among.ilog2()),
            search: CubeSearch::new(dimension),
        }))
    },
)
.serves(&[Wiring::Hypercube])
.asks(Asks::Subcube)
.finds(Finds::EveryBlock)
.contiguous(true);

/// Free list strategy, with one list of free subcubes for each dimension.
///
/// If no list can serve a request, all subcubes are searched in the order of `tree_collapsing`. If
/// a free subcube is found, the lists are rebuilt around it.
#[derive(Clone)]
struct FreeList {
    strict: bool,
    lists: CubeLists,
    search: CubeSearch,
}

impl Allocator for FreeList {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: &Request::Subcube(k), site, .. } = ask else { return None };
        let listed = self.lists.smallest_from(k).and_then(|j| self.lists.of_dimension(j).next());
        let cube = match listed {
            Some(cube) => cube.first_of_dimension(k),
            None if self.strict => return None,
            None => self.search.first(site.free(), k)?,
        };
        Some(cube.block(self.search.dimension()).into())
    }

    fn finds(&self) -> Option<Finds> {
        // A free subcube that extends over several listed ones is missed.
        self.strict.then_some(Finds::SomeBlocks)
    }

    fn claimed(&mut self, placement: &Placement, site: &Site, _claim: Claim) {
        self.lists.claimed(placement, site, &mut self.search);
    }

    fn released(&mut self, placement: &Placement, site: &Site) {
        self.lists.released(placement, site);
    }

    fn memory(&self) -> Vec<u64> {
        self.lists.memory()
    }

    fn recall(&mut self, memory: &[u64], site: &Site) -> Result<(), RecallError> {
        self.lists.recall(memory, site)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
