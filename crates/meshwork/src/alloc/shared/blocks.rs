//! Allocation of several shared nodes on a machine of base blocks, such as racks.

use crate::alloc::listed::blocks::{Blocks, Opened};
use crate::geometry::NodeSet;

use super::candidates::Candidates;
use super::choose::{Attempt, Leave, Missing, classes};

pub(super) fn place(attempt: &mut Attempt<'_>, list: &Blocks) -> Result<(), Leave> {
    let mut missing = attempt.missing(true);
    let map = attempt.map.clone();
    if map.is_empty() {
        return Err(Leave::Stop);
    }
    let count = attempt.machine.count();
    let weights = classes(attempt, &map);
    let level = list.level_for(missing.nodes.max(0) as u32);
    let blocks = list.base_blocks();
    let free: Vec<u32> = blocks.iter().map(|block| block.count_shared(&map)).collect();
    let mut best: Option<(u64, u32, std::ops::Range<usize>)> = None;
    for inside in list.aggregated(level) {
        let mut all = list.union(inside.clone(), count);
        all.intersect(&map);
        let nodes = list.capacity(level, &inside, &free) as i64;
        let cpus: i64 = all.iter().map(|node| i64::from(attempt.fit(node).cpus)).sum();
        if !attempt.enough_nodes(nodes, missing.nodes) || missing.cpus > cpus {
            continue;
        }
        let has = |nodes: &[u32]| nodes.iter().any(|&node| all.contains(node));
        let Some((weight, _)) = weights.iter().find(|(_, nodes)| has(nodes)) else { continue };
        let all: u32 = free[inside.clone()].iter().sum();
        // Ties go to the later block.
        let is_better = best.as_ref().is_none_or(|&(lowest, fewest, _)| {
            *weight < lowest || *weight == lowest && all <= fewest
        });
        if is_better {
            best = Some((*weight, all, inside));
        }
    }
    attempt.map.clear();
    let (_, _, inside) = best.ok_or(Leave::Stop)?;
    let mut within = list.union(inside.clone(), count);
    within.intersect(&map);
    let mut found = Candidates::collect(attempt, &weights, &within, &missing);
    if !found.are_enough {
        return Err(Leave::Next);
    }
    let mut opened = Opened::new(list, level, inside.clone());
    if !found.forced.is_empty() {
        if let Some(ended) = found.take_forced(attempt, &mut missing) {
            return ended;
        }
        opened.open_blocks_of(list, &found.forced);
        if opened.lower_left < 0 {
            return Err(Leave::Next);
        }
        for block in inside.clone().filter(|&block| opened.taken[block]) {
            if take_block(attempt, &blocks[block], &found, &mut missing, false) {
                return Ok(());
            }
        }
    }
    let left = |block: usize| match opened.taken[block] {
        true => 0,
        false => blocks[block].count_shared(&found.all),
    };
    let free: Vec<u32> = inside.map(left).collect();
    let lower: Vec<u32> = free.chunks(level.per_lower).map(|part| part.iter().sum()).collect();
    let mut last_nodes = missing.nodes + 1;
    while last_nodes != missing.nodes {
        last_nodes = missing.nodes;
        // Like in Slurm, a negative number wraps around, and no block holds that many.
        let wanted = missing.nodes as u32;
        let Some(block) = opened.next_block(wanted, &free, &lower) else { break };
        let is_new = opened.is_limited() && !opened.lower_is_used(block);
        if is_new && opened.lower_left <= 0 {
            break;
        }
        opened.open(block);
        if take_block(attempt, &blocks[block], &found, &mut missing, true) {
            return Ok(());
        }
        opened.lower_left -= i64::from(is_new);
    }
    if attempt.suffices(&missing) { Ok(()) } else { Err(Leave::OneOfThese) }
}

/// Takes candidate nodes of a base block in ascending order. Returns whether the job then lacks
/// nothing.
fn take_block(
    attempt: &mut Attempt<'_>,
    block: &NodeSet,
    found: &Candidates,
    missing: &mut Missing,
    is_limited: bool,
) -> bool {
    for node in block.iter().filter(|&node| found.all.contains(node)) {
        if is_limited && attempt.nodes_left <= 0 {
            return false;
        }
        let usable = attempt.fit(node).usable;
        if attempt.map.contains(node) || usable == 0 {
            continue;
        }
        if attempt.take(node, usable, missing) > 0 && attempt.is_done(missing) {
            return true;
        }
    }
    false
}
