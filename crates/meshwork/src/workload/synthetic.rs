//! Jobs with Poisson arrivals. Sizes and run times come from distributions, each with random
//! streams of its own.

use crate::job::{Job, Request, Time};
use crate::registry::{About, Kind, LARGEST, Param, Params, Problem, Range, Words};
use crate::rng::Stream;

use super::distribution::runtimes::exponential;
use super::distribution::{RUNTIMES, Runtime, SIZES, Sizes};
use super::{BuildError, Submission, WorkloadContext, WorkloadEntry, WorkloadError};

pub(super) const LOAD: Param = Param::new("load", Kind::Number(Range::Positive))
    .absent("`arrival_rate` or `mean_interarrival` is given")
    .help("the arrival rate that asks, on average, for this share of the machine's work");

pub(super) const ARRIVAL_RATE: Param = Param::new("arrival_rate", Kind::Number(Range::Positive))
    .absent("`load` or `mean_interarrival` is given")
    .help("jobs that arrive in a unit of time, on average");

pub(super) const MEAN_INTERARRIVAL: Param =
    Param::new("mean_interarrival", Kind::Number(Range::Positive))
        .absent("`load` or `arrival_rate` is given")
        .help("time from one arrival to the next, on average");

pub(super) const RUN_TIMES: Param =
    Param::new("runtimes", Kind::Component(&RUNTIMES)).help("the distribution of run times");

pub(super) const DEMAND: Param = Param::new("demand", DEMANDS.kind()).is("\"dependent\"").help(
    "dependent: a run time is drawn whatever the size, so large jobs do more work; \
         independent: the work is drawn, and spread over the job's processors",
);

/// Registry entry of the workload `synthetic`.
pub static ENTRY: WorkloadEntry = WorkloadEntry::new(
    About::new("synthetic", "Poisson arrivals, with sizes and run times from distributions")
        .definition(
            "Jobs arrive in a Poisson process. Each has a size and a run time from two \
             distributions, drawn from streams of their own, so that changing one leaves the \
             other. With `load`, the rate of arrivals is such that the mean work of a job times \
             the rate is this share of what the machine can do. Estimates are exact. A network \
             on which jobs send messages replaces the run times, so `load` is not the load there \
             and estimates are not exact: give `mean_interarrival`.",
        )
        .complexity("O(1) for each job; nothing is kept.")
        .source("Chang & Mohapatra; Zhu & Lin; Mohapatra, Yu, Das & Kim")
        .params(&[
            LOAD,
            ARRIVAL_RATE,
            MEAN_INTERARRIVAL,
            Param::new("sizes", Kind::Component(&SIZES))
                .help("the distribution of what jobs ask for"),
            RUN_TIMES,
            DEMAND,
        ]),
    |params, setting| {
        let sizes = Sizes::on_sites(
            &params.component("sizes", &SIZES),
            setting.largest(),
            &setting.topologies(),
        )?;
        let streams = 0..sizes.streams();
        let streams = streams.map(|i| stream(setting, &format!("sizes.{i}"))).collect();
        Ok(Box::new(Synthetic::new(params, setting, OfSizes { sizes, streams })?))
    },
)
.ends(false);

/// Values of the parameter `demand`. `dependent` (here `false`): run times are drawn. `independent`
/// (here `true`): the work of a job is drawn, and its run time is computed from the work.
static DEMANDS: Words<bool, 2> = Words::new([("dependent", false), ("independent", true)]);
pub(super) trait Requests: Send {
    /// Exact mean of the number of processors that a job requests.
    fn mean_nodes(&self) -> f64;
    fn draw(&mut self) -> Request;
}

/// Requests drawn from a distribution of sizes, with a random stream for each side of a block.
struct OfSizes {
    sizes: Sizes,
    streams: Vec<Stream>,
}

impl Requests for OfSizes {
    fn mean_nodes(&self) -> f64 {
        self.sizes.mean_nodes()
    }

    fn draw(&mut self) -> Request {
        self.sizes.draw(&mut self.streams)
    }
}

pub(super) struct Synthetic<R> {
    mean_gap: f64,
    requests: R,
    runtimes: Runtime,
    /// Mean number of processors of a job. If the work of jobs is drawn, the run time of a job is
    /// computed with this mean. `None` if run times are drawn directly.
    spread_over: Option<f64>,
    arrivals: Stream,
    runtime_stream: Stream,
    clock: f64,
    number: u64,
}

