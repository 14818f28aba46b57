//! Modified buddy system: joins a free block of half the requested size with one of its partners.
//!
//! A partner of a block is a block of equal size that forms a subcube together with it.

use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::{Asks, Finds};
use crate::geometry::cube::{Subcube, keep_bases, neighbours};
use crate::job::Request;
use crate::machine::Placement;
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `modified_buddy`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "modified_buddy",
        "aligned half-blocks, each with the first of its partners that is free too",
    )
    .definition(
        "Blocks of 2ᵏ⁻¹ nodes are numbered; the p-th partner of one has the number \
             with bit p complemented, 1 ≤ p ≤ n − k + 1. The lowest free block that \
             has a free partner is taken, with the first of those. It recognises (n − \
             k + 1) 2ⁿ⁻ᵏ subcubes of dimension k; a single node is the lowest free one.",
    )
    .complexity("O(n · 2ⁿ / 64); nothing is kept but which nodes are free.")
    .source(
        "Al-Dhelaan & Bose, A new strategy for processor allocation in an n-cube \
             multiprocessor, 1989",
    ),
    |_, topology| {
        let dimension = topology.grid().dimensions() as u32;
        Ok(Box::new(ModifiedBuddy { dimension, halves: Vec::new(), partners: Vec::new() }))
    },
)
.serves(&[Wiring::Hypercube])
.asks(Asks::Subcube)
.finds(Finds::SomeBlocks)
.contiguous(true);

#[derive(Clone)]
struct ModifiedBuddy {
    dimension: u32,
    halves: Vec<u64>,
    partners: Vec<u64>,
}

impl Allocator for ModifiedBuddy {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: &Request::Subcube(k), site, .. } = ask else { return None };
        let whole = self.dimension;
        let Some(half) = k.checked_sub(1) else {
            let base = site.free().first()?;
            return Some(Subcube { base, mask: 0 }.block(whole).into());
        };
        if k > whole {
            return None;
        }
        let mask = (1 << half) - 1;
        self.halves.clear();
        self.halves.extend_from_slice(site.free().words());
        keep_bases(&mut self.halves, mask);
        // A block is the bit of its base, and its partners are neighbours from dimension `half` on.
        self.partners.clear();
        self.partners.resize(self.halves.len(), 0);
        neighbours(&self.halves, half..whole, &mut self.partners);
        let (word, both) = self
            .halves
            .iter()
            .zip(&self.partners)
            .map(|(half, partner)| half & partner)
            .enumerate()
            .find(|(_, both)| *both != 0)?;
        let base = word as u32 * 64 + both.trailing_zeros();
        let is_free = |node: u32| self.halves[node as usize / 64] >> (node % 64) & 1 == 1;
        let changes = (half..whole).map(|d| 1 << d).find(|changes| is_free(base ^ changes))?;
        let cube = Subcube { base: base & !changes, mask: mask | changes };
        Some(cube.block(whole).into())
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
