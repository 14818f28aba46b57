//! What can be done to any workload on its way to the engine: scaled, cut, split.

use crate::job::{Job, Request, Time};
use crate::registry::{Default, Kind, Param, Params, Range, entry};

use super::{BuildError, Setting, Submission, Submissions, WORKLOADS, WorkloadError};

/// Parameters that every workload has besides its own.
pub(super) const PARAMS: &[Param] = &[
    Param {
        name: "from",
        kind: Kind::Number(Range::NonNegative),
        default: Default::Absent("from the first job on"),
        help: "only jobs that arrive at or after this instant of the workload's own clock",
    },
    Param {
        name: "until",
        kind: Kind::Number(Range::NonNegative),
        default: Default::Absent("to the last job"),
        help: "only jobs that arrive before this instant of the workload's own clock",
    },
    Param {
        name: "first_jobs",
        kind: Kind::Integer(1, 1_000_000_000_000_000),
        default: Default::Absent("all jobs"),
        help: "only so many jobs, of those that `from` and `until` leave",
    },
    Param {
        name: "split_above",
        kind: Kind::Number(Range::Share),
        default: Default::Absent("no job is split"),
        help: "a count of processors above this share of the largest site becomes several jobs: as \
               many of that share as it holds, and one of the rest",
    },
    Param {
        name: "runtime_scale",
        kind: Kind::Number(Range::Positive),
        default: Default::Is("1.0"),
        help: "run times and estimates are multiplied by this",
    },
    Param {
        name: "arrival_scale",
        kind: Kind::Number(Range::Positive),
        default: Default::Is("1.0"),
        help: "instants of arrival are multiplied by this: below 1, the load grows",
    },
    Param {
        name: "shape",
        kind: Kind::Choice(&["squarest", "exact"]),
        default: Default::Is("\"squarest\""),
        help: "how a count becomes a block: squarest is the block with the least sum of sides that \
               holds the count and fits the machine, then the fewest processors; exact has the \
               count itself, with the least sum of sides, and is squarest where none fits",
    },
];

/// The workload that these parameters describe, on a machine of this shape: built by its entry,
/// then cut, split and scaled as the parameters common to all workloads say, in this order.
///
/// # Errors
/// What is wrong with the parameters, or with what the workload reads.
pub fn submissions(params: &Params, setting: &Setting<'_>) -> Result<Submissions, BuildError> {
    let mut jobs = (entry(WORKLOADS, params.name()).build)(params, setting)?;
    // Each step is there only where it does something: a workload as it is costs nothing more.
    let (from, until) = (params.get_number("from"), params.get_number("until"));
    if let (Some(from), Some(until)) = (from, until)
        && from >= until
    {
        return Err(params
            .problem(
                "until",
                format!(
                    "`{0}.until` is {until}, but must be above `{0}.from`, which is {from}",
                    params.path()
                ),
            )
            .into());
    }
    if let Some(from) = from {
        jobs = Box::new(jobs.filter(move |item| match item {
            Ok(Submission::Job(job)) => job.arrival.units() >= from,
            _ => true,
        }));
    }
    if let Some(until) = until {
        jobs = Box::new(jobs.take_while(move |item| match item {
            Ok(Submission::Job(job)) => job.arrival.units() < until,
            _ => true,
        }));
    }
    if let Some(left) = params.get_integer("first_jobs") {
        jobs = Box::new(FirstJobs { jobs, left });
    }
    if let Some(share) = params.get_number("split_above") {
        let nodes = setting.largest().grid().nodes();
        let most = libm::floor(share * f64::from(nodes)) as u32;
        if most == 0 {
            return Err(params
                .problem(
                    "split_above",
                    format!(
                        "`{}.split_above` is {share}, but must leave a job at least one of the \
                         {nodes} processors of the largest site",
                        params.path()
                    ),
                )
                .into());
        }
        jobs = Box::new(Split { jobs, most, rest: None });
    }
    let runtime_scale = params.number("runtime_scale");
    let arrival_scale = params.number("arrival_scale");
    if runtime_scale != 1.0 || arrival_scale != 1.0 {
        jobs = Box::new(jobs.map(move |item| {
            item.map(|submission| match submission {
                Submission::Job(job) => Submission::Job(Job {
                    arrival: Time::new(job.arrival.units() * arrival_scale),
                    runtime: job.runtime * runtime_scale,
                    estimate: job.estimate * runtime_scale,
                    ..job
                }),
                unusable @ Submission::Unusable(_) => unusable,
            })
        }));
    }
    Ok(jobs)
}

/// Ends with the job after which there are enough; lines that are no jobs do not count.
struct FirstJobs {
    jobs: Submissions,
    left: u64,
}

impl Iterator for FirstJobs {
    type Item = Result<Submission, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let item = self.jobs.next();
        if let Some(Ok(Submission::Job(_))) = item {
            self.left -= 1;
        }
        item
    }
}

/// Cuts jobs that ask for a count above `most` into several, with the same number, arrival and run
/// time: first those of `most`, then the rest.
struct Split {
    jobs: Submissions,
    most: u32,
    /// The job that is being cut, with the processors it still asks for.
    rest: Option<Job>,
}

impl Iterator for Split {
    type Item = Result<Submission, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let job = match self.rest.take() {
            Some(job) => job,
            None => match self.jobs.next()? {
                Ok(Submission::Job(job)) => job,
                other => return Some(other),
            },
        };
        let Request::Nodes(count) = job.request else { return Some(Ok(Submission::Job(job))) };
        if count <= self.most {
            return Some(Ok(Submission::Job(job)));
        }
        let part = Job { request: Request::Nodes(self.most), ..job };
        self.rest = Some(Job { request: Request::Nodes(count - self.most), ..part.clone() });
        Some(Ok(Submission::Job(part)))
    }
}
