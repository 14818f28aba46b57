//! Round of runs: the replications that scenarios lack. They are numbered, but not stored as a
//! list.

use std::ops::Range;

use crate::run::runs::ScenarioRuns;

pub(super) struct Round {
    /// For each scenario, the index of its first run in the round, and the replication of this run.
    ///
    /// The last entry belongs to no scenario: its index is the number of all runs of the round.
    begins: Vec<(usize, u64)>,
}

impl Round {
    pub(super) fn of(runs: &[ScenarioRuns], wanted: &[u64]) -> Round {
        let mut total = 0;
        let mut begins = Vec::with_capacity(runs.len() + 1);
        for (runs, &wanted) in runs.iter().zip(wanted) {
            let have = runs.len() as u64;
            begins.push((total, have));
            total += usize::try_from(wanted.saturating_sub(have)).unwrap_or(usize::MAX);
        }
        begins.push((total, 0));
        Round { begins }
    }

    pub(super) fn len(&self) -> usize {
        self.begins.last().map_or(0, |&(total, _)| total)
    }

    pub(super) fn replications(&self, point: usize) -> Range<u64> {
        let (begin, have) = self.begins[point];
        have..have + (self.begins[point + 1].0 - begin) as u64
    }

    /// Scenario and replication of the run with a given number in a round. **O(log n)** for *n*
    /// scenarios.
    pub(super) fn run(&self, number: usize) -> (usize, u64) {
        let point = self.begins.partition_point(|&(begin, _)| begin <= number) - 1;
        let (begin, have) = self.begins[point];
        (point, have + (number - begin) as u64)
    }
}
