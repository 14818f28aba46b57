//! Squares whose sides are powers of two, and which lie on multiples of their sides.

use std::collections::BTreeSet;

use super::{Allocator, AllocatorEntry, Asks, Finds};
use crate::job::{Dims, Request, Time};
use crate::machine::{Block, Placement, Site};
use crate::registry::{About, Default, Kind, Param};
use crate::rng::Stream;
use crate::topology::{Grid, Node, Wiring};

/// The entry of `buddy_2d`.
pub static ENTRY: AllocatorEntry = AllocatorEntry {
    about: About {
        name: "buddy_2d",
        aliases: &["tdb"],
        summary: "a free square whose side is a power of two, on multiples of that side",
        definition: "A request is rounded up to a square whose side is a power of two, s. Only \
                     squares whose base has multiples of s for coordinates are tried, in \
                     row-major order, and the first free one is taken; in the form of lists, \
                     larger squares are quartered and four free quarters are one square again. A \
                     job holds its whole square.",
        complexity: "As a bitmap O(n / s) for squares of side s on n nodes; with lists O(log n) \
                     quarterings for a request.",
        source: "Li & Cheng, A two-dimensional buddy system for dynamic resource allocation in a \
                 partitionable mesh connected system, JPDC 12(1), 1991",
        params: &[Param {
            name: "form",
            kind: Kind::Choice(&["bitmap", "lists"]),
            default: Default::Is("\"bitmap\""),
            help: "the first free square in row-major order, or the first of the smallest that \
                   lists of free squares hold",
        }],
    },
    serves: &[Wiring::Mesh],
    dimensions: Some(2),
    asks: Asks::Square,
    finds: Finds::SomeBlocks,
    contiguous: true,
    build: |params, topology| {
        if params.text("form") == "bitmap" {
            return Ok(Box::new(Bitmap));
        }
        Ok(Box::new(Lists::new(topology.grid())))
    },
};

/// The bitmap form of the two-dimensional buddy system, on a mesh of any sides.
///
/// It tries the squares of the side asked for whose base has multiples of that side for
/// coordinates, in row-major order, and takes the first that is free. It misses free squares that
/// lie otherwise, and a job holds its whole square.
///
/// # Complexity
/// **O(n / s)** for squares of side *s* on *n* nodes.
#[derive(Clone)]
struct Bitmap;

