//! When boxes of a torus meet.

use super::Shape;
use crate::geometry::NodeSet;
use crate::topology::Grid;

/// Whether a box of this placement meets another box of it, or a box of another placement that is listed beside
/// it. A placement that is listed twice meets its double.
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
        // Once for itself; a second time it is listed twice.
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

/// A number of boxes. On a torus of fewer than 2¹⁶ cells 16 bits are enough, and an instruction adds twice as many of them.
pub(super) trait Count: Copy + Ord + Into<u32> {
    /// None.
    const ZERO: Self;
    /// One.
    const ONE: Self;

    /// A number that is known to be small enough.
    fn of(number: u32) -> Self;

    /// Its sum with another one, and what is left of both without a third: sums between may wrap, the result does not.
    fn with_without(self, more: Self, less: Self) -> Self;
}

impl Count for u16 {
    const ZERO: u16 = 0;
    const ONE: u16 = 1;

    fn of(number: u32) -> u16 {
        number as u16
    }

    fn with_without(self, more: u16, less: u16) -> u16 {
        self.wrapping_add(more).wrapping_sub(less)
    }
}

impl Count for u32 {
    const ZERO: u32 = 0;
    const ONE: u32 = 1;

    fn of(number: u32) -> u32 {
        number
    }

    fn with_without(self, more: u32, less: u32) -> u32 {
        self.wrapping_add(more).wrapping_sub(less)
    }
}

/// For the corner of each box with the sides `own`, how many of the boxes with the sides `other` and corners in
/// `others` it meets; a torus that is wrapped in every dimension.
///
/// Two boxes meet if they do along every axis: if the other's corner lies in a window around this one's. The
/// corners in each window are summed along one axis after the other.
///
/// # Complexity
/// **O(n)** for *n* cells.
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
        // The window of position 0 begins so far before it, around the edge.
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

/// Rows so long stand twice in a word.
const LONGEST_ROW_OF_BITS: usize = 32;

/// Counts the nodes of a set in a window around each place of its row of `length` nodes. Most rows are full or empty.
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
        // From where the window of the first place begins, and around twice.
        let turned = bits >> ((length - before) % length) | bits << before;
        let twice = (turned & full) | (turned & full) << length;
        let mut sum = (twice & ((1 << window) - 1)).count_ones();
        for (place, count) in counts.iter_mut().enumerate() {
            *count = C::of(sum);
            sum = sum + (twice >> (place + window) & 1) as u32 - (twice >> place & 1) as u32;
        }
    }
    counts
}

/// A 1 for each node of a set, and a 0 for each other one.
fn as_numbers<C: Count>(set: &NodeSet) -> Vec<C> {
    let mut numbers = vec![C::ZERO; set.universe() as usize];
    set.iter().for_each(|node| numbers[node as usize] = C::ONE);
    numbers
}

/// Sums `window` rows around each of `length` rows, each of `stride` numbers.
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

/// The same for rows of one number, which would spend their time on beginning anew.
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
