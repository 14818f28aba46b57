//! Normal and gamma distributions as numeric functions.
//!
//! All logarithms and exponentials come from `libm`, so values are the same on every platform.

use crate::rng::Stream;

pub(crate) fn normal_density(x: f64) -> f64 {
    const ROOT_OF_TWO_PI: f64 = 2.506_628_274_631_000_5;
    libm::exp(-0.5 * x * x) / ROOT_OF_TWO_PI
}

pub(crate) fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// Quantile of the standard normal distribution at probability `p`: −∞ for 0, ∞ for 1. The result
/// is accurate to about 1 part in 10¹⁶ for every `p` between 0 and 1.
///
/// Source: Wichura, Algorithm AS 241, *Applied Statistics* 37(3), 1988, the variant of full double
/// precision: one rational function for the middle and two for the tails.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    let from_the_middle = p - 0.5;
    if from_the_middle.abs() <= 0.425 {
        let r = 0.180_625 - from_the_middle * from_the_middle;
        return from_the_middle * ratio(&MIDDLE, r);
    }
    let tail = if from_the_middle < 0.0 { p } else { 1.0 - p };
    let r = libm::log(tail).abs().sqrt();
    let distance = if r <= 5.0 { ratio(&NEAR_TAIL, r - 1.6) } else { ratio(&FAR_TAIL, r - 5.0) };
    if from_the_middle < 0.0 { -distance } else { distance }
}

/// Draws a standard normal variate from one number of the stream.
pub(crate) fn standard_normal(stream: &mut Stream) -> f64 {
    normal_quantile(stream.unit())
}

/// Probability that a gamma variate with shape `shape` and scale 1 is at most `x`. This is the
/// regularised lower incomplete gamma function, computed by its power series for `x` below `shape +
/// 1`, and by its continued fraction (Lentz's method) above.
pub(crate) fn gamma_cdf(shape: f64, x: f64) -> f64 {
    const MAX_TERMS: u32 = 100_000;
    if x <= 0.0 {
        return 0.0;
    }
    let front = libm::exp(shape * libm::log(x) - x - libm::lgamma(shape));
    if x < shape + 1.0 {
        let mut term = 1.0 / shape;
        let mut sum = term;
        for n in 1..MAX_TERMS {
            term *= x / (shape + f64::from(n));
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        return front * sum;
    }
    let tiny = 1e-300;
    let mut b = x + 1.0 - shape;
    let mut c = 1.0 / tiny;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for n in 1..MAX_TERMS {
        let n = f64::from(n);
        let a = -n * (n - shape);
        b += 2.0;
        d = 1.0 / keep_off_zero(a * d + b, tiny);
        c = keep_off_zero(b + a / c, tiny);
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    1.0 - front * fraction
}

fn keep_off_zero(x: f64, tiny: f64) -> f64 {
    if x.abs() < tiny { tiny } else { x }
}

/// Ratio of two polynomials of degree 7. Coefficients begin with the constant term. The constant
/// term of the denominator is 1.
struct Ratio {
    above: [f64; 8],
    below: [f64; 8],
}

fn ratio(of: &Ratio, x: f64) -> f64 {
    horner(&of.above, x) / horner(&of.below, x)
}

fn horner(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

const MIDDLE: Ratio = Ratio {
    above: [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    below: [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
};

const NEAR_TAIL: Ratio = Ratio {
    above: [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    below: [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
};

const FAR_TAIL: Ratio = Ratio {
    above: [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    below: [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
};

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::*;

    #[test]
    fn the_normal_quantile_is_the_inverse_of_the_normal_cdf() {
        let tails = (1..300).map(|i| libm::exp2(-f64::from(i)));
        for p in (1..1000).map(|i| f64::from(i) / 1000.0).chain(tails) {
            let there_and_back = normal_cdf(normal_quantile(p));
            // In the tail, a relative error in x becomes one of x² times as much in p; x² is up to
            // 400 here.
            assert!((there_and_back / p - 1.0).abs() < 4e-13, "{p} {there_and_back}");
        }
        assert_eq!(normal_quantile(0.5), 0.0);
        assert!((normal_cdf(1.959_963_984_540_054) - 0.975).abs() < 1e-15);
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!((gamma_cdf(1.0, 2.0) - (1.0 - libm::exp(-2.0))).abs() < 1e-15);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
    }

    #[test]
    fn the_normal_quantile_agrees_with_printed_tables() {
        for (p, x) in [
            (0.9, 1.281_551_565_544_600_4),
            (0.99, 2.326_347_874_040_841),
            (0.999_9, 3.719_016_485_455_709),
            (1e-9, -5.997_807_015_007_687),
            (0.25, -0.674_489_750_196_081_7),
        ] {
            assert!((normal_quantile(p) - x).abs() < 1e-11, "{p}: {}", normal_quantile(p));
        }
    }

    #[test]
    fn the_gamma_cdf_of_a_whole_shape_counts_a_poisson_process() {
        for shape in [1_u32, 2, 5, 30] {
            for x in [0.01, 0.5, 1.0, 3.0, 7.5, 29.0, 31.5, 80.0_f64] {
                let mut term = libm::exp(-x);
                let mut fewer = 0.0;
                for n in 0..shape {
                    fewer += term;
                    term *= x / f64::from(n + 1);
                }
                let direct = 1.0 - fewer;
                let got = gamma_cdf(f64::from(shape), x);
                assert!((got - direct).abs() < 1e-13, "{shape} {x}: {got} {direct}");
            }
        }
    }

    #[test]
    fn the_gamma_cdf_of_one_half_is_an_error_function() {
        for x in [0.001, 0.1, 0.7, 2.0, 9.0_f64] {
            assert!((gamma_cdf(0.5, x) - libm::erf(x.sqrt())).abs() < 1e-14);
        }
        assert_eq!(gamma_cdf(3.0, 0.0), 0.0);
    }
}
