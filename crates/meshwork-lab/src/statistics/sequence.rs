//! Confidence sequences: intervals for a mean that may be looked at after every new value.
//!
//! With the given probability, all intervals of a confidence sequence cover the mean, so that one
//! may look, stop and continue at any time. An interval consists of all means that a test does not
//! reject. The test statistic is the likelihood ratio of Student's *t* against a normal mixture of
//! standardised means,
//!
//! *E* = √(c² / (n + c²)) · ((n + c²) V / ((n + c²) V − S²))^(n/2)
//!
//! where *S* is the sum of the deviations of *n* values from the tested mean, and *V* the sum of
//! their squares. *E* is a martingale if the mean is the tested one. Then, by Ville's inequality,
//! the probability that *E* ever exceeds 1/α is at most α. The values are assumed to be normal;
//! tests measure the coverage for skewed values.
//!
//! See Lai, *On confidence sequences*, Annals of Statistics 4, 1976; Wang & Ramdas, *Anytime-valid
//! t-tests and confidence sequences for Gaussian means with unknown variance*, 2023.

use std::f64::consts::LN_2;

/// Precision c² of the normal mixture in the test statistic. With it, the intervals of a race are
/// about as narrow as possible after 20 to 100 values.
const MIXTURE: f64 = 1.0;

/// Half width of an interval of the confidence sequence, in standard deviations (with divisor *n*).
pub(crate) fn factor(count: f64, alpha: f64) -> f64 {
    let all = count + MIXTURE;
    let level = libm::exp((2.0 * libm::log(alpha) + libm::log(MIXTURE / all)) / count);
    let denominator = level * all - MIXTURE;
    if denominator <= 0.0 {
        return f64::INFINITY;
    }
    (all * (1.0 - level) / denominator).sqrt()
}

/// Number, mean and sum of squared deviations of a sequence of values, updated value by value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunningMoments {
    count: f64,
    mean: f64,
    scatter: f64,
}

impl RunningMoments {
    /// Adds a value by Welford's recurrence, which keeps precision when values are close to each
    /// other.
    pub fn push(&mut self, value: f64) {
        self.count += 1.0;
        let off = value - self.mean;
        self.mean += off / self.count;
        self.scatter += off * (value - self.mean);
    }

    pub fn count(&self) -> u64 {
        self.count as u64
    }

    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Sample variance of the values, with divisor *n* − 1; 0 for fewer than two values.
    pub fn variance(&self) -> f64 {
        if self.count < 2.0 { 0.0 } else { self.scatter / (self.count - 1.0) }
    }

    /// Half width of the confidence interval for the mean, with error probability `alpha`. It is
    /// infinite for too few values.
    ///
    /// ```
    /// use meshwork_lab::statistics::sequence::RunningMoments;
    /// let values: RunningMoments = (0..40).map(|i| f64::from(i % 5)).collect();
    /// assert!(values.half_width(0.05) < values.half_width(0.001));
    /// assert!(RunningMoments::default().half_width(0.05).is_infinite());
    /// ```
    pub fn half_width(&self, alpha: f64) -> f64 {
        self.half_width_by(factor(self.count, alpha))
    }

    /// Half width of an interval of the confidence sequence. `factor` is this half width in
    /// standard deviations.
    pub(crate) fn half_width_by(&self, factor: f64) -> f64 {
        if self.count < 2.0 || factor.is_infinite() {
            return f64::INFINITY;
        }
        factor * (self.scatter / self.count).sqrt()
    }

    pub fn ends(&self, alpha: f64) -> [f64; 2] {
        let half = self.half_width(alpha);
        [self.mean - half, self.mean + half]
    }
}

impl FromIterator<f64> for RunningMoments {
    fn from_iter<I: IntoIterator<Item = f64>>(iter: I) -> RunningMoments {
        let mut moments = RunningMoments::default();
        iter.into_iter().for_each(|value| moments.push(value));
        moments
    }
}

