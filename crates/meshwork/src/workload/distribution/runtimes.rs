//! Distributions of run times.

use std::fmt;
use std::sync::Arc;

use crate::registry::{About, Family, Kind, LARGEST, Param, Params, Problem, Range, abouts, named};
use crate::rng::Stream;

use super::functions::{normal_cdf, normal_density, normal_quantile, standard_normal};

/// A distribution of run times, ready to draw from.
///
/// ```
/// use meshwork::rng::Stream;
/// use meshwork::workload::distribution::{RUNTIMES, Runtime};
/// let given = toml::Value::String("exponential".into());
/// assert!(RUNTIMES.resolve("runtimes", &given).is_err(), "its mean is missing");
/// let given = "name = 'uniform'\nmax = 10".parse::<toml::Table>().unwrap();
/// let runtime = Runtime::new(&RUNTIMES.resolve("runtimes", &given.into()).unwrap()).unwrap();
/// assert_eq!(runtime.mean(), 5.0);
/// assert!(runtime.draw(&mut Stream::new(1, 0, "runtimes")) < 10.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Runtime {
    law: Law,
    mean: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum Law {
    Constant(f64),
    Uniform { min: f64, max: f64 },
    Exponential { mean: f64 },
    Hyperexponential { alpha: f64, short: f64, long: f64 },
    TruncatedNormal(TruncatedNormal),
    Gamma(Gamma),
    Weibull { shape: f64, scale: f64 },
    Own(Own),
}

/// A distribution outside the variants of [`Law`], given by its mean and a function that draws from
/// it.
#[derive(Clone)]
struct Own {
    mean: f64,
    draw: Arc<dyn Fn(&mut Stream) -> f64 + Send + Sync>,
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own").field("mean", &self.mean).finish_non_exhaustive()
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Own) -> bool {
        Arc::ptr_eq(&self.draw, &other.draw)
    }
}

impl From<Law> for Runtime {
    fn from(law: Law) -> Runtime {
        Runtime { mean: law.mean(), law }
    }
}

impl Runtime {
    /// Creates a distribution from its exact mean and a function that draws one run time.
    ///
    /// The rate of arrivals at a requested load is computed from the mean. A drawn number below 0
    /// counts as 0. If the function takes one number of the stream in each call, runs with
    /// different parameters use the same random numbers.
    pub fn drawn_by(
        mean: f64,
        draw: impl Fn(&mut Stream) -> f64 + Send + Sync + 'static,
    ) -> Runtime {
        Law::Own(Own { mean, draw: Arc::new(draw) }).into()
    }

    /// Creates the distribution of run times that these parameters describe.
    ///
    /// # Errors
    /// A contradiction between the parameters, in one sentence.
    pub fn new(params: &Params) -> Result<Runtime, Problem> {
        let runtime = (params.entry::<RuntimeEntry>().build)(params)?;
        let mean = runtime.mean;
        if mean > 0.0 && mean <= LARGEST {
            Ok(runtime)
        } else {
            Err(Problem::new(
                params.path(),
                format!(
                    "the mean run time of `{}` is {mean}, but must be above 0 and at most 1e15",
                    params.path()
                ),
            ))
        }
    }

    /// Exact mean of the distribution.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Draws one run time: at least 0 and at most [`LARGEST`].
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        self.law.draw(stream).min(LARGEST)
    }
}

