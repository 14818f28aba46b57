//! Tests of the rules for blocks, rings, trees and runs against slow reference implementations.
//!
//! A reference implementation works on sets of nodes, and can follow each plausible misreading of
//! its rule. The tests must detect all misreadings. The rules were determined from recorded
//! decisions of a real scheduler, by ruling out the same misreadings. So these tests determine the
//! rules even without the records.
//!
//! | misreadings of `topology/…` | test |
//! |---|---|
//! | block: ties, levels, limits, weights, `-w`, spread, consolidate, retries | `blocks_agree…` |
//! | ring: windows, wrap, ties, weights, segments, heap | `rings_agree…` |
//! | tree: leaves, climbing, distances, weights, switches, ranges, running total | `trees_agree…` |
//! | flat: runs, weights, contiguous jobs, long lists | `runs_agree…` |
//! | torus3d: anchors | `anchors.rs` |

use crate::common::set;
use crate::list_twins;
use crate::list_twins::{Job, Misread, Set, Tried, choose};
use meshwork::alloc::listed::blocks::Blocks;
use meshwork::alloc::listed::ring::Rings;
use meshwork::alloc::listed::runs::Runs;
use meshwork::alloc::listed::tree::{Below, Tree};
use meshwork::alloc::listed::{NodeRequest, Nodes, Rule, find};
use meshwork::geometry::NodeSet;
use meshwork::job::{Constraints, Request};
use meshwork::machine::Placement;
use meshwork::pool::Pool;
use meshwork::rng::Stream;

/// Nodes that a rule chooses by its slow definition, or by a misreading of it.
///
/// The arguments are weights, job, required nodes, free nodes, and misreading.
type Definition<'a> = &'a dyn Fn(&[u32], &Job, &Set, &Set, Misread) -> Tried;

/// Compares a rule with its definition on random jobs and states of one machine.
///
/// `untold` has deliberate misreadings of the definition that are not detected yet. A misreading
/// that leads to other nodes than the definition is removed from `untold`.
fn agree(
    name: &str,
    count: u32,
    rule: &dyn Rule,
    definition: Definition<'_>,
    untold: &mut Vec<Misread>,
    rng: &mut Stream,
) {
    let alike = rng.below(2) == 0;
    let weights: Vec<u32> =
        (0..count).map(|_| if alike { 1 } else { [1, 1, 3, 7][rng.below(4) as usize] }).collect();
    let nodes = Nodes::new(weights.clone(), vec![2; count as usize]);
    for share in [10, 9, 8, 6, 4] {
        // Held nodes form intervals, as jobs leave them.
        let mut free = Set::new();
        let mut is_free = true;
        for node in 0..count {
            if rng.below(3) == 0 {
                is_free = rng.below(10) < share;
            }
            if is_free {
                free.insert(node);
            }
        }
        for _ in 0..24 {
            let job = random_job(count, &free, rng);
            let decided = |misread| {
                let rule = |required: &Set, free: &Set| {
                    definition(&weights, &job, required, free, misread)
                };
                choose(&job, &free, &weights, misread, &rule)
            };
            let wanted = NodeRequest {
                nodes: job.nodes,
                most: job.most,
                segment: job.segment,
                spread: job.spread,
                consolidate: job.consolidate,
                switches: job.switches,
                contiguous: job.contiguous,
                listed: (!job.listed.is_empty()).then(|| set(count, job.listed.iter().copied())),
                ends: None,
            };
            let found = find(rule, &nodes, &wanted, &set(count, free.iter().copied()));
            let found: Option<Set> = found.map(|set| set.iter().collect());
            let right = decided(Misread::Nothing);
            assert_eq!(found, right, "{name}: {job:?} of {free:?}, weights {weights:?}");
            untold.retain(|&misread| decided(misread) == right);
        }
    }
}

