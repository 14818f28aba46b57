//! Training jobs of deep learning: most use one GPU, some whole servers.
//!
//! Run times range from seconds to weeks.

use crate::job::{Job, Request, Time};
use crate::registry::{About, Kind, Param, Params, Problem, Range, Words};
use crate::rng::Stream;
use crate::topology::MAX_NODES;

use super::distribution::runtimes::exponential;
use super::synthetic::{ARRIVAL_RATE, LOAD, MEAN_INTERARRIVAL, mean_gap, stream};
use super::{BuildError, Submission, WorkloadContext, WorkloadEntry, WorkloadError};

/// Registry entry of the workload `deep_learning`.
pub static ENTRY: WorkloadEntry = WorkloadEntry::new(
    About::new(
        "deep_learning",
        "training jobs: most on one graphics processor, some on 2, 4 or 8, with \
             run times from seconds to weeks",
    )
    .aliases(&["philly"])
    .definition(
        "Jobs arrive in a Poisson process. Each asks for one of the counts `gpus`, with the \
         probability of the same place in `shares`; a processor is a graphics processor. The \
         shares that are given are divided by their sum. Run times are drawn whatever the count, \
         from a list of quantiles, between which the logarithm is uniform. `philly` has those of \
         the trace of Microsoft's Philly: a tenth of its jobs end within 56 s, half within 1,322 \
         s, nine tenths within 33,477 s and 99 of 100 within 755,731 s; its ends are drawn up \
         here, from 1 s, and to the 1,437,000 s with which the mean is the 35,599 s of the trace. \
         `gavel` has 10 to the power x minutes, with x uniform between 1.5 and 3 for four jobs of \
         five, else between 3 and 4. Estimates are exact.",
    )
    .complexity("O(1) for each job; nothing is kept.")
    .source(
        "Philly: Jeon et al., Analysis of large-scale multi-tenant GPU clusters for DNN training \
         workloads, USENIX ATC 2019, and the trace that it published, by the quantiles of the \
         111,549 run times of it that the generator of RFold (arXiv 2510.03891) draws from. Counts \
         and `gavel`: Narayanan et al., Heterogeneity-aware cluster scheduling policies for deep \
         learning workloads, OSDI 2020, which rounds the counts of Philly: 70 % on one, 25 % on 2 \
         or 4, 5 % on 8",
    )
    .params(&[
        LOAD,
        ARRIVAL_RATE,
        MEAN_INTERARRIVAL,
        Param::new("durations", DURATIONS.kind()).is("\"philly\"").help("how long jobs run"),
        Param::new("gpus", Kind::Integers(1, MAX_NODES as u64))
            .is("[1, 2, 4, 8]")
            .help("the counts of processors that jobs ask for"),
        Param::new("shares", Kind::Numbers(Range::NonNegative))
            .is("[0.7, 0.1, 0.15, 0.05]")
            .help("how often each count comes, in any unit"),
    ]),
    |params, setting| Ok(Box::new(DeepLearning::new(params, setting)?)),
)
.ends(false)
.in_seconds(true);

/// Quantiles of a distribution of run times. Each entry is a share of the jobs, and the run time in
/// seconds that this share does not exceed.
type Quantiles = &'static [(f64, f64)];

static DURATIONS: Words<Quantiles, 2> = Words::new([("philly", PHILLY), ("gavel", GAVEL)]);

const PHILLY: Quantiles = &[
    (0.0, 1.0),
    (0.1, 56.0),
    (0.5, 1_322.0),
    (0.9, 33_477.0),
    (0.99, 755_731.0),
    (1.0, 1_437_000.0),
];

/// Quantiles of run times. The run times are 10^1.5, 10³ and 10⁴ minutes, converted to seconds.
const GAVEL: Quantiles = &[(0.0, 1_897.366_596_101_027_6), (0.8, 60_000.0), (1.0, 600_000.0)];

/// Mean run time. Between two quantiles the logarithm of the time is uniform. The mean time there
/// is the difference of the quantiles divided by the difference of their logarithms.
fn mean(quantiles: Quantiles) -> f64 {
    let piece = |pair: &[(f64, f64)]| {
        let ((from, low), (to, high)) = (pair[0], pair[1]);
        (to - from) * (high - low) / libm::log(high / low)
    };
    quantiles.windows(2).map(piece).sum()
}

fn draw(quantiles: Quantiles, stream: &mut Stream) -> f64 {
    let unit = stream.unit();
    let above = quantiles.partition_point(|&(share, _)| share <= unit).min(quantiles.len() - 1);
    let ((from, low), (to, high)) = (quantiles[above - 1], quantiles[above]);
    low * libm::exp((unit - from) / (to - from) * libm::log(high / low))
}

struct DeepLearning {
    mean_gap: f64,
    /// Numbers of processors, each with the share of jobs that use at most this number.
    counts: Vec<(f64, u32)>,
    durations: Quantiles,
    arrivals: Stream,
    sizes: Stream,
    runtimes: Stream,
    clock: f64,
    number: u64,
}

impl DeepLearning {
    fn new(params: &Params, setting: &WorkloadContext<'_>) -> Result<DeepLearning, BuildError> {
        let counts = counts(params)?;
        let durations = params.meaning("durations", &DURATIONS);
        let mut below = 0.0;
        let mut mean_nodes = 0.0;
        for &(up_to, count) in &counts {
            mean_nodes += (up_to - below) * f64::from(count);
            below = up_to;
        }
        Ok(DeepLearning {
            mean_gap: mean_gap(params, setting, mean_nodes * mean(durations))?,
            counts,
            durations,
            arrivals: stream(setting, "arrivals"),
            sizes: stream(setting, "sizes"),
            runtimes: stream(setting, "runtimes"),
            clock: 0.0,
            number: 0,
        })
    }
}

