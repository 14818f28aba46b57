//! Workload model of Cirne and Berman: jobs run for a random part of the time that users request.
//!
//! Source: W. Cirne and F. Berman, *A comprehensive model of the supercomputer workload*, WWC-4,
//! 2001. The distributions are of the kinds that the paper gives. The values of the paper's tables
//! are not reprinted here: the defaults below were measured on one of the four logs from which the
//! model was made.

use crate::job::{Job, Request, Time};
use crate::registry::{About, Kind, LARGEST, Param, Params, Problem, Range};
use crate::rng::Stream;
use crate::topology::MAX_NODES;

use super::distribution::Stages;
use super::distribution::runtimes::{Gamma, exponential};
use super::synthetic::stream;
use super::{BuildError, Submission, WorkloadContext, WorkloadEntry, WorkloadError};

/// Registry entry of the workload `cirne_berman`.
pub static ENTRY: WorkloadEntry = WorkloadEntry::new(
    About::new(
        "cirne_berman",
        "the model of Cirne and Berman: requested times, of which jobs use a part, \
             and arrivals by the hour",
    )
    .aliases(&["cirne"])
    .definition(
        "Requests: the logarithm of the requested time is uniform between those of `shortest` and \
         `longest`; it is the estimate. Run times: the requested time times an accuracy, which is \
         gamma with mean `accuracy_mean` and coefficient of variation `accuracy_cv`, and 1 where \
         that is above 1: a job ends at its request. Sizes: one processor with probability \
         `p_serial`, else 2 to the power of a number from two uniform pieces, rounded to a power \
         of two with probability `p_pow2`. Arrivals: a Poisson process whose rate follows the hour \
         of the day by `hours`, with `mean_interarrival` on average; the clock begins at midnight. \
         Jobs that are cancelled, which the paper models too, are none here.",
    )
    .complexity("O(1) expected for each job; nothing is kept.")
    .source(
        "Cirne & Berman, WWC-4, 2001, for the kinds of distributions. The defaults \
             are measured: on CTC-SP2-1996-3.1-cln of the Parallel Workloads Archive \
             (Dan Dwyer and Steve Hotovy), one of its four logs",
    )
    .params(&[
        Param::new("jobs", Kind::Integer(1, 1_000_000_000_000_000))
            .is("10000")
            .help("how many jobs there are"),
        Param::new("processors", Kind::Integer(1, MAX_NODES as u64))
            .absent("those of the largest site")
            .help("the largest size of a job"),
        Param::new("p_serial", Kind::Number(Range::Share))
            .is("0.42")
            .help("the share of jobs with one processor"),
        Param::new("p_pow2", Kind::Number(Range::Share))
            .is("0.343")
            .help("the share of jobs that are rounded to a power of two"),
        Param::new("u_low", Kind::Number(Range::NonNegative))
            .is("0.585")
            .help("the smallest logarithm to base 2 of the size of a parallel job"),
        Param::new("u_med", Kind::Number(Range::NonNegative))
            .absent("5.386, or the logarithm of `processors` where that is less")
            .help("the logarithm of size where the many small jobs end and the few large begin"),
        Param::new("u_prob", Kind::Number(Range::Share))
            .is("0.916")
            .help("the share of parallel jobs that are small"),
        Param::new("shortest", Kind::Number(Range::Positive))
            .is("300.0")
            .help("the shortest time that is requested"),
        Param::new("longest", Kind::Number(Range::Positive))
            .is("64800.0")
            .help("the longest time that is requested"),
        Param::new("accuracy_mean", Kind::Number(Range::Positive)).is("0.39").help(
            "the mean part of its requested time that a job uses, before what is above 1 is \
                 cut to 1",
        ),
        Param::new("accuracy_cv", Kind::Number(Range::Positive))
            .is("0.875")
            .help("the coefficient of variation of this part, likewise"),
        Param::new("mean_interarrival", Kind::Number(Range::Positive))
            .is("379.4")
            .help("time from one arrival to the next, on average"),
        Param::new("hours", Kind::Numbers(Range::NonNegative)).absent("those of the CTC SP2").help(
            "24 numbers: in what proportion jobs arrive in the hours of the day, from midnight \
                 on",
        ),
    ]),
    |params, setting| Ok(Box::new(CirneBerman::new(params, setting)?)),
)
.in_seconds(true);

