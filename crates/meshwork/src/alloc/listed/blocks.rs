//! Blocks: base blocks (such as racks), and aggregated blocks of 2, 4, 8, … base blocks.

use super::adapter::{
    HOSTS, NODES, PARTITIONS, RuleAllocator, SEGMENT, WEIGHTS, entry, set_of, units,
};
use super::decide::{Action, Failure, Rule, RuleResult, SlurmMessage};
use super::{NodeRequest, Nodes};
use crate::alloc::{AllocatorEntry, flag};
use crate::geometry::NodeSet;
use crate::registry::{About, Kind, Param, Params, Problem};

/// Registry entry of the allocator `blocks`.
pub static ENTRY: AllocatorEntry = entry(
    About {
        name: "blocks",
        aliases: &[],
        summary: "racks that are one machine, joined two by two: the fullest that still holds the job",
        definition: "The machine is a list of base blocks, such as racks; blocks of larger listed sizes join neighbours, \
                     each twice as many as are joined at the level before. A job lies in one block of the smallest \
                     size that may hold it, and uses no more blocks of the next lower size than it must. Of the blocks \
                     that have room it gets the one with the lightest node, then the one with the fewest free nodes, of \
                     equal ones the last. Inside it takes base blocks one by one: one that holds all that is still \
                     missing and has the fewest free nodes, else the one with the most, of equal ones the last, and of \
                     each its lowest nodes. A job of several segments places one after the other. A job of one node \
                     gets the lightest node of lowest number.",
        complexity: "O(b n / 64) for each base block that is taken of b, on n nodes.",
        source: "Slurm 26.05, topology/block, checked against its decisions",
        params: &[
            Param::new("sizes", Kind::Integers(1, 1 << 24))
                .absent("the size of the first block, and 2, 4 and 8 times that")
                .help(
                    "the sizes of blocks: the base size, and that times powers of two up to 2^15",
                ),
            Param::new("length", Kind::Integer(1, 1 << 24))
                .is("8")
                .help("how many consecutive nodes a base block has, where no blocks are listed"),
            Param::new("blocks", Kind::Tables(&[NODES]))
                .absent("base blocks of `length` consecutive nodes")
                .help("the base blocks, each with its nodes"),
            SEGMENT,
            flag("spread", "whether each segment has base blocks of its own"),
            flag("consolidate", "whether all segments lie in one block of a listed size"),
            WEIGHTS,
            HOSTS,
            PARTITIONS,
        ],
    },
    |params, topology| {
        let mut universe = topology.grid().nodes();
        let blocks = units(params, "blocks", &mut universe, |_| params.integer("length") as u32);
        let blocks: Vec<NodeSet> = blocks.iter().map(|block| set_of(block, universe)).collect();
        let (base, levels) = levels_of(params, &blocks)?;
        let blocks = Blocks::new(universe, base, &levels, blocks);
        let allocator = RuleAllocator::new(blocks, params, topology, universe)?;
        Ok(Box::new(allocator.with_common(|request| {
            (request.spread, request.consolidate) =
                (params.flag("spread"), params.flag("consolidate"));
        })))
    },
);

/// Reads the size of a base block, and the listed sizes of blocks as exponents of 2.
fn levels_of(params: &Params, blocks: &[NodeSet]) -> Result<(u32, Vec<u32>), Problem> {
    let Some(sizes) = params.get_integers("sizes") else {
        let base = blocks.iter().map(NodeSet::count).find(|&count| count > 0);
        return Ok((base.unwrap_or(1), vec![0, 1, 2, 3]));
    };
    let base = sizes[0];
    let level = |&size: &u32| {
        let times = size.is_multiple_of(base).then(|| size / base);
        let level = times.filter(|times| times.is_power_of_two()).map(u32::ilog2);
        level.filter(|&level| level <= HIGHEST_LEVEL).ok_or_else(|| {
            let says = format!(
                "the size {size} is not the base size {base} times a power of two up to 2^{HIGHEST_LEVEL}"
            );
            params.problem("sizes", says)
        })
    };
    Ok((base, sizes.iter().map(level).collect::<Result<_, _>>()?))
}

const HIGHEST_LEVEL: u32 = 15;

