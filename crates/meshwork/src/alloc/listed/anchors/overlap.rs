//! Overlaps between the boxes of a torus: the number of other boxes that overlap each box.

use super::Shape;
use crate::geometry::NodeSet;
use crate::topology::Grid;

/// Whether boxes of a listed shape overlap one another, or overlap boxes of the shapes in `others`.
///
/// If `others` contains a duplicate of the shape, the shape overlaps its duplicate.
pub(super) fn grids_overlap<'a>(
    sides: &[u32],
    shape: &Shape,
    others: impl Iterator<Item = &'a Shape>,
) -> bool {
    let step = |shape: &Shape, axis: usize| {
        let spacing = shape.spacing[axis];
        gcd(if spacing == 0 { shape.sides[axis] } else { spacing }, sides[axis])
    };
    if (0..3).any(|axis| step(shape, axis) < shape.sides[axis]) {
        return true;
    }
    let mut own = false;
    let mut others = others.filter(|&other| {
        // Skip the shape itself once, but not its duplicates.
        let is_own = other == shape && !own;
        own |= is_own;
        !is_own
    });
    others.any(|other| {
        (0..3).all(|axis| {
            let step = gcd(step(shape, axis), step(other, axis));
            let apart = (other.seed[axis] + sides[axis] - shape.seed[axis]) % step;
            apart < shape.sides[axis] || step - apart < other.sides[axis]
        })
    })
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Integer type for numbers of boxes: `u16` for tori of fewer than 2¹⁶ cells, otherwise `u32`.
///
/// Numbers of 16 bits are added twice as fast as numbers of 32 bits.
pub(super) trait Count: Copy + Ord + Into<u32> {
    const ZERO: Self;
    const MOST: Self;

    fn of(number: u32) -> Self;

    /// Returns `self` if all bits of the mask are 1, and `other` if all bits are 0.
    fn where_or(self, mask: u16, other: Self) -> Self;

    /// Returns `self + more - less`. Intermediate sums may wrap around, but the result does not.
    fn with_without(self, more: Self, less: Self) -> Self;
}

impl Count for u16 {
    const ZERO: u16 = 0;
    const MOST: u16 = u16::MAX;

    fn of(number: u32) -> u16 {
        number as u16
    }

    fn where_or(self, mask: u16, other: u16) -> u16 {
        self & mask | other & !mask
    }

    fn with_without(self, more: u16, less: u16) -> u16 {
        self.wrapping_add(more).wrapping_sub(less)
    }
}

impl Count for u32 {
    const ZERO: u32 = 0;
    const MOST: u32 = u32::MAX;

    fn of(number: u32) -> u32 {
        number
    }

    fn where_or(self, mask: u16, other: u32) -> u32 {
        if mask == 0 { other } else { self }
    }

    fn with_without(self, more: u32, less: u32) -> u32 {
        self.wrapping_add(more).wrapping_sub(less)
    }
}

/// For each box with the sides `own`, counts the overlapping boxes with the sides `other`.
///
/// The boxes with the sides `other` have their corners at the nodes in `others`. Two boxes overlap
/// if the corner of one lies in a window around the corner of the other. The corners in each window
/// are counted by sums, along one axis after another.
///
/// **O(n)** for *n* cells of the torus.
pub(super) fn count_meeting<C: Count>(
    grid: &Grid,
    others: &NodeSet,
    own: &[u32; 3],
    other: &[u32; 3],
) -> Vec<C> {
    if others.is_empty() {
        return vec![C::ZERO; grid.nodes() as usize];
    }
    let along = |axis: usize| {
        let length = grid.sides()[axis] as usize;
        let window = (own[axis] + other[axis] - 1).min(grid.sides()[axis]) as usize;
        let before = if window == length { 0 } else { other[axis] as usize - 1 };
        (length, window, before)
    };
    let (length, window, before) = along(0);
    let is_short = length <= LONGEST_ROW_OF_BITS;
    let mut counts =
        if is_short { slide_bits(others, length, window, before) } else { as_numbers(others) };
    let mut sums = counts.clone();
    for axis in (usize::from(is_short)..3).rev() {
        let stride = grid.strides()[axis] as usize;
        let (length, window, before) = along(axis);
        if window == 1 {
            continue;
        }
        for (from, to) in
            counts.chunks_exact(stride * length).zip(sums.chunks_exact_mut(stride * length))
        {
            slide(from, to, stride, length, window, before);
        }
        std::mem::swap(&mut counts, &mut sums);
    }
    counts
}

/// Maximum length of a row that is handled as a bit set. Two copies of the row must fit in a word
/// of 64 bits.
const LONGEST_ROW_OF_BITS: usize = 32;

/// For each position of each row of `length` nodes, counts the members of a set in a window around
/// it.
///
/// The window of a position begins `before` positions earlier. Most rows are full or empty, and
/// need not be examined bit by bit.
fn slide_bits<C: Count>(set: &NodeSet, length: usize, window: usize, before: usize) -> Vec<C> {
    let mut counts = vec![C::ZERO; set.universe() as usize];
    let full = (1_u64 << length) - 1;
    for (row, counts) in counts.chunks_exact_mut(length).enumerate() {
        let (word, shift) = (row * length / 64, row * length % 64);
        let mut bits = set.words()[word] >> shift;
        if shift + length > 64 {
            bits |= set.words()[word + 1] << (64 - shift);
        }
        bits &= full;
        if bits == 0 {
            continue;
        }
        if bits == full {
            counts.fill(C::of(window as u32));
            continue;
        }
        // Rotate the row so that it starts with the window of the first position, and repeat it.
        let turned = (bits >> ((length - before) % length) | bits << before) & full;
        let twice = turned | turned << length;
        if length <= 16 {
            sum_windows::<C, 16>(twice, counts, window);
        } else {
            sum_windows::<C, 32>(twice, counts, window);
        }
    }
    counts
}

/// For each value of a byte and each of its bits, a mask: all ones if the bit is 1, otherwise 0.
const LANES: [[u16; 8]; 256] = {
    let mut lanes = [[0; 8]; 256];
    let mut i = 0;
    while i < 256 * 8 {
        lanes[i / 8][i % 8] = if (i / 8) >> (i % 8) & 1 == 1 { u16::MAX } else { 0 };
        i += 1;
    }
    lanes
};

/// For each position of a row of bits, counts the ones in the window that begins there.
///
/// `twice` has two copies of the row, one after the other.
fn sum_windows<C: Count, const L: usize>(twice: u64, counts: &mut [C], window: usize) {
    let length = counts.len();
    let mut numbers = [C::ZERO; 64];
    for (byte, numbers) in twice.to_le_bytes().iter().zip(numbers.chunks_exact_mut(8)).take(L / 4) {
        for (number, &lane) in numbers.iter_mut().zip(&LANES[usize::from(*byte)]) {
            *number = C::of(1).where_or(lane, C::ZERO);
        }
    }
    // Sum the positions inside the window or those outside it, whichever are fewer.
    let is_narrow = 2 * window <= length;
    let (from, to) = if is_narrow { (0, window) } else { (window, length) };
    let mut sums = [C::ZERO; L];
    for i in from..to {
        for (sum, &number) in sums.iter_mut().zip(&numbers[i..i + L]) {
            *sum = sum.with_without(number, C::ZERO);
        }
    }
    let all = C::of((twice & ((1 << length) - 1)).count_ones());
    for (count, &sum) in counts.iter_mut().zip(&sums) {
        *count = if is_narrow { sum } else { all.with_without(C::ZERO, sum) };
    }
}

/// Minimum and maximum of the values in `numbers` at the positions of the set bits of `word`.
pub(super) fn extremes<C: Count>(word: u64, numbers: &[C]) -> (C, C) {
    let (mut least, mut most) = ([C::MOST; 8], [C::ZERO; 8]);
    let mut look_at = |byte: u8, numbers: &[C; 8]| {
        let lanes = &LANES[usize::from(byte)];
        // Eight numbers at once, without a branch: this is most of the cost of a decision.
        for i in 0..8 {
            least[i] = numbers[i].where_or(lanes[i], C::MOST).min(least[i]);
            most[i] = numbers[i].where_or(lanes[i], C::ZERO).max(most[i]);
        }
    };
    let bytes = word.to_le_bytes();
    let (eights, rest) = numbers.as_chunks::<8>();
    for (&byte, eight) in bytes.iter().zip(eights) {
        look_at(byte, eight);
    }
    if !rest.is_empty() {
        let mut padded = [C::ZERO; 8];
        padded[..rest.len()].copy_from_slice(rest);
        let chosen = bytes[eights.len()] & ((1 << rest.len()) - 1);
        look_at(chosen, &padded);
    }
    let least = least.into_iter().fold(C::MOST, C::min);
    (least, most.into_iter().fold(C::ZERO, C::max))
}

fn as_numbers<C: Count>(set: &NodeSet) -> Vec<C> {
    let mut numbers = vec![C::ZERO; set.universe() as usize];
    set.iter().for_each(|node| numbers[node as usize] = C::of(1));
    numbers
}

/// For each row of numbers in `from`, adds up the `window` rows around it.
///
/// There are `length` rows of `stride` numbers each. The window of a row begins `before` rows
/// earlier, and wraps around at the ends.
fn slide<C: Count>(
    from: &[C],
    to: &mut [C],
    stride: usize,
    length: usize,
    window: usize,
    before: usize,
) {
    if stride == 1 {
        return slide_numbers(from, to, window, before);
    }
    let row = |i: usize| (i + length - before) % length * stride;
    let (first, _) = to.split_at_mut(stride);
    first.fill(C::ZERO);
    for i in 0..window {
        let add = &from[row(i)..row(i) + stride];
        first.iter_mut().zip(add).for_each(|(sum, &add)| *sum = sum.with_without(add, C::ZERO));
    }
    for i in 1..length {
        let (gone, come) = (row(i - 1), row(i - 1 + window));
        let (done, rest) = to.split_at_mut(i * stride);
        let last = &done[(i - 1) * stride..];
        let pairs = from[gone..gone + stride].iter().zip(&from[come..come + stride]);
        for ((sum, &last), (&gone, &come)) in rest.iter_mut().zip(last).zip(pairs) {
            *sum = last.with_without(come, gone);
        }
    }
}

fn slide_numbers<C: Count>(from: &[C], to: &mut [C], window: usize, before: usize) {
    let length = from.len();
    let (mut gone, mut come) = ((length - before) % length, length - before);
    let first = (0..window).map(|i| from[(come + i) % length]);
    let mut sum = first.fold(C::ZERO, |sum, more| sum.with_without(more, C::ZERO));
    come = (come + window) % length;
    for number in to {
        *number = sum;
        sum = sum.with_without(from[come], from[gone]);
        (come, gone) = (come + 1, gone + 1);
        if come == length {
            come = 0;
        }
        if gone == length {
            gone = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// Whether a window of length `own` at `a` and one of length `other` at `b` overlap on a ring.
    fn share(a: u32, own: u32, b: u32, other: u32, length: u32) -> bool {
        (0..own).any(|i| (0..other).any(|j| (a + i) % length == (b + j) % length))
    }

    /// Compares counts of overlapping boxes with an exhaustive count.
    ///
    /// The counting code differs for grids whose first side is at most 16, at most 32, or longer.
    #[test]
    fn boxes_are_counted_as_they_meet() {
        let mut rng = Stream::new(3, 0, "boxes");
        for sides in
            [[5, 3, 2], [16, 2, 3], [17, 3, 1], [32, 2, 2], [33, 2, 1], [2, 9, 4], [1, 1, 7]]
        {
            let grid = Grid::new(&sides, true).unwrap();
            for share_held in [0, 1, 5, 10] {
                let mut others = NodeSet::empty(grid.nodes());
                (0..grid.nodes())
                    .filter(|_| rng.below(10) >= share_held)
                    .for_each(|node| others.insert(node));
                let mut side = |axis: usize| 1 + rng.below(u64::from(sides[axis])) as u32;
                let own = [side(0), side(1), side(2)];
                let other = [side(0), side(1), side(2)];
                let meets = |a: u32, b: u32| {
                    (0..3).all(|axis| {
                        let at = |node| grid.coordinate(node, axis);
                        share(at(a), own[axis], at(b), other[axis], sides[axis])
                    })
                };
                let expected: Vec<u32> = (0..grid.nodes())
                    .map(|a| others.iter().filter(|&b| meets(a, b)).count() as u32)
                    .collect();
                let wide: Vec<u32> = count_meeting(&grid, &others, &own, &other);
                let narrow: Vec<u16> = count_meeting(&grid, &others, &own, &other);
                assert_eq!(wide, expected, "{sides:?} {own:?} {other:?}");
                assert!(narrow.iter().map(|&count| u32::from(count)).eq(wide), "{sides:?}");
            }
        }
    }

    #[test]
    fn extremes_are_those_of_the_chosen() {
        let mut rng = Stream::new(4, 0, "extremes");
        for length in [1, 7, 8, 30, 64] {
            for share in 0..=4 {
                let numbers: Vec<u16> = (0..length).map(|_| rng.below(50) as u16).collect();
                let bits = (0..length).filter(|_| rng.below(4) < share);
                let word = bits.fold(0_u64, |word, bit| word | 1 << bit);
                let chosen = || (0..length).filter(|&i| word >> i & 1 == 1).map(|i| numbers[i]);
                let expected = (chosen().min().unwrap_or(u16::MAX), chosen().max().unwrap_or(0));
                assert_eq!(extremes(word, &numbers), expected);
                let wide: Vec<u32> = numbers.iter().map(|&number| number.into()).collect();
                let (least, most) = extremes(word, &wide);
                assert_eq!((least as u16, most as u16), expected);
            }
        }
    }
}
