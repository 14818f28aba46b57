//! Slow reference implementation of the rule of Slurm's block topology.

use super::{Failed, Job, Misread, Set, Tried, classes, shared};

/// Base blocks in order, and the listed levels of larger blocks.
///
/// A block of level *k* joins 2ᵏ base blocks. Level 0 is always listed.
pub(crate) struct Machine {
    pub base: u32,
    pub levels: Vec<u32>,
    pub blocks: Vec<Set>,
}

/// Sizes, in base blocks, of the blocks among which a segment is placed.
///
/// A segment lies in one aggregated block. It may be limited to a number of the next smaller listed
/// blocks.
struct Level {
    per: usize,
    lower: usize,
    most: u32,
    is_limited: bool,
}

impl Machine {
    /// Lowest level whose blocks hold `size` nodes. A block of level *k* joins 2ᵏ base blocks.
    fn needed(&self, size: u32) -> u32 {
        (0..).find(|&level| (u64::from(self.base) << level) >= u64::from(size)).unwrap()
    }

    /// Number of base blocks of the smallest listed block of level `needed` or higher.
    fn joined(&self, needed: u32) -> usize {
        let listed = self.levels.iter().find(|&&level| level >= needed);
        listed.map_or(self.blocks.len(), |&level| 1 << level)
    }

    fn level(&self, size: u32, misread: Misread) -> Level {
        let needed = self.needed(size);
        let whole = misread == Misread::AlwaysTheWhole;
        let per = if whole { self.blocks.len() } else { self.joined(needed) };
        let below = self.levels.iter().filter(|&&level| level < needed).max().unwrap_or(&0);
        let lower = 1 << below;
        let most = size.div_ceil(lower as u32 * self.base);
        let is_limited = per != lower * most as usize && misread != Misread::NoLowerLimit;
        Level { per, lower, most, is_limited }
    }

    fn nodes_of(&self, places: impl IntoIterator<Item = usize>) -> Set {
        let real = places.into_iter().filter(|&place| place < self.blocks.len());
        real.flat_map(|place| self.blocks[place].iter().copied()).collect()
    }

    /// First base block of the aggregated block that the rule chooses for a segment. `None` if no
    /// aggregated block will do.
    fn aggregated(
        &self,
        level: &Level,
        size: u32,
        weights: &[u32],
        (required, free): (&Set, &Set),
        misread: Misread,
        may_be: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut best: Option<(u32, u32, usize)> = None;
        for start in (0..self.blocks.len()).step_by(level.per).filter(|&start| may_be(start)) {
            let nodes = self.nodes_of(start..start + level.per);
            if !required.is_empty() {
                if shared(&nodes, required) > 0 {
                    return required.is_subset(&nodes).then_some(start);
                }
                continue;
            }
            let count = shared(&nodes, free);
            let whole = level.per / level.lower;
            let mut lower: Vec<u32> = (0..whole)
                .map(|i| start + i * level.lower)
                .map(|first| {
                    let last = (first + level.lower).min(start + level.per);
                    shared(&self.nodes_of(first..last), free)
                })
                .collect();
            lower.sort_by_key(|&count| std::cmp::Reverse(count));
            let room = if level.is_limited && misread != Misread::CapacityIsAllFree {
                lower.iter().take(level.most as usize).sum()
            } else {
                count
            };
            if room < size {
                continue;
            }
            let lightest =
                nodes.intersection(free).map(|&node| weights[node as usize]).min().unwrap();
            let ignored = misread == Misread::WeightsIgnoredBetween;
            let weight = if ignored { 0 } else { lightest };
            let better = best.is_none_or(|(lowest, fewest, _)| {
                let wins = match misread {
                    Misread::TiesToTheFirstBlock => count < fewest,
                    Misread::MostFreeBlock => count >= fewest,
                    _ => count <= fewest,
                };
                weight < lowest || weight == lowest && wins
            });
            if better {
                best = Some((weight, count, start));
            }
        }
        best.map(|(_, _, start)| start)
    }
}

