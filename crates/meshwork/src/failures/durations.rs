//! Distributions of times between failures and of repair times.

use toml::{Table, Value};

use crate::registry::{About, Family, Kind, LARGEST, Param, Params, Problem, Range};
use crate::rng::Stream;
use crate::workload::distribution::functions::standard_normal;
use crate::workload::distribution::{RUNTIMES, Runtime};

/// Distributions of times between failures and of repair times. They are the distributions of run
/// times, a log-normal one, and `inf`.
pub static DURATIONS: Family = Family {
    kind: "distribution of durations",
    key: "name",
    entries: || (RUNTIMES.entries)().into_iter().chain([&LOG_NORMAL, &NEVER]).collect(),
    common: &[],
};

static LOG_NORMAL: About = About::new(
    "log_normal",
    "durations whose logarithm is normal: most are short, a few very long",
)
.aliases(&["lognormal"])
.definition(
    "The logarithm of a duration is normal with standard deviation `sigma`; half of them are \
     shorter than `median`. The mean is `median` · exp(`sigma`² / 2).",
)
.complexity("O(1) for a draw.")
.source(
    "Schroeder & Gibson, A large-scale study of failures in high-performance \
             computing systems, DSN 2006: repairs",
)
.params(&[
    Param::new("median", Kind::Number(Range::Positive))
        .help("the duration than which half are shorter"),
    Param::new("sigma", Kind::Number(Range::Positive))
        .help("the standard deviation of the logarithm"),
]);

static NEVER: About = About::new("inf", "never: what waits for it waits for ever")
    .aliases(&["never"])
    .definition("What is to happen after it never does: with `mtbf` = \"inf\" nothing fails.")
    .complexity("Nothing is drawn.")
    .source("the limit of all the others");

/// Converts a number to an exponential distribution with this mean, or to `inf` if infinite.
pub(super) fn spelled_out(given: &Value) -> Value {
    let number = match given {
        Value::Float(number) => *number,
        Value::Integer(number) => *number as f64,
        Value::String(text) => match text.trim().parse::<f64>() {
            Ok(number) => number,
            Err(_) => return given.clone(),
        },
        _ => return given.clone(),
    };
    if number == f64::INFINITY {
        return Value::String(NEVER.name.to_owned());
    }
    let mut table = Table::new();
    table.insert("name".to_owned(), "exponential".into());
    table.insert("mean".to_owned(), Value::Float(number));
    Value::Table(table)
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Duration {
    Runtime(Runtime),
    LogNormal { median: f64, sigma: f64 },
    Never,
}

impl Duration {
    pub(super) fn new(params: &Params) -> Result<Duration, Problem> {
        if params.name() == NEVER.name {
            return Ok(Duration::Never);
        }
        if params.name() != LOG_NORMAL.name {
            return Runtime::new(params).map(Duration::Runtime);
        }
        let (median, sigma) = (params.number("median"), params.number("sigma"));
        let duration = Duration::LogNormal { median, sigma };
        if duration.mean() <= LARGEST {
            return Ok(duration);
        }
        let says = format!(
            "is {sigma}, with which the mean is {}, but must be such that it is at most 1e15",
            duration.mean()
        );
        Err(params.refusal("sigma", says))
    }

    pub(super) fn mean(&self) -> f64 {
        match self {
            Duration::Runtime(runtime) => runtime.mean(),
            Duration::LogNormal { median, sigma } => median * libm::exp(0.5 * sigma * sigma),
            Duration::Never => f64::INFINITY,
        }
    }

    /// Draws one duration, of at most [`LARGEST`]; infinite for [`Duration::Never`].
    pub(super) fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            Duration::Runtime(runtime) => runtime.draw(stream),
            Duration::LogNormal { median, sigma } => {
                (median * libm::exp(sigma * standard_normal(stream))).min(LARGEST)
            }
            Duration::Never => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duration(text: &str) -> Result<Duration, Problem> {
        let given: Table = format!("x = {text}").parse().unwrap();
        Duration::new(&DURATIONS.resolve("mtbf", &spelled_out(&given["x"]))?)
    }

    #[test]
    fn a_number_is_the_mean_of_an_exponential_distribution() {
        let written = duration("{ name = 'exponential', mean = 250 }").unwrap();
        for text in ["250", "250.0", "'250'", "\"2.5e2\""] {
            assert_eq!(duration(text).unwrap(), written, "{text}");
        }
        for text in ["inf", "'inf'", "'never'"] {
            assert_eq!(duration(text).unwrap(), Duration::Never, "{text}");
        }
        assert!(duration("0").is_err() && duration("-3").is_err() && duration("'soon'").is_err());
        assert!(duration("nan").is_err() && duration("-inf").is_err());
    }

    #[test]
    fn a_log_normal_duration_has_its_moments() {
        let durations = duration("{ name = 'lognormal', median = 10, sigma = 0.5 }").unwrap();
        let mut stream = Stream::new(1, 0, "durations");
        let draws: Vec<f64> = (0..200_000).map(|_| durations.draw(&mut stream)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let below = draws.iter().filter(|&&draw| draw < 10.0).count() as f64 / draws.len() as f64;
        // exp(1/8) = 1.1331; the standard deviation of the mean is 0.0135.
        assert!((mean - 11.331).abs() < 0.06, "{mean}");
        assert!((below - 0.5).abs() < 0.005, "{below}");
        assert!((durations.mean() - 11.331_484_5).abs() < 1e-6);
    }
}
