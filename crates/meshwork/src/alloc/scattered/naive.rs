//! Naive allocation: the free nodes with the lowest numbers, whether adjacent or not.

use super::LO;
use crate::alloc::parts::Domain;
use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::job::Dims;
use crate::machine::{Block, Placement};
use crate::registry::About;

/// Registry entry of the allocator `naive`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new("naive", "the first free processors in row-major order, in one piece or not")
        .aliases(&["any"])
        .definition(
            "The free nodes of lowest index are taken, in row-major order, as many as the job asks \
             for, in one piece or not. A job fits whenever enough nodes are free. On a flat \
             machine, where any processors will do, it is all that is needed.",
        )
        .complexity("O(n / 64 + b) for n nodes and b pieces handed out.")
        .source(LO),
    |_, _| Ok(Box::new(Naive)),
);

#[derive(Clone)]
struct Naive;

impl Allocator for Naive {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let mut wanted = site.count_if_free(request)?;
        let (grid, free) = (site.grid(), site.free());
        let width = grid.sides()[0];
        let mut placement = Placement::default();
        let mut from = 0;
        while wanted > 0 {
            let base = free.first_from(from)?;
            // A block is a part of one row.
            let run = free.run_length(base).min(width - grid.coordinate(base, 0)).min(wanted);
            let mut sides = Dims::from_elem(1, grid.dimensions());
            sides[0] = run;
            placement.blocks.push(Block { base, sides });
            wanted -= run;
            from = base + run;
        }
        Some(placement)
    }

    fn domain(&self) -> Option<Domain> {
        Some(Domain::Machine)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
