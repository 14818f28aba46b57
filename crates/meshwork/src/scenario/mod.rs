//! Scenarios: complete descriptions of a run, each read from one table.

mod checks;
mod fair;
mod keys;
pub(crate) mod nodes;
pub(crate) mod sites;

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::access::{Access, Area};
use crate::catalogue::Catalogue;
use crate::energy::Energy;
use crate::engine::{Names, RunError, Setup, Simulation};
use crate::facility::Facility;
use crate::failures::{self, Failures};
use crate::job::{Cause, Job, Pieces, Request, Time};
use crate::network::{self, Network, NetworkContext, NetworkEntry};
use crate::observe::ledger::Ledger;
use crate::observe::metrics::{self, Features, Measure, MetricEntry, Rules};
use crate::observe::recorder::{
    Batching, Measured, OwnerAttribute, OwnerClass, Recorder, SizeClass, Window,
};
use crate::observe::{Event, Gauges, JobId, MachineState, Observer};
use crate::offer::ManagedSite;
use crate::registry::{ListedEntry, Param, Params, Problem, Standard, join, name_of, resolve_in};
use crate::rng::Stream;
use crate::sched::{self, SchedulerEntry};
use crate::select::{self, SelectorEntry};
use crate::sizing::{self, SizingEntry};
use crate::speeds::Speeds;
use crate::topology::Topology;
use crate::topology::types::NodeTypes;
use crate::workload::{
    self, BuildError, SHAPE, SHAPES, Submission, WorkloadContext, WorkloadEntry,
};

use keys::{BY_SIZE, PASSES};
pub use keys::{MEASURE, PARAMS};
pub use nodes::known_types;
use sites::{
    Found, SiteSpec, allocators_for, resolve_machine, speeds_for, split_access, split_machine,
};
pub use sites::{SITE_FAMILY, SITES, machine_in_words, machine_in_words_in};

/// Version of the model, part of the key of stored runs, raised with every change of a value.
pub const MODEL_VERSION: u32 = 2;

/// Digest of the model's source without comments and tests, part of the key of stored runs.
pub const SOURCE: &str = env!("MESHWORK_SOURCE");

/// Bytes of memory per processor with the allocator `curve`, which needs the most. The value was
/// measured on 2²⁴ processors.
pub(crate) const BYTES_PER_NODE: u64 = 40;

/// Number of jobs at the start of a workload that are read in advance to learn typical requests.
const TYPICAL_JOBS: usize = 1000;

/// Bytes of memory per job in the buffer in which the jobs of a log are sorted.
const BYTES_PER_HELD_JOB: u64 = 48;

/// Bytes per job of a workload in memory, with unused capacity; measured on two million rows.
const BYTES_PER_WHOLE_JOB: u64 = 200;

/// Complete description of a run except for the replication, checked and with all defaults.
///
/// ```
/// use meshwork::scenario::Scenario;
/// use meshwork::workload::NoInputs;
/// let scenario = Scenario::read(&toml::toml! {
///     machine = { topology = "mesh", dims = [8, 8] }
///     workload = { name = "synthetic", load = 0.3, sizes = "uniform",
///                  runtimes = { name = "exponential", mean = 5.0 } }
///     measure = { jobs = 1000, metrics = ["wait"] }
/// })
/// .unwrap();
/// let outcome = scenario.run(0, &NoInputs, &mut ()).unwrap();
/// assert_eq!(outcome.finished, 1000);
/// ```
#[derive(Clone, Debug)]
pub struct Scenario {
    params: Params,
    machine: Vec<SiteSpec>,
    parts: Parts,
    speeds: Option<Speeds>,
    failures: Option<Failures>,
    access: Option<Access>,
    energy: Option<Energy>,
}

#[derive(Clone, Debug)]
struct Parts {
    scheduler: Found<SchedulerEntry>,
    selector: Found<SelectorEntry>,
    sizing: Found<SizingEntry>,
    network: Found<NetworkEntry>,
    workload: Found<WorkloadEntry>,
    /// Metrics in the order of the list of all metrics, each with its own parameters.
    metrics: Vec<(Found<MetricEntry>, Params)>,
}

