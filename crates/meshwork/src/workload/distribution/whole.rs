//! Distributions of integers between two bounds.

use crate::rng::Stream;

use super::functions::normal_cdf;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Law {
    /// Every number from `min` to `max` with equal probability.
    Uniform { min: u32, max: u32 },
    /// Numbers from `min` on with given probabilities. Entry *i* of `up_to` is the probability that
    /// the drawn number is at most `min` + *i*.
    Weights { min: u32, up_to: Vec<f64> },
    /// An exponential variate, rounded up, under the condition that the result is within the
    /// bounds. `min` is at least 1.
    Exponential { mean: f64, min: u32, max: u32 },
}

impl Law {
    pub(super) fn weights(min: u32, weights: &[f64]) -> Law {
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let mut up_to: Vec<f64> = weights
            .iter()
            .map(|weight| {
                sum += weight;
                sum / total
            })
            .collect();
        // The cumulative probabilities must end at 1 despite rounding; numbers of weight 0 at the
        // end are excluded.
        for end in up_to.iter_mut().rev() {
            if *end < 1.0 - 1e-9 {
                break;
            }
            *end = 1.0;
        }
        Law::Weights { min, up_to }
    }

    pub(super) fn bounds(&self) -> (u32, u32) {
        match self {
            Law::Uniform { min, max } | Law::Exponential { min, max, .. } => (*min, *max),
            Law::Weights { min, up_to } => (*min, *min + (up_to.len() as u32 - 1)),
        }
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        let (min, max) = self.bounds();
        (min..=max).filter(move |number| match self {
            Law::Uniform { .. } | Law::Exponential { .. } => true,
            Law::Weights { up_to, .. } => {
                let at = (number - min) as usize;
                up_to[at] > if at == 0 { 0.0 } else { up_to[at - 1] }
            }
        })
    }

    /// Calls `visit` with every number that can be drawn and its probability, in order.
    pub(super) fn for_each(&self, mut visit: impl FnMut(u32, f64)) {
        match self {
            Law::Uniform { min, max } => {
                let each = 1.0 / (f64::from(*max) - f64::from(*min) + 1.0);
                (*min..=*max).for_each(|number| visit(number, each));
            }
            Law::Weights { min, up_to } => {
                let mut before = 0.0;
                for (number, &up_to) in (*min..).zip(up_to) {
                    visit(number, up_to - before);
                    before = up_to;
                }
            }
            Law::Exponential { mean, min, max } => {
                let (min, max) = (*min, *max);
                let within = -libm::expm1(-f64::from(max - min + 1) / mean);
                let of_one = -libm::expm1(-1.0 / mean);
                for number in min..=max {
                    let beyond = libm::exp(-f64::from(number - min) / mean);
                    visit(number, beyond * of_one / within);
                }
            }
        }
    }

    /// Expectation of a function of the drawn number: a sum over all numbers within the bounds.
    pub(super) fn expect(&self, of: impl Fn(u32) -> f64) -> f64 {
        let mut sum = 0.0;
        self.for_each(|number, probability| sum += probability * of(number));
        sum
    }

