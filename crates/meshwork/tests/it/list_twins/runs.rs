//! Slow reference implementation of the rule for runs of consecutive nodes on flat machines.

use super::{Failed, Job, Misread, Set, Tried};

struct Run {
    nodes: Vec<u32>,
    /// In a run of consecutive nodes, the number of nodes that the job does not require by name.
    free: u32,
    /// Required node at which the selection in a run of consecutive nodes begins.
    ///
    /// `None` if the job requires no node of this run.
    turn: Option<u32>,
    weight: u32,
}

pub(crate) fn rule(
    weights: &[u32],
    job: &Job,
    required: &Set,
    free: &Set,
    misread: Misread,
) -> Tried {
    let contiguous = job.contiguous && misread != Misread::ContiguousIgnored;
    let want = if misread == Misread::LeastOfRange { job.nodes } else { job.most };
    let spare = want - job.nodes;
    let mut chosen = required.clone();
    let missing = |chosen: &Set| want.saturating_sub(chosen.len() as u32);
    if missing(&chosen) == 0 {
        return Ok(chosen);
    }
    if misread == Misread::NoRuns {
        chosen.extend(
            free.iter()
                .copied()
                .filter(|node| !required.contains(node))
                .take(missing(&chosen) as usize),
        );
        return if chosen.len() as u32 >= job.nodes {
            Ok(chosen)
        } else {
            Err(Failed::WithoutNext)
        };
    }
    let mut all: Vec<Run> = Vec::new();
    let mut before: Option<u32> = None;
    let mut after_a_change = false;
    for &node in free {
        let weight = weights[node as usize];
        if before.is_none_or(|last| last + 1 != node) {
            all.push(Run { nodes: Vec::new(), free: 0, turn: None, weight });
            after_a_change = false;
        }
        before = Some(node);
        let run = all.last_mut().unwrap();
        // Required nodes have no weight: only that of the last node that is not required counts.
        let is_weighed =
            run.free > 0 || misread == Misread::RequiredHaveWeights && !run.nodes.is_empty();
        let ignored = contiguous || misread == Misread::WeightsEndNoRun;
        if is_weighed && run.weight != weight && !ignored {
            all.push(Run { nodes: Vec::new(), free: 0, turn: None, weight });
            after_a_change = true;
        }
        let run = all.last_mut().unwrap();
        if run.free == 0 {
            // A run begins at its first node that is not required. Required nodes before it belong
            // to it only if no other run ends there.
            run.nodes.clear();
            if after_a_change && misread != Misread::RequiredKnownToTheNextRun {
                run.turn = None;
            }
        }
        run.nodes.push(node);
        if required.contains(&node) {
            run.turn = run.turn.or(Some(node));
        } else {
            run.free += 1;
        }
        if !required.contains(&node) || misread == Misread::RequiredHaveWeights {
            run.weight = weight;
        }
    }
    all.retain(|run| run.free > 0);
    'taking: loop {
        let enough = |run: &Run| run.free + spare >= missing(&chosen);
        let mut best: Option<usize> = None;
        for i in 0..all.len() {
            let run = &all[i];
            let holds = run.turn.is_some();
            if run.free > 0 && (!contiguous || required.is_empty() || holds) {
                let better = best.is_none_or(|best| {
                    let best = &all[best];
                    if misread == Misread::FirstRun {
                        return enough(run) && !enough(best);
                    }
                    let by_size = if enough(run) {
                        !enough(best) || run.free < best.free
                    } else {
                        run.free > best.free
                    };
                    holds && best.turn.is_none()
                        || run.weight < best.weight
                        || run.weight == best.weight && by_size
                        || contiguous && enough(run) && !enough(best)
                });
                if better {
                    best = Some(i);
                }
                let later = all[i + 1..].iter().any(|run| run.turn.is_some());
                if contiguous && !required.is_empty() && later {
                    break 'taking;
                }
            }
        }
        let Some(best) = best.filter(|&best| !contiguous || enough(&all[best])) else { break };
        let run = &mut all[best];
        let turn = run.turn.unwrap_or(run.nodes[0]);
        let upwards = run.nodes.iter().copied().filter(|&node| node >= turn);
        let downwards = run.nodes.iter().rev().copied().filter(|&node| node < turn);
        let taken: Vec<u32> =
            upwards.chain(downwards).filter(|node| !chosen.contains(node)).collect();
        run.free = 0;
        chosen.extend(taken.into_iter().take(missing(&chosen) as usize));
        if missing(&chosen) == 0 {
            return Ok(chosen);
        }
        if contiguous && misread == Misread::OneRunOfContiguous {
            break;
        }
    }
    if missing(&chosen) <= spare { Ok(chosen) } else { Err(Failed::WithoutNext) }
}