impl Parts {
    fn find(catalogue: &Catalogue, params: &Params, fails: bool, draws: bool) -> Parts {
        fn found<E: ListedEntry>(catalogue: &Catalogue, params: &Params) -> Found<E> {
            Found(catalogue.entry(params.name()))
        }
        let network: Found<NetworkEntry> =
            found(catalogue, &params.component("network", &network::FAMILY));
        let run = Features { sends: network.0.sends, fails, draws };
        let usual = || metrics::usual(&catalogue.list(), run);
        let measure = params.nested("measure");
        let names = measure.get_names("metrics").unwrap_or_else(usual);
        let is_named = |metric: &&&MetricEntry| names.contains(&metric.about.name);
        Parts {
            scheduler: found(catalogue, &params.component("scheduler", &sched::FAMILY)),
            selector: found(catalogue, &params.component("selector", &select::FAMILY)),
            sizing: found(catalogue, &params.component("sizing", &sizing::FAMILY)),
            network,
            workload: found(catalogue, &params.component("workload", &workload::FAMILY)),
            metrics: catalogue
                .list::<MetricEntry>()
                .iter()
                .filter(is_named)
                .map(|metric| (Found(*metric), own_params(catalogue, &measure, metric)))
                .collect(),
        }
    }
}

fn own_params(catalogue: &Catalogue, measure: &Params, metric: &MetricEntry) -> Params {
    let named = measure.table().get("metrics").and_then(Value::as_array).into_iter().flatten();
    let own =
        named.filter(|item| name_of(item) == Some(metric.about.name)).find_map(Value::as_table);
    let resolved = own.cloned().or_else(|| {
        let name = Value::String(metric.about.name.to_owned());
        let resolved = metrics::FAMILY.resolve_in(catalogue, "measure.metrics", &name).ok()?;
        Some(resolved.table().clone())
    });
    Params::of_resolved(
        catalogue,
        "measure.metrics",
        resolved.unwrap_or_default(),
        metrics::FAMILY.key,
    )
}

/// Results of a run.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Outcome {
    /// Every requested metric, in the order of the list of all metrics.
    pub metrics: Vec<Measured>,
    /// Metrics by size of job; empty if grouping by size was not requested.
    pub by_size: Vec<SizeClass>,
    /// Metrics by owner of jobs, such as by user, for each attribute that was requested.
    pub by_owner: BTreeMap<OwnerAttribute, Vec<OwnerClass>>,
    /// Number of jobs that finished in the measured part of the run.
    pub finished: u64,
    /// Number of jobs that did not fit the empty machine or were turned away.
    pub refused: u64,
    /// Number of lines of the log that are not jobs.
    pub unusable: u64,
    /// Last instant of the run.
    pub end: Time,
    /// Speed of each site; empty if speeds are not drawn.
    pub speeds: Vec<f64>,
    /// Division of the run into batches of jobs.
    pub cut: Batching,
}

impl Outcome {
    /// Value of a metric; `None` if it was not requested or nothing was measured.
    ///
    /// ```
    /// use meshwork::{Component, NoInputs, Scenario};
    /// let workload = Component::new("lublin").with("jobs", 20);
    /// let builder = Scenario::builder().mesh([8, 8]).workload(workload).metrics(["wait"]);
    /// let outcome = builder.build()?.run(0, &NoInputs, &mut ())?;
    /// assert!(outcome.metric("wait") >= Some(0.0) && outcome.metric("size").is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|metric| metric.name == name).and_then(|metric| metric.value)
    }
}

impl Scenario {
    /// Reads a scenario, which may name entries of this crate, and fills in every default.
    ///
    /// # Errors
    /// The first problem found: an unknown key or name, a value out of bounds, or components that
    /// are not compatible. Files are not opened.
    pub fn read(table: &Table) -> Result<Scenario, Problem> {
        Scenario::read_in(&Catalogue::standard(), table)
    }

