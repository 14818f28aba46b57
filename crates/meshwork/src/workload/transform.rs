//! Changes of a workload before its jobs reach the engine: scaling, cutting, splitting and others.

use crate::form::ShapeRule;
use crate::job::{Job, Request, Time};
use crate::registry::{Kind, Param, Params, Problem, Range, Words, join};
use crate::rng::Stream;

use super::dependencies::{self, DEPENDENCIES, Source};
use super::estimates::{self, ESTIMATES};
use super::held::Held;
use super::pieces;
use super::resample::{self, RESAMPLES};
use super::scale;
use super::{BuildError, Submission, Submissions, WorkloadContext, WorkloadEntry, WorkloadError};

/// Maximum number of jobs that the parameter `from` may skip before the run fails.
const MAX_PASSED_OVER: u64 = 10_000_000;

/// Parameters that all workloads have in common. Each workload may have further ones.
pub(super) const PARAMS: &[Param] = &[
    Param::new("from", Kind::Number(Range::NonNegative))
        .absent("from the first job on")
        .help("only jobs that arrive at or after this instant of the workload's own clock, or this date, in the log's time zone (its header's, else UTC) unless it has one"),
    Param::new("until", Kind::Number(Range::NonNegative))
        .absent("to the last job")
        .help("only jobs that arrive before this instant of the workload's own clock, or this date, as for `from`"),
    Param::new("first_jobs", Kind::Integer(1, 1_000_000_000_000_000))
        .absent("all jobs")
        .help("only so many jobs, of those that `from` and `until` leave"),
    Param::new("resample", Kind::Component(&RESAMPLES))
        .absent("every replication has the jobs of the log")
        .help(
            "makes another log of the jobs that are left in each replication: `\"users\"`, \
             `\"weeks\"`, or `{ by = \"shake\", arrivals = 30.0 }`",
        ),
    Param::new("shuffle", Kind::Flag).is("false").help(
        "whether the jobs that are left come in a random order, at the same instants of \
             arrival",
    ),
    Param::new("split_above", Kind::Number(Range::Share)).absent("no job is split").help(
        "a count of processors above this share of the largest site becomes several jobs: as \
             many of that share as it holds, and one of the rest",
    ),
    Param::new("runtime_scale", Kind::Number(Range::Positive))
        .is("1.0")
        .help("run times and estimates are multiplied by this"),
    Param::new("arrival_scale", Kind::Number(Range::Positive))
        .is("1.0")
        .help("instants of arrival are multiplied by this: below 1, the load grows"),
    Param::new("scale", Kind::Table(scale::PARAMS)).absent("the load is left as it is").help(
        "scales the jobs, held in memory, to a load: `{ load = 0.9, by = \"interarrival\" }`; \
             the key `load` beside it is short for `scale = { load = … }`, of a workload that has \
             no `load` of its own",
    ),
    Param::new("estimates", Kind::Component(&ESTIMATES))
        .absent("those of the workload")
        .help("a model of what users say that their jobs will run"),
    Param::new("deadlines", Kind::Table(DEADLINES))
        .absent("those of the workload")
        .help("gives jobs without a deadline one: `{ factor = 2.0 }`"),
    Param::new("dependencies", Kind::Component(&DEPENDENCIES))
        .absent("jobs arrive when they arrive, whatever becomes of others")
        .help(
            "which jobs are submitted after others have ended: `\"log\"`, or `{ of = \"user\", \
             replay = \"held\" }`",
        ),
    SHAPE,
];

const DEADLINES: &[Param] = &[Param::new("factor", Kind::Number(Range::Positive))
    .help("a job is to have ended so many times its estimate after its arrival")];

/// Rules by which a number of processors becomes a block. Each rule has the name that the parameter
/// [`SHAPE`] accepts.
pub static SHAPES: Words<ShapeRule, 2> =
    Words::new([("squarest", ShapeRule::Squarest), ("exact", ShapeRule::Exact)]);

