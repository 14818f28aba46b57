//! The free nodes with the fewest hops to a centre, for every centre that is tried: what `mm` and `gen_alg` share.

use std::ops::Range;

use smallvec::SmallVec;

use crate::alloc::{Allocator, Ask};
use crate::geometry::NodeSet;
use crate::geometry::ranked::in_order;
use crate::job::Dims;
use crate::machine::{Placement, Site};
use crate::topology::{Grid, Node};

/// Where a centre may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Centres {
    /// On every free node.
    Free,
    /// Wherever each coordinate is that of some free node.
    Crossings,
}

/// A strategy that tries centres in row-major order, collects around each one the nearest free
/// nodes, of equally near ones the first in row-major order, and keeps those with the fewest hops over all pairs,
/// the first of equals. Ranks go by distance from the centre, then row-major. On a ring distances go
/// the shorter way.
///
/// # Complexity
/// **O(c · (F + h))** for *c* centres and *F* free nodes; *h* is how many nodes two parts of the grid
/// have that span it, one of its lower dimensions and one of the higher ones: some twice the root of
/// all. A distance is the sum of what two tables say of the two parts; hops over all pairs
/// follow, one dimension after the other, from how many nodes have each coordinate.
#[derive(Clone)]
pub(super) struct NearestNodes {
    centres: Centres,
    /// The free nodes, in ascending order, and how far each is from the present centre.
    free: Vec<(Node, u32)>,
    /// The lower dimensions and the higher ones.
    halves: [Half; 2],
    /// How many free nodes are at each distance from the present centre.
    shells: Vec<u32>,
}

/// Some of the dimensions of a grid.
#[derive(Clone)]
struct Half {
    sides: Dims,
    are_rings: Vec<bool>,
    /// Where each free node is, as far as these dimensions go: an index in row-major order.
    at: Vec<u32>,
    /// How far each index is from the present centre.
    apart: Vec<u32>,
    /// How many nodes are at each index.
    counts: Vec<u32>,
}

/// The nodes nearest to a centre: all that are nearer than the last shell, and the first of that.
#[derive(Clone, Copy)]
struct Reach {
    shell: u32,
    of_it: u32,
}

/// The largest machine served: every node may be a centre, and from each one all nodes are looked at.
pub(super) const MAX_NODES: u32 = 1 << 14;

impl NearestNodes {
    pub(super) fn new(grid: &Grid, centres: Centres) -> NearestNodes {
        // As many dimensions below as leave the two parts of most equal size.
        let sum = |&d: &usize| {
            let lower = grid.strides()[d];
            lower + grid.nodes() / lower
        };
        let lower = (0..grid.dimensions()).min_by_key(sum).unwrap_or(0);
        let half = |part: Range<usize>| Half::new(&grid.sides()[part.clone()], &grid.rings()[part]);
        NearestNodes {
            centres,
            free: Vec::new(),
            halves: [half(0..lower), half(lower..grid.dimensions())],
            shells: vec![0; grid.sides().iter().sum::<u32>() as usize],
        }
    }

    /// Takes down which nodes are free.
    fn look_at(&mut self, site: &Site) {
        self.free.clear();
        self.free.extend(site.free().iter().map(|node| (node, 0)));
        let [lower, higher] = &mut self.halves;
        let length = lower.counts.len() as u32;
        lower.at.clear();
        lower.at.extend(self.free.iter().map(|(node, _)| node % length));
        higher.at.clear();
        higher.at.extend(self.free.iter().map(|(node, _)| node / length));
    }

    /// Where a centre may be.
    fn candidates(&mut self, site: &Site) -> NodeSet {
        if self.centres == Centres::Free {
            return site.free().clone();
        }
        let occurs: Vec<Vec<u32>> = self.halves.iter_mut().flat_map(Half::count_all).collect();
        let grid = site.grid();
        let mut crossings = NodeSet::empty(grid.nodes());
        for node in 0..grid.nodes() {
            let at = grid.coordinates(node);
            if at.iter().zip(&occurs).all(|(&at, counts)| counts[at as usize] > 0) {
                crossings.insert(node);
            }
        }
        crossings
    }