/// Placement rule of the allocator `blocks`, which places jobs in base and aggregated blocks.
///
/// A base block is a set of nodes, such as a rack. An aggregated block joins 2, 4, 8, … base
/// blocks, and has one of the listed sizes.
#[derive(Clone, Debug)]
pub struct Blocks {
    base: u32,
    /// Listed block sizes in ascending order, beginning with 0. Size *k* stands for 2ᵏ base blocks.
    levels: Vec<u32>,
    blocks: Vec<NodeSet>,
    covered: NodeSet,
}

/// Size of the aggregated blocks in which a segment of a job is placed.
///
/// An aggregated block consists of lower blocks, which have the next smaller listed size. A segment
/// may use only as many lower blocks as it needs by its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// Number of base blocks in an aggregated block.
    per: usize,
    /// Number of base blocks in a lower block, which is a block of the next smaller listed size.
    pub(crate) per_lower: usize,
    /// Maximum number of lower blocks that a segment may use; `None` without a limit.
    /// A lower block is a block of the next smaller listed size.
    most_lower: Option<i64>,
}

/// Parts of an aggregated block that a segment already uses: base blocks and lower blocks.
pub(crate) struct Opened {
    level: Level,
    inside: std::ops::Range<usize>,
    pub(crate) taken: Vec<bool>,
    lower_used: Vec<bool>,
    /// Number of further lower-level blocks that may be used; negative if too many are already in
    /// use.
    pub(crate) lower_left: i64,
}

struct Placing<'a> {
    blocks: &'a Blocks,
    nodes: &'a Nodes,
    opened: Opened,
    chosen: NodeSet,
}

impl Blocks {
    /// Creates the rule for a machine of `count` nodes.
    ///
    /// `base` is the number of nodes of a base block. A level *k* in `levels` stands for 2ᵏ base
    /// blocks.
    #[must_use]
    pub fn new(count: u32, base: u32, levels: &[u32], blocks: Vec<NodeSet>) -> Blocks {
        let mut covered = NodeSet::empty(count);
        blocks.iter().for_each(|block| covered.unite(block));
        let mut levels: Vec<u32> = levels.iter().copied().chain([0]).collect();
        levels.sort_unstable();
        levels.dedup();
        Blocks { base: base.max(1), levels, blocks, covered }
    }

    /// Nodes of each base block, in the order of the list.
    #[must_use]
    pub fn base_blocks(&self) -> &[NodeSet] {
        &self.blocks
    }

    /// Smallest exponent *k* for which 2ᵏ base blocks can hold `size` nodes.
    fn needed(&self, size: u32) -> u32 {
        size.div_ceil(self.base).max(1).next_power_of_two().trailing_zeros()
    }

    /// Smallest listed exponent that is at least `needed`.
    ///
    /// An exponent *k* stands for an aggregated block of 2ᵏ base blocks. The result is `None` if
    /// there is no such exponent; the aggregated block then consists of all base blocks.
    fn listed_from(&self, needed: u32) -> Option<u32> {
        self.levels.iter().copied().find(|&level| level >= needed)
    }

    fn joined(&self, level: Option<u32>) -> usize {
        let all = self.blocks.len().max(1);
        level.and_then(|level| 1_usize.checked_shl(level)).unwrap_or(all)
    }

    pub(crate) fn level_for(&self, size: u32) -> Level {
        let needed = self.needed(size);
        let per = self.joined(self.listed_from(needed));
        let lower = self.levels.iter().copied().rfind(|&level| level < needed).unwrap_or(0);
        let per_lower = 1_usize << lower.min(31);
        let most = u64::from(size).div_ceil(per_lower as u64 * u64::from(self.base));
        let is_limited = per as u64 != per_lower as u64 * most;
        Level { per, per_lower, most_lower: is_limited.then_some(most as i64) }
    }

    pub(crate) fn union(&self, inside: std::ops::Range<usize>, count: u32) -> NodeSet {
        let mut all = NodeSet::empty(count);
        self.blocks[inside].iter().for_each(|block| all.unite(block));
        all
    }

    pub(crate) fn covers_any(&self, set: &NodeSet) -> bool {
        self.covered.meets(set)
    }

