//! Sets of small numbers, one bit for each, over which the wormhole engines iterate.

/// Iterates over the numbers whose bits are set in a word, the lowest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits(pub(super) u64);

impl Iterator for Bits {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let lowest = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(lowest)
    }
}

/// Index of the lowest set bit of `word` at or above the index `from`.
///
/// If there is none, the index of the lowest set bit. At least one bit must be set.
pub(super) fn first_from(word: u64, from: u8) -> usize {
    let above = word & (u64::MAX << from);
    (if above == 0 { word } else { above }).trailing_zeros() as usize
}

#[derive(Clone, Debug)]
pub(super) struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    pub(super) fn new(bound: usize) -> BitSet {
        BitSet { words: vec![0; bound.div_ceil(64)] }
    }

    pub(super) fn insert(&mut self, number: usize) {
        self.words[number >> 6] |= 1 << (number & 63);
    }

    pub(super) fn remove(&mut self, number: usize) {
        self.words[number >> 6] &= !(1 << (number & 63));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Number of words of the set. Callers count up to this number, and read each
    /// [`word`](BitSet::word). So the set may change during the iteration.
    pub(super) fn words(&self) -> usize {
        self.words.len()
    }

    pub(super) fn word(&self, index: usize) -> u64 {
        self.words[index]
    }

    pub(super) fn take_word(&mut self, index: usize) -> u64 {
        std::mem::take(&mut self.words[index])
    }
}
