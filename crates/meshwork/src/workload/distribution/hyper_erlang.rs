//! Mixture of two Erlang distributions with equally many stages, fitted to three moments.

use crate::rng::Stream;

use super::runtimes::{Gamma, exponential};

/// Highest order (number of stages) of an Erlang distribution that a fit tries.
pub const MAX_ORDER: u32 = 1_000;

/// First three moments of a positive quantity. The second and third are normalized so that they do
/// not depend on the unit of the quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Mean of the measured quantity.
    pub mean: f64,
    /// Coefficient of variation: standard deviation divided by mean.
    pub cv: f64,
    /// Normalized third moment: third moment times mean, divided by the square of the second
    /// moment. The value is 1.5 for an exponential distribution, and never below 1.
    pub third: f64,
}

impl Moments {
    /// Moments of a sample; `None` if its mean is not positive.
    ///
    /// ```
    /// use meshwork::workload::distribution::Moments;
    /// let moments = Moments::of(&[1.0, 3.0]).unwrap();
    /// assert_eq!((moments.mean, moments.cv), (2.0, 0.5));
    /// assert_eq!(moments.third, 14.0 * 2.0 / 25.0);
    /// ```
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Moments> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        if !(mean > 0.0 && mean.is_finite()) {
            return None;
        }
        // Sums are in units of the mean, so that no power overflows.
        let (mut second, mut third) = (0.0, 0.0);
        for value in values {
            let value = value / mean;
            second += value * value;
            third += value * value * value;
        }
        let (second, third) = (second / n, third / n);
        let cv = (second - 1.0).max(0.0).sqrt();
        Some(Moments { mean, cv, third: third / (second * second) })
    }
}

/// Mixture of two Erlang distributions with the same order, which is their number of stages.
///
/// A draw is the sum of this number of exponential times, the stages. With a fixed probability all
/// stages are short, otherwise all are long.
///
/// Source: Johnson & Taaffe, *Matching moments to phase distributions: mixtures of Erlang
/// distributions of common order*, Stochastic Models 5(4), 1989, as Jann et al. (JSSPP 1997) use
/// it.
///
/// ```
/// use meshwork::workload::distribution::{HyperErlang, Moments};
/// let measured = Moments { mean: 870.0, cv: 2.788, third: 2.52 };
/// let law = HyperErlang::fitted(measured).unwrap();
/// assert_eq!(law.order(), 1);
/// let again = law.moments();
/// assert!((again.mean / 870.0 - 1.0).abs() < 1e-12 && (again.cv - 2.788).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HyperErlang {
    order: u32,
    /// Probability that all stages of a drawn duration are short; otherwise all are long.
    share: f64,
    /// Mean duration of a short stage. `long` is the mean duration of a long stage.
    short: f64,
    long: f64,
}

impl HyperErlang {
    /// Fits the distribution of lowest order (with the fewest stages) that has these moments.
    ///
    /// Returns `None` if no distribution of an order up to [`MAX_ORDER`] has these moments, because
    /// the variation or the third moment is too small.
    ///
    /// Let *m* be the mean duration of a stage. The first three moments of a sum of *n* stages are
    /// n m, n(n + 1) m² and n(n + 1)(n + 2) m³. In a hyper-Erlang distribution, *m* is drawn from
    /// two values. So the problem is to find a distribution on two points with three given moments.
    /// It exists on two conditions: the second moment exceeds the square of the first, and the
    /// product of the first and third exceeds the square of the second. Its points are the roots of
    /// a quadratic.
    ///
    /// # Complexity
    /// **O(1)**: the order is bounded.
    #[must_use]
    pub fn fitted(moments: Moments) -> Option<HyperErlang> {
        const MARGIN: f64 = 1.0 + 1e-9;
        let second = 1.0 + moments.cv * moments.cv;
        let third = moments.third * second * second;
        if !(moments.mean > 0.0 && second.is_finite() && third.is_finite()) {
            return None;
        }
        let order = (1..=MAX_ORDER).find(|&order| {
            let n = f64::from(order);
            second * n / (n + 1.0) > MARGIN && moments.third * (n + 1.0) / (n + 2.0) > MARGIN
        })?;
        let n = f64::from(order);
        let (u1, u2) = (1.0 / n, second / (n * (n + 1.0)));
        let u3 = third / (n * (n + 1.0) * (n + 2.0));
        let spread = u2 - u1 * u1;
        let sum = (u3 - u1 * u2) / spread;
        let product = (u1 * u3 - u2 * u2) / spread;
        let long = 0.5 * sum + (0.25 * sum * sum - product).max(0.0).sqrt();
        let short = product / long;
        let share = (long - u1) / (long - short);
        let fits = share > 0.0 && share < 1.0 && short > 0.0 && long.is_finite();
        let scaled = |stage: f64| stage * moments.mean;
        fits.then(|| HyperErlang { order, share, short: scaled(short), long: scaled(long) })
    }

