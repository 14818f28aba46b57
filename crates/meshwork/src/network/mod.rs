//! Networks: how long a placed job takes. They own the question "who finishes next?".

pub mod ideal;
pub mod traffic;
pub mod wormhole;

use crate::job::Time;
use crate::machine::Placement;
use crate::observe::JobId;
use crate::registry::{About, Family, Named, Params, Problem, abouts};

/// A running job, as the engine and the network name it. Orders by arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey {
    /// The job.
    pub id: JobId,
    /// A small number that no other running job has, for arrays.
    pub slot: u32,
}

/// How much a job still has to do, and how fast it does it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Units of time it would take at rate 1.
    pub left: f64,
    /// How fast it works; above 0.
    pub rate: f64,
}

/// How long placed jobs take.
pub trait Network {
    /// A job begins to run.
    fn start(&mut self, now: Time, run: RunKey, work: Work, site: usize, placement: &Placement);

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
    fn next_finish(&mut self) -> Option<(Time, RunKey)>;

    /// The job that was next has finished.
    fn finish(&mut self, now: Time, run: RunKey);
}

/// A network in the list.
pub struct NetworkEntry {
    /// What it says of itself.
    pub about: About,
    /// The model.
    pub build: fn(&Params) -> Result<Box<dyn Network>, Problem>,
}

impl Named for NetworkEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// Every network.
pub static NETWORKS: &[&NetworkEntry] = &[&ideal::ENTRY];

/// Networks, as a family of names.
pub static FAMILY: Family =
    Family { kind: "network", key: "name", entries: || abouts(NETWORKS), common: &[] };