impl Law {
    fn mean(&self) -> f64 {
        match self {
            Law::Constant(value) => *value,
            Law::Uniform { min, max } => 0.5 * (min + max),
            Law::Exponential { mean } => *mean,
            Law::Hyperexponential { alpha, short, long } => alpha * short + (1.0 - alpha) * long,
            Law::TruncatedNormal(normal) => normal.mean(),
            Law::Gamma(gamma) => gamma.shape * gamma.scale,
            Law::Weibull { shape, scale } => scale * libm::tgamma(1.0 + 1.0 / shape),
            Law::Own(own) => own.mean,
        }
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            Law::Constant(value) => *value,
            Law::Uniform { min, max } => min + (max - min) * stream.unit(),
            Law::Exponential { mean } => exponential(*mean, stream),
            Law::Hyperexponential { alpha, short, long } => {
                let mean = if stream.unit() < *alpha { *short } else { *long };
                exponential(mean, stream)
            }
            Law::TruncatedNormal(normal) => normal.draw(stream),
            Law::Gamma(gamma) => gamma.draw(stream),
            Law::Weibull { shape, scale } => {
                scale * libm::pow(exponential(1.0, stream), 1.0 / shape)
            }
            Law::Own(own) => (own.draw)(stream).max(0.0),
        }
    }
}

/// Draws an exponential variate from one number of the stream.
pub fn exponential(mean: f64, stream: &mut Stream) -> f64 {
    -mean * libm::log(stream.unit())
}

/// Normal distribution, truncated to two bounds. A draw takes one number of the stream and inverts
/// the distribution function. Drawing again until a value is within the bounds would give the same
/// distribution, but could take long. Bounds above the mean are mirrored below the mean, where
/// small probabilities keep their digits.
#[derive(Clone, Debug, PartialEq)]
struct TruncatedNormal {
    mean: f64,
    sd: f64,
    min: f64,
    max: f64,
    /// Lower bound, in standard deviations from the mean; `high` is the upper bound. Both bounds
    /// are mirrored at the mean if `mirrored` is set.
    low: f64,
    high: f64,
    mirrored: bool,
    /// Probability of a value below `low`. `kept` is the probability of a value between `low` and
    /// `high`.
    below: f64,
    kept: f64,
}

impl TruncatedNormal {
    /// Creates the distribution; `None` if the bounds enclose a probability of less than 10⁻¹².
    fn new(mean: f64, sd: f64, min: f64, max: f64) -> Option<TruncatedNormal> {
        let (low, high) = ((min - mean) / sd, (max - mean) / sd);
        let mirrored = low > 0.0;
        let (low, high) = if mirrored { (-high, -low) } else { (low, high) };
        let below = normal_cdf(low);
        let kept = normal_cdf(high) - below;
        (kept >= 1e-12).then_some(TruncatedNormal {
            mean,
            sd,
            min,
            max,
            low,
            high,
            mirrored,
            below,
            kept,
        })
    }

    fn mean(&self) -> f64 {
        let shift = (normal_density(self.low) - normal_density(self.high)) / self.kept;
        self.mean + self.sd * if self.mirrored { -shift } else { shift }
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        let unit = stream.unit();
        // Mirroring reverses the order. Reversing the unit variate too lets larger variates give
        // longer times.
        let unit = if self.mirrored { 1.0 - unit } else { unit };
        let z = normal_quantile(self.below + unit * self.kept);
        let z = if self.mirrored { -z } else { z };
        (self.mean + self.sd * z).clamp(self.min, self.max)
    }
}

/// A gamma distribution. Drawn by squeezing and rejection: Marsaglia and Tsang, *A simple method
/// for generating gamma variables*, ACM Transactions on Mathematical Software 26(3), 2000. For a
/// shape below 1, a draw with the shape plus 1 is multiplied by a power of a uniform number. The
/// number of values taken from the stream varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gamma {
    pub(crate) shape: f64,
    pub(crate) scale: f64,
}

impl Gamma {
    pub(crate) fn draw(&self, stream: &mut Stream) -> f64 {
        if self.shape < 1.0 {
            let lift = libm::pow(stream.unit(), 1.0 / self.shape);
            return self.scale * lift * standard_gamma(self.shape + 1.0, stream);
        }
        self.scale * standard_gamma(self.shape, stream)
    }
}