/// Parameter that says how a count of processors becomes a block.
pub const SHAPE: Param = Param::new("shape", SHAPES.kind()).is("\"squarest\"").help(
    "how a count becomes a block: squarest has the count itself, with the least sum of sides, \
         or more processors where such a block is absurdly long; exact has the count itself \
         however long the block is, and is squarest where none fits",
);

/// Builds the workload that the parameters describe, for a machine of a given shape, and transforms
/// it.
///
/// # Errors
/// A problem with the parameters, or with the workload's input.
pub fn submissions(
    entry: &WorkloadEntry,
    params: &Params,
    setting: &WorkloadContext<'_>,
) -> Result<Submissions, BuildError> {
    check(entry.ends, params, setting)?;
    let source = Source::of(params);
    let by_users = params.has("scale") && scale::asks_for_owners(&params.nested("scale"));
    let resampling = params.get_component("resample", &RESAMPLES);
    let resamples_users = resampling.as_ref().is_some_and(resample::asks_for_owners);
    let nobodys = |at: &Params, key: &str, given: &str, why: &str| {
        at.refusal(
            key,
            format!("is {given}, but the workload `{}` does not say {why}", params.name()),
        )
    };
    if by_users && !entry.knows_owners {
        let scale = params.nested("scale");
        return Err(nobodys(&scale, "by", "\"users\"", "whose its jobs are").into());
    }
    if let Some(resampling) = resampling.filter(|_| resamples_users && !entry.knows_owners) {
        return Err(nobodys(&resampling, "by", "\"users\"", "whose its jobs are").into());
    }
    if source.is_some() && !entry.knows_owners {
        return Err(
            nobodys(params, "dependencies", "given", "after which others its jobs come").into()
        );
    }
    let knows = by_users || resamples_users || source.is_some_and(Source::asks_for_owners);
    let known = WorkloadContext { owners: setting.owners || knows, ..*setting };
    let jobs = (entry.build)(params, &known)?;
    let jobs = transformed(entry.ends, jobs, params, setting)?;
    Ok(pieces::checked(jobs, setting))
}

/// Applies the transformations common to all workloads.
///
/// The order is: cut by time, limit the number of jobs, resample, shuffle, split large jobs,
/// multiply run times and arrivals by constant factors, scale to a load, replace estimates, set
/// deadlines, link dependent jobs.
///
/// # Errors
/// Parameters that contradict each other or the machine.
pub fn transformed(
    ends: bool,
    mut jobs: Submissions,
    params: &Params,
    setting: &WorkloadContext<'_>,
) -> Result<Submissions, Problem> {
    let most = check(ends, params, setting)?;
    // Each step is added only if it has an effect, so that an untransformed workload costs nothing
    // more.
    let (from, until) = (params.get_number("from"), params.get_number("until"));
    if from.is_some() || until.is_some() {
        jobs = Box::new(Cut {
            jobs,
            from,
            until,
            path: params.path().to_owned(),
            ends,
            passed_over: 0,
            first: None,
            last_passed: None,
            any: false,
            is_over: false,
        });
    }
    if let Some(left) = params.get_integer("first_jobs") {
        jobs = Box::new(FirstJobs { jobs, left });
    }
    if let Some(resampling) = params.get_component("resample", &RESAMPLES) {
        jobs = resample::resampled(jobs, &resampling, setting);
    }
    if params.flag("shuffle") {
        let stream = Stream::new(setting.seed, setting.replication, "shuffle");
        let key = join(params.path(), "shuffle");
        jobs = Box::new(Held::new(jobs, key, move |jobs| Ok(shuffled(jobs, stream))));
    }
    if let Some(most) = most {
        let key = join(params.path(), "split_above");
        jobs = Box::new(Split { jobs, most, rest: None, key });
    }
    let runtime_scale = params.number("runtime_scale");
    let arrival_scale = params.number("arrival_scale");
    let is_one = |scale: f64| scale - 1.0 == 0.0;
    if !(is_one(runtime_scale) && is_one(arrival_scale)) {
        jobs = Box::new(jobs.map(move |item| {
            item.map(|submission| match submission {
                Submission::Job(mut job) => {
                    job.move_to(Time::new(job.arrival.units() * arrival_scale));
                    job.lengthen(runtime_scale);
                    job.delay(arrival_scale);
                    Submission::Job(job)
                }
                other => other,
            })
        }));
    }
    if params.has("scale") {
        jobs = scale::scaled(jobs, &params.nested("scale"), setting);
    }
    if let Some(model) = params.get_component("estimates", &ESTIMATES) {
        jobs = estimates::given(jobs, &model, setting)?;
    }
    if params.has("deadlines") {
        let factor = params.nested("deadlines").number("factor");
        jobs = Box::new(jobs.map(move |item| item.map(|item| with_deadline(item, factor))));
    }
    if dependencies::are_asked_for(params) {
        jobs = dependencies::linked(jobs, &params.component("dependencies", &DEPENDENCIES));
    }
    Ok(jobs)
}

