//! Causes of waits during a replay: each second of a job's wait has one cause.
//!
//! If a job could start, the cause is `Priority` until backfill considers the job in vain. From
//! then on, the cause is `Reserved`. When further nodes become free, backfill must consider the job
//! anew.

use std::collections::BTreeMap;

use meshwork::alloc::listed::Wait;
use meshwork::job::Cause;
use meshwork_slurm::desk::SlurmAnswer;
use meshwork_slurm::history::Second;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitsByCause {
    seconds: [Second; 4],
}

impl WaitsByCause {
    pub fn seconds(&self, cause: Cause) -> Second {
        self.seconds[cause as usize]
    }

    pub fn all(&self) -> Second {
        self.seconds.iter().sum()
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Causes {
    waited: Vec<WaitsByCause>,
    /// For each kind of request, what it lacks: nodes, or a free shape; `None` if it could be
    /// placed. Requests of one kind differ at most in their time limits.
    lacks: BTreeMap<usize, Option<Cause>>,
    changes: u64,
    /// Waiting jobs, each with the cause for which it has waited since the time `since`.
    now: Vec<(usize, Cause)>,
    since: Second,
}

impl Causes {
    pub(super) fn new(jobs: usize) -> Causes {
        Causes { waited: vec![WaitsByCause::default(); jobs], ..Causes::default() }
    }

    pub(super) fn pass(&mut self, now: Second) {
        for &(place, cause) in &self.now {
            self.waited[place].seconds[cause as usize] += now - self.since;
        }
        self.since = now;
    }

    /// Determines the cause of each job's wait, which holds until the next call. `queue` gives each
    /// waiting job with the kind of its request. Requests of one kind differ at most in their time
    /// limits. `changes` is the number of changes of the machine so far. `ask` queries the
    /// allocator for a job. `has_looked` returns whether backfill has considered a job in vain
    /// since nodes last became free.
    pub(super) fn look(
        &mut self,
        queue: impl Iterator<Item = (usize, usize)>,
        changes: u64,
        ask: &dyn Fn(usize) -> SlurmAnswer,
        has_looked: &dyn Fn(usize) -> bool,
    ) {
        if changes != self.changes {
            self.lacks.clear();
            self.changes = changes;
        }
        self.now.clear();
        for (place, kind) in queue {
            let lacks = *self.lacks.entry(kind).or_insert_with(|| match ask(place) {
                SlurmAnswer::Nodes(_) => None,
                SlurmAnswer::Wait(Wait::Shape, _) => Some(Cause::Shape),
                // A request that can never fit is refused once a scheduler considers it.
                SlurmAnswer::Wait(Wait::Nodes, _) | SlurmAnswer::Never(_) => Some(Cause::Nodes),
            });
            let delay = || if has_looked(place) { Cause::Reserved } else { Cause::Priority };
            self.now.push((place, lacks.unwrap_or_else(delay)));
        }
    }

    /// For each job, the seconds of its wait by cause, up to the last call of `pass`.
    pub(super) fn into_waited(self) -> Vec<WaitsByCause> {
        self.waited
    }
}
