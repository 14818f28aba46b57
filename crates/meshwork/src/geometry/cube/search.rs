//! Search for free subcubes that tests 64 possible bases (lowest nodes) at a time.

use std::ops::ControlFlow;

use super::Subcube;
use crate::geometry::{NodeSet, bits};
use crate::topology::Node;

/// For each dimension `d` below 6, a word with a set bit for each node with coordinate 0 along `d`.
const LOWER: [u64; 6] = [
    0x5555_5555_5555_5555,
    0x3333_3333_3333_3333,
    0x0f0f_0f0f_0f0f_0f0f,
    0x00ff_00ff_00ff_00ff,
    0x0000_ffff_0000_ffff,
    0x0000_0000_ffff_ffff,
];

/// Finds all free subcubes of a hypercube.
///
/// Let *F(S)* be the set of bases (lowest nodes) at which the subcube along the set *S* of
/// dimensions is free. *F(∅)* is the set of free nodes. *F(S ∪ {i})* is the intersection of the
/// lower and the upper half of *F(S)* along dimension *i*. Along the six lowest dimensions, this
/// intersection takes a shift within words. Along any other dimension, it halves the number of
/// words. Masks (sets *S* as bits) are visited in increasing order, so that masks with equal high
/// dimensions share their intersections. A branch without bases is cut.
///
/// # Complexity
/// For *n* dimensions, **O(3ⁿ / 64 · (4/3)⁶)** operations on words for all masks together, in space
/// **O(2ⁿ / 64)**.
#[derive(Clone, Debug)]
pub struct CubeSearch {
    dimension: u32,
    buffer: Vec<u64>,
    apart: Vec<u64>,
}

impl CubeSearch {
    /// Creates the search for hypercubes of dimension `dimension`, with its buffers.
    #[must_use]
    pub fn new(dimension: u32) -> CubeSearch {
        let words = 1 << dimension.saturating_sub(6);
        // A fold along one of the six lowest dimensions needs as many words as the whole set. Each
        // fold along a higher dimension halves the number, so that all of these fit into one more
        // such buffer.
        CubeSearch { dimension, buffer: vec![0; 7 * words], apart: Vec::new() }
    }

    /// The dimension of the searched hypercube.
    #[must_use]
    pub fn dimension(&self) -> u32 {
        self.dimension
    }

    /// The free subcube of dimension `dimension` with the lowest mask. Ties go to the lowest base.
    pub fn first(&mut self, free: &NodeSet, dimension: u32) -> Option<Subcube> {
        let mut found = None;
        self.for_each_mask(free, dimension, |bases| {
            found = bases.iter().next();
            ControlFlow::Break(())
        });
        found
    }

    /// Calls `visit` for each mask along which a free subcube of dimension `dimension` extends.
    /// Masks come in ascending order. `visit` gets the bases of all free subcubes along the mask,
    /// and can end the search.
    pub fn for_each_mask(
        &mut self,
        free: &NodeSet,
        dimension: u32,
        mut visit: impl FnMut(Bases<'_>) -> ControlFlow<()>,
    ) {
        if dimension <= self.dimension && !free.is_empty() {
            let whole = self.dimension;
            let mut at_leaf = |mask, words: &[u64]| visit(Bases { words, mask, whole });
            let _ = descend(free.words(), &mut self.buffer, whole, dimension, 0, &mut at_leaf);
        }
    }

    /// All free subcubes of dimension `dimension`, ordered by base and then by mask.
    pub fn all(&mut self, free: &NodeSet, dimension: u32) -> Vec<Subcube> {
        let mut all = Vec::new();
        self.for_each_mask(free, dimension, |bases| {
            all.extend(bases.iter());
            ControlFlow::Continue(())
        });
        all.sort_unstable();
        all
    }

    /// The dimension of the largest free subcube; `None` if no node is free.
    pub fn largest(&mut self, free: &NodeSet) -> Option<u32> {
        (0..=self.dimension).rev().find(|&dimension| {
            1 << dimension <= free.count() && self.first(free, dimension).is_some()
        })
    }

    /// The free subcubes that lie in no larger free subcube, ordered by base and then by mask.
    ///
    /// A free subcube lies in a larger one exactly if a neighbour of its base is the base of a free
    /// subcube along the same dimensions. **O(n · 3ⁿ / 64 · (4/3)⁶)** for *n* dimensions.
    pub fn primes(&mut self, free: &NodeSet) -> Vec<Subcube> {
        let mut primes = Vec::new();
        if free.is_empty() {
            return primes;
        }
        let (whole, apart) = (self.dimension, &mut self.apart);
        descend_to_every_mask(free.words(), &mut self.buffer, whole, 0, &mut |mask, words| {
            if keep_those_apart(words, whole, mask, apart) {
                primes.extend(Bases { words: apart, mask, whole }.iter());
            }
        });
        primes.sort_unstable();
        primes
    }
}

/// Bit set of the bases (lowest nodes) of all free subcubes that extend along a set of dimensions.
///
/// This set of dimensions is the mask. The position of a bit within its word has the coordinates of
/// the base along the six lowest dimensions. The index of the word has the coordinates of the base
/// along those higher dimensions that are not in the mask.
#[derive(Clone, Copy)]
pub struct Bases<'a> {
    words: &'a [u64],
    mask: u32,
    whole: u32,
}

impl Bases<'_> {
    /// The dimensions along which the subcubes extend, one bit each.
    #[must_use]
    pub fn mask(&self) -> u32 {
        self.mask
    }

    /// The free subcubes along the mask, lowest base first.
    pub fn iter(&self) -> impl Iterator<Item = Subcube> + '_ {
        let Bases { words, mask, whole } = *self;
        words.iter().enumerate().flat_map(move |(index, &word)| {
            let high = spread(index as u32, mask, whole);
            bits(word).map(move |bit| Subcube { base: high | bit, mask })
        })
    }
}