fn random_job(count: u32, free: &Set, rng: &mut Stream) -> Job {
    let mut pick = |most: u32| rng.below(u64::from(most.max(1))) as u32;
    let most = if pick(4) == 0 { count } else { count / 3 };
    let nodes = 1 + pick(most);
    let mut job = Job { nodes, most: nodes, ..Job::default() };
    match pick(7) {
        0 | 1 => {
            let sizes: Vec<u32> = (1..=nodes).filter(|size| nodes % size == 0).collect();
            job.segment = Some(sizes[pick(sizes.len() as u32) as usize]);
            job.spread = pick(3) == 0;
            job.consolidate = pick(2) == 0;
        }
        2 => {
            job.most = nodes + pick(10);
            job.switches = (pick(2) == 0).then(|| 1 + pick(3));
        }
        3 => job.switches = Some(1 + pick(3)),
        4 => {
            job.contiguous = true;
            job.most = nodes + pick(2) * pick(12);
        }
        _ => {}
    }
    if pick(4) == 0 {
        let many = if pick(3) == 0 { nodes + pick(4) } else { 1 + pick(nodes.min(4)) };
        let free: Vec<u32> = free.iter().copied().collect();
        let first = pick(free.len() as u32);
        // The required nodes are close together, or in several blocks and leaves.
        let apart = if pick(2) == 0 { 0 } else { pick(free.len() as u32) };
        let near =
            |i: u32| free.get(((first + i * (1 + i % 2 + apart)) as usize) % free.len().max(1));
        job.listed = (0..many).filter_map(near).copied().collect();
    }
    job
}

/// Divides nodes into sets of consecutive nodes with the given sizes.
///
/// If `uneven` is set, each set may have one node more or less.
fn parts(sizes: &[u32], uneven: bool, rng: &mut Stream) -> (u32, Vec<Vec<u32>>) {
    let mut next = 0;
    let mut all = Vec::new();
    for &size in sizes {
        let size =
            if uneven { (size + rng.below(3) as u32).saturating_sub(1).max(1) } else { size };
        all.push((next..next + size).collect());
        next += size;
    }
    (next, all)
}

fn all_are_told(untold: &[Misread]) {
    assert!(untold.is_empty(), "nothing tells {untold:?} from the definition");
}

#[test]
fn blocks_agree_with_their_definition_and_every_misreading_is_told_apart() {
    use crate::list_twins::blocks::{Machine, rule};
    let mut untold = vec![
        Misread::TiesToTheFirstBlock,
        Misread::MostFreeBlock,
        Misread::AlwaysTheWhole,
        Misread::HighestNodeFirst,
        Misread::BaseTiesToTheFirst,
        Misread::SmallestWhereNoneFits,
        Misread::BaseBlocksInOrder,
        Misread::NoLowerLimit,
        Misread::CapacityIsAllFree,
        Misread::WeightsIgnoredBetween,
        Misread::WeightsIgnoredInside,
        Misread::RequiredNotFilledFirst,
        Misread::SpreadIgnored,
        Misread::ConsolidateIgnored,
        Misread::NoGroupRetry,
        Misread::EmptyBlocksSkipped,
        Misread::CountsKeptUp,
        Misread::HintOfTheLastSegment,
        Misread::LowerCountedOnce,
        Misread::NoRetryLoop,
        Misread::SingleNodesByTheRule,
        Misread::LongListAsRequired,
    ];
    let mut rng = Stream::new(31, 0, "blocks");
    for _ in 0..400 {
        let base = 2 + rng.below(5) as u32;
        let count = 3 + rng.below(11) as usize;
        let uneven = rng.below(2) == 0;
        let (nodes, blocks) = parts(&vec![base; count], uneven, &mut rng);
        let levels = [&[0][..], &[0, 1], &[0, 2], &[0, 1, 2, 3], &[0, 1, 3]][rng.below(5) as usize];
        let sets = blocks.iter().map(|block| set(nodes, block.iter().copied())).collect();
        let own = Blocks::new(nodes, base, levels, sets);
        let blocks = blocks.into_iter().map(|block| block.into_iter().collect()).collect();
        let machine = Machine { base, levels: levels.to_vec(), blocks };
        let name = format!("{count} blocks of {base}, levels {levels:?}");
        let definition = |weights: &[u32], job: &Job, required: &Set, free: &Set, misread| {
            rule(&machine, weights, job, required, free, misread)
        };
        agree(&name, nodes, &own, &definition, &mut untold, &mut rng);
    }
    all_are_told(&untold);
}

