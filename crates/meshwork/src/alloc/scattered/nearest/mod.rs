//! Allocation of the free nodes nearest to the best centre, shared by `mm` and `gen_alg`.

mod axes;
mod balls;
mod best_of_all;
mod hops;
mod lanes;
mod one_by_one;
mod planes;
mod stretch;

use best_of_all::BestOfAll;
use one_by_one::OneByOne;

use crate::alloc::{Allocator, Ask};
use crate::geometry::NodeSet;
use crate::job::Dims;
use crate::machine::{Block, Placement, Site};
use crate::topology::{Grid, Node};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Centres {
    Free,
    /// Nodes of which each coordinate is the coordinate of some free node.
    Crossings,
}

/// Allocator of the free nodes nearest to the centre with the fewest hops over all pairs of nodes.
///
/// If several centres are equally good, the first one is taken.
pub(super) struct NearestNodes {
    centres: Centres,
    one_by_one: OneByOne,
    best_of_all: BestOfAll,
}

/// Number of nodes of the largest supported machine, limited because every node may be a centre.
pub(super) const MAX_NODES: u32 = 1 << 14;

/// Factor in the maximum number of distances from centres to free nodes computed one by one.
///
/// The maximum is this factor times the number of nodes times the number of dimensions. With more
/// distances, it is faster to count the free nodes around all centres together.
const LOOKS: u64 = 16;

impl NearestNodes {
    pub(super) fn new(grid: &Grid, centres: Centres) -> NearestNodes {
        let (one_by_one, best_of_all) = (OneByOne::new(grid), BestOfAll::new(grid));
        NearestNodes { centres, one_by_one, best_of_all }
    }

    /// The first centre whose `count` nearest free nodes have the fewest hops over all pairs.
    fn best(&mut self, site: &Site, count: u32) -> Option<Node> {
        let centres = match self.centres {
            Centres::Free => site.free().clone(),
            Centres::Crossings => crossings(site),
        };
        let looks = u64::from(centres.count()) * u64::from(site.free_nodes());
        if looks > LOOKS * u64::from(site.nodes()) * site.grid().dimensions() as u64
            && let Some(best) = self.best_of_all(site, &centres, count)
        {
            return Some(best);
        }
        self.best_one_by_one(site, &centres, count)
    }

    /// Finds the [best](NearestNodes::best) centre with counts around all centres at once.
    ///
    /// `None` if this needs too many counts, or if a count may be too large for its integer type.
    fn best_of_all(&mut self, site: &Site, centres: &NodeSet, count: u32) -> Option<Node> {
        self.best_of_all.best(site.grid(), site.free(), centres, count)
    }

    fn best_one_by_one(&mut self, site: &Site, centres: &NodeSet, count: u32) -> Option<Node> {
        self.one_by_one.look_at(site);
        centres.iter().min_by_key(|&centre| self.one_by_one.score(site.grid(), centre, count))
    }
}

fn crossings(site: &Site) -> NodeSet {
    let grid = site.grid();
    let mut crossings = NodeSet::full(grid.nodes());
    for (d, &stride) in grid.strides().iter().enumerate() {
        for at in 0..grid.sides()[d] {
            let mut sides = Dims::from_slice(grid.sides());
            sides[d] = 1;
            let slice = Placement::from(Block { base: at * stride, sides });
            if slice.is_clear_of(site.free(), grid) {
                slice.for_each_run(grid, |start, count| crossings.remove_range(start, count));
            }
        }
    }
    crossings
}