impl Allocator for Bitmap {
    fn choose(
        &mut self,
        request: &Request,
        site: &Site,
        _now: Time,
        _rng: &mut Stream,
    ) -> Option<Placement> {
        let Request::Block(sides) = request else { return None };
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

/// The form with lists of the two-dimensional buddy system, on a mesh of any sides.
///
/// There is a list of free squares for each power of two, in row-major order of their bases. The
/// first square of the least side that will do is taken, and split into four as often as need be;
/// the quarter with the base goes on and the other three are listed. Four quarters that are free
/// become one square again. A mesh that is no such square itself begins as the largest squares
/// that it is made of.
///
/// Both forms find a square in the same states; they may find different ones.
///
/// # Complexity
/// **O(p · log n)** to choose, claim and release a square of side 2ᵖ. Any other block is taken as the
/// squares that it is made of.
#[derive(Clone)]
struct Lists {
    /// For each power of two the bases of the free squares that are part of no larger one.
    free: Vec<BTreeSet<Node>>,
}

impl Lists {
    fn new(grid: &Grid) -> Lists {
        let levels = grid.sides().iter().map(|side| side.next_power_of_two().trailing_zeros());
        let levels = levels.max().unwrap_or(0) as usize + 1;
        let mut lists = Lists { free: vec![BTreeSet::new(); levels] };
        let whole = Block { base: 0, sides: Dims::from_slice(grid.sides()) };
        lists.for_each_square(grid, &whole, |lists, level, x, y| lists.give(grid, level, x, y));
        lists
    }

    /// Calls `visit` for the largest squares that a block is made of.
    fn for_each_square(
        &mut self,
        grid: &Grid,
        block: &Block,
        mut visit: impl FnMut(&mut Lists, usize, u32, u32),
    ) {
        let corner = grid.coordinates(block.base);
        let (left, low) = (corner[0], corner[1]);
        let (right, high) = (left + block.sides[0], low + block.sides[1]);
        let mut rest = vec![(self.free.len() - 1, 0, 0)];
        while let Some((level, x, y)) = rest.pop() {
            let side = 1 << level;
            if x + side <= left || right <= x || y + side <= low || high <= y {
                continue;
            }
            if left <= x && x + side <= right && low <= y && y + side <= high {
                visit(self, level, x, y);
                continue;
            }
            // A square of side 1 lies inside or outside.
            rest.extend(quarters(level, x, y).map(|(x, y)| (level - 1, x, y)));
        }
    }

    /// Takes a free square: out of its list, or out of a larger one, of which the rest is listed.
    fn take(&mut self, grid: &Grid, wanted: usize, x: u32, y: u32) {
        let holds = |lists: &Lists, level: usize| {
            let mask = (1_u32 << level) - 1;
            lists.free[level].contains(&grid.node(&[x & !mask, y & !mask]))
        };
        let whole = (wanted..self.free.len()).find(|&level| holds(self, level));
        let mut level = whole.expect("what is claimed was free");
        let at = |level: usize| (x >> level << level, y >> level << level);
        let (left, low) = at(level);
        self.free[level].remove(&grid.node(&[left, low]));
        while level > wanted {
            let (left, low) = at(level);
            level -= 1;
            for (left, low) in
                quarters(level + 1, left, low).filter(|&quarter| quarter != at(level))
            {
                self.free[level].insert(grid.node(&[left, low]));
            }
        }
    }

    /// Gives a square back, and joins it with its three buddies as long as all are free.
    fn give(&mut self, grid: &Grid, mut level: usize, mut x: u32, mut y: u32) {
        self.free[level].insert(grid.node(&[x, y]));
        while level + 1 < self.free.len() {
            let (left, low) = (x >> (level + 1) << (level + 1), y >> (level + 1) << (level + 1));
            let reach = 1 << (level + 1);
            if left + reach > grid.sides()[0] || low + reach > grid.sides()[1] {
                return;
            }
            let buddies = || quarters(level + 1, left, low).map(|(x, y)| grid.node(&[x, y]));
            if !buddies().all(|buddy| self.free[level].contains(&buddy)) {
                return;
            }
            for buddy in buddies() {
                self.free[level].remove(&buddy);
            }
            level += 1;
            (x, y) = (left, low);
            self.free[level].insert(grid.node(&[x, y]));
        }
    }
}

/// The corners of the four quarters of a square of side 2 to the power `level`, in row-major order.
fn quarters(level: usize, x: u32, y: u32) -> impl Iterator<Item = (u32, u32)> {
    let half = 1 << (level - 1);
    [(x, y), (x + half, y), (x, y + half), (x + half, y + half)].into_iter()
}

impl Allocator for Lists {
    fn choose(
        &mut self,
        request: &Request,
        _site: &Site,
        _now: Time,
        _rng: &mut Stream,
    ) -> Option<Placement> {
        let Request::Block(sides) = request else { return None };
        let level = sides[0].trailing_zeros() as usize;
        let base = self.free.get(level..)?.iter().find_map(|list| list.first())?;
        Some(Block { base: *base, sides: Dims::clone(sides) }.into())
    }

    fn claimed(&mut self, placement: &Placement, site: &Site, _now: Time) {
        let grid = site.grid();
        for block in &placement.blocks {
            self.for_each_square(grid, block, |lists, level, x, y| lists.take(grid, level, x, y));
        }
    }

    fn released(&mut self, placement: &Placement, site: &Site) {
        let grid = site.grid();
        for block in &placement.blocks {
            self.for_each_square(grid, block, |lists, level, x, y| lists.give(grid, level, x, y));
        }
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
