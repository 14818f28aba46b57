//! Networks: how long a placed job takes. They own the question "who finishes next?".

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

/// A running job, as the engine and the network name it. Orders by arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey {
    /// The job.
    pub id: JobId,
    /// A small number that no other running job has, for arrays.
    pub slot: u32,
}

/// An instant of a network's own clock, in cycles: the time in which a flit crosses a link.
pub type Cycle = u64;

/// How much a job still has to do, and how fast it does it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Units of time it would take at rate 1.
    pub left: f64,
    /// How fast it works; above 0.
    pub rate: f64,
}

/// Why a network cannot run a job, or cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The pattern of communication is not for so many processes.
    #[error(
        "the pattern `{pattern}` needs a number of processors that is a power of two, and a job has \
         {processes}"
    )]
    Pattern {
        /// The name of the pattern.
        pattern: String,
        /// How many processes the job has.
        processes: u64,
    },
    /// Messages need links, and a flat machine has none that could be simulated.
    #[error(
        "messages need links between processors, and the machine is a {machine}: a mesh, torus or \
         hypercube has them"
    )]
    NoLinks {
        /// The topology.
        machine: String,
    },
    /// What any other network has to say, in one sentence.
    #[error("{0}")]
    Other(String),
}

/// How long placed jobs take.
pub trait Network: Send {
    /// A job begins to run.
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

    /// A running job goes on from here on other processors, or at another rate: it keeps the work
    /// it has left, and `more` is added to it.
    fn change(
        &mut self,
        now: Time,
        run: RunKey,
        more: f64,
        rate: f64,
        site: usize,
        placement: &Placement,
    );

    /// The next job to finish, and when. Jobs that finish at one instant do so in order of
    /// arrival.
    ///
    /// Nothing else happens before the instant `by`, or ever without one: a network that has to be
    /// simulated goes on no further, and may answer `None` for a job that finishes later.
    ///
    /// # Errors
    /// If it cannot go on.
    fn next_finish(&mut self, by: Option<Time>) -> Result<Option<(Time, RunKey)>, NetworkError>;

    /// The job that was next has finished: what became of its messages, where jobs send any.
    fn finish(&mut self, now: Time, run: RunKey) -> Option<Box<Messages>>;

    /// A running job is stopped before its end: an outage has taken nodes from it. It may start again later, as the
    /// same job. Unless a network says otherwise nothing of it stays behind, as when it finishes.
    fn stop(&mut self, now: Time, run: RunKey) {
        self.finish(now, run);
    }

    /// Whether it goes by which nodes jobs hold.
    fn goes_by_nodes(&self) -> bool {
        true
    }

    /// Directed links between processors; 0 where there are no messages.
    fn links(&self) -> usize {
        0
    }
}

/// What a network is built for: the machine of a run, and the numbers that its random streams are made
/// from.
#[derive(Clone, Copy, Debug)]
pub struct NetworkContext<'a> {
    /// The topology of each site.
    pub topologies: &'a [Topology],
    /// The seed of the scenario.
    pub seed: u64,
    /// The replication.
    pub replication: u64,
}

/// A network in the list.
pub struct NetworkEntry {
    /// What it says of itself.
    pub about: About,
    /// Whether its jobs send messages.
    pub sends: bool,
    /// About how many bytes the model takes, without building it; refuses what it would refuse.
    pub memory: fn(&Params, &NetworkContext<'_>) -> Result<u64, Problem>,
    /// The model.
    pub build: fn(&Params, &NetworkContext<'_>) -> Result<Box<dyn Network>, Problem>,
}

impl Named for NetworkEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// Every network.
pub static NETWORKS: &[&NetworkEntry] =
    &[&ideal::ENTRY, &hops::ENTRY, &link_load::ENTRY, &wormhole::ENTRY];

/// Networks, as a family of names.
pub static FAMILY: Family =
    Family { kind: "network", key: "name", entries: || abouts(NETWORKS), common: &[] };
