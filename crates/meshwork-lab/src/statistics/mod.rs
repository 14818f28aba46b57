//! Means and their 95 % intervals.

pub mod sequence;
pub mod trend;

use std::sync::OnceLock;

pub const CONFIDENCE: f64 = 0.95;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Replications,
    /// The values are batches of one run. For a difference, they are batches of the same jobs in
    /// two runs.
    BatchMeans,
    Windows,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::Replications => "replications",
            Method::BatchMeans => "batch_means",
            Method::Windows => "windows",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub mean: Option<f64>,
    /// Half the width of the interval. `None` if there are too few values.
    pub half_width: Option<f64>,
    /// Number of averaged values: one for each replication, or for each window of a log.
    pub replications: u64,
    /// Method of the half width; `None` if there is no half width.
    pub method: Option<Method>,
}

impl Interval {
    pub fn excludes_zero(&self) -> bool {
        self.mean.zip(self.half_width).is_some_and(|(mean, half_width)| mean.abs() > half_width)
    }

    /// Factor by which the data must grow so that the interval excludes 0. It assumes that the mean
    /// does not change.
    ///
    /// `None` if the interval excludes 0 already, or if the factor is unknown.
    ///
    /// ```
    /// use meshwork_lab::statistics::{Interval, interval};
    /// let own = Interval { mean: Some(-2.0), half_width: Some(6.0), ..interval(&[1.0], &[]) };
    /// assert_eq!(own.factor_to_decide(), Some(9.0));
    /// ```
    pub fn factor_to_decide(&self) -> Option<f64> {
        let (mean, half_width) = self.mean.zip(self.half_width)?;
        let factor = (half_width / mean).powi(2);
        (!self.excludes_zero() && factor.is_finite()).then_some(factor)
    }
}

/// Mean of the values of independent replications, with its interval by Student's t distribution.
///
/// If there is a single replication, the interval is computed from `batches`, but the mean is the
/// replication's own value. If the metric is a ratio, this value is better than the mean of the
/// batches.
///
/// ```
/// use meshwork_lab::statistics::interval;
/// let of_three = interval(&[1.0, 2.0, 3.0], &[]);
/// assert_eq!(of_three.mean, Some(2.0));
/// assert!((of_three.half_width.unwrap() - 4.302652729911275 / 3.0_f64.sqrt()).abs() < 1e-9);
/// assert_eq!(interval(&[1.0], &[]).half_width, None);
/// ```
pub fn interval(values: &[f64], batches: &[f64]) -> Interval {
    let replications = values.len() as u64;
    let over_batches = values.len() == 1 && batches.len() > 1;
    let half_width = if over_batches { half_width_of_batches(batches) } else { half_width(values) };
    let method = if over_batches { Method::BatchMeans } else { Method::Replications };
    Interval {
        mean: mean(values),
        half_width,
        replications,
        method: half_width.is_some().then_some(method),
    }
}

pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Half the width of the 95 % interval of a mean; `None` for fewer than 2 values.
///
/// It is *t* · *s* / √*n*, with the standard deviation *s* and the quantile *t* of Student's *t*.
pub fn half_width(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let count = values.len() as f64;
    let mean = mean(values)?;
    // Sum the squares around the mean: the difference of two large sums would lose digits.
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    Some(t_quantile(values.len() as u64 - 1) * deviation / count.sqrt())
}

/// Half the width of the 95 % interval of the mean of consecutive batches.
///
/// Batches are not independent, and *t* · *s* / √*n* is too narrow. They are modelled as an
/// autoregressive process of first order: let *ρ* be the correlation of consecutive batches,
/// corrected for its bias in short series, and at least 0. Then *n* batches are equivalent to *n*
/// (1 − *ρ*) / (1 + *ρ*) independent ones. For fewer than 4, the quantile *t* is that of 4 batches.
///
/// See Law, *Simulation Modeling and Analysis*, 2015, section 9.5.3; for the bias: Marriott & Pope,
/// *Bias in the estimation of autocorrelations*, Biometrika 41, 1954.
pub fn half_width_of_batches(batches: &[f64]) -> Option<f64> {
    if batches.len() < MIN_BATCHES {
        return half_width(batches);
    }
    let (error, degrees) = error_of_batches(batches)?;
    Some(t_quantile(degrees) * error)
}

