//! Several shared nodes in base blocks.

use crate::alloc::listed::blocks::{Blocks, Opened};
use crate::geometry::NodeSet;

use super::choose::{Attempt, Leave, Missing, classes};

/// Places a job in one aggregated block.
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
    let mut room = list.union(inside.clone(), count);
    room.intersect(&map);
    let mut usable = vec![0; count as usize];
    let (mut candidates, mut forced) = (NodeSet::empty(count), NodeSet::empty(count));
    let (mut nodes, mut found_cpus, mut found_gpus) = (0, 0, 0);
    let counts = attempt.counts_gpus();
    let (mut is_enough, mut is_complete) = (false, false);
    for (_, class) in &weights {
        if is_complete {
            break;
        }
        if nodes > 0 {
            forced.unite(&candidates);
        }
        for &node in class.iter().filter(|node| room.contains(**node)) {
            let cpus = attempt.select_cores(node, missing.nodes_at_least);
            if cpus == 0 {
                continue;
            }
            candidates.insert(node);
            usable[node as usize] = cpus;
            found_cpus += i64::from(cpus);
            nodes += 1;
            found_gpus += if counts { attempt.fit(node).gpus } else { 0 };
        }
        let rest = found_cpus >= missing.cpus && (!counts || attempt.gpus_suffice(found_gpus));
        is_enough = is_enough || rest && attempt.enough_nodes(nodes, missing.nodes);
        is_complete = rest && nodes >= missing.nodes;
    }
    if !is_enough {
        return Err(Leave::Next);
    }
    let mut opened = Opened::new(list, level, inside.clone());
    if !forced.is_empty() {
        let mut given_up = Vec::new();
        for node in forced.iter() {
            if attempt.nodes_left <= 0 {
                break;
            }
            if attempt.take(node, usable[node as usize], &mut missing) == 0 {
                given_up.push(node);
            }
        }
        given_up.into_iter().for_each(|node| forced.remove(node));
        attempt.map.unite(&forced);
        if attempt.is_done(&missing) {
            return Ok(());
        }
        if attempt.nodes_left <= 0 {
            return Err(Leave::OneOfThese);
        }
        opened.open_blocks_of(list, &forced);
        if opened.lower_left < 0 {
            return Err(Leave::Next);
        }
        for block in inside.clone().filter(|&block| opened.taken[block]) {
            if take_block(attempt, &blocks[block], &candidates, &usable, &mut missing, false) {
                return Ok(());
            }
        }
    }
    let left = |block: usize| match opened.taken[block] {
        true => 0,
        false => blocks[block].count_shared(&candidates),
    };
    let free: Vec<u32> = inside.map(left).collect();
    let lower: Vec<u32> = free.chunks(level.per_lower()).map(|part| part.iter().sum()).collect();
    let mut last_nodes = missing.nodes + 1;
    while last_nodes != missing.nodes {
        last_nodes = missing.nodes;
        // As in Slurm, no block holds a negative number of missing nodes.
        let wanted = missing.nodes as u32;
        let Some(block) = opened.next_block(wanted, &free, &lower) else { break };
        let is_new = opened.is_limited() && !opened.lower_is_used(block);
        if is_new && opened.lower_left <= 0 {
            break;
        }
        opened.open(block);
        if take_block(attempt, &blocks[block], &candidates, &usable, &mut missing, true) {
            return Ok(());
        }
        opened.lower_left -= i64::from(is_new);
    }
    if attempt.suffices(&missing) { Ok(()) } else { Err(Leave::OneOfThese) }
}

/// Takes candidates of a base block, lowest first; returns whether the job is complete.
fn take_block(
    attempt: &mut Attempt<'_>,
    block: &NodeSet,
    candidates: &NodeSet,
    usable: &[u32],
    missing: &mut Missing,
    is_limited: bool,
) -> bool {
    for node in block.iter().filter(|&node| candidates.contains(node)) {
        if is_limited && attempt.nodes_left <= 0 {
            return false;
        }
        if attempt.map.contains(node) || usable[node as usize] == 0 {
            continue;
        }
        if attempt.take(node, usable[node as usize], missing) > 0 && attempt.is_done(missing) {
            return true;
        }
    }
    false
}