    /// Finds how far every free node is from a centre, and how far so many of them reach.
    fn reach(&mut self, grid: &Grid, centre: Node, count: u32) -> Reach {
        let centre = grid.coordinates(centre);
        let (below, above) = centre.split_at(self.halves[0].sides.len());
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
        Reach { shell: shell as u32, of_it: count - nearer }
    }

    /// The hops over all pairs of the nodes up to there.
    fn hops(&mut self, reach: Reach) -> u64 {
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

    /// Finds how far each index is from a centre.
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

    /// For each dimension, how many free nodes have each coordinate.
    fn count_all(&mut self) -> Vec<Vec<u32>> {
        self.counts.fill(0);
        self.at.iter().for_each(|&at| self.counts[at as usize] += 1);
        let mut all = Vec::new();
        self.for_each_dimension(|counts, _| all.insert(0, counts.to_vec()));
        all
    }

    /// The sum of hops along these dimensions over all pairs of nodes that are counted.
    fn hops_over_pairs(&mut self) -> u64 {
        let mut sum = 0;
        self.for_each_dimension(|counts, is_ring| sum += hops_over_pairs(counts, is_ring));
        sum
    }

    /// Calls `visit` with how many nodes have each coordinate, and whether the dimension is a ring, the last
    /// dimension first. The counts are used up.
    fn for_each_dimension(&mut self, mut visit: impl FnMut(&[u32], bool)) {
        let mut length = self.counts.len();
        for (&side, &is_ring) in self.sides.iter().zip(&self.are_rings).rev() {
            let all = &mut self.counts[..length];
            length /= side as usize;
            let sums: SmallVec<[u32; 64]> =
                all.chunks(length).map(|chunk| chunk.iter().sum()).collect();
            visit(&sums, is_ring);
            // What is left counts in the dimensions below, whatever the coordinate along this one.
            let (below, others) = all.split_at_mut(length);
            for chunk in others.chunks(length) {
                below.iter_mut().zip(chunk).for_each(|(sum, count)| *sum += count);
            }
        }
    }
}

/// The sum of distances over all pairs of things on a line or a ring, of which so many are at each
/// place.
///
/// Each gap of a line is crossed by the pairs with one thing on either side. On a ring a pair is
/// parted by two half rings for each step of its distance: by as many of them as begin at each step,
/// and by their complements.
fn hops_over_pairs(counts: &[u32], is_ring: bool) -> u64 {
    let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let parted = |some: u64| some * (all - some);
    if !is_ring {
        let up_to = counts.iter().scan(0, |sum, &count| {
            *sum += u64::from(count);
            Some(*sum)
        });
        return up_to.map(parted).sum();
    }
    let (side, half) = (counts.len(), counts.len() / 2);
    let mut in_half: u64 = counts[..half].iter().map(|&count| u64::from(count)).sum();
    let mut twice = 0;
    for start in 0..side {
        twice += parted(in_half);
        in_half += u64::from(counts[(start + half) % side]);
        in_half -= u64::from(counts[start]);
    }
    twice / 2
}

impl Allocator for NearestNodes {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let count = site.count_with_room(request)?;
        self.look_at(site);
        let grid = site.grid();
        let mut best: Option<(u64, Node)> = None;
        for centre in self.candidates(site).iter() {
            let reach = self.reach(grid, centre, count);
            let score = self.hops(reach);
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, centre));
            }
        }
        let (_, centre) = best?;
        self.reach(grid, centre, count);
        // Stable: those of one shell stay in row-major order.
        self.free.sort_by_key(|&(_, apart)| apart);
        Some(in_order(grid, self.free.iter().take(count as usize).map(|&(node, _)| node)))
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn hops_over_pairs_are_the_sum_over_all_pairs(
            counts in prop::collection::vec(0_u32..4, 1..12),
            is_ring in any::<bool>(),
        ) {
            let mut sum = 0;
            let side = counts.len();
            for i in 0..side {
                for j in i..side {
                    let straight = j - i;
                    let apart = if is_ring { straight.min(side - straight) } else { straight };
                    sum += (counts[i] * counts[j]) as usize * apart;
                }
            }
            prop_assert_eq!(hops_over_pairs(&counts, is_ring), sum as u64);
        }
    }
}