    /// Order of the distribution: the number of exponential stages whose sum is a draw.
    #[must_use]
    pub fn order(&self) -> u32 {
        self.order
    }

    /// Exact moments of the distribution.
    #[must_use]
    pub fn moments(&self) -> Moments {
        let n = f64::from(self.order);
        let (short, long) = (self.short, self.long);
        let mixed =
            |of: &dyn Fn(f64) -> f64| self.share * of(short) + (1.0 - self.share) * of(long);
        let mean = n * mixed(&|x| x);
        let second = n * (n + 1.0) * mixed(&|x| (x / mean) * (x / mean));
        let third = n * (n + 1.0) * (n + 2.0) * mixed(&|x| (x / mean) * (x / mean) * (x / mean));
        Moments { mean, cv: (second - 1.0).max(0.0).sqrt(), third: third / (second * second) }
    }

    /// Draws one positive value.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        let stage = if stream.unit() < self.share { self.short } else { self.long };
        if self.order == 1 {
            return exponential(stage, stream);
        }
        Gamma { shape: f64::from(self.order), scale: stage }.draw(stream)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Checks that the fit has the moments of its sample, unless the sample varies too little
        /// for a fit.
        #[test]
        fn the_fit_has_the_moments_of_the_sample(
            values in prop::collection::vec(0.01..1000.0_f64, 2..40),
        ) {
            let measured = Moments::of(&values).unwrap();
            match HyperErlang::fitted(measured) {
                None => prop_assert!(measured.cv < 0.04 || measured.third < 1.002, "{:?}", measured),
                Some(law) => {
                    let again = law.moments();
                    prop_assert!((again.mean / measured.mean - 1.0).abs() < 1e-9);
                    prop_assert!((again.cv / measured.cv - 1.0).abs() < 1e-6, "{:?} {:?}", again, measured);
                    prop_assert!((again.third / measured.third - 1.0).abs() < 1e-6, "{:?} {:?}", again, measured);
                    // The order is minimal: for the next lower order no distribution on two points
                    // exists.
                    let n = f64::from(law.order()) - 1.0;
                    let second = 1.0 + measured.cv * measured.cv;
                    prop_assert!(n < 1.0 || n / (n + 1.0) * second <= 1.0 + 1e-8
                        || (n + 1.0) / (n + 2.0) * measured.third <= 1.0 + 1e-8);
                }
            }
        }
    }

    #[test]
    fn draws_have_the_moments() {
        for (cv, third) in [(2.5, 2.0), (1.4, 1.23), (0.3, 1.05)] {
            let law = HyperErlang::fitted(Moments { mean: 100.0, cv, third }).unwrap();
            let mut stream = Stream::new(1, 0, "hyper_erlang");
            let values: Vec<f64> = (0..400_000).map(|_| law.draw(&mut stream)).collect();
            let drawn = Moments::of(&values).unwrap();
            // Four standard errors of the mean; a few percent of the other moments, whose errors
            // have heavier tails.
            let slack = 4.0 * cv / 400_000_f64.sqrt();
            assert!((drawn.mean / 100.0 - 1.0).abs() < slack, "{drawn:?} {slack}");
            assert!((drawn.cv / cv - 1.0).abs() < 0.02, "{drawn:?} {cv}");
            assert!((drawn.third / third - 1.0).abs() < 0.04, "{drawn:?} {third}");
        }
    }

    #[test]
    fn what_has_no_such_distribution_is_none() {
        let of = |mean, cv, third| HyperErlang::fitted(Moments { mean, cv, third });
        assert_eq!(of(1.0, 0.0, 1.5), None);
        assert_eq!(of(1.0, 1.0, 1.0), None);
        assert_eq!(of(1.0, f64::INFINITY, 1.5), None);
        assert_eq!(Moments::of(&[]), None);
        assert_eq!(Moments::of(&[0.0, 0.0]), None);
    }
}
