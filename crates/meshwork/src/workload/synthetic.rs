//! Jobs drawn from distributions: Poisson arrivals, sizes and run times from named streams.

use crate::job::{Job, Time};
use crate::registry::{About, Default, Kind, LARGEST, Param, Params, Problem, Range};
use crate::rng::Stream;

use super::distribution::runtimes::exponential;
use super::distribution::{RUNTIMES, Runtime, SIZES, Sizes};
use super::{BuildError, Setting, Submission, WorkloadEntry, WorkloadError};

/// The entry in the list.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    about: About {
        name: "synthetic",
        aliases: &[],
        summary: "Poisson arrivals, with sizes and run times from distributions",
        source: "Chang & Mohapatra; Zhu & Lin; Mohapatra, Yu, Das & Kim",
        params: &[
            Param {
                name: "load",
                kind: Kind::Number(Range::Positive),
                default: Default::Absent("`arrival_rate` or `mean_interarrival` is given"),
                help: "the arrival rate that asks, on average, for this share of the machine's work",
            },
            Param {
                name: "arrival_rate",
                kind: Kind::Number(Range::Positive),
                default: Default::Absent("`load` or `mean_interarrival` is given"),
                help: "jobs that arrive in a unit of time, on average",
            },
            Param {
                name: "mean_interarrival",
                kind: Kind::Number(Range::Positive),
                default: Default::Absent("`load` or `arrival_rate` is given"),
                help: "time from one arrival to the next, on average",
            },
            Param {
                name: "sizes",
                kind: Kind::Component(&SIZES),
                default: Default::Required,
                help: "the distribution of what jobs ask for",
            },
            Param {
                name: "runtimes",
                kind: Kind::Component(&RUNTIMES),
                default: Default::Required,
                help: "the distribution of run times",
            },
            Param {
                name: "demand",
                kind: Kind::Choice(&["dependent", "independent"]),
                default: Default::Is("\"dependent\""),
                help: "dependent: a run time is drawn whatever the size, so large jobs do more \
                       work; independent: the work is drawn, and spread over the job's processors",
            },
        ],
    },
    ends: false,
    build: |params, setting| Ok(Box::new(Synthetic::new(params, setting)?)),
};

/// An endless iterator of jobs.
struct Synthetic {
    mean_gap: f64,
    sizes: Sizes,
    runtimes: Runtime,
    /// The mean number of processors asked for, where demand does not depend on the size.
    spread_over: Option<f64>,
    arrivals: Stream,
    size_streams: Vec<Stream>,
    runtime_stream: Stream,
    clock: f64,
    number: u64,
}

impl Synthetic {
    fn new(params: &Params, setting: &Setting<'_>) -> Result<Synthetic, BuildError> {
        let sizes = Sizes::new(&params.component("sizes", &SIZES), setting.largest())?;
        let runtimes = Runtime::new(&params.component("runtimes", &RUNTIMES))?;
        let mean_gap = mean_gap(params, setting, sizes.mean_nodes() * runtimes.mean())?;
        let stream = |name: &str| Stream::new(setting.seed, setting.replication, name);
        let independent = params.text("demand") == "independent";
        Ok(Synthetic {
            mean_gap,
            spread_over: independent.then(|| sizes.mean_nodes()),
            arrivals: stream("arrivals"),
            size_streams: (0..sizes.streams()).map(|i| stream(&format!("sizes.{i}"))).collect(),
            runtime_stream: stream("runtimes"),
            sizes,
            runtimes,
            clock: 0.0,
            number: 0,
        })
    }
}

/// The mean time between arrivals. A job asks for `work` on average: under either kind of demand the
/// mean of processors times run time is the product of the two means.
fn mean_gap(params: &Params, setting: &Setting<'_>, work: f64) -> Result<f64, Problem> {
    let keys = ["load", "arrival_rate", "mean_interarrival"];
    let given: Vec<&str> = keys.into_iter().filter(|key| params.has(key)).collect();
    let &[key] = given.as_slice() else {
        let which =
            if given.is_empty() { "none of them".to_owned() } else { given.join(" and ") };
        return Err(Problem::new(
            params.path(),
            format!(
                "`{}` needs exactly one of load, arrival_rate and mean_interarrival, but has {which}",
                params.path()
            ),
        ));
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
    Err(params.problem(
        key,
        format!(
            "`{}.{key}` = {value} makes the mean time between arrivals {gap}, but it must be above \
             0 and at most 1e15",
            params.path()
        ),
    ))
}

impl Iterator for Synthetic {
    type Item = Result<Submission, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.clock += exponential(self.mean_gap, &mut self.arrivals);
        self.number += 1;
        let request = self.sizes.draw(&mut self.size_streams);
        let drawn = self.runtimes.draw(&mut self.runtime_stream);
        let runtime = match self.spread_over {
            Some(mean_nodes) => drawn * mean_nodes / request.nodes() as f64,
            None => drawn,
        };
        Some(Ok(Submission::Job(Job {
            number: self.number,
            arrival: Time::new(self.clock),
            request,
            runtime,
            estimate: runtime,
        })))
    }
}
