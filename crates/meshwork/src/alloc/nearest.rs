//! The free nodes nearest to a centre, for every centre that is tried: what `mc1x1`, `mm` and
//! `gen_alg` share.

use super::Allocator;
use super::ranked::in_order;
use crate::job::{Request, Time};
use crate::machine::{Placement, Site};
use crate::rng::Stream;
use crate::topology::{Grid, Node};

/// How far a node is from a centre.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Distance {
    /// The sum of the distances along all dimensions: hops.
    Sum,
    /// The largest of them: square shells.
    Largest,
}

/// Where a centre may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Centres {
    /// On every free node.
    Free,
    /// Wherever each coordinate is that of some free node.
    Crossings,
}

/// What is to be as small as possible.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Score {
    /// The sum of hops over all pairs of nodes.
    Pairs,
    /// The sum of distances from the centre.
    ToCentre,
}

/// A strategy that tries centres in row-major order, collects around each one the nearest free
/// nodes, of equally near ones the first in row-major order, and keeps those with the lowest score,
/// the first of equals. Ranks go by distance from the centre, then row-major. On a ring distances go
/// the shorter way.
///
/// # Complexity
/// **O(c · (F d + s))** for *c* centres, *F* free nodes, *d* dimensions and the sum *s* of the sides
/// of the machine: hops over all pairs follow, one dimension after the other, from how many nodes
/// have each coordinate.
#[derive(Clone)]
pub(super) struct NearestNodes {
    distance: Distance,
    centres: Centres,
    score: Score,
    /// The free nodes, in ascending order, and how far each is from the present centre.
    free: Vec<(Node, u32)>,
    /// The coordinates of the free nodes along each dimension.
    at: Vec<Vec<u32>>,
    /// How many free nodes are at each distance from the present centre.
    shells: Vec<u32>,
    /// How many nodes have each coordinate of each dimension: of those that are free, and of those
    /// that are collected.
    free_at: Vec<Vec<u32>>,
    collected_at: Vec<Vec<u32>>,
}

/// The nodes nearest to a centre: all that are nearer than the last shell, and the first of that.
#[derive(Clone, Copy)]
struct Reach {
    shell: u32,
    of_it: u32,
}

impl NearestNodes {
    pub(super) fn new(
        grid: &Grid,
        distance: Distance,
        centres: Centres,
        score: Score,
    ) -> NearestNodes {
        let rows = || grid.sides().iter().map(|&side| vec![0; side as usize]).collect();
        NearestNodes {
            distance,
            centres,
            score,
            free: Vec::new(),
            at: vec![Vec::new(); grid.dimensions()],
            shells: vec![0; grid.sides().iter().sum::<u32>() as usize],
            free_at: rows(),
            collected_at: rows(),
        }
    }

    /// Takes down which nodes are free.
    fn look_at(&mut self, site: &Site) {
        let grid = site.grid();
        self.free.clear();
        self.free.extend(site.free().iter().map(|node| (node, 0)));
        for (d, (at, counts)) in self.at.iter_mut().zip(&mut self.free_at).enumerate() {
            at.clear();
            at.extend(self.free.iter().map(|&(node, _)| grid.coordinate(node, d)));
            counts.fill(0);
            at.iter().for_each(|&at| counts[at as usize] += 1);
        }
    }

    fn may_be_at(&self, site: &Site, centre: Node) -> bool {
        let occurs = |d: usize| self.free_at[d][site.grid().coordinate(centre, d) as usize] > 0;
        match self.centres {
            Centres::Free => site.free().contains(centre),
            Centres::Crossings => (0..self.at.len()).all(occurs),
        }
    }

    /// Finds how far every free node is from a centre, and how far so many of them reach.
    fn reach(&mut self, grid: &Grid, centre: Node, count: u32) -> Reach {
        self.free.iter_mut().for_each(|(_, apart)| *apart = 0);
        for (d, at) in self.at.iter().enumerate() {
            let (here, side) = (grid.coordinate(centre, d), grid.sides()[d]);
            let around = if grid.is_wrapped() { side } else { u32::MAX };
            for ((_, apart), &at) in self.free.iter_mut().zip(at) {
                let straight = at.abs_diff(here);
                let along = straight.min(around - straight);
                *apart = match self.distance {
                    Distance::Sum => *apart + along,
                    Distance::Largest => along.max(*apart),
                };
            }
        }
        self.shells.fill(0);
        self.free.iter().for_each(|&(_, apart)| self.shells[apart as usize] += 1);
        let (mut shell, mut nearer) = (0, 0);
        while nearer + self.shells[shell] < count {
            nearer += self.shells[shell];
            shell += 1;
        }
        Reach { shell: shell as u32, of_it: count - nearer }
    }

    fn score(&mut self, grid: &Grid, reach: Reach) -> u64 {
        if self.score == Score::ToCentre {
            let nearer = self.shells[..reach.shell as usize].iter();
            let sum: u64 = nearer.zip(0..).map(|(&count, apart)| u64::from(count) * apart).sum();
            return sum + u64::from(reach.of_it) * u64::from(reach.shell);
        }
        self.collected_at.iter_mut().for_each(|counts| counts.fill(0));
        let mut left = reach.of_it;
        for (i, &(_, apart)) in self.free.iter().enumerate() {
            if apart < reach.shell || apart == reach.shell && left > 0 {
                left -= u32::from(apart == reach.shell);
                for (counts, at) in self.collected_at.iter_mut().zip(&self.at) {
                    counts[at[i] as usize] += 1;
                }
            }
        }
        self.collected_at.iter().map(|counts| hops_over_pairs(counts, grid.is_wrapped())).sum()
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
    fn choose(
        &mut self,
        request: &Request,
        site: &Site,
        _now: Time,
        _rng: &mut Stream,
    ) -> Option<Placement> {
        let count = u32::try_from(request.nodes()).ok()?;
        if count == 0 || count > site.free_nodes() {
            return None;
        }
        self.look_at(site);
        let grid = site.grid();
        let mut best: Option<(u64, Node)> = None;
        for centre in 0..grid.nodes() {
            if self.may_be_at(site, centre) {
                let reach = self.reach(grid, centre, count);
                let score = self.score(grid, reach);
                if best.is_none_or(|(least, _)| score < least) {
                    best = Some((score, centre));
                }
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
