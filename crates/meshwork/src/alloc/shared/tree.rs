//! Several shared nodes below the switches of a tree.

use crate::alloc::listed::tree::Tree;
use crate::geometry::NodeSet;

use super::candidates::Candidates;
use super::choose::{Attempt, Leave, Missing, classes};

/// Places a job below one switch, on few leaves that are near one another.
pub(super) fn place(attempt: &mut Attempt<'_>, list: &Tree) -> Result<(), Leave> {
    let missing = attempt.missing(false);
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
    let found = Candidates::collect(attempt, &weights, list.nodes(top), &missing);
    if !found.are_enough {
        attempt.map.copy_from(&map);
        attempt.map.intersect(list.nodes(top));
        return Err(Leave::All);
    }
    fill(attempt, list, found, &cpus, missing)
}

/// Takes candidates below one switch: of all lighter classes, then leaf by leaf.
///
/// `cpus` are those of all nodes below each switch that may be taken.
pub(super) fn fill(
    attempt: &mut Attempt<'_>,
    list: &Tree,
    mut found: Candidates,
    cpus: &[u64],
    mut missing: Missing,
) -> Result<(), Leave> {
    let switches = list.switch_count();
    let has_forced = !found.forced.is_empty();
    if has_forced && let Some(ended) = found.take_forced(attempt, &mut missing) {
        return ended;
    }
    let Candidates { all: candidates, forced, below, .. } = found;
    let mut is_used: Vec<bool> =
        (0..switches).map(|switch| has_forced && list.nodes(switch).meets(&forced)).collect();
    let counted = || list.counts(&candidates).into_iter().map(i64::from).collect();
    let mut free: Vec<i64> = below.unwrap_or_else(counted);
    if has_forced {
        let mut taken = 0;
        for &leaf in list.leaves() {
            if !is_used[leaf] {
                continue;
            }
            if let Some(ended) =
                take_leaf(attempt, list.nodes(leaf), &candidates, &mut missing, &mut taken)
            {
                return ended;
            }
            subtract(list, leaf, taken, &mut free);
        }
    }
    let mut last_nodes = missing.nodes + 1;
    while last_nodes != missing.nodes {
        last_nodes = missing.nodes;
        let leaf = best_leaf(list, &is_used, &free, |switch| {
            free[switch] >= missing.nodes && cpus[switch] as i64 >= missing.cpus
        });
        let Some(leaf) = leaf else { break };
        is_used[leaf] = true;
        let mut taken = 0;
        if let Some(ended) =
            take_leaf(attempt, list.nodes(leaf), &candidates, &mut missing, &mut taken)
        {
            return ended;
        }
        let gone = free[leaf];
        subtract(list, leaf, gone, &mut free);
    }
    if attempt.suffices(&missing) { Ok(()) } else { Err(Leave::OneOfThese) }
}

/// The next leaf to take, if one has candidates: `fits` says which switches hold all that is
/// missing.
fn best_leaf(
    list: &Tree,
    is_used: &[bool],
    free: &[i64],
    fits: impl Fn(usize) -> bool,
) -> Option<usize> {
    let has_candidates = |leaf: &usize| !is_used[*leaf] && free[*leaf] > 0;
    let leaves = || list.leaves().iter().copied().filter(has_candidates);
    // Without a used leaf, all are equally far: of those that suffice, one with fewest candidates.
    if !is_used.contains(&true)
        && let Some(leaf) = leaves().filter(|&leaf| fits(leaf)).min_by_key(|&leaf| free[leaf])
    {
        return Some(leaf);
    }
    best_of_all(list, is_used, free, fits)
}

/// The definition of [`best_leaf`]: each leaf is compared with the best one so far.
fn best_of_all(
    list: &Tree,
    is_used: &[bool],
    free: &[i64],
    fits: impl Fn(usize) -> bool,
) -> Option<usize> {
    let distances = list.distances(is_used);
    let free_now: Vec<u32> = free.iter().map(|&free| free as u32).collect();
    let open = |leaf: &usize| !is_used[*leaf] && free[*leaf] > 0 && distances[*leaf].is_some();
    list.leaves().iter().copied().filter(open).reduce(|best, leaf| {
        let (order, leaf_fits) = list.compare(leaf, best, &free_now, &fits);
        let is_better = distances[leaf] < distances[best] && leaf_fits
            || distances[leaf] == distances[best] && order.is_gt();
        if is_better { leaf } else { best }
    })
}

/// Takes candidates of a leaf, lowest first; returns how the attempt ends, if it does.
fn take_leaf(
    attempt: &mut Attempt<'_>,
    leaf: &NodeSet,
    candidates: &NodeSet,
    missing: &mut Missing,
    taken: &mut i64,
) -> Option<Result<(), Leave>> {
    for node in leaf.iter().filter(|&node| candidates.contains(node)) {
        attempt.examine(node);
        let cpus = attempt.fit(node).usable;
        if attempt.map.contains(node) || cpus == 0 {
            continue;
        }
        if attempt.nodes_left <= 0 {
            return None;
        }
        if attempt.take(node, cpus, missing) == 0 {
            attempt.fit_mut(node).usable = 0;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::listed::tree::Below;
    use crate::rng::Stream;

    /// The shortcut finds the leaf that comparing all leaves finds.
    #[test]
    fn the_best_leaf_is_its_definition() {
        let mut rng = Stream::new(3, 0, "leaves");
        for _ in 0..2000 {
            let leaves = 1 + rng.below(9) as usize;
            let count = leaves as u32 * 4;
            let mut list: Vec<Below> = (0..leaves as u32)
                .map(|leaf| {
                    let mut nodes = NodeSet::empty(count);
                    nodes.insert_range(leaf * 4, 4);
                    Below::Nodes(nodes)
                })
                .collect();
            let first = rng.below(leaves as u64 + 1) as usize;
            list.push(Below::Switches((0..first).collect()));
            list.push(Below::Switches((first..leaves).collect()));
            if rng.below(2) == 0 {
                list.push(Below::Switches(vec![leaves, leaves + 1]));
            }
            let tree = Tree::new(count, &list);
            let mut candidates = NodeSet::empty(count);
            (0..count).filter(|_| rng.below(2) == 0).for_each(|node| candidates.insert(node));
            let free: Vec<i64> = tree.counts(&candidates).into_iter().map(i64::from).collect();
            let missing = rng.below(6) as i64;
            let has_cpus: Vec<bool> = free.iter().map(|_| rng.below(5) > 0).collect();
            let fits = |switch: usize| free[switch] >= missing && has_cpus[switch];
            let is_used: Vec<bool> = free.iter().map(|_| rng.below(8) == 0).collect();
            for is_used in [&is_used, &vec![false; free.len()]] {
                let best = best_leaf(&tree, is_used, &free, fits);
                assert_eq!(best, best_of_all(&tree, is_used, &free, fits));
            }
        }
    }
}
