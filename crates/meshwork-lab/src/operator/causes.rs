//! What jobs wait for while a history happens: of every second of a wait one cause.
//!
//! A job that could start waits for its turn from when room was made last until backfill has looked at it; since backfill has
//! then left it behind, nodes are reserved for others.

use std::collections::BTreeMap;

use super::history::Second;
use crate::slurm::desk::SlurmAnswer;
use meshwork::alloc::listed::Wait;
use meshwork::job::Cause;

/// How long a stay waited for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitsByCause {
    seconds: [Second; 4],
}

impl WaitsByCause {
    /// The seconds that it waited for one cause.
    #[must_use]
    pub fn seconds(&self, cause: Cause) -> Second {
        self.seconds[cause as usize]
    }

    /// The seconds that it waited for all.
    #[must_use]
    pub fn all(&self) -> Second {
        self.seconds.iter().sum()
    }
}

/// What a kind of job would be told by the machine as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Nodes,
    Shape,
    Start,
}

/// Adds up waits, instant by instant.
#[derive(Clone, Debug)]
pub(super) struct Causes {
    waited: Vec<WaitsByCause>,
    /// The answers to each kind of request. Jobs that ask for the same in the same partition are of
    /// one kind.
    answers: BTreeMap<usize, Answer>,
    /// To which state of the machine the answers belong.
    changes: u64,
    /// Who waits for what since when.
    now: Vec<(usize, Cause)>,
    since: Second,
}

impl Causes {
    pub(super) fn new(jobs: usize) -> Causes {
        Causes {
            waited: vec![WaitsByCause::default(); jobs],
            answers: BTreeMap::new(),
            changes: 0,
            now: Vec::new(),
            since: 0,
        }
    }

    /// Until this second everybody waits for what they waited for.
    pub(super) fn pass(&mut self, now: Second) {
        for &(place, cause) in &self.now {
            self.waited[place].seconds[cause as usize] += now - self.since;
        }
        self.since = now;
    }

    /// Asks what each of those who wait, given with their kinds, waits for from now on. `changes` counts those of the machine, `ask` is the
    /// machine's own answer, and `has_looked` says whether backfill has left a job behind as things are.
    ///
    /// # Complexity
    /// One question for each kind of job that waits after each change, and **O(q)** for *q* that wait.
    pub(super) fn look(
        &mut self,
        queue: impl Iterator<Item = (usize, usize)>,
        changes: u64,
        ask: &dyn Fn(usize) -> SlurmAnswer,
        has_looked: &dyn Fn(usize) -> bool,
    ) {
        if changes != self.changes {
            self.answers.clear();
            self.changes = changes;
        }
        self.now.clear();
        for (place, kind) in queue {
            let answer = self.answers.entry(kind).or_insert_with(|| match ask(place) {
                SlurmAnswer::Nodes(_) => Answer::Start,
                SlurmAnswer::Wait(Wait::Shape, _) => Answer::Shape,
                // One that is refused is told so when its turn has come.
                SlurmAnswer::Wait(Wait::Nodes, _) | SlurmAnswer::Never(_) => Answer::Nodes,
            });
            let cause = match answer {
                Answer::Nodes => Cause::Nodes,
                Answer::Shape => Cause::Shape,
                Answer::Start if has_looked(place) => Cause::Reserved,
                Answer::Start => Cause::Priority,
            };
            self.now.push((place, cause));
        }
    }

    /// How long each stay waited for what, those that wait still up to the last instant.
    pub(super) fn into_waited(self) -> Vec<WaitsByCause> {
        self.waited
    }
}
