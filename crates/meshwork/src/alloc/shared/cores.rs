//! Sets of cores of one node.

use crate::geometry::bits;

/// Set of cores of one node, where cores are numbered through, socket by socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreSet([u64; 8]);

impl CoreSet {
    /// Creates the set of the cores `0..count`.
    #[must_use]
    pub fn full(count: u32) -> CoreSet {
        let mut set = CoreSet::default();
        for (word, bits) in (0..).zip(&mut set.0) {
            *bits = low_bits(i64::from(count) - word * 64);
        }
        set
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 8]
    }

    /// Number of cores in the set.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|bits| bits.count_ones()).sum()
    }

    /// Number of cores of the set that lie in the range `start..start + count`.
    #[must_use]
    pub fn count_range(&self, start: u32, count: u32) -> u32 {
        masks(start, count).map(|(word, mask)| (self.0[word] & mask).count_ones()).sum()
    }

    /// Whether a core is in the set.
    #[must_use]
    pub fn contains(&self, core: u32) -> bool {
        self.0[core as usize / 64] >> (core % 64) & 1 == 1
    }

    /// Adds a core to the set.
    pub fn insert(&mut self, core: u32) {
        self.0[core as usize / 64] |= 1 << (core % 64);
    }

    /// Removes a core from the set.
    pub fn remove(&mut self, core: u32) {
        self.0[core as usize / 64] &= !(1 << (core % 64));
    }

    /// Removes all cores in the range `start..start + count`.
    pub fn remove_range(&mut self, start: u32, count: u32) {
        masks(start, count).for_each(|(word, mask)| self.0[word] &= !mask);
    }

    /// Removes the `count` highest cores of the set that lie in the range `start..start + width`.
    pub fn remove_highest(&mut self, start: u32, width: u32, count: u32) {
        let mut left = count;
        for core in (start..start + width).rev() {
            if left == 0 {
                return;
            }
            if self.contains(core) {
                self.remove(core);
                left -= 1;
            }
        }
    }

    /// The cores of the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.0).flat_map(|(index, &word)| bits(word).map(move |bit| index * 64 + bit))
    }

    /// Adds all cores of another set.
    pub fn unite(&mut self, other: &CoreSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    /// Removes all cores of another set.
    pub fn subtract(&mut self, other: &CoreSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= !other);
    }
}

/// Indices of the 64-bit words with the cores `start..start + count`, and masks of these cores.
fn masks(start: u32, count: u32) -> impl Iterator<Item = (usize, u64)> {
    let (from, to) = (i64::from(start), i64::from(start + count));
    let bits = move |word: u32| {
        let first = i64::from(word) * 64;
        (word as usize, low_bits(to - first) & !low_bits(from - first))
    };
    (start / 64..(start + count).div_ceil(64)).map(bits)
}

const fn low_bits(count: i64) -> u64 {
    if count <= 0 {
        0
    } else if count >= 64 {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}
