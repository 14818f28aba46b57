//! What the integration tests share: jobs by hand, transcripts, and machines of every wiring.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::fmt::Write as _;

use meshwork::engine::{Setup, simulate};
use meshwork::job::{Job, Request, Time};
use meshwork::observe::{Event, JobId, Observer};
use meshwork::rng::Stream;
use meshwork::scenario::{Outcome, Scenario};
use meshwork::sched::{SCHEDULERS, SchedulerEntry};
use meshwork::topology::{Topology, Wiring};
use meshwork::workload::{Submission, Submissions};

/// A job that arrives, asks and runs like this; its estimate is its run time.
pub(crate) fn job(arrival: f64, request: Request, runtime: f64) -> Job {
    Job { number: 0, arrival: Time::new(arrival), request, runtime, estimate: runtime, owner: None }
}

/// Jobs as a workload.
pub(crate) fn submissions(jobs: Vec<Job>) -> Submissions {
    Box::new(jobs.into_iter().map(|job| Ok(Submission::Job(job))))
}

/// A scenario from TOML, with a workload that is not used.
pub(crate) fn scenario(text: &str) -> Scenario {
    let mut table: toml::Table = text.parse().expect("the test writes TOML");
    if !table.contains_key("workload") {
        let unused: toml::Table = "name = 'lublin'".parse().unwrap();
        table.insert("workload".to_owned(), unused.into());
    }
    Scenario::read(&table).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

/// One line for every event, exact to the last bit.
#[derive(Default)]
pub(crate) struct Transcript {
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
            other => panic!("the transcript has no words for {other:?}"),
        };
        writeln!(self.text, "{now} {line}").unwrap();
    }
}

/// Runs jobs under a scenario and returns the outcome and the transcript.
pub(crate) fn run(scenario: &Scenario, jobs: Vec<Job>) -> (Outcome, String) {
    let mut transcript = Transcript::default();
    let setup = scenario.setup(0).unwrap();
    let outcome = scenario.run_on(setup, submissions(jobs), &mut transcript).unwrap();
    (outcome, transcript.text)
}

/// The start of every job, in order of arrival.
pub(crate) fn starts(setup: Setup, jobs: Vec<Job>) -> Vec<Option<f64>> {
    #[derive(Default)]
    struct Starts(Vec<Option<f64>>);
    impl Starts {
        fn set(&mut self, id: JobId, start: Option<f64>) {
            self.0.resize(self.0.len().max(id.0 as usize + 1), None);
            self.0[id.0 as usize] = start;
        }
    }
    impl Observer for Starts {
        fn observe(&mut self, now: Time, event: &Event<'_>) {
            match event {
                Event::Arrived(id, _) | Event::Refused(id, _) => self.set(*id, None),
                Event::Started(run) => self.set(run.id, Some(now.units())),
                _ => {}
            }
        }
    }
    let mut seen = Starts::default();
    simulate(setup, submissions(jobs), &mut seen).unwrap();
    seen.0
}

/// Small machines of every wiring, as TOML and as topologies.
pub(crate) fn machines() -> Vec<(String, Topology)> {
    let mut all = Vec::new();
    for sides in [&[12][..], &[6, 5], &[4, 3, 3], &[3, 2, 2, 3], &[2, 2, 2, 2]] {
        for name in ["mesh", "torus"] {
            let topology = match name {
                "mesh" => Topology::mesh(sides),
                _ => Topology::torus(sides),
            };
            all.push((format!("topology = '{name}', dims = {sides:?}"), topology.unwrap()));
        }
    }
    all.push(("topology = 'hypercube', dimension = 4".to_owned(), Topology::hypercube(4).unwrap()));
    all.push(("topology = 'flat', processors = 20".to_owned(), Topology::flat(20).unwrap()));
    all
}

/// Those, and small machines whose links do not follow the grid of their numbers, or of which some dimensions
/// alone are rings.
pub(crate) fn all_machines() -> Vec<(String, Topology)> {
    let others = [
        (
            "topology = 'torus', dims = [6, 5], wrap = [true, false]",
            Topology::with_rings(&[6, 5], &[true, false]),
        ),
        (
            "topology = 'torus', dims = [4, 3, 3], wrap = [false, true, true]",
            Topology::with_rings(&[4, 3, 3], &[false, true, true]),
        ),
        (
            "topology = 'mesh', dims = [3, 2, 4], wrap = [true, true, false]",
            Topology::with_rings(&[3, 2, 4], &[true, true, false]),
        ),
        ("topology = 'tofu', dims = 2", Topology::tofu(&[2])),
        ("topology = 'fat_tree', arity = [4, 5]", Topology::fat_tree(&[4, 5], 1.0)),
        (
            "topology = 'fat_tree', arity = [4, 2, 3], taper = 2",
            Topology::fat_tree(&[4, 2, 3], 2.0),
        ),
        ("topology = 'dragonfly', p = 2, a = 3, h = 1", Topology::dragonfly(2, 3, 1)),
        ("topology = 'twisted_torus', dims = [3, 6]", Topology::twisted_torus(&[3, 6])),
        (
            "topology = 'mesh', dims = [3, 2], processors_per_node = 4",
            Topology::mesh(&[3, 2]).and_then(|mesh| mesh.with_processors(4)),
        ),
    ];
    let others = others.into_iter().map(|(text, made)| (text.to_owned(), made.unwrap()));
    machines().into_iter().chain(others).collect()
}

/// Sites of several kinds, one of every wiring and one allocator of its own, as TOML.
pub(crate) const SITES: &str = "machine = { sites = [
    { topology = 'mesh', dims = [4, 3] },
    { topology = 'flat', processors = 14, speed = 1.25 },
    { topology = 'torus', dims = [5], allocator = 'frame_sliding', speed = 0.75 },
    { topology = 'hypercube', dimension = 4, speed = 1.125 },
    { topology = 'flat', processors = 9, speed = 1.125 } ] }";

/// Every scheduler that works on machines of every wiring.
pub(crate) fn schedulers_for_all_wirings() -> impl Iterator<Item = &'static SchedulerEntry> {
    let everywhere = |s: &&SchedulerEntry| Wiring::ALL.iter().all(|w| s.serves.contains(w));
    SCHEDULERS.iter().copied().filter(everywhere).filter(|s| !s.malleable)
}

/// Every selector with every choice of its parameters, as TOML.
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

/// Random jobs for a machine: blocks, counts and subcubes, with tenths of units for times, so that
/// instants tie often and are not exact in binary.
pub(crate) fn random_jobs(topology: &Topology, count: usize, load: f64, seed: u64) -> Vec<Job> {
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
            Job { number: 0, arrival: Time::new(now), request, runtime, estimate, owner: None }
        })
        .collect()
}
