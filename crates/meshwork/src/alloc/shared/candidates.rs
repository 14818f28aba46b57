//! Candidates: nodes on which at least a part of a job fits, on a machine with switches or blocks.

use crate::geometry::NodeSet;

use super::choose::{Attempt, Leave, Missing};

/// Nodes that one attempt to place a job may take, below one switch or in one block.
pub(super) struct Candidates {
    /// Nodes on which at least a part of the job fits.
    pub all: NodeSet,
    /// Candidates that must be taken first, because candidates of higher weight are needed too.
    pub forced: NodeSet,
    /// Number of candidates below each switch of a tree; `None` if it is not known yet.
    pub below: Option<Vec<i64>>,
    /// Whether all candidates together have enough nodes, CPUs and GPUs for the job.
    pub are_enough: bool,
}

impl Candidates {
    /// Collects candidate nodes in order of weight, the lightest first, until they suffice for the
    /// job.
    pub(super) fn collect(
        attempt: &mut Attempt<'_>,
        weights: &[(u64, Vec<u32>)],
        inside: &NodeSet,
        missing: &Missing,
    ) -> Candidates {
        let count = attempt.machine.count();
        let (mut all, mut forced) = (NodeSet::empty(count), NodeSet::empty(count));
        let (mut nodes, mut cpus, mut gpus) = (0, 0, 0);
        let counts = attempt.counts_gpus();
        let (mut are_enough, mut are_complete) = (false, false);
        for (_, class) in weights {
            if are_complete {
                break;
            }
            if nodes > 0 {
                forced.unite(&all);
            }
            for &node in class.iter().filter(|node| inside.contains(**node)) {
                let own = attempt.select_cores(node, missing.nodes_at_least);
                if own == 0 {
                    continue;
                }
                all.insert(node);
                cpus += i64::from(own);
                nodes += 1;
                gpus += if counts { attempt.fit(node).gpus } else { 0 };
            }
            let rest = cpus >= missing.cpus && (!counts || attempt.gpus_suffice(gpus));
            are_enough = are_enough || rest && attempt.enough_nodes(nodes, missing.nodes);
            are_complete = rest && nodes >= missing.nodes;
        }
        Candidates { all, forced, below: None, are_enough }
    }

    /// Takes the candidates that must be taken first. Returns the result if this ends the attempt.
    ///
    /// Candidates from which the job can take nothing are removed.
    pub(super) fn take_forced(
        &mut self,
        attempt: &mut Attempt<'_>,
        missing: &mut Missing,
    ) -> Option<Result<(), Leave>> {
        let mut given_up = Vec::new();
        for node in self.forced.iter() {
            if attempt.nodes_left <= 0 {
                break;
            }
            attempt.examine(node);
            if attempt.take(node, attempt.fit(node).usable, missing) == 0 {
                given_up.push(node);
            }
        }
        given_up.into_iter().for_each(|node| self.forced.remove(node));
        attempt.map.unite(&self.forced);
        if attempt.is_done(missing) {
            return Some(Ok(()));
        }
        (attempt.nodes_left <= 0).then_some(Err(Leave::OneOfThese))
    }
}