    /// Variant of [`read`](Scenario::read) with the entries of a catalogue.
    pub fn read_in(catalogue: &Catalogue, table: &Table) -> Result<Scenario, Problem> {
        let (machine, mut rest) = split_machine(catalogue, table)?;
        failures::spell_out(&mut rest);
        workload::spell_out(catalogue, &mut rest)?;
        let params: Vec<&Param> = PARAMS.iter().collect();
        let mut resolved = resolve_in(catalogue, "", &params, &rest, &["machine"])?.table().clone();
        let (machine, apart) = split_access(catalogue, &machine)?;
        let (machine, types) = nodes::split_types(catalogue, &machine)?;
        let (mut machine, sites) = resolve_machine(catalogue, &machine)?;
        let sites = allocators_for(catalogue, &mut resolved, &mut machine, &sites, &types)?;
        let speeds = speeds_for(catalogue, &machine, &sites)?;
        let topologies: Vec<Topology> = sites.iter().map(|site| site.topology.clone()).collect();
        let access = Access::read(
            &Params::of_resolved(catalogue, "machine", apart.clone(), ""),
            &topologies,
        )?;
        machine.extend(apart);
        types.put_into(&mut machine);
        resolved.insert("machine".to_owned(), Value::Table(machine));
        let params = Params::of_resolved(catalogue, "", in_order(resolved), "");
        let failures = match params.has("failures") {
            true => Some(Failures::read(&params.nested("failures"), &topologies)?),
            false => None,
        };
        let fails = failures.as_ref().is_some_and(Failures::may_fail);
        let processors = topologies.iter().map(|site| u64::from(site.processors())).sum();
        let energy = match params.has("energy") {
            true => {
                let gpus = NodeTypes::totals_of(&topologies)[2];
                Some(Energy::read(&params.nested("energy"), processors, gpus)?)
            }
            false => None,
        };
        let parts = Parts::find(catalogue, &params, fails, energy.is_some());
        let scenario = Scenario { params, machine: sites, parts, speeds, failures, access, energy };
        scenario.check()?;
        Ok(scenario)
    }

    /// The scenario as a table, with all defaults and no aliases.
    ///
    /// A scenario that is read from this table equals this one.
    #[must_use]
    pub fn table(&self) -> &Table {
        self.params.table()
    }

    /// Whether jobs send messages.
    #[must_use]
    pub fn sends(&self) -> bool {
        self.parts.network.0.sends
    }

    /// Topologies of all sites of the machine.
    #[must_use]
    pub fn topologies(&self) -> Vec<Topology> {
        self.machine.iter().map(|site| site.topology.clone()).collect()
    }

    /// Whether jobs share the nodes of the machine.
    #[must_use]
    pub fn shares_nodes(&self) -> bool {
        self.machine.iter().any(|site| site.choice.is_some())
    }