/// Sets a job's deadline, if it has none, to its arrival plus `factor` times its estimate.
fn with_deadline(mut item: Submission, factor: f64) -> Submission {
    if let Submission::Job(job) = &mut item
        && job.deadline().is_none()
    {
        let deadline = Some(job.arrival + factor * job.estimate);
        job.terms.get_or_insert_default().deadline = deadline;
    }
    item
}

/// Checks the parameters for contradictions, before a file is opened. Returns the limit
/// `split_above`, if any.
fn check(
    ends: bool,
    params: &Params,
    setting: &WorkloadContext<'_>,
) -> Result<Option<u32>, Problem> {
    let key = |name: &str| join(params.path(), name);
    if let (Some(from), Some(until)) = (params.get_number("from"), params.get_number("until"))
        && from >= until
    {
        let says = format!("is {until}, but must be above `{}`, which is {from}", key("from"));
        return Err(params.refusal("until", says));
    }
    let is_bounded = ends || params.has("first_jobs") || params.has("until");
    let estimates = params.get_component("estimates", &ESTIMATES);
    let hold_all = estimates.is_some_and(|model| estimates::holds_all(&model));
    let of_all_jobs = [
        (params.flag("shuffle"), "shuffle", "is true"),
        (params.has("resample"), "resample", "resamples all jobs together"),
        (params.has("scale"), "scale", "scales all jobs together"),
        (dependencies::are_asked_for(params), "dependencies", "links all jobs together"),
        (hold_all, "estimates", "gives estimates to all jobs together"),
    ];
    if let Some((_, what, is)) =
        of_all_jobs.into_iter().find(|(is_given, ..)| *is_given && !is_bounded)
    {
        let says = format!(
            "{is}, but the workload `{}` never ends: give `{}` or `{}`",
            params.name(),
            key("first_jobs"),
            key("until")
        );
        return Err(params.refusal(what, says));
    }
    let Some(share) = params.get_number("split_above") else { return Ok(None) };
    let nodes = setting.largest().grid().nodes();
    let most = libm::floor(share * f64::from(nodes)) as u32;
    if most == 0 {
        let says = format!(
            "is {share}, but must leave a job at least one of the {nodes} processors of the \
             largest site"
        );
        return Err(params.refusal("split_above", says));
    }
    Ok(Some(most))
}

/// Iterator of the jobs that arrive in a time interval. If no job arrives in it, the iterator
/// fails.
struct Cut {
    jobs: Submissions,
    from: Option<f64>,
    until: Option<f64>,
    /// Path of the workload's parameters in the study, for error messages.
    path: String,
    ends: bool,
    passed_over: u64,
    /// Arrival of the first job of the workload; `None` until a job was read.
    first: Option<f64>,
    /// Arrival of the last job that the parameter `from` skipped.
    last_passed: Option<f64>,
    /// Whether any job that was read arrived in the selected time interval.
    any: bool,
    is_over: bool,
}