/// Draws a gamma variate with scale 1 and a shape of at least 1.
fn standard_gamma(shape: f64, stream: &mut Stream) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = standard_normal(stream);
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        let log_unit = libm::log(stream.unit());
        if log_unit < 0.5 * x * x + d * (1.0 - v + libm::log(v)) {
            return d * v;
        }
    }
}

/// Registry entry of a distribution of run times.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct RuntimeEntry {
    /// Name, documentation and parameters of the distribution.
    pub about: About,
    /// Builds the distribution.
    pub build: fn(&Params) -> Result<Runtime, Problem>,
}

impl RuntimeEntry {
    /// Creates the entry of a distribution of run times.
    #[must_use]
    pub const fn new(about: About, build: fn(&Params) -> Result<Runtime, Problem>) -> RuntimeEntry {
        RuntimeEntry { about, build }
    }
}

named!(RuntimeEntry);

/// The family of distributions of run times, from which a study selects one by name.
pub static RUNTIMES: Family = Family {
    kind: "distribution of run times",
    key: "name",
    entries: || abouts(RUNTIME_DISTRIBUTIONS),
    common: &[],
};

/// All distributions of run times of this crate.
pub static RUNTIME_DISTRIBUTIONS: &[&RuntimeEntry] =
    &[&EXPONENTIAL, &UNIFORM, &HYPEREXPONENTIAL, &TRUNCATED_NORMAL, &CONSTANT, &GAMMA, &WEIBULL];

const MEAN: Param = Param::new("mean", Kind::Number(Range::Positive)).help("the mean run time");

static EXPONENTIAL: RuntimeEntry = RuntimeEntry {
    about: About::new(
        "exponential",
        "exponential run times: how long a job has run says nothing of how long it will",
    )
    .definition(
        "P(T > t) = exp(−t / `mean`). How long a job has run says nothing of how \
             long it will. The coefficient of variation is 1.",
    )
    .complexity("O(1) for a draw.")
    .source("Chang & Mohapatra (mean 5)")
    .params(&[MEAN]),
    build: |params| Ok(Law::Exponential { mean: params.number("mean") }.into()),
};

static UNIFORM: RuntimeEntry = RuntimeEntry {
    about: About::new("uniform", "run times spread evenly from `min` to `max`")
        .definition("Every run time from `min` to `max` is equally likely.")
        .complexity("O(1) for a draw.")
        .source("Mohapatra, Yu, Das & Kim (0 to 10)")
        .params(&[
            Param::new("min", Kind::Number(Range::NonNegative))
                .is("0")
                .help("the shortest run time"),
            Param::new("max", Kind::Number(Range::Positive)).help("the longest run time"),
        ]),
    build: |params| {
        let (min, max) = (params.number("min"), params.number("max"));
        in_order(params, min, max)?;
        Ok(Law::Uniform { min, max }.into())
    },
};

static HYPEREXPONENTIAL: RuntimeEntry = RuntimeEntry {
    about: About::new(
        "hyperexponential",
        "exponential run times with a short mean for most jobs and a long one for the rest",
    )
    .definition(
        "With probability `alpha` an exponential number with a short mean, else \
             one with a long mean; the two means are those with which the mean is \
             `mean` and the coefficient of variation is `cv`.",
    )
    .complexity("O(1) for a draw.")
    .source("Mohapatra, Yu, Das & Kim (mean 5, alpha 0.95, coefficient of variation 4)")
    .params(&[
        MEAN,
        Param::new("alpha", Kind::Number(Range::Inside))
            .is("0.95")
            .help("the share of jobs with the short mean"),
        Param::new("cv", Kind::Number(Range::AtLeastOne))
            .is("4.0")
            .help("the coefficient of variation: standard deviation over mean"),
    ]),
    build: hyperexponential,
};