    /// Speeds of all sites in one replication; `None` if speeds are not drawn. Speeds have a random
    /// stream of their own, so that drawing them does not change the jobs.
    ///
    /// ```
    /// use meshwork::scenario::Scenario;
    /// let scenario = Scenario::read(&toml::toml! {
    ///     machine = { sites = [ { topology = "flat", processors = 8 },
    ///                           { topology = "mesh", dims = [4, 4] } ],
    ///                 speeds = { variance = 0.02 } }
    ///     workload = { name = "lublin", jobs = 10 }
    /// })
    /// .unwrap();
    /// let speeds = scenario.speeds(0).unwrap();
    /// assert!((speeds[0] + speeds[1] - 2.0).abs() < 1e-12);
    /// assert!(((speeds[0] - speeds[1]).abs() - 0.2).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn speeds(&self, replication: u64) -> Option<Vec<f64>> {
        let mut stream = Stream::new(self.params.integer("seed"), replication, "speeds");
        let mut speeds = self.speeds.as_ref()?.draw(&mut stream);
        speeds.iter_mut().zip(&self.machine).for_each(|(speed, site)| *speed *= site.speed);
        Some(speeds)
    }

    /// Whether the workload always gives times in seconds, so that the clock counts seconds.
    #[must_use]
    pub fn is_in_seconds(&self) -> bool {
        self.parts.workload.0.in_seconds
    }

    /// Path of the file that the workload reads; `None` if it reads none.
    #[must_use]
    pub fn input_path(&self) -> Option<&str> {
        self.table()["workload"].get("path").and_then(Value::as_str)
    }

    /// Path of the file from which outages are read; `None` if there is no such file.
    #[must_use]
    pub fn trace_path(&self) -> Option<&str> {
        self.failures.as_ref()?.trace()
    }

    /// Whether nodes may go out of service.
    #[must_use]
    pub fn may_fail(&self) -> bool {
        self.failures.as_ref().is_some_and(Failures::may_fail)
    }

    /// Runs one replication and reports all events to `observer`. The outcome depends only on
    /// scenario, replication and inputs, bit for bit.
    ///
    /// # Errors
    /// If the workload cannot be read, or a strategy breaks its contract.
    pub fn run(
        &self,
        replication: u64,
        inputs: &dyn workload::Inputs,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        if self.judges_starts() {
            return self.run_and_judge(replication, inputs, observer);
        }
        let (setup, jobs) = self.parts_of(replication, inputs)?;
        self.run_on(setup, jobs, observer)
    }

    /// Variant of [`run`](Scenario::run) in which `act` advances the simulation from its beginning.
    ///
    /// # Errors
    /// The errors of `run`, and the errors of `act`.
    pub fn simulate<R>(
        &self,
        replication: u64,
        inputs: &dyn workload::Inputs,
        observer: &mut dyn Observer,
        act: impl FnOnce(&mut Simulation<'_>) -> Result<R, RunError>,
    ) -> Result<R, RunError> {
        let (setup, jobs) = self.parts_of(replication, inputs)?;
        self.watch_while(setup, jobs, observer, act).map(|(_, given)| given)
    }

    fn parts_of(
        &self,
        replication: u64,
        inputs: &dyn workload::Inputs,
    ) -> Result<(Setup, workload::Submissions), RunError> {
        let jobs = self.jobs(replication, inputs)?;
        let setup = self.setup_with(replication, inputs)?;
        Ok((Setup { names: self.names(), ..setup }, jobs))
    }

    pub(crate) fn names(&self) -> Names {
        let Parts { scheduler, selector, sizing, network, workload, .. } = &self.parts;
        Names {
            scheduler: sched::FAMILY.origin(scheduler.0.about.name),
            serves_all: scheduler.0.serves_all,
            resizes: scheduler.0.malleable,
            selector: select::FAMILY.origin(selector.0.about.name),
            sizing: sizing::FAMILY.origin(sizing.0.about.name),
            network: network::FAMILY.origin(network.0.about.name),
            workload: workload::FAMILY.origin(workload.0.about.name),
        }
    }

    /// Jobs of one replication, as an iterator.
    ///
    /// # Errors
    /// If the workload cannot be read.
    pub fn jobs(
        &self,
        replication: u64,
        inputs: &dyn workload::Inputs,
    ) -> Result<workload::Submissions, RunError> {
        let sites = self.shape();
        let workload = self.params.component("workload", &workload::FAMILY);
        let setting = self.setting(&sites, replication, inputs);
        workload::submissions(self.parts.workload.0, &workload, &setting).map_err(|error| {
            match error {
                BuildError::Problem(problem) => bug(problem),
                BuildError::Workload(error) => RunError::Workload(error),
            }
        })
    }

    /// Components of a run of one replication, except its jobs, for [`run_on`](Scenario::run_on).
    ///
    /// # Errors
    /// If outages are to be read from a file: see [`setup_with`](Scenario::setup_with).
    pub fn setup(&self, replication: u64) -> Result<Setup, RunError> {
        self.setup_with(replication, &workload::NoInputs)
    }

    /// Components of a run that replays recorded events: no failures, access rules or energy model.
    ///
    /// # Errors
    /// An error is always a bug.
    pub fn setup_ideal(&self, replication: u64) -> Result<Setup, RunError> {
        Scenario { failures: None, access: None, energy: None, ..self.clone() }.setup(replication)
    }

    /// Partitions and reservations of the machine, as sets of nodes of each site.
    #[must_use]
    pub fn areas(&self) -> Vec<Area> {
        self.access.as_ref().map_or_else(Vec::new, |access| access.areas(&self.topologies()))
    }

    /// Components of a run of one replication, with outages from a file if the scenario gives one.
    ///
    /// # Errors
    /// If the file of outages cannot be read.
    pub fn setup_with(
        &self,
        replication: u64,
        inputs: &dyn workload::Inputs,
    ) -> Result<Setup, RunError> {
        let scheduler = self.params.component("scheduler", &sched::FAMILY);
        let seed = self.params.integer("seed");
        let outages = self
            .failures
            .as_ref()
            .map(|failures| failures.outages(&self.topologies(), seed, replication, inputs));
        Ok(Setup {
            facility: self
                .facility_with(replication, &self.typical(replication, inputs)?)
                .map_err(bug)?,
            scheduler: (self.parts.scheduler.0.build)(&scheduler, &self.topologies())
                .map_err(bug)?,
            network: self.network(replication).map_err(bug)?,
            kill_at_estimate: scheduler.flag("kill_at_estimate"),
            passes: self.params.meaning("passes", &PASSES),
            time: self.params.nested("measure").get_number("time"),
            outages: outages.transpose()?,
            access: self.access.clone(),
            energy: self.energy.clone(),
            names: Names { resizes: self.parts.scheduler.0.malleable, ..Names::default() },
        })
    }

    /// Variant of [`run`](Scenario::run) with the given components and jobs.
    ///
    /// Metrics of fair starts have no value, because they require further runs.
    ///
    /// # Errors
    /// If reading the jobs fails, or a strategy breaks its contract.
    pub fn run_on(
        &self,
        setup: Setup,
        jobs: workload::Submissions,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        Ok(self.watch(setup, jobs, observer)?.outcome())
    }

    fn watch(
        &self,
        setup: Setup,
        jobs: workload::Submissions,
        observer: &mut dyn Observer,
    ) -> Result<Seen, RunError> {
        let (seen, end) = self.watch_while(setup, jobs, observer, |all| all.run())?;
        seen.ledger.balance(end).map_err(|books| RunError::Bug(books.to_string()))?;
        Ok(seen)
    }

    fn watch_while<R>(
        &self,
        setup: Setup,
        jobs: workload::Submissions,
        observer: &mut dyn Observer,
        act: impl FnOnce(&mut Simulation<'_>) -> Result<R, RunError>,
    ) -> Result<(Seen, R), RunError> {
        let sites = setup.facility.sites().iter().map(|managed| managed.site().speed());
        let speeds = if self.speeds.is_some() { sites.collect() } else { Vec::new() };
        let machine = self.topologies();
        let metrics: Vec<_> = self.parts.metrics.iter().map(|(found, _)| found.0).collect();
        let mut gauges = Gauges::of(&metrics, &machine);
        let metrics =
            self.parts.metrics.iter().map(|(found, own)| (found.0, own.clone())).collect();
        let mut recorder = recorder(&self.params.nested("measure"), metrics, &machine);
        let mut ledger = Ledger::default();
        let is_alone = gauges.is_empty();
        let mut others = (&mut gauges, observer);
        let other: &mut dyn Observer = if is_alone { &mut *others.1 } else { &mut others };
        let all = Watchers { recorder: &mut recorder, ledger: &mut ledger, other };
        let mut simulation = Simulation::new(setup, jobs, all)?;
        let given = act(&mut simulation)?;
        let end = simulation.cluster().now();
        drop(simulation);
        Ok((Seen { recorder, ledger, gauges, end, speeds }, given))
    }

    fn network(&self, replication: u64) -> Result<Box<dyn Network>, Problem> {
        let network = self.params.component("network", &network::FAMILY);
        let (topologies, seed) = (self.topologies(), self.params.integer("seed"));
        let machine = NetworkContext { topologies: &topologies, seed, replication };
        (self.parts.network.0.build)(&network, &machine)
    }

    /// Topology and speed of each site. The speed is the one in the study, which defines the load
    /// of the workload.
    fn shape(&self) -> Vec<(Topology, f64)> {
        self.machine.iter().map(|site| (site.topology.clone(), site.speed)).collect()
    }

    fn setting<'a>(
        &self,
        sites: &'a [(Topology, f64)],
        replication: u64,
        inputs: &'a dyn workload::Inputs,
    ) -> WorkloadContext<'a> {
        let measure = self.params.nested("measure");
        let measured = OwnerAttribute::ALL.iter().any(|by| measure.flag(by.key()));
        let decided = self.parts.scheduler.0.by_owner || self.access.is_some();
        let owners = measured || self.evenness().is_some() || decided;
        WorkloadContext { sites, seed: self.params.integer("seed"), replication, owners, inputs }
    }

    fn evenness(&self) -> Option<&'static str> {
        let metrics = self.parts.metrics.iter().map(|(found, _)| found.0);
        let mut of_users = metrics.filter(|metric| matches!(metric.measure, Measure::Evenness(_)));
        of_users.next().map(|metric| metric.about.name)
    }

    /// Requests of the first jobs of the workload; empty if no order of nodes learns from them.
    fn typical(
        &self,
        replication: u64,
        inputs: &dyn workload::Inputs,
    ) -> Result<Vec<Pieces>, RunError> {
        let learns =
            |site: &SiteSpec| site.choice.as_ref().is_some_and(|own| own.order_entry.0.learns);
        if !self.machine.iter().any(learns) {
            return Ok(Vec::new());
        }
        let jobs = self.jobs(replication, inputs)?;
        let mut typical = Vec::new();
        for item in jobs.take(TYPICAL_JOBS) {
            if let Submission::Job(Job { request: Request::Pieces(pieces), .. }) = item? {
                typical.push(*pieces);
            }
        }
        Ok(typical)
    }

    fn facility_with(&self, replication: u64, typical: &[Pieces]) -> Result<Facility, Problem> {
        let seed = self.params.integer("seed");
        let workload = self.params.component("workload", &workload::FAMILY);
        let rule = workload.meaning(SHAPE.name, &SHAPES);
        let managed = |(index, spec): (usize, &SiteSpec)| {
            spec.managed(index, seed, replication, rule, typical)
        };
        let mut machine = self.machine.clone();
        for (site, speed) in machine.iter_mut().zip(self.speeds(replication).unwrap_or_default()) {
            site.speed = speed;
        }
        let sites: Result<Vec<ManagedSite>, Problem> =
            machine.iter().enumerate().map(managed).collect();
        let sizing = self.params.component("sizing", &sizing::FAMILY);
        let selector = self.params.component("selector", &select::FAMILY);
        Ok(Facility::new(
            sites?,
            (self.parts.sizing.0.build)(&sizing, &self.topologies())?,
            (self.parts.selector.0.build)(&selector)?,
            Stream::new(seed, replication, "selector"),
        ))
    }

    /// Estimates the memory of a run before its first job arrives, in bytes, without allocating it.
    /// The estimate covers the machine, the network and the buffer in which a log is sorted. Later,
    /// memory grows with the jobs in the system. For the machine, the bytes per processor were
    /// measured with the most demanding allocator.
    ///
    /// ```
    /// use meshwork::scenario::Scenario;
    /// let scenario = Scenario::read(&toml::toml! {
    ///     machine = { topology = "torus", dims = [256, 256, 128] }
    ///     network = "wormhole"
    ///     workload = { name = "lublin" }
    ///     measure = { jobs = 10 }
    /// })
    /// .unwrap();
    /// assert!(scenario.memory() > 8 << 30);
    /// ```
    #[must_use]
    pub fn memory(&self) -> u64 {
        let nodes = |site: &SiteSpec| u64::from(site.topology.grid().nodes());
        let machine: u64 = self.machine.iter().map(nodes).sum::<u64>() * BYTES_PER_NODE;
        // A scenario whose network cannot be built has been refused when it was read.
        let network = self.network_memory().unwrap_or(0);
        let workload = self.params.component("workload", &workload::FAMILY);
        let held = if workload.name() == "swf" { workload.integer("reorder") } else { 0 };
        machine.saturating_add(network).saturating_add(held * BYTES_PER_HELD_JOB)
    }

    /// Additional memory of a run, in bytes, if its workload is a file with `rows` rows.
    ///
    /// A table of jobs is held in memory as a whole. Other files are held only if their jobs are
    /// shuffled, resampled, or submitted after the ends of other jobs.
    #[must_use]
    pub fn memory_of_rows(&self, rows: u64) -> u64 {
        let workload = self.params.component("workload", &workload::FAMILY);
        let of_table = if workload.name() == "table" { rows } else { 0 };
        let first = workload.get_integer("first_jobs").unwrap_or(rows);
        let held = workload.flag("shuffle")
            || workload.has("resample")
            || workload::follow_others(&workload);
        let held = if held { rows.min(first) } else { 0 };
        (of_table + held).saturating_mul(BYTES_PER_WHOLE_JOB)
    }

    fn network_memory(&self) -> Result<u64, Problem> {
        let network = self.params.component("network", &network::FAMILY);
        let machine = NetworkContext { topologies: &self.topologies(), seed: 0, replication: 0 };
        (self.parts.network.0.memory)(&network, &machine)
    }
}

