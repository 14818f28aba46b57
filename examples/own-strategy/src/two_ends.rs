//! Allocator that gives small jobs nodes from one end of the machine, and large ones from the
//! other.

use meshwork::alloc::{Allocator, AllocatorEntry, Ask};
use meshwork::form::{Asks, Finds};
use meshwork::geometry::FreeBases;
use meshwork::job::{Dims, Request};
use meshwork::machine::{Block, Placement};
use meshwork::registry::{About, DefaultValue, Kind, Param, Range};
use meshwork::topology::Wiring;

pub(crate) static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new("two_ends", "small blocks as low as they go, large ones as high")
        .definition(
            "Of all free places of the block, the one with the lowest base is taken \
             for a job with less than `large` of the machine's processors, and the one \
             with the highest base for any other.",
        )
        .complexity(
            "That of first fit: O(d · log s · n / 64), with d dimensions, sides up to \
             s of the block and n nodes.",
        )
        .source("an example")
        .params(&[Param {
            name: "large",
            kind: Kind::Number(Range::Share),
            default: DefaultValue::Is("0.1"),
            help: "the share of the machine from which on a job is large",
        }]),
    |params, topology| {
        let grid = topology.grid();
        let large = params.number("large") * f64::from(grid.nodes());
        Ok(Box::new(TwoEnds { bases: FreeBases::new(grid), large }))
    },
)
        .serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube])
        .asks(Asks::Block)
        .finds(Finds::EveryBlock)
        .contiguous(true);

#[derive(Clone)]
struct TwoEnds {
    bases: FreeBases,
    /// Number of processors from which a job counts as large.
    large: f64,
}

impl Allocator for TwoEnds {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let Request::Block(sides) = request else { return None };
        let is_large = request.nodes() as f64 >= self.large;
        let mut places = self.bases.all(site.grid(), site.free(), sides).iter();
        let base = if is_large { places.last() } else { places.next() }?;
        Some(Block { base, sides: Dims::clone(sides) }.into())
    }

    fn goes_by_free_nodes(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
