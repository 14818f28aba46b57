//! Several shared nodes below the switches of a tree.

use crate::alloc::listed::tree::Tree;
use crate::geometry::NodeSet;

use super::candidates::Candidates;
use super::choose::{Attempt, Leave, Missing, classes};

/// Places a job below one switch, on few leaves that are near one another.
pub(super) fn place(attempt: &mut Attempt<'_>, list: &Tree) -> Result<(), Leave> {
    let mut missing = attempt.missing(false);
    let map = attempt.map.clone();
    if map.is_empty() {
        return Err(Leave::Stop);
    }
    let weights = classes(attempt, &map);
    let count = attempt.machine.count();
    let switches = list.switch_count();
    let cpus = list.sums(&map, |node| u64::from(attempt.fit(node).cpus));
    let below = list.counts(&map);
    // The lowest weight below each switch.
    let mut lowest = vec![None; switches];
    for (weight, class) in weights.iter().rev() {
        for (lowest, count) in lowest.iter_mut().zip(list.counts(&set_of(class, count))) {
            if count > 0 {
                *lowest = Some(*weight);
            }
        }
    }
    let mut top: Option<(usize, u64)> = None;
    for switch in 0..switches {
        let nodes = i64::from(below[switch]);
        if !attempt.enough_nodes(nodes, missing.nodes) || missing.cpus > cpus[switch] as i64 {
            continue;
        }
        let Some(weight) = lowest[switch] else { continue };
        if top.is_none_or(|(top, least)| list.level(switch) >= list.level(top) && weight <= least) {
            top = Some((switch, weight));
        }
    }
    attempt.map.clear();
    let (top, _) = top.ok_or(Leave::Stop)?;
    let mut found = Candidates::collect(attempt, &weights, list.nodes(top), &missing);
    if !found.are_enough {
        attempt.map.copy_from(&map);
        attempt.map.intersect(list.nodes(top));
        return Err(Leave::All);
    }
    let has_forced = !found.forced.is_empty();
    if has_forced && let Some(ended) = found.take_forced(attempt, &mut missing) {
        return ended;
    }
    let Candidates { all: mut candidates, forced, mut usable, .. } = found;
    candidates.unite(&attempt.map);
    let mut is_used: Vec<bool> =
        (0..switches).map(|switch| has_forced && list.nodes(switch).meets(&forced)).collect();
    candidates.intersect(list.nodes(top));
    let mut free: Vec<i64> = list.counts(&candidates).into_iter().map(i64::from).collect();
    if has_forced {
        let mut taken = 0;
        for &leaf in list.leaves() {
            if !is_used[leaf] {
                continue;
            }
            if let Some(ended) = take_leaf(
                attempt,
                list.nodes(leaf),
                &candidates,
                &mut usable,
                &mut missing,
                &mut taken,
            ) {
                return ended;
            }
            subtract(list, leaf, taken, &mut free);
        }
    }
    let mut last_nodes = missing.nodes + 1;
    while last_nodes != missing.nodes {
        last_nodes = missing.nodes;
        let distances = list.distances(&is_used);
        let fits =
            |switch: usize| free[switch] >= missing.nodes && cpus[switch] as i64 >= missing.cpus;
        let free_now: Vec<u32> = free.iter().map(|&free| free as u32).collect();
        let open = |leaf: &usize| !is_used[*leaf] && free[*leaf] > 0 && distances[*leaf].is_some();
        let best = list.leaves().iter().copied().filter(open).reduce(|best, leaf| {
            let (order, leaf_fits) = list.compare(leaf, best, &free_now, fits);
            let is_better = distances[leaf] < distances[best] && leaf_fits
                || distances[leaf] == distances[best] && order.is_gt();
            if is_better { leaf } else { best }
        });
        let Some(leaf) = best else { break };
        is_used[leaf] = true;
        let mut taken = 0;
        if let Some(ended) =
            take_leaf(attempt, list.nodes(leaf), &candidates, &mut usable, &mut missing, &mut taken)
        {
            return ended;
        }
        let gone = free[leaf];
        subtract(list, leaf, gone, &mut free);
    }
    if attempt.suffices(&missing) { Ok(()) } else { Err(Leave::OneOfThese) }
}

/// Takes candidates of a leaf, lowest first; returns how the attempt ends, if it does.
fn take_leaf(
    attempt: &mut Attempt<'_>,
    leaf: &NodeSet,
    candidates: &NodeSet,
    usable: &mut [u32],
    missing: &mut Missing,
    taken: &mut i64,
) -> Option<Result<(), Leave>> {
    for node in leaf.iter().filter(|&node| candidates.contains(node)) {
        let cpus = usable[node as usize];
        if attempt.map.contains(node) || cpus == 0 {
            continue;
        }
        if attempt.nodes_left <= 0 {
            return None;
        }
        if attempt.take(node, cpus, missing) == 0 {
            usable[node as usize] = 0;
            continue;
        }
        *taken += 1;
        if attempt.is_done(missing) {
            return Some(Ok(()));
        }
        if attempt.nodes_left <= 0 {
            return Some(Err(Leave::OneOfThese));
        }
    }
    None
}

fn subtract(list: &Tree, leaf: usize, gone: i64, free: &mut [i64]) {
    for switch in list.up_from(leaf) {
        free[switch] = (free[switch] - gone).max(0);
    }
}

fn set_of(nodes: &[u32], count: u32) -> NodeSet {
    let mut set = NodeSet::empty(count);
    nodes.iter().for_each(|&node| set.insert(node));
    set
}
