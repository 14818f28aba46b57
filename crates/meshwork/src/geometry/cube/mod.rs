//! Subcubes of a hypercube, and how they are found.
//!
//! Node *v* of a hypercube of dimension *n* is the *n*-bit number *v*, and dimension 0 of its grid is
//! bit 0. A subcube has a set of free dimensions, its mask, and one base.

mod gray;
mod lightest;
mod packing;
mod search;

pub(crate) use gray::{GrayCode, symmetric_chains};
pub(crate) use lightest::lightest;
pub use packing::ExactPacking;
pub use search::CubeSearch;
pub(crate) use search::{keep_bases, neighbours};

use crate::geometry::Block;
use crate::geometry::NodeSet;
use crate::job::Dims;
use crate::topology::Node;

/// A subcube: the nodes `base | t` for every `t` that is part of `mask`; no bit is in both.
///
/// Subcubes are ordered by base and then by mask: the first is the one that wins a tie.
///
/// ```
/// use meshwork::geometry::cube::Subcube;
/// let cube = Subcube { base: 0b001, mask: 0b010 };
/// assert_eq!(cube.nodes().collect::<Vec<_>>(), [1, 3]);
/// assert_eq!(cube.text(3), "0*1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subcube {
    /// Its lowest node.
    pub base: Node,
    /// Its free dimensions, a bit for each.
    pub mask: u32,
}

impl Subcube {
    /// The whole cube of this dimension, at most 31.
    #[must_use]
    pub fn whole(dimension: u32) -> Subcube {
        Subcube { base: 0, mask: (1 << dimension) - 1 }
    }

    /// How many dimensions it has.
    #[must_use]
    pub fn dimension(self) -> u32 {
        self.mask.count_ones()
    }

    /// Its nodes, lowest first.
    pub fn nodes(self) -> impl Iterator<Item = Node> {
        parts(self.mask).map(move |part| self.base | part)
    }

    /// Its free dimensions, lowest first.
    pub fn dimensions(self) -> impl DoubleEndedIterator<Item = u32> {
        (0..u32::BITS).filter(move |d| self.mask >> d & 1 == 1)
    }

    /// Whether every node of the other one is in it.
    #[must_use]
    pub fn holds(self, other: Subcube) -> bool {
        other.mask & !self.mask == 0 && other.base & !self.mask == self.base
    }

    /// Whether they have a node in common.
    #[must_use]
    pub fn meets(self, other: Subcube) -> bool {
        (self.base ^ other.base) & !(self.mask | other.mask) == 0
    }

    /// Whether they have no node in common, and nodes that are neighbours.
    #[must_use]
    pub fn is_next_to(self, other: Subcube) -> bool {
        ((self.base ^ other.base) & !(self.mask | other.mask)).count_ones() == 1
    }

    /// Its two halves along one of its free dimensions, the lower one first.
    #[must_use]
    pub fn halves(self, dimension: u32) -> [Subcube; 2] {
        let mask = self.mask & !(1 << dimension);
        [self.base, self.base | 1 << dimension].map(|base| Subcube { base, mask })
    }

    /// The first of its subcubes of this dimension: what halving along the highest free dimension,
    /// and keeping the lower half, leaves.
    #[must_use]
    pub fn first_of_dimension(self, dimension: u32) -> Subcube {
        let mut mask = self.mask;
        while mask.count_ones() > dimension {
            mask &= !(1 << mask.ilog2());
        }
        Subcube { base: self.base, mask }
    }

    /// Whether all of its nodes are in the set. **O(2ᵏ / 64 + 2ᵏ⁻ʲ)** for *j* of its *k* dimensions
    /// among the lowest six.
    #[must_use]
    pub fn is_within(self, set: &NodeSet) -> bool {
        let words = set.words();
        let pattern = self.pattern();
        self.words().all(|word| words[word] & pattern == pattern)
    }

    /// Whether none of its nodes is in the set.
    #[must_use]
    pub fn is_clear_of(self, set: &NodeSet) -> bool {
        let words = set.words();
        let pattern = self.pattern();
        self.words().all(|word| words[word] & pattern == 0)
    }

    /// Adds its nodes to the set.
    pub fn add_to(self, set: &mut NodeSet) {
        let run = self.mask.trailing_ones();
        for start in parts(self.mask >> run << run) {
            set.insert_range(self.base | start, 1 << run);
        }
    }

    /// Takes its nodes out of the set.
    pub fn take_from(self, set: &mut NodeSet) {
        let run = self.mask.trailing_ones();
        for start in parts(self.mask >> run << run) {
            set.remove_range(self.base | start, 1 << run);
        }
    }

