//! Slow reference implementation of the rule of Slurm's tree topology.

use std::cmp::Ordering;

use super::{Failed, Job, Misread, Set, Tried, classes, runs, shared};

/// Tree of switches: the nodes below each switch, the switch's level, and its parent.
pub(crate) struct Machine {
    pub nodes: Vec<Set>,
    pub levels: Vec<u32>,
    pub parents: Vec<Option<usize>>,
}

impl Machine {
    fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|&i| self.levels[i] == 0)
    }

    fn above(&self, i: usize) -> Vec<usize> {
        std::iter::successors(Some(i), |&i| self.parents[i]).collect()
    }

    /// Number of links between two switches; `None` if they are in separate trees.
    fn hops(&self, i: usize, j: usize) -> Option<u32> {
        let (own, other) = (self.above(i), self.above(j));
        let meets = |up: &usize| own.iter().position(|own| own == up).map(|down| (*up, down));
        let (up, down) = other.iter().find_map(meets)?;
        other.iter().position(|&own| own == up).map(|other| (other + down) as u32)
    }

    /// Compares how well two switches suit a job that still needs `missing` nodes.
    ///
    /// If both have too few free nodes, their parents are compared instead, and so on upwards. The
    /// flag says whether the first switch, or the ancestor compared in its place, has enough free
    /// nodes.
    fn compare(
        &self,
        (mut i, mut j): (usize, usize),
        free: &[u32],
        missing: u32,
        misread: Misread,
    ) -> (Ordering, bool) {
        let fits = loop {
            match (free[i] >= missing, free[j] >= missing) {
                (true, true) if free[i] != free[j] => return (free[j].cmp(&free[i]), true),
                (true, true) => break true,
                (true, false) => return (Ordering::Greater, true),
                (false, true) => return (Ordering::Less, false),
                (false, false) => {}
            }
            let up = |i: usize| self.parents[i].unwrap_or(i);
            if up(i) == up(j) || up(i) == i && up(j) == j || misread == Misread::NoClimbing {
                break false;
            }
            (i, j) = (up(i), up(j));
        };
        let more = free[i].cmp(&free[j]);
        let more = if misread == Misread::FewestOverSeveral { more.reverse() } else { more };
        (more.then(self.levels[j].cmp(&self.levels[i])), fits)
    }

    fn top(
        &self,
        weights: &[u32],
        required: &Set,
        free: &Set,
        enough: u32,
        misread: Misread,
    ) -> Result<usize, Failed> {
        if !required.is_empty() {
            let meeting = (0..self.nodes.len()).filter(|&i| shared(&self.nodes[i], required) > 0);
            // Of the switches of the highest level, the first one.
            let top = meeting.rev().max_by_key(|&i| self.levels[i]).ok_or(Failed::Never)?;
            return if required.is_subset(&self.nodes[top]) { Ok(top) } else { Err(Failed::Never) };
        }
        let mut top: Option<(usize, u32)> = None;
        for i in 0..self.nodes.len() {
            let inside = self.nodes[i].intersection(free).map(|&node| weights[node as usize]);
            let Some(weight) = inside.clone().min().filter(|_| inside.count() as u32 >= enough)
            else {
                continue;
            };
            if top.is_none_or(|(top, lowest)| {
                let light = weight <= lowest || misread == Misread::NoWeightOfTop;
                self.levels[i] >= self.levels[top] && light
            }) {
                top = Some((i, weight));
            }
        }
        top.map(|(top, _)| top).ok_or(Failed::Stop)
    }

    fn gather(
        &self,
        weights: &[u32],
        job: &Job,
        want: u32,
        required: &Set,
        free: &Set,
        misread: Misread,
    ) -> Tried {
        let mut spare = want - job.nodes;
        let ignored = misread == Misread::WeightsIgnored;
        let alike = vec![1; weights.len()];
        let weights = if ignored { &alike } else { weights };
        let top = self.top(weights, required, free, job.nodes, misread)?;
        let mut chosen = required.clone();
        let mut missing = want.saturating_sub(chosen.len() as u32);
        // A retry for fewer nodes takes at least one node in addition to the required ones.
        let is_first = want == job.most || misread == Misread::LeastOfRange;
        if missing == 0 && (is_first || misread == Misread::RequiredAreEnough) {
            return Ok(chosen);
        }
        let inside: Set = self.nodes[top].intersection(free).copied().collect();
        let others: Set = inside.difference(required).copied().collect();
        let (mut candidates, mut forced) = (Set::new(), Set::new());
        for (place, class) in classes(free, weights, false).into_iter().enumerate() {
            if place == 0 || (candidates.len() as u32) < missing {
                forced.clone_from(&candidates);
                candidates.extend(class.intersection(&others));
            }
        }
        if missing == 0 {
            (missing, spare) = (1, spare + 1);
        }
        if (candidates.len() as u32) + spare < missing {
            return Err(Failed::Without(inside));
        }
        missing = missing.saturating_sub(forced.len() as u32);
        chosen.extend(forced);
        candidates.extend(chosen.iter().copied());
        let mut free: Vec<u32> =
            self.nodes.iter().map(|nodes| shared(nodes, &candidates)).collect();
        let mut used: Vec<bool> =
            self.nodes.iter().map(|nodes| shared(nodes, &chosen) > 0).collect();
        let take = |leaf: usize, chosen: &mut Set, missing: &mut u32| {
            let open: Vec<u32> = self.nodes[leaf].intersection(&candidates).copied().collect();
            for node in open {
                if *missing > 0 && chosen.insert(node) {
                    *missing -= 1;
                }
            }
        };
        if !chosen.is_empty() {
            let mut total = 0;
            for leaf in self.leaves().filter(|&leaf| used[leaf]).collect::<Vec<usize>>() {
                if missing == 0 {
                    break;
                }
                let before = missing;
                take(leaf, &mut chosen, &mut missing);
                let repaired = misread == Misread::RunningTotalRepaired;
                total = if repaired { 0 } else { total } + before - missing;
                self.above(leaf).into_iter().for_each(|i| free[i] = free[i].saturating_sub(total));
            }
        }
        while missing > 0 {
            let distance = |leaf: usize| -> Option<u32> {
                (0..used.len())
                    .filter(|&other| used[other])
                    .map(|other| self.hops(leaf, other))
                    .sum()
            };
            let leaves: Vec<usize> = self
                .leaves()
                .filter(|&leaf| !used[leaf] && free[leaf] > 0 && distance(leaf).is_some())
                .collect();
            let by_rule = || {
                leaves.iter().copied().reduce(|best, leaf| {
                    let (order, fits) = self.compare((leaf, best), &free, missing, misread);
                    let (own, other) = (distance(leaf), distance(best));
                    let wins = order.is_gt() || misread == Misread::LastLeaf && order.is_eq();
                    let better = match misread {
                        Misread::NoDistance => wins,
                        _ => own < other && fits || own == other && wins,
                    };
                    if better { leaf } else { best }
                })
            };
            let best = match misread {
                Misread::FileOrder => leaves.first().copied(),
                Misread::MostFreeLeaf => leaves.iter().rev().copied().max_by_key(|&i| free[i]),
                Misread::FirstFit => {
                    let first = leaves.iter().copied().find(|&leaf| free[leaf] >= missing);
                    first.or_else(by_rule)
                }
                _ => by_rule(),
            };
            let Some(leaf) = best else { break };
            let gone = free[leaf];
            take(leaf, &mut chosen, &mut missing);
            // For distances, the leaf now counts as used. Switches above it do not count as used
            // because of it.
            used[leaf] = true;
            self.above(leaf).into_iter().for_each(|i| free[i] = free[i].saturating_sub(gone));
        }
        if missing > spare {
            return Err(Failed::WithoutOneOf(chosen));
        }
        Ok(chosen)
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
    if job.contiguous && misread != Misread::ContiguousIgnored {
        return runs::rule(weights, job, required, free, misread);
    }
    let mut want = if misread == Misread::LeastOfRange { job.nodes } else { job.most };
    loop {
        let chosen = machine.gather(weights, job, want, required, free, misread)?;
        let touched = machine.leaves().filter(|&leaf| shared(&machine.nodes[leaf], &chosen) > 0);
        let touched = touched.count() as u32;
        let ignored = misread == Misread::SwitchesIgnored;
        if ignored || job.switches.is_none_or(|most| touched <= most) {
            return Ok(chosen);
        }
        if want <= job.nodes || misread == Misread::NoShrinking {
            return Err(Failed::Stop);
        }
        want -= 1;
    }
}