impl Cut {
    /// Error text if no job arrives in the interval that the study selects. `beyond` is the first
    /// arrival after the interval.
    fn nothing(&mut self, beyond: Option<f64>) -> WorkloadError {
        let key = |name: &str| join(&self.path, name);
        let given = match (self.from, self.until) {
            (Some(from), Some(until)) => {
                format!("`{}` is {from} and `{}` is {until}", key("from"), key("until"))
            }
            (Some(from), None) => format!("`{}` is {from}", key("from")),
            (None, until) => format!("`{}` is {}", key("until"), until.unwrap_or_default()),
        };
        // The remaining jobs are read only for the error message.
        let rest = if self.ends { Some(&mut self.jobs) } else { None };
        let last = rest.into_iter().flatten().filter_map(|item| match item {
            Ok(Submission::Job(job)) => Some(job.arrival.units()),
            _ => None,
        });
        let last = last.last().or(beyond).or(self.last_passed);
        WorkloadError(match (self.first, last) {
            (Some(first), Some(last)) if self.ends => format!(
                "{given}, which leaves no job: the first is submitted at {first}, the last at {last}"
            ),
            (Some(first), _) => {
                format!("{given}, which leaves no job: the first is submitted at {first}")
            }
            (None, _) => format!("{given}, but there is no job at all"),
        })
    }
}

impl Iterator for Cut {
    type Item = Result<Submission, WorkloadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            let item = self.jobs.next();
            let Some(Ok(Submission::Job(job))) = &item else {
                self.is_over = item.is_none();
                if item.is_none() && !self.any {
                    return Some(Err(self.nothing(None)));
                }
                return item;
            };
            let at = job.arrival.units();
            self.first.get_or_insert(at);
            if self.until.is_some_and(|until| at >= until) {
                self.is_over = true;
                return if self.any { None } else { Some(Err(self.nothing(Some(at)))) };
            }
            let Some(from) = self.from.filter(|&from| at < from) else {
                self.any = true;
                return item;
            };
            self.last_passed = Some(at);
            self.passed_over += 1;
            // A workload without an end may never reach the interval.
            if self.passed_over == MAX_PASSED_OVER {
                self.is_over = true;
                return Some(Err(WorkloadError(format!(
                    "`{}` is {from}, but none of the first {MAX_PASSED_OVER} jobs arrives that late",
                    join(&self.path, "from")
                ))));
            }
        }
        None
    }
}

/// Ends a workload after a given number of jobs. Lines that are not jobs do not count.
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

/// Permutes the jobs at random, while the sequence of arrivals stays the same. Time: **O(n)** for
/// *n* jobs.
fn shuffled(mut jobs: Vec<Job>, mut stream: Stream) -> Vec<Job> {
    let arrivals: Vec<Time> = jobs.iter().map(|job| job.arrival).collect();
    for last in (1..jobs.len()).rev() {
        jobs.swap(last, stream.below(last as u64 + 1) as usize);
    }
    jobs.iter_mut().zip(arrivals).for_each(|(job, arrival)| job.move_to(arrival));
    jobs
}

/// Splits jobs that request more than `most` processors into several jobs. The parts share the
/// job's number, arrival and run time; all parts except the last have `most` processors. A request
/// for a block or subcube of more than `most` processors is an error, because no paper says into
/// which blocks it should be split.
struct Split {
    jobs: Submissions,
    most: u32,
    key: String,
    /// The job that is being split. It requests the processors that are not yet in any part.
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
        if job.request.nodes() <= u64::from(self.most) {
            return Some(Ok(Submission::Job(job)));
        }
        let Request::Nodes(count) = job.request else {
            return Some(Err(WorkloadError(format!(
                "`{}` cuts counts of processors, but job {} asks for {}, which is above {}",
                self.key, job.number, job.request, self.most
            ))));
        };
        let part = Job { request: Request::Nodes(self.most), ..job.clone() };
        self.rest = Some(Job { request: Request::Nodes(count - self.most), ..job });
        Some(Ok(Submission::Job(part)))
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use proptest::prelude::*;

    use crate::topology::Topology;
    use crate::workload::table::Row;
    use crate::workload::testing::{context, only_jobs};
    use crate::workload::{FAMILY, Inputs, NoInputs, Rows};