/// Arrivals per hour of the day on the CTC SP2, relative to the mean of all hours.
const CTC_HOURS: [f64; 24] = [
    0.747, 0.670, 0.438, 0.295, 0.264, 0.213, 0.182, 0.314, 0.477, 0.852, 1.387, 1.806, 1.905,
    1.693, 1.678, 1.648, 1.595, 1.477, 1.338, 1.086, 0.957, 0.918, 0.982, 1.078,
];

/// Base-2 logarithm of the size that separates small from large parallel jobs on the CTC SP2.
const CTC_MED: f64 = 5.386;

const HOUR: f64 = 3_600.0;

/// Poisson process of arrivals whose rate changes with the hour of the day. The times between
/// arrivals are exponential on a clock that runs faster in busy hours.
struct Arrivals {
    mean: f64,
    /// Weight of each hour of the day; the mean of the 24 weights is 1.
    weights: [f64; 24],
    hour: usize,
    /// Time that has passed since the start of the current hour.
    into: f64,
    begin: f64,
    stream: Stream,
}

impl Arrivals {
    fn new(mean: f64, weights: [f64; 24], stream: Stream) -> Arrivals {
        let average = weights.iter().sum::<f64>() / 24.0;
        let weights = weights.map(|weight| weight / average);
        Arrivals { mean, weights, hour: 0, into: 0.0, begin: 0.0, stream }
    }

    fn next(&mut self) -> f64 {
        let mut left = exponential(self.mean, &mut self.stream);
        // Skips whole days at once, because the mean gap may be long.
        let days = libm::floor(left / (24.0 * HOUR));
        self.begin += days * 24.0 * HOUR;
        left -= days * 24.0 * HOUR;
        loop {
            let weight = self.weights[self.hour];
            let capacity = (HOUR - self.into) * weight;
            if left < capacity {
                self.into += left / weight;
                return self.begin + self.into;
            }
            left -= capacity;
            self.hour = (self.hour + 1) % 24;
            self.begin += HOUR;
            self.into = 0.0;
        }
    }
}

struct CirneBerman {
    arrivals: Arrivals,
    sizes: Stages,
    /// Natural logarithms of the shortest and the longest requested time.
    requests: (f64, f64),
    accuracy: Gamma,
    size_stream: Stream,
    request_stream: Stream,
    accuracy_stream: Stream,
    jobs: u64,
    number: u64,
}

impl CirneBerman {
    fn new(params: &Params, setting: &WorkloadContext<'_>) -> Result<CirneBerman, BuildError> {
        let (shortest, longest) = (params.number("shortest"), params.number("longest"));
        if shortest > longest {
            let path = params.path();
            let says =
                format!("is {shortest}, but must be at most `{path}.longest`, which is {longest}");
            return Err(params.refusal("shortest", says).into());
        }
        let cv = params.number("accuracy_cv");
        let shape = (1.0 / (cv * cv)).clamp(1e-12, 1e12);
        let accuracy = Gamma { shape, scale: params.number("accuracy_mean") / shape };
        let arrivals = Arrivals::new(
            params.number("mean_interarrival"),
            hours(params)?,
            stream(setting, "arrivals"),
        );
        Ok(CirneBerman {
            arrivals,
            sizes: sizes(params, setting)?,
            requests: (libm::log(shortest), libm::log(longest)),
            accuracy,
            size_stream: stream(setting, "sizes"),
            request_stream: stream(setting, "requests"),
            accuracy_stream: stream(setting, "accuracies"),
            jobs: params.integer("jobs"),
            number: 0,
        })
    }
}

