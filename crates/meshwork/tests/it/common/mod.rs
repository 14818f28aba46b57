//! Helpers of the integration tests: jobs, scenarios, transcripts of runs, and machines of every
//! wiring.

use std::collections::BTreeMap;

use meshwork::alloc::{ALLOCATORS, Allocator, AllocatorEntry};
#[allow(unused_imports, reason = "each test binary uses a part of them")]
pub(crate) use meshwork::conformance::{SITES, Transcript, machines, random_jobs, submissions};
use meshwork::engine::{Setup, simulate};
use meshwork::geometry::NodeSet;
use meshwork::job::{Job, Request, Time};
use meshwork::observe::{Event, JobId, MachineState, Observer};
use meshwork::registry::{Problem, entry, resolve};
use meshwork::scenario::{Outcome, Scenario};
use meshwork::sched::{SCHEDULERS, SchedulerEntry};
use meshwork::topology::{Topology, Wiring};
use meshwork::workload::table::Row;
use meshwork::workload::{Inputs, NoInputs, Rows, WorkloadError};

/// Job whose estimate equals its run time.
pub(crate) fn job(arrival: f64, request: Request, runtime: f64) -> Job {
    Job::new(0, Time::new(arrival), request, runtime)
}

/// Reads TOML. Adds an unused workload if the text has none, because the key is required.
fn try_scenario(text: &str) -> Result<Scenario, Problem> {
    let mut table: toml::Table = text.parse().expect("the test writes TOML");
    if !table.contains_key("workload") {
        // The jobs of a table may have owners, so partitions and queues are allowed.
        let unused: toml::Table = "name = 'table'\npath = 'unused'".parse().unwrap();
        table.insert("workload".to_owned(), unused.into());
    }
    Scenario::read(&table)
}

/// Scenario of a text in TOML, with an unused workload if the text has none.
pub(crate) fn scenario(text: &str) -> Scenario {
    try_scenario(text).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

pub(crate) fn read(text: &str) -> Scenario {
    Scenario::read(&text.parse().unwrap()).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

pub(crate) fn run(scenario: &Scenario, jobs: Vec<Job>) -> (Outcome, String) {
    let (outcome, transcript) = observed(scenario, jobs, Transcript::default());
    (outcome, transcript.text)
}

pub(crate) fn observed<O: Observer>(
    scenario: &Scenario,
    jobs: Vec<Job>,
    mut observer: O,
) -> (Outcome, O) {
    let setup = scenario.setup(0).unwrap();
    let outcome = scenario.run_on(setup, submissions(jobs), &mut observer).unwrap();
    (outcome, observer)
}

/// Observer that passes each event to a function.
pub(crate) struct Each<F>(pub(crate) F);

impl<F: FnMut(Time, &Event<'_>) + Send> Observer for Each<F> {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        (self.0)(now, event);
    }
}

/// Runs jobs with a function that sees each event. Returns the outcome.
pub(crate) fn watched(
    scenario: &Scenario,
    jobs: Vec<Job>,
    see: impl FnMut(Time, &Event<'_>) + Send,
) -> Outcome {
    observed(scenario, jobs, Each(see)).0
}

/// Checks that no job is interrupted or starts later than promised.
#[derive(Default)]
pub(crate) struct Promises {
    /// Whether a job is held to the last start time promised to it, not to the first one.
    are_renewed: bool,
    promised: BTreeMap<JobId, Time>,
    pub(crate) made: u32,
    pub(crate) kept: u32,
}

impl Promises {
    pub(crate) fn renewed() -> Promises {
        Promises { are_renewed: true, ..Promises::default() }
    }
}

impl Observer for Promises {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Interrupted(run) => panic!("job {} is interrupted at {now}", run.id.0),
            Event::Promised(id, by) => {
                self.made += 1;
                let promised = self.promised.entry(*id).or_insert(*by);
                if self.are_renewed {
                    *promised = *by;
                }
            }
            Event::Started(run) => {
                if let Some(by) = self.promised.get(&run.id) {
                    self.kept += 1;
                    assert!(now <= *by + 1e-9, "job {} was promised {by}, not {now}", run.id.0);
                }
            }
            _ => {}
        }
    }
}

/// Values of a metric in 20 replications.
pub(crate) fn replicate(scenario: &Scenario, name: &str) -> Vec<f64> {
    (0..20).map(|r| metric(&scenario.run(r, &NoInputs, &mut ()).unwrap(), name)).collect()
}

/// Mean of 20 independent values, and half-width of its 99.9 % confidence interval.
pub(crate) fn interval(values: &[f64]) -> (f64, f64) {
    assert_eq!(values.len(), 20);
    let mean = values.iter().sum::<f64>() / 20.0;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 19.0;
    // The factor is the two-sided quantile of Student's t distribution with 19 degrees of freedom.
    (mean, 3.883 * (variance / 20.0).sqrt())
}

/// Message of the error with which a scenario is refused.
///
/// If the text has no workload, one is added before the scenario is read.
pub(crate) fn refusal(text: &str) -> String {
    try_scenario(text).map(drop).unwrap_err().message
}

/// Value of a measured metric; `None` if it is undefined.
pub(crate) fn value(outcome: &Outcome, name: &str) -> Option<f64> {
    let measured = outcome.metrics.iter().find(|measured| measured.name == name);
    measured.unwrap_or_else(|| panic!("{name} was not measured")).value
}