fn counts(params: &Params) -> Result<Vec<(f64, u32)>, Problem> {
    let (counts, shares) = (params.integers("gpus"), params.numbers("shares"));
    if counts.len() != shares.len() {
        let says = format!(
            "has {} numbers, but must have one for each of the {} counts of `gpus`",
            shares.len(),
            counts.len()
        );
        return Err(params.refusal("shares", says));
    }
    let total: f64 = shares.iter().sum();
    if total < 1e-9 {
        return Err(params.refusal("shares", "is 0 throughout, but some count must come"));
    }
    let mut sum = 0.0;
    let up_to = shares.iter().map(|share| {
        sum += share / total;
        sum
    });
    Ok(up_to.zip(counts).collect())
}

impl Iterator for DeepLearning {
    type Item = Result<Submission, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.clock += exponential(self.mean_gap, &mut self.arrivals);
        self.number += 1;
        let unit = self.sizes.unit();
        let place = self.counts.partition_point(|&(up_to, _)| up_to <= unit);
        // The last cumulative probability may be below 1 due to rounding.
        let (_, count) = self.counts[place.min(self.counts.len() - 1)];
        let runtime = draw(self.durations, &mut self.runtimes);
        Some(Ok(Submission::Job(Job::new(
            self.number,
            Time::new(self.clock),
            Request::Nodes(count),
            runtime,
        ))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;
    use crate::workload::testing;

    fn built(given: &str, jobs: usize) -> Result<Vec<Job>, BuildError> {
        let given = format!("name = 'deep_learning'\n{given}");
        testing::built(&given, Topology::flat(64).unwrap(), jobs)
    }

    #[test]
    fn run_times_have_the_quantiles_and_the_mean_of_the_trace() {
        assert!((mean(PHILLY) - 35_599.0).abs() < 5.0, "{}", mean(PHILLY));
        let jobs = built("load = 0.7", 200_000).unwrap();
        let n = jobs.len() as f64;
        let mut times: Vec<f64> = jobs.iter().map(|job| job.runtime).collect();
        let average = times.iter().sum::<f64>() / n;
        let spread = times.iter().map(|t| (t - average).powi(2)).sum::<f64>() / n;
        assert!((average - 35_599.0).abs() < 4.0 * (spread / n).sqrt(), "{average}");
        times.sort_by(f64::total_cmp);
        for (share, quantile) in [(0.1, 56.0), (0.5, 1_322.0), (0.9, 33_477.0), (0.99, 755_731.0)] {
            let within = times.partition_point(|&time| time <= quantile) as f64 / n;
            let slack = 4.0 * (share * (1.0 - share) / n).sqrt();
            assert!((within - share).abs() < slack, "{share}: {within}");
        }
    }

    #[test]
    fn counts_have_the_published_shares_and_the_load_is_what_arrives() {
        let jobs = built("load = 0.7\ndurations = 'gavel'", 200_000).unwrap();
        let n = jobs.len() as f64;
        for (count, share) in [(1, 0.7), (2, 0.1), (4, 0.15), (8, 0.05)] {
            let got = jobs.iter().filter(|job| job.request.nodes() == count).count() as f64 / n;
            assert!(
                (got - share).abs() < 4.0 * (share * (1.0 - share) / n).sqrt(),
                "{count}: {got}"
            );
        }
        // Four of five jobs run for less than 10³ minutes, none for less than 10^1.5, and half of
        // the other fifth for less than 10^3.5.
        let within = |minutes: f64| {
            jobs.iter().filter(|job| job.runtime <= 60.0 * minutes).count() as f64 / n
        };
        assert!((within(1e3) - 0.8).abs() < 0.004 && within(31.62) < 1e-9, "{}", within(1e3));
        assert!((within(libm::pow(10.0, 3.5)) - 0.9).abs() < 0.004);
        let work: f64 = jobs.iter().map(|job| job.runtime * job.request.nodes() as f64).sum();
        let load = work / (64.0 * jobs.last().unwrap().arrival.units());
        assert!((load - 0.7).abs() < 0.02, "{load}");
    }

    #[test]
    fn the_first_jobs_are_the_same_for_ever() {
        let jobs = built("load = 0.7", 3).unwrap();
        let text: Vec<String> = jobs
            .iter()
            .map(|job| format!("{:.3} {} {:.3}", job.arrival.units(), job.request, job.runtime))
            .collect();
        // A change of these lines changes every result of the model: increase `MODEL_VERSION` too.
        assert_eq!(text, EXPECTED);
    }

    const EXPECTED: [&str; 3] = ["421.514 4 1962.424", "545.694 4 11.966", "1267.084 1 860.573"];

    #[test]
    fn counts_and_shares_belong_together() {
        let sentence =
            |given: &str| built(&format!("load = 0.5\n{given}"), 1).unwrap_err().to_string();
        assert_eq!(
            sentence("gpus = [1, 8]"),
            "`workload.shares` has 4 numbers, but must have one for each of the 2 counts of `gpus`"
        );
        assert_eq!(
            sentence("gpus = [1, 8]\nshares = [0, 0]"),
            "`workload.shares` is 0 throughout, but some count must come"
        );
        let jobs = built("load = 0.5\ngpus = [1, 16]\nshares = [0, 4]", 100).unwrap();
        assert!(jobs.iter().all(|job| job.request.nodes() == 16));
    }
}
