//! Workload model of Lublin and Feitelson: sizes, run times and a daily cycle of arrivals.
//!
//! The model is fitted to logs of three machines.
//!
//! Source: U. Lublin and D. Feitelson, *The workload on parallel supercomputers: modeling the
//! characteristics of rigid jobs*, JPDC 63(11), 2003, as the authors' own program implements it.

use crate::job::{Job, Request, Time};
use crate::registry::{About, Kind, Param, Params, Problem, Range, Words};
use crate::rng::Stream;
use crate::topology::MAX_NODES;

use super::distribution::Stages;
use super::distribution::functions::gamma_cdf;
use super::distribution::runtimes::Gamma;
use super::{BuildError, Submission, WorkloadContext, WorkloadEntry, WorkloadError};

/// Registry entry of the workload `lublin`.
pub static ENTRY: WorkloadEntry = WorkloadEntry::new(
    About::new(
        "lublin",
        "the model of Lublin and Feitelson: many small jobs, powers of two, and quiet nights",
    )
    .aliases(&["lublin_feitelson"])
    .definition(
        "Sizes: one processor with probability `p_serial`, else 2 to the power of a number from \
         two uniform pieces, rounded to a power of two with probability `p_pow2`. Run times: the \
         logarithm is drawn from one of two gamma distributions, the long one the more often the \
         larger the job. Arrivals: gamma gaps in a time that runs by the hour of the day.",
    )
    .complexity("O(1) expected for each job; nothing is kept.")
    .source("Lublin & Feitelson, JPDC 63(11), 2003")
    .params(&[
        Param::new("jobs", Kind::Integer(1, 1_000_000_000_000_000))
            .is("10000")
            .help("how many jobs there are"),
        Param::new("classes", CLASSES.kind()).is("\"typeless\"").help(
            "which fit: of all jobs, of batch jobs, of interactive jobs, or of these two \
                 merged",
        ),
        Param::new("processors", Kind::Integer(1, MAX_NODES as u64))
            .absent("those of the largest site")
            .help("the machine whose size the model is scaled to"),
        Param::new("p_serial", Kind::Number(Range::Share))
            .absent("that of the class")
            .help("the share of jobs with one processor"),
        Param::new("p_pow2", Kind::Number(Range::Share))
            .absent("that of the class")
            .help("the share of jobs that are rounded to a power of two"),
        Param::new("u_low", Kind::Number(Range::NonNegative))
            .absent("that of the class")
            .help("the smallest logarithm to base 2 of the size of a parallel job"),
        Param::new("u_med", Kind::Number(Range::NonNegative))
            .absent("as far below `u_hi` as in the class")
            .help("the logarithm of size where the many small jobs end and the few large begin"),
        Param::new("u_hi", Kind::Number(Range::NonNegative))
            .absent("that of `processors`; 1.5 less for interactive jobs, as in the fit")
            .help("the largest logarithm to base 2 of the size of a job"),
        Param::new("u_prob", Kind::Number(Range::Share))
            .absent("that of the class")
            .help("the share of parallel jobs that are small"),
        Param::new("arar", Kind::Number(Range::Positive))
            .absent("that of the class")
            .help("the ratio of arrivals at the busiest hours to all: larger is quieter overall"),
    ]),
    |params, setting| Ok(Box::new(Lublin::new(params, setting)?)),
)
.in_seconds(true);

/// Fitted parameters of one class of jobs. Logarithms of times are natural, those of sizes are to
/// base 2. Gamma distributions are given by shape and scale.
#[derive(Clone, Debug, PartialEq)]
struct Class {
    name: &'static str,
    sizes: Stages,
    short: Gamma,
    long: Gamma,
    pa: f64,
    pb: f64,
    gap: Gamma,
    day: Gamma,
    arar: f64,
}

const fn gamma(shape: f64, scale: f64) -> Gamma {
    Gamma { shape, scale }
}

const TYPELESS: Class = Class {
    name: "typeless",
    sizes: Stages {
        p_serial: 0.244,
        p_pow2: 0.576,
        u_low: 0.8,
        u_med: 4.5,
        u_hi: 7.0,
        u_prob: 0.86,
    },
    short: gamma(4.2, 0.94),
    long: gamma(312.0, 0.03),
    pa: -0.0054,
    pb: 0.78,
    gap: gamma(10.2303, 0.4871),
    day: gamma(8.1737, 3.9631),
    arar: 1.0225,
};

