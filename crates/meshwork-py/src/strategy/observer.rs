//! Adapter for observers written in Python. It calls only methods that the observer has.

use std::sync::Arc;

use meshwork::job::{Cause, Time};
use meshwork::observe::{Event, JobId, MachineState as Seen, Observer, Running as Model};
use meshwork::topology::Topology as Wired;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use super::Instance;
use super::job::Job;
use crate::place::Placement;

/// Topology of each site, shared by the placements on that site.
pub(crate) type Sites = Arc<[Arc<Wired>]>;

pub(crate) fn sites(machine: &[Wired]) -> Sites {
    machine.iter().map(|one| Arc::new(one.clone())).collect()
}

/// A run of a job, active or just ended, passed to observers and metrics.
///
/// Examples
/// --------
/// >>> import meshwork as mw
/// >>> @mw.register
/// ... class Idle:
/// ...     "Processors that a job held and did not ask for."
/// ...     unit = "processors"
/// ...     def value(self, run: mw.Run, now: float):
/// ...         return run.held - run.asked
/// >>> jobs = {"submit": [0, 1], "runtime": [9, 9], "nodes": [3, 4]}
/// >>> study = mw.Study(machine=mw.hypercube(4), workload=jobs, allocator="buddy", metrics=["idle"])
/// >>> study.run().summary.row(0)["mean"]
/// 0.5
#[pyclass(frozen, module = "meshwork")]
pub(crate) struct Run {
    running: Model,
    sites: Sites,
}

impl Run {
    pub(super) fn of(running: &Model, sites: &Sites) -> Run {
        Run { running: running.clone(), sites: Arc::clone(sites) }
    }
}

#[pymethods]
impl Run {
    /// The position of the job in the order of arrival, by which a `Cluster` identifies it.
    #[getter]
    fn id(&self) -> u64 {
        self.running.id.0
    }

    /// The job that runs.
    #[getter]
    fn job(&self) -> Job {
        Job::of(&self.running.job)
    }

    /// The index of the site on which the job runs.
    #[getter]
    fn site(&self) -> usize {
        self.running.site
    }

    /// The processors that the job holds.
    #[getter]
    fn placement(&self) -> Placement {
        let topology = Arc::clone(&self.sites[self.running.site]);
        Placement { nodes: self.running.placement.clone(), topology }
    }

    /// The number of requested processors.
    #[getter]
    fn asked(&self) -> u64 {
        self.running.asked
    }

    /// The number of held processors.
    #[getter]
    fn held(&self) -> u32 {
        self.running.held
    }

    /// The start time of this run.
    #[getter]
    fn start(&self) -> f64 {
        self.running.start.units()
    }

    /// The time at which the run is expected to end, according to the estimate.
    #[getter]
    fn expected_end(&self) -> f64 {
        self.running.expected_end.units()
    }

    /// The time that the job has waited, without the time of its earlier runs.
    #[getter]
    fn wait(&self) -> f64 {
        self.running.wait()
    }

    /// Expected run time at the start of the job, divided by the requested run time.
    ///
    /// It depends on the number of processors that the job got, and on the speed of its site.
    #[getter]
    fn stretch(&self) -> f64 {
        self.running.stretch
    }

    /// The relative speed of the work: 1 unless the scheduler resizes jobs.
    #[getter]
    fn rate(&self) -> f64 {
        self.running.rate
    }

    /// The dispersal of the held processors: see `Placement.dispersal`.
    #[getter]
    fn dispersal(&self) -> f64 {
        self.running.dispersal
    }

    /// The number of interruptions of the job, including that of this run.
    #[getter]
    fn interruptions(&self) -> u32 {
        self.running.wear().interruptions
    }

    /// The time of this run that was wasted by its interruption.
    #[getter]
    fn lost(&self) -> f64 {
        self.running.wear().lost
    }

    fn __repr__(&self) -> String {
        let Model { id, held, start, .. } = &self.running;
        format!("Run(job {}, {held} processors since {start})", id.0)
    }
}

/// The state of the machine between two events, passed to `elapsed` of an observer.
///
/// Examples
/// --------
/// >>> import meshwork as mw
/// >>> @mw.register
/// ... class Peak:
/// ...     "The most processors that were held at once."
/// ...     unit, most = "processors", 0
/// ...     def elapsed(self, state: mw.State, begin: float, end: float):
/// ...         self.most = max(self.most, state.held)
/// ...     def result(self):
/// ...         return self.most
/// >>> jobs = {"submit": [0, 1], "runtime": [9, 9], "nodes": [3, 4]}
/// >>> mw.Study(machine=mw.flat(8), workload=jobs, metrics=["peak"]).run().summary.row(0)["mean"]
/// 7.0
#[pyclass(frozen, get_all, module = "meshwork")]
pub(crate) struct State {
    /// Number of processors of the whole machine.
    nodes: u64,
    /// Number of processors that jobs hold.
    held: u64,
    /// Number of processors that the running jobs requested.
    asked: u64,
    /// Number of processors that jobs hold in excess of their requests.
    surplus: u64,
    /// Number of processors that are out of service.
    down: u64,
    /// Number of processors that sleep to save energy.
    asleep: u64,
    /// Power of the machine in watts, if the study has an energy model.
    power: f64,
    /// Number of waiting jobs.
    waiting: u64,
    /// Number of running jobs.
    running: u64,
    /// Whether the oldest waiting job requested no more processors than were free on some site.
    blocked_by_shape: bool,
}

