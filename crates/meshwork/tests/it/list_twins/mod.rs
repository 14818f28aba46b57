//! Slow reference implementations of the rules of Slurm's topologies, over sets of nodes.
//!
//! Each rule has a module of its own; this module has the retry loop that all rules share. An
//! implementation can also follow a misreading of its rule, which the tests must detect.

pub(crate) mod blocks;
pub(crate) mod ring;
pub(crate) mod runs;
pub(crate) mod tree;

use std::collections::BTreeSet;

pub(crate) type Set = BTreeSet<u32>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Job {
    pub nodes: u32,
    pub most: u32,
    pub segment: Option<u32>,
    pub spread: bool,
    pub consolidate: bool,
    pub switches: Option<u32>,
    pub contiguous: bool,
    pub listed: Set,
}

impl Job {
    /// Number and size of segments; `None` if the job's nodes are no multiple of the segment size.
    pub(crate) fn parts(&self) -> Option<(u32, u32)> {
        match self.segment.filter(|&size| size <= self.nodes) {
            Some(size) => self.nodes.is_multiple_of(size).then(|| (self.nodes / size, size)),
            None => Some((1, self.nodes)),
        }
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.segment.is_some_and(|size| size <= self.nodes)
    }
}

/// Why a rule placed no job. It determines which nodes the retry loop leaves out next.
pub(crate) enum Failed {
    Never,
    Stop,
    Without(Set),
    WithoutOneOf(Set),
    WithoutNext,
}

pub(crate) type Tried = Result<Set, Failed>;

/// Plausible misreading of a placement rule, which the tests must detect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misread {
    Nothing,
    // For all rules.
    NoRetryLoop,
    SingleNodesByTheRule,
    LongListAsRequired,
    // For blocks.
    TiesToTheFirstBlock,
    MostFreeBlock,
    AlwaysTheWhole,
    HighestNodeFirst,
    BaseTiesToTheFirst,
    SmallestWhereNoneFits,
    BaseBlocksInOrder,
    NoLowerLimit,
    CapacityIsAllFree,
    WeightsIgnoredBetween,
    WeightsIgnoredInside,
    RequiredNotFilledFirst,
    SpreadIgnored,
    ConsolidateIgnored,
    NoGroupRetry,
    EmptyBlocksSkipped,
    CountsKeptUp,
    HintOfTheLastSegment,
    LowerCountedOnce,
    // For rings.
    LastWindow,
    NoWrap,
    LastRing,
    EmptiestRing,
    WeightIgnored,
    SumOfWeights,
    TwoSegmentsARing,
    CorrectHeap,
    SortedBest,
    ShortListTaken,
    // For trees.
    LastLeaf,
    FirstFit,
    MostFreeLeaf,
    NoClimbing,
    NoDistance,
    FewestOverSeveral,
    FileOrder,
    WeightsIgnored,
    NoWeightOfTop,
    SwitchesIgnored,
    NoShrinking,
    LeastOfRange,
    ContiguousIgnored,
    RunningTotalRepaired,
    RequiredAreEnough,
    // For runs.
    FirstRun,
    NoRuns,
    WeightsEndNoRun,
    RequiredHaveWeights,
    RequiredKnownToTheNextRun,
    OneRunOfContiguous,
}

/// Nodes that a rule chooses for a job; `None` if it finds none.
///
/// While the rule fails, it is repeated without some of the nodes.
pub(crate) fn choose(
    job: &Job,
    free: &Set,
    weights: &[u32],
    misread: Misread,
    rule: &dyn Fn(&Set, &Set) -> Tried,
) -> Option<Set> {
    let (mut required, mut left) = (Set::new(), free.clone());
    let mut list = job.listed.clone();
    if job.contiguous
        && let (Some(&first), Some(&last)) = (list.first(), list.last())
    {
        list = (first..=last).collect();
    }
    if list.len() as u32 > job.most && misread != Misread::LongListAsRequired {
        left = left.intersection(&list).copied().collect();
    } else {
        required = list;
    }
    if (left.len() as u32) < job.nodes || !required.is_subset(&left) {
        return None;
    }
    if job.most == 1 && misread != Misread::SingleNodesByTheRule {
        let among = if required.is_empty() { &left } else { &required };
        let lightest = among.iter().min_by_key(|&&node| (weights[node as usize], node));
        return lightest.map(|&node| Set::from([node]));
    }
    let mut order: Option<Vec<u32>> = None;
    let mut at = 0;
    loop {
        let failed = match rule(&required, &left) {
            Ok(nodes) => return Some(nodes),
            Err(failed) => failed,
        };
        let is_last = left.len() as u32 <= job.nodes || misread == Misread::NoRetryLoop;
        let selected = match failed {
            Failed::Never | Failed::Stop => return None,
            _ if is_last => return None,
            Failed::Without(gone) => {
                let before = left.len();
                left.retain(|node| !gone.contains(node));
                if left.len() == before || !required.is_subset(&left) {
                    return None;
                }
                continue;
            }
            Failed::WithoutOneOf(selected) => {
                Some(selected).filter(|selected| !selected.is_empty())
            }
            Failed::WithoutNext => None,
        };
        let order =
            order.get_or_insert_with(|| left.difference(&required).copied().collect::<Vec<u32>>());
        let goes = |node: &u32| {
            left.contains(node) && selected.as_ref().is_none_or(|selected| selected.contains(node))
        };
        let place = (at..order.len()).find(|&place| goes(&order[place]))?;
        left.remove(&order[place]);
        if selected.is_none() {
            at = place + 1;
        } else if place == at {
            at += 1;
        }
        if at == order.len() {
            return None;
        }
    }
}

/// Nodes grouped by weight, the lightest group first.
pub(crate) fn classes(nodes: &Set, weights: &[u32], ignored: bool) -> Vec<Set> {
    let weight = |node: u32| if ignored { 0 } else { weights[node as usize] };
    let all: BTreeSet<u32> = nodes.iter().map(|&node| weight(node)).collect();
    all.into_iter()
        .map(|own| nodes.iter().copied().filter(|&node| weight(node) == own).collect())
        .collect()
}

pub(crate) fn shared(a: &Set, b: &Set) -> u32 {
    a.intersection(b).count() as u32
}