impl Allocator for NearestNodes {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let count = site.count_if_free(request)?;
        let centre = self.best(site, count)?;
        Some(self.one_by_one.nearest(site, centre, count))
    }

    fn fork(&self) -> Box<dyn Allocator> {
        let NearestNodes { centres, one_by_one, best_of_all } = self;
        let (centres, one_by_one) = (*centres, one_by_one.clone());
        let best_of_all = best_of_all.empty_copy();
        Box::new(NearestNodes { centres, one_by_one, best_of_all })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::axes::Axes;
    use super::balls::{Balls, Reached};
    use super::lanes::LANES;
    use super::planes::Planes;
    use super::stretch::Stretch;
    use super::*;
    use crate::topology::Topology;

    #[test]
    fn where_there_are_too_many_radii_centres_are_looked_at_one_by_one() {
        let topology = Topology::mesh(&[2, 4000]).unwrap();
        let mut site = Site::new(topology, 1.0);
        let mut free = NodeSet::empty(8000);
        [0, 1, 3001, 4000, 7999].into_iter().for_each(|node| free.insert(node));
        site.set_free(&free);
        let mut nearest = NearestNodes::new(site.grid(), Centres::Free);
        assert_eq!(nearest.best_of_all(&site, &free, 5), None);
        // All nodes are taken for any centre, so the first centre wins.
        assert_eq!(nearest.best(&site, 5), Some(0));
    }

    /// Counts have 16 bits. `reach` returns `None` if a ball might contain too many nodes for them.
    #[test]
    fn more_nodes_than_can_be_counted_are_left_to_others() {
        let grid = Grid::new(&[42, 42, 42], true).unwrap();
        let (free, lower) = (NodeSet::full(grid.nodes()), Planes::lower(&grid));
        let mut centre = NodeSet::empty(grid.nodes());
        centre.insert(0);
        let reach = |count| Balls::new(&grid, lower).reach(&grid, &free, &centre, count);
        assert!(reach(66_000).is_none(), "as many as that cannot be told from few");
        assert!(reach(60_000).is_none(), "with as many, others may have too many around them");
        assert_eq!(reach(7).map(|reached| reached[0].shell), Some(1));
    }

    proptest! {
        #[test]
        fn all_centres_at_once_score_as_one_by_one(
            sides in prop::collection::vec((1_u32..8, any::<bool>()), 1..4),
            twos in 0_usize..4,
            words in prop::collection::vec(any::<u64>(), 43),
            denser in any::<bool>(),
            count in any::<prop::sample::Index>(),
        ) {
            let (mut sides, mut rings): (Vec<u32>, Vec<bool>) = sides.into_iter().unzip();
            sides.extend((0..twos).map(|_| 2));
            rings.extend((0..twos).map(|at| at % 2 == 0));
            let grid = Grid::with_rings(&sides, &rings).unwrap();
            let mut free = NodeSet::empty(grid.nodes());
            for node in 0..grid.nodes() {
                let bit = |word: u64| word >> (node % 64) & 1 == 1;
                if bit(words[node as usize / 64]) || denser && bit(words[42]) {
                    free.insert(node);
                }
            }
            if free.is_empty() {
                return Ok(());
            }
            let mut site = Site::new(Topology::with_rings(&sides, &rings).unwrap(), 1.0);
            site.set_free(&free);
            let count = 1 + count.index(free.count() as usize) as u32;
            let mut one_by_one = OneByOne::new(&grid);
            one_by_one.look_at(&site);
            let (all, axes) = (NodeSet::full(grid.nodes()), Axes::new(&grid));
            for lower in 1..=grid.dimensions() {
                let (mut balls, mut planes) = (Balls::new(&grid, lower), Planes::new(&grid, lower));
                let mut stretch = Stretch::new(&grid, lower);
                // Twice, since no state of the first round may remain.
                for _ in 0..2 {
                    let reached = balls.reach(&grid, &free, &all, count).unwrap();
                    prop_assert_eq!(reached.len(), grid.nodes() as usize);
                    let shells = reached.iter().map(|reached| reached.shell + 1).max().unwrap();
                    planes.look_at(&balls, shells);
                    let mut plane = None;
                    let nodes = planes.nodes;
                    let of = |reached: &Reached| (reached.centre as usize / nodes, reached.centre as usize % nodes / LANES);
                    // Check all centres of a stretch, and then a subset of them with gaps.
                    for side_by_side in reached.chunk_by(|a, b| of(a) == of(b)) {
                        let of = side_by_side[0].centre as usize / nodes;
                        if plane != Some(of) {
                            plane = Some(of);
                            planes.look_from(&balls, &axes, of, shells);
                        }
                        let some = |reached: &&Reached| words[41] >> (reached.centre % 64) & 1 == 1;
                        let some: Vec<Reached> = side_by_side.iter().filter(some).copied().collect();
                        for centres in [side_by_side, &some] {
                            stretch.look_at(&planes, &axes, centres, count);
                            for &reached in centres {
                                let score = one_by_one.score(&grid, reached.centre, count);
                                let may_be = |least: u64| least <= score;
                                let looked = stretch.hops(&planes, &axes, &free, reached, may_be);
                                prop_assert_eq!(looked, Some(score));
                                let looked = stretch.hops(&planes, &axes, &free, reached, |_| false);
                                prop_assert_eq!(looked, None);
                            }
                        }
                    }
                }
            }
            for centres in [Centres::Free, Centres::Crossings] {
                let mut nearest = NearestNodes::new(&grid, centres);
                let some = crossings(&site);
                let best = nearest.best_of_all(&site, &some, count);
                prop_assert_eq!(best, nearest.best_one_by_one(&site, &some, count));
            }
        }
    }
}