pub(crate) fn metric(outcome: &Outcome, name: &str) -> f64 {
    value(outcome, name).unwrap()
}

pub(crate) fn assert_near(outcome: &Outcome, name: &str, value: f64) {
    let own = metric(outcome, name);
    assert!((own - value).abs() < 1e-12, "{name} is {own} and not {value}");
}

/// Watts of the machine, for each interval in which they are constant.
#[derive(Default)]
pub(crate) struct Watts(pub(crate) Vec<(f64, f64, f64)>);

impl Observer for Watts {
    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
        self.0.push((from.units(), to.units(), state.power));
    }
}

pub(crate) fn set(count: u32, nodes: impl IntoIterator<Item = u32>) -> NodeSet {
    let mut set = NodeSet::empty(count);
    nodes.into_iter().for_each(|node| set.insert(node));
    set
}

/// Start of each job, in order of arrival; `None` for a job that never started.
pub(crate) fn starts(setup: Setup, jobs: Vec<Job>) -> Vec<Option<f64>> {
    let mut starts = BTreeMap::new();
    let mut see = Each(|now: Time, event: &Event<'_>| match event {
        Event::Arrived(id, _) | Event::Refused(id, _) => drop(starts.insert(*id, None)),
        Event::Started(run) => drop(starts.insert(run.id, Some(now.units()))),
        _ => {}
    });
    simulate(setup, submissions(jobs), &mut see).unwrap();
    starts.into_values().collect()
}

/// Files of a study in memory.
#[derive(Default)]
pub(crate) struct Given {
    /// Rows that every table of jobs contains, whatever its path.
    pub(crate) rows: Vec<Row>,
    /// Content of every file that is not a table of jobs.
    pub(crate) text: &'static str,
}

impl Inputs for Given {
    fn text(&self, _: &str) -> Result<Box<dyn std::io::BufRead + Send>, WorkloadError> {
        Ok(Box::new(self.text.as_bytes()))
    }

    fn rows(&self, _: &str) -> Result<Rows, WorkloadError> {
        Ok(Box::new(self.rows.clone().into_iter().map(Ok)))
    }
}

/// Entry and allocator of a text such as "paging page=1 order='snake'".
pub(crate) fn try_build(
    named: &str,
    topology: &Topology,
) -> Result<(&'static AllocatorEntry, Box<dyn Allocator>), Problem> {
    let (name, params) = named.split_once(' ').unwrap_or((named, ""));
    let given: toml::Table = params.replace(' ', "\n").parse().unwrap();
    let entry = entry(ALLOCATORS, name);
    let declared: Vec<_> = entry.about.params.iter().collect();
    let params = resolve("allocator", &declared, &given, &[]).unwrap();
    Ok((entry, (entry.build)(&params, topology)?))
}

pub(crate) fn build(
    named: &str,
    topology: &Topology,
) -> (&'static AllocatorEntry, Box<dyn Allocator>) {
    try_build(named, topology).unwrap()
}

/// Positions in a box of the given sides, with the last dimension fastest.
pub(crate) fn positions([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> + Clone {
    (0..x).flat_map(move |i| (0..y).flat_map(move |j| (0..z).map(move |k| [i, j, k])))
}

/// Lines of the [`Diary`] of a run.
pub(crate) fn diary(text: &str, jobs: Vec<Job>) -> Vec<String> {
    observed(&scenario(text), jobs, Diary::default()).1.0
}

#[derive(Default)]
pub(crate) struct Diary(pub(crate) Vec<String>);

impl Observer for Diary {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        let line = match event {
            Event::Started(run) => format!("{now} start {}", run.job.number),
            Event::Finished(run) => format!("{now} end {}", run.job.number),
            Event::Interrupted(run) => format!("{now} stop {}", run.job.number),
            Event::Down { node, .. } => format!("{now} down {node}"),
            Event::Up { node, .. } => format!("{now} up {node}"),
            Event::Promised(id, by) => format!("{now} promise {} {by}", id.0 + 1),
            _ => return,
        };
        self.0.push(line);
    }
}

/// Schedulers that never resize jobs and work on machines of every wiring.
pub(crate) fn schedulers_for_all_wirings() -> impl Iterator<Item = &'static SchedulerEntry> {
    let everywhere = |s: &&SchedulerEntry| Wiring::ALL.iter().all(|w| s.serves.contains(w));
    SCHEDULERS.iter().copied().filter(everywhere).filter(|s| !s.malleable)
}

/// Names of allocators that work on a machine: the first one, and every `step`-th one after it.
pub(crate) fn allocators_on(topology: &Topology, step: usize) -> Vec<&'static str> {
    let suitable = ALLOCATORS.iter().filter(|a| a.works_on(topology));
    suitable.map(|a| a.about.name).step_by(step).collect()
}

/// Selectors with every combination of their parameters, each as a name and a line of TOML.
pub(crate) fn every_selector() -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for entry in meshwork::select::SELECTORS {
        let mut texts = vec![format!("name = '{}'", entry.about.name)];
        for param in entry.about.params {
            if let meshwork::registry::Kind::Choice(words) = param.kind {
                let with =
                    |text: &String, word: &&str| format!("{text}, {} = '{word}'", param.name);
                texts = texts.iter().flat_map(|t| words.iter().map(move |w| with(t, w))).collect();
            }
        }
        let name = entry.about.name;
        all.extend(texts.into_iter().map(|text| (name, format!("selector = {{ {text} }}"))));
    }
    all
}
