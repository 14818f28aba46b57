//! Hops over all pairs of nodes, computed for several centres at once, one in each vector lane.

/// Number of centre nodes that are processed in parallel, enough to fill several vector registers.
pub(super) const LANES: usize = 32;

pub(super) type Lanes<T> = [T; LANES];

/// Computes [`hops_over_pairs`](super::hops::hops_over_pairs) in all vector lanes at once.
///
/// Each lane belongs to one centre.
pub(super) fn hops_side_by_side(
    counts: &[Lanes<u16>],
    all: &Lanes<u16>,
    is_ring: bool,
) -> Lanes<u64> {
    let (mut some, mut sums) = ([0; LANES], [0; LANES]);
    if !is_ring {
        for counts in counts {
            change(&mut some, counts, u16::wrapping_add);
            add_parted(&mut sums, &some, all);
        }
        return sums;
    }
    let (side, half) = (counts.len(), counts.len() / 2);
    counts[..half].iter().for_each(|counts| change(&mut some, counts, u16::wrapping_add));
    // The half rings of the upper half of an even ring are complements of those in the lower half.
    let is_even = side.is_multiple_of(2);
    for from in 0..if is_even { half } else { side } {
        add_parted(&mut sums, &some, all);
        let end = if from + half < side { from + half } else { from + half - side };
        change(&mut some, &counts[end], u16::wrapping_add);
        change(&mut some, &counts[from], u16::wrapping_sub);
    }
    if !is_even {
        sums.iter_mut().for_each(|sum| *sum /= 2);
    }
    sums
}

/// Adds, in each lane, the number of pairs that a cut separates. With `some` of `all` nodes on one
/// side of the cut, this is `some` · (`all` − `some`).
fn add_parted(sums: &mut Lanes<u64>, some: &Lanes<u16>, all: &Lanes<u16>) {
    for ((sum, &some), &all) in sums.iter_mut().zip(some).zip(all) {
        *sum += u64::from(u32::from(some) * u32::from(all.wrapping_sub(some)));
    }
}

fn change(to: &mut Lanes<u16>, by: &Lanes<u16>, how: impl Fn(u16, u16) -> u16) {
    to.iter_mut().zip(by).for_each(|(to, &by)| *to = how(*to, by));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::hops::hops_over_pairs;
    use super::*;

    proptest! {
        #[test]
        fn hops_side_by_side_are_those_of_each(
            rows in prop::collection::vec(prop::collection::vec(0_u16..1000, LANES), 1..12),
            is_ring in any::<bool>(),
        ) {
            let counts: Vec<Lanes<u16>> =
                rows.iter().map(|row| std::array::from_fn(|lane| row[lane])).collect();
            let all = std::array::from_fn(|lane| rows.iter().map(|row| row[lane]).sum());
            let hops = hops_side_by_side(&counts, &all, is_ring);
            for lane in 0..LANES {
                let counts: Vec<u32> = rows.iter().map(|row| u32::from(row[lane])).collect();
                prop_assert_eq!(hops[lane], hops_over_pairs(&counts, is_ring));
            }
        }
    }
}