const BATCH: Class = Class {
    name: "batch",
    sizes: Stages {
        p_serial: 0.2927,
        p_pow2: 0.6686,
        u_low: 1.2,
        u_med: 5.0,
        u_hi: 7.0,
        u_prob: 0.875,
    },
    short: gamma(6.57, 0.823),
    long: gamma(639.1, 0.0156),
    pa: -0.003,
    pb: 0.6986,
    gap: gamma(6.0415, 0.8531),
    day: gamma(6.1271, 5.2740),
    arar: 1.0519,
};

const INTERACTIVE: Class = Class {
    name: "interactive",
    sizes: Stages {
        p_serial: 0.1541,
        p_pow2: 0.625,
        u_low: 1.0,
        u_med: 3.0,
        u_hi: 5.5,
        u_prob: 0.705,
    },
    short: gamma(3.8351, 0.6605),
    long: gamma(7.073, 0.6856),
    pa: -0.0118,
    pb: 0.9156,
    gap: gamma(6.5510, 0.6621),
    day: gamma(8.9186, 3.6680),
    arar: 0.9797,
};

/// Base-2 logarithm of the number of processors of the machine to which the model was fitted.
const FITTED_SIZE: f64 = 7.0;

impl Class {
    /// Returns the class with the parameters of the study.
    ///
    /// Omitted parameters have fitted values, of which sizes are scaled to `processors` processors.
    fn fitted(&self, params: &Params, processors: u32) -> Result<Class, Problem> {
        let own = |key: &str, fit: f64| params.get_number(key).unwrap_or(fit);
        let sizes = &self.sizes;
        let size = libm::log2(f64::from(processors));
        let u_low = own("u_low", sizes.u_low);
        let u_hi = own("u_hi", size - (FITTED_SIZE - sizes.u_hi));
        let u_med = own("u_med", (u_hi - (sizes.u_hi - sizes.u_med)).max(u_low));
        if !(u_low <= u_med && u_med <= u_hi) {
            let key = ["u_hi", "u_med", "u_low"].into_iter().find(|key| params.has(key));
            // Without keys of the study only the number of processors can be wrong.
            let right = match key {
                Some(_) => String::new(),
                None => {
                    let least = libm::exp2(u_low + FITTED_SIZE - sizes.u_hi).ceil();
                    format!(": `processors` must be at least {least}")
                }
            };
            let says = format!(
                "`{}` with `processors` = {processors} has {} jobs with `u_low` = {u_low}, \
                 `u_med` = {u_med} and `u_hi` = {u_hi}, but each must be at least the one \
                 before{right}",
                params.path(),
                self.name
            );
            return Err(params.problem(key.unwrap_or("processors"), says));
        }
        if u_hi > 31.0 {
            return Err(params.refusal("u_hi", format!("is {u_hi}, but must be at most 31")));
        }
        let arar = own("arar", self.arar);
        if arar * self.gap.shape * self.gap.scale > MAX_LOG_GAP {
            let says = format!(
                "is {arar}, but must be at most {:.3}: the model draws gaps of more than \
                 e^{MAX_LOG_GAP} s again, and with it nearly all would be",
                MAX_LOG_GAP / (self.gap.shape * self.gap.scale)
            );
            return Err(params.refusal("arar", says));
        }
        Ok(Class {
            sizes: Stages {
                p_serial: own("p_serial", sizes.p_serial),
                p_pow2: own("p_pow2", sizes.p_pow2),
                u_low,
                u_med,
                u_hi,
                u_prob: own("u_prob", sizes.u_prob),
            },
            arar,
            ..self.clone()
        })
    }

    /// Draws a run time in whole seconds. Its logarithm comes from one of two gamma distributions.
    /// The larger the job, the less often it comes from the distribution for short run times.
    fn run_time(&self, nodes: u32, stream: &mut Stream) -> f64 {
        let short = (self.pa * f64::from(nodes) + self.pb).clamp(0.0, 1.0);
        let law = if stream.unit() <= short { &self.short } else { &self.long };
        loop {
            let log = law.draw(stream);
            if log <= MAX_LOG_RUN_TIME {
                return libm::floor(libm::exp(log));
            }
        }
    }
}

