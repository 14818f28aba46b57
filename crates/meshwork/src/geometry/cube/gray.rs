//! Binary reflected Gray codes: orders of a hypercube's nodes by steps to a neighbour.

use super::{Subcube, keep_bases};
use crate::geometry::NodeSet;
use crate::topology::Node;

/// Gray code, given by the order of its dimensions: first the dimension that changes most often.
///
/// At position *i* is the node whose bit `order[j]` equals bit *j* of `i ^ (i >> 1)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GrayCode {
    order: Vec<u32>,
}

impl GrayCode {
    pub(crate) fn new(order: Vec<u32>) -> GrayCode {
        GrayCode { order }
    }

    pub(crate) fn standard(dimension: u32) -> GrayCode {
        GrayCode::new((0..dimension).collect())
    }

    /// The dimensions of the hypercube in the order of the code: first the one that changes most
    /// often.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Mask of the first `dimension` dimensions of the order, which change most often along the
    /// code.
    pub(crate) fn prefix(&self, dimension: u32) -> u32 {
        self.order[..dimension as usize].iter().map(|d| 1 << d).sum()
    }

    /// The first free subcube of dimension *k* that the code recognises.
    ///
    /// The code recognises subcubes that consist of two adjacent blocks of 2ᵏ⁻¹ positions each. The
    /// last block of the code counts as adjacent to the first. **O(k · 2ⁿ / 64 + 2ⁿ⁻ᵏ)** for *n*
    /// dimensions.
    pub(crate) fn first(
        &self,
        free: &NodeSet,
        dimension: u32,
        buffer: &mut Vec<u64>,
    ) -> Option<Subcube> {
        let whole = self.order.len() as u32;
        if dimension > whole {
            return None;
        }
        let half = dimension.saturating_sub(1);
        let mask = self.prefix(half);
        buffer.clear();
        buffer.extend_from_slice(free.words());
        keep_bases(buffer, mask);
        let is_free = |base: Node| buffer[base as usize / 64] >> (base % 64) & 1 == 1;
        let changing = &self.order[half as usize..];
        let blocks = 1_u32 << changing.len();
        let mut base: Node = 0;
        if dimension == 0 {
            for block in 0..blocks {
                if is_free(base) {
                    return Some(Subcube { base, mask });
                }
                base ^= 1 << step(changing, block);
            }
            return None;
        }
        // The whole cube has two blocks. Each is the successor of the other, so one pair is enough.
        let pairs = if dimension == whole { 1 } else { blocks };
        let mut last_was_free = is_free(base);
        for block in 0..pairs {
            let changes = 1 << step(changing, block);
            base ^= changes;
            let this_is_free = is_free(base);
            if last_was_free && this_is_free {
                return Some(Subcube { base: base & !changes, mask: mask | changes });
            }
            last_was_free = this_is_free;
        }
        None
    }
}

/// The dimension in which block `block` of a Gray code differs from the next block.
///
/// The last block is followed by the first one.
fn step(changing: &[u32], block: u32) -> u32 {
    let index = (block + 1).trailing_zeros() as usize;
    // A code without dimensions has a single node and no step; the value returned for it is not
    // used.
    changing.get(index).or(changing.last()).copied().unwrap_or(0)
}

/// Gray codes such that the dimensions of every subcube are a prefix of the order of some code.
///
/// For *n* dimensions there are C(n, ⌊n/2⌋) codes, one for each set of ⌊n/2⌋ dimensions. The order
/// of a code follows from a sequence of brackets, one for each dimension in ascending order. A
/// member of the set is a closing bracket, and any other dimension is an opening one. The order
/// lists the matched closing brackets, then all unmatched brackets, then the matched opening ones.
/// Each of the three lists is ascending. This order extends the symmetric chain through the set to
/// a full chain.
pub(crate) fn symmetric_chains(dimension: u32) -> Vec<GrayCode> {
    let size = dimension / 2;
    let mut codes = Vec::new();
    let mut members: Vec<u32> = (0..size).collect();
    loop {
        codes.push(chain_through(&members, dimension));
        // The next set of dimensions in lexicographic order.
        let bound = |i: usize| dimension - size + i as u32;
        let Some(i) = (0..members.len()).rposition(|i| members[i] < bound(i)) else {
            return codes;
        };
        members[i] += 1;
        for j in i + 1..members.len() {
            members[j] = members[j - 1] + 1;
        }
    }
}

fn chain_through(members: &[u32], dimension: u32) -> GrayCode {
    let (mut open, mut closed, mut first, mut last) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for d in 0..dimension {
        if !members.contains(&d) {
            open.push(d);
        } else if let Some(partner) = open.pop() {
            first.push(d);
            last.push(partner);
        } else {
            closed.push(d);
        }
    }
    let mut middle = closed;
    middle.append(&mut open);
    middle.sort_unstable();
    last.sort_unstable();
    GrayCode::new(first.into_iter().chain(middle).chain(last).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_published_codes_of_dimension_four() {
        let orders: Vec<_> = symmetric_chains(4).iter().map(|c| c.order().to_vec()).collect();
        let expected =
            [[0, 1, 2, 3], [2, 0, 3, 1], [3, 0, 1, 2], [1, 2, 3, 0], [1, 3, 0, 2], [2, 3, 0, 1]];
        assert_eq!(orders, expected);
        let orders: Vec<_> = symmetric_chains(3).iter().map(|c| c.order().to_vec()).collect();
        assert_eq!(orders, [[0, 1, 2], [1, 2, 0], [2, 0, 1]]);
    }

    #[test]
    fn every_set_of_dimensions_is_a_prefix_of_some_code() {
        let mut binomial = 1;
        for n in 1..=10_u32 {
            let codes = symmetric_chains(n);
            let prefixes: BTreeSet<u32> =
                codes.iter().flat_map(|code| (0..=n).map(|k| code.prefix(k))).collect();
            assert_eq!(prefixes.len(), 1 << n);
            binomial = if n % 2 == 0 { binomial * 2 } else { binomial * n / n.div_ceil(2) };
            assert_eq!(codes.len(), binomial as usize, "C({n}, {})", n / 2);
        }
    }

    #[test]
    fn neighbours_in_a_code_differ_in_one_bit() {
        for code in symmetric_chains(5) {
            let node = |i: u32| -> Node {
                let gray = i ^ (i >> 1);
                code.order().iter().enumerate().map(|(j, d)| (gray >> j & 1) << d).sum()
            };
            for i in 0..32 {
                let changed = node(i) ^ node((i + 1) % 32);
                assert_eq!(changed, 1 << step(code.order(), i), "{code:?} {i}");
            }
        }
    }
}
