//! Folding: bends the rings of a job's shape, so that it fits into another shape of equal size.

use super::set_order::Ties;

pub(super) fn extent(shape: &[u32]) -> usize {
    shape.iter().filter(|&&side| side != 1).count()
}

fn sorted(mut shape: [u32; 3]) -> [u32; 3] {
    shape.sort_unstable();
    shape
}

/// Number of cubes that a shape touches if its lowest corner is at the corner of a cube.
///
/// The cubes have sides of `side` nodes.
///
/// ```
/// use meshwork::alloc::optical::cubes_needed;
/// assert_eq!(cubes_needed(&[8, 4, 4], 4), 2);
/// assert_eq!(cubes_needed(&[9, 5, 1], 4), 6);
/// ```
#[must_use]
pub fn cubes_needed(shape: &[u32], side: u32) -> u64 {
    shape.iter().fold(1, |cubes: u64, &own| cubes.saturating_mul(u64::from(own.div_ceil(side))))
}

/// All shapes with as many nodes as the given shape, each with its sides in ascending order.
///
/// With [`Ties::Listed`], the given shape comes first. The others are ordered by their smallest
/// side, then by their second side. Otherwise, the order is that of RFold's original program.
///
/// **O(n^(2/3))** for *n* nodes.
fn factorizations(shape: [u32; 3], ties: Ties) -> Vec<[u32; 3]> {
    let nodes: u64 = shape.iter().map(|&side| u64::from(side)).product();
    let mut all = vec![sorted(shape)];
    for least in (1..=nodes).take_while(|least| least.pow(3) <= nodes) {
        let rest = nodes / least;
        if !nodes.is_multiple_of(least) {
            continue;
        }
        for next in (1..=rest).take_while(|next| next.pow(2) <= rest) {
            if rest.is_multiple_of(next) {
                all.push(sorted([least as u32, next as u32, (rest / next) as u32]));
            }
        }
    }
    ties.sort(all)
}

/// Whether a job of the shape `from` can be folded into the shape `to`, which has equally many
/// nodes.
///
/// `side` is the side of a cube, or the shortest side of the torus. A sheet (a shape of two
/// dimensions) is folded into two layers by halving an even side.
///
/// If `side` is 4, there are further folds. A sheet is folded into four layers by halving both
/// sides, or by quartering one. Another fold keeps the number of dimensions, two or three: a side
/// of 2 is doubled, and another, even side is halved.
fn folds_into(from: [u32; 3], to: [u32; 3], side: u32) -> bool {
    let to = sorted(to);
    match (extent(&from), extent(&to)) {
        (a, b) if a == b && a >= 2 => {
            let from = sorted(from);
            let pairs = (0..3).flat_map(|two| (0..3).map(move |even| (two, even)));
            side == 4
                && pairs.filter(|&(two, even)| two != even).any(|(two, even)| {
                    let other = from[3 - two - even];
                    from[two] == 2
                        && from[even].is_multiple_of(2)
                        && sorted([4, from[even] / 2, other]) == to
                })
        }
        (2, 3) => {
            let mut long = from.iter().copied().filter(|&own| own != 1);
            let (Some(a), Some(b)) = (long.next(), long.next()) else { return false };
            let halved = |a: u32, b: u32| a.is_multiple_of(2) && sorted([a / 2, b, 2]) == to;
            let quartered = |a: u32, b: u32| a.is_multiple_of(4) && sorted([a / 4, b, 4]) == to;
            let both = a % 2 == 0 && b % 2 == 0 && sorted([a / 2, b / 2, 4]) == to;
            halved(a, b)
                || halved(b, a)
                || side == 4 && (quartered(a, b) || quartered(b, a) || both)
        }
        _ => false,
    }
}

fn folds(shape: [u32; 3], side: u32, ties: Ties) -> Vec<[u32; 3]> {
    let mut all = factorizations(shape, ties);
    all.retain(|&to| extent(&to) >= extent(&shape) && folds_into(shape, to, side));
    all
}

/// Shape into which a job is folded to run on a static torus whose shortest side is `shortest`.
///
/// Of all folded shapes that fit into the torus, the one with the shortest longest side is taken.
/// If none fits, the job keeps its own shape. A line may be folded into any block of its size.
///
/// ```
/// use meshwork::alloc::optical::{Ties, folded_for_torus};
/// assert_eq!(folded_for_torus([32, 1, 1], 16, Ties::Listed), [2, 4, 4]);
/// assert_eq!(folded_for_torus([24, 8, 1], 16, Ties::Listed), [2, 8, 12]);
/// assert_eq!(folded_for_torus([5, 3, 3], 16, Ties::Listed), [5, 3, 3]);
/// ```
#[must_use]
pub fn folded_for_torus(shape: [u32; 3], shortest: u32, ties: Ties) -> [u32; 3] {
    let options = match extent(&shape) {
        1 => factorizations(shape, ties),
        _ => folds(shape, shortest, ties),
    };
    let longest = |shape: &[u32; 3]| shape.iter().copied().max();
    let fitting = options.into_iter().filter(|option| longest(option) <= Some(shortest));
    fitting.min_by_key(longest).unwrap_or(shape)
}