/// Half width as by [`half_width_of_batches`], for another confidence level between 0 and 1.
///
/// ```
/// use meshwork_lab::statistics::{half_width_of_batches, half_width_of_batches_at};
/// let batches = [1.0, 4.0, 2.0, 5.0, 1.0, 3.0, 2.0, 6.0];
/// let wide = half_width_of_batches_at(&batches, 0.99).unwrap();
/// assert!(wide > half_width_of_batches(&batches).unwrap());
/// ```
pub fn half_width_of_batches_at(batches: &[f64], confidence: f64) -> Option<f64> {
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence lies between 0 and 1");
    let (error, degrees) = error_of_batches(batches)?;
    Some(quantile(degrees, confidence) * error)
}

/// Standard error of the mean over the batches of a run, and its number of degrees of freedom.
fn error_of_batches(batches: &[f64]) -> Option<(f64, u64)> {
    if batches.len() < 2 {
        return None;
    }
    let count = batches.len() as f64;
    let mean = mean(batches)?;
    let squares: f64 = batches.iter().map(|value| (value - mean) * (value - mean)).sum();
    if batches.len() < MIN_BATCHES || squares <= 0.0 {
        return Some(((squares / (count - 1.0)).sqrt() / count.sqrt(), batches.len() as u64 - 1));
    }
    let neighbours: f64 = batches.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let correlation = (count * neighbours / squares + 1.0) / (count - 4.0);
    let correlation = correlation.clamp(0.0, MAX_CORRELATION);
    let worth = count * (1.0 - correlation) / (1.0 + correlation);
    let degrees = (worth.floor() as u64).max(4) - 1;
    Some(((squares / (count - 1.0) / worth).sqrt(), degrees))
}

/// Minimum number of batches for estimating their correlation.
///
/// With fewer batches, the correlation counts as 0.
const MIN_BATCHES: usize = 8;

/// Largest correlation of consecutive batches that is estimated. A higher correlation cannot be
/// told from a trend.
const MAX_CORRELATION: f64 = 0.9;

/// Half the width of the 95 % interval of a mean over windows of one log.
///
/// `stride` is the time between the starts of consecutive windows, divided by their length. If
/// windows overlap, they are weighted as in Meketon & Schmeiser, *Overlapping batch means*, WSC
/// 1984.
pub fn half_width_of_windows(windows: &[f64], stride: f64) -> Option<f64> {
    if stride >= 1.0 {
        return half_width(windows);
    }
    let mean = mean(windows)?;
    let count = windows.len() as f64;
    let apart = 1.0 + (count - 1.0) * stride;
    if apart < 2.0 {
        return None;
    }
    let squares: f64 = windows.iter().map(|value| (value - mean) * (value - mean)).sum();
    // Windows that share jobs deviate less from their common mean than independent windows would.
    let variance = squares / count * apart / (apart - 1.0);
    Some(t_quantile(apart.floor() as u64 - 1) * (variance / apart).sqrt())
}

/// Largest number of degrees of freedom for which the quantile of Student's t is computed exactly.
const MAX_EXACT: usize = 1000;

pub fn t_quantile(degrees: u64) -> f64 {
    static EXACT: [OnceLock<f64>; MAX_EXACT + 1] = [const { OnceLock::new() }; MAX_EXACT + 1];
    assert!(degrees > 0, "an interval needs two values");
    match EXACT.get(usize::try_from(degrees).unwrap_or(usize::MAX)) {
        Some(slot) => *slot.get_or_init(|| exact_quantile(degrees)),
        None => expanded_quantile(degrees),
    }
}

fn exact_quantile(degrees: u64) -> f64 {
    quantile(degrees, CONFIDENCE)
}

/// Half width of the central interval of Student's t distribution with the probability
/// `confidence`.
pub(crate) fn quantile(degrees: u64, confidence: f64) -> f64 {
    let (mut below, mut above) = (0.0, 1.0);
    while within(degrees, above) < confidence {
        (below, above) = (above, 2.0 * above);
    }
    loop {
        let middle = 0.5 * (below + above);
        if middle <= below || middle >= above {
            return middle;
        }
        let side = if within(degrees, middle) < confidence { &mut below } else { &mut above };
        *side = middle;
    }
}

