//! The orientations (orders of its sides) in which a block may be placed.

use crate::job::Dims;
use crate::registry::{Param, Params, Words};

/// Whether a block may be placed with its sides along other dimensions than requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// The block is placed only in the requested orientation.
    Never,
    /// The block is placed in another orientation only if it does not fit as requested.
    IfNeeded,
    /// All orientations are compared by the allocator's criterion. The requested one wins ties.
    Best,
}

impl Rotation {
    /// The parameter `rotation` with the default `never`, so that comparisons use equal blocks.
    pub const PARAM: Param = Rotation::param("\"never\"");

    /// The parameter `rotation` with the default `if_needed`, for allocators that turn blocks by
    /// default.
    pub const TURNING: Param = Rotation::param("\"if_needed\"");

    const fn param(default: &'static str) -> Param {
        Param::new("rotation", ROTATIONS.kind()).is(default).help(
            "whether a block may be turned: never, only when it does not fit as requested, \
                   or whichever orientation scores best",
        )
    }

    /// Reads the parameter `rotation` of an allocator.
    #[must_use]
    pub fn read(params: &Params) -> Rotation {
        params.meaning(Rotation::PARAM.name, &ROTATIONS)
    }
}

static ROTATIONS: Words<Rotation, 3> = Words::new([
    ("never", Rotation::Never),
    ("if_needed", Rotation::IfNeeded),
    ("best", Rotation::Best),
]);

/// The orientations of a block that may be tried, the requested one first.
///
/// If rotation is allowed, all other permutations of the sides follow. They are in lexicographic
/// order of the dimensions from which the sides come.
///
/// ```
/// use meshwork::geometry::orientation::{Rotation, orientations};
/// let turned: Vec<Vec<u32>> =
///     orientations(&[3, 2], Rotation::IfNeeded).map(|sides| sides.to_vec()).collect();
/// assert_eq!(turned, [[3, 2], [2, 3]]);
/// assert_eq!(orientations(&[3, 2], Rotation::Never).count(), 1);
/// assert_eq!(orientations(&[4, 4], Rotation::Best).count(), 1);
/// ```
pub fn orientations(sides: &[u32], rotation: Rotation) -> impl Iterator<Item = Dims> {
    let requested = Dims::from_slice(sides);
    // The requested orientation usually suffices, so the others are computed only on demand.
    let to_turn = (rotation != Rotation::Never).then(|| requested.clone());
    std::iter::once(requested).chain(to_turn.into_iter().flat_map(turned))
}

fn turned(requested: Dims) -> impl Iterator<Item = Dims> {
    // Each side is labelled with the first dimension along which the requested block has this
    // length. So the order of the labels is the order of the dimensions, and equal sides give no
    // duplicates. Permutations are generated one by one, since a subcube may have millions of them.
    let label = |side: &u32| requested.iter().position(|s| s == side).unwrap_or(0);
    let mut lowest: Vec<usize> = requested.iter().map(label).collect();
    lowest.sort_unstable();
    let permutations = std::iter::successors(Some(lowest), |last| next_permutation(last));
    let distinct = requested.clone();
    let all = permutations
        .map(move |labels| labels.into_iter().map(|label| distinct[label]).collect::<Dims>());
    all.filter(move |dims| *dims != requested)
}

fn next_permutation(last: &[usize]) -> Option<Vec<usize>> {
    let rise = last.windows(2).rposition(|pair| pair[0] < pair[1])?;
    let mut next = last.to_vec();
    let swap = next.iter().rposition(|&item| item > next[rise])?;
    next.swap(rise, swap);
    next[rise + 1..].reverse();
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_sides_turn_in_the_order_of_their_dimensions() {
        let all: Vec<Dims> = orientations(&[3, 1, 2], Rotation::IfNeeded).collect();
        let expected: [[u32; 3]; 6] =
            [[3, 1, 2], [3, 2, 1], [1, 3, 2], [1, 2, 3], [2, 3, 1], [2, 1, 3]];
        assert!(all.iter().map(|d| d.as_slice()).eq(expected.iter().map(<[u32; 3]>::as_slice)));
    }

    #[test]
    fn equal_sides_count_once() {
        let all: Vec<Dims> = orientations(&[2, 1, 2, 1], Rotation::Best).collect();
        assert_eq!(all.len(), 6);
        assert_eq!(all[0].as_slice(), [2, 1, 2, 1]);
    }
}
