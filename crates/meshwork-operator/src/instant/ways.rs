//! Candidate sets of running jobs whose ends may let a waiting job start.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use meshwork::facility::SiteAhead;
use meshwork::form::Finds;
use meshwork::job::{Dims, Job, Time};
use meshwork::machine::{Block, Placement};
use meshwork::topology::{Grid, Node};

use super::Instant;

/// Maximum number of nodes of all possible blocks together at which each block is checked.
///
/// With more nodes, blocks are not checked one by one.
const MOST_CELLS: u64 = 200_000_000;

/// Maximum number of sets of jobs that are tried if placements need not be blocks.
pub(super) const MOST_SETS: usize = 2_000;

const FREE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(super) struct CandidateBlock {
    pub(super) block: Block,
    pub(super) jobs: Vec<usize>,
}

/// All blocks that a job may get.
///
/// `None` if the allocator does not give the job one block of the job's shape, or if there are too
/// many blocks to check.
pub(super) fn blocks(instant: &Instant, site: usize, job: &Job) -> Option<Vec<CandidateBlock>> {
    let empty = &instant.empty[site];
    if !empty.gives_blocks() {
        return None;
    }
    let grid = empty.site().grid();
    let alone = empty.fork().propose(job, instant.now)?;
    let [block] = &alone.placement.blocks[..] else { return None };
    let turned = orders(&block.sides);
    let cells = u64::from(grid.nodes()) * u64::from(block.len()) * turned.len() as u64;
    let corners = |sides: &[u32]| {
        let corner = |node: &Node| {
            let at = grid.coordinates(*node);
            // A block around a whole ring is the same at every corner along it.
            let begins = |d: usize| sides[d] < grid.sides()[d] || at[d] == 0;
            (0..sides.len()).all(begins) && grid.holds(*node, sides)
        };
        (0..grid.nodes()).filter(corner).collect::<Vec<Node>>()
    };
    if cells > MOST_CELLS {
        return None;
    }
    let owners = owners(instant, site);
    let mut stamps = vec![0_usize; instant.running.len()];
    let (mut ways, mut stamp) = (Vec::new(), 0);
    for sides in turned {
        if empty.finds() == Finds::EveryBlock && !is_looked_for(empty, &sides, job, instant.now) {
            continue;
        }
        for base in corners(&sides) {
            stamp += 1;
            let block = Block { base, sides: sides.clone() };
            let mut jobs = Vec::new();
            block.for_each_run(grid, |start, count| {
                for &owner in &owners[start as usize..(start + count) as usize] {
                    if owner != FREE && stamps[owner as usize] != stamp {
                        stamps[owner as usize] = stamp;
                        jobs.push(owner as usize);
                    }
                }
            });
            jobs.sort_unstable();
            ways.push(CandidateBlock { block, jobs });
        }
    }
    Some(ways)
}

/// Whether the allocator finds a block of the given sides if only one such block is free.
fn is_looked_for(empty: &SiteAhead, sides: &Dims, job: &Job, now: Time) -> bool {
    let grid = empty.site().grid();
    let Some(base) = (0..grid.nodes()).find(|&node| grid.holds(node, sides)) else { return false };
    let only = Placement::from(Block { base, sides: sides.clone() });
    let mut rest = empty.site().free().clone();
    only.for_each_run(grid, |start, count| rest.remove_range(start, count));
    let single = |node| Block { base: node, sides: Dims::from_elem(1, grid.dimensions()) };
    let rest = Placement { blocks: rest.iter().map(single).collect(), parts: None };
    let mut ahead = empty.fork();
    let is_taken = rest.is_empty() || ahead.take_what_is_free_of(&rest, now).is_ok();
    is_taken && ahead.propose(job, now).is_some()
}

fn owners(instant: &Instant, site: usize) -> Vec<u32> {
    let grid: &Grid = instant.sites[site].site().grid();
    let mut owners = vec![FREE; grid.nodes() as usize];
    for (job, holder) in instant.running.iter().enumerate().filter(|(_, own)| own.site == site) {
        holder.placement.for_each_run(grid, |start, count| {
            owners[start as usize..(start + count) as usize].fill(job as u32);
        });
    }
    owners
}

pub(super) fn orders(sides: &Dims) -> Vec<Dims> {
    let mut own = sides.to_vec();
    own.sort_unstable();
    let mut all = Vec::new();
    loop {
        all.push(Dims::from_slice(&own));
        let Some(rise) = (1..own.len()).rev().find(|&i| own[i - 1] < own[i]) else { return all };
        let next = (rise..own.len()).rev().find(|&i| own[i] > own[rise - 1]).unwrap_or(rise);
        own.swap(rise - 1, next);
        own[rise..].reverse();
    }
}

/// Nonempty sets of jobs, in ascending order of their total costs.
pub(super) struct CandidateSets {
    jobs: Vec<(i64, usize)>,
    heap: BinaryHeap<Reverse<(i64, Vec<usize>)>>,
}

impl CandidateSets {
    /// Prepares the enumeration of sets of jobs. Each job has a nonnegative cost and an index.
    pub(super) fn new(mut jobs: Vec<(i64, usize)>) -> CandidateSets {
        jobs.sort_unstable();
        let first = jobs.first().map(|&(cost, _)| Reverse((cost, vec![0])));
        CandidateSets { jobs, heap: first.into_iter().collect() }
    }
}

impl Iterator for CandidateSets {
    type Item = (i64, Vec<usize>);

    /// Next set of jobs, with its total cost. A set is a list of ascending positions in the list of
    /// jobs. Each set has two successors: one advances its last position, the other appends the
    /// following position. So every set occurs once, after the set from which it is made.
    fn next(&mut self) -> Option<(i64, Vec<usize>)> {
        let Reverse((cost, places)) = self.heap.pop()?;
        let last = *places.last()?;
        if let Some(&(next, _)) = self.jobs.get(last + 1) {
            let mut longer = places.clone();
            longer.push(last + 1);
            self.heap.push(Reverse((cost + next, longer)));
            let mut further = places.clone();
            further.pop();
            further.push(last + 1);
            self.heap.push(Reverse((cost - self.jobs[last].0 + next, further)));
        }
        let jobs: BTreeSet<usize> = places.iter().map(|&place| self.jobs[place].1).collect();
        Some((cost, jobs.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_sides_comes_once() {
        let of = |sides: &[u32]| orders(&Dims::from_slice(sides)).len();
        assert_eq!([of(&[3]), of(&[2, 2]), of(&[3, 1, 2]), of(&[2, 2, 1, 1])], [1, 1, 6, 6]);
    }

    #[test]
    fn every_set_comes_once_and_the_cheapest_first() {
        let costs = [3, 1, 4, 1, 5];
        let jobs = costs.iter().enumerate().map(|(job, &cost)| (cost, job)).collect();
        let sets: Vec<(i64, Vec<usize>)> = CandidateSets::new(jobs).collect();
        assert!(sets.is_sorted_by_key(|(cost, _)| *cost));
        for (cost, jobs) in &sets {
            assert_eq!(*cost, jobs.iter().map(|&job| costs[job]).sum::<i64>());
        }
        let all: BTreeSet<&Vec<usize>> = sets.iter().map(|(_, jobs)| jobs).collect();
        assert_eq!((sets.len(), all.len()), (31, 31));
        assert_eq!(CandidateSets::new(Vec::new()).count(), 0);
    }
}
