//! Distances between two samples of numbers, which measure how well a model fits a log.

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub mean: f64,
    /// Coefficient of variation: standard deviation divided by mean; 0 if the mean is 0.
    pub cv: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Spread {
        let n = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n;
        Spread { mean, cv: if mean > 0.0 { variance.sqrt() / mean } else { 0.0 } }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    pub what: &'static str,
    /// Kolmogorov–Smirnov distance: maximum difference between the two distribution functions.
    pub ks: f64,
    pub log: Spread,
    pub model: Spread,
}

impl Distance {
    /// Compares a column of the log with the same column of jobs drawn from the model. **O(n log
    /// n)** for *n* values.
    pub(super) fn between(what: &'static str, mut log: Vec<f64>, mut model: Vec<f64>) -> Distance {
        let spreads = (Spread::of(&log), Spread::of(&model));
        log.sort_unstable_by(f64::total_cmp);
        model.sort_unstable_by(f64::total_cmp);
        Distance { what, ks: kolmogorov_smirnov(&log, &model), log: spreads.0, model: spreads.1 }
    }
}

/// Maximum difference between the distribution functions of two sorted samples. It is 1 if one
/// sample is empty.
fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j, mut largest) = (0, 0, 0.0_f64);
    if a.is_empty() || b.is_empty() {
        return 1.0;
    }
    while i < a.len() && j < b.len() {
        // All values equal to this one are passed at once, since ties are not a difference.
        let value = a[i].min(b[j]);
        while i < a.len() && a[i] <= value {
            i += 1;
        }
        while j < b.len() && b[j] <= value {
            j += 1;
        }
        let difference = i as f64 / a.len() as f64 - j as f64 / b.len() as f64;
        largest = largest.max(difference.abs());
    }
    largest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Kolmogorov–Smirnov distance by its definition: shares of both samples up to every value.
    fn by_counting(a: &[f64], b: &[f64]) -> f64 {
        let share = |values: &[f64], most: f64| {
            values.iter().filter(|&&value| value <= most).count() as f64 / values.len() as f64
        };
        let values = a.iter().chain(b);
        values.map(|&most| (share(a, most) - share(b, most)).abs()).fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn the_distance_is_its_definition(
            a in prop::collection::vec(0..12_u32, 1..40),
            b in prop::collection::vec(0..12_u32, 1..40),
        ) {
            let floats = |values: &[u32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
            let (a, b) = (floats(&a), floats(&b));
            let distance = Distance::between("x", a.clone(), b.clone());
            prop_assert!((distance.ks - by_counting(&a, &b)).abs() < 1e-12);
        }
    }

    #[test]
    fn by_hand() {
        let distance = Distance::between("x", vec![1.0, 1.0, 4.0, 2.0], vec![3.0, 5.0]);
        assert!((distance.ks - 0.75).abs() < 1e-12);
        assert!(
            (distance.log.mean - 2.0).abs() < 1e-12 && (distance.model.cv - 0.25).abs() < 1e-12
        );
        assert!((Distance::between("x", vec![], vec![1.0]).ks - 1.0).abs() < 1e-12);
    }
}
