//! Search for the best centre, which computes the distances from each centre to all free nodes.

use std::ops::Range;

use smallvec::SmallVec;

use crate::geometry::ranked::in_order;
use crate::job::Dims;
use crate::machine::{Placement, Site};
use crate::topology::{Grid, Node};

use super::balls::Reached;
use super::hops::hops_over_pairs;

/// Free nodes, with their distances from the centre that is currently examined.
///
/// A distance is the sum of two table entries: one for the lower half of the dimensions, and one
/// for the higher half. Hops over all pairs are computed in each dimension, from the number of
/// nodes with each coordinate.
///
/// **O(F + h)** for each centre, with *F* free nodes. *h* is the total number of entries of the two
/// tables: about twice the square root of the number of nodes.
#[derive(Clone)]
pub(super) struct OneByOne {
    /// Free nodes in ascending order, each with its distance from the current centre.
    free: Vec<(Node, u32)>,
    halves: [Half; 2],
    /// Number of free nodes at each distance from the current centre.
    shells: Vec<u32>,
}

/// Table of distances for one half of the dimensions of a grid: the lower or the higher dimensions.
#[derive(Clone)]
struct Half {
    sides: Dims,
    are_rings: Vec<bool>,
    /// For each free node, the row-major index of its coordinates in one half of the dimensions.
    at: Vec<u32>,
    /// Distance from the centre along this half of the dimensions, for each combination of
    /// coordinates.
    apart: Vec<u32>,
    /// Number of the centre's nearest nodes for each combination of coordinates.
    ///
    /// The coordinates are those along this half of the dimensions.
    counts: Vec<u32>,
}

impl OneByOne {
    pub(super) fn new(grid: &Grid) -> OneByOne {
        // The numbers of nodes of both parts shall have the smallest sum.
        let sum = |&d: &usize| {
            let lower = grid.strides()[d];
            lower + grid.nodes() / lower
        };
        let lower = (0..grid.dimensions()).min_by_key(sum).unwrap_or(0);
        let half = |part: Range<usize>| Half::new(&grid.sides()[part.clone()], &grid.rings()[part]);
        OneByOne {
            free: Vec::new(),
            halves: [half(0..lower), half(lower..grid.dimensions())],
            shells: vec![0; grid.sides().iter().sum::<u32>() as usize],
        }
    }

    pub(super) fn look_at(&mut self, site: &Site) {
        self.free.clear();
        self.free.extend(site.free().iter().map(|node| (node, 0)));
        let [lower, higher] = &mut self.halves;
        let length = lower.counts.len() as u32;
        lower.at.clear();
        lower.at.extend(self.free.iter().map(|(node, _)| node % length));
        higher.at.clear();
        higher.at.extend(self.free.iter().map(|(node, _)| node / length));
    }

    /// Sum of the distances, in hops, over all pairs of the `count` free nodes nearest to a centre.
    pub(super) fn score(&mut self, grid: &Grid, centre: Node, count: u32) -> u64 {
        let reach = self.reach(grid, centre, count);
        self.hops(reach)
    }

    pub(super) fn nearest(&mut self, site: &Site, centre: Node, count: u32) -> Placement {
        self.look_at(site);
        let grid = site.grid();
        self.reach(grid, centre, count);
        // Stable: nodes of one shell stay in row-major order.
        self.free.sort_by_key(|&(_, apart)| apart);
        in_order(grid, self.free.iter().take(count as usize).map(|&(node, _)| node))
    }

    /// Computes the distance of every free node from a centre.
    ///
    /// Returns the radius within which the `count` nearest free nodes lie.
    fn reach(&mut self, grid: &Grid, centre: Node, count: u32) -> Reached {
        let at = grid.coordinates(centre);
        let (below, above) = at.split_at(self.halves[0].sides.len());
        let [lower, higher] = &mut self.halves;
        lower.look_from(below);
        higher.look_from(above);
        self.shells.fill(0);
        let places = lower.at.iter().zip(&higher.at);
        for ((_, apart), (&low, &high)) in self.free.iter_mut().zip(places) {
            *apart = lower.apart[low as usize] + higher.apart[high as usize];
            self.shells[*apart as usize] += 1;
        }
        let (mut shell, mut nearer) = (0, 0);
        while nearer + self.shells[shell] < count {
            nearer += self.shells[shell];
            shell += 1;
        }
        Reached { centre, shell: shell as u32, of_it: count - nearer }
    }

    fn hops(&mut self, reach: Reached) -> u64 {
        let [lower, higher] = &mut self.halves;
        lower.counts.fill(0);
        higher.counts.fill(0);
        let mut left = reach.of_it;
        let places = lower.at.iter().zip(&higher.at);
        for (&(_, apart), (&low, &high)) in self.free.iter().zip(places) {
            if apart < reach.shell || apart == reach.shell && left > 0 {
                left -= u32::from(apart == reach.shell);
                lower.counts[low as usize] += 1;
                higher.counts[high as usize] += 1;
            }
        }
        lower.hops_over_pairs() + higher.hops_over_pairs()
    }
}

impl Half {
    fn new(sides: &[u32], are_rings: &[bool]) -> Half {
        let length = sides.iter().product::<u32>() as usize;
        let (apart, counts) = (Vec::with_capacity(length), vec![0; length]);
        let (sides, are_rings) = (Dims::from_slice(sides), are_rings.to_vec());
        Half { sides, are_rings, at: Vec::new(), apart, counts }
    }

    /// Computes the distances from a centre along half of the dimensions of the grid.
    ///
    /// There is one distance for each combination of coordinates in these dimensions.
    fn look_from(&mut self, centre: &[u32]) {
        self.apart.clear();
        self.apart.push(0);
        for ((&side, &here), &is_ring) in self.sides.iter().zip(centre).zip(&self.are_rings) {
            let along = |at: u32| {
                let straight = at.abs_diff(here);
                if is_ring { straight.min(side - straight) } else { straight }
            };
            let lower = self.apart.len();
            for at in 1..side {
                for i in 0..lower {
                    self.apart.push(self.apart[i] + along(at));
                }
            }
            self.apart[..lower].iter_mut().for_each(|apart| *apart += along(0));
        }
    }

    fn hops_over_pairs(&mut self) -> u64 {
        let mut sum = 0;
        self.for_each_dimension(|counts, is_ring| sum += hops_over_pairs(counts, is_ring));
        sum
    }

    /// Calls `visit` for each dimension with the number of taken nodes at each coordinate.
    ///
    /// The stored counts are overwritten.
    fn for_each_dimension(&mut self, mut visit: impl FnMut(&[u32], bool)) {
        let mut length = self.counts.len();
        for (&side, &is_ring) in self.sides.iter().zip(&self.are_rings).rev() {
            let all = &mut self.counts[..length];
            length /= side as usize;
            let sums: SmallVec<[u32; 64]> =
                all.chunks(length).map(|chunk| chunk.iter().sum()).collect();
            visit(&sums, is_ring);
            // The lower dimensions need the counts summed over this dimension.
            let (below, others) = all.split_at_mut(length);
            for chunk in others.chunks(length) {
                below.iter_mut().zip(chunk).for_each(|(sum, count)| *sum += count);
            }
        }
    }
}
