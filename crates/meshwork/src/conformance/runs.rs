//! Conformance checks by complete runs of random jobs.

use std::fmt::Write as _;

use toml::{Table, Value};

use super::Tried;
use crate::catalogue::Catalogue;
use crate::engine::{Names, RunError, Setup};
use crate::job::{Job, Request, Time};
use crate::observe::{Event, JobId, Observer};
use crate::registry::Origin;
use crate::rng::Stream;
use crate::scenario::{Outcome, Scenario};
use crate::topology::Topology;
use crate::workload::{Submission, Submissions};

/// Converts a list of jobs to the submissions that a workload yields.
#[must_use]
pub fn submissions(jobs: Vec<Job>) -> Submissions {
    Box::new(jobs.into_iter().map(|job| Ok(Submission::Job(job))))
}

/// Returns random jobs, which request blocks, numbers of nodes or subcubes.
///
/// Times are multiples of 0.1, so that many events coincide and times are not exact in binary.
#[must_use]
pub fn random_jobs(topology: &Topology, count: usize, load: f64, seed: u64) -> Vec<Job> {
    let mut rng = Stream::new(seed, 0, "test jobs");
    let grid = topology.grid();
    let mut now = 0.0;
    (0..count)
        .map(|_| {
            now += rng.below((40.0 / load) as u64) as f64 * 0.1;
            let request = match rng.below(3) {
                0 => Request::Nodes(1 + rng.below(u64::from(grid.nodes())) as u32),
                1 => Request::Subcube(rng.below(3) as u32),
                _ => Request::Block(
                    grid.sides()
                        .iter()
                        .map(|&side| 1 + rng.below(u64::from(side)) as u32)
                        .collect(),
                ),
            };
            let runtime = rng.below(100) as f64 * 0.1;
            let estimate = runtime + rng.below(3) as f64 * 1.7;
            Job { estimate, ..Job::new(0, Time::new(now), request, runtime) }
        })
        .collect()
}

/// Observer that writes one line for every event of a run, with times exact to the last bit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// Lines written so far, one for each event.
    pub text: String,
}

impl Observer for Transcript {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        let line = match event {
            Event::Unusable(line) => format!("unusable {line:?}"),
            Event::Arrived(id, job) => format!("arrived {} {}", id.0, job.request),
            Event::Refused(id, job) => format!("refused {} {}", id.0, job.request),
            Event::TurnedAway(id, _) => format!("turned away {}", id.0),
            Event::Promised(id, at) => format!("promised {} {at}", id.0),
            Event::Started(run) => {
                format!("started {} site {} {:?}", run.id.0, run.site, run.placement.blocks)
            }
            Event::Moved { running, from } => {
                format!("moved {} {:?} {:?}", running.id.0, from.blocks, running.placement.blocks)
            }
            Event::Finished(run) => format!("finished {}", run.id.0),
            Event::Interrupted(run) => format!("interrupted {}", run.id.0),
            Event::Down { site, node } => format!("down {site} {node}"),
            Event::Up { site, node } => format!("up {site} {node}"),
            Event::GpuDown { site, node, gpu } => format!("down {site} {node} {gpu}"),
            Event::GpuUp { site, node, gpu } => format!("up {site} {node} {gpu}"),
            Event::Asleep { site, nodes } => format!("asleep {site} {nodes:?}"),
            Event::Awake { site, nodes, energy } => format!("awake {site} {nodes:?} {energy}"),
        };
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{now} {line}");
    }
}

/// Counts the events of a run, and collects the actual and the promised starts of its jobs.
#[derive(Default)]
struct Course {
    transcript: Transcript,
    arrived: u64,
    refused: u64,
    finished: u64,
    starts: Vec<(JobId, Time)>,
    promises: Vec<(JobId, Time)>,
    counts_only: bool,
}

impl Observer for Course {
    fn asks_where_jobs_run(&self) -> bool {
        !self.counts_only
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Arrived(..) => self.arrived += 1,
            Event::Refused(..) => self.refused += 1,
            Event::Finished(_) => self.finished += 1,
            Event::Started(run) => self.starts.push((run.id, now)),
            Event::Promised(id, by) => self.promises.push((*id, *by)),
            _ => {}
        }
        self.transcript.observe(now, event);
    }
}

/// Reads a scenario with the given keys and defaults for all other keys. Its workload is a
/// placeholder that no run uses.
pub(super) fn scenario(
    catalogue: &Catalogue,
    machine: &str,
    parts: &[(&str, Value)],
) -> Result<Scenario, String> {
    let mut table: Table = machine.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let mut unused = Table::new();
    unused.insert("name".to_owned(), Value::String("lublin".to_owned()));
    table.insert("workload".to_owned(), Value::Table(unused));
    for (key, value) in parts {
        table.insert((*key).to_owned(), value.clone());
    }
    Scenario::read_in(catalogue, &table).map_err(|problem| problem.message)
}

