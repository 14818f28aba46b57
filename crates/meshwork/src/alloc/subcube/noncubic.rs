//! Noncubic allocation: several subcubes for a number of nodes that is not a power of two.

use std::collections::BTreeMap;

use super::CubeLists;
use crate::alloc::{Allocator, AllocatorEntry, Ask, Claim, RecallError};
use crate::form::Finds;
use crate::geometry::cube::{CubeSearch, Subcube};
use crate::job::Request;
use crate::machine::{Placement, Site};
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `noncubic`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "noncubic",
        "a subcube for each binary digit of the count, next to one another where possible",
    )
    .definition(
        "Free nodes are listed as disjoint subcubes. A count gets one subcube for each of its \
         binary digits, the largest first, so that no processor is wasted. Each is taken from the \
         shortest list with cubes that are large enough: the first one next to what is taken \
         already, or else the first. Cubes that are too large are halved along the dimension that \
         leaves the fewest different masks in the lists.",
    )
    .complexity(
        "O(c) for c cubes in a list, to find a neighbour, and O(n log c) to halve and list.",
    )
    .source(
        "Das Sharma & Pradhan, Processor allocation in hypercube multicomputers: fast and \
         efficient strategies for cubic and noncubic allocation, IEEE TPDS 6(10), 1995",
    ),
    |_, topology| {
        let dimension = topology.grid().dimensions() as u32;
        Ok(Box::new(Noncubic {
            lists: CubeLists::new(dimension, to_a_mask_that_is_listed),
            search: CubeSearch::new(dimension),
        }))
    },
)
.serves(&[Wiring::Hypercube])
.finds(Finds::SomeBlocks);

#[derive(Clone)]
struct Noncubic {
    lists: CubeLists,
    search: CubeSearch,
}

/// Selects the dimension along which a free subcube is halved, out of the dimensions in `among`.
///
/// A dimension is preferred if the halves would extend along the same dimensions as a subcube that
/// is already in the lists of free subcubes. Ties go to the highest dimension.
fn to_a_mask_that_is_listed(cube: Subcube, among: u32, masks: &BTreeMap<u32, u32>) -> u32 {
    let dimensions = Subcube { base: 0, mask: among }.dimensions();
    let mut listed = dimensions.rev().filter(|d| masks.contains_key(&(cube.mask & !(1 << d))));
    listed.next().unwrap_or(among.ilog2())
}

/// Subcube taken out of a free subcube of the lists. The rest of the free subcube is returned to
/// the lists.
struct Carved {
    from: Subcube,
    part: Subcube,
    /// Parts of the split subcube that were put back into the lists.
    others: Vec<Subcube>,
}

impl Noncubic {
    /// Takes a subcube of dimension `k` from the lists of free subcubes.
    ///
    /// If possible, the subcube is adjacent to a subcube in `taken`.
    fn carve(&mut self, k: u32, taken: &[Carved]) -> Option<Carved> {
        let is_near = |cube: Subcube| taken.iter().any(|other| cube.is_next_to(other.part));
        let j = self.lists.smallest_from(k)?;
        let near = self.lists.of_dimension(j).find(|cube| is_near(*cube));
        let from = near.or_else(|| self.lists.of_dimension(j).next())?;
        self.lists.remove(from);
        let (mut part, mut others) = (from, Vec::new());
        while part.dimension() > k {
            let upper = |[lower, upper]: [Subcube; 2]| is_near(upper) && !is_near(lower);
            let (kept, other) = self.lists.halve(part, part.mask, upper);
            others.push(other);
            part = kept;
        }
        Some(Carved { from, part, others })
    }

    fn put_back(&mut self, carved: &Carved) {
        carved.others.iter().for_each(|other| self.lists.remove(*other));
        self.lists.insert(carved.from);
    }
}

impl Allocator for Noncubic {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: &Request::Nodes(count), site, .. } = ask else { return None };
        if count == 0 || count > site.nodes() {
            return None;
        }
        let mut taken: Vec<Carved> = Vec::new();
        let digits = Subcube { base: 0, mask: count }.dimensions();
        for k in digits.rev() {
            let Some(carved) = self.carve(k, &taken) else { break };
            taken.push(carved);
        }
        // A proposal must not change the lists; the claim carves equal subcubes again.
        taken.iter().rev().for_each(|carved| self.put_back(carved));
        let whole = self.search.dimension();
        let blocks = taken.iter().map(|carved| carved.part.block(whole)).collect();
        (taken.len() == count.count_ones() as usize).then_some(Placement { blocks, parts: None })
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