/// Converts a problem to an error that reports a bug.
///
/// Scenarios are checked when they are read, so a problem found later is a bug.
fn bug(problem: Problem) -> RunError {
    RunError::Bug(problem.message)
}

fn in_order(mut table: Table) -> Table {
    let mut ordered = Table::new();
    let keys = PARAMS.iter().map(|param| param.name);
    for key in ["seed", "machine"].into_iter().chain(keys) {
        if let Some(value) = table.remove(key) {
            ordered.insert(key.to_owned(), value);
        }
    }
    debug_assert!(table.is_empty(), "every key has a place: {}", join("", "scenario"));
    ordered
}

fn recorder(
    measure: &Params,
    metrics: Vec<(&'static MetricEntry, Params)>,
    machine: &[Topology],
) -> Recorder {
    let window = Window {
        warmup_jobs: measure.integer("warmup_jobs"),
        warmup_time: measure.number("warmup_time"),
        jobs: measure.get_integer("jobs"),
        rules: Rules {
            slowdown_threshold: measure.number("slowdown_threshold"),
            params: Params::of_resolved(&Standard, "", Table::new(), ""),
        },
        by_size: measure.meaning("by_size", &BY_SIZE),
        by_owner: OwnerAttribute::ALL.into_iter().filter(|by| measure.flag(by.key())).collect(),
    };
    Recorder::new(window, metrics, machine)
}

struct Seen {
    recorder: Recorder,
    ledger: Ledger,
    gauges: Gauges,
    end: Time,
    speeds: Vec<f64>,
}

impl Seen {
    fn outcome(self) -> Outcome {
        let Seen { recorder, gauges, end, speeds, .. } = self;
        let totals = *recorder.totals();
        let mut metrics = recorder.measured();
        gauges.read(&mut metrics);
        Outcome {
            metrics,
            by_size: recorder.by_size(),
            by_owner: recorder.by_owner(),
            finished: totals.finished,
            refused: totals.refused,
            unusable: totals.unusable,
            end,
            speeds,
            cut: recorder.cut(),
        }
    }
}

struct Watchers<'a> {
    recorder: &'a mut Recorder,
    ledger: &'a mut Ledger,
    other: &'a mut dyn Observer,
}

impl Observer for Watchers<'_> {
    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
        self.recorder.elapsed(from, to, state);
        self.ledger.elapsed(from, to, state);
        self.other.elapsed(from, to, state);
    }

    fn asks_why_jobs_wait(&self) -> bool {
        self.recorder.asks_why_jobs_wait() || self.other.asks_why_jobs_wait()
    }

    fn asks_where_jobs_run(&self) -> bool {
        // The ledger only counts nodes, so that it needs no identities.
        self.recorder.asks_where_jobs_run() || self.other.asks_where_jobs_run()
    }

    fn asks_what_blocks(&self) -> bool {
        self.recorder.asks_what_blocks() || self.other.asks_what_blocks()
    }

    fn waited(&mut self, from: Time, to: Time, id: JobId, cause: Cause) {
        self.recorder.waited(from, to, id, cause);
        self.other.waited(from, to, id, cause);
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        self.recorder.observe(now, event);
        self.ledger.observe(now, event);
        self.other.observe(now, event);
    }

    fn is_done(&self) -> bool {
        self.recorder.is_done() || self.other.is_done()
    }
}
