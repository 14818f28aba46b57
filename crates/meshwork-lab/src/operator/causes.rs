//! Causes of waits during a replay: each second of a wait has one cause.
//!
//! A job that could start has the cause `Priority` from the last time that nodes became free until
//! backfill has considered it. If backfill did not start it, it has the cause `Reserved` from then
//! on, since nodes are reserved for other jobs.

use std::collections::BTreeMap;

use super::history::Second;
use crate::slurm::desk::SlurmAnswer;
use meshwork::alloc::listed::Wait;
use meshwork::job::Cause;

/// The seconds that a job waited, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitsByCause {
    seconds: [Second; 4],
}

impl WaitsByCause {
    /// The seconds of waiting for one cause.
    #[must_use]
    pub fn seconds(&self, cause: Cause) -> Second {
        self.seconds[cause as usize]
    }

    /// The seconds of waiting for all causes.
    #[must_use]
    pub fn all(&self) -> Second {
        self.seconds.iter().sum()
    }
}

/// The answer that a kind of request would get from the machine in its present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Nodes,
    Shape,
    Start,
}

/// Accumulates waits, instant by instant.
#[derive(Clone, Debug)]
pub(super) struct Causes {
    waited: Vec<WaitsByCause>,
    /// The answers by kind of request. Equal requests in one partition are of one kind.
    answers: BTreeMap<usize, Answer>,
    /// The number of changes of the machine for which the answers hold.
    changes: u64,
    /// The cause for which each waiting job waits since `since`.
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

    /// Adds the time since the last instant to the waits, each under its present cause.
    pub(super) fn pass(&mut self, now: Second) {
        for &(place, cause) in &self.now {
            self.waited[place].seconds[cause as usize] += now - self.since;
        }
        self.since = now;
    }

    /// Determines the cause of each waiting job from now on.
    ///
    /// `queue` gives the index and the kind of each job, and `changes` counts the changes of the
    /// machine. `ask` returns the machine's answer, and `has_looked` whether backfill has
    /// considered a job without starting it since nodes last became free.
    ///
    /// # Complexity
    /// One query for each kind of waiting job after each change, and **O(q)** for *q* waiting jobs.
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
                // A request that can never fit is refused when it is considered; until then it
                // lacks nodes.
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

    /// The waits of each job by cause; unfinished waits count up to the last instant.
    pub(super) fn into_waited(self) -> Vec<WaitsByCause> {
        self.waited
    }
}