    /// Ranges of base blocks, one for each aggregated block of the given size.
    pub(crate) fn aggregated(&self, level: Level) -> impl Iterator<Item = std::ops::Range<usize>> {
        let count = self.blocks.len();
        (0..count).step_by(level.per).map(move |start| start..(start + level.per).min(count))
    }

    /// Number of free nodes of an aggregated block that a segment may use.
    ///
    /// It is computed from the number of free nodes of each base block.
    pub(crate) fn capacity(
        &self,
        level: Level,
        inside: &std::ops::Range<usize>,
        free: &[u32],
    ) -> u64 {
        let Some(most) = level.most_lower else {
            return free[inside.clone()].iter().copied().map(u64::from).sum();
        };
        let whole = level.per / level.per_lower * level.per_lower;
        let end = (inside.start + whole).min(inside.end);
        let lower = free[inside.start..end].chunks(level.per_lower);
        let mut lower: Vec<u64> =
            lower.map(|part| part.iter().copied().map(u64::from).sum()).collect();
        lower.sort_unstable_by(|a, b| b.cmp(a));
        lower.iter().take(most as usize).sum()
    }

    /// Selects the aggregated block for a segment of a job; `None` if no block can hold the
    /// segment.
    fn choose(
        &self,
        nodes: &Nodes,
        level: Level,
        size: u32,
        required: Option<&NodeSet>,
        available: &NodeSet,
        may_be: impl Fn(usize) -> bool,
    ) -> Option<std::ops::Range<usize>> {
        let free: Vec<u32> =
            self.blocks.iter().map(|block| block.count_shared(available)).collect();
        let mut best: Option<(u32, u32, std::ops::Range<usize>)> = None;
        for (place, inside) in self.aggregated(level).enumerate() {
            if !may_be(place) {
                continue;
            }
            let mut all = self.union(inside.clone(), available.universe());
            if let Some(list) = required {
                if all.meets(list) {
                    return list.is_within(&all).then_some(inside);
                }
                continue;
            }
            if self.capacity(level, &inside, &free) < u64::from(size) {
                continue;
            }
            all.intersect(available);
            let (weight, count) = (nodes.lightest(&all).unwrap_or(u32::MAX), all.count());
            // Ties go to the later block.
            let is_better = best.as_ref().is_none_or(|&(lowest, fewest, _)| {
                weight < lowest || weight == lowest && count <= fewest
            });
            if is_better {
                best = Some((weight, count, inside));
            }
        }
        best.map(|(_, _, inside)| inside)
    }

    /// Number of base blocks of the block that must hold all segments; `None` if segments may lie
    /// apart.
    fn group(&self, request: &NodeRequest, count: u32, size: u32, level: Level) -> Option<usize> {
        if !request.consolidate || !request.is_cut() {
            return None;
        }
        let all = if request.spread {
            count.saturating_mul(size.div_ceil(self.base)).saturating_mul(self.base)
        } else {
            request.nodes
        };
        Some(self.joined(self.listed_from(self.needed(all))).max(level.per))
    }

