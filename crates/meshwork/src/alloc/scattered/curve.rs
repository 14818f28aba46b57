//! Allocation of nodes that are consecutive on a curve through the machine.

use crate::alloc::{Allocator, AllocatorEntry, Ask, Claim};
use crate::geometry::NodeSet;
use crate::geometry::order::{Order, OrderedSet};
use crate::geometry::ranked::in_order;
use crate::machine::{Placement, Site};
use crate::registry::{About, Param, Words};
use crate::topology::Wiring;

/// Registry entry of the allocator `curve`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new("curve", "free processors next to one another along a curve through the machine")
        .definition(
            "All processors stand in a line, in the order in which a curve meets them. `first_fit` \
             takes the beginning of the first free run of the line that is long enough for the \
             job, `best_fit` that of the shortest such run, the first of equal ones. Where no run \
             is long enough, both take as many free processors in succession as the job asks for, \
             those between whose ends the line is shortest, the first of equal ones. `free_list` \
             takes the first free ones of the line. So a job fits whenever enough processors are \
             free, and its ranks follow the curve.",
        )
        .complexity(
            "O(n / 64 + i + r) for n nodes, i free runs and r nodes handed out; O(n / \
             64 + F) for F free nodes where no run is long enough.",
        )
        .source(
            "Leung, Arkin, Bender, Bunde, Johnston, Lal, Mitchell, Phillips & Seiden, \
             Processor allocation on Cplant: achieving general processor locality \
             using one-dimensional allocation strategies, IEEE Cluster 2002",
        )
        .params(&[
            Param::new("curve", CURVES.kind()).is("\"hilbert\"").help(
                "the order of the line: Hilbert's curve on the least cube around the machine, \
                     back and forth, or row by row",
            ),
            Param::new("fit", FITS.kind()).is("\"best_fit\"").help(
                "which part of the line is taken: of the shortest free run that is long \
                     enough, of the first one, or simply what is free first",
            ),
        ]),
    |params, topology| {
        let line = OrderedSet::new(topology.grid(), params.meaning("curve", &CURVES));
        Ok(Box::new(Curve { line, fit: params.meaning("fit", &FITS) }))
    },
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube]);

static CURVES: Words<Order, 3> = Words::new([
    ("hilbert", Order::Hilbert),
    ("snake", Order::Snake),
    ("row_major", Order::RowMajor),
]);

static FITS: Words<Fit, 3> =
    Words::new([("best_fit", Fit::Best), ("first_fit", Fit::First), ("free_list", Fit::FreeList)]);

#[derive(Clone)]
struct Curve {
    line: OrderedSet,
    fit: Fit,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    First,
    Best,
    FreeList,
}

impl Fit {
    /// Position on the curve at which the `count` free nodes for a request begin.
    fn start(self, free: &NodeSet, count: u32) -> Option<u32> {
        if self == Fit::FreeList {
            return free.first();
        }
        let mut best: Option<(u32, u32)> = None;
        let mut from = 0;
        while let Some(start) = free.first_from(from) {
            let length = free.run_length(start);
            if length >= count && best.is_none_or(|(least, _)| length < least) {
                best = Some((length, start));
                if self == Fit::First || length == count {
                    break;
                }
            }
            from = start + length;
        }
        best.map(|(_, start)| start).or_else(|| tightest(free, count))
    }
}

/// Position on the curve at which the shortest stretch with `count` free nodes begins.
fn tightest(free: &NodeSet, count: u32) -> Option<u32> {
    let ends = free.iter().skip(count as usize - 1);
    free.iter().zip(ends).min_by_key(|(start, end)| end - start).map(|(start, _)| start)
}

impl Allocator for Curve {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let count = site.count_if_free(request)?;
        let free = self.line.free();
        let start = self.fit.start(free, count)?;
        let places = std::iter::successors(Some(start), |place| free.first_from(place + 1));
        let nodes = places.map(|place| self.line.at(place));
        Some(in_order(site.grid(), nodes.take(count as usize)))
    }

    fn claimed(&mut self, placement: &Placement, site: &Site, _claim: Claim) {
        placement.for_each_run(site.grid(), |start, count| {
            (start..start + count).for_each(|node| self.line.hold(node));
        });
    }

    fn released(&mut self, placement: &Placement, site: &Site) {
        placement.for_each_run(site.grid(), |start, count| {
            (start..start + count).for_each(|node| self.line.give_back(node));
        });
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