#[test]
fn rings_agree_with_their_definition_and_every_misreading_is_told_apart() {
    let mut untold = vec![
        Misread::LastWindow,
        Misread::NoWrap,
        Misread::LastRing,
        Misread::EmptiestRing,
        Misread::WeightIgnored,
        Misread::SumOfWeights,
        Misread::TwoSegmentsARing,
        Misread::CorrectHeap,
        Misread::SortedBest,
        Misread::ShortListTaken,
        Misread::SingleNodesByTheRule,
        Misread::LongListAsRequired,
    ];
    let mut rng = Stream::new(32, 0, "rings");
    for _ in 0..200 {
        let size = 2 + rng.below(8) as u32;
        let count = 2 + rng.below(9) as usize;
        let uneven = rng.below(2) == 0;
        let (nodes, mut rings) = parts(&vec![size; count], uneven, &mut rng);
        for ring in &mut rings {
            // The order of the nodes on the ring differs from the order of their numbers.
            for i in (1..ring.len()).rev() {
                ring.swap(i, rng.below(i as u64 + 1) as usize);
            }
        }
        let own = Rings::new(nodes, rings.clone());
        let definition = |weights: &[u32], job: &Job, required: &Set, free: &Set, misread| {
            list_twins::ring::rule(&rings, weights, job, required, free, misread)
        };
        let name = format!("{count} rings of {size}");
        agree(&name, nodes, &own, &definition, &mut untold, &mut rng);
    }
    all_are_told(&untold);
}

/// Random tree: number of nodes, list for the tested rule, and machine for the slow reference.
///
/// The leaf switches are created first. The switches of each level are then joined in groups of up
/// to three; the last level may join all of them.
fn random_tree(rng: &mut Stream) -> (u32, Vec<Below>, list_twins::tree::Machine) {
    let count = 3 + rng.below(10) as usize;
    let (nodes, leaves) = parts(&vec![2 + rng.below(6) as u32; count], rng.below(2) == 0, rng);
    let mut list: Vec<Below> =
        leaves.iter().map(|leaf| Below::Nodes(set(nodes, leaf.iter().copied()))).collect();
    let mut machine = list_twins::tree::Machine {
        nodes: leaves.into_iter().map(|leaf| leaf.into_iter().collect()).collect(),
        levels: vec![0; count],
        parents: vec![None; count],
    };
    let mut level: Vec<usize> = (0..count).collect();
    let depth = 1 + rng.below(3);
    for step in 0..depth {
        let mut above = Vec::new();
        while !level.is_empty() {
            // The last level joins all switches below, or leaves several trees.
            let is_last = step + 1 == depth && rng.below(3) > 0;
            let joined = if is_last { level.len() } else { 1 + rng.below(3) as usize };
            let children: Vec<usize> = level.drain(..joined.min(level.len())).collect();
            let below = children.iter().flat_map(|&child| machine.nodes[child].iter().copied());
            let below: Set = below.collect();
            let height = children.iter().map(|&child| machine.levels[child] + 1).max().unwrap();
            children.iter().for_each(|&child| machine.parents[child] = Some(list.len()));
            above.push(list.len());
            machine.nodes.push(below);
            machine.levels.push(height);
            machine.parents.push(None);
            list.push(Below::Switches(children));
        }
        level = above;
    }
    (nodes, list, machine)
}

#[test]
fn trees_agree_with_their_definition_and_every_misreading_is_told_apart() {
    let mut untold = vec![
        Misread::LastLeaf,
        Misread::FirstFit,
        Misread::MostFreeLeaf,
        Misread::NoClimbing,
        Misread::NoDistance,
        Misread::FewestOverSeveral,
        Misread::FileOrder,
        Misread::WeightsIgnored,
        Misread::NoWeightOfTop,
        Misread::SwitchesIgnored,
        Misread::NoShrinking,
        Misread::LeastOfRange,
        Misread::ContiguousIgnored,
        Misread::RunningTotalRepaired,
        Misread::RequiredAreEnough,
        Misread::LongListAsRequired,
    ];
    let mut rng = Stream::new(33, 0, "trees");
    for round in 0..160 {
        let (nodes, list, machine) = random_tree(&mut rng);
        let own = Tree::new(nodes, &list);
        let definition = |weights: &[u32], job: &Job, required: &Set, free: &Set, misread| {
            list_twins::tree::rule(&machine, weights, job, required, free, misread)
        };
        agree(&format!("tree {round}"), nodes, &own, &definition, &mut untold, &mut rng);
    }
    all_are_told(&untold);
}

