//! Paging: the machine is divided into pages, which are allocated whole in a fixed order.

use std::sync::Arc;

use crate::alloc::{Allocator, AllocatorEntry, Ask, Claim};
use crate::form::Finds;
use crate::geometry::order::{Order, OrderedSet};
use crate::geometry::ranked::in_order;
use crate::job::Dims;
use crate::machine::{Block, Placement, Site};
use crate::registry::{About, Kind, Param, Params, Problem, Words, with_article};
use crate::topology::{Grid, Node, Topology, Wiring};

/// Registry entry of the allocator `paging`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "paging",
        "the first free pages of a fixed order; a page of one processor wastes nothing",
    )
    .definition(
        "The machine is cut into pages, which are handed out whole. The first free pages of the \
         order are taken until they hold as many nodes as the job asks for. With pages of one node \
         a job fits whenever enough nodes are free and holds exactly as many; with larger ones it \
         lies in fewer pieces, may hold more than it asked for, and may have to wait though enough \
         nodes are free. Pages at the far edges of a mesh that they do not divide are smaller.",
    )
    .complexity(
        "O(p / 64 + t) for t pages taken of p, and O(d) for each node that is \
             claimed or released in d dimensions.",
    )
    .source(
        "Lo, Windisch, Liu & Nitzberg, Noncontiguous processor allocation algorithms for \
         mesh-connected multicomputers, TPDS 8(7), 1997; Al-Kerboly, for k-ary n-cubes",
    )
    .params(&[
        Param::new("page", Kind::Integer(0, 24)).is("0").help(
            "the size of a page, as an exponent: a square with 2 to this power for a side, or \
                 a subcube of this dimension; a page of 0 is one processor",
        ),
        Param::new("pages", PAGES.kind())
            .absent("squares on a mesh, subcubes on a torus and where all sides are 2")
            .help(
                "what a page is: a block with equal sides, cut off at the edges of the machine, or \
                 all processors that differ in the first `page` coordinates",
            ),
        Param::new("order", ORDERS.kind()).is("\"row_major\"").help(
            "the order of the pages: by index, back and forth, by the interleaved bits of \
                 their coordinates, both of these, or along Hilbert's curve",
        ),
    ]),
    |params, topology| Ok(Box::new(Paging::new(params, topology)?)),
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube]);

/// Values of the parameter `pages`; `true` means that pages are subcubes.
static PAGES: Words<bool, 2> = Words::new([("squares", false), ("subcubes", true)]);

static ORDERS: Words<Order, 5> = Words::new([
    ("row_major", Order::RowMajor),
    ("snake", Order::Snake),
    ("shuffled_row_major", Order::ShuffledRowMajor),
    ("shuffled_snake", Order::ShuffledSnake),
    ("hilbert", Order::Hilbert),
]);

/// The paging strategy, in which a page is free if all of its nodes are free.
#[derive(Clone)]
struct Paging {
    pages: Arc<Pages>,
    line: OrderedSet,
    held: Vec<u32>,
}

struct Pages {
    /// Grid that has one node for each page.
    grid: Grid,
    /// Sides of a page; pages at the far edges of a mesh may be smaller.
    sides: Dims,
}

impl Paging {
    fn new(params: &Params, topology: &Topology) -> Result<Paging, Problem> {
        let sides = page_sides(params, topology)?;
        let whole = topology.grid().sides().iter();
        let counts: Dims = whole.zip(&sides).map(|(whole, page)| whole.div_ceil(*page)).collect();
        let grid = Grid::new(&counts, false).expect("there are no more pages than nodes");
        let line = OrderedSet::new(&grid, params.meaning("order", &ORDERS));
        let held = vec![0; grid.nodes() as usize];
        Ok(Paging { pages: Arc::new(Pages { grid, sides }), line, held })
    }

    fn for_each_page(&mut self, placement: &Placement, site: &Site, change: fn(&mut Paging, Node)) {
        let pages = Arc::clone(&self.pages);
        placement.for_each_run(site.grid(), |start, count| {
            for node in start..start + count {
                change(self, pages.holding(node, site.grid()));
            }
        });
    }
}

fn page_sides(params: &Params, topology: &Topology) -> Result<Dims, Problem> {
    let (grid, page) = (topology.grid(), params.integer("page") as u32);
    let are_cubes = topology.wiring() != Wiring::Mesh || grid.sides().iter().all(|&side| side == 2);
    let subcubes = params.get_meaning("pages", &PAGES).unwrap_or(are_cubes);
    let (dimensions, machine) = (grid.dimensions(), with_article(topology));
    if subcubes {
        if page as usize > dimensions {
            let says = format!(
                "a page of dimension {page} is larger than the machine, {machine}: `page` is at \
                 most {dimensions} here"
            );
            return Err(params.problem("page", says));
        }
        let side = |(d, &side)| if d < page as usize { side } else { 1 };
        return Ok(grid.sides().iter().enumerate().map(side).collect());
    }
    let shortest = grid.sides().iter().copied().min().unwrap_or(1);
    let side = 1 << page;
    if side > shortest {
        let (most, longest) = (shortest.ilog2(), 1 << shortest.ilog2());
        let says = format!(
            "a page with a side of {side} is larger than the machine, {machine}: `page` is at most \
             {most} here, a side of {longest}"
        );
        return Err(params.problem("page", says));
    }
    Ok(Dims::from_elem(side, dimensions))
}

impl Pages {
    fn holding(&self, node: Node, whole: &Grid) -> Node {
        if self.grid.nodes() == whole.nodes() {
            return node;
        }
        let place = |d| whole.coordinate(node, d) / self.sides[d] * self.grid.strides()[d];
        (0..self.sides.len()).map(place).sum()
    }

    /// Block of nodes that a page covers in `whole`, the grid of the machine.
    fn block(&self, page: Node, whole: &Grid) -> Block {
        let (mut base, mut sides) = (0, self.sides.clone());
        for (d, side) in sides.iter_mut().enumerate() {
            let corner = self.grid.coordinate(page, d) * *side;
            base += corner * whole.strides()[d];
            *side = (*side).min(whole.sides()[d] - corner);
        }
        Block { base, sides }
    }
}

impl Allocator for Paging {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let wanted = site.count_if_free(request)?;
        let mut free = self.line.free().iter().map(|place| self.line.at(place));
        if self.pages.grid.nodes() == site.nodes() {
            return Some(in_order(site.grid(), free.take(wanted as usize)));
        }
        let (mut placement, mut held) = (Placement::default(), 0);
        while held < wanted {
            let block = self.pages.block(free.next()?, site.grid());
            held += block.len();
            placement.blocks.push(block);
        }
        Some(placement)
    }

    fn finds(&self) -> Option<Finds> {
        let one_each = self.pages.sides.iter().all(|&side| side == 1);
        (!one_each).then_some(Finds::SomeBlocks)
    }

    fn claimed(&mut self, placement: &Placement, site: &Site, _claim: Claim) {
        self.for_each_page(placement, site, |paging, page| {
            paging.held[page as usize] += 1;
            paging.line.hold(page);
        });
    }

    fn released(&mut self, placement: &Placement, site: &Site) {
        self.for_each_page(placement, site, |paging, page| {
            paging.held[page as usize] -= 1;
            if paging.held[page as usize] == 0 {
                paging.line.give_back(page);
            }
        });
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