    /// The words of a set that it touches, in each of which it has the same pattern.
    fn words(self) -> impl Iterator<Item = usize> {
        let first = (self.base >> 6) as usize;
        parts(self.mask >> 6).map(move |part| first | part as usize)
    }

    fn pattern(self) -> u64 {
        let lowest = self.mask & 63;
        let pattern = (0..6).fold(1_u64, |pattern, d| match lowest >> d & 1 {
            1 => pattern | pattern << (1 << d),
            _ => pattern,
        });
        pattern << (self.base & 63)
    }

    /// The subcube that a block of a hypercube is.
    #[must_use]
    pub fn of(block: &Block) -> Subcube {
        let free = |(d, &side): (usize, &u32)| (side - 1) << d;
        Subcube { base: block.base, mask: block.sides.iter().enumerate().map(free).sum() }
    }

    /// It as a block of the hypercube of this dimension.
    #[must_use]
    pub fn block(self, dimension: u32) -> Block {
        let sides: Dims = (0..dimension).map(|d| 1 + (self.mask >> d & 1)).collect();
        Block { base: self.base, sides }
    }

    /// It as papers write it, the highest dimension first: `0*1`.
    #[must_use]
    pub fn text(self, dimension: u32) -> String {
        let mark = |d: u32| match (self.mask >> d & 1, self.base >> d & 1) {
            (1, _) => '*',
            (_, 1) => '1',
            _ => '0',
        };
        (0..dimension).rev().map(mark).collect()
    }
}

/// Every part of a mask, from 0 to the mask itself, in increasing order.
pub fn parts(mask: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(0), move |&part| {
        (part != mask).then(|| (part | !mask).wrapping_add(1) & mask)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Placement;
    use crate::topology::Topology;

    /// Every subcube of the cube of this dimension.
    fn every(dimension: u32) -> Vec<Subcube> {
        let all = 0..1_u32 << dimension;
        all.clone()
            .flat_map(|mask| {
                all.clone()
                    .filter(move |base| base & mask == 0)
                    .map(move |base| Subcube { base, mask })
            })
            .collect()
    }

    #[test]
    fn a_subcube_is_the_block_with_side_two_in_its_free_dimensions() {
        for dimension in 1..=5 {
            let grid = Topology::hypercube(dimension).unwrap().grid().clone();
            for cube in every(dimension) {
                let block = cube.block(dimension);
                assert_eq!(Subcube::of(&block), cube);
                assert!(cube.nodes().eq(Placement::from(block).nodes(&grid)), "{cube:?}");
            }
            assert_eq!(every(dimension).len(), 3_usize.pow(dimension));
        }
    }

    #[test]
    fn what_it_says_of_others_and_of_sets_is_true_of_their_nodes() {
        let (cubes, universe) = (every(4), 16);
        for &a in &cubes {
            let mut set = NodeSet::empty(universe);
            a.add_to(&mut set);
            assert!(set.iter().eq(a.nodes()));
            for &b in &cubes {
                let within = b.nodes().all(|node| set.contains(node));
                let meets = b.nodes().any(|node| set.contains(node));
                assert_eq!((a.holds(b), b.is_within(&set)), (within, within), "{a:?} {b:?}");
                assert_eq!((a.meets(b), !b.is_clear_of(&set)), (meets, meets), "{a:?} {b:?}");
                let links = a.nodes().flat_map(|x| b.nodes().map(move |y| (x ^ y).count_ones()));
                assert_eq!(a.is_next_to(b), !meets && links.min() == Some(1), "{a:?} {b:?}");
            }
            for d in a.dimensions() {
                let halves = a.halves(d);
                assert!(halves[0] < halves[1] && !halves[0].meets(halves[1]));
                assert!(halves.iter().all(|&half| a.holds(half)));
            }
            for k in 0..=a.dimension() {
                let inside = cubes.iter().filter(|cube| cube.dimension() == k && a.holds(**cube));
                assert_eq!(inside.min(), Some(&a.first_of_dimension(k)));
            }
            a.take_from(&mut set);
            assert!(set.is_empty());
        }
    }

    #[test]
    fn in_sets_of_many_words_too() {
        let cube = Subcube { base: 0b10_0000_0101, mask: 0b01_1100_1010 };
        let mut set = NodeSet::empty(1024);
        cube.add_to(&mut set);
        assert!(set.iter().eq(cube.nodes()) && set.count() == 32);
        assert!(cube.is_within(&set) && !cube.is_clear_of(&set));
        set.remove(cube.base | cube.mask);
        assert!(!cube.is_within(&set) && !cube.is_clear_of(&set));
    }
}
