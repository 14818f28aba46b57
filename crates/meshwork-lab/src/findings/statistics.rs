//! Means and their 95 % intervals.

use std::sync::OnceLock;

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// Where half widths come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// From independent replications.
    Replications,
    /// From batches of one run.
    BatchMeans,
}

impl Method {
    /// Its name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::Replications => "replications",
            Method::BatchMeans => "batch_means",
        }
    }
}

/// A mean and half the width of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean; `None` where nothing was measured.
    pub mean: Option<f64>,
    /// Half the width of the interval; `None` where there is too little to tell.
    pub half_width: Option<f64>,
    /// How many replications measured it.
    pub replications: u64,
    /// Where the half width comes from; `None` where there is none.
    pub method: Option<Method>,
}

impl Interval {
    /// Whether 0 lies outside the interval.
    #[must_use]
    pub fn excludes_zero(&self) -> bool {
        self.mean.zip(self.half_width).is_some_and(|(mean, half_width)| mean.abs() > half_width)
    }
}

/// The mean over independent replications, in order, with its Student-t interval; where there is one
/// replication with batches, the interval is theirs.
///
/// The mean of a single run is its own value and not the mean of its batches: of a ratio, such as a
/// mean over jobs, the two differ a little, and the run's value is the better estimate.
///
/// ```
/// use meshwork_lab::findings::statistics::interval;
/// let of_three = interval(&[1.0, 2.0, 3.0], &[]);
/// assert_eq!(of_three.mean, Some(2.0));
/// assert!((of_three.half_width.unwrap() - 4.302652729911275 / 3.0_f64.sqrt()).abs() < 1e-9);
/// assert_eq!(interval(&[1.0], &[]).half_width, None);
/// ```
#[must_use]
pub fn interval(values: &[f64], batches: &[f64]) -> Interval {
    let replications = values.len() as u64;
    let over_batches = values.len() == 1 && batches.len() > 1;
    let half_width = half_width(if over_batches { batches } else { values });
    let method = if over_batches { Method::BatchMeans } else { Method::Replications };
    Interval {
        mean: mean(values),
        half_width,
        replications,
        method: half_width.is_some().then_some(method),
    }
}

/// The arithmetic mean; `None` of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// *t* · *s* / √*n*: half the width of the 95 % interval of the mean; `None` for fewer than 2 values.
#[must_use]
pub fn half_width(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let count = values.len() as f64;
    let mean = mean(values)?;
    // Around the mean and in a second pass: the difference of two large sums loses digits.
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    Some(t_quantile(values.len() as u64 - 1) * deviation / count.sqrt())
}

/// Degrees of freedom up to which the quantile is computed from the distribution itself.
const MAX_EXACT: usize = 1000;

/// The 97.5 % quantile of Student's t distribution.
///
/// Beyond 1000 degrees of freedom it is the Cornish–Fisher expansion around the normal quantile,
/// whose error there is below 10⁻¹².
///
/// # Reference
/// Abramowitz & Stegun, *Handbook of Mathematical Functions*, 1964, 26.7.5.
///
/// # Panics
/// If there is no degree of freedom.
#[must_use]
pub fn t_quantile(degrees: u64) -> f64 {
    static EXACT: [OnceLock<f64>; MAX_EXACT + 1] = [const { OnceLock::new() }; MAX_EXACT + 1];
    assert!(degrees > 0, "an interval needs two values");
    match EXACT.get(usize::try_from(degrees).unwrap_or(usize::MAX)) {
        Some(slot) => *slot.get_or_init(|| exact_quantile(degrees)),
        None => expanded_quantile(degrees),
    }
}

fn exact_quantile(degrees: u64) -> f64 {
    let distribution = StudentsT::new(0.0, 1.0, degrees as f64).expect("degrees are positive");
    distribution.inverse_cdf(0.5 + CONFIDENCE / 2.0)
}

fn expanded_quantile(degrees: u64) -> f64 {
    let z = 1.959_963_984_540_054_f64;
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    let n = degrees as f64;
    z + (z3 + z) / (4.0 * n)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // To the three decimals that every table of t prints.
        for (degrees, table) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (9, 2.262),
            (19, 2.093),
            (29, 2.045),
            (60, 2.000),
            (120, 1.980),
            (1000, 1.962),
            (1_000_000, 1.960),
        ] {
            assert!((t_quantile(degrees) - table).abs() < 5.1e-4, "{degrees}");
        }
        // In closed form: one degree is a Cauchy distribution, two have a square root.
        let cauchy = (std::f64::consts::PI * 0.475).tan();
        assert!((t_quantile(1) - cauchy).abs() < 1e-9);
        let two = 0.95 * (2.0 / (1.0_f64 - 0.95 * 0.95)).sqrt();
        assert!((t_quantile(2) - two).abs() < 1e-9);
    }

    #[test]
    fn the_expansion_meets_the_distribution() {
        for degrees in [500, 1000] {
            let apart = (exact_quantile(degrees) - expanded_quantile(degrees)).abs();
            assert!(apart < 1e-9, "{degrees}: {apart}");
        }
        assert!(t_quantile(1000) > t_quantile(1001));
    }

    #[test]
    fn intervals_by_hand() {
        // 4, 8: mean 6, s = 2√2, s/√2 = 2.
        let two = interval(&[4.0, 8.0], &[1.0, 2.0]);
        assert_eq!((two.mean, two.replications), (Some(6.0), 2));
        assert!((two.half_width.unwrap() - 2.0 * 12.706_204_736_174_7).abs() < 1e-8);
        assert_eq!(two.method, Some(Method::Replications));
        let one = interval(&[5.5], &[4.0, 8.0]);
        assert_eq!((one.mean, one.replications), (Some(5.5), 1));
        assert_eq!((one.half_width, one.method), (two.half_width, Some(Method::BatchMeans)));
        let alone = interval(&[5.5], &[4.0]);
        assert_eq!((alone.mean, alone.half_width, alone.method), (Some(5.5), None, None));
        let nothing = interval(&[], &[]);
        assert_eq!((nothing.mean, nothing.half_width, nothing.replications), (None, None, 0));
    }

    #[test]
    fn intervals_cover_the_mean_as_often_as_they_say() {
        // 2,000 intervals over 5 sums of 12 uniforms: 95 % of them, with a standard error of 0.5 %.
        let mut stream = meshwork::rng::Stream::new(1, 0, "coverage");
        let mut covered = 0;
        for _ in 0..2000 {
            let values: Vec<f64> =
                (0..5).map(|_| (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0).collect();
            let interval = interval(&values, &[]);
            covered += u32::from(interval.mean.unwrap().abs() <= interval.half_width.unwrap());
        }
        assert!((1870..=1930).contains(&covered), "{covered}");
    }

    proptest! {
        #[test]
        fn scaling_by_two_scales_exactly(values in prop::collection::vec(-1e6_f64..1e6, 2..20)) {
            let doubled: Vec<f64> = values.iter().map(|value| value * 2.0).collect();
            prop_assert_eq!(half_width(&doubled), half_width(&values).map(|width| width * 2.0));
        }
    }
}
