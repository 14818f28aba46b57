//! Gray code strategy: a job gets two adjacent blocks of a Gray code, each of half its size.

use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::{Asks, Finds};
use crate::geometry::cube::GrayCode;
use crate::job::Request;
use crate::machine::Placement;
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `gray_code`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "gray_code",
        "two neighbouring half-blocks of the nodes in the order of a Gray code",
    )
    .definition(
        "The nodes are put in the order of the binary reflected Gray code. The first two free \
         half-blocks of 2ᵏ⁻¹ nodes that are neighbours in that order are taken; the last and the \
         first are neighbours too. It recognises 2ⁿ⁻ᵏ⁺¹ subcubes of dimension k, 0 < k < n: twice \
         as many as the buddy system.",
    )
    .complexity("O(k · 2ⁿ / 64 + 2ⁿ⁻ᵏ); nothing is kept but which nodes are free.")
    .source(
        "Chen & Shin, Processor allocation in an n-cube multiprocessor using Gray \
             codes, IEEE TC 36(12), 1987",
    ),
    |_, topology| {
        let code = GrayCode::standard(topology.grid().dimensions() as u32);
        Ok(Box::new(SingleGrayCode { code, buffer: Vec::new() }))
    },
)
.serves(&[Wiring::Hypercube])
.asks(Asks::Subcube)
.finds(Finds::SomeBlocks)
.contiguous(true);

#[derive(Clone)]
struct SingleGrayCode {
    code: GrayCode,
    buffer: Vec<u64>,
}

impl Allocator for SingleGrayCode {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: &Request::Subcube(k), site, .. } = ask else { return None };
        let cube = self.code.first(site.free(), k, &mut self.buffer)?;
        Some(cube.block(self.code.order().len() as u32).into())
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
