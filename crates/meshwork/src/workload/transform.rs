//! What can be done to any workload on its way to the engine: scaled, cut, split.

use crate::job::{Job, Request, Time};
use crate::registry::{Default, Kind, Param, Params, Problem, Range, entry};

use super::{BuildError, Setting, Submission, Submissions, WORKLOADS, WorkloadError};

/// How many jobs `from` passes over before it is given up.
const MOST_PASSED_OVER: u64 = 10_000_000;

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
    SHAPE,
];

/// How a count of processors becomes a block.
pub const SHAPE: Param = Param {
    name: "shape",
    kind: Kind::Choice(&["squarest", "exact"]),
    default: Default::Is("\"squarest\""),
    help: "how a count becomes a block: squarest is the block with the least sum of sides that \
           holds the count and fits the machine, then the fewest processors; exact has the \
           count itself, with the least sum of sides, and is squarest where none fits",
};

/// The workload that these parameters describe, on a machine of this shape: built by its entry,
/// then cut, split and scaled as the parameters common to all workloads say, in this order.
///
/// # Errors
/// What is wrong with the parameters, or with what the workload reads.
pub fn submissions(params: &Params, setting: &Setting<'_>) -> Result<Submissions, BuildError> {
    let most = check(params, setting)?;
    let mut jobs = (entry(WORKLOADS, params.name()).build)(params, setting)?;
    // Each step is there only where it does something: a workload as it is costs nothing more.
    let (from, until) = (params.get_number("from"), params.get_number("until"));
    if let Some(from) = from {
        let path = params.path().to_owned();
        let mut passed_over = 0;
        jobs = Box::new(jobs.filter_map(move |item| match item {
            Ok(Submission::Job(job)) if job.arrival.units() < from => {
                passed_over += 1;
                // A workload without an end may take for ever to get there.
                (passed_over == MOST_PASSED_OVER).then(|| {
                    Err(WorkloadError(format!(
                        "`{path}.from` is {from}, but none of the first {MOST_PASSED_OVER} jobs \
                         arrives that late"
                    )))
                })
            }
            item => Some(item),
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
    if let Some(most) = most {
        jobs = Box::new(Split { jobs, most, rest: None });
    }
    let runtime_scale = params.number("runtime_scale");
    let arrival_scale = params.number("arrival_scale");
    let is_one = |scale: f64| scale - 1.0 == 0.0;
    if !(is_one(runtime_scale) && is_one(arrival_scale)) {
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

/// What contradicts itself, which is found before any file is opened; returns the processors above
/// which a job is split, if any is.
fn check(params: &Params, setting: &Setting<'_>) -> Result<Option<u32>, Problem> {
    let path = params.path();
    if let (Some(from), Some(until)) = (params.get_number("from"), params.get_number("until"))
        && from >= until
    {
        return Err(params.problem(
            "until",
            format!("`{path}.until` is {until}, but must be above `{path}.from`, which is {from}"),
        ));
    }
    let Some(share) = params.get_number("split_above") else { return Ok(None) };
    let nodes = setting.largest().grid().nodes();
    let most = libm::floor(share * f64::from(nodes)) as u32;
    if most == 0 {
        return Err(params.problem(
            "split_above",
            format!(
                "`{path}.split_above` is {share}, but must leave a job at least one of the {nodes} \
                 processors of the largest site"
            ),
        ));
    }
    Ok(Some(most))
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
        self.rest = Some(Job { request: Request::Nodes(count - self.most), ..job });
        Some(Ok(Submission::Job(part)))
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use crate::topology::Topology;
    use crate::workload::table::Row;
    use crate::workload::{FAMILY, Inputs, NoInputs, Rows};

    use super::*;

    /// A table of jobs at 0, 10, 20 … with 1, 2, 3 … processors.
    struct Ten;

    impl Inputs for Ten {
        fn text(&self, _: &str) -> Result<Box<dyn std::io::BufRead>, WorkloadError> {
            let text = "1 5 -1 7 2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n\
                        2 6 -1 -1 2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n\
                        3 7 -1 7 2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n";
            Ok(Box::new(text.as_bytes()))
        }

        fn rows(&self, _: &str) -> Result<Rows, WorkloadError> {
            Ok(Box::new((0..10_u32).map(|i| {
                Ok(Row {
                    line: u64::from(i) + 2,
                    submit: Some(f64::from(i) * 10.0),
                    runtime: Some(3.0),
                    estimate: Some(4.0),
                    nodes: Some(f64::from(i) + 1.0),
                    ..Row::default()
                })
            })))
        }
    }

    fn run(given: &str) -> Result<Vec<Submission>, BuildError> {
        Ok(built(given, &Ten)?.map(Result::unwrap).collect())
    }

    fn built(given: &str, inputs: &dyn Inputs) -> Result<Submissions, BuildError> {
        let table: toml::Table = given.parse().unwrap();
        let params = FAMILY.resolve("workload", &table.into())?;
        let sites = [(Topology::flat(10).unwrap(), 1.0), (Topology::flat(8).unwrap(), 2.0)];
        let setting = Setting { sites: &sites, seed: 1, replication: 0, inputs };
        submissions(&params, &setting)
    }

    fn table(given: &str) -> Vec<(f64, u64, f64, f64)> {
        let jobs = run(&format!("name = 'table'\npath = 'jobs.csv'\n{given}")).unwrap();
        jobs.into_iter()
            .map(|item| match item {
                Submission::Job(job) => {
                    (job.arrival.units(), job.request.nodes(), job.runtime, job.estimate)
                }
                Submission::Unusable(_) => panic!("a table has no unusable lines"),
            })
            .collect()
    }

    #[test]
    fn times_are_scaled() {
        let scaled = table("runtime_scale = 2\narrival_scale = 0.5\nfirst_jobs = 3");
        assert_eq!(scaled, [(0.0, 1, 6.0, 8.0), (5.0, 2, 6.0, 8.0), (10.0, 3, 6.0, 8.0)]);
    }

    #[test]
    fn a_window_is_in_the_workloads_own_clock_and_closed_only_below() {
        let kept = table("from = 20\nuntil = 50\narrival_scale = 10");
        assert_eq!(kept.iter().map(|job| job.0).collect::<Vec<f64>>(), [200.0, 300.0, 400.0]);
        assert_eq!(table("from = 15").len(), 8);
        assert_eq!(table("until = 15").len(), 2);
        assert_eq!(table("from = 20\nfirst_jobs = 2").last().unwrap().0, 30.0);
        assert_eq!(table("first_jobs = 1000").len(), 10);
    }

    #[test]
    fn large_counts_are_split_as_the_paper_on_grids_says() {
        let split = table("split_above = 0.3");
        let sizes: Vec<u64> = split.iter().map(|job| job.1).collect();
        let expected: Vec<u64> = (1..=10_u64)
            .flat_map(|p| {
                let whole = std::iter::repeat_n(3, (p / 3) as usize);
                whole.chain(Some(p % 3).filter(|&rest| rest > 0))
            })
            .collect();
        assert_eq!(sizes, expected);
        assert_eq!(sizes.iter().sum::<u64>(), 55, "no work is lost");
        assert!(split.iter().all(|job| job.2 == 3.0 && job.3 == 4.0));
    }

    #[test]
    fn lines_that_are_no_jobs_pass_and_do_not_count() {
        let log = run("name = 'swf'\npath = 'log'\nfirst_jobs = 2").unwrap();
        assert_eq!(log.len(), 3);
        assert!(matches!(&log[0], Submission::Unusable(unusable) if unusable.line == 2));
        let log = run("name = 'swf'\npath = 'log'\nreorder = 0\nfirst_jobs = 1").unwrap();
        assert_eq!(log.len(), 1);
    }

    #[test]
    fn contradictions_are_refused_in_a_sentence_before_a_file_is_opened() {
        let sentence = |given: &str| {
            let given = format!("name = 'table'\npath = 'x'\n{given}");
            built(&given, &NoInputs).map(drop).unwrap_err().to_string()
        };
        assert_eq!(
            sentence("from = 5\nuntil = 5"),
            "`workload.until` is 5, but must be above `workload.from`, which is 5"
        );
        assert_eq!(
            sentence("split_above = 0.05"),
            "`workload.split_above` is 0.05, but must leave a job at least one of the 10 processors \
             of the largest site"
        );
    }

    #[test]
    fn what_an_endless_workload_never_reaches_is_given_up() {
        let given = "name = 'synthetic'\nload = 1\nsizes = 'uniform'\nfrom = 1e15\n\
                     runtimes = { name = 'constant', value = 1 }";
        let mut jobs = built(given, &NoInputs).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            jobs.next(),
            Some(Err(WorkloadError(
                "`workload.from` is 1000000000000000, but none of the first 10000000 jobs arrives that \
                 late"
                    .to_owned()
            )))
        );
    }

    #[test]
    fn an_endless_workload_can_be_cut() {
        let jobs = run("name = 'synthetic'\nload = 1\nsizes = 'uniform'\nfirst_jobs = 5\n\
                        runtimes = { name = 'constant', value = 1 }");
        assert_eq!(jobs.unwrap().len(), 5);
    }
}