impl<R: Requests> Synthetic<R> {
    /// Creates the workload. Requests are drawn from `requests`; parameters set arrivals and run
    /// times.
    pub(super) fn new(
        params: &Params,
        setting: &WorkloadContext<'_>,
        requests: R,
    ) -> Result<Synthetic<R>, BuildError> {
        let runtimes = Runtime::new(&params.component("runtimes", &RUNTIMES))?;
        let mean_gap = mean_gap(params, setting, requests.mean_nodes() * runtimes.mean())?;
        let independent = params.meaning("demand", &DEMANDS);
        Ok(Synthetic {
            mean_gap,
            spread_over: independent.then(|| requests.mean_nodes()),
            arrivals: stream(setting, "arrivals"),
            runtime_stream: stream(setting, "runtimes"),
            requests,
            runtimes,
            clock: 0.0,
            number: 0,
        })
    }
}
pub(super) fn stream(setting: &WorkloadContext<'_>, name: &str) -> Stream {
    Stream::new(setting.seed, setting.replication, name)
}

/// Mean time between arrivals for the requested load, where `work` is the mean work of a job.
pub(super) fn mean_gap(
    params: &Params,
    setting: &WorkloadContext<'_>,
    work: f64,
) -> Result<f64, Problem> {
    let keys = ["load", "arrival_rate", "mean_interarrival"];
    let given: Vec<&str> = keys.into_iter().filter(|key| params.has(key)).collect();
    let &[key] = given.as_slice() else {
        let which = if given.is_empty() { "none of them".to_owned() } else { given.join(" and ") };
        let says = format!(
            "`{}` needs exactly one of load, arrival_rate and mean_interarrival, but has {which}",
            params.path()
        );
        return Err(Problem::new(params.path(), says));
    };
    let value = params.number(key);
    let gap = match key {
        "load" => work / (setting.capacity() * value),
        "arrival_rate" => 1.0 / value,
        _ => value,
    };
    if gap > 0.0 && gap <= LARGEST {
        return Ok(gap);
    }
    Err(params.refusal(
        key,
        format!(
            "= {value} makes the mean time between arrivals {gap}, but it must be above 0 and at \
             most 1e15"
        ),
    ))
}