    /// Selects the nodes for one segment, and flags the base blocks that contain them.
    fn place(
        &self,
        nodes: &Nodes,
        level: Level,
        size: u32,
        inside: std::ops::Range<usize>,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> Result<(NodeSet, Vec<bool>), Failure> {
        let mut placing = Placing {
            blocks: self,
            nodes,
            opened: Opened::new(self, level, inside),
            chosen: NodeSet::empty(nodes.count()),
        };
        if let Some(list) = required {
            placing.chosen.unite(list);
            // Without a limit on lower blocks, base blocks with required nodes are not preferred.
            if level.most_lower.is_some() {
                placing.opened.open_blocks_of(self, list);
            }
            if placing.opened.lower_left < 0 {
                return Err(Failure::Never(SlurmMessage::TopologyConfiguration));
            }
        }
        placing.fill(size, available)?;
        Ok((placing.chosen, placing.opened.taken))
    }
}

impl Rule for Blocks {
    fn attempt(
        &self,
        nodes: &Nodes,
        request: &NodeRequest,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> RuleResult {
        let never = || Failure::Never(SlurmMessage::TopologyConfiguration);
        let (count, size) = request.segments().ok_or_else(never)?;
        let no_unit = if count > 1 { SlurmMessage::NoUnitForSegment } else { SlurmMessage::NoUnit };
        if required.is_some_and(|list| !list.is_within(&self.covered)) {
            return Err(Failure::of(no_unit));
        }
        let mut free = available.clone();
        let mut required = required.cloned();
        if count > 1
            && let Some(list) = required.take()
        {
            if list.count() < request.nodes {
                return Err(never());
            }
            free.intersect(&list);
        }
        let level = self.level_for(size);
        let group = self.group(request, count, size, level);
        let group_at = |block: usize, group: usize| {
            let start = block / group * group;
            self.union(start..(start + group).min(self.blocks.len()), nodes.count())
        };
        let mut all = NodeSet::empty(nodes.count());
        let mut confined: Option<NodeSet> = None;
        for segment in 0..count {
            let may_be = |place: usize| {
                group.filter(|_| segment == 0).is_none_or(|group| {
                    group_at(place * level.per, group).count_shared(&free) >= request.nodes
                })
            };
            let chosen = self.choose(nodes, level, size, required.as_ref(), &free, may_be);
            let placed = match chosen {
                None if free.is_empty() => {
                    Err(Failure::now(no_unit, Action::WithoutOneOf(NodeSet::empty(nodes.count()))))
                }
                None => Err(Failure::of(no_unit)),
                Some(inside) => {
                    if let (Some(group), 0) = (group, segment) {
                        let group = group_at(inside.start, group);
                        free.intersect(&group);
                        confined = Some(group);
                    }
                    self.place(nodes, level, size, inside, required.as_ref(), &free)
                }
            };
            let (selected, taken) = match (placed, &confined) {
                (Ok(placed), _) => placed,
                (Err(_), Some(group)) => {
                    let action = Action::Without(group.clone());
                    return Err(Failure::now(SlurmMessage::NoUnitForSegment, action));
                }
                (Err(Failure::Now { message, action: Action::WithoutOneOf(mut selected) }), _) => {
                    selected.unite(&all);
                    return Err(Failure::Now { message, action: Action::WithoutOneOf(selected) });
                }
                (Err(failure), _) => return Err(failure),
            };
            all.unite(&selected);
            free.subtract(&selected);
            if request.spread {
                let taken = taken.iter().zip(&self.blocks).filter(|(taken, _)| **taken);
                taken.for_each(|(_, block)| free.subtract(block));
            }
        }
        Ok(all)
    }

    fn base_blocks(&self) -> &[NodeSet] {
        &self.blocks
    }

    fn covered(&self) -> Option<&NodeSet> {
        Some(&self.covered)
    }
}

impl Placing<'_> {
    fn missing(&self, size: u32) -> u32 {
        size.saturating_sub(self.chosen.count())
    }

    /// Takes the lowest nodes of a base block out of `best`, until the segment is complete.
    fn take(&mut self, block: usize, size: u32, best: &mut NodeSet) {
        let mut missing = self.missing(size);
        for node in self.blocks.blocks[block].iter() {
            if missing > 0 && best.contains(node) {
                best.remove(node);
                self.chosen.insert(node);
                missing -= 1;
            }
        }
    }