pub(crate) fn rule(
    machine: &Machine,
    weights: &[u32],
    job: &Job,
    required: &Set,
    free: &Set,
    misread: Misread,
) -> Tried {
    let (count, size) = job.parts().ok_or(Failed::Never)?;
    if !required.is_subset(&machine.nodes_of(0..machine.blocks.len())) {
        return Err(Failed::Stop);
    }
    let (mut required, mut free) = (required.clone(), free.clone());
    if count > 1 && !required.is_empty() {
        if (required.len() as u32) < job.nodes {
            return Err(Failed::Never);
        }
        free = free.intersection(&required).copied().collect();
        required.clear();
    }
    let level = machine.level(size, misread);
    let joins =
        (job.consolidate && job.is_cut() && misread != Misread::ConsolidateIgnored).then(|| {
            let bases = size.div_ceil(machine.base) * machine.base;
            let all = if job.spread { count * bases } else { job.nodes };
            machine.joined(machine.needed(all)).max(level.per)
        });
    let group_of = |start: usize, joins: usize| {
        let first = start / joins * joins;
        machine.nodes_of(first..first + joins)
    };
    let mut all = Set::new();
    let mut confined: Option<Set> = None;
    // A retry may leave out a node of any segment so far.
    let retried = |failed: Failed, confined: &Option<Set>, all: &Set| match (failed, confined) {
        (Failed::WithoutOneOf(own), None) if misread != Misread::HintOfTheLastSegment => {
            Failed::WithoutOneOf(own.union(all).copied().collect())
        }
        (failed, None) => failed,
        (_, Some(_)) if misread == Misread::NoGroupRetry => Failed::Stop,
        (_, Some(group)) => Failed::Without(group.clone()),
    };
    for segment in 0..count {
        let may_be = |start: usize| {
            let joins = joins.filter(|_| segment == 0);
            joins.is_none_or(|joins| shared(&group_of(start, joins), &free) >= job.nodes)
        };
        let of = (&required, &free);
        let found = machine.aggregated(&level, size, weights, of, misread, &may_be);
        let Some(start) = found else {
            let none =
                if free.is_empty() { Failed::WithoutOneOf(Set::new()) } else { Failed::Stop };
            return Err(retried(none, &confined, &all));
        };
        if let Some(joins) = joins.filter(|_| segment == 0) {
            let group = group_of(start, joins);
            free = free.intersection(&group).copied().collect();
            confined = Some(group);
        }
        let mut placing = Placing {
            machine,
            level: &level,
            start,
            size: size as usize,
            left: i64::from(level.most),
            taken: Set::new(),
            chosen: Set::new(),
            misread,
        };
        let placed = placing.place(weights, &required, &free);
        placed.map_err(|failed| retried(failed, &confined, &all))?;
        free.retain(|node| !placing.chosen.contains(node));
        if job.spread && misread != Misread::SpreadIgnored {
            let used = machine.nodes_of(placing.taken.iter().map(|&block| block as usize));
            free.retain(|node| !used.contains(node));
        }
        all.extend(placing.chosen);
    }
    Ok(all)
}

struct Placing<'a> {
    machine: &'a Machine,
    level: &'a Level,
    start: usize,
    size: usize,
    /// Number of lower blocks (of the next smaller listed size) that the segment may still use.
    left: i64,
    taken: Set,
    chosen: Set,
    misread: Misread,
}

