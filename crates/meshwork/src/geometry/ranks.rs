//! Selection of the *i*-th lowest node of a set.

use super::NodeSet;
use crate::topology::Node;

/// For each word of a node set, the number of nodes in the words below it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranks {
    below: Vec<u32>,
}

impl Ranks {
    pub(crate) fn count(&mut self, set: &NodeSet) {
        self.below.clear();
        let mut sum = 0;
        self.below.extend(set.words().iter().map(|word| {
            let below = sum;
            sum += word.count_ones();
            below
        }));
    }

    /// The node below which the set has exactly `rank` nodes, in **O(log n)**.
    ///
    /// The set must not have changed since its nodes were last counted.
    pub(crate) fn node(&self, set: &NodeSet, rank: u32) -> Node {
        let word = self.below.partition_point(|&below| below <= rank) - 1;
        word as u32 * 64 + nth_bit(set.words()[word], rank - self.below[word])
    }
}

/// Index of the set bit of `word` that has exactly `rank` set bits below it, by binary search.
fn nth_bit(mut word: u64, mut rank: u32) -> u32 {
    let (mut place, mut width) = (0, 32);
    while width > 0 {
        let low = (word & ((1 << width) - 1)).count_ones();
        if rank >= low {
            rank -= low;
            place += width;
            word >>= width;
        }
        width /= 2;
    }
    place
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranks_are_the_places_in_the_ascending_list(
            nodes in prop::collection::btree_set(0_u32..700, 1..200),
        ) {
            let mut set = NodeSet::empty(700);
            nodes.iter().for_each(|&node| set.insert(node));
            let mut ranks = Ranks::default();
            ranks.count(&set);
            for (rank, node) in nodes.into_iter().enumerate() {
                prop_assert_eq!(ranks.node(&set, rank as u32), node);
            }
        }
    }

    #[test]
    fn every_bit_of_a_full_word_has_its_rank() {
        assert!((0..64).all(|rank| nth_bit(u64::MAX, rank) == rank));
    }
}
