//! Subcubes of a hypercube, and searches for free ones.
//!
//! Node *v* of a hypercube of dimension *n* is the *n*-bit number *v*. Dimension 0 of its grid is
//! bit 0. A subcube is given by its base and its mask. The base is the lowest node of the subcube.
//! The mask is the set of dimensions along which it extends (its free dimensions).

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
use crate::topology::{Grid, Node};

/// A subcube: the nodes `base | t` for every `t` whose bits are all in `mask`.
///
/// `base` and `mask` share no bit. Subcubes are ordered by base and then by mask.
///
/// ```
/// use meshwork::geometry::cube::Subcube;
/// let cube = Subcube { base: 0b001, mask: 0b010 };
/// assert_eq!(cube.nodes().collect::<Vec<_>>(), [1, 3]);
/// assert_eq!(cube.text(3), "0*1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subcube {
    /// Node with the lowest number in the subcube.
    pub base: Node,
    /// The dimensions along which the subcube extends (its free dimensions), one bit for each.
    pub mask: u32,
}

impl Subcube {
    /// The whole hypercube of dimension `dimension`, which is at most 31.
    #[must_use]
    pub fn whole(dimension: u32) -> Subcube {
        Subcube { base: 0, mask: (1 << dimension) - 1 }
    }

    /// Number of dimensions along which the subcube extends.
    #[must_use]
    pub fn dimension(self) -> u32 {
        self.mask.count_ones()
    }

    /// The nodes of the subcube, lowest first.
    pub fn nodes(self) -> impl Iterator<Item = Node> {
        parts(self.mask).map(move |part| self.base | part)
    }

    /// The dimensions along which the subcube extends, lowest first.
    pub fn dimensions(self) -> impl DoubleEndedIterator<Item = u32> {
        (0..u32::BITS).filter(move |d| self.mask >> d & 1 == 1)
    }

    /// Whether this subcube contains every node of `other`.
    #[must_use]
    pub fn holds(self, other: Subcube) -> bool {
        other.mask & !self.mask == 0 && other.base & !self.mask == self.base
    }

    /// Whether the subcubes share a node.
    #[must_use]
    pub fn meets(self, other: Subcube) -> bool {
        (self.base ^ other.base) & !(self.mask | other.mask) == 0
    }

    /// Whether the subcubes are disjoint and some link joins a node of one to a node of the other.
    #[must_use]
    pub fn is_next_to(self, other: Subcube) -> bool {
        ((self.base ^ other.base) & !(self.mask | other.mask)).count_ones() == 1
    }

    /// The two halves of the subcube along one of its dimensions, the lower half first.
    #[must_use]
    pub fn halves(self, dimension: u32) -> [Subcube; 2] {
        let mask = self.mask & !(1 << dimension);
        [self.base, self.base | 1 << dimension].map(|base| Subcube { base, mask })
    }

    /// The subcube of dimension `dimension` that begins at the base of this subcube. It extends
    /// along the lowest of this subcube's dimensions.
    #[must_use]
    pub fn first_of_dimension(self, dimension: u32) -> Subcube {
        let mut mask = self.mask;
        while mask.count_ones() > dimension {
            mask &= !(1 << mask.ilog2());
        }
        Subcube { base: self.base, mask }
    }

    /// Whether all nodes of the subcube are in the set. Takes one step for each word of the set in
    /// which the subcube has nodes.
    #[must_use]
    pub fn is_within(self, set: &NodeSet) -> bool {
        let pattern = self.pattern();
        self.all_words(set, |word| word & pattern == pattern)
    }

    /// Whether no node of the subcube is in the set.
    #[must_use]
    pub fn is_clear_of(self, set: &NodeSet) -> bool {
        let pattern = self.pattern();
        self.all_words(set, |word| word & pattern == 0)
    }

    /// Adds the nodes of the subcube to the set. Takes one step for each word of the set in which
    /// the subcube has nodes.
    pub fn add_to(self, set: &mut NodeSet) {
        let pattern = self.pattern();
        self.change_words(set, |word| *word |= pattern);
    }

    /// Removes the nodes of the subcube from the set. Takes one step for each word of the set in
    /// which the subcube has nodes.
    pub fn take_from(self, set: &mut NodeSet) {
        let pattern = self.pattern();
        self.change_words(set, |word| *word &= !pattern);
    }

    #[inline]
    pub(crate) fn take_if_within(self, set: &mut NodeSet) -> bool {
        if self.mask < 64 {
            let (pattern, word) = (self.pattern(), &mut set.words_mut()[self.base as usize / 64]);
            let within = *word & pattern == pattern;
            *word &= if within { !pattern } else { u64::MAX };
            return within;
        }
        let within = self.is_within(set);
        if within {
            self.take_from(set);
        }
        within
    }

    /// Whether `holds` accepts every word of `set` that has a bit for some node of the subcube.
    #[inline(always)]
    fn all_words(self, set: &NodeSet, holds: impl Fn(u64) -> bool) -> bool {
        let (first, above) = ((self.base >> 6) as usize, self.mask >> 6);
        let words = &set.words()[first..];
        if above & (above + 1) == 0 {
            // The subcube covers consecutive words, as an aligned subcube does.
            return words[..=above as usize].iter().all(|&word| holds(word));
        }
        parts(above).all(|part| holds(words[part as usize]))
    }