fn sizes(params: &Params, setting: &WorkloadContext<'_>) -> Result<Stages, Problem> {
    let machine = setting.largest().grid().nodes();
    let processors = params.get_integer("processors").map_or(machine, |given| given as u32);
    let u_hi = libm::log2(f64::from(processors));
    // A single processor admits no parallel jobs.
    let p_serial = if processors == 1 { 1.0 } else { params.number("p_serial") };
    let u_low = params.number("u_low");
    let u_med = params.get_number("u_med").unwrap_or_else(|| CTC_MED.min(u_hi));
    if processors > 1 && !(u_low <= u_med && u_med <= u_hi) {
        let key =
            ["u_med", "u_low"].into_iter().find(|key| params.has(key)).unwrap_or("processors");
        let says = format!(
            "`{}` with `processors` = {processors} has jobs with `u_low` = {u_low}, `u_med` = \
             {u_med} and a largest logarithm of {u_hi:.3}, but each must be at least the one before",
            params.path()
        );
        return Err(params.problem(key, says));
    }
    let (p_pow2, u_prob) = (params.number("p_pow2"), params.number("u_prob"));
    Ok(Stages { p_serial, p_pow2, u_low, u_med, u_hi, u_prob })
}

fn hours(params: &Params) -> Result<[f64; 24], Problem> {
    if !params.has("hours") {
        return Ok(CTC_HOURS);
    }
    let given = params.numbers("hours");
    let count = given.len();
    let total: f64 = given.iter().sum();
    let hours = <[f64; 24]>::try_from(given).map_err(|_| {
        let says =
            format!("has {count} numbers, but must have one for each of the 24 hours of the day");
        params.refusal("hours", says)
    })?;
    if total < 1e-9 {
        return Err(params.refusal("hours", "is 0 throughout, but jobs must arrive in some hour"));
    }
    Ok(hours)
}