/// Hyperexponential run times with the given mean and coefficient of variation.
fn hyperexponential(params: &Params) -> Result<Runtime, Problem> {
    let (mean, alpha, cv) = (params.number("mean"), params.number("alpha"), params.number("cv"));
    let apart = mean * (0.5 * (cv * cv - 1.0) / (alpha * (1.0 - alpha))).sqrt();
    let (short, long) = (mean - (1.0 - alpha) * apart, mean + alpha * apart);
    if short <= 0.0 {
        let most = (1.0 + 2.0 * alpha / (1.0 - alpha)).sqrt();
        let says = format!(
            "is {cv}, but with `alpha` = {alpha} the two means exist only for a coefficient of \
             variation below {most:.6}"
        );
        return Err(params.refusal("cv", says));
    }
    Ok(Law::Hyperexponential { alpha, short, long }.into())
}

static TRUNCATED_NORMAL: RuntimeEntry = RuntimeEntry {
    about: About::new(
        "truncated_normal",
        "normal run times; what lies outside `min` and `max` is drawn again",
    )
    .aliases(&["normal"])
    .definition(
        "A normal number with this mean and standard deviation, drawn again while it is outside \
         `min` and `max`: drawn in one step, by the inverse of the distribution.",
    )
    .complexity("O(1) for a draw.")
    .source("Chang & Mohapatra (mean 5, sd 2); Zhu & Lin (mean 100, sd 25)")
    .params(&[
        Param::new("mean", Kind::Number(Range::Positive))
            .help("the mean before the ends are cut off; the load counts with the mean after it"),
        Param::new("sd", Kind::Number(Range::Positive))
            .help("the standard deviation before the ends are cut off"),
        Param::new("min", Kind::Number(Range::NonNegative))
            .is("0")
            .help("what every run time is above"),
        Param::new("max", Kind::Number(Range::Positive))
            .absent("no upper bound")
            .help("what every run time is below"),
    ]),
    build: |params| {
        let (mean, sd, min) = (params.number("mean"), params.number("sd"), params.number("min"));
        let max = params.get_number("max").unwrap_or(f64::INFINITY);
        in_order(params, min, max)?;
        let normal = TruncatedNormal::new(mean, sd, min, max);
        normal.map(|normal| Law::TruncatedNormal(normal).into()).ok_or_else(|| {
            params.problem(
                "min",
                format!(
                    "a normal run time with mean {mean} and standard deviation {sd} is next to \
                     never between `{0}.min` = {min} and `{0}.max` = {max}",
                    params.path()
                ),
            )
        })
    },
};

static CONSTANT: RuntimeEntry = RuntimeEntry {
    about: About::new("constant", "every job runs equally long")
        .definition("Every job runs for `value`.")
        .complexity("O(1) for a draw.")
        .source("general")
        .params(&[Param::new("value", Kind::Number(Range::Positive)).help("the run time")]),
    build: |params| Ok(Law::Constant(params.number("value")).into()),
};

const SHAPE: Param = Param::new("shape", Kind::Number(Range::Positive))
    .help("the shape: below 1 most jobs are short and a few very long");

const SCALE: Param = Param::new("scale", Kind::Number(Range::Positive))
    .help("the scale: run times grow in proportion to it");

static GAMMA: RuntimeEntry = RuntimeEntry {
    about: About::new("gamma", "gamma run times, with mean `shape` times `scale`")
        .definition(
            "The gamma distribution with this shape and scale: its mean is shape × scale, its \
             coefficient of variation 1 / √shape. Drawn by the method of Marsaglia and Tsang.",
        )
        .complexity("O(1) expected for a draw.")
        .source("general")
        .params(&[SHAPE, SCALE]),
    build: |params| {
        Ok(Law::Gamma(Gamma { shape: params.number("shape"), scale: params.number("scale") })
            .into())
    },
};

static WEIBULL: RuntimeEntry = RuntimeEntry {
    about: About::new(
        "weibull",
        "Weibull run times: `scale` times a power of an exponential variate",
    )
    .definition("P(T > t) = exp(−(t / `scale`) to the power of `shape`).")
    .complexity("O(1) for a draw.")
    .source("general")
    .params(&[SHAPE, SCALE]),
    build: |params| {
        Ok(Law::Weibull { shape: params.number("shape"), scale: params.number("scale") }.into())
    },
};

