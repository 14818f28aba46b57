//! Multiple partner: a job gets subcubes of several sizes, which add up to its number of nodes.

use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::geometry::NodeSet;
use crate::geometry::ranked::in_order;
use crate::job::Dims;
use crate::machine::{Block, Placement};
use crate::registry::About;
use crate::topology::{Grid, Node, Wiring};

/// Registry entry of the allocator `multiple_partner`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "multiple_partner",
        "k-ary subcubes for the base-k digits of the count, each split where none is free",
    )
    .aliases(&["mpp", "mp"])
    .definition(
        "The count is written in base k, the side of the machine: digit m says how many subcubes \
         of k^m nodes are wanted. From the largest on, each is put together from an aligned block \
         of k^(m-1) nodes and its partners, which differ from it in one digit: the lowest block \
         that is free with all partners along some dimension, the lowest such dimension first. A \
         subcube that is not to be had is replaced by k of the next lower dimension; those of \
         dimension 0 are the first free nodes. So a job fits whenever enough nodes are free. Where \
         sides differ, digits count in products of the first sides, and partners lie along \
         dimensions of equal length.",
    )
    .complexity("O(n · d) for n nodes in d dimensions.")
    .source(
        "Windisch, Lo & Bose, Contiguous and non-contiguous processor allocation \
             algorithms for k-ary n-cubes, ICPP 1995; Al-Kerboly",
    ),
    |_, topology| Ok(Box::new(MultiplePartner { free: NodeSet::empty(topology.grid().nodes()) })),
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube]);

/// The multiple partner strategy, on a grid of any number of dimensions.
///
/// Consider a block that extends along the first *m* − 1 dimensions of the grid. Its partners are
/// the blocks at all other coordinates along one further dimension. This dimension must have the
/// same side as dimension *m* − 1 of the grid, counted from 0.
#[derive(Clone)]
struct MultiplePartner {
    free: NodeSet,
}

impl Allocator for MultiplePartner {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let count = site.count_if_free(request)?;
        let grid = site.grid();
        self.free.copy_from(site.free());
        let mut placement = Placement::default();
        let (mut rest, mut wanted) = (count, 0);
        for m in (1..=grid.dimensions()).rev() {
            let nodes = block_nodes(grid, m);
            wanted += rest / nodes;
            rest %= nodes;
            wanted -= self.take(grid, m, wanted, &mut placement);
            wanted *= grid.sides()[m - 1];
        }
        let singles = in_order(grid, self.free.iter().take((wanted + rest) as usize));
        placement.blocks.extend(singles.blocks);
        Some(placement)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

fn block_nodes(grid: &Grid, m: usize) -> u32 {
    grid.sides()[..m].iter().product()
}

impl MultiplePartner {
    fn take(&mut self, grid: &Grid, m: usize, most: u32, placement: &mut Placement) -> u32 {
        let length = block_nodes(grid, m - 1);
        let mut found = 0;
        // Taking nodes frees none, so the search goes on behind the last subcube.
        let mut base = 0;
        while found < most && base < grid.nodes() {
            let partner = (m - 1..grid.dimensions()).find(|&d| self.is_free(grid, m, base, d));
            if let Some(d) = partner {
                let mut sides = Dims::from_elem(1, grid.dimensions());
                sides[..m - 1].copy_from_slice(&grid.sides()[..m - 1]);
                sides[d] = grid.sides()[d];
                let block = Block { base, sides };
                block.for_each_run(grid, |start, count| self.free.remove_range(start, count));
                placement.blocks.push(block);
                found += 1;
            }
            // Skip to the next block with at least one free node.
            let next = self.free.first_from(base + length).unwrap_or(grid.nodes());
            base = next / length * length;
        }
        found
    }

    /// Whether the block of `m - 1` dimensions at `base` and its partners along `d` are all free.
    ///
    /// The block must have the coordinate 0 along `d`.
    fn is_free(&self, grid: &Grid, m: usize, base: Node, d: usize) -> bool {
        let length = block_nodes(grid, m - 1);
        grid.sides()[d] == grid.sides()[m - 1]
            && grid.coordinate(base, d) == 0
            && (0..grid.sides()[d])
                .all(|digit| self.free.contains_range(base + digit * grid.strides()[d], length))
    }
}