impl Iterator for CirneBerman {
    type Item = Result<Submission, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.number == self.jobs {
            return None;
        }
        self.number += 1;
        let arrival = self.arrivals.next();
        let nodes = self.sizes.draw(&mut self.size_stream);
        let (low, high) = self.requests;
        let request = libm::exp(low + (high - low) * self.request_stream.unit()).min(LARGEST);
        let accuracy = self.accuracy.draw(&mut self.accuracy_stream).min(1.0);
        Some(Ok(Submission::Job(Job {
            estimate: request,
            ..Job::new(self.number, Time::new(arrival), Request::Nodes(nodes), request * accuracy)
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::built_flat;

    fn built(given: &str, processors: u32) -> Result<Vec<Job>, BuildError> {
        built_flat(&format!("name = 'cirne_berman'\n{given}"), processors)
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn requests_are_uniform_in_the_logarithm_and_accuracies_gamma() {
        let jobs = built("jobs = 100000", 338).unwrap();
        let n = jobs.len() as f64;
        // All quantiles of a variate with a uniform logarithm are known.
        let mut requests: Vec<f64> = jobs.iter().map(|job| job.estimate).collect();
        requests.sort_by(f64::total_cmp);
        for share in [0.1, 0.25, 0.5, 0.75, 0.9] {
            let quantile = 300.0 * libm::pow(216.0, share);
            let got = requests[(share * n) as usize];
            // Four standard errors of the logarithm of a quantile.
            let slack = 4.0 * (share * (1.0 - share) / n).sqrt() * libm::log(216.0);
            assert!(libm::log(got / quantile).abs() < slack, "{share}: {got} {quantile}");
        }
        // By default, accuracies have a gamma distribution cut at 1. Moments are checked for one so
        // narrow that the cut has hardly any effect.
        let narrow = built("jobs = 100000\naccuracy_mean = 0.4\naccuracy_cv = 0.2", 338).unwrap();
        let accuracies: Vec<f64> = narrow.iter().map(|job| job.runtime / job.estimate).collect();
        let average = mean(&accuracies);
        let squares: Vec<f64> = accuracies.iter().map(|a| (a / 0.4 - 1.0).powi(2)).collect();
        assert!((average - 0.4).abs() < 4.0 * 0.08 / n.sqrt(), "{average}");
        assert!((mean(&squares).sqrt() - 0.2).abs() < 0.003, "{}", mean(&squares).sqrt());
        assert!(jobs.iter().all(|job| job.runtime <= job.estimate));
        let at_request = jobs.iter().filter(|job| job.runtime >= job.estimate).count() as f64 / n;
        assert!((0.02..0.1).contains(&at_request), "{at_request}");
    }

    #[test]
    fn the_defaults_are_those_of_the_log() {
        let jobs = built("jobs = 100000", 338).unwrap();
        let n = jobs.len() as f64;
        let share = |of: &dyn Fn(u64) -> bool| {
            jobs.iter().filter(|job| of(job.request.nodes())).count() as f64 / n
        };
        assert!((share(&|size| size == 1) - 0.4197).abs() < 0.005);
        assert!(
            (share(&u64::is_power_of_two) - 0.827).abs() < 0.02,
            "{}",
            share(&u64::is_power_of_two)
        );
        assert!((share(&|size| size <= 32) - 0.9).abs() < 0.06, "{}", share(&|size| size <= 32));
        let gap = jobs.last().unwrap().arrival.units() / n;
        assert!((gap / 379.4 - 1.0).abs() < 4.0 / n.sqrt() + 0.003, "{gap}");
        // The arrivals in each hour of the day match its weight.
        let mut counts = [0.0; 24];
        for job in &jobs {
            counts[(job.arrival.units() / HOUR) as usize % 24] += 1.0;
        }
        for (hour, weight) in CTC_HOURS.into_iter().enumerate() {
            let expected = weight * n / 24.0;
            let slack = 4.5 * expected.sqrt() + 0.002 * expected;
            assert!((counts[hour] - expected).abs() < slack, "{hour}: {} {expected}", counts[hour]);
        }
    }

    #[test]
    fn an_hour_without_weight_is_passed_over() {
        let mut weights = vec!["0"; 24];
        weights[6] = "3";
        let hours =
            format!("jobs = 500\nmean_interarrival = 1000000\nhours = [{}]", weights.join(", "));
        let jobs = built(&hours, 8).unwrap();
        assert!(jobs.iter().all(|job| (job.arrival.units() / HOUR) as u64 % 24 == 6));
        let gap = jobs.last().unwrap().arrival.units() / 500.0;
        assert!((gap / 1e6 - 1.0).abs() < 4.0 / 500_f64.sqrt(), "{gap}");
    }

    #[test]
    fn the_first_jobs_are_the_same_for_ever() {
        let jobs = built("jobs = 3", 338).unwrap();
        let text: Vec<String> = jobs
            .iter()
            .map(|job| {
                let (runtime, estimate) = (job.runtime, job.estimate);
                format!("{:.3} {} {runtime:.3} {estimate:.3}", job.arrival.units(), job.request)
            })
            .collect();
        // A change of these lines changes every result of the model: increase `MODEL_VERSION` too.
        assert_eq!(text, EXPECTED);
    }

    const EXPECTED: [&str; 3] = [
        "141.803 4 7780.950 46886.451",
        "183.578 4 332.853 2014.449",
        "426.263 1 727.650 1705.314",
    ];

    #[test]
    fn contradictions_are_refused_in_a_sentence() {
        let sentence = |given: &str| built(given, 64).unwrap_err().to_string();
        assert_eq!(
            sentence("shortest = 10\nlongest = 5"),
            "`workload.shortest` is 10, but must be at most `workload.longest`, which is 5"
        );
        assert_eq!(
            sentence("hours = [1, 2]"),
            "`workload.hours` has 2 numbers, but must have one for each of the 24 hours of the day"
        );
        let zeros = vec!["0"; 24].join(", ");
        assert_eq!(
            sentence(&format!("hours = [{zeros}]")),
            "`workload.hours` is 0 throughout, but jobs must arrive in some hour"
        );
        assert_eq!(
            sentence("u_med = 9"),
            "`workload` with `processors` = 64 has jobs with `u_low` = 0.585, `u_med` = 9 and a largest logarithm of \
             6.000, but each must be at least the one before"
        );
        for processors in [1, 2, 3, 5] {
            let jobs = built("jobs = 200", processors).unwrap();
            assert!(jobs.iter().all(|job| job.request.nodes() <= u64::from(processors)));
        }
    }
}