#[test]
fn runs_agree_with_their_definition_and_every_misreading_is_told_apart() {
    let mut untold = vec![
        Misread::FirstRun,
        Misread::NoRuns,
        Misread::WeightsEndNoRun,
        Misread::RequiredHaveWeights,
        Misread::RequiredKnownToTheNextRun,
        Misread::OneRunOfContiguous,
        Misread::LeastOfRange,
        Misread::ContiguousIgnored,
        Misread::LongListAsRequired,
    ];
    let mut rng = Stream::new(34, 0, "runs");
    for _ in 0..40 {
        let nodes = 5 + rng.below(60) as u32;
        let definition = |weights: &[u32], job: &Job, required: &Set, free: &Set, misread| {
            list_twins::runs::rule(weights, job, required, free, misread)
        };
        agree("runs", nodes, &Runs, &definition, &mut untold, &mut rng);
    }
    all_are_told(&untold);
}

/// A job that requests blocks of its own holds every node of these blocks.
///
/// It gets nodes outside the blocks that other jobs use. Any other job holds exactly the nodes that
/// the rule chooses.
#[test]
fn a_job_with_blocks_of_its_own_holds_them_whole() {
    const NODES: u32 = 30;
    let table = format!(
        "machine = {{ topology = 'flat', processors = {NODES} }}\nallocator = {{ name = 'blocks', length = 4 }}"
    );
    let mut pool = Pool::read(&table.parse().unwrap()).unwrap();
    let blocks: Vec<NodeSet> =
        (0..NODES).step_by(4).map(|first| set(NODES, first..NODES.min(first + 4))).collect();
    let rule = Blocks::new(NODES, 4, &[0, 1, 2, 3], blocks.clone());
    let nodes = Nodes::alike(NODES);
    let mut rng = Stream::new(11, 0, "own blocks");
    let mut held: Vec<Placement> = Vec::new();
    let (mut own, mut refused) = (0, 0);
    for _ in 0..3000 {
        if !held.is_empty() && rng.below(5) < 2 {
            let gone = held.swap_remove(rng.below(held.len() as u64) as usize);
            pool.release(&gone).unwrap();
            continue;
        }
        let whole_blocks = rng.below(3) == 0;
        let constraints = Constraints { whole_blocks, ..Constraints::of(1 + rng.below(9) as u32) };
        let mut free = pool.site().free().clone();
        let is_used = |block: &&NodeSet| !block.is_within(pool.site().free());
        if whole_blocks {
            blocks.iter().filter(is_used).for_each(|block| free.subtract(block));
        }
        let wanted = NodeRequest {
            nodes: constraints.nodes,
            most: constraints.nodes,
            ..NodeRequest::default()
        };
        let expected = find(&rule, &nodes, &wanted, &free).map(|mut chosen| {
            if whole_blocks {
                let touched: Vec<_> = blocks.iter().filter(|block| block.meets(&chosen)).collect();
                touched.into_iter().for_each(|block| chosen.unite(block));
            }
            chosen
        });
        let given = pool.allocate(&Request::constrained(constraints));
        let given_set = given.as_ref().map(|placement| {
            let mut nodes = NodeSet::empty(NODES);
            placement.add_to(&mut nodes, pool.site().grid());
            nodes
        });
        assert_eq!(given_set, expected);
        own += u32::from(whole_blocks && given.is_some());
        refused += u32::from(whole_blocks && given.is_none());
        held.extend(given);
    }
    assert!(own > 100 && refused > 100, "{own} {refused}");
}
