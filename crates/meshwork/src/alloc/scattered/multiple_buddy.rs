//! Multiple buddy: a job gets blocks of several sizes, which add up to its number of nodes.

use super::LO;
use crate::alloc::{Allocator, AllocatorEntry, Ask, Claim};
use crate::geometry::cells::FreeCells;
use crate::job::Dims;
use crate::machine::{Block, Placement, Site};
use crate::registry::About;
use crate::topology::{Grid, Node, Wiring};

/// Registry entry of the allocator `multiple_buddy`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "multiple_buddy",
        "squares whose sides are powers of two, for the base-4 digits of the count",
    )
    .aliases(&["mbs"])
    .definition(
        "Free processors are listed as squares whose sides are powers of two, on multiples of \
         their sides. The count is written in base 4: digit i says how many squares of side 2^i \
         are wanted. From the largest on, each is the first free one of its size, or else is split \
         off the first of the next larger size that has any; where no larger one is free either, \
         it is replaced by four of half the side. Four squares that are given back become one \
         again. So a job fits whenever enough processors are free. In d dimensions there are cubes \
         instead of squares and 2^d instead of 4; on a hypercube the addresses are split in \
         halves.",
    )
    .complexity(
        "O(b · l · 2ᵈ · log c) for b blocks handed out or given back, l sizes, d \
             dimensions and c free blocks of a size.",
    )
    .source(LO),
    |_, topology| Ok(Box::new(MultipleBuddy::new(topology.grid()))),
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube]);

/// The multiple buddy strategy, whose blocks (cells) have sides of the same power of two.
///
/// On a hypercube such blocks would be single nodes or the whole machine. A grid whose sides are
/// all 2 is therefore treated as a line of addresses. Repeated halving of the line gives subcubes.
#[derive(Clone)]
struct MultipleBuddy {
    cells: FreeCells,
    dimensions: usize,
    /// Base-2 logarithm of the side of the largest possible cell.
    highest: usize,
    is_line: bool,
}

impl MultipleBuddy {
    fn new(grid: &Grid) -> MultipleBuddy {
        let is_line = grid.sides().iter().all(|&side| side == 2);
        let sides = if is_line { Dims::from_elem(grid.nodes(), 1) } else { grid.sides().into() };
        let shape = Grid::new(&sides, false).expect("it has the nodes of a grid");
        let shortest = sides.iter().min().copied().unwrap_or(1);
        MultipleBuddy {
            cells: FreeCells::new(&shape),
            dimensions: sides.len(),
            highest: shortest.ilog2() as usize,
            is_line,
        }
    }

    fn block(&self, level: usize, base: Node, grid: &Grid) -> Block {
        let side = |d| if d < level { 2 } else { 1 };
        let sides = if self.is_line {
            (0..grid.dimensions()).map(side).collect()
        } else {
            Dims::from_elem(1 << level, grid.dimensions())
        };
        Block { base, sides }
    }

    /// Divides a placement into blocks that do not wrap around a ring, and calls `change` for each.
    fn for_each_block(
        &mut self,
        placement: &Placement,
        grid: &Grid,
        change: fn(&mut FreeCells, Node, &[u32]),
    ) {
        let ones = Dims::from_elem(1, self.dimensions);
        for block in &placement.blocks {
            let corner = grid.coordinates(block.base);
            let mut ends = corner.iter().zip(&block.sides).zip(grid.sides());
            if self.is_line {
                block.for_each_run(grid, |start, count| change(&mut self.cells, start, &[count]));
            } else if ends.all(|((at, side), most)| at + side <= *most) {
                change(&mut self.cells, block.base, &block.sides);
            } else {
                block.for_each_run(grid, |start, count| {
                    (start..start + count).for_each(|node| change(&mut self.cells, node, &ones));
                });
            }
        }
    }
}

impl Allocator for MultipleBuddy {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let mut rest = site.count_if_free(request)?;
        let mut taken: Vec<(usize, Node)> = Vec::new();
        let mut wanted = 0;
        for level in (0..=self.highest).rev() {
            let bits = self.dimensions * level;
            wanted += rest >> bits;
            rest &= (1 << bits) - 1;
            while wanted > 0 {
                let Some(corner) = self.cells.smallest_from(level) else { break };
                self.cells.take(level, corner);
                taken.push((level, corner));
                wanted -= 1;
            }
            if level > 0 {
                wanted <<= self.dimensions;
            }
        }
        let grid = site.grid();
        let blocks = taken.iter().map(|&(level, corner)| self.block(level, corner, grid));
        let placement = Placement { blocks: blocks.collect(), parts: None };
        // The lists depend only on the free nodes, so this restores them.
        taken.iter().for_each(|&(level, corner)| self.cells.give(level, corner));
        Some(placement)
    }

    fn claimed(&mut self, placement: &Placement, site: &Site, _claim: Claim) {
        self.for_each_block(placement, site.grid(), FreeCells::take_block);
    }

    fn released(&mut self, placement: &Placement, site: &Site) {
        self.for_each_block(placement, site.grid(), FreeCells::give_block);
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