    use super::*;
    use crate::registry::entry;
    use crate::workload::WORKLOADS;

    /// Input with a table of jobs, which arrive at 0, 10, 20 … and take 1, 2, 3 … units of time.
    struct Ten;

    impl Inputs for Ten {
        fn text(&self, _: &str) -> Result<Box<dyn std::io::BufRead + Send>, WorkloadError> {
            let text = "1 5 -1 7 2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n\
                        2 6 -1 -1 2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n\
                        3 7 -1 7 2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n";
            Ok(Box::new(text.as_bytes()))
        }

        fn rows(&self, _: &str) -> Result<Rows, WorkloadError> {
            Ok(Box::new((0..10_u32).map(|i| {
                Ok(Row {
                    line: u64::from(i) + 2,
                    submit: Some((f64::from(i) * 10.0).into()),
                    runtime: Some(3.0),
                    estimate: Some(4.0),
                    nodes: Some(i + 1),
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
        let setting = WorkloadContext { inputs, ..context(&sites) };
        submissions(entry(WORKLOADS, params.name()), &params, &setting)
    }

    fn table(given: &str) -> Vec<(f64, u64, f64, f64)> {
        let jobs = built(&format!("name = 'table'\npath = 'jobs.csv'\n{given}"), &Ten).unwrap();
        let cells =
            |job: Job| (job.arrival.units(), job.request.nodes(), job.runtime, job.estimate);
        only_jobs(jobs).unwrap().into_iter().map(cells).collect()
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
    fn a_cut_that_leaves_nothing_says_what_there_is() {
        let refused = |given: &str| {
            let jobs = built(&format!("name = 'table'\npath = 'jobs.csv'\n{given}"), &Ten).unwrap();
            let items: Vec<_> = jobs.collect();
            assert_eq!(items.len(), 1);
            items[0].clone().unwrap_err().0
        };
        let there = "which leaves no job: the first is submitted at 0, the last at 90";
        assert_eq!(refused("until = 0"), format!("`workload.until` is 0, {there}"));
        assert_eq!(refused("from = 91"), format!("`workload.from` is 91, {there}"));
        let both = "`workload.from` is 41 and `workload.until` is 49";
        assert_eq!(refused("from = 41\nuntil = 49"), format!("{both}, {there}"));
        assert_eq!(refused("until = 0\nshuffle = true"), format!("`workload.until` is 0, {there}"));
        // A log in which no job is selected yields its unusable lines, and then the error.
        let log = built("name = 'swf'\npath = 'log'\nfrom = 8", &Ten).unwrap().last().unwrap();
        assert_eq!(
            log.unwrap_err().0,
            "`workload.from` is 8, which leaves no job: the first is submitted at 5, the last at 7"
        );
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
    fn a_shuffle_keeps_the_jobs_and_the_instants() {
        let (still, moved) = (table(""), table("shuffle = true"));
        assert!(still.iter().map(|job| job.0).eq(moved.iter().map(|job| job.0)));
        let sizes =
            |jobs: &[(f64, u64, f64, f64)]| jobs.iter().map(|job| job.1).collect::<Vec<_>>();
        let mut sorted = sizes(&moved);
        assert_ne!(sorted, sizes(&still));
        sorted.sort_unstable();
        assert_eq!(sorted, sizes(&still), "each of them once");
        assert_eq!(moved, table("shuffle = true"), "the same stream gives the same order");
        // Shuffling the first jobs differs from taking the first of all shuffled jobs.
        let mut first = sizes(&table("shuffle = true\nfirst_jobs = 4"));
        first.sort_unstable();
        assert_eq!(first, [1, 2, 3, 4]);
        // The parts of a split job stay together.
        let split = sizes(&table("shuffle = true\nsplit_above = 0.9"));
        assert_eq!(split.iter().position(|&size| size == 9).map(|at| split[at + 1]), Some(1));
        let log = run("name = 'swf'\npath = 'log'\nshuffle = true").unwrap();
        assert!(matches!(
            &log[..],
            [Submission::Unusable(_), Submission::Job(_), Submission::Job(_)]
        ));
    }

    fn shuffle(jobs: Submissions, seed: u64) -> Held {
        let stream = Stream::new(seed, 0, "shuffle");
        Held::new(jobs, "shuffle".to_owned(), move |jobs| Ok(shuffled(jobs, stream)))
    }

    #[test]
    fn a_shuffle_is_even() {
        // How often the job of 1 processor of three takes each position: 1,000 times each, standard
        // deviation 26.
        let mut at = [0; 3];
        for seed in 0..3000 {
            let job = |n: u32| Job::new(u64::from(n), Time::ZERO, Request::Nodes(n), 1.0);
            let jobs = Box::new((1..=3).map(move |n| Ok(Submission::Job(job(n)))));
            let items: Vec<_> = shuffle(jobs, seed).collect();
            let first = items.iter().position(|item| *item == Ok(Submission::Job(job(1))));
            at[first.unwrap()] += 1;
        }
        assert!(at.iter().all(|&n| (900..1100).contains(&n)), "{at:?}");
    }

    #[test]
    fn an_error_is_all_that_is_left_of_a_shuffle() {
        let torn = || Box::new([Err(WorkloadError("torn".to_owned()))].into_iter());
        let error = shuffle(torn(), 1).next().unwrap().unwrap_err();
        assert_eq!(error.0, "torn");
    }

    #[test]
    fn a_block_above_the_limit_is_no_count_to_cut() {
        let given = "name = 'synthetic'\nload = 1\nfirst_jobs = 50\nsplit_above = 0.5\n\
                     sizes = { name = 'constant', value = [3, 2] }\n\
                     runtimes = { name = 'constant', value = 1 }";
        let table: toml::Table = given.parse().unwrap();
        let params = FAMILY.resolve("workload", &table.into()).unwrap();
        let mesh = |sides: &[u32]| {
            let sites = [(Topology::mesh(sides).unwrap(), 1.0)];
            submissions(entry(WORKLOADS, params.name()), &params, &context(&sites))
                .unwrap_or_else(|error| panic!("{error}"))
                .next()
                .unwrap()
        };
        assert!(mesh(&[4, 3]).is_ok(), "6 of 12 are no more than half");
        assert_eq!(
            mesh(&[3, 3]).unwrap_err().0,
            "`workload.split_above` cuts counts of processors, but job 1 asks for 3x2, which is above 4"
        );
    }

    proptest! {
        #[test]
        fn work_is_conserved_by_a_split_and_scaled_by_a_scale(
            share in 0.1..1.0_f64,
            doublings in -3..4_i32,
        ) {
            let work = |jobs: &[(f64, u64, f64, f64)]| -> f64 {
                jobs.iter().map(|job| job.1 as f64 * job.2).sum()
            };
            let all = work(&table(""));
            let split = table(&format!("split_above = {share:?}"));
            prop_assert_eq!(work(&split), all);
            let most = (share * 10.0).floor() as u64;
            prop_assert!(split.iter().all(|job| job.1 <= most));
            let scale = f64::from(2_u32.pow((doublings + 3) as u32)) / 8.0;
            let scaled = table(&format!("split_above = {share:?}\nruntime_scale = {scale:?}"));
            prop_assert_eq!(work(&scaled), scale * all, "powers of two are exact");
        }
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
        let endless = "name = 'synthetic'\nload = 1\nsizes = 'uniform'\nshuffle = true\n\
                       runtimes = { name = 'constant', value = 1 }";
        let sentence = built(endless, &NoInputs).map(drop).unwrap_err().to_string();
        assert_eq!(
            sentence,
            "`workload.shuffle` is true, but the workload `synthetic` never ends: give \
             `workload.first_jobs` or `workload.until`"
        );
        assert!(built(&format!("{endless}\nfirst_jobs = 9"), &NoInputs).is_ok());
        assert!(built(&format!("{endless}\nuntil = 9"), &NoInputs).is_ok());
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
