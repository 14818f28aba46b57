//! MC1x1: takes the free nodes in the smallest square shells around a centre.

use super::nearest::MAX_NODES;
use crate::alloc::{Allocator, AllocatorEntry, Ask, up_to_nodes};
use crate::geometry::ranked::in_order;
use crate::machine::{Placement, Site};
use crate::registry::About;
use crate::topology::{Node, Wiring};

/// Registry entry of the allocator `mc1x1`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "mc1x1",
        "the nearest free processors around a free one, in square shells, that lie closest to it",
    )
    .definition(
        "Around each free processor the nearest free ones are collected, as many as the job asks \
         for, by the largest of their distances along the dimensions, and of equally near ones the \
         first in row-major order. Those with the least sum of these distances are taken; among \
         equals those around the first centre. Ranks go by distance from the centre, then \
         row-major. On a ring distances go the shorter way. A job fits whenever enough processors \
         are free.",
    )
    .complexity(
        "O(s · d · n + F log F) for F free processors of n in d dimensions, and s \
             shells to as many as the job asks for. It works up to 16,384 nodes.",
    )
    .source(
        "Bender, Bunde, Demaine, Fekete, Leung, Meijer & Phillips, Communication-aware processor \
         allocation for supercomputers, WADS 2005; after Mache, Lo & Windisch, Minimizing \
         message-passing contention in fragmentation-free processor allocation, PDCS 1997",
    ),
    |params, topology| {
        up_to_nodes(params, topology, MAX_NODES)?;
        Ok(Box::new(Shells::default()))
    },
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube]);

/// The MC1x1 strategy, which adds up distances for all centres together, radius by radius.
///
/// At each radius, the sum of a centre grows by the number of requested nodes that are not yet
/// within this radius. The free nodes within a radius are counted by window sums, along one
/// dimension after another.
#[derive(Default)]
struct Shells {
    /// For each node, the number of free nodes within the current radius.
    within: Vec<u32>,
    before: Vec<u32>,
    /// Buffer of [`slide`], with the current window sum of each line of nodes.
    window: Vec<u32>,
    /// For each centre, the sum of the distances to its nearest free nodes.
    ///
    /// Until the sum is complete, a node beyond the current radius counts as if it lay just
    /// outside.
    sums: Vec<u64>,
}

impl Shells {
    fn reach(&mut self, site: &Site, radius: u32) {
        let grid = site.grid();
        self.within.clear();
        self.within.resize(grid.nodes() as usize, 0);
        site.free().iter().for_each(|node| self.within[node as usize] = 1);
        for d in 0..grid.dimensions() {
            std::mem::swap(&mut self.within, &mut self.before);
            self.within.resize(self.before.len(), 0);
            let (side, stride) = (grid.sides()[d] as usize, grid.strides()[d] as usize);
            let lines = self.before.chunks_exact(side * stride);
            for (from, to) in lines.zip(self.within.chunks_exact_mut(side * stride)) {
                slide(from, to, &mut self.window, stride, radius as usize, grid.is_ring(d));
            }
        }
    }

    /// The first free node with the smallest sum of distances to its `count` nearest free nodes.
    fn best(&mut self, site: &Site, count: u32) -> Option<Node> {
        self.sums.clear();
        self.sums.resize(site.nodes() as usize, 0);
        for radius in 0.. {
            self.reach(site, radius);
            let mut best: Option<(u64, Node)> = None;
            let mut least_open = u64::MAX;
            for centre in site.free().iter() {
                let sum = &mut self.sums[centre as usize];
                let missing = count.saturating_sub(self.within[centre as usize]);
                *sum += u64::from(missing);
                if missing > 0 {
                    least_open = least_open.min(*sum);
                } else if best.is_none_or(|(least, _)| *sum < least) {
                    best = Some((*sum, centre));
                }
            }
            // Unfinished sums may stay equal at the next radius, so the comparison is strict.
            if best.is_some_and(|(least, _)| least < least_open) {
                return best.map(|(_, centre)| centre);
            }
        }
        None
    }
}

/// Sums over a window of the given radius, for each position of each line of a grid.
///
/// On a ring, a window continues around the end of the line. Neighbouring positions of a line are
/// `stride` entries apart.
fn slide(
    from: &[u32],
    to: &mut [u32],
    window: &mut Vec<u32>,
    stride: usize,
    radius: usize,
    is_ring: bool,
) {
    let side = from.len() / stride;
    let row = |at: usize| &from[at * stride..(at + 1) * stride];
    let add = |window: &mut [u32], at: usize| {
        window.iter_mut().zip(row(at)).for_each(|(sum, count)| *sum += count);
    };
    window.clear();
    window.resize(stride, 0);
    if 2 * radius + 1 >= side && is_ring || radius + 1 >= side {
        (0..side).for_each(|at| add(window, at));
        to.chunks_exact_mut(stride).for_each(|to| to.copy_from_slice(window));
        return;
    }
    (0..=radius).for_each(|at| add(window, at));
    if is_ring {
        (side - radius..side).for_each(|at| add(window, at));
    }
    for (at, to) in to.chunks_exact_mut(stride).enumerate() {
        to.copy_from_slice(window);
        let (comes, goes) = (at + radius + 1, at.checked_sub(radius));
        if is_ring || comes < side {
            add(window, comes % side);
        }
        if let Some(goes) = goes.or_else(|| is_ring.then(|| at + side - radius)) {
            window.iter_mut().zip(row(goes)).for_each(|(sum, count)| *sum -= count);
        }
    }
}

impl Allocator for Shells {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let count = site.count_if_free(request)?;
        let grid = site.grid();
        let centre = grid.coordinates(self.best(site, count)?);
        let apart = |node: Node| {
            let along = |d: usize| {
                let (side, straight) =
                    (grid.sides()[d], grid.coordinate(node, d).abs_diff(centre[d]));
                if grid.is_ring(d) { straight.min(side - straight) } else { straight }
            };
            (0..grid.dimensions()).map(along).max().unwrap_or(0)
        };
        let mut nodes: Vec<(u32, Node)> =
            site.free().iter().map(|node| (apart(node), node)).collect();
        // Row-major order within each shell.
        nodes.sort_unstable();
        Some(in_order(grid, nodes.iter().take(count as usize).map(|&(_, node)| node)))
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(Shells::default())
    }
}