impl Placing<'_> {
    fn inside(&self) -> impl Iterator<Item = usize> + use<> {
        self.start..(self.start + self.level.per).min(self.machine.blocks.len())
    }

    fn lower(&self, block: usize) -> usize {
        block / self.level.lower
    }

    fn is_used(&self, block: usize) -> bool {
        self.taken.iter().any(|&other| self.lower(other as usize) == self.lower(block))
    }

    /// Adds, in order, all base blocks with usable nodes to the blocks that the segment uses.
    ///
    /// Also counts the lower blocks that come into use. A lower block is a group of base blocks,
    /// and has the next smaller listed size. It is counted when its first base block is added, even
    /// if the segment already uses later base blocks of it.
    fn open_all(&mut self, nodes: &Set) {
        let mut before = None;
        for block in self.inside() {
            let lower = self.lower(block);
            let was_open = self.taken.contains(&(block as u32));
            if !was_open && shared(&self.machine.blocks[block], nodes) > 0 {
                let is_known = match self.misread {
                    Misread::LowerCountedOnce => self.is_used(block),
                    _ => before == Some(lower),
                };
                self.left -= i64::from(!is_known && self.level.is_limited);
                self.taken.insert(block as u32);
                before = Some(lower);
            } else if was_open {
                before = Some(lower);
            }
        }
    }

    fn missing(&self) -> usize {
        self.size.saturating_sub(self.chosen.len())
    }

    fn take(&mut self, block: usize, best: &mut Set) {
        let mut nodes: Vec<u32> = self.machine.blocks[block].intersection(best).copied().collect();
        if self.misread == Misread::HighestNodeFirst {
            nodes.reverse();
        }
        nodes.truncate(self.missing());
        best.retain(|node| !nodes.contains(node));
        self.chosen.extend(nodes);
    }

    fn place(&mut self, weights: &[u32], required: &Set, free: &Set) -> Result<(), Failed> {
        self.chosen.clone_from(required);
        if self.level.is_limited {
            self.open_all(required);
        }
        if self.left < 0 {
            return Err(Failed::Never);
        }
        if self.missing() == 0 {
            return Ok(());
        }
        let nodes = self.machine.nodes_of(self.inside());
        let candidates: Set =
            nodes.intersection(free).copied().filter(|node| !self.chosen.contains(node)).collect();
        let (mut best, mut forced) = (Set::new(), Set::new());
        let ignored = self.misread == Misread::WeightsIgnoredInside;
        for class in classes(free, weights, ignored) {
            if best.len() < self.missing() {
                forced.clone_from(&best);
                best.extend(class.intersection(&candidates));
            }
        }
        if best.len() < self.missing() {
            return Err(Failed::WithoutNext);
        }
        if !forced.is_empty() {
            self.open_all(&forced);
            if self.left < 0 {
                return Err(Failed::WithoutNext);
            }
            best.retain(|node| !forced.contains(node));
            self.chosen.extend(forced);
        }
        if self.misread != Misread::RequiredNotFilledFirst {
            for block in self.taken.clone() {
                self.take(block as usize, &mut best);
            }
        }
        let mut open = best.clone();
        while self.missing() > 0 {
            let before = self.missing();
            let hint = Failed::WithoutOneOf(self.chosen.clone());
            let counted = if self.misread == Misread::CountsKeptUp { &best } else { &open };
            let Some(block) = self.next(counted) else { return Err(hint) };
            if self.level.is_limited && !self.is_used(block) {
                self.left -= 1;
            }
            if self.left < 0 {
                return Err(hint);
            }
            self.taken.insert(block as u32);
            self.take(block, &mut best);
            // A block that adds no node was picked.
            if self.missing() == before {
                return Err(hint);
            }
            if self.misread == Misread::RequiredNotFilledFirst {
                open.clone_from(&best);
            }
        }
        Ok(())
    }

    /// Base block from which the segment takes nodes next.
    ///
    /// Base blocks are compared by their number of nodes in `open`. This set has the nodes that
    /// were available when the segment's first node was chosen.
    fn next(&self, open: &Set) -> Option<usize> {
        let free = |block: usize| shared(&self.machine.blocks[block], open) as usize;
        let all_taken = self.misread == Misread::RequiredNotFilledFirst;
        let skips = all_taken || self.misread == Misread::EmptyBlocksSkipped;
        let mut blocks = self.inside().filter(|&block| {
            (free(block) > 0 || !skips) && (all_taken || !self.taken.contains(&(block as u32)))
        });
        if self.misread == Misread::BaseBlocksInOrder {
            return blocks.find(|&block| free(block) > 0);
        }
        let lower_free = |block: usize| -> usize {
            let same = self.inside().filter(|&other| self.lower(other) == self.lower(block));
            same.map(free).sum()
        };
        let missing = self.missing();
        // Of two that hold all missing nodes the smaller is better, otherwise the larger.
        let tighter = |own: usize, other: usize| match (own >= missing, other >= missing) {
            (true, true) => other.cmp(&own),
            (false, false) if self.misread == Misread::SmallestWhereNoneFits => other.cmp(&own),
            (own_fits, other_fits) => own_fits.cmp(&other_fits).then(own.cmp(&other)),
        };
        blocks.reduce(|pick, block| {
            let mut order = std::cmp::Ordering::Equal;
            if self.level.is_limited && self.lower(block) != self.lower(pick) {
                let (own, other) = (lower_free(block), lower_free(pick));
                order = self.is_used(block).cmp(&self.is_used(pick));
                let plain = match (own >= missing, other >= missing) {
                    (true, true) => other.cmp(&own),
                    (own_fits, other_fits) => own_fits.cmp(&other_fits).then(own.cmp(&other)),
                };
                order = order.then(plain);
            }
            order = order.then_with(|| tighter(free(block), free(pick)));
            let later = order.is_eq() && self.misread != Misread::BaseTiesToTheFirst;
            if order.is_gt() || later { block } else { pick }
        })
    }
}