const HALF_HOUR: f64 = 1800.0;

/// Upper bound of the logarithm of the time between two arrivals; larger values are drawn again.
/// `MAX_LOG_RUN_TIME` is the bound for run times.
const MAX_LOG_GAP: f64 = 13.0;
const MAX_LOG_RUN_TIME: f64 = 12.0;

/// Arrivals of one class of jobs, more frequent in busy hours. Each half hour of the day has a
/// weight, which is 1 on average. The time to the next arrival is drawn as a sum of weights. The
/// clock then advances until the weights of the half hours that it passes add up to the drawn sum.
/// A half hour that is passed only in part counts with this part of its weight.
struct Arrivals {
    gap: Gamma,
    weights: [f64; 48],
    bucket: usize,
    points: f64,
    reminder: f64,
    clock: f64,
    stream: Stream,
}

impl Arrivals {
    fn new(class: &Class, stream: Stream) -> Arrivals {
        let mut weights = [0.0; 48];
        let worth = |i: f64| gamma_cdf(class.day.shape, i / class.day.scale);
        for i in 11_u32..=58 {
            weights[(i as usize - 1) % 48] = worth(f64::from(i) + 0.5) - worth(f64::from(i) - 0.5);
        }
        let mean = weights.iter().sum::<f64>() / 48.0;
        for weight in &mut weights {
            *weight /= mean;
        }
        let gap = gamma(class.gap.shape * class.arar, class.gap.scale);
        Arrivals { gap, weights, bucket: 0, points: 0.0, reminder: 0.0, clock: 0.0, stream }
    }

    fn next(&mut self) -> f64 {
        let log = loop {
            let log = self.gap.draw(&mut self.stream);
            if log <= MAX_LOG_GAP {
                break log;
            }
        };
        self.points += libm::exp(log) / HALF_HOUR;
        while self.points > self.weights[self.bucket] {
            self.points -= self.weights[self.bucket];
            self.bucket = (self.bucket + 1) % 48;
            self.clock += HALF_HOUR;
        }
        let reminder = self.points / self.weights[self.bucket];
        self.clock += HALF_HOUR * (reminder - self.reminder);
        self.reminder = reminder;
        self.clock
    }
}

/// A class of jobs, its arrivals and random streams, and the instant of its next arrival.
struct Source {
    class: Class,
    arrivals: Arrivals,
    next: f64,
    nodes: Stream,
    run_times: Stream,
}

struct Lublin {
    sources: Vec<Source>,
    jobs: u64,
    number: u64,
}

static CLASSES: Words<&[&Class], 4> = Words::new([
    ("typeless", &[&TYPELESS]),
    ("batch", &[&BATCH]),
    ("interactive", &[&INTERACTIVE]),
    ("both", &[&BATCH, &INTERACTIVE]),
]);

impl Lublin {
    fn new(params: &Params, setting: &WorkloadContext<'_>) -> Result<Lublin, BuildError> {
        let classes = params.meaning("classes", &CLASSES);
        let largest = setting.largest().grid().nodes();
        let processors = params.get_integer("processors").map_or(largest, |given| given as u32);
        let mut sources = Vec::new();
        for class in classes {
            let class = class.fitted(params, processors)?;
            let stream = |purpose: &str| {
                let name = format!("{purpose}.{}", class.name);
                Stream::new(setting.seed, setting.replication, &name)
            };
            let mut arrivals = Arrivals::new(&class, stream("arrivals"));
            let (nodes, run_times) = (stream("sizes"), stream("runtimes"));
            sources.push(Source { next: arrivals.next(), arrivals, nodes, run_times, class });
        }
        Ok(Lublin { sources, jobs: params.integer("jobs"), number: 0 })
    }
}