/// Lowest of the 64 nodes for which one word stands in a bit set of bases of subcubes.
///
/// `index` is the index of the word. Its bits are spread over the dimensions from 6 on that are not
/// in `mask`.
fn spread(index: u32, mask: u32, whole: u32) -> Node {
    let (mut rest, mut base) = (index, 0);
    for d in (6..whole).filter(|d| mask >> d & 1 == 0) {
        base |= (rest & 1) << d;
        rest >>= 1;
    }
    base
}

/// Visits each mask that adds `wanted` dimensions to `mask` and has a free subcube.
///
/// A mask is the set of dimensions of a subcube. The additional dimensions lie below `undecided`.
/// `words` has the bases of the free subcubes along `mask`.
fn descend(
    words: &[u64],
    buffer: &mut [u64],
    undecided: u32,
    wanted: u32,
    mask: u32,
    visit: &mut impl FnMut(u32, &[u64]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if wanted == 0 {
        return visit(mask, words);
    }
    let d = undecided - 1;
    if d >= wanted {
        descend(words, buffer, d, wanted, mask, visit)?;
    }
    match fold(words, buffer, d) {
        Some((folded, buffer)) => descend(folded, buffer, d, wanted - 1, mask | 1 << d, visit),
        None => ControlFlow::Continue(()),
    }
}

fn descend_to_every_mask(
    words: &[u64],
    buffer: &mut [u64],
    undecided: u32,
    mask: u32,
    visit: &mut impl FnMut(u32, &[u64]),
) {
    let Some(d) = undecided.checked_sub(1) else { return visit(mask, words) };
    descend_to_every_mask(words, buffer, d, mask, visit);
    if let Some((folded, buffer)) = fold(words, buffer, d) {
        descend_to_every_mask(folded, buffer, d, mask | 1 << d, visit);
    }
}

/// Intersects the two halves of a bit set along dimension `d`; `None` if the result is empty.
///
/// The result is written to the front of `buffer`, and the unused rest of `buffer` is returned too.
/// If a set is intersected along several dimensions, the highest must come first.
fn fold<'a>(words: &[u64], buffer: &'a mut [u64], d: u32) -> Option<(&'a [u64], &'a mut [u64])> {
    let length = if d < 6 { words.len() } else { words.len() / 2 };
    let (folded, buffer) = buffer.split_at_mut(length);
    let mut any = 0;
    if d < 6 {
        for (to, &word) in folded.iter_mut().zip(words) {
            *to = word & word >> (1 << d) & LOWER[d as usize];
            any |= *to;
        }
    } else {
        let half = 1 << (d - 6);
        for (to, from) in folded.chunks_exact_mut(half).zip(words.chunks_exact(2 * half)) {
            let (lower, upper) = from.split_at(half);
            for ((to, low), high) in to.iter_mut().zip(lower).zip(upper) {
                *to = low & high;
                any |= *to;
            }
        }
    }
    (any != 0).then_some((folded, buffer))
}

/// Sets `apart` to the bases that have no other base as a neighbour. Returns whether there are any.
fn keep_those_apart(words: &[u64], whole: u32, mask: u32, apart: &mut Vec<u64>) -> bool {
    apart.clear();
    apart.extend_from_slice(words);
    for d in (0..whole.min(6)).filter(|d| mask >> d & 1 == 0) {
        let mut any = 0;
        for (kept, &word) in apart.iter_mut().zip(words) {
            *kept &= !flipped(word, d);
            any |= *kept;
        }
        if any == 0 {
            return false;
        }
    }
    // The index of a word consists of the bits of the high dimensions that are not in the mask.
    let mut half = 1;
    while half < words.len() {
        for (kept, from) in apart.chunks_exact_mut(2 * half).zip(words.chunks_exact(2 * half)) {
            for i in 0..half {
                kept[i] &= !from[half + i];
                kept[half + i] &= !from[i];
            }
        }
        half *= 2;
    }
    apart.iter().any(|&word| word != 0)
}

/// Exchanges the lower and upper halves of a word along dimension `d`, which is below 6.
fn flipped(word: u64, d: u32) -> u64 {
    let (by, lower) = (1 << d, LOWER[d as usize]);
    (word & lower) << by | word >> by & lower
}

/// Reduces a set of free nodes to the bases of the free subcubes along `mask`. Takes **O(k · 2ⁿ /
/// 64)** for a mask of *k* of *n* dimensions.
pub(crate) fn keep_bases(words: &mut [u64], mask: u32) {
    for d in (0..u32::BITS).filter(|d| mask >> d & 1 == 1) {
        if d < 6 {
            words.iter_mut().for_each(|word| *word &= *word >> (1 << d) & LOWER[d as usize]);
        } else {
            let half = 1 << (d - 6);
            for pair in words.chunks_exact_mut(2 * half) {
                let (lower, upper) = pair.split_at_mut(half);
                for (low, high) in lower.iter_mut().zip(upper) {
                    *low &= *high;
                    *high = 0;
                }
            }
        }
    }
}

/// Adds to `to` the neighbours along `dimensions` of the nodes in `words`.
pub(crate) fn neighbours(words: &[u64], dimensions: std::ops::Range<u32>, to: &mut [u64]) {
    for d in dimensions {
        if d < 6 {
            for (to, &word) in to.iter_mut().zip(words) {
                *to |= flipped(word, d);
            }
        } else {
            let half = 1 << (d - 6);
            for (to, from) in to.chunks_exact_mut(2 * half).zip(words.chunks_exact(2 * half)) {
                for i in 0..half {
                    to[i] |= from[half + i];
                    to[half + i] |= from[i];
                }
            }
        }
    }
}