    #[inline(always)]
    fn change_words(self, set: &mut NodeSet, change: impl Fn(&mut u64)) {
        let (first, above) = ((self.base >> 6) as usize, self.mask >> 6);
        let words = &mut set.words_mut()[first..];
        if above & (above + 1) == 0 {
            words[..=above as usize].iter_mut().for_each(change);
        } else {
            parts(above).for_each(|part| change(&mut words[part as usize]));
        }
    }

    #[inline]
    fn pattern(self) -> u64 {
        PATTERNS[self.mask as usize & 63] << (self.base & 63)
    }

    /// The subcube with the same nodes as `block`, a block of a hypercube.
    #[must_use]
    #[inline]
    pub fn of(block: &Block) -> Subcube {
        Subcube { base: block.base, mask: longer_sides(block).0 }
    }

    /// The subcube with the same nodes as `block`. `None` if the grid is no hypercube, or if the
    /// block reaches off the grid or around an edge.
    #[inline]
    pub(crate) fn on(block: &Block, grid: &Grid) -> Option<Subcube> {
        if !grid.is_binary() || block.sides.len() != grid.dimensions() || block.base >= grid.nodes()
        {
            return None;
        }
        let (mask, beyond) = longer_sides(block);
        (beyond < 2 && block.base & mask == 0).then_some(Subcube { base: block.base, mask })
    }

    /// The subcube as a block of the hypercube of dimension `dimension`.
    #[must_use]
    pub fn block(self, dimension: u32) -> Block {
        let is_aligned = self.mask & (self.mask + 1) == 0;
        let sides = if is_aligned {
            Dims::aligned(self.dimension() as usize, dimension as usize)
        } else {
            (0..dimension).map(|d| 1 + (self.mask >> d & 1)).collect()
        };
        Block { base: self.base, sides }
    }

    /// Formats the subcube with one character for each dimension, highest dimension first, as in
    /// `0*1`. A `*` marks a dimension along which the subcube extends.
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

/// For each mask of the lowest six dimensions, the nodes of the subcube with base 0. Bit *n* of a
/// word stands for node *n*.
static PATTERNS: [u64; 64] = {
    let mut patterns = [0; 64];
    let mut mask = 0;
    while mask < 64 {
        let mut node = 0;
        while node < 64 {
            if node & !mask == 0 {
                patterns[mask] |= 1 << node;
            }
            node += 1;
        }
        mask += 1;
    }
    patterns
};

/// Mask of the dimensions along which a block is longer than 1, and a check value. The check value
/// is the bitwise OR of `side - 1` over all sides. If it exceeds 1, the block is no subcube and the
/// mask is invalid.
#[inline]
fn longer_sides(block: &Block) -> (u32, u32) {
    if let Some(dimension) = block.sides.as_aligned() {
        let mask = (1 << dimension) - 1;
        return (mask, mask & 1);
    }
    // Sides are read from last to first, so that each side doubles the mask and none is shifted by
    // its index. A side of 0 sets all bits of the check value.
    block.sides.iter().rev().fold((0, 0), |(mask, all), side| {
        let more = side.wrapping_sub(1);
        ((mask << 1) + (more & 1), all | more)
    })
}

/// Every number whose bits are all in `mask`, in increasing order from 0 to `mask`.
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
                assert_eq!(Subcube::on(&block, &grid), Some(cube));
                assert!(cube.nodes().eq(Placement::from(block).nodes(&grid)), "{cube:?}");
            }
            assert_eq!(every(dimension).len(), 3_usize.pow(dimension));
        }
    }

    #[test]
    fn a_block_is_a_subcube_if_it_lies_on_a_hypercube() {
        let cube = Topology::hypercube(3).unwrap().grid().clone();
        let block = |base, sides: &[u32]| Block { base, sides: Dims::from_slice(sides) };
        for base in 0..9 {
            for sides in 0..64 {
                let block = block(base, &[sides % 4, sides / 4 % 4, sides / 16]);
                let is_one =
                    block.sides.iter().all(|&side| side > 0) && cube.holds(base, &block.sides);
                assert_eq!(Subcube::on(&block, &cube).is_some(), is_one, "{block:?}");
            }
        }
        assert_eq!(Subcube::on(&block(0, &[1, 2]), &cube), None);
        let mesh = Topology::mesh(&[2, 3]).unwrap().grid().clone();
        assert_eq!(Subcube::on(&block(0, &[1, 2]), &mesh), None);
        let ring = Topology::torus(&[2, 2]).unwrap().grid().clone();
        assert_eq!(Subcube::on(&block(1, &[2, 1]), &ring), None, "around the edge");
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
            let mut less = set.clone();
            less.remove(a.base | a.mask);
            let before = less.clone();
            assert!(!a.take_if_within(&mut less) && less == before);
            assert!(a.take_if_within(&mut set) && set.is_empty());
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
