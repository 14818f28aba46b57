//! Networks: models of how long placed jobs run. They determine which job finishes next.

mod alone;
mod ends;
mod flow;
pub mod hops;
pub mod ideal;
pub mod link_load;
mod messaging;
pub mod pattern;
pub mod traffic;
pub mod wormhole;

use crate::job::Time;
use crate::machine::Placement;
use crate::observe::{JobId, Messages};
use crate::registry::{About, Family, Params, Problem, abouts, named};
use crate::topology::Topology;
pub(crate) use ends::{Ending, Ends};

/// Identifies a running job to the engine and to the network. Keys are ordered by the jobs'
/// arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey {
    /// Identifier of the job.
    pub id: JobId,
    /// A small number unique among running jobs, for use as an array index.
    pub slot: u32,
}

/// An instant of a network's own clock, in cycles; a flit crosses a link in one cycle.
pub type Cycle = u64;

/// The work that a running job still has to do, and the rate at which it does this work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Remaining work, in units of time at rate 1.
    pub left: f64,
    /// Work that the job does per unit of time; above 0.
    pub rate: f64,
}

/// Reasons why a network cannot run or continue a job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// Error: the communication pattern is not defined for this number of processes.
    #[error(
        "the pattern `{pattern}` needs a number of processors that is a power of two, and a job has \
         {processes}"
    )]
    Pattern {
        /// The name of the communication pattern.
        pattern: String,
        /// Number of processes of the job.
        processes: u64,
    },
    /// Error: jobs send messages, but the machine is flat and has no links that could be simulated.
    #[error(
        "messages need links between processors, and the machine is a {machine}: a mesh, torus or \
         hypercube has them"
    )]
    NoLinks {
        /// The topology of the machine, in words.
        machine: String,
    },
    /// Any problem that has no variant of its own, as one sentence.
    #[error("{0}")]
    Other(String),
}

/// A model of how long placed jobs run.
pub trait Network: Send {
    /// Starts a job.
    ///
    /// # Errors
    /// If this network cannot run the job.
    fn start(
        &mut self,
        now: Time,
        run: RunKey,
        work: Work,
        site: usize,
        placement: &Placement,
    ) -> Result<(), NetworkError>;

    /// Continues a running job on other processors or at another rate. The job keeps its remaining
    /// work, to which `more` is added.
    fn change(
        &mut self,
        now: Time,
        run: RunKey,
        more: f64,
        rate: f64,
        site: usize,
        placement: &Placement,
    );

    /// The job that finishes next, and the instant at which it finishes. Of jobs that finish at one
    /// instant, the one that arrived first is returned. The caller promises that nothing happens to
    /// the network before the instant `by`, such as the start of a job. If `by` is `None`, nothing
    /// happens at all. A network that must be simulated advances no further than `by`. It may
    /// return `None` if no job finishes by then.
    ///
    /// # Errors
    /// If the network cannot continue.
    fn next_finish(&mut self, by: Option<Time>) -> Result<Option<(Time, RunKey)>, NetworkError>;

    /// Ends the job that is next to finish; returns its message statistics if jobs send messages.
    fn finish(&mut self, now: Time, run: RunKey) -> Option<Box<Messages>>;

    /// Stops a running job before its end, because of an outage or a preemption. The job may start
    /// again later under the same identifier. By default, the job is removed like a finished one.
    fn stop(&mut self, now: Time, run: RunKey) {
        self.finish(now, run);
    }

    /// Whether run times depend on which nodes jobs hold.
    fn goes_by_nodes(&self) -> bool {
        true
    }

    /// Number of directed links between processors; 0 if jobs send no messages.
    fn links(&self) -> usize {
        0
    }
}

/// Inputs for building a network: the machine of a run, and the seeds of the run's random streams.
#[derive(Clone, Copy, Debug)]
pub struct NetworkContext<'a> {
    /// The topology of each site.
    pub topologies: &'a [Topology],
    /// The seed of the scenario.
    pub seed: u64,
    /// Index of the replication, from 0.
    pub replication: u64,
}

/// Registry entry of a network.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct NetworkEntry {
    /// Name, definition and parameters of the network.
    pub about: About,
    /// Whether jobs on this network send messages.
    pub sends: bool,
    /// Whether jobs that share nodes may send messages. Each piece of such a job is then a process.
    pub shares: bool,
    /// Estimates the memory of the network in bytes, without building the network. Fails in every
    /// case in which `build` fails.
    pub memory: fn(&Params, &NetworkContext<'_>) -> Result<u64, Problem>,
    /// Builds the network for a machine.
    pub build: fn(&Params, &NetworkContext<'_>) -> Result<Box<dyn Network>, Problem>,
}

impl NetworkEntry {
    /// Creates the registry entry of a network that sends no messages and needs hardly any memory.
    #[must_use]
    pub const fn new(
        about: About,
        build: fn(&Params, &NetworkContext<'_>) -> Result<Box<dyn Network>, Problem>,
    ) -> NetworkEntry {
        NetworkEntry { about, build, sends: false, shares: false, memory: |_, _| Ok(0) }
    }

    /// Replaces name, definition and parameters of the network's registry entry.
    #[must_use]
    pub const fn described(mut self, about: About) -> NetworkEntry {
        self.about = about;
        self
    }

    /// Replaces the function that builds the network.
    #[must_use]
    pub const fn build(
        mut self,
        build: fn(&Params, &NetworkContext<'_>) -> Result<Box<dyn Network>, Problem>,
    ) -> NetworkEntry {
        self.build = build;
        self
    }

    /// Sets whether jobs on this network send messages.
    #[must_use]
    pub const fn sends(mut self, sends: bool) -> NetworkEntry {
        self.sends = sends;
        self
    }

    /// Sets whether jobs that share nodes may send messages.
    #[must_use]
    pub const fn shares(mut self, shares: bool) -> NetworkEntry {
        self.shares = shares;
        self
    }

    /// Sets the function that estimates the memory of the network in bytes.
    #[must_use]
    pub const fn memory(
        mut self,
        memory: fn(&Params, &NetworkContext<'_>) -> Result<u64, Problem>,
    ) -> NetworkEntry {
        self.memory = memory;
        self
    }
}

named!(NetworkEntry);

/// All networks of this crate.
pub static NETWORKS: &[&NetworkEntry] =
    &[&ideal::ENTRY, &hops::ENTRY, &link_load::ENTRY, &wormhole::ENTRY];

/// The family of networks, which a study selects by name.
pub static FAMILY: Family =
    Family { kind: "network", key: "name", entries: || abouts(NETWORKS), common: &[] };