fn in_order(params: &Params, min: f64, max: f64) -> Result<(), Problem> {
    if min <= max {
        return Ok(());
    }
    Err(params.refusal(
        "max",
        format!("is {max}, but must be at least `{}.min`, which is {min}", params.path()),
    ))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::*;

    pub(crate) fn made(given: &str) -> Result<Runtime, Problem> {
        let table: toml::Table = given.parse().unwrap();
        Runtime::new(&RUNTIMES.resolve("runtimes", &table.into())?)
    }

    /// Mean and standard deviation of run times, from `draws` draws.
    fn moments(runtime: &Runtime, draws: u32) -> (f64, f64) {
        let mut stream = Stream::new(1, 0, "runtimes");
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..draws {
            let drawn = runtime.draw(&mut stream);
            assert!(drawn >= 0.0);
            sum += drawn;
            squares += drawn * drawn;
        }
        let mean = sum / f64::from(draws);
        (mean, (squares / f64::from(draws) - mean * mean).sqrt())
    }

    #[test]
    fn drawn_means_and_deviations_are_those_of_theory() {
        let root_of_pi = std::f64::consts::PI.sqrt();
        for (given, mean, sd) in [
            ("name = 'constant'\nvalue = 3", 3.0, 0.0),
            ("name = 'uniform'\nmax = 10", 5.0, 10.0 / 12.0_f64.sqrt()),
            ("name = 'uniform'\nmin = 4\nmax = 10", 7.0, 6.0 / 12.0_f64.sqrt()),
            ("name = 'exponential'\nmean = 5", 5.0, 5.0),
            ("name = 'hyperexponential'\nmean = 5", 5.0, 20.0),
            ("name = 'normal'\nmean = 5\nsd = 2", 5.035_28, 1.955_0),
            ("name = 'normal'\nmean = 5\nsd = 2\nmax = 10", 5.0, 1.909_0),
            ("name = 'truncated_normal'\nmean = 100\nsd = 25", 100.003_3, 24.993),
            ("name = 'gamma'\nshape = 4.2\nscale = 0.94", 3.948, 0.94 * 4.2_f64.sqrt()),
            ("name = 'gamma'\nshape = 0.5\nscale = 2", 1.0, 2.0_f64.sqrt()),
            ("name = 'weibull'\nshape = 1\nscale = 5", 5.0, 5.0),
            (
                "name = 'weibull'\nshape = 2\nscale = 2",
                root_of_pi,
                (4.0 - root_of_pi * root_of_pi).sqrt(),
            ),
        ] {
            let runtime = made(given).unwrap();
            assert!((runtime.mean() - mean).abs() < 1e-4 * mean, "{given}: {}", runtime.mean());
            let draws = 200_000;
            let (drawn, spread) = moments(&runtime, draws);
            // Four standard errors of the mean; 2 % of the deviation, or 6 % for the heavy tail.
            assert!(
                (drawn - mean).abs() <= 4.0 * sd / f64::from(draws).sqrt() + 1e-9,
                "{given}: {drawn}"
            );
            assert!((spread - sd).abs() <= 0.06 * sd + 1e-6, "{given}: {spread}");
        }
    }

    #[test]
    fn the_phases_of_the_hyperexponential() {
        let runtime = made("name = 'hyperexponential'\nmean = 5").unwrap();
        let Law::Hyperexponential { alpha, short, long } = runtime.law else { panic!() };
        assert_eq!(alpha, 0.95);
        assert!(
            (short - 1.858_60).abs() < 5e-6 && (long - 64.686_68).abs() < 5e-6,
            "{short} {long}"
        );
        assert!((1.0 / short - 0.538_041).abs() < 5e-7 && (1.0 / long - 0.015_459_1).abs() < 5e-8);
        // Values for 4, the square of the coefficient of variation 2.
        let runtime = made("name = 'hyperexponential'\nmean = 5\ncv = 2").unwrap();
        let Law::Hyperexponential { short, long, .. } = runtime.law else { panic!() };
        assert!((short - 3.5951).abs() < 5e-5 && (long - 31.6927).abs() < 5e-5, "{short} {long}");
        let runtime = made("name = 'hyperexponential'\nmean = 5\ncv = 1").unwrap();
        assert_eq!(runtime.law, Law::Hyperexponential { alpha: 0.95, short: 5.0, long: 5.0 });
    }

    #[test]
    fn a_truncated_normal_is_what_rejection_leaves() {
        for (mean, sd, min, max) in [
            (5.0, 2.0, 0.0, f64::INFINITY),
            (5.0, 2.0, 0.0, 10.0),
            (1.0, 2.0, 2.0, 4.0),
            (4.0, 1.0, 0.0, 3.5),
        ] {
            let normal = TruncatedNormal::new(mean, sd, min, max).unwrap();
            let mut stream = Stream::new(3, 0, "rejection");
            let mut kept: Vec<f64> = (0..200_000)
                .map(|_| mean + sd * standard_normal(&mut stream))
                .filter(|x| (min..max).contains(x))
                .collect();
            let mut drawn: Vec<f64> = (0..kept.len()).map(|_| normal.draw(&mut stream)).collect();
            kept.sort_by(f64::total_cmp);
            drawn.sort_by(f64::total_cmp);
            // Two samples of one distribution: their empirical distributions differ by more than
            // 2.2 √(2/n) less than once in ten thousand times (Kolmogorov and Smirnov).
            let n = kept.len();
            let bound = 2.2 * (2.0 / n as f64).sqrt();
            for i in (0..n).step_by(97) {
                let rank = drawn.partition_point(|&x| x <= kept[i]);
                let apart = (rank as f64 - i as f64).abs() / n as f64;
                assert!(apart < bound, "{min} {max}: {apart} at {}", kept[i]);
            }
            let average = kept.iter().sum::<f64>() / n as f64;
            assert!((average - normal.mean()).abs() < 4.0 * sd / (n as f64).sqrt());
        }
    }

    #[test]
    fn the_mean_of_the_parent_is_not_the_mean_after_truncation() {
        let exact = TruncatedNormal::new(5.0, 2.0, 0.0, f64::INFINITY).unwrap().mean();
        assert!((exact - 5.035).abs() < 5e-4, "{exact}");
        let parent = TruncatedNormal::new(4.955, 2.056, 0.0, f64::INFINITY).unwrap().mean();
        assert!((parent - 5.0).abs() < 1e-3, "{parent}");
        let symmetric = TruncatedNormal::new(5.0, 2.0, 0.0, 10.0).unwrap().mean();
        assert!((symmetric - 5.0).abs() < 1e-12);
    }

    #[test]
    fn contradictions_are_refused_in_a_sentence() {
        for (given, sentence) in [
            (
                "name = 'uniform'\nmin = 3\nmax = 2",
                "`runtimes.max` is 2, but must be at least `runtimes.min`, which is 3",
            ),
            (
                "name = 'hyperexponential'\nmean = 5\ncv = 7",
                "`runtimes.cv` is 7, but with `alpha` = 0.95 the two means exist only for a \
                 coefficient of variation below 6.244998",
            ),
            (
                "name = 'normal'\nmean = 5\nsd = 2\nmin = 100",
                "a normal run time with mean 5 and standard deviation 2 is next to never between \
                 `runtimes.min` = 100 and `runtimes.max` = inf",
            ),
            (
                "name = 'weibull'\nshape = 0.001\nscale = 1",
                "the mean run time of `runtimes` is inf, but must be above 0 and at most 1e15",
            ),
        ] {
            assert_eq!(made(given).unwrap_err().message, sentence);
        }
    }
}