/// Sequential test of which of two compared sides has the smaller values.
///
/// Its result may be read after every pair. Only the numbers of won pairs count, so that no
/// distribution is assumed; equal pairs are left out. The statistic *E* is the mean, weighted by
/// Jeffreys' prior, of likelihood ratios of a probability of winning to ½:
///
/// *E* = 2^n · B(s + ½, n − s + ½) / B(½, ½) for *s* of *n* pairs won.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wins {
    pub won: u64,
    pub lost: u64,
    pub equal: u64,
}

impl Wins {
    pub fn push(&mut self, ours: f64, theirs: f64) {
        match ours.total_cmp(&theirs) {
            std::cmp::Ordering::Less => self.won += 1,
            std::cmp::Ordering::Greater => self.lost += 1,
            std::cmp::Ordering::Equal => self.equal += 1,
        }
    }

    /// Anytime-valid *p*-value of the test, which is 1/*E* but at most 1.
    ///
    /// If both sides are equally good, the probability that this value ever falls to α or below is
    /// at most α. So it may be computed after every pair.
    ///
    /// ```
    /// use meshwork_lab::statistics::sequence::Wins;
    /// assert!(Wins { won: 20, lost: 1, equal: 0 }.p_value() < 0.001);
    /// assert!((Wins { won: 5, lost: 5, equal: 0 }.p_value() - 1.0).abs() < 1e-12);
    /// ```
    pub fn p_value(&self) -> f64 {
        let (won, lost) = (self.won as f64, self.lost as f64);
        let n = won + lost;
        let beta = |a: f64, b: f64| libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
        let log = n * LN_2 + beta(won + 0.5, lost + 0.5) - beta(0.5, 0.5);
        libm::exp(-log).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use meshwork::rng::Stream;

    use super::*;
    use crate::statistics::t_quantile;
    use crate::tests::normal;

    /// Logarithm of the test statistic *E*, computed directly from the formula as a check.
    fn evidence(values: &[f64], tested: f64) -> f64 {
        let n = values.len() as f64;
        let s: f64 = values.iter().map(|x| x - tested).sum();
        let v: f64 = values.iter().map(|x| (x - tested).powi(2)).sum();
        let all = n + MIXTURE;
        0.5 * (MIXTURE / all).ln() + 0.5 * n * (all * v / (all * v - s * s)).ln()
    }

    #[test]
    fn the_interval_is_the_set_of_means_that_the_martingale_accepts() {
        let mut stream = Stream::new(1, 0, "invert");
        for alpha in [0.05_f64, 1e-4] {
            for count in [8, 20, 60, 500] {
                let values: Vec<f64> = (0..count).map(|_| 3.0 + normal(&mut stream)).collect();
                let [low, high] = values.iter().copied().collect::<RunningMoments>().ends(alpha);
                if low.is_infinite() {
                    assert!(evidence(&values, 1e9) < (1.0 / alpha).ln(), "nothing is refused");
                    continue;
                }
                for end in [low, high] {
                    let at = evidence(&values, end);
                    assert!((at - (1.0 / alpha).ln()).abs() < 1e-6, "{count}: {at}");
                }
            }
        }
    }

    #[test]
    fn the_martingale_is_the_mixture_that_it_is_said_to_be() {
        let values = [0.3_f64, 1.1, -0.4, 2.0];
        let n = values.len() as f64;
        let step = |from: f64, to: f64, parts: u32| {
            let width = (to - from) / f64::from(parts);
            (0..parts).map(move |i| (from + (f64::from(i) + 0.5) * width, width))
        };
        // Integrals over log σ (Haar's measure), and over the mean in units of σ.
        let likelihood = |mean: f64, sigma: f64| {
            let squares: f64 = values.iter().map(|x| ((x - mean * sigma) / sigma).powi(2)).sum();
            (-0.5 * squares - n * sigma.ln()).exp()
        };
        let (mut mixture, mut null) = (0.0, 0.0);
        for (log, width) in step(-6.0, 9.0, 3000) {
            let sigma = log.exp();
            null += width * likelihood(0.0, sigma);
            for (mean, part) in step(-8.0, 8.0, 400) {
                let prior =
                    (-0.5 * MIXTURE * mean * mean).exp() * (MIXTURE / std::f64::consts::TAU).sqrt();
                mixture += width * part * prior * likelihood(mean, sigma);
            }
        }
        assert!(((mixture / null).ln() - evidence(&values, 0.0)).abs() < 1e-3);
    }

    /// Share of 2,000 random sequences in which some interval does not contain the true mean 0.
    /// Only intervals from the `first` value on count.
    fn missed(name: &str, first: u64, most: u64, draw: impl Fn(&mut Stream) -> f64) -> f64 {
        let once = |run| {
            let (mut stream, mut moments) = (Stream::new(5, run, name), RunningMoments::default());
            (1..=most).any(|n| {
                moments.push(draw(&mut stream));
                n >= first && moments.mean().abs() > moments.half_width(0.05)
            })
        };
        share(2000, once)
    }

    fn share(runs: u64, once: impl Fn(u64) -> bool) -> f64 {
        (0..runs).filter(|&run| once(run)).count() as f64 / runs as f64
    }

    #[test]
    fn normal_values_are_missed_less_often_than_the_level_says() {
        let share = missed("normal", 2, 400, normal);
        // 5 % plus three standard errors.
        assert!(share < 0.05 + 0.015, "{share}");
        assert!(share > 0.01, "the level is nearly used: {share}");
    }

    #[test]
    fn an_ordinary_interval_that_is_always_looked_at_misses_far_more_often() {
        let once = |run| {
            let (mut stream, mut moments) =
                (Stream::new(6, run, "looks"), RunningMoments::default());
            (1..=400_u64).any(|n| {
                moments.push(normal(&mut stream));
                let error = (moments.variance() / n as f64).sqrt();
                n > 1 && moments.mean().abs() > t_quantile(n - 1) * error
            })
        };
        let share = share(1000, once);
        assert!(share > 0.35, "{share}");
    }

    #[test]
    fn pairs_that_share_a_heavy_tailed_load_need_the_logarithm() {
        let tailed = |stream: &mut Stream| {
            let load = normal(stream).exp();
            let (a, b) = ((0.1 * normal(stream)).exp(), (0.1 * normal(stream)).exp());
            (load * a, load * b * 0.8)
        };
        let truth = (0.5_f64 + 0.005).exp() * 0.2;
        let raw = missed("tail", 10, 300, |stream| {
            let (a, b) = tailed(stream);
            a - b - truth
        });
        let on_logs = missed("tail", 10, 300, |stream| {
            let (a, b) = tailed(stream);
            (a / b).ln() + 0.8_f64.ln()
        });
        assert!(on_logs < 0.05 + 0.015 && raw > 0.1, "{on_logs} {raw}");
    }

    #[test]
    fn wins_by_an_independent_sum() {
        // Integrate ∫ 2^n p^s (1 - p)^(n - s) dBeta(½, ½), where p = sin²(θ) and θ is uniform.
        let parts = 200_000;
        for (won, lost) in [(3_u64, 0_u64), (7, 2), (10, 10)] {
            let mean = (0..parts)
                .map(|i| {
                    let angle =
                        (f64::from(i) + 0.5) / f64::from(parts) * std::f64::consts::FRAC_PI_2;
                    let p = angle.sin().powi(2);
                    2_f64.powf((won + lost) as f64)
                        * p.powf(won as f64)
                        * (1.0 - p).powf(lost as f64)
                })
                .sum::<f64>()
                / f64::from(parts);
            let p = Wins { won, lost, equal: 4 }.p_value();
            assert!((p - (1.0 / mean).min(1.0)).abs() < 1e-6, "{won} {lost}: {p} {mean}");
        }
    }

    #[test]
    fn fair_pairs_are_rarely_called_unfair() {
        let once = |run| {
            let (mut stream, mut wins) = (Stream::new(7, run, "coins"), Wins::default());
            (0..500).any(|_| {
                wins.push(stream.unit(), 0.5);
                wins.p_value() <= 0.05
            })
        };
        let share = share(2000, once);
        assert!(share < 0.05 + 0.015 && share > 0.005, "{share}");
    }
}