/// Shape into which a job is folded to run on a machine of cubes with sides of `side` nodes.
///
/// Folded shapes that touch more cubes than the job's own shape are not considered. Of the others,
/// the one that touches the fewest cubes is taken. If there is none, the job keeps its own shape. A
/// line is not folded, because RFold winds it through cubes.
///
/// ```
/// use meshwork::alloc::optical::{Ties, folded_for_cubes};
/// assert_eq!(folded_for_cubes([16, 6, 1], 4, Ties::Listed), [3, 4, 8]);
/// assert_eq!(folded_for_cubes([16, 1, 1], 4, Ties::Listed), [16, 1, 1]);
/// ```
#[must_use]
pub fn folded_for_cubes(shape: [u32; 3], side: u32, ties: Ties) -> [u32; 3] {
    if extent(&shape) == 1 {
        return shape;
    }
    let own = cubes_needed(&shape, side);
    let options = folds(shape, side, ties).into_iter();
    let cubes = |shape: &[u32; 3]| cubes_needed(shape, side);
    options.filter(|option| cubes(option) <= own).min_by_key(cubes).unwrap_or(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All shapes into which a sheet can be folded, found by trying every folding.
    fn folds_of_a_sheet(a: u32, b: u32, side: u32) -> Vec<[u32; 3]> {
        let mut all = Vec::new();
        for (along_a, along_b) in [(2, 1), (1, 2), (4, 1), (2, 2), (1, 4)] {
            let layers = along_a * along_b;
            let whole = a.is_multiple_of(along_a) && b.is_multiple_of(along_b);
            if whole && (layers == 2 || side == 4) {
                all.push(sorted([a / along_a, b / along_b, layers]));
            }
        }
        all.retain(|fold| extent(fold) == 3);
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn a_sheet_folds_into_two_layers_or_four() {
        for side in [2, 3, 4, 8] {
            for a in 2..20 {
                for b in 2..20 {
                    let mut found = folds([a, b, 1], side, Ties::Listed);
                    // Ignore folds of a sheet into another sheet.
                    found.retain(|fold| extent(fold) == 3);
                    found.sort_unstable();
                    assert_eq!(found, folds_of_a_sheet(a, b, side), "{a}x{b} by {side}");
                }
            }
        }
    }

    #[test]
    fn a_block_with_a_side_of_two_grows_to_four() {
        assert_eq!(folds([2, 6, 10], 4, Ties::Listed), [[3, 4, 10], [4, 5, 6]]);
        assert_eq!(folds([2, 6, 10], 8, Ties::Listed), Vec::<[u32; 3]>::new());
        assert_eq!(folds([3, 6, 10], 4, Ties::Listed), Vec::<[u32; 3]>::new());
        // A line does not fold, and neither does a single node.
        assert!(folds([8, 1, 1], 4, Ties::Listed).is_empty());
        assert_eq!(folded_for_cubes([1, 1, 1], 4, Ties::Listed), [1, 1, 1]);
    }

    #[test]
    fn every_factorization_is_there_once() {
        for nodes in 1..150_u32 {
            let mut found = factorizations([nodes, 1, 1], Ties::Original);
            found.sort_unstable();
            let mut all = Vec::new();
            for a in 1..=nodes {
                for b in a..=nodes {
                    for c in b..=nodes / (a * b).max(1) {
                        if a * b * c == nodes {
                            all.push([a, b, c]);
                        }
                    }
                }
            }
            assert_eq!(found, all);
        }
    }

    #[test]
    fn ties_are_broken_as_they_are_listed() {
        // Among shapes such as 2 x 9 x 18, 3 x 6 x 18 and 6 x 6 x 9 the smallest longest side
        // decides, then the order of shapes.
        assert_eq!(folded_for_torus([36, 1, 1], 16, Ties::Listed), [3, 3, 4]);
        assert_eq!(folded_for_torus([17, 1, 1], 16, Ties::Listed), [17, 1, 1]);
        // The shape 1 x 6 x 6 comes before 2 x 3 x 6, and neither is the best.
        let order = factorizations([36, 1, 1], Ties::Listed);
        assert_eq!(order[..3], [[1, 1, 36], [1, 2, 18], [1, 3, 12]]);
    }
}