    pub(super) fn mean(&self) -> f64 {
        match self {
            Law::Uniform { min, max } => 0.5 * (f64::from(*min) + f64::from(*max)),
            _ => self.expect(f64::from),
        }
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> u32 {
        match self {
            Law::Uniform { min, max } => min + stream.below(u64::from(max - min) + 1) as u32,
            Law::Weights { min, up_to } => {
                let unit = stream.unit();
                min + up_to.partition_point(|&end| end <= unit) as u32
            }
            Law::Exponential { mean, min, max } => {
                // The excess of an exponential variate over a bound is exponential again, so
                // drawing until the number is within the bounds equals one draw from the truncated
                // distribution.
                let (min, max) = (*min, *max);
                let within = -libm::expm1(-f64::from(max - min + 1) / mean);
                let above = -mean * libm::log1p(-stream.unit() * within);
                (min - 1 + libm::ceil(above) as u32).clamp(min, max)
            }
        }
    }
}

/// Probabilities that a normally distributed number is in each of `cells` equal intervals. Together
/// the intervals range from −2.5 to 2.5 standard deviations, and their probabilities are scaled to
/// a sum of 1.
pub(super) fn normal_cells(cells: u32) -> Vec<f64> {
    let edge = |i: u32| 5.0 * f64::from(i) / f64::from(cells) - 2.5;
    let within = normal_cdf(2.5) - normal_cdf(-2.5);
    (0..cells).map(|i| (normal_cdf(edge(i + 1)) - normal_cdf(edge(i))) / within).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_rounded_up_to_powers_of_two() {
        let law = Law::Uniform { min: 1, max: 32 };
        let rounded = law.expect(|side| f64::from(side.next_power_of_two()).powi(2));
        assert!((rounded - 585.156).abs() < 5e-4, "{rounded}");
        assert!((1024.0 / (rounded * 5.0) - 0.35).abs() < 1e-5);
    }

    #[test]
    fn draws_follow_the_probabilities_that_the_mean_is_made_of() {
        for law in [
            Law::Uniform { min: 3, max: 9 },
            Law::Uniform { min: 4, max: 4 },
            Law::weights(2, &[0.2, 0.0, 0.5, 0.3, 0.0]),
            Law::weights(0, &normal_cells(7)),
            Law::Exponential { mean: 4.0, min: 1, max: 9 },
            Law::Exponential { mean: 2.0, min: 5, max: 12 },
            Law::Exponential { mean: 1e9, min: 1, max: 6 },
        ] {
            let mut counts = [0_u32; 16];
            let mut stream = Stream::new(1, 0, "sizes.0");
            let draws = 100_000;
            for _ in 0..draws {
                counts[law.draw(&mut stream) as usize] += 1;
            }
            let mut total = 0.0;
            law.for_each(|number, probability| {
                total += probability;
                let expected = probability * f64::from(draws);
                let got = f64::from(counts[number as usize]);
                // Four and a half standard deviations of a binomial count.
                let slack = 4.5 * (expected * (1.0 - probability)).max(0.0).sqrt() + 1e-6;
                assert!((got - expected).abs() <= slack, "{law:?} {number}: {got} {expected}");
            });
            assert!((total - 1.0).abs() < 1e-12, "{law:?}: {total}");
        }
    }

    #[test]
    fn an_exponential_size_is_what_rounding_up_and_drawing_again_leaves() {
        let (mean, min, max) = (6.0, 3, 20);
        let mut counts = [0_u32; 21];
        let mut stream = Stream::new(5, 0, "slow");
        let mut kept = 0;
        while kept < 100_000 {
            let drawn = (-mean * libm::log(stream.unit())).ceil();
            if (f64::from(min)..=f64::from(max)).contains(&drawn) {
                counts[drawn as usize] += 1;
                kept += 1;
            }
        }
        Law::Exponential { mean, min, max }.for_each(|number, probability| {
            let expected = probability * 100_000.0;
            let got = f64::from(counts[number as usize]);
            assert!((got - expected).abs() < 4.5 * expected.sqrt(), "{number}: {got} {expected}");
        });
    }

    #[test]
    fn cells_of_the_normal_distribution() {
        for (cells, expected) in [
            (8, vec![0.0245, 0.0762, 0.1624, 0.2370]),
            (10, vec![0.0167, 0.0446, 0.0930, 0.1518, 0.1939]),
        ] {
            let computed = normal_cells(cells);
            for (i, expected) in expected.iter().enumerate() {
                assert!((computed[i] - expected).abs() < 5e-5, "{computed:?}");
                assert!((computed[cells as usize - 1 - i] - expected).abs() < 5e-5);
            }
            assert!((computed.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
    }
}