impl State {
    fn of(seen: &Seen) -> State {
        let Seen { nodes, held, asked, surplus, down, asleep, power, .. } = *seen;
        let Seen { waiting, running, blocked_by_shape, .. } = *seen;
        State {
            nodes,
            held,
            asked,
            surplus,
            down,
            asleep,
            power,
            waiting,
            running,
            blocked_by_shape,
        }
    }
}

/// Methods that an observer in Python may have.
const METHODS: [&str; 15] = [
    "arrived",
    "refused",
    "turned_away",
    "promised",
    "started",
    "moved",
    "finished",
    "interrupted",
    "down",
    "up",
    "asleep",
    "awake",
    "unusable",
    "elapsed",
    "waited",
];

pub(crate) struct InPython {
    instance: Instance,
    sites: Sites,
    /// For each of [`METHODS`], whether the observer has it. Only methods that it has are called.
    has: [bool; METHODS.len()],
}

impl InPython {
    pub(crate) fn new(instance: Instance, machine: &[Wired]) -> InPython {
        let has = Python::attach(|py| {
            let object = instance.object.bind(py);
            METHODS.map(|method| object.hasattr(method).unwrap_or(false))
        });
        InPython { instance, sites: sites(machine), has }
    }

    pub(super) fn instance(&self) -> &Instance {
        &self.instance
    }

    fn has(&self, method: &str) -> bool {
        METHODS.iter().zip(self.has).any(|(name, has)| has && *name == method)
    }

    /// Calls a method if the observer has it.
    fn tell<A: for<'py> PyCallArgs<'py>>(&self, method: &'static str, told: impl FnOnce() -> A) {
        if !self.has(method) {
            return;
        }
        let done = Python::attach(|py| {
            self.instance.object.bind(py).call_method1(method, told()).map(drop)
        });
        if let Err(error) = done {
            self.instance.give_up(&format!("when it was told `{method}`"), error);
        }
    }

    fn run(&self, running: &Model) -> Run {
        Run::of(running, &self.sites)
    }
}

impl Observer for InPython {
    fn elapsed(&mut self, from: Time, to: Time, state: &Seen) {
        self.tell("elapsed", || (State::of(state), from.units(), to.units()));
    }

    fn asks_why_jobs_wait(&self) -> bool {
        self.has("waited")
    }

    fn asks_where_jobs_run(&self) -> bool {
        ["started", "moved", "finished", "interrupted"].iter().any(|method| self.has(method))
    }

    fn asks_what_blocks(&self) -> bool {
        self.has("elapsed")
    }

    fn waited(&mut self, from: Time, to: Time, id: JobId, cause: Cause) {
        self.tell("waited", || (id.0, cause.word(), from.units(), to.units()));
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        let at = now.units();
        match *event {
            Event::Unusable(line) => self.tell("unusable", || (line.line, line.reason, at)),
            Event::Arrived(id, job) => self.tell("arrived", || (id.0, Job::of(job), at)),
            Event::Refused(id, job) => self.tell("refused", || (id.0, Job::of(job), at)),
            Event::TurnedAway(id, job) => self.tell("turned_away", || (id.0, Job::of(job), at)),
            Event::Promised(id, by) => self.tell("promised", || (id.0, by.units(), at)),
            Event::Started(running) => self.tell("started", || (self.run(running), at)),
            Event::Moved { running, from } => self.tell("moved", || {
                let topology = Arc::clone(&self.sites[running.site]);
                (self.run(running), Placement { nodes: from.clone(), topology }, at)
            }),
            Event::Finished(running) => self.tell("finished", || (self.run(running), at)),
            Event::Interrupted(running) => self.tell("interrupted", || (self.run(running), at)),
            Event::Down { site, node } => self.tell("down", || (site, node, at)),
            Event::Up { site, node } => self.tell("up", || (site, node, at)),
            Event::Asleep { site, nodes } => self.tell("asleep", || (site, nodes.to_vec(), at)),
            Event::Awake { site, nodes, energy } => {
                self.tell("awake", || (site, nodes.to_vec(), energy, at));
            }
            _ => {}
        }
    }
}
