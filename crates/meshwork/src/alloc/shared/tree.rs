//! Allocation of several shared nodes below the switches of a tree.

use crate::alloc::listed::set_of;
use crate::alloc::listed::tree::Tree;
use crate::geometry::NodeSet;

use super::candidates::Candidates;
use super::choose::{Attempt, Leave, Missing, classes};

/// Places a job below one switch, on few leaf switches that are close to each other.
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
    // Lowest weight of the nodes below each switch.
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

/// Takes candidates below one switch, one leaf after another, until the job has enough.
///
/// Candidates that must be taken first come before all others. `cpus` has the number of usable CPUs
/// below each switch.
pub(super) fn fill(
    attempt: &mut Attempt<'_>,
    list: &Tree,
    mut found: Candidates,
    cpus: &[u64],
    mut missing: Missing,
) -> Result<(), Leave> {
    let has_forced = !found.forced.is_empty();
    if has_forced && let Some(ended) = found.take_forced(attempt, &mut missing) {
        return ended;
    }
    let Candidates { all: candidates, forced, below, .. } = found;
    let mut used = Used::none(list);
    if has_forced {
        let met = (0..list.switch_count()).filter(|&switch| list.nodes(switch).meets(&forced));
        met.for_each(|switch| used.add(switch));
    }
    let counted = || list.counts(&candidates).into_iter().map(i64::from).collect();
    let mut free: Vec<i64> = below.unwrap_or_else(counted);
    if has_forced {
        let mut taken = 0;
        for &leaf in list.leaves() {
            if !used.is_used[leaf] {
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
        let leaf = best_leaf(&used, &free, |switch| {
            free[switch] >= missing.nodes && cpus[switch] as i64 >= missing.cpus
        });
        let Some(leaf) = leaf else { break };
        used.add(leaf);
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

/// Switches that a job uses so far, stored so that distances to them can be computed.
struct Used<'a> {
    list: &'a Tree,
    is_used: Vec<bool>,
    /// For each switch, the number of used switches among this switch and all switches below it.
    below: Vec<u32>,
    total: u32,
    /// Sum of the depths of all used switches.
    depths: u32,
}

impl Used<'_> {
    fn none(list: &Tree) -> Used<'_> {
        let switches = list.switch_count();
        let (is_used, below) = (vec![false; switches], vec![0; switches]);
        Used { list, is_used, below, total: 0, depths: 0 }
    }

    fn add(&mut self, switch: usize) {
        self.is_used[switch] = true;
        self.total += 1;
        self.depths += self.list.depth(switch);
        self.list.up_from(switch).for_each(|above| self.below[above] += 1);
    }

    /// Sum of the distances from one switch to all used switches, as in [`Tree::distances`].
    fn distance(&self, switch: usize) -> Option<u32> {
        let (mut shared, mut root) = (0, switch);
        for above in self.list.up_from(switch) {
            shared += self.below[above];
            root = above;
        }
        // Paths share no link at the root.
        let shared = shared - self.below[root];
        (self.below[root] == self.total)
            .then(|| self.total * self.list.depth(switch) + self.depths - 2 * shared)
    }
}

/// Leaf switch, with the values by which it is compared with other leaf switches.
#[derive(Clone, Copy)]
struct BestLeaf {
    leaf: usize,
    parent: Option<usize>,
    distance: u32,
    fits: bool,
}

/// Leaf switch from which nodes are taken next; `None` if no unused leaf has candidates.
fn best_leaf(used: &Used<'_>, free: &[i64], fits: impl Fn(usize) -> bool) -> Option<usize> {
    let list = used.list;
    let mut best: Option<BestLeaf> = None;
    let mut distance = None;
    let mut group = None;
    // Whether the leaves below `group` come before the best leaf, if none of them fits.
    let mut comes_before = None;
    for &leaf in list.leaves() {
        if used.is_used[leaf] || free[leaf] <= 0 {
            continue;
        }
        let parent = list.parent(leaf);
        if group != Some(parent) || parent.is_none() {
            group = Some(parent);
            distance = used.distance(leaf);
            comes_before = None;
        }
        let Some(distance) = distance else { continue };
        let own = BestLeaf { leaf, parent, distance, fits: fits(leaf) };
        let Some(other) = best else {
            best = Some(own);
            continue;
        };
        let is_better = match (own.fits, other.fits) {
            (true, true) => {
                distance < other.distance
                    || distance == other.distance && free[leaf] < free[other.leaf]
            }
            (true, false) => distance <= other.distance,
            (false, true) => false,
            (false, false) if parent.is_some() && parent == other.parent => {
                free[leaf] > free[other.leaf]
            }
            (false, false) => *comes_before.get_or_insert_with(|| {
                let (order, group_fits) = list.compare(leaf, other.leaf, free, &fits);
                distance < other.distance && group_fits
                    || distance == other.distance && order.is_gt()
            }),
        };
        if is_better {
            best = Some(own);
            comes_before = None;
        }
    }
    best.map(|best| best.leaf)
}

/// Takes the candidates of a leaf in ascending order, until the job has enough.
///
/// Adds the number of taken nodes to `taken`. If the attempt is then over, returns its result.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::listed::tree::Below;
    use crate::rng::Stream;

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
            // Leaves of two switches are mixed, and perhaps one leaf is below no switch.
            let side: Vec<u64> = (0..leaves).map(|_| rng.below(9)).collect();
            for range in [0..4, 4..8] {
                let own = (0..leaves).filter(|&leaf| range.contains(&side[leaf]));
                list.push(Below::Switches(own.collect()));
            }
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
                let mut used = Used::none(&tree);
                (0..free.len()).filter(|&at| is_used[at]).for_each(|at| used.add(at));
                let distances: Vec<Option<u32>> =
                    (0..free.len()).map(|switch| used.distance(switch)).collect();
                assert_eq!(distances, tree.distances(is_used));
                let best = best_leaf(&used, &free, fits);
                assert_eq!(best, best_of_all(&tree, is_used, &free, fits));
            }
        }
    }

    /// Simple version of [`best_leaf`], with which its results are compared.
    fn best_of_all(
        list: &Tree,
        is_used: &[bool],
        free: &[i64],
        fits: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let distances = list.distances(is_used);
        let open = |leaf: &usize| !is_used[*leaf] && free[*leaf] > 0 && distances[*leaf].is_some();
        list.leaves().iter().copied().filter(open).reduce(|best, leaf| {
            let (order, leaf_fits) = list.compare(leaf, best, free, &fits);
            let is_better = distances[leaf] < distances[best] && leaf_fits
                || distances[leaf] == distances[best] && order.is_gt();
            if is_better { leaf } else { best }
        })
    }
}
