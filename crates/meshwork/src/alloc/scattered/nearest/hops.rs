//! Sum of the distances between all pairs of nodes along one dimension.

/// Sum of distances over all pairs of items on a line or ring; `counts` has the items by position.
///
/// On a line, a pair is counted once at each step between its two positions. On a ring of *s*
/// positions, each half ring of ⌊s / 2⌋ consecutive positions is considered instead of a step. The
/// number of half rings that contain exactly one item of a pair is twice the distance of the pair.
///
/// **O(s)** for *s* positions.
pub(super) fn hops_over_pairs(counts: &[u32], is_ring: bool) -> u64 {
    let all = u64::from(counts.iter().sum::<u32>());
    let parted = |some: u64| some * (all - some);
    if !is_ring {
        let up_to = counts.iter().scan(0, |sum, &count| {
            *sum += u64::from(count);
            Some(*sum)
        });
        return up_to.map(parted).sum();
    }
    let (side, half) = (counts.len(), counts.len() / 2);
    let (lower, upper) = counts.split_at(half);
    let mut in_half = u64::from(lower.iter().sum::<u32>());
    let mut sum = 0;
    for (&goes, &comes) in lower.iter().zip(upper) {
        sum += parted(in_half);
        in_half = in_half + u64::from(comes) - u64::from(goes);
    }
    if side.is_multiple_of(2) {
        // The half rings of the upper half are complements of those in the lower half.
        return sum;
    }
    // The upper part has one start more, and its half rings wrap around.
    let others = upper.iter().zip(upper[half..].iter().chain(lower));
    for (&goes, &comes) in others {
        sum += parted(in_half);
        in_half = in_half + u64::from(comes) - u64::from(goes);
    }
    sum / 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn hops_over_pairs_are_the_sum_over_all_pairs(
            counts in prop::collection::vec(0_u32..4, 1..12),
            is_ring in any::<bool>(),
        ) {
            let mut sum = 0;
            let side = counts.len();
            for i in 0..side {
                for j in i..side {
                    let straight = j - i;
                    let apart = if is_ring { straight.min(side - straight) } else { straight };
                    sum += (counts[i] * counts[j]) as usize * apart;
                }
            }
            prop_assert_eq!(hops_over_pairs(&counts, is_ring), sum as u64);
        }
    }
}