/// Probability that a value of Student's t distribution lies between `-t` and `t`.
fn within(degrees: u64, t: f64) -> f64 {
    let tangent = t / (degrees as f64).sqrt();
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = tangent * cosine;
    let is_odd = degrees % 2 == 1;
    // Each term is the previous one times cos² and the next fraction.
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut k = if is_odd { 3 } else { 2 };
    while k <= degrees {
        sum += term;
        term *= cosine * cosine * (k - 1) as f64 / k as f64;
        k += 2;
    }
    if is_odd {
        std::f64::consts::FRAC_2_PI * (libm::atan(tangent) + sine * sum)
    } else {
        sine * sum
    }
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
        // Compare to the three decimals that tables of Student's t print.
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
        // With one degree of freedom, the distribution is that of Cauchy; two have a closed form.
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
        // Values 4 and 8: mean 6, s = 2√2, s/√2 = 2.
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

    /// Waits of the same random jobs in two queues, by Lindley's recursion. The second server has
    /// the speed `speed`, the first one speed 1.
    fn two_queues(
        stream: &mut meshwork::rng::Stream,
        load: f64,
        speed: f64,
        jobs: usize,
    ) -> Vec<[f64; 2]> {
        let mut waits = [0.0_f64; 2];
        let mut one = || {
            let seen = waits;
            let (work, gap) = (-stream.unit().ln(), -stream.unit().ln() / load);
            waits = [(waits[0] + work - gap).max(0.0), (waits[1] + work / speed - gap).max(0.0)];
            seen
        };
        (0..jobs).map(|_| one()).collect()
    }

    #[test]
    fn paired_batches_cover_a_known_difference() {
        // M/M/1: the mean wait is ρ / (μ − λ). 500 logs of 10,000 jobs, cut into 39 batches.
        let (load, speed) = (0.8, 1.1);
        let wait = |rate: f64| load / rate / (rate - load);
        let truth = wait(1.0) - wait(speed);
        let mut stream = meshwork::rng::Stream::new(1, 0, "paired");
        let (mut covered, mut naive, mut clear) = (0, 0, 0);
        for _ in 0..500 {
            let waits = two_queues(&mut stream, load, speed, 10_900);
            let batches: Vec<f64> = waits[1_000..]
                .chunks_exact(253)
                .map(|jobs| jobs.iter().map(|[a, b]| a - b).sum::<f64>() / 253.0)
                .collect();
            assert_eq!(batches.len(), 39);
            let off = (mean(&batches).unwrap() - truth).abs();
            let half = half_width_of_batches(&batches).unwrap();
            covered += u32::from(off <= half);
            naive += u32::from(off <= half_width(&batches).unwrap());
            clear += u32::from(mean(&batches).unwrap() > half);
        }
        // The nominal coverage is 95 %; intervals of independent batches would cover less.
        assert!((435..=490).contains(&covered), "{covered} of 500");
        assert!(naive + 8 < covered, "{naive} against {covered}");
        assert!(clear > 450, "the star is there where it should be: {clear}");
    }

    #[test]
    fn no_difference_is_rarely_called_one() {
        // Two servers of the same speed with correlated differences: the true difference is 0.
        let mut stream = meshwork::rng::Stream::new(2, 0, "null");
        let mut called = 0;
        for _ in 0..400 {
            let mut batches = Vec::new();
            let mut state = 0.0;
            for _ in 0..30 {
                state = 0.5 * state + (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0;
                batches.push(state);
            }
            let half = half_width_of_batches(&batches).unwrap();
            called += u32::from(mean(&batches).unwrap().abs() > half);
        }
        assert!(called <= 45, "{called} of 400 at a level of 5 %, neighbours correlated by 0.5");
    }

    #[test]
    fn windows_that_overlap_count_for_less() {
        let values: Vec<f64> = (0..9).map(|i| f64::from(i % 3)).collect();
        let apart = half_width_of_windows(&values, 1.0).unwrap();
        assert!((apart - half_width(&values).unwrap()).abs() < 1e-12);
        // Nine windows, each of which overlaps half of the next, fill the time of five windows.
        let overlapping = half_width_of_windows(&values, 0.5).unwrap();
        let by_hand = t_quantile(4) * (6.0 / 9.0 * 5.0 / 4.0 / 5.0_f64).sqrt();
        assert!((overlapping - by_hand).abs() < 1e-12 && overlapping > apart);
        assert_eq!(half_width_of_windows(&values[..2], 0.5), None, "they fill less than two");
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
