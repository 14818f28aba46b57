//! An episode: a simulation whose scheduler is an external agent, which decides between steps.

use meshwork::catalogue::Catalogue;
use meshwork::cluster::{Cluster, Place, StartOptions};
use meshwork::engine::{RunError, Setup, Simulation};
use meshwork::machine::Placement;
use meshwork::scenario::Scenario;
use meshwork::sched::Scheduler;
use meshwork::workload::{Submission, Submissions, WorkloadError};
use toml::{Table, Value};

use super::Script;

/// Scenario with the machine of an environment, but without jobs, outages and scheduler.
///
/// Only the agent starts jobs. The allocator is `allocator` or, if this is `None`, the allocator of
/// `script`.
pub(super) fn machine(
    script: &Script,
    allocator: Option<&str>,
    catalogue: &Catalogue,
) -> Result<Scenario, String> {
    let sites = script.scenario.topologies().len();
    if sites != 1 {
        return Err(format!("an environment has one site, and this machine has {sites}"));
    }
    let given = script.scenario.table();
    let mut table = Table::new();
    for key in ["machine", "allocator", "seed"] {
        table.extend(given.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    // The workload gives no jobs, but defines how a count of processors becomes a block.
    let mut workload = Table::from_iter([("name".to_owned(), Value::from("lublin"))]);
    if let Some(name) = allocator {
        table.insert("allocator".to_owned(), Value::from(name));
    } else if let Some(rule) = given.get("workload").and_then(|workload| workload.get("shape")) {
        workload.insert("shape".to_owned(), rule.clone());
    }
    table.insert("workload".to_owned(), Value::Table(workload));
    Scenario::read_in(catalogue, &table).map_err(|problem| problem.message)
}

/// Scheduler that starts the job that an agent has chosen by its position in the queue.
///
/// The agent can also choose the nodes. If it does not, the allocator places the job.
#[derive(Default)]
struct Agent<'p> {
    starts: Option<(usize, Option<&'p Placement>)>,
    has_started: bool,
}

impl Scheduler for Agent<'_> {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let Some((at, nodes)) = self.starts else { return };
        let Some(ticket) = cluster.waiting().nth(at) else { return };
        let these = |nodes| StartOptions::at(Place::These(0, nodes));
        self.has_started = cluster.start(ticket, nodes.map_or_else(StartOptions::default, these));
    }
}

/// Simulation of an episode's jobs, with the total time for which they have waited.
pub(super) struct Episode {
    simulation: Simulation<'static>,
    waited: f64,
}

impl Episode {
    pub(super) fn none(machine: &Scenario) -> Result<Episode, String> {
        Episode::of(machine, 0, Box::new(std::iter::empty()))
    }

    /// Begins an episode and advances to its first decision.
    ///
    /// That is when a job first waits. If no job ever arrives, the episode advances to its end.
    pub(super) fn begin(
        script: &Script,
        machine: &Scenario,
        number: u64,
    ) -> Result<Episode, String> {
        let jobs = script.scenario.jobs(number, script.files.as_ref());
        let jobs = first(jobs.map_err(|error| error.to_string())?, script.jobs);
        let mut episode = Episode::of(machine, number, jobs)?;
        episode.go_on()?;
        Ok(episode)
    }

    fn of(machine: &Scenario, number: u64, jobs: Submissions) -> Result<Episode, String> {
        let made = || -> Result<Simulation<'static>, RunError> {
            let setup = machine.setup(number)?;
            let scheduler = Box::new(Agent::default());
            let mut simulation = Simulation::new(Setup { scheduler, ..setup }, jobs, ())?;
            simulation.pass(&mut Agent::default())?;
            Ok(simulation)
        };
        let simulation = made().map_err(|error| error.to_string())?;
        Ok(Episode { simulation, waited: 0.0 })
    }

    pub(super) fn cluster(&self) -> &Cluster<'static> {
        self.simulation.cluster()
    }

    /// Whether all jobs of the episode have started.
    pub(super) fn is_over(&self) -> bool {
        self.cluster().waiting_jobs() == 0 && self.simulation.next_arrival().is_none()
    }

    /// Starts the waiting job at a position of the queue. `false` if it could not start.
    ///
    /// It starts on the given nodes or, without any, where the allocator places it.
    pub(super) fn start(&mut self, at: usize, nodes: Option<&Placement>) -> Result<bool, String> {
        self.decide(Agent { starts: Some((at, nodes)), has_started: false })
    }

    fn decide(&mut self, mut agent: Agent<'_>) -> Result<bool, String> {
        self.simulation.pass(&mut agent).map_err(|error| error.to_string())?;
        Ok(agent.has_started)
    }

    /// Advances to the next departure or arrival. `false` if there will be neither.
    ///
    /// If `only_departures` is set and a job runs, advances to the next departure. After the result
    /// `false`, only an action of the agent changes the state.
    pub(super) fn pass(&mut self, only_departures: bool) -> Result<bool, String> {
        let runs = self.cluster().running_jobs() > 0;
        if !runs && self.simulation.next_arrival().is_none() {
            return Ok(false);
        }
        loop {
            self.step()?;
            if !(only_departures && runs && self.cluster().departures().is_empty()) {
                return Ok(true);
            }
        }
    }

    /// Advances until a job waits, or no job will ever arrive.
    pub(super) fn go_on(&mut self) -> Result<(), String> {
        while self.cluster().waiting_jobs() == 0 && !self.is_over() {
            self.step()?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), String> {
        let (waiting, before) = (self.cluster().waiting_jobs(), self.cluster().now());
        self.simulation.step().map_err(|error| error.to_string())?;
        self.waited += waiting as f64 * (self.cluster().now() - before);
        Ok(())
    }

    /// Sum of the times for which all jobs have waited since the last call of this function.
    pub(super) fn take_waited(&mut self) -> f64 {
        std::mem::take(&mut self.waited)
    }
}

fn first(mut jobs: Submissions, mut left: u64) -> Submissions {
    Box::new(std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let next = jobs.next()?;
        left -= u64::from(matches!(next, Ok(Submission::Job(_))));
        Some(match next {
            Ok(Submission::Following(_)) => Err(WorkloadError(
                "`workload.dependencies` is given, but the jobs of an environment follow no others"
                    .to_owned(),
            )),
            next => next,
        })
    }))
}
