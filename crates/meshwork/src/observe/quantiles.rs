//! Quantiles of values measured for each job.

use std::collections::BTreeMap;

/// Largest number of values that are stored individually. If there are more, they are counted by
/// class.
pub(super) const MAX_EXACT: usize = 1 << 20;

/// Number of low bits of a value that are dropped to find its class. The exponent and the ten
/// highest bits of the mantissa remain.
const DROPPED: u32 = 42;

/// Nonnegative values of one quantity, from which quantiles are taken.
///
/// Up to [`MAX_EXACT`] values are stored individually, in the order in which they were added. They
/// take eight bytes each, and quantiles are exact. If there are more values, they are counted in
/// classes of relative width 2⁻¹⁰. A quantile is then within 0.05 % of the exact one. There are
/// 1024 classes for each power of two, in practice about ten thousand in all.
#[derive(Clone, Debug, Default)]
pub(super) struct Quantiles {
    exact: Vec<f64>,
    /// Number of values in each class. Empty while values are stored individually.
    classes: BTreeMap<u64, u64>,
    counted: u64,
}

impl Quantiles {
    /// Adds a value, which must not be negative. Takes **O(1)** while values are stored
    /// individually, and later **O(log c)** for *c* classes of values.
    pub(super) fn add(&mut self, value: f64) {
        self.add_up_to(value, MAX_EXACT);
    }

    /// Adds a value. Up to `most` values are stored individually. When one more is added, all
    /// values are counted by class instead.
    pub(super) fn add_up_to(&mut self, value: f64, most: usize) {
        if self.counted == 0 && self.exact.len() < most {
            self.exact.push(value);
            return;
        }
        for value in std::mem::take(&mut self.exact).into_iter().chain([value]) {
            *self.classes.entry((value + 0.0).to_bits() >> DROPPED).or_default() += 1;
            self.counted += 1;
        }
    }

    /// Quantile for a probability `share` from 0 to 1; `None` if there are no values.
    ///
    /// The quantile of *n* sorted values is the value at index `share` · (*n* − 1), counted from 0.
    /// Between two indices, it is interpolated linearly. So the median of an even number of values
    /// is the mean of the two middle values. Takes **O(n)** for *n* values.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        if self.counted == 0 {
            return quantile(&mut self.exact.clone(), share);
        }
        let (rank, between) = place(self.counted, share);
        let lower = self.ranked(rank)?;
        Some(on_line(lower, self.ranked(rank + u64::from(between > 0.0))?, between))
    }

    /// Midpoint of the class that contains the value of the given rank. The rank is an index among
    /// the sorted values, from 0. The class of the value 0 has the midpoint 0.
    fn ranked(&self, rank: u64) -> Option<f64> {
        let mut below = 0;
        let class = self.classes.iter().find(|(_, count)| {
            below += **count;
            below > rank
        });
        let (&class, _) = class?;
        let half = if class == 0 { 0 } else { 1 << (DROPPED - 1) };
        Some(f64::from_bits((class << DROPPED) + half))
    }

    /// Quantiles of the values of `count` groups, one for each group. `groups` gives the group of
    /// each value, in the order in which values were added. The result is empty if some group has
    /// no value, or if values are no longer stored individually.
    pub(super) fn in_groups(
        &self,
        groups: impl Iterator<Item = Option<usize>>,
        count: usize,
        share: f64,
    ) -> Vec<f64> {
        let mut values = vec![Vec::new(); count];
        for (&value, group) in self.exact.iter().zip(groups) {
            if let Some(group) = group {
                values[group].push(value);
            }
        }
        values
            .iter_mut()
            .map(|values| quantile(values, share))
            .collect::<Option<_>>()
            .unwrap_or_default()
    }
}

/// Index, from 0, at which a quantile lies among `count` sorted values. Returns this index rounded
/// down, and the fraction that was dropped.
fn place(count: u64, share: f64) -> (u64, f64) {
    let at = share * (count - 1) as f64;
    (at.floor() as u64, at - at.floor())
}

fn on_line(lower: f64, upper: f64, between: f64) -> f64 {
    if between > 0.0 { lower + between * (upper - lower) } else { lower }
}

fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let (rank, between) = place(values.len() as u64, share);
    let (_, lower, above) = values.select_nth_unstable_by(rank as usize, f64::total_cmp);
    let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(*lower);
    Some(on_line(*lower, next, between))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_sorting(values: &[f64], share: f64) -> Option<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let at = share * last as f64;
        let (low, high) = (at.floor() as usize, at.ceil() as usize);
        Some(sorted[low] + (at - at.floor()) * (sorted[high] - sorted[low]))
    }

    fn filled(values: &[f64], most: usize) -> Quantiles {
        let mut quantiles = Quantiles::default();
        values.iter().for_each(|&value| quantiles.add_up_to(value, most));
        quantiles
    }

    proptest! {
        #[test]
        fn few_values_are_exact(
            values in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1e6], 0..60),
            share in 0.0..=1.0,
        ) {
            let found = filled(&values, MAX_EXACT).quantile(share);
            match (found, by_sorting(&values, share)) {
                (Some(found), Some(exact)) => prop_assert!((found - exact).abs() <= 1e-9 * exact),
                (found, exact) => prop_assert_eq!(found, exact),
            }
        }

        #[test]
        fn many_are_within_a_twentieth_of_a_percent(
            values in prop::collection::vec(prop_oneof![Just(0.0), 1e-6..1e12], 11..60),
            share in 0.0..=1.0,
        ) {
            let counted = filled(&values, 10);
            let (found, exact) = (counted.quantile(share).unwrap(), by_sorting(&values, share).unwrap());
            prop_assert!((found - exact).abs() <= 0.0005 * exact, "{} {}", found, exact);
        }
    }

    #[test]
    fn batches_are_runs_of_values_as_they_came() {
        let values = filled(&[3.0, 1.0, 2.0, 9.0, 7.0, 8.0, 100.0], MAX_EXACT);
        let groups = |of: usize| (0..6).map(move |i| Some(i / of));
        assert_eq!(values.in_groups(groups(3), 2, 0.5), [2.0, 8.0]);
        assert_eq!(filled(&[1.0, 2.0, 3.0], 2).in_groups(groups(1), 3, 0.5), [0.0; 0]);
    }
}
