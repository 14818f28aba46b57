//! Search within a subcube for the lightest subcube of a given smaller dimension.

use super::Subcube;
use crate::topology::Node;

/// The subcube of dimension `dimension` within `cube` whose nodes have the least total weight.
///
/// Ties go to the lowest base, then to the lowest mask. **O(3ʲ)** in the worst case for a cube of
/// dimension *j*. The search skips branches that are heavier than the best subcube found so far.
pub(crate) fn lightest(
    cube: Subcube,
    dimension: u32,
    mut weight: impl FnMut(Node) -> u32,
) -> Subcube {
    let weights: Vec<u32> = cube.nodes().map(&mut weight).collect();
    let free: Vec<u32> = cube.dimensions().collect();
    let first = cube.first_of_dimension(dimension);
    if weights.iter().all(|weight| *weight == weights[0]) {
        return first;
    }
    let mut search = Search { cube, free: &free, best: None };
    search.descend(weights, free.len(), dimension, 0);
    search.best.map_or(first, |(_, cube)| cube)
}

struct Search<'a> {
    cube: Subcube,
    /// Dimensions along which `cube` extends; the search refers to them by index in this list.
    free: &'a [u32],
    best: Option<(u32, Subcube)>,
}

impl Search<'_> {
    /// Searches for the lightest subcube along the dimensions of `mask` and `wanted` further ones.
    ///
    /// The further dimensions are taken from the first `undecided` dimensions of `free`. `weights`
    /// has the weight of each subcube along `mask`, in order of base.
    fn descend(&mut self, weights: Vec<u32>, undecided: usize, wanted: u32, mask: u32) {
        let least = weights.iter().min().expect("a cube has a node");
        if self.best.is_some_and(|(best, _)| best < *least) {
            return;
        }
        if wanted == 0 {
            let at = weights.iter().position(|weight| weight == least).expect("the least is there");
            let found = (*least, self.subcube(at, mask));
            if self.best.is_none_or(|best| found < best) {
                self.best = Some(found);
            }
            return;
        }
        let d = undecided - 1;
        let half = 1 << d;
        let folded = weights
            .chunks_exact(2 * half)
            .flat_map(|pair| (0..half).map(|i| pair[i] + pair[half + i]))
            .collect();
        if d as u32 >= wanted {
            self.descend(weights, d, wanted, mask);
        }
        self.descend(folded, d, wanted - 1, mask | 1 << self.free[d]);
    }

    fn subcube(&self, index: usize, mask: u32) -> Subcube {
        let (mut rest, mut base) = (index, self.cube.base);
        for d in self.free.iter().filter(|&d| mask >> d & 1 == 0) {
            base |= (rest as u32 & 1) << d;
            rest >>= 1;
        }
        Subcube { base, mask }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::geometry::cube::parts;

    proptest! {
        #[test]
        fn it_is_the_least_of_all(
            base in 0_u32..128,
            mask in 0_u32..128,
            weights in prop::collection::vec(0_u32..4, 128),
            k in 0_u32..8,
        ) {
            let cube = Subcube { base: base & !mask, mask };
            let dimension = k.min(cube.dimension());
            let weight = |node: Node| weights[node as usize];
            let expected = parts(mask)
                .filter(|part| part.count_ones() == dimension)
                .flat_map(|free| {
                    parts(mask & !free).map(move |fixed| Subcube { base: cube.base | fixed, mask: free })
                })
                .min_by_key(|found| (found.nodes().map(weight).sum::<u32>(), *found));
            prop_assert_eq!(Some(lightest(cube, dimension, weight)), expected);
        }
    }
}