impl<R: Requests> Iterator for Synthetic<R> {
    type Item = Result<Submission, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.clock += exponential(self.mean_gap, &mut self.arrivals);
        self.number += 1;
        let request = self.requests.draw();
        let drawn = self.runtimes.draw(&mut self.runtime_stream);
        let spread = |mean_nodes: f64| drawn * mean_nodes / request.nodes() as f64;
        let runtime = self.spread_over.map_or(drawn, spread);
        Some(Ok(Submission::Job(Job::new(self.number, Time::new(self.clock), request, runtime))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;
    use crate::workload::testing;

    fn built(given: &str, machine: Topology) -> Result<Vec<Job>, BuildError> {
        testing::built(&format!("name = 'synthetic'\n{given}"), machine, 40_000)
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        let values: Vec<f64> = values.collect();
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn mesh() -> Topology {
        Topology::mesh(&[32, 32]).unwrap()
    }

    const UNIFORM_AND_EXPONENTIAL: &str =
        "sizes = 'uniform'\nruntimes = { name = 'exponential', mean = 5.0 }";

    #[test]
    fn arrivals_are_a_poisson_process_of_the_load() {
        let jobs = built(&format!("load = 0.6\n{UNIFORM_AND_EXPONENTIAL}"), mesh()).unwrap();
        let n = jobs.len() as f64;
        let gap = 1.0 / (0.6 * 0.752_25);
        let before = std::iter::once(0.0).chain(jobs.iter().map(|job| job.arrival.units()));
        let gaps: Vec<f64> =
            before.zip(&jobs).map(|(before, job)| job.arrival.units() - before).collect();
        assert!(gaps.iter().all(|&gap| gap > 0.0));
        // Four standard errors of the mean, and of the second moment, whose variance for an
        // exponential variate is 20 times the fourth power of the mean.
        let first = mean(gaps.iter().copied());
        let second = mean(gaps.iter().map(|gap| gap * gap));
        assert!((first - gap).abs() < 4.0 * gap / n.sqrt(), "{first} {gap}");
        assert!((second - 2.0 * gap * gap).abs() < 4.0 * (20.0 / n).sqrt() * gap * gap);
        // Gaps are independent: neighbours are not correlated.
        let product = mean(gaps.windows(2).map(|pair| (pair[0] - gap) * (pair[1] - gap)));
        assert!(product.abs() < 4.0 * gap * gap / n.sqrt(), "{product}");
    }

    #[test]
    fn the_load_is_what_arrives() {
        for (machine, demand) in [
            (mesh(), "dependent"),
            (mesh(), "independent"),
            (Topology::hypercube(8).unwrap(), "dependent"),
            (Topology::hypercube(8).unwrap(), "independent"),
            (Topology::flat(100).unwrap(), "dependent"),
        ] {
            let nodes = f64::from(machine.grid().nodes());
            let given = format!("load = 0.7\ndemand = '{demand}'\n{UNIFORM_AND_EXPONENTIAL}");
            let jobs = built(&given, machine).unwrap();
            let work: Vec<f64> =
                jobs.iter().map(|job| job.runtime * job.request.nodes() as f64).collect();
            let span = jobs.last().unwrap().arrival.units();
            let load = work.iter().sum::<f64>() / (nodes * span);
            let average = mean(work.iter().copied());
            let spread = mean(work.iter().map(|w| (w / average - 1.0).powi(2)));
            // Four standard errors of a sum of work divided by a sum of gaps.
            let slack = 4.0 * 0.7 * ((spread + 1.0) / jobs.len() as f64).sqrt();
            assert!((load - 0.7).abs() < slack, "{demand}: {load} {slack}");
        }
    }

    #[test]
    fn independent_demand_is_spread_over_the_processors() {
        let cube = || Topology::hypercube(8).unwrap();
        let dependent = built(&format!("load = 0.7\n{UNIFORM_AND_EXPONENTIAL}"), cube()).unwrap();
        let independent = built(
            &format!("load = 0.7\ndemand = 'independent'\n{UNIFORM_AND_EXPONENTIAL}"),
            cube(),
        )
        .unwrap();
        for (a, b) in dependent.iter().zip(&independent) {
            assert_eq!((a.arrival, &a.request), (b.arrival, &b.request));
            let nodes = b.request.nodes() as f64;
            assert!((b.runtime * nodes - a.runtime * 31.875).abs() < 1e-9 * a.runtime * 31.875);
        }
    }

    #[test]
    fn a_rate_and_a_mean_gap_say_the_same() {
        let rate = built(&format!("arrival_rate = 0.25\n{UNIFORM_AND_EXPONENTIAL}"), mesh());
        let gap = built(&format!("mean_interarrival = 4.0\n{UNIFORM_AND_EXPONENTIAL}"), mesh());
        assert_eq!(rate.unwrap(), gap.unwrap());
    }

    #[test]
    fn purposes_do_not_disturb_one_another() {
        let one = built(&format!("load = 0.5\n{UNIFORM_AND_EXPONENTIAL}"), mesh()).unwrap();
        let other = "sizes = { name = 'uniform', max = [16, 32] }\n\
                     runtimes = { name = 'hyperexponential', mean = 9 }";
        let rate = 0.5 * 0.752_25;
        let other = built(&format!("arrival_rate = {rate}\n{other}"), mesh()).unwrap();
        for (a, b) in one.iter().zip(&other) {
            assert!((a.arrival - b.arrival).abs() < 1e-5 * a.arrival.units());
            let (Request::Block(a), Request::Block(b)) = (&a.request, &b.request) else { panic!() };
            assert_eq!(a[1], b[1], "the second side has a stream of its own");
        }
    }

    #[test]
    fn the_first_jobs_are_the_same_for_ever() {
        let jobs = built(&format!("load = 0.5\n{UNIFORM_AND_EXPONENTIAL}"), mesh()).unwrap();
        let text: Vec<String> = jobs[..3]
            .iter()
            .map(|job| {
                format!("{} {:.6} {} {:.6}", job.number, job.arrival, job.request, job.runtime)
            })
            .collect();
        // A change of these lines changes every synthetic result: increase `MODEL_VERSION` too.
        let expected =
            ["1 0.742294 27x14 2.999243", "2 0.960977 2x32 13.930553", "3 2.231358 12x24 4.040720"];
        assert_eq!(text, expected);
    }

    #[test]
    fn exactly_one_of_three_says_how_often_jobs_arrive() {
        let sentence = |given: &str| {
            built(&format!("{given}\n{UNIFORM_AND_EXPONENTIAL}"), mesh()).unwrap_err().to_string()
        };
        assert_eq!(
            sentence(""),
            "`workload` needs exactly one of load, arrival_rate and mean_interarrival, but has none \
             of them"
        );
        assert_eq!(
            sentence("load = 0.5\nmean_interarrival = 3"),
            "`workload` needs exactly one of load, arrival_rate and mean_interarrival, but has load \
             and mean_interarrival"
        );
    }
}
