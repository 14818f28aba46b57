//! Two-dimensional buddy: squares with power-of-two sides, at multiples of their sides.

use crate::alloc::{Allocator, AllocatorEntry, Ask, Claim};
use crate::form::{Asks, Finds};
use crate::geometry::cells::FreeCells;
use crate::job::{Dims, Request};
use crate::machine::{Block, Placement, Site};
use crate::registry::{About, Param, Words};
use crate::topology::Wiring;

/// Registry entry of the allocator `buddy_2d`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new("buddy_2d", "a free square whose side is a power of two, on multiples of that side")
        .aliases(&["tdb"])
        .definition(
            "A request is rounded up to a square whose side is a power of two, s. Only squares \
             whose base has multiples of s for coordinates are tried, in row-major order, and the \
             first free one is taken; in the form of lists, larger squares are quartered and four \
             free quarters are one square again. A job holds its whole square.",
        )
        .complexity(
            "As a bitmap O(n / s) for squares of side s on n nodes; with lists O(log \
             n) quarterings for a request.",
        )
        .source(
            "Li & Cheng, A two-dimensional buddy system for dynamic resource \
             allocation in a partitionable mesh connected system, JPDC 12(1), 1991",
        )
        .params(&[Param::new("form", FORMS.kind()).is("\"bitmap\"").help(
            "the first free square in row-major order, or the first of the smallest that lists \
                 of free squares hold",
        )]),
    |params, topology| {
        Ok(match params.meaning("form", &FORMS) {
            Form::Bitmap => Box::new(Bitmap),
            Form::Lists => Box::new(Lists { squares: FreeCells::new(topology.grid()) }),
        })
    },
)
.serves(&[Wiring::Mesh])
.dimensions(Some(&[2]))
.asks(Asks::Square)
.finds(Finds::SomeBlocks)
.contiguous(true);

#[derive(Clone, Copy)]
enum Form {
    Bitmap,
    Lists,
}

static FORMS: Words<Form, 2> = Words::new([("bitmap", Form::Bitmap), ("lists", Form::Lists)]);

#[derive(Clone)]
struct Bitmap;

impl Allocator for Bitmap {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: Request::Block(sides), site, .. } = ask else { return None };
        let (grid, side) = (site.grid(), sides[0]);
        let (width, height) = (grid.sides()[0], grid.sides()[1]);
        let along = |length: u32| (0..length / side).map(move |i| i * side);
        let is_free = |x, y| (y..y + side).all(|y| site.free().contains_range(y * width + x, side));
        let (x, y) = along(height)
            .flat_map(|y| along(width).map(move |x| (x, y)))
            .find(|&(x, y)| is_free(x, y))?;
        Some(Block { base: grid.node(&[x, y]), sides: Dims::clone(sides) }.into())
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

/// Two-dimensional buddy with lists of free squares.
///
/// The first of the smallest sufficient squares is quartered until a quarter has the requested
/// side. The quarter at the base of the square is kept. These lists yield a square whenever a
/// bitmap does, but possibly another square.
#[derive(Clone)]
struct Lists {
    squares: FreeCells,
}

impl Allocator for Lists {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: Request::Block(sides), .. } = ask else { return None };
        let level = sides[0].trailing_zeros() as usize;
        let base = self.squares.smallest_from(level)?;
        Some(Block { base, sides: Dims::clone(sides) }.into())
    }

    fn claimed(&mut self, placement: &Placement, _site: &Site, _claim: Claim) {
        for block in &placement.blocks {
            self.squares.take_block(block.base, &block.sides);
        }
    }

    fn released(&mut self, placement: &Placement, _site: &Site) {
        for block in &placement.blocks {
            self.squares.give_block(block.base, &block.sides);
        }
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