pub(super) fn name(name: &str) -> Value {
    Value::String(name.to_owned())
}

fn run(scenario: &Scenario, jobs: Vec<Job>) -> Result<(Outcome, Course), String> {
    observed(scenario, jobs, Course::default())
}

fn observed(
    scenario: &Scenario,
    jobs: Vec<Job>,
    mut course: Course,
) -> Result<(Outcome, Course), String> {
    let sentence = |error: RunError| match error {
        RunError::Bug(sentence) => format!("a run stops: {sentence}"),
        other => format!("a run stops: {other}"),
    };
    let names = Names { workload: Origin::unnamed("workload"), ..scenario.names() };
    let setup = Setup { names, ..scenario.setup(0).map_err(sentence)? };
    let outcome = scenario.run_on(setup, submissions(jobs), &mut course).map_err(sentence)?;
    course.starts.sort_unstable();
    Ok((outcome, course))
}

/// Jobs that must start in a run with finitely many arrivals.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Serves {
    /// All jobs that fit the empty machine.
    All,
    /// More than ten jobs must start. If at most ten jobs fit the empty machine, all of them must.
    Most,
    /// The component may leave the machine idle, so no job has to start.
    Any,
}

impl Serves {
    pub(super) fn declared(serves_all: bool) -> Serves {
        if serves_all { Serves::All } else { Serves::Most }
    }
}

pub(super) fn each_job_once(
    scenario: &Scenario,
    jobs: &[Job],
    serves: Serves,
) -> Result<Tried, String> {
    let (outcome, course) = run(scenario, jobs.to_vec())?;
    let (all, started) = (jobs.len() as u64, course.starts.len() as u64);
    if course.arrived + course.refused != all {
        let Course { arrived, refused, .. } = course;
        return Err(format!(
            "of {all} jobs {arrived} arrive and {refused} are refused, but each does one of the two"
        ));
    }
    if let Some(twice) = course.starts.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(format!("job {} starts twice", twice[0].0.0));
    }
    let is_served = match serves {
        Serves::All => started == course.arrived,
        Serves::Most => started == course.arrived || started > 10,
        Serves::Any => true,
    };
    if !is_served {
        let left = course.arrived - started;
        return Err(format!(
            "{left} of {} jobs never start, though arrivals end and the machine is idle",
            course.arrived
        ));
    }
    if course.finished != started || outcome.finished != course.finished {
        return Err(format!(
            "{started} jobs start, {} end, and {} are counted as ended",
            course.finished, outcome.finished
        ));
    }
    if run(scenario, jobs.to_vec())?.1.transcript != course.transcript {
        return Err("the same jobs and the same seed give another run the second time".to_owned());
    }
    Ok(Tried { jobs: course.finished, ..Tried::default() })
}

pub(super) fn promises_are_kept(scenario: &Scenario, mut jobs: Vec<Job>) -> Result<Tried, String> {
    jobs.iter_mut().for_each(|job| job.estimate = job.runtime);
    let (_, course) = run(scenario, jobs)?;
    for &(id, by) in &course.promises {
        let start = course.starts.binary_search_by_key(&id, |&(id, _)| id);
        let Some((_, start)) = start.ok().map(|at| course.starts[at]) else {
            return Err(format!("job {} was promised a start by {by}, and never starts", id.0));
        };
        // Ends are sums of tenths, so that a start may differ in the last bit.
        if start.units() > by.units() + 1e-9 {
            return Err(format!(
                "job {} starts at {start}, but was promised a start by {by}, and all estimates are exact",
                id.0
            ));
        }
    }
    let promises = course.promises.len() as u64;
    Ok(Tried { jobs: course.finished, promises, ..Tried::default() })
}

/// Checks that starts do not change if free nodes are only counted, as some schedulers declare.
pub(super) fn nodes_are_not_looked_at(scenario: &Scenario, jobs: &[Job]) -> Result<(), String> {
    let (_, named) = run(scenario, jobs.to_vec())?;
    let counts = Course { counts_only: true, ..Course::default() };
    let (_, counted) = observed(scenario, jobs.to_vec(), counts)?;
    if (named.starts, named.promises) == (counted.starts, counted.promises) {
        return Ok(());
    }
    Err("jobs start at other instants where nodes are only counted, but it declares not to look at which are free"
        .to_owned())
}