impl Iterator for Lublin {
    type Item = Result<Submission, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.number == self.jobs {
            return None;
        }
        self.number += 1;
        let source =
            self.sources.iter_mut().min_by(|a, b| a.next.total_cmp(&b.next)).expect("a class");
        let arrival = source.next;
        source.next = source.arrivals.next();
        let nodes = source.class.sizes.draw(&mut source.nodes);
        let runtime = source.class.run_time(nodes, &mut source.run_times);
        Some(Ok(Submission::Job(Job::new(
            self.number,
            Time::new(arrival),
            Request::Nodes(nodes),
            runtime,
        ))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::built_flat;

    fn built(given: &str, processors: u32) -> Result<Vec<Job>, BuildError> {
        built_flat(&format!("name = 'lublin'\n{given}"), processors)
    }

    /// Compares means with reference values that are printed with two to four digits. A mean may
    /// differ by the rounding of the printed value, and by four standard errors more.
    #[test]
    fn the_three_fits_have_the_sizes_and_times_of_the_reference() {
        for (class, nodes, serial, power, run, median, gap) in [
            ("typeless", 12.2, 0.243, 0.869, 4340.0, 108.0, 870.0),
            ("batch", 13.9, 0.293, 0.969, 9430.0, 802.0, 3400.0),
            ("interactive", 8.0, 0.154, 0.845, 239.0, 13.0, 590.0),
        ] {
            let jobs = built(&format!("classes = '{class}'\njobs = 100000"), 128).unwrap();
            let n = jobs.len() as f64;
            let check = |what: &str, values: &dyn Fn(&Job) -> f64, expected: f64, digit: f64| {
                let mean = jobs.iter().map(values).sum::<f64>() / n;
                let variance = jobs.iter().map(|job| (values(job) - mean).powi(2)).sum::<f64>() / n;
                let slack = 4.0 * (variance / n).sqrt() + digit;
                assert!(
                    (mean - expected).abs() < slack,
                    "{class} {what}: {mean} {expected} {slack}"
                );
            };
            let size = |job: &Job| job.request.nodes();
            check("nodes", &|job| size(job) as f64, nodes, 0.05);
            check("serial", &|job| f64::from(size(job) == 1), serial, 0.001);
            check("powers", &|job| f64::from(size(job).is_power_of_two()), power, 0.001);
            check("run time", &|job| job.runtime, run, 0.01 * run);
            let mut times: Vec<f64> = jobs.iter().map(|job| job.runtime).collect();
            times.sort_by(f64::total_cmp);
            let middle = times[times.len() / 2];
            assert!((middle / median - 1.0).abs() < 0.05, "{class}: {middle}");
            // Gaps have a heavy tail, so two digits need millions of jobs. The reference comes from
            // a sample and is met within a tenth; the next test compares with theory.
            let span = jobs[jobs.len() - 1].arrival.units();
            assert!((span / n / gap - 1.0).abs() < 0.1, "{class}: {}", span / n);
        }
    }

    /// Checks the mean time between arrivals against theory. The model draws a number of points
    /// between two arrivals, and each half hour that passes consumes as many points as its weight.
    /// Weights are 1 on average, so the mean number of half hours is the mean number of points. The
    /// number of points is e^g for a gamma variate g with shape a and scale b, which is drawn again
    /// if it exceeds 13. The mean number of points is (1 − b)^−a · P(a, 13/b − 13) / P(a, 13/b).
    #[test]
    fn the_mean_time_between_arrivals_is_that_of_theory() {
        for (class, rounded) in [(TYPELESS, 911.3), (BATCH, 3516.9), (INTERACTIVE, 619.3)] {
            let mut arrivals = Arrivals::new(&class, Stream::new(1, 0, class.name));
            let Gamma { shape: a, scale: b } = arrivals.gap;
            let kept = gamma_cdf(a, 13.0 / b - 13.0) / gamma_cdf(a, 13.0 / b);
            let mean = libm::pow(1.0 - b, -a) * kept;
            assert!((mean - rounded).abs() < 0.05, "{}: {mean}", class.name);
            let (n, mut last, mut squares, mut clock) = (400_000, 0.0, 0.0, 0.0);
            for _ in 0..n {
                clock = arrivals.next();
                let gap: f64 = clock - last;
                squares += gap * gap;
                last = clock;
            }
            let n = f64::from(n);
            let error = (squares / n / n).sqrt();
            // Four standard errors, and a day for the position of the last arrival.
            let slack = 4.0 * error + 86_400.0 / n;
            assert!(
                (clock / n - mean).abs() < slack,
                "{}: {} {mean} {slack}",
                class.name,
                clock / n
            );
            assert!(slack < 0.1 * mean, "the test says something");
        }
    }

    #[test]
    fn both_classes_are_the_two_merged() {
        let both = built("classes = 'both'\njobs = 2000", 128).unwrap();
        assert!(both.is_sorted_by_key(|job| job.arrival));
        let key = |job: &Job| (job.arrival, job.request.clone(), job.runtime.to_bits());
        let mut apart: Vec<_> = ["batch", "interactive"]
            .iter()
            .flat_map(|class| built(&format!("classes = '{class}'\njobs = 2000"), 128).unwrap())
            .map(|job| key(&job))
            .collect();
        apart.sort();
        let merged: Vec<_> = both.iter().map(key).collect();
        assert_eq!(merged, apart[..2000]);
        assert!(both.iter().map(|job| job.number).eq(1..=2000));
    }

    /// Compares arrivals with those of a straightforward implementation. From the start to an
    /// arrival, the sum of the half hours' weights must equal the sum of the drawn points.
    #[test]
    fn points_and_what_is_left_of_a_half_hour_persist() {
        let stream = || Stream::new(4, 0, "arrivals.typeless");
        let mut arrivals = Arrivals::new(&TYPELESS, stream());
        let (gap, weights) = (arrivals.gap, arrivals.weights);
        assert!((weights.iter().sum::<f64>() - 48.0).abs() < 1e-9);
        let worth = |instant: f64| {
            let passed = (instant / HALF_HOUR).floor();
            let whole: f64 = (0..passed as usize).map(|i| weights[i % 48]).sum();
            whole + weights[passed as usize % 48] * (instant / HALF_HOUR - passed)
        };
        let (mut draws, mut points) = (stream(), 0.0);
        for _ in 0..3000 {
            let instant = arrivals.next();
            let log = std::iter::repeat_with(|| gap.draw(&mut draws)).find(|&log| log <= 13.0);
            points += libm::exp(log.unwrap()) / HALF_HOUR;
            assert!((worth(instant) - points).abs() < 1e-6 * points, "{instant}");
        }
    }

    #[test]
    fn the_busiest_hour_is_before_noon_or_soon_after() {
        let arrivals = Arrivals::new(&TYPELESS, Stream::new(1, 0, "x"));
        let busiest = (0..48).max_by(|&a, &b| arrivals.weights[a].total_cmp(&arrivals.weights[b]));
        // The weights of the half hours have their mode at (8.1737 − 1) · 3.9631 = 28.4.
        assert_eq!(busiest, Some(27));
    }

    #[test]
    fn sizes_follow_the_machine() {
        for processors in [8, 100, 256, 1000] {
            let jobs = built("jobs = 5000", processors).unwrap();
            let largest = jobs.iter().map(|job| job.request.nodes()).max().unwrap();
            assert!(largest <= u64::from(processors) && largest * 10 > u64::from(processors) * 6);
        }
        let same = built("jobs = 50\nprocessors = 64", 1000).unwrap();
        assert_eq!(same, built("jobs = 50", 64).unwrap());
    }

    #[test]
    fn contradictions_are_refused_in_a_sentence() {
        let sentence = |given: &str, machine| built(given, machine).unwrap_err().to_string();
        assert_eq!(
            sentence("", 1),
            "`workload` with `processors` = 1 has typeless jobs with `u_low` = 0.8, `u_med` = 0.8 and \
             `u_hi` = 0, but each must be at least the one before: `processors` must be at least 2"
        );
        assert!(built("jobs = 5\nprocessors = 2", 4).is_ok());
        for (least, classes) in [(3, "batch"), (6, "interactive"), (6, "both")] {
            let given = |processors: u32| {
                format!("jobs = 5\nclasses = '{classes}'\nprocessors = {processors}")
            };
            assert!(built(&given(least), 8).is_ok(), "{classes}");
            assert!(sentence(&given(least - 1), 8).ends_with(&format!("at least {least}")));
        }
        assert!(sentence("u_med = 9", 128).contains("`u_med` = 9 and `u_hi` = 7"));
        assert!(sentence("arar = 1000", 128).contains("must be at most 2.609"));
        assert_eq!(sentence("u_hi = 40", 128), "`workload.u_hi` is 40, but must be at most 31");
    }
}
