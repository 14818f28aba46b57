//! Networks: models of how long placed jobs run, which determine the next job to finish.

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
use crate::registry::{About, Family, Named, Params, Problem, abouts};
use crate::topology::Topology;
pub(crate) use ends::{Ending, Ends};

/// A running job, as identified by the engine and the network. Orders by arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey {
    /// The job.
    pub id: JobId,
    /// A small number unique among running jobs, for use as an array index.
    pub slot: u32,
}

/// An instant of a network's own clock in cycles; a flit crosses a link in one.
pub type Cycle = u64;

/// The remaining work of a job, and its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Remaining work, in units of time at rate 1.
    pub left: f64,
    /// Work done per unit of time; above 0.
    pub rate: f64,
}

/// Reasons why a network cannot run or continue a job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The communication pattern is not defined for this number of processes.
    #[error(
        "the pattern `{pattern}` needs a number of processors that is a power of two, and a job has \
         {processes}"
    )]
    Pattern {
        /// The name of the pattern.
        pattern: String,
        /// Number of processes of the job.
        processes: u64,
    },
    /// Messages need links, and a flat machine has none that could be simulated.
    #[error(
        "messages need links between processors, and the machine is a {machine}: a mesh, torus or \
         hypercube has them"
    )]
    NoLinks {
        /// The topology, in words.
        machine: String,
    },
    /// Any other error of a network, as one sentence.
    #[error("{0}")]
    Other(String),
}

/// A model of how long placed jobs run.
pub trait Network: Send {
    /// Starts a job.
    ///
    /// # Errors
    /// If this network cannot run such a job.
    fn start(
        &mut self,
        now: Time,
        run: RunKey,
        work: Work,
        site: usize,
        placement: &Placement,
    ) -> Result<(), NetworkError>;

    /// Continues a running job on other processors or at another rate. It keeps its remaining work,
    /// and `more` is added to it.
    fn change(
        &mut self,
        now: Time,
        run: RunKey,
        more: f64,
        rate: f64,
        site: usize,
        placement: &Placement,
    );

    /// The next job to finish, and when; simultaneous jobs finish in order of arrival. No other
    /// event happens before the instant `by`, or at all if it is `None`. A network that must be
    /// simulated advances no further than `by`, and may return `None` for a job that finishes
    /// later.
    ///
    /// # Errors
    /// If the network cannot continue.
    fn next_finish(&mut self, by: Option<Time>) -> Result<Option<(Time, RunKey)>, NetworkError>;

    /// Ends the job that was next to finish; returns its message statistics if jobs send messages.
    fn finish(&mut self, now: Time, run: RunKey) -> Option<Box<Messages>>;

    /// Stops a running job before its end, because an outage has taken nodes from it. It may start
    /// again later, as the same job. By default it is removed as if it had finished.
    fn stop(&mut self, now: Time, run: RunKey) {
        self.finish(now, run);
    }

    /// Whether it depends on which nodes jobs hold.
    fn goes_by_nodes(&self) -> bool {
        true
    }

    /// Number of directed links between processors; 0 if there are no messages.
    fn links(&self) -> usize {
        0
    }
}

/// Inputs for building a network: the machine of a run, and the seeds of its random streams.
#[derive(Clone, Copy, Debug)]
pub struct NetworkContext<'a> {
    /// The topology of each site.
    pub topologies: &'a [Topology],
    /// The seed of the scenario.
    pub seed: u64,
    /// Index of the replication.
    pub replication: u64,
}

/// Registry entry of a network.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct NetworkEntry {
    /// Name, definition and parameters.
    pub about: About,
    /// Whether its jobs send messages.
    pub sends: bool,
    /// Whether jobs that share nodes may send: each piece is a process there.
    pub shares: bool,
    /// Approximate memory of the model in bytes, without building it; fails where `build` would.
    pub memory: fn(&Params, &NetworkContext<'_>) -> Result<u64, Problem>,
    /// Builds the model.
    pub build: fn(&Params, &NetworkContext<'_>) -> Result<Box<dyn Network>, Problem>,
}

impl NetworkEntry {
    /// Creates an entry without messages, whose model takes hardly any memory.
    #[must_use]
    pub const fn new(
        about: About,
        build: fn(&Params, &NetworkContext<'_>) -> Result<Box<dyn Network>, Problem>,
    ) -> NetworkEntry {
        NetworkEntry { about, build, sends: false, shares: false, memory: |_, _| Ok(0) }
    }

    /// Replaces the description.
    #[must_use]
    pub const fn described(mut self, about: About) -> NetworkEntry {
        self.about = about;
        self
    }

    /// Replaces the function that builds it.
    #[must_use]
    pub const fn build(
        mut self,
        build: fn(&Params, &NetworkContext<'_>) -> Result<Box<dyn Network>, Problem>,
    ) -> NetworkEntry {
        self.build = build;
        self
    }

    /// Sets whether its jobs send messages.
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

    /// Sets the function that estimates its memory in bytes.
    #[must_use]
    pub const fn memory(
        mut self,
        memory: fn(&Params, &NetworkContext<'_>) -> Result<u64, Problem>,
    ) -> NetworkEntry {
        self.memory = memory;
        self
    }
}

impl Named for NetworkEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// All networks.
pub static NETWORKS: &[&NetworkEntry] =
    &[&ideal::ENTRY, &hops::ENTRY, &link_load::ENTRY, &wormhole::ENTRY];

/// A network without message costs.
pub(crate) fn ideal() -> Box<dyn Network> {
    Box::new(ideal::Ideal::default())
}

/// Networks as a family of names.
pub static FAMILY: Family =
    Family { kind: "network", key: "name", entries: || abouts(NETWORKS), common: &[] };