    fn fill(&mut self, size: u32, available: &NodeSet) -> Result<(), Failure> {
        let missing = self.missing(size);
        if missing == 0 {
            return Ok(());
        }
        let mut candidates = self.blocks.union(self.opened.inside.clone(), self.nodes.count());
        candidates.intersect(available);
        candidates.subtract(&self.chosen);
        // All nodes lighter than the last weight that is needed must be taken.
        let mut best = NodeSet::empty(self.nodes.count());
        let mut forced = best.clone();
        for (_, class) in self.nodes.classes() {
            if best.count() >= missing {
                break;
            }
            forced.copy_from(&best);
            let mut class = class.clone();
            class.intersect(&candidates);
            best.unite(&class);
        }
        if best.count() < missing {
            return Err(Failure::now(SlurmMessage::UnitTooFull, Action::WithoutNext));
        }
        if !forced.is_empty() {
            self.opened.open_blocks_of(self.blocks, &forced);
            if self.opened.lower_left < 0 {
                return Err(Failure::now(SlurmMessage::Weights, Action::WithoutNext));
            }
            self.chosen.unite(&forced);
            best.subtract(&forced);
        }
        for block in self.opened.inside.clone() {
            if self.opened.taken[block] && self.missing(size) > 0 {
                self.take(block, size, &mut best);
            }
        }
        // As in Slurm, the free nodes of each base block are not updated below.
        let count = |block: usize| match self.opened.taken[block] {
            true => 0,
            false => self.blocks.blocks[block].count_shared(&best),
        };
        let free: Vec<u32> = self.opened.inside.clone().map(count).collect();
        let lower: Vec<u32> =
            free.chunks(self.opened.level.per_lower).map(|part| part.iter().sum()).collect();
        loop {
            let missing = self.missing(size);
            if missing == 0 {
                return Ok(());
            }
            let next = self.opened.next_block(missing, &free, &lower).filter(|&block| {
                let is_new =
                    self.opened.level.most_lower.is_some() && !self.opened.lower_is_used(block);
                self.opened.lower_left -= i64::from(is_new);
                self.opened.lower_left >= 0
            });
            if let Some(block) = next {
                self.opened.open(block);
                self.take(block, size, &mut best);
            }
            if self.missing(size) == missing {
                let action = Action::WithoutOneOf(self.chosen.clone());
                return Err(Failure::now(SlurmMessage::UnitTooFull, action));
            }
        }
    }
}

impl Opened {
    pub(crate) fn new(blocks: &Blocks, level: Level, inside: std::ops::Range<usize>) -> Opened {
        Opened {
            level,
            inside,
            taken: vec![false; blocks.blocks.len()],
            lower_used: vec![false; blocks.blocks.len().div_ceil(level.per_lower)],
            lower_left: level.most_lower.unwrap_or(i64::MAX),
        }
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.level.most_lower.is_some()
    }

    pub(crate) fn lower_is_used(&self, block: usize) -> bool {
        self.lower_used[self.lower_of(block)]
    }

    fn lower_of(&self, block: usize) -> usize {
        block / self.level.per_lower
    }

    /// Marks the base blocks that contain nodes of `set` as being in use.
    ///
    /// The count `lower_left` decreases by one for each lower block that comes into use. As in
    /// Slurm, it also decreases for a lower block already in use, if its first newly marked base
    /// block precedes all base blocks that were in use.
    pub(crate) fn open_blocks_of(&mut self, blocks: &Blocks, set: &NodeSet) {
        let mut last = None;
        for block in self.inside.clone() {
            let lower = Some(self.lower_of(block));
            if !self.taken[block] {
                if !blocks.blocks[block].meets(set) {
                    continue;
                }
                self.open(block);
                self.lower_left -= i64::from(lower != last);
            }
            last = lower;
        }
    }

    pub(crate) fn open(&mut self, block: usize) {
        self.taken[block] = true;
        let lower = self.lower_of(block);
        self.lower_used[lower] = true;
    }

    /// Index of the unused base block from which nodes are taken next.
    ///
    /// The best fit is selected: of the blocks with enough free nodes for all missing nodes, the
    /// one with the fewest; otherwise, the one with the most. Ties go to the later block. If the
    /// number of lower blocks is limited, a lower block is first selected in this way, with a
    /// preference for lower blocks already in use.
    pub(crate) fn next_block(&self, missing: u32, free: &[u32], lower: &[u32]) -> Option<usize> {
        let first = self.inside.start;
        let is_better = |block: usize, best: usize| {
            let (own, other) = (self.lower_of(block), self.lower_of(best));
            if self.level.most_lower.is_some() && own != other {
                if self.lower_used[own] != self.lower_used[other] {
                    return self.lower_used[own];
                }
                let free = |block: usize| lower[block - self.lower_of(first)];
                let (own, other) = (free(own), free(other));
                if (own >= missing) != (other >= missing) {
                    return own >= missing;
                }
                if own != other {
                    return (own < other) == (own >= missing);
                }
            }
            let (own, other) = (free[block - first], free[best - first]);
            match (own >= missing, other >= missing) {
                (true, true) => own <= other,
                (false, false) => own >= other,
                (own, _) => own,
            }
        };
        let open = |&block: &usize| !self.taken[block];
        self.inside.clone().filter(open).reduce(
            |best, block| {
                if is_better(block, best) { block } else { best }
            },
        )
    }
}
