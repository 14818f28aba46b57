//! RFold: jobs are folded so that they touch few cubes, and lines wind through partly held cubes.

use super::cubes::{self, CUBE, Cubes};
use super::fold::{extent, folded_for_cubes};
use super::path::{self, PathSearch};
use super::pieces;
use super::set_order::Ties;
use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::{Asks, Finds};
use crate::geometry::ranked::in_order;
use crate::job::Request;
use crate::machine::{Placement, Site};
use crate::registry::{About, Kind, Param};
use crate::topology::{Grid, Wiring};

/// Registry entry of the allocator `rfold`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "rfold",
        "folding, so that a job touches few cubes, and then pieces in any cubes; \
             lines wind through cubes in use",
    )
    .definition(
        "A sheet or a block is folded, as by `folding` but for cubes of side `cube`, into the \
         shape that touches fewest cubes, if any touches no more than its own, and then placed \
         like `reconfigurable_blocks` does. A line is wound through cubes: of those in use with \
         more than one free node, and of free ones, the last first, as far as they are needed, \
         those with most free nodes give all of these, until what is missing fits into one cube. \
         There it has to be a path: from a node on two opposite faces to another, over free \
         neighbours, the cube being a small torus; the last dimension is tried first. Each search \
         is depth first and ends after `step_budget` looks for a next node. A line for which there \
         is no path, or too few nodes, is placed like `reconfigurable_blocks` does. It is not \
         asked whether a ring is left.",
    )
    .complexity(
        "As `reconfigurable_blocks`, and up to `step_budget` steps for each of three searches.",
    )
    .source(
        "Chen et al., RFold, arXiv 2510.03891, 2025, as its program does it, which \
             ends a search after ten seconds by the clock",
    )
    .params(&[
        CUBE,
        Ties::PARAM,
        Param::new("step_budget", Kind::Integer(0, 1 << 40)).is("200_000").help(
            "steps after which a search for the end of a line is given up; 8 million are about \
                 as many as RFold's program takes in its ten seconds",
        ),
    ]),
    |params, topology| {
        let grid = topology.grid();
        let side = cubes::side(params, grid)?;
        let mut rfold = Rfold::new(grid, side, Ties::read(params));
        rfold.step_budget = params.integer("step_budget");
        Ok(Box::new(rfold))
    },
)
.serves(&[Wiring::Torus])
.dimensions(Some(&[3]))
.asks(Asks::Block)
.finds(Finds::SomeBlocks);

/// The RFold strategy, on a torus of three dimensions that is divided into cubes.
#[derive(Clone)]
pub struct Rfold {
    cubes: Cubes,
    ties: Ties,
    step_budget: u64,
    neighbours: Vec<Vec<usize>>,
}

impl Rfold {
    /// Creates RFold for a machine divided into cubes with sides of `side` nodes.
    ///
    /// Path searches are not limited.
    ///
    /// # Panics
    /// If a side of the machine is not a multiple of `side`.
    #[must_use]
    pub fn new(grid: &Grid, side: u32, ties: Ties) -> Rfold {
        assert!(grid.sides().iter().all(|own| own % side == 0), "cubes fill the machine");
        Rfold {
            cubes: Cubes::new(grid, side),
            ties,
            step_budget: u64::MAX,
            neighbours: path::neighbours(side, grid.dimensions()),
        }
    }

    /// Places a job; `budget` returns the maximum number of steps for each path search.
    ///
    /// Budgets make it possible to compare results with a program that limits its searches by time.
    ///
    /// ```
    /// use meshwork::alloc::optical::rfold::Rfold;
    /// use meshwork::alloc::optical::Ties;
    /// use meshwork::machine::Site;
    /// use meshwork::topology::Topology;
    /// let site = Site::new(Topology::torus(&[8, 8, 8]).unwrap(), 1.0);
    /// let mut rfold = Rfold::new(site.grid(), 4, Ties::Listed);
    /// let mut searches = Vec::new();
    /// let placed = rfold.place([20, 1, 1], &site, &mut |search| {
    ///     searches.push(search.nodes);
    ///     u64::MAX
    /// });
    /// assert_eq!(placed.unwrap().len(), 20);
    /// assert_eq!(searches, [20]);
    /// ```
    pub fn place(
        &mut self,
        shape: [u32; 3],
        site: &Site,
        budget: &mut dyn FnMut(PathSearch) -> u64,
    ) -> Option<Placement> {
        self.cubes.look_at(site.free());
        if extent(&shape) == 1 {
            let nodes = shape.iter().product();
            if let Some(placed) = self.wound(nodes, site.grid(), budget) {
                return Some(placed);
            }
        }
        pieces::place(&self.cubes, &folded_for_cubes(shape, self.cubes.side, self.ties), self.ties)
    }

    /// Places a job on a line of nodes that winds through cubes.
    ///
    /// Free cubes are used only if partly held cubes do not suffice.
    fn wound(
        &self,
        nodes: u32,
        grid: &Grid,
        budget: &mut dyn FnMut(PathSearch) -> u64,
    ) -> Option<Placement> {
        let volume = self.cubes.volume();
        let idle = |&cube: &usize| self.cubes.idle[cube];
        let all = 0..self.cubes.len();
        let (mut used, mut empty) = (Vec::new(), Vec::new());
        for cube in all {
            match idle(&cube) {
                free if free == volume => empty.push(cube),
                free if free > 1 => used.push(cube),
                _ => {}
            }
        }
        let mut found: u32 = used.iter().map(idle).sum();
        while found < nodes {
            let next = empty.pop()?;
            found += volume;
            used.push(next);
        }
        used.sort_by_key(|cube| std::cmp::Reverse(idle(cube))); // stable
        let mut missing = nodes;
        let mut line = Vec::with_capacity(nodes as usize);
        for &cube in &used {
            if idle(&cube) < missing {
                missing -= idle(&cube);
                let free = (0..volume as usize).filter(|&place| self.cubes.is_free(cube, place));
                line.extend(free.map(|place| self.cubes.node(cube, place)));
                continue;
            }
            let end = (0..grid.dimensions()).rev().find_map(|axis| {
                let search = PathSearch { cube, nodes: missing, axis };
                path::find(&self.cubes, &self.neighbours, search, budget(search))
            })?;
            line.extend(end.into_iter().map(|place| self.cubes.node(cube, place)));
            return Some(in_order(grid, line));
        }
        None
    }
}

impl Allocator for Rfold {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: Request::Block(sides), site, .. } = ask else { return None };
        let shape = <[u32; 3]>::try_from(sides.as_slice()).ok()?;
        let budget = self.step_budget;
        self.place(shape, site, &mut |_| budget)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
